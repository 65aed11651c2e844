/* The context: messages, progress, cancellation, the thread pool's owner and the backend's slot. */
#ifndef SZEGO_CONTEXT_H
#define SZEGO_CONTEXT_H

#include <szego/status.h>

SZG_BEGIN_DECLS

typedef struct szg_context szg_context;

typedef enum szg_severity { SZG_NOTE, SZG_WARNING } szg_severity;

/* Receives one line without a newline. May be called from any thread, one call at a time. */
typedef void szg_message_fn(void *user, szg_severity severity, const char *text);

/* Receives progress of the job `what`: `done` of `total` units. Jobs nest: one that begins before
 * another has reported `total` of `total` is part of that. One call at a time. */
typedef void szg_progress_fn(void *user, const char *what, int64_t done, int64_t total);

/* Seconds of a clock that only goes forward. May be called from any thread, several at a time. */
typedef double szg_clock_fn(void *user);

/* All fields but `size` may be 0: every online processor, silence, the system's monotonic clock. */
typedef struct szg_context_options {
    SZG_SIZE(szg_context_options);
    int threads;               /* worker threads including the caller; 0: one per processor */
    szg_message_fn *message;   /* NULL: dropped */
    szg_progress_fn *progress; /* NULL: dropped */
    szg_clock_fn *clock;       /* NULL: CLOCK_MONOTONIC */
    void *user;                /* passed to the callbacks */
} szg_context_options;

/* Opens a context; `options` may be NULL. The caller closes it. SZG_EINVAL (threads < 0 or > 1024,
 * a size that SZG_INIT did not set), SZG_ENOMEM. A context may be used by one caller thread at a
 * time, and only by the process that opened it: after a fork the child can close it and nothing
 * else. */
SZG_CHECK_RESULT szg_status szg_context_open(const szg_context_options *options, szg_context **out);

/* Frees the context, joins its threads and nulls the pointer; NULL and *context NULL are allowed.
 */
void szg_context_close(szg_context **context);

/* The message of the latest failure, "" before any. Valid until the next failure or close. */
const char *szg_context_message(const szg_context *context);

/* Number of threads that work is split over, the caller's included. */
int szg_context_threads(const szg_context *context);

/* Asks running work to stop. Async-signal-safe. */
void szg_context_cancel(szg_context *context);

/* Whether it was called. */
bool szg_context_is_cancelled(const szg_context *context);

/* From `seconds` after now on, running work stops as if it were cancelled; 0 or less: no deadline,
 * also where the former one has passed. */
void szg_context_set_deadline(szg_context *context, double seconds);

SZG_END_DECLS

#endif

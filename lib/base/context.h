/* What the house alone uses of <szego/context.h>. */
#ifndef SZEGO_BASE_CONTEXT_H
#define SZEGO_BASE_CONTEXT_H

#include <szego/context.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

struct szgi_ops; /* the op table of "linalg/ops.h" */

/* Those of all contexts that are open: as many threads may be inside a library at once. */
int szgi_context_threads_open(void);

/* Until the end of the block denormal numbers count, although the host's control word may flush
 * them to zero; its rounding mode and its other bits stay. Returns the flags that were cleared, for
 * leave to set again. */
unsigned long szgi_denormals_keep(void);
void szgi_denormals_leave(const unsigned long *flushing);
#define SZGI_KEEP_DENORMALS()                                                                      \
    const unsigned long szgi_flushing __attribute__((cleanup(szgi_denormals_leave), unused)) =     \
        szgi_denormals_keep()

/* SZG_EINVAL in a forked child, on a context that its parent opened; NULL is allowed. */
SZG_CHECK_RESULT szg_status szgi_context_check_process(szg_context *context);

/* The beginning of every public function that computes, reads or writes with a context
 * (tests/layering/enter.py). */
#define SZGI_ENTER(context)                                                                        \
    SZGI_KEEP_DENORMALS();                                                                         \
    SZG_TRY(szgi_context_check_process(context))

/* Records a failure and returns `status`, so that one can write `return szgi_fail(ctx, ...)`. The
 * message names the place, the numbers and the remedy. `context` may be NULL. Thread-safe. */
SZG_PRINTF(3, 4)
szg_status szgi_fail(szg_context *context, szg_status status, const char *format, ...);

/* Puts "prefix: " in front of the recorded message (a file name, a layer), unless it begins with
 * that already, and returns `status`. */
SZG_PRINTF(3, 4)
szg_status szgi_fail_prefix(szg_context *context, szg_status status, const char *format, ...);

/* Sends a note or a warning to the message callback; false: there is none. Thread-safe. */
SZG_PRINTF(3, 4)
bool szgi_say(szg_context *context, szg_severity severity, const char *format, ...);

/* Reports progress. A job that ends says so, `total` of `total`, whatever it left undone: what is
 * reported between its first word and that is part of it. Cheap enough to call a thousand times a
 * second. Thread-safe. */
void szgi_progress(szg_context *context, const char *what, int64_t done, int64_t total);

/* Seconds of the context's clock, by which deadlines and timings go. */
double szgi_context_seconds(const szg_context *context);

/* SZG_ECANCEL once szg_context_cancel was called or the deadline has passed, else SZG_OK. Long
 * loops call it. */
SZG_CHECK_RESULT szg_status szgi_context_check_cancel(szg_context *context);

/* While deferred, szgi_context_check_cancel does not see a cancellation: for work that must be
 * finished and saved once begun, a training step say. Not nested. */
void szgi_context_defer_cancel(szg_context *context, bool defer);
bool szgi_context_is_deferred(const szg_context *context);

/* The backend's slot: floor 1 stores its op table here, the context only keeps the pointer. */
void szgi_context_set_ops(szg_context *context, const struct szgi_ops *ops);
const struct szgi_ops *szgi_context_ops(const szg_context *context);

/* What the backend keeps for this context, a device's streams say: `release` is called with it when
 * another state takes its place or the context is closed. */
void szgi_context_set_state(szg_context *context, void *state, void (*release)(void *state));
void *szgi_context_state(const szg_context *context); /* NULL: none */

SZGI_END_DECLS

#endif

/* The context's layout, for the rooms of floor 0 only. */
#ifndef SZG_CONTEXT_PRIVATE_H
#define SZG_CONTEXT_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include "base/context.h"

enum { MESSAGE_SIZE = 2048 };

typedef struct szg_pool szg_pool;

struct szg_context {
    szg_context_options options;
    pthread_mutex_t lock; /* guards messages and serialises the callbacks */
    char message[MESSAGE_SIZE];
    atomic_bool cancelled, deferred;
    atomic_llong deadline;         /* nanoseconds of the monotonic clock; 0: none */
    atomic_llong allocations_left; /* failure injection; 0: off */
    _Atomic(const struct szgi_ops *) ops;
    void *state; /* the backend's */
    void (*release)(void *state);
    szg_pool *pool;
    pid_t process; /* that opened it: in a forked child its threads are gone, its locks stuck */
};

bool szgi_context_is_forked(const szg_context *context);

/* Starts `threads` - 1 workers. SZG_ENOMEM where a thread is refused. */
SZG_CHECK_RESULT szg_status szgi_pool_open(int threads, szg_pool **out);
void szgi_pool_close(szg_pool **pool);

/* In a forked child: frees what szgi_pool_open took there, and touches no thread or lock. */
void szgi_pool_abandon(szg_pool **pool);

/* Where this thread records failures of `context`: where szgi_message_redirect said, else in the
 * context. MESSAGE_SIZE bytes. */
char *szgi_message_of(szg_context *context);

/* From now on this thread's failures of `context` go to `message`; NULL, NULL: to the context
 * again.
 */
void szgi_message_redirect(const szg_context *context, char *message);

#endif

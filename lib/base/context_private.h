/* The context's layout, for the rooms of floor 0 only. */
#ifndef SZG_CONTEXT_PRIVATE_H
#define SZG_CONTEXT_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <szego/context.h>

typedef struct szg_pool szg_pool;

struct szg_context {
    szg_context_options options;
    pthread_mutex_t lock; /* guards message and serialises the callbacks */
    char message[2048];
    atomic_bool cancelled, deferred;
    atomic_llong deadline;         /* nanoseconds of the monotonic clock; 0: none */
    atomic_llong allocations_left; /* failure injection; 0: off */
    _Atomic(const struct szg_ops *) ops;
    void *state; /* the backend's */
    void (*release)(void *state);
    szg_pool *pool;
};

/* Starts `threads` - 1 workers. SZG_ENOMEM where a thread is refused. */
SZG_CHECK_RESULT szg_status szg_pool_open(int threads, szg_pool **out);
void szg_pool_close(szg_pool **pool);

#endif

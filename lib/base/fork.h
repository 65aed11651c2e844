/* Locks of the process over a fork: whoever forks holds them meanwhile, so that what they guard is
 * whole in the child, where the threads that held or awaited them are gone. */
#ifndef SZEGO_BASE_FORK_H
#define SZEGO_BASE_FORK_H

#include <pthread.h>

/* For a mutex in static storage. No thread calls the host, which might fork, while it holds it. */
#define SZGI_HELD_OVER_FORK(mutex)                                                                 \
    static void mutex##_hold(void) {                                                               \
        pthread_mutex_lock(&(mutex));                                                              \
    }                                                                                              \
    static void mutex##_release(void) {                                                            \
        pthread_mutex_unlock(&(mutex));                                                            \
    }                                                                                              \
    static void mutex##_renew(void) {                                                              \
        (mutex) = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;                                      \
    }                                                                                              \
    __attribute__((constructor)) static void mutex##_at_fork(void) {                               \
        (void)!pthread_atfork(mutex##_hold, mutex##_release, mutex##_renew);                       \
    }

/* For a mutex that is held while the host is called: no fork waits for it, and in the child it is
 * free. What it guards bears being left half done. */
#define SZGI_FREE_AFTER_FORK(mutex)                                                                \
    static void mutex##_renew(void) {                                                              \
        (mutex) = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;                                      \
    }                                                                                              \
    __attribute__((constructor)) static void mutex##_at_fork(void) {                               \
        (void)!pthread_atfork(NULL, NULL, mutex##_renew);                                          \
    }

#endif

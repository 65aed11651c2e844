/* Arb and FLINT keep constants and scratch for each thread. */
#ifndef SZG_BALL_CACHES_H
#define SZG_BALL_CACHES_H

#include "base/thread.h"

/* Frees them when a thread ends that used the library. */
extern szgi_thread_hook szgi_ball_caches;

/* A file that includes this brings caches.c along out of the static library: every header that
 * includes Arb's does. */
static const szgi_thread_hook *const brings_caches __attribute__((used)) = &szgi_ball_caches;

#endif

/* Calls of OpenBLAS: the lock that each holds, and how many threads it has meanwhile. */
#include <cblas.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "cpu.h"

static atomic_int servers; /* OpenBLAS's own threads */

int szgi_blas_servers(void) {
    return atomic_load(&servers);
}

static void start_single_threaded(void) {
    openblas_set_num_threads(1);
}

void szgi_blas_single(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_single_threaded);
}

/* OpenBLAS's own threads inherit the control word of the thread that started them, perhaps long
 * before, and nobody can set it for them. Where one flushes denormal numbers or does not round to
 * nearest, calls stay on one thread.
 */
enum { PROBED_ROWS = 64, PROBED_COLUMNS = 64, PROBED_SUMS = 128 };

/* Under szgi_blas_calls, held alone. */
static struct {
    int threads; /* so many were tried; 0: none */
    bool differ;
} probed;

/* Writers first: with readers first, a stream of small calls would keep out a large one or a fork.
 * No call is made inside of another. */
#define CALLS PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
pthread_rwlock_t szgi_blas_calls = CALLS;

/* Before a fork OpenBLAS ends its threads, and waits for ever where one is at work; its own lock on
 * buffers stays taken in the child where another thread had it. So a fork waits until no call of
 * BLAS or LAPACK runs. This was registered after OpenBLAS's own handler, so it runs before. */
static void hold_calls(void) {
    pthread_rwlock_wrlock(&szgi_blas_calls);
    probed.threads = 0; /* OpenBLAS's threads are started anew, by whoever calls first */
}

static void release_calls(void) {
    pthread_rwlock_unlock(&szgi_blas_calls);
}

static void renew_calls(void) {
    szgi_blas_calls = (pthread_rwlock_t)CALLS;
}

__attribute__((constructor)) static void hold_calls_over_a_fork(void) {
    (void)!pthread_atfork(hold_calls, release_calls, renew_calls);
}

/* A product that OpenBLAS splits over all its threads: each makes sums of two numbers that are
 * denormal, or that round down and up. */
static bool threads_differ(int threads) {
    static const double sums[][3] = {{0x1p-1060, 0x1p-1070, 0x1p-1060 + 0x1p-1070},
                                     {1, 0x1p-54, 1},
                                     {1, 0x3p-54, 1 + 0x1p-52},
                                     {-1, -0x3p-54, -1 - 0x1p-52}};
    enum { SUMS = sizeof sums / sizeof *sums };
    blasint m = PROBED_ROWS * threads, n = PROBED_COLUMNS, k = PROBED_SUMS;
    double *a = calloc((size_t)m * (size_t)(k + n) + (size_t)k * (size_t)n, sizeof *a);
    if (!a)
        return true;
    double *c = a + (int64_t)m * k, *b = c + (int64_t)m * n;
    for (int64_t i = 0; i < m; i++)
        memcpy(&a[i * k], sums[i % SUMS], 2 * sizeof *a);
    for (int64_t j = 0; j < 2 * n; j++)
        b[j] = 1;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, 0, c, n);
    bool differ = false;
    for (int64_t i = 0; i < (int64_t)m * n; i++)
        differ = differ || memcmp(&c[i], &sums[i / n % SUMS][2], sizeof *c) != 0;
    free(a);
    return differ;
}

/* Threads that are started here round to nearest whatever the caller does. */
static void raise_threads(int threads) {
    int rounding = fegetround();
    fesetround(FE_TONEAREST);
    if (threads - 1 > atomic_load(&servers))
        atomic_store(&servers, threads - 1);
    openblas_set_num_threads(threads);
    if (threads > probed.threads) {
        probed.differ = threads_differ(threads);
        probed.threads = threads;
    }
    if (probed.differ)
        openblas_set_num_threads(1);
    fesetround(rounding);
}

/* Not by begin: the host is not called while the lock is held. */
void szgi_blas_tell_threads(szg_context *context) {
    static atomic_bool told;
    if (atomic_load_explicit(&told, memory_order_relaxed))
        return;
    szgi_blas_call call = szgi_blas_begin(context, true);
    bool differ = call == SZGI_BLAS_ALONE && probed.differ;
    szgi_blas_end(call);
    if (differ &&
        szgi_say(context, SZG_WARNING,
                 "OpenBLAS's threads flush numbers below 2.2e-308 to zero, or do not round to "
                 "nearest: large matrices are computed on one thread; load szego before the "
                 "processor's control word is changed"))
        atomic_store(&told, true);
}

szgi_blas_call szgi_blas_begin(szg_context *context, bool large) {
    szgi_blas_single();
    int threads = large && context && !szgi_pool_is_inside() ? szg_context_threads(context) : 1;
    if (threads <= 1) {
        pthread_rwlock_rdlock(&szgi_blas_calls);
        return SZGI_BLAS_SHARED;
    }
    pthread_rwlock_wrlock(&szgi_blas_calls);
    raise_threads(threads);
    return SZGI_BLAS_ALONE;
}

void szgi_blas_end(szgi_blas_call call) {
    if (call == SZGI_BLAS_ALONE)
        openblas_set_num_threads(1);
    pthread_rwlock_unlock(&szgi_blas_calls);
}

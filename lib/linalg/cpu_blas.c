#include <cblas.h>
#include <fenv.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "cpu.h"

/* Products split over the pool in slices of so many rows (or columns) of C, whatever the number of
 * threads; smaller ones than two slices stay on the calling thread. Slices beat OpenBLAS's own
 * threads, which spin while they wait, and give the same bits for any number of threads. */
enum { SLICE = 256 };

/* ---- OpenBLAS's own threads and the control word ----
 * They inherit that of the thread that started them, perhaps long before, and nobody can set it for
 * them. Where one flushes denormal numbers or does not round to nearest, calls stay on one thread.
 */

enum { PROBED_ROWS = 64, PROBED_COLUMNS = 64, PROBED_SUMS = 128 };

/* Under szgi_blas_calls, held alone. */
static struct {
    int threads; /* so many were tried; 0: none */
    bool differ;
} probed;

void szgi_blas_forget_threads(void) {
    probed.threads = 0;
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
    szgi_blas_count(threads);
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

const char *szg_backend_blas(void) {
    return openblas_get_config();
}

szg_status szgi_lapack_sizes(szg_context *context, const char *what, int64_t m, int64_t n,
                             int64_t ld) {
    if (m <= INT32_MAX && n <= INT32_MAX && ld <= INT32_MAX)
        return SZG_OK;
    return szgi_fail(context, SZG_ENOMEM,
                     "%s: %" PRId64 " x %" PRId64 " (leading dimension %" PRId64
                     ") exceeds the 32-bit sizes of LAPACK",
                     what, m, n, ld);
}

szg_status szgi_lapack_status(szg_context *context, const char *routine, int64_t info,
                              const char *loose) {
    if (info == 0)
        return SZG_OK;
    if (info < 0)
        return szgi_fail(context, SZG_EINTERNAL, "%s refused its argument %" PRId64, routine,
                         -info);
    return szgi_fail(context, SZG_ENOCONV, "%s: %s (info %" PRId64 ")", routine, loose, info);
}

int64_t szgi_lapack_work(double query) {
    return query < 1 ? 1 : (int64_t)ceil(query);
}

szg_status szgi_lapack_copy(szg_context *context, int64_t rows, int64_t columns,
                            const szg_c64 *from, int64_t ldfrom, szg_c64 *to, int64_t ldto) {
    for (int64_t i = 0; i < rows; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        memcpy(to + i * ldto, from + i * ldfrom, (size_t)columns * sizeof *to);
    }
    return SZG_OK;
}

static CBLAS_TRANSPOSE transpose_of(char op) {
    return op == 'n' ? CblasNoTrans : op == 't' ? CblasTrans : CblasConjTrans;
}

static szg_status check_sizes(szg_context *context, int64_t m, int64_t n, int64_t k, int64_t lda,
                              int64_t ldb, int64_t ldc) {
    SZG_TRY(szgi_lapack_sizes(context, "product", m, n, ldc));
    SZG_TRY(szgi_lapack_sizes(context, "product", m, k, lda));
    SZG_TRY(szgi_lapack_sizes(context, "product", k, n, ldb));
    return szgi_blas_reserve(context, false);
}

void szgi_cpu_sgemm(szg_context *context, char op_a, char op_b, int64_t m, int64_t n, int64_t k,
                    const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
                    int64_t ldc) {
    szgi_blas_call call = szgi_blas_begin(context, false);
    cblas_sgemm(CblasRowMajor, transpose_of(op_a), transpose_of(op_b), (blasint)m, (blasint)n,
                (blasint)k, 1, a, (blasint)lda, b, (blasint)ldb, beta, c, (blasint)ldc);
    szgi_blas_end(call);
}

typedef struct product {
    bool rows; /* slices are of rows of C, else of columns */
    char op_a, op_b;
    int64_t m, n, k, lda, ldb, ldc;
    double alpha, beta;
    const double *a, *b;
    double *c;
} product;

static szg_status multiply_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)worker;
    const product *job = argument;
    int64_t first = block * SLICE, whole = job->rows ? job->m : job->n;
    int64_t count = whole - first < SLICE ? whole - first : SLICE;
    const double *a = job->a, *b = job->b;
    if (job->rows)
        a += job->op_a == 'n' ? first * job->lda : first;
    else
        b += job->op_b == 'n' ? first : first * job->ldb;
    double *c = job->c + (job->rows ? first * job->ldc : first);
    CBLAS_TRANSPOSE op_a = transpose_of(job->op_a), op_b = transpose_of(job->op_b);
    blasint m = (blasint)(job->rows ? count : job->m), n = (blasint)(job->rows ? job->n : count);
    blasint k = (blasint)job->k, lda = (blasint)job->lda, ldb = (blasint)job->ldb;
    szgi_blas_call call = szgi_blas_begin(context, false);
    cblas_dgemm(CblasRowMajor, op_a, op_b, m, n, k, job->alpha, a, lda, b, ldb, job->beta, c,
                (blasint)job->ldc);
    szgi_blas_end(call);
    return SZG_OK;
}

static szg_status multiply(szg_context *context, product *job) {
    SZG_TRY(check_sizes(context, job->m, job->n, job->k, job->lda, job->ldb, job->ldc));
    job->rows = job->m >= job->n;
    int64_t whole = job->rows ? job->m : job->n;
    return szgi_pool_run(context, (whole - 1) / SLICE + 1, multiply_slice, job);
}

szg_status szgi_cpu_gemm(szg_context *context, char op_a, char op_b, int64_t m, int64_t n,
                         int64_t k, double alpha, const double *a, int64_t lda, const double *b,
                         int64_t ldb, double beta, double *c, int64_t ldc) {
    product job = {.op_a = op_a,
                   .op_b = op_b,
                   .m = m,
                   .n = n,
                   .k = k,
                   .lda = lda,
                   .ldb = ldb,
                   .ldc = ldc,
                   .a = a,
                   .b = b,
                   .alpha = alpha,
                   .beta = beta,
                   .c = c};
    return multiply(context, &job);
}

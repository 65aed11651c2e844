#include <cblas.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>

#include <szego/pool.h>
#include "cpu.h"

/* Products of fewer operations than this gain nothing from a second thread. */
static const double LARGE_PRODUCT = 4e6;

static pthread_rwlock_t calls = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start_single_threaded(void) {
    openblas_set_num_threads(1);
}

szg_blas_call szg_blas_begin(szg_context *context, bool large) {
    pthread_once(&once, start_single_threaded);
    int threads = large && context && !szg_pool_is_inside() ? szg_context_threads(context) : 1;
    if (threads <= 1) {
        pthread_rwlock_rdlock(&calls);
        return SZG_BLAS_SHARED;
    }
    pthread_rwlock_wrlock(&calls);
    openblas_set_num_threads(threads);
    return SZG_BLAS_ALONE;
}

void szg_blas_end(szg_blas_call call) {
    if (call == SZG_BLAS_ALONE)
        openblas_set_num_threads(1);
    pthread_rwlock_unlock(&calls);
}

const char *szg_backend_blas(void) {
    return openblas_get_config();
}

szg_status szg_lapack_sizes(szg_context *context, const char *what, int64_t m, int64_t n,
                            int64_t ld) {
    if (m <= INT32_MAX && n <= INT32_MAX && ld <= INT32_MAX)
        return SZG_OK;
    return szg_fail(context, SZG_ENOMEM,
                    "%s: %" PRId64 " x %" PRId64 " (leading dimension %" PRId64
                    ") exceeds the 32-bit sizes of LAPACK",
                    what, m, n, ld);
}

szg_status szg_lapack_status(szg_context *context, const char *routine, int64_t info,
                             const char *loose) {
    if (info == 0)
        return SZG_OK;
    if (info < 0)
        return szg_fail(context, SZG_EINTERNAL, "%s refused its argument %" PRId64, routine, -info);
    return szg_fail(context, SZG_ENOCONV, "%s: %s (info %" PRId64 ")", routine, loose, info);
}

int64_t szg_lapack_work(double query) {
    return query < 1 ? 1 : (int64_t)ceil(query);
}

static CBLAS_TRANSPOSE transpose_of(char op) {
    return op == 'n' ? CblasNoTrans : op == 't' ? CblasTrans : CblasConjTrans;
}

static szg_status check_sizes(szg_context *context, int64_t m, int64_t n, int64_t k, int64_t lda,
                              int64_t ldb, int64_t ldc) {
    SZG_TRY(szg_lapack_sizes(context, "product", m, n, ldc));
    SZG_TRY(szg_lapack_sizes(context, "product", m, k, lda));
    return szg_lapack_sizes(context, "product", k, n, ldb);
}

szg_status szg_cpu_gemm(szg_context *context, char op_a, char op_b, int64_t m, int64_t n, int64_t k,
                        double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                        double beta, double *c, int64_t ldc) {
    SZG_TRY(check_sizes(context, m, n, k, lda, ldb, ldc));
    szg_blas_call call =
        szg_blas_begin(context, 2.0 * (double)m * (double)n * (double)k > LARGE_PRODUCT);
    cblas_dgemm(CblasRowMajor, transpose_of(op_a), transpose_of(op_b), (blasint)m, (blasint)n,
                (blasint)k, alpha, a, (blasint)lda, b, (blasint)ldb, beta, c, (blasint)ldc);
    szg_blas_end(call);
    return SZG_OK;
}

szg_status szg_cpu_gemm_complex(szg_context *context, char op_a, char op_b, int64_t m, int64_t n,
                                int64_t k, szg_c64 alpha, const szg_c64 *a, int64_t lda,
                                const szg_c64 *b, int64_t ldb, szg_c64 beta, szg_c64 *c,
                                int64_t ldc) {
    SZG_TRY(check_sizes(context, m, n, k, lda, ldb, ldc));
    szg_blas_call call =
        szg_blas_begin(context, 8.0 * (double)m * (double)n * (double)k > LARGE_PRODUCT);
    cblas_zgemm(CblasRowMajor, transpose_of(op_a), transpose_of(op_b), (blasint)m, (blasint)n,
                (blasint)k, &alpha, a, (blasint)lda, b, (blasint)ldb, &beta, c, (blasint)ldc);
    szg_blas_end(call);
    return SZG_OK;
}

/* The rivals: LAPACK as a program without szego would call it. */
#include <cblas.h>
#include <lapacke.h>

#include "base/memory.h"
#include "private.h"

/* The library keeps OpenBLAS on one thread and expects to find it so. */
static szg_status finish(szg_status status) {
    openblas_set_num_threads(1);
    return status;
}

static szg_status check(szg_context *context, const char *driver, lapack_int info) {
    if (info == 0)
        return SZG_OK;
    return szgi_fail(context, info == LAPACK_WORK_MEMORY_ERROR ? SZG_ENOMEM : SZG_ENOCONV,
                     "benchmark: %s returned %lld", driver, (long long)info);
}

szg_status bench_lapack_symmetric(szg_context *context, int threads, int64_t count, int64_t n,
                                  double *a, double *w) {
    openblas_set_num_threads(threads);
    lapack_int info = 0;
    for (int64_t i = 0; i < count && info == 0; i++)
        info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'N', 'U', (lapack_int)n, a + i * n * n,
                              (lapack_int)n, w + i * n);
    return finish(check(context, "dsyevd", info));
}

/* One column of workspace more than LAPACK asks for: OpenBLAS 0.3.21's AVX-512 zgemv reads beyond
 * the panel there, which ends the program where the next page is not mapped. */
szg_status bench_lapack_hermitian(szg_context *context, int threads, int64_t n, szg_c64 *matrix,
                                  double *w) {
    lapack_complex_double *a = (void *)matrix, *work = NULL, query;
    double *real = NULL, query_real;
    lapack_int order = (lapack_int)n, integer; /* without vectors LAPACK takes n numbers and one */
    szg_status status;
    LAPACKE_zheevd_work(LAPACK_COL_MAJOR, 'N', 'U', order, a, order, w, &query, -1, &query_real, -1,
                        &integer, -1);
    lapack_int count = (lapack_int)creal(query);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, count + n, &work), end);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, n, &real), end);
    openblas_set_num_threads(threads);
    lapack_int info = LAPACKE_zheevd_work(LAPACK_COL_MAJOR, 'N', 'U', order, a, order, w, work,
                                          count, real, order, &integer, 1);
    status = finish(check(context, "zheevd", info));
end:
    szgi_memory_free(work);
    szgi_memory_free(real);
    return status;
}

szg_status bench_lapack_general(szg_context *context, int threads, int64_t count, int64_t n,
                                double *a, szg_c64 *w) {
    enum { MOST = 512 };
    double re[MOST], im[MOST];
    if (n > MOST)
        return szgi_fail(context, SZG_EINVAL, "benchmark: order %lld", (long long)n);
    openblas_set_num_threads(threads);
    lapack_int info = 0;
    for (int64_t i = 0; i < count && info == 0; i++) {
        info = LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)n, a + i * n * n,
                             (lapack_int)n, re, im, NULL, 1, NULL, 1);
        for (int64_t j = 0; j < n; j++)
            w[i * n + j] = (szg_c64){re[j], im[j]};
    }
    return finish(check(context, "dgeev", info));
}

szg_status bench_lapack_singular(szg_context *context, int threads, int64_t count, int64_t n,
                                 double *a, double *s) {
    openblas_set_num_threads(threads);
    lapack_int info = 0;
    for (int64_t i = 0; i < count && info == 0; i++)
        info = LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'N', (lapack_int)n, (lapack_int)n, a + i * n * n,
                              (lapack_int)n, s + i * n, NULL, 1, NULL, 1);
    return finish(check(context, "dgesdd", info));
}

void bench_gemm(int threads, int64_t n, const double *a, const double *b, double *c) {
    openblas_set_num_threads(threads);
    int m = (int)n;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, a, m, b, m, 0, c, m);
    openblas_set_num_threads(1);
}

void bench_gemm_single(int threads, int64_t n, const float *a, const float *b, float *c) {
    openblas_set_num_threads(threads);
    int m = (int)n;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, m, m, 1, a, m, b, m, 0, c, m);
    openblas_set_num_threads(1);
}

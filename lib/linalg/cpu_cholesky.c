/* Cholesky's factor by LAPACK, in OpenBLAS's own blocked form. The lower triangle of a row-major
 * array is the upper one column-major, U with U^* U = conj(a); L = U^T has the layout of U in
 * memory. */
#include "cpu.h"
#include "lapack.h"

/* Below this order one thread is as fast as several. */
enum { LARGE_CHOLESKY = 512 };

/* A positive info is the number of the first pivot that is not positive. */
static szg_status answer(szg_context *context, const char *routine, lapack_int info,
                         bool *completed) {
    *completed = info == 0;
    return info > 0 ? SZG_OK : szgi_lapack_status(context, routine, info, "failed");
}

szg_status szgi_cpu_cholesky(szg_context *context, int64_t n, double *a, int64_t lda,
                             bool *completed) {
    SZG_TRY(szgi_lapack_sizes(context, "Cholesky factor", n, n, lda));
    SZG_TRY(szgi_blas_reserve(context, n >= LARGE_CHOLESKY));
    szgi_blas_call call = szgi_blas_begin(context, n >= LARGE_CHOLESKY);
    lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)lda);
    szgi_blas_end(call);
    return answer(context, "dpotrf", info, completed);
}

szg_status szgi_cpu_cholesky_complex(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                     bool *completed) {
    SZG_TRY(szgi_lapack_sizes(context, "Cholesky factor", n, n, lda));
    SZG_TRY(szgi_blas_reserve(context, n >= LARGE_CHOLESKY));
    szgi_blas_call call = szgi_blas_begin(context, n >= LARGE_CHOLESKY);
    lapack_int info = LAPACKE_zpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, (lapack_int)lda);
    szgi_blas_end(call);
    return answer(context, "zpotrf", info, completed);
}

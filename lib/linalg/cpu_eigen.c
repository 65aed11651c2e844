/* Eigenvalues by LAPACK. A row-major array read column-major is the transpose: a symmetric matrix
 * is itself (its lower triangle called upper), a Hermitian one its conjugate, a general one its
 * transpose, with the same eigenvalues. So nothing is ever transposed here. */

#include "base/memory.h"
#include "cpu_tridiagonal.h"
#include "lapack.h"

/* Below this order one thread is as fast as several. */
enum { LARGE_EIGEN = 512 };

static const char LOOSE_EIGEN[] = "some eigenvalues did not converge";

/* Vectors of dsyevd need 1 + 6 n + 2 n^2 doubles of work space, counted in 32 bits. */
enum { VECTORS_MAX = 32000 };

static szg_status check_vectors(szg_context *context, int64_t n, bool vectors) {
    if (!vectors || n <= VECTORS_MAX)
        return SZG_OK;
    return szgi_fail(context, SZG_ENOMEM,
                     "eigenvectors of order %lld: LAPACK's 32-bit work space ends at %d; "
                     "ask for eigenvalues only",
                     (long long)n, VECTORS_MAX);
}

szg_status szgi_cpu_eigen_symmetric(szg_context *context, int64_t n, double *a, int64_t lda,
                                    double *w, bool vectors) {
    SZG_TRY(szgi_lapack_sizes(context, "eigenvalues", n, n, lda));
    SZG_TRY(szgi_blas_reserve(context, n >= LARGE_EIGEN));
    SZG_TRY(check_vectors(context, n, vectors));
    if (!vectors)
        return szgi_cpu_values_symmetric(context, n, a, lda, n >= LARGE_EIGEN, w);
    double query;
    lapack_int query_int;
    SZG_TRY(szgi_lapack_status(context, "dsyevd",
                               LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)n, a,
                                                   (lapack_int)lda, w, &query, -1, &query_int, -1),
                               LOOSE_EIGEN));
    int64_t count = szgi_lapack_work(query);
    double *work;
    lapack_int *work_int = NULL;
    SZG_TRY(szgi_memory_alloc(context, count, &work));
    szg_status status = szgi_memory_alloc(context, query_int, &work_int);
    if (status == SZG_OK) {
        szgi_blas_call call = szgi_blas_begin(context, n >= LARGE_EIGEN);
        lapack_int info =
            LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)n, a, (lapack_int)lda, w,
                                work, (lapack_int)count, work_int, query_int);
        szgi_blas_end(call);
        status = szgi_lapack_status(context, "dsyevd", info, LOOSE_EIGEN);
    }
    szgi_memory_free(work);
    szgi_memory_free(work_int);
    return status;
}

/* LAPACK's vectors are those of the conjugate matrix. */
static szg_status conjugate(szg_context *context, int64_t n, szg_c64 *a, int64_t lda) {
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < n; j++)
            a[i * lda + j].im = -a[i * lda + j].im;
    }
    return SZG_OK;
}

typedef struct hermitian_work {
    szg_c64 *matrix;  /* n + 1 columns */
    szg_c64 *complex; /* complex_count and a column */
    double *real;
    lapack_int *integer;
    int64_t complex_count, real_count, integer_count;
} hermitian_work;

/* OpenBLAS 0.3.21's AVX-512 zgemv reads up to a column beyond the matrix, which ends the process
 * where the next page is not mapped: it gets a copy with a column to spare. The reduction to
 * tridiagonal form multiplies by a panel in the workspace too, which has one as well. */
static szg_status open_hermitian_work(szg_context *context, int64_t n, hermitian_work *work) {
    szg_status status;
    int64_t padded;
    SZG_TRY(szgi_memory_product(context, n + 1, n, &padded));
    int64_t complex_count = work->complex_count + n; /* both fit LAPACK's 32 bits */
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, padded, &work->matrix), end);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, complex_count, &work->complex), end);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, work->real_count, &work->real), end);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, work->integer_count, &work->integer), end);
end:
    return status;
}

static void close_hermitian_work(hermitian_work *work) {
    szgi_memory_free(work->matrix);
    szgi_memory_free(work->complex);
    szgi_memory_free(work->real);
    szgi_memory_free(work->integer);
}

static szg_status hermitian_vectors(szg_context *context, int64_t n, hermitian_work *work,
                                    double *w) {
    lapack_int info = LAPACKE_zheevd_work(
        LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)n, work->matrix, (lapack_int)n, w, work->complex,
        (lapack_int)work->complex_count, work->real, (lapack_int)work->real_count, work->integer,
        (lapack_int)work->integer_count);
    return szgi_lapack_status(context, "zheevd", info, LOOSE_EIGEN);
}

szg_status szgi_cpu_eigen_hermitian(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                    double *w, bool vectors) {
    SZG_TRY(szgi_lapack_sizes(context, "eigenvalues", n, n, lda));
    SZG_TRY(szgi_blas_reserve(context, n >= LARGE_EIGEN));
    SZG_TRY(check_vectors(context, n, vectors));
    char job = vectors ? 'V' : 'N';
    szg_c64 query;
    double query_real;
    lapack_int query_int;
    SZG_TRY(szgi_lapack_status(context, "zheevd",
                               LAPACKE_zheevd_work(LAPACK_COL_MAJOR, job, 'U', (lapack_int)n, a,
                                                   (lapack_int)lda, w, &query, -1, &query_real, -1,
                                                   &query_int, -1),
                               LOOSE_EIGEN));
    hermitian_work work = {.complex_count = szgi_lapack_work(query.re),
                           .real_count = szgi_lapack_work(query_real),
                           .integer_count = query_int};
    szg_status status = open_hermitian_work(context, n, &work);
    if (status == SZG_OK)
        status = szgi_lapack_copy(context, n, n, a, lda, work.matrix, n);
    if (status == SZG_OK) {
        szgi_blas_call call = szgi_blas_begin(context, n >= LARGE_EIGEN);
        status = vectors ? hermitian_vectors(context, n, &work, w)
                         : szgi_cpu_values_hermitian(context, n, work.matrix, n, work.complex,
                                                     work.complex_count, w);
        szgi_blas_end(call);
    }
    if (status == SZG_OK && vectors)
        status = szgi_lapack_copy(context, n, n, work.matrix, n, a, lda);
    if (status == SZG_OK && vectors)
        status = conjugate(context, n, a, lda);
    close_hermitian_work(&work);
    return status;
}

szg_status szgi_cpu_eigen_general(szg_context *context, int64_t n, double *a, int64_t lda,
                                  szg_c64 *w) {
    SZG_TRY(szgi_lapack_sizes(context, "eigenvalues", n, n, lda));
    SZG_TRY(szgi_blas_reserve(context, n >= LARGE_EIGEN));
    double query;
    SZG_TRY(szgi_lapack_status(context, "dgeev",
                               LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)n, a,
                                                  (lapack_int)lda, NULL, NULL, NULL, 1, NULL, 1,
                                                  &query, -1),
                               LOOSE_EIGEN));
    int64_t count = szgi_lapack_work(query);
    double *work; /* LAPACK's own, then real parts, then imaginary parts */
    SZG_TRY(szgi_memory_alloc(context, count + 2 * n, &work));
    double *re = work + count, *im = re + n;
    szgi_blas_call call = szgi_blas_begin(context, n >= LARGE_EIGEN);
    lapack_int info =
        LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)n, a, (lapack_int)lda, re, im,
                           NULL, 1, NULL, 1, work, (lapack_int)count);
    szgi_blas_end(call);
    for (int64_t i = 0; i < n; i++)
        w[i] = (szg_c64){re[i], im[i]};
    szgi_memory_free(work);
    return szgi_lapack_status(context, "dgeev", info, LOOSE_EIGEN);
}

szg_status szgi_cpu_eigen_general_complex(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                          szg_c64 *w) {
    SZG_TRY(szgi_lapack_sizes(context, "eigenvalues", n, n, lda));
    SZG_TRY(szgi_blas_reserve(context, n >= LARGE_EIGEN));
    szg_c64 query;
    double *real;
    SZG_TRY(szgi_memory_alloc(context, 2 * n, &real));
    szg_c64 *work = NULL;
    szg_status status;
    SZG_TRY_GOTO(status,
                 szgi_lapack_status(context, "zgeev",
                                    LAPACKE_zgeev_work(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)n, a,
                                                       (lapack_int)lda, w, NULL, 1, NULL, 1, &query,
                                                       -1, real),
                                    LOOSE_EIGEN),
                 end);
    int64_t count = szgi_lapack_work(query.re);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, count, &work), end);
    szgi_blas_call call = szgi_blas_begin(context, n >= LARGE_EIGEN);
    lapack_int info =
        LAPACKE_zgeev_work(LAPACK_COL_MAJOR, 'N', 'N', (lapack_int)n, a, (lapack_int)lda, w, NULL,
                           1, NULL, 1, work, (lapack_int)count, real);
    szgi_blas_end(call);
    status = szgi_lapack_status(context, "zgeev", info, LOOSE_EIGEN);
end:
    szgi_memory_free(work);
    szgi_memory_free(real);
    return status;
}

/* Singular values and QR by LAPACK. A row-major m x n array read column-major is the n x m
 * transpose, A^T = conj(V) S U^T: LAPACK's left factor is our vt and its right factor our u, in
 * place. */
#include "base/memory.h"
#include "cpu.h"
#include "lapack.h"

/* Below this smaller side one thread is as fast as several. */
enum { LARGE_SINGULAR = 512 };

static const char LOOSE_SINGULAR[] = "the bidiagonal iteration did not converge";

szg_status szgi_cpu_singular(szg_context *context, int64_t m, int64_t n, double *a, int64_t lda,
                             double *s, double *u, int64_t ldu, double *vt, int64_t ldvt) {
    SZG_TRY(szgi_lapack_sizes(context, "singular values", m, n, lda));
    SZG_TRY(szgi_lapack_sizes(context, "singular values", m, n, ldu > ldvt ? ldu : ldvt));
    int64_t k = m < n ? m : n;
    SZG_TRY(szgi_blas_reserve(context, k >= LARGE_SINGULAR));
    char job = u ? 'S' : 'N';
    double query;
    SZG_TRY(szgi_lapack_status(
        context, "dgesdd",
        LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, job, (lapack_int)n, (lapack_int)m, a, (lapack_int)lda,
                            s, vt, (lapack_int)ldvt, u, (lapack_int)ldu, &query, -1, NULL),
        LOOSE_SINGULAR));
    int64_t count = szgi_lapack_work(query);
    double *work;
    lapack_int *work_int = NULL;
    SZG_TRY(szgi_memory_alloc(context, count, &work));
    szg_status status = szgi_memory_alloc(context, 8 * k, &work_int);
    if (status == SZG_OK) {
        szgi_blas_call call = szgi_blas_begin(context, k >= LARGE_SINGULAR);
        lapack_int info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, job, (lapack_int)n, (lapack_int)m,
                                              a, (lapack_int)lda, s, vt, (lapack_int)ldvt, u,
                                              (lapack_int)ldu, work, (lapack_int)count, work_int);
        szgi_blas_end(call);
        status = szgi_lapack_status(context, "dgesdd", info, LOOSE_SINGULAR);
    }
    szgi_memory_free(work);
    szgi_memory_free(work_int);
    return status;
}

/* zgesdd's real work space, the larger of its documented cases. */
static int64_t real_work(int64_t m, int64_t n) {
    int64_t small = m < n ? m : n, large = m < n ? n : m;
    int64_t square = 5 * small * small + 5 * small;
    int64_t wide = 2 * large * small + 2 * small * small + small;
    return (square > wide ? square : wide) + 7 * small;
}

/* zgesdd's arrays, each with a column of LAPACK's to spare, which OpenBLAS 0.3.21's AVX-512 zgemv
 * reads (cpu_eigen.c). */
typedef struct complex_work {
    szg_c64 *matrix; /* m + 1 rows of n */
    szg_c64 *u, *vt; /* m + 1 rows of k, k + 1 rows of n; NULL without vectors */
    szg_c64 *complex;
    double *real;
    lapack_int *integer;
} complex_work;

static szg_status open_complex_work(szg_context *context, int64_t m, int64_t n, int64_t count,
                                    bool vectors, complex_work *work) {
    int64_t k = m < n ? m : n, matrix, u, vt;
    SZG_TRY(szgi_memory_product(context, m + 1, n, &matrix));
    SZG_TRY(szgi_memory_product(context, m + 1, k, &u));
    SZG_TRY(szgi_memory_product(context, k + 1, n, &vt));
    SZG_TRY(szgi_memory_alloc(context, matrix, &work->matrix));
    if (vectors) {
        SZG_TRY(szgi_memory_alloc(context, u, &work->u));
        SZG_TRY(szgi_memory_alloc(context, vt, &work->vt));
    }
    SZG_TRY(szgi_memory_alloc(context, count + (m < n ? n : m), &work->complex));
    SZG_TRY(szgi_memory_alloc(context, vectors ? real_work(m, n) : 7 * k, &work->real));
    return szgi_memory_alloc(context, 8 * k, &work->integer);
}

static void close_complex_work(complex_work *work) {
    szgi_memory_free(work->matrix);
    szgi_memory_free(work->u);
    szgi_memory_free(work->vt);
    szgi_memory_free(work->complex);
    szgi_memory_free(work->real);
    szgi_memory_free(work->integer);
}

szg_status szgi_cpu_singular_complex(szg_context *context, int64_t m, int64_t n, szg_c64 *a,
                                     int64_t lda, double *s, szg_c64 *u, int64_t ldu, szg_c64 *vt,
                                     int64_t ldvt) {
    SZG_TRY(szgi_lapack_sizes(context, "singular values", m, n, lda));
    SZG_TRY(szgi_lapack_sizes(context, "singular values", m, n, ldu > ldvt ? ldu : ldvt));
    int64_t k = m < n ? m : n;
    SZG_TRY(szgi_blas_reserve(context, k >= LARGE_SINGULAR));
    char job = u ? 'S' : 'N';
    szg_c64 query;
    SZG_TRY(szgi_lapack_status(
        context, "zgesdd",
        LAPACKE_zgesdd_work(LAPACK_COL_MAJOR, job, (lapack_int)n, (lapack_int)m, a, (lapack_int)n,
                            s, vt, (lapack_int)n, u, (lapack_int)k, &query, -1, NULL, NULL),
        LOOSE_SINGULAR));
    int64_t count = szgi_lapack_work(query.re);
    complex_work work = {0};
    szg_status status = open_complex_work(context, m, n, count, u != NULL, &work);
    if (status == SZG_OK)
        status = szgi_lapack_copy(context, m, n, a, lda, work.matrix, n);
    if (status == SZG_OK) {
        szgi_blas_call call = szgi_blas_begin(context, k >= LARGE_SINGULAR);
        lapack_int info =
            LAPACKE_zgesdd_work(LAPACK_COL_MAJOR, job, (lapack_int)n, (lapack_int)m, work.matrix,
                                (lapack_int)n, s, work.vt, (lapack_int)n, work.u, (lapack_int)k,
                                work.complex, (lapack_int)count, work.real, work.integer);
        szgi_blas_end(call);
        status = szgi_lapack_status(context, "zgesdd", info, LOOSE_SINGULAR);
    }
    if (status == SZG_OK && u)
        status = szgi_lapack_copy(context, m, k, work.u, k, u, ldu);
    if (status == SZG_OK && u)
        status = szgi_lapack_copy(context, k, n, work.vt, n, vt, ldvt);
    close_complex_work(&work);
    return status;
}

/* A = Q R row-major is A^T = L Q' column-major with L = R^T, which has the layout of R in
 * memory. */
szg_status szgi_cpu_qr_r(szg_context *context, int64_t m, int64_t n, double *a, int64_t lda) {
    SZG_TRY(szgi_lapack_sizes(context, "QR", m, n, lda));
    int64_t k = m < n ? m : n;
    SZG_TRY(szgi_blas_reserve(context, k >= LARGE_SINGULAR));
    double query;
    SZG_TRY(szgi_lapack_status(context, "dgelqf",
                               LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)m,
                                                   a, (lapack_int)lda, NULL, &query, -1),
                               "failed"));
    int64_t count = szgi_lapack_work(query);
    double *work; /* LAPACK's own, then the k scalars of the reflectors */
    SZG_TRY(szgi_memory_alloc(context, count + k, &work));
    szgi_blas_call call = szgi_blas_begin(context, k >= LARGE_SINGULAR);
    lapack_int info = LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, (lapack_int)n, (lapack_int)m, a,
                                          (lapack_int)lda, work + count, work, (lapack_int)count);
    szgi_blas_end(call);
    szgi_memory_free(work);
    for (int64_t i = 1; i < k; i++)
        for (int64_t j = 0; j < i; j++)
            a[i * lda + j] = 0;
    return szgi_lapack_status(context, "dgelqf", info, "failed");
}

/* Columns that one reflector in blocks takes together: 8 were the fastest of 8, 16 and 32 where the
 * order is a head's, 64 and 128. */
enum { REFLECTED = 8 };

/* [l b] row-major is the transpose, l^T above b^T, column-major: QR of a triangle on a rectangle,
 * which leaves the triangle's zeros alone. */
szg_status szgi_cpu_lq_append(szg_context *context, int64_t n, int64_t count, double *l,
                              int64_t ldl, double *b, int64_t ldb) {
    SZG_TRY(szgi_lapack_sizes(context, "LQ", n, count, ldl > ldb ? ldl : ldb));
    SZG_TRY(szgi_blas_reserve(context, false));
    int64_t together = n < REFLECTED ? n : REFLECTED;
    double *work; /* the reflectors' triangles, then LAPACK's own */
    SZG_TRY(szgi_memory_alloc(context, 2 * together * n, &work));
    szgi_blas_call call = szgi_blas_begin(context, false);
    lapack_int info = LAPACKE_dtpqrt_work(
        LAPACK_COL_MAJOR, (lapack_int)count, (lapack_int)n, 0, (lapack_int)together, l,
        (lapack_int)ldl, b, (lapack_int)ldb, work, (lapack_int)together, work + together * n);
    szgi_blas_end(call);
    szgi_memory_free(work);
    return szgi_lapack_status(context, "dtpqrt", info, "failed");
}

#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "cpu.h"

/* Products split over the pool in slices of so many rows (or columns) of C, whatever the number of
 * threads; smaller ones than two slices stay on the calling thread. Slices beat OpenBLAS's own
 * threads, which spin while they wait, and give the same bits for any number of threads. */
enum { SLICE = 256 };

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

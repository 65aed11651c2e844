/* The checked functions of linear algebra: arguments are looked at once, for every backend. */
#include <inttypes.h>
#include <math.h>

#include "ops.h"
#include "base/pool.h"
#include "batch.h"
#include "check.h"

/* The table's batch, or the pool's. */
#define BATCH(context, entry, ...)                                                                 \
    (szgi_linalg_of(context)->entry##_batch ? szgi_linalg_of(context)->entry##_batch               \
                                            : szgi_batch_##entry)(context, __VA_ARGS__)

static szg_status missing(szg_context *context, const char *what) {
    return szgi_fail(context, SZG_EBACKEND, "backend %s has no %s: use cpu",
                     szgi_backend_name(context), what);
}

/* op(x) is rows x columns; x itself may be the transpose of that. */
static szg_status check_operand(szg_context *context, const char *name, char op, int64_t rows,
                                int64_t columns, int64_t ld) {
    if (op == 'n')
        return szgi_check_shape(context, name, rows, columns, ld);
    if (op == 't' || op == 'c')
        return szgi_check_shape(context, name, columns, rows, ld);
    return szgi_fail(context, SZG_EINVAL, "%s: operation '%c' is not one of n, t, c", name, op);
}

szg_status szgi_gemm(szg_context *context, char op_a, char op_b, int64_t m, int64_t n, int64_t k,
                     double alpha, const double *a, int64_t lda, const double *b, int64_t ldb,
                     double beta, double *c, int64_t ldc) {
    SZG_TRY(check_operand(context, "A", op_a, m, k, lda));
    SZG_TRY(check_operand(context, "B", op_b, k, n, ldb));
    SZG_TRY(szgi_check_shape(context, "C", m, n, ldc));
    if (m == 0 || n == 0)
        return SZG_OK;
    return szgi_linalg_of(context)->gemm(context, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta,
                                         c, ldc);
}

szg_status szgi_eigen_symmetric(szg_context *context, int64_t n, double *a, int64_t lda, double *w,
                                bool vectors) {
    SZG_TRY(szgi_check_lower(context, n, 1, a, lda));
    if (n == 0)
        return SZG_OK;
    return szgi_linalg_of(context)->eigen_symmetric(context, n, a, lda, w, vectors);
}

szg_status szgi_eigen_hermitian(szg_context *context, int64_t n, szg_c64 *a, int64_t lda, double *w,
                                bool vectors) {
    SZG_TRY(szgi_check_lower(context, n, 2, a, lda));
    if (n == 0)
        return SZG_OK;
    return szgi_linalg_of(context)->eigen_hermitian(context, n, a, lda, w, vectors);
}

szg_status szgi_eigen_general(szg_context *context, int64_t n, double *a, int64_t lda, szg_c64 *w) {
    SZG_TRY(szgi_check_matrix(context, "matrix", n, n, 1, a, lda));
    if (!szgi_linalg_of(context)->eigen_general)
        return missing(context, "general eigenvalues");
    return n == 0 ? SZG_OK : szgi_linalg_of(context)->eigen_general(context, n, a, lda, w);
}

szg_status szgi_eigen_general_complex(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                      szg_c64 *w) {
    SZG_TRY(szgi_check_matrix(context, "matrix", n, n, 2, a, lda));
    if (!szgi_linalg_of(context)->eigen_general_complex)
        return missing(context, "general eigenvalues");
    return n == 0 ? SZG_OK : szgi_linalg_of(context)->eigen_general_complex(context, n, a, lda, w);
}

static szg_status check_factors(szg_context *context, int64_t m, int64_t n, const void *u,
                                int64_t ldu, const void *vt, int64_t ldvt) {
    if (!u != !vt)
        return szgi_fail(context, SZG_EINVAL,
                         "singular vectors: u and vt are both given or both NULL");
    if (!u)
        return SZG_OK;
    int64_t k = m < n ? m : n;
    SZG_TRY(szgi_check_shape(context, "u", m, k, ldu));
    return szgi_check_shape(context, "vt", k, n, ldvt);
}

szg_status szgi_singular(szg_context *context, int64_t m, int64_t n, double *a, int64_t lda,
                         double *s, double *u, int64_t ldu, double *vt, int64_t ldvt) {
    SZG_TRY(szgi_check_matrix(context, "matrix", m, n, 1, a, lda));
    SZG_TRY(check_factors(context, m, n, u, ldu, vt, ldvt));
    if (m == 0 || n == 0)
        return SZG_OK;
    return szgi_linalg_of(context)->singular(context, m, n, a, lda, s, u, ldu, vt, ldvt);
}

szg_status szgi_singular_complex(szg_context *context, int64_t m, int64_t n, szg_c64 *a,
                                 int64_t lda, double *s, szg_c64 *u, int64_t ldu, szg_c64 *vt,
                                 int64_t ldvt) {
    SZG_TRY(szgi_check_matrix(context, "matrix", m, n, 2, a, lda));
    SZG_TRY(check_factors(context, m, n, u, ldu, vt, ldvt));
    if (m == 0 || n == 0)
        return SZG_OK;
    return szgi_linalg_of(context)->singular_complex(context, m, n, a, lda, s, u, ldu, vt, ldvt);
}

szg_status szgi_qr_r(szg_context *context, int64_t m, int64_t n, double *a, int64_t lda) {
    SZG_TRY(szgi_check_matrix(context, "matrix", m, n, 1, a, lda));
    if (m == 0 || n == 0)
        return SZG_OK;
    return szgi_linalg_of(context)->qr_r(context, m, n, a, lda);
}

szg_status szgi_lq_append(szg_context *context, int64_t n, int64_t count, double *l, int64_t ldl,
                          double *b, int64_t ldb) {
    SZG_TRY(szgi_check_lower(context, n, 1, l, ldl));
    SZG_TRY(szgi_check_matrix(context, "matrix", n, count, 1, b, ldb));
    if (n == 0 || count == 0)
        return SZG_OK;
    return szgi_linalg_of(context)->lq_append(context, n, count, l, ldl, b, ldb);
}

/* NaN passes for a positive pivot in LAPACK; it then spreads to the pivot of its row. */
static bool pivots_are_positive(int64_t n, int width, const double *a, int64_t lda) {
    for (int64_t i = 0; i < n; i++) {
        double pivot = a[i * (lda + 1) * width];
        if (!(pivot > 0 && pivot < INFINITY))
            return false;
    }
    return true;
}

szg_status szgi_cholesky(szg_context *context, int64_t n, double *a, int64_t lda, bool *completed) {
    *completed = true;
    SZG_TRY(szgi_check_lower(context, n, 1, a, lda));
    if (n > 0)
        SZG_TRY(szgi_linalg_of(context)->cholesky(context, n, a, lda, completed));
    *completed = *completed && pivots_are_positive(n, 1, a, lda);
    return SZG_OK;
}

szg_status szgi_cholesky_complex(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                 bool *completed) {
    *completed = true;
    SZG_TRY(szgi_check_lower(context, n, 2, a, lda));
    if (n > 0)
        SZG_TRY(szgi_linalg_of(context)->cholesky_complex(context, n, a, lda, completed));
    *completed = *completed && pivots_are_positive(n, 2, (const double *)a, lda);
    return SZG_OK;
}

typedef struct batch_check {
    int64_t count, m, n, stride;
    int width; /* doubles an entry */
    const double *a;
} batch_check;

/* Matrices that one worker looks at in turn. */
enum { LOOK = 64 };

static szg_status check_matrices(szg_context *context, const batch_check *batch, int64_t first,
                                 int64_t end) {
    for (int64_t i = first; i < end; i++) {
        const double *matrix = batch->a + i * batch->stride * batch->width;
        szg_status status = szgi_check_matrix(context, "matrix", batch->m, batch->n, batch->width,
                                              matrix, batch->n);
        if (status == SZG_ECANCEL)
            return status;
        if (status != SZG_OK)
            return szgi_fail_prefix(context, status, "matrix %" PRId64 " of the batch", i);
    }
    return SZG_OK;
}

static szg_status check_block(szg_context *context, void *argument, int64_t block, int worker) {
    const batch_check *batch = argument;
    int64_t end = (block + 1) * LOOK;
    (void)worker;
    return check_matrices(context, batch, block * LOOK, end < batch->count ? end : batch->count);
}

/* Every matrix of a batch is looked at before any is destroyed. */
static szg_status check_batch(szg_context *context, int64_t count, int64_t m, int64_t n, int width,
                              const void *a, int64_t stride) {
    if (count < 0 || stride < 0)
        return szgi_fail(context, SZG_EINVAL,
                         "batch: a count of %" PRId64 " or a stride of %" PRId64 " is negative",
                         count, stride);
    SZG_TRY(szgi_check_shape(context, "batch", m, n, n > 0 ? n : 1));
    if (count > 1 && n > 0 && stride / n < m)
        return szgi_fail(context, SZG_EINVAL,
                         "batch: a stride of %" PRId64 " lets %" PRId64 " x %" PRId64
                         " matrices overlap",
                         stride, m, n);
    if (count == 0 || n == 0)
        return SZG_OK;
    batch_check batch = {.count = count, .m = m, .n = n, .stride = stride, .width = width, .a = a};
    return szgi_pool_run(context, (count - 1) / LOOK + 1, check_block, &batch);
}

szg_status szgi_eigen_symmetric_batch(szg_context *context, int64_t count, int64_t n, double *a,
                                      int64_t stride, double *w) {
    SZG_TRY(check_batch(context, count, n, n, 1, a, stride));
    if (n == 0)
        return SZG_OK;
    return BATCH(context, eigen_symmetric, count, n, a, stride, w);
}

szg_status szgi_eigen_general_batch(szg_context *context, int64_t count, int64_t n, double *a,
                                    int64_t stride, szg_c64 *w) {
    SZG_TRY(check_batch(context, count, n, n, 1, a, stride));
    if (!szgi_linalg_of(context)->eigen_general)
        return missing(context, "general eigenvalues");
    if (n == 0)
        return SZG_OK;
    return BATCH(context, eigen_general, count, n, a, stride, w);
}

szg_status szgi_singular_batch(szg_context *context, int64_t count, int64_t m, int64_t n, double *a,
                               int64_t stride, double *s) {
    SZG_TRY(check_batch(context, count, m, n, 1, a, stride));
    if (m == 0 || n == 0)
        return SZG_OK;
    return BATCH(context, singular, count, m, n, a, stride, s);
}

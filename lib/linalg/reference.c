#include "reference.h"

static double entry(char op, const double *a, int64_t lda, int64_t i, int64_t j) {
    return op == 'n' ? a[i * lda + j] : a[j * lda + i];
}

szg_status szgi_reference_gemm(szg_context *context, char op_a, char op_b, int64_t m, int64_t n,
                               int64_t k, double alpha, const double *a, int64_t lda,
                               const double *b, int64_t ldb, double beta, double *c, int64_t ldc) {
    (void)context;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t t = 0; t < k; t++)
                sum += entry(op_a, a, lda, i, t) * entry(op_b, b, ldb, t, j);
            double *at = &c[i * ldc + j];
            *at = alpha * sum + (beta == 0 ? 0 : beta * *at);
        }
    return SZG_OK;
}

/* General eigenvalues have no plain algorithm that is worth trusting: LAPACK only. */
const szgi_linalg_ops szgi_linalg_reference = {
#define ORACLE(returns, name, parameters) .name = szgi_reference_##name,
#include "linalg_ops.def"
};

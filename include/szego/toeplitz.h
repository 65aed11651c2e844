/* Toeplitz matrices T_ij = a_{i-j}, n x n, held as coefficients: products, toeplitzness.
 *
 * The lag of entry (i, j) is i - j: the first column holds lags 0, 1, .. n-1, the first row lags
 * 0, -1, .. -(n-1). Coefficients beyond those given are 0. A handle is not changed by any function
 * but close and may be used by several threads at once (what it caches, it guards). */
#ifndef SZEGO_TOEPLITZ_H
#define SZEGO_TOEPLITZ_H

#include <szego/context.h>

SZG_BEGIN_DECLS

typedef enum szg_toeplitz_kind {
    SZG_TOEPLITZ_SYMMETRIC, /* real, a_{-k} = a_k */
    SZG_TOEPLITZ_HERMITIAN, /* complex, a_{-k} = conj a_k */
    SZG_TOEPLITZ_REAL,      /* real, no symmetry promised */
    SZG_TOEPLITZ_COMPLEX    /* no symmetry promised */
} szg_toeplitz_kind;

typedef struct szg_toeplitz szg_toeplitz;

/* Open an n x n matrix, n >= 1, from `count` >= 1 lags on a side, which are copied; lags of n and
 * more are not part of the matrix and are dropped. symmetric, hermitian: a[k] = a_k, k = 0 ..
 * count-1, a_0 real. real, complex: 2 count - 1 values, a[k + count - 1] = a_k, lag -(count-1)
 * first. SZG_EINVAL, SZG_EDATA (NaN, infinity or a complex a_0; the lag is named), SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_toeplitz_open_symmetric(szg_context *context, int64_t n,
                                                        int64_t count, const double *a,
                                                        szg_toeplitz **out);
SZG_CHECK_RESULT szg_status szg_toeplitz_open_hermitian(szg_context *context, int64_t n,
                                                        int64_t count, const szg_c64 *a,
                                                        szg_toeplitz **out);
SZG_CHECK_RESULT szg_status szg_toeplitz_open_real(szg_context *context, int64_t n, int64_t count,
                                                   const double *a, szg_toeplitz **out);
SZG_CHECK_RESULT szg_status szg_toeplitz_open_complex(szg_context *context, int64_t n,
                                                      int64_t count, const szg_c64 *a,
                                                      szg_toeplitz **out);
void szg_toeplitz_close(szg_toeplitz **toeplitz);

int64_t szg_toeplitz_size(const szg_toeplitz *toeplitz);
/* a_lag; 0 for lags outside the matrix. */
szg_c64 szg_toeplitz_at(const szg_toeplitz *toeplitz, int64_t lag);

/* y_b := op(T) x_b for b = 0 .. batch-1; vector b begins at x + b * ldx, ldx >= n. op: 'n', 't'
 * (transposed), 'c' (conjugate transposed). x and y do not overlap. By circulant embedding, O(n log
 * n) a vector, split over the pool; a narrow band is summed directly. |error|_2 <= c log2(n) eps
 * ||a||_1 ||x||_2 (Van Loan 1992, 1.4). The real function on a complex kind is SZG_EINVAL. */
SZG_CHECK_RESULT szg_status szg_toeplitz_apply(szg_context *context, const szg_toeplitz *toeplitz,
                                               char op, int64_t batch, const double *x, int64_t ldx,
                                               double *y, int64_t ldy);

/* ---- Toeplitzness ---- */

/* Toeplitzness of a matrix L: tau = ||P_T L||_F^2 / ||L||_F^2 = 1 - ||L - P_T L||_F^2 / ||L||_F^2,
 * in [0, 1], 1 for a Toeplitz matrix. */
typedef struct szg_tau {
    double value;
    double error; /* bound of the absolute rounding error of `value`; where `sampled`, one standard
                     error of the sample included */
    bool sampled; /* 1 - value is a mean over Gaussian vectors, see szg_factored_toeplitzness */
} szg_tau;

/* Means along the diagonals, then squared deviations from them: both squares are sums of positive
 * terms, and value = part / (part + rest) keeps its digits near 0 and near 1. Entries of any size.
 * SZG_EDOMAIN: a = 0. */
SZG_CHECK_RESULT szg_status szg_toeplitzness(szg_context *context, int64_t n, const double *a,
                                             int64_t lda, szg_tau *tau);

SZG_END_DECLS

#endif

/* Toeplitz matrices T_ij = a_{i-j}, n x n, held as coefficients: products, solvers, projection.
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

szg_toeplitz_kind szg_toeplitz_kind_of(const szg_toeplitz *toeplitz);
int64_t szg_toeplitz_size(const szg_toeplitz *toeplitz);
/* Largest |k| with a_k != 0; 0 for the zero matrix too. */
int64_t szg_toeplitz_degree(const szg_toeplitz *toeplitz);
/* a_lag; 0 for lags outside the matrix. */
szg_c64 szg_toeplitz_at(const szg_toeplitz *toeplitz, int64_t lag);
/* Symmetric and real kinds. */
bool szg_toeplitz_is_real(const szg_toeplitz *toeplitz);
/* Symmetric and Hermitian kinds: eigenvalues are real. */
bool szg_toeplitz_is_hermitian(const szg_toeplitz *toeplitz);

/* n a_0. */
szg_c64 szg_toeplitz_trace(const szg_toeplitz *toeplitz);
/* Frobenius norm, sqrt(sum_k (n - |k|) |a_k|^2), without overflow on the way. */
double szg_toeplitz_norm_frobenius(const szg_toeplitz *toeplitz);
/* sum_k |a_k|: bounds the spectral norm. */
double szg_toeplitz_norm_wiener(const szg_toeplitz *toeplitz);

/* The n x n matrix itself, row-major. SZG_ENOMEM where 8 n^2 (complex: 16 n^2) bytes exceed the
 * available memory, whoever has allocated the array; szg_toeplitz_dense of a complex kind is
 * SZG_EINVAL. */
SZG_CHECK_RESULT szg_status szg_toeplitz_dense(szg_context *context, const szg_toeplitz *toeplitz,
                                               double *a, int64_t lda);
SZG_CHECK_RESULT szg_status szg_toeplitz_dense_complex(szg_context *context,
                                                       const szg_toeplitz *toeplitz, szg_c64 *a,
                                                       int64_t lda);

/* y_b := op(T) x_b for b = 0 .. batch-1; vector b stands at x + b * ldx, ldx >= n. op: 'n', 't'
 * (transposed), 'c' (conjugate transposed). x and y do not overlap. By circulant embedding, O(n log
 * n) a vector, split over the pool; a narrow band is summed directly. |error|_2 <= c log2(n) eps
 * ||a||_1 ||x||_2 (Van Loan 1992, 1.4). The real function on a complex kind is SZG_EINVAL. */
SZG_CHECK_RESULT szg_status szg_toeplitz_apply(szg_context *context, const szg_toeplitz *toeplitz,
                                               char op, int64_t batch, const double *x, int64_t ldx,
                                               double *y, int64_t ldy);
SZG_CHECK_RESULT szg_status szg_toeplitz_apply_complex(szg_context *context,
                                                       const szg_toeplitz *toeplitz, char op,
                                                       int64_t batch, const szg_c64 *x, int64_t ldx,
                                                       szg_c64 *y, int64_t ldy);

/* ---- Solvers ---- */

/* Reflection coefficients (Schur parameters) of the n - 1 steps of Levinson's recursion: step k
 * turns the leading minor of order k into that of order k + 1, D_{k+1}/D_k = D_k/D_{k-1} (1 - f_k
 * b_k). Arrays of n - 1, either may be NULL; real kinds have imaginary parts 0, Hermitian ones b =
 * conj f. */
typedef struct szg_reflection {
    szg_c64 *forward, *backward;
} szg_reflection;

/* Solves T x = b by Levinson-Durbin (Levinson 1947, Durbin 1960, Trench 1964), O(n^2) time, O(n)
 * memory. All leading minors must be regular: SZG_EDOMAIN names the order where one is singular to
 * working precision. Stable for positive definite T (Cybenko 1980), not in general: *residual (may
 * be NULL) is the backward error ||b - T x|| / (||T||_F ||x|| + ||b||). `reflection` may be NULL. x
 * and b do not overlap. SZG_EDATA (b), SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szg_toeplitz_solve(szg_context *context, const szg_toeplitz *toeplitz,
                                               const double *b, double *x,
                                               const szg_reflection *reflection, double *residual);
SZG_CHECK_RESULT szg_status szg_toeplitz_solve_complex(szg_context *context,
                                                       const szg_toeplitz *toeplitz,
                                                       const szg_c64 *b, szg_c64 *x,
                                                       const szg_reflection *reflection,
                                                       double *residual);

typedef enum szg_preconditioner {
    SZG_PRECONDITIONER_NONE,
    SZG_PRECONDITIONER_STRANG, /* copies the central lags (Strang 1986); moduli of its eigenvalues
                                */
    SZG_PRECONDITIONER_TCHAN,  /* nearest circulant in Frobenius norm (T. Chan 1988) */
    SZG_PRECONDITIONERS
} szg_preconditioner;

typedef struct szg_cg_options {
    szg_preconditioner preconditioner;
    double tolerance;   /* on ||b - T x|| / ||b||, 2^-52 .. 1; 0: 1e-12 */
    int64_t iterations; /* at most; 0: 10 n + 100 */
} szg_cg_options;

typedef struct szg_cg_result {
    int64_t iterations;
    double residual; /* ||b - T x|| / ||b||, computed anew from x at the end */
} szg_cg_result;

/* Preconditioned conjugate gradients for symmetric (Hermitian) positive definite T; x holds the
 * first guess and then the answer. options NULL: all zero. SZG_EDOMAIN: not positive definite (a
 * direction of non-positive curvature, or T. Chan's circulant has an eigenvalue <= 0 and so T has
 * one, Tyrtyshnikov 1992), or a kind that is not Hermitian. SZG_ENOCONV: too many iterations, or
 * the residual cannot reach the tolerance; *result and x hold the best found. */
SZG_CHECK_RESULT szg_status szg_toeplitz_cg(szg_context *context, const szg_toeplitz *toeplitz,
                                            const szg_cg_options *options, const double *b,
                                            double *x, szg_cg_result *result);
SZG_CHECK_RESULT szg_status szg_toeplitz_cg_complex(szg_context *context,
                                                    const szg_toeplitz *toeplitz,
                                                    const szg_cg_options *options, const szg_c64 *b,
                                                    szg_c64 *x, szg_cg_result *result);

/* The n eigenvalues (in FFT order, real for Hermitian T) of the Strang or T. Chan circulant of T:
 * entry (i, j) of the circulant is c_{(i-j) mod n}, eigenvalue j is sum_k c_k e^{-2 pi i jk/n}. */
SZG_CHECK_RESULT szg_status szg_circulant_eigenvalues(szg_context *context,
                                                      const szg_toeplitz *toeplitz,
                                                      szg_preconditioner which, szg_c64 *w);

/* ---- Projection ---- */

/* The orthogonal projection (Frobenius) of a dense n x n matrix on the Toeplitz matrices: means
 * along diagonals. The result is symmetric (Hermitian) where the means at k and -k are equal
 * (conjugate) numbers, as for a symmetric input; else real (complex). SZG_EDATA names the first
 * NaN. */
SZG_CHECK_RESULT szg_status szg_toeplitz_project(szg_context *context, int64_t n, const double *a,
                                                 int64_t lda, szg_toeplitz **out);
SZG_CHECK_RESULT szg_status szg_toeplitz_project_complex(szg_context *context, int64_t n,
                                                         const szg_c64 *a, int64_t lda,
                                                         szg_toeplitz **out);

/* The same from the means along the diagonals of a real matrix: mean[k + n - 1] at lag k, 2n - 1 of
 * them. SZG_EDATA: one of them is not finite. */
SZG_CHECK_RESULT szg_status szg_toeplitz_open_means(szg_context *context, int64_t n,
                                                    const double *mean, szg_toeplitz **out);

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
SZG_CHECK_RESULT szg_status szg_toeplitzness_complex(szg_context *context, int64_t n,
                                                     const szg_c64 *a, int64_t lda, szg_tau *tau);
/* The same from the projection `part` and the Frobenius norm of what it leaves, ||L - P_T L||_F, a
 * sum of n^2 squares. */
SZG_CHECK_RESULT szg_status szg_toeplitzness_of_parts(szg_context *context,
                                                      const szg_toeplitz *part, double rest,
                                                      szg_tau *tau);

/* NULL, or the sentence that belongs beside a sampled number. */
const char *szg_tau_note(const szg_tau *tau);

SZG_END_DECLS

#endif

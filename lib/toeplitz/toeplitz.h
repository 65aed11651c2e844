/* What the house alone uses of <szego/toeplitz.h>: facts, dense forms, solvers, projection. */
#ifndef SZEGO_TOEPLITZ_TOEPLITZ_H
#define SZEGO_TOEPLITZ_TOEPLITZ_H

#include <szego/toeplitz.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* The kind that it was opened as. */
szg_toeplitz_kind szgi_toeplitz_kind_of(const szg_toeplitz *toeplitz);
/* Largest |k| with a_k != 0; 0 for the zero matrix too. */
int64_t szgi_toeplitz_degree(const szg_toeplitz *toeplitz);
/* Symmetric and real kinds. */
bool szgi_toeplitz_is_real(const szg_toeplitz *toeplitz);
/* Symmetric and Hermitian kinds: eigenvalues are real. */
bool szgi_toeplitz_is_hermitian(const szg_toeplitz *toeplitz);

/* n a_0. */
szg_c64 szgi_toeplitz_trace(const szg_toeplitz *toeplitz);
/* Frobenius norm, sqrt(sum_k (n - |k|) |a_k|^2), without overflow on the way. */
double szgi_toeplitz_norm_frobenius(const szg_toeplitz *toeplitz);
/* The largest modulus of a real or imaginary part of a coefficient. */
double szgi_toeplitz_largest_part(const szg_toeplitz *toeplitz);
/* sum_k |a_k|: bounds the spectral norm. */
double szgi_toeplitz_norm_wiener(const szg_toeplitz *toeplitz);

/* An interval [*lo, *hi] that holds every eigenvalue of a Hermitian kind, rounding included, in the
 * time of one product: no longer than Gershgorin's, and no longer than the range of a circulant
 * that T is a block of (Cauchy's interlacing), apart from rounding. SZG_ENOMEM, SZG_EINVAL (other
 * kinds). */
SZG_CHECK_RESULT szg_status szgi_toeplitz_enclose(szg_context *context,
                                                  const szg_toeplitz *toeplitz, double *lo,
                                                  double *hi);

/* ||fl(T x) - T x||_2 <= this ||x||_2 for the products of szg_toeplitz_apply and
 * szgi_toeplitz_apply_complex: a bound to first order in the rounding unit. */
double szgi_toeplitz_product_error(const szg_toeplitz *toeplitz);
/* Memory of these products, in vectors of n real numbers: what the matrix keeps after the first and
 * what one has at work. */
int64_t szgi_toeplitz_vectors(const szg_toeplitz *toeplitz);
/* The same of products by transforms, up to 4 n numbers long, whatever the band. */
double szgi_toeplitz_transform_error(const szg_toeplitz *toeplitz);

/* The n x n matrix itself, row-major. SZG_ENOMEM where 8 n^2 (complex: 16 n^2) bytes exceed the
 * available memory, whoever has allocated the array; szgi_toeplitz_dense of a complex kind is
 * SZG_EINVAL. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_dense(szg_context *context, const szg_toeplitz *toeplitz,
                                                double *a, int64_t lda);
SZG_CHECK_RESULT szg_status szgi_toeplitz_dense_complex(szg_context *context,
                                                        const szg_toeplitz *toeplitz, szg_c64 *a,
                                                        int64_t lda);

/* szg_toeplitz_apply for complex vectors; every kind of matrix. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_apply_complex(szg_context *context,
                                                        const szg_toeplitz *toeplitz, char op,
                                                        int64_t batch, const szg_c64 *x,
                                                        int64_t ldx, szg_c64 *y, int64_t ldy);

/* ---- Solvers ---- */

typedef enum szgi_preconditioner {
    SZGI_PRECONDITIONER_NONE,
    SZGI_PRECONDITIONER_STRANG, /* copies the central lags (Strang 1986); moduli of its eigenvalues
                                 */
    SZGI_PRECONDITIONER_TCHAN,  /* nearest circulant in Frobenius norm (T. Chan 1988) */
    SZGI_PRECONDITIONERS
} szgi_preconditioner;

typedef struct szgi_cg_options {
    szgi_preconditioner preconditioner;
    double tolerance;   /* on ||b - T x|| / ||b||, 2^-52 .. 1; 0: 1e-12 */
    int64_t iterations; /* at most; 0: 10 n + 100 */
} szgi_cg_options;

typedef struct szgi_cg_result {
    int64_t iterations;
    double residual; /* ||b - T x|| / ||b||, computed anew from x at the end */
} szgi_cg_result;

/* Preconditioned conjugate gradients for symmetric (Hermitian) positive definite T; x holds the
 * first guess and then the answer. options NULL: all zero. SZG_EDOMAIN: not positive definite (a
 * direction of non-positive curvature, or T. Chan's circulant has an eigenvalue <= 0 and so T has
 * one, Tyrtyshnikov 1992), or a kind that is not Hermitian. SZG_ENOCONV: too many iterations, or
 * the residual cannot reach the tolerance; *result and x hold the best found. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_cg(szg_context *context, const szg_toeplitz *toeplitz,
                                             const szgi_cg_options *options, const double *b,
                                             double *x, szgi_cg_result *result);
SZG_CHECK_RESULT szg_status szgi_toeplitz_cg_complex(szg_context *context,
                                                     const szg_toeplitz *toeplitz,
                                                     const szgi_cg_options *options,
                                                     const szg_c64 *b, szg_c64 *x,
                                                     szgi_cg_result *result);

/* The n eigenvalues (in FFT order, real for Hermitian T) of the Strang or T. Chan circulant of T:
 * entry (i, j) of the circulant is c_{(i-j) mod n}, eigenvalue j is sum_k c_k e^{-2 pi i jk/n}. */
SZG_CHECK_RESULT szg_status szgi_circulant_eigenvalues(szg_context *context,
                                                       const szg_toeplitz *toeplitz,
                                                       szgi_preconditioner which, szg_c64 *w);

/* ---- Projection ---- */

/* The orthogonal projection (Frobenius) of a dense n x n matrix on the Toeplitz matrices: means
 * along diagonals. The result is symmetric (Hermitian) where the means at k and -k are equal
 * (conjugate) numbers, as for a symmetric input; else real (complex). SZG_EDATA names the first
 * NaN. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_project(szg_context *context, int64_t n, const double *a,
                                                  int64_t lda, szg_toeplitz **out);
SZG_CHECK_RESULT szg_status szgi_toeplitz_project_complex(szg_context *context, int64_t n,
                                                          const szg_c64 *a, int64_t lda,
                                                          szg_toeplitz **out);

/* The projection from the means along the diagonals of a real matrix: mean[k + n - 1] at lag k, 2n
 * - 1 of them. SZG_EDATA: one of them is not finite. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_open_means(szg_context *context, int64_t n,
                                                     const double *mean, szg_toeplitz **out);

/* ---- Toeplitzness ---- */

/* szg_toeplitzness of a complex matrix. */
SZG_CHECK_RESULT szg_status szgi_toeplitzness_complex(szg_context *context, int64_t n,
                                                      const szg_c64 *a, int64_t lda, szg_tau *tau);
/* Toeplitzness from the projection `part` and the Frobenius norm of what it leaves, ||L - P_T
 * L||_F, a sum of n^2 squares. */
SZG_CHECK_RESULT szg_status szgi_toeplitzness_of_parts(szg_context *context,
                                                       const szg_toeplitz *part, double rest,
                                                       szg_tau *tau);

/* NULL, or the sentence that belongs beside a sampled number. */
const char *szgi_tau_note(const szg_tau *tau);

/* sum x_i y_i in eight lanes: vectorises, and the order of summation is fixed. */
double szgi_dot(int64_t count, const double *x, const double *y);
/* The sum, likewise. */
double szgi_sum(int64_t count, const double *x);

/* The power of two, which costs no rounding, that brings `largest` > 0 to [1, 2); 1 for 0. Numbers
 * that are not normal come below that. */
double szgi_unit_scale(double largest);

/* Euclidean norm of `count` numbers without overflow or underflow on the way. */
double szgi_norm(int64_t count, const double *x);

SZGI_END_DECLS

#endif

/* What the files about factored logits L = M o (A B^T + T) share. */
#ifndef SZG_SPECTRA_FACTORED_H
#define SZG_SPECTRA_FACTORED_H

#include "toeplitz/factored.h"

#include "spectra_private.h"

/* L as a dense array with room for a second one; SZG_ENOMEM says how much that needs. */
SZG_CHECK_RESULT szg_status szgi_logits_dense(szg_context *context, const szg_factored *f,
                                              double **out);

/* Factors by powers of two, so that no reflection meets subnormal numbers or overflow: L of `f`
 * times 2^exponent is the matrix. Those of plain size stay where they are. */
typedef struct szgi_scaled_logits {
    szg_factored f;
    int exponent;
    double *memory;
} szgi_scaled_logits;
SZG_CHECK_RESULT szg_status szgi_logits_scale(szg_context *context, const szg_factored *f,
                                              szgi_scaled_logits *out);

/* A B^T = Q_A (R_A R_B^T) Q_B^T: both factors and their product, d x d each. `proved`: by
 * szgi_tall_r_proved. */
SZG_CHECK_RESULT szg_status szgi_logits_core(szg_context *context, const szg_factored *f,
                                             bool proved, double *r_a, double *r_b,
                                             double *product);

/* certified_logits.c: *out >= ||fl(L) - L||_2 of the array that szgi_logits_dense makes. */
SZG_CHECK_RESULT szg_status szgi_logits_entry_error(szg_context *context, const szg_factored *f,
                                                    double *out);
/* The same of the d x d product of szgi_logits_core, against the nonzero singular values of A B^T.
 */
SZG_CHECK_RESULT szg_status szgi_logits_core_error(szg_context *context, const szg_factored *f,
                                                   const double *r_a, const double *r_b,
                                                   double *out);

/* Bound of ||fl(L x) - L x|| / ||x|| of szgi_factored_apply: that of the bias's transforms, and
 * (d + 8 + n^2 u) u ||A||_F ||B||_F. A product rounds once; the sum of n of them is off by u of
 * itself and (n u)^2 of the moduli (Ogita, Rump, Oishi 2005, Sum2), that of d of them by d u. */
SZG_CHECK_RESULT szg_status szgi_logits_product_error(szg_context *context, const szg_factored *f,
                                                      double *out);

/* How far the eigenvalues of a small matrix that sums of n terms make are from those of L: eta
 * ||A||_F ||B||_F, eta = 8 sqrt(n + d) eps (after Higham and Mary 2019, Theorem 3.1: fails with a
 * probability of 2 (n + d) exp(-32) at most). `by_columns`: a QR of both factors moves their columns
 * by eta of themselves, so it is eta (||A||_F ||B||_2 + ||A||_2 ||B||_F). */
SZG_CHECK_RESULT szg_status szgi_logits_reduced_error(szg_context *context, const szg_factored *f,
                                                      bool by_columns, double *out);

/* *out >= ||L||_F, and so ||L||_2: what the sums behind szgi_factored_norm_frobenius round counts
 * by the moduli of their terms, because A B^T and T may cancel. */
SZG_CHECK_RESULT szg_status szgi_logits_norm_above(szg_context *context, const szg_factored *f,
                                                   double *out);

#endif

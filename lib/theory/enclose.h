/* The path that makes certificates: matrices and criteria which checkers use by themselves, too. */
#ifndef SZG_THEORY_ENCLOSE_H
#define SZG_THEORY_ENCLOSE_H

#include "quantity.h"

/* Enclosures of the extreme eigenvalues of T_n with coefficients w_k e^{i theta_k}, k < count;
 * theta NULL: 0. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_extremes(szg_context *context, int64_t n, int64_t count,
                                                   const double *w, const szgi_phase *theta,
                                                   szg_interval *least, szg_interval *largest);

/* RoPE's mean kernel (1/pairs) sum_t cos((i - j) theta_t), n x n. */
SZG_CHECK_RESULT szg_status szgi_rotary_kernel_open(szg_context *context, int64_t n, int64_t pairs,
                                                    const szgi_phase *theta,
                                                    szgi_ball_matrix **out);

/* L2c: does f attain 2 sum w_i in modulus (w >= 0)? Exact. SZG_ENOCONV: a denominator above
 * INSTANCE_PHASE_MAX. */
SZG_CHECK_RESULT szg_status szgi_lemma_equality(szg_context *context, int64_t count,
                                                const double *w, const szgi_phase *theta,
                                                bool *equality);
/* Whether some t has i (theta_i + t) = half pi mod 2 pi for all i >= 1 with w_i != 0; half is 0
 * or 1. */
SZG_CHECK_RESULT szg_status szgi_lemma_shift(szg_context *context, int64_t count, const double *w,
                                             const szgi_phase *theta, int half, bool *exists);
/* All phases congruent modulo 2 pi. */
bool szgi_lemma_aligned(int64_t count, const szgi_phase *theta);

#endif

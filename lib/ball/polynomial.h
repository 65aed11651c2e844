/* A real trigonometric polynomial with exact coefficients, and what was cut off to make them exact.
 */
#ifndef SZG_BALL_POLYNOMIAL_H
#define SZG_BALL_POLYNOMIAL_H

#include "ball/arb.h"

/* f(t) = mean + 2 Re sum_{k=1}^{degree} c_k e^{i k period t} + e(t), |e| <= perturbation. The c_k
 * are exact (radius zero); c_degree is not zero; degree 0 is a constant. */
typedef struct polynomial {
    int64_t degree;
    int64_t period; /* the common divisor of the lags: f repeats so many times in 2 pi */
    acb_ptr c;      /* `allocated` numbers; c[0] is zero */
    int64_t allocated;
    arb_t mean;
    mag_t perturbation;
} polynomial;

/* Allocates `count` coefficients, zero. SZG_ENOMEM by szgi_memory_require before Arb could abort.
 */
SZG_CHECK_RESULT szg_status szgi_polynomial_open(szg_context *context, int64_t count,
                                                 polynomial *out);
void szgi_polynomial_close(polynomial *p);

/* After c[k] and mean are set: moves the radii into `perturbation`, drops leading zeros, divides
 * the lags by their common divisor. */
void szgi_polynomial_normalise(polynomial *p);

/* f(t) = a_0 + 2 Re sum a_k e^{ikt}, tapered. */
SZG_CHECK_RESULT szg_status szgi_polynomial_from_symbol(szg_context *context, int64_t count,
                                                        const szg_c64 *a, szgi_taper taper,
                                                        int64_t order, slong bits, polynomial *out);
/* |sum a_k e^{ikt}|^2. */
SZG_CHECK_RESULT szg_status szgi_polynomial_from_modulus(szg_context *context, int64_t count,
                                                         const szg_c64 *a, slong bits,
                                                         polynomial *out);
/* sum 2 w_i cos(phi_i + i t). */
SZG_CHECK_RESULT szg_status szgi_polynomial_from_phases(szg_context *context, int64_t count,
                                                        const double *w, const szgi_phase *theta,
                                                        szgi_phase_mode mode, slong bits,
                                                        polynomial *out);

#endif

/* Powers of two taken out of weights whose products would leave the range of doubles. */
#ifndef SZG_CHECKPOINT_SCALE_H
#define SZG_CHECKPOINT_SCALE_H

#include "ball/ball.h"
#include "spectra/spectra.h"
#include "checkpoint_private.h"

/* Where the largest modulus is within 2^-100 .. 2^100, or zero, returns 0 and leaves the numbers
 * alone: products of four such factors, and their squares, are doubles. Else divides them by 2^e,
 * exactly, so that the largest is within 1/2 .. 1, and returns e. */
int szgi_scale_take(int64_t count, double *x);

/* How many values of a matrix, `side` its larger side, are below the least normal double when they
 * are multiplied by 2^exponent, so that they lose digits or become 0. Where rounding, side eps
 * sigma_max, is no smaller than that double, such values have no digits to lose: 0. `eigenvalues`
 * may be NULL. */
int64_t szgi_scale_lost(int64_t side, int exponent, const szg_spectrum *eigenvalues,
                        const szg_spectrum *singular);

/* Multiplies the values of one square matrix, `what` in messages, by 2^exponent; *lost as
 * szgi_scale_lost counts. SZG_EDATA where the largest singular value, or the sum of all, is then no
 * normal double. */
SZG_CHECK_RESULT szg_status szgi_scale_return_spectra(szg_context *context, const char *what,
                                                      int exponent, szg_spectrum *eigenvalues,
                                                      szg_spectrum *singular, int64_t *lost);

/* The same for a range, whose ends stay bounds, for samples, and for couplings: an energy that is
 * no normal double becomes NaN. */
void szgi_scale_return_range(int exponent, szg_range *range);
void szgi_scale_return_samples(int exponent, int64_t count, szg_c64 *samples);
void szgi_scale_return_pairs(int exponent, int64_t count, szgi_pair_coupling *pairs);

#endif

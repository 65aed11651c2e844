/* Powers of two taken out of weights whose products would leave the range of doubles. */
#ifndef SZG_CHECKPOINT_SCALE_H
#define SZG_CHECKPOINT_SCALE_H

#include <szego/ball.h>
#include <szego/spectra.h>
#include "checkpoint_private.h"

/* Where the largest modulus is within 2^-100 .. 2^100, or zero, returns 0 and leaves the numbers
 * alone: products of four such factors, and their squares, are doubles. Else divides them by 2^e,
 * exactly, so that the largest is within 1/2 .. 1, and returns e. */
int scale_take(int64_t count, double *x);

/* Multiplies the values of one matrix, `what` in messages, by 2^exponent. SZG_EDATA where the
 * largest singular value, or the sum of all, is then no normal double: the others could be wrong by
 * more than rounding, or zero. */
SZG_CHECK_RESULT szg_status scale_return_spectra(szg_context *context, const char *what,
                                                 int exponent, szg_spectrum *eigenvalues,
                                                 szg_spectrum *singular);

/* The same for a range, whose ends stay bounds, for samples, and for couplings: an energy that is
 * no normal double becomes NaN. */
void scale_return_range(int exponent, szg_range *range);
void scale_return_samples(int exponent, int64_t count, szg_c64 *samples);
void scale_return_pairs(int exponent, int64_t count, szg_pair_coupling *pairs);

#endif

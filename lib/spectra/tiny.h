/* Toeplitz matrices whose coefficients are so small that arithmetic on them would lose digits. */
#ifndef SZG_SPECTRA_TINY_H
#define SZG_SPECTRA_TINY_H

#include <szego/spectra.h>
#include <szego/toeplitz.h>

/* *exponent: 0 where some coefficient is at least 2^-400, or all are 0; else *out is T /
 * 2^exponent, exactly, with coefficients up to 1, and the caller closes it. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szg_tiny_scale(szg_context *context, const szg_toeplitz *t,
                                           int *exponent, szg_toeplitz **out);

/* Multiplies a spectrum by 2^exponent. The values are then rounded to the grid of subnormal numbers
 * perhaps: the residual says so. */
void szg_tiny_return(int exponent, szg_spectrum *spectrum);

#endif

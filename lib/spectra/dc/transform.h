/* The trigonometric sums of the divide and conquer, in extended precision. */
#ifndef SZG_SPECTRA_DC_TRANSFORM_H
#define SZG_SPECTRA_DC_TRANSFORM_H

#include "base/context.h"

/* re[k] + i im[k] = sum over j = 0 .. n-1 of x[j] e^{i j theta_k}, theta_k = (2k+1) pi / n, for
 * k = 0 .. (n-1)/2. Any n >= 1, O(n log n) (Bluestein 1970). Long double, because entries
 * are quotients of differences of these sums: in double they would carry noise of eps ||T||, which
 * fills the ranks that are to be found. Where long double is no wider, ranks come out higher. */
SZG_CHECK_RESULT szg_status szgi_dc_transform(szg_context *context, int64_t n, const long double *x,
                                              long double *re, long double *im);

#endif

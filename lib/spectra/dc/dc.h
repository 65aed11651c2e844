/* All eigenvalues of a real symmetric Toeplitz matrix by divide and conquer, in O(n^2 r). */
#ifndef SZG_SPECTRA_DC_H
#define SZG_SPECTRA_DC_H

#include "toeplitz/toeplitz.h"

/* Stores the n eigenvalues of `symmetric` (kind SZG_TOEPLITZ_SYMMETRIC), ascending, in `w` and sets
 * *applicable, or clears *applicable and leaves `w` undefined where the method would be slow (small
 * n, off-diagonal blocks of high numerical rank) or where its own checks (power sums of both
 * halves, inertia counts) do not confirm the answer: the caller then takes the halves with LAPACK.
 * Not being applicable is no failure. SZG_EINVAL (another kind), SZG_ENOMEM, SZG_ECANCEL, and the
 * backend's failures. Same bits at any thread count. */
SZG_CHECK_RESULT szg_status szgi_dc_eigenvalues(szg_context *context, const szg_toeplitz *symmetric,
                                                double *w, bool *applicable);

/* The same from the lags t_0 .. t_{n-1}, finite, n >= 2, with the method's own parameters: blocks
 * of order `leaf` >= 1 or less go to LAPACK, and ranks above `samples` - 8 (16 <= samples <= 64)
 * are too high. What szgi_dc_eigenvalues chooses from, and tests take at small sizes. */
SZG_CHECK_RESULT szg_status szgi_dc_lags(szg_context *context, int64_t n, const double *lags,
                                         int64_t leaf, int64_t samples, double *w,
                                         bool *applicable);

#endif

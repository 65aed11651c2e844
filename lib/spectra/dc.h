/* All eigenvalues of a real symmetric Toeplitz matrix by divide and conquer, in O(n^2 r). */
#ifndef SZG_SPECTRA_DC_H
#define SZG_SPECTRA_DC_H

#include <szego/toeplitz.h>

/* Stores the n eigenvalues of `symmetric` (kind SZG_TOEPLITZ_SYMMETRIC), ascending, in `w` and sets
 * *applicable, or clears *applicable and leaves `w` undefined where the method would be slow (small
 * n, off-diagonal blocks of high numerical rank) or where its own checks (power sums of both
 * halves, inertia counts) do not confirm the answer: the caller then takes the halves with LAPACK.
 * Not being applicable is no failure. SZG_EINVAL (another kind), SZG_ENOMEM, SZG_ECANCEL, and the
 * backend's failures. Same bits at any thread count. */
SZG_CHECK_RESULT szg_status szg_dc_eigenvalues(szg_context *context, const szg_toeplitz *symmetric,
                                               double *w, bool *applicable);

#endif

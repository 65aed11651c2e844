/* All eigenvalues of a real symmetric Toeplitz matrix by divide and conquer, in O(n^1.5 r^2) and
 * O(n^2 r) small operations. */
#ifndef SZG_SPECTRA_DC_H
#define SZG_SPECTRA_DC_H

#include "toeplitz/toeplitz.h"

/* What the method is expected to cost beside its rival, the two halves by LAPACK: processor
 * seconds, of which only the ratio is meant. The method is taken where `divide` < `halves`. */
typedef struct szgi_dc_choice {
    double rank; /* of blocks of 64 rows, the mean of eight; above 24 it may be a lower bound where
                    the halves are taken */
    int64_t leaf, samples; /* the method's parameters for it */
    double divide, halves;
} szgi_dc_choice;

/* The choice for lags t_0 .. t_{n-1}, finite, n >= 2, in O(n log n). */
SZG_CHECK_RESULT szg_status szgi_dc_choose(szg_context *context, int64_t n, const double *lags,
                                           szgi_dc_choice *choice);

/* Stores the n eigenvalues of `symmetric` (kind SZG_TOEPLITZ_SYMMETRIC), ascending, in `w` and sets
 * *applicable, or clears *applicable and leaves `w` undefined where LAPACK is expected to be faster
 * (the choice; again once all ranks are known), where a rank exceeds what is provided for, or where
 * the method's own checks (power sums of both halves, inertia counts) do not confirm the answer:
 * the caller then takes the halves with LAPACK. Not being applicable is no failure. *dropped: the
 * sum of dropped and deflated terms over the norm (docs/explanation/methods.md). SZG_EINVAL
 * (another kind), SZG_ENOMEM, SZG_ECANCEL, and the backend's failures. Same bits at any thread
 * count. */
SZG_CHECK_RESULT szg_status szgi_dc_eigenvalues(szg_context *context, const szg_toeplitz *symmetric,
                                                double *w, bool *applicable, double *dropped);

/* The same from lags, whatever the costs, with the method's own parameters: blocks of order
 * `leaf` >= 1 or less go to LAPACK, and ranks above `samples` - 8 (16 <= samples <= 160) are too
 * high. What szgi_dc_eigenvalues chooses from, and tests take at small sizes. */
SZG_CHECK_RESULT szg_status szgi_dc_lags(szg_context *context, int64_t n, const double *lags,
                                         int64_t leaf, int64_t samples, double *w, bool *applicable,
                                         double *dropped);

#endif

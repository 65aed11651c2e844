/* Eigenvalues of a diagonal plus a rank-one matrix, and what its eigenvectors do to given rows. */
#ifndef SZG_SPECTRA_DC_UPDATE_H
#define SZG_SPECTRA_DC_UPDATE_H

#include "base/context.h"

/* Replaces d (n values, ascending) by the eigenvalues of diag(d) + z z^T, ascending, and each of
 * the `count` rows x (rows + c ld) by Q^T x, Q the eigenvectors. z is destroyed. Coordinates whose
 * removal changes the matrix by at most `tolerance` are deflated; entries should be of size 1.
 * Roots of the secular equation after Li (LAPACK working note 89), eigenvectors from Loewner's
 * formula for z (Gu and Eisenstat 1994), so that they are orthogonal whatever the roots' accuracy.
 * count <= SZGI_DC_MOST_ROWS. SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_dc_rank_one(szg_context *context, int64_t n, double tolerance,
                                             double *d, double *z, int64_t count, double *rows,
                                             int64_t ld);

/* Root j (0 <= j < n) of 1 + sum zz[i] / (d[i] - lambda), d strictly ascending, zz > 0: lambda =
 * *base + *tau, *base being the nearest pole. */
void szgi_dc_secular_root(int64_t n, const double *d, const double *zz, double zz_total, int64_t j,
                          double *base, double *tau);

#endif

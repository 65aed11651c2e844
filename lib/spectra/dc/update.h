/* Eigenvalues of a diagonal plus a rank-one matrix, and what its eigenvectors do to given rows. */
#ifndef SZG_SPECTRA_DC_UPDATE_H
#define SZG_SPECTRA_DC_UPDATE_H

#include "far.h"

/* Replaces d (n values, ascending) by the eigenvalues of diag(d) + z z^T, ascending, and each of
 * the `count` rows x (rows + c ld) by Q^T x, Q the eigenvectors. z is destroyed. Coordinates whose
 * removal changes the matrix by at most `tolerance` are deflated; entries should be of size 1.
 * Roots of the secular equation after Li (LAPACK working note 89), eigenvectors from Loewner's
 * formula for z (Gu and Eisenstat 1994), so that they are orthogonal whatever the roots' accuracy.
 * count <= SZGI_DC_MOST_ROWS. *dropped gains a bound of the 2-norm of what deflation removed.
 * SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_dc_rank_one(szg_context *context, int64_t n, double tolerance,
                                             double *d, double *z, int64_t count, double *rows,
                                             int64_t ld, double *dropped);

/* 1 + sum zz[i] / (d[i] - lambda), d strictly ascending, zz > 0, of total zz_total. `far` has the
 * sums over the poles left of `block` at its nodes, their slopes, the sums over those right of it
 * and their slopes (4 x SZGI_DC_NODES), or is NULL where no pole is far. */
typedef struct szgi_dc_secular {
    int64_t n;
    const double *d, *zz;
    double zz_total;
    const szgi_dc_block *block;
    const double *far;
} szgi_dc_secular;

/* Root j of the block (0 <= j < n): lambda = *base + *tau, *base being the nearest pole. */
void szgi_dc_secular_root(const szgi_dc_secular *f, int64_t j, double *base, double *tau);

#endif

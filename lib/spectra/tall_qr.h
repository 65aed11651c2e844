/* QR of a tall matrix in blocks of rows that fit the cache, one a thread, and then of their R
 * factors stacked, and so on (TSQR; Demmel, Grigori, Hoemmen, Langou 2012): as stable as
 * Householder's QR of the whole, in a few megabytes. */
#ifndef SZG_SPECTRA_TALL_QR_H
#define SZG_SPECTRA_TALL_QR_H

#include "spectra_private.h"

/* The d x d factor R of the n x d matrix a, n >= d; `r` is d x d. */
SZG_CHECK_RESULT szg_status szg_tall_r(szg_context *context, int64_t n, int64_t d, const double *a,
                                       int64_t lda, double *r);

#endif

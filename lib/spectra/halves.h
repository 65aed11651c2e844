/* Real symmetric matrices of about half the order, or of real instead of complex entries, that have
 * the eigenvalues of a Hermitian Toeplitz matrix. */
#ifndef SZG_SPECTRA_HALVES_H
#define SZG_SPECTRA_HALVES_H

#include "toeplitz/toeplitz.h"

/* All n eigenvalues, ascending, of a real symmetric t from its two halves, one a thread. */
SZG_CHECK_RESULT szg_status szgi_halves_eigenvalues(szg_context *context, const szg_toeplitz *t,
                                                    double *w);

/* All n eigenvalues, ascending, of a Hermitian t from Q^* T Q, which is real symmetric. */
SZG_CHECK_RESULT szg_status szgi_mapped_eigenvalues(szg_context *context, const szg_toeplitz *t,
                                                    double *w);

/* Entries (i, 0) .. (i, i) of a half, from lags 0 .. n-1: even (odd = 0) of order n - n/2, odd (1)
 * of order n/2. Each is rounded once; those of the middle row twice, as their factor sqrt 2 is
 * rounded too. */
void szgi_halves_row(const double *lags, int64_t n, int64_t odd, int64_t i, double *out);

/* One of them, j <= i. */
double szgi_halves_entry(const double *lags, int64_t n, int64_t odd, int64_t i, int64_t j);

/* The same of Q^* T Q, order n, from lags -(n-1) .. n-1 around lags[0], rounded likewise. */
void szgi_mapped_row(const szg_c64 *lags, int64_t n, int64_t i, double *out);
double szgi_mapped_entry(const szg_c64 *lags, int64_t n, int64_t i, int64_t j);

/* The map itself: y = Q^* T Q x without forming anything; z and u are scratch of n complex. */
SZG_CHECK_RESULT szg_status szgi_mapped_apply(szg_context *context, const szg_toeplitz *t,
                                              const double *x, double *y, szg_c64 *z, szg_c64 *u);

/* z = Q x, and x = Re(Q^* z). */
void szgi_map_to_complex(int64_t n, const double *x, szg_c64 *z);
void szgi_map_to_real(int64_t n, const szg_c64 *z, double *x);

#endif

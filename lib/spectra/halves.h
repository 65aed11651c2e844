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

/* The map itself: y = Q^* T Q x without forming anything; z and u are scratch of n complex. */
SZG_CHECK_RESULT szg_status szgi_mapped_apply(szg_context *context, const szg_toeplitz *t,
                                              const double *x, double *y, szg_c64 *z, szg_c64 *u);

/* z = Q x, and x = Re(Q^* z). */
void szgi_map_to_complex(int64_t n, const double *x, szg_c64 *z);
void szgi_map_to_real(int64_t n, const szg_c64 *z, double *x);

#endif

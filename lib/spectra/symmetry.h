/* What makes eigenvalues real. */
#ifndef SZG_SPECTRA_SYMMETRY_H
#define SZG_SPECTRA_SYMMETRY_H

#include "spectra/spectra.h"

/* Whether the n x n array is symmetric up to 64 eps max|a|. NaN: it is not. */
SZG_CHECK_RESULT szg_status szgi_dense_is_symmetric(szg_context *context, int64_t n,
                                                    const double *a, int64_t lda, bool *symmetric);

/* At least ||A - A^*||_F of an n x n array, `width` 1 of real, 2 of complex numbers. So far at most
 * are sorted real parts of its eigenvalues, and its singular values, from those of the Hermitian
 * matrix with its lower triangle (docs/explanation/theory.md, "Entries that are rounded"). */
double szgi_dense_asymmetry(int64_t n, int64_t width, const double *a, int64_t lda);

/* Whether no mask, no bias but a Hermitian one, and A = scale B up to rounding of the entries make
 * L symmetric. d = 0: scale is 0. */
bool szgi_factored_is_symmetric(const szg_factored *f, double *scale);

#endif

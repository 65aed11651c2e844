/* A few values of matrices that are known by their products. */
#ifndef SZG_SPECTRA_EXTREMES_H
#define SZG_SPECTRA_EXTREMES_H

#include <szego/toeplitz.h>

#include "lanczos.h"
#include "spectra_private.h"

/* Selected ends of the spectrum of a symmetric or Hermitian t by Lanczos, with shift-and-invert at
 * a clustered end. Not *complete: values that could not be established are NaN, with a note; where
 * none was, *out is zeroed. */
SZG_CHECK_RESULT szg_status szg_extremes_toeplitz(szg_context *context, const szg_toeplitz *t,
                                                  const szg_selection *selection, szg_spectrum *out,
                                                  bool *complete);

/* The same for any symmetric operator, by Lanczos alone. */
SZG_CHECK_RESULT szg_status szg_extremes_symmetric(szg_context *context, const szg_operator *s,
                                                   const szg_selection *selection,
                                                   szg_spectrum *out, bool *complete);

/* Products with a real n x n matrix L (op 'n') and its transpose ('t'). */
typedef struct szg_square_operator {
    int64_t n;
    szg_status (*apply)(szg_context *context, const void *data, char op, const double *x,
                        double *y);
    const void *data;
} szg_square_operator;

/* The largest singular values of L, by Lanczos on L^T L; the selection's least ones are NaN, with a
 * note. SZG_ENOCONV. */
SZG_CHECK_RESULT szg_status szg_extremes_singular(szg_context *context,
                                                  const szg_square_operator *l,
                                                  const szg_selection *selection,
                                                  szg_spectrum *out);

/* Whether a few ends of n values are better had one by one than from all of them. */
bool szg_extremes_apply(const szg_selection *selection);

#endif

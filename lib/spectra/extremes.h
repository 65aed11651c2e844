/* A few values of matrices that are known by their products. */
#ifndef SZG_SPECTRA_EXTREMES_H
#define SZG_SPECTRA_EXTREMES_H

#include "toeplitz/toeplitz.h"

#include "lanczos.h"
#include "spectra_private.h"

/* Selected ends of the spectrum of a symmetric or Hermitian t by Lanczos, with shift-and-invert at
 * a clustered end, and error of each value. Not *complete: one value at an end that could not be
 * established is NaN, with a note, and several are listed with the large errors that they have;
 * if no value was found, *out is zeroed. */
SZG_CHECK_RESULT szg_status szgi_extremes_toeplitz(szg_context *context, const szg_toeplitz *t,
                                                   const szgi_selection *selection,
                                                   szg_spectrum *out, bool *complete);

/* The same for any symmetric operator, by Lanczos alone. ||fl(S x) - S x|| <= rounding ||x||. */
SZG_CHECK_RESULT szg_status szgi_extremes_symmetric(szg_context *context, const szgi_operator *s,
                                                    double rounding,
                                                    const szgi_selection *selection,
                                                    szg_spectrum *out, bool *complete);

/* Vectors of n real numbers that the search for k values at each end takes at its worst moment, of
 * a Toeplitz matrix or, t being NULL, of an operator. */
int64_t szgi_extremes_vectors(int64_t n, int64_t k, const szg_toeplitz *t);

/* Products with a real n x n matrix L (op 'n') and its transpose ('t'). */
typedef struct szgi_square_operator {
    int64_t n;
    szg_status (*apply)(szg_context *context, const void *data, char op, const double *x,
                        double *y);
    const void *data;
} szgi_square_operator;

/* The largest singular values of L, by Lanczos on L^T L; the selection's least ones are NaN, with a
 * note. SZG_ENOCONV. */
SZG_CHECK_RESULT szg_status szgi_extremes_singular(szg_context *context,
                                                   const szgi_square_operator *l,
                                                   const szgi_selection *selection,
                                                   szg_spectrum *out);

/* sign T - sigma of a Hermitian T, of its kind. */
SZG_CHECK_RESULT szg_status szgi_toeplitz_open_shifted(szg_context *context, const szg_toeplitz *t,
                                                       double sign, double sigma,
                                                       szg_toeplitz **out);

/* What a search ends with that has filled *out with k values at each end and their errors: residual
 * (`worst` is the largest, absolute), note, and whether both ends are complete; `low` and `high`
 * tell which search has converged. Nothing established: *out is zeroed. */
void szgi_extremes_conclude(int64_t k, bool low, bool high, double worst, szg_spectrum *out,
                            bool *complete);

/* Whether the ends of n values are better had one by one than from all of them. */
bool szgi_extremes_apply(const szgi_selection *selection);

/* Above this order a failed search for a few values is not made good by computing all of them. */
enum { SZGI_FALLBACK_MAX = 16384 };

/* Whether such a search's answer stays: a complete one, or what there is at a large order. */
bool szgi_extremes_suffice(const szgi_selection *selection, bool complete,
                           const szg_spectrum *found);

#endif

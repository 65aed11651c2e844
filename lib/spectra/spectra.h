/* What the house alone uses of <szego/spectrum.h>. */
#ifndef SZEGO_SPECTRA_SPECTRA_H
#define SZEGO_SPECTRA_SPECTRA_H

#include <math.h>

#include <szego/spectrum.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* The larger of two numbers; NaN where one of them is NaN, which fmax would lose. */
static inline double szgi_larger(double a, double b) {
    return a > b || isnan(a) ? a : b;
}

/* The spectrum of the matrix times 2^exponent: values, trace and norm; the residual is relative. */
void szgi_spectrum_scale(szg_spectrum *spectrum, int exponent);

/* Least and largest value, structural zeros included. SZG_EINVAL for a complex spectrum or one with
 * no value at all. */
SZG_CHECK_RESULT szg_status szgi_spectrum_range(szg_context *context, const szg_spectrum *spectrum,
                                                double *least, double *largest);

/* The least and the largest singular value of a Hermitian matrix from its certified eigenvalues. An
 * interval that these do not give is NaN; false where both are. */
bool szgi_spectrum_moduli(const szg_spectrum *eigenvalues, szg_interval *min, szg_interval *max);

/* How many of the listed values precede the structural zeros, if there are any: eigenvalues ascend,
 * singular values descend. */
int64_t szgi_spectrum_before_zeros(const szg_spectrum *spectrum);

/* Whether the matrix, n x n, is its own Hermitian part up to rounding; then its eigenvalues are
 * real and their moduli its singular values. Of dense complex arrays nothing is known. SZG_EINVAL:
 * arrays that are missing; SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_matrix_is_hermitian(szg_context *context, const szg_matrix *matrix,
                                                     bool *hermitian);

/* Whether its eigenvalues need no n x n array. */
bool szgi_spectrum_is_cheap(const szg_matrix *matrix);
/* Whether it is one of <szego/closed_forms.def>: any number of eigenvalues is listed fast. */
bool szgi_spectrum_is_closed(const szg_matrix *matrix);
/* Whether it is, and sum |a_k| over all lags is finite. */
bool szgi_spectrum_is_summable(const szg_matrix *matrix);

/* ---- A B^T, n x n of rank d < n, from d x d matrices that the caller has ---- */

/* Eigenvalues from `inner` = B^T A, and singular values from `core` = L_A^T L_B, where
 * A^T = L_A Q_A and B^T = L_B Q_B with orthonormal rows; n - d zeros besides. Both are kept.
 * SZG_ENOCONV, SZG_EDATA. */
SZG_CHECK_RESULT szg_status szgi_low_rank_eigen(szg_context *context, int64_t n, int64_t d,
                                                const double *inner, szg_spectrum *out);
SZG_CHECK_RESULT szg_status szgi_low_rank_singular(szg_context *context, int64_t n, int64_t d,
                                                   const double *core, szg_spectrum *out);

/* ---- Many at once ---- */

/* `count` matrices of one shape, matrix i at a + i stride, row-major without padding, one matrix a
 * thread. `a` is overwritten. The defects of trace and Frobenius norm (for singular values of the
 * latter) of every matrix are computed; *worst is the largest, relative to the Frobenius norm, and
 * SZG_ENOCONV names the first matrix whose defect exceeds 1e3 n eps. Values: count x n (min(m, n)).
 */
SZG_CHECK_RESULT szg_status szgi_spectra_batch_symmetric(szg_context *context, int64_t count,
                                                         int64_t n, double *a, int64_t stride,
                                                         double *values, double *worst);
SZG_CHECK_RESULT szg_status szgi_spectra_batch_general(szg_context *context, int64_t count,
                                                       int64_t n, double *a, int64_t stride,
                                                       szg_c64 *values, double *worst);
SZG_CHECK_RESULT szg_status szgi_spectra_batch_singular(szg_context *context, int64_t count,
                                                        int64_t m, int64_t n, double *a,
                                                        int64_t stride, double *values,
                                                        double *worst);

/* A device's singular values are square roots of eigenvalues of L^T L, of negative ones 0. This
 * bounds each one's absolute error, sqrt(12 n eps) ||L||_F: the product is off by n eps ||L||_F^2
 * at most (Higham 2002, 3.5), 11 n eps ||L||_F^2 are allowed the solver, and roots of numbers that
 * differ by d differ by at most sqrt(d). Large ones are far better: by d / (2 sigma). */
double szgi_squares_error(int64_t n, double frobenius);

/* The name of a method by which the backend's solver did the work, without the library that it
 * names; NULL for other methods. */
const char *szgi_method_words(szg_method method);

/* Whether an eigenvalue's `error` is small in a matrix of that norm. NaN: no. */
static inline bool szgi_is_known(double error, double norm) {
    return error <= 1e-10 * norm;
}

SZGI_END_DECLS

#endif

/* What the house alone uses of <szego/spectra.h>. */
#ifndef SZEGO_SPECTRA_SPECTRA_H
#define SZEGO_SPECTRA_SPECTRA_H

#include <math.h>

#include <szego/spectra.h>
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

/* Eigenvalues of the Kac-Murdock-Szego matrix [rho^|i-j|], -1 < rho < 1, from the roots of
 * (n-1) t + 2 arg(e^{it} - |rho|) = j pi (Kac, Murdock, Szego 1953; Grenander and Szego 1958, 5.3).
 * The ends rho = +-1, where the matrix is (+-1)^|i-j| of rank one, are answered exactly. O(count).
 * SZG_EINVAL: n < 1, |rho| > 1 (the kernel then grows without bound and is no covariance). */
SZG_CHECK_RESULT szg_status szgi_spectra_kms(szg_context *context, int64_t n, double rho,
                                             const szg_spectra_options *options, szg_spectrum *out);

/* Eigenvalues of ALiBi's symmetric bias [-slope |i-j|], any finite slope, in closed form: n - 1 of
 * one sign and one of the other. O(count). */
SZG_CHECK_RESULT szg_status szgi_spectra_alibi(szg_context *context, int64_t n, double slope,
                                               const szg_spectra_options *options,
                                               szg_spectrum *out);

/* Eigenvalues of the rotary mean kernel of order n,
 * g(k) = (2 sum_t cos(k theta_t) + unrotated) / (2 pairs + unrotated), g(0) = 1, where `unrotated`
 * counts dimensions (not pairs) that do not rotate. Its rank is min(n, number of distinct atoms
 * e^{+-i theta_t}); the nonzero eigenvalues are those of two Gram matrices of Dirichlet sums of
 * order <= pairs + 1, so any n up to 2^62 takes the same time. Returned complete whatever is
 * wanted. SZG_EINVAL: pairs < 0, unrotated < 0, both 0, |theta| > 2^60. */
SZG_CHECK_RESULT szg_status szgi_spectra_rotary(szg_context *context, int64_t n, int64_t pairs,
                                                const double *theta, int64_t unrotated,
                                                const szg_spectra_options *options,
                                                szg_spectrum *out);

/* The same for g(k) = sum_t weight_t cos(k theta_t), weight_t >= 0: sinusoidal P P^T has weights 1.
 */
SZG_CHECK_RESULT szg_status szgi_spectra_atoms(szg_context *context, int64_t n, int64_t count,
                                               const double *weight, const double *theta,
                                               const szg_spectra_options *options,
                                               szg_spectrum *out);

/* Eigenvalues of the Hermitian part H = (L + L^T) / 2, all real: their range is the numerical range
 * of L on the real axis, and what majorisation compares (claim B3c). No bias, no mask, 2 d < n:
 * those of R S R^T / 2, [A B] = Q R, S exchanging the blocks, and n - 2 d zeros by structure. Else
 * the ends matrix-free, and all of them dense. A causal mask acts before the transposition. */
SZG_CHECK_RESULT szg_status szgi_spectra_factored_hermitian_part(szg_context *context,
                                                                 const struct szg_factored *f,
                                                                 const szg_spectra_options *options,
                                                                 szg_spectrum *out);

/* The same of a dense n x n array, kept as it is. */
SZG_CHECK_RESULT szg_status szgi_spectra_hermitian_part(szg_context *context, int64_t n,
                                                        const double *a, int64_t lda,
                                                        const szg_spectra_options *options,
                                                        szg_spectrum *out);

SZG_CHECK_RESULT szg_status szgi_spectra_general_complex(szg_context *context, int64_t n,
                                                         const szg_c64 *a, int64_t lda,
                                                         szg_spectrum *out);

SZG_CHECK_RESULT szg_status szgi_spectra_singular_complex(szg_context *context, int64_t m,
                                                          int64_t n, const szg_c64 *a, int64_t lda,
                                                          const szg_spectra_options *options,
                                                          szg_spectrum *out);

/* `count` matrices of one shape, matrix i at a + i stride, row-major without padding, one matrix a
 * thread. `a` is overwritten. The defects of trace and Frobenius norm (for singular values of the
 * latter) of every matrix are computed; *worst is the largest, relative to the Frobenius norm, and
 * SZG_ENOCONV names the first matrix whose defect exceeds 1e3 n eps. Values: count x n (min(m, n)).
 */
SZG_CHECK_RESULT szg_status szgi_spectra_batch_symmetric(szg_context *context, int64_t count,
                                                         int64_t n, double *a, int64_t stride,
                                                         double *values, double *worst);
SZG_CHECK_RESULT szg_status szgi_spectra_batch_hermitian(szg_context *context, int64_t count,
                                                         int64_t n, szg_c64 *a, int64_t stride,
                                                         double *values, double *worst);
SZG_CHECK_RESULT szg_status szgi_spectra_batch_general(szg_context *context, int64_t count,
                                                       int64_t n, double *a, int64_t stride,
                                                       szg_c64 *values, double *worst);
SZG_CHECK_RESULT szg_status szgi_spectra_batch_singular(szg_context *context, int64_t count,
                                                        int64_t m, int64_t n, double *a,
                                                        int64_t stride, double *values,
                                                        double *worst);

/* All eigenvalues of a symmetric matrix, ascending. `method` is kept. */
/* ---- Values that a device has computed ----
 * Checked against trace and Frobenius norm, which come from the entries, as those of a batch:
 * SZG_ENOCONV where they miss them, or one is NaN. */

SZG_CHECK_RESULT szg_status szgi_spectra_of_eigenvalues(szg_context *context, int64_t n,
                                                        const double *ascending, double trace,
                                                        double frobenius, szg_method method,
                                                        szg_spectrum *out);

/* Singular values of an n x n matrix L from all eigenvalues of L^T L: their roots, of negative ones
 * 0. frobenius: of L; gram_frobenius: of L^T L. *error bounds each one's absolute error, sqrt(12 n
 * eps) ||L||_F: the product is off by n eps ||L||_F^2 at most (Higham 2002, 3.5), 11 n eps
 * ||L||_F^2 are allowed the solver, and roots of numbers that differ by d differ by at most
 * sqrt(d). Large ones are far better: by d / (2 sigma). */
SZG_CHECK_RESULT szg_status szgi_spectra_of_squares(szg_context *context, int64_t n,
                                                    const double *squares, double frobenius,
                                                    double gram_frobenius, szg_method method,
                                                    double *error, szg_spectrum *out);

SZGI_END_DECLS

#endif

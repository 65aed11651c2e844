/* Spectra: eigenvalues and singular values, each with a residual and what that residual means. */
#ifndef SZEGO_SPECTRA_H
#define SZEGO_SPECTRA_H

#include <szego/context.h>

SZG_BEGIN_DECLS

typedef struct szg_toeplitz szg_toeplitz; /* <szego/toeplitz.h> */
struct szg_factored;                      /* <szego/factored.h> */

/* How much of a spectrum is asked for. */
typedef enum szg_want {
    SZG_WANT_ALL,      /* every value (structural zeros are counted, not listed) */
    SZG_WANT_RANGE,    /* the least and the largest value */
    SZG_WANT_EXTREMES, /* the k least and the k largest */
} szg_want;

/* All fields may be zero: every value, by the fastest method that applies. */
typedef struct szg_spectra_options {
    szg_want want;
    int64_t k;  /* for SZG_WANT_EXTREMES: values at each end, >= 1; larger than n/2 means all */
    bool dense; /* form the dense matrix and use LAPACK whatever its structure: the oracle */
} szg_spectra_options;

/* A spectrum or part of one. Real eigenvalues ascend (im is NULL); complex ones ascend by real,
 * then imaginary part; singular values descend. The arrays belong to the spectrum, the texts are
 * static.
 *
 * `zeros` eigenvalues are exactly 0 by structure (a rank argument, not a threshold) and are not
 * listed, so that a kernel of order 10^9 fits in a page; the spectrum is complete when
 * count + zeros = n. Under SZG_WANT_RANGE and SZG_WANT_EXTREMES the listed values are those of the
 * whole spectrum, zeros among them where they belong to it; zeros is then 0, except that a method
 * which has the whole spectrum at hand may return it complete instead. A value that could not be
 * established (an end too crowded for Lanczos, the least singular values of a large matrix) is NaN,
 * and `note` says so. */
typedef struct szg_spectrum {
    int64_t n;        /* order; for singular values of an m x n matrix, min(m, n) */
    int64_t count;    /* values listed */
    int64_t zeros;    /* further values that are exactly zero */
    int64_t rank;     /* exact rank where the structure tells it, else -1 */
    const char *kind; /* "eigenvalue" or "singular" */
    double *re, *im;  /* count values; im is NULL where every value is real */
    bool normal;      /* eigenvalues of a normal matrix: their moduli are its singular values */
    double trace; /* real part of the matrix's trace, computed apart from the values; NaN: not */
    double frobenius; /* the matrix's Frobenius norm, computed apart from the values; NaN: not */
    double residual;  /* always finite; what it measures stands in residual_meaning */
    const char *residual_meaning; /* a sentence */
    const char *method;           /* a few words */
    const char *note;             /* NULL, or what a reader must know (triangular matrices) */
} szg_spectrum;

/* Frees the arrays and zeroes the spectrum; NULL and a zeroed spectrum are allowed. */
void szg_spectrum_close(szg_spectrum *spectrum);

/* The spectrum of the matrix times 2^exponent: values, trace and norm; the residual is relative. */
void szg_spectrum_scale(szg_spectrum *spectrum, int exponent);

/* Least and largest value, structural zeros included. SZG_EINVAL for a complex spectrum or one with
 * no value at all. */
SZG_CHECK_RESULT szg_status szg_spectrum_range(szg_context *context, const szg_spectrum *spectrum,
                                               double *least, double *largest);

/* Every function below writes *out on success only (it is zeroed before), and the caller closes it.
 * `options` may be NULL. Common errors: SZG_EINVAL (sizes, k, NaN or infinite arguments), SZG_EDATA
 * (NaN or infinity in an array), SZG_ENOMEM (also before work starts, when a dense matrix would not
 * fit: the message says how much it needs and what avoids it), SZG_ENOCONV (an iteration did not
 * converge), SZG_ECANCEL. */

/* Eigenvalues of the n x n Toeplitz matrix t. Real symmetric: the two blocks of half the order
 * t_|i-j| +- t_{n-1-i-j} (Cantoni and Butler 1976) or a divide and conquer on them; Hermitian: the
 * real symmetric matrix that the unitary Q = [I iI; J -iJ]/sqrt 2 makes of it (Lee 1980 for
 * centrohermitian matrices); range and extremes of large ones: Lanczos with FFT products, with
 * shift-and-invert where the edge is clustered. General: dense, SZG_ENOMEM when too large.
 * Triangular: the diagonal, exactly, n times a_0, with a note that singular values say more. */
SZG_CHECK_RESULT szg_status szg_spectra_toeplitz(szg_context *context, const szg_toeplitz *t,
                                                 const szg_spectra_options *options,
                                                 szg_spectrum *out);

/* Singular values of t: moduli of the eigenvalues for Hermitian ones; for real ones, moduli of the
 * eigenvalues of the symmetric Hankel matrix t J; else dense. */
SZG_CHECK_RESULT szg_status szg_spectra_toeplitz_singular(szg_context *context,
                                                          const szg_toeplitz *t,
                                                          const szg_spectra_options *options,
                                                          szg_spectrum *out);

/* Eigenvalues of the Kac-Murdock-Szego matrix [rho^|i-j|], -1 < rho < 1, from the roots of
 * (n-1) t + 2 arg(e^{it} - |rho|) = j pi (Kac, Murdock, Szego 1953; Grenander and Szego 1958, 5.3).
 * The ends rho = +-1, where the matrix is (+-1)^|i-j| of rank one, are answered exactly. O(count).
 * SZG_EINVAL: n < 1, |rho| > 1 (the kernel then grows without bound and is no covariance). */
SZG_CHECK_RESULT szg_status szg_spectra_kms(szg_context *context, int64_t n, double rho,
                                            const szg_spectra_options *options, szg_spectrum *out);

/* Eigenvalues of ALiBi's symmetric bias [-slope |i-j|], any finite slope, in closed form: n - 1 of
 * one sign and one of the other. O(count). */
SZG_CHECK_RESULT szg_status szg_spectra_alibi(szg_context *context, int64_t n, double slope,
                                              const szg_spectra_options *options,
                                              szg_spectrum *out);

/* Eigenvalues of the rotary mean kernel of order n,
 * g(k) = (2 sum_t cos(k theta_t) + unrotated) / (2 pairs + unrotated), g(0) = 1, where `unrotated`
 * counts dimensions (not pairs) that do not rotate. Its rank is min(n, number of distinct atoms
 * e^{+-i theta_t}); the nonzero eigenvalues are those of two Gram matrices of Dirichlet sums of
 * order <= pairs + 1, so any n up to 2^62 takes the same time. Returned complete whatever is
 * wanted. SZG_EINVAL: pairs < 0, unrotated < 0, both 0, |theta| > 2^60. */
SZG_CHECK_RESULT szg_status szg_spectra_rotary(szg_context *context, int64_t n, int64_t pairs,
                                               const double *theta, int64_t unrotated,
                                               const szg_spectra_options *options,
                                               szg_spectrum *out);

/* The same for g(k) = sum_t weight_t cos(k theta_t), weight_t >= 0: sinusoidal P P^T has weights 1.
 */
SZG_CHECK_RESULT szg_status szg_spectra_atoms(szg_context *context, int64_t n, int64_t count,
                                              const double *weight, const double *theta,
                                              const szg_spectra_options *options,
                                              szg_spectrum *out);

/* Eigenvalues of L = M o (A B^T + T). No bias, no mask: those of the d x d matrix B^T A, and n - d
 * zeros. Causal mask: the diagonal (L is triangular), with a note. Bias: dense, but for the ends of
 * a symmetric L (a = b, symmetric bias). `options` restricts symmetric L only: complex numbers have
 * no ends, others are returned complete. */
SZG_CHECK_RESULT szg_status szg_spectra_factored_eigen(szg_context *context,
                                                       const struct szg_factored *f,
                                                       const szg_spectra_options *options,
                                                       szg_spectrum *out);

/* Singular values of L. No bias, no mask: those of R_A R_B^T, A = Q_A R_A, B = Q_B R_B (n - d zeros
 * by structure). Else the largest matrix-free, and all of them dense. */
SZG_CHECK_RESULT szg_status szg_spectra_factored_singular(szg_context *context,
                                                          const struct szg_factored *f,
                                                          const szg_spectra_options *options,
                                                          szg_spectrum *out);

/* Eigenvalues of the Hermitian part H = (L + L^T) / 2, all real: their range is the numerical range
 * of L on the real axis, and what majorisation compares (claim B3c). No bias, no mask, 2 d < n:
 * those of R S R^T / 2, [A B] = Q R, S exchanging the blocks, and n - 2 d zeros by structure. Else
 * the ends matrix-free, and all of them dense. A causal mask acts before the transposition. */
SZG_CHECK_RESULT szg_status szg_spectra_factored_hermitian_part(szg_context *context,
                                                                const struct szg_factored *f,
                                                                const szg_spectra_options *options,
                                                                szg_spectrum *out);

/* The same of a dense n x n array, kept as it is. */
SZG_CHECK_RESULT szg_status szg_spectra_hermitian_part(szg_context *context, int64_t n,
                                                       const double *a, int64_t lda,
                                                       const szg_spectra_options *options,
                                                       szg_spectrum *out);

/* Dense row-major matrices, kept as they are. Symmetric and Hermitian read the whole matrix and
 * answer SZG_EDATA where it is not symmetric beyond rounding (64 eps max|a|), naming the place. */
SZG_CHECK_RESULT szg_status szg_spectra_symmetric(szg_context *context, int64_t n, const double *a,
                                                  int64_t lda, const szg_spectra_options *options,
                                                  szg_spectrum *out);
SZG_CHECK_RESULT szg_status szg_spectra_hermitian(szg_context *context, int64_t n, const szg_c64 *a,
                                                  int64_t lda, const szg_spectra_options *options,
                                                  szg_spectrum *out);

/* General square matrices: always all eigenvalues; `options` does not apply. */
SZG_CHECK_RESULT szg_status szg_spectra_general(szg_context *context, int64_t n, const double *a,
                                                int64_t lda, szg_spectrum *out);
SZG_CHECK_RESULT szg_status szg_spectra_general_complex(szg_context *context, int64_t n,
                                                        const szg_c64 *a, int64_t lda,
                                                        szg_spectrum *out);

/* Singular values of m x n matrices: min(m, n) of them. */
SZG_CHECK_RESULT szg_status szg_spectra_singular(szg_context *context, int64_t m, int64_t n,
                                                 const double *a, int64_t lda,
                                                 const szg_spectra_options *options,
                                                 szg_spectrum *out);
SZG_CHECK_RESULT szg_status szg_spectra_singular_complex(szg_context *context, int64_t m, int64_t n,
                                                         const szg_c64 *a, int64_t lda,
                                                         const szg_spectra_options *options,
                                                         szg_spectrum *out);

/* `count` matrices of one shape, matrix i at a + i stride, row-major without padding, one matrix a
 * thread. `a` is overwritten. The defects of trace and Frobenius norm (for singular values of the
 * latter) of every matrix are computed; *worst is the largest, relative to the Frobenius norm, and
 * SZG_ENOCONV names the first matrix whose defect exceeds 1e3 n eps. Values: count x n (min(m, n)).
 */
SZG_CHECK_RESULT szg_status szg_spectra_batch_symmetric(szg_context *context, int64_t count,
                                                        int64_t n, double *a, int64_t stride,
                                                        double *values, double *worst);
SZG_CHECK_RESULT szg_status szg_spectra_batch_hermitian(szg_context *context, int64_t count,
                                                        int64_t n, szg_c64 *a, int64_t stride,
                                                        double *values, double *worst);
SZG_CHECK_RESULT szg_status szg_spectra_batch_general(szg_context *context, int64_t count,
                                                      int64_t n, double *a, int64_t stride,
                                                      szg_c64 *values, double *worst);
SZG_CHECK_RESULT szg_status szg_spectra_batch_singular(szg_context *context, int64_t count,
                                                       int64_t m, int64_t n, double *a,
                                                       int64_t stride, double *values,
                                                       double *worst);

/* ---- Values that a device has computed ----
 * Checked against trace and Frobenius norm, which come from the entries, as those of a batch:
 * SZG_ENOCONV where they miss them, or one is NaN. */

/* All eigenvalues of a symmetric matrix, ascending. `method` is kept. */
SZG_CHECK_RESULT szg_status szg_spectra_of_eigenvalues(szg_context *context, int64_t n,
                                                       const double *ascending, double trace,
                                                       double frobenius, const char *method,
                                                       szg_spectrum *out);

/* Singular values of an n x n matrix L from all eigenvalues of L^T L: their roots, of negative ones
 * 0. frobenius: of L; gram_frobenius: of L^T L. *error bounds each one's absolute error, sqrt(12 n
 * eps) ||L||_F: the product is off by n eps ||L||_F^2 at most (Higham 2002, 3.5), 11 n eps
 * ||L||_F^2 are allowed the solver, and roots of numbers that differ by d differ by at most
 * sqrt(d). Large ones are far better: by d / (2 sigma). */
SZG_CHECK_RESULT szg_status szg_spectra_of_squares(szg_context *context, int64_t n,
                                                   const double *squares, double frobenius,
                                                   double gram_frobenius, const char *method,
                                                   double *error, szg_spectrum *out);

SZG_END_DECLS

#endif

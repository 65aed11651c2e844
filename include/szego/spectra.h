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

typedef enum szg_spectrum_kind {
    SZG_SPECTRUM_NONE, /* nothing was computed */
    SZG_SPECTRUM_EIGENVALUE,
    SZG_SPECTRUM_SINGULAR
} szg_spectrum_kind;

/* "eigenvalue", "singular"; NULL for SZG_SPECTRUM_NONE and outside the enumeration. */
const char *szg_spectrum_kind_name(szg_spectrum_kind kind);

/* Which of the library's ways computed a spectrum. */
typedef enum szg_method {
    SZG_METHOD_NONE,
    SZG_METHOD_LAPACK,
    SZG_METHOD_TALL_QR,
    SZG_METHOD_ZERO,
    SZG_METHOD_DIAGONAL,
    SZG_METHOD_TRIANGULAR,
    SZG_METHOD_DENSE,
    SZG_METHOD_DENSE_SYMMETRIC,
    SZG_METHOD_DENSE_HERMITIAN,
    SZG_METHOD_DENSE_GENERAL,
    SZG_METHOD_DENSE_COMPLEX,
    SZG_METHOD_DENSE_SINGULAR,
    SZG_METHOD_COMPLEX_SINGULAR,
    SZG_METHOD_DENSE_PART,
    SZG_METHOD_DIVIDE,
    SZG_METHOD_HALVES,
    SZG_METHOD_MAPPED,
    SZG_METHOD_HANKEL,
    SZG_METHOD_LANCZOS,
    SZG_METHOD_DIRICHLET,
    SZG_METHOD_KMS,
    SZG_METHOD_DISTANCE,
    SZG_METHOD_LOW_RANK,
    SZG_METHOD_LOW_RANK_SINGULAR,
    SZG_METHOD_LOW_RANK_PART,
    SZG_METHOD_GRAM,
    SZG_METHOD_MATRIX_FREE,
    SZG_METHOD_MATRIX_FREE_SINGULAR,
    SZG_METHOD_MATRIX_FREE_PART,
    SZG_METHOD_DEVICE_SYMMETRIC,
    SZG_METHOD_DEVICE_PART,
    SZG_METHOD_DEVICE_SINGULAR,
    SZG_METHODS
} szg_method;

/* A few words for tables, such as "two halves (LAPACK)"; NULL for SZG_METHOD_NONE and outside the
 * enumeration. */
const char *szg_method_name(szg_method method);

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
    int64_t n;     /* order; for singular values of an m x n matrix, min(m, n) */
    int64_t count; /* values listed */
    int64_t zeros; /* further values that are exactly zero */
    int64_t rank;  /* exact rank where the structure tells it, else -1 */
    szg_spectrum_kind kind;
    double *re, *im; /* count values; im is NULL where every value is real */
    bool normal;     /* eigenvalues of a normal matrix: their moduli are its singular values */
    double trace;    /* real part of the matrix's trace, computed apart from the values; NaN: not */
    double frobenius; /* the matrix's Frobenius norm, computed apart from the values; NaN: not */
    double residual;  /* always finite; what it measures stands in residual_meaning */
    const char *residual_meaning; /* a sentence */
    szg_method method;
    const char *note; /* NULL, or what a reader must know (triangular matrices) */
} szg_spectrum;

/* Frees the arrays and zeroes the spectrum; NULL and a zeroed spectrum are allowed. */
void szg_spectrum_close(szg_spectrum *spectrum);

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

/* Singular values of m x n matrices: min(m, n) of them. */
SZG_CHECK_RESULT szg_status szg_spectra_singular(szg_context *context, int64_t m, int64_t n,
                                                 const double *a, int64_t lda,
                                                 const szg_spectra_options *options,
                                                 szg_spectrum *out);

SZG_END_DECLS

#endif

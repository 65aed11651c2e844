/* Spectra: eigenvalues and singular values, each with a residual and what that residual means. */
#ifndef SZEGO_SPECTRUM_H
#define SZEGO_SPECTRUM_H

#include <szego/matrix.h>

SZG_BEGIN_DECLS

/* What is asked of a matrix L. */
typedef enum szg_question {
    SZG_QUESTION_EIGENVALUES,
    SZG_QUESTION_SINGULAR,       /* singular values; of an m x n matrix min(m, n) of them */
    SZG_QUESTION_HERMITIAN_PART, /* eigenvalues of H = (L + L^*) / 2, all real: their range is the
                                    numerical range of L on the real axis, and what majorisation
                                    compares (claim B3c) */
    SZG_QUESTIONS
} szg_question;

/* How much of a spectrum is asked for. */
typedef enum szg_want {
    SZG_WANT_ALL,   /* every value (structural zeros are counted, not listed) */
    SZG_WANT_RANGE, /* the least and the largest value, or several at each end */
} szg_want;

/* Whether the ends of eigenvalues of a Hermitian matrix, or of singular values, are proved. */
typedef enum szg_certify {
    SZG_CERTIFY_NONE,
    SZG_CERTIFY_CHEAP, /* eigenvalues, where that costs at most a quarter of the solver used */
    SZG_CERTIFY_ENDS,  /* wherever a proof is known */
    SZG_CERTIFY_VALUES /* and every value too, where all of them are computed */
} szg_certify;

/* All fields but `size` may be zero: every value, by the fastest method that applies. */
typedef struct szg_spectra_options {
    SZG_SIZE(szg_spectra_options);
    szg_want want;
    bool dense; /* form the dense matrix and use LAPACK whatever its structure: the oracle */
    szg_certify certify;
    /* With SZG_WANT_RANGE: so many values at each end (all, where there are no more); 0: one.
     * Singular values have one at each end alone. */
    int64_t ends;
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
#define SZG_CLOSED_FORM(NAME, name, words, method) SZG_METHOD_##NAME,
#include <szego/closed_forms.def>
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
    SZG_METHOD_RANDOMISED,
    SZG_METHOD_RANDOMISED_GRAM,
    SZG_METHOD_SHARED_DENSE,
    SZG_METHOD_SHARED_HALVES,
    SZG_METHOD_SHARED_MAPPED,
    SZG_METHOD_SHARED_LANCZOS,
    SZG_METHODS
} szg_method;

/* A few words for tables, such as "two halves (LAPACK)"; NULL for SZG_METHOD_NONE and outside the
 * enumeration. */
const char *szg_method_name(szg_method method);

/* Which solver that is, by a name that stays and that the column `solver` has: "zero", "diagonal",
 * "triangular", "closed_form", "dense", "reduced", "mapped", "halves", "squares",
 * "divide_and_conquer", "lanczos", "randomised" (docs/explanation/methods.md). NULL as above. */
const char *szg_method_solver(szg_method method);

/* A spectrum or part of one. Real eigenvalues ascend (im is NULL); complex ones ascend by real,
 * then imaginary part; singular values descend. The arrays belong to the spectrum, the texts are
 * static.
 *
 * `zeros` eigenvalues are exactly 0 by structure (a rank argument, not a threshold) and are not
 * listed, so that a kernel of order 10^9 fits in a page; the spectrum is complete when
 * count + zeros = n. Under SZG_WANT_RANGE the listed values are those of the
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
    double residual;  /* always finite; residual_meaning says what it measures */
    const char *residual_meaning; /* a sentence */
    szg_method method;
    const char *note;      /* NULL, or what a reader must know (triangular matrices) */
    bool certified;        /* `min` and `max` are there */
    szg_interval min, max; /* contain the least and the largest value, by proof; NaN: none */
    double *lo, *hi;       /* NULL, or bounds of each listed value, by proof */
    /* An eigenvalue of the matrix lies within error[i] of re[i]; NaN where re[i] is. Under
     * SZG_WANT_RANGE, of real eigenvalues of a normal matrix; else NULL. */
    double *error;
    /* SZG_METHOD_DIVIDE: what the method left out, dropped and deflated terms, as a sum of norms
     * over the matrix's (docs/explanation/methods.md); 0 of other methods. */
    double dropped;
} szg_spectrum;

/* Frees the arrays and zeroes the spectrum; NULL and a zeroed spectrum are allowed. */
void szg_spectrum_close(szg_spectrum *spectrum);

/* Certified values (options->certify; docs/explanation/theory.md, "Certified eigenvalues"): of
 * Hermitian matrices, and singular values of all but DEVICE. The matrix's numbers are taken as
 * exact. Those of dense arrays are the entries (the bounds of eigenvalues are those of real parts
 * where the array is symmetric up to rounding alone), of Toeplitz matrices the lags, of sums of
 * cosines weights and angles, of closed forms the parameter, of factored matrices A, B and the
 * bias; the rounding of A B^T is counted. Symmetric factored matrices, A = c B up to rounding,
 * count as their Hermitian part. An end whose computed value is NaN has no proof. `certified` is
 * false where neither end has one.
 *
 * The verb. *out is written on success only (it is zeroed before), and the caller closes it.
 * `options` may be NULL. By structure:
 *
 * - Dense: LAPACK. Real ones that are symmetric up to 64 eps max|a| have real eigenvalues; all
 *   eigenvalues of others come at once, whatever is wanted. SYMMETRIC and HERMITIAN are checked:
 *   SZG_EDATA names the place.
 * - Toeplitz, real symmetric: the two blocks of half the order t_|i-j| +- t_{n-1-i-j} (Cantoni and
 *   Butler 1976), or a divide and conquer on them; Hermitian: the real symmetric matrix that the
 *   unitary Q = [I iI; J -iJ]/sqrt 2 makes of it (Lee 1980 for centrohermitian matrices); the range
 *   of large ones: Lanczos with FFT products, with shift-and-invert where the edge is clustered.
 *   Triangular: the diagonal, exactly, with a note that singular values say more. Others: dense,
 *   SZG_ENOMEM when too large. Singular values: moduli of the eigenvalues where T is Hermitian, of
 *   those of the symmetric Hankel matrix T J where it is real, else dense. H is Toeplitz.
 * - Factored, L = M o (A B^T + T). Eigenvalues: without bias and mask those of B^T A, d x d, and
 *   n - d zeros (A = c B: those of c B^T B); under a mask the diagonal, with a note; with a bias
 *   dense, except the range of a symmetric L. Singular values: without bias and mask those of
 *   R_A R_B^T, A = Q_A R_A, B = Q_B R_B; else the largest matrix-free, and all of them dense. H:
 *   without bias and mask, 2 d < n, the eigenvalues of R S R^T / 2, [A B] = Q R, S exchanging the
 *   blocks; else the range matrix-free, and all of them dense; a mask acts before the
 * transposition.
 * - Sum of cosines: two Gram matrices of Dirichlet sums, of order <= count + 1, so that any n up to
 *   2^62 takes the same time; complete whatever is wanted. Rank min(n, number of distinct points
 *   e^{+-i theta_t}). SZG_EINVAL: weights outside 0 .. 2^500, |theta| > 2^60.
 * - Kac-Murdock-Szego and path distance: in closed form, O(count).
 * - Device: what it computed, checked against trace and norm, SZG_ENOCONV where it misses them.
 *
 * Common errors: SZG_EINVAL (no matrix, sizes, NaN or infinite arguments), SZG_EDOMAIN (no solver
 * for this question; the message names the structure and the remedy), SZG_EDATA (NaN or infinity in
 * an array), SZG_ENOMEM (also before work starts, when a dense matrix would not fit: the message
 * says how much it needs and what avoids it), SZG_ENOCONV (an iteration did not converge),
 * SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szg_spectrum_compute(szg_context *context, const szg_matrix *matrix,
                                                 szg_question question,
                                                 const szg_spectra_options *options,
                                                 szg_spectrum *out);

/* The same question of `count` matrices, which may differ in kind and size: out[0 .. count-1], each
 * what szg_spectrum_compute gives for its matrix, checked and with a residual of its own; the
 * caller closes each. Eigenvalues of symmetric arrays (and of Hermitian parts) of an order up to
 * 256 are computed together if eight or more have that order: their last digits may then differ
 * from szg_spectrum_compute's, within n eps ||A||. The threads take the other matrices one at a
 * time; only where there are fewer matrices than threads and one has order 512 or more, all threads
 * take one matrix after the other. A failure leaves every spectrum empty. The message is that of
 * szg_spectrum_compute with the first bad matrix in front ("matrix 3: entry (1, 0) is nan"; the
 * first is matrix 0). SZG_EINVAL too: a negative count, or no arrays. count 0: nothing is done. */
SZG_CHECK_RESULT szg_status szg_spectrum_batch(szg_context *context, int64_t count,
                                               const szg_matrix *matrices, szg_question question,
                                               const szg_spectra_options *options,
                                               szg_spectrum *out);

SZG_END_DECLS

#endif

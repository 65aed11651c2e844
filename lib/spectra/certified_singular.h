/* Singular values between proven bounds: docs/explanation/theory.md, "Certified eigenvalues". */
#ifndef SZG_SPECTRA_CERTIFIED_SINGULAR_H
#define SZG_SPECTRA_CERTIFIED_SINGULAR_H

#include "certified_residual.h"

/* An array of m x n numbers, m >= n, moduli of the parts below 1, and a matrix that differs from it
 * by `error` in norm at most. All are scaled by 2^-exponent. */
typedef struct szgi_tall {
    szgi_parts a;
    bool hermitian; /* exactly: its singular values are moduli of eigenvalues */
    int exponent;
    double error;
    double *memory;
} szgi_tall;

/* Computed singular values and vectors of an m x n array, m >= n. */
typedef struct szgi_triples {
    szgi_parts u, v, adjoint; /* U^*, n x m; V^*, n x n; A^* */
    double *s;                /* n values, descending */
    szgi_residual_work scratch;
    double *memory;
} szgi_triples;

/* certified_triples.c: |sigma_i - s_i| <= *out. SZG_ENOCONV: the vectors are far from orthonormal.
 */
SZG_CHECK_RESULT szg_status szgi_triples_distance(szg_context *context, const szgi_parts *a,
                                                  const szgi_triples *triples, double *out);

/* certified_triples.c: lo[i] <= sigma_i <= hi[i] of the n singular values of tall->a itself,
 * descending. SZG_ENOMEM; SZG_ENOCONV: the computed vectors are far from orthonormal. */
SZG_CHECK_RESULT szg_status szgi_tall_values(szg_context *context, const szgi_tall *tall,
                                             double *lo, double *hi);

/* Guesses, and what is proved. A guess that is NaN is not tried: its interval stays NaN. */
typedef struct szgi_tall_ends {
    double least, largest;
    szg_interval min, max;
} szgi_tall_ends;

/* certified_norm.c: the least and the largest singular value of tall->a itself. SZG_ENOCONV: the
 * largest one is not proved to be near the guess. */
SZG_CHECK_RESULT szg_status szgi_tall_prove_ends(szg_context *context, const szgi_tall *tall,
                                                 szgi_tall_ends *ends);

/* certified_singular.c: fills `min`, `max`, and `lo` and `hi` where every value is wanted and
 * listed, of the computed singular values *spectrum; leaves them where no proof is known. */
SZG_CHECK_RESULT szg_status szgi_singular_certify(szg_context *context, const szg_matrix *matrix,
                                                  const szg_spectra_options *options,
                                                  szg_spectrum *spectrum);

#endif

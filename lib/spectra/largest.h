/* The largest eigenvalues of a positive semidefinite operator that is known by its products, in
 * blocks of vectors, each with a stated error. */
#ifndef SZG_SPECTRA_LARGEST_H
#define SZG_SPECTRA_LARGEST_H

#include "base/context.h"

/* S = A^T A of order n. Row i of out becomes S x_i for row i of x, both count x n; what is computed
 * is off by at most `error` ||x_i||. */
typedef struct szgi_block_operator {
    int64_t n;
    szg_status (*apply)(szg_context *context, void *data, int64_t count, const double *x,
                        double *out);
    void *data;
    double error;
    double trace; /* of S, rounded upwards: the squared Frobenius norm of A */
} szgi_block_operator;

typedef struct szgi_largest_options {
    int64_t count;    /* values wanted, 1 .. n */
    uint64_t seed;    /* of the random vectors */
    double tolerance; /* a value is resolved once its error is below this times the largest value */
    int64_t passes;   /* products with a block of vectors, at most about so many */
} szgi_largest_options;

/* One singular value of A. */
typedef struct szgi_largest_value {
    double sigma;
    double error;    /* the value of this index is within it of sigma, with a probability of 1 -
                        SZGI_LARGEST_RISK over the seeds */
    double residual; /* some singular value of A is within it of sigma: proved */
    bool resolved;
} szgi_largest_value;

/* How often, of all seeds, an error may be wrong: for a matrix as a whole. */
#define SZGI_LARGEST_RISK 1e-9

/* Vectors that a run for `wanted` values of order n carries. */
int64_t szgi_largest_width(int64_t n, int64_t wanted);

/* Block subspace iteration from a random start, filtered by Chebyshev polynomials (Zhou, Saad 2007;
 * Halko, Martinsson, Tropp 2011), and a proof of what it found (docs/explanation/methods.md).
 * out: options->count values, descending. Memory: 4 blocks of width x n numbers. The same seed
 * gives the same bits if `apply` does. */
SZG_CHECK_RESULT szg_status szgi_largest(szg_context *context, const szgi_block_operator *s,
                                         const szgi_largest_options *options,
                                         szgi_largest_value *out);

#endif

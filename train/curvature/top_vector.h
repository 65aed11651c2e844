/* The eigenvector of the largest eigenvalue of a symmetric operator. */
#ifndef SZG_TRAIN_TOP_VECTOR_H
#define SZG_TRAIN_TOP_VECTOR_H

#include "base/random.h"
#include "spectra/lanczos.h"

typedef struct top_options {
    szgi_stream start;
    int64_t products; /* at most, 2 or more */
    double tolerance; /* of the residual, relative to the eigenvalue */
} top_options;

typedef struct top_vector {
    double *vector;   /* [n], of norm 1: the caller's; its Rayleigh quotient is the eigenvalue */
    int64_t products; /* that were made */
    bool found; /* false where the start's image is zero, or a product is not finite: the vector
                   holds zeros then */
} top_vector;

/* Lanczos with full reorthogonalisation (Golub and Van Loan, Matrix Computations, 10.3.5), from the
 * image of a random vector: directions that the operator maps to zero stay out. Nothing is said of
 * convergence: the caller looks at the residual. The bits do not depend on threads if those of the
 * operator do not: szgi_lanczos sums with BLAS, whose order does. Memory: options->products
 * vectors. */
SZG_CHECK_RESULT szg_status szgi_top_vector(szg_context *context, const szgi_operator *s,
                                            const top_options *options, top_vector *out);

/* What a vector x of norm 1 misses: on x and its residual r = S x - value x, value = x . S x, the
 * operator is [value |r|; |r| beyond], beyond = r . S r / |r|^2. Returns how far the larger
 * eigenvalue lies above `value` (Rayleigh and Ritz; Parlett 1998, 11.3): some |r|^2 / (value -
 * beyond). Noise of products is spread over directions that S hardly changes, and costs little; a
 * vector that has not converged has a residual where S is large. */
double szgi_top_missed(double value, double beyond, double residual);

#endif

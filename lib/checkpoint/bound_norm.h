/* Spectral norms from above: docs/explanation/theory.md, "Spectral norms from above". */
#ifndef SZG_CHECKPOINT_BOUND_NORM_H
#define SZG_CHECKPOINT_BOUND_NORM_H

#include <stdint.h>

#include "base/context.h"

/* x, which `count` operations on numbers that are not negative rounded, from above. */
double szgi_above(double x, double count);

/* ||x|| from above: squares below the least double count as that double. */
double szgi_norm_above(int64_t count, const double *x);

/* What rows A (e x d) leave: their Gram matrix, and norms of the true rows, which are within
 * `error` of these in Frobenius norm. e = 0: there are no rows. */
typedef struct szgi_gram {
    int64_t e;
    double *value; /* A A^T, e x e, exactly symmetric; the caller's memory */
    double slack;  /* its distance from the true Gram matrix of these rows */
    double error;
    double spectral, frobenius; /* of the true rows, from above */
} szgi_gram;

/* Fills all of *out except `value`, which the caller has set; out->error is `error` and `relative`
 * ||A||_F. */
SZG_CHECK_RESULT szg_status szgi_gram_make(szg_context *context, int64_t e, int64_t d,
                                           const double *rows, double error, double relative,
                                           szgi_gram *out);
/* The same of rows first .. first + e - 1 of those that `whole` is of. */
SZG_CHECK_RESULT szg_status szgi_gram_part(szg_context *context, const szgi_gram *whole,
                                           int64_t first, int64_t e, szgi_gram *out);

/* sigma_1(A^T B) of the true rows from above, B with as many rows as A. */
SZG_CHECK_RESULT szg_status szgi_gram_product(szg_context *context, const szgi_gram *a,
                                              const szgi_gram *b, double *out);

/* At least the largest eigenvalue of a symmetric n x n matrix whose diagonal is not negative:
 * proved by a factorisation, whatever solver found it. g is kept. */
SZG_CHECK_RESULT szg_status szgi_eigenvalue_above(szg_context *context, int64_t n, const double *g,
                                                  double *out);

#endif

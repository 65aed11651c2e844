/* Spectral norms from above: docs/explanation/theory.md, "Spectral norms from above". */
#ifndef SZG_CHECKPOINT_BOUND_NORM_H
#define SZG_CHECKPOINT_BOUND_NORM_H

#include <stdint.h>

#include "base/context.h"

/* x, which `count` operations on numbers that are not negative rounded, from above. */
double szgi_above(double x, double count);

/* Rows of a (e x da) and of b (e x db), each within `error` of the true rows in Frobenius norm. */
typedef struct szgi_row_pair {
    int64_t e, da, db;
    const double *a, *b;
    double error_a, error_b;
} szgi_row_pair;

/* Bounds of the true rows' norms from above. */
typedef struct szgi_norms_above {
    double a, b;        /* sigma_1(A), sigma_1(B): their product bounds sigma_1(A^T R B) for all
                           orthogonal R */
    double product;     /* sigma_1(A^T B); NaN if it was not asked for */
    double frobenius_a; /* ||A||_F, ||B||_F */
    double frobenius_b;
} szgi_norms_above;

SZG_CHECK_RESULT szg_status szgi_norms_above_of(szg_context *context, const szgi_row_pair *rows,
                                                bool product, szgi_norms_above *out);

/* At least the largest eigenvalue of a symmetric n x n matrix whose diagonal is not negative:
 * proved by a factorisation, whatever solver found it. g is kept. */
SZG_CHECK_RESULT szg_status szgi_eigenvalue_above(szg_context *context, int64_t n, const double *g,
                                                  double *out);

#endif

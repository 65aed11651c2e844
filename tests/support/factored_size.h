/* What the rounding of a factored matrix M o (A B^T + T) is measured against. */
#ifndef SZG_TESTS_FACTORED_SIZE_H
#define SZG_TESTS_FACTORED_SIZE_H

#include <math.h>

#include <szego/factored.h>
#include <szego/toeplitz.h>

#include "rounding.h"

/* ||A||_F ||B||_F + sqrt(n) ||T||_1, above ||M o (|A| |B|^T + |T|)||_F. */
static inline double factored_size(const szg_factored *f) {
    double a = 0, b = 0;
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t c = 0; c < f->d; c++) {
            a += f->a[i * f->lda + c] * f->a[i * f->lda + c];
            b += f->b[i * f->ldb + c] * f->b[i * f->ldb + c];
        }
    return sqrt(a) * sqrt(b) + (f->bias ? szg_toeplitz_norm_wiener(f->bias) * sqrt((double)f->n) : 0);
}

/* Toeplitzness, numerator over denominator, from the factors against the same from the entries. The
 * factors' Gram matrices are inner products of n terms, entries and their means of d and n; all are
 * squared and summed again: 20 (n + d) eps size^2 in each of the two, and 10 for both quotients. */
static inline double toeplitzness_error(const szg_factored *f, double frobenius) {
    double size = factored_size(f) / frobenius;
    return 10 * 20 * (double)(f->n + f->d) * DBL_EPSILON * size * size;
}

#endif

/* What the rounding of a factored matrix M o (A B^T + T) is measured against. */
#ifndef SZG_TESTS_FACTORED_SIZE_H
#define SZG_TESTS_FACTORED_SIZE_H

#include <math.h>

#include "toeplitz/factored.h"
#include "toeplitz/toeplitz.h"

#include "rounding.h"

/* ||A||_F ||B||_F + sqrt(n) ||T||_1, above ||M o (|A| |B|^T + |T|)||_F. */
static inline double factored_size(const szg_factored *f) {
    double a = 0, b = 0;
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t c = 0; c < f->d; c++) {
            a += f->a[i * f->lda + c] * f->a[i * f->lda + c];
            b += f->b[i * f->ldb + c] * f->b[i * f->ldb + c];
        }
    return sqrt(a) * sqrt(b) +
           (f->bias ? szgi_toeplitz_norm_wiener(f->bias) * sqrt((double)f->n) : 0);
}

/* The Frobenius norm from the factors' Gram matrices: what its square is off by, relative to
 * size^2, and the root, which cancellation may leave of rounding alone. */
static inline double frobenius_error(const szg_factored *f, double frobenius) {
    double n = (double)f->n, d = (double)f->d, size = factored_size(f);
    double square = gamma_of(8 * n + 4 * d + d * d + 2 * 16 * (log2(2 * n) + 2)) * size * size;
    return square > 0 ? square / fmax(frobenius, sqrt(square)) : 0;
}

/* Toeplitzness from the factors against the same from the entries. From the factors: two Gram
 * matrices of n terms each, d^2 products of their entries; means of n products of d terms, squared,
 * over 2n - 1 lags, by transforms of 8 eps a stage. All relative to size^2. From the entries: n^2
 * squares and 2n squared means. Each once for the numerator and once for the denominator. */
static inline double toeplitzness_error(const szg_factored *f, double frobenius) {
    double n = (double)f->n, d = (double)f->d, size = factored_size(f) / frobenius;
    double factors = gamma_of(8 * n + 4 * d + d * d + 2 * 16 * (log2(2 * n) + 2));
    return factors * size * size + gamma_of(n * n + 4 * n);
}

#endif

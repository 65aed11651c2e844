/* Bounds that rounding keeps. Lemmas and equations: Higham, Accuracy and Stability of Numerical
 * Algorithms, second edition 2002. */
#ifndef SZG_TESTS_ROUNDING_H
#define SZG_TESTS_ROUNDING_H

#include <float.h>

/* Half the distance from 1 to the next number: the relative error of one rounding. */
static const double UNIT = 0x1p-53;

/* The relative error of k roundings after each other (Lemma 3.1). An inner product of k terms errs
 * by this, times the sum of its terms' moduli, in whatever order they are added (3.5): one rounding
 * for the product and at most k - 1 for the sums. */
static inline double gamma_of(double k) {
    return k * UNIT / (1 - k * UNIT);
}

/* Weyl: eigenvalues of Hermitian matrices and singular values move by at most ||E||_2, and a
 * backward stable solver is exact for an E of norm c n eps ||A||_F; 32 covers the constants of
 * Jacobi's and of LAPACK's. */
static inline double weyl(int64_t n, double norm) {
    return 32 * (double)n * DBL_EPSILON * norm + DBL_MIN;
}

#endif

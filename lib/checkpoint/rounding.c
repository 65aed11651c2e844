/* What a model's own arithmetic may add to its logits. */
#include <math.h>

#include "bound_norm.h"
#include "rounding.h"

/* At least (1 + u)^k - 1. */
static double gamma_of(double k, double unit) {
    return szgi_above(k * unit / (1 - k * unit), 4);
}

/* Of sums, which are in single precision or better. */
static double sums_of(double terms, double unit) {
    return gamma_of(terms, fmin(unit, 0x1p-24));
}

/* A rotation: cosine, sine, amplitude, product and sum are rounded. In a pair the error is at most
 * that many units of |c| |a| + |s| |b|, hence sqrt(2) units of the pair's norm. */
static double turned(bool rotates, double unit) {
    return rotates ? 1 + sqrt(2) * gamma_of(4, unit) : 1;
}

/* Normalised, rounded, and multiplied by rounded gains; what falls below the normal numbers is less
 * than 2^-20 of the norm. */
double szgi_round_root(double terms, double unit) {
    double grown = (1 + gamma_of(3, unit)) * (1 + sums_of(terms + 8, unit)) * (1 + 0x1p-20);
    return unit > 0 ? szgi_above(sqrt(terms) * grown, 8) : szgi_above(sqrt(terms), 1);
}

double szgi_round_products(double terms, double unit) {
    return (1 + gamma_of(1, unit)) * (1 + sums_of(terms, unit)) - 1;
}

/* The shift of a norm is rounded thrice, its product twice, the bias and its sum twice. */
double szgi_round_shift(double terms, double unit) {
    return (1 + gamma_of(7, unit)) * (1 + sums_of(terms, unit)) - 1;
}

/* Of float16 half of the least number is 2^-25, of other types less; four operations lose some. */
double szgi_round_least(double size, double unit) {
    return unit > 0 ? 0x1p-22 * sqrt(size) : 0;
}

/* Rows and biases are rounded to the type, then they rotate. */
double szgi_round_logit(double size, bool rotates, double unit) {
    double side = (1 + gamma_of(2, unit)) * turned(rotates, unit);
    return side * side * (1 + sums_of(size, unit)) - 1;
}

double szgi_round_normed(double terms, double size, bool rotates, double unit) {
    double side = (1 + gamma_of(5, unit)) * (1 + sums_of(terms + 8, unit)) * turned(rotates, unit);
    return side * side * (1 + sums_of(size, unit));
}

double szgi_round_answer(double unit) {
    return 1 + gamma_of(4, unit);
}

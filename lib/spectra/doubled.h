/* Sums of products in twice the precision of a double. */
#ifndef SZG_SPECTRA_DOUBLED_H
#define SZG_SPECTRA_DOUBLED_H

#include <stdint.h>

/* The unevaluated sum of two doubles. */
typedef struct szgi_doubled {
    double head, tail;
} szgi_doubled;

/* sum x_i y_i (Ogita, Rump, Oishi 2005, Dot2, in eight lanes). The error of head + tail is below
 * 4 (count + 16)^2 u^2 sum |x_i y_i|, u = 2^-53, and count 2^-1018 (1 + max|x_i| + max|y_i|) for
 * underflow; |x_i|, |y_i| < 2^500, count <= 2^30. */
szgi_doubled szgi_doubled_dot(int64_t count, const double *x, const double *y);

/* The same sum and z: two more roundings of the tails. */
szgi_doubled szgi_doubled_add(szgi_doubled sum, szgi_doubled z);

/* x y as two doubles, exactly unless a number underflows. */
szgi_doubled szgi_doubled_product(double x, double y);

#endif

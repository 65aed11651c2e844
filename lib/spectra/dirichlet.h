/* The Dirichlet sum at any order, with exact argument reduction. */
#ifndef SZG_SPECTRA_DIRICHLET_H
#define SZG_SPECTRA_DIRICHLET_H

#include <stdbool.h>
#include <stdint.h>

/* A number of half turns: theta / (4 pi) modulo 1, in units of 2^-128. */
__extension__ typedef unsigned __int128 szgi_turns;

/* theta / (4 pi) modulo 1, error below 2^-127, for |theta| <= 2^60. */
szgi_turns szgi_turns_of(double theta);

/* An angle: its double (which rounding may have touched) and its exact turns. */
typedef struct szgi_angle {
    double radians;
    szgi_turns half; /* of the angle, as szgi_turns_of */
} szgi_angle;

szgi_angle szgi_angle_of(double theta);
szgi_angle szgi_angle_sum(szgi_angle a, szgi_angle b);
szgi_angle szgi_angle_difference(szgi_angle a, szgi_angle b);

/* D_n(x) = sin(n x/2) / sin(x/2), n (-1)^(m(n-1)) at x = 2 pi m, for 1 <= n <= 2^62. The error is
 * below 8 eps |D| + 4 eps / |sin(x/2)|, the second part absent where |n x| < 1. */
double szgi_dirichlet(int64_t n, szgi_angle x);

/* cos(k theta) with the same reduction: error below 2 eps for 0 <= k <= 2^61. */
double szgi_angle_cos(int64_t k, szgi_angle theta);

#endif

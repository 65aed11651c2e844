/* The Taylor polynomial of one cell, a_q = F_q / q!, in x = degree (t - centre). */
#ifndef SZG_BALL_TAYLOR_H
#define SZG_BALL_TAYLOR_H

#include "fft.h"

/* b = coefficients of the polynomial about x0. b may not be a. */
void szgi_taylor_shift(int count, const real *a, real x0, real *b);

real szgi_taylor_value(int count, const real *a, real x);

/* At least the maximum of sum b_q s^q over |s| <= radius, up to rounding errors: exact for the
 * quadratic part, |b_q| radius^q for the rest. */
real szgi_taylor_upper(int count, const real *b, real radius);

/* A point of [-half, half] near a local maximum: the largest of the middle and the ends, then a few
 * Newton steps. */
real szgi_taylor_climb(int count, const real *a, real half);

#endif

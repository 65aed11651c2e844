/* A radix-2 transform in long double with a proved bound on its rounding errors. */
#ifndef SZG_BALL_FFT_H
#define SZG_BALL_FFT_H

#include <float.h>

#include "ball/arb.h"

typedef long double real;
typedef struct pair {
    real re, im;
} pair;

/* Half a unit in the last place of 1: the largest relative error of one rounding to nearest. */
#define ROUNDOFF (LDBL_EPSILON / 2)

typedef struct fft {
    int64_t size; /* a power of two, at least 2 */
    int log2_size;
    pair *roots; /* e^{2 pi i j / size}, j < size / 2 */
} fft;

/* Roots are products of two table entries that Arb computed, so |error| <= 7 ROUNDOFF. */
SZG_CHECK_RESULT szg_status szgi_ball_fft_open(szg_context *context, int64_t size, fft *out);
void szgi_ball_fft_close(fft *plan);

/* Where element `index` of the input goes: the transform below wants bit-reversed order. */
int64_t szgi_ball_fft_place(const fft *plan, int64_t index);

/* Points that are transformed between two looks for cancellation: milliseconds. */
enum { FFT_LOOK = 1 << 16 };

/* In place: x[j] <- sum_k x_k e^{+2 pi i j k / size}, input in bit-reversed order. SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_ball_fft_run(szg_context *context, const fft *plan, pair *x);

/* A bound of max_j |computed - true| / scale, where scale >= min(sqrt(size) ||x||_2, ||x||_1):
 * docs/explanation/methods.md, "Rounding errors of the transform". */
real szgi_ball_fft_error(const fft *plan);

/* A long double within one unit in the last place of the one nearest to x. */
real szgi_real_of(const arf_t x);

#endif

/* Products of queries and keys in single precision, and the sums of their softmax. The kernel is
 * compiled once for each vector level (linalg/cpu_level.h).
 *
 * With u = 2^-24, and whatever the level:
 * - products: szgi_softmax_roundings(d) roundings meet a term on its way into the sum. d is cut
 *   into chunks of SZGI_SOFTMAX_CHUNK, each a sum from zero; their sums are added up by fours, and
 *   those by another addition. Fused or not, each product comes once (Higham 2002, 3.1 and 4.2).
 * - exponentials: relative error at most 4 u, 0 below log 2^-126, and exp(0) = 1.
 * - capped: off by at most 10 u cap, for 2^-100 <= cap <= 2^100.
 * Sums over keys are in double precision. */
#ifndef SZG_COUPLING_SOFTMAX_KERNEL_H
#define SZG_COUPLING_SOFTMAX_KERNEL_H

#include "base/context.h"
#include "linalg/cpu_level.h"

enum {
    SZGI_SOFTMAX_ROWS = 24,  /* of a block: a multiple of what registers hold at every level */
    SZGI_SOFTMAX_PANEL = 32, /* keys side by side: likewise */
    SZGI_SOFTMAX_KEYS = 256, /* of a block, whole panels */
    SZGI_SOFTMAX_CHUNK = 8,
    SZGI_SOFTMAX_SEGMENT = 4 * SZGI_SOFTMAX_CHUNK
};

static inline double szgi_softmax_roundings(int64_t d) {
    const int64_t segments = (d + SZGI_SOFTMAX_SEGMENT - 1) / SZGI_SOFTMAX_SEGMENT;
    const int64_t chunks = SZGI_SOFTMAX_SEGMENT / SZGI_SOFTMAX_CHUNK;
    return (double)(SZGI_SOFTMAX_CHUNK + (chunks - 1) + (segments - 1));
}

typedef struct szgi_softmax_kernels {
    /* x[i][j] = q_i . k_j of SZGI_SOFTMAX_ROWS queries, d numbers each one after the other, and
     * `panels` panels of keys: number t of key j of a panel at t * SZGI_SOFTMAX_PANEL + j. Rows of
     * x are SZGI_SOFTMAX_KEYS apart. */
    void (*products)(int64_t panels, int64_t d, const float *q, const float *k, float *x);
    /* x += bias, `count` numbers. */
    void (*add)(int64_t count, const float *bias, float *x);
    /* The least and greatest of `count` numbers, 1 or more. */
    void (*range)(int64_t count, const float *x, float *least, float *greatest);
    /* x := cap tanh(x / cap). */
    void (*capped)(int64_t count, float cap, float *x);
    /* Adds sum e^t and sum t e^t, t = x - top <= 0, to *weight and *slope. x := e^t. */
    void (*weights)(int64_t count, float top, float *x, double *weight, double *slope);
} szgi_softmax_kernels;

extern const szgi_softmax_kernels szgi_softmax_baseline, szgi_softmax_avx2, szgi_softmax_avx512;

/* Those of a level, which the processor has. */
const szgi_softmax_kernels *szgi_softmax_of(szgi_cpu_level level);

#endif

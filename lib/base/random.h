/* Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011; Random123).
 * A number depends on (seed, step, purpose, index) alone, never on threads or on order. */
#ifndef SZEGO_BASE_RANDOM_H
#define SZEGO_BASE_RANDOM_H

#include <szego/status.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* key = seed; counter = (index / 4, step, purpose, 0); lane = index % 4. */
typedef struct szgi_stream {
    uint64_t seed;
    uint32_t step;
    uint32_t purpose; /* what the numbers are for; packed purpose-layer-place in training */
} szgi_stream;

/* Word `index` of the stream, uniform on 0 .. 2^32 - 1; 0 <= index < 2^34. */
uint32_t szgi_random_word(const szgi_stream *stream, uint64_t index);

/* Uniform on [0, 1) with 53 bits, from words 2 index and 2 index + 1. */
double szgi_random_uniform(const szgi_stream *stream, uint64_t index);

/* Standard normal by Box and Muller (1958), two numbers from one counter block. */
double szgi_random_normal(const szgi_stream *stream, uint64_t index);

/* Uniform on 0 .. bound - 1 (bound >= 1), bias below bound * 2^-53. */
int64_t szgi_random_below(const szgi_stream *stream, uint64_t index, int64_t bound);

/* Fills `out` with numbers first .. first + count - 1. */
void szgi_random_fill_uniform(const szgi_stream *stream, uint64_t first, int64_t count,
                              double *out);
void szgi_random_fill_normal(const szgi_stream *stream, uint64_t first, int64_t count, double *out);

/* `count` normals of single precision, below 6.7 in modulus, from the stream's first words: other
 * numbers than those of szgi_random_normal, at a third of their time. */
void szgi_random_fill_normal_single(const szgi_stream *stream, int64_t count, double *out);

SZGI_END_DECLS

#endif

/* Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011; Random123).
 * A number depends on (seed, step, purpose, index) alone, never on threads or on order. */
#ifndef SZEGO_RANDOM_H
#define SZEGO_RANDOM_H

#include <szego/status.h>

SZG_BEGIN_DECLS

/* key = seed; counter = (index / 4, step, purpose, 0); lane = index % 4. */
typedef struct szg_stream {
    uint64_t seed;
    uint32_t step;
    uint32_t purpose; /* what the numbers are for; packed purpose-layer-place in training */
} szg_stream;

/* Word `index` of the stream, uniform on 0 .. 2^32 - 1; 0 <= index < 2^34. */
uint32_t szg_random_word(const szg_stream *stream, uint64_t index);

/* Uniform on [0, 1) with 53 bits, from words 2 index and 2 index + 1. */
double szg_random_uniform(const szg_stream *stream, uint64_t index);

/* Standard normal by Box and Muller (1958), two numbers from one counter block. */
double szg_random_normal(const szg_stream *stream, uint64_t index);

/* Uniform on 0 .. bound - 1 (bound >= 1), bias below bound * 2^-53. */
int64_t szg_random_below(const szg_stream *stream, uint64_t index, int64_t bound);

/* Fills `out` with numbers first .. first + count - 1. */
void szg_random_fill_uniform(const szg_stream *stream, uint64_t first, int64_t count, double *out);
void szg_random_fill_normal(const szg_stream *stream, uint64_t first, int64_t count, double *out);

SZG_END_DECLS

#endif

/* What dropout makes of the words of szgi_random_word, many at a time. */
#ifndef SZG_NETWORK_CPU_RANDOM_H
#define SZG_NETWORK_CPU_RANDOM_H

#include "network/network.h"
#include "base/random.h"

/* out[i] = 0 where szgi_random_word(stream, first + i) is below `threshold`, `scale` elsewhere,
 * i < count. */
void szgi_cpu_random_keep(const szgi_stream *stream, uint64_t first, int64_t count,
                          uint32_t threshold, float scale, float *out);

/* The factors of a dropout with probability > 0 for the elements first ...: 0 or 1 / (1 - p). */
void szgi_cpu_dropout_factors(const szgi_dropout *dropout, uint64_t first, int64_t count,
                              float *out);

typedef struct szgi_random_kernels {
    void (*keep)(const szgi_stream *stream, uint64_t first, int64_t count, uint32_t threshold,
                 float scale, float *out);
} szgi_random_kernels;
extern const szgi_random_kernels szgi_random_kernels_baseline, szgi_random_kernels_avx2,
    szgi_random_kernels_avx512;

#endif

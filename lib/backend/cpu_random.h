/* The words of szg_random_word, many at a time, and what dropout makes of them. */
#ifndef SZG_BACKEND_CPU_RANDOM_H
#define SZG_BACKEND_CPU_RANDOM_H

#include <szego/network.h>
#include <szego/random.h>

/* out[i] = szg_random_word(stream, first + i), i < count. */
void szg_cpu_random_words(const szg_stream *stream, uint64_t first, int64_t count, uint32_t *out);

/* out[i] = 0 where word first + i is below `threshold`, `scale` elsewhere. */
void szg_cpu_random_keep(const szg_stream *stream, uint64_t first, int64_t count,
                         uint32_t threshold, float scale, float *out);

/* The factors of a dropout with probability > 0 for the elements first ...: 0 or 1 / (1 - p). */
void szg_cpu_dropout_factors(const szg_dropout *dropout, uint64_t first, int64_t count, float *out);

typedef struct szg_random_kernels {
    void (*words)(const szg_stream *stream, uint64_t first, int64_t count, uint32_t *out);
    void (*keep)(const szg_stream *stream, uint64_t first, int64_t count, uint32_t threshold,
                 float scale, float *out);
} szg_random_kernels;
extern const szg_random_kernels szg_random_kernels_baseline, szg_random_kernels_avx2,
    szg_random_kernels_avx512;

#endif

#include "cpu_level.h"
#include "cpu_random.h"

static const szg_random_kernels *kernels(void) {
#ifdef __x86_64__
    static const szg_random_kernels *const all[SZG_CPU_LEVELS] = {
        &szg_random_kernels_baseline, &szg_random_kernels_avx2, &szg_random_kernels_avx512};
    return all[szg_cpu_level_best()];
#else
    return &szg_random_kernels_baseline;
#endif
}

void szg_cpu_random_words(const szg_stream *stream, uint64_t first, int64_t count, uint32_t *out) {
    kernels()->words(stream, first, count, out);
}

void szg_cpu_random_keep(const szg_stream *stream, uint64_t first, int64_t count,
                         uint32_t threshold, float scale, float *out) {
    kernels()->keep(stream, first, count, threshold, scale, out);
}

void szg_cpu_dropout_factors(const szg_dropout *dropout, uint64_t first, int64_t count,
                             float *out) {
    szg_stream stream = {dropout->block->seed, dropout->block->step, dropout->purpose};
    szg_cpu_random_keep(&stream, first, count, szg_network_threshold(dropout->probability),
                        (float)(1 / (1 - dropout->probability)), out);
}

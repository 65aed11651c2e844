#include "linalg/cpu_level.h"
#include "cpu_random.h"

static const szgi_random_kernels *kernels(void) {
#ifdef __x86_64__
    static const szgi_random_kernels *const all[SZGI_CPU_LEVELS] = {
        &szgi_random_kernels_baseline, &szgi_random_kernels_avx2, &szgi_random_kernels_avx512};
    return all[szgi_cpu_level_best()];
#else
    return &szgi_random_kernels_baseline;
#endif
}

void szgi_cpu_random_keep(const szgi_stream *stream, uint64_t first, int64_t count,
                          uint32_t threshold, float scale, float *out) {
    kernels()->keep(stream, first, count, threshold, scale, out);
}

void szgi_cpu_dropout_factors(const szgi_dropout *dropout, uint64_t first, int64_t count,
                              float *out) {
    szgi_stream stream = {dropout->block->seed, dropout->block->step, dropout->purpose};
    szgi_cpu_random_keep(&stream, first, count, szgi_network_threshold(dropout->probability),
                         (float)(1 / (1 - dropout->probability)), out);
}

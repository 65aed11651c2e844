#include <math.h>

#include <Random123/philox.h>
#include "base/random.h"

static philox4x32_ctr_t block_at(const szgi_stream *stream, uint64_t block) {
    philox4x32_ctr_t counter = {{(uint32_t)block, stream->step, stream->purpose, 0}};
    philox4x32_key_t key = {{(uint32_t)stream->seed, (uint32_t)(stream->seed >> 32)}};
    return philox4x32(counter, key);
}

static double to_uniform(uint32_t high, uint32_t low) {
    uint64_t bits = ((uint64_t)high << 32 | low) >> 11;
    return (double)bits * 0x1p-53;
}

uint32_t szgi_random_word(const szgi_stream *stream, uint64_t index) {
    return block_at(stream, index / 4).v[index % 4];
}

double szgi_random_uniform(const szgi_stream *stream, uint64_t index) {
    philox4x32_ctr_t block = block_at(stream, index / 2);
    unsigned lane = (unsigned)(index % 2) * 2;
    return to_uniform(block.v[lane], block.v[lane + 1]);
}

/* Both normals of a block. */
static void normal_pair(const szgi_stream *stream, uint64_t block, double out[2]) {
    philox4x32_ctr_t words = block_at(stream, block);
    /* 1 - u is in (0, 1], so that the logarithm is finite. */
    double radius = sqrt(-2 * log(1 - to_uniform(words.v[0], words.v[1])));
    double angle = 2 * 3.14159265358979323846 * to_uniform(words.v[2], words.v[3]);
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

double szgi_random_normal(const szgi_stream *stream, uint64_t index) {
    double pair[2];
    normal_pair(stream, index / 2, pair);
    return pair[index % 2];
}

int64_t szgi_random_below(const szgi_stream *stream, uint64_t index, int64_t bound) {
    int64_t value = (int64_t)(szgi_random_uniform(stream, index) * (double)bound);
    return value < bound ? value : bound - 1;
}

void szgi_random_fill_uniform(const szgi_stream *stream, uint64_t first, int64_t count,
                              double *out) {
    for (int64_t i = 0; i < count; i++)
        out[i] = szgi_random_uniform(stream, first + (uint64_t)i);
}

void szgi_random_fill_normal(const szgi_stream *stream, uint64_t first, int64_t count,
                             double *out) {
    double pair[2];
    for (int64_t i = 0; i < count; i++) {
        uint64_t index = first + (uint64_t)i;
        if (i == 0 || index % 2 == 0)
            normal_pair(stream, index / 2, pair);
        out[i] = pair[index % 2];
    }
}

void szgi_random_fill_normal_single(const szgi_stream *stream, int64_t count, double *out) {
    for (int64_t i = 0; i < count; i += 4) {
        philox4x32_ctr_t words = block_at(stream, (uint64_t)i / 4);
        float four[4];
        for (int pair = 0; pair < 4; pair += 2) {
            /* In (0, 1], so that the logarithm is finite. */
            float uniform = ((float)words.v[pair] + 1) * 0x1p-32f;
            float radius = sqrtf(-2 * logf(uniform));
            float angle = 6.28318530717958647692f * 0x1p-32f * (float)words.v[pair + 1];
            four[pair] = radius * cosf(angle);
            four[pair + 1] = radius * sinf(angle);
        }
        for (int64_t k = 0; k < 4 && i + k < count; k++)
            out[i + k] = (double)four[k];
    }
}

#include <string.h>

#include "linalg/cpu_level.h"
#include "cpu_philox.h"
#include "cpu_random.h"

/* What of the vectors at `position` lies inside out[0 .. count). */
static void store_part(const vword words[2], int64_t position, int64_t count, uint32_t *out) {
    int64_t from = position < 0 ? -position : 0;
    int64_t to = position + PHILOX_WORDS > count ? count - position : PHILOX_WORDS;
    memcpy(out + position + from, (const uint32_t *)words + from,
           (size_t)(to - from) * sizeof *out);
}

static inline void store(const vword words[2], int64_t position, int64_t count, uint32_t *out) {
    if (position >= 0 && position + PHILOX_WORDS <= count) {
        vector_store_words(out + position, words[0]);
        vector_store_words(out + position + LANES, words[1]);
    } else {
        store_part(words, position, count, out);
    }
}

static void fill_keep(const szgi_stream *stream, uint64_t first, int64_t count, uint32_t threshold,
                      float scale, float *out) {
    philox p = philox_of(stream);
    uint64_t block = first / 4;
    vfloat kept = vector_splat(scale);
    for (int64_t i = -(int64_t)(first % 4); i < count; i += PHILOX_WORDS) {
        vword words[2];
        philox_words(&p, block, words);
        for (int half = 0; half < 2; half++)
            words[half] = (vword)vector_where(words[half] >= threshold, kept);
        store(words, i, count, (uint32_t *)out);
        block += PHILOX_BLOCKS;
    }
}

const szgi_random_kernels SZG_KERNELS(szgi_random_kernels) = {.keep = fill_keep};

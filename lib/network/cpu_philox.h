/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011) on vectors: the words of szgi_random_word.
 *
 * A counter word sits in the low half of a 64-bit lane, where one multiplication yields both halves
 * of its product; what a lane's high half holds is never read. So a round costs two
 * multiplications, two shifts and two exclusive ors of three for LANES / 2 counters, and no
 * shuffle. Counters of a stream differ in their first word only: the second multiplication of round
 * 1 and the first of round 2 are the same for all, and done once. */
#ifndef SZG_NETWORK_CPU_PHILOX_H
#define SZG_NETWORK_CPU_PHILOX_H

#include "base/random.h"
#include "linalg/cpu_vector.h"

enum { PHILOX_ROUNDS = 10, PHILOX_BLOCKS = LANES / 2, PHILOX_WORDS = 2 * LANES };

#define PHILOX_M0 UINT64_C(0xD2511F53)
#define PHILOX_M1 UINT64_C(0xCD9E8D57)

typedef struct philox {
    uint64_t key0[PHILOX_ROUNDS], key1[PHILOX_ROUNDS];
    uint64_t word1;        /* of every counter after round 1 */
    uint64_t word2, word3; /* after round 2; word 2 lacks the exclusive or with the index's part */
} philox;

static inline philox philox_of(const szgi_stream *stream) {
    philox p;
    uint32_t key0 = (uint32_t)stream->seed, key1 = (uint32_t)(stream->seed >> 32);
    for (int i = 0; i < PHILOX_ROUNDS; i++) {
        p.key0[i] = key0, p.key1[i] = key1;
        key0 += 0x9E3779B9U, key1 += 0xBB67AE85U;
    }
    uint64_t product = PHILOX_M1 * stream->purpose;
    uint64_t word0 = (product >> 32) ^ stream->step ^ p.key0[0];
    p.word1 = (uint32_t)product;
    product = PHILOX_M0 * word0;
    p.word2 = (product >> 32) ^ p.key1[1];
    p.word3 = (uint32_t)product;
    return p;
}

/* Even lanes count 0, 1, ... and odd lanes go on where they end: interleaving pairs of lanes then
 * leaves the words in order. */
static inline vwide philox_order(void) {
    vwide order;
    for (int i = 0; i < PHILOX_BLOCKS; i++)
        order[i] = (uint64_t)(i % 2 ? PHILOX_BLOCKS / 2 + i / 2 : i / 2);
    return order;
}

/* High halves to low ones; a high half of the result is anything. The shift and the shuffle run in
 * different places of a processor: a round has one of each. */
static inline vwide philox_high(vwide product) {
#if defined(__AVX512F__)
    return (vwide)_mm512_shuffle_epi32((__m512i)product, 0xF5);
#else
    return product >> 32;
#endif
}

/* Low halves of `low` and of `high` side by side. */
static inline vwide philox_pair(vwide low, vwide high) {
#if defined(__AVX512F__)
    return (vwide)_mm512_mask_shuffle_epi32((__m512i)low, 0xAAAA, (__m512i)high, 0xA0);
#else
    return (low & UINT32_MAX) | high << 32;
#endif
}

/* The four words of every lane's counter, in the low halves of out[0 .. 3]. */
static inline void philox_lanes(const philox *p, vwide blocks, vwide out[4]) {
    const vwide m0 = PHILOX_M0 - (vwide){0}, m1 = PHILOX_M1 - (vwide){0};
    vwide product = vector_multiply_words(blocks, m0);
    vwide c2 = (product >> 32) ^ p->key1[0], c3 = product; /* round 1 */
    product = vector_multiply_words(c2, m1);
    vwide c0 = (product >> 32) ^ (p->word1 ^ p->key0[1]), c1 = product; /* round 2 */
    c2 = c3 ^ p->word2;
    c3 = p->word3 - (vwide){0};
    for (int i = 2; i < PHILOX_ROUNDS; i++) {
        vwide a = vector_multiply_words(c0, m0), b = vector_multiply_words(c2, m1);
        c0 = (b >> 32) ^ c1 ^ p->key0[i];
        c2 = philox_high(a) ^ c3 ^ p->key1[i];
        c1 = b, c3 = a;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

/* The PHILOX_WORDS words of the counters first_block ...: words[0] those before words[1]. */
static inline void philox_words(const philox *p, uint64_t first_block, vword words[2]) {
    vwide c[4];
    philox_lanes(p, philox_order() + first_block, c);
    vwide low = philox_pair(c[0], c[1]), high = philox_pair(c[2], c[3]);
#if defined(__AVX512F__)
    words[0] = (vword)_mm512_unpacklo_epi64((__m512i)low, (__m512i)high);
    words[1] = (vword)_mm512_unpackhi_epi64((__m512i)low, (__m512i)high);
#elif defined(__AVX2__)
    words[0] = (vword)_mm256_unpacklo_epi64((__m256i)low, (__m256i)high);
    words[1] = (vword)_mm256_unpackhi_epi64((__m256i)low, (__m256i)high);
#else
    words[0] = (vword)(vwide){low[0], high[0]};
    words[1] = (vword)(vwide){low[1], high[1]};
#endif
}

#endif

/* What the kernels of attention share: a head's arrays, packed and rotated. */
#ifndef SZG_BACKEND_CPU_ATTENTION_HEAD_H
#define SZG_BACKEND_CPU_ATTENTION_HEAD_H

#include <string.h>

#include "cpu_attention.h"
#include "cpu_philox.h"
#include "cpu_vector.h"

/* Row `row` of the head in an array like q, whose head has d numbers. */
static inline const float *head_row(const szg_attention_head *h, const void *array, int64_t ld,
                                    int64_t d, int64_t row) {
    return (const float *)array + (h->sequence * h->attention->length + row) * ld + h->head * d;
}

static inline float *head_row_out(const szg_attention_head *h, void *array, int64_t ld, int64_t d,
                                  int64_t row) {
    return (float *)array + (h->sequence * h->attention->length + row) * ld + h->head * d;
}

/* How many keys row i sees. */
static inline int64_t keys_of_row(const szg_attention *a, int64_t keys, int64_t i) {
    return a->causal && i + 1 < keys ? i + 1 : keys;
}

static inline int64_t keys_of_head(const szg_attention_head *h) {
    const szg_attention *a = h->attention;
    if (!a->lengths)
        return a->length;
    int64_t keys = a->lengths[h->sequence];
    return keys < 0 ? 0 : keys < a->length ? keys : a->length;
}

/* A row of one head lies far from the next, where no hardware fetches ahead: asks for rows first ..
 * first + rows - 1 of a head's array to be brought near. */
static inline void fetch_rows(const szg_attention_head *h, const void *array, int64_t ld, int64_t d,
                              int64_t first, int64_t rows) {
    enum { LINE = 16 };
    for (int64_t i = first; i < first + rows; i++) {
        const float *row = head_row(h, array, ld, d, i);
        for (int64_t c = 0; c < d; c += LINE)
            __builtin_prefetch(row + c, 0, 2);
        __builtin_prefetch(row + d - 1, 0, 2);
    }
}

static inline int64_t rows_of_tile(const szg_attention *a, int64_t first) {
    int64_t left = a->length - first;
    return left < SZG_ATTENTION_TILE ? left : SZG_ATTENTION_TILE;
}

static inline int64_t whole_vectors(int64_t n) {
    return (n + LANES - 1) / LANES * LANES;
}

/* to[r][0 .. d) = scale from[r][..], zeros up to `wide` (>= d). */
static inline void copy_rows(int64_t rows, int64_t d, int64_t wide, float scale, const float *from,
                             int64_t ldfrom, float *to, int64_t ldto) {
    for (int64_t r = 0; r < rows; r++, from += ldfrom, to += ldto) {
        int64_t c = 0;
        for (; c + LANES <= d; c += LANES)
            vector_store(to + c, vector_load(from + c) * scale);
        for (; c < d; c++)
            to[c] = from[c] * scale;
        for (; c < wide; c++)
            to[c] = 0;
    }
}

/* The row's factors among `factors`, or NULL. */
static inline const float *factors_of(const szg_attention_head *h, const void *factors,
                                      int64_t row) {
    const szg_attention *a = h->attention;
    return (const float *)factors + h->head * a->factor_stride + 2 * row * a->pairs;
}

/* Lane i of the result is lane (i & keep | set) of the argument: pairs swapped, or doubled. */
static inline vfloat swap_pairs(vfloat x) {
    vint order;
    for (int i = 0; i < LANES; i++)
        order[i] = i ^ 1;
    return vector_shuffle(x, x, order);
}

static inline vfloat double_pairs(vfloat x, int which) {
    vint order;
    for (int i = 0; i < LANES; i++)
        order[i] = (i & ~1) | which;
    return vector_shuffle(x, x, order);
}

static inline void rotate_pair(float *re, float *im, float factor_re, float factor_im) {
    float x = *re, y = *im;
    *re = x * factor_re - y * factor_im;
    *im = x * factor_im + y * factor_re;
}

/* Multiplies the pairs x[2t], x[2t + 1] by the factors, or by their conjugates (sign -1). */
static inline void rotate_adjacent(int64_t pairs, const float *factors, float sign, float *x) {
    vfloat signs;
    for (int i = 0; i < LANES; i++)
        signs[i] = i % 2 ? sign : -sign;
    int64_t t = 0;
    for (; t + LANES / 2 <= pairs; t += LANES / 2) {
        vfloat f = vector_load(factors + 2 * t), y = vector_load(x + 2 * t);
        vfloat turned = swap_pairs(y) * (double_pairs(f, 1) * signs);
        vector_store(x + 2 * t, y * double_pairs(f, 0) + turned);
    }
    for (; t < pairs; t++)
        rotate_pair(x + 2 * t, x + 2 * t + 1, factors[2 * t], sign * factors[2 * t + 1]);
}

/* The same for the pairs x[t], x[pairs + t]. */
static inline void rotate_halves(int64_t pairs, const float *factors, float sign, float *x) {
    for (int64_t t = 0; t < pairs; t++)
        rotate_pair(x + t, x + pairs + t, factors[2 * t], sign * factors[2 * t + 1]);
}

/* Rows of x with the factors of consecutive positions. */
static inline void rotate_rows(const szg_attention *a, int64_t rows, const float *factors,
                               float sign, float *x, int64_t ld) {
    int64_t pairs = a->pairs;
    x += a->rotary_offset;
    for (int64_t r = 0; r < rows; r++, factors += 2 * pairs, x += ld) {
        if (a->half)
            rotate_halves(pairs, factors, sign, x);
        else
            rotate_adjacent(pairs, factors, sign, x);
    }
}

/* Rows first .. first + rows - 1 of q, scaled and (coupled) rotated; zeros up to the whole tile. */
static inline void pack_queries(const szg_attention_head *h, bool coupled, int64_t first,
                                int64_t rows) {
    const szg_attention *a = h->attention;
    int64_t wide = h->scratch->wide_qk;
    float *q = h->scratch->q;
    copy_rows(rows, a->d_qk, wide, (float)a->scale, head_row(h, a->q, a->ldq, a->d_qk, first),
              a->ldq, q, wide);
    if (coupled && a->pairs > 0)
        rotate_rows(a, rows, factors_of(h, a->q_factors, first), 1, q, wide);
    memset(q + rows * wide, 0, (size_t)((SZG_ATTENTION_TILE - rows) * wide) * sizeof *q);
}

/* Lane l of the result: of a where l lacks the bit `bit`, else of b one bit lower; `high`: of a one
 * bit higher, else of b. */
static inline __attribute__((always_inline)) vfloat exchange(vfloat a, vfloat b, int bit,
                                                             bool high) {
    vint order;
    for (int l = 0; l < LANES; l++)
        order[l] = (l & bit) ? LANES + l - (high ? 0 : bit) : l + (high ? bit : 0);
    return vector_shuffle(a, b, order);
}

/* Transposes LANES x LANES numbers in registers, bit by bit of the index (Eklundh 1972). */
static inline void transpose_square(const float *from, int64_t ld, float *to, int64_t ldto) {
    vfloat x[LANES];
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        x[i] = vector_load(from + i * ld);
#pragma GCC unroll 4
    for (int bit = 1; bit < LANES; bit *= 2)
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            if (!(i & bit)) {
                vfloat low = exchange(x[i], x[i + bit], bit, false);
                x[i + bit] = exchange(x[i], x[i + bit], bit, true);
                x[i] = low;
            }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++)
        vector_store(to + i * ldto, x[i]);
}

/* to[c][j] = from[j][c] for j < rows, c < d, both rounded up to whole vectors. */
static inline void transpose(int64_t rows, int64_t d, const float *from, int64_t ld, float *to,
                             int64_t ldto) {
    for (int64_t j = 0; j < rows; j += LANES)
        for (int64_t c = 0; c < d; c += LANES)
            transpose_square(from + j * ld + c, ld, to + c * ldto + j, ldto);
}

static inline void pack_keys(const szg_attention_head *h, bool coupled, int64_t keys) {
    const szg_attention *a = h->attention;
    const szg_attention_scratch *s = h->scratch;
    copy_rows(keys, a->d_qk, s->wide_qk, 1, head_row(h, a->k, a->ldk, a->d_qk, 0), a->ldk,
              s->k_rows, s->wide_qk);
    if (coupled && a->pairs > 0)
        rotate_rows(a, keys, factors_of(h, a->k_factors, 0), 1, s->k_rows, s->wide_qk);
    transpose(keys, a->d_qk, s->k_rows, s->wide_qk, s->k_lanes, s->wide_length);
}

static inline void pack_values(const szg_attention_head *h, int64_t keys) {
    const szg_attention *a = h->attention;
    const szg_attention_scratch *s = h->scratch;
    copy_rows(keys, a->d_v, s->wide_v, 1, head_row(h, a->v, a->ldv, a->d_v, 0), a->ldv, s->v_rows,
              s->wide_v);
}

/* Lags in the order of keys: entry j - i + length - 1, so that a row of logits reads forwards. */
static inline void pack_bias(const szg_attention_head *h) {
    const szg_attention *a = h->attention;
    int64_t lags = 2 * a->length - 1;
    const float *bias = (const float *)a->bias + h->head * lags;
    for (int64_t lag = 0; lag < lags; lag++)
        h->scratch->bias[lags - 1 - lag] = bias[lag];
}

/* The bias of row i against keys 0, 1, ...; NULL without one. */
static inline const float *bias_of_row(const szg_attention_head *h, int64_t i) {
    const szg_attention *a = h->attention;
    return a->bias ? h->scratch->bias + a->length - 1 - i : NULL;
}

/* Dropout of a head's weights. */
typedef struct head_dropout {
    bool on;
    philox philox;
    uint32_t threshold;
    float factor; /* of what is kept */
} head_dropout;

static inline head_dropout head_dropout_of(const szg_attention *a) {
    head_dropout dropout = {.on = a->dropout.probability > 0, .factor = 1};
    if (!dropout.on)
        return dropout;
    const szg_step_block *block = a->dropout.block;
    szg_stream stream = {block->seed, block->step, a->dropout.purpose};
    dropout.philox = philox_of(&stream);
    dropout.threshold = szg_network_threshold(a->dropout.probability);
    dropout.factor = (float)(1 / (1 - a->dropout.probability));
    return dropout;
}

/* The words of row i for `count` keys. */
static inline const uint32_t *row_words(const szg_attention_head *h, const head_dropout *dropout,
                                        int64_t i, int64_t count) {
    const szg_attention *a = h->attention;
    uint64_t first =
        ((uint64_t)(h->sequence * a->heads + h->head) * (uint64_t)a->length + (uint64_t)i) *
        (uint64_t)a->length;
    int64_t before = (int64_t)(first % 4);
    uint64_t block = first / 4;
    uint32_t *to = h->scratch->words;
    for (int64_t j = 0; j < before + count; j += PHILOX_WORDS, block += PHILOX_BLOCKS) {
        vword words[2];
        philox_words(&dropout->philox, block, words);
        vector_store_words(to + j, words[0]);
        vector_store_words(to + j + LANES, words[1]);
    }
    return to + before;
}

#endif

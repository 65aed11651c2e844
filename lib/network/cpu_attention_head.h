/* What the kernels of attention share: a head's arrays, packed and rotated. */
#ifndef SZG_NETWORK_CPU_ATTENTION_HEAD_H
#define SZG_NETWORK_CPU_ATTENTION_HEAD_H

#include <string.h>

#include "cpu_attention.h"
#include "cpu_philox.h"
#include "cpu_product.h"
#include "linalg/cpu_vector.h"

/* Row `row` of the head in an array like q, whose head has d numbers. */
static inline const float *head_row(const szgi_attention_head *h, const void *array, int64_t ld,
                                    int64_t d, int64_t row) {
    return (const float *)array + (h->sequence * h->attention->length + row) * ld + h->head * d;
}

static inline float *head_row_out(const szgi_attention_head *h, void *array, int64_t ld, int64_t d,
                                  int64_t row) {
    return (float *)array + (h->sequence * h->attention->length + row) * ld + h->head * d;
}

/* How many keys row i sees. */
static inline int64_t keys_of_row(const szgi_attention *a, int64_t keys, int64_t i) {
    return a->causal && i + 1 < keys ? i + 1 : keys;
}

static inline int64_t keys_of_head(const szgi_attention_head *h) {
    const szgi_attention *a = h->attention;
    if (!a->lengths)
        return a->length;
    int64_t keys = a->lengths[h->sequence];
    return keys < 0 ? 0 : keys < a->length ? keys : a->length;
}

static inline int64_t rows_of_tile(const szgi_attention *a, int64_t first) {
    int64_t left = a->length - first;
    return left < SZGI_ATTENTION_TILE ? left : SZGI_ATTENTION_TILE;
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
static inline const float *factors_of(const szgi_attention_head *h, const void *factors,
                                      int64_t row) {
    const szgi_attention *a = h->attention;
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
static inline void rotate_rows(const szgi_attention *a, int64_t rows, const float *factors,
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
static inline void pack_queries(const szgi_attention_head *h, bool coupled, int64_t first,
                                int64_t rows) {
    const szgi_attention *a = h->attention;
    int64_t wide = h->scratch->wide_qk;
    float *q = h->scratch->q;
    copy_rows(rows, a->d_qk, wide, (float)a->scale, head_row(h, a->q, a->ldq, a->d_qk, first),
              a->ldq, q, wide);
    if (coupled && a->pairs > 0)
        rotate_rows(a, rows, factors_of(h, a->q_factors, first), 1, q, wide);
    memset(q + rows * wide, 0, (size_t)((SZGI_ATTENTION_TILE - rows) * wide) * sizeof *q);
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

/* Zeros in rows from .. to - 1. */
static inline void clear_rows(int64_t from, int64_t to, int64_t ld, float *x) {
    memset(x + from * ld, 0, (size_t)((to - from) * ld) * sizeof *x);
}

static inline void pack_keys(const szgi_attention_head *h, bool coupled, int64_t keys) {
    const szgi_attention *a = h->attention;
    const szgi_attention_scratch *s = h->scratch;
    copy_rows(keys, a->d_qk, s->wide_qk, 1, head_row(h, a->k, a->ldk, a->d_qk, 0), a->ldk,
              s->k_rows, s->wide_qk);
    if (coupled && a->pairs > 0)
        rotate_rows(a, keys, factors_of(h, a->k_factors, 0), 1, s->k_rows, s->wide_qk);
    clear_rows(keys, s->wide_length, s->wide_qk, s->k_rows);
}

static inline void pack_values(const szgi_attention_head *h, int64_t keys) {
    const szgi_attention *a = h->attention;
    const szgi_attention_scratch *s = h->scratch;
    copy_rows(keys, a->d_v, s->wide_v, 1, head_row(h, a->v, a->ldv, a->d_v, 0), a->ldv, s->v_rows,
              s->wide_v);
    clear_rows(keys, s->wide_length, s->wide_v, s->v_rows);
}

static inline void pack_bias(const szgi_attention_head *h) {
    const szgi_attention *a = h->attention;
    int64_t lags = 2 * a->length - 1;
    memcpy(h->scratch->bias, (const float *)a->bias + h->head * lags, (size_t)lags * sizeof(float));
    memset(h->scratch->bias + lags, 0, SZGI_ATTENTION_PAD * sizeof(float));
}

/* Where the lags of row i with key 0 are in an array of lags; key j is j before it. */
static inline int64_t lag_of_row(const szgi_attention *a, int64_t i) {
    return i + a->length - 1;
}

/* Dropout of a head's weights. */
typedef struct head_dropout {
    bool on;
    philox philox;
    uint32_t threshold;
    float factor; /* of what is kept */
} head_dropout;

static inline head_dropout head_dropout_of(const szgi_attention *a) {
    head_dropout dropout = {.on = a->dropout.probability > 0, .factor = 1};
    if (!dropout.on)
        return dropout;
    const szgi_step_block *block = a->dropout.block;
    szgi_stream stream = {block->seed, block->step, a->dropout.purpose};
    dropout.philox = philox_of(&stream);
    dropout.threshold = szgi_network_threshold(a->dropout.probability);
    dropout.factor = (float)(1 / (1 - a->dropout.probability));
    return dropout;
}

/* Row j of `words` from rows j .. j + 3: lane l is of row j + l's own of the four. */
static inline void align_words(int64_t keys, vword offsets, uint32_t *words) {
    for (int64_t j = 0; j < keys; j++, words += SZGI_ATTENTION_TILE) {
        vword all = {0};
        for (uint32_t row = 0; row < 4; row++)
            all |= (vword)(offsets == row) & vector_load_words(words + row * SZGI_ATTENTION_TILE);
        vector_store_words(words, all);
    }
}

/* The words of rows i .. i + LANES - 1 for keys 0 .. keys - 1, key by key. Lane l counts the blocks
 * of its own row; a row that begins inside a block is moved into place afterwards. */
static inline void lane_words(const szgi_attention_head *h, const head_dropout *dropout, int64_t i,
                              int64_t keys, uint32_t *words) {
    const szgi_attention *a = h->attention;
    uint64_t length = (uint64_t)a->length, row = (uint64_t)(h->sequence * a->heads + h->head);
    uint64_t first = (row * length + (uint64_t)i) * length;
    vwide even, odd;
    vword offsets;
    for (int l = 0; l < LANES; l++, first += length) {
        (l % 2 ? &odd : &even)[0][l / 2] = first / 4;
        offsets[l] = (uint32_t)(first % 4);
    }
    int64_t count = length % 4 ? keys + 3 : keys;
    for (int64_t j = 0; j < count; j += 4, even += 1, odd += 1) {
        vwide low[4], high[4];
        philox_lanes(&dropout->philox, even, low);
        philox_lanes(&dropout->philox, odd, high);
        for (int k = 0; k < 4; k++)
            vector_store_words(words + (j + k) * SZGI_ATTENTION_TILE,
                               (vword)philox_pair(low[k], high[k]));
    }
    if (length % 4)
        align_words(keys, offsets, words);
}

/* ---- Tiles ---- */

/* Queries first .. first + rows - 1 against the first `keys` keys at most. Products work on groups
 * of SZGI_ATTENTION_PAD queries, for a causal mask leaves later groups more keys. */
typedef struct attention_tile {
    const szgi_attention_head *head;
    int64_t first, rows, keys;
} attention_tile;

static inline int64_t whole_groups(int64_t n) {
    return (n + SZGI_ATTENTION_PAD - 1) / SZGI_ATTENTION_PAD * SZGI_ATTENTION_PAD;
}

/* Keys that the group of the tile's query c sees. */
static inline int64_t keys_of_group(const attention_tile *t, int64_t c) {
    int64_t last = c / SZGI_ATTENTION_PAD * SZGI_ATTENTION_PAD + SZGI_ATTENTION_PAD - 1;
    return keys_of_row(t->head->attention, t->keys, t->first + last);
}

static inline int64_t whole_rows(int64_t n) {
    return (n + ROWS - 1) / ROWS * ROWS;
}

/* to[j][i] = sum over c < d of from[j][c] lanes[c][i]. */
static inline void keys_by_queries(const attention_tile *t, int64_t d, const float *from,
                                   int64_t ld, const float *lanes, float *to) {
    enum { TILE = SZGI_ATTENTION_TILE };
    int64_t done = 0;
    for (int64_t c = 0; c < t->rows; c += SZGI_ATTENTION_PAD) {
        int64_t end = keys_of_group(t, c);
        if (end == done)
            break;
        product(whole_rows(end - done), whole_groups(t->rows - c), d, from + done * ld, ld,
                lanes + c, TILE, to + done * TILE + c, TILE);
        done = end;
    }
}

/* to[c][i] = sum over keys of from[j][c] x[j][i], c < d. */
static inline void over_keys(const attention_tile *t, int64_t d, const float *from, int64_t ld,
                             const float *x, float *to) {
    enum { TILE = SZGI_ATTENTION_TILE };
    int64_t done = 0;
    for (int64_t c = 0; c < t->rows; c += SZGI_ATTENTION_PAD) {
        int64_t end = keys_of_group(t, c);
        product_blocks(c > 0, whole_vectors(d), whole_groups(t->rows - c), end - done,
                       (product_factor){from + done * ld, 1, ld}, x + done * TILE + c, TILE, to + c,
                       TILE);
        done = end;
    }
}

#endif

/* Attention of one head, forward: tiles of queries against all keys they see. */
#include <math.h>

#include "cpu_attention_head.h"
#include "cpu_attention_kernel.h"
#include "cpu_level.h"
#include "cpu_product.h"

/* Adds the bias to the first `keys` logits, makes those up to the next whole vector -infinity, and
 * returns the largest. */
static inline float bias_and_mask(float *logits, int64_t keys, const float *bias) {
    vfloat largest = vector_splat(-INFINITY);
    for (int64_t j = 0; j < keys; j += LANES) {
        vfloat x = vector_load(logits + j);
        if (bias)
            x += vector_load(bias + j);
        if (j + LANES > keys)
            x = vector_select(vector_first(keys - j), x, vector_splat(-INFINITY));
        vector_store(logits + j, x);
        largest = vector_max(largest, x);
    }
    return vector_largest(largest);
}

/* Logits to exp(logit - largest); returns their sum, and zeros what dropout drops after it. */
static inline float exponentials(float *x, int64_t keys, float largest, const uint32_t *words,
                                 uint32_t threshold) {
    vfloat sum = {0};
    for (int64_t j = 0; j < keys; j += LANES) {
        vfloat p = vector_exp(vector_load(x + j) - largest);
        sum += p;
        if (words)
            p = vector_where(vector_load_words(words + j) >= threshold, p);
        vector_store(x + j, p);
    }
    return vector_sum(sum);
}

/* Of the rows of a tile: largest logit and sum of exponentials. */
typedef struct tile_sums {
    float largest[SZG_ATTENTION_TILE], sum[SZG_ATTENTION_TILE];
} tile_sums;

/* Row first + r: logits to weights times the row's sum; zeros from its keys to `columns`. */
static inline void softmax_row(const szg_attention_head *h, const head_dropout *dropout,
                               int64_t first, int64_t r, int64_t keys, int64_t columns,
                               tile_sums *sums) {
    float *x = h->scratch->weights + r * h->scratch->wide_length;
    for (int64_t j = whole_vectors(keys); j < columns; j += LANES)
        vector_store(x + j, (vfloat){0});
    sums->largest[r] = -INFINITY, sums->sum[r] = 1; /* without keys */
    if (keys == 0)
        return;
    float largest = bias_and_mask(x, keys, bias_of_row(h, first + r));
    const uint32_t *words =
        dropout->on ? row_words(h, dropout, first + r, whole_vectors(keys)) : NULL;
    sums->largest[r] = largest;
    sums->sum[r] = exponentials(x, keys, largest, words, dropout->threshold);
}

static void write_log_sums(const szg_attention_head *h, int64_t first, int64_t rows,
                           const tile_sums *sums) {
    const szg_attention *a = h->attention;
    float log_sum[SZG_ATTENTION_TILE];
    for (int64_t r = 0; r < rows; r += LANES)
        vector_store(log_sum + r,
                     vector_load(sums->largest + r) + vector_log(vector_load(sums->sum + r)));
    memcpy((float *)a->log_sum + (h->sequence * a->heads + h->head) * a->length + first, log_sum,
           (size_t)rows * sizeof *log_sum);
}

static inline void write_out(const szg_attention_head *h, int64_t row, float factor,
                             const float *from) {
    const szg_attention *a = h->attention;
    copy_rows(1, a->d_v, a->d_v, factor, from, 0, head_row_out(h, a->out, a->ldout, a->d_v, row),
              0);
}

/* Rows first .. first + rows - 1, which see no more than `keys` keys. */
static void forward_tile(const szg_attention_head *h, const head_dropout *dropout, int64_t first,
                         int64_t rows, int64_t keys) {
    const szg_attention *a = h->attention;
    const szg_attention_scratch *s = h->scratch;
    int64_t seen = keys_of_row(a, keys, first + rows - 1), columns = whole_vectors(seen);
    tile_sums sums = {{0}, {0}};
    pack_queries(h, true, first, rows);
    product(SZG_ATTENTION_TILE, columns, a->d_qk, s->q, s->wide_qk, s->k_lanes, s->wide_length,
            s->weights, s->wide_length);
    for (int64_t r = 0; r < rows; r++)
        softmax_row(h, dropout, first, r, keys_of_row(a, keys, first + r), columns, &sums);
    product(SZG_ATTENTION_TILE, whole_vectors(a->d_v), seen, s->weights, s->wide_length, s->v_rows,
            s->wide_v, s->out, s->wide_v);
    for (int64_t r = 0; r < rows; r++)
        write_out(h, first + r, dropout->factor / sums.sum[r], s->out + r * s->wide_v);
    if (a->log_sum)
        write_log_sums(h, first, rows, &sums);
}

static void fetch_tile(const szg_attention_head *h, int64_t first) {
    const szg_attention *a = h->attention;
    int64_t rows = rows_of_tile(a, first);
    fetch_rows(h, a->q, a->ldq, a->d_qk, first, rows);
    fetch_rows(h, a->k, a->ldk, a->d_qk, first, rows);
    fetch_rows(h, a->v, a->ldv, a->d_v, first, rows);
    fetch_rows(h, a->out, a->ldout, a->d_v, first, rows);
}

static void forward(const szg_attention_head *h, const szg_attention_head *next) {
    const szg_attention *a = h->attention;
    int64_t keys = keys_of_head(h);
    head_dropout dropout = head_dropout_of(a);
    pack_keys(h, true, keys);
    pack_values(h, keys);
    if (a->bias)
        pack_bias(h);
    for (int64_t first = 0; first < a->length; first += SZG_ATTENTION_TILE) {
        if (next)
            fetch_tile(next, first);
        forward_tile(h, &dropout, first, rows_of_tile(a, first), keys);
    }
}

static void logits(const szg_attention_head *h, bool coupled, float *out) {
    const szg_attention *a = h->attention;
    const szg_attention_scratch *s = h->scratch;
    int64_t n = a->length;
    bool biased = coupled && a->bias;
    pack_keys(h, coupled, n);
    if (biased)
        pack_bias(h);
    for (int64_t first = 0; first < n; first += SZG_ATTENTION_TILE) {
        int64_t rows = rows_of_tile(a, first);
        pack_queries(h, coupled, first, rows);
        product(SZG_ATTENTION_TILE, whole_vectors(n), a->d_qk, s->q, s->wide_qk, s->k_lanes,
                s->wide_length, s->weights, s->wide_length);
        for (int64_t i = first; i < first + rows; i++)
            for (int64_t j = 0; j < n; j++)
                out[i * n + j] = s->weights[(i - first) * s->wide_length + j] +
                                 (biased ? bias_of_row(h, i)[j] : 0);
    }
}

static void exponential(int64_t count, const float *x, float *y) {
    for (int64_t i = 0; i < count; i += LANES)
        vector_store(y + i, vector_exp(vector_load(x + i)));
}

static void logarithm(int64_t count, const float *x, float *y) {
    for (int64_t i = 0; i < count; i += LANES)
        vector_store(y + i, vector_log(vector_load(x + i)));
}

const szg_attention_kernels SZG_KERNELS(szg_attention_kernels) = {
    .forward = forward,
    .backward = SZG_KERNELS(szg_attention_backward),
    .logits = logits,
    .exponential = exponential,
    .logarithm = logarithm};

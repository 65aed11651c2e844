/* Attention of one head, forward: tiles of queries against all keys they see. */
#include <math.h>

#include "cpu_attention_head.h"
#include "cpu_attention_kernel.h"
#include "linalg/cpu_level.h"
#include "cpu_product.h"

/* Adds the bias to the logit of key j and rows i + lane, and makes it -infinity where they do not
 * see the key. */
static inline vfloat bias_and_mask(float *x, int64_t j, const float *bias, bool masked, int64_t i) {
    float *at = x + j * SZGI_ATTENTION_TILE;
    vfloat logit = vector_load(at);
    if (bias)
        logit += vector_load(bias - j);
    if (masked)
        logit = vector_select(vector_first(j - i), vector_splat(-INFINITY), logit);
    if (bias || masked)
        vector_store(at, logit);
    return logit;
}

/* The largest logits over `keys` keys, of which all rows see the first `all_see`. Four at a time,
 * for a maximum has to wait for the one before it. */
static inline vfloat largest_logits(int64_t keys, int64_t all_see, float *x, const float *bias,
                                    int64_t i) {
    enum { CHAINS = 4 };
    vfloat largest[CHAINS];
    for (int n = 0; n < CHAINS; n++)
        largest[n] = vector_splat(-INFINITY);
    int64_t j = 0;
    for (; j + CHAINS <= all_see; j += CHAINS)
#pragma GCC unroll 4
        for (int n = 0; n < CHAINS; n++)
            largest[n] = vector_max(largest[n], bias_and_mask(x, j + n, bias, false, i));
    for (; j < keys; j++)
        largest[0] = vector_max(largest[0], bias_and_mask(x, j, bias, j >= all_see, i));
    return vector_max(vector_max(largest[0], largest[1]), vector_max(largest[2], largest[3]));
}

/* Logits to exp(logit - largest); returns their sum, and zeros what dropout drops after it. */
static inline vfloat exponentials(int64_t keys, float *x, vfloat largest, const uint32_t *words,
                                  uint32_t threshold) {
    vfloat sum = {0};
    for (int64_t j = 0; j < keys; j++, x += SZGI_ATTENTION_TILE) {
        vfloat p = vector_exp(vector_load(x) - largest);
        sum += p;
        if (words)
            p = vector_where(vector_load_words(words + j * SZGI_ATTENTION_TILE) >= threshold, p);
        vector_store(x, p);
    }
    return sum;
}

/* Of the rows of a tile: largest logit and sum of exponentials. */
typedef struct tile_sums {
    float largest[SZGI_ATTENTION_TILE], sum[SZGI_ATTENTION_TILE];
} tile_sums;

/* Queries c .. c + LANES - 1 of the tile: logits to weights times the row's sum; zeros from their
 * keys to their group's. */
static inline void softmax_lanes(const attention_tile *t, const head_dropout *dropout, int64_t c,
                                 tile_sums *sums) {
    const szgi_attention *a = t->head->attention;
    const szgi_attention_scratch *s = t->head->scratch;
    int64_t i = t->first + c, keys = keys_of_row(a, t->keys, i + LANES - 1);
    int64_t all_see = keys_of_row(a, t->keys, i), group = keys_of_group(t, c);
    float *x = s->weights + c;
    const float *bias = a->bias ? s->bias + lag_of_row(a, i) : NULL;
    const uint32_t *words = NULL;
    if (dropout->on) {
        lane_words(t->head, dropout, i, keys, s->words + c);
        words = s->words + c;
    }
    vfloat largest = largest_logits(keys, all_see, x, bias, i);
    vfloat sum = exponentials(keys, x, largest, words, dropout->threshold);
    for (int64_t j = keys; j < group; j++)
        vector_store(x + j * SZGI_ATTENTION_TILE, (vfloat){0});
    vector_store(sums->largest + c, largest);
    vector_store(sums->sum + c, keys > 0 ? sum : vector_splat(1));
}

static void write_log_sums(const attention_tile *t, const tile_sums *sums) {
    const szgi_attention_head *h = t->head;
    const szgi_attention *a = h->attention;
    float log_sum[SZGI_ATTENTION_TILE];
    for (int64_t r = 0; r < t->rows; r += LANES)
        vector_store(log_sum + r,
                     vector_load(sums->largest + r) + vector_log(vector_load(sums->sum + r)));
    memcpy((float *)a->log_sum + (h->sequence * a->heads + h->head) * a->length + t->first, log_sum,
           (size_t)t->rows * sizeof *log_sum);
}

static void write_out(const attention_tile *t, float factor, const tile_sums *sums) {
    const szgi_attention *a = t->head->attention;
    const szgi_attention_scratch *s = t->head->scratch;
    for (int64_t r = 0; r < t->rows; r += LANES) {
        vfloat scale = factor / vector_load(sums->sum + r);
        for (int64_t c = 0; c < a->d_v; c++) {
            float *at = s->out_lanes + c * SZGI_ATTENTION_TILE + r;
            vector_store(at, vector_load(at) * scale);
        }
    }
    transpose(a->d_v, t->rows, s->out_lanes, SZGI_ATTENTION_TILE, s->out, s->wide_v);
    copy_rows(t->rows, a->d_v, a->d_v, 1, s->out, s->wide_v,
              head_row_out(t->head, a->out, a->ldout, a->d_v, t->first), a->ldout);
}

static void forward_tile(const attention_tile *t, const head_dropout *dropout) {
    const szgi_attention *a = t->head->attention;
    const szgi_attention_scratch *s = t->head->scratch;
    tile_sums sums;
    pack_queries(t->head, true, t->first, t->rows);
    transpose(whole_groups(t->rows), a->d_qk, s->q, s->wide_qk, s->q_lanes, SZGI_ATTENTION_TILE);
    keys_by_queries(t, a->d_qk, s->k_rows, s->wide_qk, s->q_lanes, s->weights);
    for (int64_t c = 0; c < t->rows; c += LANES)
        softmax_lanes(t, dropout, c, &sums);
    over_keys(t, a->d_v, s->v_rows, s->wide_v, s->weights, s->out_lanes);
    write_out(t, dropout->factor, &sums);
    if (a->log_sum)
        write_log_sums(t, &sums);
}

static void forward(const szgi_attention_head *h) {
    const szgi_attention *a = h->attention;
    int64_t keys = keys_of_head(h);
    head_dropout dropout = head_dropout_of(a);
    pack_keys(h, true, keys);
    pack_values(h, keys);
    if (a->bias)
        pack_bias(h);
    for (int64_t first = 0; first < a->length; first += SZGI_ATTENTION_TILE) {
        attention_tile tile = {h, first, rows_of_tile(a, first), keys};
        forward_tile(&tile, &dropout);
    }
}

static void logits(const szgi_attention_head *h, bool coupled, float *out) {
    const szgi_attention *a = h->attention;
    const szgi_attention_scratch *s = h->scratch;
    int64_t n = a->length;
    bool biased = coupled && a->bias;
    pack_keys(h, coupled, n);
    transpose(n, a->d_qk, s->k_rows, s->wide_qk, s->k_lanes, s->wide_length);
    if (biased)
        pack_bias(h);
    for (int64_t first = 0; first < n; first += SZGI_ATTENTION_TILE) {
        int64_t rows = rows_of_tile(a, first);
        pack_queries(h, coupled, first, rows);
        product(SZGI_ATTENTION_TILE, whole_vectors(n), a->d_qk, s->q, s->wide_qk, s->k_lanes,
                s->wide_length, s->weights, s->wide_length);
        for (int64_t i = first; i < first + rows; i++)
            for (int64_t j = 0; j < n; j++)
                out[i * n + j] = s->weights[(i - first) * s->wide_length + j] +
                                 (biased ? s->bias[lag_of_row(a, i) - j] : 0);
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

const szgi_attention_kernels SZG_KERNELS(szgi_attention_kernels) = {
    .forward = forward,
    .backward = SZG_KERNELS(szgi_attention_backward),
    .logits = logits,
    .exponential = exponential,
    .logarithm = logarithm};

/* Attention of one head, backward. With p = softmax, f the dropout's factors (0 or 1 / (1 - p)), w
 * = f p, g = dout v^T:  dv = w^T dout, dlogits = p (f g - dout . out) (Dao et al. 2022), dq =
 * dlogits k, dk = dlogits^T q, and the rotation's adjoint is the conjugate factor. */
#include "cpu_attention_head.h"
#include "cpu_attention_kernel.h"
#include "cpu_product.h"

/* Queries of a tile: few, for logits, weights and gradients of a tile share the first level of the
 * cache with those of keys and values. Here logits lie row by row. */
enum { FEW_QUERIES = 16 };

/* Lags in the order of keys: entry j - i + length - 1, so that a row of logits reads forwards. */
static inline void pack_bias_reversed(const szgi_attention_head *h) {
    const szgi_attention *a = h->attention;
    int64_t lags = 2 * a->length - 1;
    const float *bias = (const float *)a->bias + h->head * lags;
    for (int64_t lag = 0; lag < lags; lag++)
        h->scratch->bias[lags - 1 - lag] = bias[lag];
}

/* The bias of row i against keys 0, 1, ...; NULL without one. */
static inline const float *bias_of_row(const szgi_attention_head *h, int64_t i) {
    const szgi_attention *a = h->attention;
    return a->bias ? h->scratch->bias + a->length - 1 - i : NULL;
}

/* The words of row i for `count` keys. */
static inline const uint32_t *row_words(const szgi_attention_head *h, const head_dropout *dropout,
                                        int64_t i, int64_t count) {
    const szgi_attention *a = h->attention;
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

static inline void add_row(float *to, const float *from, int64_t count) {
    for (int64_t j = 0; j < count; j += LANES)
        vector_store(to + j, vector_load(to + j) + vector_load(from + j));
}

/* What a row needs besides its logits. */
typedef struct backward_row {
    int64_t keys, columns;
    const float *bias;
    const uint32_t *words;
    uint32_t threshold;
    float factor, log_sum, product; /* product: dout . out */
} backward_row;

/* logits to w, g to dlogits; zeros from the row's keys to its columns. */
static inline void weights_and_dlogits(const backward_row *row, float *logits, float *g) {
    for (int64_t j = 0; j < row->keys; j += LANES) {
        vfloat x = vector_load(logits + j) - row->log_sum, y = vector_load(g + j);
        if (row->bias)
            x += vector_load(row->bias + j);
        vfloat p = vector_exp(x), w = p;
        if (j + LANES > row->keys) {
            vint seen = vector_first(row->keys - j);
            p = w = vector_where(seen, p);
            y = vector_where(seen, y);
        }
        if (row->words)
            w = vector_where(vector_load_words(row->words + j) >= row->threshold, p * row->factor);
        vector_store(logits + j, w);
        vector_store(g + j, w * y - p * row->product);
    }
    for (int64_t j = whole_vectors(row->keys); j < row->columns; j += LANES) {
        vector_store(logits + j, (vfloat){0});
        vector_store(g + j, (vfloat){0});
    }
}

static inline float dot(int64_t count, const float *a, const float *b) {
    vfloat sums = {0};
    int64_t c = 0;
    for (; c + LANES <= count; c += LANES)
        sums += vector_load(a + c) * vector_load(b + c);
    float sum = vector_sum(sums);
    for (; c < count; c++)
        sum += a[c] * b[c];
    return sum;
}

static void backward_rows(const szgi_attention_head *h, const head_dropout *dropout, bool dbias,
                          int64_t first, int64_t rows, int64_t keys, int64_t columns) {
    const szgi_attention *a = h->attention;
    const szgi_attention_scratch *s = h->scratch;
    const float *log_sum =
        (const float *)a->log_sum + (h->sequence * a->heads + h->head) * a->length;
    for (int64_t r = 0; r < rows; r++) {
        int64_t i = first + r;
        const float *out = head_row(h, a->out, a->ldout, a->d_v, i);
        backward_row row = {.keys = keys_of_row(a, keys, i),
                            .columns = columns,
                            .bias = bias_of_row(h, i),
                            .threshold = dropout->threshold,
                            .factor = dropout->factor,
                            .log_sum = log_sum[i],
                            .product = dot(a->d_v, s->out + r * s->wide_v, out)};
        if (dropout->on)
            row.words = row_words(h, dropout, i, whole_vectors(row.keys));
        float *g = s->dlogits + r * s->wide_length;
        weights_and_dlogits(&row, s->weights + r * s->wide_length, g);
        if (dbias)
            add_row(s->dbias + a->length - 1 - i, g, whole_vectors(row.keys));
    }
}

/* Rows first .. first + rows - 1 of dq or dk: scale times `from`, which is turned back in place. */
static inline void write_gradient(const szgi_attention_head *h, const void *factors, float scale,
                                  int64_t first, int64_t rows, float *from, void *to,
                                  int64_t ldto) {
    const szgi_attention *a = h->attention;
    int64_t ld = h->scratch->wide_qk;
    if (a->pairs > 0)
        rotate_rows(a, rows, factors_of(h, factors, first), -1, from, ld);
    copy_rows(rows, a->d_qk, a->d_qk, scale, from, ld, head_row_out(h, to, ldto, a->d_qk, first),
              ldto);
}

static void backward_tile(const szgi_attention_head *h, const szgi_attention_gradient *gradient,
                          const head_dropout *dropout, int64_t first, int64_t rows, int64_t keys) {
    const szgi_attention *a = h->attention;
    const szgi_attention_scratch *s = h->scratch;
    enum { TILE = FEW_QUERIES };
    int64_t seen = keys_of_row(a, keys, first + rows - 1), columns = whole_vectors(seen);
    int64_t ld = s->wide_length, vectors_qk = whole_vectors(a->d_qk),
            vectors_v = whole_vectors(a->d_v);
    pack_queries(h, true, first, rows);
    copy_rows(rows, a->d_v, s->wide_v, 1,
              head_row(h, gradient->dout, gradient->lddout, a->d_v, first), gradient->lddout,
              s->out, s->wide_v);
    product(TILE, columns, a->d_qk, s->q, s->wide_qk, s->k_lanes, ld, s->weights, ld);
    product(TILE, columns, a->d_v, s->out, s->wide_v, s->v_lanes, ld, s->dlogits, ld);
    backward_rows(h, dropout, gradient->dbias != NULL, first, rows, keys, columns);
    product_transposed_add(columns, vectors_v, rows, s->weights, ld, s->out, s->wide_v, s->dv,
                           s->wide_v);
    product_transposed_add(columns, vectors_qk, rows, s->dlogits, ld, s->q, s->wide_qk, s->dk,
                           s->wide_qk);
    product(TILE, vectors_qk, seen, s->dlogits, ld, s->k_rows, s->wide_qk, s->dq, s->wide_qk);
    write_gradient(h, a->q_factors, (float)a->scale, first, rows, s->dq, gradient->dq,
                   gradient->lddq);
}

static void write_keys_and_values(const szgi_attention_head *h,
                                  const szgi_attention_gradient *gradient) {
    const szgi_attention *a = h->attention;
    const szgi_attention_scratch *s = h->scratch;
    write_gradient(h, a->k_factors, 1, 0, a->length, s->dk, gradient->dk, gradient->lddk);
    copy_rows(a->length, a->d_v, a->d_v, 1, s->dv, s->wide_v,
              head_row_out(h, gradient->dv, gradient->lddv, a->d_v, 0), gradient->lddv);
}

void SZG_KERNELS(szgi_attention_backward)(const szgi_attention_head *h,
                                          const szgi_attention_gradient *gradient, float *dbias) {
    const szgi_attention *a = h->attention;
    const szgi_attention_scratch *s = h->scratch;
    int64_t keys = keys_of_head(h), lags = 2 * a->length - 1;
    head_dropout dropout = head_dropout_of(a);
    pack_keys(h, true, keys);
    transpose(keys, a->d_qk, s->k_rows, s->wide_qk, s->k_lanes, s->wide_length);
    pack_values(h, keys);
    transpose(keys, a->d_v, s->v_rows, s->wide_v, s->v_lanes, s->wide_length);
    if (a->bias)
        pack_bias_reversed(h);
    memset(s->dk, 0, (size_t)(s->wide_length * s->wide_qk) * sizeof *s->dk);
    memset(s->dv, 0, (size_t)(s->wide_length * s->wide_v) * sizeof *s->dv);
    memset(s->dbias, 0, (size_t)lags * sizeof *s->dbias);
    for (int64_t first = 0; first < a->length; first += FEW_QUERIES) {
        int64_t left = a->length - first, rows = left < FEW_QUERIES ? left : FEW_QUERIES;
        backward_tile(h, gradient, &dropout, first, rows, keys);
    }
    write_keys_and_values(h, gradient);
    if (dbias)
        memcpy(dbias, s->dbias, (size_t)lags * sizeof *dbias);
}

/* Logits of the first layer of a decoder, by their formulas on the host. */
#ifndef SZG_TESTS_CAPTURE_ORACLE_H
#define SZG_TESTS_CAPTURE_ORACLE_H

#include "coupling/coupling.h"
#include "toeplitz/factored.h"

#include "decoder_support.h"

static inline double *parameter(const subject *s, const char *name) {
    const szgi_parameter *p = szgi_model_find(s->model, name);
    ck_assert_msg(p, "no parameter %s", name);
    double *out = new_numbers(p->count);
    ck_szg_ok(szgi_model_read(test_context(), s->model, szgi_model_arena(s->model), p->offset,
                              p->count, out));
    return out;
}

/* y [n][out] = x [n][in] W^T + bias; bias NULL: none. */
static inline double *linear(const subject *s, const char *name, int64_t n, int64_t in, int64_t out,
                             const double *x, bool biased) {
    char full[64];
    snprintf(full, sizeof full, "layers.0.%s.weight", name);
    double *w = parameter(s, full), *y = new_numbers(n * out), *b = NULL;
    snprintf(full, sizeof full, "layers.0.%s.bias", name);
    if (biased)
        b = parameter(s, full);
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < out; o++) {
            double sum = b ? b[o] : 0;
            for (int64_t c = 0; c < in; c++)
                sum += w[o * in + c] * x[i * in + c];
            y[i * out + o] = sum;
        }
    szgi_memory_free(w);
    szgi_memory_free(b);
    return y;
}

/* Token and position, normalised. */
static inline double *input_of(const subject *s, int64_t n, const int32_t *tokens, bool positions) {
    enum { W = 8 };
    double *table = parameter(s, "embedding.weight"), *x = new_numbers(n * W);
    double *gain = parameter(s, "layers.0.norm1.weight");
    double *shift = parameter(s, "layers.0.norm1.bias"), *rows = new_numbers(n * W);
    if (positions && szgi_encoding_attaches(szgi_model_encoding(s->model)) & SZGI_ATTACH_INPUT)
        ck_szg_ok(szgi_encoding_input(test_context(), szgi_model_encoding(s->model), n, rows, W));
    for (int64_t i = 0; i < n; i++) {
        double mean = 0, variance = 0;
        for (int c = 0; c < W; c++) {
            x[i * W + c] = table[tokens[i] * W + c] + rows[i * W + c];
            mean += x[i * W + c] / W;
        }
        for (int c = 0; c < W; c++)
            variance += pow(x[i * W + c] - mean, 2) / W;
        for (int c = 0; c < W; c++)
            x[i * W + c] = (x[i * W + c] - mean) / sqrt(variance + 1e-5) * gain[c] + shift[c];
    }
    double *all[] = {table, gain, shift, rows};
    for (int i = 0; i < 4; i++)
        szgi_memory_free(all[i]);
    return x;
}

/* Queries and keys [n][heads d] of the first layer; *d. */
static inline void sides_of(const subject *s, int64_t n, const int32_t *tokens, bool positions,
                            double **q, double **k, int64_t *d) {
    double *x = input_of(s, n, tokens, positions);
    if (!(szgi_encoding_attaches(szgi_model_encoding(s->model)) & SZGI_ATTACH_DECOUPLED)) {
        *q = linear(s, "q_linear", n, 8, 8, x, true);
        *k = linear(s, "k_linear", n, 8, 8, x, true);
        *d = 4;
    } else { /* content of 4 numbers and rotary parts of r, one rotary key for both heads */
        int64_t r = szgi_model_find(s->model, "layers.0.attn.W_KR.weight")->shape[0];
        double *down[2] = {linear(s, "attn.W_DQ", n, 8, 6, x, false),
                           linear(s, "attn.W_DKV", n, 8, 5, x, false)};
        double *part[4] = {linear(s, "attn.W_UQ", n, 6, 8, down[0], false),
                           linear(s, "attn.W_QR", n, 6, 2 * r, down[0], false),
                           linear(s, "attn.W_UK", n, 5, 8, down[1], false),
                           linear(s, "attn.W_KR", n, 8, r, x, false)};
        *d = 4 + r;
        *q = new_numbers(n * 2 * *d);
        *k = new_numbers(n * 2 * *d);
        for (int64_t i = 0; i < n * 2 * *d; i++) {
            int64_t row = i / (2 * *d), head = i % (2 * *d) / *d, c = i % *d;
            int64_t content = row * 8 + head * 4 + c;
            (*q)[i] = c < 4 ? part[0][content] : part[1][(row * 2 + head) * r + c - 4];
            (*k)[i] = c < 4 ? part[2][content] : part[3][row * r + c - 4];
        }
        for (int i = 0; i < 4; i++)
            szgi_memory_free(part[i]);
        szgi_memory_free(down[0]);
        szgi_memory_free(down[1]);
    }
    szgi_memory_free(x);
}

/* out = scale q k^T, n x n, of one head. */
static inline void plain_product(int64_t n, int64_t d, const double *q, const double *k,
                                 double *out) {
    for (int64_t i = 0; i < n * n; i++) {
        out[i] = 0;
        for (int64_t c = 0; c < d; c++)
            out[i] += q[i / n * 2 * d + c] * k[i % n * 2 * d + c] / sqrt((double)d);
    }
}

/* Rotation and fixed bias by lib/coupling, trained biases by their table. */
static inline void couple_on_host(const subject *s, int64_t head, int64_t n, int64_t d,
                                  const double *q, const double *k, double *out) {
    const szg_encoding *encoding = szgi_model_encoding(s->model);
    const szgi_parameter *lags = szgi_model_find(s->model, "layers.0.relative_bias_table");
    plain_product(n, d, q, k, out);
    if (lags) {
        double *table = parameter(s, lags->name);
        int32_t rows[2 * POSITIONS - 1];
        ck_szg_ok(szgi_encoding_row_of_lag(test_context(), encoding, POSITIONS, rows));
        for (int64_t i = 0; i < n * n; i++)
            out[i] += table[rows[i / n - i % n + POSITIONS - 1] * 2 + head];
        szgi_memory_free(table);
    } else if (!(szgi_encoding_attaches(encoding) & SZGI_ATTACH_INPUT)) {
        const szgi_captured captured = {d, q, 2 * d, k, 2 * d, 1 / sqrt((double)d)};
        szg_logits *logits;
        ck_szg_ok(szgi_logits_open_captured(test_context(), encoding,
                                            head % szg_encoding_heads(encoding), &captured, n,
                                            false, &logits));
        szg_factored f = szgi_logits_coupled(logits);
        ck_szg_ok(szgi_factored_dense(test_context(), &f, out, n));
        szg_logits_close(&logits);
    }
}

#endif

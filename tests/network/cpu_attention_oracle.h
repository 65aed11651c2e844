/* The oracle of the fused attention: one head in double precision, with sums of moduli beside the
 * sums. */
#ifndef SZG_TESTS_CPU_ATTENTION_ORACLE_H
#define SZG_TESTS_CPU_ATTENTION_ORACLE_H

#include "cpu_attention_cases.h"

typedef struct value {
    double sum, size;
} value;

static inline void add(value *to, double term) {
    to->sum += term;
    to->size += fabs(term);
}

typedef struct oracle {
    int64_t n, d_qk, d_v;
    double *q, *k;         /* [n][d_qk], rotated, scale in q */
    double *logit, *p, *w; /* [n][n] */
    double *log_sum;
    value *out, *dq, *dk, *dv, *dbias; /* dq, dk: before and after the adjoint rotation */
} oracle;

static inline bool is_seen(const test_case *c, int64_t b, int64_t i, int64_t j) {
    return !(c->shape.causal && j > i) && !(c->shape.lengths && j >= c->lengths[b]);
}

/* x, y = the two dimensions of pair t. */
static inline void pair_at(const shape *s, int64_t t, int64_t *x, int64_t *y) {
    *x = s->offset + (s->half ? t : 2 * t);
    *y = s->offset + (s->half ? s->pairs + t : 2 * t + 1);
}

static const float *factor_at(const test_case *c, const float *factors, int64_t h, int64_t i,
                              int64_t t) {
    return factors + h * c->attention.factor_stride + 2 * (i * c->shape.pairs + t);
}

static inline void oracle_rotate(const test_case *c, const float *factors, int64_t h,
                                 double *rows) {
    const shape *s = &c->shape;
    for (int64_t i = 0; i < s->length; i++)
        for (int64_t t = 0; t < s->pairs; t++) {
            int64_t x, y;
            pair_at(s, t, &x, &y);
            const float *f = factor_at(c, factors, h, i, t);
            double *row = rows + i * s->d_qk, re = row[x], im = row[y];
            row[x] = re * f[0] - im * f[1];
            row[y] = re * f[1] + im * f[0];
        }
}

static inline void oracle_turn_back(const test_case *c, const float *factors, int64_t h,
                                    value *rows) {
    const shape *s = &c->shape;
    for (int64_t i = 0; i < s->length; i++)
        for (int64_t t = 0; t < s->pairs; t++) {
            int64_t x, y;
            pair_at(s, t, &x, &y);
            const float *f = factor_at(c, factors, h, i, t);
            value *row = rows + i * s->d_qk, re = row[x], im = row[y];
            double size = re.size * fabs(f[0]) + im.size * fabs(f[1]);
            row[x] = (value){re.sum * f[0] + im.sum * f[1], size};
            size = re.size * fabs(f[1]) + im.size * fabs(f[0]);
            row[y] = (value){im.sum * f[0] - re.sum * f[1], size};
        }
}

static inline oracle *new_oracle(const shape *s) {
    oracle *o = calloc(1, sizeof *o);
    int64_t n = s->length;
    o->n = n, o->d_qk = s->d_qk, o->d_v = s->d_v;
    o->q = calloc((size_t)(n * s->d_qk), sizeof *o->q), o->k = calloc((size_t)(n * s->d_qk), 8);
    o->logit = calloc((size_t)(n * n), 8), o->p = calloc((size_t)(n * n), 8);
    o->w = calloc((size_t)(n * n), 8), o->log_sum = calloc((size_t)n, 8);
    o->out = calloc((size_t)(n * s->d_v), sizeof *o->out), o->dv = calloc((size_t)(n * s->d_v), 16);
    o->dq = calloc((size_t)(n * s->d_qk), 16), o->dk = calloc((size_t)(n * s->d_qk), 16);
    o->dbias = calloc((size_t)(2 * n - 1), 16);
    return o;
}

static inline void free_oracle(oracle *o) {
    free(o->q), free(o->k), free(o->logit), free(o->p), free(o->w), free(o->log_sum);
    free(o->out), free(o->dq), free(o->dk), free(o->dv), free(o->dbias), free(o);
}

static inline void oracle_logits(const test_case *c, int64_t b, int64_t h, bool coupled,
                                 oracle *o) {
    const shape *s = &c->shape;
    int64_t n = o->n, d = o->d_qk;
    for (int64_t i = 0; i < n; i++)
        for (int64_t x = 0; x < d; x++) {
            o->q[i * d + x] = 0.7 * (double)c->q[(b * n + i) * c->ld_qk + h * d + x];
            o->k[i * d + x] = (double)c->k[(b * n + i) * c->ld_qk + h * d + x];
        }
    if (coupled) {
        oracle_rotate(c, c->f, h, o->q);
        oracle_rotate(c, c->g, h, o->k);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = coupled && s->bias ? c->bias[h * (2 * n - 1) + i - j + n - 1] : 0;
            for (int64_t x = 0; x < d; x++)
                sum += o->q[i * d + x] * o->k[j * d + x];
            o->logit[i * n + j] = sum;
        }
}

static inline double dropout_factor(const test_case *c, int64_t b, int64_t h, int64_t i,
                                    int64_t j) {
    const shape *s = &c->shape;
    szgi_stream stream = {c->block.seed, c->block.step, c->attention.dropout.purpose};
    uint64_t index = (uint64_t)(((b * s->heads + h) * s->length + i) * s->length + j);
    if (s->dropout == 0)
        return 1;
    return szgi_random_word(&stream, index) < szgi_network_threshold(s->dropout)
               ? 0
               : 1 / (1 - s->dropout);
}

static inline void oracle_forward(const test_case *c, int64_t b, int64_t h, oracle *o) {
    int64_t n = o->n;
    oracle_logits(c, b, h, true, o);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += is_seen(c, b, i, j) ? exp(o->logit[i * n + j]) : 0;
        o->log_sum[i] = log(sum);
        for (int64_t j = 0; j < n; j++) {
            double *p = &o->p[i * n + j];
            *p = is_seen(c, b, i, j) ? exp(o->logit[i * n + j]) / sum : 0;
            o->w[i * n + j] = *p * dropout_factor(c, b, h, i, j);
            for (int64_t x = 0; x < o->d_v; x++)
                add(&o->out[i * o->d_v + x],
                    o->w[i * n + j] * (double)c->v[(b * n + j) * c->ld_v + h * o->d_v + x]);
        }
    }
}

static inline void oracle_backward_row(const test_case *c, int64_t b, int64_t h, int64_t i,
                                       oracle *o) {
    int64_t n = o->n, d = o->d_qk, d_v = o->d_v;
    const float *dout = c->dout + (b * n + i) * c->ld_v + h * d_v;
    double product = 0;
    for (int64_t x = 0; x < d_v; x++)
        product += (double)dout[x] * o->out[i * d_v + x].sum;
    for (int64_t j = 0; j < n; j++) {
        double p = o->p[i * n + j], w = o->w[i * n + j], g = 0;
        for (int64_t x = 0; x < d_v; x++) {
            g += (double)dout[x] * (double)c->v[(b * n + j) * c->ld_v + h * d_v + x];
            add(&o->dv[j * d_v + x], w * (double)dout[x]);
        }
        value dlogit = {w * g - p * product,
                        w * (double)d_v + p * (double)d_v * (1 + w / (p + 1e-300))};
        value *lag = &o->dbias[i - j + n - 1];
        lag->sum += dlogit.sum, lag->size += dlogit.size;
        for (int64_t x = 0; x < d; x++) {
            value *dq = &o->dq[i * d + x], *dk = &o->dk[j * d + x];
            double key = o->k[j * d + x], query = o->q[i * d + x];
            dq->sum += 0.7 * dlogit.sum * key, dq->size += dlogit.size * fabs(key);
            dk->sum += dlogit.sum * query, dk->size += dlogit.size * fabs(query);
        }
    }
}

static inline void oracle_backward(const test_case *c, int64_t b, int64_t h, oracle *o) {
    for (int64_t i = 0; i < o->n; i++)
        oracle_backward_row(c, b, h, i, o);
    oracle_turn_back(c, c->f, h, o->dq);
    oracle_turn_back(c, c->g, h, o->dk);
}

#endif

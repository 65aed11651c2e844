/* The fused attention of the cpu table against plain sums in double precision, at every level of
 * the processor.
 *
 * Tolerance. Inputs are at most 1 in modulus, factors at most 1.5, so that a logit's terms sum to
 * at most SCALE * 2.25 * d and its rounding error is below E = (d + 8) eps times that; a weight is
 * off by a relative 2 E + (keys + 16) eps, as are sums of `keys` weighted terms. Gradients pass
 * through at most three such sums of at most N terms; every result is compared against
 * 16 (d_qk + d_v + N) eps times the sum of the moduli of its terms, which the oracle carries. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/backend/cpu_attention.h"
#include "suite.h"

enum { GUARD = 32 };
static const float SENTINEL = 12345.5F;
static const char *const LEVELS[] = {"baseline", "avx2", "avx512"};
enum { LEVEL_COUNT = 3 };

/* ---- Cases ---- */

typedef struct shape {
    int64_t batch, heads, length, d_qk, d_v, pairs, offset;
    bool half, shared_factors, bias, causal, lengths;
    double dropout;
} shape;

static const shape SHAPES[] = {
    {1, 1, 1, 1, 1, 0, 0, false, false, false, false, false, 0},
    {1, 1, 1, 16, 16, 8, 0, false, true, true, true, true, 0.5},
    {2, 3, 5, 3, 3, 1, 1, false, false, true, true, false, 0},
    {3, 2, 7, 3, 5, 1, 0, true, false, true, false, true, 0.3},
    {2, 2, 16, 16, 16, 8, 0, false, true, false, false, false, 0},
    {2, 2, 17, 16, 16, 8, 0, true, true, false, true, false, 0.1},
    {2, 3, 33, 16, 16, 6, 4, false, false, true, true, true, 0.1},
    {1, 2, 65, 32, 16, 8, 16, false, true, false, false, true, 0.1},
    {1, 2, 50, 40, 24, 20, 0, false, true, true, false, false, 0},
    {1, 1, 128, 128, 128, 64, 0, false, true, false, true, false, 0.1},
    {1, 2, 127, 64, 64, 32, 0, true, true, true, true, true, 0.9},
    {2, 1, 37, 17, 33, 8, 1, true, false, false, false, true, 0},
};
enum { SHAPE_COUNT = sizeof SHAPES / sizeof *SHAPES };

/* Numbers between guard bands. */
static float *new_guarded(int64_t count) {
    float *at;
    ck_szg_ok(szg_memory_alloc(test_context(), count + 2 * GUARD, sizeof *at, &at));
    for (int64_t i = 0; i < count + 2 * GUARD; i++)
        at[i] = SENTINEL;
    return at + GUARD;
}

static void check_guards(const float *at, int64_t count) {
    for (int64_t i = 1; i <= GUARD; i++)
        ck_assert(at[-i] == SENTINEL && at[count + i - 1] == SENTINEL);
}

static void free_guarded(float *at) {
    szg_memory_free(at - GUARD);
}

static float *new_uniform(uint32_t place, int64_t count, double largest) {
    szg_stream stream = {.seed = test_seed(), .step = place, .purpose = 0x41};
    float *at = new_guarded(count);
    for (int64_t i = 0; i < count; i++)
        at[i] = (float)(largest * (2 * szg_random_uniform(&stream, (uint64_t)i) - 1));
    return at;
}

typedef struct test_case {
    shape shape;
    szg_attention attention;
    szg_attention_gradient gradient;
    szg_step_block block;
    int32_t lengths[4];
    int64_t rows, factor_count, lags, ld_qk, ld_v;
    float *q, *k, *v, *f, *g, *bias, *out, *log_sum, *dout, *dq, *dk, *dv, *dbias;
} test_case;

/* Leading dimensions leave a gap of 3 after the heads, which must stay untouched. */
static test_case *new_case(const shape *s) {
    test_case *c = calloc(1, sizeof *c);
    c->shape = *s;
    c->rows = s->batch * s->length;
    c->ld_qk = s->heads * s->d_qk + 3, c->ld_v = s->heads * s->d_v + 3;
    int64_t head_factors = 2 * s->length * s->pairs;
    c->factor_count = (s->shared_factors ? 1 : s->heads) * head_factors;
    c->lags = s->heads * (2 * s->length - 1);
    c->q = new_uniform(1, c->rows * c->ld_qk, 1), c->k = new_uniform(2, c->rows * c->ld_qk, 1);
    c->v = new_uniform(3, c->rows * c->ld_v, 1), c->dout = new_uniform(4, c->rows * c->ld_v, 1);
    c->f = new_uniform(5, c->factor_count, 1), c->g = new_uniform(6, c->factor_count, 1);
    c->bias = new_uniform(7, c->lags, 2), c->dbias = new_uniform(8, c->lags, 1);
    c->out = new_guarded(c->rows * c->ld_v), c->dv = new_guarded(c->rows * c->ld_v);
    c->dq = new_guarded(c->rows * c->ld_qk), c->dk = new_guarded(c->rows * c->ld_qk);
    c->log_sum = new_guarded(s->batch * s->heads * s->length);
    for (int64_t b = 0; b < s->batch; b++) /* all, none, some */
        c->lengths[b] = (int32_t)(b == 0 ? s->length : b == 1 ? 0 : (s->length + 1) / 2);
    if (s->batch == 1)
        c->lengths[0] = (int32_t)((3 * s->length + 3) / 4);
    c->block = (szg_step_block){.seed = test_seed(), .step = 5};
    c->attention = (szg_attention){
        .batch = s->batch,
        .heads = s->heads,
        .length = s->length,
        .d_qk = s->d_qk,
        .d_v = s->d_v,
        .q = c->q,
        .k = c->k,
        .v = c->v,
        .ldq = c->ld_qk,
        .ldk = c->ld_qk,
        .ldv = c->ld_v,
        .scale = 0.7,
        .pairs = s->pairs,
        .rotary_offset = s->offset,
        .factor_stride = s->shared_factors ? 0 : head_factors,
        .half = s->half,
        .q_factors = c->f,
        .k_factors = c->g,
        .bias = s->bias ? c->bias : NULL,
        .causal = s->causal,
        .lengths = s->lengths ? c->lengths : NULL,
        .dropout = {s->dropout, szg_network_purpose(SZG_PLACE_ATTENTION, 3), &c->block},
        .out = c->out,
        .ldout = c->ld_v,
        .log_sum = c->log_sum};
    c->gradient = (szg_attention_gradient){.dout = c->dout,
                                           .lddout = c->ld_v,
                                           .dq = c->dq,
                                           .dk = c->dk,
                                           .dv = c->dv,
                                           .lddq = c->ld_qk,
                                           .lddk = c->ld_qk,
                                           .lddv = c->ld_v,
                                           .dbias = s->bias ? c->dbias : NULL};
    return c;
}

static void free_case(test_case *c) {
    float *all[] = {c->q,       c->k,    c->v,  c->f,  c->g,  c->bias, c->out,
                    c->log_sum, c->dout, c->dq, c->dk, c->dv, c->dbias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free_guarded(all[i]);
    free(c);
}

/* ---- The oracle: one head in double precision, with sums of moduli beside the sums ---- */

typedef struct value {
    double sum, size;
} value;

static void add(value *to, double term) {
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

static bool is_seen(const test_case *c, int64_t b, int64_t i, int64_t j) {
    return !(c->shape.causal && j > i) && !(c->shape.lengths && j >= c->lengths[b]);
}

/* x, y = the two dimensions of pair t. */
static void pair_at(const shape *s, int64_t t, int64_t *x, int64_t *y) {
    *x = s->offset + (s->half ? t : 2 * t);
    *y = s->offset + (s->half ? s->pairs + t : 2 * t + 1);
}

static const float *factor_at(const test_case *c, const float *factors, int64_t h, int64_t i,
                              int64_t t) {
    return factors + h * c->attention.factor_stride + 2 * (i * c->shape.pairs + t);
}

static void oracle_rotate(const test_case *c, const float *factors, int64_t h, double *rows) {
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

static void oracle_turn_back(const test_case *c, const float *factors, int64_t h, value *rows) {
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

static oracle *new_oracle(const shape *s) {
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

static void free_oracle(oracle *o) {
    free(o->q), free(o->k), free(o->logit), free(o->p), free(o->w), free(o->log_sum);
    free(o->out), free(o->dq), free(o->dk), free(o->dv), free(o->dbias), free(o);
}

static void oracle_logits(const test_case *c, int64_t b, int64_t h, bool coupled, oracle *o) {
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

static double dropout_factor(const test_case *c, int64_t b, int64_t h, int64_t i, int64_t j) {
    const shape *s = &c->shape;
    szg_stream stream = {c->block.seed, c->block.step, c->attention.dropout.purpose};
    uint64_t index = (uint64_t)(((b * s->heads + h) * s->length + i) * s->length + j);
    if (s->dropout == 0)
        return 1;
    return szg_random_word(&stream, index) < szg_network_threshold(s->dropout)
               ? 0
               : 1 / (1 - s->dropout);
}

static void oracle_forward(const test_case *c, int64_t b, int64_t h, oracle *o) {
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

static void oracle_backward_row(const test_case *c, int64_t b, int64_t h, int64_t i, oracle *o) {
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

static void oracle_backward(const test_case *c, int64_t b, int64_t h, oracle *o) {
    for (int64_t i = 0; i < o->n; i++)
        oracle_backward_row(c, b, h, i, o);
    oracle_turn_back(c, c->f, h, o->dq);
    oracle_turn_back(c, c->g, h, o->dk);
}

/* ---- Comparisons ---- */

static double tolerance(const shape *s) {
    return 16 * (double)(s->d_qk + s->d_v + s->length) * 0x1p-24;
}

static void check_head(const test_case *c, const char *what, const float *got, int64_t ld,
                       int64_t d, int64_t b, int64_t h, const value *want) {
    int64_t n = c->shape.length;
    for (int64_t i = 0; i < n; i++)
        for (int64_t x = 0; x < d; x++) {
            value w = want[i * d + x];
            double error = fabs((double)got[(b * n + i) * ld + h * d + x] - w.sum);
            ck_assert_msg(error <= tolerance(&c->shape) * w.size + 1e-30,
                          "%s[%d][%d]: error %.3g of %.3g", what, (int)i, (int)x, error, w.size);
        }
}

static void check_gaps(const float *at, int64_t rows, int64_t ld) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t x = ld - 3; x < ld; x++)
            ck_assert(at[r * ld + x] == SENTINEL);
    check_guards(at, rows * ld);
}

static void check_log_sum(const test_case *c, int64_t b, int64_t h, const oracle *o) {
    const float *got = c->log_sum + (b * c->shape.heads + h) * o->n;
    for (int64_t i = 0; i < o->n; i++) {
        if (isinf(o->log_sum[i]))
            ck_assert(got[i] == -INFINITY);
        else
            ck_close(got[i], o->log_sum[i], tolerance(&c->shape) * (8 + fabs(o->log_sum[i])));
    }
}

static void check_dbias(const test_case *c, int64_t h, const float *before, const value *want) {
    int64_t lags = 2 * c->shape.length - 1;
    for (int64_t lag = 0; lag < lags; lag++)
        ck_close(c->dbias[h * lags + lag], before[h * lags + lag] + want[lag].sum,
                 tolerance(&c->shape) * (1 + want[lag].size));
}

static float *copy_of(int64_t count, const float *from) {
    float *to = new_guarded(count);
    memcpy(to, from, (size_t)count * sizeof *to);
    return to;
}

static void check_case(test_case *c) {
    const shape *s = &c->shape;
    szg_context *context = test_context();
    float *before = copy_of(c->lags, c->dbias);
    ck_szg_ok(szg_network_attention(context, &c->attention));
    ck_szg_ok(szg_network_attention_backward(context, &c->attention, &c->gradient));
    for (int64_t h = 0; h < s->heads; h++) {
        value *lags = calloc((size_t)(2 * s->length - 1), sizeof *lags);
        for (int64_t b = 0; b < s->batch; b++) {
            oracle *o = new_oracle(s);
            oracle_forward(c, b, h, o);
            oracle_backward(c, b, h, o);
            check_head(c, "out", c->out, c->ld_v, s->d_v, b, h, o->out);
            check_log_sum(c, b, h, o);
            check_head(c, "dq", c->dq, c->ld_qk, s->d_qk, b, h, o->dq);
            check_head(c, "dk", c->dk, c->ld_qk, s->d_qk, b, h, o->dk);
            check_head(c, "dv", c->dv, c->ld_v, s->d_v, b, h, o->dv);
            for (int64_t lag = 0; lag < 2 * s->length - 1; lag++) {
                lags[lag].sum += o->dbias[lag].sum;
                lags[lag].size += o->dbias[lag].size;
            }
            free_oracle(o);
        }
        if (s->bias)
            check_dbias(c, h, before, lags);
        free(lags);
    }
    check_gaps(c->out, c->rows, c->ld_v), check_gaps(c->dv, c->rows, c->ld_v);
    check_gaps(c->dq, c->rows, c->ld_qk), check_gaps(c->dk, c->rows, c->ld_qk);
    check_guards(c->log_sum, s->batch * s->heads * s->length), check_guards(c->dbias, c->lags);
    free_guarded(before);
}

START_TEST(attention_is_the_plain_sum) {
    for (int level = 0; level < LEVEL_COUNT; level++) {
        setenv("SZEGO_SIMD", LEVELS[level], 1);
        for (int i = 0; i < SHAPE_COUNT; i++) {
            test_case *c = new_case(&SHAPES[i]);
            check_case(c);
            free_case(c);
        }
    }
    unsetenv("SZEGO_SIMD");
}
END_TEST

static void check_logits(test_case *c, bool coupled) {
    const shape *s = &c->shape;
    int64_t n = s->length, count = s->batch * s->heads * n * n;
    float *got = new_guarded(count);
    ck_szg_ok(szg_network_attention_logits(test_context(), &c->attention, coupled, got));
    check_guards(got, count);
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t h = 0; h < s->heads; h++) {
            oracle *o = new_oracle(s);
            oracle_logits(c, b, h, coupled, o);
            for (int64_t i = 0; i < n * n; i++)
                ck_close(got[(b * s->heads + h) * n * n + i], o->logit[i],
                         (double)(s->d_qk + 8) * 0x1p-24 * (2 * (double)s->d_qk + 2));
            free_oracle(o);
        }
    free_guarded(got);
}

START_TEST(logits_with_and_without_the_encoding) {
    for (int level = 0; level < LEVEL_COUNT; level++) {
        setenv("SZEGO_SIMD", LEVELS[level], 1);
        for (int i = 0; i < SHAPE_COUNT; i++) {
            test_case *c = new_case(&SHAPES[i]);
            check_logits(c, false);
            check_logits(c, true);
            free_case(c);
        }
    }
    unsetenv("SZEGO_SIMD");
}
END_TEST

START_TEST(threads_do_not_change_a_bit) {
    const int threads[] = {1, 2, 5};
    shape s = SHAPES[6];
    s.heads = 5;
    test_case *first = NULL;
    for (int t = 0; t < 3; t++) {
        szg_context *context;
        szg_context_options options = {.threads = threads[t]};
        ck_szg_ok(szg_context_open(&options, &context));
        test_case *c = new_case(&s);
        ck_szg_ok(szg_network_attention(context, &c->attention));
        ck_szg_ok(szg_network_attention_backward(context, &c->attention, &c->gradient));
        first = first ? first : c;
        size_t qk = (size_t)(c->rows * c->ld_qk) * 4, v = (size_t)(c->rows * c->ld_v) * 4;
        ck_assert(memcmp(c->out, first->out, v) == 0 && memcmp(c->dv, first->dv, v) == 0);
        ck_assert(memcmp(c->dq, first->dq, qk) == 0 && memcmp(c->dk, first->dk, qk) == 0);
        ck_assert(memcmp(c->dbias, first->dbias, (size_t)c->lags * 4) == 0);
        if (c != first)
            free_case(c);
        szg_context_close(&context);
    }
    free_case(first);
}
END_TEST

START_TEST(means_of_diagonals) {
    enum { COUNT = 3 };
    for (int64_t n = 1; n < 40; n += 6) {
        int64_t lags = 2 * n - 1;
        float *a = new_uniform(9, COUNT * n * n, 1), *out = new_guarded(COUNT * lags);
        ck_szg_ok(szg_network_diagonal_means(test_context(), COUNT, n, a, out));
        check_guards(out, COUNT * lags);
        for (int64_t m = 0; m < COUNT; m++)
            for (int64_t lag = 1 - n; lag < n; lag++) {
                double sum = 0;
                for (int64_t i = lag > 0 ? lag : 0; i < n && i - lag < n; i++)
                    sum += (double)a[m * n * n + i * n + i - lag];
                /* Sums in double: only the last rounding shows. */
                ck_close(out[m * lags + lag + n - 1], sum / (double)(n - llabs(lag)), 0x1p-23);
            }
        free_guarded(a), free_guarded(out);
    }
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    szg_context *context = test_context();
    test_case *c = new_case(&SHAPES[6]);
    float *logits = new_guarded(c->shape.batch * c->shape.heads * 33 * 33);
    ck_survives_failed_allocations(1, szg_network_attention(context, &c->attention));
    ck_survives_failed_allocations(
        2, szg_network_attention_backward(context, &c->attention, &c->gradient));
    ck_survives_failed_allocations(
        1, szg_network_attention_logits(context, &c->attention, true, logits));
    ck_survives_failed_allocations(1, szg_network_diagonal_means(context, 2, 33, logits, c->q));
    free_guarded(logits);
    free_case(c);
}
END_TEST

/* ---- The softmax's functions, against libm in double precision ---- */

static const szg_attention_kernels *kernels_of(int level) {
#ifdef __x86_64__
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (level == 2 && avx512)
        return &szg_attention_kernels_avx512;
    if (level >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &szg_attention_kernels_avx2;
#endif
    (void)level;
    return &szg_attention_kernels_baseline;
}

enum { BLOCK = 1024 };
static const float LEAST = -87.33654F, MOST = 88.37F;

static void check_exponential(float x, float got) {
    double want = exp((double)x);
    if (x < LEAST)
        ck_assert_msg(got == 0, "exp(%.9g) = %.9g", (double)x, (double)got);
    else if (x < MOST)
        ck_close(got, want, want * 0x1p-22);
}

START_TEST(exponentials_over_their_range) {
    float x[BLOCK], y[BLOCK];
    for (int level = 0; level < LEVEL_COUNT; level++)
        for (int64_t block = 0; block < test_trials(400); block++) {
            for (int i = 0; i < BLOCK; i++) /* the whole range, then close to 0 */
                x[i] = block % 2 ? -90.0F + 179.0F * (float)(block * BLOCK + i) / (400.0F * BLOCK)
                                 : ldexpf((float)i / BLOCK - 0.5F, -(int)(block % 64));
            kernels_of(level)->exponential(BLOCK, x, y);
            for (int i = 0; i < BLOCK; i++)
                check_exponential(x[i], y[i]);
        }
}
END_TEST

START_TEST(exponentials_at_the_edges) {
    const float edges[SZG_ATTENTION_PAD] = {
        0.0F,  -0.0F, -INFINITY, INFINITY, NAN,    LEAST,       -88.0F,       -1e30F,
        89.0F, 1e30F, 1e-40F,    1e-30F,   88.36F, 0.34657359F, -0.34657359F, -87.5F};
    float y[SZG_ATTENTION_PAD];
    for (int level = 0; level < LEVEL_COUNT; level++) {
        kernels_of(level)->exponential(SZG_ATTENTION_PAD, edges, y);
        ck_assert(y[0] == 1 && y[1] == 1 && y[2] == 0 && y[3] == INFINITY && isnan(y[4]));
        ck_assert(y[5] > 0 && y[6] == 0 && y[7] == 0 && y[8] == INFINITY && y[9] == INFINITY);
        for (int i = 10; i < SZG_ATTENTION_PAD; i++)
            check_exponential(edges[i], y[i]);
    }
}
END_TEST

START_TEST(logarithms_of_sums) {
    float x[BLOCK], y[BLOCK];
    for (int level = 0; level < LEVEL_COUNT; level++) {
        for (int block = -120; block < 120; block++) {
            for (int i = 0; i < BLOCK; i++)
                x[i] = ldexpf(1 + (float)i / BLOCK, block);
            kernels_of(level)->logarithm(BLOCK, x, y);
            for (int i = 0; i < BLOCK; i++) {
                double want = log((double)x[i]);
                ck_close(y[i], want, 0x1p-22 * fmax(1, fabs(want)));
            }
        }
        x[0] = NAN, x[1] = INFINITY;
        kernels_of(level)->logarithm(SZG_ATTENTION_PAD, x, y);
        ck_assert(isnan(y[0]) && isnan(y[1]));
    }
}
END_TEST

void test_register(Suite *suite) {
    test_add(suite, "attention_is_the_plain_sum", attention_is_the_plain_sum);
    test_add(suite, "logits_with_and_without_the_encoding", logits_with_and_without_the_encoding);
    test_add(suite, "threads_do_not_change_a_bit", threads_do_not_change_a_bit);
    test_add(suite, "means_of_diagonals", means_of_diagonals);
    test_add(suite, "exponentials_over_their_range", exponentials_over_their_range);
    test_add(suite, "exponentials_at_the_edges", exponentials_at_the_edges);
    test_add(suite, "logarithms_of_sums", logarithms_of_sums);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}

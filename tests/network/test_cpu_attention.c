/* The fused attention of the cpu table against plain sums in double precision, at every level of
 * the processor.
 *
 * Tolerance. Inputs are at most 1 in modulus, factors at most 1.5, so that a logit's terms sum to
 * at most SCALE * 2.25 * d and its rounding error is below E = (d + 8) eps times that; a weight is
 * off by a relative 2 E + (keys + 16) eps, as are sums of `keys` weighted terms. Gradients pass
 * through at most three such sums of at most N terms; every result is compared against
 * 16 (d_qk + d_v + N) eps times the sum of the moduli of its terms, which the oracle carries. */
#include "cpu_attention_oracle.h"

static const char *const LEVELS[] = {"baseline", "avx2", "avx512"};
enum { LEVEL_COUNT = 3 };

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
    ck_szg_ok(szgi_network_attention(context, &c->attention));
    ck_szg_ok(szgi_network_attention_backward(context, &c->attention, &c->gradient));
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
    ck_szg_ok(szgi_network_attention_logits(test_context(), &c->attention, coupled, got));
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
        szg_context_options options = {SZG_INIT(szg_context_options), .threads = threads[t]};
        ck_szg_ok(szg_context_open(&options, &context));
        test_case *c = new_case(&s);
        ck_szg_ok(szgi_network_attention(context, &c->attention));
        ck_szg_ok(szgi_network_attention_backward(context, &c->attention, &c->gradient));
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

START_TEST(failed_allocations_are_survived) {
    szg_context *context = test_context();
    test_case *c = new_case(&SHAPES[6]);
    float *logits = new_guarded(c->shape.batch * c->shape.heads * 33 * 33);
    ck_survives_failed_allocations(1, szgi_network_attention(context, &c->attention));
    ck_survives_failed_allocations(
        2, szgi_network_attention_backward(context, &c->attention, &c->gradient));
    ck_survives_failed_allocations(
        1, szgi_network_attention_logits(context, &c->attention, true, logits));
    free_guarded(logits);
    free_case(c);
}
END_TEST

TEST_FILE("cpu_attention") {
    test_add(suite, "attention_is_the_plain_sum", attention_is_the_plain_sum);
    test_add(suite, "logits_with_and_without_the_encoding", logits_with_and_without_the_encoding);
    test_add(suite, "threads_do_not_change_a_bit", threads_do_not_change_a_bit);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}

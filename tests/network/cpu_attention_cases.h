/* Arguments of the fused attention to try: shapes, numbers, guards around what is written. */
#ifndef SZG_TESTS_CPU_ATTENTION_CASES_H
#define SZG_TESTS_CPU_ATTENTION_CASES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/random.h"

#include "../../lib/network/cpu_attention.h"
#include "suite.h"

enum { GUARD = 32 };
static const float SENTINEL = 12345.5F;

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
static inline float *new_guarded(int64_t count) {
    float *at;
    ck_szg_ok(szgi_memory_alloc(test_context(), count + 2 * GUARD, &at));
    for (int64_t i = 0; i < count + 2 * GUARD; i++)
        at[i] = SENTINEL;
    return at + GUARD;
}

static inline void check_guards(const float *at, int64_t count) {
    for (int64_t i = 1; i <= GUARD; i++)
        ck_assert(at[-i] == SENTINEL && at[count + i - 1] == SENTINEL);
}

static inline void free_guarded(float *at) {
    szgi_memory_free(at - GUARD);
}

static inline float *new_uniform(uint32_t place, int64_t count, double largest) {
    szgi_stream stream = {.seed = test_seed(), .step = place, .purpose = 0x41};
    float *at = new_guarded(count);
    for (int64_t i = 0; i < count; i++)
        at[i] = (float)(largest * (2 * szgi_random_uniform(&stream, (uint64_t)i) - 1));
    return at;
}

typedef struct test_case {
    shape shape;
    szgi_attention attention;
    szgi_attention_gradient gradient;
    szgi_step_block block;
    int32_t lengths[4];
    int64_t rows, factor_count, lags, ld_qk, ld_v;
    float *q, *k, *v, *f, *g, *bias, *out, *log_sum, *dout, *dq, *dk, *dv, *dbias;
} test_case;

/* Leading dimensions leave a gap of 3 after the heads, which must stay untouched. */
static inline test_case *new_case(const shape *s) {
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
    c->block = (szgi_step_block){.seed = test_seed(), .step = 5};
    c->attention = (szgi_attention){
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
        .dropout = {s->dropout, szgi_network_purpose(SZGI_PLACE_ATTENTION, 3), &c->block},
        .out = c->out,
        .ldout = c->ld_v,
        .log_sum = c->log_sum};
    c->gradient = (szgi_attention_gradient){.dout = c->dout,
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

static inline void free_case(test_case *c) {
    float *all[] = {c->q,       c->k,    c->v,  c->f,  c->g,  c->bias, c->out,
                    c->log_sum, c->dout, c->dq, c->dk, c->dv, c->dbias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free_guarded(all[i]);
    free(c);
}

#endif

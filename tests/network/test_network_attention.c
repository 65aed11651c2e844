/* Attention and its logits. */
#include "linalg/ops.h"
#include "network_tests.h"

typedef struct attention_case {
    szgi_attention a;
    szgi_attention_gradient g;
    bool coupled; /* of the logits */
    int q, k, v, q_factors, k_factors, bias, lengths, block, out, log_sum;
    int dout, dq, dk, dv, dbias, logits;
} attention_case;

static szgi_attention attention_at(const attention_case *c, void **at) {
    szgi_attention a = c->a;
    a.q = at[c->q];
    a.k = at[c->k];
    a.v = at[c->v];
    a.q_factors = at[c->q_factors];
    a.k_factors = at[c->k_factors];
    a.bias = at[c->bias];
    a.lengths = at[c->lengths];
    a.dropout.block = at[c->block];
    a.out = at[c->out];
    a.log_sum = at[c->log_sum];
    return a;
}

static szg_status attention_forward(szg_context *context, const op_trial *t, void **at) {
    szgi_attention a = attention_at(t->shape, at);
    return szgi_network_attention(context, &a);
}

/* Where the backend keeps dropout's mask: the one that a forward pass leaves, with its results out
 * of the way. Free both. The rest of its memory holds bits that no mask has. */
static szg_status keep_mask(szg_context *context, szgi_attention *a, void **out) {
    int64_t bytes, real = szgi_network_real_size(context);
    *out = NULL;
    SZG_TRY(szgi_network_attention_kept(context, a, &bytes));
    if (bytes == 0)
        return SZG_OK;
    unsigned char *noise = (unsigned char *)new_numbers(bytes / 8 + 1);
    memset(noise, 0x5A, (size_t)bytes);
    SZG_TRY(szgi_device_alloc(context, bytes, &a->kept));
    SZG_TRY(szgi_device_upload(context, a->kept, noise, bytes));
    szgi_memory_free(noise);
    SZG_TRY(szgi_device_alloc(context, a->batch * a->length * a->ldout * real, out));
    szgi_attention forward = *a;
    forward.out = *out;
    forward.log_sum = NULL;
    return szgi_network_attention(context, &forward);
}

static szg_status attention_backward(szg_context *context, const op_trial *t, void **at) {
    const attention_case *c = t->shape;
    szgi_attention a = attention_at(c, at);
    szgi_attention_gradient g = c->g;
    g.dout = at[c->dout];
    g.dq = at[c->dq];
    g.dk = at[c->dk];
    g.dv = at[c->dv];
    g.dbias = at[c->dbias];
    void *out;
    szg_status status = keep_mask(context, &a, &out);
    if (status == SZG_OK)
        status = szgi_network_attention_backward(context, &a, &g);
    szgi_device_free(context, a.kept), szgi_device_free(context, out);
    return status;
}

static szg_status logits_forward(szg_context *context, const op_trial *t, void **at) {
    const attention_case *c = t->shape;
    szgi_attention a = attention_at(c, at);
    a.v = a.out = a.log_sum = NULL;
    return szgi_network_attention_logits(context, &a, c->coupled, at[c->logits]);
}

/* In units of u, what tables of lower precision move an operand of a product by, relative to it; a
 * product of two moves by 2.1 u at most. So a logit by `logit`, and a weight relatively by
 * exp(2 u logit) - 1 = u `weight`, log_sum included, however large that is; but no mean of values
 * moves by more than their spread. dw_ij moves by 2.1 u S, what is rounded besides is w and dL. */
static void rounding_bounds(const attention_case *c, op_trial *t) {
    const szgi_attention *a = &c->a;
    double u = operand_rounding();
    if (u == 0 || t->forward == logits_forward) /* logits keep their precision */
        return;
    double n = (double)a->length, b = (double)a->batch, keep = 1 / (1 - a->dropout.probability);
    double turn =
        a->pairs > 0 ? fmax(1, largest(t, c->q_factors) * largest(t, c->k_factors) * 2) : 1;
    double q = largest(t, c->q), k = largest(t, c->k), v = largest(t, c->v);
    double dout = largest(t, c->dout), s = keep * (double)a->d_v * dout * v;
    double reach = fabs(a->scale) * sqrt(2 * turn);
    double logit = 2.1 * fabs(a->scale) * (double)a->d_qk * turn * q * k;
    double weight = expm1(2 * u * logit) / u;
    double slope = s * (2 * weight + (2.1 + 2) * (1 + u * weight));
    double product = slope + 2.1 * s * (1 + u * weight);
    t->slot[c->out].rounded = keep * v * fmin(weight + 2.1 * (1 + u * weight), 2 / u + 4);
    t->slot[c->log_sum].rounded = logit;
    t->slot[c->dq].rounded = reach * k * product;
    t->slot[c->dk].rounded = reach * q * n * product;
    t->slot[c->dv].rounded = keep * dout * n * (weight + 2.1 * (1 + u * weight));
    t->slot[c->dbias].rounded = b * n * slope;
}

/* In units of eps, with P(k) = products_error(k). A rotated vector errs by 3 eps of its pairs'
 * moduli and a logit by (P(d) + 8) eps of sum |q| |k| (Higham 2002, 3.1), so by `logit`; a weight
 * exp(L - log_sum) relatively by twice that, the rounding of log_sum and of the exponential, n more
 * for the sum: `weight`. With S the largest |keep dout . v|, dw_ij errs by (P(d_v) + 4) eps S, the
 * mean of a row by (weight + d_v + ...) S, and dL_ij = w_ij (dw_ij - mean) by w_ij `slope`; the
 * gradients are sums of n dL_ij times q, k. */
static void attention_bounds(const attention_case *c, op_trial *t) {
    const szgi_attention *a = &c->a;
    double n = (double)a->length, d = (double)a->d_qk, e = (double)a->d_v, b = (double)a->batch;
    double turn = a->pairs > 0 ? largest(t, c->q_factors) * largest(t, c->k_factors) * 2 : 1;
    turn = turn < 1 ? 1 : turn;
    double product = fabs(a->scale) * d * turn * largest(t, c->q) * largest(t, c->k);
    double size = product + largest(t, c->bias), keep = 1 / (1 - a->dropout.probability);
    double sum_d = t->forward == logits_forward ? d : products_error(d); /* logits: plain sums */
    double sum_n = products_error(n), sum_e = products_error(e);
    double logit = (sum_d + 8) * product + 2 * largest(t, c->bias);
    double weight = 2 * logit + 4 * (size + log(n)) + n + 16;
    double v = largest(t, c->v), dout = largest(t, c->dout), s = keep * e * dout * v;
    double slope = 2 * s * (weight + n + sum_e + e + 16), reach = fabs(a->scale) * sqrt(2 * turn);
    t->slot[c->out].bound = keep * v * (weight + sum_n + 4);
    t->slot[c->log_sum].bound = logit + 4 * (size + log(n)) + n + 8;
    t->slot[c->dq].bound = reach * largest(t, c->k) * (slope + 2 * s * (sum_n + 8));
    t->slot[c->dk].bound = reach * largest(t, c->q) * n * (slope + 2 * s * (sum_n + 8));
    t->slot[c->dv].bound = keep * dout * n * (weight + sum_n + 4);
    t->slot[c->dbias].bound =
        b * n * (slope + 2 * s * (b * n + 8)) + (b * n) * largest(t, c->dbias);
    /* A row of dL sums to 0; logits and log_sum are rounded before their difference is taken. */
    t->slot[c->out].floor = 4 * keep * v * size;
    t->slot[c->dv].floor = 4 * keep * dout * size;
    t->slot[c->dq].floor = 4 * reach * largest(t, c->k) * s * (1 + size);
    t->slot[c->dk].floor = 4 * reach * largest(t, c->q) * s * (1 + size);
    t->slot[c->dbias].floor = 4 * s * (1 + size);
    if (t->forward == logits_forward)
        t->slot[c->logits].bound = logit;
    rounding_bounds(c, t);
}

typedef struct attention_shape {
    int64_t batch, heads, length, d_qk, d_v;
} attention_shape;

/* Rotation, bias and masks of a case: draws of the fields that the decoder uses. */
static void draw_coupling(attention_case *c) {
    szgi_attention *a = &c->a;
    int64_t most = a->d_qk / 2;
    a->pairs = most == 0 || draw_below(3) == 0 ? 0 : draw_below(2) ? most : 1 + draw_below(most);
    a->rotary_offset = draw_below(a->d_qk - 2 * a->pairs + 1);
    a->half = draw_below(2);
    a->factor_stride = a->pairs && draw_below(2) ? 2 * a->pairs * a->length + DRAW_OF(0, 0, 3) : 0;
    a->causal = draw_below(2);
    const double probabilities[] = {0, 0, 0.1, 0.5};
    a->dropout.probability = probabilities[draw_below(4)];
    a->dropout.purpose = szgi_network_purpose(SZGI_PLACE_ATTENTION, 2);
}

static void add_inputs(attention_case *c, op_trial *t) {
    const szgi_attention *a = &c->a;
    int64_t rows = a->batch * a->length, heads = a->factor_stride ? a->heads : 1;
    int64_t factors = (heads - 1) * a->factor_stride + 2 * a->pairs * a->length;
    c->q = add_matrix(t, SLOT_INPUT, "q", rows, a->heads * a->d_qk, a->ldq, true);
    c->k = add_matrix(t, SLOT_INPUT, "k", rows, a->heads * a->d_qk, a->ldk, true);
    c->v = add_matrix(t, SLOT_INPUT, "v", rows, a->heads * a->d_v, a->ldv, true);
    c->q_factors = add_slot(t, SLOT_INPUT, "q_factors", factors, a->pairs > 0);
    c->k_factors = add_slot(t, SLOT_INPUT, "k_factors", factors, a->pairs > 0);
    c->bias = add_slot(t, SLOT_INPUT, "bias", a->heads * (2 * a->length - 1), draw_below(2));
    c->lengths = add_ints(t, "lengths", a->batch, 0, a->length + 1);
    if (draw_below(2))
        t->slot[c->lengths].count = 0;
    c->block = add_block(t);
}

static void add_gradients(attention_case *c, op_trial *t) {
    const szgi_attention *a = &c->a;
    int64_t rows = a->batch * a->length;
    c->out = add_matrix(t, SLOT_RESULT, "out", rows, a->heads * a->d_v, a->ldout, true);
    c->log_sum = add_slot(t, SLOT_RESULT, "log_sum", rows * a->heads, true);
    c->dout = add_matrix(t, SLOT_SEED, "dout", rows, a->heads * a->d_v, c->g.lddout, true);
    c->dq = add_matrix(t, SLOT_GRADIENT, "dq", rows, a->heads * a->d_qk, c->g.lddq, true);
    c->dk = add_matrix(t, SLOT_GRADIENT, "dk", rows, a->heads * a->d_qk, c->g.lddk, true);
    c->dv = add_matrix(t, SLOT_GRADIENT, "dv", rows, a->heads * a->d_v, c->g.lddv, true);
    c->dbias = add_slot(t, SLOT_GRADIENT, "dbias", a->heads * (2 * a->length - 1),
                        t->slot[c->bias].count > 0);
    t->slot[c->dout].of = c->out;
    t->slot[c->dq].of = c->q;
    t->slot[c->dk].of = c->k;
    t->slot[c->dv].of = c->v;
    t->slot[c->dbias].of = c->bias;
    t->slot[c->dbias].adds = true;
}

static void open_attention(attention_case *c, op_trial *t, const attention_shape *s) {
    *t = (op_trial){.shape = c, .forward = attention_forward, .backward = attention_backward};
    *c = (attention_case){.a = {.batch = s->batch,
                                .heads = s->heads,
                                .length = s->length,
                                .d_qk = s->d_qk,
                                .d_v = s->d_v,
                                .scale = DRAW_OF(1, 2, -1) / sqrt((double)s->d_qk)}};
    int64_t qk = s->heads * s->d_qk, v = s->heads * s->d_v;
    c->a.ldq = qk + DRAW_OF(0, 0, 5);
    c->a.ldk = qk + DRAW_OF(0, 0, 3);
    c->a.ldv = v + DRAW_OF(0, 0, 7);
    c->a.ldout = v + DRAW_OF(0, 0, 1);
    c->g = (szgi_attention_gradient){.lddout = v + DRAW_OF(0, 0, 2),
                                     .lddq = qk + DRAW_OF(0, 0, 1),
                                     .lddk = qk + DRAW_OF(0, 0, 9),
                                     .lddv = v + DRAW_OF(0, 0, 4)};
    draw_coupling(c);
    add_inputs(c, t);
    add_gradients(c, t);
    attention_bounds(c, t);
    blank(t, c->out), blank(t, c->log_sum), blank(t, c->dq), blank(t, c->dk), blank(t, c->dv);
}

START_TEST(attention_agrees) {
    for (int64_t i = 0; i < test_trials(80); i++) {
        attention_case c;
        op_trial t;
        attention_shape s = {DRAW_OF(1, 2, 3), DRAW_OF(1, 2, 5), DRAW_OF(1, 2, 3, 5, 8, 17, 33, 47),
                             DRAW_OF(1, 2, 3, 5, 8, 16, 17, 32, 40), DRAW_OF(1, 2, 3, 7, 16, 24)};
        if (draw_below(2))
            s.d_v = s.d_qk;
        open_attention(&c, &t, &s);
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

/* The sizes that models have, and lengths around the powers of two. */
START_TEST(large_attention_agrees) {
    const attention_shape shapes[] = {
        {1, 2, 128, 16, 16}, {1, 1, 129, 128, 128}, {2, 1, 127, 32, 16}, {1, 3, 100, 16, 16},
        {1, 1, 300, 3, 5},   {3, 2, 64, 64, 64},    {1, 1, 257, 16, 16},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        attention_case c;
        op_trial t;
        open_attention(&c, &t, &shapes[i]);
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

/* Every width of a GPU's kernels, lengths beside and between its tiles, each mask with and without
 * dropout: what is left out because nobody sees it must be all of that and no more. */
START_TEST(masked_attention_agrees) {
    const attention_shape shapes[] = {
        {1, 2, 128, 16, 16}, {2, 1, 190, 16, 16}, {1, 1, 130, 32, 16}, {2, 1, 100, 32, 32},
        {1, 1, 80, 48, 48},  {1, 1, 70, 100, 20}, {2, 1, 33, 8, 16},
    };
    for (size_t i = 0; i < 4 * sizeof shapes / sizeof *shapes; i++) {
        attention_case c;
        op_trial t;
        do {
            open_attention(&c, &t, &shapes[i / 4]);
            if (c.a.causal == (i % 2 == 1) && (c.a.dropout.probability > 0) == (i / 2 % 2 == 1))
                break;
            close_trial(&t);
        } while (true);
        for (int64_t b = 0; b < t.slot[c.lengths].count; b++) /* short and long ones */
            t.slot[c.lengths].values[b] =
                (double)(b == 0 ? draw_below(c.a.length / 2) : c.a.length - draw_below(3));
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

START_TEST(attention_gradients_are_differences) {
    for (int64_t i = 0; i < test_trials(12); i++) {
        attention_case c;
        op_trial t;
        attention_shape s = {1 + draw_below(2), 1 + draw_below(2), 1 + draw_below(5),
                             1 + draw_below(5), 1 + draw_below(4)};
        open_attention(&c, &t, &s);
        check_differences(&t);
        close_trial(&t);
    }
}
END_TEST

/* lengths[b] = 0: no key at all. */
START_TEST(rows_without_keys_are_zero) {
    attention_case c;
    op_trial t = {0};
    do {
        close_trial(&t);
        open_attention(&c, &t, &(attention_shape){2, 2, 5, 4, 4});
    } while (t.slot[c.lengths].count == 0 || c.a.ldout > 8);
    t.slot[c.lengths].values[0] = 0;
    t.slot[c.lengths].values[1] = 3;
    check_parity(&t);
    run_forward(tested(1), &t);
    for (int i = 0; i < 40; i++)
        ck_assert(t.slot[c.out].values[i] == 0);
    for (int i = 0; i < 10; i++)
        ck_assert(t.slot[c.log_sum].values[i] == -INFINITY);
    close_trial(&t);
}
END_TEST

/* Logits of a few hundred: exponentials must neither overflow nor vanish together. */
START_TEST(large_logits_stay_finite) {
    attention_case c;
    op_trial t;
    open_attention(&c, &t, &(attention_shape){1, 1, 40, 8, 8});
    for (int64_t i = 0; i < t.slot[c.q].count; i++)
        t.slot[c.q].values[i] *= 128;
    attention_bounds(&c, &t);
    check_parity(&t);
    close_trial(&t);
}
END_TEST

/* A NaN among the queries reaches its row, one among the keys every row that sees it. */
static void check_nan(bool in_query) {
    enum { N = 37, D = 16, PLACE = 20 };
    attention_case c;
    op_trial t = {0};
    do {
        close_trial(&t);
        open_attention(&c, &t, &(attention_shape){1, 1, N, D, D});
    } while (t.slot[c.lengths].count > 0 || c.a.dropout.probability > 0 || c.a.pairs > 0);
    c.a.causal = true;
    int64_t ld = in_query ? c.a.ldq : c.a.ldk;
    t.slot[in_query ? c.q : c.k].values[PLACE * ld + 3] = NAN;
    run_forward(tested(1), &t);
    for (int64_t i = 0; i < N; i++) {
        bool sees = in_query ? i == PLACE : i >= PLACE;
        ck_assert(!isnan(t.slot[c.out].values[i * c.a.ldout + 1]) == !sees);
        ck_assert(!isnan(t.slot[c.log_sum].values[i]) == !sees);
    }
    close_trial(&t);
}

START_TEST(nan_reaches_what_sees_it) {
    check_nan(true);
    check_nan(false);
}
END_TEST

/* One key has the weight 1: out is v, and log_sum q times k. Numbers of 9 and of 20 bits behind the
 * point: exact in single precision, the former in TF32 too. */
START_TEST(attention_keeps_the_bits_of_its_precision) {
    double u = operand_rounding();
    for (int bits = 9; bits <= 20; bits += 11) {
        attention_case c;
        op_trial t = {0};
        do {
            close_trial(&t);
            open_attention(&c, &t, &(attention_shape){1, 1, 1, 1, 1});
        } while (t.slot[c.lengths].count > 0 || t.slot[c.bias].count > 0 ||
                 c.a.dropout.probability > 0);
        c.a.scale = t.slot[c.k].values[0] = 1;
        t.slot[c.q].values[0] = t.slot[c.v].values[0] = 1 + ldexp(1, -bits);
        run_forward(tested(1), &t);
        double bound = u == 0x1p-10 && bits == 9 ? 0 : u;
        ck_close(t.slot[c.out].values[0], 1 + ldexp(1, -bits), bound);
        ck_close(t.slot[c.log_sum].values[0], 1 + ldexp(1, -bits), bound);
        close_trial(&t);
    }
}
END_TEST

/* The fused kernels of a GPU hold no more than 128 numbers of a head. */
static szg_status refused(szg_context *context, const op_trial *t, void **at) {
    call_fn *const calls[] = {attention_forward, attention_backward};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(calls[i](context, t, at), SZG_EBACKEND);
        const char *message = szg_context_message(context);
        ck_assert_msg(strstr(message, "at most 128 numbers a head"), "%s", message);
    }
    return SZG_OK;
}

static bool is_gpu(void) {
    return strncmp(szgi_backend_name(tested(0)), "cuda", 4) == 0;
}

START_TEST(heads_beyond_a_gpu_are_refused) {
    bool gpu = is_gpu();
    const attention_shape shapes[] = {{1, 2, 5, 129, 3}, {1, 2, 5, 3, 129}};
    for (int i = 0; i < 2; i++) {
        attention_case c;
        op_trial t;
        double *left[SLOTS];
        open_attention(&c, &t, &shapes[i]);
        if (gpu) {
            run_on(tested(0), &t, refused, left);
            free_run(&t, left);
        } else {
            check_parity(&t);
        }
        close_trial(&t);
    }
}
END_TEST

static int64_t kept_bytes(int64_t batch, int64_t heads, int64_t length, double probability) {
    const szgi_attention a = {
        .batch = batch, .heads = heads, .length = length, .dropout = {.probability = probability}};
    int64_t bytes;
    ck_on(tested(0), szgi_network_attention_kept(tested(0), &a, &bytes));
    return bytes;
}

/* A GPU keeps one bit a weight, in words of 32 keys: 16.8 MB for 512 sequences, 16 heads, 128 keys.
 */
START_TEST(a_gpu_keeps_a_bit_a_weight) {
    int64_t rows = INT64_C(512) * 16 * 128;
    ck_assert_int_eq(kept_bytes(512, 16, 128, 0.1), is_gpu() ? rows * 16 : 0);
    ck_assert_int_eq(kept_bytes(512, 16, 128, 0), 0);
    ck_assert_int_eq(kept_bytes(1, 1, 33, 0.5), is_gpu() ? 33 * 8 : 0);
    ck_assert_int_eq(kept_bytes(0, 16, 128, 0.1), 0);
    szgi_attention a = {.batch = INT64_MAX / 2, .heads = 4, .length = 2};
    int64_t bytes;
    ck_assert_int_ne(szgi_network_attention_kept(tested(0), &a, &bytes), SZG_OK);
    a.batch = 1, a.length = INT64_C(1) << 32;
    ck_assert_int_ne(szgi_network_attention_kept(tested(0), &a, &bytes), SZG_OK);
    ck_assert_int_eq(bytes, 0);
}
END_TEST

static szg_status backward_without_mask(szg_context *context, const op_trial *t, void **at) {
    const attention_case *c = t->shape;
    szgi_attention a = attention_at(c, at);
    szgi_attention_gradient g = c->g;
    g.dout = at[c->dout], g.dq = at[c->dq], g.dk = at[c->dk], g.dv = at[c->dv];
    szg_status status = szgi_network_attention_backward(context, &a, &g);
    ck_assert_int_eq(status, is_gpu() ? SZG_EINVAL : SZG_OK);
    if (is_gpu())
        ck_assert_str_eq(szg_context_message(context), "attention backward: kept is NULL");
    return SZG_OK;
}

START_TEST(a_backward_pass_without_the_mask_is_refused) {
    attention_case c;
    op_trial t = {0};
    double *left[SLOTS];
    do {
        close_trial(&t);
        open_attention(&c, &t, &(attention_shape){1, 1, 4, 4, 4});
    } while (c.a.dropout.probability == 0);
    run_on(tested(0), &t, backward_without_mask, left);
    free_run(&t, left);
    close_trial(&t);
}
END_TEST

START_TEST(logits_agree) {
    for (int64_t i = 0; i < test_trials(30); i++) {
        attention_case c;
        op_trial t;
        attention_shape s = {DRAW_OF(1, 2), DRAW_OF(1, 3), DRAW_OF(1, 2, 7, 33, 64),
                             DRAW_OF(1, 2, 3, 16, 17, 32), 1};
        open_attention(&c, &t, &s);
        c.coupled = i % 2;
        t.forward = logits_forward;
        t.backward = NULL;
        t.slot[c.out].role = t.slot[c.log_sum].role = SLOT_INPUT;
        c.logits =
            add_slot(&t, SLOT_RESULT, "logits", s.batch * s.heads * s.length * s.length, true);
        blank(&t, c.logits);
        attention_bounds(&c, &t);
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

TEST_FILE("network_attention") {
    test_add(suite, "attention_agrees", attention_agrees);
    test_add(suite, "large_attention_agrees", large_attention_agrees);
    test_add(suite, "masked_attention_agrees", masked_attention_agrees);
    test_add(suite, "attention_gradients_are_differences", attention_gradients_are_differences);
    test_add(suite, "rows_without_keys_are_zero", rows_without_keys_are_zero);
    test_add(suite, "large_logits_stay_finite", large_logits_stay_finite);
    test_add(suite, "nan_reaches_what_sees_it", nan_reaches_what_sees_it);
    test_add(suite, "attention_keeps_the_bits_of_its_precision",
             attention_keeps_the_bits_of_its_precision);
    test_add(suite, "heads_beyond_a_gpu_are_refused", heads_beyond_a_gpu_are_refused);
    test_add(suite, "a_gpu_keeps_a_bit_a_weight", a_gpu_keeps_a_bit_a_weight);
    test_add(suite, "a_backward_pass_without_the_mask_is_refused",
             a_backward_pass_without_the_mask_is_refused);
    test_add(suite, "logits_agree", logits_agree);
}

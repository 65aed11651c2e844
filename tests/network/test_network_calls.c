/* The checked functions: memory, refusals, sizes of 0, allocation failures, a complete table. */
#include <math.h>
#include "linalg/ops.h"
#include "plugin/backend.h"

#include "network_tests.h"

START_TEST(memory_moves) {
    enum { COUNT = 3000000 };
    szg_context *context = tested(1);
    unsigned char *host = NULL, *back = NULL, *first, *second;
    ck_on(context, szgi_memory_alloc(context, COUNT, &host));
    ck_on(context, szgi_memory_alloc(context, COUNT, &back));
    for (int64_t i = 0; i < COUNT; i++)
        host[i] = (unsigned char)(i % 251);
    ck_on(context, szgi_device_alloc(context, COUNT, &first));
    ck_on(context, szgi_device_alloc(context, COUNT, &second));
    ck_on(context, szgi_device_download(context, back, first, COUNT));
    for (int64_t i = 0; i < COUNT; i++)
        if (back[i] != 0)
            ck_abort_msg("fresh memory holds %d at %lld", back[i], (long long)i);
    ck_on(context, szgi_device_upload(context, first, host, COUNT));
    ck_on(context, szgi_device_copy(context, second, first, COUNT));
    ck_on(context, szgi_device_clear(context, first, COUNT - 1));
    ck_on(context, szgi_device_clear_columns(context, second, 100, 1000, 7));
    ck_on(context, szgi_device_sync(context));
    ck_on(context, szgi_device_download(context, back, second, COUNT));
    for (int64_t i = 0; i < COUNT; i++)
        if (back[i] != (i < 100000 && i % 1000 < 7 ? 0 : host[i]))
            ck_abort_msg("byte %lld is %d", (long long)i, back[i]);
    ck_on(context, szgi_device_download(context, back, first, COUNT));
    ck_assert(back[0] == 0 && back[COUNT - 2] == 0 && back[COUNT - 1] == host[COUNT - 1]);
    szgi_device_free(context, first), szgi_device_free(context, second);
    szgi_device_free(context, NULL);
    szgi_memory_free(host), szgi_memory_free(back);
}
END_TEST

#define REFUSED(words, call) ck_szg_fails(SZG_EINVAL, words, call)

START_TEST(bad_memory_calls_are_refused) {
    szg_context *context = test_context();
    char bytes[8];
    void *memory;
    REFUSED("bytes = -1", szgi_device_alloc(context, -1, &memory));
    REFUSED("source is NULL", szgi_device_upload(context, bytes, NULL, 8));
    REFUSED("target is NULL", szgi_device_download(context, NULL, bytes, 8));
    REFUSED("device copy: bytes = -3", szgi_device_copy(context, bytes, bytes, -3));
    REFUSED("target is NULL", szgi_device_clear(context, NULL, 1));
    REFUSED("stride = 3 is below 4", szgi_device_clear_columns(context, bytes, 2, 3, 4));
    ck_szg_ok(szgi_device_upload(context, NULL, NULL, 0));
    ck_szg_ok(szgi_device_clear(context, NULL, 0));
}
END_TEST

START_TEST(bad_layers_are_refused) {
    szg_context *context = test_context();
    float x[16] = {0};
    szgi_linear l = {.rows = 2, .in = 2, .out = 3, .x = x, .ldx = 2, .weight = x, .y = x, .ldy = 3};
    szgi_linear_gradient g = {.dy = x, .lddy = 3};
    szgi_linear bad = l;
    bad.ldy = 2;
    REFUSED("linear: leading dimension 2 of y is below its 3 columns",
            szgi_network_linear(context, &bad));
    bad = l, bad.rows = -2;
    REFUSED("rows = -2", szgi_network_linear(context, &bad));
    bad = l, bad.weight = NULL;
    REFUSED("weight is NULL", szgi_network_linear(context, &bad));
    bad = l, bad.activation = (szg_activation)9;
    REFUSED("activation = 9", szgi_network_linear(context, &bad));
    bad = l, bad.activation = SZG_ACTIVATION_GELU;
    REFUSED("before is NULL", szgi_network_linear_backward(context, &bad, &g));
    g.lddy = 1;
    REFUSED("of dy", szgi_network_linear_backward(context, &l, &g));
    bad = l, bad.out = bad.in = INT64_C(1) << 40;
    ck_szg_fails(SZG_ENOMEM, "linear", szgi_network_linear(context, &bad));
    szgi_layer_norm n = {.rows = 2, .width = 2, .x = x, .gamma = x, .beta = x, .eps = NAN, .y = x};
    REFUSED("eps = nan", szgi_network_layer_norm(context, &n));
    n.eps = 1e-5;
    szgi_layer_norm_gradient ng = {x, x, false, x, x};
    REFUSED("mean is NULL", szgi_network_layer_norm_backward(context, &n, &ng));
    n.mean = n.inverse = x;
    ng.add_dx = true;
    REFUSED("dx is dy", szgi_network_layer_norm_backward(context, &n, &ng));
    szgi_dropout dropout = {1, 0, NULL};
    REFUSED("probability = 1", szgi_network_dropout_residual(context, 2, 2, &dropout, x, x, x));
    dropout.probability = NAN;
    REFUSED("probability = nan", szgi_network_dropout_backward(context, 2, 2, &dropout, x, x));
    dropout.probability = 0.5;
    REFUSED("block is NULL", szgi_network_dropout_residual(context, 2, 2, &dropout, x, x, x));
    szgi_step_block block = {0};
    dropout.block = &block;
    REFUSED("smaller batches",
            szgi_network_dropout_residual(context, 1 << 18, 1 << 18, &dropout, x, x, x));
}
END_TEST

START_TEST(bad_attention_is_refused) {
    szg_context *context = test_context();
    float x[64] = {0};
    const szgi_attention good = {.batch = 1,
                                 .heads = 2,
                                 .length = 2,
                                 .d_qk = 4,
                                 .d_v = 3,
                                 .q = x,
                                 .k = x,
                                 .v = x,
                                 .ldq = 8,
                                 .ldk = 8,
                                 .ldv = 6,
                                 .scale = 1,
                                 .out = x,
                                 .ldout = 6,
                                 .log_sum = x};
    szgi_attention a = good;
    a.ldk = 7;
    REFUSED("of k is below its 8", szgi_network_attention(context, &a));
    a = good, a.scale = INFINITY;
    REFUSED("scale = inf", szgi_network_attention(context, &a));
    a = good, a.pairs = 2, a.rotary_offset = 1, a.q_factors = a.k_factors = x;
    REFUSED("2 pairs from dimension 1 do not fit d_qk = 4", szgi_network_attention(context, &a));
    a.rotary_offset = 0, a.factor_stride = 7;
    REFUSED("factor_stride = 7 is below 8", szgi_network_attention(context, &a));
    a.factor_stride = 8, a.k_factors = NULL;
    REFUSED("k_factors is NULL", szgi_network_attention_logits(context, &a, true, x));
    a = good, a.d_v = 0;
    REFUSED("d_v = 0", szgi_network_attention(context, &a));
    a = good, a.log_sum = NULL;
    szgi_attention_gradient g = {
        .dout = x, .lddout = 6, .dq = x, .dk = x, .dv = x, .lddq = 8, .lddk = 8, .lddv = 6};
    REFUSED("log_sum is NULL", szgi_network_attention_backward(context, &a, &g));
    g.lddv = 5;
    REFUSED("of dv", szgi_network_attention_backward(context, &good, &g));
    g.lddv = 6, g.lddk = 7;
    REFUSED("of dk", szgi_network_attention_backward(context, &good, &g));
    g.lddk = 8, g.lddq = 7;
    REFUSED("of dq", szgi_network_attention_backward(context, &good, &g));
    g.lddq = 8, g.lddout = 5;
    REFUSED("of dout", szgi_network_attention_backward(context, &good, &g));
    REFUSED("logits is NULL", szgi_network_attention_logits(context, &good, true, NULL));
    szgi_join join = {2, 2, 3, 1, false, true, 5, 1, 8};
    REFUSED("of a is below its 6", szgi_network_join(context, &join, x, x, x));
    szgi_bias_rows rows = {2, 3, 0, NULL};
    REFUSED("rows = 0", szgi_network_bias(context, &rows, x, x));
    rows.rows = 1;
    REFUSED("row_of_lag is NULL", szgi_network_bias_backward(context, &rows, x, x));
}
END_TEST

START_TEST(bad_ends_are_refused) {
    szg_context *context = test_context();
    float x[16] = {0};
    int32_t ints[4] = {0};
    szgi_embedding e = {2, 2, 0, 2, ints, x, NULL, NULL, x};
    REFUSED("vocabulary = 0", szgi_network_embedding(context, &e));
    e.vocabulary = 3;
    REFUSED("dout is NULL", szgi_network_embedding_backward(context, &e, NULL, x, x));
    szgi_pooling p = {2, 0, 2, NULL};
    REFUSED("length = 0", szgi_network_pooling(context, &p, x, x));
    p.length = 1;
    REFUSED("target is NULL", szgi_network_pooling_backward(context, &p, x, NULL));
    szgi_cross_entropy c = {.batch = 1, .classes = 3, .logits = x, .labels = ints};
    REFUSED("tally is NULL", szgi_network_cross_entropy(context, &c));
    szgi_adamw a = {.count = 2, .beta1 = 1, .beta2 = 0.9};
    REFUSED("beta1 = 1", szgi_network_adamw(context, &a));
    a.beta1 = 0.9;
    REFUSED("block is NULL", szgi_network_adamw(context, &a));
    REFUSED("count = -1", szgi_network_finite(context, -1, x, NULL));
    REFUSED("count = -1", szgi_network_advance(context, NULL, -1, NULL, NULL));
    REFUSED("block is NULL", szgi_network_advance(context, &(szgi_step_block){0}, 1, NULL, NULL));
}
END_TEST

START_TEST(bad_batches_are_refused) {
    szg_context *context = test_context();
    int64_t start[3] = {0};
    int32_t ints[4] = {0};
    const szgi_gather good = {.count = 2,
                              .length = 2,
                              .examples = 2,
                              .start = start,
                              .words = ints,
                              .classes = ints,
                              .tokens = ints,
                              .lengths = ints,
                              .labels = ints};
    szgi_gather g = good;
    g.count = 3;
    REFUSED("examples = 2 is below 3", szgi_network_gather(context, &g));
    g = good, g.first = 1;
    REFUSED("gather: first = 1 is above 0", szgi_network_gather(context, &g));
    g.first = -1;
    REFUSED("first = -1 is below 0", szgi_network_gather(context, &g));
    g = good, g.start = NULL;
    REFUSED("start is NULL", szgi_network_gather(context, &g));
    g = good, g.labels = NULL;
    REFUSED("labels is NULL", szgi_network_gather(context, &g));
    g = good, g.count = g.examples = g.length = INT64_C(1) << 32;
    ck_szg_fails(SZG_ENOMEM, "gather", szgi_network_gather(context, &g));
}
END_TEST

/* The tables of the host do not record, and say so. */
START_TEST(recording_is_refused_by_the_host) {
    szg_context *context = test_context();
    void *recording = &context;
    ck_assert(!szgi_device_records(context));
    ck_szg_fails(SZG_EBACKEND, "cpu has no device record begin", szgi_device_record_begin(context));
    ck_szg_fails(SZG_EBACKEND, "no device record end", szgi_device_record_end(context, &recording));
    ck_assert_ptr_null(recording);
    ck_szg_fails(SZG_EBACKEND, "no device replay", szgi_device_replay(context, &context));
    REFUSED("recording is NULL", szgi_device_replay(context, NULL));
    szgi_device_recording_close(context, &context);
    szgi_device_recording_close(context, NULL);
}
END_TEST

/* Marks of the device's clock lie in the order of the work; the host's tables have none. */
START_TEST(marks_follow_the_work) {
    szg_context *context = tested(0);
    enum { BYTES = 1 << 20, LAST = SZGI_DEVICE_MARKS - 1 };
    double first, second, both;
    void *memory, *recording;
    if (!szgi_device_records(context)) {
        ck_assert_int_eq(szgi_device_mark(context, 0), SZG_EBACKEND);
        ck_assert_int_eq(szgi_device_elapsed(context, 0, 1, &first), SZG_EBACKEND);
        return;
    }
    ck_assert_int_eq(szgi_device_mark(context, -1), SZG_EINVAL);
    ck_assert_int_eq(szgi_device_mark(context, SZGI_DEVICE_MARKS), SZG_EINVAL);
    ck_assert_int_eq(szgi_device_elapsed(context, 0, LAST, &both), SZG_EBACKEND); /* not set */
    ck_on(context, szgi_device_alloc(context, BYTES, &memory));
    ck_on(context, szgi_device_mark(context, 0));
    ck_on(context, szgi_device_clear(context, memory, BYTES));
    ck_on(context, szgi_device_mark(context, LAST));
    ck_on(context, szgi_device_clear(context, memory, BYTES));
    ck_on(context, szgi_device_mark(context, 7));
    ck_on(context, szgi_device_elapsed(context, 0, LAST, &first));
    ck_on(context, szgi_device_elapsed(context, LAST, 7, &second));
    ck_on(context, szgi_device_elapsed(context, 0, 7, &both));
    ck_assert(first >= 0 && second >= 0 && both > 0);
    /* Each is a single-precision number of milliseconds, or a count of 0.5 us ticks. */
    ck_assert(fabs(first + second - both) <= 3e-6 + 1e-6 * both);
    ck_on(context, szgi_device_record_begin(context));
    ck_assert_int_eq(szgi_device_mark(context, 0), SZG_EBACKEND);
    ck_on(context, szgi_device_record_end(context, &recording));
    szgi_device_recording_close(context, recording);
    szgi_device_free(context, memory);
}
END_TEST

/* What is recorded is not executed; each replay does it once, with the numbers that stand there. */
START_TEST(a_recording_is_replayed) {
    szg_context *context = tested(0);
    if (!szgi_device_records(context))
        return;
    enum { COUNT = 3 };
    szgi_step_block blocks[COUNT] = {
        {.finite = 1, .first = 10}, {.finite = 1, .first = 20}, {.finite = 1, .first = 30}};
    szgi_step_block host = {.finite = 1, .first = 5}, *block, *list;
    int64_t zero = 0, *at;
    void *recording;
    ck_on(context, szgi_device_alloc(context, sizeof blocks, &list));
    ck_on(context, szgi_device_alloc(context, sizeof host, &block));
    ck_on(context, szgi_device_alloc(context, sizeof zero, &at));
    ck_on(context, szgi_device_upload(context, list, blocks, sizeof blocks));
    ck_on(context, szgi_device_upload(context, block, &host, sizeof host));
    ck_on(context, szgi_network_advance(context, list, COUNT, block, at)); /* once unrecorded */
    ck_on(context, szgi_device_upload(context, block, &host, sizeof host));
    ck_on(context, szgi_device_upload(context, at, &zero, sizeof zero));
    ck_on(context, szgi_device_record_begin(context));
    ck_assert_int_eq(szgi_device_sync(context), SZG_EBACKEND);
    ck_on(context, szgi_device_record_end(context, NULL)); /* spoilt */
    ck_on(context, szgi_device_record_begin(context));
    ck_assert_int_eq(szgi_device_download(context, &host, block, sizeof host), SZG_EBACKEND);
    ck_on(context, szgi_device_record_end(context, NULL));
    ck_on(context, szgi_device_record_begin(context));
    ck_on(context, szgi_network_advance(context, list, COUNT, block, at));
    ck_on(context, szgi_device_record_end(context, &recording));
    for (int i = 0; i <= COUNT + 1; i++) {
        ck_on(context, szgi_device_download(context, &host, block, sizeof host));
        ck_assert_int_eq(host.first, i == 0 ? 5 : i <= COUNT ? 10 * i : 30);
        ck_on(context, szgi_device_replay(context, recording));
    }
    ck_on(context, szgi_device_upload(context, at, &zero, sizeof zero));
    ck_on(context, szgi_device_replay(context, recording));
    szgi_device_recording_close(context, recording);
    ck_on(context, szgi_device_download(context, &host, block, sizeof host));
    ck_assert_int_eq(host.first, 10);
    szgi_device_free(context, at), szgi_device_free(context, block),
        szgi_device_free(context, list);
}
END_TEST

START_TEST(sizes_of_zero_do_nothing) {
    szg_context *context = test_context();
    ck_szg_ok(szgi_network_linear(context, &(szgi_linear){.in = 1, .out = 3}));
    ck_szg_ok(szgi_network_attention(context, &(szgi_attention){.d_qk = 2, .d_v = 2}));
    ck_szg_ok(szgi_network_layer_norm(context, &(szgi_layer_norm){.width = 4}));
    ck_szg_ok(szgi_network_embedding(context, &(szgi_embedding){.vocabulary = 1}));
    ck_szg_ok(szgi_network_pooling(context, &(szgi_pooling){.length = 1}, NULL, NULL));
    ck_szg_ok(szgi_network_cross_entropy(context, &(szgi_cross_entropy){.classes = 2}));
    ck_szg_ok(szgi_network_adamw(context, &(szgi_adamw){0}));
    ck_szg_ok(szgi_network_finite(context, 0, NULL, NULL));
    ck_szg_ok(szgi_network_gather(context, &(szgi_gather){.length = 4}));
    ck_szg_ok(szgi_network_advance(context, NULL, 0, NULL, NULL));
    ck_szg_ok(szgi_network_join(context, &(szgi_join){0}, NULL, NULL, NULL));
    ck_szg_ok(szgi_network_dropout_backward(context, 0, 4, NULL, NULL, NULL));
}
END_TEST

/* Scratch memory is refused at every place; the results of the call that succeeds are not looked
 * at here, and arrays are large enough for several blocks. Each result has an array of its own:
 * blocks of several threads write them at once. */
START_TEST(refused_memory_is_survived) {
    enum { ROWS = 96, WIDTH = 32 };
    szg_context *context = test_context();
    float *x = NULL;
    int32_t ints[ROWS] = {0};
    ck_szg_ok(szgi_memory_alloc(context, (int64_t)6 * ROWS * WIDTH, &x));
    float *y = x + ROWS * WIDTH, *dx = y + ROWS * WIDTH, *second = dx + ROWS * WIDTH,
          *third = second + ROWS * WIDTH, *row = third + ROWS * WIDTH;
    szgi_linear l = {.rows = ROWS,
                     .in = WIDTH,
                     .out = WIDTH,
                     .x = x,
                     .ldx = WIDTH,
                     .weight = x,
                     .y = y,
                     .ldy = WIDTH};
    szgi_linear_gradient lg = {
        .dy = x, .lddy = WIDTH, .dx = dx, .lddx = WIDTH, .dweight = second, .dbias = third};
    szgi_attention a = {.batch = 2,
                        .heads = 2,
                        .length = 48,
                        .d_qk = 16,
                        .d_v = 16,
                        .q = x,
                        .k = x,
                        .v = x,
                        .ldq = WIDTH,
                        .ldk = WIDTH,
                        .ldv = WIDTH,
                        .scale = 1,
                        .out = y,
                        .ldout = WIDTH,
                        .log_sum = row};
    szgi_attention_gradient ag = {.dout = x,
                                  .lddout = WIDTH,
                                  .dq = dx,
                                  .dk = second,
                                  .dv = third,
                                  .lddq = WIDTH,
                                  .lddk = WIDTH,
                                  .lddv = WIDTH};
    szgi_layer_norm n = {.rows = ROWS,
                         .width = WIDTH,
                         .x = x,
                         .gamma = x,
                         .beta = x,
                         .eps = 1,
                         .y = y,
                         .mean = row,
                         .inverse = row + ROWS};
    szgi_layer_norm_gradient ng = {x, dx, false, second, third};
    szgi_embedding e = {2, ROWS / 2, 1, WIDTH, ints, x, NULL, NULL, y};
    szgi_tally tally = {0};
    szgi_cross_entropy c = {.batch = ROWS,
                            .classes = WIDTH,
                            .ignored = -1,
                            .logits = x,
                            .labels = ints,
                            .dlogits = dx,
                            .tally = &tally};
    ck_survives_failed_allocations(-1, szgi_network_linear(context, &l));
    ck_survives_failed_allocations(-1, szgi_network_linear_backward(context, &l, &lg));
    ck_survives_failed_allocations(-1, szgi_network_attention(context, &a));
    ck_survives_failed_allocations(-1, szgi_network_attention_backward(context, &a, &ag));
    ck_survives_failed_allocations(-1, szgi_network_layer_norm_backward(context, &n, &ng));
    ck_survives_failed_allocations(-1, szgi_network_embedding_backward(context, &e, x, dx, second));
    ck_survives_failed_allocations(-1, szgi_network_cross_entropy(context, &c));
    szgi_memory_free(x);
}
END_TEST

/* Whether a backend has the entries of a group, all of them or none; GPUs keep dropout's mask. */
typedef enum entry_group { MEMORY, MASK, SPECTRA, RECORDING, PRODUCTS } entry_group;

static bool has_group(szg_context *context, entry_group group) {
    switch (group) {
    case MEMORY:
        return true;
    case MASK:
        return strncmp(szgi_backend_name(context), "cuda", 4) == 0;
    case SPECTRA:
        return szgi_network_has_spectra(context);
    case RECORDING:
        return szgi_device_records(context);
    case PRODUCTS:
        return szgi_ops_of(context)->network->products;
    }
    return false;
}

static void check_entry(szg_context *context, const char *name, bool there, bool wanted) {
    ck_assert_msg(there == wanted, "%s: entry %s is %s", szgi_backend_name(context), name,
                  there ? "there" : "missing");
}

/* No entry of a table is missing. */
START_TEST(tables_are_complete) {
    szg_context *contexts[] = {tested(0), plain(), oracle()};
    for (int i = 0; i < 3; i++) {
        szg_context *context = contexts[i];
        const szgi_network_ops *network = szgi_ops_of(context)->network;
#define LAYER(name, words, arguments) check_entry(context, #name, network->name, true);
#define MOVE(name, arguments) check_entry(context, #name, network->name, true);
#define SERVICE(group, returns, name, parameters)                                                  \
    check_entry(context, #name, network->name, has_group(context, group));
#include "network/network_ops.def"
    }
}
END_TEST

START_TEST(a_missing_operation_is_named) {
    szg_context *context = test_context();
    szgi_network_ops empty = {.real_size = 4};
    szgi_ops none = *szgi_ops_reference();
    float x = 0;
    szgi_step_block block = {0};
    none.network = &empty;
    szgi_context_set_ops(context, &none);
    ck_szg_fails(SZG_EBACKEND, "has no finite", szgi_network_finite(context, 1, &x, &block));
    ck_szg_fails(SZG_EBACKEND, "has no device sync", szgi_device_sync(context));
    none.network = NULL;
    ck_szg_fails(SZG_EBACKEND, "has no finite", szgi_network_finite(context, 1, &x, &block));
    ck_assert_int_eq(szgi_network_real_size(context), 4);
    szgi_device_free(context, &x);
    szgi_context_set_ops(context, szgi_ops_cpu());
}
END_TEST

TEST_FILE("network_calls") {
    test_add(suite, "memory_moves", memory_moves);
    test_add(suite, "bad_memory_calls_are_refused", bad_memory_calls_are_refused);
    test_add(suite, "bad_layers_are_refused", bad_layers_are_refused);
    test_add(suite, "bad_attention_is_refused", bad_attention_is_refused);
    test_add(suite, "bad_ends_are_refused", bad_ends_are_refused);
    test_add(suite, "bad_batches_are_refused", bad_batches_are_refused);
    test_add(suite, "recording_is_refused_by_the_host", recording_is_refused_by_the_host);
    test_add(suite, "marks_follow_the_work", marks_follow_the_work);
    test_add(suite, "a_recording_is_replayed", a_recording_is_replayed);
    test_add(suite, "sizes_of_zero_do_nothing", sizes_of_zero_do_nothing);
    test_add(suite, "refused_memory_is_survived", refused_memory_is_survived);
    test_add(suite, "tables_are_complete", tables_are_complete);
    test_add(suite, "a_missing_operation_is_named", a_missing_operation_is_named);
}

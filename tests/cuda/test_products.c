/* What is said of products: which passes their epilogues took along, and by which algorithm they
 * are computed. On the emulated GPU, whose cuBLASLt has a bias in an epilogue only where the
 * result's address is a multiple of 16, and four algorithms that differ in the order of their sums.
 */
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "network/network.h"
#include "base/random.h"

#include "suite.h"
#include "tested_backend.h"

enum { ROWS = 16, IN = 8, OUT = 12, MOST = 16 };

/* A layer's arrays; what is written may overlap what was read before. */
typedef struct layer_arrays {
    float *x, *weight, *bias, *y, *before, *dy, *dx, *dweight, *dbias;
} layer_arrays;

static void open_arrays(layer_arrays *at) {
    float **const arrays[] = {&at->x,  &at->weight, &at->bias,    &at->y,    &at->before,
                              &at->dy, &at->dx,     &at->dweight, &at->dbias};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ck_szg_ok(szgi_device_alloc(test_context(), 1024 * sizeof(float), arrays[i]));
}

static void close_arrays(layer_arrays *at) {
    float *const arrays[] = {at->x,  at->weight, at->bias,    at->y,    at->before,
                             at->dy, at->dx,     at->dweight, at->dbias};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        szgi_device_free(test_context(), arrays[i]);
}

/* The result is `shift` numbers behind an aligned address. */
static szgi_linear layer_of(const layer_arrays *at, szg_activation activation, bool bias,
                            int64_t shift) {
    return (szgi_linear){.rows = ROWS,
                         .in = IN,
                         .out = OUT,
                         .x = at->x,
                         .ldx = IN,
                         .weight = at->weight,
                         .bias = bias ? at->bias : NULL,
                         .activation = activation,
                         .y = at->y + shift,
                         .ldy = OUT,
                         .before = activation == SZG_ACTIVATION_GELU ? at->before + shift : NULL};
}

static int64_t products(szgi_product_fact *facts) {
    int64_t count;
    ck_szg_ok(szgi_network_products(test_context(), MOST, facts, &count));
    ck_assert_int_le(count, MOST);
    return count;
}

static const struct {
    szg_activation activation;
    bool bias;
    int64_t shift;
    uint32_t fused, separate;
} forwards[] = {
    {SZG_ACTIVATION_NONE, false, 0, 0, 0},
    {SZG_ACTIVATION_NONE, true, 0, SZGI_EPILOGUE_BIAS, 0},
    {SZG_ACTIVATION_NONE, true, 1, 0, SZGI_EPILOGUE_BIAS},
    {SZG_ACTIVATION_RELU, true, 0, SZGI_EPILOGUE_BIAS | SZGI_EPILOGUE_RELU, 0},
    {SZG_ACTIVATION_RELU, true, 1, 0, SZGI_EPILOGUE_BIAS | SZGI_EPILOGUE_RELU},
    {SZG_ACTIVATION_RELU, false, 0, 0, SZGI_EPILOGUE_RELU},
    {SZG_ACTIVATION_GELU, true, 0, SZGI_EPILOGUE_BIAS, SZGI_EPILOGUE_GELU},
    {SZG_ACTIVATION_GELU, true, 1, 0, SZGI_EPILOGUE_BIAS | SZGI_EPILOGUE_GELU},
};
enum { FORWARDS = sizeof forwards / sizeof *forwards };

/* Every kind of layer is a row, and its second call none. */
START_TEST(passes_of_layers_are_told) {
    layer_arrays at;
    szgi_product_fact facts[MOST];
    ck_assert_int_eq(products(facts), 0);
    open_arrays(&at);
    for (int i = 0; i < 2 * FORWARDS; i++) {
        int j = i % FORWARDS;
        szgi_linear layer =
            layer_of(&at, forwards[j].activation, forwards[j].bias, forwards[j].shift);
        ck_szg_ok(szgi_network_linear(test_context(), &layer));
        ck_assert_int_eq(products(facts), i < FORWARDS ? i + 1 : FORWARDS);
        const szgi_product_fact *fact = &facts[j];
        ck_assert_uint_eq(fact->fused, forwards[j].fused);
        ck_assert_uint_eq(fact->separate, forwards[j].separate);
        ck_assert(fact->m == OUT && fact->n == ROWS && fact->k == IN);
        ck_assert(fact->transpose_a && !fact->transpose_b && !fact->add);
        ck_assert_int_eq(fact->alignment_c, forwards[j].shift ? 4 : 256);
        ck_assert_int_eq(fact->alignment_bias,
                         forwards[j].fused & SZGI_EPILOGUE_BIAS || forwards[j].bias ? 256 : 0);
        ck_assert(fact->lda == IN && fact->ldb == IN && fact->ldc == OUT);
    }
    ck_assert_str_eq(facts[0].library, "cuBLASLt 13.0.0");
    close_arrays(&at);
    use_tested_backend(); /* a new session, which had none */
    ck_assert_int_eq(products(facts), 0);
}
END_TEST

START_TEST(passes_of_gradients_are_told) {
    layer_arrays at;
    szgi_product_fact facts[MOST];
    int64_t count = 0;
    open_arrays(&at);
    for (int i = 0; i < 4; i++) {
        bool relu = i & 1, bias = i & 2;
        szgi_linear layer =
            layer_of(&at, relu ? SZG_ACTIVATION_RELU : SZG_ACTIVATION_NONE, bias, 0);
        szgi_linear_gradient gradient = {.dy = at.dy,
                                         .lddy = OUT,
                                         .dx = at.dx,
                                         .lddx = IN,
                                         .dweight = at.dweight,
                                         .dbias = bias ? at.dbias : NULL};
        ck_szg_ok(szgi_network_linear_backward(test_context(), &layer, &gradient));
        int64_t before = count;
        count = products(facts);
        ck_assert_int_eq(count - before, i == 0 ? 2 : 1); /* the input's gradient once */
        ck_assert(facts[0].m == IN && facts[0].n == ROWS && facts[0].k == OUT && !facts[0].add);
        ck_assert_uint_eq(facts[0].fused | facts[0].separate, 0);
        const szgi_product_fact *weight = &facts[count - 1];
        ck_assert(weight->m == IN && weight->n == OUT && weight->k == ROWS && weight->add);
        ck_assert_uint_eq(weight->fused, 0);
        ck_assert_uint_eq(weight->separate, (relu ? SZGI_EPILOGUE_DERIVATIVE : 0) |
                                                (bias ? SZGI_EPILOGUE_BIAS_GRADIENT : 0));
    }
    close_arrays(&at);
}
END_TEST

/* ---- Timed algorithms ---- */

enum { LENGTH = 96 };

/* What a layer and its weight's gradient are, from the same numbers in every session, and the
 * facts. The gradient is added to ones. */
typedef struct layer_results {
    float y[ROWS * OUT], dweight[OUT * LENGTH];
    szgi_product_fact facts[MOST];
    int64_t count;
} layer_results;

static szg_status run_layer(float *device, layer_results *out) {
    szg_context *context = test_context();
    float *x = device, *weight = x + 2048, *y = weight + 2048, *dweight = y + 2048;
    szgi_linear layer = {.rows = ROWS,
                         .in = LENGTH,
                         .out = OUT,
                         .x = x,
                         .ldx = LENGTH,
                         .weight = weight,
                         .y = y,
                         .ldy = OUT};
    szgi_linear_gradient gradient = {.dy = x, .lddy = OUT, .dweight = dweight};
    SZG_TRY(szgi_network_linear(context, &layer));
    SZG_TRY(szgi_network_linear_backward(context, &layer, &gradient));
    SZG_TRY(szgi_device_download(context, out->y, y, sizeof out->y));
    return szgi_device_download(context, out->dweight, dweight, sizeof out->dweight);
}

static float *open_device(void) {
    float host[4 * 2048], *device;
    szgi_stream stream = {.seed = test_seed(), .purpose = 0x70};
    for (int i = 0; i < 4 * 2048; i++)
        host[i] = i < 2 * 2048 ? (float)szgi_random_normal(&stream, (uint64_t)i) : 1;
    ck_szg_ok(szgi_device_alloc(test_context(), sizeof host, &device));
    ck_szg_ok(szgi_device_upload(test_context(), device, host, sizeof host));
    return device;
}

static szg_status compute(layer_results *out) {
    float *device = open_device();
    szg_status status = run_layer(device, out);
    szgi_device_free(test_context(), device);
    out->count = products(out->facts);
    return status;
}

/* A new session in which algorithm `fastest` is the fastest; algorithms are timed but for the kept
 * ones. */
static szg_status compute_timed(const char *fastest, const layer_results *kept,
                                layer_results *out) {
    setenv("SZG_EMULATED_FASTEST", fastest, 1);
    use_tested_backend();
    ck_szg_ok(szgi_network_products_begin(test_context(), true, kept ? kept->count : 0,
                                          kept ? kept->facts : NULL));
    szg_status status = compute(out);
    unsetenv("SZG_EMULATED_FASTEST");
    return status;
}

/* In the emulated library's opaque bytes. */
static uint64_t algorithm_of(const szgi_product_fact *fact) {
    uint64_t algorithm;
    memcpy(&algorithm, fact->algorithm + 40, sizeof algorithm);
    return algorithm;
}

static void ck_same_results(const layer_results *a, const layer_results *b) {
    ck_assert_int_eq(memcmp(a->y, b->y, sizeof a->y), 0);
    ck_assert_int_eq(memcmp(a->dweight, b->dweight, sizeof a->dweight), 0);
}

/* Names of a session end with it: what is kept has names of its own. */
static void keep_names(layer_results *results) {
    static char names[3][80];
    const szgi_product_fact *first = results->facts;
    snprintf(names[0], sizeof names[0], "%s", first->backend);
    snprintf(names[1], sizeof names[1], "%s", first->device);
    snprintf(names[2], sizeof names[2], "%s", first->library);
    for (int64_t i = 0; i < results->count; i++) {
        results->facts[i].backend = names[0];
        results->facts[i].device = names[1];
        results->facts[i].library = names[2];
    }
}

static layer_results first, second;

START_TEST(the_fastest_algorithm_is_taken) {
    char fastest[2] = "0";
    ck_szg_ok(compute(&first)); /* not timed */
    ck_assert_int_eq(first.count, 2);
    for (int i = 0; i < 2; i++)
        ck_assert(first.facts[i].candidates == 0 && algorithm_of(&first.facts[i]) == 0);
    for (; *fastest < '4'; ++*fastest) {
        ck_szg_ok(compute_timed(fastest, NULL, &second));
        for (int i = 0; i < 2; i++) {
            ck_assert_int_eq(second.facts[i].candidates, 4);
            ck_assert_uint_eq(algorithm_of(&second.facts[i]), (uint64_t)(*fastest - '0'));
            ck_assert(second.facts[i].microseconds >= 0 && second.facts[i].microseconds < 1e6);
        }
        /* Also: what was timed has left no trace in the sums. */
        if (*fastest == '0')
            ck_same_results(&first, &second);
        else
            ck_assert_int_ne(memcmp(first.y, second.y, sizeof first.y), 0);
    }
}
END_TEST

START_TEST(kept_algorithms_are_obeyed) {
    ck_szg_ok(compute_timed("3", NULL, &first));
    keep_names(&first);
    ck_szg_ok(compute_timed("1", &first, &second));
    ck_same_results(&first, &second);
    ck_assert_int_eq(second.count, first.count);
    for (int64_t i = 0; i < first.count; i++) {
        ck_assert_uint_eq(algorithm_of(&second.facts[i]), 3);
        ck_assert_int_eq(second.facts[i].candidates, 4);
        ck_assert(second.facts[i].microseconds == first.facts[i].microseconds);
    }
    /* One of two is kept, and told before it has run. */
    first.count = 1;
    ck_szg_ok(compute_timed("1", &first, &second));
    ck_assert_uint_eq(algorithm_of(&second.facts[0]), 3);
    ck_assert_uint_eq(algorithm_of(&second.facts[1]), 1);
}
END_TEST

static void count_warnings(void *user, szg_severity severity, const char *text) {
    *(int *)user += severity == SZG_WARNING && strstr(text, "they are chosen anew");
}

/* Of another backend, device or version of the library: chosen anew, and said. */
START_TEST(algorithms_of_others_are_chosen_anew) {
    ck_szg_ok(compute_timed("3", NULL, &first));
    keep_names(&first);
    for (int i = 0; i < 3; i++) {
        int warnings = 0;
        szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                       .message = count_warnings, .user = &warnings};
        szg_context *context;
        second = first;
        for (int64_t k = 0; k < second.count; k++)
            *(i == 0   ? &second.facts[k].backend
              : i == 1 ? &second.facts[k].device
                       : &second.facts[k].library) = "another";
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        ck_assert_int_eq(szg_backend_select(context, test_backend()), SZG_OK);
        ck_assert_int_eq(szgi_network_products_begin(context, true, second.count, second.facts),
                         SZG_OK);
        ck_assert_int_eq(warnings, 1);
        szg_context_close(&context);
        ck_szg_ok(compute_timed("1", &second, &second));
        ck_assert_uint_eq(algorithm_of(&second.facts[0]), 1);
    }
}
END_TEST

START_TEST(an_algorithm_that_the_library_refuses_is_named) {
    ck_szg_ok(compute_timed("3", NULL, &first));
    keep_names(&first);
    first.facts[1].algorithm[40] = 9;
    ck_szg_fails(SZG_EDATA, "remove products.csv", compute_timed("1", &first, &second));
    ck_assert(strstr(szg_context_message(test_context()), "linear backward 16 x 96 x 12"));
}
END_TEST

/* Nothing is left behind, which the emulation would tell at its end. */
START_TEST(failures_of_timing_are_named) {
    static const char *const calls[] = {"cudaEventCreate", "cudaEventRecord",
                                        "cudaEventElapsedTime", "cudaEventSynchronize",
                                        "cudaMalloc"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char fault[80];
        int failed = 0;
        szg_status status = SZG_EBACKEND;
        for (; status != SZG_OK; failed++) {
            float *device;
            use_tested_backend();
            ck_szg_ok(szgi_network_products_begin(test_context(), true, 0, NULL));
            ck_szg_ok(szgi_device_alloc(test_context(), 4 * 2048 * sizeof *device, &device));
            snprintf(fault, sizeof fault, "%s:%d", calls[i], failed + 1);
            setenv("SZG_EMULATED_FAIL", fault, 1);
            status = run_layer(device, &first);
            setenv("SZG_EMULATED_FAIL", "nothing:1", 1);
            ck_assert(status == SZG_OK || status == SZG_EBACKEND);
            szgi_device_free(test_context(), device);
        }
        ck_assert_msg(failed > 1, "%s is called nowhere", calls[i]);
    }
    unsetenv("SZG_EMULATED_FAIL");
}
END_TEST

/* A new session whose algorithms are timed, 0 the fastest, and where a call fails. */
static szg_status compute_with(const char *variable, const char *fault, layer_results *out) {
    setenv("SZG_EMULATED_FASTEST", "0", 1);
    use_tested_backend();
    ck_szg_ok(szgi_network_products_begin(test_context(), true, 0, NULL));
    float *device = open_device();
    setenv(variable, fault, 1);
    szg_status status = run_layer(device, out);
    unsetenv(variable); /* nothing is freed on a broken device */
    szgi_device_free(test_context(), device);
    out->count = products(out->facts);
    unsetenv("SZG_EMULATED_FASTEST");
    return status;
}

/* Each of 4 candidates runs 4 times, then the product itself. */
START_TEST(a_candidate_that_does_not_run_is_left_out) {
    char fault[80];
    for (int call = 1; call <= 16; call++) {
        snprintf(fault, sizeof fault, "cublasLtMatmul:%d", call);
        ck_szg_ok(compute_with("SZG_EMULATED_FAIL", fault, &first));
        ck_assert_int_eq(first.facts[0].candidates, 3);
        ck_assert_int_eq(first.facts[1].candidates, 4);
        ck_assert_int_eq(algorithm_of(&first.facts[0]) == 0, call > 4);
        keep_names(&first);
        ck_szg_ok(compute_timed("0", &first, &second));
        ck_same_results(&first, &second);
    }
    ck_szg_fails(SZG_EBACKEND, "cublasLtMatmul",
                 compute_with("SZG_EMULATED_FAIL", "cublasLtMatmul:17", &first));
    ck_szg_fails(SZG_EBACKEND, "none of 4 algorithms for a product 12 x 16 x 96",
                 compute_with("SZG_EMULATED_FAIL", "cublasLtMatmul:1+", &first));
}
END_TEST

START_TEST(a_candidate_that_breaks_the_device_is_told) {
    static const char words[] = "has broken the device's work";
    ck_szg_fails(SZG_EBACKEND, words,
                 compute_with("SZG_EMULATED_BREAK", "cublasLtMatmul:1", &first));
    ck_assert(strstr(szg_context_message(test_context()), "candidate 0"));
    ck_szg_fails(SZG_EBACKEND, words,
                 compute_with("SZG_EMULATED_BREAK", "cublasLtMatmul:5", &first));
    ck_assert(strstr(szg_context_message(test_context()), "candidate 1"));
    ck_assert(strstr(szg_context_message(test_context()), "loop.time_products"));
}
END_TEST

static void begin(bool timed, const char *fastest) {
    setenv("SZG_EMULATED_FASTEST", fastest, 1);
    ck_szg_ok(szgi_network_products_begin(test_context(), timed, 0, NULL));
    ck_assert_int_eq(products(first.facts), 0);
}

/* In one session, after what was timed and after what was not. */
START_TEST(what_begins_knows_nothing_of_what_was) {
    ck_szg_ok(compute(&second)); /* not timed */
    begin(true, "3");
    ck_szg_ok(compute(&first));
    ck_assert_uint_eq(algorithm_of(&first.facts[0]), 3);
    begin(true, "1");
    ck_szg_ok(compute(&first));
    ck_assert_int_eq(first.count, 2);
    for (int i = 0; i < 2; i++)
        ck_assert(first.facts[i].candidates == 4 && algorithm_of(&first.facts[i]) == 1);
    begin(false, "1");
    ck_szg_ok(compute(&first));
    unsetenv("SZG_EMULATED_FASTEST");
    ck_assert_int_eq(first.count, 2);
    for (int i = 0; i < 2; i++)
        ck_assert(first.facts[i].candidates == 0 && algorithm_of(&first.facts[i]) == 0);
    ck_same_results(&first, &second);
    ck_szg_fails(SZG_EINVAL, "none is kept unless they are timed",
                 szgi_network_products_begin(test_context(), false, 1, first.facts));
}
END_TEST

TEST_FILE("products") {
    test_before_each(use_tested_backend);
    test_add(suite, "passes_of_layers_are_told", passes_of_layers_are_told);
    test_add(suite, "passes_of_gradients_are_told", passes_of_gradients_are_told);
    test_add(suite, "the_fastest_algorithm_is_taken", the_fastest_algorithm_is_taken);
    test_add(suite, "kept_algorithms_are_obeyed", kept_algorithms_are_obeyed);
    test_add(suite, "algorithms_of_others_are_chosen_anew", algorithms_of_others_are_chosen_anew);
    test_add(suite, "an_algorithm_that_the_library_refuses_is_named",
             an_algorithm_that_the_library_refuses_is_named);
    test_add(suite, "failures_of_timing_are_named", failures_of_timing_are_named);
    test_add(suite, "a_candidate_that_does_not_run_is_left_out",
             a_candidate_that_does_not_run_is_left_out);
    test_add(suite, "a_candidate_that_breaks_the_device_is_told",
             a_candidate_that_breaks_the_device_is_told);
    test_add(suite, "what_begins_knows_nothing_of_what_was", what_begins_knows_nothing_of_what_was);
}

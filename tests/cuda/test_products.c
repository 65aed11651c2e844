/* What is said of products: which passes their epilogues took along. On the emulated GPU, whose
 * cuBLASLt has a bias in an epilogue only where the result's address is a multiple of 16. */
#include <stdlib.h>
#include <string.h>

#include <szego/backend.h>
#include <szego/network.h>

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
        ck_szg_ok(szg_device_alloc(test_context(), 1024 * sizeof(float), arrays[i]));
}

static void close_arrays(layer_arrays *at) {
    float *const arrays[] = {at->x,  at->weight, at->bias,    at->y,    at->before,
                             at->dy, at->dx,     at->dweight, at->dbias};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        szg_device_free(test_context(), arrays[i]);
}

/* The result is `shift` numbers behind an aligned address. */
static szg_linear layer_of(const layer_arrays *at, szg_activation activation, bool bias,
                           int64_t shift) {
    return (szg_linear){.rows = ROWS,
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

static int64_t products(szg_product_fact *facts) {
    int64_t count;
    ck_szg_ok(szg_network_products(test_context(), MOST, facts, &count));
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
    {SZG_ACTIVATION_NONE, true, 0, SZG_EPILOGUE_BIAS, 0},
    {SZG_ACTIVATION_NONE, true, 1, 0, SZG_EPILOGUE_BIAS},
    {SZG_ACTIVATION_RELU, true, 0, SZG_EPILOGUE_BIAS | SZG_EPILOGUE_RELU, 0},
    {SZG_ACTIVATION_RELU, true, 1, 0, SZG_EPILOGUE_BIAS | SZG_EPILOGUE_RELU},
    {SZG_ACTIVATION_RELU, false, 0, 0, SZG_EPILOGUE_RELU},
    {SZG_ACTIVATION_GELU, true, 0, SZG_EPILOGUE_BIAS, SZG_EPILOGUE_GELU},
    {SZG_ACTIVATION_GELU, true, 1, 0, SZG_EPILOGUE_BIAS | SZG_EPILOGUE_GELU},
};
enum { FORWARDS = sizeof forwards / sizeof *forwards };

/* Every kind of layer is a row, and its second call none. */
START_TEST(passes_of_layers_are_told) {
    layer_arrays at;
    szg_product_fact facts[MOST];
    ck_assert_int_eq(products(facts), 0);
    open_arrays(&at);
    for (int i = 0; i < 2 * FORWARDS; i++) {
        int j = i % FORWARDS;
        szg_linear layer =
            layer_of(&at, forwards[j].activation, forwards[j].bias, forwards[j].shift);
        ck_szg_ok(szg_network_linear(test_context(), &layer));
        ck_assert_int_eq(products(facts), i < FORWARDS ? i + 1 : FORWARDS);
        const szg_product_fact *fact = &facts[j];
        ck_assert_uint_eq(fact->fused, forwards[j].fused);
        ck_assert_uint_eq(fact->separate, forwards[j].separate);
        ck_assert(fact->m == OUT && fact->n == ROWS && fact->k == IN);
        ck_assert(fact->transpose_a && !fact->transpose_b && !fact->add);
        ck_assert_int_eq(fact->alignment_c, forwards[j].shift ? 4 : 256);
        ck_assert_int_eq(fact->alignment_bias,
                         forwards[j].fused & SZG_EPILOGUE_BIAS || forwards[j].bias ? 256 : 0);
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
    szg_product_fact facts[MOST];
    int64_t count = 0;
    open_arrays(&at);
    for (int i = 0; i < 4; i++) {
        bool relu = i & 1, bias = i & 2;
        szg_linear layer = layer_of(&at, relu ? SZG_ACTIVATION_RELU : SZG_ACTIVATION_NONE, bias, 0);
        szg_linear_gradient gradient = {.dy = at.dy,
                                        .lddy = OUT,
                                        .dx = at.dx,
                                        .lddx = IN,
                                        .dweight = at.dweight,
                                        .dbias = bias ? at.dbias : NULL};
        ck_szg_ok(szg_network_linear_backward(test_context(), &layer, &gradient));
        int64_t before = count;
        count = products(facts);
        ck_assert_int_eq(count - before, i == 0 ? 2 : 1); /* the input's gradient once */
        ck_assert(facts[0].m == IN && facts[0].n == ROWS && facts[0].k == OUT && !facts[0].add);
        ck_assert_uint_eq(facts[0].fused | facts[0].separate, 0);
        const szg_product_fact *weight = &facts[count - 1];
        ck_assert(weight->m == IN && weight->n == OUT && weight->k == ROWS && weight->add);
        ck_assert_uint_eq(weight->fused, 0);
        ck_assert_uint_eq(weight->separate, (relu ? SZG_EPILOGUE_DERIVATIVE : 0) |
                                                (bias ? SZG_EPILOGUE_BIAS_GRADIENT : 0));
    }
    close_arrays(&at);
}
END_TEST

TEST_FILE("products") {
    test_before_each(use_tested_backend);
    test_add(suite, "passes_of_layers_are_told", passes_of_layers_are_told);
    test_add(suite, "passes_of_gradients_are_told", passes_of_gradients_are_told);
}

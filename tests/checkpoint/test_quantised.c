/* 8-bit weights with scales: the spectra of their products, and what is wrong with scales. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "model.h"

enum { ROWS = 3, COLUMNS = 4 }; /* of a block: they do not divide the shapes below */

/* A BF16 scale for each block, one for the whole weight, and F8_E8M0 for each block. */
typedef enum scale_kind { BLOCKS, WHOLE, POWERS, KINDS } scale_kind;

static const char llama[] =
    "{\"model_type\":\"llama\",\"num_hidden_layers\":2,\"num_attention_heads\":4,"
    "\"num_key_value_heads\":2,\"hidden_size\":10,\"head_dim\":4,\"rope_theta\":10000,"
    "\"quantization_config\":{\"quant_method\":\"fp8\"%s}}";
static const char deepseek[] =
    "{\"model_type\":\"deepseek_v2\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
    "\"hidden_size\":10,\"q_lora_rank\":null,\"kv_lora_rank\":5,\"qk_nope_head_dim\":3,"
    "\"qk_rope_head_dim\":2,\"v_head_dim\":3,\"rope_theta\":10000,"
    "\"quantization_config\":{\"quant_method\":\"fp8\"%s}}";
static const char block[] = ",\"weight_block_size\":[3,4]";

/* A finite number of E4M3. */
static double draw_element(const szgi_stream *stream, uint64_t index) {
    int64_t code = szgi_random_below(stream, index, 254);
    return szgi_real_from_e4m3((uint8_t)(code < 127 ? code : code + 1));
}

/* With 4 bits: the product with an element of 4 has 8, and BF16 holds it. */
static double draw_factor(const szgi_stream *stream, uint64_t index) {
    return (double)(8 + szgi_random_below(stream, index, 8)) *
           ldexp(1, (int)szgi_random_below(stream, index + 1, 6) - 12);
}

/* Codes of powers of two, each written as the number that has this code in E4M3. */
static void make_powers(const szgi_stream *stream, model_tensor *scale, double *factor) {
    scale->dtype = SZGI_DTYPE_FLOAT8;
    scale->dtype_name = "F8_E8M0";
    for (int64_t i = 0; i < scale->count; i++) {
        int code = 110 + (int)szgi_random_below(stream, 200000 + (uint64_t)i, 16);
        scale->value[i] = szgi_real_from_e4m3((uint8_t)code);
        factor[i] = ldexp(1, code - 127);
    }
}

/* Adds the weight to `eight` as numbers of E4M3 with scales, and to
 * `wide` as their products by a plain loop. */
static void add_both(test_model *eight, test_model *wide, scale_kind kind, int64_t rows,
                     int64_t columns, const char *name) {
    const szgi_stream stream = {.seed = test_seed(), .purpose = 900 + (uint32_t)eight->tensors};
    bool whole = kind == WHOLE;
    int64_t down = whole ? 1 : (rows + ROWS - 1) / ROWS;
    int64_t across = whole ? 1 : (columns + COLUMNS - 1) / COLUMNS;
    model_tensor *weight = model_add(eight, SZGI_DTYPE_FLOAT8, rows, columns, "%s", name);
    model_tensor *scale = model_add(eight, SZGI_DTYPE_BF16, down, across, "%s_scale_inv", name);
    model_tensor *product = model_add(wide, SZGI_DTYPE_BF16, rows, columns, "%s", name);
    double factor[64];
    ck_assert_int_le(down * across, 64);
    if (whole)
        scale->dims = 0;
    for (int64_t i = 0; i < down * across; i++)
        scale->value[i] = factor[i] = draw_factor(&stream, 100000 + 2 * (uint64_t)i);
    if (kind == POWERS)
        make_powers(&stream, scale, factor);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            int64_t at = i * columns + j;
            weight->value[at] = draw_element(&stream, (uint64_t)at);
            product->value[at] =
                weight->value[at] * factor[whole ? 0 : i / ROWS * across + j / COLUMNS];
        }
}

static void add_llama(test_model *eight, test_model *wide, scale_kind kind) {
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "model.layers.%d.self_attn.q_proj.weight", i);
        add_both(eight, wide, kind, 16, 10, name);
        snprintf(name, sizeof name, "model.layers.%d.self_attn.k_proj.weight", i);
        add_both(eight, wide, kind, 8, 10, name);
    }
}

static void add_deepseek(test_model *eight, test_model *wide, scale_kind kind) {
    const char stem[] = "model.layers.0.self_attn.";
    char name[96];
    snprintf(name, sizeof name, "%sq_proj.weight", stem);
    add_both(eight, wide, kind, 10, 10, name);
    snprintf(name, sizeof name, "%skv_a_proj_with_mqa.weight", stem);
    add_both(eight, wide, kind, 7, 10, name);
    snprintf(name, sizeof name, "%skv_b_proj.weight", stem);
    add_both(eight, wide, kind, 12, 5, name);
    for (int i = 0; i < 2; i++)
        model_add(i ? wide : eight, SZGI_DTYPE_F32, 5, -1, "%skv_a_layernorm.weight", stem);
    model_tensor *from = model_find(eight, "model.layers.0.self_attn.kv_a_layernorm.weight");
    memcpy(model_find(wide, from->name)->value, from->value, 5 * sizeof(double));
}

/* The same numbers: both hold the same doubles, and the same is done to them. */
static void check_same(const szg_table *got, const szg_table *want) {
    static const char *const columns[] = {"re", "im", "layer", "head"};
    ck_assert_int_gt(szg_table_rows(got), 0);
    ck_assert_int_eq(szg_table_rows(got), szg_table_rows(want));
    for (int64_t row = 0; row < szg_table_rows(got); row++)
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            ck_assert(cell(got, row, columns[i]) == cell(want, row, columns[i]));
}

static void check_property(const szg_table *table, const char *value, const char *key) {
    for (int64_t row = 0; row < szg_table_rows(table); row++)
        if (strcmp(cell_text(table, row, "property"), "weights") == 0) {
            ck_assert_str_eq(cell_text(table, row, "value"), value);
            ck_assert_str_eq(cell_text(table, row, "key"), key);
            return;
        }
    ck_abort_msg("architecture has no row 'weights'");
}

START_TEST(spectra_are_those_of_the_products) {
    for (int i = 0; i < 2 * KINDS; i++) {
        test_model eight, wide;
        szg_checkpoint *checkpoint[2];
        szg_checkpoint_tables got, want;
        char config[1024];
        scale_kind kind = (scale_kind)(i % KINDS);
        bool latent = i >= KINDS;
        model_open(&eight);
        model_open(&wide);
        (latent ? add_deepseek : add_llama)(&eight, &wide, kind);
        snprintf(config, sizeof config, latent ? deepseek : llama, kind == WHOLE ? "" : block);
        model_write(&eight, config);
        model_write(&wide, config);
        model_analyse(&eight, &checkpoint[0], &got);
        model_analyse(&wide, &checkpoint[1], &want);
        ck_assert_int_eq(got.bad, 0);
        check_same(got.spectra, want.spectra);
        if (kind != WHOLE)
            check_property(got.architecture, "F8_E4M3, scales by 3 x 4",
                           "quantization_config.weight_block_size");
        else if (!latent)
            check_property(got.architecture, "F8_E4M3, scales by 16 x 10",
                           "model.layers.0.self_attn.q_proj.weight_scale_inv");
        szg_checkpoint_tables_close(&got);
        szg_checkpoint_tables_close(&want);
        szg_checkpoint_close(&checkpoint[0]);
        szg_checkpoint_close(&checkpoint[1]);
        model_close(&eight);
        model_close(&wide);
    }
}
END_TEST

/* Every matrix; the scales are none. Numbers without any scale are what they are. */
START_TEST(whole_weights_are_the_products) {
    static const char unheard[] =
        "{\"model_type\":\"unheard of\",\"quantization_config\":{\"quant_method\":\"fp8\","
        "\"weight_block_size\":[3,4]}}";
    for (int i = 0; i < 2; i++) {
        test_model eight, wide;
        szg_checkpoint *checkpoint[2];
        szg_checkpoint_tables got, want;
        model_open(&eight);
        model_open(&wide);
        add_both(&eight, &wide, i ? WHOLE : BLOCKS, 7, 10, "a.weight");
        if (i == 1) {
            memcpy(wide.tensor[0].value, eight.tensor[0].value, 70 * sizeof(double));
            strcpy(eight.tensor[1].name, "rate");
            eight.tensor[1].dims = 0;
        }
        model_write(&eight, i ? NULL : unheard);
        model_write(&wide, NULL);
        model_analyse(&eight, &checkpoint[0], &got);
        model_analyse(&wide, &checkpoint[1], &want);
        ck_assert_int_eq(got.bad, 0);
        ck_assert_int_eq(szg_table_rows(got.summary), 1);
        for (int64_t row = 0; row < szg_table_rows(want.spectra); row++)
            ck_assert(cell(got.spectra, row, "re") == cell(want.spectra, row, "re"));
        szg_checkpoint_tables_close(&got);
        szg_checkpoint_tables_close(&want);
        szg_checkpoint_close(&checkpoint[0]);
        szg_checkpoint_close(&checkpoint[1]);
        model_close(&eight);
        model_close(&wide);
    }
}
END_TEST

typedef void change(test_model *model, model_tensor *scale);

static void lose(test_model *model, model_tensor *scale) {
    (void)model;
    strcpy(scale->name, "model.layers.0.self_attn.q_proj.lost");
}

static void rename_static(test_model *model, model_tensor *scale) {
    (void)model;
    strcpy(scale->name, "model.layers.0.self_attn.q_proj.weight_scale");
}

static void narrow(test_model *model, model_tensor *scale) {
    (void)model;
    scale->shape[1]--;
    scale->count -= scale->shape[0];
}

static void spoil(test_model *model, model_tensor *scale) {
    (void)model;
    scale->value[4] = NAN;
}

static void round_off(test_model *model, model_tensor *scale) {
    (void)model;
    scale->dtype = SZGI_DTYPE_INTEGER;
}

static void keep(test_model *model, model_tensor *scale) {
    (void)model, (void)scale;
}

/* Layer 0 is bad and says why; layer 1 is kept. */
START_TEST(scales_that_are_wrong) {
#define WEIGHT "tensor model.layers.0.self_attn.q_proj.weight has type F8_E4M3"
#define SCALE "model.layers.0.self_attn.q_proj.weight_scale_inv"
    static const struct {
        change *change;
        const char *settings, *words;
        int64_t bad;
    } cases[] = {
        {lose, block,
         WEIGHT " where a weight belongs: its scales " SCALE " are missing: fetch the checkpoint",
         1},
        {rename_static, block,
         WEIGHT
         " where a weight belongs: its scales are "
         "model.layers.0.self_attn.q_proj.weight_scale, and szego does not know that name of FP8",
         1},
        {narrow, block,
         "its scales " SCALE " have shape [6, 2], and blocks of [3, 4] "
         "(quantization_config.weight_block_size) want [6, 3]",
         1},
        {spoil, block, "tensor " SCALE ": the weight at [1, 1] is NaN", 1},
        {round_off, block, "its scales " SCALE " have type I64, and F32", 1},
        {keep, "",
         "its scales " SCALE " have shape [6, 3], and quantization_config.weight_block_size is "
         "missing: --set quantization_config.weight_block_size=[128,128] gives it",
         2},
        {keep, ",\"quant_method\":\"compressed-tensors\"",
         "its scales are " SCALE ", and szego does not know that name of compressed-tensors", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model eight, wide;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        char config[1024];
        model_open(&eight);
        model_open(&wide);
        add_llama(&eight, &wide, BLOCKS);
        cases[i].change(&eight, model_find(&eight, SCALE));
        snprintf(config, sizeof config, llama, cases[i].settings);
        if (strstr(cases[i].settings, "quant_method")) { /* in place of the other one */
            char *other = strstr(config, "\"quant_method\":\"fp8\",");
            size_t length = strlen("\"quant_method\":\"fp8\",");
            memmove(other, other + length, strlen(other + length) + 1);
        }
        model_write(&eight, config);
        model_analyse(&eight, &checkpoint, &tables);
        ck_assert_int_eq(tables.bad, cases[i].bad);
        find_row(tables.summary, 0, -1, "qk");
        ck_noted(&tables, 0, -1, "qk", cases[i].words);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&eight);
        model_close(&wide);
    }
}
END_TEST

START_TEST(block_sizes_are_checked) {
    static const char *const cases[][2] = {
        {",\"weight_block_size\":[128]", "weight_block_size: has 1 entries"},
        {",\"weight_block_size\":[3,0]", "is 0, and must be at least 1"},
        {",\"weight_block_size\":128", "weight_block_size"},
        {",\"weight_block_size\":[3,\"a\"]", "weight_block_size"}};
    test_model eight, wide;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    char config[1024];
    model_open(&eight);
    model_open(&wide);
    add_llama(&eight, &wide, BLOCKS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(config, sizeof config, llama, cases[i][0]);
        model_write(&eight, config);
        ck_szg_fails(SZG_EDATA, cases[i][1],
                     szg_checkpoint_open(test_context(), eight.folder, NULL, &checkpoint));
    }
    /* The remedy of the message works. */
    const char *const set[] = {"quantization_config.weight_block_size=[3,4]"};
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = set,
                                            .sets = 1};
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), eight.folder, &choices, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
    ck_assert_int_eq(tables.bad, 0);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&eight);
    model_close(&wide);
}
END_TEST

static szg_status open_analyse_close(const test_model *model) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    SZG_TRY(szg_checkpoint_open(test_context(), model->folder, NULL, &checkpoint));
    szg_status status = szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    return status;
}

/* With one weight that is refused. */
START_TEST(failed_allocations_are_survived) {
    test_model eight, wide;
    char config[1024];
    model_open(&eight);
    model_open(&wide);
    add_llama(&eight, &wide, BLOCKS);
    narrow(&eight, model_find(&eight, SCALE));
    snprintf(config, sizeof config, llama, block);
    model_write(&eight, config);
    ck_survives_failed_allocations(1, open_analyse_close(&eight));
    model_close(&eight);
    model_close(&wide);
}
END_TEST

TEST_FILE("quantised") {
    test_add(suite, "spectra_are_those_of_the_products", spectra_are_those_of_the_products);
    test_add(suite, "whole_weights_are_the_products", whole_weights_are_the_products);
    test_add(suite, "scales_that_are_wrong", scales_that_are_wrong);
    test_add(suite, "block_sizes_are_checked", block_sizes_are_checked);
    test_add(suite, "failed_allocations_are_survived", failed_allocations_are_survived);
}

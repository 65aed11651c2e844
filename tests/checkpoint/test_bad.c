/* What is bad, or is left out, is said, and the rest is kept. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "model.h"

static void keep_message(void *user, szg_severity severity, const char *text) {
    (void)severity;
    snprintf(user, 512, "%s", text);
}

/* Layer 1 of three is bad: one row says why, and the other layers are as without it. */
static void check_layer_one_skipped(test_model *model, const char *words) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_write(model, model_bert);
    model_analyse(model, &checkpoint, &tables);
    ck_assert_int_eq(tables.bad, 1);
    ck_assert_int_eq(szg_table_rows(tables.summary), 2 * 2 * 2 + 1);
    find_row(tables.summary, 1, -1, "qk");
    ck_noted(&tables, 1, -1, "qk", words);
    for (int layer = 0; layer < 3; layer += 2)
        for (int head = 0; head < 2; head++) {
            double q[18], k[18];
            ck_szg_ok(model_head(test_context(), checkpoint, layer, head, q, k));
            oracle_head oracle = {3, 6, q, k};
            double *dense = oracle_product(&oracle, 0, NULL);
            check_spectra(&tables, layer, head, "qk", 6, dense, oracle_error(&oracle, 0, NULL));
            free(dense);
        }
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
}

START_TEST(one_bad_layer) {
    test_model model;
    const char *query = "encoder.layer.1.attention.self.query.weight";
    const char *key = "encoder.layer.1.attention.self.key.weight";
    for (int i = 0; i < 7; i++) {
        const char *words = "missing";
        model_open(&model);
        model_add_bert(&model);
        model_tensor *tensor = model_find(&model, i == 1 ? key : query);
        switch (i) {
        case 0:
        case 1:
            strcat(tensor->name, "_renamed");
            break;
        case 2:
            tensor->shape[0] = 3, tensor->shape[1] = 12;
            words = "[3, 12]";
            break;
        case 3:
            tensor->dtype = SZGI_DTYPE_INTEGER;
            words = "I64";
            break;
        case 4:
            tensor->value[7] = NAN;
            words = "[1, 1]";
            break;
        case 5:
            model_find(&model, key)->value[35] = -INFINITY;
            words = "[5, 5]";
            break;
        default:
            tensor->dims = 1, tensor->shape[0] = 36;
            words = "[36]";
        }
        check_layer_one_skipped(&model, words);
        model_close(&model);
    }
}
END_TEST

START_TEST(a_bad_position_table) {
    for (int i = 0; i < 4; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        model_open(&model);
        model_add_bert(&model);
        model_tensor *table = &model.tensor[0];
        if (i == 0)
            table->value[11] = NAN;
        if (i == 1)
            strcpy(table->name, "something.else");
        if (i == 2)
            table->shape[0] = 6, table->shape[1] = 5;
        if (i == 3)
            table->dtype = SZGI_DTYPE_INTEGER;
        model_write(&model, model_bert);
        model_analyse(&model, &checkpoint, &tables);
        ck_assert_int_eq(tables.bad, 1);
        ck_assert_int_eq(szg_table_rows(tables.summary), 3 * 2 + 1);
        int64_t row = find_row(tables.summary, -1, -1, "position");
        ck_assert(szg_table_is_empty(tables.summary, row, szg_table_find(tables.summary, "n")));
        ck_noted(&tables, -1, -1, "position", "skipped");
        ck_assert_int_eq(szg_table_rows(tables.range), 0);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

START_TEST(products_that_overflow) {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    model_add_bert(&model);
    for (int i = 0; i < model.tensors; i++)
        model.tensor[i].dtype = SZGI_DTYPE_F64;
    model_find(&model, "encoder.layer.2.attention.self.query.weight")->value[0] = 1e300;
    model_find(&model, "encoder.layer.2.attention.self.key.weight")->value[0] = 1e300;
    model_write(&model, model_bert);
    model_analyse(&model, &checkpoint, &tables);
    ck_assert_int_ge(tables.bad + tables.unconverged, 1);
    find_row(tables.summary, 2, 1, "qk");
    find_row(tables.summary, 1, 0, "position");
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

/* ---- Weights far from 1 ---- */

/* BERT's tensors, of one layer, times powers of two: exact in F64. */
static void write_scaled(test_model *model, int query, int key, int positions) {
    const struct {
        const char *name;
        int exponent;
    } parts[] = {{"encoder.layer.0.attention.self.query.weight", query},
                 {"encoder.layer.0.attention.self.key.weight", key},
                 {"embeddings.position_embeddings.weight", positions}};
    for (int i = 0; i < 3; i++) {
        model_tensor *tensor = model_find(model, parts[i].name);
        tensor->dtype = SZGI_DTYPE_F64;
        for (int64_t j = 0; j < tensor->count; j++)
            tensor->value[j] = ldexp(tensor->value[j], parts[i].exponent);
    }
    model_write(model, "{\"model_type\":\"bert\",\"num_hidden_layers\":1,"
                       "\"num_attention_heads\":2,\"hidden_size\":6}");
    for (int i = 0; i < 3; i++) {
        model_tensor *tensor = model_find(model, parts[i].name);
        for (int64_t j = 0; j < tensor->count; j++)
            tensor->value[j] = ldexp(tensor->value[j], -parts[i].exponent);
    }
}

/* The cells of one matrix are those of the unscaled model times 2^exponent; each is computed
 * backward stably, and of the ends of the symbol's range the enclosures are far narrower. */
static void check_scaled(const szg_table *got, const szg_table *want, const char *matrix,
                         int exponent) {
    static const char *const columns[] = {"sigma_max",     "sigma_e",       "radius",
                                          "symbol_max_lo", "symbol_max_hi", "lambda_max"};
    static const char *const ratios[] = {"stable_rank", "effective_rank", "toeplitzness", "rank"};
    for (int head = 0; head < 2; head++) {
        int64_t a = find_row(got, 0, head, matrix), b = find_row(want, 0, head, matrix);
        double norm = cell(want, b, "sigma_max");
        ck_assert_double_gt(norm, 0);
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
            int64_t column = szg_table_find(want, columns[i]);
            ck_assert_int_eq(szg_table_is_empty(got, a, column),
                             szg_table_is_empty(want, b, column));
            /* n = 6: a few n eps; of eigenvalues, of this size, a condition of 1000 at most. */
            double bound =
                strcmp(columns[i], "lambda_max") && strcmp(columns[i], "radius") ? 1e-14 : 1e-11;
            if (!szg_table_is_empty(want, b, column))
                ck_close(ldexp(cell(got, a, columns[i]), -exponent), cell(want, b, columns[i]),
                         bound * norm);
        }
        for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
            if (!szg_table_is_empty(want, b, szg_table_find(want, ratios[i])))
                ck_close(cell(got, a, ratios[i]), cell(want, b, ratios[i]), 1e-13 * 6);
    }
}

START_TEST(weights_far_from_one) {
    static const struct {
        int query, key, positions;
    } exponents[] = {{-664, 0, 0},    {0, -664, 0}, {-480, -480, 0}, {664, -664, 0},
                     {200, 300, 200}, {0, 0, -400}, {-900, 900, 0},  {-300, -300, -100}};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables want, got;
    model_open(&model);
    model_add_bert(&model);
    write_scaled(&model, 0, 0, 0);
    model_analyse(&model, &checkpoint, &want);
    szg_checkpoint_close(&checkpoint);
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        int qk = exponents[i].query + exponents[i].key;
        write_scaled(&model, exponents[i].query, exponents[i].key, exponents[i].positions);
        model_analyse(&model, &checkpoint, &got);
        ck_assert_int_eq(got.bad, 0);
        check_scaled(got.summary, want.summary, "qk", qk);
        check_scaled(got.summary, want.summary, "position", qk + 2 * exponents[i].positions);
        szg_checkpoint_tables_close(&got);
        szg_checkpoint_close(&checkpoint);
    }
    szg_checkpoint_tables_close(&want);
    model_close(&model);
}
END_TEST

/* Values of a matrix in `spectra`, and those that 2^exponent takes below the least normal double.
 * What is computed twice may differ in its last digits: none is so near to that double. */
static void count_values(const szg_table *spectra, int64_t head, const char *matrix, int exponent,
                         int64_t *values, int64_t *lost) {
    *values = *lost = 0;
    for (int64_t row = 0; row < szg_table_rows(spectra); row++) {
        if (cell(spectra, row, "head") != (double)head ||
            strcmp(cell_text(spectra, row, "matrix"), matrix) != 0)
            continue;
        double part = fmax(fabs(cell(spectra, row, "re")), fabs(cell(spectra, row, "im")));
        ck_assert_double_gt(fabs(part / ldexp(DBL_MIN, -exponent) - 1), 1e-6);
        *values += 1;
        *lost += part < ldexp(DBL_MIN, -exponent);
    }
}

static void check_lost(const szg_checkpoint_tables *got, int64_t head, const char *matrix,
                       int64_t values, int64_t lost) {
    char words[128];
    snprintf(words, sizeof words,
             "%" PRId64 " of %" PRId64 " values lost digits: they are below 2.23e-308", lost,
             values);
    if (lost == 0)
        ck_assert(!is_noted(got, 0, head, matrix, "lost digits"));
    else
        ck_noted(got, 0, head, matrix, words);
}

/* Weights whose least values leave the range of normal doubles, while sigma_max does not. */
static int64_t check_lost_at(const test_model *model, const szg_checkpoint_tables *want,
                             const char *matrix, int exponent) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables got;
    int64_t some = 0;
    model_analyse(model, &checkpoint, &got);
    for (int head = 0; head < 2; head++) {
        int64_t values, lost, row = find_row(want->summary, 0, head, matrix);
        if (cell(want->summary, row, "sigma_max") < ldexp(DBL_MIN, -exponent))
            continue; /* as in products_that_no_double_holds */
        count_values(want->spectra, head, matrix, exponent, &values, &lost);
        check_lost(&got, head, matrix, values, lost);
        some += lost > 0;
    }
    szg_checkpoint_tables_close(&got);
    szg_checkpoint_close(&checkpoint);
    return some;
}

/* The power of two that brings the largest singular value of head 0 to the least normal doubles:
 * all of its values that are less than half as large lose digits. */
static int to_the_end(const szg_checkpoint_tables *want, const char *matrix) {
    return -1022 - ilogb(cell(want->summary, find_row(want->summary, 0, 0, matrix), "sigma_max"));
}

START_TEST(values_that_lose_digits) {
    static const int above[] = {-1, 0, 1, 2, 4, 60, 1020};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables want;
    int64_t heads = 0, positions = 0;
    model_open(&model);
    model_add_bert(&model);
    write_scaled(&model, 0, 0, 0);
    model_analyse(&model, &checkpoint, &want);
    szg_checkpoint_close(&checkpoint);
    for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
        int exponent = to_the_end(&want, "qk") + above[i];
        write_scaled(&model, exponent + 500, -500, 0);
        heads += check_lost_at(&model, &want, "qk", exponent);
        exponent = to_the_end(&want, "position") + above[i];
        write_scaled(&model, exponent % 2, 0, exponent / 2);
        positions += check_lost_at(&model, &want, "position", exponent);
    }
    ck_assert(heads > 0 && positions > 0);
    szg_checkpoint_tables_close(&want);
    model_close(&model);
}
END_TEST

/* What no double holds is not called zero, or infinite. */
START_TEST(products_that_no_double_holds) {
    static const struct {
        int query, key;
        const char *words;
    } cases[] = {{-700, -700, "too small for a double: multiply the weights"},
                 {700, 700, "too large for norms in doubles: divide the weights"}};
    for (int i = 0; i < 2; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        model_open(&model);
        model_add_bert(&model);
        write_scaled(&model, cases[i].query, cases[i].key, 0);
        model_analyse(&model, &checkpoint, &tables);
        ck_assert_int_eq(tables.bad, 2);
        ck_assert_int_eq(szg_table_rows(tables.spectra), 0);
        for (int head = 0; head < 2; head++) {
            int64_t row = find_row(tables.summary, 0, head, "qk");
            ck_assert_int_eq((int)cell(tables.summary, row, "key_head"), head);
            ck_assert(isnan(cell(tables.summary, row, "sigma_max")));
            ck_noted(&tables, 0, head, "qk", cases[i].words);
        }
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* Row and warning name layer, head and the tensors. */
START_TEST(a_skipped_head_is_named) {
    test_model model;
    char warning[512] = "";
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_message, .user = warning};
    szg_context *context;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    const char words[] = "skipped: layer 0, head 1: encoder.layer.0.attention.self.query.weight, "
                         "encoder.layer.0.attention.self.key.weight: the largest singular value";
    model_open(&model);
    model_add_bert(&model);
    write_scaled(&model, -700, -700, 0);
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_assert_int_eq(szg_checkpoint_open(context, model.folder, NULL, &checkpoint), SZG_OK);
    ck_assert_int_eq(szg_checkpoint_analyse(context, checkpoint, NULL, &tables), SZG_OK);
    ck_assert_msg(strncmp(warning, words, strlen(words)) == 0, "%s", warning);
    find_row(tables.summary, 0, 1, "qk");
    int64_t row = find_row(tables.notes, 0, 1, "qk");
    ck_assert(strncmp(cell_text(tables.notes, row, "note"), words, strlen(words)) == 0);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    /* A layer that cannot be read. */
    model_find(&model, "encoder.layer.0.attention.self.query.weight")->value[8] = NAN;
    write_scaled(&model, 0, 0, 0);
    ck_assert_int_eq(szg_checkpoint_open(context, model.folder, NULL, &checkpoint), SZG_OK);
    ck_assert_int_eq(szg_checkpoint_analyse(context, checkpoint, NULL, &tables), SZG_OK);
    ck_assert_msg(strstr(warning, "skipped: layer 0: ") &&
                      strstr(warning, "query.weight: the weight at [1, 2]"),
                  "%s", warning);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    szg_context_close(&context);
    model_close(&model);
}
END_TEST

/* Weights that a quantiser renamed, or left under their name as bytes. */
START_TEST(quantised_weights_are_named) {
    static const struct {
        const char *settings, *query, *words;
        bool opens; /* and the layer has the words */
    } cases[] = {
        {"{\"quant_method\":\"gptq\",\"bits\":4}", "q_proj.qweight",
         "q_proj.weight has type I64 where a weight belongs: its model.layers.0.self_attn.q_proj."
         "qzeros is missing: fetch the checkpoint again",
         true},
        {"{\"quant_method\":\"awq\",\"bits\":4}", "q_proj.qweight",
         "q_proj.qweight has type I64, and I32 or U32 is needed", true},
        {"{\"quant_method\":\"hqq\",\"bits\":4}", "q_proj.qweight",
         "the weights are quantised by hqq (quantization_config of config.json), whose tensors "
         "szego does not know",
         true},
        {"{\"bits\":4}", "q_proj.qweight",
         "quantization_config.quant_method is missing, and GPTQ and AWQ call their tensors so: "
         "--set quantization_config.quant_method=gptq says so, or awq",
         true},
        {"{\"quant_method\":\"mxfp4\"}", "q_proj_blocks", "quantised by MXFP4", false},
        {"{\"quant_method\":\"quanto\"}", "q_proj.weight._data", "quantised by quanto", false},
        {"{\"quant_method\":\"compressed-tensors\"}", "q_proj.weight_packed",
         "quantised by compressed-tensors", false},
        {"{\"quant_method\":\"bitsandbytes\",\"bnb_4bit_quant_type\":\"nf4\"}", "q_proj.weight",
         "quantised by bitsandbytes NF4", false},
        {"{\"load_in_8bit\":true}", "q_proj.weight",
         "quantised by bitsandbytes int8 (quantization_config of config.json), in a form that "
         "szego "
         "does not read: read the checkpoint that it was made from, or dequantise it "
         "(transformers: "
         "model.dequantize(), then save_pretrained)",
         false},
        {"{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true}", "q_proj.weight",
         "quantised by bitsandbytes FP4", false},
        {"{\"quant_method\":7}", "q_proj.packed", "no tensor is called *layers.N.self_attn", false},
        {"null", "q_proj.weight", "has type I64 where a weight belongs", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        char config[512];
        model_open(&model);
        model_add(&model, SZGI_DTYPE_INTEGER, 8, 8, "model.layers.0.self_attn.%s", cases[i].query);
        model_add(&model, SZGI_DTYPE_F32, 8, 8, "model.layers.0.self_attn.k_proj.weight");
        snprintf(config, sizeof config,
                 "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
                 "\"num_key_value_heads\":2,\"hidden_size\":8,\"rope_theta\":10000,"
                 "\"quantization_config\":%s}",
                 cases[i].settings);
        model_write(&model, config);
        if (!cases[i].opens) {
            ck_szg_fails(SZG_EDATA, cases[i].words,
                         szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        } else {
            model_analyse(&model, &checkpoint, &tables);
            find_row(tables.summary, 0, -1, "qk");
            ck_noted(&tables, 0, -1, "qk", cases[i].words);
            szg_checkpoint_tables_close(&tables);
            szg_checkpoint_close(&checkpoint);
        }
        model_close(&model);
    }
}
END_TEST

/* Lists that are as long as the number would be: only a list of the layers' kinds is counted. */
START_TEST(a_list_where_a_number_belongs) {
    static const struct {
        const char *key, *sizes;
    } cases[] = {{"num_attention_heads", "\"num_attention_heads\":[2,2],\"hidden_size\":8"},
                 {"hidden_size", "\"num_attention_heads\":2,\"hidden_size\":[8,8,8,8,8,8,8,8]"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        char config[256];
        model_open(&model);
        model_add(&model, SZGI_DTYPE_F32, 8, 8, "model.layers.0.self_attn.q_proj.weight");
        model_add(&model, SZGI_DTYPE_F32, 8, 8, "model.layers.0.self_attn.k_proj.weight");
        snprintf(config, sizeof config,
                 "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"num_key_value_heads\":2,"
                 "\"rope_theta\":10000,%s}",
                 cases[i].sizes);
        model_write(&model, config);
        ck_szg_fails(SZG_EDATA, cases[i].key,
                     szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        model_close(&model);
    }
}
END_TEST

/* What stands where safetensors files are looked for has words of its own. */
START_TEST(other_files_than_weights) {
    test_model model;
    szg_checkpoint *checkpoint;
    model_open(&model);
    model_write_text(&model, "config.json", model_bert);
    ck_szg_fails(SZG_EDATA, "holds no .safetensors file",
                 szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_szg_fails(
        SZG_EDATA, "config.json: is not an index of shards",
        szg_checkpoint_open(test_context(), model_path(&model, "config.json"), NULL, &checkpoint));
    model_write_text(&model, "model-q4.gguf", "GGUF");
    ck_szg_fails(SZG_EDATA, "model-q4.gguf: byte 4: the header reaches beyond",
                 szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_assert(!strstr(szg_context_message(test_context()), "torch"));
    model_write_text(&model, "pytorch_model.bin", "PK"); /* GGUF can be read, this cannot */
    ck_szg_fails(SZG_EDATA, "model-q4.gguf: byte 4",
                 szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_assert_int_eq(unlink(model_path(&model, "model-q4.gguf")), 0);
    ck_szg_fails(SZG_EDATA, "v.clone().contiguous()",
                 szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    model_close(&model);
}
END_TEST

/* ---- What is left out ---- */

static const char stablelm[] =
    "{\"model_type\":\"stablelm\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
    "\"num_key_value_heads\":2,\"hidden_size\":8,\"rope_theta\":10000,"
    "\"partial_rotary_factor\":0.5}";

static void add_stablelm(test_model *model) {
    model_add(model, SZGI_DTYPE_F32, 8, 8, "model.layers.0.self_attn.q_proj.weight");
    model_add(model, SZGI_DTYPE_F32, 8, 8, "model.layers.0.self_attn.k_proj.weight");
}

/* The note of a checkpoint, "" where there is none; the latest warning on the way. */
static void note_of(const test_model *model, char note[static 512], char warning[static 512]) {
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_message, .user = warning};
    szg_context *context;
    szg_checkpoint *checkpoint;
    warning[0] = 0;
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_assert_int_eq(szg_checkpoint_open(context, model->folder, NULL, &checkpoint), SZG_OK);
    snprintf(note, 512, "%s", szg_checkpoint_describe(checkpoint).note);
    szg_checkpoint_close(&checkpoint);
    szg_context_close(&context);
}

START_TEST(norms_of_single_heads_are_noticed) {
    test_model model;
    char note[512], warning[512];
    for (int i = 0; i < 3; i++) {
        model_open(&model);
        add_stablelm(&model);
        if (i > 0)
            model_add(&model, SZGI_DTYPE_F32, 4, -1,
                      "model.layers.0.self_attn.%c_layernorm.norms.0.weight", i == 1 ? 'q' : 'k');
        model_write(&model, stablelm);
        note_of(&model, note, warning);
        ck_assert_int_eq(strstr(note, "queries and keys are normalised") != NULL, i > 0);
        model_close(&model);
    }
}
END_TEST

START_TEST(an_adapter_is_noticed) {
    test_model model;
    szg_checkpoint *checkpoint;
    char note[512], warning[512];
    for (int i = 0; i < 4; i++) {
        model_open(&model);
        add_stablelm(&model);
        if (i == 1)
            model_write_text(&model, "adapter_config.json",
                             "{\"peft_type\":\"LORA\",\"base_model_name_or_path\":\"org/base\"}");
        if (i > 1)
            model_add(&model, SZGI_DTYPE_F32, 2, 8,
                      "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight");
        model_write(&model, i == 3 ? NULL : stablelm); /* of an unknown architecture too */
        if (i == 1) { /* the folder is refused; who names its file means that file */
            ck_szg_fails(SZG_EDATA,
                         "adapter_config.json: is an adapter (peft_type LORA) of the model "
                         "'org/base': name the base as PATH, and this folder with --adapter",
                         szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
            strcat(model.folder, "/model.safetensors");
        }
        note_of(&model, note, warning);
        if (i == 1)
            *strrchr(model.folder, '/') = 0;
        ck_assert_int_eq(strstr(note, "a LoRA adapter is not added") != NULL, i > 0);
        ck_assert_int_eq(strstr(warning, "merge_and_unload") != NULL, i > 0);
        model_close(&model);
    }
}
END_TEST

/* Heads that are there and not read are said. */
START_TEST(cross_attention_is_noted) {
    for (int there = 0; there < 2; there++) {
        test_model model;
        szg_checkpoint *checkpoint;
        model_open(&model);
        model_add_bert(&model);
        if (there)
            model_add(&model, SZGI_DTYPE_F32, 6, 6,
                      "encoder.layer.0.crossattention.self.query.weight");
        model_write(&model, model_bert);
        ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        ck_assert_int_eq(
            strstr(szg_checkpoint_describe(checkpoint).note, "cross-attention too") != NULL, there);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

TEST_FILE("bad") {
    test_add(suite, "cross_attention_is_noted", cross_attention_is_noted);
    test_add(suite, "one_bad_layer", one_bad_layer);
    test_add(suite, "a_bad_position_table", a_bad_position_table);
    test_add(suite, "products_that_overflow", products_that_overflow);
    test_add(suite, "weights_far_from_one", weights_far_from_one);
    test_add(suite, "values_that_lose_digits", values_that_lose_digits);
    test_add(suite, "products_that_no_double_holds", products_that_no_double_holds);
    test_add(suite, "a_skipped_head_is_named", a_skipped_head_is_named);
    test_add(suite, "quantised_weights_are_named", quantised_weights_are_named);
    test_add(suite, "a_list_where_a_number_belongs", a_list_where_a_number_belongs);
    test_add(suite, "other_files_than_weights", other_files_than_weights);
    test_add(suite, "norms_of_single_heads_are_noticed", norms_of_single_heads_are_noticed);
    test_add(suite, "an_adapter_is_noticed", an_adapter_is_noticed);
}

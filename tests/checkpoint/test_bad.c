/* What is bad is reported and skipped, the rest is kept; unknown architectures; memory; cancelling;
 * refused allocations. */
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <szego/backend.h>
#include <szego/memory.h>
#include "model.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static const char bert[] = "{\"model_type\":\"bert\",\"num_hidden_layers\":3,"
                           "\"num_attention_heads\":2,\"hidden_size\":6}";

static void keep_message(void *user, szg_severity severity, const char *text) {
    (void)severity;
    snprintf(user, 512, "%s", text);
}

static void add_bert(test_model *model) {
    model_add(model, SZG_DTYPE_F32, 5, 6, "embeddings.position_embeddings.weight");
    for (int i = 0; i < 3; i++) {
        model_add(model, SZG_DTYPE_F32, 6, 6, "encoder.layer.%d.attention.self.query.weight", i);
        model_add(model, SZG_DTYPE_F32, 6, 6, "encoder.layer.%d.attention.self.key.weight", i);
    }
}

static void open_and_analyse(const test_model *model, szg_checkpoint **checkpoint,
                             szg_checkpoint_tables *tables) {
    ck_szg_ok(szg_checkpoint_open(test_context(), model->folder, NULL, checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), *checkpoint, NULL, tables));
}

/* Layer 1 of three is bad: one row says why, and the other layers are as without it. */
static void check_layer_one_skipped(test_model *model, const char *words) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_write(model, bert);
    open_and_analyse(model, &checkpoint, &tables);
    ck_assert_int_eq(tables.bad, 1);
    ck_assert_int_eq(szg_table_rows(tables.summary), 2 * 2 * 2 + 1);
    int64_t row = find_row(tables.summary, 1, -1, "qk");
    ck_assert_msg(strstr(cell_text(tables.summary, row, "note"), words), "'%s' lacks '%s'",
                  cell_text(tables.summary, row, "note"), words);
    for (int layer = 0; layer < 3; layer += 2)
        for (int head = 0; head < 2; head++) {
            double q[18], k[18];
            ck_szg_ok(szg_checkpoint_head(test_context(), checkpoint, layer, head, q, k));
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
        add_bert(&model);
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
            tensor->dtype = SZG_DTYPE_INTEGER;
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
        add_bert(&model);
        model_tensor *table = &model.tensor[0];
        if (i == 0)
            table->value[11] = NAN;
        if (i == 1)
            strcpy(table->name, "something.else");
        if (i == 2)
            table->shape[0] = 6, table->shape[1] = 5;
        if (i == 3)
            table->dtype = SZG_DTYPE_INTEGER;
        model_write(&model, bert);
        open_and_analyse(&model, &checkpoint, &tables);
        ck_assert_int_eq(tables.bad, 1);
        ck_assert_int_eq(szg_table_rows(tables.summary), 3 * 2 + 1);
        int64_t row = find_row(tables.summary, -1, -1, "position");
        ck_assert(strstr(cell_text(tables.summary, row, "note"), "skipped"));
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
    add_bert(&model);
    for (int i = 0; i < model.tensors; i++)
        model.tensor[i].dtype = SZG_DTYPE_F64;
    model_find(&model, "encoder.layer.2.attention.self.query.weight")->value[0] = 1e300;
    model_find(&model, "encoder.layer.2.attention.self.key.weight")->value[0] = 1e300;
    model_write(&model, bert);
    open_and_analyse(&model, &checkpoint, &tables);
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
        tensor->dtype = SZG_DTYPE_F64;
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
    static const char *const columns[] = {"sigma_max",     "sigma_min",     "radius",
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
    add_bert(&model);
    write_scaled(&model, 0, 0, 0);
    open_and_analyse(&model, &checkpoint, &want);
    szg_checkpoint_close(&checkpoint);
    for (size_t i = 0; i < sizeof exponents / sizeof *exponents; i++) {
        int qk = exponents[i].query + exponents[i].key;
        write_scaled(&model, exponents[i].query, exponents[i].key, exponents[i].positions);
        open_and_analyse(&model, &checkpoint, &got);
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
        add_bert(&model);
        write_scaled(&model, cases[i].query, cases[i].key, 0);
        open_and_analyse(&model, &checkpoint, &tables);
        ck_assert_int_eq(tables.bad, 2);
        ck_assert_int_eq(szg_table_rows(tables.spectra), 0);
        for (int head = 0; head < 2; head++) {
            int64_t row = find_row(tables.summary, 0, head, "qk");
            ck_assert(strstr(cell_text(tables.summary, row, "note"), cases[i].words));
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
    szg_context_options options = {.threads = 1, .message = keep_message, .user = warning};
    szg_context *context;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    const char words[] = "skipped: layer 0, head 1: encoder.layer.0.attention.self.query.weight, "
                         "encoder.layer.0.attention.self.key.weight: the largest singular value";
    model_open(&model);
    add_bert(&model);
    write_scaled(&model, -700, -700, 0);
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_assert_int_eq(szg_checkpoint_open(context, model.folder, NULL, &checkpoint), SZG_OK);
    ck_assert_int_eq(szg_checkpoint_analyse(context, checkpoint, NULL, &tables), SZG_OK);
    ck_assert_msg(strncmp(warning, words, strlen(words)) == 0, "%s", warning);
    int64_t row = find_row(tables.summary, 0, 1, "qk");
    ck_assert(strncmp(cell_text(tables.summary, row, "note"), words, strlen(words)) == 0);
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
    } cases[] = {
        {"{\"quant_method\":\"gptq\",\"bits\":4}", "q_proj.qweight", "quantised by GPTQ (quant"},
        {"{\"quant_method\":\"compressed-tensors\"}", "q_proj.weight_packed",
         "quantised by compressed-tensors"},
        {"{\"quant_method\":\"bitsandbytes\",\"bnb_4bit_quant_type\":\"nf4\"}", "q_proj.weight",
         "quantised by bitsandbytes NF4"},
        {"{\"quant_method\":7}", "q_proj.qweight", "no tensor is called *layers.N.self_attn"},
        {"null", "q_proj.weight", "has type I64 where a weight belongs"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        char config[512];
        model_open(&model);
        model_add(&model, SZG_DTYPE_INTEGER, 8, 8, "model.layers.0.self_attn.%s", cases[i].query);
        model_add(&model, SZG_DTYPE_F32, 8, 8, "model.layers.0.self_attn.k_proj.weight");
        snprintf(config, sizeof config,
                 "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
                 "\"num_key_value_heads\":2,\"hidden_size\":8,\"rope_theta\":10000,"
                 "\"quantization_config\":%s}",
                 cases[i].settings);
        model_write(&model, config);
        if (strcmp(cases[i].query, "q_proj.weight") != 0) {
            ck_szg_fails(SZG_EDATA, cases[i].words,
                         szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
        } else {
            open_and_analyse(&model, &checkpoint, &tables);
            int64_t row = find_row(tables.summary, 0, -1, "qk");
            ck_assert_msg(strstr(cell_text(tables.summary, row, "note"), cases[i].words), "%s",
                          cell_text(tables.summary, row, "note"));
            szg_checkpoint_tables_close(&tables);
            szg_checkpoint_close(&checkpoint);
        }
        model_close(&model);
    }
}
END_TEST

/* What stands where safetensors files are looked for has words of its own. */
START_TEST(other_files_than_weights) {
    test_model model;
    szg_checkpoint *checkpoint;
    model_open(&model);
    model_write_text(&model, "config.json", bert);
    ck_szg_fails(SZG_EDATA, "holds no .safetensors file",
                 szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_szg_fails(
        SZG_EDATA, "config.json: is no index of shards",
        szg_checkpoint_open(test_context(), model_path(&model, "config.json"), NULL, &checkpoint));
    model_write_text(&model, "model-q4.gguf", "GGUF");
    ck_szg_fails(SZG_EDATA, "model-q4.gguf: is a GGUF file",
                 szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_assert(!strstr(szg_context_message(test_context()), "torch"));
    model_write_text(&model, "pytorch_model.bin", "PK");
    ck_szg_fails(SZG_EDATA, "v.clone().contiguous()",
                 szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    model_close(&model);
}
END_TEST

/* ---- Unknown architectures ---- */

static void check_singular(const szg_checkpoint_tables *tables, const model_tensor *tensor) {
    int64_t m = tensor->shape[0], n = tensor->shape[1], small = m < n ? m : n, seen = 0;
    double *work = malloc((size_t)(m * n) * sizeof *work), *want = calloc((size_t)small, 8);
    memcpy(work, tensor->value, (size_t)(m * n) * sizeof *work);
    ck_szg_ok(szg_singular(test_context(), m, n, work, n, want, NULL, 1, NULL, 1));
    for (int64_t row = 0; row < szg_table_rows(tables->spectra); row++) {
        if (strcmp(cell_text(tables->spectra, row, "matrix"), tensor->name) != 0)
            continue;
        ck_assert_str_eq(cell_text(tables->spectra, row, "kind"), "singular");
        ck_assert_int_lt(seen, small);
        ck_close(cell(tables->spectra, row, "re"), want[seen],
                 weyl(m + n, norm_of(m * n, tensor->value)));
        seen++;
    }
    ck_assert_int_eq(seen, small);
    int64_t row = find_row(tables->summary, -1, -1, tensor->name);
    ck_assert_int_eq((int64_t)cell(tables->summary, row, "n"), small);
    /* docs/spectra.md: what is handed out passed this check. */
    ck_assert_double_le(cell(tables->summary, row, "residual"),
                        64 * (double)(m > n ? m : n) * DBL_EPSILON);
    ck_assert_int_eq((int64_t)cell(tables->summary, row, "rank"), want[0] > 0 ? small : 0);
    free(work);
    free(want);
}

START_TEST(every_matrix_of_an_unknown_architecture) {
    const int shapes[][2] = {{1, 1},  {5, 5},   {40, 3}, {3, 40}, {18, 3},
                             {17, 3}, {100, 1}, {1, 64}, {7, 5},  {200, 9}};
    const char *configs[] = {NULL, "{}", "{\"model_type\":\"albert\"}"};
    for (size_t c = 0; c < 3; c++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        model_open(&model);
        for (size_t i = 0; i < 10; i++)
            model_add(&model, (szg_dtype)(i % 4), shapes[i][0], shapes[i][1], "a%zu.weight", i);
        memset(model.tensor[8].value, 0, (size_t)model.tensor[8].count * sizeof(double));
        model_add(&model, SZG_DTYPE_INTEGER, 1, 12, "position_ids");
        model_add(&model, SZG_DTYPE_INTEGER, 4, 3, "quantised.weight");
        model_add(&model, SZG_DTYPE_F32, 6, -1, "bias");
        model_add(&model, SZG_DTYPE_F32, 0, 5, "empty");
        model_add(&model, SZG_DTYPE_F32, 1, -1, "scalar")->dims = 0;
        model_add(&model, SZG_DTYPE_F32, 4, 4, "nan")->value[9] = NAN;
        model_tensor *odd = model_add(&model, SZG_DTYPE_INTEGER, 3, 2, "complex");
        odd->dtype = SZG_DTYPE_OTHER;
        odd->dtype_name = "C64"; /* eight bytes each, as the test writes them */
        model_write(&model, configs[c]);
        open_and_analyse(&model, &checkpoint, &tables);
        ck_assert_ptr_nonnull(szg_checkpoint_describe(checkpoint).unknown);
        ck_assert_int_eq(tables.bad, 3);
        for (int i = 0; i < 10; i++)
            check_singular(&tables, &model.tensor[i]);
        ck_assert_int_eq(szg_table_rows(tables.summary), 13);
        ck_assert_int_eq(szg_table_rows(tables.tensors), 17);
        const char *notes[][2] = {
            {"nan", "[2, 1]"}, {"quantised.weight", "I64"}, {"complex", "C64"}};
        for (int i = 0; i < 3; i++) {
            int64_t row = find_row(tables.summary, -1, -1, notes[i][0]);
            ck_assert(strstr(cell_text(tables.summary, row, "note"), notes[i][1]));
        }
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

START_TEST(a_file_beside_its_configuration) {
    test_model model;
    szg_checkpoint *checkpoint;
    model_open(&model);
    add_bert(&model);
    model_write(&model, bert);
    ck_szg_ok(szg_checkpoint_open(test_context(), model_path(&model, "model.safetensors"), NULL,
                                  &checkpoint));
    ck_assert_int_eq(szg_checkpoint_describe(checkpoint).layers, 3);
    szg_checkpoint_close(&checkpoint);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, "", &checkpoint));
    ck_assert(strstr(szg_checkpoint_describe(checkpoint).unknown, "config.json"));
    double q[18];
    ck_szg_fails(SZG_EINVAL, "layer 0",
                 szg_checkpoint_head(test_context(), checkpoint, 0, 0, q, q));
    ck_szg_fails(SZG_EDOMAIN, "has 0", szg_checkpoint_positions(test_context(), checkpoint, 1, q));
    szg_checkpoint_close(&checkpoint);
    ck_szg_fails(SZG_EIO, "nowhere",
                 szg_checkpoint_open(test_context(), model.folder, "/nowhere.json", &checkpoint));
    model_write_text(&model, "pytorch_model.bin", "PK\003\004");
    ck_szg_fails(SZG_EDATA, "safetensors",
                 szg_checkpoint_open(test_context(), model_path(&model, "pytorch_model.bin"), NULL,
                                     &checkpoint));
    model_close(&model);
}
END_TEST

START_TEST(shards_with_a_stale_index) {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    add_bert(&model);
    model_write_text(&model, "config.json", bert);
    model_write_part(&model, "a.safetensors", 0, 3);
    model_write_part(&model, "b.safetensors", 3, model.tensors - 3);
    /* The index forgets most tensors, and puts one into the wrong shard. */
    model_write_text(&model, "model.safetensors.index.json",
                     "{\"weight_map\":{\"embeddings.position_embeddings.weight\":"
                     "\"b.safetensors\",\"encoder.layer.0.attention.self.query.weight\":"
                     "\"a.safetensors\"}}");
    open_and_analyse(&model, &checkpoint, &tables);
    ck_assert_int_eq(tables.bad, 0);
    ck_assert_int_eq(szg_table_rows(tables.summary), 12);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    ck_assert_int_eq(remove(model_path(&model, "b.safetensors")), 0);
    ck_assert_int_ne(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint), SZG_OK);
    ck_assert(strstr(szg_context_message(test_context()), "b.safetensors"));
    model_close(&model);
}
END_TEST

/* ---- What is left out ---- */

static const char stablelm[] =
    "{\"model_type\":\"stablelm\",\"num_hidden_layers\":1,\"num_attention_heads\":2,"
    "\"num_key_value_heads\":2,\"hidden_size\":8,\"rope_theta\":10000,"
    "\"partial_rotary_factor\":0.5}";

static void add_stablelm(test_model *model) {
    model_add(model, SZG_DTYPE_F32, 8, 8, "model.layers.0.self_attn.q_proj.weight");
    model_add(model, SZG_DTYPE_F32, 8, 8, "model.layers.0.self_attn.k_proj.weight");
}

/* The note of a checkpoint, "" where there is none; the latest warning on the way. */
static void note_of(const test_model *model, char note[static 512], char warning[static 512]) {
    szg_context_options options = {.threads = 1, .message = keep_message, .user = warning};
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
            model_add(&model, SZG_DTYPE_F32, 4, -1,
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
    char note[512], warning[512];
    for (int i = 0; i < 4; i++) {
        model_open(&model);
        add_stablelm(&model);
        if (i == 1)
            model_write_text(&model, "adapter_config.json", "{}");
        if (i > 1)
            model_add(&model, SZG_DTYPE_F32, 2, 8,
                      "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight");
        model_write(&model, i == 3 ? NULL : stablelm); /* of an unknown architecture too */
        note_of(&model, note, warning);
        ck_assert_int_eq(strstr(note, "a LoRA adapter is not added") != NULL, i > 0);
        ck_assert_int_eq(strstr(warning, "merge_and_unload") != NULL, i > 0);
        model_close(&model);
    }
}
END_TEST

/* ---- Files that change while they are read ---- */

/* With the whole file under a mapping, the first case ended the program by a signal. */
START_TEST(weights_that_change_meanwhile) {
    static const char *const words[] = {"was cut while it was read",
                                        "was changed while it was read"};
    for (int i = 0; i < 4; i++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
        const char *path;
        model_open(&model);
        add_bert(&model);
        model_write(&model, bert);
        path = model_path(&model, "model.safetensors");
        ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
        /* Heads of a known architecture, then every matrix. */
        ck_szg_ok(
            szg_checkpoint_open(test_context(), model.folder, i < 2 ? NULL : "", &checkpoint));
        if (i % 2 == 0)
            ck_assert_int_eq(truncate(path, 1), 0);
        else
            ck_assert_int_eq(utimensat(AT_FDCWD, path, NULL, 0), 0);
        ck_szg_fails(SZG_EIO, words[i % 2],
                     szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
        ck_assert_ptr_null(tables.summary);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* ---- Cancelling, allocations, memory ---- */

static void cancel_at_once(void *user, const char *what, int64_t done, int64_t total) {
    (void)what, (void)done, (void)total;
    szg_context_cancel(*(szg_context **)user);
}

START_TEST(cancelling) {
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    szg_context *context = NULL;
    szg_context_options options = {.threads = 2, .progress = cancel_at_once, .user = &context};
    model_open(&model);
    add_bert(&model);
    model_write(&model, bert);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        ck_assert_int_eq(szg_checkpoint_open(context, model.folder, i ? "" : NULL, &checkpoint),
                         SZG_OK);
        ck_assert_int_eq(szg_checkpoint_analyse(context, checkpoint, NULL, &tables), SZG_ECANCEL);
        ck_assert_ptr_null(tables.summary);
        szg_checkpoint_close(&checkpoint);
        szg_context_close(&context);
    }
    model_close(&model);
}
END_TEST

static szg_status open_analyse_close(const test_model *model) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    szg_checkpoint_options options = {.samples = 4};
    SZG_TRY(szg_checkpoint_open(test_context(), model->folder, NULL, &checkpoint));
    szg_status status = szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    return status;
}

START_TEST(refused_allocations) {
    static const char *const configs[] = {
        "{\"model_type\":\"bert\",\"num_hidden_layers\":1,\"num_attention_heads\":1,"
        "\"hidden_size\":3}",
        "{\"model_type\":\"llama\",\"num_hidden_layers\":1,\"num_attention_heads\":1,"
        "\"hidden_size\":2,\"rope_theta\":10000}",
        "{\"model_type\":\"unheard of\"}"};
    for (int i = 0; i < 3; i++) {
        test_model model;
        model_open(&model);
        if (i == 1) {
            model_add(&model, SZG_DTYPE_F32, 2, 2, "model.layers.0.self_attn.q_proj.weight");
            model_add(&model, SZG_DTYPE_F32, 2, 2, "model.layers.0.self_attn.k_proj.weight");
        } else {
            model_add(&model, SZG_DTYPE_F32, 2, 3, "embeddings.position_embeddings.weight");
            model_add(&model, SZG_DTYPE_F32, 3, 3, "encoder.layer.0.attention.self.query.weight");
            model_add(&model, SZG_DTYPE_F32, 3, 3, "encoder.layer.0.attention.self.key.weight");
        }
        model_write(&model, configs[i]);
        ck_survives_failed_allocations(1, open_analyse_close(&model));
        model_close(&model);
    }
}
END_TEST

static int64_t data_kib(void) {
    char line[256];
    int64_t kib = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmData:", 7) == 0)
            kib = strtoll(line + 7, NULL, 10);
    if (file)
        fclose(file);
    return kib;
}

static int analyse_once(szg_context *context, const test_model *model) {
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    if (szg_checkpoint_open(context, model->folder, NULL, &checkpoint) != SZG_OK ||
        szg_checkpoint_analyse(context, checkpoint, NULL, &tables) != SZG_OK)
        return 4;
    int bad = tables.bad == 0 ? 0 : 5;
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    return bad;
}

/* In a child: one thread, and anonymous memory limited to what is in use plus `more` bytes. The
 * first pass, without a limit, leaves OpenBLAS the buffers that it keeps: without memory for them
 * it waits for ever. */
static void analyse_with_little_memory(const test_model *model, int64_t more) {
    szg_context *context;
    szg_context_options options = {.threads = 1};
    mallopt(M_MMAP_THRESHOLD, 1 << 16); /* what is freed goes back */
    if (szg_context_open(&options, &context) != SZG_OK || analyse_once(context, model) != 0)
        _exit(2);
    malloc_trim(0);
    struct rlimit limit = {0};
    limit.rlim_cur = limit.rlim_max = (rlim_t)(data_kib() * 1024 + more);
    if (setrlimit(RLIMIT_DATA, &limit) != 0)
        _exit(3);
    _exit(analyse_once(context, model));
}

/* The exit status of analyse_with_little_memory: 0 done, 4 refused. */
static int status_with(const test_model *model, int64_t more) {
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        analyse_with_little_memory(model, more);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(memory_stays_below_the_largest_tensor) {
    if (SANITIZED)
        return; /* their shadow memory is not ours to limit */
    test_model model;
    model_open(&model);
    /* 19.2 MB as doubles, reduced by blocks to far less; 3.4 MB with as much workspace; and one
     * that is read by columns. */
    model_add(&model, SZG_DTYPE_F32, 40000, 60, "embeddings.weight");
    model_add(&model, SZG_DTYPE_F32, 600, 700, "square.weight");
    model_add(&model, SZG_DTYPE_F32, 60, 40000, "wide.weight");
    model_write(&model, NULL);
    int64_t largest = 40000 * 60 * 8;
    ck_assert_int_eq(status_with(&model, largest * 3 / 4), 0);
    ck_assert_int_eq(status_with(&model, largest / 16), 4);
    model_close(&model);
}
END_TEST

TEST_FILE("bad") {
    test_add(suite, "one_bad_layer", one_bad_layer);
    test_add(suite, "a_bad_position_table", a_bad_position_table);
    test_add(suite, "products_that_overflow", products_that_overflow);
    test_add(suite, "weights_far_from_one", weights_far_from_one);
    test_add(suite, "products_that_no_double_holds", products_that_no_double_holds);
    test_add(suite, "a_skipped_head_is_named", a_skipped_head_is_named);
    test_add(suite, "quantised_weights_are_named", quantised_weights_are_named);
    test_add(suite, "other_files_than_weights", other_files_than_weights);
    test_add(suite, "every_matrix_of_an_unknown_architecture",
             every_matrix_of_an_unknown_architecture);
    test_add(suite, "a_file_beside_its_configuration", a_file_beside_its_configuration);
    test_add(suite, "shards_with_a_stale_index", shards_with_a_stale_index);
    test_add(suite, "weights_that_change_meanwhile", weights_that_change_meanwhile);
    test_add(suite, "norms_of_single_heads_are_noticed", norms_of_single_heads_are_noticed);
    test_add(suite, "an_adapter_is_noticed", an_adapter_is_noticed);
    test_add(suite, "cancelling", cancelling);
    test_add(suite, "refused_allocations", refused_allocations);
    test_add(suite, "memory_stays_below_the_largest_tensor", memory_stays_below_the_largest_tensor);
}

/* The table `kernel` alone: the rows of a whole analysis, of every family, without the rest. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static szg_checkpoint *open_family(const char *name) {
    char folder[512];
    const char *data = getenv("SZG_FAMILIES");
    szg_checkpoint *checkpoint;
    ck_assert_msg(data, "SZG_FAMILIES is not set");
    snprintf(folder, sizeof folder, "%s/%s", data, name);
    ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &checkpoint));
    return checkpoint;
}

/* Whatever their columns are. */
static void check_same(const szg_table *got, const szg_table *want) {
    ck_assert_int_eq(szg_table_rows(got), szg_table_rows(want));
    ck_assert_int_eq(szg_table_columns(got), szg_table_columns(want));
    for (int64_t row = 0; row < szg_table_rows(got); row++)
        for (int64_t c = 0; c < szg_table_columns(got); c++) {
            const char *text = szg_table_get_text(want, row, c);
            ck_assert(szg_table_is_empty(got, row, c) == szg_table_is_empty(want, row, c));
            if (text)
                ck_assert_str_eq(szg_table_get_text(got, row, c), text);
            else if (!szg_table_is_empty(want, row, c))
                ck_assert(szg_table_get_real(got, row, c) == szg_table_get_real(want, row, c));
        }
}

static void check_rest(const szg_checkpoint_tables *tables) {
    const szg_table *const others[] = {tables->summary, tables->spectra,  tables->frequencies,
                                       tables->range,   tables->samples,  tables->tensors,
                                       tables->bounds,  tables->circuits, tables->architecture,
                                       tables->top,     tables->heads,    tables->layers};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_ptr_null(others[i]);
    ck_assert_ptr_nonnull(tables->notes);
}

/* Returns whether the family has kernels. */
static bool check_family(const char *name) {
    szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = 5};
    szg_checkpoint *checkpoint = open_family(name);
    szg_checkpoint_tables whole, alone;
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &whole));
    options.kernel_only = true;
    bool found = szg_table_rows(whole.kernel) > 0;
    if (found) {
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &alone));
        check_same(alone.kernel, whole.kernel);
        check_rest(&alone);
        ck_assert_int_eq(alone.bad, whole.bad);
        szg_checkpoint_tables_close(&alone);
    } else
        ck_szg_fails(SZG_EDOMAIN, "no head has a kernel over the lag: ",
                     szg_checkpoint_analyse(test_context(), checkpoint, &options, &alone));
    szg_checkpoint_tables_close(&whole);
    szg_checkpoint_close(&checkpoint);
    return found;
}

START_TEST(every_family) {
    const char *data = getenv("SZG_FAMILIES");
    ck_assert_msg(data, "SZG_FAMILIES is not set");
    DIR *all = opendir(data);
    int64_t with = 0, without = 0;
    ck_assert_ptr_nonnull(all);
    for (struct dirent *entry; (entry = readdir(all));)
        if (entry->d_name[0] != '.')
            *(check_family(entry->d_name) ? &with : &without) += 1;
    closedir(all);
    ck_assert_int_ge(with, 50);
    ck_assert_int_ge(without, 10);
}
END_TEST

START_TEST(refusals) {
    szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel_only = true};
    szg_checkpoint *checkpoint = open_family("llama");
    szg_checkpoint_tables tables;
    ck_szg_fails(SZG_EINVAL, "at least 1 is needed",
                 szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    options.kernel = 4;
    options.layers = "7";
    ck_szg_fails(SZG_EINVAL, "layer 7 is none",
                 szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    szg_checkpoint_close(&checkpoint);
    const szg_checkpoint_choices none = {SZG_INIT(szg_checkpoint_choices), .config = ""};
    char folder[512];
    snprintf(folder, sizeof folder, "%s/llama", getenv("SZG_FAMILIES"));
    ck_szg_ok(szg_checkpoint_open_chosen(test_context(), folder, &none, &checkpoint));
    options.layers = NULL;
    ck_szg_fails(SZG_EDOMAIN, "no head is known",
                 szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    ck_assert_ptr_null(tables.kernel);
    szg_checkpoint_close(&checkpoint);
}
END_TEST

/* A damaged layer is told, and the other one has its rows. */
START_TEST(a_damaged_layer) {
    static const char config[] = "{\"model_type\":\"llama\",\"num_hidden_layers\":2,"
                                 "\"num_attention_heads\":2,\"num_key_value_heads\":1,"
                                 "\"hidden_size\":8,\"head_dim\":8,\"rope_theta\":100}";
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .kernel = 3,
                                            .kernel_only = true};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    for (int i = 0; i < 2; i++) {
        model_add(&model, SZGI_DTYPE_F32, 16, 8, "model.layers.%d.self_attn.q_proj.weight", i);
        model_add(&model, SZGI_DTYPE_F32, 8, 8, "model.layers.%d.self_attn.k_proj.weight", i);
        model_add(&model, SZGI_DTYPE_F32, 1, 8, "model.layers.%d.input_layernorm.weight", i);
    }
    model_find(&model, "model.layers.0.self_attn.k_proj.weight")->value[3] = __builtin_nan("");
    model_write(&model, config);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    ck_assert_int_eq(tables.bad, 1);
    ck_assert_int_gt(szg_table_rows(tables.kernel), 2 * 3); /* two heads, and lags beyond the third */
    ck_assert_int_eq((int64_t)cell(tables.kernel, 0, "layer"), 1);
    ck_assert_int_ge(szg_table_rows(tables.notes), 1);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

TEST_FILE("kernel_only") {
    test_add(suite, "every_family", every_family);
    test_add(suite, "refusals", refusals);
    test_add(suite, "a_damaged_layer", a_damaged_layer);
}

/* Parts of a checkpoint by layers and heads: their rows are those of the whole, each once; shares
 * of heads beyond one, and any number of threads, give the same bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "model.h"

enum { TABLES = 13, LAYERS = TABLES - 1, LINE = 1024 };

static szg_table *table_of(const szg_checkpoint_tables *tables, int index) {
    szg_table *const all[TABLES] = {
        tables->summary,  tables->notes, tables->bounds,  tables->spectra, tables->frequencies,
        tables->kernel,   tables->range, tables->samples, tables->tensors, tables->architecture,
        tables->circuits, tables->heads, tables->layers};
    return all[index];
}

/* Heads are judged among those of their part. */
static bool is_verdict(const char *column) {
    return strcmp(column, "stands_out") == 0 || strcmp(column, "stand_out") == 0;
}

/* Lines of rows, reals with all their bits. */
typedef struct row_list {
    int64_t count;
    char (*line)[LINE];
} row_list;

static void print_row(const szg_table *table, int64_t row, char line[LINE]) {
    size_t used = 0;
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        char real[SZGI_REAL_TEXT] = "";
        if (is_verdict(szg_table_column(table, i)->name))
            continue;
        const char *text = szg_table_get_text(table, row, i);
        if (szg_table_column(table, i)->type == SZG_INTEGER && !szg_table_is_empty(table, row, i))
            snprintf(real, sizeof real, "%lld", (long long)szg_table_get_integer(table, row, i));
        if (szg_table_column(table, i)->type == SZG_REAL && !szg_table_is_empty(table, row, i))
            szgi_hex_text(szg_table_get_real(table, row, i), real);
        used += (size_t)snprintf(line + used, LINE - used, "%s|", text ? text : real);
        ck_assert_int_lt((int64_t)used, LINE);
    }
}

static void add_rows(row_list *list, const szg_table *table) {
    int64_t more = table ? szg_table_rows(table) : 0;
    list->line = realloc(list->line, (size_t)(list->count + more + 1) * LINE);
    ck_assert_ptr_nonnull(list->line);
    for (int64_t i = 0; i < more; i++)
        print_row(table, i, list->line[list->count++]);
}

static int compare_lines(const void *left, const void *right) {
    return strcmp(left, right);
}

static void sort_rows(row_list *list) {
    qsort(list->line, (size_t)list->count, LINE, compare_lines);
}

static void check_same_rows(row_list *whole, row_list *parts, int table) {
    sort_rows(whole);
    sort_rows(parts);
    for (int64_t i = 0; i < whole->count && i < parts->count; i++)
        ck_assert_msg(strcmp(whole->line[i], parts->line[i]) == 0, "table %d: '%s' is not '%s'",
                      table, parts->line[i], whole->line[i]);
    ck_assert_int_eq(parts->count, whole->count);
}

/* Parts join if their columns are the same; a table may be the matter of one part alone. */
static void check_same_columns(const szg_table *whole, const szg_table *part) {
    if (!part)
        return;
    ck_assert_int_eq(szg_table_columns(part), szg_table_columns(whole));
    for (int64_t i = 0; i < szg_table_columns(part); i++)
        ck_assert_str_eq(szg_table_column(part, i)->name, szg_table_column(whole, i)->name);
}

typedef struct part {
    const char *layers, *heads;
} part;

static const int64_t lags[] = {3, 0};

/* Rows of `layers` need all heads of their layer: parts by heads have none. */
static void check_layers(const szg_checkpoint_tables *tables, const part *own) {
    if (own->heads)
        ck_assert_int_eq(szg_table_rows(tables->layers), 0);
}

/* Analyses each part (`count` of them) on so many threads, and the whole, whose summary has so many
 * rows. */
static void check_parts(const test_model *model, int64_t rows, int count, const part *parts,
                        int threads) {
    szg_context *context;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables whole, tables;
    row_list all[TABLES] = {0}, joined[TABLES] = {0};
    ck_szg_ok(szg_checkpoint_open(test_context(), model->folder, NULL, &checkpoint));
    szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options),
                                      .samples = 3,
                                      .kernel = 5,
                                      .circuits = true,
                                      .lags = lags,
                                      .lag_count = 2,
                                      .draws = 5};
    ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, &options, &whole));
    ck_szg_ok(szg_context_open(
        &(szg_context_options){SZG_INIT(szg_context_options), .threads = threads}, &context));
    for (int i = 0; i < TABLES; i++)
        add_rows(&all[i], table_of(&whole, i));
    ck_assert_int_eq(all[0].count, rows);
    for (int p = 0; p < count; p++) {
        options.layers = parts[p].layers;
        options.heads = parts[p].heads;
        ck_szg_ok(szg_checkpoint_analyse(context, checkpoint, &options, &tables));
        for (int i = 0; i < TABLES; i++) {
            check_same_columns(table_of(&whole, i), table_of(&tables, i));
            add_rows(&joined[i], table_of(&tables, i));
        }
        check_layers(&tables, &parts[p]);
        szg_checkpoint_tables_close(&tables);
    }
    for (int i = 0; i < TABLES; i++) {
        if (i != LAYERS || !parts[0].heads)
            check_same_rows(&all[i], &joined[i], i);
        free(all[i].line), free(joined[i].line);
    }
    szg_context_close(&context);
    szg_checkpoint_tables_close(&whole);
    szg_checkpoint_close(&checkpoint);
}

/* Three layers of two heads, with positions; layer 1 is skipped; a tensor of no layer. */
START_TEST(rows_belong_to_one_part) {
    static const part by_layer[] = {{"-1", NULL}, {"0+-2", NULL}};
    static const part by_head[] = {{NULL, "1"}, {NULL, "0"}};
    static const part by_both[] = {
        {"0", "0+0"}, {"0", "1"}, {"1+2", "1"}, {"1", "0-0"}, {"2", "0"}};
    const int64_t rows = 2 * 2 * 2 + 1; /* layers, heads, matrices; the skipped layer */
    test_model model;
    model_open(&model);
    model_add_bert(&model);
    model_find(&model, "encoder.layer.1.attention.self.query.weight")->value[7] = NAN;
    model_add(&model, SZGI_DTYPE_F32, 3, 5, "pooler.weight");
    model_write(&model, model_bert);
    check_parts(&model, rows, 2, by_layer, 1);
    check_parts(&model, rows, 2, by_head, 1);
    check_parts(&model, rows, 5, by_both, 2);
    model_close(&model);
}
END_TEST

/* Ten query heads a key head: a whole share and a small one each. */
START_TEST(shares_and_threads_give_the_same_bits) {
    static const part whole[] = {{NULL, NULL}};
    static const part cut[] = {{NULL, "0-6+19"}, {NULL, "7-9"}, {NULL, "10-18"}};
    test_model model;
    model_open(&model);
    model_add(&model, SZGI_DTYPE_F32, 20 * 4, 10, "model.layers.0.self_attn.q_proj.weight");
    model_add(&model, SZGI_DTYPE_F32, 2 * 4, 10, "model.layers.0.self_attn.k_proj.weight");
    model_add(&model, SZGI_DTYPE_F32, 2 * 4, 10, "model.layers.0.self_attn.v_proj.weight");
    model_add(&model, SZGI_DTYPE_F32, 10, 20 * 4, "model.layers.0.self_attn.o_proj.weight");
    model_add(&model, SZGI_DTYPE_F32, 10, -1, "model.layers.0.input_layernorm.weight");
    model_write(&model, "{\"model_type\":\"llama\",\"num_hidden_layers\":1,"
                        "\"num_attention_heads\":20,\"num_key_value_heads\":2,\"head_dim\":4,"
                        "\"hidden_size\":10,\"rope_theta\":10000.0}");
    for (int threads = 1; threads <= 3; threads++) {
        check_parts(&model, 20, 1, whole, threads);
        check_parts(&model, 20, 3, cut, threads);
    }
    model_close(&model);
}
END_TEST

/* Each head has gains of its own, and so a baseline of its own; layer 1 has no OV circuits, which
 * is one part's row. */
START_TEST(parts_draw_the_same_baselines) {
    static const part whole[] = {{NULL, NULL}};
    static const part cut[] = {{"1", "0+2"}, {"0", "1-3"}, {"1", "1+3"}, {"0", "0"}};
    test_model model;
    model_open(&model);
    for (int i = 0; i < 2; i++) {
        static const char *const names[] = {"q", "k", "v", "o"};
        for (int j = 0; j < 4; j++)
            model_add(&model, SZGI_DTYPE_F32, 16, 16, "model.layers.%d.self_attn.%s_proj.weight", i,
                      names[j]);
        for (int side = 0; side < 2; side++)
            for (int h = 0; h < 4; h++)
                model_add(&model, SZGI_DTYPE_F32, 4, -1,
                          "model.layers.%d.self_attn.%s_layernorm.norms.%d.weight", i,
                          side ? "k" : "q", h);
        model_add(&model, SZGI_DTYPE_F32, 16, -1, "model.layers.%d.input_layernorm.weight", i);
    }
    model_find(&model, "model.layers.1.self_attn.o_proj.weight")->value[3] = NAN;
    model_write(&model, "{\"model_type\":\"stablelm\",\"num_hidden_layers\":2,"
                        "\"num_attention_heads\":4,\"num_key_value_heads\":4,"
                        "\"hidden_size\":16,\"qk_layernorm\":true,\"rope_theta\":10000.0,"
                        "\"partial_rotary_factor\":0.5}");
    for (int threads = 1; threads <= 3; threads++) {
        check_parts(&model, 8, 1, whole, threads);
        check_parts(&model, 8, 4, cut, threads);
    }
    model_close(&model);
}
END_TEST

/* What is said of a layer that does not rotate is its first head's. */
START_TEST(rotary_rows_belong_to_one_part) {
    static const part by_layer[] = {{"1", NULL}, {"0", NULL}};
    static const part by_head[] = {{NULL, "2-3"}, {NULL, "0+1"}};
    test_model model;
    model_open(&model);
    for (int layer = 0; layer < 2; layer++) {
        model_add(&model, SZGI_DTYPE_F32, 4 * 4, 10, "model.layers.%d.self_attn.q_proj.weight",
                  layer);
        model_add(&model, SZGI_DTYPE_F32, 2 * 4, 10, "model.layers.%d.self_attn.k_proj.weight",
                  layer);
        model_add(&model, SZGI_DTYPE_F32, 10, -1, "model.layers.%d.input_layernorm.weight", layer);
    }
    model_write(&model, "{\"model_type\":\"smollm3\",\"num_hidden_layers\":2,"
                        "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"head_dim\":4,"
                        "\"hidden_size\":10,\"rope_theta\":10000.0,\"no_rope_layers\":[1,0]}");
    check_parts(&model, 2 * 4, 2, by_layer, 2);
    check_parts(&model, 2 * 4, 2, by_head, 1);
    model_close(&model);
}
END_TEST

START_TEST(lists_that_are_none_are_refused) {
    static const struct {
        part of;
        const char *words;
    } cases[] = {{{"3", NULL}, "layers '3': layer 3 is none of"},
                 {{"0-9223372036854775807", NULL}, "has 0 to 2"},
                 {{"99999999999999999999", NULL}, "a list such as"},
                 {{NULL, "1+2"}, "heads '1+2': head 2 is none of"},
                 {{NULL, "1-0"}, "heads '1-0': a list such as"},
                 {{"", NULL}, "layers '': a list such as"},
                 {{"0,", NULL}, "a list such as"},
                 {{"0+", NULL}, "a list such as"},
                 {{"-0", NULL}, "a list such as"},
                 {{"-2-3", NULL}, "a list such as"},
                 {{"--1", NULL}, "a list such as"},
                 {{"-4", NULL}, "layers '-4': layer -4 is none of"},
                 {{NULL, "0+-9223372036854775807"}, "head -9223372036854775807 is none of"}};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    model_add_bert(&model);
    model_write(&model, model_bert);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options),
                                                .layers = cases[i].of.layers,
                                                .heads = cases[i].of.heads};
        ck_szg_fails(SZG_EINVAL, cases[i].words,
                     szg_checkpoint_analyse(test_context(), checkpoint, &options, &tables));
    }
    szg_checkpoint_close(&checkpoint);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, "", &checkpoint));
    ck_szg_fails(SZG_EINVAL, "architecture is unknown",
                 szg_checkpoint_analyse(
                     test_context(), checkpoint,
                     &(szg_checkpoint_options){SZG_INIT(szg_checkpoint_options), .heads = "0"},
                     &tables));
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

TEST_FILE("parts") {
    test_add(suite, "rows_belong_to_one_part", rows_belong_to_one_part);
    test_add(suite, "shares_and_threads_give_the_same_bits", shares_and_threads_give_the_same_bits);
    test_add(suite, "parts_draw_the_same_baselines", parts_draw_the_same_baselines);
    test_add(suite, "rotary_rows_belong_to_one_part", rotary_rows_belong_to_one_part);
    test_add(suite, "lists_that_are_none_are_refused", lists_that_are_none_are_refused);
}

/* Architectures that are not known: every matrix has a row; shards and indexes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "model.h"

static void check_singular(const szg_checkpoint_tables *tables, const model_tensor *tensor) {
    int64_t m = tensor->shape[0], n = tensor->shape[1], small = m < n ? m : n, seen = 0;
    double *work = malloc((size_t)(m * n) * sizeof *work), *want = calloc((size_t)small, 8);
    memcpy(work, tensor->value, (size_t)(m * n) * sizeof *work);
    ck_szg_ok(szgi_singular(test_context(), m, n, work, n, want, NULL, 1, NULL, 1));
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
    ck_assert_int_eq((int64_t)cell(tables->summary, row, "rows"), m);
    ck_assert_int_eq((int64_t)cell(tables->summary, row, "columns"), n);
    ck_close(cell(tables->summary, row, "sigma_min"), want[small - 1],
             weyl(m + n, norm_of(m * n, tensor->value)));
    /* docs/explanation/methods.md: what is handed out passed this check. */
    ck_assert_double_le(cell(tables->summary, row, "residual"),
                        64 * (double)(m > n ? m : n) * DBL_EPSILON);
    ck_assert_int_eq((int64_t)cell(tables->summary, row, "rank"), want[0] > 0 ? small : 0);
    free(work);
    free(want);
}

START_TEST(every_matrix_of_an_unknown_architecture) {
    const int shapes[][2] = {{1, 1},  {5, 5},   {40, 3}, {3, 40}, {18, 3},
                             {17, 3}, {100, 1}, {1, 64}, {7, 5},  {200, 9}};
    const char *configs[] = {NULL, "{}", "{\"model_type\":\"unheard of\"}",
                             "{\"model_type\":\"deepseek_v4\"}"};
    const char *reasons[] = {"no config.json", "no model_type", "is not known to szego",
                             "'deepseek_v4' is not read by szego: keys are compressed"};
    for (size_t c = 0; c < sizeof configs / sizeof *configs; c++) {
        test_model model;
        szg_checkpoint *checkpoint;
        szg_checkpoint_tables tables;
        model_open(&model);
        for (size_t i = 0; i < 10; i++)
            model_add(&model, (szgi_dtype)(i % 4), shapes[i][0], shapes[i][1], "a%zu.weight", i);
        memset(model.tensor[8].value, 0, (size_t)model.tensor[8].count * sizeof(double));
        model_add(&model, SZGI_DTYPE_INTEGER, 1, 12, "position_ids");
        model_add(&model, SZGI_DTYPE_INTEGER, 4, 3, "quantised.weight");
        model_add(&model, SZGI_DTYPE_F32, 6, -1, "bias");
        model_add(&model, SZGI_DTYPE_F32, 0, 5, "empty");
        model_add(&model, SZGI_DTYPE_F32, 1, -1, "scalar")->dims = 0;
        model_add(&model, SZGI_DTYPE_F32, 4, 4, "nan")->value[9] = NAN;
        model_tensor *odd = model_add(&model, SZGI_DTYPE_INTEGER, 3, 2, "complex");
        odd->dtype = SZGI_DTYPE_OTHER;
        odd->dtype_name = "C64"; /* eight bytes each, as the test writes them */
        model_write(&model, configs[c]);
        model_analyse(&model, &checkpoint, &tables);
        const char *unknown = szg_checkpoint_describe(checkpoint).unknown;
        ck_assert_msg(unknown && strstr(unknown, reasons[c]), "%s", unknown);
        ck_assert_str_eq(cell_text(tables.architecture, 0, "property"), "unknown");
        ck_assert_str_eq(cell_text(tables.architecture, 0, "value"), unknown);
        ck_assert_int_eq(tables.bad, 3);
        for (int i = 0; i < 10; i++)
            check_singular(&tables, &model.tensor[i]);
        ck_assert_int_eq(szg_table_rows(tables.summary), 13);
        ck_assert_int_eq(szg_table_rows(tables.tensors), 17);
        const char *notes[][2] = {
            {"nan", "[2, 1]"}, {"quantised.weight", "I64"}, {"complex", "C64"}};
        for (int i = 0; i < 3; i++) {
            int64_t row = find_row(tables.summary, -1, -1, notes[i][0]);
            ck_assert(isnan(cell(tables.summary, row, "sigma_max")));
            ck_noted(&tables, -1, -1, notes[i][0], notes[i][1]);
        }
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        model_close(&model);
    }
}
END_TEST

/* Diagonal matrices: their singular values are the entries. A value within rounding of the largest
 * one, 2 eps sigma_max, has no digits to lose, however small it is. */
START_TEST(weights_below_the_normal_doubles) {
    static const struct {
        double first, second;
        const char *words;
    } cases[] = {{0x1p-1030, 0x1p-1031, "2 of 2 values lost digits"},
                 {0x1p-1000, 0x1p-1030, "1 of 2 values lost digits"},
                 {1, 0x1p-1030, NULL},
                 {0x1p-1000, 0x1p-1020, NULL},
                 {0x1p-1000, 0, NULL}};
    test_model model;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    model_open(&model);
    for (int i = 0; i < 5; i++) {
        model_tensor *tensor = model_add(&model, SZGI_DTYPE_F64, 2, 2, "a%d.weight", i);
        memcpy(tensor->value, (double[]){cases[i].first, 0, 0, cases[i].second},
               4 * sizeof(double));
    }
    model_write(&model, NULL);
    model_analyse(&model, &checkpoint, &tables);
    for (int i = 0; i < 5; i++) {
        int64_t row = find_row(tables.summary, -1, -1, model.tensor[i].name);
        const char *name = model.tensor[i].name;
        ck_assert(cell(tables.summary, row, "sigma_max") == cases[i].first);
        ck_assert(is_noted(&tables, -1, -1, name, "lost digits") == !!cases[i].words);
        if (cases[i].words)
            ck_noted(&tables, -1, -1, name, cases[i].words);
    }
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&checkpoint);
    model_close(&model);
}
END_TEST

START_TEST(a_file_beside_its_configuration) {
    test_model model;
    szg_checkpoint *checkpoint;
    model_open(&model);
    model_add_bert(&model);
    model_write(&model, model_bert);
    ck_szg_ok(szg_checkpoint_open(test_context(), model_path(&model, "model.safetensors"), NULL,
                                  &checkpoint));
    ck_assert_int_eq(szg_checkpoint_describe(checkpoint).layers, 3);
    szg_checkpoint_close(&checkpoint);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, "", &checkpoint));
    ck_assert(strstr(szg_checkpoint_describe(checkpoint).unknown, "config.json"));
    double q[18];
    ck_szg_fails(SZG_EINVAL, "layer 0", model_head(test_context(), checkpoint, 0, 0, q, q));
    ck_szg_fails(SZG_EDOMAIN, "has 0", szgi_checkpoint_positions(test_context(), checkpoint, 1, q));
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
    model_add_bert(&model);
    model_write_text(&model, "config.json", model_bert);
    model_write_part(&model, "a.safetensors", 0, 3);
    model_write_part(&model, "b.safetensors", 3, model.tensors - 3);
    /* The index forgets most tensors, and puts one into the wrong shard. */
    model_write_text(&model, "model.safetensors.index.json",
                     "{\"weight_map\":{\"embeddings.position_embeddings.weight\":"
                     "\"b.safetensors\",\"encoder.layer.0.attention.self.query.weight\":"
                     "\"a.safetensors\"}}");
    model_analyse(&model, &checkpoint, &tables);
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

TEST_FILE("unknown") {
    test_add(suite, "every_matrix_of_an_unknown_architecture",
             every_matrix_of_an_unknown_architecture);
    test_add(suite, "weights_below_the_normal_doubles", weights_below_the_normal_doubles);
    test_add(suite, "a_file_beside_its_configuration", a_file_beside_its_configuration);
    test_add(suite, "shards_with_a_stale_index", shards_with_a_stale_index);
}

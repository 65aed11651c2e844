/* Rows that are drawn and not trained: behind the parameters, in checkpoints, in no moment. */
#include <stdlib.h>
#include <string.h>
#include "formats/safetensors.h"

#include "suite.h"
#include "tiny.h"

#define ROWS "position_encoding.position_embeddings.weight"
enum { NUMBERS = 16 * 8 };

static szg_model *new_model(const char *key, uint64_t seed) {
    szg_train_config *config = new_tiny(key);
    szg_model *model;
    ck_szg_ok(szgi_model_open(test_context(), config, 7, &model));
    ck_szg_ok(szgi_model_initialise(test_context(), model, seed));
    szgi_memory_free(config);
    return model;
}

static void rows_of(const szg_model *model, double rows[NUMBERS]) {
    const szgi_parameter *p = szgi_model_find(model, ROWS);
    ck_assert(p && p->frozen && p->count == NUMBERS);
    ck_szg_ok(
        szgi_model_read(test_context(), model, szgi_model_arena(model), p->offset, NUMBERS, rows));
}

static bool alike(const double *a, const double *b) {
    return memcmp(a, b, NUMBERS * sizeof *a) == 0;
}

/* The rows that a new model of `key` has with a seed. */
static void draw(const char *key, uint64_t seed, double rows[NUMBERS]) {
    szg_model *model = new_model(key, seed);
    rows_of(model, rows);
    szg_model_close(test_context(), &model);
}

START_TEST(they_stand_behind_the_parameters) {
    szg_model *model = new_model("model.encoding=random", 1);
    const szgi_parameter *rows = szgi_model_find(model, ROWS);
    int64_t trained = szgi_model_parameters(model), count = szgi_model_count(model);
    double value;
    ck_assert_int_eq(szgi_model_tensors(model), trained + 1);
    ck_assert_ptr_eq(szgi_model_parameter(model, trained), rows);
    ck_assert_ptr_null(szgi_model_parameter(model, trained + 1));
    ck_assert(rows->offset == count && rows->shape[0] == 16 && rows->shape[1] == 8);
    ck_assert_int_eq(szgi_model_numbers(model), count + NUMBERS);
    ck_szg_fails(SZG_EINVAL, "outside the arena",
                 szgi_model_read(test_context(), model, szgi_model_arena(model), count + NUMBERS, 1,
                                 &value));
    ck_szg_fails(SZG_EINVAL, "outside the arena", /* of a gradient, say */
                 szgi_model_read(test_context(), model, &value, count, 1, &value));
    szg_model_close(test_context(), &model);
    model = new_model("model.encoding=absolute", 1); /* follows from the name */
    ck_assert_int_eq(szgi_model_tensors(model), szgi_model_parameters(model));
    ck_assert_int_eq(szgi_model_numbers(model), szgi_model_count(model));
    szg_model_close(test_context(), &model);
}
END_TEST

/* A SPEC's own seed fixes them; else they vary with the run's, as the other initial values do. */
START_TEST(the_seed_of_the_run_decides) {
    double a[NUMBERS], b[NUMBERS];
    draw("model.encoding=random", 1, a);
    draw("model.encoding=random", 1, b);
    ck_assert(alike(a, b));
    draw("model.encoding=random", 2, b);
    ck_assert(!alike(a, b));
    draw("model.encoding=random:seed=9", 1, a);
    draw("model.encoding=random:seed=9", 2, b);
    ck_assert(alike(a, b));
}
END_TEST

/* ---- Checkpoints ---- */

/* The tensors of a file but for the rows (`without`), or with rows 0, 1, 2, ... instead. */
static void write_changed(const char *from, const char *to, bool without) {
    szgi_safetensors *file;
    szgi_tensor *tensor;
    float rows[NUMBERS];
    int64_t count = 0;
    for (int i = 0; i < NUMBERS; i++)
        rows[i] = (float)i;
    ck_szg_ok(szgi_safetensors_open(test_context(), from, &file));
    ck_szg_ok(szgi_memory_alloc(test_context(), szgi_safetensors_count(file), &tensor));
    for (int64_t i = 0; i < szgi_safetensors_count(file); i++) {
        tensor[count] = *szgi_safetensors_tensor(file, i);
        if (strcmp(tensor[count].name, ROWS) == 0)
            tensor[count].data = (const unsigned char *)rows;
        count += !(without && strcmp(tensor[count].name, ROWS) == 0);
    }
    ck_assert_int_eq(count, szgi_safetensors_count(file) - without);
    ck_szg_ok(szgi_safetensors_write(test_context(), to, tensor, count, NULL, 0));
    szgi_memory_free(tensor);
    szgi_safetensors_close(&file);
}

static szg_status load_rows(const char *path, const char *key, double rows[NUMBERS]) {
    szg_train_config *config = new_tiny(key);
    szg_model *model;
    szg_status status = szg_model_load(test_context(), path, config, &model);
    if (status == SZG_OK)
        rows_of(model, rows);
    szg_model_close(test_context(), &model);
    szgi_memory_free(config);
    return status;
}

START_TEST(checkpoints_hold_them) {
    char *folder = new_folder(), path[256], changed[256];
    double rows[NUMBERS], loaded[NUMBERS];
    szg_model *model = new_model("model.encoding=random", 3);
    rows_of(model, rows);
    ck_szg_ok(szgi_model_save(test_context(), model, path_in(folder, "a.safetensors", path), 3, 0));
    szg_model_close(test_context(), &model);
    ck_szg_ok(load_rows(path, "model.encoding=random", loaded));
    ck_assert(alike(rows, loaded));
    write_changed(path, path_in(folder, "b.safetensors", changed), false);
    ck_szg_ok(load_rows(changed, "model.encoding=random", loaded));
    for (int i = 0; i < NUMBERS; i++)
        ck_assert(loaded[i] == i);
    ck_szg_fails(SZG_EDATA, "has other numbers than model.encoding=random:seed=9",
                 load_rows(changed, "model.encoding=random:seed=9", loaded));
    write_changed(path, changed, true);
    ck_szg_fails(SZG_EDATA, ROWS " is missing: it is drawn, not trained",
                 load_rows(changed, "model.encoding=random", loaded));
    ck_szg_ok(load_rows(changed, "model.encoding=random:seed=9", loaded));
    draw("model.encoding=random:seed=9", 1, rows);
    ck_assert(alike(rows, loaded));
    model = new_model("model.encoding=random:seed=9", 4);
    ck_szg_ok(szgi_model_save(test_context(), model, path, 4, 0));
    szg_model_close(test_context(), &model);
    ck_szg_ok(load_rows(path, "model.encoding=random:seed=9", loaded));
    remove_folder(folder);
}
END_TEST

/* ---- Runs ---- */

static void check_state(const char *folder) {
    char path[256];
    szgi_safetensors *file;
    ck_szg_ok(szgi_safetensors_open(test_context(),
                                    path_in(folder, "checkpoint.state.safetensors", path), &file));
    ck_assert_ptr_nonnull(szgi_safetensors_find(file, "weight/" ROWS));
    ck_assert_ptr_null(szgi_safetensors_find(file, "moment1/" ROWS));
    ck_assert_ptr_null(szgi_safetensors_find(file, "moment2/" ROWS));
    szgi_safetensors_close(&file);
}

START_TEST(training_leaves_them) {
    szg_train_config *config = new_tiny("model.encoding=random"), *part = new_tiny(NULL);
    szg_train_result result;
    char *whole = whole_run(config), *folder = new_run_folder(), path[256];
    double rows[NUMBERS], loaded[NUMBERS];
    draw("model.encoding=random", 5, rows);
    ck_szg_ok(
        load_rows(path_in(whole, "checkpoint.safetensors", path), "model.encoding=random", loaded));
    ck_assert(alike(rows, loaded));
    check_state(whole);
    *part = *config;
    part->loop.limit_steps = 4;
    ck_szg_ok(run_in(test_context(), part, 5, folder, false, &result));
    ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
    ck_same_run(whole, folder);
    szg_model *model;
    ck_szg_ok(szg_model_load(test_context(), path, NULL, &model));
    ck_assert_int_eq(result.parameters, szgi_model_count(model));
    szg_model_close(test_context(), &model);
    remove_run_folder(folder);
    remove_run_folder(whole);
    szgi_memory_free(part);
    szgi_memory_free(config);
}
END_TEST

TEST_FILE("frozen") {
    test_add(suite, "they_stand_behind_the_parameters", they_stand_behind_the_parameters);
    test_add(suite, "the_seed_of_the_run_decides", the_seed_of_the_run_decides);
    test_add(suite, "checkpoints_hold_them", checkpoints_hold_them);
    test_add(suite, "training_leaves_them", training_leaves_them);
}

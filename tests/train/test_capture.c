/* Captures: their rows, dumps read back, runs; that nothing of the model changes. */
#include <dirent.h>
#include <unistd.h>

#include "capture/dump.h"
#include "train/run/train.h"

#include "../../train/run/run_private.h"
#include "capture_support.h"

/* The raw logits give the same report, bit for bit, gradient norms and labels included. */
START_TEST(dump_reads_back) {
    static const char *const specs[] = {"rope", "absolute", "mla"};
    for (int e = 0; e < 3; e++) {
        szg_train_config config = small_config(SZG_PROFILE_TEXT, specs[e], NULL);
        subject s = open_subject(&config, true);
        szg_examples examples;
        szg_capture_config what = everything(SEQUENCES);
        what.heads = (szg_index_list){.count = 1, .index = {1}};
        szg_table *table;
        drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
        char *folder = new_folder(), path[256];
        fill_examples(&examples);
        szgi_memory_free(gradients_of(&s, &b.batch));
        ck_szg_ok(
            capture_into(test_context(), &s, &what, &examples, NULL, s.gradient, folder, &table));
        ck_assert_int_eq(szg_table_rows(table), 2 * SEQUENCES);
        ck_assert(cell(table, 3, "layer") == 1 && cell(table, 3, "head") == 1);
        ck_assert_str_eq(text(table, 3, "probe"), "1");
        ck_assert(cell(table, 3, "grad_norm_qk") > 0);
        ck_assert(cell(table, 3, "grad_norm") > cell(table, 3, "grad_norm_qk"));
        szgi_dump *dump;
        szg_contraction_tables tables;
        const szg_report_options options = {SZG_INIT(szg_report_options), .quick_symbol = true};
        ck_szg_ok(szgi_dump_open(test_context(), &dump));
        ck_szg_ok(
            szgi_dump_add(test_context(), dump, path_in(folder, "step-12.safetensors", path)));
        ck_szg_ok(szg_contraction_tables_open(test_context(), false, false, &tables));
        ck_szg_ok(szgi_dump_report(test_context(), dump, NULL, &options, &tables));
        same_tables(table, tables.contraction);
        szgi_dump_close(&dump);
        szg_contraction_tables_close(&tables);
        szg_table_close(&table);
        szg_examples_close(&examples);
        free_batch(&b);
        close_subject(&s);
        remove_folder(folder);
    }
}
END_TEST

/* One token over and over: in the first layer only the lag is left, and the content is constant. */
START_TEST(constant_tokens) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_subject(&config, false);
    const int32_t tokens[POSITIONS] = {3, 3, 3, 3, 3, 3, 3};
    szg_examples examples = {0};
    szg_capture_config what = everything(1);
    szg_table *table;
    ck_szg_ok(szgi_examples_add(test_context(), &examples, POSITIONS, tokens, 1));
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    ck_assert_int_eq(szg_table_rows(table), 4);
    for (int head = 0; head < 2; head++) {
        ck_close(cell(table, head, "toeplitzness_coupled"), 1, 1e-9);
        ck_close(cell(table, head, "stable_rank_content"), 1, 1e-9);
        ck_assert(cell(table, head, "toeplitzness_coupled") <= 1);
        ck_assert(cell(table, head, "n") == POSITIONS && cell(table, head, "step") == 12);
        ck_assert(szg_table_is_empty(table, head, szg_table_find(table, "grad_norm")));
        ck_assert_str_eq(text(table, head, "source"),
                         szg_encoding_spec(szgi_model_encoding(s.model)));
    }
    szg_table_close(&table);
    szg_examples_close(&examples);
    close_subject(&s);
}
END_TEST

START_TEST(content_kinds) {
    static const struct {
        szg_profile profile;
        const char *encoding, *kind;
    } cases[] = {
        {SZG_PROFILE_TEXT, "rope", "same_qk"},         {SZG_PROFILE_RELEASED, "rope", "zeroed"},
        {SZG_PROFILE_TEXT, "mla", "same_qk"},          {SZG_PROFILE_RELEASED, "mla", "zeroed"},
        {SZG_PROFILE_TEXT, "absolute", "zeroed"},      {SZG_PROFILE_TEXT, "nope", "same_qk"},
        {SZG_PROFILE_TEXT, "rope+absolute", "zeroed"}, {SZG_PROFILE_RELEASED, "alibi", "same_qk"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_train_config config = small_config(cases[i].profile, cases[i].encoding, NULL);
        subject s = open_subject(&config, false);
        szg_examples examples;
        szg_capture_config what = everything(1);
        szg_table *table;
        fill_examples(&examples);
        ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
        ck_assert_str_eq(text(table, 0, "content_kind"), cases[i].kind);
        if (strcmp(cases[i].encoding, "nope") == 0)
            ck_assert(cell(table, 0, "width_ratio") == 1 && cell(table, 3, "norm_ratio") == 1);
        szg_table_close(&table);
        szg_examples_close(&examples);
        close_subject(&s);
    }
}
END_TEST

/* Tables of a run's own are not those of the data's seed, and the rows' SPEC names none. */
START_TEST(sources) {
    static const struct {
        const char *encoding, *source;
    } cases[] = {{"random", "random:dim=8"},
                 {"random:seed=7", "random:dim=8,seed=7"},
                 {"t5:buckets=8,max_distance=6", "t5:buckets=8,max_distance=6,heads=2"},
                 {"rope", "rope:dim=4,heads=2"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_train_config config = small_config(SZG_PROFILE_TEXT, cases[i].encoding, NULL);
        subject s = open_subject(&config, false);
        szg_examples examples;
        szg_capture_config what = everything(1);
        szg_table *table;
        fill_examples(&examples);
        ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
        const char *source = text(table, 0, "source");
        ck_assert_str_eq(source, cases[i].source);
        ck_assert_int_eq(strstr(source, "seed=") != NULL,
                         strstr(cases[i].encoding, "seed=") != NULL);
        szg_table_close(&table);
        szg_examples_close(&examples);
        close_subject(&s);
    }
}
END_TEST

START_TEST(any_number_of_threads) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_subject(&config, false);
    szg_examples examples;
    szg_capture_config what = everything(SEQUENCES);
    szg_table *first, *again;
    fill_examples(&examples);
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &first));
    for (int threads = 1; threads <= 3; threads += 2) {
        szg_context *context;
        ck_assert_int_eq(szg_context_open(&(szg_context_options){SZG_INIT(szg_context_options),
                                                                 .threads = threads},
                                          &context),
                         SZG_OK);
        ck_assert_int_eq(capture_into(context, &s, &what, &examples, NULL, NULL, NULL, &again),
                         SZG_OK);
        same_tables(first, again);
        szg_table_close(&again);
        szg_context_close(&context);
    }
    szg_table_close(&first);
    szg_examples_close(&examples);
    close_subject(&s);
}
END_TEST

/* ---- Nothing changes, nothing is taken that is not there ---- */

/* Parameters and gradients of a training decoder are bit-equal with a capture between its passes.
 */
START_TEST(training_is_left_alone) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope+absolute", NULL);
    subject s = open_subject(&config, true);
    szg_examples examples;
    szg_capture_config what = everything(2);
    szg_table *table;
    drawn_batch b = draw_batch(SEQUENCES, POSITIONS);
    fill_examples(&examples);
    int64_t count = szgi_model_count(s.model);
    double *before = download(szgi_model_arena(s.model), count);
    double *plain = gradients_of(&s, &b.batch), *captured = new_numbers(count);
    ck_szg_ok(szgi_device_clear(test_context(), &s.memory->tally, sizeof s.memory->tally));
    ck_szg_ok(szgi_decoder_forward(test_context(), s.decoder, &b.batch));
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, s.gradient, NULL, &table));
    ck_szg_ok(szgi_decoder_backward(test_context(), s.decoder, s.gradient, &s.memory->tally));
    ck_szg_ok(szgi_model_read(test_context(), s.model, s.gradient, 0, count, captured));
    double *after = download(szgi_model_arena(s.model), count);
    ck_assert_int_eq(memcmp(before, after, (size_t)count * sizeof *before), 0);
    ck_assert_int_eq(memcmp(plain, captured, (size_t)count * sizeof *plain), 0);
    double *all[] = {before, plain, captured, after};
    for (int i = 0; i < 4; i++)
        szgi_memory_free(all[i]);
    szg_table_close(&table);
    szg_examples_close(&examples);
    free_batch(&b);
    close_subject(&s);
}
END_TEST

static void run_whole(const szg_train_config *config, const char *folder) {
    szg_train_result result;
    ck_szg_ok(run_in(test_context(), config, 4, folder, false, &result));
    ck_assert_int_eq(result.steps, TINY_STEPS);
    ck_assert_int_eq(result.capture_seconds > 0, config->capture.every > 0);
}

static int64_t lines_of(const char *folder, const char *name) {
    size_t size;
    char *text = file_bytes(folder, name, &size);
    int64_t lines = 0;
    for (size_t i = 0; text && i < size; i++)
        lines += text[i] == '\n';
    free(text);
    return lines;
}

/* A whole run has the same weights, bit for bit, with captures and dumps as without. */
START_TEST(a_run_with_captures) {
    char *folder[2] = {new_folder(), new_folder()}, path[256], dumps[256], name[64];
    szgi_safetensors *set[2];
    for (int i = 0; i < 2; i++) {
        szg_train_config *config = new_tiny("capture.probes=2");
        config->capture.every = i ? 2 : 0;
        config->capture.dump = i;
        run_whole(config, folder[i]);
        ck_szg_ok(szgi_safetensors_open(
            test_context(), path_in(folder[i], "checkpoint.safetensors", path), &set[i]));
        szgi_memory_free(config);
    }
    ck_assert_int_eq(szgi_safetensors_count(set[0]), szgi_safetensors_count(set[1]));
    for (int64_t t = 0; t < szgi_safetensors_count(set[0]); t++) {
        const szgi_tensor *a = szgi_safetensors_tensor(set[0], t);
        const szgi_tensor *b = szgi_safetensors_tensor(set[1], t);
        ck_assert_str_eq(a->name, b->name);
        ck_assert_int_eq(a->count, b->count);
        double *numbers = new_numbers(2 * a->count);
        ck_szg_ok(szgi_tensor_read(test_context(), a, 0, a->count, numbers));
        ck_szg_ok(szgi_tensor_read(test_context(), b, 0, b->count, numbers + a->count));
        ck_assert_mem_eq(numbers, numbers + a->count, (size_t)a->count * sizeof *numbers);
        szgi_memory_free(numbers);
    }
    /* Steps 0, 2, 4, 6, 8; two layers, heads and probes. */
    ck_assert_int_eq(lines_of(folder[1], "contraction.csv"), 1 + 5 * 8);
    path_in(folder[1], "logits", dumps);
    for (int step = 0; step < TINY_STEPS; step += 2) {
        snprintf(name, sizeof name, "step-%d.safetensors", step);
        ck_assert_int_eq(access(path_in(dumps, name, path), R_OK), 0);
    }
    empty_folder(dumps);
    rmdir(dumps);
    for (int i = 0; i < 2; i++) {
        szgi_safetensors_close(&set[i]);
        remove_folder(folder[i]);
    }
}
END_TEST

/* Gives the column another name: to a reader it is not there. */
static void lose_column(const char *folder, const char *name, const char *column) {
    size_t size, length = strlen(column);
    char path[256], *text = file_bytes(folder, name, &size),
                    *at = memmem(text, size, column, length);
    ck_assert_ptr_nonnull(at);
    at[0] = 'x';
    ck_assert_ptr_null(memmem(text, size, column, length));
    FILE *file = fopen(path_in(folder, name, path), "wb");
    ck_assert_uint_eq(fwrite(text, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    free(text);
}

static szg_status header_of(const char *folder, const char *name, int which) {
    run_log log;
    ck_szg_ok(szgi_log_open(test_context(), folder, name, &log));
    log.mark.bytes = 1; /* it has rows */
    szg_status status = szgi_log_check_header(test_context(), &log, which);
    szgi_log_close(&log);
    return status;
}

/* The same rows, with empty cells in the column `lost`. */
static void check_lost(const szg_table *without, const szg_table *whole, const char *lost) {
    ck_assert_int_eq(szg_table_rows(without), szg_table_rows(whole));
    ck_assert(szg_table_rows(whole) > 0);
    for (int64_t c = 0; c < szg_table_columns(whole); c++) {
        const char *name = szg_table_column(whole, c)->name;
        ck_assert_str_eq(szg_table_column(without, c)->name, name);
        ck_assert_int_eq(szg_table_is_empty(without, 0, c),
                         strcmp(name, lost) == 0 || szg_table_is_empty(whole, 0, c));
    }
}

/* A column that logs of recorded runs lack reads as empty, but a run whose log lacks it does not
 * continue. A log that lacks another column is refused. */
START_TEST(columns_that_logs_may_lack) {
    static const char *const optional[] = {"margin_error", "pairing"};
    char *folder = new_folder();
    szg_train_config *config = new_tiny("capture.probes=2");
    szg_train_tables whole, without;
    config->capture.every = 2;
    config->capture.spectra = true;
    run_whole(config, folder);
    ck_szg_ok(header_of(folder, "contraction.csv", LOG_CONTRACTION));
    ck_szg_ok(header_of(folder, "contraction_values.csv", LOG_VALUES));
    ck_szg_ok(szg_train_tables_read(test_context(), folder, &whole));
    lose_column(folder, "contraction.csv", optional[_i]);
    ck_szg_ok(szg_train_tables_read(test_context(), folder, &without));
    check_lost(without.contraction, whole.contraction, optional[_i]);
    szg_train_tables_close(&without);
    ck_assert_int_eq(header_of(folder, "contraction.csv", LOG_CONTRACTION), SZG_EDATA);
    ck_assert_ptr_nonnull(strstr(szg_context_message(test_context()), "another version of szego"));
    lose_column(folder, "contraction_values.csv", "zeros");
    ck_szg_fails(SZG_EDATA, "the header has no column zeros",
                 szg_train_tables_read(test_context(), folder, &without));
    szg_train_tables_close(&whole);
    szgi_memory_free(config);
    remove_folder(folder);
}
END_TEST

/* A run's values and symbols: every one is there, and the largest singular values are those of
 * `contraction`. */
START_TEST(a_run_with_spectra) {
    szg_train_config *config = new_tiny("capture.probes=2");
    szg_train_tables tables;
    char *folder = new_folder();
    config->capture.every = 4;
    config->capture.spectra = true;
    run_whole(config, folder);
    ck_szg_ok(szg_train_tables_read(test_context(), folder, &tables));
    int64_t pairs = szg_table_rows(tables.contraction), row = 0;
    ck_assert_int_eq(pairs, 3 * 8); /* steps 0, 4, 8; two layers, heads and probes */
    for (int64_t pair = 0; pair < pairs; pair++)
        for (int which = 0; which < 2; which++) { /* n eigenvalues, then n singular values */
            int64_t n = (int64_t)cell(tables.contraction, pair, "n");
            const char *most = which ? "sigma_max_coupled" : "sigma_max_content";
            const char *range = which ? "lambda_max_coupled" : "lambda_max_content";
            ck_assert(cell(tables.values, row + n - 1, "value") ==
                      cell(tables.contraction, pair, range));
            ck_assert_str_eq(text(tables.values, row + n, "kind"), "singular");
            ck_assert(cell(tables.values, row + n, "value") ==
                      cell(tables.contraction, pair, most));
            ck_assert(cell(tables.values, row + n, "step") ==
                      cell(tables.contraction, pair, "step"));
            ck_assert_str_eq(text(tables.values, row + n, "encoding"), config->model.encoding);
            row += 2 * n;
        }
    ck_assert_int_eq(szg_table_rows(tables.values), row);
    ck_assert_int_eq(szg_table_rows(tables.symbols), pairs * 2 * SZG_CONTRACTION_SAMPLES);
    szg_train_tables_close(&tables);
    remove_folder(folder);
    szgi_memory_free(config);
}
END_TEST

START_TEST(labels_are_not_looked_at) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_subject(&config, false);
    szg_examples examples;
    szg_capture_config what = everything(1);
    szg_table *table, *again;
    fill_examples(&examples);
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    examples.label[0] = (int32_t)szgi_model_classes(s.model);
    ck_szg_ok(capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &again));
    same_tables(table, again);
    szg_table_close(&again);
    szg_table_close(&table);
    szg_examples_close(&examples);
    close_subject(&s);
}
END_TEST

START_TEST(refused) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "rope", NULL);
    subject s = open_subject(&config, false);
    szg_examples examples, empty = {0};
    szg_table *table;
    fill_examples(&examples);
    szg_capture_config what = everything(SEQUENCES + 1);
    ck_szg_fails(SZG_EINVAL, "4 probes of 3 test sequences",
                 capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    what.probes = 1;
    ck_szg_fails(SZG_EINVAL, "no test sequences",
                 capture_into(test_context(), &s, &what, &empty, NULL, NULL, NULL, &table));
    what.layers = (szg_index_list){.count = 1, .index = {2}};
    ck_szg_fails(SZG_EINVAL, "2 layers and one of its 2 heads",
                 capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    what.layers.all = true;
    examples.tokens[0] = WORDS;
    ck_szg_fails(SZG_EDATA, "outside the words",
                 capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    /* A model that has diverged: the message says when and where. */
    const double huge = INFINITY;
    examples.tokens[0] = 1;
    ck_szg_ok(szgi_model_write(test_context(), s.model, szgi_model_arena(s.model),
                               szgi_model_find(s.model, "layers.1.k_linear.bias")->offset, 1,
                               &huge));
    ck_szg_fails(SZG_EDATA, "capture at step 12: rope:dim=4,heads=2: layer 1, head 0, probe 0",
                 capture_into(test_context(), &s, &what, &examples, NULL, NULL, NULL, &table));
    szg_examples_close(&examples);
    close_subject(&s);
}
END_TEST

static szg_status capture_and_close(subject *s, const szg_examples *examples, const char *folder) {
    szg_capture_config what = everything(1);
    szg_table *table;
    szg_status status =
        capture_into(test_context(), s, &what, examples, NULL, s->gradient, folder, &table);
    szg_table_close(&table);
    return status;
}

START_TEST(allocation_failures) {
    szg_train_config config = small_config(SZG_PROFILE_TEXT, "absolute", NULL);
    subject s = open_subject(&config, false);
    szg_examples examples;
    char *folder = new_folder();
    fill_examples(&examples);
    ck_survives_failed_allocations(40, capture_and_close(&s, &examples, folder));
    szg_examples_close(&examples);
    close_subject(&s);
    remove_folder(folder);
}
END_TEST

TEST_FILE("capture") {
    test_add(suite, "dump_reads_back", dump_reads_back);
    test_add(suite, "constant_tokens", constant_tokens);
    test_add(suite, "content_kinds", content_kinds);
    test_add(suite, "sources", sources);
    test_add(suite, "any_number_of_threads", any_number_of_threads);
    test_add(suite, "training_is_left_alone", training_is_left_alone);
    test_add(suite, "a_run_with_captures", a_run_with_captures);
    test_add_loop(suite, "columns_that_logs_may_lack", columns_that_logs_may_lack, 2);
    test_add(suite, "a_run_with_spectra", a_run_with_spectra);
    test_add(suite, "labels_are_not_looked_at", labels_are_not_looked_at);
    test_add(suite, "refused", refused);
    test_add(suite, "allocation_failures", allocation_failures);
}

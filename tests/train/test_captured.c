/* The function that a run calls at each captured step: what it is given, and how it ends a run. */
#include <math.h>

#include "capture_support.h"
#include "tiny.h"

/* A run that calls `captured`, with `user`. */
static szg_status run_watched(szg_context *context, const szg_train_config *config,
                              const char *folder, bool resume, szg_captured_fn *captured,
                              void *user) {
    szg_dataset data;
    szg_train_result result;
    SZG_TRY(szg_dataset_open(test_context(), config, &data));
    const szg_train_options options = {SZG_INIT(szg_train_options),
                                       .config = config,
                                       .data = &data,
                                       .seed = 5,
                                       .folder = folder,
                                       .resume = resume,
                                       .captured = captured,
                                       .user = user};
    szg_status status = szg_train_run(context, &options, &result);
    szg_dataset_close(&data);
    return status;
}

/* ---- What it is given ---- */

typedef struct watch {
    const char *folder, *content_kind;
    int64_t steps, matrices;
} watch;

/* The matrices are those of the dump, bit for bit. */
static void check_matrix(const szgi_safetensors *set, const szg_captured_logits *logits,
                         const char *word, const double *got) {
    int64_t n = logits->n;
    double *want = dumped(set, logits->layer, logits->head, logits->probe, word, n);
    ck_assert_mem_eq(got, want, (size_t)(n * n) * sizeof *got);
    szgi_memory_free(want);
}

static double norm_of_entries(int64_t count, const double *a) {
    double squares = 0;
    for (int64_t i = 0; i < count; i++)
        squares += a[i] * a[i];
    return sqrt(squares);
}

/* Row i belongs to matrix i: sigma_max sqrt(stable_rank) is the Frobenius norm. The solver moves
 * each singular value by c n eps sigma_max, and both sums round: 20 n eps, as for two solvers. */
static void check_norm(const szg_table *rows, int64_t i, const char *suffix, int64_t n,
                       const double *a) {
    char largest[32], rank[32];
    double norm = norm_of_entries(n * n, a);
    snprintf(largest, sizeof largest, "sigma_max_%s", suffix);
    snprintf(rank, sizeof rank, "stable_rank_%s", suffix);
    ck_close(cell(rows, i, largest) * sqrt(cell(rows, i, rank)), norm,
             20 * (double)n * 0x1p-52 * norm);
}

static void check_row(const szg_table *rows, int64_t i, const szg_captured_logits *logits) {
    char probe[24];
    snprintf(probe, sizeof probe, "%d", (int)logits->probe);
    ck_assert_str_eq(text(rows, i, "probe"), probe);
    ck_assert_int_eq(szg_table_get_integer(rows, i, szg_table_find(rows, "layer")), logits->layer);
    ck_assert_int_eq(szg_table_get_integer(rows, i, szg_table_find(rows, "head")), logits->head);
    ck_assert_int_eq(szg_table_get_integer(rows, i, szg_table_find(rows, "n")), logits->n);
    check_norm(rows, i, "content", logits->n, logits->content);
    check_norm(rows, i, "coupled", logits->n, logits->coupled);
}

static void look(szg_context *context, const szg_captured_step *step, void *user) {
    watch *self = user;
    char name[64], path[256];
    szgi_safetensors *set;
    (void)context;
    ck_assert_int_eq(step->step, 2 * self->steps);
    ck_assert_str_eq(step->content_kind, self->content_kind);
    ck_assert_int_eq(step->count, 2 * 2 * 2);
    ck_assert_int_eq(szg_table_rows(step->contraction), step->count);
    snprintf(name, sizeof name, "logits/step-%d.safetensors", (int)step->step);
    ck_szg_ok(szgi_safetensors_open(test_context(), path_in(self->folder, name, path), &set));
    int64_t values = 0;
    for (int64_t i = 0; i < step->count; i++) {
        const szg_captured_logits *logits = &step->logits[i];
        ck_assert_int_eq(logits->probe * 4 + logits->layer * 2 + logits->head, i);
        check_matrix(set, logits, "content", logits->content);
        check_matrix(set, logits, "coupled", logits->coupled);
        check_row(step->contraction, i, logits);
        values += 2 * 2 * logits->n; /* eigenvalues and singular values, content and coupled */
    }
    ck_assert_int_eq(szg_table_rows(step->values), values);
    ck_assert_ptr_nonnull(step->symbols);
    szgi_safetensors_close(&set);
    self->steps++;
    self->matrices += step->count;
}

static void remove_watched(char *folder) {
    char path[256];
    path_in(folder, "logits", path);
    empty_folder(path);
    rmdir(path);
    remove_run_folder(folder);
}

START_TEST(a_captured_step_is_what_is_written) {
    static const char *const encodings[2] = {"model.encoding=rope", "model.encoding=absolute"};
    for (int e = 0; e < 2; e++) {
        szg_train_config *config = new_tiny(encodings[e]);
        config->capture.every = 2;
        config->capture.probes = 2;
        config->capture.spectra = true;
        char *plain = whole_run(config), *folder = new_run_folder();
        config->capture.dump = true;
        watch seen = {.folder = folder, .content_kind = e ? "zeroed" : "same_qk"};
        ck_szg_ok(run_watched(test_context(), config, folder, false, look, &seen));
        ck_assert_int_eq(seen.steps, 5); /* 0, 2, 4, 6, 8 */
        ck_assert_int_eq(seen.matrices, 5 * 8);
        /* The run is as without the function. */
        ck_same_file(plain, folder, "metrics.csv");
        ck_same_file(plain, folder, "contraction.csv");
        ck_same_file(plain, folder, "contraction_values.csv");
        ck_same_state(plain, folder);
        remove_watched(folder);
        remove_run_folder(plain);
        szgi_memory_free(config);
    }
}
END_TEST

/* Heads and layers that are left out, and a run that captures nothing: no call. */
static void count(szg_context *context, const szg_captured_step *step, void *user) {
    int64_t *calls = user;
    (void)context;
    ck_assert_int_eq(step->count, 1);
    ck_assert(step->logits->layer == 1 && step->logits->head == 1 && step->logits->probe == 0);
    ck_assert(!step->values && !step->symbols);
    ++*calls;
}

START_TEST(what_is_chosen_comes) {
    szg_train_config *config = new_tiny("capture.layers=1");
    char *folder = new_run_folder();
    int64_t calls = 0;
    ck_szg_ok(run_watched(test_context(), config, folder, false, count, &calls));
    ck_assert_int_eq(calls, 0);
    remove_run_folder(folder);
    folder = new_run_folder();
    config->capture.every = 4;
    config->capture.heads = (szg_index_list){.count = 1, .index = {1}};
    ck_szg_ok(run_watched(test_context(), config, folder, false, count, &calls));
    ck_assert_int_eq(calls, 3); /* steps 0, 4 and 8 of 9 */
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* The steps before the last one to capture are those of a run without it, byte for byte. */
START_TEST(captures_end_where_they_are_told_to) {
    static const int64_t until[] = {0, 9, 8, 5, 4, 1}, wanted[] = {3, 3, 2, 2, 1, 1};
    char *whole = NULL, *found = NULL, *end = NULL;
    size_t size;
    for (int i = 0; i < 6; i++) {
        szg_train_config *config = new_tiny("capture.layers=1");
        char *folder = new_run_folder();
        int64_t calls = 0;
        config->capture.heads = (szg_index_list){.count = 1, .index = {1}};
        config->capture.every = 4;
        config->capture.until = until[i];
        ck_szg_ok(run_watched(test_context(), config, folder, false, count, &calls));
        ck_assert_int_eq(calls, wanted[i]);
        found = file_bytes(folder, "contraction.csv", &size);
        ck_assert_ptr_nonnull(found);
        if (!whole) {
            whole = found;
        } else {
            ck_assert(strncmp(whole, found, size) == 0);
            end = strrchr(found, '\n');
            ck_assert(end && end[1] == 0);
            free(found);
        }
        remove_run_folder(folder);
        szgi_memory_free(config);
    }
    free(whole);
}
END_TEST

/* ---- Ending a run ---- */

static void stop_at_four(szg_context *context, const szg_captured_step *step, void *user) {
    int64_t *calls = user;
    ++*calls;
    if (step->step == 4)
        szg_context_cancel(context);
}

/* The step is finished and saved; the run goes on from there to the same bits. */
START_TEST(a_cancelled_step_is_saved) {
    szg_train_config *config = new_tiny(NULL);
    config->capture.every = 2;
    char *whole = whole_run(config), *folder = new_run_folder();
    szg_context *context;
    szg_train_result result;
    int64_t calls = 0;
    ck_szg_ok(szg_context_open(NULL, &context));
    ck_assert_int_eq(run_watched(context, config, folder, false, stop_at_four, &calls),
                     SZG_ECANCEL);
    ck_assert_ptr_nonnull(strstr(szg_context_message(context), "stopped after step 5 of 9"));
    ck_assert_int_eq(calls, 3);
    szg_context_close(&context);
    ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
    ck_same_run(whole, folder);
    remove_run_folder(folder);
    remove_run_folder(whole);
    szgi_memory_free(config);
}
END_TEST

static void ignore(szg_context *context, const szg_captured_step *step, void *user) {
    (void)context, (void)step, (void)user;
}

/* Memory that a step to keep takes may be refused like any other. */
START_TEST(kept_steps_survive_refused_memory) {
    szg_train_config *config = new_tiny("loop.epochs=1");
    config->capture.every = 2;
    char *folder = new_run_folder();
    ck_survives_failed_allocations(
        10,
        (empty_folder(folder), run_watched(test_context(), config, folder, false, ignore, NULL)));
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

TEST_FILE("captured") {
    test_add(suite, "captures end", captures_end_where_they_are_told_to);
    test_add(suite, "a_captured_step_is_what_is_written", a_captured_step_is_what_is_written);
    test_add(suite, "what_is_chosen_comes", what_is_chosen_comes);
    test_add(suite, "a_cancelled_step_is_saved", a_cancelled_step_is_saved);
    test_add(suite, "kept_steps_survive_refused_memory", kept_steps_survive_refused_memory);
}

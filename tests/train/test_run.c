/* Runs: what the schedule is, that the loss falls, and that threads, interruptions and failures
 * leave the numbers as they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <szego/szego.h>

#include "../../train/run_private.h"
#include "suite.h"
#include "tiny.h"

/* ---- Helpers ---- */

static szg_status run_in(szg_context *context, const szg_train_config *config, uint64_t seed,
                         const char *folder, bool resume, szg_train_result *out) {
    szg_dataset data;
    szg_status status = szg_dataset_open(context, config, &data);
    if (status != SZG_OK)
        return status;
    szg_train_options options = {
        .config = config, .data = &data, .seed = seed, .folder = folder, .resume = resume};
    status = szg_train_run(context, &options, out);
    szg_dataset_close(&data);
    return status;
}

/* PARENT/run of a new parent: all runs have the same name. */
static char *new_run_folder(void) {
    char *parent = new_folder(), *folder = malloc(strlen(parent) + 5);
    sprintf(folder, "%s/run", parent);
    free(parent);
    return folder;
}

static void remove_run_folder(char *folder) {
    empty_folder(folder);
    rmdir(folder);
    *strrchr(folder, '/') = 0;
    rmdir(folder);
    free(folder);
}

/* A run that nothing disturbs. */
static char *whole_run(const szg_train_config *config) {
    szg_train_result result;
    char *folder = new_run_folder();
    ck_szg_ok(run_in(test_context(), config, 5, folder, false, &result));
    ck_assert_int_eq(result.steps, TINY_STEPS);
    ck_assert_int_eq(result.epochs, 3);
    return folder;
}

/* ---- Schedule and order ---- */

START_TEST(the_schedule_has_its_closed_form) {
    szg_loop_config loop = {.learning_rate = 0.3, .warmup = 0.06};
    const int64_t totals[] = {1, 16, 17, 100, 1001, 13700};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        int64_t total = totals[i], warmup = total * 6 / 100;
        for (int64_t step = 0; step < total; step++) {
            double rate = szg_train_learning_rate(&loop, step, total);
            if (step < warmup) {
                ck_close(rate * (double)warmup, 0.3 * (double)step, 1e-15 * (double)step);
                continue;
            }
            /* (1 + cos 2x) / 2 = cos^2 x */
            double x = M_PI / 2 * (double)(step - warmup) / (double)(total - warmup);
            ck_close(rate, 0.3 * cos(x) * cos(x), 1e-15);
        }
    }
    ck_close(szg_train_learning_rate(&loop, 6, 100), 0.3, 0);
}
END_TEST

START_TEST(the_schedule_without_warm_up_begins_at_the_top) {
    szg_loop_config loop = {.learning_rate = 0.5, .warmup = 0};
    ck_close(szg_train_learning_rate(&loop, 0, 10), 0.5, 0);
    ck_close(szg_train_learning_rate(&loop, 5, 10), 0.25, 1e-16);
    loop.warmup = 1;
    ck_close(szg_train_learning_rate(&loop, 0, 10), 0, 0);
    ck_close(szg_train_learning_rate(&loop, 9, 10), 0.45, 1e-16);
}
END_TEST

START_TEST(corrections_are_powers_of_the_betas) {
    szg_loop_config loop = {.learning_rate = 1, .beta1 = 0.98, .beta2 = 0.9};
    double power1 = 1, power2 = 1;
    for (int64_t step = 0; step < 200; step++) {
        szg_step_block block = szg_train_block(&loop, 7, step, 200);
        power1 *= 0.98, power2 *= 0.9;
        ck_close(block.correction1, 1 - power1, 200 * 0x1p-53);
        ck_close(block.correction2, 1 - power2, 200 * 0x1p-53);
        ck_assert_uint_eq(block.step, (uint32_t)step);
        ck_assert_uint_eq(block.finite, 1);
    }
}
END_TEST

START_TEST(orders_are_permutations_that_change) {
    enum { COUNT = 101 };
    int64_t order[3][COUNT], same[3] = {0};
    szg_train_order(1, 0, COUNT, order[0]);
    szg_train_order(1, 1, COUNT, order[1]);
    szg_train_order(2, 0, COUNT, order[2]);
    for (int o = 0; o < 3; o++) {
        bool seen[COUNT] = {false};
        for (int i = 0; i < COUNT; i++) {
            ck_assert_int_ge(order[o][i], 0);
            ck_assert_int_lt(order[o][i], COUNT);
            ck_assert(!seen[order[o][i]]);
            seen[order[o][i]] = true;
            same[o] += order[o][i] == order[(o + 1) % 3][i];
        }
    }
    for (int o = 0; o < 3; o++) /* one in common is expected; 15 has odds below 1e-12 */
        ck_assert_int_lt(same[o], 15);
}
END_TEST

/* ---- Learning ---- */

START_TEST(the_loss_falls) {
    szg_train_config *config = new_tiny("loop.epochs=30");
    szg_train_result result;
    szg_train_tables tables;
    char *folder = new_run_folder();
    ck_szg_ok(run_in(test_context(), config, 1, folder, false, &result));
    ck_szg_ok(szg_train_tables_read(test_context(), folder, &tables));
    int64_t loss = szg_table_find(tables.metrics, "loss");
    ck_assert_int_eq(szg_table_rows(tables.metrics), 60);
    double first = szg_table_get_real(tables.metrics, 0, loss);
    ck_assert_msg(result.train_loss < first - 0.5, "%g after %g", result.train_loss, first);
    ck_assert(result.best_accuracy >= result.test_accuracy);
    ck_assert_int_eq(szg_table_rows(tables.timing), 30);
    szg_train_tables_close(&tables);
    remove_run_folder(folder);
    szg_memory_free(config);
}
END_TEST

/* The rows of metrics against a second way: the saved model on the same examples, and the schedule.
 */
START_TEST(the_log_tells_what_the_checkpoint_does) {
    szg_train_config *config = new_tiny(NULL);
    char path[256], *folder = whole_run(config);
    szg_train_tables tables;
    szg_model *model;
    szg_dataset data;
    szg_tally tally;
    ck_szg_ok(szg_train_tables_read(test_context(), folder, &tables));
    const szg_table *log = tables.metrics;
    ck_assert_int_eq(szg_table_rows(log), 6);
    ck_szg_ok(szg_model_load(test_context(), path_in(folder, "checkpoint.safetensors", path), NULL,
                             &model));
    ck_szg_ok(szg_dataset_open(test_context(), config, &data));
    ck_szg_ok(szg_train_evaluate(test_context(), model, &data.test, &tally, NULL));
    ck_close(szg_table_get_real(log, 5, szg_table_find(log, "loss")),
             tally.loss / (double)tally.counted, 0);
    ck_close(szg_table_get_real(log, 5, szg_table_find(log, "accuracy")),
             (double)tally.correct / (double)tally.counted, 0);
    for (int64_t row = 0; row < 6; row++) {
        int64_t step = (row / 2 + 1) * TINY_EPOCH;
        ck_assert_int_eq(szg_table_get_integer(log, row, szg_table_find(log, "epoch")),
                         row / 2 + 1);
        ck_assert_int_eq(szg_table_get_integer(log, row, szg_table_find(log, "step")), step);
        ck_close(szg_table_get_real(log, row, szg_table_find(log, "learning_rate")),
                 szg_train_learning_rate(&config->loop, step - 1, TINY_STEPS), 0);
    }
    szg_dataset_close(&data);
    szg_model_close(test_context(), &model);
    szg_train_tables_close(&tables);
    remove_run_folder(folder);
    szg_memory_free(config);
}
END_TEST

/* The logits that are handed out give the tally's loss. */
START_TEST(evaluation_gives_its_logits) {
    szg_train_config *config = new_tiny("loop.evaluate_batch=7");
    szg_model *model;
    szg_dataset data;
    szg_tally tally;
    ck_szg_ok(szg_dataset_open(test_context(), config, &data));
    ck_szg_ok(szg_model_open(test_context(), config, data.classes, &model));
    ck_szg_ok(szg_model_initialise(test_context(), model, 3));
    int64_t classes = data.classes, correct = 0;
    double *logits = new_numbers(data.test.count * classes), loss = 0;
    ck_szg_ok(szg_train_evaluate(test_context(), model, &data.test, &tally, logits));
    for (int64_t e = 0; e < data.test.count; e++) {
        const double *row = logits + e * classes;
        double sum = 0;
        int64_t best = 0;
        for (int64_t c = 0; c < classes; c++) {
            sum += exp(row[c]);
            best = row[c] > row[best] ? c : best;
        }
        loss += log(sum) - row[data.test.label[e]];
        correct += best == data.test.label[e];
    }
    ck_assert_int_eq(tally.counted, data.test.count);
    ck_assert_int_eq(tally.correct, correct);
    /* Single-precision logits of size 1 and a single-precision softmax: some 2^-24 an example. */
    ck_close(tally.loss, loss, 16 * 0x1p-24 * (double)data.test.count * (1 + fabs(loss)));
    szg_memory_free(logits);
    szg_model_close(test_context(), &model);
    szg_dataset_close(&data);
    szg_memory_free(config);
}
END_TEST

START_TEST(threads_do_not_change_a_bit) {
    szg_train_config *config = new_tiny(NULL);
    char *folder = whole_run(config);
    for (int threads = 1; threads <= 3; threads += 2) {
        szg_context_options options = {.threads = threads};
        szg_context *context;
        szg_train_result result;
        char *other = new_run_folder();
        ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
        ck_assert_int_eq(run_in(context, config, 5, other, false, &result), SZG_OK);
        ck_same_run(folder, other);
        szg_context_close(&context);
        remove_run_folder(other);
    }
    remove_run_folder(folder);
    szg_memory_free(config);
}
END_TEST

START_TEST(seeds_differ) {
    szg_train_config *config = new_tiny(NULL);
    szg_train_result first, second;
    char *folder = new_run_folder(), *other = new_run_folder();
    ck_szg_ok(run_in(test_context(), config, 1, folder, false, &first));
    ck_szg_ok(run_in(test_context(), config, 2, other, false, &second));
    ck_assert(first.train_loss != second.train_loss);
    remove_run_folder(other);
    remove_run_folder(folder);
    szg_memory_free(config);
}
END_TEST

/* ---- Going on ---- */

static void stop_at_and_go_on(const szg_train_config *config, int64_t at, const char *whole) {
    szg_train_config *part = new_tiny(NULL);
    szg_train_result result;
    char *folder = new_run_folder();
    *part = *config;
    part->loop.limit_steps = at;
    ck_szg_ok(run_in(test_context(), part, 5, folder, false, &result));
    ck_assert_int_eq(result.steps, at);
    ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
    ck_assert_int_eq(result.steps, TINY_STEPS);
    ck_same_run(whole, folder);
    remove_run_folder(folder);
    szg_memory_free(part);
}

START_TEST(a_run_goes_on_from_every_step) {
    szg_train_config *config = new_tiny(NULL);
    char *folder = whole_run(config);
    for (int64_t at = 1; at < TINY_STEPS; at++)
        stop_at_and_go_on(config, at, folder);
    remove_run_folder(folder);
    config->capture.every = 2;
    folder = whole_run(config);
    stop_at_and_go_on(config, 3, folder);
    stop_at_and_go_on(config, 4, folder);
    remove_run_folder(folder);
    szg_memory_free(config);
}
END_TEST

/* What a finished run adds where it goes on once more: nothing. */
START_TEST(a_finished_run_stays) {
    szg_train_config *config = new_tiny(NULL);
    szg_train_result result;
    char *folder = whole_run(config), *other = whole_run(config);
    ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
    ck_assert_int_eq(result.steps, TINY_STEPS);
    ck_same_run(folder, other);
    remove_run_folder(other);
    remove_run_folder(folder);
    szg_memory_free(config);
}
END_TEST

typedef struct canceller {
    szg_context *context;
    int64_t at;
} canceller;

static void cancel_at(void *user, const char *what, int64_t done, int64_t total) {
    canceller *self = user;
    (void)total;
    if (done == self->at && strncmp(what, "epoch", 5) == 0)
        szg_context_cancel(self->context);
}

START_TEST(an_interrupted_run_is_saved) {
    szg_train_config *config = new_tiny(NULL);
    szg_train_result result;
    char *whole = whole_run(config), words[64];
    for (int64_t at = 1; at < TINY_STEPS; at++) {
        canceller user = {.at = at};
        szg_context_options options = {.threads = 2, .progress = cancel_at, .user = &user};
        char *folder = new_run_folder();
        ck_assert_int_eq(szg_context_open(&options, &user.context), SZG_OK);
        ck_assert_int_eq(run_in(user.context, config, 5, folder, false, &result), SZG_ECANCEL);
        snprintf(words, sizeof words, "stopped after step %d of 9", (int)at);
        ck_assert_ptr_nonnull(strstr(szg_context_message(user.context), words));
        ck_assert_ptr_nonnull(strstr(szg_context_message(user.context), "--resume"));
        szg_context_close(&user.context);
        ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
        ck_same_run(whole, folder);
        remove_run_folder(folder);
    }
    remove_run_folder(whole);
    szg_memory_free(config);
}
END_TEST

/* The cpu table, and a cancellation in the midst of a step. */
static szg_context *cancelled;
static int64_t losses_before_cancel; /* one a step, before the backward pass */

static szg_status cancelling_loss(szg_context *context, const szg_cross_entropy *entropy) {
    if (--losses_before_cancel == 0)
        szg_context_cancel(cancelled);
    return szg_ops_cpu()->network->cross_entropy(context, entropy);
}

START_TEST(a_step_is_finished_before_the_run_stops) {
    szg_train_config *config = new_tiny(NULL);
    szg_network_ops network = *szg_ops_cpu()->network;
    struct szg_ops ops = *szg_ops_cpu();
    szg_train_result result;
    char *whole = whole_run(config), *folder = new_run_folder();
    network.cross_entropy = cancelling_loss;
    ops.network = &network;
    ck_assert_int_eq(szg_context_open(NULL, &cancelled), SZG_OK);
    szg_context_set_ops(cancelled, &ops);
    losses_before_cancel = 2;
    ck_assert_int_eq(run_in(cancelled, config, 5, folder, false, &result), SZG_ECANCEL);
    ck_assert_msg(strstr(szg_context_message(cancelled), "stopped after step 2 of 9"), "%s",
                  szg_context_message(cancelled));
    szg_context_close(&cancelled);
    ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
    ck_same_run(whole, folder);
    remove_run_folder(folder);
    remove_run_folder(whole);
    szg_memory_free(config);
}
END_TEST

static void refuses(const char *folder, const char *key, uint64_t seed, const char *words) {
    szg_train_config *config = new_tiny(key);
    szg_train_result result;
    ck_szg_fails(SZG_EDATA, words, run_in(test_context(), config, seed, folder, true, &result));
    szg_memory_free(config);
}

START_TEST(another_run_is_refused) {
    szg_train_config *config = new_tiny(NULL);
    szg_train_result result;
    char path[256], *folder = whole_run(config), *copy = whole_run(config);
    ck_szg_fails(SZG_EINVAL, "--resume", run_in(test_context(), config, 5, folder, false, &result));
    refuses(folder, NULL, 6, "seed (5, now 6)");
    refuses(folder, "model.width=16", 5, "model.width (8, now 16)");
    refuses(folder, "loop.epochs=4", 5, "loop.epochs (3, now 4)");
    refuses(folder, "model.encoding=nope", 5, "model.encoding (rope, now nope)");
    refuses(folder, "data.seed=1", 5, "data.seed (42, now 1)");
    szg_dataset data;
    ck_szg_ok(szg_dataset_open(test_context(), config, &data));
    data.test.label[1] ^= 1;
    szg_train_options options = {
        .config = config, .data = &data, .seed = 5, .folder = folder, .resume = true};
    ck_szg_fails(SZG_EDATA, "digest", szg_train_run(test_context(), &options, &result));
    szg_dataset_close(&data);
    ck_same_run(folder, copy); /* a refusal changes nothing */
    ck_assert_int_eq(truncate(path_in(folder, "metrics.csv", path), 30), 0);
    refuses(folder, NULL, 5, "30 bytes, the checkpoint knows of");
    remove_run_folder(copy);
    remove_run_folder(folder);
    szg_memory_free(config);
}
END_TEST

START_TEST(two_runs_in_one_folder_are_refused) {
    szg_train_config *config = new_tiny(NULL);
    szg_train_result result;
    run_log log;
    char *folder = whole_run(config);
    size_t size;
    free(file_bytes(folder, "metrics.csv", &size));
    ck_szg_ok(szg_log_open(test_context(), folder, "metrics.csv", (int64_t)size, &log));
    ck_szg_fails(SZG_EIO, "another process",
                 run_in(test_context(), config, 5, folder, true, &result));
    szg_log_close(&log);
    remove_run_folder(folder);
    szg_memory_free(config);
}
END_TEST

/* ---- Failures ---- */

/* The cpu table, with NaN in the output of one call of layer_norm or of its mirror. */
static int64_t norms_left, mirrors_left;

static void poison(szg_context *context, void *x) {
    const float nan[] = {NAN};
    ck_szg_ok(szg_device_upload(context, x, nan, sizeof nan));
}

static szg_status bad_norm(szg_context *context, const szg_layer_norm *norm) {
    SZG_TRY(szg_ops_cpu()->network->layer_norm(context, norm));
    if (--norms_left == 0)
        norms_left = 1, poison(context, norm->y); /* from now on */
    return SZG_OK;
}

static szg_status bad_mirror(szg_context *context, const szg_layer_norm *norm,
                             const szg_layer_norm_gradient *gradient) {
    SZG_TRY(szg_ops_cpu()->network->layer_norm_backward(context, norm, gradient));
    if (--mirrors_left == 0)
        poison(context, gradient->dgamma);
    return SZG_OK;
}

static void stops_at(const szg_train_config *config, const char *whole, const char *words) {
    szg_network_ops network = *szg_ops_cpu()->network;
    struct szg_ops ops = *szg_ops_cpu();
    szg_train_result result;
    char *folder = new_run_folder();
    network.layer_norm = bad_norm;
    network.layer_norm_backward = bad_mirror;
    ops.network = &network;
    szg_context_set_ops(test_context(), &ops);
    szg_status status = run_in(test_context(), config, 5, folder, false, &result);
    szg_context_set_ops(test_context(), szg_ops_cpu());
    ck_szg_fails(SZG_EDATA, words, status);
    norms_left = mirrors_left = 0;
    ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
    ck_same_run(whole, folder); /* the last good checkpoint stayed */
    remove_run_folder(folder);
}

START_TEST(numbers_that_are_not_finite_stop_the_run) {
    szg_train_config *config = new_tiny(NULL);
    char *whole = whole_run(config);
    norms_left = 1; /* the first: layer 0 before its attention */
    stops_at(config, whole, "step 0: not finite: the activations that leave layer 0");
    mirrors_left = 4 * 4 + 1; /* step 4, the backward pass begins with layer 1's second norm */
    stops_at(config, whole, "step 4: not finite: the gradient of layers.1.norm2.weight");
    remove_run_folder(whole);
    szg_memory_free(config);
}
END_TEST

static szg_status begin_anew(const szg_train_config *config, const char *folder) {
    szg_train_result result;
    empty_folder(folder);
    return run_in(test_context(), config, 5, folder, false, &result);
}

/* Takes a run up where another one stopped: the folder keeps the state of step 2. */
static szg_status go_on(const szg_train_config *config, const char *folder, const char *from) {
    szg_train_result result;
    static const char *const names[] = {"checkpoint.state.safetensors", "metrics.csv",
                                        "timing.csv"};
    empty_folder(folder);
    for (int i = 0; i < 3; i++) {
        size_t size;
        char path[256], *data = file_bytes(from, names[i], &size);
        FILE *file = fopen(path_in(folder, names[i], path), "wb");
        fwrite(data, 1, size, file);
        fclose(file);
        free(data);
    }
    return run_in(test_context(), config, 5, folder, true, &result);
}

START_TEST(refused_memory_is_survived) {
    szg_train_config *config = new_tiny("model.layers=1");
    char *folder = new_run_folder(), *from = new_run_folder();
    config->loop.limit_steps = 1;
    ck_survives_failed_allocations(100, begin_anew(config, folder));
    ck_szg_ok(begin_anew(config, from));
    config->loop.limit_steps = 2;
    ck_survives_failed_allocations(100, go_on(config, folder, from));
    remove_run_folder(from);
    remove_run_folder(folder);
    szg_memory_free(config);
}
END_TEST

/* ---- The table of runs ---- */

START_TEST(seeds_have_mean_and_spread) {
    szg_train_config *config = new_tiny(NULL);
    szg_dataset data = {.classes = 4, .train.count = 7, .test.count = 3};
    szg_table *table;
    const double accuracy[] = {0.5, 0.75, 0.25};
    ck_szg_ok(szg_train_runs_open(test_context(), &table));
    for (uint64_t seed = 0; seed < 3; seed++) {
        szg_train_options options = {
            .config = config, .data = &data, .seed = seed, .folder = "a/b/run-x/"};
        szg_train_result result = {.test_accuracy = accuracy[seed], .test_loss = NAN};
        ck_szg_ok(szg_train_runs_add(test_context(), table, &options, &result, NULL));
    }
    ck_szg_ok(szg_train_runs_spread(test_context(), table));
    ck_assert_int_eq(szg_table_rows(table), 7);
    int64_t run = szg_table_find(table, "run"), column = szg_table_find(table, "test_accuracy");
    ck_assert_str_eq(szg_table_get_text(table, 0, run), "run-x");
    ck_assert_str_eq(szg_table_get_text(table, 3, run), "mean");
    ck_close(szg_table_get_real(table, 3, column), 0.5, 0);
    ck_close(szg_table_get_real(table, 4, column), 0.25, 1e-16);
    ck_close(szg_table_get_real(table, 5, column), 0.25, 0);
    ck_close(szg_table_get_real(table, 6, column), 0.75, 0);
    ck_assert(szg_table_is_empty(table, 3, szg_table_find(table, "test_loss")));
    ck_assert(szg_table_is_empty(table, 3, szg_table_find(table, "seed")));
    szg_table_close(&table);
    szg_memory_free(config);
}
END_TEST

void test_register(Suite *suite) {
    test_add(suite, "the_schedule_has_its_closed_form", the_schedule_has_its_closed_form);
    test_add(suite, "the_schedule_without_warm_up_begins_at_the_top",
             the_schedule_without_warm_up_begins_at_the_top);
    test_add(suite, "corrections_are_powers_of_the_betas", corrections_are_powers_of_the_betas);
    test_add(suite, "orders_are_permutations_that_change", orders_are_permutations_that_change);
    test_add(suite, "the_loss_falls", the_loss_falls);
    test_add(suite, "the_log_tells_what_the_checkpoint_does",
             the_log_tells_what_the_checkpoint_does);
    test_add(suite, "evaluation_gives_its_logits", evaluation_gives_its_logits);
    test_add(suite, "threads_do_not_change_a_bit", threads_do_not_change_a_bit);
    test_add(suite, "seeds_differ", seeds_differ);
    test_add(suite, "a_run_goes_on_from_every_step", a_run_goes_on_from_every_step);
    test_add(suite, "a_finished_run_stays", a_finished_run_stays);
    test_add(suite, "an_interrupted_run_is_saved", an_interrupted_run_is_saved);
    test_add(suite, "a_step_is_finished_before_the_run_stops",
             a_step_is_finished_before_the_run_stops);
    test_add(suite, "another_run_is_refused", another_run_is_refused);
    test_add(suite, "two_runs_in_one_folder_are_refused", two_runs_in_one_folder_are_refused);
    test_add(suite, "numbers_that_are_not_finite_stop_the_run",
             numbers_that_are_not_finite_stop_the_run);
    test_add(suite, "refused_memory_is_survived", refused_memory_is_survived);
    test_add(suite, "seeds_have_mean_and_spread", seeds_have_mean_and_spread);
}

/* Runs that are stopped, cancelled, refused or that fail, and what goes on after them. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plugin/backend.h"
#include "network/ops.h"

#include "../../train/run/run_folder.h"
#include "suite.h"
#include "tiny.h"

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
    szgi_memory_free(part);
}

START_TEST(a_run_goes_on_from_every_step) {
    szg_train_config *config = new_tiny(NULL);
    char *folder = whole_run(config);
    for (int64_t at = 1; at < TINY_STEPS; at++)
        stop_at_and_go_on(config, at, folder);
    remove_run_folder(folder);
    config->capture.every = 2;
    config->capture.spectra = true;
    folder = whole_run(config);
    stop_at_and_go_on(config, 3, folder);
    stop_at_and_go_on(config, 4, folder);
    remove_run_folder(folder);
    szgi_memory_free(config);
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
    szgi_memory_free(config);
}
END_TEST

static void keep_warning(void *user, szg_severity severity, const char *text) {
    if (severity == SZG_WARNING)
        snprintf(user, 512, "%s", text);
}

/* On other instructions a run goes on, and says that its bits may differ. */
START_TEST(other_kernels_are_warned_of) {
    szg_train_config *config = new_tiny(NULL);
    szg_train_result result;
    char *folder = whole_run(config), said[512] = "", best[32];
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_warning, .user = said};
    szg_context *context;
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_szg_ok(run_in(context, config, 5, folder, true, &result));
    ck_assert_str_eq(said, "");
    snprintf(best, sizeof best, "%s", szg_backend_simd());
    setenv("SZEGO_SIMD", "baseline", 1);
    ck_szg_ok(run_in(context, config, 5, folder, true, &result));
    unsetenv("SZEGO_SIMD");
    if (strcmp(best, "baseline") != 0)
        ck_assert_ptr_nonnull(strstr(said, "last bits may differ"));
    szg_context_close(&context);
    remove_run_folder(folder);
    szgi_memory_free(config);
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
        szg_context_options options = {SZG_INIT(szg_context_options), .threads = 2,
                                       .progress = cancel_at, .user = &user};
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
    szgi_memory_free(config);
}
END_TEST

/* The cpu table, and a cancellation in the midst of a step. */
static szg_context *cancelled;
static int64_t losses_before_cancel; /* one a step, before the backward pass */

static szg_status cancelling_loss(szg_context *context, const szgi_cross_entropy *entropy) {
    if (--losses_before_cancel == 0)
        szg_context_cancel(cancelled);
    return szgi_ops_cpu()->network->cross_entropy(context, entropy);
}

START_TEST(a_step_is_finished_before_the_run_stops) {
    szg_train_config *config = new_tiny(NULL);
    szgi_network_ops network = *szgi_ops_cpu()->network;
    struct szgi_ops ops = *szgi_ops_cpu();
    szg_train_result result;
    char *whole = whole_run(config), *folder = new_run_folder();
    network.cross_entropy = cancelling_loss;
    ops.network = &network;
    ck_assert_int_eq(szg_context_open(NULL, &cancelled), SZG_OK);
    szgi_context_set_ops(cancelled, &ops);
    losses_before_cancel = 2;
    ck_assert_int_eq(run_in(cancelled, config, 5, folder, false, &result), SZG_ECANCEL);
    ck_assert_msg(strstr(szg_context_message(cancelled), "stopped after step 2 of 9"), "%s",
                  szg_context_message(cancelled));
    szg_context_close(&cancelled);
    ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
    ck_same_run(whole, folder);
    remove_run_folder(folder);
    remove_run_folder(whole);
    szgi_memory_free(config);
}
END_TEST

static void refuses(const char *folder, const char *key, uint64_t seed, const char *words) {
    szg_train_config *config = new_tiny(key);
    szg_train_result result;
    ck_szg_fails(SZG_EDATA, words, run_in(test_context(), config, seed, folder, true, &result));
    szgi_memory_free(config);
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
    szg_train_options options = {SZG_INIT(szg_train_options),
                                 .config = config,
                                 .data = &data,
                                 .seed = 5,
                                 .folder = folder,
                                 .resume = true};
    ck_szg_fails(SZG_EDATA, "digest", szg_train_run(test_context(), &options, &result));
    szg_dataset_close(&data);
    ck_same_run(folder, copy); /* a refusal changes nothing */
    ck_assert_int_eq(truncate(path_in(folder, "metrics.csv", path), 30), 0);
    refuses(folder, NULL, 5, "30 bytes, but the checkpoint recorded");
    remove_run_folder(copy);
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* The bytes of a file, with one changed. */
static void flip(const char *folder, const char *name, size_t at, unsigned char bits) {
    size_t size;
    char path[256], *data = file_bytes(folder, name, &size);
    ck_assert_uint_lt(at, size);
    data[at] = (char)(data[at] ^ bits);
    FILE *file = fopen(path_in(folder, name, path), "wb");
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    fclose(file);
    free(data);
}

/* One changed bit anywhere in the state: the run does not go on, and the folder stays as it is. */
START_TEST(a_changed_state_is_refused) {
    static const char name[] = "checkpoint.state.safetensors";
    szg_train_config *config = new_tiny("model.layers=1");
    szg_train_result result;
    char *folder = whole_run(config), *copy = whole_run(config);
    size_t size, trials = 0;
    free(file_bytes(folder, name, &size));
    for (size_t at = 0; at < size; at += 1 + size / 400, trials++) {
        unsigned char bit = (unsigned char)(1 << trials % 8);
        flip(folder, name, at, bit);
        ck_assert_msg(run_in(test_context(), config, 5, folder, true, &result) == SZG_EDATA,
                      "byte %zu of %zu, bit %d", at, size, bit);
        flip(folder, name, at, bit);
    }
    ck_assert_uint_gt(trials, 300);
    flip(folder, name, size - 1, 1); /* the last number of the last moment */
    ck_szg_fails(SZG_EDATA, "checksum", run_in(test_context(), config, 5, folder, true, &result));
    flip(folder, name, size - 1, 1);
    ck_same_run(folder, copy);
    ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
    remove_run_folder(copy);
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* A log that was edited or removed is noticed. */
START_TEST(a_changed_log_is_refused) {
    szg_train_config *config = new_tiny(NULL);
    szg_train_result result;
    char *folder = whole_run(config), path[256];
    size_t before;
    free(file_bytes(folder, "metrics.csv", &before));
    flip(folder, "metrics.csv", before - 3, 1); /* a digit, for one that it was not */
    refuses(folder, NULL, 5, "metrics.csv: its first");
    flip(folder, "metrics.csv", before - 3, 1);
    ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
    ck_assert_int_eq(remove(path_in(folder, "metrics.csv", path)), 0);
    refuses(folder, NULL, 5, "metrics.csv has 0 bytes");
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* A run up to `limit` steps goes on; what it warns of. */
static const char *warning_of(szg_train_config *config, int64_t limit, const char *folder) {
    static char said[512];
    szg_train_result result;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_warning, .user = said};
    szg_context *context;
    said[0] = '\0';
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    config->loop.limit_steps = limit;
    ck_szg_ok(run_in(context, config, 5, folder, true, &result));
    szg_context_close(&context);
    return said;
}

/* Times are in no promise: changed ones begin anew, said once. A run that has no step left, within
 * an epoch or at the end, has none to write and leaves the file to its owner. */
START_TEST(changed_times_begin_anew) {
    szg_train_config *config = new_tiny(NULL);
    szg_train_result result;
    char *folder = new_run_folder(), path[256];
    config->loop.limit_steps = 4;
    ck_szg_ok(run_in(test_context(), config, 5, folder, false, &result));
    for (int64_t limit = 4; limit <= TINY_STEPS; limit += TINY_STEPS - 4) {
        size_t before, after;
        flip(folder, "timing.csv", 3, 1);
        char *edited = file_bytes(folder, "timing.csv", &before);
        for (int again = 0; again < 2; again++) {
            ck_assert_str_eq(warning_of(config, limit, folder), "");
            char *now = file_bytes(folder, "timing.csv", &after);
            ck_assert_uint_eq(after, before);
            ck_assert(memcmp(now, edited, before) == 0);
            free(now);
        }
        free(edited);
        if (limit == TINY_STEPS)
            break;
        ck_assert_ptr_nonnull(strstr(warning_of(config, TINY_STEPS, folder),
                                     "timing.csv differs from what the checkpoint recorded"));
        free(file_bytes(folder, "timing.csv", &after));
        ck_assert_uint_gt(after, 0);
    }
    ck_assert_int_eq(remove(path_in(folder, "timing.csv", path)), 0);
    ck_assert_str_eq(warning_of(config, TINY_STEPS, folder), "");
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

START_TEST(two_runs_in_one_folder_are_refused) {
    szg_train_config *config = new_tiny(NULL);
    szg_train_result result;
    run_log log;
    char *folder = whole_run(config);
    ck_szg_ok(szgi_log_open(test_context(), folder, "metrics.csv", &log));
    ck_szg_fails(SZG_EIO, "another process",
                 run_in(test_context(), config, 5, folder, true, &result));
    szgi_log_close(&log);
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* A state that comes between the first look and the lock keeps its logs. */
START_TEST(a_state_saved_meanwhile_keeps_its_logs) {
    log_mark marks[LOGS] = {{0}};
    szg_train_config *config = new_tiny(NULL);
    char *folder = whole_run(config), path[4096], copy[4096 + 8];
    szg_train_options options = {SZG_INIT(szg_train_options), .config = config, .seed = 5,
                                 .folder = folder, .resume = true};
    run_folder found;
    size_t before, after;
    free(file_bytes(folder, "metrics.csv", &before));
    snprintf(path, sizeof path, "%s/checkpoint.safetensors", folder);
    ck_assert_int_eq(remove(path), 0); /* weights without a state are refused */
    snprintf(path, sizeof path, "%s/checkpoint.state.safetensors", folder);
    snprintf(copy, sizeof copy, "%s.away", path);
    for (int late = 0; late < 2; late++) { /* none before, and another before */
        if (late == 0)
            ck_assert_int_eq(rename(path, copy), 0);
        ck_szg_ok(szgi_run_folder_open(test_context(), &options, &found));
        ck_assert_int_eq(late == 0 ? rename(copy, path) : utimensat(AT_FDCWD, path, NULL, 0), 0);
        ck_szg_fails(SZG_EIO, "meanwhile",
                     szgi_run_folder_start(test_context(), &found, folder, config, marks));
        szgi_run_folder_close(&found);
        free(file_bytes(folder, "metrics.csv", &after));
        ck_assert_uint_eq(before, after);
    }
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* ---- Failures ---- */

/* The cpu table, with NaN in the output of one call of layer_norm or of its mirror. */
static int64_t norms_left, mirrors_left;

static void poison(szg_context *context, void *x) {
    const float nan[] = {NAN};
    ck_szg_ok(szgi_device_upload(context, x, nan, sizeof nan));
}

static szg_status bad_norm(szg_context *context, const szgi_layer_norm *norm) {
    SZG_TRY(szgi_ops_cpu()->network->layer_norm(context, norm));
    if (--norms_left == 0)
        norms_left = 1, poison(context, norm->y); /* from now on */
    return SZG_OK;
}

static szg_status bad_mirror(szg_context *context, const szgi_layer_norm *norm,
                             const szgi_layer_norm_gradient *gradient) {
    SZG_TRY(szgi_ops_cpu()->network->layer_norm_backward(context, norm, gradient));
    if (--mirrors_left == 0)
        poison(context, gradient->dgamma);
    return SZG_OK;
}

static void stops_at(const szg_train_config *config, const char *whole, const char *words) {
    szgi_network_ops network = *szgi_ops_cpu()->network;
    struct szgi_ops ops = *szgi_ops_cpu();
    szg_train_result result;
    char *folder = new_run_folder();
    network.layer_norm = bad_norm;
    network.layer_norm_backward = bad_mirror;
    ops.network = &network;
    szgi_context_set_ops(test_context(), &ops);
    szg_status status = run_in(test_context(), config, 5, folder, false, &result);
    szgi_context_set_ops(test_context(), szgi_ops_cpu());
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
    norms_left = 1;
    stops_at(config, whole, "there is no checkpoint yet: lower loop.learning_rate");
    norms_left = 3 * 8 + 1; /* 4 and 4 again backwards a step: the first of the evaluation */
    stops_at(config, whole, "step 3: the loss on the test examples is not finite");
    mirrors_left = 4 * 4 + 1; /* step 4, the backward pass begins with layer 1's second norm */
    stops_at(config, whole,
             "step 4: not finite: the gradient of layers.1.norm2.weight; "
             "the checkpoint of step 3 stays");
    remove_run_folder(whole);
    szgi_memory_free(config);
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
    szgi_memory_free(config);
}
END_TEST

/* Weights whose header of 16 MiB and its end is cleared in two parts, with a look between. */
START_TEST(weights_that_were_not_looked_at_are_not_written) {
    enum { HEADER = 1 << 24 };
    static const char start[] = "{\"__metadata__\":{\"step\":\"7\"}";
    char *folder = new_folder(), path[256];
    FILE *file = fopen(path_in(folder, "checkpoint.safetensors", path), "wb");
    ck_assert_ptr_nonnull(file);
    fwrite(&(uint64_t){HEADER}, sizeof(uint64_t), 1, file);
    fprintf(file, "%s%*s", start, (int)(HEADER - (sizeof start - 1)), "}");
    ck_assert_int_eq(fclose(file), 0);
    const run_folder at = {.weights = path};
    ck_szg_ok(szgi_run_folder_repair(test_context(), &at, NULL, 1, 7)); /* it writes no model */
    szg_context_cancel(test_context());
    ck_szg_fails(SZG_ECANCEL, "interrupted",
                 szgi_run_folder_repair(test_context(), &at, NULL, 1, 7));
    remove_folder(folder);
}
END_TEST

TEST_FILE("resume") {
    test_add(suite, "a_run_goes_on_from_every_step", a_run_goes_on_from_every_step);
    test_add(suite, "a_finished_run_stays", a_finished_run_stays);
    test_add(suite, "a_changed_state_is_refused", a_changed_state_is_refused);
    test_add(suite, "a_changed_log_is_refused", a_changed_log_is_refused);
    test_add(suite, "changed_times_begin_anew", changed_times_begin_anew);
    test_add(suite, "an_interrupted_run_is_saved", an_interrupted_run_is_saved);
    test_add(suite, "a_step_is_finished_before_the_run_stops",
             a_step_is_finished_before_the_run_stops);
    test_add(suite, "other_kernels_are_warned_of", other_kernels_are_warned_of);
    test_add(suite, "another_run_is_refused", another_run_is_refused);
    test_add(suite, "a_state_saved_meanwhile_keeps_its_logs",
             a_state_saved_meanwhile_keeps_its_logs);
    test_add(suite, "two_runs_in_one_folder_are_refused", two_runs_in_one_folder_are_refused);
    test_add(suite, "numbers_that_are_not_finite_stop_the_run",
             numbers_that_are_not_finite_stop_the_run);
    test_add(suite, "weights_that_were_not_looked_at_are_not_written",
             weights_that_were_not_looked_at_are_not_written);
    test_add(suite, "refused_memory_is_survived", refused_memory_is_survived);
}

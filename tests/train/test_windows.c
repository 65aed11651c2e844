/* Steps in windows: a backend that records gives the numbers of one that does not, whatever the
 * windows; a step that is not finite freezes the rest of its window. */
#include "recording.h"
#include "windows.h"

/* ---- Runs ---- */

static szg_context *recording_context(void) {
    szg_context *context;
    ck_assert_int_eq(szg_context_open(NULL, &context), SZG_OK);
    szgi_context_set_ops(context, recording_ops());
    return context;
}

static char *run_on_table(szg_context *context, const szg_train_config *config) {
    szg_train_result result;
    char *folder = new_run_folder();
    szg_status status = run_in(context, config, 5, folder, false, &result);
    ck_assert_msg(status == SZG_OK, "%s", szg_context_message(context));
    ck_assert_int_eq(result.steps, 2 * EPOCH);
    return folder;
}

static void check_run(const szg_train_config *config) {
    szg_context *context = recording_context();
    char *plain = run_on_table(test_context(), config);
    char *recorded = run_on_table(context, config);
    ck_same_run(plain, recorded);
    /* One recording a shape; what was recorded is replayed, several steps without a download. */
    ck_assert_int_eq(recorder.made, 2);
    ck_assert_int_eq(recorder.live, 0);
    ck_assert_int_eq(recorder.refused, 0);
    ck_assert_int_gt(recorder.longest, 3);
    szg_context_close(&context);
    remove_run_folder(recorded);
    remove_run_folder(plain);
}

static const char *const encodings[] = {"rope",         "mla",     "relative",
                                        "t5:buckets=4", "learned", "nope"};
enum { ENCODINGS = sizeof encodings / sizeof *encodings };

START_TEST(a_recorded_run_has_the_same_bits) {
    char key[64];
    snprintf(key, sizeof key, "model.encoding=%s", encodings[_i]);
    szg_train_config *config = new_long(key);
    check_run(config);
    szgi_memory_free(config);
}
END_TEST

START_TEST(windows_end_where_something_is_due) {
    szg_train_config *config = new_long("capture.every=7");
    config->loop.checkpoint_every = 10;
    check_run(config);
    config->loop.limit_steps = 33;
    szg_context *context = recording_context();
    szg_train_result result;
    char *plain = new_run_folder(), *recorded = new_run_folder();
    ck_szg_ok(run_in(test_context(), config, 5, plain, false, &result));
    ck_assert_int_eq(run_in(context, config, 5, recorded, false, &result), SZG_OK);
    ck_assert_int_eq(result.steps, 33);
    ck_same_run(plain, recorded);
    /* The rest on the other table, from either. */
    config->loop.limit_steps = 0;
    ck_szg_ok(run_in(test_context(), config, 5, recorded, true, &result));
    ck_assert_int_eq(run_in(context, config, 5, plain, true, &result), SZG_OK);
    ck_same_run(plain, recorded);
    szg_context_close(&context);
    remove_run_folder(recorded);
    remove_run_folder(plain);
    szgi_memory_free(config);
}
END_TEST

typedef struct canceller {
    szg_context *context;
    int64_t after; /* steps */
} canceller;

static void cancel_after(void *user, const char *what, int64_t done, int64_t total) {
    canceller *self = user;
    (void)total;
    if (done >= self->after && strncmp(what, "epoch", 5) == 0)
        szg_context_cancel(self->context);
}

START_TEST(a_run_interrupted_between_windows_goes_on) {
    szg_train_config *config = new_long(NULL);
    szg_train_result result;
    char *whole = run_on_table(test_context(), config), *folder = new_run_folder();
    const int64_t after[] = {1, 5, 46, 60};
    for (int i = 0; i < 4; i++) {
        canceller user = {.after = after[i]};
        szg_context_options options = {SZG_INIT(szg_context_options), .progress = cancel_after,
                                       .user = &user};
        ck_assert_int_eq(szg_context_open(&options, &user.context), SZG_OK);
        szgi_context_set_ops(user.context, recording_ops());
        ck_assert_int_eq(run_in(user.context, config, 5, folder, i > 0, &result), SZG_ECANCEL);
        ck_assert_int_eq(recorder.live, 0);
        szg_context_close(&user.context);
    }
    ck_szg_ok(run_in(test_context(), config, 5, folder, true, &result));
    ck_same_run(whole, folder);
    remove_run_folder(folder);
    remove_run_folder(whole);
    szgi_memory_free(config);
}
END_TEST

/* ---- Windows of a given size ---- */

START_TEST(every_window_has_the_same_bits) {
    szg_train_config *config = new_long(NULL);
    const int64_t windows[] = {1, 2, 7, 31, TRAINER_WINDOW};
    szg_context *context = recording_context();
    training want, got;
    train_windows(&want, test_context(), config, EPOCH, 1);
    for (int i = 0; i < 5; i++) {
        train_windows(&got, context, config, EPOCH, windows[i]);
        ck_assert_int_eq(got.status, SZG_OK);
        ck_same_arrays(&want, &got);
        ck_assert_int_eq(szgi_trainer_batch_tokens(&got.parts) > 0, 1);
        close_training(&got);
    }
    ck_assert_int_eq(recorder.longest, TRAINER_WINDOW - 1); /* the first step is not replayed */
    close_training(&want);
    szg_context_close(&context);
    szgi_memory_free(config);
}
END_TEST

/* Decay that makes weights larger at each step until they are not finite, sooner or later. The
 * message, what the parameters were before the bad step, and its gradients are those of single
 * steps. */
static void check_failure(double rate, double warmup) {
    szg_train_config *config = new_long("model.dropout=0.1");
    config->loop.learning_rate = rate;
    config->loop.decay = 1000;
    config->loop.warmup = warmup;
    szg_context *context = recording_context();
    training want, got;
    train_windows(&want, test_context(), config, EPOCH - 1, 1);
    ck_assert_msg(want.status == SZG_EDATA, "rate %g: %s", rate, szg_status_name(want.status));
    const int64_t windows[] = {1, 5, TRAINER_WINDOW};
    ck_assert_ptr_nonnull(strstr(szg_context_message(test_context()), ": not finite: "));
    for (int i = 0; i < 3; i++) {
        train_windows(&got, context, config, EPOCH - 1, windows[i]);
        ck_assert_int_eq(got.status, SZG_EDATA);
        ck_assert_str_eq(szg_context_message(context), szg_context_message(test_context()));
        ck_same_arrays(&want, &got);
        close_training(&got);
    }
    close_training(&want);
    szg_context_close(&context);
    szgi_memory_free(config);
}

START_TEST(a_bad_step_freezes_its_window) {
    static const double cases[][2] = {{1000, 0}, {1000, 0.25}, {10, 0.25}, {0.1, 0.25}};
    check_failure(cases[_i][0], cases[_i][1]);
}
END_TEST

/* The tokens of a window are those of its examples; of an epoch's windows, all. */
START_TEST(tokens_are_counted_on_the_host) {
    szg_train_config *config = new_long(NULL);
    szg_dataset data;
    trainer parts;
    szgi_tally tally;
    ck_szg_ok(szg_dataset_open(test_context(), config, &data));
    const szg_train_options options = {SZG_INIT(szg_train_options), .config = config, .data = &data,
                                       .seed = 5};
    ck_szg_ok(szgi_trainer_open(test_context(), &options, &parts));
    int64_t sum = 0;
    for (int64_t step = 0; step < EPOCH;) {
        int64_t count = step + 9 < EPOCH ? 9 : EPOCH - step;
        ck_szg_ok(szgi_trainer_steps(test_context(), &parts, step, count, &tally));
        sum += szgi_trainer_batch_tokens(&parts);
        step += count;
    }
    ck_assert_int_eq(sum, data.train.start[data.train.count]);
    ck_assert_int_eq(tally.counted, data.train.count);
    ck_assert_int_eq(szgi_trainer_room(test_context(), &parts), 1); /* cpu: nothing is recorded */
    szgi_trainer_close(test_context(), &parts);
    szg_dataset_close(&data);
    szgi_memory_free(config);
}
END_TEST

TEST_FILE("windows") {
    test_add_loop(suite, "a_recorded_run_has_the_same_bits", a_recorded_run_has_the_same_bits,
                  ENCODINGS);
    test_add(suite, "windows_end_where_something_is_due", windows_end_where_something_is_due);
    test_add(suite, "a_run_interrupted_between_windows_goes_on",
             a_run_interrupted_between_windows_goes_on);
    test_add(suite, "every_window_has_the_same_bits", every_window_has_the_same_bits);
    test_add_loop(suite, "a_bad_step_freezes_its_window", a_bad_step_freezes_its_window, 4);
    test_add(suite, "tokens_are_counted_on_the_host", tokens_are_counted_on_the_host);
}

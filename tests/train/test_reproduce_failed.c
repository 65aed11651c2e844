/* Runs whose numbers stop being finite: they are recorded, the others go on, and nothing begins
 * them again. */
#include "../../train/config/config_private.h"
#include "pieces.h"

/* With a decay of 1000 and a learning rate of 1000 each step multiplies the weights by -999,999:
 * after a few of them no number is left. */
static const char fails[] =
    "{\"name\": \"fails\", \"about\": \"for a test\", \"seeds\": [3, 4],\n"
    " \"config\": {\"model\": {\"vocabulary\": 20, \"width\": 8, \"hidden\": 8, \"layers\": 2,"
    " \"heads\": 4, \"max_length\": 16}, \"loop\": {\"batch\": 16, \"epochs\": 2}},\n"
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 60, \"between_max\": 4,"
    " \"side_max\": 2, \"longest\": 10}}},\n \"experiments\": ["
    "{\"name\": \"wild\", \"profile\": \"text\", \"encodings\": [\"rope\"], \"ablation\": true,"
    " \"config\": {\"loop\": {\"learning_rate\": 1000, \"decay\": 1000}}},\n"
    "{\"name\": \"frozen\", \"profile\": \"text\", \"encodings\": [\"rope\"], \"config\":"
    " {\"intervention\": {\"kind\": \"gradient\"}}, \"head\": {\"of\": \"wild\","
    " \"encoding\": \"rope\", \"layer\": 0, \"which\": \"winner\"}},\n"
    "{\"name\": \"tame\", \"profile\": \"text\", \"encodings\": [\"rope\"]}]}";
enum { RUNS = 6, WILD_3 = 0, FROZEN_3, TAME_3, WILD_4, FROZEN_4, TAME_4 };
#define WILD "runs/wild/distance/rope/run-3/"
#define TAME "runs/tame/distance/rope/run-3/"

/* Trains what is left; what was said is in own->text. */
static void train(const char *folder, test_clock *own) {
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_note, .user = own};
    szg_reproduction *runs;
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(open_preset(context, folder, fails, NULL, 0, &runs));
    szg_status status = szg_reproduction_train(context, runs, 0);
    ck_assert_msg(status == SZG_OK, "%s", szg_context_message(context));
    szg_reproduction_close(&runs);
    szg_context_close(&context);
}

static bool has(const test_clock *own, const char *words) {
    return strstr(own->text, words) != NULL;
}

static void check_runs(const char *folder) {
    szg_reproduction *runs;
    ck_szg_ok(open_preset(test_context(), folder, fails, NULL, 0, &runs));
    for (int64_t i = 0; i < RUNS; i++) {
        szg_reproduction_run run = szg_reproduction_run_at(runs, i);
        bool tame = i % 3 == TAME_3, wild = i % 3 == WILD_3;
        ck_assert(run.finished == tame && run.failed == !tame);
        ck_assert(wild ? run.failed_step > 0 : run.failed_step == -1);
        ck_assert_int_eq(run.settled, i % 3 != FROZEN_3);
    }
    szg_reproduction_close(&runs);
}

START_TEST(a_run_that_is_lost_is_recorded) {
    char *folder = new_folder();
    test_clock own = {0}, again = {0};
    train(folder, &own);
    ck_assert_msg(has(&own, "wild/distance/rope/run-3: failed: step "), "%s", own.text);
    ck_assert(has(&own, "frozen/distance/rope/run-4: left out: wild/distance/rope/run-4 failed"));
    ck_assert(has(&own, "run 3 of 6: tame/distance/rope/run-3"));
    ck_assert(has(&own, "tame/distance/rope/run-4: test accuracy"));
    ck_assert(!has(&own, "the same command continues")); /* nothing is left to do */
    check_runs(folder);
    train(folder, &again);
    ck_assert_str_eq(again.text, "");
    check_runs(folder);
    remove_tree(folder);
}
END_TEST

START_TEST(tables_count_what_failed) {
    char *folder = new_folder();
    test_clock own = {0};
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    train(folder, &own);
    ck_szg_ok(open_preset(test_context(), folder, fails, NULL, 0, &runs));
    ck_szg_ok(szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
    const szg_table *missing = tables.missing;
    int64_t step = column(missing, "failed_step"), note = column(missing, "note");
    ck_assert_int_eq(szg_table_rows(missing), 4);
    for (int64_t row = 0; row < 4; row++) {
        szg_reproduction_run run = szg_reproduction_run_at(runs, row / 2 * 3 + row % 2);
        ck_assert_str_eq(szg_table_get_text(missing, row, 0), run.name);
        ck_assert_str_eq(szg_table_get_text(missing, row, column(missing, "state")), "failed");
        if (row % 2 == 0)
            ck_assert_int_eq(szg_table_get_integer(missing, row, step), run.failed_step);
        else
            ck_assert(szg_table_is_empty(missing, row, step));
    }
    ck_assert_ptr_nonnull(strstr(szg_table_get_text(missing, 0, note), "not finite"));
    ck_assert_ptr_nonnull(
        strstr(szg_table_get_text(missing, 3, note), "wild/distance/rope/run-4 failed"));
    ck_assert_int_eq(szg_table_rows(tables.runs), 2);
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&runs);
    remove_tree(folder);
}
END_TEST

/* ---- Copied folders ---- */

static void refuse(const char *folder, const char *name, const char *text, const char *words) {
    char path[256];
    szg_reproduction *runs;
    FILE *file = fopen(path_in(folder, name, path), "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
    ck_szg_fails(SZG_EDATA, words, open_preset(test_context(), folder, fails, NULL, 0, &runs));
}

/* `text` with other words in place of the first that begin `from`, up to the line's end. */
static char *with(const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    char *out;
    ck_assert_ptr_nonnull(at);
    ck_assert_int_ge(asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strcspn(at, "\n")),
                     0);
    return out;
}

START_TEST(other_records_are_refused) {
    static const char *const bad[][3] = {
        {"\"failed_step\"", "\"failed_step\": -1,", "failed_step: is -1, not an integer from 0"},
        {"\"failed_step\"", "\"failed_step\": \"2\",", "failed_step"},
        {"\"failed_step\"", "", "failed_step"},
        {"\"reason\"", "\"reason\": 3,", "reason"},
        {"\"seed\"", "\"seed\": 4,", "is not 3, the seed of wild/distance/rope/run-3"},
        {"\"width\"", "\"width\": 16,", "another configuration"},
    };
    char *folder = new_folder(), *text;
    test_clock own = {0};
    size_t size;
    train(folder, &own);
    ck_assert_ptr_nonnull(text = file_bytes(folder, WILD "failed.json", &size));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *other = with(text, bad[i][0], bad[i][1]);
        refuse(folder, WILD "failed.json", other, bad[i][2]);
        free(other);
    }
    for (size_t cut = 0; cut < size; cut += size / 5 + 1) {
        char *part = strndup(text, cut);
        refuse(folder, WILD "failed.json", part, "failed.json");
        free(part);
    }
    free(text);
    remove_tree(folder);
}
END_TEST

START_TEST(no_run_is_finished_and_failed) {
    char *folder = new_folder(), *text;
    test_clock own = {0};
    size_t size;
    train(folder, &own);
    ck_assert_ptr_nonnull(text = file_bytes(folder, TAME "finished.json", &size));
    char *both = with(text, "\"parameters\"", "\"failed_step\": 1, \"reason\": \"\",");
    refuse(folder, TAME "failed.json", both, "and finished.json that it is finished");
    free(both);
    free(text);
    /* A run that waits for one that failed cannot be finished. */
    char from[256], to[256];
    szg_reproduction *runs;
    path_in(folder, "runs/tame", from);
    path_in(folder, "runs/frozen", to);
    ck_assert_int_eq(rename(from, to), 0);
    ck_szg_fails(SZG_EDATA, "the run is finished, and wild/distance/rope/run-3 failed",
                 open_preset(test_context(), folder, fails, NULL, 0, &runs));
    remove_tree(folder);
}
END_TEST

TEST_FILE("reproduce_failed") {
    test_add(suite, "a run that is lost is recorded", a_run_that_is_lost_is_recorded);
    test_add(suite, "tables count what failed", tables_count_what_failed);
    test_add(suite, "other records are refused", other_records_are_refused);
    test_add(suite, "no run is finished and failed", no_run_is_finished_and_failed);
}

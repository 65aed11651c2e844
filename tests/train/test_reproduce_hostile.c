/* Folders of runs that were copied: without weights they say the same; with a file that is missing,
 * or that no report could read, and with facts that cannot be, they are refused. */
#include "../../train/reproduce/reproduce_private.h"
#include "pieces.h"

#define RUN "runs/base/distance/rope/run-3/" /* the run whose files are changed */

/* ---- Files that the reports could not read ---- */

/* Text of the file NAME of the run base/distance/rope/run-3, with the first `from` replaced. */
static char *changed(const char *folder, const char *name, const char *from, const char *to) {
    char path[256], *out = NULL;
    size_t size;
    snprintf(path, sizeof path, RUN "%s", name);
    char *text = file_bytes(folder, path, &size);
    ck_assert_ptr_nonnull(text);
    char *at = strstr(text, from);
    ck_assert_msg(at, "%s: no %s", path, from);
    ck_assert_int_ge(asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)), 0);
    free(text);
    return out;
}

/* `column` as another number in the first row. */
static char *with_cell(const char *folder, const char *name, const char *column,
                       const char *value) {
    char *text = changed(folder, name, "", ""), *out = NULL;
    char *row = strchr(text, '\n') + 1, *cell = row;
    for (char *head = text; strncmp(head, column, strlen(column)) != 0;) {
        head = strchr(head, ',') + 1;
        cell += strcspn(cell, ",\n") + 1;
    }
    ck_assert_int_ge(
        asprintf(&out, "%.*s%s%s", (int)(cell - text), text, value, cell + strcspn(cell, ",\n")),
        0);
    free(text);
    return out;
}

/* The first `lines` lines. */
static char *first_lines(const char *folder, const char *name, int lines) {
    char *text = changed(folder, name, "", ""), *end = text;
    while (lines-- > 0)
        end = strchr(end, '\n') + 1;
    *end = 0;
    return text;
}

typedef struct refusal {
    const char *name, *column; /* column NULL: the whole text is `value` */
    const char *value, *words;
} refusal;

static const refusal refusals[] = {
    {"metrics.csv", NULL, "a,b\n1\n", "metrics.csv: line 1: the header has no column run"},
    {"metrics.csv", "loss", "x", "metrics.csv: line 2"},
    {"metrics.csv", "loss", "-1", "row 1: loss is not"},
    {"metrics.csv", "loss", "inf", "row 1: loss is not"},
    {"metrics.csv", "accuracy", "1.5", "row 1: accuracy is not"},
    {"metrics.csv", "accuracy", "nan", "row 1: accuracy is not"},
    {"metrics.csv", "seed", "4", "row 1: seed is not the run's"},
    {"ablation.csv", "seed", "4", "row 1: seed is not 3"},
    {"ablation.csv", "accuracy", "nan", "row 1: accuracy nan is not in 0 .. 1"},
    {"ablation.csv", "accuracy", "", "row 1: accuracy nan is not in 0 .. 1"},
    {"metrics.csv", "step", "", "row 1: step is not"},
    {"metrics.csv", "split", "Train", "row 1: split is neither"},
    {"metrics.csv", "split", "test", "row 2: epoch is not the next"},
    {"metrics.csv", "epoch", "2", "row 1: epoch is not the next"},
    {"timing.csv", NULL, "\1junk,\"", "timing.csv: line 1"},
    {"timing.csv", "train_seconds", "nan", "row 1: train_seconds is not"},
    {"timing.csv", "train_seconds", "-1", "row 1: train_seconds is not"},
    {"timing.csv", "tokens", "", "row 1: tokens is not"},
    {"timing.csv", "tokens", "-5", "row 1: tokens is not"},
    {"ablation.csv", NULL, "junk", "ablation.csv: line 1"},
    {"ablation.csv", "layer", "2", "row 1: layer and head are none of the model"},
    {"ablation.csv", "layer", "", "row 1: layer and head are none of the model"},
    {"ablation.csv", "head", "-1", "row 1: layer and head are none of the model"},
    {"ablation.csv", "head", "1", "row 2: layer and head are there twice"},
    {"ablation.csv", "accuracy", "1e300", "row 1: accuracy 1e+300 is not"},
    {"ablation.csv", "method", "values", "row 1: method is not output"},
    {"ablation.csv", "method", "", "row 1: method is not output"},
};

static void put_text(const char *folder, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/" RUN "%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* The folder is refused with `words` and the name of the file. */
static void refuse(const char *folder, const char *name, const char *words) {
    szg_reproduction *runs;
    char inside[256];
    snprintf(inside, sizeof inside, RUN "%s", name);
    ck_szg_fails(SZG_EDATA, words, open_preset(test_context(), folder, pieced, NULL, 0, &runs));
    ck_assert_ptr_nonnull(strstr(szg_context_message(test_context()), inside));
}

/* With `text`, which is freed, in place of the file; which is put back. */
static void refuse_text(const char *folder, const char *name, char *text, const char *words) {
    char *sound = changed(folder, name, "", "");
    put_text(folder, name, text);
    refuse(folder, name, words);
    put_text(folder, name, sound);
    free(sound);
    free(text);
}

/* Without the file; which is put back. */
static void refuse_missing(const char *folder, const char *name) {
    char *sound = changed(folder, name, "", ""), path[512];
    snprintf(path, sizeof path, "%s/" RUN "%s", folder, name);
    ck_assert_int_eq(remove(path), 0);
    refuse(folder, name, "is missing");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    refuse(folder, name, "not a regular file");
    ck_assert_int_eq(rmdir(path), 0);
    put_text(folder, name, sound);
    free(sound);
}

/* The text without its column `name`. */
static char *without_column(char *text, const char *name) {
    size_t wanted = 0, length = strlen(name);
    char *out = text;
    for (const char *at = text; strncmp(at, name, length) != 0; at += strcspn(at, ",") + 1)
        wanted++;
    for (char *line = text, *end; *line; line = end + 1) {
        char *cell = line;
        end = strchr(line, '\n');
        for (size_t i = 0; i < wanted; i++)
            cell = strchr(cell, ',') + 1;
        char *rest = cell + strcspn(cell, ",") + 1;
        memmove(out, line, (size_t)(cell - line));
        out += cell - line;
        memmove(out, rest, (size_t)(end + 1 - rest));
        out += end + 1 - rest;
    }
    *out = 0;
    return text;
}

START_TEST(files_that_no_report_can_read_are_refused) {
    char *folder = new_folder();
    train_whole(folder, pieced);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *own = &refusals[i];
        refuse_text(folder, own->name,
                    own->column ? with_cell(folder, own->name, own->column, own->value)
                                : strdup(own->value),
                    own->words);
    }
    /* Three epochs of two splits, two layers of two heads. */
    refuse_text(folder, "metrics.csv", first_lines(folder, "metrics.csv", 1),
                "has 0 rows of split train, the run 3 epochs");
    refuse_text(folder, "metrics.csv", first_lines(folder, "metrics.csv", 6),
                "has 2 rows of split test, the run 3 epochs");
    refuse_text(folder, "ablation.csv", first_lines(folder, "ablation.csv", 6),
                "has 5 rows; heads and layers are 6");
    refuse_text(folder, "ablation.csv",
                without_column(changed(folder, "ablation.csv", "", ""), "method"),
                "the header has no column method");
    refuse_missing(folder, "metrics.csv");
    refuse_missing(folder, "ablation.csv");
    szg_reproduction *runs = open_pieced(folder); /* all was put back */
    ck_assert_int_eq(count_finished(runs), PIECED_RUNS);
    szg_reproduction_close(&runs);
    remove_tree(folder);
}
END_TEST

/* ---- Files that lack what is not needed ---- */

/* What is said when the folder is opened; all its runs are finished. */
static void open_said(const char *folder, char said[4096]) {
    test_clock own = {0};
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_note, .user = &own};
    szg_reproduction *runs;
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(open_preset(context, folder, pieced, NULL, 0, &runs));
    ck_assert_int_eq(count_finished(runs), PIECED_RUNS);
    szg_reproduction_close(&runs);
    szg_context_close(&context);
    snprintf(said, sizeof own.text, "%s", own.text);
}

/* Times that were removed before the last epoch, after it, or with their file, are told, and no
 * more. */
START_TEST(lost_times_are_told) {
    static const char *const lines[] = {"2 of 3 epochs", "0 of 3 epochs", "0 of 3 epochs",
                                        "0 of 3 epochs"};
    char *folder = new_folder(), name[512], said[4096];
    train_whole(folder, pieced);
    char *want = tables_text(folder, pieced);
    open_said(folder, said);
    ck_assert_str_eq(said, "");
    for (int i = 0; i < 4; i++) {
        char *text = first_lines(folder, "timing.csv", i == 0 ? 3 : 1);
        put_text(folder, "timing.csv", i == 2 ? "" : text);
        if (i == 3)
            ck_assert_int_eq(remove(path_in(folder, RUN "timing.csv", name)), 0);
        open_said(folder, said);
        snprintf(name, sizeof name, RUN "timing.csv: has the times of %s", lines[i]);
        ck_assert_msg(strstr(said, name), "%s: %s", lines[i], said);
        char *got = tables_text(folder, pieced);
        ck_assert_str_eq(got, want);
        put_text(folder, "timing.csv", text);
        free(got);
        free(text);
    }
    free(want);
    remove_tree(folder);
}
END_TEST

/* ---- Facts ---- */

static char *with_fact(const char *folder, const char *name, const char *value) {
    char *text = changed(folder, "finished.json", "", ""), key[64], *out = NULL;
    snprintf(key, sizeof key, "\"%s\":", name);
    char *at = strstr(text, key);
    ck_assert_msg(at, "no %s", name);
    at += strlen(key);
    ck_assert_int_ge(
        asprintf(&out, "%.*s%s%s", (int)(at - text), text, value, at + strcspn(at, ",}")), 0);
    free(text);
    return out;
}

static char *without_version(const char *folder) {
    char *text = changed(folder, "finished.json", "", ""), *key = strstr(text, "\"version\":");
    ck_assert_ptr_nonnull(key);
    key[1] = 'x';
    return text;
}

START_TEST(facts_out_of_range_are_refused) {
    static const char *const facts[][3] = {
        {"parameters", "0", "parameters: is 0, not"},
        {"steps", "-1", "steps: is -1, not"},
        {"epochs", "-1", "epochs: is -1, not"},
        {"epochs", "4", "epochs: is more than the 3"},
        {"train_examples", "-1", "train_examples: is -1"},
        {"test_examples", "-1", "test_examples: is -1"},
        {"train_tokens", "-1", "train_tokens: is -1"},
        {"test_tokens", "-1", "test_tokens: is -1"},
        {"forward", "0", "forward: is 0, not positive"},
        {"forward", "null", "forward"},
        {"training", "-1", "training: is -1, not positive"},
        {"train_loss", "-1e300", "train_loss: is -1"},
        {"test_loss", "-0.5", "test_loss: is -0.5, not"},
        {"train_accuracy", "1.5", "train_accuracy: is 1.5, not in 0 .. 1"},
        {"test_accuracy", "-1", "test_accuracy: is -1"},
        {"best_accuracy", "2", "best_accuracy: is 2"},
        {"whole", "2", "whole: is 2"},
        {"ceiling", "2", "ceiling: is 2"},
        {"ceiling_error", "-1", "ceiling_error: is -1"},
        {"majority", "2", "majority: is 2"},
        {"by_length", "-1", "by_length: is -1"},
        {"version", "\"0123456789abcdef0123456789abcdef\"", "version: has more than 31 bytes"},
    };
    char *folder = new_folder();
    train_whole(folder, pieced);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        refuse_text(folder, "finished.json", with_fact(folder, facts[i][0], facts[i][1]),
                    facts[i][2]);
    refuse_text(folder, "finished.json", strdup("{"), "finished.json: line 1");
    refuse_text(folder, "finished.json", without_version(folder), "version: is missing");
    refuse_text(folder, "finished.json", strdup("{\"seed\": 3}"), "config");
    size_t size; /* facts of another seed */
    refuse_text(folder, "finished.json",
                file_bytes(folder, "runs/base/distance/rope/run-5/finished.json", &size),
                "seed: is not 3");
    /* What is not known is null. */
    char *text = with_fact(folder, "ceiling", "null");
    put_text(folder, "finished.json", text);
    szg_reproduction *runs = open_pieced(folder);
    ck_assert_int_eq(count_finished(runs), PIECED_RUNS);
    szg_reproduction_close(&runs);
    free(text);
    remove_tree(folder);
}
END_TEST

/* ---- Copies ---- */

/* A copy by the line of the documentation, `options` of tar added. */
static char *copy_of(const char *folder, const char *options) {
    char *copy = new_folder(), line[1024];
    snprintf(line, sizeof line,
             "tar -C '%s' %s -cJf '%s/runs.tar.xz' runs && tar -C '%s' -xJf '%s/runs.tar.xz'",
             folder, options, copy, copy, copy);
    ck_assert_int_eq(system(line), 0);
    return copy;
}

#define NO_WEIGHTS "--exclude='checkpoint*.safetensors'"
static const char finished_run[] = "base/distance/mla/run-3";

START_TEST(copies_without_weights_say_the_same) {
    char *from = new_folder();
    train_whole(from, pieced);
    char *to = copy_of(from, NO_WEIGHTS);
    ck_assert(!holds(to, finished_run, "checkpoint.safetensors"));
    ck_assert(!holds(to, finished_run, "checkpoint.state.safetensors"));
    check_same(from, to);
    szg_reproduction *runs = open_pieced(to);
    ck_szg_ok(szg_reproduction_train(test_context(), runs, 0)); /* nothing is left to train */
    ck_assert(!holds(to, finished_run, "checkpoint.safetensors"));
    szg_reproduction_close(&runs);
    ck_survives_failed_allocations(40, open_preset(test_context(), to, pieced, NULL, 0, &runs));
    szg_reproduction_close(&runs);
    remove_tree(to);
    remove_tree(from);
}
END_TEST

/* Machine after machine: each trains a piece of a copy, or is killed at it. With the state a begun
 * run goes on where it was; without it begins again. */
static void travel(const char *whole, const char *options) {
    char *folder = new_folder(), path[256];
    bool done = false;
    int64_t killed = 0;
    ck_assert_int_eq(mkdir(path_in(folder, "runs", path), 0700), 0);
    for (int64_t machine = 0; !done; machine++) {
        char *next = copy_of(folder, options);
        ck_assert_int_lt(machine, 100);
        remove_tree(folder);
        folder = next;
        if (machine % 2 == 0)
            killed += train_until_killed(folder, 40 + 13 * machine);
        done = train_piece(folder, 20 * (1 + machine));
    }
    ck_assert_int_ge(killed, 3);
    check_same(whole, folder);
    remove_tree(folder);
}

START_TEST(runs_travel) {
    char *whole = new_folder();
    train_whole(whole, pieced);
    travel(whole, NO_WEIGHTS);
    travel(whole, "");
    remove_tree(whole);
}
END_TEST

TEST_FILE("reproduce_hostile") {
    test_add(suite, "hostile files", files_that_no_report_can_read_are_refused);
    test_add(suite, "lost times", lost_times_are_told);
    test_add(suite, "facts", facts_out_of_range_are_refused);
    test_add(suite, "copies", copies_without_weights_say_the_same);
    test_add(suite, "travel", runs_travel);
}

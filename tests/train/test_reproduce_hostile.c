/* Archives whose members no report could read, and facts that cannot be: refused before a file is
 * written. */
#include "../../train/reproduce/reproduce_private.h"
#include "archives.h"

/* ---- Members that the reports could not read ---- */

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
    {"config.json", NULL, "{}", "another configuration"},
    {"config.json", NULL, "{", "config.json: line 1"},
    {"manifest.json", NULL, "[]", "manifest.json"},
    {"metrics.csv", NULL, "a,b\n1\n", "metrics.csv: line 1: the header has no column run"},
    {"metrics.csv", "loss", "x", "metrics.csv: line 2"},
    {"metrics.csv", "loss", "-1", "row 1: loss is not"},
    {"metrics.csv", "loss", "inf", "row 1: loss is not"},
    {"metrics.csv", "accuracy", "1.5", "row 1: accuracy is not"},
    {"metrics.csv", "accuracy", "nan", "row 1: accuracy is not"},
    {"metrics.csv", "step", "", "row 1: step is not"},
    {"metrics.csv", "split", "Train", "row 1: split is neither"},
    {"metrics.csv", "split", "test", "row 2: epoch is not the next"},
    {"metrics.csv", "epoch", "2", "row 1: epoch is not the next"},
    {"timing.csv", NULL, "\1junk,\"", "timing.csv: line 1"},
    {"timing.csv", "train_seconds", "nan", "row 1: train_seconds is not"},
    {"timing.csv", "train_seconds", "-1", "row 1: train_seconds is not"},
    {"timing.csv", "tokens", "", "row 1: tokens is not"},
    {"timing.csv", "tokens", "-5", "row 1: tokens is not"},
    {"contraction.csv", NULL, "a,b\n1\n", "contraction.csv: line 1"},
    {"contraction_values.csv", NULL, "a,b\n1\n", "contraction_values.csv: line 1"},
    {"contraction_symbols.csv", NULL, "a,b\n1\n", "contraction_symbols.csv: line 1"},
    {"ablation.csv", NULL, "junk", "ablation.csv: line 1"},
    {"ablation.csv", "layer", "2", "row 1: layer and head are none of the model"},
    {"ablation.csv", "layer", "", "row 1: layer and head are none of the model"},
    {"ablation.csv", "head", "-1", "row 1: layer and head are none of the model"},
    {"ablation.csv", "head", "1", "row 2: layer and head are there twice"},
    {"ablation.csv", "accuracy", "1e300", "row 1: accuracy 1e+300 is not"},
    {"ablation.csv", "method", "values", "row 1: method is not output"},
    {"ablation.csv", "method", "", "row 1: method is not output"},
    {"ablation_values.csv", NULL, "junk", "ablation_values.csv: line 1"},
    {"ablation_latent_columns.csv", NULL, "junk", "ablation_latent_columns.csv: line 1"},
};

static void refuse_text(const char *from, const char *to, const char *name, char *text,
                        const char *words) {
    char bad[256], inside[256];
    snprintf(inside, sizeof inside, RUN "%s", name);
    repack(from, path_in(from, "bad.tar.xz", bad), inside, text);
    refuse(to, pieced, NULL, bad, words);
    /* The message names the archive and the member too. */
    ck_assert_ptr_nonnull(strstr(szg_context_message(test_context()), "bad.tar.xz: "));
    ck_assert_ptr_nonnull(strstr(szg_context_message(test_context()), inside));
    free(text);
}

START_TEST(members_that_no_report_can_read_are_refused) {
    char *from = new_folder(), *to = new_folder();
    train_whole(from, pieced);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *own = &refusals[i];
        refuse_text(from, to, own->name,
                    own->column ? with_cell(from, own->name, own->column, own->value)
                                : strdup(own->value),
                    own->words);
    }
    /* Three epochs of two splits, two layers of two heads. */
    refuse_text(from, to, "metrics.csv", first_lines(from, "metrics.csv", 1),
                "has 0 rows of split train, the run 3 epochs");
    refuse_text(from, to, "metrics.csv", first_lines(from, "metrics.csv", 6),
                "has 2 rows of split test, the run 3 epochs");
    refuse_text(from, to, "ablation.csv", first_lines(from, "ablation.csv", 6),
                "has 5 rows; heads and layers are 6");
    remove_tree(from);
    remove_tree(to);
}
END_TEST

/* ---- Members that lack what is not needed ---- */

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

static void put_text(const char *folder, const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/" RUN "%s", folder, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* Ablations of earlier versions do not say the method, which their name says: folder and archive.
 */
START_TEST(ablations_without_a_method_are_read) {
    char *from = new_folder(), *to = new_folder(), path[256];
    train_whole(from, pieced);
    char *want = tables_text(from, pieced);
    char *old = without_column(changed(from, "ablation.csv", "", ""), "method");
    ck_assert_ptr_null(strstr(old, "method"));
    ck_assert_ptr_nonnull(strstr(old, "label_ceiling,note\n"));
    put_text(from, "ablation.csv", old);
    char *got = tables_text(from, pieced);
    ck_assert_str_eq(got, want);
    pack(from, path_in(from, "runs.tar.xz", path), 0);
    ck_assert_int_eq(take(to, path), PIECED_RUNS);
    check_same(from, to);
    free(old);
    free(got);
    free(want);
    remove_tree(from);
    remove_tree(to);
}
END_TEST

/* Whether the archive is taken and its tables are those of `from`, and what is said of it. */
static void check_taken(const char *from, const char *path, char said[4096]) {
    char *to = new_folder();
    test_clock own = {0};
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_note, .user = &own};
    szg_reproduction *runs;
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(open_preset(context, to, pieced, NULL, 0, &runs));
    ck_assert_msg(szg_reproduction_take(context, runs, path) == SZG_OK, "%s",
                  szg_context_message(context));
    ck_assert_int_eq(count_finished(runs), PIECED_RUNS);
    szg_reproduction_close(&runs);
    szg_context_close(&context);
    check_same(from, to);
    snprintf(said, sizeof own.text, "%s", own.text);
    remove_tree(to);
}

/* Times that were removed before the last epoch, after it, or with their file, are told, and no
 * more.
 */
START_TEST(lost_times_are_told) {
    static const char *const lines[] = {"2 of 3 epochs", "0 of 3 epochs", "0 of 3 epochs",
                                        "0 of 3"};
    char *from = new_folder(), path[256], name[512], said[4096];
    train_whole(from, pieced);
    path_in(from, "runs.tar.xz", path);
    for (int i = 0; i < 4; i++) {
        char *text =
            i == 0 ? first_lines(from, "timing.csv", 3) : first_lines(from, "timing.csv", 1);
        put_text(from, "timing.csv", i == 2 ? "" : text);
        if (i == 3)
            ck_assert_int_eq(remove(path_in(from, RUN "timing.csv", name)), 0);
        pack(from, path, 0);
        check_taken(from, path, said);
        snprintf(name, sizeof name, "runs.tar.xz: " RUN "timing.csv: has the times of %s",
                 lines[i]);
        ck_assert_msg(strstr(said, name), "%s: %s", lines[i], said);
        put_text(from, "timing.csv", text);
        free(text);
    }
    remove_tree(from);
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

/* The same document in the run's folder. */
static void refuse_folder(const char *folder, const char *text, const char *words) {
    szg_reproduction *runs;
    put_text(folder, "finished.json", text);
    ck_szg_fails(SZG_EDATA, words, open_preset(test_context(), folder, pieced, NULL, 0, &runs));
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
    char *from = new_folder(), *to = new_folder();
    train_whole(from, pieced);
    char *sound = changed(from, "finished.json", "", "");
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        refuse_text(from, to, "finished.json", with_fact(from, facts[i][0], facts[i][1]),
                    facts[i][2]);
        char *text = with_fact(from, facts[i][0], facts[i][1]);
        refuse_folder(from, text, facts[i][2]);
        free(text);
        put_text(from, "finished.json", sound);
    }
    /* What is not known is null. */
    char *text = with_fact(from, "ceiling", "null"), path[256];
    repack(from, path_in(from, "runs.tar.xz", path), RUN "finished.json", text);
    ck_assert_int_eq(take(to, path), PIECED_RUNS);
    free(text);
    free(sound);
    remove_tree(from);
    remove_tree(to);
}
END_TEST

/* ---- Archives with no finished run ---- */

START_TEST(archives_without_a_finished_run_are_told) {
    char *from = new_folder(), *to = new_folder(), path[256];
    test_clock own = {0};
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_note, .user = &own};
    szg_reproduction *runs;
    pack(from, path_in(from, "runs.tar.xz", path), 0);
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(open_preset(context, to, pieced, NULL, 0, &runs));
    ck_szg_ok(szg_reproduction_take(context, runs, path));
    ck_assert_ptr_nonnull(strstr(own.text, "holds no finished run of preset pieced"));
    szg_reproduction_close(&runs);
    szg_context_close(&context);
    /* Tables of a run that is neither finished nor begun; a state that is none. */
    repack(from, path, RUN "metrics.csv", "x");
    refuse(to, pieced, NULL, path, "has metrics.csv, and neither finished.json nor");
    repack(from, path, RUN "checkpoint.state.safetensors", "junk");
    refuse(to, pieced, NULL, path, "runs.tar.xz: " RUN "checkpoint.state.safetensors");
    remove_tree(from);
    remove_tree(to);
}
END_TEST

/* ---- Sizes ---- */

enum { RANDOM = 1 << 17 };

static szg_status emit_bulk(szg_context *context, const void *data, FILE *stream) {
    const szgi_stream source = {.seed = test_seed(), .purpose = 9};
    static const char zeros[RANDOM];
    (void)context;
    for (uint64_t i = 0; i < RANDOM; i++)
        putc((int)(szgi_random_word(&source, i) & 255), stream);
    for (int64_t left = *(const int64_t *)data; left > 0; left -= RANDOM)
        fwrite(zeros, 1, RANDOM, stream);
    return SZG_OK;
}

/* More bytes than the runs of the preset can have, packed to not so little that their ratio tells:
 * beside 128 KiB that do not pack, 60 MiB are some 430 times the archive. */
START_TEST(more_than_the_preset_needs_is_refused) {
    char *to = new_folder(), path[256];
    const int64_t size = 60 << 20;
    double needed;
    szgi_archive_writer *writer;
    szg_reproduction *runs = open_pieced(to);
    ck_szg_ok(szgi_reproduction_most_bytes(test_context(), runs, &needed));
    ck_assert(needed < (double)size);
    szg_reproduction_close(&runs);
    ck_szg_ok(szgi_archive_create(test_context(), path_in(to, "bulk.tar.xz", path), &writer));
    ck_szg_ok(szgi_archive_add_made(test_context(), writer, RUN "metrics.csv", emit_bulk, &size));
    ck_szg_ok(szgi_archive_commit(test_context(), &writer));
    refuse(to, pieced, NULL, path, "bytes, the most that its files need");
    remove_tree(to);
}
END_TEST

/* What runs left is within the bound, each kind by itself: a model's numbers, thrice as doubles. */
START_TEST(what_runs_need_is_bounded) {
    static const char *const encodings[] = {"absolute", "rope", "mla",    "alibi",  "relative",
                                            "t5",       "nope", "random", "learned"};
    char *folder = new_folder(), text[2048];
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        szg_reproduction *runs;
        szg_model *model;
        double needed;
        snprintf(
            text, sizeof text,
            "{\"name\": \"x\", \"about\": \"y\", \"seeds\": [1], \"tasks\": {\"distance\": {}},"
            "\"config\": {\"model\": {\"vocabulary\": 500, \"max_length\": 500}},"
            "\"experiments\": [{\"name\": \"a\", \"profile\": \"released\","
            "\"encodings\": [\"%s\"]}]}",
            encodings[i]);
        ck_szg_ok(open_preset(test_context(), folder, text, NULL, 0, &runs));
        ck_szg_ok(szgi_reproduction_most_bytes(test_context(), runs, &needed));
        ck_szg_ok(
            szgi_model_open(test_context(), szg_reproduction_run_at(runs, 0).config, 100, &model));
        double least = 24 * (double)szgi_model_numbers(model);
        ck_assert_msg(needed >= least + (1 << 22), "%s: %g < %g", encodings[i], needed, least);
        szg_model_close(test_context(), &model);
        szg_reproduction_close(&runs);
    }
    remove_tree(folder);
}
END_TEST

TEST_FILE("reproduce_hostile") {
    test_add(suite, "bulk", more_than_the_preset_needs_is_refused);
    test_add(suite, "needs", what_runs_need_is_bounded);
    test_add(suite, "hostile members", members_that_no_report_can_read_are_refused);
    test_add(suite, "no method", ablations_without_a_method_are_read);
    test_add(suite, "lost times", lost_times_are_told);
    test_add(suite, "facts", facts_out_of_range_are_refused);
    test_add(suite, "no finished run", archives_without_a_finished_run_are_told);
}

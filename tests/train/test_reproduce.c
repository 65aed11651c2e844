/* A toy preset: its runs, what interrupting it changes (nothing), what a hostile one is told. */
#include <math.h>
#include <time.h>

#include "toy.h"

/* ---- Runs ---- */

START_TEST(runs_follow_from_the_preset) {
    static const char *const names[] = {"text/distance/nope/run-3",
                                        "text/distance/rope/run-3",
                                        "text/distance/rope-rotate-0-0/run-3",
                                        "text/count/nope/run-3",
                                        "text/count/rope/run-3",
                                        "text/count/rope-rotate-0-0/run-3",
                                        "open/distance/alibi/run-3",
                                        "text/distance/nope/run-4"};
    char *folder = new_folder();
    szg_reproduction *toys;
    const char *overrides[] = {"loop.epochs=7", "model.width=12"};
    ck_szg_ok(open_preset(test_context(), folder, toy, NULL, 0, &toys));
    ck_assert_int_eq(szg_reproduction_count(toys), TOY_RUNS);
    for (int64_t i = 0; i < (int64_t)(sizeof names / sizeof *names); i++)
        ck_assert_str_eq(szg_reproduction_run_at(toys, i).name, names[i]);
    szg_reproduction_run count = szg_reproduction_run_at(toys, 3);
    ck_assert_int_eq(count.config->data.task, SZG_TASK_COUNT);
    ck_assert_int_eq(count.config->loop.epochs, 1); /* the task's word after the preset's */
    ck_assert_int_eq(count.config->loop.batch, 16);
    ck_assert_int_eq(count.rotated_heads, -1);
    ck_assert(count.methods == 1 && !count.finished && count.seed == 3);
    szg_reproduction_run partial = szg_reproduction_run_at(toys, 2);
    ck_assert_str_eq(partial.encoding, "rope:rotate=0-0");
    ck_assert_int_eq(partial.rotated_heads, 1);
    szg_reproduction_run open = szg_reproduction_run_at(toys, 6);
    ck_assert_int_eq(open.config->profile, SZG_PROFILE_RELEASED);
    ck_assert_int_eq(open.config->model.mask, SZG_MASK_CAUSAL); /* over the profile's none */
    ck_assert_str_eq(open.encoding, "alibi:slopes=exp");
    ck_assert(open.methods == 0);
    szg_reproduction_close(&toys);
    ck_szg_ok(open_preset(test_context(), folder, toy, overrides, 2, &toys));
    ck_assert_int_eq(szg_reproduction_run_at(toys, 3).config->loop.epochs, 7); /* the last word */
    ck_assert_int_eq(szg_reproduction_run_at(toys, 0).config->model.width, 12);
    szg_reproduction_close(&toys);
    remove_tree(folder);
}
END_TEST

static szg_reproduction_run run_named(const szg_reproduction *runs, const char *name) {
    for (int64_t i = 0; i < szg_reproduction_count(runs); i++) {
        szg_reproduction_run run = szg_reproduction_run_at(runs, i);
        if (strcmp(run.name, name) == 0)
            return run;
    }
    ck_abort_msg("no run is called %s", name);
}

/* The preset of the paper's sizes trains `released` as the scripts do, 100 epochs with batches of
 * 512, MLA 150 with 1024; a switch differs from what it is like in one key of the loop or none. */
START_TEST(the_full_preset_has_the_loops_of_the_scripts) {
    char *folder = new_folder(), path[4096], base[256];
    szg_reproduction *full;
    snprintf(path, sizeof path, "%s/../presets/full.json", getenv("SZG_DOCS"));
    szg_reproduction_options options = {SZG_INIT(szg_reproduction_options), .preset = path,
                                        .folder = folder};
    ck_szg_ok(szg_reproduction_open(test_context(), &options, &full));
    int64_t released = 0, batches = 0, epochs = 0;
    for (int64_t i = 0; i < szg_reproduction_count(full); i++) {
        szg_reproduction_run run = szg_reproduction_run_at(full, i);
        const szg_loop_config *loop = &run.config->loop;
        bool mla = strcmp(run.encoding, "mla") == 0, count = strcmp(run.task, "count") == 0;
        if (!run.like) {
            bool text = run.config->profile == SZG_PROFILE_TEXT;
            ck_assert_int_eq(loop->epochs, text ? (count ? 150 : 100) : mla ? 150 : 100);
            ck_assert_int_eq(loop->batch, !text && mla ? 1024 : 512);
            ck_assert(text || run.methods >> SZG_ABLATE_CUMULATIVE & 1);
            released += !text;
            continue;
        }
        snprintf(base, sizeof base, "%s%s", run.like, strchr(run.name, '/'));
        szg_reproduction_run like = run_named(full, base);
        bool batch = loop->batch != like.config->loop.batch,
             longer = loop->epochs != like.config->loop.epochs;
        ck_assert_msg(batch == (strstr(run.name, "-batch") != NULL), "%s", run.name);
        ck_assert_msg(longer == (strstr(run.name, "-epochs") != NULL), "%s", run.name);
        batches += batch;
        epochs += longer;
    }
    ck_assert(released > 0 && batches == 24 && epochs == 12);
    szg_reproduction_close(&full);
    remove_tree(folder);
}
END_TEST

/* Every preset that is installed is read: encodings, keys, heads and hypotheses hold together. */
START_TEST(every_preset_is_read) {
    static const struct {
        const char *name;
        int64_t runs, waiting;
    } presets[] = {{"quick", 16, 0},
                   {"small", 120, 0},
                   {"full", 426, 0},
                   {"mechanism", 120, 40},
                   {"mechanism-full", 110, 20},
                   {"mechanism-length", 60, 0},
                   {"mechanism-curvature", 80, 0},
                   {"mechanism-replication", 50, 0}};
    char *folder = new_folder(), path[4096];
    for (size_t p = 0; p < sizeof presets / sizeof *presets; p++) {
        szg_reproduction *runs;
        int64_t waiting = 0;
        snprintf(path, sizeof path, "%s/../presets/%s.json", getenv("SZG_DOCS"), presets[p].name);
        szg_reproduction_options options = {SZG_INIT(szg_reproduction_options), .preset = path,
                                            .folder = folder};
        ck_szg_ok(szg_reproduction_open(test_context(), &options, &runs));
        ck_assert_str_eq(szg_reproduction_name(runs), presets[p].name);
        ck_assert_int_eq(szg_reproduction_count(runs), presets[p].runs);
        for (int64_t i = 0; i < szg_reproduction_count(runs); i++)
            waiting += !szg_reproduction_run_at(runs, i).settled;
        ck_assert_int_eq(waiting, presets[p].waiting);
        szg_reproduction_close(&runs);
    }
    remove_tree(folder);
}
END_TEST

/* The runs `rope` of the two presets of one experiment have one folder, and so one configuration.
 */
START_TEST(the_two_mechanism_presets_share_their_runs) {
    char *folder = new_folder(), path[2][4096];
    szg_reproduction *runs[2];
    int64_t shared = 0;
    for (int p = 0; p < 2; p++) {
        snprintf(path[p], sizeof path[p], "%s/../presets/mechanism%s.json", getenv("SZG_DOCS"),
                 p ? "-full" : "");
        szg_reproduction_options options = {SZG_INIT(szg_reproduction_options), .preset = path[p],
                                            .folder = folder};
        ck_szg_ok(szg_reproduction_open(test_context(), &options, &runs[p]));
    }
    for (int64_t i = 0; i < szg_reproduction_count(runs[0]); i++)
        for (int64_t j = 0; j < szg_reproduction_count(runs[1]); j++) {
            szg_reproduction_run one = szg_reproduction_run_at(runs[0], i),
                                 other = szg_reproduction_run_at(runs[1], j);
            if (strcmp(one.name, other.name) != 0)
                continue;
            ck_assert(memcmp(one.config, other.config, sizeof *one.config) == 0);
            ck_assert(one.methods == other.methods);
            shared++;
        }
    ck_assert_int_eq(shared, 10);
    szg_reproduction_close(&runs[0]);
    szg_reproduction_close(&runs[1]);
    remove_tree(folder);
}
END_TEST

/* ---- Tables ---- */

/* Of two plain loops: the commonest label of the training examples of a test example's length. */
static double by_length(const szg_dataset *data) {
    int64_t right = 0;
    for (int64_t e = 0; e < data->test.count; e++) {
        int64_t length = data->test.start[e + 1] - data->test.start[e], votes[64] = {0}, best = 0;
        bool seen = false;
        for (int64_t t = 0; t < data->train.count; t++)
            if (data->train.start[t + 1] - data->train.start[t] == length) {
                votes[data->train.label[t]]++;
                seen = true;
            }
        for (int64_t t = 0; !seen && t < data->train.count; t++)
            votes[data->train.label[t]]++;
        for (int64_t label = 1; label < 64; label++)
            best = votes[label] > votes[best] ? label : best;
        right += data->test.label[e] == best;
    }
    return (double)right / (double)data->test.count;
}

/* A run's row against the checkpoint in its folder and the data made anew. */
static void check_run(const char *folder, const szg_table *runs, int64_t row,
                      const szg_reproduction_run *run) {
    char path[256];
    szg_dataset data;
    szg_model *model;
    szgi_tally tally;
    snprintf(path, sizeof path, "%s/runs/%s/checkpoint.safetensors", folder, run->name);
    ck_szg_ok(szg_dataset_open(test_context(), run->config, &data));
    ck_szg_ok(szg_model_load(test_context(), path, NULL, &model));
    ck_szg_ok(szgi_train_evaluate(test_context(), model, &data.test, &tally, NULL));
    ck_assert_str_eq(szg_table_get_text(runs, row, column(runs, "run")), run->name);
    ck_assert(real_at(runs, row, "test_accuracy") == (double)tally.correct / (double)tally.counted);
    ck_assert(real_at(runs, row, "parameters") == (double)szgi_model_count(model));
    ck_close(real_at(runs, row, "by_length"), by_length(&data), 1e-15);
    szg_model_close(test_context(), &model);
    szg_dataset_close(&data);
}

/* Every row names the experiment that its run's folder lies in. */
static void check_experiments(const szg_table *table) {
    int64_t own = column(table, "experiment"), run = column(table, "run");
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        const char *experiment = szg_table_get_text(table, row, own),
                   *name = szg_table_get_text(table, row, run);
        ck_assert_ptr_nonnull(experiment);
        size_t length = strlen(experiment);
        ck_assert(strncmp(name, experiment, length) == 0 && name[length] == '/');
    }
}

START_TEST(tables_say_what_the_folders_hold) {
    char *folder = new_folder();
    szg_reproduction *toys;
    szg_reproduction_tables tables;
    train_whole(folder, toy);
    ck_szg_ok(open_preset(test_context(), folder, toy, NULL, 0, &toys));
    ck_szg_ok(szg_reproduction_report(test_context(), toys, toys, 0, &tables));
    ck_assert_int_eq(szg_table_rows(tables.missing), 0);
    ck_assert_int_eq(szg_table_rows(tables.runs), TOY_RUNS);
    for (int64_t i = 0; i < TOY_RUNS; i++) {
        szg_reproduction_run run = szg_reproduction_run_at(toys, i);
        ck_assert(run.finished);
        check_run(folder, tables.runs, i, &run);
    }
    /* 12 ablated runs of 2 layers, each 2 heads and all; deposit adds the means of 6 kinds. */
    ck_assert_int_eq(szg_table_rows(tables.ablation), 12 * 2 * 3);
    ck_assert_int_eq(szg_table_rows(tables.deposit), 12 * 2 + 6 * 2);
    for (int64_t row = 0; row < 12 * 2; row++) { /* a run and layer each */
        double total = 0;
        for (int64_t head = 0; head < 2; head++)
            total += fmax(0, real_at(tables.ablation, 3 * row + head, "drop"));
        ck_close(real_at(tables.deposit, row, "total_drop"), total, 1e-14);
    }
    /* Two epochs (one for count), two splits. */
    ck_assert_int_eq(szg_table_rows(tables.curves), 2 * (3 * 4 + 3 * 2 + 4));
    check_experiments(tables.runs);
    check_experiments(tables.curves);
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&toys);
    remove_tree(folder);
}
END_TEST

/* A preset of one run, and none of its tables empty but `missing`. */
static const char single[] =
    "{\"name\": \"one\", \"about\": \"\", \"seeds\": [1], \"tasks\": {\"distance\": {}},"
    " \"config\": {\"model\": {\"vocabulary\": 20, \"width\": 4, \"hidden\": 4, \"layers\": 1,"
    " \"heads\": 2, \"max_length\": 16}, \"data\": {\"examples\": 30, \"between_max\": 4,"
    " \"side_max\": 2, \"longest\": 10}, \"loop\": {\"epochs\": 1}},"
    " \"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [],"
    " \"rotated_heads\": [1], \"ablation\": true}]}";

static szg_status open_single(const char *path, const char *folder, szg_reproduction **out) {
    const char *override = "loop.batch=16";
    szg_reproduction_options options = {SZG_INIT(szg_reproduction_options), .preset = path,
                                        .overrides = &override, .override_count = 1,
                                        .folder = folder};
    return szg_reproduction_open(test_context(), &options, out);
}

static int64_t lines_of(const char *path) {
    int64_t lines = 0;
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    for (int c = getc(file); c != EOF; c = getc(file))
        lines += c == '\n';
    fclose(file);
    return lines;
}

/* The rows of `own` from row `at` of `all` on: the same columns and cells but for the run's name,
 * and before the note the experiment. */
static void check_joined(const szg_table *all, int64_t at, const szg_table *own) {
    int64_t note = szg_table_columns(own) - 1;
    ck_assert_int_eq(szg_table_columns(all), szg_table_columns(own) + 1);
    ck_assert_int_eq(column(all, "experiment"), note);
    for (int64_t c = 0; c <= note; c++) {
        int64_t there = c < note ? c : c + 1;
        ck_assert_str_eq(szg_table_column(all, there)->name, szg_table_column(own, c)->name);
        ck_assert_int_eq(szgi_table_end(all, there), szgi_table_end(own, c));
        for (int64_t row = 0; c > 0 && row < szg_table_rows(own); row++) {
            bool empty = szg_table_is_empty(own, row, c);
            ck_assert_int_eq(szg_table_is_empty(all, at + row, there), empty);
            if (szg_table_column(own, c)->type == SZG_TEXT)
                ck_assert_pstr_eq(szg_table_get_text(all, at + row, there),
                                  szg_table_get_text(own, row, c));
            else if (!empty)
                ck_assert(szg_table_get_real(all, at + row, there) ==
                          szg_table_get_real(own, row, c));
        }
    }
}

/* A ratio that no run can have, in the first row of the file in a run's folder. */
static void put_negative_ratio(const char *folder) {
    char path[600], *text, *ratio;
    size_t size;
    ck_assert_ptr_nonnull(text = file_bytes(folder, "contraction.csv", &size));
    ck_assert_ptr_nonnull(ratio = strstr(text, ",same_qk,"));
    ratio = strchr(ratio + strlen(",same_qk,"), ',') + 1; /* behind the pairing */
    snprintf(path, sizeof path, "%s/contraction.csv", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%.*s-%s", (int)(ratio - text), text, ratio);
    fclose(file);
    free(text);
}

/* Runs that capture every second step: their rows, one after the other, under their names. */
START_TEST(captured_logits_are_joined) {
    const char *overrides[] = {"loop.batch=4", "capture.every=2"};
    char *folder = new_folder(), path[512];
    szg_reproduction *two;
    szg_reproduction_tables tables;
    ck_szg_ok(open_preset(test_context(), folder, single, overrides, 2, &two));
    ck_szg_ok(szg_reproduction_train(test_context(), two, 0));
    ck_szg_ok(szg_reproduction_report(test_context(), two, two, 0, &tables));
    int64_t row = 0, runs = szg_reproduction_count(two);
    for (int64_t i = 0; i < runs; i++) {
        szg_reproduction_run run = szg_reproduction_run_at(two, i);
        snprintf(path, sizeof path, "%s/runs/%s/contraction.csv", folder, run.name);
        int64_t first = row;
        for (int64_t line = lines_of(path); line > 1; line--, row++)
            ck_assert_str_eq(szg_table_get_text(tables.contraction, row, 0), run.name);
        szg_train_tables logs;
        snprintf(path, sizeof path, "%s/runs/%s", folder, run.name);
        ck_szg_ok(szg_train_tables_read(test_context(), path, &logs));
        ck_assert_int_eq(szg_table_rows(logs.contraction), row - first);
        check_joined(tables.contraction, first, logs.contraction);
        szg_train_tables_close(&logs);
    }
    check_experiments(tables.contraction);
    ck_assert_int_eq(szg_table_rows(tables.contraction), row);
    ck_assert_int_ge(row, runs * 2 * 2); /* heads, and at least two captures each */
    szg_reproduction_tables_close(&tables);
    put_negative_ratio(path);
    szg_reproduction_close(&two);
    ck_szg_fails(SZG_EDATA, "contraction.csv: row 1: width_ratio is below 0",
                 open_preset(test_context(), folder, single, overrides, 2, &two));
    remove_tree(folder);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    char *folder = new_folder(), path[256];
    szg_reproduction *one = NULL;
    szg_reproduction_tables tables;
    write_preset(folder, single, path);
    ck_survives_failed_allocations(20, open_single(path, folder, &one));
    ck_survives_failed_allocations(50, szg_reproduction_train(test_context(), one, 0));
    ck_survives_failed_allocations(50,
                                   szg_reproduction_report(test_context(), one, one, 0, &tables));
    ck_assert_int_eq(szg_table_rows(tables.runs), 1);
    ck_assert_int_eq(szg_table_rows(tables.deposit), 1);
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&one);
    remove_tree(folder);
}
END_TEST

START_TEST(needs_are_operations_times_tokens) {
    char *folder = new_folder();
    szg_reproduction *toys;
    szg_reproduction_tables tables;
    ck_szg_ok(open_preset(test_context(), folder, toy, NULL, 0, &toys));
    ck_szg_ok(szg_reproduction_report(test_context(), toys, NULL, 0, &tables));
    double sum = 0;
    for (int64_t i = 0; i < TOY_RUNS; i++) {
        const szg_train_config *config = szg_reproduction_run_at(toys, i).config;
        bool count = config->data.task == SZG_TASK_COUNT;
        /* Words an example, expected: 2 triggers, 1..4 between (2.5), 1..2 on each side (3). */
        double words = count ? 8 : (double)(2 + config->data.between_min + 4) / 2 + 1 + 3;
        szg_model *model;
        ck_szg_ok(szgi_model_open(test_context(), config, 6, &model));
        szgi_model_operations each = szgi_model_operations_per_token(model);
        sum += (double)config->loop.epochs * words * (double)config->data.examples *
               (.7 * each.training + .3 * each.forward);
        szg_model_close(test_context(), &model);
    }
    int64_t last = szg_table_rows(tables.needs) - 1;
    ck_close(real_at(tables.needs, last, "operations") / sum, 1, 1e-12);
    ck_assert(real_at(tables.needs, last, "runs") == TOY_RUNS);
    ck_assert(szg_table_is_empty(tables.needs, last, column(tables.needs, "task"))); /* both */
    ck_assert(szg_table_is_empty(tables.needs, last, column(tables.needs, "hours")));
    ck_assert_int_eq(szg_table_rows(tables.missing), TOY_RUNS);
    szg_reproduction_tables_close(&tables);
    /* With a rate, hours follow; one is measured without any run. */
    double rate = 0;
    ck_szg_ok(szg_reproduction_rate(test_context(), toys, &rate));
    ck_assert(rate > 0 && isfinite(rate));
    ck_szg_ok(szg_reproduction_report(test_context(), toys, toys, 1e6, &tables));
    last = szg_table_rows(tables.needs) - 1;
    ck_close(real_at(tables.needs, last, "hours") / (sum / 3.6e9), 1, 1e-12);
    ck_assert(szg_table_is_empty(tables.needs, 0, column(tables.needs, "hours")));
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&toys);
    remove_tree(folder);
}
END_TEST

/* Length extrapolation: the test split's sequences are longer, and so is what evaluation costs. */
START_TEST(needs_know_of_longer_test_sequences) {
    static const char *const longer[] = {"data.test_between_min=4", "data.test_between_max=6",
                                         "data.test_words=12"};
    char *folder = new_folder();
    szg_reproduction *toys;
    szg_reproduction_tables tables;
    double total[2], sum = 0;
    for (int i = 0; i < 2; i++) {
        ck_szg_ok(open_preset(test_context(), folder, toy, longer, i ? 3 : 0, &toys));
        ck_szg_ok(szg_reproduction_report(test_context(), toys, NULL, 0, &tables));
        total[i] = real_at(tables.needs, szg_table_rows(tables.needs) - 1, "operations");
        szg_reproduction_tables_close(&tables);
        for (int64_t at = 0; i && at < TOY_RUNS; at++) {
            const szg_train_config *config = szg_reproduction_run_at(toys, at).config;
            bool count = config->data.task == SZG_TASK_COUNT;
            szg_model *model;
            /* More words, four: 12 for 8; or 2.5: 4 to 6 between for 1 to 4. Of the longest
             * distance follow the classes. */
            ck_szg_ok(szgi_model_open(test_context(), config, count ? 6 : 8, &model));
            sum += (double)config->loop.epochs * (count ? 4 : 2.5) * .3 *
                   (double)config->data.examples * szgi_model_operations_per_token(model).forward;
            szg_model_close(test_context(), &model);
        }
        szg_reproduction_close(&toys);
    }
    /* The classes cost something in training too: bounded by a hundredth of the whole. */
    ck_close(total[1] - total[0], sum, total[0] / 100);
    remove_tree(folder);
}
END_TEST

/* ---- Interruption ---- */

typedef struct interruption {
    szg_context *context;
    int64_t left; /* calls until it strikes */
} interruption;

static void interrupt(void *user, const char *what, int64_t done, int64_t total) {
    interruption *own = user;
    (void)what, (void)done, (void)total;
    if (--own->left == 0)
        szg_context_cancel(own->context);
}

/* Whether the work was finished before `calls` reports of progress. */
static bool train_interrupted(const char *folder, int64_t calls) {
    interruption own = {.left = calls};
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .progress = interrupt, .user = &own};
    szg_reproduction *toys = NULL;
    ck_szg_ok(szg_context_open(&options, &own.context));
    szg_status status = open_preset(own.context, folder, toy, NULL, 0, &toys);
    if (status == SZG_OK)
        status = szg_reproduction_train(own.context, toys, 0);
    if (status == SZG_ECANCEL && toys)
        ck_assert_ptr_nonnull(
            strstr(szg_context_message(own.context), "the same command continues"));
    else
        ck_assert_msg(status == SZG_OK || status == SZG_ECANCEL, "%s",
                      szg_context_message(own.context));
    szg_reproduction_close(&toys);
    szg_context_close(&own.context);
    return status == SZG_OK;
}

START_TEST(cancelling_changes_nothing) {
    char *whole = new_folder(), *pieces = new_folder();
    int64_t interruptions = 0;
    train_whole(whole, toy);
    while (!train_interrupted(pieces, 37 + 8 * interruptions))
        ck_assert_int_lt(++interruptions, 500);
    ck_assert_int_ge(interruptions, 3);
    char *want = tables_text(whole, toy), *got = tables_text(pieces, toy);
    ck_assert_str_eq(got, want);
    free(want);
    free(got);
    remove_tree(whole);
    remove_tree(pieces);
}
END_TEST

static double seconds_now(void) {
    return szgi_context_seconds(test_context());
}

/* Kills the training of the folder again and again until it ends by itself; how many times. Each
 * instant is by chance, the first below `seconds`, and they come later, so that there is an end. */
static int64_t train_through_kills(const char *folder, double seconds, const szgi_stream *chance) {
    static const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1};
    for (int64_t kills = 0;; kills++, seconds *= 1.2) {
        pid_t child = train_apart(folder, toy, &options, 0);
        double delay = seconds * szgi_random_uniform(chance, (uint64_t)kills);
        nanosleep(&(struct timespec){.tv_sec = (time_t)delay,
                                     .tv_nsec = (long)((delay - floor(delay)) * 1e9)},
                  NULL);
        kill(child, SIGKILL);
        if (!was_killed(child))
            return kills;
    }
}

/* The one test here whose subject is time: the seed of its delays is the suite's. A training that
 * ends too soon is done again with half the delays. */
START_TEST(killing_changes_nothing) {
    enum { KILLS = 3, ROUNDS = 10 };
    static const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1};
    char *whole = new_folder();
    double seconds = seconds_now();
    ck_assert(!was_killed(train_apart(whole, toy, &options, 0)));
    seconds = seconds_now() - seconds;
    char *want = tables_text(whole, toy);
    int64_t kills = 0;
    for (uint32_t round = 0; kills < KILLS; round++) {
        szgi_stream chance = {.seed = test_seed(), .purpose = 7, .step = round};
        ck_assert_msg(round < ROUNDS, "the run is never killed %d times before it ends", KILLS);
        seconds /= 2;
        char *pieces = new_folder();
        kills = train_through_kills(pieces, seconds, &chance);
        char *got = tables_text(pieces, toy);
        ck_assert_str_eq(got, want);
        free(got);
        remove_tree(pieces);
    }
    free(want);
    remove_tree(whole);
}
END_TEST

START_TEST(missing_runs_are_listed) {
    char *folder = new_folder();
    szg_reproduction *toys;
    szg_reproduction_tables tables;
    ck_assert(!train_interrupted(folder, 150));
    ck_szg_ok(open_preset(test_context(), folder, toy, NULL, 0, &toys));
    ck_szg_ok(szg_reproduction_report(test_context(), toys, NULL, 0, &tables));
    int64_t finished = szg_table_rows(tables.runs), row = 0, begun = 0;
    ck_assert_int_gt(finished, 0);
    ck_assert_int_eq(szg_table_rows(tables.missing), TOY_RUNS - finished);
    for (int64_t i = 0; i < TOY_RUNS; i++) {
        szg_reproduction_run run = szg_reproduction_run_at(toys, i);
        if (run.finished)
            continue;
        ck_assert_str_eq(szg_table_get_text(tables.missing, row, 0), run.name);
        const char *state =
            szg_table_get_text(tables.missing, row, column(tables.missing, "state"));
        ck_assert(strcmp(state, "begun") == 0 || strcmp(state, "not begun") == 0);
        begun += strstr(szg_table_get_text(tables.missing, row, column(tables.missing, "note")),
                        "begun, not finished") != NULL;
        row++;
    }
    ck_assert_int_le(begun, 1);
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&toys);
    /* What is finished stands for the configuration that it was trained with. */
    const char *overrides[] = {"loop.learning_rate=0.02"};
    ck_szg_fails(SZG_EDATA, "another configuration",
                 open_preset(test_context(), folder, toy, overrides, 1, &toys));
    remove_tree(folder);
}
END_TEST

/* ---- Hostile presets ---- */

static void refuse(const char *folder, const char *text, const char *words) {
    char path[256];
    szg_reproduction *toys;
    write_preset(folder, text, path);
    szg_reproduction_options options = {SZG_INIT(szg_reproduction_options), .preset = path};
    ck_szg_fails(SZG_EDATA, words, szg_reproduction_open(test_context(), &options, &toys));
    ck_assert_ptr_null(toys);
}

#define HEAD "{\"name\": \"x\", \"about\": \"y\", \"seeds\": [1], "
#define TASKS "\"tasks\": {\"distance\": {}}, "

/* A method that takes nothing from an encoding is left out for it; an intervention is a key of the
 * configuration like others. */
START_TEST(methods_are_those_of_the_encoding) {
    static const char preset[] =
        HEAD TASKS "\"experiments\": [{\"name\": \"a\", \"profile\": \"text\", \"config\": "
                   "{\"intervention\": {\"kind\": \"gradient\", \"head\": 3, \"from\": 0.25}}, "
                   "\"encodings\": [\"rope\", \"mla\", \"alibi\", \"rope+absolute\"], "
                   "\"ablation\": [\"output\", \"latent_columns\", \"rotation\"]}]}";
    enum { OUTPUT = 1u << SZG_ABLATE_OUTPUT, ROTATION = 1u << SZG_ABLATE_ROTATION };
    const unsigned wanted[] = {OUTPUT | ROTATION,
                               OUTPUT | ROTATION | 1u << SZG_ABLATE_LATENT_COLUMNS, OUTPUT,
                               OUTPUT | ROTATION};
    char *folder = new_folder();
    szg_reproduction *runs;
    ck_szg_ok(open_preset(test_context(), folder, preset, NULL, 0, &runs));
    ck_assert_int_eq(szg_reproduction_count(runs), 4);
    for (int64_t i = 0; i < 4; i++) {
        szg_reproduction_run run = szg_reproduction_run_at(runs, i);
        ck_assert_uint_eq(run.methods, wanted[i]);
        ck_assert_int_eq(run.config->intervention.kind, SZG_INTERVENTION_GRADIENT);
        ck_assert_int_eq(run.config->intervention.head, 3);
    }
    szg_reproduction_close(&runs);
    remove_tree(folder);
}
END_TEST

START_TEST(hostile_presets_are_refused) {
    static const char *const presets[][2] = {
        {"", "preset.json"},
        {"[]", "preset.json"},
        {"{}", "name"},
        {"{\"name\": \"../x\"}", "names a folder"},
        {"{\"name\": \"x\", \"runs\": 3}", "is unknown: one of name|about"},
        {"{\"name\": \"x\", \"name|about\": 3}", "name|about: is unknown: one of name|about"},
        {"{\"name\": \"x\", \"\": 3}", "is unknown: one of name|about"},
        {"{\"name\": \"x\", \"name\": \"y\"}", "preset.json"},
        {"{\"name\": \"x\", \"about\": 3}", "about"},
        {HEAD "\"experiments\": 3}", "experiments"},
        {HEAD "\"experiments\": []}", "tasks"},
        {HEAD TASKS "\"experiments\": []}", "names no run"},
        {HEAD TASKS "\"experiments\": [3]}", "experiments[0]"},
        {HEAD TASKS "\"experiments\": [{\"name\": \"A/B\", \"profile\": \"text\"}]}",
         "names a folder"},
        {HEAD TASKS "\"experiments\": [{\"name\": \"a\", \"profile\": \"text\"}]}", "encodings"},
        {HEAD TASKS "\"experiments\": [{\"name\": \"a\", \"profile\": \"best\", \"encodings\": "
                    "[\"rope\"]}]}",
         "profile=best"},
        {HEAD TASKS "\"experiments\": [{\"name\": \"a\", \"profile\": \"text\", \"encodings\": "
                    "[\"roap\"]}]}",
         "experiment a, distance, roap"},
        {HEAD TASKS "\"experiments\": [{\"name\": \"a\", \"profile\": \"text\", \"encodings\": "
                    "[\"rope\", \"rope\"]}]}",
         "two runs would have the folder"},
        {HEAD TASKS "\"experiments\": [{\"name\": \"a\", \"profile\": \"text\", \"tasks\": "
                    "[\"count\"], \"encodings\": [\"rope\"]}]}",
         "is not a task that"},
        {HEAD TASKS "\"experiments\": [{\"name\": \"a\", \"profile\": \"text\", \"encodings\": [], "
                    "\"rotated_heads\": [0]}]}",
         "must be at least 1"},
        {HEAD TASKS "\"experiments\": [{\"name\": \"a\", \"profile\": \"text\", \"encodings\": [], "
                    "\"rotated_heads\": [16]}]}",
         "is not below model.heads=16"},
        {HEAD TASKS "\"config\": {\"model\": {\"widht\": 3}}, \"experiments\": [{\"name\": \"a\", "
                    "\"profile\": \"text\", \"encodings\": [\"rope\"]}]}",
         "did you mean model.width"},
        {HEAD TASKS "\"config\": {\"modle\": {}}, \"experiments\": [{\"name\": \"a\", "
                    "\"profile\": \"text\", \"encodings\": [\"rope\"]}]}",
         "modle: is unknown: did you mean model? One of "
         "model|data|loop|capture|curvature|intervention"},
        {HEAD TASKS "\"config\": {\"model\": {\"width\": [1]}}, \"experiments\": [{\"name\": "
                    "\"a\", \"profile\": \"text\", \"encodings\": [\"rope\"]}]}",
         "config.model.width"},
        {HEAD "\"tasks\": {\"sort\": {}}, \"experiments\": []}",
         "is unknown: one of distance|count"},
        {"{\"name\": \"x\", \"about\": \"y\", \"seeds\": [-1], " TASKS
         "\"experiments\": [{\"name\": \"a\", \"profile\": \"text\", \"encodings\": [\"rope\"]}]}",
         "is negative"},
    };
    char *folder = new_folder();
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        refuse(folder, presets[i][0], presets[i][1]);
    szg_reproduction *toys;
    const char *bad[] = {"loop.epochs"}, *unknown[] = {"loop.epoch=3"};
    ck_szg_fails(SZG_EINVAL, "key=value", open_preset(test_context(), folder, toy, bad, 1, &toys));
    ck_szg_fails(SZG_EINVAL, "did you mean",
                 open_preset(test_context(), folder, toy, unknown, 1, &toys));
    remove_tree(folder);
}
END_TEST

/* 2 tasks times `seeds` runs of an encoding that is none; free. */
static char *long_preset(int seeds) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs(HEAD "\"tasks\": {\"distance\": {}, \"count\": {}}, \"experiments\": [{\"name\": \"a\", "
               "\"profile\": \"text\", \"encodings\": [\"roap\"], \"seeds\": [",
          stream);
    for (int seed = 0; seed < seeds; seed++)
        fprintf(stream, "%s%d", seed ? "," : "", seed);
    fputs("]}]}", stream);
    fclose(stream);
    return text;
}

/* Runs are counted before the first of them is read, which would find its encoding wrong. */
START_TEST(too_many_runs_are_refused_first) {
    char *folder = new_folder(), *most = long_preset(5000), *more = long_preset(5001);
    refuse(folder, most, "experiment a, distance, roap");
    refuse(folder, more, "more than 10000 runs");
    free(most);
    free(more);
    remove_tree(folder);
}
END_TEST

TEST_FILE("reproduce") {
    test_add(suite, "too many runs", too_many_runs_are_refused_first);
    test_add(suite, "captured", captured_logits_are_joined);
    test_add(suite, "runs", runs_follow_from_the_preset);
    test_add(suite, "methods", methods_are_those_of_the_encoding);
    test_add(suite, "full preset", the_full_preset_has_the_loops_of_the_scripts);
    test_add(suite, "every preset", every_preset_is_read);
    test_add(suite, "shared runs", the_two_mechanism_presets_share_their_runs);
    test_add(suite, "needs", needs_are_operations_times_tokens);
    test_add(suite, "longer tests", needs_know_of_longer_test_sequences);
    test_add(suite, "hostile presets", hostile_presets_are_refused);
    test_add(suite, "allocations", failed_allocations_are_survived);
    test_add(suite, "missing", missing_runs_are_listed);
    test_add(suite, "killing", killing_changes_nothing);
    test_add(suite, "tables", tables_say_what_the_folders_hold);
    test_add(suite, "cancelling", cancelling_changes_nothing);
}

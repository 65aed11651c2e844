/* Numbers by step, on folders whose ablations, gradients and ratios are written by the test: a
 * whole run of four steps a seed, and the same stopped after two. */
#include <inttypes.h>
#include <math.h>

#include "toy.h"

#define SETTINGS                                                                                   \
    "\"config\": {\"model\": {\"vocabulary\": 20, \"width\": 8, \"hidden\": 8, \"layers\": 2,"     \
    " \"heads\": 2, \"max_length\": 16}, \"loop\": {\"batch\": 16, \"epochs\": 2},"                \
    " \"capture\": {\"every\": 1}},\n"                                                             \
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 40, \"between_max\": 4,"                 \
    " \"side_max\": 2, \"longest\": 10}}},\n"
#define EXPERIMENT(name, rest)                                                                     \
    "{\"name\": \"" name "\", \"profile\": \"text\", \"encodings\": [\"rope\"]" rest "}"
#define ABLATED ", \"ablation\": true"
#define STOPPED                                                                                    \
    ", \"config\": {\"loop\": {\"limit_steps\": 2}, \"capture\": {\"every\": 2}}" ABLATED
#define TRIALS(seeds, more, courses)                                                               \
    "{\"name\": \"trials\", \"about\": \"\", \"seeds\": [" seeds "],\n " SETTINGS                  \
    " \"experiments\": [" EXPERIMENT("w", ABLATED) ", " EXPERIMENT("h", STOPPED) more              \
        "],\n \"by_step\": [" courses "]}"
#define ARM(name) "{\"experiment\": \"" name "\", \"encoding\": \"rope\"}"
#define COURSE(stopped) "{\"arm\": " ARM("w") ", \"stopped\": [" stopped "]}"

static const char trials[] = TRIALS("1, 2, 3", "", COURSE(ARM("h")));
enum { SEEDS = 3, LAYERS = 2, HEADS = 2, WHOLE = 0, HALF = 1, WHOLE_AT = 90 };
static const char names[] = "wh";

/* ---- What the runs hold ---- */

/* In percent. Layer 0: head 1 wins in whole runs of seeds 1 and 3, head 0 in that of seed 2; the
 * stopped run of seed 2 loses too little for an index. Layer 1: no head wins with seed 3. */
static int drop_of(int which, int seed, int layer, int head) {
    if (layer == 1)
        return seed == 3 && which == WHOLE ? -head : head == 0 ? 20 + 3 * seed : 7;
    if (which == WHOLE)
        return head == seed % 2 ? 30 + seed : 10;
    return seed == 2 ? 2 + head : 20 * (head + 1) + seed;
}

static double gradient_of(int seed, int64_t step, int layer, int head) {
    return 1 + head * (1 + seed * .25) + layer * .5 + (double)step * (head ? 1 : .125 * seed);
}

/* Binary logarithm of the ratio: the heads' lie on both sides of their mean. */
static double log_ratio(int seed, int64_t step, int layer, int head) {
    return -.25 * seed + .125 * (double)step + layer + (head ? 2 : -2);
}

static void name_run(int which, int seed, char out[64]) {
    snprintf(out, 64, "%c/distance/rope/run-%d", names[which], seed);
}

static void write_drops(const char *folder, int which, int seed) {
    char run[64], *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs("run,encoding,task,seed,layer,head,accuracy,drop,label_ceiling,method,note\n", stream);
    for (int layer = 0; layer < LAYERS; layer++)
        for (int head = 0; head <= HEADS; head++) {
            int percent = WHOLE_AT - (head < HEADS ? drop_of(which, seed, layer, head) : 50);
            fprintf(stream, "r,e,distance,%d,%d,", seed, layer);
            if (head < HEADS)
                fprintf(stream, "%d", head);
            fprintf(stream, ",%.2f,0,,output,\n", percent / 100.0);
        }
    fclose(stream);
    name_run(which, seed, run);
    write_run_text(folder, run, "ablation.csv", text);
    write_number(folder, run, "whole", WHOLE_AT / 100.0);
    free(text);
}

/* A table with the columns that training wrote for the run, and no row. */
static szg_table *new_captured(const char *folder, const char *run) {
    char path[512];
    szg_train_tables logs;
    szg_table *out;
    szg_column columns[128];
    snprintf(path, sizeof path, "%s/runs/%s", folder, run);
    ck_szg_ok(szg_train_tables_read(test_context(), path, &logs));
    int64_t count = szg_table_columns(logs.contraction);
    ck_assert_int_lt(count, 128);
    for (int64_t i = 0; i < count; i++)
        columns[i] = *szg_table_column(logs.contraction, i);
    ck_szg_ok(szg_table_open(test_context(), "contraction", columns, count, &out));
    szg_train_tables_close(&logs);
    return out;
}

static void add_row(szg_table *to, int64_t step, int64_t layer, int64_t head, const char *probe,
                    double norm, double ratio) {
    ck_szg_ok(szg_table_add_row(test_context(), to));
    ck_szg_ok(szg_table_set_integer(test_context(), to, "step", step));
    ck_szg_ok(szg_table_set_integer(test_context(), to, "layer", layer));
    ck_szg_ok(szg_table_set_integer(test_context(), to, "head", head));
    ck_szg_ok(szg_table_set_text(test_context(), to, "probe", probe));
    ck_szg_ok(szg_table_set_real(test_context(), to, "grad_norm_qk", norm));
    ck_szg_ok(szg_table_set_real(test_context(), to, "width_ratio", ratio));
}

/* Two probes a head, whose ratios differ by opposite amounts. */
static void add_step(szg_table *to, int seed, int64_t step, double factor) {
    for (int layer = 0; layer < LAYERS; layer++)
        for (int head = 0; head < HEADS; head++)
            for (int probe = 0; probe < 2; probe++)
                add_row(to, step, layer, head, probe ? "1" : "0",
                        gradient_of(seed, step, layer, head) * (head ? factor : 1),
                        factor * exp2(log_ratio(seed, step, layer, head) + (probe ? 1 : -1)));
}

static void write_table(const char *folder, const char *run, szg_table *table) {
    char path[512];
    snprintf(path, sizeof path, "%s/runs/%s/contraction.csv", folder, run);
    ck_szg_ok(szgi_csv_write(test_context(), table, path));
    szg_table_close(&table);
}

/* Whole runs captured steps 0 and 3, stopped ones 0 and 1. Both have step 0: the stopped run's says
 * something else here, and is not heard. */
static void write_captured(const char *folder, int which, int seed) {
    char run[64];
    name_run(which, seed, run);
    szg_table *table = new_captured(folder, run);
    add_step(table, seed, 0, which == WHOLE ? 1 : 5);
    add_step(table, seed, which == WHOLE ? 3 : 1, 1);
    write_table(folder, run, table);
}

static char *new_trials(const char *preset, int seeds) {
    char *folder = new_folder();
    train_whole(folder, preset);
    for (int which = WHOLE; which <= HALF; which++)
        for (int seed = 1; seed <= seeds; seed++) {
            write_drops(folder, which, seed);
            write_captured(folder, which, seed);
        }
    return folder;
}

static void remove_run(const char *folder, int which, int seed) {
    char run[64], path[512];
    name_run(which, seed, run);
    snprintf(path, sizeof path, "%s/runs/%s/finished.json", folder, run);
    ck_assert_int_eq(remove(path), 0);
}

/* ---- What they come to ---- */

typedef enum measure { INDEX, SHARE, RATIO, MEASURES } measure;
static const char *const measures[MEASURES] = {"index", "gradient_share", "contraction"};
static const int64_t ends[] = {2, 4}, captured[] = {0, 1, 3};

/* NaN: the seed lacks it. */
static double number_of(measure which, int seed, int layer, int64_t step) {
    int run = step == 4 ? WHOLE : HALF;
    if (which == INDEX) {
        double a = fmax(0, drop_of(run, seed, layer, 0)), b = fmax(0, drop_of(run, seed, layer, 1));
        return a + b > 5 ? fmax(a, b) / (a + b) : NAN;
    }
    if (which == RATIO)
        return exp2(-.25 * seed + .125 * (double)step + layer);
    if (layer == 1 && seed == 3)
        return NAN;
    int winner = layer == 1 ? 0 : seed % 2;
    return gradient_of(seed, step, layer, winner) /
           (gradient_of(seed, step, layer, 0) + gradient_of(seed, step, layer, 1));
}

/* Accuracies, norms and ratios are off by a few roundings each; what they come to is below 10. */
#define ROUNDED (640 * 0x1p-53)

static void check_number(const szg_table *table, int64_t row, const char *name, double want) {
    if (isnan(want))
        ck_assert(szg_table_is_empty(table, row, column(table, name)));
    else
        ck_close(real_at(table, row, name), want, ROUNDED);
}

/* The row of these seeds (a bit each); `of`: seeds of the arm. */
static void check_row(const szg_table *table, int64_t row, measure which, int layer, int64_t step,
                      unsigned seeds, int of) {
    static const double quantile[] = {NAN, NAN, 12.706204736174698, 4.302652729749464};
    double sum = 0, squares = 0, count = 0, failed = 0, seen = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        double own = number_of(which, seed, layer, step);
        if (!(seeds >> seed & 1))
            continue;
        seen++;
        failed += isnan(own);
        count += !isnan(own);
        sum += isnan(own) ? 0 : own;
        squares += isnan(own) ? 0 : own * own;
    }
    double mean = sum / count, spread = sqrt((squares - count * mean * mean) / (count - 1)),
           reach = quantile[(int)count] * spread / sqrt(count);
    ck_assert_str_eq(text_at(table, row, "arm"), "w/rope");
    ck_assert_str_eq(text_at(table, row, "task"), "distance");
    ck_assert_str_eq(text_at(table, row, "measure"), measures[which]);
    ck_assert(real_at(table, row, "layer") == layer && real_at(table, row, "step") == (double)step);
    ck_assert(real_at(table, row, "seeds") == count && real_at(table, row, "failed") == failed);
    ck_assert(real_at(table, row, "missing") == of - seen);
    check_number(table, row, "mean", mean);
    /* The sum of squares loses digits: spreads here are above 0.01 of means below 10. */
    if (isnan(reach)) {
        check_number(table, row, "t_low", NAN);
        check_number(table, row, "t_high", NAN);
    } else {
        ck_close(real_at(table, row, "t_low"), mean - reach, 1e-9);
        ck_close(real_at(table, row, "t_high"), mean + reach, 1e-9);
    }
    /* Of two shares the larger one is 3/4 on average. */
    check_number(table, row, "reference", which == INDEX ? .75 : which == SHARE ? .5 : 1);
}

/* Seeds by measure and place of the step; 0: there is no such row. */
typedef unsigned seeds_of(measure which, int64_t step);

static void check_table(const szg_table *table, seeds_of *seeds, int of) {
    int64_t row = 0;
    ck_assert_ptr_nonnull(table);
    for (measure which = INDEX; which < MEASURES; which++)
        for (int layer = 0; layer < LAYERS; layer++)
            for (int i = 0; i < (which == INDEX ? 2 : 3); i++) {
                int64_t step = which == INDEX ? ends[i] : captured[i];
                if (seeds(which, step))
                    check_row(table, row++, which, layer, step, seeds(which, step), of);
            }
    ck_assert_int_eq(szg_table_rows(table), row);
}

static void check_trials(const char *folder, const char *preset, seeds_of *seeds, int of) {
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    open_tables(folder, preset, &runs, &tables);
    check_table(tables.by_step, seeds, of);
    close_tables(&runs, &tables);
}

static unsigned all_seeds(measure which, int64_t step) {
    (void)which, (void)step;
    return 1 << 1 | 1 << 2 | 1 << 3;
}

START_TEST(means_have_intervals) {
    char *folder = new_trials(trials, SEEDS);
    check_trials(folder, trials, all_seeds, SEEDS);
    remove_tree(folder);
}
END_TEST

/* The stopped run of seed 1 is not finished, nor is the whole one of seed 2: which head wins there
 * is not known, and its stopped run alone has step 0, with numbers of its own. */
static unsigned some_seeds(measure which, int64_t step) {
    unsigned whole = 1 << 1 | 1 << 3, half = 1 << 2 | 1 << 3;
    if (which == INDEX)
        return step == 4 ? whole : half;
    if (which == SHARE)
        return step == 1 ? half & whole : whole;
    return step == 0 ? whole | half : step == 1 ? half : whole;
}

START_TEST(runs_that_are_not_there_are_missing) {
    char *folder = new_trials(trials, SEEDS), run[64];
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    name_run(HALF, 2, run);
    szg_table *table = new_captured(folder, run);
    add_step(table, 2, 0, 1);
    add_step(table, 2, 1, 1);
    write_table(folder, run, table);
    remove_run(folder, HALF, 1);
    remove_run(folder, WHOLE, 2);
    check_trials(folder, trials, some_seeds, SEEDS);
    for (int seed = 1; seed <= SEEDS; seed++) {
        if (seed != 2)
            remove_run(folder, WHOLE, seed);
        if (seed != 1)
            remove_run(folder, HALF, seed);
    }
    open_tables(folder, trials, &runs, &tables);
    ck_assert_int_eq(szg_table_rows(tables.by_step), 0);
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

/* One seed has no interval; and a preset that does not ask has no table. */
static unsigned one_seed(measure which, int64_t step) {
    (void)which, (void)step;
    return 1 << 1;
}

START_TEST(one_seed_has_no_interval) {
    static const char one[] = TRIALS("1", "", COURSE(ARM("h")));
    char *folder = new_trials(one, 1), *none = new_folder();
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    check_trials(folder, one, one_seed, 1);
    open_tables(none, toy, &runs, &tables);
    ck_assert_ptr_null(tables.by_step);
    close_tables(&runs, &tables);
    remove_tree(none);
    remove_tree(folder);
}
END_TEST

/* Another program's file: steps and layers that no run has, steps in disorder, a head that is not
 * there and a ratio that is none. */
START_TEST(hostile_captures_are_survived) {
    static const char one[] = TRIALS("1", "", COURSE(""));
    char *folder = new_trials(one, 1), run[64];
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    name_run(WHOLE, 1, run);
    szg_table *table = new_captured(folder, run);
    add_row(table, 0, LAYERS, 0, "0", 1, 1);
    add_row(table, 0, -1, 0, "0", 1, 1);
    add_row(table, -1, 0, 0, "0", 1, 1);
    add_row(table, INT64_MAX, 0, 0, "0", 1, 1);
    add_row(table, 2, 0, 0, "0", 1, 2);
    add_row(table, 1, 0, 0, "0", 1, NAN);
    add_row(table, 2, 0, 1, "0", 3, 8);
    write_table(folder, run, table);
    open_tables(folder, one, &runs, &tables);
    const szg_table *of = tables.by_step;
    /* An index a layer; layer 0 at steps 1, 2 and INT64_MAX. */
    static const double ratio[] = {NAN, 4, 1};
    ck_assert_int_eq(szg_table_rows(of), LAYERS + 2 * 3);
    for (int64_t i = 0; i < 3; i++) {
        ck_assert(real_at(of, LAYERS + i, "failed") == (i != 1)); /* others lack a head */
        check_number(of, LAYERS + i, "mean", i == 1 ? .75 : NAN);
        ck_assert(real_at(of, LAYERS + 3 + i, "failed") == (i == 0));
        check_number(of, LAYERS + 3 + i, "mean", ratio[i]);
    }
    ck_assert(szg_table_get_integer(of, LAYERS + 5, column(of, "step")) == INT64_MAX);
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

/* A ratio that no run can have is refused, and not counted as a seed without one. */
START_TEST(impossible_ratios_are_refused) {
    static const char one[] = TRIALS("1", "", COURSE(""));
    char *folder = new_trials(one, 1), run[64];
    szg_reproduction *runs;
    name_run(WHOLE, 1, run);
    szg_table *table = new_captured(folder, run);
    add_row(table, 1, 0, 0, "0", 1, 2);
    add_row(table, 2, 0, 0, "0", 1, -1);
    write_table(folder, run, table);
    ck_szg_fails(SZG_EDATA, "contraction.csv: row 2: width_ratio is below 0",
                 open_preset(test_context(), folder, one, NULL, 0, &runs));
    remove_tree(folder);
}
END_TEST

/* ---- Presets ---- */

START_TEST(bad_courses_are_refused) {
#define OTHER(rest) ", " EXPERIMENT("o", rest)
#define ASK(more, course) TRIALS("1", more, course)
    static const char *const bad[][2] = {
        {ASK("", ""), "by_step: has 0 elements"},
        {ASK("", "3"), "by_step[0]"},
        {ASK("", "{}"), "by_step[0].arm"},
        {ASK("", "{\"arm\": " ARM("w") ", \"stopped\": 1}"), "by_step[0].stopped"},
        {ASK("", "{\"arm\": " ARM("w") ", \"halted\": []}"), "halted: is unknown"},
        {ASK("", "{\"arm\": " ARM("w") ", \"task\": \"count\"}"),
         "the preset has no run of experiment w, encoding rope, task count"},
        {ASK("", COURSE(ARM("x"))),
         "stopped[0]: the preset has no run of experiment x, encoding rope, task distance"},
        {ASK(OTHER(""), COURSE(ARM("h") ", " ARM("o"))),
         "stopped[1]: heads of experiment o are not ablated by output"},
        {ASK(OTHER(", \"config\": {\"model\": {\"dropout\": 0.5}}" ABLATED), COURSE(ARM("o"))),
         "stopped[0]: is not the arm stopped early: model.dropout differs"},
        {ASK(OTHER(", \"seeds\": [1, 7]" ABLATED), COURSE(ARM("o"))),
         "stopped[0]: has the seed 7, and the arm that is not stopped lacks it"},
        {ASK(OTHER(", \"config\": {\"intervention\": {\"kind\": \"rotation\"}}, \"head\": "
                   "{\"of\": "
                   "\"w\", \"encoding\": \"rope\", \"layer\": 0, \"which\": "
                   "\"winner\"}" ABLATED) ", " EXPERIMENT("p", ", \"config\": {\"intervention\": "
                                                               "{\"kind\": \"rotation\"}}, "
                                                               "\"head\": {\"of\": \"w\", "
                                                               "\"encoding\": \"rope\", "
                                                               "\"layer\": 0, \"which\": "
                                                               "\"other\"}" ABLATED),
             "{\"arm\": " ARM("o") ", \"stopped\": [" ARM("p") "]}"),
         "stopped[0]: is not the arm stopped early: head differs"},
    };
    presets_are_refused(sizeof bad / sizeof *bad, bad);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    static const char one[] = TRIALS("1", "", COURSE(ARM("h")));
    char *folder = new_trials(one, 1), path[256];
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    write_preset(folder, one, path);
    szg_reproduction_options options = {SZG_INIT(szg_reproduction_options), .preset = path,
                                        .folder = folder};
    ck_survives_failed_allocations(50, szg_reproduction_open(test_context(), &options, &runs));
    ck_survives_failed_allocations(100,
                                   szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
    check_table(tables.by_step, one_seed, 1);
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

TEST_FILE("by_step") {
    test_add(suite, "means", means_have_intervals);
    test_add(suite, "missing runs", runs_that_are_not_there_are_missing);
    test_add(suite, "one seed", one_seed_has_no_interval);
    test_add(suite, "hostile captures", hostile_captures_are_survived);
    test_add(suite, "impossible ratios", impossible_ratios_are_refused);
    test_add(suite, "bad presets", bad_courses_are_refused);
    test_add(suite, "failed allocations", failed_allocations_are_survived);
}

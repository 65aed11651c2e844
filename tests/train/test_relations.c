/* What a preset's relations come to, on folders whose ratios, accuracies and curvatures are written
 * by the test. tests/base/test_correlation.c has the correlations themselves. */
#include <math.h>

#include "../../train/reproduce/hypotheses.h"
#include "base/correlation.h"
#include "base/inference.h"
#include "toy.h"

#define SETTINGS                                                                                   \
    "\"config\": {\"model\": {\"vocabulary\": 20, \"width\": 8, \"hidden\": 8, \"layers\": 2,"     \
    " \"heads\": 2, \"max_length\": 16}, \"loop\": {\"batch\": 16, \"epochs\": 1},"                \
    " \"capture\": {\"every\": 1}, \"curvature\": {\"every\": 1, \"examples\": 4}},\n"             \
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 40, \"between_max\": 4,"                 \
    " \"side_max\": 2, \"longest\": 10}}},\n"
#define ARM(encoding) "{\"experiment\": \"e\", \"encoding\": \"" encoding "\"}"
#define TRIALS(seeds, relations)                                                                   \
    "{\"name\": \"trials\", \"about\": \"\", \"seeds\": [" seeds "], \"early_steps\": 2,\n"        \
    " " SETTINGS " \"experiments\": [{\"name\": \"e\", \"profile\": \"text\", \"encodings\": "     \
    "[\"rope\", \"nope\", \"alibi\", \"absolute\"]}],\n \"relations\": [" relations "]}"
#define ASK(name, x, y, rest)                                                                      \
    "{\"name\": \"" name "\", \"text\": \"text of " name "\", \"x\": {\"measure\": " x             \
    "}, \"y\": {\"measure\": " y "}" rest "}"
#define ARMS(arms) ", \"arms\": [" arms "]"

#define RELATIONS                                                                                  \
    ASK("start", "\"contraction\", \"step\": 0", "\"accuracy\"", "")                               \
    ", " ASK("layer", "\"contraction\", \"layer\": 1, \"step\": 1", "\"curvature\", \"step\": 1",  \
             ARMS(ARM("rope") ", " ARM("nope"))) ", " ASK("early", "\"contraction\"",              \
                                                          "\"curvature\"",                         \
                                                          "") ", " ASK("units", "\"accuracy\"",    \
                                                                       "\"curvature_adamw\"", "")

static const char trials[] = TRIALS("1, 2, 3, 4, 5", RELATIONS), few[] = TRIALS("1", RELATIONS);
enum { START, LAYER, EARLY, UNITS, WAYS };
enum { SEEDS = 5, ENCODINGS = 4, LAYERS = 2, HEADS = 2, STEPS = 2 };
static const char *const encodings[ENCODINGS] = {"rope", "nope", "alibi", "absolute"};
static const char *const names[WAYS] = {"start", "layer", "early", "units"};

/* ---- What the runs hold ---- */

/* Binary logarithm of a ratio. Heads and, at step 0, layers differ by opposite amounts. */
static double log_ratio(int encoding, int seed, int step, int layer, int head) {
    static const double base[ENCODINGS] = {-.5, 0, 3, .25};
    return base[encoding] + .1 * (seed * seed % 5) + (head ? 2 : -2) +
           (layer ? 1 : -1) * (step ? .75 : 1) * (1 + encoding);
}

static double accuracy_of(int encoding, int seed) {
    static const double base[ENCODINGS] = {.75, .2, .5, .7};
    return base[encoding] + .01 * (seed * 3 % 5);
}

/* alibi's file has no row; absolute's first step is not resolved, nor is nope's last in the units
 * of AdamW, of which there are none at step 0. */
static double curvature_of(int encoding, int seed, int step, bool adamw) {
    if (encoding == 2 || (adamw ? step == 0 || encoding == 1 : step == 0 && encoding == 3))
        return NAN;
    return (adamw ? -1 : 10) + encoding + .5 * seed * (step ? 1 : 2);
}

static double x_of(int which, int encoding, int seed) {
    double sum = 0, count = 0;
    if (which == UNITS)
        return accuracy_of(encoding, seed);
    for (int step = 0; step < STEPS; step++)
        for (int layer = 0; layer < LAYERS; layer++)
            for (int head = 0; head < HEADS; head++)
                if (which == EARLY || (which == START ? step == 0 : step == 1 && layer == 1)) {
                    sum += log_ratio(encoding, seed, step, layer, head);
                    count++;
                }
    return exp2(sum / count);
}

static double y_of(int which, int encoding, int seed) {
    return which == START   ? accuracy_of(encoding, seed)
           : which == LAYER ? curvature_of(encoding, seed, 1, false)
           : which == UNITS
               ? curvature_of(encoding, seed, 1, true)
               : (curvature_of(encoding, seed, 0, false) + curvature_of(encoding, seed, 1, false)) /
                     2;
}

/* The ratio of each row, in the order of steps, layers and heads; `without`: a row that has none.
 */
static void write_ratios(const char *folder, const char *run, int encoding, int seed, int without) {
    char name[160], *text, *out;
    size_t size;
    snprintf(name, sizeof name, "runs/%s/contraction.csv", run);
    ck_assert_ptr_nonnull(text = file_bytes(folder, name, &size));
    FILE *stream = open_memstream(&out, &size);
    const char *kind = encoding == 3 ? ",zeroed," : ",same_qk,", *at = text, *next;
    for (int row = 0; (next = strstr(at, kind)); row++) {
        next += strlen(kind);
        next += strcspn(next, ",") + 1; /* pairing */
        fprintf(stream, "%.*s", (int)(next - at), at);
        if (row != without)
            fprintf(stream, "%.17g",
                    exp2(log_ratio(encoding, seed, row / (LAYERS * HEADS), row / HEADS % LAYERS,
                                   row % HEADS)));
        at = next + strcspn(next, ",");
        ck_assert_int_lt(row, STEPS * LAYERS * HEADS);
    }
    fputs(at, stream);
    fclose(stream);
    write_run_text(folder, run, "contraction.csv", out);
    free(out);
    free(text);
}

#define CURVATURE                                                                                  \
    "run,encoding,task,seed,step,hessian_max,hessian_agreement,hessian_residual,adamw_max,"        \
    "adamw_agreement,adamw_residual,products,note\n"

static void print_number(FILE *stream, double value) {
    if (isfinite(value))
        fprintf(stream, "%.17g", value);
}

static void write_curvature(const char *folder, const char *run, int encoding, int seed) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs(CURVATURE, stream);
    for (int step = 0; step < STEPS && encoding != 2; step++) {
        fprintf(stream, "r,e,distance,%d,%d,", seed, step);
        print_number(stream, curvature_of(encoding, seed, step, false));
        fputs(",0,0,", stream);
        print_number(stream, curvature_of(encoding, seed, step, true));
        fputs(",0,0,40,\n", stream);
    }
    fclose(stream);
    write_run_text(folder, run, "curvature.csv", text);
    free(text);
}

static void name_run(int encoding, int seed, char out[128]) {
    snprintf(out, 128, "e/distance/%s/run-%d", encodings[encoding], seed);
}

static void write_run(const char *folder, int encoding, int seed) {
    char run[128];
    name_run(encoding, seed, run);
    write_ratios(folder, run, encoding, seed, -1);
    write_curvature(folder, run, encoding, seed);
    write_number(folder, run, "test_accuracy", accuracy_of(encoding, seed));
}

static char *new_trials(const char *preset, int seeds) {
    char *folder = new_folder();
    train_whole(folder, preset);
    for (int encoding = 0; encoding < ENCODINGS; encoding++)
        for (int seed = 1; seed <= seeds; seed++)
            write_run(folder, encoding, seed);
    return folder;
}

/* ---- What the tables say ---- */

/* Ratios are read from 17 digits; exp and log of numbers below 20 are off by a few roundings of
 * their logarithms, below 10, and of the result. */
#define ROUNDED (64 * 0x1p-53)

static int arms_of(int which) {
    return which == LAYER ? 2 : ENCODINGS;
}

static void check_place(const szg_table *table, int64_t row, const char *name, int64_t want) {
    if (want < 0)
        ck_assert(szg_table_is_empty(table, row, column(table, name)));
    else
        ck_assert(real_at(table, row, name) == (double)want);
}

static void check_head(const szg_table *table, int64_t row, int which) {
    static const char *const y[WAYS] = {"accuracy", "curvature", "curvature", "curvature_adamw"};
    ck_assert_str_eq(text_at(table, row, "relation"), names[which]);
    ck_assert_str_eq(text_at(table, row, "x"), which == UNITS ? "accuracy" : "contraction");
    ck_assert_str_eq(text_at(table, row, "y"), y[which]);
    check_place(table, row, "x_layer", which == LAYER ? 1 : -1);
    check_place(table, row, "x_step", which == EARLY || which == UNITS ? -1 : which == LAYER);
    check_place(table, row, "y_layer", -1);
    check_place(table, row, "y_step", which == LAYER ? 1 : -1);
}

static void check_number(const szg_table *table, int64_t row, const char *name, double want) {
    if (isnan(want))
        ck_assert(szg_table_is_empty(table, row, column(table, name)));
    else
        ck_close(real_at(table, row, name), want, ROUNDED * fmax(1, fabs(want)));
}

START_TEST(runs_have_their_numbers) {
    char *folder = new_trials(trials, SEEDS), arm[32];
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    open_tables(folder, trials, &runs, &tables);
    const szg_table *of = tables.relation_runs;
    int64_t row = 0;
    for (int which = 0; which < WAYS; which++)
        for (int encoding = 0; encoding < arms_of(which); encoding++)
            for (int seed = 1; seed <= SEEDS; seed++, row++) {
                double y = y_of(which, encoding, seed);
                check_head(of, row, which);
                snprintf(arm, sizeof arm, "e/%s", encodings[encoding]);
                ck_assert_str_eq(text_at(of, row, "arm"), arm);
                ck_assert(real_at(of, row, "seed") == seed);
                check_number(of, row, "x_value", x_of(which, encoding, seed));
                check_number(of, row, "y_value", y);
                ck_assert_int_eq(isnan(y), text_at(of, row, "note") != NULL);
                if (isnan(y))
                    ck_assert_str_eq(text_at(of, row, "note"), "the run lacks a number");
            }
    ck_assert_int_eq(szg_table_rows(of), row);
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

START_TEST(arms_have_means) {
    char *folder = new_trials(trials, SEEDS);
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    open_tables(folder, trials, &runs, &tables);
    const szg_table *of = tables.relation_arms;
    int64_t row = 0;
    for (int which = 0; which < WAYS; which++)
        for (int encoding = 0; encoding < arms_of(which); encoding++, row++) {
            double x[SEEDS], y[SEEDS];
            for (int seed = 1; seed <= SEEDS; seed++) {
                x[seed - 1] = x_of(which, encoding, seed);
                y[seed - 1] = y_of(which, encoding, seed);
            }
            int64_t count = isnan(y[0]) ? 0 : SEEDS;
            szgi_mean_interval mean_x = szgi_mean_interval_of(count, x),
                               mean_y = szgi_mean_interval_of(count, y);
            check_head(of, row, which);
            ck_assert(real_at(of, row, "runs") == (double)count);
            check_number(of, row, "x_mean", mean_x.mean);
            check_number(of, row, "x_lo", mean_x.low);
            check_number(of, row, "x_hi", mean_x.high);
            check_number(of, row, "y_mean", mean_y.mean);
            check_number(of, row, "y_lo", mean_y.low);
            check_number(of, row, "y_hi", mean_y.high);
        }
    ck_assert_int_eq(szg_table_rows(of), row);
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

/* The rows of a relation, from the numbers of its runs; `skip`: an encoding and a seed that are not
 * there. */
static void check_relation(const szg_table *of, int which, int skip_encoding, int skip_seed) {
    szgi_grouped run[ENCODINGS * SEEDS];
    double x[ENCODINGS], y[ENCODINGS];
    int64_t count = 0, means = 0, row = 2 * which;
    for (int encoding = 0; encoding < arms_of(which); encoding++) {
        double sum_x = 0, sum_y = 0;
        int64_t first = count;
        for (int seed = 1; seed <= SEEDS; seed++) {
            szgi_grouped own = {x_of(which, encoding, seed), y_of(which, encoding, seed), encoding,
                                (uint64_t)seed};
            if (isnan(own.y) || (encoding == skip_encoding && seed == skip_seed))
                continue;
            run[count++] = own;
            sum_x += own.x;
            sum_y += own.y;
        }
        if (count == first)
            continue;
        x[means] = sum_x / (double)(count - first);
        y[means++] = sum_y / (double)(count - first);
    }
    szgi_correlation between;
    szgi_pooled within;
    ck_szg_ok(szgi_spearman_interval(test_context(), means, x, y, &between));
    ck_szg_ok(szgi_pool_groups(test_context(), count, run, &within));
    ck_assert_str_eq(text_at(of, row, "kind"), "between");
    ck_assert_str_eq(text_at(of, row, "method"), "spearman");
    ck_assert_str_eq(text_at(of, row + 1, "kind"), "within");
    ck_assert_str_eq(text_at(of, row + 1, "method"), "pearson");
    const szgi_correlation *both[] = {&between, &within.correlation};
    for (int k = 0; k < 2; k++) {
        char text[32];
        snprintf(text, sizeof text, "text of %s", names[which]);
        check_head(of, row + k, which);
        ck_assert_str_eq(text_at(of, row + k, "statement"), text);
        ck_assert(real_at(of, row + k, "n") == (double)(k ? count - means : means));
        ck_assert(real_at(of, row + k, "arms") == (double)means);
        ck_assert(real_at(of, row + k, "runs") == (double)count);
        check_place(of, row + k, "seeds", k ? within.blocks : -1);
        /* What the deviations lose is amplified by z: up to 100-fold at correlations below .99. */
        const double want[] = {both[k]->value, both[k]->low, both[k]->high};
        static const char *const columns[] = {"correlation", "lo", "hi"};
        for (int c = 0; c < 3; c++)
            if (isnan(want[c]))
                ck_assert(szg_table_is_empty(of, row + k, column(of, columns[c])));
            else
                ck_close(real_at(of, row + k, columns[c]), want[c], 100 * ROUNDED);
    }
}

START_TEST(relations_are_of_arms_and_of_runs) {
    char *folder = new_trials(trials, SEEDS);
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    open_tables(folder, trials, &runs, &tables);
    const szg_table *of = tables.relations;
    ck_assert_int_eq(szg_table_rows(of), 2 * WAYS);
    for (int which = 0; which < WAYS; which++) {
        check_relation(of, which, -1, -1);
        /* alibi, and absolute or nope */
        int failed = which == EARLY || which == UNITS ? 2 * SEEDS : 0;
        for (int k = 0; k < 2; k++)
            ck_assert(real_at(of, 2 * which + k, "failed") == failed &&
                      real_at(of, 2 * which + k, "missing") == 0);
    }
    ck_assert(isfinite(real_at(of, 2 * START, "lo")));              /* four arms */
    ck_assert(isfinite(real_at(of, 2 * START + 1, "lo")));          /* five seeds */
    ck_assert(szg_table_is_empty(of, 2 * LAYER, column(of, "lo"))); /* two */
    ck_assert(!tables.hypotheses && !tables.arms);
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

/* A row without a ratio takes its run away, and so does a run that is not finished. */
START_TEST(what_is_not_there_is_counted) {
    char *folder = new_trials(trials, SEEDS), run[128], path[512];
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    name_run(2, 3, run);
    write_ratios(folder, run, 2, 3, 1);
    open_tables(folder, trials, &runs, &tables);
    check_relation(tables.relations, START, 2, 3);
    ck_assert(real_at(tables.relations, START, "failed") == 1);
    close_tables(&runs, &tables);
    write_ratios(folder, run, 2, 3, LAYERS * HEADS); /* of step 1 */
    name_run(0, 1, run);
    write_run_text(folder, run, "curvature.csv", CURVATURE "r,e,distance,1,1,inf,0,0,2,0,0,4,\n");
    name_run(3, 5, run);
    snprintf(path, sizeof path, "%s/runs/%s/finished.json", folder, run);
    ck_assert_int_eq(remove(path), 0);
    open_tables(folder, trials, &runs, &tables);
    check_relation(tables.relations, START, 3, 5);
    ck_assert(real_at(tables.relations, START, "failed") == 0);
    ck_assert(real_at(tables.relations, START, "missing") == 1);
    check_relation(tables.relations, LAYER, 0, 1);
    ck_assert(real_at(tables.relations, 2 * LAYER, "failed") == 1);
    ck_assert_str_eq(text_at(tables.relation_runs, ENCODINGS * SEEDS - 1, "note"),
                     "the run is not finished");
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

START_TEST(bad_curvature_is_refused) {
    static const char *const bad[][2] = {
        {"run,encoding,task,seed,step,note\nr,e,distance,1,1,\n", "hessian_max"},
        {CURVATURE "r,e,distance,1,1,x,0,0,2,0,0,4,\n", "curvature.csv"},
    };
    char *folder = new_trials(few, 1), run[128];
    name_run(0, 1, run);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        szg_reproduction *runs;
        szg_reproduction_tables tables;
        write_run_text(folder, run, "curvature.csv", bad[i][0]);
        ck_szg_ok(open_preset(test_context(), folder, few, NULL, 0, &runs));
        ck_szg_fails(SZG_EDATA, bad[i][1],
                     szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
        szg_reproduction_close(&runs);
    }
    remove_tree(folder);
}
END_TEST

/* ---- Presets ---- */

#define MEASURED(config, x, y)                                                                     \
    "{\"name\": \"x\", \"about\": \"\", \"seeds\": [1], \"early_steps\": 3, \"config\": "          \
    "{\"model\": "                                                                                 \
    "{\"heads\": 2, \"layers\": 2}" config "}, \"tasks\": {\"distance\": {}}, \"experiments\": "   \
    "[{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\"]}], \"relations\": [" ASK( \
        "a", x, y, "") "]}"
#define EVERY(part, keys) ", \"" part "\": {" keys "}"

START_TEST(bad_relations_are_refused) {
#define ACCURACY "\"accuracy\""
    static const char *const bad[][2] = {
        {TRIALS("1", ""), "relations: has 0 elements"},
        {TRIALS("1", "3"), "relations[0]"},
        {TRIALS("1", ASK("", ACCURACY, ACCURACY, "")), "relations[0].name: is empty"},
        {TRIALS("1", ASK("a", "\"contractio\"", ACCURACY, "")),
         "relations[0].x.measure: is \"contractio\": did you mean contraction"},
        {TRIALS("1", ASK("a", ACCURACY, "\"accuracy\", \"step\": 0", "")),
         "y.step: accuracy is of a whole run: leave the step out"},
        {TRIALS("1", ASK("a", ACCURACY, "\"curvature\", \"layer\": 0", "")),
         "y.layer: curvature is of a whole run: leave the layer out"},
        {TRIALS("1", ASK("a", "\"contraction\", \"step\": -1", ACCURACY, "")),
         "x.step: is -1, not an integer from 0"},
        {TRIALS("1", ASK("a", "\"contraction\", \"layer\": 2", ACCURACY, "")), "has no layer 2"},
        {TRIALS("1", ASK("a", "\"index\", \"layer\": 0", ACCURACY, "")),
         "heads of experiment e are not ablated by output"},
        {MEASURED("", "\"contraction\"", "\"accuracy\""),
         "runs of experiment e have no contraction: give it capture.every in \"config\""},
        {MEASURED(EVERY("capture", "\"every\": 2"), "\"contraction\", \"step\": 3", ACCURACY),
         "have no contraction at step 3: take a multiple of capture.every, 2, from 0"},
        {MEASURED(EVERY("capture", "\"every\": 2, \"until\": 4"), ACCURACY,
                  "\"contraction\", \"step\": 4"),
         "have no contraction at step 4: raise capture.until, which is 4"},
        {MEASURED(EVERY("capture", "\"every\": 2, \"layers\": \"0\""), ACCURACY,
                  "\"contraction\", \"layer\": 1"),
         "runs of experiment e do not capture layer 1: add it to capture.layers"},
        {MEASURED(EVERY("capture", "\"every\": 2") EVERY("loop", "\"limit_steps\": 6"), ACCURACY,
                  "\"contraction\", \"step\": 6"),
         "have no contraction at step 6: raise loop.limit_steps, which is 6"},
        {MEASURED(EVERY("capture", "\"every\": 2"), ACCURACY, "\"curvature\""),
         "runs of experiment e have no curvature: give it curvature.every in \"config\""},
        {MEASURED(EVERY("curvature", "\"every\": 3"), ACCURACY, "\"curvature\", \"step\": 4"),
         "have no curvature at step 4: take a multiple of curvature.every, 3, from 0"},
        {MEASURED(EVERY("curvature", "\"every\": 3, \"until\": 6"), ACCURACY,
                  "\"curvature_adamw\", \"step\": 9"),
         "have no curvature_adamw at step 9: raise curvature.until, which is 6"},
        {MEASURED(EVERY("curvature", "\"every\": 3"), ACCURACY, "\"curvature_adamw\", \"step\": 0"),
         "have no curvature_adamw at step 0: take a multiple of curvature.every, 3, from 3"},
        {MEASURED(EVERY("curvature", "\"every\": 3"), ACCURACY, "\"curvature_adamw\""),
         "have no curvature_adamw at step 3: raise early_steps, which is 3"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, ARMS(""))), "arms: has no arm"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, ARMS(ARM("t5")))),
         "arms[0]: the preset has no run of experiment e, encoding t5, task distance"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, ARMS(ARM("rope") ", " ARM("rope")))),
         "arms[1]: is there twice"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, "") ", " ASK("a", ACCURACY, ACCURACY, "")),
         "\"a\" is there twice"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, ", \"task\": \"count\"")),
         "the preset has no run of task count"},
        {TRIALS("1", ASK("a", ACCURACY, ACCURACY, ", \"primary\": true")), "primary: is unknown"},
        {TRIALS("1", ASK("a", "\"accuracy\", \"minus\": 1", ACCURACY, "")), "minus: is unknown"},
    };
    presets_are_refused(sizeof bad / sizeof *bad, bad);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    char *folder = new_trials(few, 1), path[256];
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    write_preset(folder, few, path);
    szg_reproduction_options options = {SZG_INIT(szg_reproduction_options), .preset = path,
                                        .folder = folder};
    ck_survives_failed_allocations(50, szg_reproduction_open(test_context(), &options, &runs));
    ck_survives_failed_allocations(100,
                                   szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
    ck_assert_int_eq(szg_table_rows(tables.relations), 2 * WAYS);
    close_tables(&runs, &tables);
    remove_tree(folder);
}
END_TEST

TEST_FILE("relations") {
    test_add(suite, "runs", runs_have_their_numbers);
    test_add(suite, "arms", arms_have_means);
    test_add(suite, "relations", relations_are_of_arms_and_of_runs);
    test_add(suite, "what is not there", what_is_not_there_is_counted);
    test_add(suite, "bad curvature", bad_curvature_is_refused);
    test_add(suite, "bad relations", bad_relations_are_refused);
    test_add(suite, "failed allocations", failed_allocations_are_survived);
}

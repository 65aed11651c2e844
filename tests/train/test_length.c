/* Trained models on longer sequences: which are taken, what changes in them, and presets that ask
 * for it, killed and copied. */
#include <math.h>

#include "../../train/data/longer.h"
#include "../../train/length/length.h"
#include "../../train/run/run_private.h"
#include "toy.h"

enum { ALL = (1u << SZGI_SCALINGS) - 2 };

static const szgi_length_options three = {
    .count = 3, .words = {10, 20, 40}, .scalings = ALL, .examples = 200};

/* ---- Which models ---- */

static szg_train_config *with_encoding(const char *spec) {
    char key[256];
    snprintf(key, sizeof key, "model.encoding=%s", spec);
    szg_train_config *config = new_tiny(key);
    config->model.vocabulary = 50;
    return config;
}

START_TEST(tables_are_refused_by_name) {
    static const char *const tables[] = {"learned", "random", "relative", "random:seed=3"};
    static const char *const rules[] = {"nope",      "rope", "absolute",      "alibi",     "t5",
                                        "rope-bias", "mla",  "rope+absolute", "kms:rho=.5"};
    char words[64];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        szg_train_config *config = with_encoding(tables[i]);
        snprintf(words, sizeof words, "model.encoding=%s is a table", tables[i]);
        ck_szg_fails(SZG_EINVAL, words, szgi_length_check(test_context(), config, &three));
        /* Rows that no training sequence reaches are none to rely on. */
        const szgi_length_options within = {.count = 1, .words = {20}, .examples = 5};
        config->model.max_length = 20;
        ck_szg_fails(SZG_EINVAL, words, szgi_length_check(test_context(), config, &within));
        const szgi_length_options short_ones = {.count = 1, .words = {10}, .examples = 5};
        ck_szg_ok(szgi_length_check(test_context(), config, &short_ones));
        szgi_memory_free(config);
    }
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        szg_train_config *config = with_encoding(rules[i]);
        ck_szg_ok(szgi_length_check(test_context(), config, &three));
        config->model.extra_position_table = true;
        ck_szg_fails(SZG_EINVAL, "model.extra_position_table=true",
                     szgi_length_check(test_context(), config, &three));
        szgi_memory_free(config);
    }
}
END_TEST

START_TEST(rotations_that_cannot_be_scaled_are_refused) {
    szg_train_config *config = with_encoding("rope:rotary=2");
    const szgi_length_options ntk = {
        .count = 1, .words = {20}, .scalings = 1u << SZGI_SCALING_NTK, .examples = 5};
    szgi_length_options linear = ntk;
    linear.scalings = 1u << SZGI_SCALING_LINEAR;
    ck_szg_fails(SZG_EINVAL, "scaling ntk at 20 words",
                 szgi_length_check(test_context(), config, &ntk));
    ck_szg_ok(szgi_length_check(test_context(), config, &linear));
    memset(config->model.encoding, 0, sizeof config->model.encoding);
    snprintf(config->model.encoding, SZG_CONFIG_TEXT, "rope:rotate=0");
    while (strlen(config->model.encoding) + 2 < SZG_CONFIG_TEXT)
        strcat(config->model.encoding, "+0");
    szg_train_config *scaled = new_tiny(NULL);
    ck_szg_fails(SZG_EINVAL, "more than 1023 bytes",
                 szgi_length_config(test_context(), config, SZGI_SCALING_YARN, 20, scaled));
    szgi_memory_free(scaled);
    szgi_memory_free(config);
}
END_TEST

/* ---- What changes ---- */

START_TEST(scalings_become_keys_of_the_encoding) {
    static const struct {
        szgi_scaling scaling;
        const char *spec, *want;
    } cases[] = {
        {SZGI_SCALING_NONE, "rope", "rope"},
        {SZGI_SCALING_LINEAR, "rope", "rope:scaling=linear,factor=2.5"},
        {SZGI_SCALING_NTK, "rope:base=500", "rope:base=500,scaling=ntk,factor=2.5"},
        {SZGI_SCALING_DYNAMIC, "mla:rope=4",
         "mla:rope=4,scaling=dynamic,factor=2.5,original=10,length=25"},
        {SZGI_SCALING_YARN, "rope", "rope:scaling=yarn,factor=2.5,original=10"},
        {SZGI_SCALING_LLAMA3, "rope", "rope:scaling=llama3,factor=2.5,original=10"},
    };
    szg_train_config *scaled = new_tiny(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_train_config *config = with_encoding(cases[i].spec);
        ck_szg_ok(szgi_length_config(test_context(), config, cases[i].scaling, 25, scaled));
        ck_assert_str_eq(scaled->model.encoding, cases[i].want);
        ck_assert_int_eq(scaled->model.max_length, 25);
        ck_szg_ok(szg_train_config_check(test_context(), scaled));
        /* Nothing else changes. */
        strcpy(scaled->model.encoding, config->model.encoding);
        scaled->model.max_length = config->model.max_length;
        ck_assert(memcmp(&scaled->model.vocabulary, &config->model.vocabulary,
                         sizeof *config - offsetof(szg_train_config, model.vocabulary)) == 0);
        szgi_memory_free(config);
    }
    szgi_memory_free(scaled);
    szgi_scaling scaling;
    for (int i = SZGI_SCALING_NONE + 1; i < SZGI_SCALINGS; i++) {
        ck_szg_ok(szgi_scaling_parse(test_context(), szgi_scaling_name((szgi_scaling)i), &scaling));
        ck_assert_int_eq(scaling, i);
    }
    ck_szg_fails(SZG_EINVAL, "did you mean yarn?",
                 szgi_scaling_parse(test_context(), "yarm", &scaling));
    ck_szg_fails(SZG_EINVAL, "no scaling", szgi_scaling_parse(test_context(), "none", &scaling));
}
END_TEST

START_TEST(scalings_are_of_free_rotations_beyond_training) {
    static const struct {
        const char *spec;
        bool scaled;
    } cases[] = {{"rope", true},
                 {"mla", true},
                 {"rope:base=500,rotate=0", true},
                 {"alibi", false},
                 {"absolute", false},
                 {"rope:theta=0.3", false},
                 {"rope:bands=heads", false},
                 {"rope-bias", false},
                 {"nope", false},
                 {"rope:scaling=linear,factor=2", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_train_config *config = with_encoding(cases[i].spec);
        ck_assert_uint_eq(szgi_length_scalings(config, &three, 10), 1);
        ck_assert_uint_eq(szgi_length_scalings(config, &three, 11), cases[i].scaled ? ALL + 1 : 1);
        szgi_memory_free(config);
    }
}
END_TEST

/* ---- Rows ---- */

static double at(const szg_table *table, int64_t row, const char *name) {
    return real_at(table, row, name);
}

/* Wilson's ends are where the share lies z of its own standard deviations from what was counted. */
static void check_wilson(const szg_table *table, int64_t row) {
    static const char *const ends[] = {"accuracy_low", "accuracy_high"};
    double share = at(table, row, "accuracy"), n = at(table, row, "examples"),
           z = 1.959963984540054;
    for (int i = 0; i < 2; i++) {
        double x = at(table, row, ends[i]);
        ck_assert((x < share) == (i == 0) || share == i);
        /* Both sides are below 1; an end is known to some roundings of 1, magnified by the slope.
         */
        ck_close((x - share) * (x - share), z * z * x * (1 - x) / n, 32 * 0x1p-53);
    }
}

static szg_table *rows_of(const char *folder, const szg_train_config *config,
                          const szgi_length_options *options) {
    const szg_run_key key = {"run", config->model.encoding, "distance", 5};
    szg_table *table;
    ck_szg_ok(szgi_length_table_open(test_context(), &table));
    ck_szg_ok(szgi_length_rows(test_context(), table, &key, folder, config, options));
    return table;
}

static char *trained(const szg_train_config *config) {
    szg_train_result result;
    char *folder = new_run_folder();
    ck_szg_ok(run_in(test_context(), config, 5, folder, false, &result));
    return folder;
}

/* What the model in the checkpoint says of these examples, by the configuration it is told. */
static szgi_tally judged(const char *folder, const szg_train_config *config,
                         const szg_examples *examples) {
    szg_model *model;
    szgi_tally tally;
    ck_szg_ok(szg_model_load(test_context(), folder, config, &model));
    ck_szg_ok(szgi_train_evaluate(test_context(), model, examples, &tally, NULL));
    szg_model_close(test_context(), &model);
    return tally;
}

/* Each row is what the same weights say with a SPEC that is written out here. */
START_TEST(rows_are_the_scaled_model_on_longer_sequences) {
    static const struct {
        int64_t words;
        const char *scaling, *spec;
    } rows[] = {
        {10, "none", "rope"},
        {20, "none", "rope"},
        {20, "linear", "rope:scaling=linear,factor=2"},
        {20, "ntk", "rope:scaling=ntk,factor=2"},
        {20, "dynamic", "rope:scaling=dynamic,factor=2,original=10,length=20"},
        {20, "yarn", "rope:scaling=yarn,factor=2,original=10"},
        {20, "llama3", "rope:scaling=llama3,factor=2,original=10"},
        {40, "none", "rope"},
        {40, "linear", "rope:scaling=linear,factor=4"},
        {40, "ntk", "rope:scaling=ntk,factor=4"},
        {40, "dynamic", "rope:scaling=dynamic,factor=4,original=10,length=40"},
        {40, "yarn", "rope:scaling=yarn,factor=4,original=10"},
        {40, "llama3", "rope:scaling=llama3,factor=4,original=10"},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    szg_train_config *config = with_encoding("rope"), *own = with_encoding("rope");
    char *folder = trained(config);
    szg_table *table = rows_of(folder, config, &three);
    double losses[ROWS];
    ck_assert_int_eq(szg_table_rows(table), ROWS);
    for (int64_t row = 0; row < ROWS; row++) {
        szg_examples examples;
        double ceiling;
        ck_szg_ok(szgi_longer_examples(test_context(), config, rows[row].words, three.examples,
                                       &examples, &ceiling));
        strcpy(own->model.encoding, rows[row].spec);
        own->model.max_length = rows[row].words > 16 ? rows[row].words : 16;
        szgi_tally tally = judged(folder, own, &examples);
        ck_assert_str_eq(szg_table_get_text(table, row, column(table, "scaling")),
                         rows[row].scaling);
        ck_assert(at(table, row, "words") == (double)rows[row].words);
        ck_assert(at(table, row, "factor") == (double)rows[row].words / 10);
        ck_assert(at(table, row, "examples") == 200);
        ck_assert(at(table, row, "accuracy") == (double)tally.correct / 200);
        ck_assert(at(table, row, "loss") == tally.loss / 200);
        ck_assert(at(table, row, "label_ceiling") == ceiling);
        check_wilson(table, row);
        losses[row] = at(table, row, "loss");
        for (int64_t other = 0; other < row; other++) /* no row repeats another model */
            ck_assert(losses[other] != losses[row]);
        szg_examples_close(&examples);
    }
    szg_table_close(&table);
    remove_run_folder(folder);
    szgi_memory_free(own);
    szgi_memory_free(config);
}
END_TEST

START_TEST(tables_do_not_stop_in_the_middle) {
    szg_train_config *config = with_encoding("alibi");
    const szgi_length_options one = {.count = 1, .words = {20}, .examples = 20};
    const szg_run_key key = {"run", "alibi", "distance", 5};
    char *folder = trained(config);
    szg_table *table;
    ck_szg_ok(szgi_length_table_open(test_context(), &table));
    ck_survives_failed_allocations(
        10, szgi_length_rows(test_context(), table, &key, folder, config, &one));
    szg_table_close(&table);
    szg_context_cancel(test_context());
    ck_szg_ok(szgi_length_table_open(test_context(), &table));
    ck_assert_int_eq(szgi_length_rows(test_context(), table, &key, folder, config, &one),
                     SZG_ECANCEL);
    szg_table_close(&table);
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* ---- Presets ---- */

#define PRESET(experiment)                                                                         \
    "{\"name\": \"lengths\", \"about\": \"for a test\", \"seeds\": [3, 4],\n"                      \
    " \"config\": {\"model\": {\"vocabulary\": 50, \"width\": 8, \"hidden\": 8, \"layers\": 2,"    \
    " \"heads\": 2, \"max_length\": 16}, \"loop\": {\"batch\": 16, \"epochs\": 2,"                 \
    " \"learning_rate\": 0.01}},\n"                                                                \
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 60, \"between_max\": 4,"                 \
    " \"side_max\": 2, \"longest\": 10}}, \"count\": {\"data\": {\"examples\": 50, \"words\": 8,"  \
    " \"count_max\": 5, \"triggers\": 3}}},\n \"experiments\": [" experiment "]}"
#define EXPERIMENT(tail)                                                                           \
    "{\"name\": \"e\", \"profile\": \"text\", \"tasks\": [\"distance\"], "                         \
    "\"encodings\": [\"rope\", \"alibi\"]" tail "}"
#define LENGTH(members) ", \"length\": {" members "}"
static const char plain[] = PRESET(EXPERIMENT(""));
static const char lengths[] = PRESET(EXPERIMENT(
    LENGTH("\"words\": [10, 25], \"scaling\": [\"yarn\", \"linear\"], \"examples\": 40")));
enum { RUNS = 4, ROPE_ROWS = 4, ALIBI_ROWS = 2 };
#define ROPE "runs/e/distance/rope/run-3/"

/* The length test is after training, which it does not change: a folder trained without it and one
 * trained with it have the same bits. */
START_TEST(training_does_not_know_of_it) {
    static const char *const files[] = {"checkpoint.safetensors", "metrics.csv", "config.json"};
    char *folder = new_folder(), *other = new_folder(), run[2][300];
    train_whole(folder, lengths);
    train_whole(other, plain);
    snprintf(run[0], sizeof run[0], "%s/" ROPE, folder);
    snprintf(run[1], sizeof run[1], "%s/" ROPE, other);
    for (int i = 0; i < 3; i++)
        ck_same_file(run[0], run[1], files[i]);
    ck_same_state(run[0], run[1]);
    char *want = tables_text(other, plain), *got = tables_text(folder, plain);
    ck_assert_str_eq(got, want);
    free(got);
    free(want);
    remove_tree(other);
    remove_tree(folder);
}
END_TEST

START_TEST(runs_are_joined) {
    enum { SEED_ROWS = ROPE_ROWS + ALIBI_ROWS };
    char *folder = new_folder();
    szg_reproduction *runs;
    szg_reproduction_tables tables;
    train_whole(folder, lengths);
    open_tables(folder, lengths, &runs, &tables);
    ck_assert_int_eq(szg_table_rows(tables.length), 2 * SEED_ROWS);
    for (int64_t row = 0; row < SEED_ROWS; row++) {
        ck_assert(at(tables.length, row, "words") == at(tables.length, row + SEED_ROWS, "words"));
        ck_assert(at(tables.length, row, "seed") < at(tables.length, row + SEED_ROWS, "seed"));
    }
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&runs);
    /* Without the member there is no table. */
    open_tables(folder, plain, &runs, &tables);
    ck_assert(!tables.length);
    szg_reproduction_tables_close(&tables);
    ck_survives_failed_allocations(20,
                                   szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&runs);
    remove_tree(folder);
}
END_TEST

static char *length_bytes(const char *folder) {
    size_t size;
    char *text = file_bytes(folder, ROPE "length.csv", &size);
    ck_assert_ptr_nonnull(text);
    return text;
}

/* Killed while it is tested, or with the test alone to do again: the same bytes. */
START_TEST(an_interrupted_test_is_made_again) {
    char *folder = new_folder(), path[256];
    train_whole(folder, lengths);
    char *want = length_bytes(folder);
    ck_assert_int_eq(remove(path_in(folder, ROPE "finished.json", path)), 0);
    FILE *file = fopen(path_in(folder, ROPE "length.csv", path), "w");
    ck_assert_ptr_nonnull(file);
    fputs("half a file", file);
    fclose(file);
    train_whole(folder, lengths);
    char *got = length_bytes(folder);
    ck_assert_str_eq(got, want);
    free(got);
    /* A run that was finished without it. */
    char *bare = new_folder();
    train_whole(bare, plain);
    szg_reproduction *runs;
    ck_szg_fails(SZG_EDATA, "length.csv: is missing",
                 open_preset(test_context(), bare, lengths, NULL, 0, &runs));
    remove_tree(bare);
    free(want);
    remove_tree(folder);
}
END_TEST

static void refuse_file(const char *folder, const char *from, const char *to, const char *words) {
    char *sound = length_bytes(folder), path[256], *place = strstr(sound, from);
    szg_reproduction *runs;
    ck_assert_msg(place, "no %s in %s", from, sound);
    FILE *file = fopen(path_in(folder, ROPE "length.csv", path), "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%.*s%s%s", (int)(place - sound), sound, to, place + strlen(from));
    fclose(file);
    ck_szg_fails(SZG_EDATA, words, open_preset(test_context(), folder, lengths, NULL, 0, &runs));
    ck_assert_ptr_nonnull(strstr(szg_context_message(test_context()), ROPE "length.csv"));
    file = fopen(path, "w");
    fputs(sound, file);
    fclose(file);
    free(sound);
}

START_TEST(copied_tables_are_judged) {
    char *folder = new_folder();
    szg_reproduction *runs;
    train_whole(folder, lengths);
    refuse_file(folder, ",25,2.5,none", ",26,2.5,none", "row 2 is not that of 40 sequences of 25");
    refuse_file(folder, ",25,2.5,linear", ",25,2.5,ntk", "words with scaling linear");
    refuse_file(folder, "none,40,", "none,41,", "row 1 is not that of 40");
    refuse_file(folder, "none,40,", "none,40,7", "row 1: accuracy is not in 0 .. 1");
    refuse_file(folder, "none,40,", "none,40,,", "length.csv: line 2");
    refuse_file(folder, "scaling", "scalings", "no column scaling");
    char *sound = length_bytes(folder), *line = strchr(sound, '\n') + 1, *end = strchr(line, '\n');
    char *first = strndup(line, (size_t)(end - line) + 1), *twice;
    refuse_file(folder, first, "", "row 1 is not that of 40 sequences of 10");
    ck_assert_int_ge(asprintf(&twice, "%s%s", sound, first), 0);
    refuse_file(folder, sound, twice, "has 5 rows; lengths and scalings of the preset are 4");
    free(twice);
    free(first);
    free(sound);
    /* Other lengths than the finished runs have. */
    ck_szg_fails(
        SZG_EDATA, "remove finished.json beside it",
        open_preset(test_context(), folder,
                    PRESET(EXPERIMENT(LENGTH("\"words\": [10, 30], \"scaling\": [\"yarn\", "
                                             "\"linear\"], \"examples\": 40"))),
                    NULL, 0, &runs));
    remove_tree(folder);
}
END_TEST

START_TEST(bad_members_are_refused) {
    static const struct {
        const char *preset, *words;
    } cases[] = {
        {PRESET(EXPERIMENT(LENGTH("\"word\": [20]"))), "did you mean words?"},
        {PRESET(EXPERIMENT(LENGTH("\"scaling\": [\"yarn\"]"))), "words"},
        {PRESET(EXPERIMENT(LENGTH("\"words\": []"))), "has 0 lengths: name 1 to 16"},
        {PRESET(EXPERIMENT(LENGTH("\"words\": [20, 20]"))), "lengths ascend"},
        {PRESET(EXPERIMENT(LENGTH("\"words\": [-1]"))), "lengths ascend"},
        {PRESET(EXPERIMENT(LENGTH("\"words\": [7]"))), "allow 8 .. 65536"},
        {PRESET(EXPERIMENT(LENGTH("\"words\": [1000]"))), "has 49 fillers"},
        {PRESET(EXPERIMENT(LENGTH("\"words\": [20], \"examples\": 0"))), "outside 1 .. 1000000"},
        {PRESET(EXPERIMENT(LENGTH("\"words\": [20], \"scaling\": [\"yarm\"]"))),
         "did you mean yarn?"},
        {PRESET(EXPERIMENT(LENGTH("\"words\": [20], \"scaling\": \"yarn\""))), "scaling"},
        {PRESET("{\"name\": \"e\", \"profile\": \"text\", \"encodings\": [\"rope\"]" LENGTH(
             "\"words\": [20]") "}"),
         "experiment e, count, rope: length: longer sequences"},
        {PRESET("{\"name\": \"e\", \"profile\": \"text\", \"tasks\": [\"distance\"], "
                "\"encodings\": [\"rope\", \"relative\"]" LENGTH("\"words\": [20]") "}"),
         "experiment e, distance, relative: length: model.encoding=relative is a table"},
    };
    char *folder = new_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_reproduction *runs;
        ck_szg_fails(SZG_EDATA, cases[i].words,
                     open_preset(test_context(), folder, cases[i].preset, NULL, 0, &runs));
    }
    remove_tree(folder);
}
END_TEST

TEST_FILE("length") {
    test_add(suite, "tables", tables_are_refused_by_name);
    test_add(suite, "rotations", rotations_that_cannot_be_scaled_are_refused);
    test_add(suite, "keys", scalings_become_keys_of_the_encoding);
    test_add(suite, "which scalings", scalings_are_of_free_rotations_beyond_training);
    test_add(suite, "rows", rows_are_the_scaled_model_on_longer_sequences);
    test_add(suite, "failures", tables_do_not_stop_in_the_middle);
    test_add(suite, "training", training_does_not_know_of_it);
    test_add(suite, "joined", runs_are_joined);
    test_add(suite, "interrupted", an_interrupted_test_is_made_again);
    test_add(suite, "copies", copied_tables_are_judged);
    test_add(suite, "bad members", bad_members_are_refused);
}

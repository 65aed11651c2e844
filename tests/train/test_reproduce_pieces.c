/* A preset trained in pieces: the tables are those of undisturbed runs. */
#include "../../train/reproduce/reproduce_private.h"
#include "pieces.h"

/* ---- The preset ---- */

START_TEST(parts_go_on_and_switches_inherit) {
    static const char *const names[] = {"base/distance/mla/run-3",
                                        "base/distance/rope/run-3",
                                        "plain/distance/rope/run-3",
                                        "plain/distance/nope/run-3",
                                        "base/distance/rope/run-5",
                                        "plain/distance/rope/run-5",
                                        "plain/distance/rope-rotate-0-0/run-5",
                                        "plain/distance/rope/run-6",
                                        "plain/distance/rope-rotate-0-0/run-6"};
    enum { OUTPUT = 1u << SZG_ABLATE_OUTPUT, COLUMNS = 1u << SZG_ABLATE_LATENT_COLUMNS };
    char *folder = new_folder();
    szg_reproduction *runs = open_pieced(folder);
    for (int64_t i = 0; i < PIECED_RUNS; i++) {
        szg_reproduction_run run = szg_reproduction_run_at(runs, i);
        bool plain = strncmp(names[i], "plain", 5) == 0;
        ck_assert_str_eq(run.name, names[i]);
        ck_assert_uint_eq(run.methods, i == 0 ? OUTPUT | COLUMNS : OUTPUT);
        ck_assert_int_eq(run.config->profile, SZG_PROFILE_RELEASED);
        ck_assert_int_eq(run.config->model.mask, plain ? SZG_MASK_CAUSAL : SZG_MASK_NONE);
        ck_assert_int_eq(run.config->loop.epochs, 3);
        ck_assert_double_eq(run.config->loop.decay, .001); /* the base's own */
        ck_assert(plain ? run.like && strcmp(run.like, "base") == 0 : !run.like);
    }
    szg_reproduction_close(&runs);
    /* Rounds of the preset's seeds; seeds of a part's own come in the first one. */
    static const char rounds[] =
        "{\"name\": \"x\", \"about\": \"\", \"seeds\": [1, 2], \"tasks\": {\"distance\": {}}, "
        "\"experiments\": [{\"name\": \"a\", \"profile\": \"text\", \"encodings\": [\"rope\"]}, "
        "{\"name\": \"a\", \"seeds\": [7], \"encodings\": [\"rope\"]}, "
        "{\"name\": \"a\", \"encodings\": [\"nope\"]}]}";
    static const char *const order[] = {"rope/run-1", "rope/run-7", "nope/run-1", "rope/run-2",
                                        "nope/run-2"};
    ck_szg_ok(open_preset(test_context(), folder, rounds, NULL, 0, &runs));
    ck_assert_int_eq(szg_reproduction_count(runs), 5);
    for (int64_t i = 0; i < 5; i++)
        ck_assert_str_eq(szg_reproduction_run_at(runs, i).name + strlen("a/distance/"), order[i]);
    szg_reproduction_close(&runs);
    remove_tree(folder);
}
END_TEST

/* The links from run to run of an experiment, against a look at all of them. */
static void check_links(const char *folder, const char *preset, int64_t wanted) {
    szg_reproduction *runs;
    ck_szg_ok(open_preset(test_context(), folder, preset, NULL, 0, &runs));
    ck_assert_int_eq(runs->count, wanted);
    for (int64_t i = 0; i < wanted; i++) {
        int64_t first = 0, next = i + 1;
        while (strcmp(runs->run[first].experiment, runs->run[i].experiment) != 0)
            first++;
        while (next < wanted && strcmp(runs->run[next].experiment, runs->run[i].experiment) != 0)
            next++;
        ck_assert_int_eq(runs->run[i].first, first);
        ck_assert_int_eq(runs->run[i].next, next < wanted ? next : -1);
        ck_assert(reproduction_begins_experiment(runs, i) == (first == i));
    }
    szg_reproduction_close(&runs);
}

/* Seeds of the preset come round by round, and parts go on with what stood before. */
START_TEST(runs_of_an_experiment_are_linked) {
    enum { PARTS = 40 };
    char *folder = new_folder(), *text;
    size_t size;
    check_links(folder, pieced, PIECED_RUNS);
    FILE *stream = open_memstream(&text, &size);
    fputs("{\"name\": \"x\", \"about\": \"\", \"seeds\": [1, 2, 3], \"tasks\": "
          "{\"distance\": {}}, \"experiments\": [",
          stream);
    for (int part = 0; part < PARTS; part++)
        fprintf(stream, "%s{\"name\": \"e%d\", %s\"encodings\": [\"%s\"]}", part ? ", " : "",
                part % (PARTS / 2), part < PARTS / 2 ? "\"profile\": \"text\", " : "",
                part < PARTS / 2 ? "rope" : "nope");
    fputs("]}", stream);
    fclose(stream);
    check_links(folder, text, 3 * PARTS);
    free(text);
    remove_tree(folder);
}
END_TEST

#define PRESET(experiments)                                                                        \
    "{\"name\": \"x\", \"about\": \"y\", \"seeds\": [1], \"tasks\": {\"distance\": {}}, "          \
    "\"experiments\": [{\"name\": \"a\", \"profile\": \"text\", \"encodings\": "                   \
    "[\"rope\"]}, " experiments "]}"

START_TEST(bad_parts_are_refused) {
    static const char *const presets[][2] = {
        {PRESET("{\"name\": \"a\", \"profile\": \"text\", \"encodings\": []}"),
         "profile: is given by the first experiment of this name"},
        {PRESET("{\"name\": \"a\", \"seeds\": [2], \"config\": {}, \"encodings\": []}"),
         "config: is unknown: one of name|seeds"},
        {PRESET("{\"name\": \"a\", \"seeds\": [1], \"encodings\": [\"rope\"]}"),
         "two runs would have the folder"},
        {PRESET("{\"name\": \"a\", \"seeds\": [-2], \"encodings\": [\"rope\"]}"), "is negative"},
        {PRESET("{\"name\": \"a\", \"seeds\": 2, \"encodings\": [\"rope\"]}"), "seeds"},
        {PRESET("{\"name\": \"b\", \"like\": \"c\", \"encodings\": []}"),
         "c is not an experiment above"},
        {PRESET("{\"name\": \"b\", \"like\": \"b\", \"encodings\": []}"),
         "b is not an experiment above"},
        {PRESET("{\"name\": \"b\", \"like\": \"a\", \"profile\": \"text\", \"encodings\": []}"),
         "profile: is unknown: one of name|like"},
        {PRESET("{\"name\": \"b\", \"like\": \"a\", \"encodings\": []}, {\"name\": \"c\", "
                "\"like\": \"b\", \"encodings\": []}"),
         "b is like another one"},
        {PRESET("{\"name\": \"b\", \"profile\": \"text\", \"encodings\": [], \"ablation\": "
                "[\"columns\"]}"),
         "method 'columns' is unknown: one of output"},
        {PRESET("{\"name\": \"b\", \"profile\": \"text\", \"encodings\": [], \"ablation\": 1}"),
         "ablation"},
    };
    char *folder = new_folder();
    szg_reproduction *runs;
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        ck_szg_fails(SZG_EDATA, presets[i][1],
                     open_preset(test_context(), folder, presets[i][0], NULL, 0, &runs));
    remove_tree(folder);
}
END_TEST

/* ---- Pieces ---- */

START_TEST(pieces_change_nothing) {
    char *whole = new_folder(), *pieces = new_folder();
    train_whole(whole, pieced);
    int64_t count = 0;
    for (int64_t looks = 8; !train_piece(pieces, looks); looks += 1 + looks / 10)
        ck_assert_int_lt(++count, 200);
    ck_assert_int_ge(count, 5);
    check_same(whole, pieces);
    remove_tree(whole);
    remove_tree(pieces);
}
END_TEST

/* The first run takes more than half of the piece: the second one would not be finished. */
START_TEST(what_would_not_be_finished_is_not_begun) {
    char *folder = new_folder();
    test_clock own = {.calls = 3, .seconds = .8};
    ck_assert_int_eq(train_by(&own, folder, 1.3), 1);
    ck_assert_ptr_nonnull(strstr(own.text, "base/distance/rope/run-3: about"));
    ck_assert_ptr_nonnull(strstr(own.text, "not begun"));
    ck_assert_ptr_nonnull(strstr(own.text, "1 of 9 runs are finished"));
    ck_assert(!holds(folder, "base/distance/rope/run-3", "config.json"));
    remove_tree(folder);
}
END_TEST

/* Where the logs say that a run takes longer than any piece it is begun, saved and gone on with. */
START_TEST(what_no_piece_can_hold_is_begun) {
    char *folder = new_folder(), path[512];
    test_clock slow = {.calls = 3, .seconds = .8}, idle = {0}, cut = {.calls = 3, .seconds = .5};
    ck_assert_int_eq(train_by(&slow, folder, 1.3), 1);
    snprintf(path, sizeof path, "%s/runs/base/distance/mla/run-3/timing.csv", folder);
    FILE *file = fopen(path, "w");
    fputs("run,encoding,task,seed,epoch,step,steps,tokens,tokens_per_second,train_seconds,"
          "capture_seconds,evaluate_seconds,note\nr,mla,distance,3,1,3,3,100,1,1e6,0,0,\n",
          file);
    fclose(file);
    ck_assert_int_eq(train_by(&cut, folder, .3), 1);
    ck_assert_ptr_nonnull(strstr(cut.text, "the time is up in base/distance/rope/run-3"));
    ck_assert(holds(folder, "base/distance/rope/run-3", "checkpoint.state.safetensors"));
    ck_assert_int_gt(train_by(&idle, folder, 100), 1);
    remove_tree(folder);
}
END_TEST

/* ---- Tables ---- */

START_TEST(tables_say_which_runs_they_rest_on) {
    char *folder = new_folder();
    szg_reproduction_tables tables;
    train_whole(folder, pieced);
    szg_reproduction *runs = open_pieced(folder);
    ck_szg_ok(szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
    /* Both ways of ablating mla. */
    int64_t columns = 0;
    for (int64_t row = 0; row < szg_table_rows(tables.deposit); row++) {
        bool latent = strcmp(text_at(tables.deposit, row, "method"), "latent_columns") == 0;
        columns += latent;
        /* Of 4 latent dimensions a head has 4: one head can drop. */
        ck_close(real_at(tables.deposit, row, "uniform_index"), latent ? 1 : .75, 0);
    }
    ck_assert_int_eq(columns, 2); /* one run, two layers */
    /* The run of mla is Figure 7's; the mask of the plain one is not Figure 4's. */
    for (int64_t row = 0; row < szg_table_rows(tables.items); row++) {
        const char *item = text_at(tables.items, row, "item");
        double want = strcmp(item, "Table 1") == 0    ? 3
                      : strcmp(item, "Figure 7") == 0 ? 1
                      : strcmp(item, "Figure 2") == 0 ? 2
                      : strcmp(item, "Figure 4") == 0 ? 2
                                                      : 0;
        ck_assert_msg(real_at(tables.items, row, "runs") == want, "%s", item);
        ck_assert(real_at(tables.items, row, "finished") == want);
    }
    for (int64_t row = 0; row < szg_table_rows(tables.settings); row++) {
        const char *key = text_at(tables.settings, row, "key");
        const char *same = text_at(tables.settings, row, "same");
        if (strcmp(key, "loop.beta1") == 0)
            ck_assert_str_eq(same, "yes");
        if (strcmp(key, "seed") == 0 &&
            strcmp(text_at(tables.settings, row, "item"), "Table 3") == 0)
            ck_assert_str_eq(text_at(tables.settings, row, "here"), "3|5");
        if (strcmp(key, "model.width") == 0)
            ck_assert_str_eq(same, "no");
    }
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&runs);
    remove_tree(folder);
}
END_TEST

TEST_FILE("reproduce_pieces") {
    test_add(suite, "parts", parts_go_on_and_switches_inherit);
    test_add(suite, "links", runs_of_an_experiment_are_linked);
    test_add(suite, "bad parts", bad_parts_are_refused);
    test_add(suite, "pieces", pieces_change_nothing);
    test_add(suite, "not begun", what_would_not_be_finished_is_not_begun);
    test_add(suite, "begun", what_no_piece_can_hold_is_begun);
    test_add(suite, "tables", tables_say_which_runs_they_rest_on);
}

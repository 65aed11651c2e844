/* A preset trained in pieces, on one machine and on two: the tables are those of undisturbed runs.
 */
#include <math.h>

#include "toy.h"

/* Two encodings, a switch, and a second seed of its own after it. */
static const char pieced[] =
    "{\"name\": \"pieced\", \"about\": \"for a test\", \"seeds\": [3],\n"
    " \"config\": {\"model\": {\"vocabulary\": 20, \"width\": 8, \"hidden\": 8, \"layers\": 2,"
    " \"heads\": 2, \"max_length\": 16, \"latent_query\": 4, \"latent_kv\": 4},"
    " \"loop\": {\"batch\": 16, \"epochs\": 3, \"learning_rate\": 0.01}},\n"
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 60, \"between_max\": 4, \"side_max\": 2,"
    " \"longest\": 10}}},\n"
    " \"experiments\": [{\"name\": \"base\", \"profile\": \"released\", \"encodings\": [\"mla\","
    " \"rope\"], \"ablation\": [\"output\", \"latent_columns\"],"
    " \"config\": {\"loop\": {\"decay\": 0.001}}},\n"
    "  {\"name\": \"plain\", \"like\": \"base\", \"encodings\": [\"rope\", \"nope\"],"
    " \"config\": {\"model\": {\"added_sinusoid\": \"none\", \"mask\": \"causal\"}}},\n"
    "  {\"name\": \"base\", \"seeds\": [5], \"encodings\": [\"rope\"]},\n"
    "  {\"name\": \"plain\", \"seeds\": [5, 6], \"encodings\": [\"rope\"],"
    " \"rotated_heads\": [1]}]}\n";
enum { PIECED_RUNS = 9 };

static szg_reproduction *open_pieced(const char *folder) {
    szg_reproduction *runs;
    ck_szg_ok(open_preset(test_context(), folder, pieced, NULL, 0, &runs));
    ck_assert_int_eq(szg_reproduction_count(runs), PIECED_RUNS);
    return runs;
}

static int64_t count_finished(const szg_reproduction *runs) {
    int64_t finished = 0;
    for (int64_t i = 0; i < PIECED_RUNS; i++)
        finished += szg_reproduction_run_at(runs, i).finished;
    return finished;
}

static bool holds(const char *folder, const char *run, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/runs/%s/%s", folder, run, name);
    return access(path, F_OK) == 0;
}

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

#define PRESET(experiments)                                                                        \
    "{\"name\": \"x\", \"about\": \"y\", \"seeds\": [1], \"tasks\": {\"distance\": {}}, "          \
    "\"experiments\": [{\"name\": \"a\", \"profile\": \"text\", \"encodings\": "                   \
    "[\"rope\"]}, " experiments "]}"

START_TEST(bad_parts_are_refused) {
    static const char *const presets[][2] = {
        {PRESET("{\"name\": \"a\", \"profile\": \"text\", \"encodings\": []}"),
         "profile: is none of name|seeds"},
        {PRESET("{\"name\": \"a\", \"seeds\": [2], \"config\": {}, \"encodings\": []}"),
         "config: is none of name|seeds"},
        {PRESET("{\"name\": \"a\", \"seeds\": [1], \"encodings\": [\"rope\"]}"),
         "two runs would have the folder"},
        {PRESET("{\"name\": \"a\", \"seeds\": [-2], \"encodings\": [\"rope\"]}"), "is negative"},
        {PRESET("{\"name\": \"a\", \"seeds\": 2, \"encodings\": [\"rope\"]}"), "seeds"},
        {PRESET("{\"name\": \"b\", \"like\": \"c\", \"encodings\": []}"),
         "c is no experiment above"},
        {PRESET("{\"name\": \"b\", \"like\": \"b\", \"encodings\": []}"),
         "b is no experiment above"},
        {PRESET("{\"name\": \"b\", \"like\": \"a\", \"profile\": \"text\", \"encodings\": []}"),
         "profile: is none of name|like"},
        {PRESET("{\"name\": \"b\", \"like\": \"a\", \"encodings\": []}, {\"name\": \"c\", "
                "\"like\": \"b\", \"encodings\": []}"),
         "b is like another one"},
        {PRESET("{\"name\": \"b\", \"profile\": \"text\", \"encodings\": [], \"ablation\": "
                "[\"columns\"]}"),
         "columns is none of output"},
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

/* Trains for `seconds` in a new process's stead; whether everything is finished. */
static bool train_piece(const char *folder, double seconds) {
    szg_reproduction *runs = open_pieced(folder);
    ck_szg_ok(szg_reproduction_train(test_context(), runs, seconds));
    bool all = count_finished(runs) == PIECED_RUNS;
    szg_reproduction_close(&runs);
    return all;
}

static void check_same(const char *folder, const char *other) {
    char *want = tables_text(folder, pieced), *got = tables_text(other, pieced);
    ck_assert_str_eq(got, want);
    free(want);
    free(got);
}

START_TEST(pieces_change_nothing) {
    char *whole = new_folder(), *pieces = new_folder();
    train_whole(whole, pieced);
    int64_t count = 0;
    for (double seconds = .002; !train_piece(pieces, seconds); seconds *= 1.1)
        ck_assert_int_lt(++count, 200);
    ck_assert_int_ge(count, 5);
    check_same(whole, pieces);
    remove_tree(whole);
    remove_tree(pieces);
}
END_TEST

typedef struct sleeper {
    int64_t calls; /* of progress until it sleeps */
    double seconds;
    char text[4096]; /* notes */
} sleeper;

static void sleep_once(void *user, const char *what, int64_t done, int64_t total) {
    sleeper *own = user;
    (void)what, (void)done, (void)total;
    if (--own->calls == 0)
        nanosleep(&(struct timespec){.tv_sec = (time_t)own->seconds,
                                     .tv_nsec = (long)(fmod(own->seconds, 1) * 1e9)},
                  NULL);
}

static void keep_note(void *user, szg_severity severity, const char *text) {
    sleeper *own = user;
    (void)severity;
    size_t used = strlen(own->text);
    snprintf(own->text + used, sizeof own->text - used, "%s\n", text);
}

static int64_t train_sleeping(const char *folder, sleeper *own, double seconds) {
    szg_context *context;
    szg_context_options options = {
        .threads = 1, .message = keep_note, .progress = sleep_once, .user = own};
    szg_reproduction *runs;
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(open_preset(context, folder, pieced, NULL, 0, &runs));
    szg_status status = szg_reproduction_train(context, runs, seconds);
    ck_assert_msg(status == SZG_OK, "%s", szg_context_message(context));
    ck_szg_ok(szg_context_check_cancel(context)); /* no deadline is left behind */
    int64_t finished = count_finished(runs);
    szg_reproduction_close(&runs);
    szg_context_close(&context);
    return finished;
}

/* The first run takes more than half of the piece: the second one would not be finished. */
START_TEST(what_would_not_be_finished_is_not_begun) {
    char *folder = new_folder();
    sleeper own = {.calls = 3, .seconds = .8};
    ck_assert_int_eq(train_sleeping(folder, &own, 1.3), 1);
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
    sleeper slow = {.calls = 3, .seconds = .8}, idle = {0}, cut = {.calls = 3, .seconds = .5};
    ck_assert_int_eq(train_sleeping(folder, &slow, 1.3), 1);
    snprintf(path, sizeof path, "%s/runs/base/distance/mla/run-3/timing.csv", folder);
    FILE *file = fopen(path, "w");
    fputs("run,encoding,task,seed,epoch,step,steps,tokens,tokens_per_second,train_seconds,"
          "capture_seconds,evaluate_seconds,note\nr,mla,distance,3,1,3,3,100,1,1e6,0,0,\n",
          file);
    fclose(file);
    ck_assert_int_eq(train_sleeping(folder, &cut, .3), 1);
    ck_assert_ptr_nonnull(strstr(cut.text, "the time is up in base/distance/rope/run-3"));
    ck_assert(holds(folder, "base/distance/rope/run-3", "checkpoint.state.safetensors"));
    ck_assert_int_gt(train_sleeping(folder, &idle, 100), 1);
    remove_tree(folder);
}
END_TEST

/* ---- Archives ---- */

static void pack(const char *folder, const char *path, int64_t carry) {
    szg_reproduction *runs = open_pieced(folder);
    ck_szg_ok(szg_reproduction_pack(test_context(), runs, path, carry));
    szg_reproduction_close(&runs);
}

static int64_t take(const char *folder, const char *path) {
    szg_reproduction *runs = open_pieced(folder);
    ck_szg_ok(szg_reproduction_take(test_context(), runs, path));
    int64_t finished = count_finished(runs);
    szg_reproduction_close(&runs);
    runs = open_pieced(folder); /* and so the next process finds it */
    ck_assert_int_eq(count_finished(runs), finished);
    szg_reproduction_close(&runs);
    return finished;
}

/* Machine after machine: each takes the archive of the one before, trains a piece or is killed at
 * it, and packs. */
static void travel(const char *other, int64_t carry) {
    char *home = new_folder(), path[256];
    path_in(home, "runs.tar.xz", path);
    pack(home, path, 0);
    bool done = false;
    for (int64_t machine = 0; !done; machine++) {
        char *folder = new_folder();
        ck_assert_int_lt(machine, 100);
        take(folder, path);
        if (machine % 2 == 0)
            train_killed(folder, pieced, 30 + 10 * machine);
        done = train_piece(folder, .02 * (double)(1 + machine));
        pack(folder, path, carry);
        remove_tree(folder);
    }
    ck_assert_int_eq(take(home, path), PIECED_RUNS);
    check_same(other, home);
    ck_assert(!holds(home, "base/distance/mla/run-3", "checkpoint.safetensors"));
    remove_tree(home);
}

START_TEST(runs_travel) {
    char *whole = new_folder();
    train_whole(whole, pieced);
    travel(whole, 0);
    travel(whole, 1 << 20);
    remove_tree(whole);
}
END_TEST

START_TEST(archives_of_the_same_runs_are_equal) {
    char *one = new_folder(), *two = new_folder(), path[2][256];
    path_in(one, "one.tar.xz", path[0]);
    path_in(two, "one.tar.xz", path[1]);
    train_whole(one, pieced);
    pack(one, path[0], 0);
    ck_assert_int_eq(take(two, path[0]), PIECED_RUNS);
    pack(two, path[1], 0);
    ck_same_file(one, two, "one.tar.xz");
    check_same(one, two);
    remove_tree(one);
    remove_tree(two);
}
END_TEST

START_TEST(begun_runs_travel_where_they_are_small_enough) {
    char *from = new_folder(), path[256];
    static const char run[] = "base/distance/mla/run-3", state[] = "checkpoint.state.safetensors";
    sleeper cut = {.calls = 4, .seconds = .3};
    ck_assert_int_eq(train_sleeping(from, &cut, .2), 0);
    ck_assert(holds(from, run, state));
    path_in(from, "runs.tar.xz", path);
    for (int64_t carry = 0; carry <= 1 << 20; carry += 1 << 19) {
        char *to = new_folder();
        pack(from, path, carry == 1 << 19 ? 100 : carry); /* 100 bytes hold no checkpoint */
        ck_assert_int_eq(take(to, path), 0);
        ck_assert(holds(to, run, state) == (carry == 1 << 20));
        ck_assert(holds(to, run, "config.json") == (carry == 1 << 20));
        remove_tree(to);
    }
    /* What is begun there stays, unless the archive has it finished. */
    char *to = new_folder();
    sleeper shorter = {.calls = 3, .seconds = .3};
    ck_assert_int_eq(train_sleeping(to, &shorter, .2), 0);
    size_t size[2];
    char folder[300];
    snprintf(folder, sizeof folder, "%s/runs/%s", to, run);
    char *before = file_bytes(folder, state, &size[0]);
    ck_assert_int_eq(take(to, path), 0);
    char *after = file_bytes(folder, state, &size[1]);
    ck_assert(size[0] == size[1] && memcmp(before, after, size[0]) == 0);
    free(before);
    free(after);
    szg_reproduction *runs = open_pieced(from);
    ck_szg_ok(szg_reproduction_train(test_context(), runs, 0));
    szg_reproduction_close(&runs);
    pack(from, path, 0);
    ck_assert_int_eq(take(to, path), PIECED_RUNS);
    ck_assert(!holds(to, run, state));
    check_same(from, to);
    remove_tree(to);
    remove_tree(from);
}
END_TEST

static void refuse(const char *folder, const char *preset, const char *const *overrides,
                   const char *path, const char *words) {
    szg_reproduction *runs;
    ck_szg_ok(open_preset(test_context(), folder, preset, overrides, overrides != NULL, &runs));
    int64_t entries = files_in(folder);
    ck_szg_fails(SZG_EDATA, words, szg_reproduction_take(test_context(), runs, path));
    ck_assert_int_eq(files_in(folder), entries); /* nothing was written: runs/ is not there */
    szg_reproduction_close(&runs);
}

/* An archive with one file more, or with another text in place of one. */
static void repack(const char *folder, const char *path, const char *inside, const char *text) {
    char part[256], name[512];
    szg_archive_writer *writer;
    szg_reproduction *runs = open_pieced(folder);
    ck_szg_ok(szg_archive_create(test_context(), path, &writer));
    FILE *file = fopen(path_in(folder, "part", part), "w");
    fputs(text, file);
    fclose(file);
    for (int64_t i = 0; i < PIECED_RUNS; i++) {
        static const char *const files[] = {"finished.json", "metrics.csv", "timing.csv",
                                            "ablation.csv", "ablation_latent_columns.csv"};
        for (int f = 0; f < 5; f++) {
            const char *run = szg_reproduction_run_at(runs, i).name;
            char real[1024];
            snprintf(name, sizeof name, "runs/%s/%s", run, files[f]);
            snprintf(real, sizeof real, "%s/%s", folder, name);
            if (access(real, F_OK) == 0 && strcmp(name, inside) != 0)
                ck_szg_ok(szg_archive_add(test_context(), writer, name, real));
        }
    }
    if (*text)
        ck_szg_ok(szg_archive_add(test_context(), writer, inside, part));
    ck_szg_ok(szg_archive_commit(test_context(), &writer));
    szg_reproduction_close(&runs);
}

START_TEST(foreign_archives_are_refused) {
    char *from = new_folder(), *to = new_folder(), path[256], bad[256];
    const char *override = "loop.learning_rate=0.02";
    train_whole(from, pieced);
    pack(from, path_in(from, "runs.tar.xz", path), 0);
    path_in(from, "bad.tar.xz", bad);
    refuse(to, toy, NULL, path, "belongs to no run of preset toy");
    refuse(to, pieced, &override, path, "another configuration");
#define RUN "runs/base/distance/rope/run-3/"
    static const char *const changes[][3] = {
        {RUN "notes.txt", "x", "notes.txt belongs to no run"},
        {RUN "checkpoint.safetensors", "x", "belongs to no run"},
        {"finished.json", "x", "belongs to no run"},
        {"runs/finished.json", "x", "belongs to no run"},
        {"runs/base/distance/rope/run-7/metrics.csv", "x", "belongs to no run"},
        {"runs/base/distance/../rope/run-3/metrics.csv", "x", "is not taken"},
        {RUN "finished.json", "{", "finished.json"},
        {RUN "finished.json", "{\"seed\": 3}", "config"},
        {RUN "metrics.csv", "", "lacks metrics.csv"},
        {RUN "ablation.csv", "", "lacks ablation.csv"},
        {"runs/base/distance/mla/run-3/ablation_latent_columns.csv", "", "lacks ablation_latent"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        repack(from, bad, changes[i][0], changes[i][1]);
        refuse(to, pieced, NULL, bad, changes[i][2]);
    }
    size_t size; /* facts of another seed */
    char *data = file_bytes(from, "runs/base/distance/rope/run-5/finished.json", &size);
    repack(from, bad, RUN "finished.json", data);
    refuse(to, pieced, NULL, bad, "seed: is not 3");
    free(data);
    data = file_bytes(from, "runs.tar.xz", &size);
    FILE *file = fopen(bad, "wb");
    fwrite(data, 1, size / 2, file);
    fclose(file);
    free(data);
    refuse(to, pieced, NULL, bad, "is no whole archive");
    remove_tree(from);
    remove_tree(to);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    char *from = new_folder(), *to = new_folder(), path[256];
    sleeper own = {.calls = 3, .seconds = .8};
    ck_assert_int_eq(train_sleeping(from, &own, 1.3), 1); /* one run is enough */
    szg_reproduction *runs = open_pieced(from);
    path_in(from, "runs.tar.xz", path);
    ck_survives_failed_allocations(10, szg_reproduction_pack(test_context(), runs, path, 1 << 20));
    szg_reproduction_close(&runs);
    runs = open_pieced(to);
    ck_survives_failed_allocations(20, szg_reproduction_take(test_context(), runs, path));
    ck_assert_int_eq(count_finished(runs), 1);
    szg_reproduction_close(&runs);
    check_same(from, to);
    remove_tree(from);
    remove_tree(to);
}
END_TEST

/* ---- Tables ---- */

static const char *text_at(const szg_table *table, int64_t row, const char *name) {
    return szg_table_get_text(table, row, column(table, name));
}

START_TEST(switches_compare_seed_by_seed) {
    char *folder = new_folder();
    szg_reproduction_tables tables;
    train_whole(folder, pieced);
    szg_reproduction *runs = open_pieced(folder);
    ck_szg_ok(szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
    const szg_table *switches = tables.switches;
    ck_assert_int_eq(szg_table_rows(switches), 3); /* plain: rope, nope, partial rope */
    double with[3], without[2];
    static const int64_t with_rows[] = {2, 5, 7}, without_rows[] = {1, 4};
    for (int i = 0; i < 3; i++)
        with[i] = real_at(tables.runs, with_rows[i], "test_accuracy");
    for (int i = 0; i < 2; i++)
        without[i] = real_at(tables.runs, without_rows[i], "test_accuracy");
    ck_assert_str_eq(text_at(switches, 0, "encoding"), "rope");
    ck_assert_str_eq(text_at(switches, 0, "with"), "model.mask=causal model.added_sinusoid=none");
    ck_assert_str_eq(text_at(switches, 0, "without"),
                     "model.mask=none model.added_sinusoid=halves");
    ck_close(real_at(switches, 0, "accuracy"), (with[0] + with[1] + with[2]) / 3, 1e-15);
    ck_close(real_at(switches, 0, "accuracy_without"), (without[0] + without[1]) / 2, 1e-15);
    double first = with[0] - without[0], second = with[1] - without[1];
    ck_close(real_at(switches, 0, "difference"), (first + second) / 2, 1e-15);
    ck_close(real_at(switches, 0, "difference_spread"), fabs(first - second) / sqrt(2), 1e-15);
    ck_assert(real_at(switches, 0, "pairs") == 2 && real_at(switches, 0, "seeds") == 3);
    ck_assert_str_eq(text_at(switches, 1, "note"), "base has no run of this encoding and task");
    ck_assert(szg_table_is_empty(switches, 1, column(switches, "difference")));
    /* Switches are no rows of table 1. */
    ck_assert_int_eq(szg_table_rows(tables.table1), 2);
    /* Both ways of ablating mla. */
    int64_t columns = 0;
    for (int64_t row = 0; row < szg_table_rows(tables.deposit); row++)
        columns += strcmp(text_at(tables.deposit, row, "method"), "latent_columns") == 0;
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
    /* A seed that has run without its partner is no pair. */
    char path[512];
    snprintf(path, sizeof path, "%s/runs/base/distance/rope/run-3/finished.json", folder);
    ck_assert_int_eq(unlink(path), 0);
    runs = open_pieced(folder);
    ck_szg_ok(szg_reproduction_report(test_context(), runs, NULL, 0, &tables));
    ck_assert(real_at(tables.switches, 0, "pairs") == 1);
    ck_close(real_at(tables.switches, 0, "difference"), second, 1e-15);
    ck_assert(szg_table_is_empty(tables.switches, 0, column(tables.switches, "difference_spread")));
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&runs);
    remove_tree(folder);
}
END_TEST

void test_register(Suite *suite) {
    test_add(suite, "parts", parts_go_on_and_switches_inherit);
    test_add(suite, "bad parts", bad_parts_are_refused);
    test_add(suite, "pieces", pieces_change_nothing);
    test_add(suite, "not begun", what_would_not_be_finished_is_not_begun);
    test_add(suite, "begun", what_no_piece_can_hold_is_begun);
    test_add(suite, "travel", runs_travel);
    test_add(suite, "equal archives", archives_of_the_same_runs_are_equal);
    test_add(suite, "begun runs travel", begun_runs_travel_where_they_are_small_enough);
    test_add(suite, "foreign archives", foreign_archives_are_refused);
    test_add(suite, "allocations", failed_allocations_are_survived);
    test_add(suite, "switches", switches_compare_seed_by_seed);
}

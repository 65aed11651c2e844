/* A preset's runs from folder to folder in archives: sound ones change nothing, others are refused
 * before a file is written. */
#include <sys/stat.h>
#include "base/file.h"

#include "../../train/run/run_private.h"
#include "archives.h"

/* Machine after machine: each takes the archive of the one before, trains a piece or is killed at
 * it, and packs. */
static void travel(const char *other, int64_t carry) {
    char *home = new_folder(), path[256];
    path_in(home, "runs.tar.xz", path);
    pack(home, path, 0);
    bool done = false;
    int64_t killed = 0;
    for (int64_t machine = 0; !done; machine++) {
        char *folder = new_folder();
        ck_assert_int_lt(machine, 100);
        take(folder, path);
        if (machine % 2 == 0)
            killed += train_until_killed(folder, 40 + 13 * machine);
        done = train_piece(folder, 20 * (1 + machine));
        pack(folder, path, carry);
        remove_tree(folder);
    }
    ck_assert_int_ge(killed, 3);
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
    test_clock cut = {.calls = 4, .seconds = .3};
    ck_assert_int_eq(train_by(&cut, from, .2), 0);
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
    test_clock shorter = {.calls = 3, .seconds = .3};
    ck_assert_int_eq(train_by(&shorter, to, .2), 0);
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

START_TEST(foreign_archives_are_refused) {
    char *from = new_folder(), *to = new_folder(), path[256], bad[256];
    const char *override = "loop.learning_rate=0.02";
    train_whole(from, pieced);
    pack(from, path_in(from, "runs.tar.xz", path), 0);
    path_in(from, "bad.tar.xz", bad);
    refuse(to, toy, NULL, path, "belongs to no run of preset toy");
    refuse(to, pieced, &override, path, "another configuration");
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

static ino_t file_at(const char *folder, const char *name) {
    char path[512];
    struct stat info;
    snprintf(path, sizeof path, "%s/" RUN "%s", folder, name);
    ck_assert_msg(stat(path, &info) == 0, "%s", path);
    return info.st_ino;
}

/* The lock of a training holds off who takes its run from an archive; the runs before it are taken,
 * and the same command goes on. */
START_TEST(runs_that_train_are_not_taken) {
    char *from = new_folder(), *to = new_folder(), path[256], folder[256];
    run_log log;
    train_whole(from, pieced);
    pack(from, path_in(from, "runs.tar.xz", path), 0);
    path_in(to, RUN, folder);
    ck_szg_ok(szgi_folder_create(test_context(), folder));
    ck_szg_ok(szgi_log_open(test_context(), folder, "metrics.csv", &log));
    szg_reproduction *runs = open_pieced(to);
    ck_szg_fails(SZG_EIO, RUN "metrics.csv: another process is at work in this folder",
                 szg_reproduction_take(test_context(), runs, path));
    ck_assert_int_eq(count_finished(runs), 1); /* MLA's, which comes before */
    ck_assert_int_eq(files_in(folder), 3);     /* ., .. and the log */
    szg_reproduction_close(&runs);
    ino_t locked = file_at(to, "metrics.csv");
    szgi_log_close(&log);
    ck_assert_int_eq(take(to, path), PIECED_RUNS);
    ck_assert(file_at(to, "metrics.csv") == locked); /* its lock held to the end */
    check_same(from, to);
    remove_tree(from);
    remove_tree(to);
}
END_TEST

/* What another process finished since the folder was opened keeps its weights and its numbers. */
START_TEST(runs_that_were_finished_meanwhile_stay) {
    static const char *const stay[] = {"checkpoint.safetensors", "checkpoint.state.safetensors",
                                       "metrics.csv", "finished.json"};
    enum { COUNT = sizeof stay / sizeof *stay };
    char *from = new_folder(), *to = new_folder(), path[256];
    ino_t before[COUNT];
    test_clock own = {0};
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .message = keep_note, .clock = look_at_clock, .user = &own};
    szg_context *context;
    train_whole(from, pieced);
    pack(from, path_in(from, "runs.tar.xz", path), 0);
    szg_reproduction *runs = open_pieced(to);
    train_whole(to, pieced);
    for (int i = 0; i < COUNT; i++)
        before[i] = file_at(to, stay[i]);
    ck_szg_ok(szg_context_open(&options, &context));
    ck_szg_ok(szg_reproduction_take(context, runs, path));
    szg_context_close(&context);
    for (int i = 0; i < COUNT; i++)
        ck_assert_msg(file_at(to, stay[i]) == before[i], "%s is another file", stay[i]);
    ck_assert_int_eq(count_finished(runs), PIECED_RUNS);
    ck_assert_ptr_nonnull(strstr(own.text, "took 0 finished and 0 begun runs; 9 were here"));
    szg_reproduction_close(&runs);
    check_same(from, to);
    remove_tree(from);
    remove_tree(to);
}
END_TEST

/* Another process that takes an archive while the heads of the first run are ablated. */
typedef struct taker {
    szg_reproduction *runs;
    const char *path;
    szg_status status;
    char words[512];
    int64_t attempts;
} taker;

static void take_beside(void *user, const char *what, int64_t done, int64_t total) {
    taker *own = user;
    (void)done, (void)total;
    if (strcmp(what, "ablating heads") != 0 || own->attempts++ > 0)
        return;
    own->status = szg_reproduction_take(test_context(), own->runs, own->path);
    snprintf(own->words, sizeof own->words, "%s", szg_context_message(test_context()));
}

START_TEST(runs_that_are_ablated_are_not_taken) {
    char *from = new_folder(), *to = new_folder(), path[256];
    szg_context *context;
    train_whole(from, pieced);
    pack(from, path_in(from, "runs.tar.xz", path), 0);
    taker own = {.runs = open_pieced(to), .path = path};
    szg_reproduction *runs = open_pieced(to);
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1,
                                   .progress = take_beside, .user = &own};
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    szg_status status = szg_reproduction_train(context, runs, 0);
    ck_assert_msg(status == SZG_OK, "%s", szg_context_message(context));
    szg_context_close(&context);
    ck_assert_int_gt(own.attempts, 0);
    ck_assert_int_eq(own.status, SZG_EIO);
    ck_assert_ptr_nonnull(strstr(own.words, "another process is at work in this folder"));
    ck_assert(holds(to, "base/distance/mla/run-3", "checkpoint.safetensors"));
    szg_reproduction_close(&runs);
    szg_reproduction_close(&own.runs);
    check_same(from, to);
    remove_tree(from);
    remove_tree(to);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    char *from = new_folder(), *to = new_folder(), path[256];
    test_clock own = {.calls = 3, .seconds = .8};
    ck_assert_int_eq(train_by(&own, from, 1.3), 1); /* one run is enough */
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

TEST_FILE("reproduce_archives") {
    test_add(suite, "travel", runs_travel);
    test_add(suite, "equal archives", archives_of_the_same_runs_are_equal);
    test_add(suite, "begun runs travel", begun_runs_travel_where_they_are_small_enough);
    test_add(suite, "foreign archives", foreign_archives_are_refused);
    test_add(suite, "runs that train", runs_that_train_are_not_taken);
    test_add(suite, "finished meanwhile", runs_that_were_finished_meanwhile_stay);
    test_add(suite, "runs that are ablated", runs_that_are_ablated_are_not_taken);
    test_add(suite, "allocations", failed_allocations_are_survived);
}

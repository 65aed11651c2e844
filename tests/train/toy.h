/* Presets whose runs train in milliseconds, and what is done with them. */
#ifndef SZG_TESTS_TOY_H
#define SZG_TESTS_TOY_H

#include <ftw.h>
#include <signal.h>
#include <sys/wait.h>
#include "formats/csv.h"
#include <szego/reproduce.h>

#include "tiny.h"

static const char toy[] =
    "{\"name\": \"toy\", \"about\": \"for a test\", \"seeds\": [3, 4],\n"
    " \"config\": {\"model\": {\"vocabulary\": 20, \"width\": 8, \"hidden\": 8, \"layers\": 2,"
    " \"heads\": 2, \"max_length\": 16}, \"loop\": {\"batch\": 16, \"epochs\": 2,"
    " \"learning_rate\": 0.01}},\n"
    " \"tasks\": {\"distance\": {\"data\": {\"examples\": 60, \"between_max\": 4, \"side_max\": 2,"
    " \"longest\": 10}}, \"count\": {\"data\": {\"examples\": 50, \"words\": 8, \"count_max\": 5,"
    " \"triggers\": 3}, \"loop\": {\"epochs\": 1}}},\n"
    " \"experiments\": [{\"name\": \"text\", \"profile\": \"text\", \"encodings\": [\"nope\","
    " \"rope\"], \"rotated_heads\": [1], \"ablation\": true},\n"
    "  {\"name\": \"open\", \"profile\": \"released\", \"tasks\": [\"distance\"],"
    " \"encodings\": [\"alibi\"], \"config\": {\"model\": {\"mask\": \"causal\"}}}]}\n";
enum { TOY_RUNS = 2 * (2 * 3 + 1) };

static inline int remove_entry(const char *path, const struct stat *info, int type,
                               struct FTW *walk) {
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static inline void remove_tree(char *folder) {
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

static inline void write_preset(const char *folder, const char *text, char path[256]) {
    FILE *file = fopen(path_in(folder, "preset.json", path), "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static inline szg_status open_preset(szg_context *context, const char *folder, const char *preset,
                                     const char *const *overrides, int64_t count,
                                     szg_reproduction **out) {
    char path[256];
    write_preset(folder, preset, path);
    szg_reproduction_options options = {SZG_INIT(szg_reproduction_options), .preset = path,
                                        .overrides = overrides, .override_count = count,
                                        .folder = folder};
    return szg_reproduction_open(context, &options, out);
}

/* Each preset with the words in which it is refused. */
static inline void presets_are_refused(size_t count, const char *const (*bad)[2]) {
    char *folder = new_folder();
    szg_reproduction *runs;
    for (size_t i = 0; i < count; i++)
        ck_szg_fails(SZG_EDATA, bad[i][1],
                     open_preset(test_context(), folder, bad[i][0], NULL, 0, &runs));
    remove_tree(folder);
}

/* Every table that does not hold timings, as text. */
static inline char *tables_text(const char *folder, const char *preset) {
    szg_reproduction *toys;
    szg_reproduction_tables tables;
    char *text;
    size_t size;
    ck_szg_ok(open_preset(test_context(), folder, preset, NULL, 0, &toys));
    ck_szg_ok(szg_reproduction_report(test_context(), toys, NULL, 0, &tables));
    const szg_table *all[] = {tables.missing, tables.runs,  tables.curves,  tables.ablation,
                              tables.deposit, tables.items, tables.settings};
    FILE *stream = open_memstream(&text, &size);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            ck_szg_ok(szgi_csv_print(test_context(), all[i], stream));
    fclose(stream);
    szg_reproduction_tables_close(&tables);
    szg_reproduction_close(&toys);
    return text;
}

static inline void train_whole(const char *folder, const char *preset) {
    szg_reproduction *toys;
    ck_szg_ok(open_preset(test_context(), folder, preset, NULL, 0, &toys));
    ck_szg_ok(szg_reproduction_train(test_context(), toys, 0));
    szg_reproduction_close(&toys);
}

static inline void open_tables(const char *folder, const char *preset, szg_reproduction **runs,
                               szg_reproduction_tables *tables) {
    ck_szg_ok(open_preset(test_context(), folder, preset, NULL, 0, runs));
    ck_szg_ok(szg_reproduction_report(test_context(), *runs, NULL, 0, tables));
}

static inline void close_tables(szg_reproduction **runs, szg_reproduction_tables *tables) {
    szg_reproduction_tables_close(tables);
    szg_reproduction_close(runs);
}

static inline int64_t column(const szg_table *table, const char *name) {
    int64_t index = szg_table_find(table, name);
    ck_assert_int_ge(index, 0);
    return index;
}

static inline double real_at(const szg_table *table, int64_t row, const char *name) {
    return szg_table_get_real(table, row, column(table, name));
}

static inline const char *text_at(const szg_table *table, int64_t row, const char *name) {
    return szg_table_get_text(table, row, column(table, name));
}

/* ---- What a run left, in other words ---- */

static inline void write_run_text(const char *folder, const char *run, const char *name,
                                  const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/runs/%s/%s", folder, run, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

/* Another number in finished.json. */
static inline void write_number(const char *folder, const char *run, const char *name,
                                double value) {
    char key[64], path[160], *out;
    size_t size;
    snprintf(path, sizeof path, "runs/%s/finished.json", run);
    snprintf(key, sizeof key, "\"%s\":", name);
    char *text = file_bytes(folder, path, &size);
    ck_assert_ptr_nonnull(text);
    const char *at = strstr(text, key);
    ck_assert_ptr_nonnull(at);
    ck_assert_int_ge(
        asprintf(&out, "%.*s%s %.17g%s", (int)(at - text), text, key, value, at + strcspn(at, ",")),
        0);
    write_run_text(folder, run, "finished.json", out);
    free(out);
    free(text);
}

/* ---- Processes ---- */

/* A process of its own that trains the preset for `seconds` of its context's clock; 0: whole. */
static inline pid_t train_apart(const char *folder, const char *preset,
                                const szg_context_options *options, double seconds) {
    fflush(stdout);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child != 0)
        return child;
    szg_context *context;
    szg_reproduction *toys;
    bool done = szg_context_open(options, &context) == SZG_OK &&
                open_preset(context, folder, preset, NULL, 0, &toys) == SZG_OK &&
                szg_reproduction_train(context, toys, seconds) == SZG_OK;
    _exit(done ? 0 : 1); /* no handle is closed: who is killed closes none */
}

/* Waits for the process; whether it was killed. One that failed or crashed fails the test. */
static inline bool was_killed(pid_t child) {
    int state;
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    bool killed = WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL;
    ck_assert_msg(killed || (WIFEXITED(state) && WEXITSTATUS(state) == 0),
                  "the process that trains ended with state %d", state);
    return killed;
}

#endif

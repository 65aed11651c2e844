/* products.csv: what a run says of its products where a device computes them. */
#include <stdlib.h>
#include <string.h>
#include "linalg/ops.h"
#include "base/file.h"
#include "formats/csv.h"

#include "suite.h"
#include "tested_backend.h"
#include "tiny.h"

static const szg_column columns[] = {
    {"device", SZG_TEXT, ""}, {"library", SZG_TEXT, ""},  {"backend", SZG_TEXT, ""},
    {"m", SZG_INTEGER, ""},   {"n", SZG_INTEGER, ""},     {"k", SZG_INTEGER, ""},
    {"fused", SZG_TEXT, ""},  {"separate", SZG_TEXT, ""}, {"algorithm", SZG_TEXT, ""},
};
enum { DEVICE, LIBRARY, BACKEND, M, N, K, FUSED, SEPARATE, ALGORITHM, COLUMNS };

/* Whether a list with + between has the word. */
static bool names(const char *list, const char *pass) {
    size_t length = strlen(pass);
    for (; list; list = strchr(list, '+') ? strchr(list, '+') + 1 : NULL)
        if (strcspn(list, "+") == length && strncmp(list, pass, length) == 0)
            return true;
    return false;
}

/* Whether a row says of a pass, and of one kind of place alone, what was done with it. */
static int rows_with(const szg_table *table, const char *pass) {
    int found = 0;
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        bool fused = names(szg_table_get_text(table, row, FUSED), pass);
        bool separate = names(szg_table_get_text(table, row, SEPARATE), pass);
        ck_assert(!(fused && separate));
        found += fused || separate;
    }
    return found;
}

static void ck_rows(const szg_table *table) {
    szg_device device;
    int count;
    const char *libraries;
    ck_szg_ok(szg_backend_devices(test_context(), 1, &device, &count, &libraries));
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        ck_assert_str_eq(szg_table_get_text(table, row, DEVICE), device.name);
        ck_assert(strstr(libraries, szg_table_get_text(table, row, LIBRARY)));
        ck_assert_str_eq(szg_table_get_text(table, row, BACKEND),
                         szgi_backend_name(test_context()));
        ck_assert(szg_table_get_integer(table, row, M) > 0);
        ck_assert(szg_table_get_integer(table, row, N) > 0);
        ck_assert(szg_table_get_integer(table, row, K) > 0);
        ck_assert_uint_eq(strlen(szg_table_get_text(table, row, ALGORITHM)), 128);
    }
}

/* A cpu has nothing to say: there is no file. */
START_TEST(a_run_tells_its_products) {
    szg_train_config *config = new_tiny(NULL);
    char *folder = whole_run(config), path[256];
    szg_table *table;
    if (!test_on_device()) {
        ck_assert_int_ne(access(path_in(folder, "products.csv", path), F_OK), 0);
    } else {
        ck_szg_ok(szgi_csv_read(test_context(), path_in(folder, "products.csv", path), columns,
                                COLUMNS, &table));
        ck_rows(table);
        /* Every layer has a bias, and those of the feed-forward network's first half a RELU. */
        ck_assert_int_gt(rows_with(table, "bias_gradient"), rows_with(table, "derivative"));
        ck_assert_int_gt(rows_with(table, "derivative"), 0);
        ck_assert_int_gt(rows_with(table, "bias"), rows_with(table, "relu"));
        ck_assert_int_gt(rows_with(table, "relu"), 0);
        ck_assert_int_eq(rows_with(table, "gelu"), 0);
        szg_table_close(&table);
    }
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

/* ---- Timed algorithms ----
 * The emulated GPU's clock makes one of four the fastest; they differ in the order of their sums.
 */

static szg_status part_of_run(const szg_train_config *config, const char *fastest, int64_t limit,
                              const char *folder, bool resume) {
    szg_train_config *part = new_tiny(NULL);
    szg_train_result result;
    *part = *config;
    part->loop.limit_steps = limit;
    setenv("SZG_EMULATED_FASTEST", fastest, 1);
    use_tested_backend(); /* a session that knows nothing */
    szg_status status = run_in(test_context(), part, 5, folder, resume, &result);
    unsetenv("SZG_EMULATED_FASTEST");
    szgi_memory_free(part);
    return status;
}

static void copy_file(const char *from, const char *to, const char *name) {
    size_t size;
    char path[256], *data = file_bytes(from, name, &size);
    ck_assert_ptr_nonnull(data);
    ck_szg_ok(szgi_folder_create(test_context(), to));
    FILE *file = fopen(path_in(to, name, path), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, size, file), size);
    fclose(file);
    free(data);
}

static bool same_weights(const char *folder, const char *other) {
    size_t size, other_size;
    char *a = file_bytes(folder, "checkpoint.safetensors", &size);
    char *b = file_bytes(other, "checkpoint.safetensors", &other_size);
    bool same = size == other_size && memcmp(a, b, size) == 0;
    free(a), free(b);
    return same;
}

/* Whichever algorithm is the fastest when the run goes on or is repeated, it takes those that
 * products.csv has; and these are what makes the bits. */
START_TEST(timed_runs_repeat_to_the_bit) {
    szg_train_config *config = new_tiny("loop.time_products=true");
    char *folders[4], path[256];
    for (int i = 0; i < 4; i++)
        folders[i] = new_run_folder();
    ck_szg_ok(part_of_run(config, "3", 0, folders[0], false));
    for (int i = 1; i < 3; i++) { /* the last batch of an epoch is another shape: steps 3, 6, 9 */
        ck_szg_ok(part_of_run(config, "3", 4, folders[i], false));
        if (i == 2)
            ck_assert_int_eq(remove(path_in(folders[i], "products.csv", path)), 0);
        ck_szg_ok(part_of_run(config, "1", 7, folders[i], true));
        ck_szg_ok(part_of_run(config, "2", 0, folders[i], true));
    }
    ck_same_run(folders[0], folders[1]);
    ck_assert(!same_weights(folders[0], folders[2]));
    copy_file(folders[0], folders[3], "products.csv");
    ck_szg_ok(part_of_run(config, "1", 0, folders[3], false));
    ck_same_run(folders[0], folders[3]);
    for (int i = 0; i < 4; i++)
        remove_run_folder(folders[i]);
    szgi_memory_free(config);
}
END_TEST

/* A whole run in the session that is there. */
static void run_timed(const char *key, const char *fastest, const char *folder) {
    szg_train_config *config = new_tiny(key);
    szg_train_result result;
    setenv("SZG_EMULATED_FASTEST", fastest, 1);
    ck_szg_ok(run_in(test_context(), config, 5, folder, false, &result));
    unsetenv("SZG_EMULATED_FASTEST");
    szgi_memory_free(config);
}

/* As those of `szego train --seeds` and of `reproduce`: a run has the algorithms, the bits and the
 * products that it has alone, whatever ran before it. */
START_TEST(runs_of_a_session_do_not_know_each_other) {
    static const char timed[] = "loop.time_products=true", wider[] = "model.hidden=12";
    char *before = new_run_folder(), *after = new_run_folder(), *alone = new_run_folder();
    char *after_wider = new_run_folder(), *alone_wider = new_run_folder();
    run_timed(timed, "3", before);
    run_timed(timed, "1", after);
    run_timed(wider, "1", after_wider);
    use_tested_backend();
    run_timed(timed, "1", alone);
    use_tested_backend();
    run_timed(wider, "1", alone_wider);
    ck_assert(!same_weights(before, after));
    ck_same_run(after, alone);
    ck_same_run(after_wider, alone_wider);
    ck_same_file(after_wider, alone_wider, "products.csv"); /* no times in it */
    char *const folders[] = {before, after, alone, after_wider, alone_wider};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        remove_run_folder(folders[i]);
}
END_TEST

static void cancel(void *user, const char *what, int64_t done, int64_t total) {
    (void)total;
    if (done > TINY_EPOCH && strncmp(what, "epoch", 5) == 0) /* every shape was there */
        szg_context_cancel(*(szg_context **)user);
}

/* A state is never without the algorithms that made it. */
START_TEST(an_interrupted_run_keeps_its_algorithms) {
    szg_train_config *config = new_tiny("loop.time_products=true");
    szg_context *context;
    szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1, .progress = cancel,
                                   .user = &context};
    szg_train_result result;
    char *whole = new_run_folder(), *folder = new_run_folder();
    ck_szg_ok(part_of_run(config, "3", 0, whole, false));
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    setenv("SZG_EMULATED_FASTEST", "3", 1);
    ck_assert_int_eq(szg_backend_select(context, test_backend()), SZG_OK);
    ck_assert_int_eq(run_in(context, config, 5, folder, false, &result), SZG_ECANCEL);
    szg_context_close(&context);
    ck_szg_ok(part_of_run(config, "1", 0, folder, true));
    ck_same_run(whole, folder);
    remove_run_folder(folder);
    remove_run_folder(whole);
    szgi_memory_free(config);
}
END_TEST

static const struct {
    const char *from, *to, *words;
} edits[] = {
    {",n,", ",x,", "row 1: op_"},
    {",t,", ",x,", "row 1: op_"},
    {",yes,", ",maybe,", ": add is not"},
    {",bias+", ",bais+", " is not a list of passes"},
    {"library", "libarry", "library"},
    {"00000000", "0000000", ": algorithm is not 64 bytes"},
    {"00000000", "0000000g", ": algorithm is not 64 bytes"},
    {",256,256,256,", ",256,0,256,", ": alignment_"},
};
enum { EDITS = sizeof edits / sizeof *edits };

/* The first place of `from` in the file's rows, or else in its header, reads `to`. */
static void edit(const char *folder, const char *from, const char *to) {
    size_t size;
    char path[256], *data = file_bytes(folder, "products.csv", &size);
    char *in_rows = strstr(strchr(data, '\n'), from), *at = in_rows ? in_rows : strstr(data, from);
    ck_assert_msg(at, "%s", from);
    FILE *file = fopen(path_in(folder, "products.csv", path), "wb");
    ck_assert_ptr_nonnull(file);
    fwrite(data, 1, (size_t)(at - data), file);
    fputs(to, file);
    fputs(at + strlen(from), file);
    fclose(file);
    free(data);
}

START_TEST(malformed_products_are_refused) {
    szg_train_config *config = new_tiny("loop.time_products=true");
    char *folder = new_run_folder(), *other = new_run_folder();
    ck_szg_ok(part_of_run(config, "3", 4, folder, false));
    copy_file(folder, other, "products.csv");
    for (int i = 0; i < EDITS; i++) {
        copy_file(other, folder, "products.csv");
        edit(folder, edits[i].from, edits[i].to);
        ck_szg_fails(SZG_EDATA, edits[i].words, part_of_run(config, "3", 0, folder, true));
        ck_assert(strstr(szg_context_message(test_context()), "products.csv"));
    }
    copy_file(other, folder, "products.csv");
    ck_szg_ok(part_of_run(config, "3", 0, folder, true));
    remove_run_folder(other);
    remove_run_folder(folder);
    szgi_memory_free(config);
}
END_TEST

TEST_FILE("products") {
    test_before_each(use_tested_backend);
    test_add(suite, "a_run_tells_its_products", a_run_tells_its_products);
    if (!test_on_device() || !getenv("SZG_EMULATED_HOST")) /* a true one has its own fastest */
        return;
    test_add(suite, "timed_runs_repeat_to_the_bit", timed_runs_repeat_to_the_bit);
    test_add(suite, "runs_of_a_session_do_not_know_each_other",
             runs_of_a_session_do_not_know_each_other);
    test_add(suite, "an_interrupted_run_keeps_its_algorithms",
             an_interrupted_run_keeps_its_algorithms);
    test_add(suite, "malformed_products_are_refused", malformed_products_are_refused);
}

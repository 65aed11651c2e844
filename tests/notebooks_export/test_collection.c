/* Results below a folder, and their tables joined. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "notebooks_export/collection/collection.h"
#include <szego/export.h>
#include "base/table.h"

#include "scratch.h"

static const szg_column run[] = {{"step", SZG_INTEGER, "from the first"},
                                 {"loss", SZG_REAL, "of the first"},
                                 {"note", SZG_TEXT, "remarks"}};

/* A result of `command` with one table of one row a value; its folder is the scratch `folder`. */
static szg_status write_result(const char *folder, const char *command, const char *name,
                               int64_t rows, double first) {
    szg_context *context = test_context();
    szg_result *result;
    szg_table *table;
    SZG_TRY(szg_result_open(context, command, &result));
    SZG_TRY(szg_table_open(context, name, run, 3, &table));
    for (int64_t i = 0; i < rows; i++) {
        SZG_TRY(szg_table_add_row(context, table));
        SZG_TRY(szgi_table_put_integer(context, table, 0, i));
        SZG_TRY(szgi_table_put_real(context, table, 1, first + (double)i));
        if (i == 0)
            SZG_TRY(szg_table_note(context, table, "begins"));
    }
    SZG_TRY(szg_result_add(context, result, &table));
    szg_status status = szg_result_write(context, result, scratch_path(folder), NULL);
    szg_result_close(&result);
    return status;
}

/* A result with one table: the columns as JSON and the file as text. */
static void write_table(const char *folder, const char *command, const char *name,
                        const char *columns, int rows, const char *csv) {
    char path[256], manifest[2048];
    mkdir(scratch_path(folder), 0777);
    snprintf(manifest, sizeof manifest,
             "{\"format\":\"szego-results-1\",\"command\":\"%s\",\"provenance\":{},\"tables\":"
             "[{\"name\":\"%s\",\"file\":\"%s.csv\",\"rows\":%d,\"columns\":[%s]}]}",
             command, name, name, rows, columns);
    snprintf(path, sizeof path, "%s/manifest.json", folder);
    scratch_text(path, manifest);
    snprintf(path, sizeof path, "%s/%s.csv", folder, name);
    scratch_text(path, csv);
}

static void write_raw_of(const char *command, const char *folder, const char *columns, int rows,
                         const char *csv) {
    write_table(folder, command, "t", columns, rows, csv);
}

static void write_raw(const char *folder, const char *columns, int rows, const char *csv) {
    write_raw_of("x", folder, columns, rows, csv);
}

#define COLUMN(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"doc\":\"\"}"

static szg_collection *open_folder(const char *folder) {
    szg_collection *all;
    ck_szg_ok(szg_collection_open(test_context(), scratch_path(folder), &all));
    return all;
}

static const char *text_at(const szg_table *table, int64_t row, const char *column) {
    int64_t at = szg_table_find(table, column);
    ck_assert_int_ge(at, 0);
    return szg_table_get_text(table, row, at);
}

static void check_columns(const szg_table *table, int64_t count, const char *const *names) {
    ck_assert_int_eq(szg_table_columns(table), count);
    for (int64_t i = 0; i < count; i++)
        ck_assert_str_eq(szg_table_column(table, i)->name, names[i]);
}

START_TEST(results_are_found_in_order) {
    static const char *const order[] = {".", "a", "a/z", "a-b", "b"};
    ck_szg_ok(write_result("tree/b/", "train", "metrics", 2, 50));
    ck_szg_ok(write_result("tree/a/z/", "train", "metrics", 1, 20));
    ck_szg_ok(write_result("tree/a-b/", "train", "metrics", 3, 30));
    ck_szg_ok(write_result("tree/a/", "train", "metrics", 1, 10));
    ck_szg_ok(write_result("tree/", "spectrum", "summary", 4, 0));
    mkdir(scratch_path("tree/empty"), 0777);
    static const char *const folders[] = {"tree", "tree/", "tree//"};
    for (int k = 0; k < 3; k++) {
        szg_collection *all = open_folder(folders[k]);
        ck_assert_str_eq(szgi_collection_folder(all), scratch_path(folders[k]));
        ck_assert_int_eq(szg_collection_count(all), 5);
        ck_assert_int_eq(szg_collection_bad_count(all), 0);
        for (int i = 0; i < 5; i++)
            ck_assert_str_eq(szgi_collection_path(all, i), order[i]);
        ck_assert_str_eq(szg_result_command(szgi_collection_result(all, 0)), "spectrum");
        ck_assert_int_eq(szg_collection_tables(all), 2);
        ck_assert_ptr_eq(szgi_collection_table(all, 0),
                         szgi_collection_find(all, "spectrum_summary"));
        ck_assert_ptr_null(szgi_collection_find(all, "train_summary"));
        szg_collection_close(&all);
        szg_collection_close(&all);
    }
}
END_TEST

/* Every cell of the join stands in the result that its row names. */
START_TEST(joined_tables_hold_every_row) {
    static const char *const names[] = {"result", "step", "loss", "note"};
    ck_szg_ok(write_result("join/b/", "train", "metrics", 2, 50));
    ck_szg_ok(write_result("join/a/", "train", "metrics", 70000, 10)); /* beyond one block */
    ck_szg_ok(write_result("join/c/", "capture", "metrics", 3, 30));
    ck_szg_ok(write_result("join/d/", "train", "metrics", 0, 0));
    szg_collection *all = open_folder("join");
    const szg_table *joined = szgi_collection_find(all, "train_metrics");
    check_columns(joined, 4, names);
    ck_assert_str_eq(szg_table_column(joined, 2)->doc, "of the first");
    ck_assert_int_eq(szg_table_rows(joined), 70002);
    int64_t row = 0;
    for (int64_t r = 0; r < szg_collection_count(all); r++) {
        const szg_result *result = szgi_collection_result(all, r);
        const szg_table *from = szg_result_find(result, "metrics");
        if (strcmp(szg_result_command(result), "train") != 0)
            continue;
        for (int64_t i = 0; i < szg_table_rows(from); i++, row++) {
            ck_assert_str_eq(szg_table_get_text(joined, row, 0), szgi_collection_path(all, r));
            ck_assert_int_eq(szg_table_get_integer(joined, row, 1), i);
            ck_assert(szg_table_get_real(joined, row, 2) == szg_table_get_real(from, i, 1));
            ck_assert_int_eq(szg_table_is_empty(joined, row, 3), i > 0);
        }
    }
    ck_assert_int_eq(row, 70002);
    ck_assert_int_eq(szg_table_rows(szgi_collection_find(all, "capture_metrics")), 3);
    szg_collection_close(&all);
}
END_TEST

#define END(name, end) "{\"name\":\"" name "\",\"type\":\"real\",\"doc\":\"\",\"end\":\"" end "\"}"

/* One result may be older than the mark; where two contradict each other nothing is outside. */
START_TEST(ends_stay_ends) {
    static const szgi_end ends[] = {SZGI_END_NONE,  SZGI_END_LOWER, SZGI_END_UPPER,
                                    SZGI_END_UPPER, SZGI_END_NONE,  SZGI_END_NONE};
    mkdir(scratch_path("ends"), 0777);
    write_raw("ends/a",
              END("a", "lower") "," END("b", "upper") "," COLUMN("c", "real") "," END(
                  "d", "upper") "," COLUMN("e", "real"),
              1, "a,b,c,d,e\n1,2,3,4,5\n");
    write_raw("ends/b",
              COLUMN("e", "real") "," END("d", "lower") "," END("c", "upper") "," END(
                  "b", "upper") "," COLUMN("a", "integer"),
              1, "e,d,c,b,a\n5,4,3,2,1\n");
    szg_collection *all = open_folder("ends");
    const szg_table *joined = szgi_collection_find(all, "x_t");
    ck_assert_int_eq(szg_table_columns(joined), 6);
    for (int64_t i = 0; i < 6; i++)
        ck_assert_msg(szgi_table_end(joined, i) == ends[i], "%s",
                      szg_table_column(joined, i)->name);
    szg_collection_close(&all);
}
END_TEST

/* Columns that differ: the union, in the order of appearance, `note` last, and the wider type. */
START_TEST(differing_columns_are_widened) {
    static const char *const names[] = {"result",  "i",        "r",    "e",   "k",
                                        "result_", "result__", "late", "note"};
    static const szg_type types[] = {SZG_TEXT, SZG_INTEGER, SZG_REAL, SZG_TEXT, SZG_TEXT,
                                     SZG_TEXT, SZG_INTEGER, SZG_REAL, SZG_TEXT};
    mkdir(scratch_path("wide"), 0777);
    write_raw(
        "wide/a",
        COLUMN("i", "integer") "," COLUMN("note", "text") "," COLUMN("r", "integer") "," COLUMN(
            "e", "integer") "," COLUMN("k", "real") "," COLUMN("result_", "text"),
        2,
        "i,note,r,e,k,result_\n1,first,9007199254740992,9007199254740993,0.1,x\n"
        "-9223372036854775808,,-9223372036854775808,,nan,\n");
    write_raw(
        "wide/b",
        COLUMN("result", "integer") "," COLUMN("late", "real") "," COLUMN("r", "real") "," COLUMN(
            "e", "real") "," COLUMN("k", "text") "," COLUMN("i", "integer"),
        1, "result,late,r,e,k,i\n5,inf,0.25,1e-300,<b>,9223372036854775807\n");
    szg_collection *all = open_folder("wide");
    const szg_table *joined = szgi_collection_find(all, "x_t");
    ck_assert_int_eq(szg_table_columns(joined), 9);
    /* `result` of b is renamed past the `result_` of a: it appears after it */
    check_columns(joined, 9, names);
    for (int64_t i = 0; i < 9; i++)
        ck_assert_int_eq(szg_table_column(joined, i)->type, types[i]);
    ck_assert(szg_table_get_integer(joined, 1, 1) == INT64_MIN);
    ck_assert(szg_table_get_integer(joined, 2, 1) == INT64_MAX);
    ck_assert(szg_table_get_real(joined, 0, 2) == 0x1p53);
    ck_assert(szg_table_get_real(joined, 1, 2) == -0x1p63);
    ck_assert(szg_table_get_real(joined, 2, 2) == 0.25);
    ck_assert_str_eq(text_at(joined, 0, "e"), "9007199254740993");
    ck_assert(szg_table_is_empty(joined, 1, 3));
    ck_assert_str_eq(text_at(joined, 2, "e"), "1e-300");
    ck_assert_str_eq(text_at(joined, 0, "k"), "0.1");
    ck_assert_str_eq(text_at(joined, 1, "k"), "nan");
    ck_assert_str_eq(text_at(joined, 2, "k"), "<b>");
    ck_assert_str_eq(text_at(joined, 0, "result_"), "x");
    ck_assert_int_eq(szg_table_get_integer(joined, 2, 6), 5);
    ck_assert(szg_table_get_real(joined, 2, 7) == (double)INFINITY);
    ck_assert_str_eq(text_at(joined, 0, "note"), "first");
    ck_assert_ptr_null(text_at(joined, 2, "note"));
    ck_assert_str_eq(text_at(joined, 2, "result"), "b");
    szg_collection_close(&all);
}
END_TEST

/* 2^63 - 1 is no double, although the cast back might say so. */
/* A joined table is a table like others: an export can write it. */
START_TEST(hyphens_of_commands_become_underscores) {
    mkdir(scratch_path("hyphen"), 0777);
    write_raw_of("a-b-", "hyphen/a", COLUMN("i", "integer"), 1, "i\n1\n");
    write_raw_of("a--b", "hyphen/b", COLUMN("i", "integer"), 1, "i\n2\n");
    write_raw_of("a-b-", "hyphen/c", COLUMN("i", "integer"), 2, "i\n3\n4\n");
    szg_collection *all = open_folder("hyphen");
    ck_assert_int_eq(szg_collection_tables(all), 2);
    const szg_table *joined = szgi_collection_find(all, "a_b__t");
    ck_assert_ptr_nonnull(joined);
    ck_assert_int_eq(szg_table_rows(joined), 3);
    ck_assert_int_eq(szg_table_get_integer(joined, 2, 1), 4);
    ck_assert_str_eq(text_at(joined, 2, "result"), "c");
    ck_assert_int_eq(szg_table_rows(szgi_collection_find(all, "a__b_t")), 1);
    ck_szg_ok(szg_export_csv(test_context(), all, scratch_path("hyphen/export")));
    szg_collection_close(&all);
    all = open_folder("hyphen/export");
    ck_assert_int_eq(szg_table_rows(szgi_collection_find(all, "a_b__t")), 3);
    szg_collection_close(&all);
}
END_TEST

/* Earlier versions wrote the experiment as the beginning of `run` alone; later ones say it, and
 * what `run` says is nobody's business. */
START_TEST(older_reproductions_get_their_experiment) {
    static const char *const names[] = {"result", "run", "loss", "experiment", "note"},
                             *const wanted[] = {"text", "a-part", NULL, NULL, NULL, "kept", NULL};
    static const char *const tables[] = {"curves", "contraction"};
    mkdir(scratch_path("older"), 0777);
    for (int t = 0; t < 2; t++) {
        write_table("older/a", "reproduce", tables[t],
                    COLUMN("run", "text") "," END("loss", "upper") "," COLUMN("note", "text"), 5,
                    "run,loss,note\ntext/distance/rope/run-0,1,\na-part/x,2,said\nrun-0,3,\n/x,4,\n"
                    ",5,\n");
        for (int alone = 1; alone >= 0; alone--) {
            if (!alone)
                write_table("older/b", "reproduce", tables[t],
                            COLUMN("run", "text") "," COLUMN("experiment",
                                                             "text") "," COLUMN("note", "text"),
                            2, "run,experiment,note\nother/x,kept,\nrun-1,,\n");
            szg_collection *all = open_folder("older");
            const szg_table *joined = szgi_collection_table(all, 0);
            check_columns(joined, 5, names);
            ck_assert_int_eq(szgi_table_end(joined, 2), SZGI_END_UPPER);
            ck_assert_int_eq(szgi_table_end(joined, 3), SZGI_END_NONE);
            ck_assert_int_eq(szg_table_rows(joined), alone ? 5 : 7);
            for (int64_t row = 0; row < szg_table_rows(joined); row++)
                ck_assert_pstr_eq(text_at(joined, row, "experiment"), wanted[row]);
            ck_assert(szg_table_get_real(joined, 4, 2) == 5);
            ck_assert_str_eq(text_at(joined, 1, "note"), "said");
            /* an export of it, and one that an earlier version wrote, read alike */
            ck_szg_ok(szg_export_csv(test_context(), all, scratch_path("older/export")));
            szg_collection_close(&all);
            all = open_folder("older/export");
            ck_assert_str_eq(text_at(szgi_collection_table(all, 0), 0, "experiment"), "text");
            szg_collection_close(&all);
        }
        ck_assert_int_eq(unlink(scratch_path("older/b/manifest.json")), 0);
    }
}
END_TEST

/* No other command's `run` is taken for such a path, and an export of an earlier version has no
 * column either. */
START_TEST(only_reproductions_are_completed) {
    static const char csv[] = "run,note\na/b,\n";
    static const char columns[] = COLUMN("run", "text") "," COLUMN("note", "text");
    mkdir(scratch_path("other"), 0777);
    write_table("other/a", "train", "contraction", columns, 1, csv);
    write_table("other/b", "reproduce", "missing", columns, 1, csv);
    write_table("other/c", "reproduce", "curves",
                COLUMN("run", "integer") "," COLUMN("note", "text"), 1, "run,note\n1,a/b\n");
    szg_collection *all = open_folder("other");
    ck_assert_int_eq(szg_collection_tables(all), 3);
    for (int64_t i = 0; i < 3; i++)
        ck_assert_int_lt(szg_table_find(szgi_collection_table(all, i), "experiment"), 0);
    szg_collection_close(&all);
    write_table("older-export", "export", "reproduce_curves", columns, 1, csv);
    all = open_folder("older-export");
    ck_assert_str_eq(text_at(szgi_collection_table(all, 0), 0, "experiment"), "a");
    szg_collection_close(&all);
}
END_TEST

START_TEST(integers_stay_exact) {
    mkdir(scratch_path("exact"), 0777);
    write_raw("exact/a", COLUMN("v", "integer"), 1, "v\n9223372036854775807\n");
    write_raw("exact/b", COLUMN("v", "real"), 1, "v\n1.5\n");
    szg_collection *all = open_folder("exact");
    const szg_table *joined = szgi_collection_find(all, "x_t");
    ck_assert_str_eq(text_at(joined, 0, "v"), "9223372036854775807");
    ck_assert_str_eq(text_at(joined, 1, "v"), "1.5");
    szg_collection_close(&all);
}
END_TEST

START_TEST(foreign_and_damaged_results_are_told_apart) {
    szg_collection *all;
    ck_szg_ok(write_result("mixed/good/", "train", "metrics", 2, 1));
    static const struct {
        const char *folder, *manifest;
    } foreign[] = {{"mixed/f1", "{\"name\":\"a browser's extension\"}"},
                   {"mixed/f2", "not JSON at all"},
                   {"mixed/f3", "[1,2]"},
                   {"mixed/f4", "{\"format\":7,\"about\":\"szego-results-1\"}"},
                   {"mixed/f5", "{\"format\":\"other\",\"about\":\"szego-results-1\"}"},
                   {"mixed/f6", "{\"format\":\"szego-runs-1\",\"about\":\"szego-results-1\"}"},
                   {"mixed/f7", ""}};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        char path[64];
        mkdir(scratch_path(foreign[i].folder), 0777);
        snprintf(path, sizeof path, "%s/manifest.json", foreign[i].folder);
        scratch_text(path, foreign[i].manifest);
    }
    all = open_folder("mixed");
    ck_assert_int_eq(szg_collection_count(all), 1);
    ck_assert_int_eq(szg_collection_bad_count(all), 0);
    szg_collection_close(&all);
    write_raw("mixed/a", COLUMN("v", "integer"), 2, "v\n1\n");
    mkdir(scratch_path("mixed/b"), 0777);
    scratch_text("mixed/b/manifest.json", "{\"format\":\"szego-results-1\",\"comm");
    mkdir(scratch_path("mixed/c"), 0777);
    scratch_text("mixed/c/manifest.json", "{\"format\":\"szego-results-9\"}");
    all = open_folder("mixed");
    ck_assert_int_eq(szg_collection_count(all), 1);
    ck_assert_str_eq(szgi_collection_path(all, 0), "good");
    ck_assert_int_eq(szg_collection_bad_count(all), 3);
    ck_assert(strstr(szg_collection_bad(all, 0), "mixed/a/t.csv: has 1 rows"));
    ck_assert(strstr(szg_collection_bad(all, 1), "mixed/b/manifest.json: line 1"));
    ck_assert(strstr(szg_collection_bad(all, 2), "mixed/c/manifest.json: format: is szego-res"));
    szg_collection_close(&all);
    ck_szg_fails(SZG_EDATA, "mixed/b: holds no result that can be read: ",
                 szg_collection_open(test_context(), scratch_path("mixed/b"), &all));
    ck_assert_ptr_null(all);
    ck_szg_fails(SZG_EDATA, "holds no results: give a folder that a command wrote with -o DIR/",
                 szg_collection_open(test_context(), scratch_path("mixed/f1"), &all));
    ck_szg_fails(SZG_EIO, "nowhere: cannot be read: No such file",
                 szg_collection_open(test_context(), scratch_path("nowhere"), &all));
    ck_szg_fails(SZG_EIO, "is not a folder",
                 szg_collection_open(test_context(), scratch_path("mixed/a/t.csv"), &all));
}
END_TEST

/* The root may be a link; a link below it is not followed, so that none leads in a circle. */
START_TEST(links_below_are_not_followed) {
    ck_szg_ok(write_result("links/real/", "train", "metrics", 2, 1));
    mkdir(scratch_path("links/file"), 0777);
    ck_assert_int_eq(symlink("..", scratch_path("links/real/up")), 0);
    ck_assert_int_eq(symlink("real", scratch_path("links/again")), 0);
    ck_assert_int_eq(symlink("../real/manifest.json", scratch_path("links/file/manifest.json")), 0);
    ck_assert_int_eq(symlink("links", scratch_path("root")), 0);
    mkdir(scratch_path("links/pipe"), 0777);
    ck_assert_int_eq(mkfifo(scratch_path("links/pipe/manifest.json"), 0777), 0);
    static const char *const roots[] = {"links", "root", "root/"};
    for (int i = 0; i < 3; i++) {
        szg_collection *all = open_folder(roots[i]);
        ck_assert_int_eq(szg_collection_count(all), 1);
        ck_assert_str_eq(szgi_collection_path(all, 0), "real");
        ck_assert_int_eq(szg_collection_bad_count(all), 0);
        szg_collection_close(&all);
    }
}
END_TEST

START_TEST(depth_is_bounded) {
    char path[512] = "deep", result[520];
    ck_szg_ok(write_result("deep/", "train", "metrics", 1, 1));
    for (int i = 1; i <= 66; i++) {
        strcat(path, "/d");
        mkdir(scratch_path(path), 0777);
        snprintf(result, sizeof result, "%s/", path);
        if (i == 64 || i == 65)
            ck_szg_ok(write_result(result, "train", "metrics", 1, i));
    }
    szg_collection *all = open_folder("deep");
    ck_assert_int_eq(szg_collection_count(all), 2);
    ck_assert_int_eq(szg_collection_bad_count(all), 1);
    ck_assert(strstr(szg_collection_bad(all, 0), "lies 64 folders below the first"));
    szg_collection_close(&all);
}
END_TEST

START_TEST(opening_can_be_cancelled) {
    szg_context *context;
    szg_collection *all;
    ck_szg_ok(write_result("cancel/", "train", "metrics", 1, 1));
    ck_szg_ok(szg_context_open(NULL, &context));
    szg_context_cancel(context);
    ck_assert_int_eq(szg_collection_open(context, scratch_path("cancel"), &all), SZG_ECANCEL);
    ck_assert_ptr_null(all);
    szg_context_close(&context);
}
END_TEST

START_TEST(collections_survive_failed_allocations) {
    szg_collection *all;
    mkdir(scratch_path("alloc"), 0777);
    write_raw("alloc/a", COLUMN("result", "integer") "," COLUMN("w", "real"), 1, "result,w\n1,2\n");
    write_raw("alloc/b", COLUMN("result", "real") "," COLUMN("w", "text"), 1, "result,w\n1,2\n");
    write_raw("alloc/c", COLUMN("v", "real"), 3, "v\n1.5\n");
    const char *folder = scratch_path("alloc");
    ck_survives_failed_allocations(40, szg_collection_open(test_context(), folder, &all));
    ck_assert_int_eq(szg_collection_count(all), 2);
    ck_assert_int_eq(szg_collection_bad_count(all), 1);
    szg_collection_close(&all);
    mkdir(scratch_path("alloc-older"), 0777);
    write_table("alloc-older/a", "reproduce", "curves",
                COLUMN("run", "text") "," COLUMN("loss", "real"), 1, "run,loss\na/b,2\n");
    folder = scratch_path("alloc-older");
    ck_survives_failed_allocations(40, szg_collection_open(test_context(), folder, &all));
    ck_assert_str_eq(text_at(szgi_collection_table(all, 0), 0, "experiment"), "a");
    szg_collection_close(&all);
}
END_TEST

TEST_FILE("collection") {
    test_add(suite, "results_are_found_in_order", results_are_found_in_order);
    test_add(suite, "joined_tables_hold_every_row", joined_tables_hold_every_row);
    test_add(suite, "ends_stay_ends", ends_stay_ends);
    test_add(suite, "differing_columns_are_widened", differing_columns_are_widened);
    test_add(suite, "hyphens_of_commands_become_underscores",
             hyphens_of_commands_become_underscores);
    test_add(suite, "older_reproductions_get_their_experiment",
             older_reproductions_get_their_experiment);
    test_add(suite, "only_reproductions_are_completed", only_reproductions_are_completed);
    test_add(suite, "integers_stay_exact", integers_stay_exact);
    test_add(suite, "foreign_and_damaged_results_are_told_apart",
             foreign_and_damaged_results_are_told_apart);
    test_add(suite, "links_below_are_not_followed", links_below_are_not_followed);
    test_add(suite, "depth_is_bounded", depth_is_bounded);
    test_add(suite, "opening_can_be_cancelled", opening_can_be_cancelled);
    test_add(suite, "collections_survive_failed_allocations",
             collections_survive_failed_allocations);
}

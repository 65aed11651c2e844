#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/csv.h"
#include "base/file.h"
#include "formats/result.h"

#include "scratch.h"

static const szg_column summary[] = {{"source", SZG_TEXT, "what was analysed"},
                                     {"n", SZG_INTEGER, "matrix size"},
                                     {"width", SZG_REAL, "lambda_max - lambda_min"},
                                     {"ratio", SZG_REAL, "a ratio"},
                                     {"note", SZG_TEXT, "remarks"}};
static const szg_column plain[] = {{"index", SZG_INTEGER, "from 0"}, {"re", SZG_REAL, "real part"}};

static szg_status fill_summary(szg_table *table) {
    szg_context *context = test_context();
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "source", "rope:dim=64"));
    SZG_TRY(szg_table_set_integer(context, table, "n", 512));
    SZG_TRY(szg_table_set_real(context, table, "width", 0.1));
    SZG_TRY(szg_table_set_real(context, table, "ratio", (double)NAN));
    SZG_TRY(szg_table_note(context, table, "the content is 0"));
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "source", "hostile\xFF\xC2\x9B[31m\"name\""));
    return szg_table_set_real(context, table, "width", (double)-INFINITY);
}

static szg_status fill_plain(szg_table *table) {
    for (int64_t i = 0; i < 3; i++) {
        SZG_TRY(szg_table_add_row(test_context(), table));
        SZG_TRY(szg_table_set_integer(test_context(), table, "index", i));
        SZG_TRY(
            szg_table_set_real(test_context(), table, "re", i == 1 ? (double)INFINITY : 1 / 3.0));
    }
    return SZG_OK;
}

static szg_status make(szg_result **out) {
    szg_context *context = test_context();
    szg_table *table = NULL;
    szg_status status;
    SZG_TRY(szg_result_open(context, "spectrum", out));
    SZG_TRY_GOTO(status, szgi_json_add_integer(context, szgi_result_provenance(*out), "seed", 7),
                 fail);
    SZG_TRY_GOTO(status, szg_table_open(context, "summary", summary, 5, &table), fail);
    SZG_TRY_GOTO(status, fill_summary(table), fail);
    SZG_TRY_GOTO(status, szg_result_add(context, *out, &table), fail);
    SZG_TRY_GOTO(status, szg_table_open(context, "eigenvalues", plain, 2, &table), fail);
    SZG_TRY_GOTO(status, fill_plain(table), fail);
    SZG_TRY_GOTO(status, szg_result_add(context, *out, &table), fail);
    return SZG_OK;
fail:
    szg_table_close(&table);
    szg_result_close(out);
    return status;
}

static char *print(const szg_result *result, szg_print_options options) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    ck_szg_ok(szg_result_print(test_context(), result, &options, stream));
    fclose(stream);
    return text;
}

/* The row says of one column alone what its null stands for. */
static void check_not_finite(szgi_json_value row, const char *column, const char *value) {
    szgi_json_value all = szgi_json_member(row, "not_finite");
    const char *text;
    ck_assert_int_eq(szgi_json_count(all), 1);
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(all, column), &text));
    ck_assert_str_eq(text, value);
    ck_assert(szgi_json_kind_of(szgi_json_member(row, column)) == SZGI_JSON_NULL);
}

START_TEST(json_is_one_object) {
    szg_result *result;
    szgi_json *json;
    const char *text;
    double x;
    int64_t n;
    ck_szg_ok(make(&result));
    char *printed =
        print(result, (szg_print_options){SZG_INIT(szg_print_options), .format = SZG_FORMAT_JSON});
    ck_szg_ok(szgi_json_parse(test_context(), "out", printed, (int64_t)strlen(printed), &json));
    szgi_json_value root = szgi_json_root(json);
    szgi_json_value rows = szgi_json_member(root, "summary");
    szgi_json_value first = szgi_json_element(rows, 0), second = szgi_json_element(rows, 1);
    ck_assert_int_eq(szgi_json_count(root), 3);
    ck_szg_ok(szgi_json_as_integer(
        test_context(), szgi_json_member(szgi_json_member(root, "provenance"), "seed"), &n));
    ck_assert_int_eq(n, 7);
    ck_assert_int_eq(szgi_json_count(rows), 2);
    ck_assert_int_eq(szgi_json_count(first), 6);
    ck_szg_ok(szgi_json_as_real(test_context(), szgi_json_member(first, "width"), &x));
    ck_assert_double_eq(x, 0.1);
    ck_assert(szgi_json_kind_of(szgi_json_member(first, "ratio")) == SZGI_JSON_NULL);
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(first, "note"), &text));
    ck_assert_str_eq(text, "the content is 0");
    check_not_finite(first, "ratio", "nan");
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(second, "source"), &text));
    ck_assert_str_eq(text, "hostile\xEF\xBF\xBD\xC2\x9B[31m\"name\"");
    ck_assert(szgi_json_kind_of(szgi_json_member(second, "note")) == SZGI_JSON_NULL);
    check_not_finite(second, "width", "-inf");
    ck_assert(szgi_json_kind_of(szgi_json_member(second, "n")) == SZGI_JSON_NULL);
    /* a table without the column `note` too; a row of finite numbers does not have the member */
    szgi_json_value values = szgi_json_member(root, "eigenvalues");
    check_not_finite(szgi_json_element(values, 1), "re", "inf");
    ck_assert(!szgi_json_has(szgi_json_element(values, 0), "not_finite"));
    free(printed);
    szgi_json_close(&json);
    szg_result_close(&result);
}
END_TEST

START_TEST(csv_is_one_table) {
    szg_result *result;
    ck_szg_ok(make(&result));
    char *text =
        print(result, (szg_print_options){SZG_INIT(szg_print_options), .format = SZG_FORMAT_CSV});
    ck_assert(strncmp(text, "source,n,width,ratio,note\nrope:dim=64,512,0.1,nan,", 50) == 0);
    free(text);
    text = print(result, (szg_print_options){SZG_INIT(szg_print_options), .format = SZG_FORMAT_CSV,
                                             .table = "eigenvalues"});
    ck_assert_str_eq(text, "index,re\n0,0.3333333333333333\n1,inf\n2,0.3333333333333333\n");
    free(text);
    szg_print_options none = {SZG_INIT(szg_print_options), .format = SZG_FORMAT_CSV,
                              .table = "samples"};
    ck_szg_fails(SZG_EINVAL, "no table samples; there are: summary, eigenvalues",
                 szg_result_print(test_context(), result, &none, stderr));
    szg_result_close(&result);
}
END_TEST

START_TEST(tables_are_aligned_and_harmless) {
    szg_result *result;
    ck_szg_ok(make(&result));
    char *text = print(result, (szg_print_options){SZG_INIT(szg_print_options),
                                                   .format = SZG_FORMAT_TABLE, .rows = 2});
    ck_assert_str_eq(text, "summary\n"
                           "  #  source                           n  width  ratio\n"
                           "  1  rope:dim=64                    512    0.1    nan\n"
                           "  2  hostile\\xff\\xc2\\x9b[31m\"name\"        -inf\n"
                           "  note, row 1: the content is 0\n"
                           "\n"
                           "eigenvalues\n"
                           "  index        re\n"
                           "      0  0.333333\n"
                           "      1       inf\n"
                           "  ... and 1 more rows: all with -o or --format csv\n");
    free(text);
    szg_result_close(&result);
}
END_TEST

/* Six digits of an end do not lie inside its enclosure; of another column they are the nearest. */
START_TEST(ends_are_rounded_outwards) {
    static const szg_column columns[] = {
        {"lo", SZG_REAL, "lower"}, {"hi", SZG_REAL, "upper"}, {"x", SZG_REAL, "neither"}};
    static const double rows[] = {2.984375, -2.984375, 0.1, 1e-310, 999999.9, -0.0};
    static const char *const want[] = {"2.98437",  "2.98438",  "2.98438",
                                       "-2.98438", "-2.98437", "-2.98438"};
    szg_table *table;
    char text[SZGI_REAL_TEXT];
    ck_szg_ok(szg_table_open(test_context(), "range", columns, 3, &table));
    szgi_table_set_end(table, szg_table_find(table, "lo"), SZGI_END_LOWER);
    szgi_table_set_end(table, szg_table_find(table, "hi"), SZGI_END_UPPER);
    for (int row = 0; row < 2; row++) {
        ck_szg_ok(szg_table_add_row(test_context(), table));
        for (int i = 0; i < 3; i++)
            ck_szg_ok(szg_table_set_real(test_context(), table, columns[i].name, rows[row]));
    }
    char *printed = NULL;
    size_t size;
    FILE *stream = open_memstream(&printed, &size);
    szg_result *result;
    ck_szg_ok(szg_result_open(test_context(), "test", &result));
    ck_szg_ok(szg_result_add(test_context(), result, &table));
    ck_szg_ok(szg_result_print(test_context(), result,
                               &(szg_print_options){SZG_INIT(szg_print_options)}, stream));
    ck_assert_int_eq(fclose(stream), 0);
    const char *at = printed;
    for (int i = 0; i < 6; i++) {
        at = strstr(at, want[i]);
        ck_assert_msg(at, "%s: not in\n%s", want[i], printed);
        at += strlen(want[i]);
    }
    free(printed);
    szg_result_close(&result);
    szg_table_close(&table);
    /* Any number: outside, and by less than one unit of the last digit. */
    for (int64_t i = 0; i < test_trials(2000) + 6; i++) {
        szgi_stream random = {.seed = test_seed(), .purpose = 77};
        double x = i < 6 ? rows[i] : test_real(&random, (uint64_t)i), lo, hi;
        ck_assert(szgi_real_parse(szgi_rounded_text(x, 6, SZGI_END_LOWER, text), &lo));
        ck_assert(szgi_real_parse(szgi_rounded_text(x, 6, SZGI_END_UPPER, text), &hi));
        ck_assert_msg(lo <= x && x <= hi, "%.17g: %.17g, %.17g", x, lo, hi);
        ck_assert_msg(hi - lo <= 1.0001e-5 * fabs(x), "%.17g: %.17g, %.17g", x, lo, hi);
    }
}
END_TEST

START_TEST(names_of_tables_are_checked) {
    static const char *const bad[] = {"",           "a/b",      "../x",   "Summary",
                                      "provenance", "manifest", "summary"};
    szg_result *result;
    ck_szg_ok(make(&result));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        szg_table *table;
        ck_szg_ok(szg_table_open(test_context(), bad[i], plain, 2, &table));
        ck_szg_fails(SZG_EINVAL, "", szg_result_add(test_context(), result, &table));
        ck_assert_ptr_null(table);
    }
    static const char *const commands[] = {"", "a/b", "Spectrum", "a_b", "a,b", "caf\xc3\xa9"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        szg_result *none;
        ck_szg_fails(SZG_EINVAL, "only a-z, 0-9 and hyphens",
                     szg_result_open(test_context(), commands[i], &none));
        ck_assert_ptr_null(none);
    }
    ck_assert_int_eq(szg_result_count(result), 2);
    ck_assert_str_eq(szg_table_name(szg_result_table(result, 1)), "eigenvalues");
    ck_assert_ptr_null(szg_result_find(result, "none"));
    ck_assert_ptr_null(szgi_result_take(result, "none"));
    const szg_table *second = szg_result_table(result, 1);
    szg_table *first = szgi_result_take(result, szg_table_name(szg_result_table(result, 0)));
    ck_assert(first && first != second);
    ck_assert_int_eq(szg_result_count(result), 1);
    ck_assert_ptr_eq(szg_result_table(result, 0), second);
    szg_table_close(&first);
    szg_format format;
    ck_szg_fails(SZG_EINVAL, "format xml is unknown: one of table, csv, json",
                 szg_format_parse(test_context(), "xml", &format));
    ck_szg_ok(szg_format_parse(test_context(), "json", &format));
    ck_assert_int_eq(format, SZG_FORMAT_JSON);
    szg_result_close(&result);
}
END_TEST

/* A folder holds one file a table and the manifest, which describes each. */
START_TEST(folders_have_a_manifest) {
    szg_result *result;
    szgi_json *json;
    szg_table *table;
    const char *text, *path = scratch_path("results/deep/");
    ck_szg_ok(make(&result));
    for (int repeat = 0; repeat < 2; repeat++)
        ck_szg_ok(szg_result_write(test_context(), result, path, NULL));
    ck_assert_int_eq(scratch_entries(path), 3);
    ck_szg_ok(szgi_json_read(test_context(), scratch_path("results/deep/manifest.json"), &json));
    szgi_json_value root = szgi_json_root(json), tables = szgi_json_member(root, "tables");
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(root, "command"), &text));
    ck_assert_str_eq(text, "spectrum");
    ck_assert(szgi_json_has(szgi_json_member(root, "provenance"), "version"));
    ck_assert_int_eq(szgi_json_count(tables), 2);
    szgi_json_value first = szgi_json_element(tables, 0);
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(first, "file"), &text));
    ck_assert_str_eq(text, "summary.csv");
    szgi_json_value column = szgi_json_element(szgi_json_member(first, "columns"), 2);
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(column, "doc"), &text));
    ck_assert_str_eq(text, "lambda_max - lambda_min");
    ck_szg_ok(szgi_csv_read(test_context(), scratch_path("results/deep/eigenvalues.csv"), plain, 2,
                            &table));
    ck_assert_int_eq(szg_table_rows(table), 3);
    szg_table_close(&table);
    szgi_json_close(&json);
    szg_result_close(&result);
}
END_TEST

/* Who holds a folder's lock writes there, others do not. */
START_TEST(a_locked_folder_is_its_holders) {
    szg_result *result;
    int lock;
    const char *path = scratch_path("held/");
    ck_szg_ok(make(&result));
    ck_szg_ok(szgi_folder_create(test_context(), path));
    ck_szg_ok(szgi_folder_lock(test_context(), path, &lock));
    ck_szg_fails(SZG_EIO, "another writer", szg_result_write(test_context(), result, path, NULL));
    ck_assert_int_eq(scratch_entries(path), 0);
    ck_szg_ok(szgi_result_write_locked(test_context(), result, path));
    ck_assert_int_eq(scratch_entries(path), 3);
    ck_szg_fails(SZG_EIO, "another writer", szg_result_write(test_context(), result, path, NULL));
    szgi_folder_unlock(&lock);
    ck_szg_ok(szg_result_write(test_context(), result, path, NULL));
    szg_result_close(&result);
}
END_TEST

START_TEST(single_files_take_their_ending) {
    szg_result *result;
    szgi_json *json;
    ck_szg_ok(make(&result));
    ck_szg_ok(szg_result_write(test_context(), result, scratch_path("one.json"), NULL));
    ck_szg_ok(szgi_json_read(test_context(), scratch_path("one.json"), &json));
    ck_assert_int_eq(szgi_json_count(szgi_json_root(json)), 3);
    szgi_json_close(&json);
    ck_szg_ok(szg_result_write(test_context(), result, scratch_path("one.csv"), "eigenvalues"));
    char *text = scratch_read(scratch_path("one.csv"), NULL);
    ck_assert(strncmp(text, "index,re\n", 9) == 0);
    free(text);
    ck_szg_fails(SZG_EINVAL, "end it in /",
                 szg_result_write(test_context(), result, scratch_path("one.txt"), NULL));
    ck_szg_fails(SZG_EINVAL, "end it in /",
                 szgi_result_check_path(test_context(), scratch_path("one.txt")));
    ck_szg_fails(SZG_EIO, "cannot be written",
                 szgi_result_check_path(test_context(), scratch_path("nowhere/one.csv")));
    ck_szg_ok(szgi_result_check_path(test_context(), scratch_path("two.csv")));
    ck_szg_ok(szgi_result_check_path(test_context(), scratch_path("nowhere/")));
    ck_assert(access(scratch_path("two.csv"), F_OK) != 0 &&
              access(scratch_path("nowhere"), F_OK) != 0);
    ck_szg_fails(SZG_EINVAL, "no table x",
                 szg_result_write(test_context(), result, scratch_path("one.csv"), "x"));
    ck_szg_fails(SZG_EIO, "is not a folder",
                 szg_result_write(test_context(), result, scratch_path("one.csv/"), NULL));
    szg_result_close(&result);
}
END_TEST

/* What a command asks before it computes, and the writer afterwards. */
START_TEST(a_folder_and_a_file_are_told_apart_once) {
    static const struct {
        const char *name;
        szgi_result_form form;
    } paths[] = {{"x.csv", SZGI_RESULT_CSV},      {"X.CSV", SZGI_RESULT_CSV},
                 {"x.Json", SZGI_RESULT_JSON},    {"x.NPY", SZGI_RESULT_NPY},
                 {"x", SZGI_RESULT_FOLDER},       {"x.txt", SZGI_RESULT_UNKNOWN},
                 {"new/", SZGI_RESULT_FOLDER},    {"new.csv/", SZGI_RESULT_FOLDER},
                 {"old", SZGI_RESULT_FOLDER},     {"old.csv", SZGI_RESULT_FOLDER},
                 {"old.json", SZGI_RESULT_FOLDER}};
    static const char *const folders[] = {"old", "old.csv", "old.json"};
    szg_result *result;
    ck_szg_ok(make(&result));
    for (int i = 0; i < 3; i++)
        ck_szg_ok(szgi_folder_create(test_context(), scratch_path(folders[i])));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const char *path = scratch_path(paths[i].name);
        ck_assert_int_eq(szgi_result_form_of(path), paths[i].form);
        ck_assert_int_eq(szg_result_write(test_context(), result, path, "eigenvalues"),
                         paths[i].form == SZGI_RESULT_UNKNOWN ? SZG_EINVAL : SZG_OK);
        struct stat info;
        bool there = stat(path, &info) == 0;
        ck_assert_int_eq(there, paths[i].form != SZGI_RESULT_UNKNOWN);
        ck_assert_int_eq(there && S_ISDIR(info.st_mode), paths[i].form == SZGI_RESULT_FOLDER);
    }
    szg_result_close(&result);
}
END_TEST

/* A structured array: 64-byte aligned data, one packed record a row. */
START_TEST(npy_is_a_structured_array) {
    szg_result *result;
    size_t size;
    double x;
    int64_t n;
    ck_szg_ok(make(&result));
    ck_szg_ok(szg_result_write(test_context(), result, scratch_path("s.npy"), NULL));
    char *bytes = scratch_read(scratch_path("s.npy"), &size);
    size_t head = 10 + (unsigned char)bytes[8] + 256u * (unsigned char)bytes[9];
    ck_assert_mem_eq(bytes, "\x93NUMPY\1\0", 8);
    ck_assert_uint_eq(head % 64, 0);
    ck_assert_int_eq(bytes[head - 1], '\n');
    bytes[head - 1] = 0;
    ck_assert_msg(strstr(bytes + 10, "{'descr': [('source', '|S20'), ('n', '<f8'), ('width', "
                                     "'<f8'), ('ratio', '<f8'), ('note', '|S16')], "
                                     "'fortran_order': False, 'shape': (2,), }") != NULL,
                  "%s", bytes + 10);
    ck_assert_uint_eq(size - head, 2 * (20 + 24 + 16));
    memcpy(&x, bytes + head + 28, sizeof x);
    ck_assert_double_eq(x, 0.1);
    free(bytes);
    ck_szg_ok(szg_result_write(test_context(), result, scratch_path("e.npy"), "eigenvalues"));
    bytes = scratch_read(scratch_path("e.npy"), &size);
    memcpy(&n, bytes + size - 16, sizeof n);
    ck_assert_int_eq(n, 2);
    free(bytes);
    szg_result_close(&result);
}
END_TEST

/* Where the tables cannot all be replaced, no manifest claims that they belong together. */
START_TEST(mixed_folders_have_no_manifest) {
    szg_result *result;
    ck_szg_ok(make(&result));
    ck_szg_ok(szg_result_write(test_context(), result, scratch_path("mixed/"), NULL));
    ck_assert_int_eq(remove(scratch_path("mixed/eigenvalues.csv")), 0);
    ck_assert_int_eq(mkdir(scratch_path("mixed/eigenvalues.csv"), 0777), 0);
    ck_szg_fails(SZG_EIO, "eigenvalues.csv",
                 szg_result_write(test_context(), result, scratch_path("mixed/"), NULL));
    ck_assert_int_ne(access(scratch_path("mixed/manifest.json"), F_OK), 0);
    ck_assert_int_eq(scratch_entries(scratch_path("mixed/")), 2);
    szg_result_close(&result);
}
END_TEST

/* Where a table cannot be written, the files and the manifest of the run before stay. */
START_TEST(failed_writes_leave_the_folder_alone) {
    szg_result *result;
    szg_table *table;
    const char *folder = scratch_path("kept/");
    ck_szg_ok(make(&result));
    ck_szg_ok(szg_result_write(test_context(), result, folder, NULL));
    ck_assert_int_eq(mkfifo(scratch_path("kept/pipe.csv"), 0600), 0);
    ck_szg_ok(szg_table_open(test_context(), "pipe", plain, 2, &table));
    ck_szg_ok(szg_result_add(test_context(), result, &table));
    ck_szg_fails(SZG_EIO, "cannot be written",
                 szg_result_write(test_context(), result, folder, NULL));
    ck_assert_int_eq(scratch_entries(folder), 4);
    FILE *full = fopen("/dev/full", "w");
    for (int i = 0; i < 3; i++) {
        szg_print_options options = {SZG_INIT(szg_print_options), .format = (szg_format)i};
        ck_szg_fails(SZG_EIO, "cannot be written: No space left",
                     szg_result_print(test_context(), result, &options, full));
    }
    fclose(full);
    szg_result_close(&result);
}
END_TEST

START_TEST(results_survive_failed_allocations) {
    szg_result *result;
    ck_survives_failed_allocations(1, make(&result));
    szg_result_close(&result);
    ck_szg_ok(make(&result));
    static const char *const paths[] = {"alloc/", "alloc.json", "alloc.npy", "alloc.csv"};
    for (int i = 0; i < 4; i++) {
        const char *path = scratch_path(paths[i]);
        ck_survives_failed_allocations(1, szg_result_write(test_context(), result, path, NULL));
    }
    ck_assert_int_eq(scratch_entries(scratch_path("alloc/")), 3);
    szg_print_options options = {SZG_INIT(szg_print_options), .format = SZG_FORMAT_TABLE};
    FILE *sink = fopen("/dev/null", "w");
    ck_survives_failed_allocations(1, szg_result_print(test_context(), result, &options, sink));
    fclose(sink);
    szg_result_close(&result);
}
END_TEST

TEST_FILE("result") {
    test_add(suite, "json_is_one_object", json_is_one_object);
    test_add(suite, "csv_is_one_table", csv_is_one_table);
    test_add(suite, "tables_are_aligned_and_harmless", tables_are_aligned_and_harmless);
    test_add(suite, "ends_are_rounded_outwards", ends_are_rounded_outwards);
    test_add(suite, "names_of_tables_are_checked", names_of_tables_are_checked);
    test_add(suite, "folders_have_a_manifest", folders_have_a_manifest);
    test_add(suite, "a_locked_folder_is_its_holders", a_locked_folder_is_its_holders);
    test_add(suite, "single_files_take_their_ending", single_files_take_their_ending);
    test_add(suite, "a_folder_and_a_file_are_told_apart_once",
             a_folder_and_a_file_are_told_apart_once);
    test_add(suite, "npy_is_a_structured_array", npy_is_a_structured_array);
    test_add(suite, "mixed_folders_have_no_manifest", mixed_folders_have_no_manifest);
    test_add(suite, "failed_writes_leave_the_folder_alone", failed_writes_leave_the_folder_alone);
    test_add(suite, "results_survive_failed_allocations", results_survive_failed_allocations);
}

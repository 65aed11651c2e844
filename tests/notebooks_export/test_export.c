/* Exports: the zip read back with libarchive, its arrays with a decoder of npy headers, the CSV
 * folder as a result; texts from hostile files in a notebook. */
#include <archive.h>
#include <archive_entry.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <szego/export.h>
#include "base/memory.h"
#include "base/table.h"
#include "formats/json.h"
#include "notebooks_export/collection/collection.h"

#include "scratch.h"
#include "suite.h"
#include "time_of_day.h"

#define HOSTILE "<script>alert(1)</script> | `x` $y$ [a](javascript:b)\n# no heading"

/* A folder with one result of the table `claims` of verify, which the test fills. */
static void write_result(const char *folder, szg_table **table) {
    szg_result *result;
    char path[512];
    snprintf(path, sizeof path, "%s/", folder);
    ck_szg_ok(szg_result_open(test_context(), "verify", &result));
    ck_szg_ok(szg_result_add(test_context(), result, table));
    ck_szg_ok(szg_result_write(test_context(), result, path, NULL));
    szg_result_close(&result);
}

static szg_table *open_table(void) {
    static const szg_column columns[] = {{"id", SZG_TEXT, "name of <b>the</b> claim"},
                                         {"verdict", SZG_TEXT, ""},
                                         {"statement", SZG_TEXT, ""},
                                         {"count", SZG_INTEGER, "a count"},
                                         {"gaps", SZG_INTEGER, "a count with gaps"},
                                         {"value", SZG_REAL, "a real"},
                                         {"note", SZG_TEXT, ""}};
    szg_table *table;
    ck_szg_ok(szg_table_open(test_context(), "claims", columns, 7, &table));
    szgi_table_set_end(table, szg_table_find(table, "value"), SZGI_END_LOWER);
    return table;
}

static const double reals[] = {0.1, -0.0, INFINITY, 4.9406564584124654e-324};
static const int64_t counts[] = {INT64_MIN, INT64_MAX, 0, -1};

static void fill(szg_table *table) {
    for (int i = 0; i < 4; i++) {
        ck_szg_ok(szg_table_add_row(test_context(), table));
        ck_szg_ok(szg_table_set_text(test_context(), table, "id", i ? "\xC3\xA9" : HOSTILE));
        ck_szg_ok(szg_table_set_text(test_context(), table, "verdict", "holds"));
        ck_szg_ok(szg_table_set_integer(test_context(), table, "count", counts[i]));
        ck_szg_ok(szg_table_set_real(test_context(), table, "value", reals[i]));
        if (i)
            ck_szg_ok(szg_table_set_integer(test_context(), table, "gaps", -(1LL << 53) + i - 1));
    }
}

/* The scratch folder `name` with one result below it. */
static const char *results_in(const char *name) {
    char below[512];
    szg_table *table = open_table();
    const char *folder = scratch_path(name);
    snprintf(below, sizeof below, "%s/one", folder);
    fill(table);
    write_result(below, &table);
    return folder;
}

static szg_collection *collect(const char *folder) {
    szg_collection *all;
    ck_szg_ok(szg_collection_open(test_context(), folder, &all));
    return all;
}

/* ---- Reading back ---- */

typedef struct member {
    char name[128];
    unsigned char *data;
    size_t size;
} member;

static int read_zip(const char *path, member *out, int most) {
    struct archive *zip = archive_read_new();
    struct archive_entry *entry;
    int count = 0;
    archive_read_support_format_zip(zip);
    ck_assert_int_eq(archive_read_open_filename(zip, path, 1 << 16), ARCHIVE_OK);
    while (archive_read_next_header(zip, &entry) == ARCHIVE_OK) {
        ck_assert_int_lt(count, most);
        member *one = &out[count++];
        ck_assert(archive_entry_size_is_set(entry));
        snprintf(one->name, sizeof one->name, "%s", archive_entry_pathname(entry));
        one->size = (size_t)archive_entry_size(entry);
        one->data = malloc(one->size + 1);
        ck_assert_int_eq(archive_read_data(zip, one->data, one->size + 1), (la_ssize_t)one->size);
        one->data[one->size] = '\0';
    }
    archive_read_free(zip);
    return count;
}

static void free_members(member *all, int count) {
    for (int i = 0; i < count; i++)
        free(all[i].data);
}

/* Where the data of an npy file of version 1 begins; its dictionary in *header. */
static const unsigned char *npy_data(const member *one, const char **header) {
    ck_assert_int_eq(memcmp(one->data, "\x93NUMPY\x01", 8), 0);
    size_t length = (size_t)one->data[8] | (size_t)one->data[9] << 8;
    ck_assert_uint_eq((10 + length) % 64, 0);
    *header = (const char *)one->data + 10;
    return one->data + 10 + length;
}

START_TEST(an_archive_holds_every_cell) {
    member all[4];
    const char *header;
    szg_collection *results = collect(results_in("cells"));
    ck_szg_ok(szg_export_npz(test_context(), results, scratch_path("cells.npz")));
    szg_collection_close(&results);
    ck_assert_int_eq(read_zip(scratch_path("cells.npz"), all, 4), 2);
    ck_assert_str_eq(all[0].name, "manifest.npy");
    ck_assert_str_eq(all[1].name, "verify_claims.npy");
    char expected[512];
    snprintf(expected, sizeof expected,
             "{'descr': [('result', '|S3'), ('id', '|S%zu'), ('verdict', '|S5'), "
             "('statement', '|S1'), ('count', '<i8'), ('gaps', '<f8'), ('value', '<f8'), "
             "('note', '|S1')], 'fortran_order': False, 'shape': (4,), }",
             strlen(HOSTILE));
    const unsigned char *data = npy_data(&all[1], &header);
    ck_assert_int_eq(strncmp(header, expected, strlen(expected)), 0);
    size_t width = 3 + strlen(HOSTILE) + 5 + 1 + 8 + 8 + 8 + 1;
    ck_assert_uint_eq(all[1].size, (size_t)(data - all[1].data) + 4 * width);
    for (int i = 0; i < 4; i++, data += width) {
        int64_t count;
        double gap, value;
        const unsigned char *numbers = data + width - 25;
        ck_assert_int_eq(memcmp(data, "one", 3), 0);
        const char *id = i ? "\xC3\xA9" : HOSTILE;
        ck_assert_int_eq(memcmp(data + 3, id, strlen(id)), 0);
        ck_assert(i == 0 || data[3 + strlen(id)] == '\0');
        memcpy(&count, numbers, 8);
        memcpy(&gap, numbers + 8, 8);
        memcpy(&value, numbers + 16, 8);
        ck_assert_int_eq(count, counts[i]);
        ck_assert_int_eq(memcmp(&value, &reals[i], 8), 0);
        ck_assert(i ? gap == -0x1p53 + i - 1 : isnan(gap));
    }
    free_members(all, 2);
}
END_TEST

START_TEST(an_archive_explains_itself) {
    member all[4];
    const char *header, *text;
    szgi_json *manifest;
    szg_collection *results = collect(results_in("explained"));
    ck_szg_ok(szg_export_npz(test_context(), results, scratch_path("explained.npz")));
    szg_collection_close(&results);
    ck_assert_int_eq(read_zip(scratch_path("explained.npz"), all, 4), 2);
    const unsigned char *data = npy_data(&all[0], &header);
    int64_t size = (int64_t)(all[0].size - (size_t)(data - all[0].data));
    ck_szg_ok(szgi_json_parse(test_context(), "manifest", data, size, &manifest));
    szgi_json_value root = szgi_json_root(manifest),
                    result = szgi_json_element(szgi_json_member(root, "results"), 0),
                    table = szgi_json_element(szgi_json_member(root, "tables"), 0),
                    gaps = szgi_json_element(szgi_json_member(table, "columns"), 5),
                    value = szgi_json_element(szgi_json_member(table, "columns"), 6);
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(root, "format"), &text));
    ck_assert_str_eq(text, "szego-export-1");
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(result, "path"), &text));
    ck_assert_str_eq(text, "one");
    ck_assert(szgi_json_has(szgi_json_member(result, "provenance"), "version"));
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(gaps, "dtype"), &text));
    ck_assert_str_eq(text, "<f8");
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(gaps, "type"), &text));
    ck_assert_str_eq(text, "integer");
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(gaps, "doc"), &text));
    ck_assert_str_eq(text, "a count with gaps");
    ck_assert(!szgi_json_has(gaps, "end"));
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(value, "end"), &text));
    ck_assert_str_eq(text, "lower");
    szgi_json_close(&manifest);
    free_members(all, 2);
}
END_TEST

/* Integers beyond 2^53 that doubles do not hold, in a column with an empty cell. */
START_TEST(an_integer_that_is_no_double_is_refused) {
    static const struct {
        int64_t value;
        bool exact;
    } cases[] = {{(1LL << 53) + 1, false}, {INT64_MAX, false}, {-(1LL << 53) - 1, false},
                 {(1LL << 53) + 2, true},  {INT64_MIN, true},  {1LL << 62, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "exact%zu", i);
        szg_table *table = open_table();
        ck_szg_ok(szg_table_add_row(test_context(), table));
        ck_szg_ok(szg_table_add_row(test_context(), table));
        ck_szg_ok(szg_table_set_integer(test_context(), table, "gaps", cases[i].value));
        ck_szg_ok(szg_table_set_integer(test_context(), table, "count", 1));
        write_result(scratch_path(folder), &table);
        szg_collection *results = collect(scratch_path(folder));
        const char *path = scratch_path("exact.npz");
        unlink(path);
        if (cases[i].exact) {
            ck_szg_ok(szg_export_npz(test_context(), results, path));
        } else {
            ck_szg_fails(SZG_EDATA, "table verify_claims, column gaps, row 1",
                         szg_export_npz(test_context(), results, path));
            ck_assert_ptr_nonnull(strstr(szg_context_message(test_context()), "--to csv"));
            ck_assert_int_ne(access(path, F_OK), 0);
        }
        szg_collection_close(&results);
    }
}
END_TEST

START_TEST(padding_of_more_than_a_gigabyte_is_refused) {
    enum { LONG = 1 << 20, ROWS = 1100 };
    char *text = malloc(LONG + 1);
    memset(text, 'x', LONG);
    text[LONG] = '\0';
    szg_table *table = open_table();
    for (int i = 0; i < ROWS; i++)
        ck_szg_ok(szg_table_add_row(test_context(), table));
    ck_szg_ok(szg_table_set_text(test_context(), table, "statement", text));
    free(text);
    write_result(scratch_path("padded"), &table);
    szg_collection *results = collect(scratch_path("padded"));
    ck_szg_fails(SZG_EDATA, "column statement",
                 szg_export_npz(test_context(), results, scratch_path("padded.npz")));
    szg_collection_close(&results);
}
END_TEST

static void check_same_file(const char *left, const char *right) {
    size_t size[2];
    char *a = scratch_read(left, &size[0]), *b = scratch_read(right, &size[1]);
    ck_assert_uint_eq(size[0], size[1]);
    ck_assert_int_eq(memcmp(a, b, size[0]), 0);
    free(a);
    free(b);
}

START_TEST(the_same_results_give_the_same_bytes) {
    szg_collection *results = collect(results_in("same"));
    ck_szg_ok(szg_export_notebook(test_context(), results, scratch_path("first.ipynb")));
    szg_collection_close(&results);
    test_shift_time(400 * 86400);
    setenv("TZ", "Pacific/Auckland", 1);
    results = collect(scratch_path("same"));
    ck_szg_ok(szg_export_npz(test_context(), results, scratch_path("second.npz")));
    szg_collection_close(&results);
    unsetenv("TZ");
    test_shift_time(0);
    check_same_file(scratch_path("first.npz"), scratch_path("second.npz"));
}
END_TEST

/* ---- CSV ---- */

static void check_same_table(const szg_table *a, const szg_table *b) {
    ck_assert_str_eq(szg_table_name(a), szg_table_name(b));
    ck_assert_int_eq(szg_table_rows(a), szg_table_rows(b));
    ck_assert_int_eq(szg_table_columns(a), szg_table_columns(b));
    for (int64_t i = 0; i < szg_table_columns(a); i++) {
        ck_assert_str_eq(szg_table_column(a, i)->name, szg_table_column(b, i)->name);
        ck_assert_str_eq(szg_table_column(a, i)->doc, szg_table_column(b, i)->doc);
        ck_assert_int_eq(szg_table_column(a, i)->type, szg_table_column(b, i)->type);
        ck_assert_int_eq(szgi_table_end(a, i), szgi_table_end(b, i));
        for (int64_t row = 0; row < szg_table_rows(a); row++) {
            double x = szg_table_get_real(a, row, i), y = szg_table_get_real(b, row, i);
            const char *s = szg_table_get_text(a, row, i), *t = szg_table_get_text(b, row, i);
            ck_assert_int_eq(szg_table_is_empty(a, row, i), szg_table_is_empty(b, row, i));
            ck_assert_int_eq(szg_table_get_integer(a, row, i), szg_table_get_integer(b, row, i));
            ck_assert(memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y)));
            ck_assert(s == t || (s && t && strcmp(s, t) == 0));
        }
    }
}

START_TEST(a_folder_of_csv_is_read_as_what_was_exported) {
    szg_collection *results = collect(results_in("tables"));
    char inside[512];
    snprintf(inside, sizeof inside, "%s/export", scratch_path("tables"));
    ck_szg_ok(szg_export_csv(test_context(), results, inside));
    ck_szg_ok(szg_export_csv(test_context(), results, inside)); /* again, onto the first */
    szg_collection *copy = collect(inside), *again = collect(scratch_path("tables"));
    ck_assert_int_eq(szg_collection_tables(copy), szg_collection_tables(results));
    /* Below the folder the export is passed over: no row comes twice. */
    ck_assert_int_eq(szg_collection_count(again), 1);
    ck_assert_str_eq(szgi_collection_path(again, 0), "one"); /* not `export`, read in its stead */
    ck_assert_int_eq(szg_collection_bad_count(again), 0);
    for (int64_t i = 0; i < szg_collection_tables(results); i++) {
        check_same_table(szgi_collection_table(results, i), szgi_collection_table(copy, i));
        check_same_table(szgi_collection_table(results, i), szgi_collection_table(again, i));
    }
    szg_collection_close(&again);
    szg_collection_close(&copy);
    szg_collection_close(&results);
}
END_TEST

START_TEST(the_folder_of_another_result_is_not_overwritten) {
    const char *folder = scratch_path("mine");
    szg_table *table = open_table();
    fill(table);
    write_result(folder, &table);
    szg_collection *results = collect(folder);
    ck_szg_fails(SZG_EINVAL, "choose another folder",
                 szg_export_csv(test_context(), results, folder));
    szg_collection_close(&results);
    /* One above it, without a manifest yet: an export there would hide what comes later. */
    results = collect(scratch_path("."));
    ck_szg_fails(SZG_EINVAL, "is the folder of the results",
                 szg_export_csv(test_context(), results, scratch_path("mine/..")));
    szg_collection_close(&results);
    results = collect(scratch_path("mine"));
    ck_assert_ptr_nonnull(szgi_collection_find(results, "verify_claims"));
    szg_collection_close(&results);
}
END_TEST

/* ---- Notebooks ---- */

static szgi_json_value cell(const szgi_json *notebook, int64_t index) {
    return szgi_json_element(szgi_json_member(szgi_json_root(notebook), "cells"), index);
}

static const char *text_of(szgi_json_value object, const char *key) {
    const char *text;
    ck_szg_ok(szgi_json_as_text(test_context(), szgi_json_member(object, key), &text));
    return text;
}

static szgi_json *notebook_of(const char *folder, const char *path) {
    szgi_json *notebook;
    szg_collection *results = collect(folder);
    ck_szg_ok(szg_export_notebook(test_context(), results, path));
    szg_collection_close(&results);
    ck_szg_ok(szgi_json_read(test_context(), path, &notebook));
    return notebook;
}

START_TEST(a_notebook_has_the_cells_of_what_is_there) {
    static const char *const ids[] = {"title", "readme",      "load-text",
                                      "load",  "claims-text", "claims"};
    szgi_json *notebook = notebook_of(results_in("book"), scratch_path("book.ipynb"));
    ck_assert_int_eq(access(scratch_path("book.npz"), F_OK), 0);
    ck_assert_int_eq(szgi_json_count(szgi_json_member(szgi_json_root(notebook), "cells")), 6);
    for (int i = 0; i < 6; i++) {
        bool code = i == 3 || i == 5;
        szgi_json_value one = cell(notebook, i);
        ck_assert_str_eq(text_of(one, "id"), ids[i]);
        ck_assert_str_eq(text_of(one, "cell_type"), code ? "code" : "markdown");
        ck_assert_int_eq(szgi_json_kind_of(szgi_json_member(one, "execution_count")),
                         code ? SZGI_JSON_NULL : SZGI_JSON_ABSENT);
        ck_assert_int_eq(szgi_json_count(szgi_json_member(one, "outputs")), 0);
    }
    szgi_json_close(&notebook);
}
END_TEST

/* Nothing of a hostile text can begin HTML, Markdown or a formula; the name of the archive is a
 * literal of Python. */
START_TEST(texts_from_files_stay_texts) {
    szg_table *table = open_table();
    fill(table);
    char folder[512];
    snprintf(folder, sizeof folder, "%s/<img src=x onerror=a>$b$`|*", scratch_path("names"));
    write_result(folder, &table);
    szgi_json *notebook = notebook_of(scratch_path("names"), scratch_path("a\"b\\c.ipynb"));
    for (int i = 0; i < 2; i++) {
        char *all = NULL;
        ck_szg_ok(
            szgi_json_text(test_context(), szgi_json_member(cell(notebook, i), "source"), 0, &all));
        ck_assert_ptr_null(strstr(all, "<img"));
        ck_assert_ptr_null(strstr(all, "<b>"));
        ck_assert_ptr_null(strstr(all, "$b$"));
        ck_assert_ptr_nonnull(strstr(all, i ? "&lt;b&gt;the&lt;&#47;b&gt;" : "&lt;img src&#61;x"));
        szgi_memory_free(all);
    }
    char *load;
    ck_szg_ok(
        szgi_json_text(test_context(), szgi_json_member(cell(notebook, 3), "source"), 0, &load));
    ck_assert_ptr_nonnull(strstr(load, "FILE = \\\"a\\\\\\\"b\\\\\\\\c.npz\\\""));
    szgi_memory_free(load);
    szgi_json_close(&notebook);
}
END_TEST

/* A notebook cannot say the name of an archive that is no UTF-8; of its folder it says nothing. */
START_TEST(a_name_that_is_not_utf8_is_refused) {
    szg_collection *results = collect(results_in("bytes"));
    ck_assert_int_eq(mkdir(scratch_path("folder-\xfe"), 0777), 0);
    ck_szg_fails(
        SZG_EINVAL, "a name in UTF-8",
        szg_export_notebook(test_context(), results, scratch_path("folder-\xfe/b\xff.ipynb")));
    ck_assert_int_eq(scratch_entries(scratch_path("folder-\xfe")), 0);
    ck_szg_ok(szg_export_notebook(test_context(), results, scratch_path("folder-\xfe/b.ipynb")));
    ck_szg_ok(szg_export_npz(test_context(), results, scratch_path("folder-\xfe/b\xff.npz")));
    szg_collection_close(&results);
}
END_TEST

START_TEST(a_path_that_cannot_be_written_is_named) {
    szg_collection *results = collect(results_in("paths"));
    ck_szg_fails(SZG_EIO, "/nowhere/x.npz",
                 szg_export_npz(test_context(), results, "/nowhere/x.npz"));
    ck_szg_fails(SZG_EIO, "/nowhere/x.npz",
                 szg_export_notebook(test_context(), results, "/nowhere/x.ipynb"));
    ck_szg_fails(SZG_EINVAL, ".ipynb", szg_export_notebook(test_context(), results, "x.txt"));
    ck_szg_fails(SZG_EIO, "/proc/x", szg_export_csv(test_context(), results, "/proc/x"));
    szg_collection_close(&results);
}
END_TEST

START_TEST(failed_allocations_are_survived) {
    szg_collection *results = collect(results_in("memory"));
    ck_survives_failed_allocations(
        10, szg_export_notebook(test_context(), results, scratch_path("memory.ipynb")));
    ck_survives_failed_allocations(
        10, szg_export_csv(test_context(), results, scratch_path("memory.csv")));
    szg_collection_close(&results);
}
END_TEST

TEST_FILE("export") {
    test_add(suite, "an archive holds every cell", an_archive_holds_every_cell);
    test_add(suite, "an archive explains itself", an_archive_explains_itself);
    test_add(suite, "an integer that is no double is refused",
             an_integer_that_is_no_double_is_refused);
    test_add(suite, "padding of more than a gigabyte is refused",
             padding_of_more_than_a_gigabyte_is_refused);
    test_add(suite, "the same results give the same bytes", the_same_results_give_the_same_bytes);
    test_add(suite, "a folder of csv is read as what was exported",
             a_folder_of_csv_is_read_as_what_was_exported);
    test_add(suite, "the folder of another result is not overwritten",
             the_folder_of_another_result_is_not_overwritten);
    test_add(suite, "a notebook has the cells of what is there",
             a_notebook_has_the_cells_of_what_is_there);
    test_add(suite, "texts from files stay texts", texts_from_files_stay_texts);
    test_add(suite, "a_name_that_is_not_utf8_is_refused", a_name_that_is_not_utf8_is_refused);
    test_add(suite, "a path that cannot be written is named",
             a_path_that_cannot_be_written_is_named);
    test_add(suite, "failed allocations are survived", failed_allocations_are_survived);
}

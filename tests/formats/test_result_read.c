/* Results come back from their folders as they were written, or are refused with the place. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/table.h"
#include "formats/json.h"
#include "formats/result.h"

#include "scratch.h"

static const char *const texts[] = {"",
                                    "plain",
                                    "a,b",
                                    "\"quoted\"",
                                    "two\nlines\r\nthree",
                                    "\r",
                                    " spaces ",
                                    "<script>alert(1)</script>",
                                    "\xC3\xA9\xE2\x80\xAE\xF0\x9F\x98\x80",
                                    "\x01\x1B[31m\x7F",
                                    "nan",
                                    "0x1p3",
                                    "result",
                                    "\xEF\xBB\xBF"};
static const double reals[] = {
    0.0,     -0.0,    0.1,      1 / 3.0,  (double)NAN, (double)INFINITY, (double)-INFINITY,
    DBL_MIN, DBL_MAX, -DBL_MAX, 4.9e-324, 1e22,        0x1p53 + 2};
static const int64_t integers[] = {0, 1, -1, INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1};
static const szg_column columns[] = {{"source", SZG_TEXT, "what \"was\" analysed,\n<b>"},
                                     {"n, the size", SZG_INTEGER, ""},
                                     {"width", SZG_REAL, "\xC3\xA9"},
                                     {"", SZG_TEXT, "a column without a name"},
                                     {"note", SZG_TEXT, "remarks"}};

static size_t draw(uint64_t *state, size_t below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*state >> 33) % below;
}

/* `rows` rows of hostile and of empty cells. */
static szg_status add_table(szg_result *result, const char *name, int64_t rows) {
    szg_context *context = test_context();
    uint64_t state = test_seed() + (uint64_t)rows;
    szg_table *table;
    SZG_TRY(szg_table_open(context, name, columns, 5, &table));
    szg_status status = SZG_OK;
    szgi_table_set_end(table, szg_table_find(table, "width"), SZGI_END_LOWER);
    if (rows > 1)
        szgi_table_set_end(table, szg_table_find(table, ""), SZGI_END_UPPER);
    for (int64_t i = 0; i < rows && status == SZG_OK; i++) {
        SZG_TRY_GOTO(status, szg_table_add_row(context, table), done);
        for (int64_t c = 0; c < 5; c++) {
            if (draw(&state, 4) == 0)
                continue;
            if (columns[c].type == SZG_INTEGER)
                status = szgi_table_put_integer(context, table, c, integers[draw(&state, 6)]);
            else if (columns[c].type == SZG_REAL)
                status = szgi_table_put_real(context, table, c, reals[draw(&state, 13)]);
            else
                status = szgi_table_put_text(context, table, c, texts[draw(&state, 14)]);
            SZG_TRY_GOTO(status, status, done);
        }
    }
done:
    if (status == SZG_OK)
        return szg_result_add(context, result, &table);
    szg_table_close(&table);
    return status;
}

static szg_status make(szg_result **out) {
    szg_context *context = test_context();
    szgi_json *child = NULL;
    szg_status status;
    SZG_TRY(szg_result_open(context, "spectrum", out));
    szgi_json *provenance = szgi_result_provenance(*out);
    SZG_TRY_GOTO(status, szgi_json_add_real(context, provenance, "third", 1 / 3.0), fail);
    SZG_TRY_GOTO(status, szgi_json_add_integer(context, provenance, "seed", INT64_MIN), fail);
    SZG_TRY_GOTO(status, szgi_json_add_real(context, provenance, "<nothing>", (double)NAN), fail);
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &child), fail);
    SZG_TRY_GOTO(status, szgi_json_add_text(context, child, NULL, "a\nb\"\xC3\xA9"), fail);
    SZG_TRY_GOTO(status, szgi_json_add(context, provenance, "arguments", &child), fail);
    SZG_TRY_GOTO(status, add_table(*out, "summary", 97), fail);
    SZG_TRY_GOTO(status, add_table(*out, "none", 0), fail);
    SZG_TRY_GOTO(status, add_table(*out, "one", 1), fail);
    return SZG_OK;
fail:
    szgi_json_close(&child);
    szg_result_close(out);
    return status;
}

static void check_cell(const szg_table *a, const szg_table *b, int64_t row, int64_t column) {
    ck_assert_int_eq(szg_table_is_empty(a, row, column), szg_table_is_empty(b, row, column));
    const char *text = szg_table_get_text(a, row, column);
    if (text)
        ck_assert_str_eq(szg_table_get_text(b, row, column), text);
    ck_assert_int_eq(szg_table_get_integer(a, row, column), szg_table_get_integer(b, row, column));
    double x = szg_table_get_real(a, row, column), y = szg_table_get_real(b, row, column);
    ck_assert(isnan(x) ? isnan(y) : memcmp(&x, &y, sizeof x) == 0);
}

static void check_table(const szg_table *a, const szg_table *b) {
    ck_assert_str_eq(szg_table_name(a), szg_table_name(b));
    ck_assert_int_eq(szg_table_columns(a), szg_table_columns(b));
    ck_assert_int_eq(szg_table_rows(a), szg_table_rows(b));
    for (int64_t i = 0; i < szg_table_columns(a); i++) {
        const szg_column *left = szg_table_column(a, i), *right = szg_table_column(b, i);
        ck_assert_str_eq(left->name, right->name);
        ck_assert_str_eq(left->doc, right->doc);
        ck_assert_int_eq(left->type, right->type);
        ck_assert_int_eq(szgi_table_end(a, i), szgi_table_end(b, i));
        for (int64_t row = 0; row < szg_table_rows(a); row++)
            check_cell(a, b, row, i);
    }
}

static char *print(const szg_result *result) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    szg_print_options options = {SZG_INIT(szg_print_options), .format = SZG_FORMAT_JSON};
    ck_szg_ok(szg_result_print(test_context(), result, &options, stream));
    fclose(stream);
    return text;
}

static void check_same_file(const char *a, const char *b) {
    size_t sizes[2];
    char *left = scratch_read(scratch_path(a), &sizes[0]);
    char *right = scratch_read(scratch_path(b), &sizes[1]);
    ck_assert_uint_eq(sizes[0], sizes[1]);
    ck_assert_mem_eq(left, right, sizes[0]);
    free(left);
    free(right);
}

START_TEST(results_come_back_equal) {
    szg_result *result, *again;
    ck_szg_ok(make(&result));
    ck_szg_ok(szg_result_write(test_context(), result, scratch_path("first/"), NULL));
    ck_szg_ok(szg_result_read(test_context(), scratch_path("first"), &again));
    ck_assert_str_eq(szg_result_command(again), "spectrum");
    ck_assert_int_eq(szg_result_count(again), 3);
    for (int64_t i = 0; i < 3; i++)
        check_table(szg_result_table(result, i), szg_result_table(again, i));
    char *left = print(result), *right = print(again); /* provenance and all */
    ck_assert_str_eq(left, right);
    free(left);
    free(right);
    ck_szg_ok(szg_result_write(test_context(), again, scratch_path("second/"), NULL));
    check_same_file("first/manifest.json", "second/manifest.json");
    check_same_file("first/summary.csv", "second/summary.csv");
    check_same_file("first/none.csv", "second/none.csv");
    szg_result_close(&result);
    szg_result_close(&again);
}
END_TEST

#define ONE "{\"name\":\"a\",\"type\":\"integer\",\"doc\":\"\"}"
#define TWO ONE ",{\"name\":\"b\",\"type\":\"text\",\"doc\":\"\"}"
#define HEAD "{\"format\":\"szego-results-1\",\"command\":\"x\",\"provenance\":{},\"tables\":"
#define TABLE(name, file, rows, columns)                                                           \
    "{\"name\":\"" name "\",\"file\":\"" file "\",\"rows\":" rows ",\"columns\":[" columns "]}"
#define ALL(tables) HEAD "[" tables "]}"
#define A32 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A160 A32 A32 A32 A32 A32

typedef struct bad {
    const char *manifest, *csv, *message;
} bad;

static const bad bads[] = {
    {"", "a\n", "manifest.json: line 1"},
    {"[]", "a\n", "manifest.json: "},
    {"{}", "a\n", "manifest.json: format: is missing"},
    {"{\"format\":1}", "a\n", "manifest.json: format: "},
    {"{\"format\":\"szego-results-2\"}", "a\n", "is szego-results-2; this version reads szego-"},
    {"{\"format\":\"szego-results-1\"}", "a\n", "manifest.json: command: is missing"},
    {"{\"format\":\"szego-results-1\",\"command\":\"../x\"}", "a\n", "only a-z, 0-9 and hyphens"},
    {"{\"format\":\"szego-results-1\",\"command\":\"\"}", "a\n", "only a-z, 0-9 and hyphens"},
    {"{\"format\":\"szego-results-1\",\"command\":\"" A32 A32 "a\"}", "a\n",
     "command: " A32 A32 "a: more than 64 characters"},
    {"{\"format\":\"szego-results-1\",\"command\":\"x\"}", "a\n", "provenance: is missing"},
    {"{\"format\":\"szego-results-1\",\"command\":\"x\",\"provenance\":[]}", "a\n", "provenance: "},
    {HEAD "{}}", "a\n", "manifest.json: tables: "},
    {ALL("1"), "a\n", "manifest.json: tables[0]"},
    {ALL("{}"), "a\n", "tables[0].name: is missing"},
    {ALL(TABLE("../t", "../t.csv", "1", ONE)), "a\n1\n", "tables[0].name: table name ../t: only"},
    {ALL(TABLE("manifest", "manifest.csv", "1", ONE)), "a\n1\n", "manifest is reserved"},
    {ALL(TABLE(A160 A32 "aaaaaaaaa", "t.csv", "1", ONE)), "a\n1\n", "more than 200 characters"},
    {ALL(TABLE("t", "../t.csv", "1", ONE)), "a\n1\n", "tables[0].file: is ../t.csv; the file of"},
    {ALL(TABLE("t", "/etc/t.csv", "1", ONE)), "a\n1\n", "is t.csv in the same folder"},
    {ALL(TABLE("t", "T.csv", "1", ONE)), "a\n1\n", "is t.csv in the same folder"},
    {ALL(TABLE("t", "t.npy", "1", ONE)), "a\n1\n", "is t.csv in the same folder"},
    {ALL(TABLE("t", "t.csv", "-1", ONE)), "a\n1\n", "tables[0].rows: is -1; it cannot be negative"},
    {ALL(TABLE("t", "t.csv", "1.5", ONE)), "a\n1\n", "tables[0].rows: "},
    {ALL(TABLE("t", "t.csv", "2", ONE)), "a\n1\n", "t.csv: has 1 rows where manifest.json says 2"},
    {ALL(TABLE("t", "t.csv", "0", ONE)), "a\n1\n", "t.csv: has 1 rows where manifest.json says 0"},
    {ALL(TABLE("t", "t.csv", "1", "")), "a\n1\n", "columns: has 0 columns; a table has 1 to 4096"},
    {ALL(TABLE("t", "t.csv", "1", "{}")), "a\n1\n", "tables[0].columns[0].name: is missing"},
    {ALL(TABLE("t", "t.csv", "1", "{\"name\":\"a\",\"doc\":\"\",\"type\":\"int\"}")), "a\n1\n",
     "tables[0].columns[0].type: int is not one of text, integer, real"},
    {ALL(TABLE("t", "t.csv", "1",
               "{\"name\":\"a\",\"doc\":\"\",\"type\":\"real\",\"end\":\"none\"}")),
     "a\n1\n", "tables[0].columns[0].end: none is not one of lower, upper"},
    {ALL(TABLE("t", "t.csv", "1", "{\"name\":\"a\",\"doc\":\"\",\"type\":\"real\",\"end\":1}")),
     "a\n1\n", "tables[0].columns[0].end: "},
    {ALL(TABLE("t", "t.csv", "1", ONE "," ONE)), "a\n1\n", "has column a already"},
    {ALL(TABLE("t", "t.csv", "1", TWO)), "a\n1\n", "t.csv: line 1: the header has no column b"},
    {ALL(TABLE("t", "t.csv", "1", ONE)), "a,b\n1,2\n", "column 2: a column that does not belong"},
    {ALL(TABLE("t", "t.csv", "1", ONE)), "a\nx\n", "t.csv: line 2, column 1: not an integer"},
    {ALL(TABLE("t", "t.csv", "1", ONE)), "", "t.csv: is empty"},
    {ALL(TABLE("t", "t.csv", "1", ONE) "," TABLE("t", "t.csv", "1", ONE)), "a\n1\n",
     "tables[1].name: the result has a table t already"},
};

START_TEST(damaged_folders_are_refused) {
    szg_result *result;
    ck_assert_int_eq(mkdir(scratch_path("bad"), 0777), 0);
    for (size_t i = 0; i < sizeof bads / sizeof *bads; i++) {
        scratch_text("bad/manifest.json", bads[i].manifest);
        scratch_text("bad/t.csv", bads[i].csv);
        const char *folder = scratch_path("bad");
        ck_szg_fails(SZG_EDATA, bads[i].message, szg_result_read(test_context(), folder, &result));
        ck_szg_fails(SZG_EDATA, folder, szg_result_read(test_context(), folder, &result));
        ck_assert_ptr_null(result);
    }
    scratch_text("bad/manifest.json", ALL(TABLE("u", "u.csv", "1", ONE)));
    ck_szg_fails(SZG_EIO,
                 "bad/u.csv: ", szg_result_read(test_context(), scratch_path("bad/"), &result));
    ck_szg_fails(SZG_EIO, "nowhere/manifest.json: ",
                 szg_result_read(test_context(), scratch_path("nowhere"), &result));
}
END_TEST

START_TEST(too_many_tables_are_refused) {
    enum { TABLES = 1025 };
    char *text = NULL;
    size_t size;
    szg_result *result;
    mkdir(scratch_path("many"), 0777);
    FILE *manifest = open_memstream(&text, &size);
    fputs(HEAD "[", manifest);
    for (int i = 0; i < TABLES; i++)
        fprintf(manifest, "%s" TABLE("t%d", "t%d.csv", "0", ONE), i ? "," : "", i, i);
    fputs("]}", manifest);
    fclose(manifest);
    scratch_text("many/manifest.json", text);
    free(text);
    ck_szg_fails(SZG_EDATA, "tables: has 1025 tables; a result has at most 1024",
                 szg_result_read(test_context(), scratch_path("many"), &result));
}
END_TEST

/* A file may have its columns in another order: the manifest's counts. */
START_TEST(columns_follow_the_manifest) {
    szg_result *result;
    ck_assert_int_eq(mkdir(scratch_path("order"), 0777), 0);
    scratch_text("order/manifest.json", ALL(TABLE("t", "t.csv", "2", TWO)));
    scratch_text("order/t.csv", "b,a\r\n\"\",7\r\n,\r\n");
    ck_szg_ok(szg_result_read(test_context(), scratch_path("order/"), &result));
    const szg_table *table = szg_result_find(result, "t");
    ck_assert_str_eq(szg_table_column(table, 0)->name, "a");
    ck_assert_int_eq(szg_table_get_integer(table, 0, 0), 7);
    ck_assert_str_eq(szg_table_get_text(table, 0, 1), "");
    ck_assert(szg_table_is_empty(table, 1, 0) && szg_table_is_empty(table, 1, 1));
    szg_result_close(&result);
}
END_TEST

START_TEST(reading_survives_failed_allocations) {
    szg_result *result;
    ck_szg_ok(make(&result));
    ck_szg_ok(szg_result_write(test_context(), result, scratch_path("alloc/"), NULL));
    szg_result_close(&result);
    const char *folder = scratch_path("alloc");
    ck_survives_failed_allocations(20, szg_result_read(test_context(), folder, &result));
    ck_assert_int_eq(szg_result_count(result), 3);
    szg_result_close(&result);
}
END_TEST

TEST_FILE("result_read") {
    test_add(suite, "results_come_back_equal", results_come_back_equal);
    test_add(suite, "damaged_folders_are_refused", damaged_folders_are_refused);
    test_add(suite, "too_many_tables_are_refused", too_many_tables_are_refused);
    test_add(suite, "columns_follow_the_manifest", columns_follow_the_manifest);
    test_add(suite, "reading_survives_failed_allocations", reading_survives_failed_allocations);
}

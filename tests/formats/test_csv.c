#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "formats/csv.h"

#include "scratch.h"

static const szg_column columns[] = {{"source", SZG_TEXT, "where from"},
                                     {"layer", SZG_INTEGER, "layer, from 0"},
                                     {"width", SZG_REAL, "range width"},
                                     {"note", SZG_TEXT, "remarks"}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static szg_status parse(const char *text, int64_t size, szg_table **out) {
    return szgi_csv_parse(test_context(), "in.csv", text, size, columns, COLUMNS, NULL, out);
}

/* A text of hostile bytes: separators, quotes, line ends, letters beyond ASCII; never NUL. */
static const char *hostile_text(const szgi_stream *stream, uint64_t index, char text[64]) {
    static const char *const parts[] = {
        ",", "\"", "\n", "\r\n", "\r", " ", "a", "\xC3\xA9", "", "\xF0\x9F\x98\x80", "nan", "\t"};
    int64_t count = szgi_random_below(stream, 16 * index, 8);
    text[0] = 0;
    for (int64_t i = 0; i < count; i++)
        strcat(text, parts[szgi_random_below(stream, 16 * index + 1 + (uint64_t)i,
                                             sizeof parts / sizeof *parts)]);
    return text;
}

static szg_status fill(szg_table *table, int64_t rows) {
    static const double special[] = {INFINITY, -INFINITY, -0.0, 0x1p-1074};
    szgi_stream stream = {.seed = test_seed(), .purpose = 12};
    szg_context *context = test_context();
    char text[64];
    for (int64_t i = 0; i < rows; i++) {
        uint64_t at = (uint64_t)i;
        int64_t kind = szgi_random_below(&stream, 3000000 + at, 8);
        SZG_TRY(szg_table_add_row(context, table));
        if (kind != 0)
            SZG_TRY(szg_table_set_text(context, table, "source", hostile_text(&stream, at, text)));
        if (kind != 1)
            SZG_TRY(szg_table_set_integer(context, table, "layer",
                                          i % 2 ? i / 2 - 20 : INT64_MIN + i * 7));
        if (kind == 2)
            SZG_TRY(szg_table_set_real(context, table, "width", special[i % 4]));
        else if (kind != 3)
            SZG_TRY(szg_table_set_real(context, table, "width", test_real(&stream, at) / 3));
    }
    return SZG_OK;
}

static void check_equal(const szg_table *a, const szg_table *b) {
    ck_assert_int_eq(szg_table_rows(a), szg_table_rows(b));
    for (int64_t row = 0; row < szg_table_rows(a); row++)
        for (int64_t i = 0; i < COLUMNS; i++) {
            ck_assert_int_eq(szg_table_is_empty(a, row, i), szg_table_is_empty(b, row, i));
            const char *text = szg_table_get_text(a, row, i);
            if (text)
                ck_assert_str_eq(text, szg_table_get_text(b, row, i));
            ck_assert_int_eq(szg_table_get_integer(a, row, i), szg_table_get_integer(b, row, i));
            double x = szg_table_get_real(a, row, i), y = szg_table_get_real(b, row, i);
            ck_assert_msg(isnan(x) ? isnan(y) : memcmp(&x, &y, sizeof x) == 0, "%a, %a", x, y);
        }
}

START_TEST(tables_come_back_equal) {
    szg_table *table, *again;
    ck_szg_ok(szg_table_open(test_context(), "tables", columns, COLUMNS, &table));
    ck_szg_ok(fill(table, test_trials(2000)));
    const char *path = scratch_path("tables.csv");
    ck_szg_ok(szgi_csv_write(test_context(), table, path));
    ck_szg_ok(szgi_csv_read(test_context(), path, columns, COLUMNS, &again));
    ck_assert_str_eq(szg_table_name(again), "tables");
    check_equal(table, again);
    szg_table_close(&again);
    szg_table_close(&table);
}
END_TEST

START_TEST(fields_are_quoted_as_rfc_4180_says) {
    szg_table *table;
    szg_context *context = test_context();
    ck_szg_ok(szg_table_open(context, "t", columns, COLUMNS, &table));
    ck_szg_ok(szg_table_add_row(context, table));
    ck_szg_ok(szg_table_set_text(context, table, "source", "a \"b\", c\nd\xFF"));
    ck_szg_ok(szg_table_set_real(context, table, "width", (double)-INFINITY));
    ck_szg_ok(szg_table_set_text(context, table, "note", ""));
    ck_szg_ok(szg_table_add_row(context, table));
    ck_szg_ok(szg_table_set_integer(context, table, "layer", -3));
    ck_szg_ok(szg_table_set_real(context, table, "width", (double)NAN));
    const char *path = scratch_path("t.csv");
    ck_szg_ok(szgi_csv_write(context, table, path));
    char *text = scratch_read(path, NULL);
    ck_assert_str_eq(text, "source,layer,width,note\n"
                           "\"a \"\"b\"\", c\nd\xEF\xBF\xBD\",,-inf,\"\"\n,-3,nan,\n");
    free(text);
    szg_table_close(&table);
}
END_TEST

START_TEST(files_of_others_are_read) {
    static const char text[] = "\xEF\xBB\xBFwidth,extra,note,layer,source\r\n"
                               "1e-3,x,,5,\"a,b\"\r\n\r\n0x1p3,\"y\nz\",\"\",-1,c";
    szg_table *table;
    ck_szg_ok(parse(text, sizeof text - 1, &table));
    ck_assert_str_eq(szg_table_name(table), "in");
    ck_assert_int_eq(szg_table_rows(table), 2);
    ck_assert_str_eq(szg_table_get_text(table, 0, 0), "a,b");
    ck_assert_int_eq(szg_table_get_integer(table, 0, 1), 5);
    ck_assert_double_eq(szg_table_get_real(table, 0, 2), 1e-3);
    ck_assert(szg_table_is_empty(table, 0, 3));
    ck_assert_double_eq(szg_table_get_real(table, 1, 2), 8);
    ck_assert_str_eq(szg_table_get_text(table, 1, 3), "");
    szg_table_close(&table);
}
END_TEST

/* An optional column that the file lacks is empty; no other column may be missing. */
START_TEST(optional_columns_may_be_missing) {
    static const char text[] = "source,layer,note\na,3,b\n";
    static const char *const width[] = {"width", NULL}, *const note[] = {"note", NULL};
    int64_t size = sizeof text - 1;
    szg_table *table;
    ck_szg_ok(
        szgi_csv_parse(test_context(), "in.csv", text, size, columns, COLUMNS, width, &table));
    ck_assert_int_eq(szg_table_columns(table), COLUMNS);
    ck_assert(szg_table_is_empty(table, 0, 2));
    ck_assert_int_eq(szg_table_get_integer(table, 0, 1), 3);
    ck_assert_str_eq(szg_table_get_text(table, 0, 3), "b");
    szg_table_close(&table);
    ck_assert_int_eq(
        szgi_csv_parse(test_context(), "in.csv", text, size, columns, COLUMNS, note, &table),
        SZG_EDATA);
    ck_assert_ptr_nonnull(strstr(szg_context_message(test_context()), "no column width"));
    ck_assert_int_eq(parse(text, size, &table), SZG_EDATA);
}
END_TEST

START_TEST(bad_files_are_refused) {
#define HEAD "source,layer,width,note\n"
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "in.csv: is empty"},
        {"source,layer,width\n", "line 1: the header has no column note"},
        {"source,layer,width,note,layer\n", "line 1, column 5: this column was there before"},
        {HEAD "a,1,2,,\n", "line 2, column 5: more fields"},
        {HEAD "a,1,2,\na,1,2\n", "line 3, column 3: fewer fields"},
        {HEAD "a,1,2", "line 2, column 3: fewer fields"},
        {HEAD "\"a\nb,1,2,\n", "line 4, column 1: a quoted field is not closed"},
        {HEAD "\"a\"b,1,2,\n", "line 2, column 1: text after a closing quote"},
        {HEAD "a\"b,1,2,\n", "line 2, column 1: a quote or carriage return"},
        {HEAD "a\rb,1,2,\n", "line 2, column 1: a quote or carriage return"},
        {HEAD "\"a\nb\",x,2,\n", "line 3, column 2: not an integer"},
        {HEAD "a,99999999999999999999,2,\n", "line 2, column 2: not an integer"},
        {HEAD "a, 1,2,\n", "line 2, column 2: not an integer"},
        {HEAD "a,1.0,2,\n", "line 2, column 2: not an integer"},
        {HEAD "a,1,2x,\n", "line 2, column 3: not a number"},
        {HEAD "a,1,1e999,\n", "line 2, column 3: not a number"},
        {HEAD "a\xFF,1,2,\n", "line 2, column 1: not valid UTF-8"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        szg_table *table;
        ck_szg_fails(SZG_EDATA, bad[i].words,
                     parse(bad[i].text, (int64_t)strlen(bad[i].text), &table));
        ck_assert_ptr_null(table);
    }
    szg_table *table;
    ck_szg_fails(SZG_EDATA, "NUL", parse("source\0,layer", 13, &table));
    ck_szg_fails(SZG_EIO, "cannot be read",
                 szgi_csv_read(test_context(), scratch_path("none.csv"), columns, COLUMNS, &table));
#undef HEAD
}
END_TEST

/* The boundaries of well-formed UTF-8 (Unicode 15, table 3-7), one step inside and one outside. */
START_TEST(utf8_is_checked_at_its_boundaries) {
    static const char *const good[] = {"\xC2\x80",         "\xDF\xBF",         "\xE0\xA0\x80",
                                       "\xED\x9F\xBF",     "\xEE\x80\x80",     "\xEF\xBF\xBF",
                                       "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "\x7F"};
    static const char *const bad[] = {"\x80",
                                      "\xC1\xBF",
                                      "\xC2",
                                      "\xC2\x7F",
                                      "\xE0\x9F\xBF",
                                      "\xED\xA0\x80",
                                      "\xE2\x82",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xF0\x90\x80",
                                      "\xFF"};
    char text[64];
    szg_table *table;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, "source,layer,width,note\n%s,,,\n", good[i]);
        ck_szg_ok(parse(text, (int64_t)strlen(text), &table));
        ck_assert_str_eq(szg_table_get_text(table, 0, 0), good[i]);
        szg_table_close(&table);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "source,layer,width,note\n%s,,,\n", bad[i]);
        ck_szg_fails(SZG_EDATA, "not valid UTF-8", parse(text, (int64_t)strlen(text), &table));
    }
}
END_TEST

START_TEST(csv_survives_failed_allocations) {
    szg_table *table;
    ck_szg_ok(szg_table_open(test_context(), "t", columns, COLUMNS, &table));
    ck_szg_ok(fill(table, 40));
    const char *path = scratch_path("t.csv");
    ck_survives_failed_allocations(1, szgi_csv_write(test_context(), table, path));
    szg_table_close(&table);
    ck_survives_failed_allocations(1,
                                   szgi_csv_read(test_context(), path, columns, COLUMNS, &table));
    szg_table_close(&table);
}
END_TEST

/* A file that grew row by row holds what is written at once, and each row was there at its time. */
START_TEST(a_file_grows_by_rows) {
    szg_table *table;
    szgi_csv_growth *growth;
    szgi_text whole;
    size_t size;
    ck_szg_ok(szg_table_open(test_context(), "t", columns, COLUMNS, &table));
    ck_szg_ok(fill(table, 30));
    ck_szg_ok(szgi_text_open(test_context(), &whole));
    ck_szg_ok(szgi_text_end(&whole, szgi_csv_print(test_context(), table, whole.stream)));
    const char *path = scratch_text("grown.csv", "of an earlier run");
    ck_szg_ok(szgi_csv_grow_open(test_context(), path, table, false, &growth));
    for (int64_t row = 0; row < 30; row++) {
        size_t before;
        free(scratch_read(path, &before));
        ck_szg_ok(szgi_csv_grow(test_context(), growth, table, row));
        char *text = scratch_read(path, &size);
        ck_assert(size > before && text[size - 1] == '\n');
        ck_assert(memcmp(text, whole.text, size) == 0);
        free(text);
    }
    ck_assert_int_eq((int64_t)size, whole.length);
    szgi_csv_grow_close(&growth);
    ck_assert_ptr_null(growth);
    szgi_csv_grow_close(&growth);
    szgi_text_close(&whole);
    szg_table_close(&table);
}
END_TEST

static void open_one(szg_table **table) {
    ck_szg_ok(szg_table_open(test_context(), "t", columns, COLUMNS, table));
    ck_szg_ok(szg_table_add_row(test_context(), *table));
    ck_szg_ok(szg_table_set_integer(test_context(), *table, "layer", 7));
}

static void ck_behind(const szg_table *before, const szg_table *table, bool header,
                      const char *wanted) {
    szgi_text text;
    ck_szg_ok(szgi_text_open(test_context(), &text));
    szg_status status = szgi_csv_print_behind(test_context(), before, table, header, text.stream);
    ck_szg_ok(szgi_text_end(&text, status));
    ck_assert_str_eq(text.text, wanted);
    szgi_text_close(&text);
}

/* Every row, and the header, begins with the cells of another table; empty ones stay empty. */
START_TEST(rows_behind_labels) {
    static const szg_column labels[] = {{"run", SZG_TEXT, ""}, {"seed", SZG_INTEGER, ""}};
    szg_table *table, *before;
    ck_szg_ok(szg_table_open(test_context(), "labels", labels, 2, &before));
    ck_szg_ok(szg_table_add_row(test_context(), before));
    ck_szg_ok(szg_table_set_text(test_context(), before, "run", "a,\"b"));
    open_one(&table);
    ck_behind(before, table, true, "run,seed,source,layer,width,note\n\"a,\"\"b\",,,7,,\n");
    ck_szg_ok(szg_table_set_integer(test_context(), before, "seed", 3));
    ck_szg_ok(szg_table_add_row(test_context(), table));
    ck_szg_ok(szg_table_set_text(test_context(), table, "note", ""));
    ck_behind(before, table, false, "\"a,\"\"b\",3,,7,,\n\"a,\"\"b\",3,,,,\"\"\n");
    ck_behind(NULL, table, true, "source,layer,width,note\n,7,,\n,,,\"\"\n");
    szg_table_close(&table);
    szg_table_close(&before);
}
END_TEST

/* What `before` becomes when a row is added to it. */
static void ck_grows(const char *before, const char *after) {
    szg_table *table;
    szgi_csv_growth *growth;
    size_t size;
    open_one(&table);
    const char *path = scratch_text("kept.csv", before);
    ck_szg_ok(szgi_csv_grow_open(test_context(), path, table, true, &growth));
    ck_szg_ok(szgi_csv_grow(test_context(), growth, table, 0));
    szgi_csv_grow_close(&growth);
    char *text = scratch_read(path, &size);
    ck_assert_int_eq((int64_t)size, (int64_t)strlen(after));
    ck_assert(memcmp(text, after, size) == 0);
    free(text);
    szg_table_close(&table);
}

/* Rows that stand there stay; what a kill left of a line goes. */
#define HEADER "source,layer,width,note\n"
START_TEST(rows_are_added_behind_whole_lines) {
    ck_grows("", HEADER ",7,,\n");
    ck_grows("source,lay", HEADER ",7,,\n");
    ck_grows(HEADER, HEADER ",7,,\n");
    ck_grows(HEADER "a,1,,\n", HEADER "a,1,,\n,7,,\n");
    ck_grows(HEADER "a,1,,\nb,2", HEADER "a,1,,\n,7,,\n");
}
END_TEST

/* A file of other columns is left as it is, one that another writes too. */
START_TEST(growing_is_refused) {
    static const char other[] = "source,layer\na,1\n";
    szg_table *table;
    szgi_csv_growth *growth, *second;
    size_t size;
    open_one(&table);
    const char *path = scratch_text("other.csv", other);
    ck_szg_fails(SZG_EDATA, "has other columns",
                 szgi_csv_grow_open(test_context(), path, table, true, &growth));
    ck_assert_ptr_null(growth);
    char *text = scratch_read(path, &size);
    ck_assert(size == sizeof other - 1 && memcmp(text, other, size) == 0);
    free(text);
    ck_szg_ok(szgi_csv_grow_open(test_context(), path, table, false, &growth));
    ck_szg_fails(SZG_EIO, "another process writes it",
                 szgi_csv_grow_open(test_context(), path, table, true, &second));
    szgi_csv_grow_close(&growth);
    ck_szg_fails(SZG_EIO, "not a regular file",
                 szgi_csv_grow_open(test_context(), "/dev/null", table, true, &growth));
    ck_szg_fails(SZG_EIO, "cannot be written",
                 szgi_csv_grow_open(test_context(), "/nowhere/at/all.csv", table, true, &growth));
    szg_table_close(&table);
}
END_TEST

START_TEST(growing_survives_failed_allocations) {
    szg_table *table;
    szgi_csv_growth *growth;
    open_one(&table);
    const char *path = scratch_text("t.csv", HEADER "a,1,,\n");
    ck_survives_failed_allocations(1,
                                   szgi_csv_grow_open(test_context(), path, table, true, &growth));
    szgi_csv_grow_close(&growth);
    szg_table_close(&table);
}
END_TEST

TEST_FILE("csv") {
    test_add(suite, "a_file_grows_by_rows", a_file_grows_by_rows);
    test_add(suite, "rows_are_added_behind_whole_lines", rows_are_added_behind_whole_lines);
    test_add(suite, "growing_is_refused", growing_is_refused);
    test_add(suite, "growing_survives_failed_allocations", growing_survives_failed_allocations);
    test_add(suite, "tables_come_back_equal", tables_come_back_equal);
    test_add(suite, "fields_are_quoted_as_rfc_4180_says", fields_are_quoted_as_rfc_4180_says);
    test_add(suite, "files_of_others_are_read", files_of_others_are_read);
    test_add(suite, "optional_columns_may_be_missing", optional_columns_may_be_missing);
    test_add(suite, "rows_behind_labels", rows_behind_labels);
    test_add(suite, "bad_files_are_refused", bad_files_are_refused);
    test_add(suite, "utf8_is_checked_at_its_boundaries", utf8_is_checked_at_its_boundaries);
    test_add(suite, "csv_survives_failed_allocations", csv_survives_failed_allocations);
}

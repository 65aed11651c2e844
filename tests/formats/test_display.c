/* Tables on a screen: which columns a line has room for, and what is said of the rest. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats/display.h"

#include "suite.h"

static const szg_column columns[] = {{"source", SZG_TEXT, ""},    {"n", SZG_INTEGER, ""},
                                     {"least", SZG_REAL, ""},     {"lo", SZG_REAL, ""},
                                     {"hi", SZG_REAL, ""},        {"empty", SZG_REAL, ""},
                                     {"rank", SZG_INTEGER, ""},   {"verdict", SZG_TEXT, ""},
                                     {"statement", SZG_TEXT, ""}, {"note", SZG_TEXT, ""}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static const szgi_cell cells[] = {
    SZGI_SHOW(1, source) SZGI_SHOW(1, n) SZGI_SHOW(2, rank) SZGI_SHOW_AS(1, least, "least", "λ")
        SZGI_SHOW_RANGE(1, certified, lo, hi) SZGI_SHOW(1, empty) SZGI_SHOW_WORD(3, verdict)
            SZGI_SHOW_PROSE(9, statement) SZGI_SHOW(1, missing)
                SZGI_SHOW_BOUND(9, some, "some", NULL, lo, hi, verdict, holds)};
static const szgi_cell said_cells[] = {SZGI_SHOW(1, n) SZGI_SHOW_PROSE(1, note)};
static const szgi_column described[] = {{.name = "n"}, {.name = "note"}};
/* The first has less of the columns than the one behind it. */
static const szgi_schema poorer = {"t", described, 1, said_cells, 1},
                         own_schema = {"t", described, 2, cells, sizeof cells / sizeof *cells},
                         another = {"another", described, 2, said_cells, 1},
                         said = {"said", described, 2, said_cells, 2};
static const szgi_schema *const schemas[] = {&another, &poorer, &own_schema, &said};
enum { SCHEMAS = sizeof schemas / sizeof *schemas };

typedef struct line {
    const char *source;
    int64_t n;
    double least, lo, hi;
    int64_t rank;
    const char *verdict, *statement, *note;
} line;

static const line two[] = {{"rope:dim=64", 512, 22767.648, -2.984375, 2.984375, 64, "holds",
                            "the first of two", "rounded"},
                           {"kms", 1024, -0.5, 1. / 3, 1e6, 7, "fails", "another", NULL}};

static szg_status fill(szg_table *table, const line *lines, int64_t count) {
    szg_context *context = test_context();
    for (const line *at = lines; at < lines + count; at++) {
        SZG_TRY(szg_table_add_row(context, table));
        SZG_TRY(szg_table_set_text(context, table, "source", at->source));
        SZG_TRY(szg_table_set_integer(context, table, "n", at->n));
        SZG_TRY(szg_table_set_real(context, table, "least", at->least));
        SZG_TRY(szg_table_set_real(context, table, "lo", at->lo));
        SZG_TRY(szg_table_set_real(context, table, "hi", at->hi));
        SZG_TRY(szg_table_set_integer(context, table, "rank", at->rank));
        SZG_TRY(szg_table_set_text(context, table, "verdict", at->verdict));
        SZG_TRY(szg_table_set_text(context, table, "statement", at->statement));
        SZG_TRY(szg_table_set_text(context, table, "note", at->note));
    }
    return SZG_OK;
}

static szg_result *make(const line *lines, int64_t count) {
    szg_result *result;
    szg_table *table;
    ck_szg_ok(szg_result_open(test_context(), "test", &result));
    ck_szg_ok(szg_table_open(test_context(), "t", columns, COLUMNS, &table));
    szgi_table_set_end(table, 3, SZGI_END_LOWER);
    szgi_table_set_end(table, 4, SZGI_END_UPPER);
    ck_szg_ok(fill(table, lines, count));
    ck_szg_ok(szg_result_add(test_context(), result, &table));
    return result;
}

/* What is printed; free it. Not inlined: gcc 12 takes the answer for the address of `text`. */
__attribute__((noinline)) static char *show_status(const szg_result *result, szgi_display how,
                                                   szg_status *status) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!how.schemas) {
        how.schemas = schemas;
        how.count = SCHEMAS;
    }
    *status = szgi_result_show(test_context(), result, &how, stream);
    ck_assert_int_eq(fclose(stream), 0);
    return text;
}

static char *show(const szg_result *result, szgi_display how) {
    szg_status status;
    char *text = show_status(result, how, &status);
    ck_szg_ok(status);
    return text;
}

static void check_shown(const line *lines, int64_t count, szgi_display how, const char *want) {
    szg_result *result = make(lines, count);
    char *text = show(result, how);
    ck_assert_str_eq(text, want);
    free(text);
    szg_result_close(&result);
}

/* A range that is a bound in some rows alone is not shown in others, nor where no row has it. */
START_TEST(ranges_are_shown_where_they_bound) {
    check_shown(two, 2, (szgi_display){.width = 70, .columns = "source,some"},
                "t\n"
                "  source                      some\n"
                "  rope:dim=64  [-2.98438, 2.98438]\n"
                "  kms\n"
                "1 note\n");
    szg_result *result = make(two + 1, 1);
    char *text = show(result, (szgi_display){.wide = true});
    ck_assert_ptr_null(strstr(text, "some"));
    free(text);
    szg_result_close(&result);
}
END_TEST

START_TEST(columns_go_by_priority) {
    check_shown(two, 2, (szgi_display){.width = 70},
                "t\n"
                "  source          n  rank    least            certified  verdict\n"
                "  rope:dim=64   512    64  22767.6  [-2.98438, 2.98438]  holds\n"
                "  kms          1024     7     -0.5    [0.333333, 1e+06]  fails\n"
                "1 more column\n"
                "1 note\n");
    /* without room for all: first the verdict goes, then the rank */
    check_shown(two, 2, (szgi_display){.width = 63, .options = true},
                "t\n"
                "  source          n  rank    least            certified\n"
                "  rope:dim=64   512    64  22767.6  [-2.98438, 2.98438]\n"
                "  kms          1024     7     -0.5    [0.333333, 1e+06]\n"
                "2 more columns: --wide shows all, --columns a,b chooses\n"
                "1 note: --notes shows it\n");
    check_shown(two, 2, (szgi_display){.width = 51, .unicode = true},
                "t\n"
                "  source          n        λ            certified\n"
                "  rope:dim=64   512  22767.6  [-2.98438, 2.98438]\n"
                "  kms          1024     -0.5    [0.333333, 1e+06]\n"
                "3 more columns\n"
                "1 note\n");
}
END_TEST

/* Fewer digits before a column goes: ends outwards, others to the nearest, none longer than it was
 * (22770 and not 2.277e+04). */
START_TEST(digits_go_before_columns) {
    check_shown(two, 2, (szgi_display){.width = 47},
                "t\n"
                "  source          n  least          certified\n"
                "  rope:dim=64   512  22768  [-2.9844, 2.9844]\n"
                "  kms          1024   -0.5   [0.33333, 1e+06]\n"
                "3 more columns\n"
                "1 note\n");
    check_shown(two, 2, (szgi_display){.width = 44},
                "t\n"
                "  source          n  least        certified\n"
                "  rope:dim=64   512  22770  [-2.985, 2.985]\n"
                "  kms          1024   -0.5  [0.3333, 1e+06]\n"
                "3 more columns\n"
                "1 note\n");
    check_shown(two, 2, (szgi_display){.width = 20},
                "t\n"
                "  source          n\n"
                "  rope:dim=64   512\n"
                "  kms          1024\n"
                "6 more columns\n"
                "1 note\n");
}
END_TEST

static bool read_range(const char *text, double *lo, double *hi) {
    const char *at = strchr(text, '[');
    if (!at)
        return false;
    char *end;
    *lo = strtod(at + 1, &end);
    ck_assert_msg(strncmp(end, ", ", 2) == 0, "%s", text);
    *hi = strtod(end + 2, &end);
    ck_assert_msg(*end == ']', "%s", text);
    return true;
}

/* Reads "[lo, hi]" back at every width that shows it. */
START_TEST(ranges_enclose_at_any_width) {
    szgi_stream random = {.seed = test_seed(), .purpose = 78};
    for (int64_t i = 0; i < test_trials(200); i++) {
        double a = test_real(&random, (uint64_t)(2 * i)),
               b = test_real(&random, (uint64_t)(2 * i + 1));
        line one = {"x", 1, 0, a < b ? a : b, a < b ? b : a, 1, "holds", "s", NULL};
        szg_result *result = make(&one, 1);
        for (int width = 20; width < 60; width++) {
            char *text = show(result, (szgi_display){.width = width});
            double lo, hi;
            if (read_range(text, &lo, &hi))
                ck_assert_msg(lo <= one.lo && one.hi <= hi, "%.17g %.17g:\n%s", one.lo, one.hi,
                              text);
            else
                ck_assert(width < 52); /* source, n, least and two ends of 12 characters */
            free(text);
        }
        szg_result_close(&result);
    }
}
END_TEST

/* Every line fits, the first column is there, and a row is one line: texts of wide, combining and
 * hostile characters, of any length. */
START_TEST(every_line_fits) {
    static const char *const pieces[] = {"a",       "é",    "世界", "e\u0301", "\U0001F600",
                                         "\x1b[2J", "\xff", " ",    "\n",      "word"};
    enum { PIECES = sizeof pieces / sizeof *pieces, ROWS = 3, MOST = 60 };
    szgi_stream random = {.seed = test_seed(), .purpose = 79};
    for (int64_t trial = 0; trial < test_trials(100); trial++) {
        char source[ROWS][8 * MOST] = {0};
        line lines[ROWS];
        random.step = (uint32_t)trial;
        for (int row = 0; row < ROWS; row++) {
            uint64_t length = 1 + szgi_random_below(&random, 100 * (uint64_t)row, MOST);
            for (uint64_t i = 0; i < length; i++)
                strcat(source[row],
                       pieces[szgi_random_below(&random, 100 * (uint64_t)row + 1 + i, PIECES)]);
            lines[row] = (line){source[row], row, 1e-300, -1e300, 1e300, 3, "holds", "s", NULL};
        }
        szg_result *result = make(lines, ROWS);
        for (int width = 20; width <= 120; width += 7) {
            char *text = show(result, (szgi_display){.width = width, .unicode = trial % 2}),
                 *rest = text;
            ck_assert_int_eq(szgi_utf8_check(text, strlen(text)), -1);
            int count = 0;
            for (char *at; (at = strsep(&rest, "\n")); count++) {
                ck_assert_msg(szgi_utf8_columns(at) <= width, "%d: %s", width, at);
                for (const char *c = at; *c; c++)
                    ck_assert_msg(!iscntrl((unsigned char)*c), "%s", at);
            }
            ck_assert_int_eq(count, 1 + 1 + ROWS + 1 + 1); /* name, headings, columns left, end */
            free(text);
        }
        szg_result_close(&result);
    }
}
END_TEST

START_TEST(columns_are_aligned_by_width) {
    static const line wide[] = {{"世界", 1, 0, 0, 1, 3, "holds", "s", NULL},
                                {"e\u0301t", 2, 0, 0, 1, 3, "holds", "s", NULL},
                                {"plain", 3, 0, 0, 1, 3, "holds", "s", NULL}};
    check_shown(wide, 3, (szgi_display){.columns = "source,n,rank"},
                "t\n"
                "  source  n  rank\n"
                "  世界    1     3\n"
                "  e\u0301t      2     3\n"
                "  plain   3     3\n");
}
END_TEST

/* Half of a number would be another number; half of a text is marked. */
START_TEST(a_column_wider_than_the_line) {
    static const line one[] = {{"a name that is far longer than the line is", 123456789012, 0, 0, 1,
                                3, "holds", "s", NULL}};
    check_shown(one, 1, (szgi_display){.width = 20},
                "t\n"
                "  source\n"
                "  a name that is ...\n"
                "7 more columns\n");
    check_shown(one, 1, (szgi_display){.width = 20, .unicode = true},
                "t\n"
                "  source\n"
                "  a name that is fa…\n"
                "7 more columns\n");
    check_shown(one, 1, (szgi_display){.width = 8, .columns = "n"},
                "t\n"
                "             n\n"
                "  123456789012\n");
}
END_TEST

START_TEST(no_rows_and_some_rows) {
    check_shown(two, 0, (szgi_display){.width = 80}, "t\n  no rows\n");
    check_shown(two, 2, (szgi_display){.rows = 1, .columns = "n"},
                "t\n"
                "    n\n"
                "  512\n"
                "  ... and 1 more rows: all with -o or --format csv\n"
                "1 note\n");
}
END_TEST

START_TEST(columns_that_are_asked_for) {
    szg_status status;
    szg_result *result = make(two, 2);
    check_shown(two, 2, (szgi_display){.width = 20, .columns = "certified,λ,empty,n"},
                "t\n"
                "            certified    least  empty     n\n"
                "  [-2.98438, 2.98438]  22767.6          512\n"
                "    [0.333333, 1e+06]     -0.5         1024\n"
                "1 note\n");
    /* prose flows into the line where it is asked for */
    check_shown(two, 2, (szgi_display){.width = 24, .columns = "verdict,statement"},
                "t\n"
                "  verdict  statement\n"
                "  holds    the first of two\n"
                "  fails    another\n"
                "1 note\n");
    char *plain = show(result, (szgi_display){.width = 80});
    char *text =
        show_status(result, (szgi_display){.width = 80, .columns = "n,certifide"}, &status);
    ck_assert_str_eq(text, plain); /* what was computed is not lost */
    ck_szg_fails(
        SZG_EINVAL,
        "there is no column 'certifide': did you mean certified? t has certified, some, source, "
        "n, least, lo, hi, empty, rank, verdict, statement, note",
        status);
    free(text);
    text = show_status(result, (szgi_display){.columns = "n,"}, &status);
    ck_szg_fails(SZG_EINVAL, "there is no column ''; t has", status);
    free(text);
    free(plain);
    szg_result_close(&result);
}
END_TEST

/* Every value, on lines of any length; what is empty takes no place. */
START_TEST(wide_shows_every_column) {
    static const char rows[] =
        "t\n"
        "  #  source          n    least        lo       hi  rank  verdict  statement\n"
        "  1  rope:dim=64   512  22767.6  -2.98438  2.98438    64  holds    the first of two\n"
        "  2  kms          1024     -0.5  0.333333    1e+06     7  fails    another\n"
        "  note, row 1: rounded\n";
    check_shown(two, 2, (szgi_display){.width = 0, .wide = true, .notes = true}, rows);
    check_shown(two, 2, (szgi_display){.width = 83, .wide = true, .notes = true}, rows);
}
END_TEST

/* Where a row is longer than the line, each cell has a line of its own. */
START_TEST(wide_rows_stand_upright) {
    check_shown(two, 2, (szgi_display){.width = 29, .wide = true, .notes = true},
                "t\n"
                "  row 1\n"
                "  source     rope:dim=64\n"
                "  n          512\n"
                "  least      22767.6\n"
                "  lo         -2.98438\n"
                "  hi         2.98438\n"
                "  rank       64\n"
                "  verdict    holds\n"
                "  statement  the first of two\n"
                "\n"
                "  row 2\n"
                "  source     kms\n"
                "  n          1024\n"
                "  least      -0.5\n"
                "  lo         0.333333\n"
                "  hi         1e+06\n"
                "  rank       7\n"
                "  verdict    fails\n"
                "  statement  another\n"
                "  note, row 1: rounded\n");
}
END_TEST

/* Texts that are too long keep the part in which they differ: at the end, in the middle, behind
 * what all have in common, and where some of them fit. */
START_TEST(long_texts_stay_apart) {
    static const struct {
        const char *text[4], *shown[4];
    } all[] = {
        {{"runs/rope-theta-10000/seed-1", "runs/rope-theta-10000/seed-2"},
         {"runs/rope-t...1", "runs/rope-t...2"}},
        {{"a/layer-0/attention/query.npy", "a/layer-1/attention/query.npy"},
         {"a/layer-0/at...", "a/layer-1/at..."}},
        {{"models/one/layer-0/query.npy", "models/one/layer-1/query.npy", "short"},
         {"m...0/query.npy", "m...1/query.npy", "short"}},
        {{"first-of-two-long-names-a", "first-of-two-long-names-b", "other-of-two-long-names-a",
          "other-of-two-long-names-b"},
         {"firs...-names-a", "firs...-names-b", "othe...-names-a", "othe...-names-b"}},
        {{"the same text in both of the rows", "the same text in both of the rows"},
         {"the same tex...", "the same tex..."}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        line lines[4];
        int64_t count = 0;
        for (; count < 4 && all[i].text[count]; count++) {
            lines[count] = two[0];
            lines[count].source = all[i].text[count];
        }
        szg_result *result = make(lines, count);
        char *text = show(result, (szgi_display){.width = 29});
        for (int64_t row = 0; row < count; row++)
            ck_assert_msg(strstr(text, all[i].shown[row]), "%s is not in\n%s", all[i].shown[row],
                          text);
        free(text);
        szg_result_close(&result);
    }
}
END_TEST

/* An empty cell that stands for something says so; a column that is all empty takes no place. */
START_TEST(empty_cells_say_what_they_stand_for) {
    static const szg_column own[] = {{"n", SZG_INTEGER, ""}, {"head", SZG_INTEGER, ""}};
    static const szgi_cell records[] = {SZGI_SHOW(1, n) SZGI_SHOW_EMPTY(1, head, "all")};
    static const szgi_schema schema = {"u", described, 1, records, 2}, *const list[] = {&schema};
    for (int with = 0; with < 2; with++)
        for (int wide = 0; wide < 2; wide++) {
            szg_result *result;
            szg_table *table;
            ck_szg_ok(szg_result_open(test_context(), "test", &result));
            ck_szg_ok(szg_table_open(test_context(), "u", own, 2, &table));
            for (int64_t row = 0; row < 2; row++) {
                ck_szg_ok(szg_table_add_row(test_context(), table));
                ck_szg_ok(szg_table_set_integer(test_context(), table, "n", 7 + row));
                if (with && row == 0)
                    ck_szg_ok(szg_table_set_integer(test_context(), table, "head", 3));
            }
            ck_szg_ok(szg_result_add(test_context(), result, &table));
            szg_status status;
            char *text = show_status(
                result, (szgi_display){.schemas = list, .count = 1, .width = 40, .wide = wide != 0},
                &status);
            ck_szg_ok(status);
            ck_assert_str_eq(text,
                             with ? "u\n  n  head\n  7     3\n  8   all\n" : "u\n  n\n  7\n  8\n");
            free(text);
            szg_result_close(&result);
        }
}
END_TEST

/* Formulas are set in prose and in notes, and nowhere else: a file may be named with a backtick. */
START_TEST(formulas_are_set) {
    static const line one[] = {
        {"`theta`", 1, 0, 0, 1, 3, "holds", "`theta_i <= pi` for all", "for `theta -> inf`"}};
    check_shown(one, 1, (szgi_display){.columns = "source,statement", .notes = true},
                "t\n"
                "  source   statement\n"
                "  `theta`  theta_i <= pi for all\n"
                "  note: for theta -> inf\n");
    check_shown(one, 1,
                (szgi_display){.columns = "source,statement", .notes = true, .unicode = true},
                "t\n"
                "  source   statement\n"
                "  `theta`  \u03b8\u1d62 \u2264 \u03c0 for all\n"
                "  note: for \u03b8 \u2192 \u221e\n");
    szg_result *all = make(one, 1);
    char *wide = show(all, (szgi_display){.wide = true});
    ck_assert_msg(strstr(wide, "  theta_i <= pi for all\n"), "%s", wide);
    free(wide);
    szg_result_close(&all);
    /* prose of any length is cut between characters */
    char statement[6001] = "`";
    for (int i = 0; i < 1400; i++)
        strcat(statement, "pi, ");
    strcat(statement, "`");
    line longest = one[0];
    longest.statement = statement;
    szg_result *result = make(&longest, 1);
    char *text = show(result, (szgi_display){.columns = "statement", .unicode = true});
    ck_assert_int_eq(szgi_utf8_check(text, strlen(text)), -1);
    free(text);
    szg_result_close(&result);
}
END_TEST

START_TEST(notes_name_their_rows) {
    line lines[20];
    for (int i = 0; i < 20; i++)
        lines[i] = (line){"x",
                          i,
                          0,
                          0,
                          1,
                          3,
                          "holds",
                          "s",
                          i == 0   ? NULL
                          : i % 2  ? "odd rows have a long note that needs more than one line"
                          : i == 2 ? "once"
                                   : "other"};
    szg_result *result = make(lines, 20);
    char *text = show(result, (szgi_display){.width = 40, .columns = "n"});
    ck_assert_msg(strstr(text, "3 notes\n"), "%s", text);
    free(text);
    text = show(result, (szgi_display){.width = 40, .columns = "n", .notes = true});
    ck_assert_msg(strstr(text, "  20  19\n"
                               "  note, rows 2, 4, 6, 8, 10, 12 and 4\n"
                               "    more: odd rows have a long note that\n"
                               "    needs more than one line\n"
                               "  note, row 3: once\n"
                               "  note, rows 5, 7, 9, 11, 13, 15 and 2\n"
                               "    more: other\n"),
                  "%s", text);
    free(text);
    szg_result_close(&result);
    static const line pair[] = {{"x", 1, 0, 0, 1, 3, "holds", "s", "same"},
                                {"y", 2, 0, 0, 1, 3, "holds", "s", "same"}};
    check_shown(pair, 2, (szgi_display){.columns = "n", .notes = true},
                "t\n"
                "  #  n\n"
                "  1  1\n"
                "  2  2\n"
                "  note, rows 1-2: same\n");
}
END_TEST

static void add_notes(szg_result *result, int rows) {
    static const szg_column own[] = {{"n", SZG_INTEGER, ""}, {"note", SZG_TEXT, ""}};
    szg_table *table;
    ck_szg_ok(szg_table_open(test_context(), "said", own, 2, &table));
    for (int i = 0; i < rows; i++) {
        ck_szg_ok(szg_table_add_row(test_context(), table));
        ck_szg_ok(szg_table_set_integer(test_context(), table, "n", 10 + i));
        ck_szg_ok(szg_table_set_text(test_context(), table, "note", i == 1 ? "other" : "a note"));
    }
    ck_szg_ok(szg_result_add(test_context(), result, &table));
}

/* A table of notes counts as notes do, and is printed where they are asked for, if it has any. */
START_TEST(tables_of_notes) {
    static const line one[] = {{"x", 1, 0, 0, 1, 3, "holds", "s", "of a row"}};
    static const struct {
        int rows;
        bool notes;
        const char *want; /* behind the other table */
    } cases[] = {{3, false, "\n3 notes\n"},
                 {0, false, "\n1 note\n"},
                 {0, true, "\n  note: of a row\n"},
                 {3, true,
                  "\n  note: of a row\n\n"
                  "said\n   n  note\n  10  a note\n  11  other\n  12  a note\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        szg_result *result = make(one, 1);
        add_notes(result, cases[i].rows);
        char *text = show(result, (szgi_display){.wide = true, .notes = cases[i].notes});
        size_t length = strlen(text), want = strlen(cases[i].want);
        ck_assert_msg(length > want && strcmp(text + length - want, cases[i].want) == 0, "%s",
                      text);
        ck_assert(cases[i].rows == 3 || !strstr(text, "said"));
        free(text);
        szg_result_close(&result);
    }
}
END_TEST

START_TEST(verdicts_have_colours) {
    static const szgi_display_colour colours[] = {{"holds", "32"}, {NULL, NULL}};
    check_shown(two, 2, (szgi_display){.columns = "verdict,n", .colours = colours},
                "t\n"
                "  verdict     n\n"
                "  \033[32mholds\033[0m     512\n"
                "  fails    1024\n"
                "1 note\n");
}
END_TEST

START_TEST(display_survives_failed_allocations) {
    szg_result *result = make(two, 2);
    FILE *sink = fopen("/dev/null", "w");
    szgi_display how = {.schemas = schemas, .count = SCHEMAS, .width = 80, .notes = true};
    ck_survives_failed_allocations(1, szgi_result_show(test_context(), result, &how, sink));
    how.columns = "n,certified";
    ck_survives_failed_allocations(1, szgi_result_show(test_context(), result, &how, sink));
    fclose(sink);
    szg_result_close(&result);
}
END_TEST

TEST_FILE("display") {
    test_add(suite, "bounds", ranges_are_shown_where_they_bound);
    test_add(suite, "columns_go_by_priority", columns_go_by_priority);
    test_add(suite, "digits_go_before_columns", digits_go_before_columns);
    test_add(suite, "ranges_enclose_at_any_width", ranges_enclose_at_any_width);
    test_add(suite, "every_line_fits", every_line_fits);
    test_add(suite, "columns_are_aligned_by_width", columns_are_aligned_by_width);
    test_add(suite, "a_column_wider_than_the_line", a_column_wider_than_the_line);
    test_add(suite, "no_rows_and_some_rows", no_rows_and_some_rows);
    test_add(suite, "columns_that_are_asked_for", columns_that_are_asked_for);
    test_add(suite, "wide_shows_every_column", wide_shows_every_column);
    test_add(suite, "wide_rows_stand_upright", wide_rows_stand_upright);
    test_add(suite, "long_texts_stay_apart", long_texts_stay_apart);
    test_add(suite, "empty_cells_say_what_they_stand_for", empty_cells_say_what_they_stand_for);
    test_add(suite, "formulas_are_set", formulas_are_set);
    test_add(suite, "notes_name_their_rows", notes_name_their_rows);
    test_add(suite, "tables_of_notes", tables_of_notes);
    test_add(suite, "verdicts_have_colours", verdicts_have_colours);
    test_add(suite, "display_survives_failed_allocations", display_survives_failed_allocations);
}

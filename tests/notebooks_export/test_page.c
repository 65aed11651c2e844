/* The page of small folders of results: well formed, nothing from a file but text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/memory.h"
#include <szego/page.h>
#include "formats/result.h"

#include "scratch.h"
#include "embed.h"
#include "page_private.h"

#define HOSTILE                                                                                    \
    "<script>alert(1)</script>\"' onload=x &amp; \xE2\x80\xAE\x1b]0;\xff --> ]]> </style>"

static const szg_column columns[] = {{"name", SZG_TEXT, "a <b>doc</b> \"quoted\""},
                                     {"count", SZG_INTEGER, "how many"},
                                     {"value", SZG_REAL, "a number"},
                                     {"never", SZG_REAL, "no value"},
                                     {"note", SZG_TEXT, "remarks"}};

static szg_status fill(szg_table *table, int64_t rows, const char *name) {
    szg_context *context = test_context();
    for (int64_t row = 0; row < rows; row++) {
        SZG_TRY(szg_table_add_row(context, table));
        SZG_TRY(szg_table_set_text(context, table, "name", name));
        SZG_TRY(szg_table_set_integer(context, table, "count", row));
        SZG_TRY(szg_table_set_real(context, table, "value", 1.0 / 3 + (double)row));
    }
    return SZG_OK;
}

/* A result of one table "odd" in the scratch folder `folder`. */
static void write_result(const char *folder, const char *command, int64_t rows, const char *name) {
    szg_context *context = test_context();
    szg_result *result;
    szg_table *table;
    ck_szg_ok(szg_result_open(context, command, &result));
    ck_szg_ok(szgi_json_add_text(context, szgi_result_provenance(result), "arguments", name));
    ck_szg_ok(szg_table_open(context, "odd", columns, 5, &table));
    ck_szg_ok(fill(table, rows, name));
    ck_szg_ok(szg_result_add(context, result, &table));
    ck_szg_ok(szg_result_write(context, result, scratch_path(folder), NULL));
    szg_result_close(&result);
}

static szg_collection *open_results(const char *folder) {
    szg_collection *results;
    ck_szg_ok(szg_collection_open(test_context(), scratch_path(folder), &results));
    return results;
}

static char *page_of(const szg_collection *results) {
    ck_szg_ok(szg_page_write(test_context(), results, scratch_path("page.html")));
    return scratch_read(scratch_path("page.html"), NULL);
}

static int64_t count_of(const char *text, const char *part) {
    int64_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* ---- A checker of tags: each that opens is closed, in order; attributes are quoted. ---- */

static bool is_void(const char *name) {
    static const char *const names[] = {"!DOCTYPE", "meta", "link", "br"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Past the tag's '>': its attributes are NAME or NAME="...". */
static const char *skip_attributes(const char *at, bool *closed) {
    while (*at != '>') {
        ck_assert_msg(*at && *at != '<', "a tag is open before: %.40s", at);
        *closed = *at == '/';
        if (*at++ == '"') {
            size_t length = strcspn(at, "\"<>");
            ck_assert_msg(at[length] == '"', "an attribute is open: %.60s", at);
            at += length + 1;
        }
    }
    return at + 1;
}

static void check_tags(const char *html) {
    static char open[64][24];
    int depth = 0;
    for (const char *at = strchr(html, '<'); at; at = strchr(at, '<')) {
        char name[24] = "";
        bool end = at[1] == '/', closed = false;
        at += end ? 2 : 1;
        size_t length =
            strspn(at, "!ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
        ck_assert_msg(length > 0 && length < sizeof name, "no tag: %.40s", at);
        memcpy(name, at, length);
        at = skip_attributes(at + length, &closed);
        if (end) {
            ck_assert_msg(depth > 0 && strcmp(open[depth - 1], name) == 0,
                          "</%s> closes <%s>: %.60s", name, depth ? open[depth - 1] : "", at);
            depth--;
        } else if (!closed && !is_void(name)) {
            ck_assert_int_lt(depth, 64);
            memcpy(open[depth++], name, sizeof name);
            if (strcmp(name, "script") == 0 || strcmp(name, "style") == 0)
                at = strstr(at, strcmp(name, "style") ? "</script" : "</style");
        }
    }
    ck_assert_msg(depth == 0, "<%s> is open at the end", depth ? open[depth - 1] : "");
}

START_TEST(hostile_names_are_text) {
    write_result("hostile/a/", "spectrum", 3, HOSTILE);
    write_result("hostile/b/", "symbol", 3, HOSTILE);
    FILE *manifest = fopen(scratch_path("hostile/b/manifest.json"), "w");
    fputs("{\"format\": \"szego-results-1\", \"command\": \"odd\\\"><script>x</script>\"}",
          manifest);
    fclose(manifest);
    szg_collection *results = open_results("hostile");
    char *html = page_of(results);
    check_tags(html);
    ck_assert_ptr_null(strstr(html, "<script>alert"));
    ck_assert_ptr_null(strstr(html, "<script>x"));
    ck_assert_ptr_null(strstr(html, "<b>doc"));
    ck_assert_ptr_null(strstr(html, "\x1b"));
    ck_assert_ptr_null(strstr(html, "\xE2\x80\xAE"));
    ck_assert_int_ge(count_of(html, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39; onload=x"),
                     3);
    /* the three scripts that run, and one block of bytes a table; b's command names no table */
    ck_assert_int_eq(count_of(html, "<script>"), 3);
    ck_assert_int_eq(count_of(html, "'sha256-"), 3);
    ck_assert_int_eq(count_of(html, "<script type=\"application/octet-stream\""), 1);
    ck_assert_int_eq(count_of(html, "id=\"table-spectrum_odd\""), 1);
    ck_assert_ptr_nonnull(strstr(html, "<p>1 result could not be read"));
    free(html);
    szg_collection_close(&results);
}
END_TEST

START_TEST(what_was_read_is_said) {
    write_result("mixed/good/", "spectrum", 2, "plain");
    write_result("mixed/bad/", "symbol", 2, "plain");
    FILE *damaged = fopen(scratch_path("mixed/bad/odd.csv"), "a");
    fputs("one field\n", damaged);
    fclose(damaged);
    szg_collection *results = open_results("mixed");
    char *html = page_of(results);
    check_tags(html);
    ck_assert_ptr_nonnull(
        strstr(html, "<div class=\"warning\" id=\"bad\"><p>1 result could not be"));
    ck_assert_ptr_nonnull(strstr(html, "mixed/bad/odd.csv"));
    ck_assert_ptr_nonnull(strstr(html, "<summary><code>good</code>: spectrum</summary>"));
    /* nothing was found, so that no heading says so; what was run comes last */
    ck_assert_ptr_null(strstr(html, "id=\"findings\""));
    ck_assert_ptr_nonnull(strstr(html, "<li><a href=\"#others\">"));
    const char *last = strstr(html, "<section id=\"provenance\">");
    ck_assert_ptr_nonnull(last);
    ck_assert_ptr_null(strstr(last + 1, "<section"));
    ck_assert_ptr_nonnull(strstr(html, "default-src 'none'"));
    ck_assert_ptr_null(strstr(html, "http://"));
    ck_assert_ptr_null(strstr(html, "https://"));
    free(html);
    szg_collection_close(&results);
}
END_TEST

/* The page is written beside its target: a failure leaves what was there. */
START_TEST(failures_leave_the_former_page) {
    write_result("whole/", "spectrum", 5, "plain");
    szg_collection *results = open_results("whole");
    scratch_text("page.html", "former");
    szgi_memory_fail_after(test_context(), 20);
    ck_szg_fails(SZG_ENOMEM, "",
                 szg_page_write(test_context(), results, scratch_path("page.html")));
    char *html = scratch_read(scratch_path("page.html"), NULL);
    ck_assert_str_eq(html, "former");
    free(html);
    ck_szg_fails(SZG_EIO, "no/folder",
                 szg_page_write(test_context(), results, scratch_path("no/folder/page.html")));
    ck_survives_failed_allocations(
        20, szg_page_write(test_context(), results, scratch_path("page.html")));
    html = scratch_read(scratch_path("page.html"), NULL);
    check_tags(html);
    free(html);
    szg_collection_close(&results);
}
END_TEST

/* ---- Parts, on a stream of the test's own ---- */

static char *links_of(const szg_table *table, const int64_t *row, int64_t count) {
    char *text = NULL;
    size_t size = 0;
    page page = {.context = test_context(), .section = "test"};
    rows source = {table, row, count};
    page.stream = open_memstream(&text, &size);
    ck_szg_ok(szgi_page_links(&page, &source, 1));
    ck_szg_ok(szgi_page_links(&page, &source, 1));
    fclose(page.stream);
    ck_assert_int_eq(page.count, 1); /* embedded once */
    szgi_memory_free(page.embedded[0].bytes);
    szgi_memory_free(page.embedded);
    return text;
}

static szg_table *new_table(int64_t rows) {
    szg_table *table;
    ck_szg_ok(szg_table_open(test_context(), "train_odd", columns, 5, &table));
    ck_szg_ok(fill(table, rows, "x"));
    return table;
}

/* Reads "0-511,600,700-800:2" back. */
static int64_t read_runs(const char *text, bool *marked) {
    int64_t count = 0;
    for (char *end; *text != '"'; text += *text == ',') {
        int64_t from = strtoll(text, &end, 10), to = from, step = 1;
        ck_assert_ptr_ne(end, text);
        if (*end == '-')
            to = strtoll(end + 1, &end, 10);
        if (*end == ':')
            step = strtoll(end + 1, &end, 10);
        for (; from <= to; from += step, count++) {
            ck_assert(!marked[from]);
            marked[from] = true;
        }
        text = end;
    }
    return count;
}

START_TEST(rows_are_listed) {
    enum { ROWS = 400 };
    static const int64_t strides[] = {1, 2, 7, 399};
    szg_table *table = new_table(ROWS);
    szgi_stream stream = {.seed = test_seed(), .purpose = 91};
    for (int64_t trial = 0; trial < 50; trial++) {
        int64_t row[ROWS], count = 0;
        bool marked[ROWS] = {0};
        for (int64_t i = trial % 5; i < ROWS; i++)
            if (trial < 8
                    ? i % strides[trial % 4] == 0
                    : szgi_random_below(&stream, (uint64_t)(trial * ROWS + i), trial % 9 + 2) == 0)
                row[count++] = i;
        char *text = links_of(table, row, count);
        char *list = strstr(text, "data-rows=\"");
        ck_assert_int_eq(list != NULL, count < ROWS);
        if (list)
            ck_assert_int_eq(read_runs(list + 11, marked), count);
        for (int64_t i = 0; list && i < count; i++)
            ck_assert(marked[row[i]]);
        free(text);
    }
    szg_table_close(&table);
}
END_TEST

/* A list that would be longer than its table is worth becomes the table, and says so. */
START_TEST(long_lists_become_tables) {
    enum { ROWS = 20000 };
    szg_table *table = new_table(ROWS);
    int64_t *row, count = 0;
    ck_szg_ok(szgi_memory_alloc(test_context(), ROWS, &row));
    for (int64_t i = 0; i < ROWS; i++)
        if (i % 7 == 0 || i % 7 == 1 || i % 7 == 4)
            row[count++] = i;
    char *text = links_of(table, row, count);
    ck_assert_ptr_null(strstr(text, "data-rows"));
    ck_assert_ptr_nonnull(strstr(text, "CSV: 20000 rows of train_odd, of which 8572 are drawn"));
    free(text);
    szgi_memory_free(row);
    szg_table_close(&table);
}
END_TEST

/* Cells, meanings and names of any length: the page shows their beginnings, and holds them whole.
 */
START_TEST(long_texts_are_cut) {
    enum { LONG = 100000 };
    static char text[LONG + 1];
    memset(text, 'L', LONG);
    const szg_column long_columns[] = {{"name", SZG_TEXT, text}, {"value", SZG_REAL, "a number"}};
    static const char *const shown[] = {"name", "value", NULL};
    szg_context *context = test_context();
    szg_table *table;
    ck_szg_ok(szg_table_open(context, "train_odd", long_columns, 2, &table));
    ck_szg_ok(szg_table_add_row(context, table));
    ck_szg_ok(szg_table_set_text(context, table, "name", text));
    char *html = NULL;
    size_t size = 0;
    page page = {.context = context, .section = "test"};
    page.stream = open_memstream(&html, &size);
    szgi_page_paragraph(&page, "about %s", text);
    ck_szg_ok(szgi_page_rows(&page, (rows){table, NULL, 1}, shown));
    ck_assert_int_eq(fflush(page.stream), 0);
    check_tags(html);
    ck_assert_ptr_nonnull(strstr(html, "LLL…</p>"));
    ck_assert_ptr_nonnull(strstr(html, "LLL…\">name</th>"));
    ck_assert_ptr_nonnull(strstr(html, "LLL…</td>"));
    ck_assert_uint_lt(size, 25000);
    fclose(page.stream);
    free(html);
    szgi_memory_free(page.embedded[0].bytes);
    szgi_memory_free(page.embedded);
    szg_table_close(&table);
}
END_TEST

START_TEST(tables_are_for_readers) {
    static const char *const shown[] = {"name", "missing", "count", "value", "never", NULL};
    szg_table *table = new_table(250);
    char *text = NULL;
    size_t size = 0;
    page page = {.context = test_context(), .section = "test"};
    page.stream = open_memstream(&text, &size);
    ck_szg_ok(szgi_page_rows(&page, (rows){table, NULL, 250}, shown));
    fclose(page.stream);
    check_tags(text);
    ck_assert_int_eq(count_of(text, "<th "), 3); /* neither the missing one nor the empty one */
    ck_assert_int_eq(count_of(text, "<tr>"), 1 + 200);
    ck_assert_ptr_nonnull(
        strstr(text, "title=\"a &lt;b&gt;doc&lt;/b&gt; &quot;quoted&quot;\">name"));
    ck_assert_ptr_nonnull(strstr(text, "title=\"1.3333333333333333\">1.33333</td>"));
    ck_assert_ptr_nonnull(strstr(text, "And 50 more rows"));
    free(text);
    szgi_memory_free(page.embedded[0].bytes);
    szgi_memory_free(page.embedded);
    szg_table_close(&table);
}
END_TEST

/* ---- Findings and navigation ---- */

/* Two sections: the first has a figure, which its second finding links to. */
static void find_things(page *page) {
    page->section = "one";
    page->title = "One & first";
    szgi_page_list_section(page);
    szgi_page_finding(page, NULL, "before any figure");
    page->figures = 1;
    page->numbered = 4;
    szgi_page_list_figure(page, "title <b>");
    szgi_page_finding(page, NULL, "%s of %d", HOSTILE, 24);
    szgi_page_list_end(page);
    page->section = "two";
    page->title = "Two";
    page->figures = 0;
    szgi_page_list_section(page);
    szgi_page_finding(page, "claim-\"x", "elsewhere");
    szgi_page_list_end(page);
}

static szgi_text frame_of(page *page) {
    szgi_text text;
    ck_szg_ok(szgi_text_open(test_context(), &text));
    page->stream = text.stream;
    ck_szg_ok(szgi_page_end_asides(page));
    szgi_page_print_findings(page);
    szgi_page_print_contents(page);
    ck_szg_ok(szgi_text_end(&text, SZG_OK));
    szgi_text_close(&page->findings);
    szgi_text_close(&page->contents);
    return text;
}

static int64_t place_of(const char *html, const char *part) {
    const char *found = strstr(html, part);
    ck_assert_msg(found, "%s is missing", part);
    return found - html;
}

START_TEST(findings_link_to_their_figures) {
    page page = {.context = test_context()};
    find_things(&page);
    szgi_text frame = frame_of(&page);
    const char *html = frame.text;
    check_tags(html);
    int64_t first =
        place_of(html, "<li>before any figure <a href=\"#one\">One &amp; first</a></li>");
    int64_t second = place_of(html, " of 24 <a href=\"#one-1\">Figure 4</a></li>");
    int64_t third = place_of(html, "<li>elsewhere <a href=\"#claim-&quot;x\">Two</a></li>");
    ck_assert(first < second && second < third);
    ck_assert_ptr_null(strstr(html, "<script"));
    ck_assert_ptr_null(strstr(html, "<b>"));
    ck_assert_int_eq(count_of(html, "<details>"), 1); /* the second section has no figure */
    ck_assert_ptr_nonnull(strstr(html, "<a href=\"#one-1\">4&nbsp; title &lt;b&gt;</a>"));
    szgi_text_close(&frame);
}
END_TEST

static szg_status end_frame(void) {
    page page = {.context = test_context()};
    find_things(&page);
    szg_status status = szgi_page_end_asides(&page);
    szgi_text_close(&page.findings);
    szgi_text_close(&page.contents);
    return status;
}

/* Calls that return nothing go on after a failure; the first one is told at the end. */
START_TEST(the_first_failure_is_remembered) {
    page page = {.context = test_context()};
    szgi_page_remember(&page, SZG_OK);
    szgi_page_remember(&page, SZG_EDATA);
    szgi_page_remember(&page, SZG_ENOMEM);
    szgi_page_remember(&page, SZG_OK);
    find_things(&page);
    ck_assert_ptr_null(page.findings.stream); /* nothing is collected any more */
    ck_assert_int_eq(szgi_page_end_asides(&page), SZG_EDATA);
    szgi_text_close(&page.findings);
    szgi_text_close(&page.contents);
    ck_survives_failed_allocations(4, end_frame()); /* two texts of two blocks */
    ;
}
END_TEST

/* The next number that the page shows rounded, and beside it as it is; where it ends. */
static const char *shown_number(const char *at, double *shown, double *exact) {
    static const char cell[] = "<td class=\"number\" title=\"";
    char *end;
    at = strstr(at, cell);
    ck_assert_msg(at, "fewer numbers than there are cells");
    *exact = strtod(at + strlen(cell), &end);
    *shown = strtod(end + strlen("\">"), &end);
    ck_assert(strncmp(end, "</td>", 5) == 0);
    return end;
}

/* A result whose columns are lower ends, other numbers and upper ends in turn: three that are equal
 * in each row. */
static szg_status write_ends(const char *folder, int64_t rows, int64_t columns) {
    szg_context *context = test_context();
    szg_column column[60];
    char name[60][8];
    szg_result *result;
    szg_table *table;
    szgi_stream random = {.seed = test_seed(), .purpose = 78};
    ck_assert_int_le(columns, 60);
    for (int64_t k = 0; k < columns; k++) {
        snprintf(name[k], sizeof name[k], "c%d", (int)k);
        column[k] = (szg_column){name[k], SZG_REAL, ""};
    }
    SZG_TRY(szg_result_open(context, "odd", &result));
    SZG_TRY(szg_table_open(context, "ends", column, columns, &table));
    for (int64_t k = 0; k < columns; k += 3) {
        szgi_table_set_end(table, k, SZGI_END_LOWER);
        szgi_table_set_end(table, k + 2, SZGI_END_UPPER);
    }
    for (int64_t i = 0; i < rows; i++) {
        SZG_TRY(szg_table_add_row(context, table));
        for (int64_t k = 0; k < columns; k++)
            SZG_TRY(szgi_table_put_real(context, table, k,
                                        test_real(&random, (uint64_t)(i * columns + k) / 3)));
    }
    SZG_TRY(szg_result_add(context, result, &table));
    szg_status status = szg_result_write(context, result, scratch_path(folder), NULL);
    szg_result_close(&result);
    return status;
}

/* Through the manifest, the join and the page: what is shown of an end lies outside, by less than a
 * unit of the sixth digit; of another number it is the nearest. */
START_TEST(ends_lie_outside) {
    enum { ROWS = 10, COLUMNS = 60 }; /* the page shows ten rows of a table that it does not know */
    ck_szg_ok(write_ends("ends/", ROWS, COLUMNS));
    szg_collection *results = open_results("ends");
    char *html = page_of(results);
    const char *at = html;
    for (int i = 0; i < ROWS * COLUMNS / 3; i++) {
        double shown[3], exact[3];
        for (int k = 0; k < 3; k++)
            at = shown_number(at, &shown[k], &exact[k]);
        ck_assert(exact[0] == exact[1] && exact[1] == exact[2]);
        ck_assert_msg(shown[0] <= exact[0] && exact[2] <= shown[2], "%.17g: %.17g, %.17g", exact[0],
                      shown[0], shown[2]);
        ck_assert_msg(shown[2] - shown[0] <= 1.0001e-5 * fabs(exact[0]), "%.17g: %.17g, %.17g",
                      exact[0], shown[0], shown[2]);
        ck_assert(shown[0] == shown[1] || shown[1] == shown[2]);
    }
    free(html);
    szg_collection_close(&results);
}
END_TEST

TEST_FILE("page") {
    test_add(suite, "hostile_names_are_text", hostile_names_are_text);
    test_add(suite, "what_was_read_is_said", what_was_read_is_said);
    test_add(suite, "failures_leave_the_former_page", failures_leave_the_former_page);
    test_add(suite, "rows_are_listed", rows_are_listed);
    test_add(suite, "long_lists_become_tables", long_lists_become_tables);
    test_add(suite, "long_texts_are_cut", long_texts_are_cut);
    test_add(suite, "tables_are_for_readers", tables_are_for_readers);
    test_add(suite, "findings_link_to_their_figures", findings_link_to_their_figures);
    test_add(suite, "the_first_failure_is_remembered", the_first_failure_is_remembered);
    test_add(suite, "ends_lie_outside", ends_lie_outside);
}

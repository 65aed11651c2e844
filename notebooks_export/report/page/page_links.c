/* Links to rows: a list of rows as short text, one link a table. */
#include <inttypes.h>

#include "base/memory.h"

#include "page_private.h"

enum { MOST_RUNS = 2000 }; /* in one link: about 40 kB */

/* Rows at equal distances: from, from + step, ..., to. */
typedef struct run {
    int64_t from, to, step;
} run;

static int64_t next_marked(const bool *marked, int64_t rows, int64_t at) {
    while (at < rows && !marked[at])
        at++;
    return at;
}

/* The longest run of marked rows that begins with the first one from `at` on; from == rows: none
 * is left. */
static run next_run(const bool *marked, int64_t rows, int64_t at) {
    run found = {.from = next_marked(marked, rows, at)};
    found.to = found.from;
    for (int64_t next = found.from; next < rows; found.to = next) {
        next = next_marked(marked, rows, next + 1);
        if (next == rows)
            break;
        if (found.step == 0)
            found.step = next - found.from;
        if (next - found.to != found.step)
            break;
    }
    return found;
}

static int64_t count_runs(const bool *marked, int64_t rows) {
    int64_t runs = 0;
    for (run at = next_run(marked, rows, 0); at.from < rows && runs <= MOST_RUNS;
         at = next_run(marked, rows, at.to + 1))
        runs++;
    return runs;
}

static void print_runs(FILE *stream, const bool *marked, int64_t rows) {
    const char *comma = "";
    for (run at = next_run(marked, rows, 0); at.from < rows;
         at = next_run(marked, rows, at.to + 1)) {
        fprintf(stream, "%s%" PRId64, comma, at.from);
        if (at.to > at.from)
            fprintf(stream, "-%" PRId64, at.to);
        if (at.to > at.from && at.step > 1)
            fprintf(stream, ":%" PRId64, at.step);
        comma = ",";
    }
}

static int64_t mark(const rows *source, bool *marked, int64_t rows) {
    int64_t added = 0, count = source->row ? source->count : rows;
    for (int64_t i = 0; i < count; i++) {
        int64_t row = source->row ? source->row[i] : i;
        if (row < 0 || row >= rows)
            continue;
        added += !marked[row];
        marked[row] = true;
    }
    return added;
}

static void print_link(page *page, const embedded *of, const bool *marked, int64_t count,
                       bool preview) {
    FILE *stream = page->stream;
    int64_t rows = szg_table_rows(of->table);
    bool part = count < rows, whole = part && count_runs(marked, rows) > MOST_RUNS;
    fprintf(stream, "<a class=\"rows\" href=\"#data-%s\" data-table=\"%s\"", of->id, of->id);
    if (part && !whole) {
        fputs(" data-rows=\"", stream);
        print_runs(stream, marked, rows);
        putc('"', stream);
    }
    fprintf(stream, ">CSV: %" PRId64 " row%s of ", whole ? rows : count, count == 1 ? "" : "s");
    szgi_html_text(stream, szg_table_name(of->table));
    if (whole)
        fprintf(stream, ", of which %" PRId64 " are drawn", count);
    fputs("</a>\n", stream);
    if (preview)
        fputs("<details class=\"preview\"><summary>first rows</summary></details>\n", stream);
}

static szg_status link_table(page *page, const szg_table *table, const rows *sources, int64_t count,
                             bool preview) {
    int64_t rows = szg_table_rows(table), marked_rows = 0;
    const embedded *of;
    bool *marked;
    SZG_TRY(szgi_page_embed(page, table, &of));
    SZG_TRY(szgi_memory_alloc(page->context, rows, &marked));
    for (int64_t i = 0; i < count; i++)
        if (sources[i].table == table)
            marked_rows += mark(&sources[i], marked, rows);
    print_link(page, of, marked, marked_rows, preview);
    szgi_memory_free(marked);
    return szgi_context_check_cancel(page->context);
}

static bool is_first_of_table(const rows *sources, int64_t index) {
    for (int64_t i = 0; i < index; i++)
        if (sources[i].table == sources[index].table)
            return false;
    return true;
}

szg_status szgi_page_print_links(page *page, const rows *sources, int64_t count, bool figure) {
    fputs("<div class=\"links\">\n", page->stream);
    if (figure)
        fputs("<span class=\"save\"><button type=\"button\" data-save=\"svg\">SVG</button>\n"
              "<button type=\"button\" data-save=\"png\">PNG</button></span>\n",
              page->stream);
    for (int64_t i = 0; i < count; i++)
        if (sources[i].table && is_first_of_table(sources, i))
            SZG_TRY(link_table(page, sources[i].table, sources, count, figure));
    fputs("</div>\n", page->stream);
    return SZG_OK;
}

szg_status szgi_page_links(page *page, const rows *sources, int64_t count) {
    return szgi_page_print_links(page, sources, count, false);
}

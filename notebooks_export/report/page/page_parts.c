/* What a section puts on the page: paragraphs, figures, tables. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "formats/csv.h"
#include "base/memory.h"

#include "page_private.h"

enum { SHOWN_ROWS = 200, SHOWN_CELL = 160, SHOWN_DOC = 1000, SHOWN_DIGITS = 6 };

szg_context *szgi_page_context(const page *page) {
    return page->context;
}

const szg_collection *szgi_page_results(const page *page) {
    return page->results;
}

FILE *szgi_page_stream(const page *page) {
    return page->stream;
}

void szgi_page_paragraph(page *page, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("<p>", page->stream);
    szgi_html_vprint(page->stream, format, arguments);
    fputs("</p>\n", page->stream);
    va_end(arguments);
}

void szgi_page_heading(page *page, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(page->stream, "<h3 id=\"%s-part-%" PRId64 "\">", page->section, ++page->headings);
    szgi_html_vprint(page->stream, format, arguments);
    fprintf(page->stream,
            " <a class=\"permalink\" href=\"#%s-part-%" PRId64
            "\" aria-label=\"Link to this part\">#</a></h3>\n",
            page->section, page->headings);
    va_end(arguments);
}

void szgi_page_prose(page *page, const char *text) {
    fputs("<p>", page->stream);
    szgi_html_prose(page->stream, text, HTML_PRINTED);
    fputs("</p>\n", page->stream);
}

void szgi_page_grid_begin(page *page) {
    fputs("<div class=\"grid\">\n", page->stream);
}

void szgi_page_grid_end(page *page) {
    fputs("</div>\n", page->stream);
}

static void print_caption(page *page, figure *const *panels, int64_t panel_count,
                          const panel_words *words) {
    int64_t given = 0, drawn = 0;
    fprintf(page->stream,
            "<figcaption><a class=\"permalink\" href=\"#%s-%" PRId64 "\">Figure %" PRId64 "</a> ",
            page->section, page->figures, page->numbered);
    szgi_html_text(page->stream, words->caption);
    if (words->remark) {
        fputs(" ", page->stream);
        szgi_html_prose(page->stream, words->remark, HTML_PRINTED);
    }
    for (int64_t i = 0; i < panel_count; i++) {
        int64_t own_given, own_drawn;
        szgi_figure_counts(panels[i], &own_given, &own_drawn);
        given += own_given;
        drawn += own_drawn;
    }
    if (drawn < given)
        fprintf(page->stream,
                " <span class=\"thinned\">Drawn: %" PRId64 " of %" PRId64
                " points; the rows behind the link are all there.</span>",
                drawn, given);
}

szg_status szgi_page_panels(page *page, figure *const *panels, int64_t count,
                            const panel_words *words, const rows *sources, int64_t source_count) {
    const char *title = words->title;
    int64_t marks = 0;
    for (int64_t i = 0; i < count; i++)
        marks += szgi_figure_marks(panels[i]);
    fprintf(page->stream, "<figure id=\"%s-%" PRId64 "\" data-marks=\"%" PRId64 "\"%s>\n",
            page->section, ++page->figures, marks, title ? " class=\"multiples\"" : "");
    page->numbered++;
    szgi_page_list_figure(page, title ? title : szgi_figure_title(panels[0]));
    if (title) {
        fputs("<p class=\"heading\">", page->stream);
        szgi_html_text(page->stream, title);
        fputs("</p>\n", page->stream);
    }
    fputs(title ? "<div class=\"plot panels\">\n" : "<div class=\"plot\">\n", page->stream);
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(szgi_figure_print(page->context, panels[i], page->stream));
    fputs("</div>\n", page->stream);
    print_caption(page, panels, count, words);
    SZG_TRY(szgi_page_print_links(page, sources, source_count, true));
    fputs("</figcaption></figure>\n", page->stream);
    return SZG_OK;
}

static int64_t row_count(rows of) {
    return of.row ? of.count : szg_table_rows(of.table);
}

/* A column without any value in these rows is not worth its room. */
static bool is_shown(rows of, int64_t column) {
    for (int64_t i = 0; column >= 0 && i < row_count(of); i++)
        if (!szg_table_is_empty(of.table, szgi_rows_at(of, i), column))
            return true;
    return false;
}

static void print_heading(FILE *stream, const szg_column *column) {
    fprintf(stream, "<th scope=\"col\"%s title=\"",
            column->type == SZG_TEXT ? "" : " class=\"number\"");
    szgi_html_clipped(stream, column->doc, SHOWN_DOC);
    fputs("\">", stream);
    szgi_html_clipped(stream, column->name, SHOWN_CELL);
    fputs("</th>", stream);
}

static void print_cell(FILE *stream, const szg_table *table, int64_t row, int64_t column) {
    char exact[SZGI_REAL_TEXT];
    szg_type type = szg_table_column(table, column)->type;
    if (type == SZG_TEXT || szg_table_is_empty(table, row, column)) {
        fputs("<td>", stream);
        szgi_html_clipped(stream, szg_table_get_text(table, row, column), SHOWN_CELL);
    } else if (type == SZG_INTEGER) {
        fprintf(stream, "<td class=\"number\">%" PRId64, szg_table_get_integer(table, row, column));
    } else {
        double value = szg_table_get_real(table, row, column);
        fprintf(stream, "<td class=\"number\" title=\"%s\">", szgi_real_text(value, exact));
        szgi_html_end(stream, value, SHOWN_DIGITS, szgi_table_end(table, column));
    }
    fputs("</td>", stream);
}

/* The columns that are shown, in a new list. */
static szg_status choose_columns(page *page, rows source, const char *const *columns, int64_t **out,
                                 int64_t *count) {
    int64_t listed = 0;
    while (columns[listed])
        listed++;
    SZG_TRY(szgi_memory_alloc(page->context, listed, out));
    *count = 0;
    for (int64_t i = 0; i < listed; i++) {
        int64_t column = szg_table_find(source.table, columns[i]);
        if (is_shown(source, column))
            (*out)[(*count)++] = column;
    }
    return SZG_OK;
}

static void print_rows(FILE *stream, rows source, const int64_t *column, int64_t columns,
                       int64_t most) {
    fputs("<div class=\"scroll\"><table><thead><tr>", stream);
    for (int64_t k = 0; k < columns; k++)
        print_heading(stream, szg_table_column(source.table, column[k]));
    fputs("</tr></thead><tbody>\n", stream);
    for (int64_t i = 0; i < row_count(source) && i < most; i++) {
        fputs("<tr>", stream);
        for (int64_t k = 0; k < columns; k++)
            print_cell(stream, source.table, szgi_rows_at(source, i), column[k]);
        fputs("</tr>\n", stream);
    }
    fputs("</tbody></table></div>\n", stream);
}

szg_status szgi_page_print_rows(page *page, rows source, const char *const *columns, int64_t most) {
    int64_t *column, count;
    SZG_TRY(choose_columns(page, source, columns, &column, &count));
    if (count > 0 && row_count(source) > 0)
        print_rows(page->stream, source, column, count, most);
    szgi_memory_free(column);
    return szgi_context_check_cancel(page->context);
}

szg_status szgi_page_rows(page *page, rows source, const char *const *columns) {
    SZG_TRY(szgi_page_print_rows(page, source, columns, SHOWN_ROWS));
    if (row_count(source) > SHOWN_ROWS)
        szgi_page_paragraph(page, "And %" PRId64 " more rows, behind the link.",
                            row_count(source) - SHOWN_ROWS);
    return szgi_page_links(page, &source, 1);
}

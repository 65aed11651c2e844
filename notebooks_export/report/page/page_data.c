/* Tables in the page: which, behind which link, and their bytes at the end. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"

#include "embed.h"
#include "page_private.h"

const embedded *szgi_page_find(const page *page, const szg_table *table) {
    for (int64_t i = 0; i < page->count; i++)
        if (page->embedded[i].table == table)
            return &page->embedded[i];
    return NULL;
}

/* A plain name is the id; a number stands for any other: a command's name comes from a file. */
static void name_element(const page *page, embedded *made) {
    const char *name = szg_table_name(made->table);
    size_t length = strlen(name);
    if (length < sizeof made->id && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length)
        memcpy(made->id, name, length + 1);
    else
        snprintf(made->id, sizeof made->id, "unnamed-%" PRId64, page->count);
}

szg_status szgi_page_embed_small(page *page, const szg_table *table, int64_t most, int64_t *size,
                                 const embedded **out) {
    embedded made = {.table = table};
    *out = szgi_page_find(page, table);
    if (*out) {
        *size = (*out)->size;
        return SZG_OK;
    }
    SZG_TRY(szgi_memory_reserve(page->context, &page->embedded, &page->capacity, page->count, 1));
    SZG_TRY(szgi_embed_table(page->context, table, &made.bytes, size));
    if (*size > most) {
        szgi_memory_free(made.bytes);
        return SZG_OK;
    }
    made.size = *size;
    name_element(page, &made);
    page->embedded[page->count] = made;
    *out = &page->embedded[page->count++];
    return SZG_OK;
}

szg_status szgi_page_embed(page *page, const szg_table *table, const embedded **out) {
    int64_t size;
    return szgi_page_embed_small(page, table, INT64_MAX, &size, out);
}

static void print_columns(FILE *stream, const szg_table *table) {
    fputs("<dl>", stream);
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        const szg_column *column = szg_table_column(table, i);
        fputs("<dt><code>", stream);
        szgi_html_clipped(stream, column->name, 200);
        fprintf(stream, "</code> <i>%s</i></dt><dd>", szgi_type_name(column->type));
        szgi_html_clipped(stream, column->doc, 1000);
        fputs("</dd>\n", stream);
    }
    fputs("</dl>", stream);
}

static void print_table(FILE *stream, const embedded *of) {
    int64_t rows = szg_table_rows(of->table);
    fprintf(stream, "<details id=\"data-%s\"><summary><code>", of->id);
    szgi_html_text(stream, szg_table_name(of->table));
    fprintf(
        stream, "</code>: %" PRId64 " row%s, %" PRId64 " columns, %" PRId64 " kB here</summary>\n",
        rows, rows == 1 ? "" : "s", szg_table_columns(of->table), (of->size * 4 / 3 + 999) / 1000);
    fprintf(stream, "<p class=\"links\"><a class=\"rows\" href=\"#data-%s\" data-table=\"%s\">",
            of->id, of->id);
    fprintf(stream, "CSV of all %" PRId64 " rows</a></p>\n", rows);
    print_columns(stream, of->table);
    fprintf(stream,
            "</details>\n<script type=\"application/octet-stream\" id=\"table-%s\" data-name=\"",
            of->id);
    szgi_html_text(stream, szg_table_name(of->table));
    fputs("\">", stream);
    szgi_embed_base64(of->bytes, of->size, stream);
    fputs("</script>\n", stream);
}

void szgi_page_print_data(page *page) {
    FILE *stream = page->stream;
    fputs("<section id=\"data\">\n", stream);
    szgi_html_title(page->stream, "data", "Data in this page");
    fputs("<p>Every table that a plot or a list above was made from, whole: each number reads back "
          "exactly.</p>\n",
          stream);
    for (int64_t i = 0; i < page->count; i++)
        print_table(stream, &page->embedded[i]);
    fputs("</section>\n", stream);
}

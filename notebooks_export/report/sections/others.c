/* Every table that no section before has drawn from: listed, and embedded while that stays small.
 */
#include <inttypes.h>

#include "base/memory.h"

#include "page_private.h"

enum { SHOWN_ROWS = 10, MOST_BYTES = 4 << 20 /* compressed, of all tables here together */ };

/* The names of every column, NULL at the end. */
static szg_status list_columns(szg_context *context, const szg_table *table, const char ***out) {
    int64_t count = szg_table_columns(table);
    SZG_TRY(szgi_memory_alloc(context, count + 1, out));
    for (int64_t i = 0; i < count; i++)
        (*out)[i] = szg_table_column(table, i)->name;
    return SZG_OK;
}

static szg_status print_first_rows(page *page, rows all) {
    const char **column;
    SZG_TRY(list_columns(szgi_page_context(page), all.table, &column));
    fputs("<details><summary>its first rows</summary>\n", szgi_page_stream(page));
    szg_status status = szgi_page_print_rows(page, all, column, SHOWN_ROWS);
    fputs("</details>\n", szgi_page_stream(page));
    szgi_memory_free(column);
    return status;
}

static void say_where(page *page, const szg_table *table, int64_t size) {
    const char *first = szg_table_rows(table) > 0 ? szg_table_get_text(table, 0, 0) : NULL;
    szgi_page_paragraph(
        page,
        "Not in this page, which it would make %" PRId64
        " kB larger: its rows are in the CSV files of the folder, the first ones in that of %s.",
        (size * 4 / 3 + 999) / 1000, first ? first : "its result");
}

/* *left: bytes that may still be embedded. */
static szg_status draw_table(page *page, const szg_table *table, int64_t *left) {
    const embedded *of;
    int64_t size;
    rows all = {.table = table, .count = szg_table_rows(table)};
    szgi_page_heading(page, "%s", szg_table_name(table));
    int64_t columns = szg_table_columns(table);
    szgi_page_paragraph(page, "%" PRId64 " row%s, %" PRId64 " column%s.", all.count,
                        all.count == 1 ? "" : "s", columns, columns == 1 ? "" : "s");
    SZG_TRY(print_first_rows(page, all));
    SZG_TRY(szgi_page_embed_small(page, table, *left, &size, &of));
    if (!of) {
        say_where(page, table, size);
        return SZG_OK;
    }
    *left -= size;
    return szgi_page_links(page, &all, 1);
}

static szg_status run(page *page, const section *section) {
    (void)section;
    const szg_collection *results = szgi_page_results(page);
    int64_t left = MOST_BYTES, drawn = 0;
    for (int64_t i = 0; i < szg_collection_tables(results); i++) {
        const szg_table *table = szgi_collection_table(results, i);
        if (szgi_page_find(page, table))
            continue;
        SZG_TRY(draw_table(page, table, &left));
        drawn++;
    }
    if (drawn == 0)
        szgi_page_paragraph(page,
                            "There are none: every table of this folder is drawn from above.");
    return SZG_OK;
}

const section szgi_section_others = {.id = "others", .title = "Other tables", .run = run};

#include "needs.h"

/* NULL: the table has them all. */
static const char *missing_number(const szg_table *table, const char *const *columns) {
    for (int64_t c = 0; columns[c]; c++) {
        int64_t found = szg_table_find(table, columns[c]);
        if (found < 0 || szg_table_column(table, found)->type == SZG_TEXT)
            return columns[c];
    }
    return NULL;
}

szg_status szgi_needs_numbers(page *page, rows all, const char *const *columns, const char *undone,
                              bool *met) {
    const char *missing = missing_number(all.table, columns);
    *met = missing == NULL;
    if (*met)
        return SZG_OK;
    szgi_page_paragraph(page, "The table %s has no column of numbers %s: %s.",
                        szg_table_name(all.table), missing, undone);
    return szgi_page_links(page, &all, 1);
}

/* How many figures a section draws. */
#include <inttypes.h>

#include "training.h"

enum { MOST_TABLES = 8 };

bool budget_take(budget *budget) {
    if (budget->left > 0) {
        budget->left--;
        return true;
    }
    budget->left_out++;
    return false;
}

szg_status budget_end(page *page, const budget *budget, const char *const *tables) {
    rows source[MOST_TABLES];
    int64_t count = 0;
    if (budget->left_out == 0)
        return SZG_OK;
    page_paragraph(page,
                   "%" PRId64 " more figures are left out; their rows are in the tables below.",
                   budget->left_out);
    for (; *tables && count < MOST_TABLES; tables++) {
        const szg_table *table = szg_collection_find(page_results(page), *tables);
        if (table && szg_table_rows(table) > 0)
            source[count++] = match_all(table);
    }
    return page_links(page, source, count);
}

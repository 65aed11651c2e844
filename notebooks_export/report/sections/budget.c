#include "budget.h"

#include <inttypes.h>

#include "match.h"
#include "words.h"

enum { MOST_TABLES = 8 };

bool szgi_budget_take(budget *budget) {
    if (budget->left > 0) {
        budget->left--;
        return true;
    }
    budget->left_out++;
    return false;
}

budget szgi_budget_part(budget *whole, int64_t most) {
    budget part = {.left = most < whole->left ? most : whole->left};
    whole->left -= part.left;
    return part;
}

void szgi_budget_join(budget *whole, const budget *part) {
    whole->left += part->left;
    whole->left_out += part->left_out;
}

static szg_status say_left_out(page *page, const budget *budget, const char *what,
                               const rows *source, int64_t count) {
    words names;
    SZG_TRY(szgi_words_open(szgi_page_context(page), &names));
    for (int64_t i = 0; i < count; i++)
        fprintf(names.stream, "%s%s", i ? ", " : "", szg_table_name(source[i].table));
    szg_status status = szgi_words_end(szgi_page_context(page), &names);
    if (status == SZG_OK)
        szgi_page_paragraph(page, "%" PRId64 " more %s are left out; their rows are in %s.",
                            budget->left_out, what, names.text);
    szgi_words_free(&names);
    return status;
}

szg_status szgi_budget_end(page *page, const budget *budget, const char *what,
                           const char *const *tables) {
    rows source[MOST_TABLES];
    int64_t count = 0;
    if (budget->left_out == 0)
        return SZG_OK;
    for (; *tables && count < MOST_TABLES; tables++) {
        const szg_table *table = szgi_collection_find(szgi_page_results(page), *tables);
        if (table && szg_table_rows(table) > 0)
            source[count++] = szgi_match_all(table);
    }
    SZG_TRY(say_left_out(page, budget, what, source, count));
    return szgi_page_links(page, source, count);
}

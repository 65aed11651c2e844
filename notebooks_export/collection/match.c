#include <math.h>
#include <string.h>

#include "match.h"

rows match_all(const szg_table *table) {
    return (rows){table, NULL, table ? szg_table_rows(table) : 0};
}

static bool is_text(const szg_table *table, int64_t column) {
    return szg_table_column(table, column)->type == SZG_TEXT;
}

static bool cells_agree(rows a, rows b, const char *column) {
    int64_t in_a = szg_table_find(a.table, column), in_b = szg_table_find(b.table, column);
    if (in_a < 0 || in_b < 0)
        return true;
    if (is_text(a.table, in_a) != is_text(b.table, in_b))
        return false;
    if (is_text(a.table, in_a)) {
        const char *left = rows_text(a, 0, column), *right = rows_text(b, 0, column);
        return left && right ? strcmp(left, right) == 0 : left == right;
    }
    double left = rows_real(a, 0, column), right = rows_real(b, 0, column);
    return left == right || (isnan(left) && isnan(right));
}

const rows *match_find(const groups *in, rows like, const char *const *columns) {
    for (int64_t i = 0; i < in->count; i++) {
        bool agree = true;
        for (int64_t c = 0; columns[c] && agree; c++)
            agree = cells_agree(in->group[i], like, columns[c]);
        if (agree)
            return &in->group[i];
    }
    return NULL;
}

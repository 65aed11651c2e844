#include "match.h"

#include <math.h>
#include <string.h>

rows szgi_match_all(const szg_table *table) {
    return (rows){table, NULL, table ? szg_table_rows(table) : 0};
}

/* A column of text on one side and of numbers on the other. */
static bool differ_in_type(const szg_table *a, const szg_table *b, const char *column) {
    bool in_a = szg_table_column(a, szg_table_find(a, column))->type == SZG_TEXT;
    bool in_b = szg_table_column(b, szg_table_find(b, column))->type == SZG_TEXT;
    return in_a != in_b;
}

static bool both_have(const szg_table *a, const szg_table *b, const char *column) {
    return szg_table_find(a, column) >= 0 && szg_table_find(b, column) >= 0;
}

bool szgi_match_cells(rows a, int64_t i, rows b, int64_t j, const char *column) {
    const char *one = szgi_rows_text(a, i, column), *other = szgi_rows_text(b, j, column);
    if (one || other)
        return one && other && strcmp(one, other) == 0;
    double left = szgi_rows_real(a, i, column), right = szgi_rows_real(b, j, column);
    return left == right || (isnan(left) && isnan(right));
}

const rows *szgi_match_find(const groups *in, rows like, const char *const *columns) {
    for (int64_t i = 0; i < in->count; i++) {
        rows one = in->group[i];
        bool agree = true;
        for (int64_t c = 0; columns[c] && agree; c++)
            if (both_have(one.table, like.table, columns[c]))
                agree = !differ_in_type(one.table, like.table, columns[c]) &&
                        szgi_match_cells(one, 0, like, 0, columns[c]);
        if (agree)
            return &in->group[i];
    }
    return NULL;
}

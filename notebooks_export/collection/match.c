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

/* 0 where the first rows' cells agree, NaN and an empty cell too. */
static int compare_cells(rows a, rows b, const char *column) {
    int64_t at = szg_table_find(a.table, column);
    if (szg_table_column(a.table, at)->type == SZG_TEXT) {
        const char *left = szgi_rows_text(a, 0, column), *right = szgi_rows_text(b, 0, column);
        return left && right ? strcmp(left, right) : (left != NULL) - (right != NULL);
    }
    double left = szgi_rows_real(a, 0, column), right = szgi_rows_real(b, 0, column);
    return isnan(left) || isnan(right) ? isnan(right) - isnan(left)
                                       : (left > right) - (left < right);
}

const rows *szgi_match_find(const groups *in, rows like, const char *const *columns) {
    for (int64_t i = 0; i < in->count; i++) {
        rows one = in->group[i];
        bool agree = true;
        for (int64_t c = 0; columns[c] && agree; c++)
            if (both_have(one.table, like.table, columns[c]))
                agree = !differ_in_type(one.table, like.table, columns[c]) &&
                        compare_cells(one, like, columns[c]) == 0;
        if (agree)
            return &in->group[i];
    }
    return NULL;
}

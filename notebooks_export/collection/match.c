#include "match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

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

/* An order of the first rows' cells, 0 where they agree: empty ones first, NaN as empty. */
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

/* ---- Many at once ---- */

static int compare_rows(const match_index *index, rows a, rows b) {
    int order = 0;
    for (int64_t c = 0; c < index->columns && order == 0; c++)
        order = compare_cells(a, b, index->column[c]);
    return order;
}

static int by_cells(const void *a, const void *b, void *index) {
    return compare_rows(index, **(const rows *const *)a, **(const rows *const *)b);
}

szg_status szgi_match_index_open(szg_context *context, const groups *in, const szg_table *like,
                                 const char *const *columns, match_index *out) {
    int64_t count = 0;
    *out = (match_index){0};
    if (in->count == 0)
        return SZG_OK;
    while (columns[count])
        count++;
    SZG_TRY(szgi_memory_alloc(context, count, &out->column));
    szg_status status = szgi_memory_alloc(context, in->count, &out->sorted);
    if (status != SZG_OK) {
        szgi_match_index_close(out);
        return status;
    }
    for (int64_t c = 0; c < count; c++) {
        if (!both_have(in->group->table, like, columns[c]))
            continue;
        if (differ_in_type(in->group->table, like, columns[c]))
            return SZG_OK; /* no row can be found */
        out->column[out->columns++] = columns[c];
    }
    for (out->count = 0; out->count < in->count; out->count++)
        out->sorted[out->count] = &in->group[out->count];
    qsort_r(out->sorted, (size_t)out->count, sizeof(const rows *), by_cells, out);
    return SZG_OK;
}

void szgi_match_index_close(match_index *index) {
    szgi_memory_free(index->sorted);
    szgi_memory_free(index->column);
    *index = (match_index){0};
}

bool szgi_match_index_has(const match_index *index, rows like) {
    int64_t first = 0, end = index->count;
    while (first < end) {
        int64_t middle = first + (end - first) / 2;
        if (compare_rows(index, *index->sorted[middle], like) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first < index->count && compare_rows(index, *index->sorted[first], like) == 0;
}

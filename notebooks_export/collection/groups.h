/* The rows of a table, split by the values of some columns. */
#ifndef SZG_NOTEBOOKS_EXPORT_GROUPS_H
#define SZG_NOTEBOOKS_EXPORT_GROUPS_H

#include "base/table.h"

/* Some rows of a table, by index. */
typedef struct rows {
    const szg_table *table;
    const int64_t *row;
    int64_t count;
} rows;

typedef struct groups {
    rows *group;
    int64_t count;
    int64_t *storage; /* what the groups' row lists point into */
} groups;

/* Splits `all` (row NULL: every row of the table) by the cells of `columns`, a list that ends with
 * NULL; a column that the table lacks splits nothing. Groups come in the order of their first rows,
 * rows within a group in theirs. An empty cell equals an empty cell, a NaN a NaN, 0 equals -0. No
 * table (all.table NULL): no groups. SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_groups_split(szg_context *context, rows all,
                                              const char *const *columns, groups *out);
void szgi_groups_free(groups *all);

/* Keeps the rows whose text in `column` is `value`: one group, or none. */
SZG_CHECK_RESULT szg_status szgi_groups_where(szg_context *context, rows all, const char *column,
                                              const char *value, groups *out);

/* Cells of row `index` of the list, by column name: NULL or NaN where the column is missing or the
 * cell empty. Integers are read as reals too. */
const char *szgi_rows_text(rows of, int64_t index, const char *column);
double szgi_rows_real(rows of, int64_t index, const char *column);

/* The table's row that stands at `index` of the list. */
int64_t szgi_rows_at(rows of, int64_t index);

/* A column of the list as new numbers (szgi_memory_free). */
SZG_CHECK_RESULT szg_status szgi_rows_reals(szg_context *context, rows of, const char *column,
                                            double **out);

#endif

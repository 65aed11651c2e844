/* Tables of typed columns: the one form in which results travel. Writers live in formats. */
#ifndef SZEGO_TABLE_H
#define SZEGO_TABLE_H

#include <szego/context.h>

SZG_BEGIN_DECLS

typedef struct szg_table szg_table;

typedef enum szg_type { SZG_TEXT, SZG_INTEGER, SZG_REAL } szg_type;
enum { SZG_TYPES = 3 };

typedef struct szg_column {
    const char *name; /* as scripts see it: lower case, underscores */
    szg_type type;
    const char *doc; /* one clause with the unit; goes into manifest.json */
} szg_column;

/* Opens an empty table; names and docs are copied. SZG_EINVAL (no columns, a repeated name),
 * SZG_ENOMEM. Tables of results end with the column `note`: the caller lists it. */
SZG_CHECK_RESULT szg_status szg_table_open(szg_context *context, const char *name,
                                           const szg_column *columns, int64_t count,
                                           szg_table **out);
void szg_table_close(szg_table **table);

/* Appends a row of empty cells; the setters below write to the latest row. */
SZG_CHECK_RESULT szg_status szg_table_add_row(szg_context *context, szg_table *table);

/* Set the cell of `column` in the latest row. SZG_EINVAL: no such column, another type, no row.
 * A NULL text leaves the cell empty. Text is copied and interned. */
SZG_CHECK_RESULT szg_status szg_table_set_text(szg_context *context, szg_table *table,
                                               const char *column, const char *value);
SZG_CHECK_RESULT szg_status szg_table_set_integer(szg_context *context, szg_table *table,
                                                  const char *column, int64_t value);
SZG_CHECK_RESULT szg_status szg_table_set_real(szg_context *context, szg_table *table,
                                               const char *column, double value);

/* Adds a sentence to the column `note` of the latest row, after "; " where one is there already. */
SZG_PRINTF(3, 4)
SZG_CHECK_RESULT szg_status szg_table_note(szg_context *context, szg_table *table,
                                           const char *format, ...);

const char *szg_table_name(const szg_table *table);
int64_t szg_table_rows(const szg_table *table);
int64_t szg_table_columns(const szg_table *table);
/* The description of column `index`, 0 <= index < columns. */
const szg_column *szg_table_column(const szg_table *table, int64_t index);
/* Index of the named column, -1 if there is none. */
int64_t szg_table_find(const szg_table *table, const char *column);

/* Cells by row and column index, both in range. `get_text` is NULL, `get_real` NaN and
 * `get_integer` 0 in an empty cell: ask szg_table_is_empty first where that matters. get_real reads
 * integers too. */
bool szg_table_is_empty(const szg_table *table, int64_t row, int64_t column);
const char *szg_table_get_text(const szg_table *table, int64_t row, int64_t column);
int64_t szg_table_get_integer(const szg_table *table, int64_t row, int64_t column);
double szg_table_get_real(const szg_table *table, int64_t row, int64_t column);

/* A whole column at once: values[row] as the getters above give it, [rows], and empty[row] unless
 * it is NULL. Texts are borrowed from the table; equal texts have one address. */
void szg_table_get_texts(const szg_table *table, int64_t column, const char **values, bool *empty);
void szg_table_get_integers(const szg_table *table, int64_t column, int64_t *values, bool *empty);
void szg_table_get_reals(const szg_table *table, int64_t column, double *values, bool *empty);

SZG_END_DECLS

#endif

/* What the house alone uses of <szego/table.h>. */
#ifndef SZEGO_BASE_TABLE_H
#define SZEGO_BASE_TABLE_H

#include <stdarg.h>

#include <szego/table.h>
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* "text", "integer", "real": as manifests name them. */
const char *szgi_type_name(szg_type type);

/* Which end of an enclosure a column holds: whoever prints fewer digits rounds it outwards. */
typedef enum szgi_end { SZGI_END_NONE, SZGI_END_LOWER, SZGI_END_UPPER } szgi_end;
enum { SZGI_ENDS = 3 };

/* "none", "lower", "upper": as manifests name them. */
const char *szgi_end_name(szgi_end end);

/* Which end column `index`, 0 <= index < columns, is. Copies keep it, and so does a result's
 * folder. */
szgi_end szgi_table_end(const szg_table *table, int64_t index);
/* Schemas say it; readers, and tables of tables, take it over. */
void szgi_table_set_end(szg_table *table, int64_t index, szgi_end end);
/* Marks each column as the one of its name in `from` is marked, where there is one. */
void szgi_table_take_ends(szg_table *table, const szg_table *from);

/* Room for that many rows in all: tables of many rows are filled faster. SZG_EINVAL (negative),
 * SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_table_reserve(szg_context *context, szg_table *table,
                                               int64_t rows);

/* szg_table_set_text, _integer and _real by the index of the column: for readers of many rows. */
SZG_CHECK_RESULT szg_status szgi_table_put_text(szg_context *context, szg_table *table,
                                                int64_t column, const char *value);
SZG_CHECK_RESULT szg_status szgi_table_put_integer(szg_context *context, szg_table *table,
                                                   int64_t column, int64_t value);
SZG_CHECK_RESULT szg_status szgi_table_put_real(szg_context *context, szg_table *table,
                                                int64_t column, double value);

/* Gives a cell of an earlier row another value; a text NULL empties it. SZG_EINVAL, SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_table_replace_text(szg_context *context, szg_table *table,
                                                    int64_t row, int64_t column, const char *value);
SZG_CHECK_RESULT szg_status szgi_table_replace_integer(szg_context *context, szg_table *table,
                                                       int64_t row, int64_t column, int64_t value);

/* Adds a sentence to a text cell of the latest row, after "; " where one is there already. */
SZG_PRINTF(4, 0)
SZG_CHECK_RESULT szg_status szgi_table_note_at(szg_context *context, szg_table *table,
                                               int64_t column, const char *format,
                                               va_list arguments);

/* Appends every row of `from` to `table`. SZG_EINVAL: other columns. */
SZG_CHECK_RESULT szg_status szgi_table_append(szg_context *context, szg_table *table,
                                              const szg_table *from);

SZGI_END_DECLS

#endif

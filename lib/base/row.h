/* The rows of a table while they are filled: cells go by column index, as its schema has them. */
#ifndef SZEGO_BASE_ROW_H
#define SZEGO_BASE_ROW_H

#include <szego/table.h>
#include "base/decls.h"
#include "base/schema.h"

SZGI_BEGIN_DECLS

/* A row being filled. It remembers its first failure, and what follows does nothing: the caller
 * looks at `status` once, at the end. */
typedef struct szgi_row {
    szg_context *context;
    szg_table *table;
    szg_status status;
} szgi_row;

/* A new row of empty cells; the latest one, to be filled further. */
szgi_row szgi_row_add(szg_context *context, szg_table *table);
szgi_row szgi_row_latest(szg_context *context, szg_table *table);

/* NULL leaves the cell empty. */
void szgi_row_text(szgi_row *row, int64_t column, const char *value);
void szgi_row_integer(szgi_row *row, int64_t column, int64_t value);
void szgi_row_real(szgi_row *row, int64_t column, double value);
/* A place or a count that a negative number leaves empty; a number that NaN leaves empty. */
void szgi_row_place(szgi_row *row, int64_t column, int64_t value);
void szgi_row_number(szgi_row *row, int64_t column, double value);

/* Adds a sentence to the last column, `note`, after "; " where one is there already. */
SZG_PRINTF(2, 3) void szgi_row_note(szgi_row *row, const char *format, ...);

SZGI_END_DECLS

#endif

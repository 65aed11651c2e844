#include <math.h>
#include <stdarg.h>

#include "base/row.h"
#include "base/table.h"
#include "base/text.h"

szgi_row szgi_row_add(szg_context *context, szg_table *table) {
    return (szgi_row){context, table, szg_table_add_row(context, table)};
}

szgi_row szgi_row_latest(szg_context *context, szg_table *table) {
    return (szgi_row){context, table, SZG_OK};
}

void szgi_row_text(szgi_row *row, int64_t column, const char *value) {
    if (row->status == SZG_OK)
        row->status = szgi_table_put_text(row->context, row->table, column, value);
}

void szgi_row_integer(szgi_row *row, int64_t column, int64_t value) {
    if (row->status == SZG_OK)
        row->status = szgi_table_put_integer(row->context, row->table, column, value);
}

void szgi_row_real(szgi_row *row, int64_t column, double value) {
    if (row->status == SZG_OK)
        row->status = szgi_table_put_real(row->context, row->table, column, value);
}

void szgi_row_place(szgi_row *row, int64_t column, int64_t value) {
    if (value >= 0)
        szgi_row_integer(row, column, value);
}

void szgi_row_number(szgi_row *row, int64_t column, double value) {
    if (!isnan(value))
        szgi_row_real(row, column, value);
}

void szgi_row_note(szgi_row *row, const char *format, ...) {
    if (row->status != SZG_OK)
        return;
    va_list arguments;
    va_start(arguments, format);
    row->status = szgi_table_note_at(row->context, row->table, szg_table_columns(row->table) - 1,
                                     format, arguments);
    va_end(arguments);
}

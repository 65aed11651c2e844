#include <inttypes.h>
#include <math.h>

#include "json_emit.h"
#include "result_private.h"

static bool is_unfinite(const szg_table *table, int64_t row, int64_t column) {
    return szg_table_column(table, column)->type == SZG_REAL &&
           !szg_table_is_empty(table, row, column) &&
           !isfinite(szg_table_get_real(table, row, column));
}

/* JSON has no NaN and no infinity, such cells are null: a member of the row, there where it is
 * needed, says which columns held one. */
static void emit_not_finite(const szg_table *table, int64_t row, FILE *stream) {
    const char *before = ", \"not_finite\": {";
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        if (!is_unfinite(table, row, i))
            continue;
        double value = szg_table_get_real(table, row, i);
        fputs(before, stream);
        szgi_emit_text(szg_table_column(table, i)->name, stream);
        fputs(isnan(value) ? ": \"nan\"" : value < 0 ? ": \"-inf\"" : ": \"inf\"", stream);
        before = ", ";
    }
    fputs("}", stream);
}

static void emit_cell(const szg_table *table, int64_t row, int64_t column, FILE *stream) {
    if (szg_table_is_empty(table, row, column)) {
        fputs("null", stream);
        return;
    }
    switch (szg_table_column(table, column)->type) {
    case SZG_TEXT:
        szgi_emit_text(szg_table_get_text(table, row, column), stream);
        break;
    case SZG_INTEGER:
        fprintf(stream, "%" PRId64, szg_table_get_integer(table, row, column));
        break;
    case SZG_REAL:
        szgi_emit_real(szg_table_get_real(table, row, column), stream);
        break;
    }
}

static void emit_row(const szg_table *table, int64_t row, FILE *stream) {
    bool unfinite = false;
    putc('{', stream);
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        fputs(i ? ", " : "", stream);
        szgi_emit_text(szg_table_column(table, i)->name, stream);
        fputs(": ", stream);
        emit_cell(table, row, i, stream);
        unfinite = unfinite || is_unfinite(table, row, i);
    }
    if (unfinite)
        emit_not_finite(table, row, stream);
    putc('}', stream);
}

static szg_status emit_table(szg_context *context, const szg_table *table, FILE *stream) {
    fputs(",\n  ", stream);
    szgi_emit_text(szg_table_name(table), stream);
    fputs(": [", stream);
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        if (row % 65536 == 0)
            SZG_TRY(szgi_context_check_cancel(context));
        fputs(row ? ",\n    " : "\n    ", stream);
        emit_row(table, row, stream);
    }
    fputs(szg_table_rows(table) ? "\n  ]" : "]", stream);
    return SZG_OK;
}

szg_status szgi_result_emit_json(szg_context *context, const szg_result *result, FILE *stream) {
    fputs("{\n  \"provenance\": ", stream);
    SZG_TRY(szgi_json_print(context, szgi_json_root(result->provenance), 0, stream));
    for (int64_t i = 0; i < result->tables; i++)
        SZG_TRY(emit_table(context, result->table[i], stream));
    fputs("\n}\n", stream);
    return SZG_OK;
}

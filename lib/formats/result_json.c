#include <inttypes.h>
#include <math.h>

#include "base/text.h"
#include "json_emit.h"
#include "result_private.h"

static bool is_unfinite(const szg_table *table, int64_t row, int64_t column) {
    return szg_table_column(table, column)->type == SZG_REAL &&
           !szg_table_is_empty(table, row, column) &&
           !isfinite(szg_table_get_real(table, row, column));
}

/* JSON has no NaN: the row's note says which columns held one, after what it said before. */
static szg_status emit_note(szg_context *context, const szg_table *table, int64_t row, int64_t note,
                            FILE *stream) {
    szgi_text sentence;
    SZG_TRY(szgi_text_open(context, &sentence));
    const char *old = note >= 0 ? szg_table_get_text(table, row, note) : NULL;
    fputs(old ? old : "", sentence.stream);
    const char *separator = old && *old ? "; " : "";
    bool any = old != NULL;
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        if (!is_unfinite(table, row, i))
            continue;
        double value = szg_table_get_real(table, row, i);
        fprintf(sentence.stream, "%s%s is %s", separator, szg_table_column(table, i)->name,
                isnan(value) ? "nan"
                : value < 0  ? "-inf"
                             : "inf");
        separator = "; ";
        any = true;
    }
    szg_status status = szgi_text_end(&sentence, SZG_OK);
    if (status == SZG_OK && any)
        szgi_emit_text(sentence.text, stream);
    else if (status == SZG_OK)
        fputs("null", stream);
    szgi_text_close(&sentence);
    return status;
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

static szg_status emit_row(szg_context *context, const szg_table *table, int64_t row,
                           FILE *stream) {
    int64_t note = szg_table_find(table, "note");
    bool unfinite = false;
    putc('{', stream);
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        fputs(i ? ", " : "", stream);
        szgi_emit_text(szg_table_column(table, i)->name, stream);
        fputs(": ", stream);
        if (i == note)
            SZG_TRY(emit_note(context, table, row, note, stream));
        else
            emit_cell(table, row, i, stream);
        unfinite = unfinite || is_unfinite(table, row, i);
    }
    if (note < 0 && unfinite) {
        fputs(", \"note\": ", stream);
        SZG_TRY(emit_note(context, table, row, note, stream));
    }
    putc('}', stream);
    return SZG_OK;
}

static szg_status emit_table(szg_context *context, const szg_table *table, FILE *stream) {
    fputs(",\n  ", stream);
    szgi_emit_text(szg_table_name(table), stream);
    fputs(": [", stream);
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        if (row % 65536 == 0)
            SZG_TRY(szgi_context_check_cancel(context));
        fputs(row ? ",\n    " : "\n    ", stream);
        SZG_TRY(emit_row(context, table, row, stream));
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

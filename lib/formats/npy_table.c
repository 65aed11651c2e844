#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <szego/memory.h>
#include "npy_private.h"
#include "result_private.h"

/* What a column becomes: texts UTF-8 bytes padded with NUL, an integer column with empty cells
 * reals with NaN in them. */
typedef struct field {
    szg_type type;
    size_t width;
} field;

static field column_field(const szg_table *table, int64_t column) {
    field f = {.type = szg_table_column(table, column)->type, .width = f.type == SZG_TEXT ? 1 : 8};
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        const char *text = szg_table_get_text(table, row, column);
        if (text && strlen(text) > f.width)
            f.width = strlen(text);
        if (f.type == SZG_INTEGER && szg_table_is_empty(table, row, column))
            f.type = SZG_REAL;
    }
    return f;
}

static void emit_field(const szg_table *table, int64_t row, int64_t column, field f, FILE *stream) {
    double real = szg_table_get_real(table, row, column);
    int64_t integer = szg_table_get_integer(table, row, column);
    const char *text = szg_table_get_text(table, row, column);
    switch (f.type) {
    case SZG_REAL:
        fwrite(&real, sizeof real, 1, stream);
        break;
    case SZG_INTEGER:
        fwrite(&integer, sizeof integer, 1, stream);
        break;
    case SZG_TEXT:
        fputs(text ? text : "", stream);
        for (size_t i = text ? strlen(text) : 0; i < f.width; i++)
            putc(0, stream);
    }
}

static szg_status emit_header(szg_context *context, const szg_table *table, const field *f,
                              FILE *stream) {
    char *text = NULL;
    size_t size = 0;
    FILE *header = open_memstream(&text, &size);
    if (!header)
        return szg_fail(context, SZG_ENOMEM, "out of memory for an npy header");
    fputs("{'descr': [", header);
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        fprintf(header, "%s('%s', '", i ? ", " : "", szg_table_column(table, i)->name);
        if (f[i].type == SZG_TEXT)
            fprintf(header, "|S%zu')", f[i].width);
        else
            fputs(f[i].type == SZG_REAL ? "<f8')" : "<i8')", header);
    }
    fprintf(header, "], 'fortran_order': False, 'shape': (%" PRId64 ",), }", szg_table_rows(table));
    bool failed = fclose(header) != 0;
    if (!failed)
        szg_npy_emit_header(text, stream);
    free(text);
    return failed ? szg_fail(context, SZG_ENOMEM, "out of memory for an npy header") : SZG_OK;
}

szg_status szg_table_emit_npy(szg_context *context, const szg_table *table, FILE *stream) {
    int64_t columns = szg_table_columns(table);
    field *f;
    SZG_TRY(szg_memory_alloc(context, columns, sizeof *f, &f));
    for (int64_t i = 0; i < columns; i++)
        f[i] = column_field(table, i);
    szg_status status = emit_header(context, table, f, stream);
    for (int64_t row = 0; status == SZG_OK && row < szg_table_rows(table); row++) {
        if (row % 65536 == 0)
            status = szg_context_check_cancel(context);
        for (int64_t i = 0; i < columns; i++)
            emit_field(table, row, i, f[i], stream);
    }
    szg_memory_free(f);
    return status;
}

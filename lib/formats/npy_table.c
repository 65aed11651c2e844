#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "formats/npy.h"
#include "base/text.h"
#include "npy_private.h"

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

/* An integer that becomes a real must be the same number. */
static szg_status check_exact(szg_context *context, const szg_table *table, int64_t column,
                              field f) {
    const szg_column *what = szg_table_column(table, column);
    for (int64_t row = 0; what->type != f.type && row < szg_table_rows(table); row++) {
        int64_t value = szg_table_get_integer(table, row, column);
        /* 2^63 - 1 rounds to 2^63, which no integer is. */
        if ((double)value >= 0x1p63 || (int64_t)(double)value != value)
            return szgi_fail(context, SZG_EDATA,
                             "table %s, column %s, row %" PRId64 ": %" PRId64
                             " is not exact as a double, which an integer column with empty cells "
                             "becomes in an array: write csv (--to csv)",
                             szg_table_name(table), SHOWN(what->name), row, value);
    }
    return SZG_OK;
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

enum { TYPE = 24 }; /* "|S12" say */

static const char *print_type(field f, char out[static TYPE]) {
    if (f.type == SZG_TEXT)
        snprintf(out, TYPE, "|S%zu", f.width);
    else
        snprintf(out, TYPE, "%s", f.type == SZG_REAL ? "<f8" : "<i8");
    return out;
}

/* A name as a Python literal of ASCII characters, which every version of the header holds. */
static void emit_name(const char *name, FILE *stream) {
    const unsigned char *at = (const unsigned char *)name, *end = at + strlen(name);
    putc('\'', stream);
    for (int step; at < end; at += step ? step : 1) {
        uint32_t code = 0xFFFD;
        step = szgi_utf8_step(at, (size_t)(end - at));
        if (step == 1)
            code = *at;
        else if (step > 1)
            code = *at & (0x7Fu >> step);
        for (int i = 1; i < step; i++)
            code = code << 6 | (at[i] & 0x3Fu);
        if (code < 0x20 || code > 0x7E || code == '\'' || code == '\\')
            fprintf(stream, "\\U%08" PRIx32, code);
        else
            putc((int)code, stream);
    }
    putc('\'', stream);
}

static szg_status emit_header(szg_context *context, const szg_table *table, const field *f,
                              FILE *stream) {
    szgi_text text;
    SZG_TRY(szgi_text_open(context, &text));
    FILE *header = text.stream;
    fputs("{'descr': [", header);
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        char type[TYPE];
        fputs(i ? ", (" : "(", header);
        emit_name(szg_table_column(table, i)->name, header);
        fprintf(header, ", '%s')", print_type(f[i], type));
    }
    fprintf(header, "], 'fortran_order': False, 'shape': (%" PRId64 ",), }", szg_table_rows(table));
    szg_status status = szgi_text_end(&text, SZG_OK);
    if (status == SZG_OK)
        szgi_npy_emit_header(text.text, stream);
    szgi_text_close(&text);
    return status;
}

szg_status szgi_npy_print_table(szg_context *context, const szg_table *table, FILE *stream) {
    int64_t columns = szg_table_columns(table);
    field *f;
    SZG_TRY(szgi_memory_alloc(context, columns, &f));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < columns && status == SZG_OK; i++) {
        f[i] = column_field(table, i);
        status = check_exact(context, table, i, f[i]);
    }
    if (status == SZG_OK)
        status = emit_header(context, table, f, stream);
    for (int64_t row = 0; status == SZG_OK && row < szg_table_rows(table); row++) {
        if (row % 65536 == 0)
            status = szgi_context_check_cancel(context);
        for (int64_t i = 0; i < columns; i++)
            emit_field(table, row, i, f[i], stream);
    }
    szgi_memory_free(f);
    return status;
}

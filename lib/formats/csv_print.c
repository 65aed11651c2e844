#include <string.h>

#include "formats/csv.h"
#include "base/file.h"
#include "base/text.h"

/* RFC 4180, rules 6 and 7; and an empty text is quoted to tell it from an empty cell. */
static void put_field(const char *text, FILE *stream) {
    size_t length = strlen(text);
    bool quoted = length == 0 || strpbrk(text, ",\"\r\n");
    if (quoted)
        putc('"', stream);
    for (size_t run; length > 0; text += run, length -= run) {
        run = *text == '"' ? 1 : strcspn(text, "\"");
        if (*text == '"')
            fputs("\"\"", stream);
        else
            szgi_utf8_put(text, run, stream);
    }
    if (quoted)
        putc('"', stream);
}

/* Of a stream that is locked. */
static void put_plain(const char *text, FILE *stream) {
    for (; *text; text++)
        putc_unlocked(*text, stream);
}

/* Tables have as many of them as of reals: fprintf takes several times as long. */
static void put_integer(int64_t value, FILE *stream) {
    char text[24], *digit = text + sizeof text - 1;
    uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;
    *digit = 0;
    do
        *--digit = (char)('0' + size % 10);
    while (size /= 10);
    if (value < 0)
        *--digit = '-';
    put_plain(digit, stream);
}

static void put_cell(const szg_table *table, int64_t row, int64_t column, FILE *stream) {
    char text[SZGI_REAL_TEXT];
    if (szg_table_is_empty(table, row, column))
        return;
    switch (szg_table_column(table, column)->type) {
    case SZG_TEXT:
        put_field(szg_table_get_text(table, row, column), stream);
        break;
    case SZG_INTEGER:
        put_integer(szg_table_get_integer(table, row, column), stream);
        break;
    case SZG_REAL:
        put_plain(szgi_real_text(szg_table_get_real(table, row, column), text), stream);
        break;
    }
}

/* before: NULL, or a table of one row whose cells come first. */
static void put_header(const szg_table *before, const szg_table *table, FILE *stream) {
    int64_t columns = szg_table_columns(table);
    for (int64_t i = 0; before && i < szg_table_columns(before); i++) {
        put_field(szg_table_column(before, i)->name, stream);
        putc(',', stream);
    }
    for (int64_t i = 0; i < columns; i++) {
        put_field(szg_table_column(table, i)->name, stream);
        putc(i + 1 < columns ? ',' : '\n', stream);
    }
}

static void put_row(const szg_table *before, const szg_table *table, int64_t row, FILE *stream) {
    int64_t columns = szg_table_columns(table);
    flockfile(stream);
    for (int64_t i = 0; before && i < szg_table_columns(before); i++) {
        put_cell(before, 0, i, stream);
        putc_unlocked(',', stream);
    }
    for (int64_t i = 0; i < columns; i++) {
        put_cell(table, row, i, stream);
        putc_unlocked(i + 1 < columns ? ',' : '\n', stream);
    }
    funlockfile(stream);
}

static szg_status flush(szg_context *context, const szg_table *table, FILE *stream) {
    szg_status status = szgi_stream_flush(context, stream);
    return status == SZG_OK ? SZG_OK
                            : szgi_fail_prefix(context, status, "table %s", szg_table_name(table));
}

szg_status szgi_csv_print_header(szg_context *context, const szg_table *table, FILE *stream) {
    put_header(NULL, table, stream);
    return flush(context, table, stream);
}

szg_status szgi_csv_print_row(szg_context *context, const szg_table *table, int64_t row,
                              FILE *stream) {
    put_row(NULL, table, row, stream);
    return flush(context, table, stream);
}

szg_status szgi_csv_print_behind(szg_context *context, const szg_table *before,
                                 const szg_table *table, bool header, FILE *stream) {
    if (header)
        put_header(before, table, stream);
    for (int64_t row = 0; row < szg_table_rows(table); row++) {
        if (row % 65536 == 0)
            SZG_TRY(szgi_context_check_cancel(context));
        put_row(before, table, row, stream);
    }
    return flush(context, table, stream);
}

szg_status szgi_csv_print(szg_context *context, const szg_table *table, FILE *stream) {
    return szgi_csv_print_behind(context, NULL, table, true, stream);
}

szg_status szgi_csv_write(szg_context *context, const szg_table *table, const char *path) {
    szgi_writer *writer;
    SZG_TRY(szgi_writer_open(context, path, &writer));
    szg_status status = szgi_csv_print(context, table, szgi_writer_stream(writer));
    if (status == SZG_OK)
        return szgi_writer_commit(context, &writer);
    szgi_writer_discard(&writer);
    return szgi_fail_prefix(context, status, "%s", path);
}

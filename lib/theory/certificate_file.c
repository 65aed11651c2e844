#include <string.h>

#include "formats/csv.h"
#include "base/memory.h"
#include "certificate.h"
#include "recheck.h"

static szg_status add_cell(szg_context *context, szgi_json *object, const szg_table *table,
                           int64_t row, int64_t column) {
    const szg_column *about = szg_table_column(table, column);
    if (szg_table_is_empty(table, row, column))
        return szgi_json_add_text(context, object, about->name, "");
    if (about->type == SZG_INTEGER)
        return szgi_json_add_integer(context, object, about->name,
                                     szg_table_get_integer(table, row, column));
    return szgi_json_add_text(context, object, about->name, szg_table_get_text(table, row, column));
}

static szg_status add_row(szg_context *context, szgi_json *rows, const szg_table *table,
                          int64_t row) {
    szgi_json *object;
    SZG_TRY(szgi_json_open_object(context, &object));
    for (int64_t i = 0; i < szg_table_columns(table); i++) {
        szg_status status = add_cell(context, object, table, row, i);
        if (status != SZG_OK) {
            szgi_json_close(&object);
            return status;
        }
    }
    return szgi_json_add(context, rows, NULL, &object);
}

/* The document that `--format json` would have made of the same table. */
static szg_status document_of(szg_context *context, const szg_table *table, szgi_json **out) {
    szgi_json *rows = NULL;
    szg_status status;
    *out = NULL;
    SZG_TRY_GOTO(status, szgi_json_open_array(context, &rows), done);
    for (int64_t row = 0; row < szg_table_rows(table); row++)
        SZG_TRY_GOTO(status, add_row(context, rows, table, row), done);
    SZG_TRY_GOTO(status, szgi_json_open_object(context, out), done);
    status = szgi_json_add(context, *out, "certificates", &rows);
done:
    szgi_json_close(&rows);
    if (status != SZG_OK)
        szgi_json_close(out);
    return status;
}

szg_status szgi_certificate_file_read(szg_context *context, const char *path, szgi_json **out) {
    const char *ending = strrchr(path, '.');
    if (!ending || strcmp(ending, ".csv") != 0)
        return szgi_json_read(context, path, out);
    szg_table *table;
    *out = NULL;
    SZG_TRY(szgi_csv_read(context, path, szgi_certificate_columns, CERTIFICATE_COLUMNS, &table));
    szg_status status = szg_table_rows(table) > 0
                            ? document_of(context, table, out)
                            : szgi_fail(context, SZG_EDATA, "%s: holds no certificate", path);
    szg_table_close(&table);
    return status;
}

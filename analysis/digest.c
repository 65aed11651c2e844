#include "digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

double digest_rounded(double value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.3g", value);
    return strtod(digits, NULL);
}

bool digest_stack(const szg_table *table, int64_t row, char out[DIGEST_STACK]) {
    int64_t column = szg_table_find(table, "source"), last = szg_table_rows(table) - 1;
    const char *source = szg_table_get_text(table, row, column);
    const char *open = source ? strrchr(source, '(') : NULL;
    size_t length = open ? strlen(open) : 0;
    if (length < 3 || length > DIGEST_STACK || open[length - 1] != ')' ||
        strcmp(szg_table_get_text(table, 0, column), szg_table_get_text(table, last, column)) == 0)
        return false;
    snprintf(out, DIGEST_STACK, "%.*s", (int)(length - 2), open + 1);
    return true;
}

szg_status digest_open_like(szg_context *context, const szg_table *table, const char *name,
                            szg_table **out) {
    int64_t count = szg_table_columns(table);
    szg_column *columns;
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, count, &columns));
    for (int64_t i = 0; i < count; i++)
        columns[i] = *szg_table_column(table, i);
    szg_status status = szg_table_open(context, name, columns, count, out);
    szgi_memory_free(columns);
    SZG_TRY(status);
    szgi_table_take_ends(*out, table);
    return SZG_OK;
}

static szg_status open_weights(szg_context *context, const szg_table *summary, szg_table **out) {
    SZG_TRY(digest_open_like(context, summary, "weights", out));
    return szgi_table_append(context, *out, summary);
}

szg_status digest_copy_row(szg_context *context, const szg_table *from, int64_t row,
                           szg_table *out) {
    szg_status status = szg_table_add_row(context, out);
    for (int64_t c = 0; c < szg_table_columns(from) && status == SZG_OK; c++) {
        if (szg_table_is_empty(from, row, c))
            continue;
        switch (szg_table_column(from, c)->type) {
        case SZG_TEXT:
            status = szgi_table_put_text(context, out, c, szg_table_get_text(from, row, c));
            break;
        case SZG_INTEGER:
            status = szgi_table_put_integer(context, out, c, szg_table_get_integer(from, row, c));
            break;
        case SZG_REAL:
            status = szgi_table_put_real(context, out, c, szg_table_get_real(from, row, c));
        }
    }
    return status;
}

static szg_status fill(szg_context *context, const szg_checkpoint_tables *tables, digest *out) {
    if (tables->heads && szg_table_rows(tables->heads) > 0)
        SZG_TRY(digest_heads(context, tables->heads, out));
    if (tables->decays)
        SZG_TRY(digest_decays(context, tables->decays, out->said.stream));
    SZG_TRY(digest_layers(context, tables, out));
    if (szg_table_rows(out->layers) > 0)
        return SZG_OK;
    szg_table_close(&out->layers);
    return open_weights(context, tables->summary, &out->weights);
}

szg_status digest_open(szg_context *context, const szg_checkpoint_tables *tables, const char *more,
                       digest *out) {
    *out = (digest){0};
    SZG_TRY(szgi_text_open(context, &out->said));
    SZG_TRY(szgi_text_open(context, &out->notes));
    szg_status status = fill(context, tables, out);
    fputs(more, out->notes.stream);
    status = szgi_text_end(&out->said, status);
    return szgi_text_end(&out->notes, status);
}

void digest_close(digest *out) {
    szgi_text_close(&out->said);
    szgi_text_close(&out->notes);
    szg_table_close(&out->mean);
    szg_table_close(&out->self);
    szg_table_close(&out->layers);
    szg_table_close(&out->weights);
}

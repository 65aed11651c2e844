#include "base/memory.h"

#include "embed.h"

static szg_status put_table(sink *sink, const szg_table *table) {
    int64_t columns = szg_table_columns(table);
    SZG_TRY(szgi_sink_put(sink, "SZT2", 4));
    SZG_TRY(szgi_sink_number(sink, szg_table_rows(table)));
    SZG_TRY(szgi_sink_number(sink, columns));
    for (int64_t i = 0; i < columns; i++) {
        const szg_column *column = szg_table_column(table, i);
        unsigned char facts[] = {(unsigned char)column->type,
                                 (unsigned char)szgi_table_end(table, i)};
        SZG_TRY(szgi_sink_put(sink, facts, sizeof facts));
        SZG_TRY(szgi_sink_text(sink, column->name));
        SZG_TRY(szgi_sink_text(sink, column->doc ? column->doc : ""));
    }
    for (int64_t i = 0; i < columns; i++)
        SZG_TRY(szgi_embed_column(sink, table, i));
    return szgi_sink_finish(sink);
}

szg_status szgi_embed_table(szg_context *context, const szg_table *table, unsigned char **bytes,
                            int64_t *size) {
    sink sink;
    szg_status status = szgi_sink_open(context, &sink);
    if (status == SZG_OK)
        status = put_table(&sink, table);
    szgi_sink_close(&sink);
    if (status != SZG_OK) {
        szgi_memory_free(sink.bytes);
        return szgi_fail_prefix(context, status, "table %s", szg_table_name(table));
    }
    *bytes = sink.bytes;
    *size = sink.size;
    return SZG_OK;
}

void szgi_embed_base64(const unsigned char *bytes, int64_t size, FILE *stream) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[4096];
    size_t used = 0;
    for (int64_t i = 0; i < size; i += 3) {
        uint32_t word = (uint32_t)bytes[i] << 16;
        word |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
        word |= i + 2 < size ? bytes[i + 2] : 0;
        text[used++] = digits[word >> 18];
        text[used++] = digits[word >> 12 & 63];
        text[used++] = i + 1 < size ? digits[word >> 6 & 63] : '=';
        text[used++] = i + 2 < size ? digits[word & 63] : '=';
        if (used == sizeof text) {
            fwrite(text, 1, used, stream);
            used = 0;
        }
    }
    fwrite(text, 1, used, stream);
}

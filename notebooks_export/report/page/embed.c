#include <string.h>

#include "base/memory.h"

#include "embed.h"

static void *allocate(void *user, unsigned count, unsigned size) {
    sink *sink = user;
    void *block = NULL;
    if (sink->refused == SZG_OK) /* after a refusal it asks for more before it answers */
        sink->refused = szgi_memory_alloc(sink->context, count, size, &block);
    return block;
}

static void release(void *user, void *block) {
    (void)user;
    szgi_memory_free(block);
}

/* Room for the next bytes that the compressor gives. */
static szg_status make_room(sink *sink) {
    int64_t most = sink->capacity ? 2 * sink->capacity : 1 << 16;
    SZG_TRY(szgi_memory_grow(sink->context, &sink->bytes, sink->capacity, most, 1));
    sink->capacity = most;
    return SZG_OK;
}

static szg_status fail_compressor(const sink *sink, int code) {
    return szgi_fail(sink->context, SZG_EINTERNAL, "the compressor failed with %d", code);
}

static szg_status run(sink *sink, int flush) {
    z_stream *stream = &sink->stream;
    for (int code = Z_OK; stream->avail_in > 0 || (flush == Z_FINISH && code != Z_STREAM_END);) {
        if (sink->size == sink->capacity)
            SZG_TRY(make_room(sink));
        int64_t left = sink->capacity - sink->size;
        stream->avail_out = left < 1 << 30 ? (unsigned)left : 1u << 30;
        stream->next_out = sink->bytes + sink->size;
        code = deflate(stream, flush);
        sink->size = stream->next_out - sink->bytes;
        if (code != Z_OK && code != Z_STREAM_END)
            return fail_compressor(sink, code);
    }
    return SZG_OK;
}

szg_status szgi_sink_put(sink *sink, const void *bytes, int64_t size) {
    const unsigned char *at = bytes;
    while (size > 0) {
        unsigned part = size < 1 << 30 ? (unsigned)size : 1u << 30;
        sink->stream.next_in = (unsigned char *)at; /* zlib only reads it */
        sink->stream.avail_in = part;
        SZG_TRY(run(sink, Z_NO_FLUSH));
        at += part;
        size -= part;
    }
    return SZG_OK;
}

szg_status szgi_sink_number(sink *sink, int64_t value) {
    if (value < 0 || value > UINT32_MAX)
        return szgi_fail(sink->context, SZG_EINVAL,
                         "a table of more than 2^32 rows or bytes of a text cannot be embedded");
    unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8),
                              (unsigned char)(value >> 16), (unsigned char)(value >> 24)};
    return szgi_sink_put(sink, bytes, 4);
}

szg_status szgi_sink_text(sink *sink, const char *text) {
    int64_t length = (int64_t)strlen(text);
    SZG_TRY(szgi_sink_number(sink, length));
    return szgi_sink_put(sink, text, length);
}

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
    return run(sink, Z_FINISH);
}

szg_status szgi_embed_table(szg_context *context, const szg_table *table, unsigned char **bytes,
                            int64_t *size) {
    sink sink = {.context = context, .stream = {.zalloc = allocate, .zfree = release}};
    sink.stream.opaque = &sink;
    int code = deflateInit(&sink.stream, 6);
    szg_status status = code == Z_OK             ? put_table(&sink, table)
                        : sink.refused != SZG_OK ? sink.refused
                                                 : fail_compressor(&sink, code);
    if (code == Z_OK)
        deflateEnd(&sink.stream);
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

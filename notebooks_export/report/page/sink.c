#include <string.h>

#include "base/memory.h"

#include "embed.h"

static void *allocate(void *user, unsigned count, unsigned size) {
    sink *sink = user;
    void *block = NULL;
    if (sink->refused == SZG_OK) /* after a refusal it asks for more before it answers */
        sink->refused = szgi_memory_take(sink->context, count, size, &block);
    return block;
}

static void release(void *user, void *block) {
    (void)user;
    szgi_memory_free(block);
}

/* Room for the next bytes that the compressor gives. */
static szg_status make_room(sink *sink) {
    int64_t more = sink->capacity > 0 ? 1 : 1 << 16;
    return szgi_memory_reserve(sink->context, &sink->bytes, &sink->capacity, sink->capacity, more);
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

szg_status szgi_sink_open(szg_context *context, sink *out) {
    *out = (sink){.context = context, .stream = {.zalloc = allocate, .zfree = release}};
    out->stream.opaque = out;
    int code = deflateInit(&out->stream, 6);
    if (code == Z_OK)
        return SZG_OK;
    return out->refused != SZG_OK ? out->refused : fail_compressor(out, code);
}

szg_status szgi_sink_finish(sink *sink) {
    return run(sink, Z_FINISH);
}

void szgi_sink_close(sink *sink) {
    deflateEnd(&sink->stream); /* of one that was not opened it answers with a code, no more */
}

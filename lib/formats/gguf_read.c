/* Bytes of a GGUF header in order, each length checked before it is believed. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "gguf_private.h"

static szg_status fail_short(gguf_reader *reader) {
    return szgi_fail(reader->context, SZG_EDATA,
                     "%s: byte %" PRId64 ": %s reaches beyond the file's %" PRId64
                     " bytes: the file is truncated or damaged; fetch it again",
                     reader->file, reader->at, reader->what, reader->size);
}

szg_status szgi_gguf_take(gguf_reader *reader, int64_t count, const unsigned char **out) {
    if (count > reader->size - reader->at)
        return fail_short(reader);
    if (reader->data) {
        *out = reader->data + reader->at;
    } else {
        int64_t end = reader->from + reader->held;
        if (reader->at < reader->from || reader->at + count > end) {
            int64_t left = reader->size - reader->at;
            SZG_TRY(szgi_context_check_cancel(reader->context));
            reader->from = reader->at;
            reader->held = left < GGUF_WINDOW ? left : GGUF_WINDOW;
            SZG_TRY(szgi_source_read(reader->context, reader->source, reader->from, reader->held,
                                     reader->window));
        }
        *out = reader->window + (reader->at - reader->from);
    }
    reader->at += count;
    return SZG_OK;
}

szg_status szgi_gguf_u32(gguf_reader *reader, uint32_t *out) {
    const unsigned char *at = NULL;
    SZG_TRY(szgi_gguf_take(reader, sizeof *out, &at));
    memcpy(out, at, sizeof *out);
    return SZG_OK;
}

szg_status szgi_gguf_u64(gguf_reader *reader, uint64_t *out) {
    const unsigned char *at = NULL;
    SZG_TRY(szgi_gguf_take(reader, sizeof *out, &at));
    memcpy(out, at, sizeof *out);
    return SZG_OK;
}

szg_status szgi_gguf_expect(gguf_reader *reader, uint64_t count, int64_t least, const char *noun) {
    if (count <= (uint64_t)((reader->size - reader->at) / least))
        return SZG_OK;
    return szgi_fail(reader->context, SZG_EDATA,
                     "%s: byte %" PRId64 ": %s: %" PRIu64 " %s do not fit into the file's %" PRId64
                     " bytes: the file is truncated or damaged; fetch it again",
                     reader->file, reader->at, reader->what, count, noun, reader->size);
}

szg_status szgi_gguf_skip(gguf_reader *reader, uint64_t count, int64_t size, const char *noun) {
    SZG_TRY(szgi_gguf_expect(reader, count, size, noun));
    reader->at += (int64_t)count * size;
    return SZG_OK;
}

szg_status szgi_gguf_name(gguf_reader *reader, char *text) {
    const unsigned char *at = NULL;
    uint64_t length;
    int64_t start = reader->at;
    SZG_TRY(szgi_gguf_u64(reader, &length));
    if (length == 0 || length > GGUF_NAME)
        return szgi_fail(reader->context, SZG_EDATA,
                         "%s: byte %" PRId64 ": %s: its name has %" PRIu64
                         " bytes, and 1 to %d are possible: the file is damaged",
                         reader->file, start, reader->what, length, GGUF_NAME);
    SZG_TRY(szgi_gguf_take(reader, (int64_t)length, &at));
    memcpy(text, at, length);
    text[length] = 0;
    if (strlen(text) == length && szgi_utf8_check(text, length) < 0)
        return SZG_OK;
    return szgi_fail(reader->context, SZG_EDATA,
                     "%s: byte %" PRId64 ": %s: its name \"%s\" is not UTF-8 without NUL: the file "
                     "is damaged",
                     reader->file, start, reader->what, SHOWN(text));
}

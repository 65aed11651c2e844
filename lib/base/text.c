/* fopencookie's stream over memory of szg_memory_alloc: open_memstream may leave NULL behind a
 * fclose that succeeded, and no failure can be injected there. */
#include <inttypes.h>
#include <string.h>

#include <szego/memory.h>
#include <szego/text.h>

struct szg_text_growth {
    szg_context *context;
    char *block;
    int64_t length, capacity; /* capacity > length: the rest is zero */
    bool refused;             /* from the first refusal on nothing is taken */
};

static bool make_room(struct szg_text_growth *growth, int64_t bytes) {
    enum { SMALLEST = 256 };
    int64_t capacity = growth->capacity > 0 ? growth->capacity : SMALLEST;
    while (capacity - growth->length <= bytes)
        if (__builtin_mul_overflow(capacity, 2, &capacity))
            return false;
    if (capacity == growth->capacity)
        return true;
    if (szg_memory_grow(growth->context, &growth->block, growth->length, capacity, 1) != SZG_OK)
        return false;
    growth->capacity = capacity;
    return true;
}

static ssize_t take(void *cookie, const char *bytes, size_t size) {
    struct szg_text_growth *growth = cookie;
    growth->refused = growth->refused || !make_room(growth, (int64_t)size);
    if (growth->refused)
        return 0; /* the stream's error */
    memcpy(growth->block + growth->length, bytes, size);
    growth->length += (int64_t)size;
    return (ssize_t)size;
}

szg_status szg_text_open(szg_context *context, szg_text *out) {
    *out = (szg_text){0};
    SZG_TRY(szg_memory_alloc(context, 1, sizeof *out->growth, &out->growth));
    out->growth->context = context;
    if (make_room(out->growth, 0))
        out->stream = fopencookie(out->growth, "w", (cookie_io_functions_t){.write = take});
    if (out->stream)
        return SZG_OK;
    szg_text_close(out);
    return szg_fail(context, SZG_ENOMEM, "out of memory for a text");
}

szg_status szg_text_end(szg_text *text, szg_status written) {
    struct szg_text_growth *growth = text->growth;
    bool failed = ferror(text->stream) != 0;
    failed = fclose(text->stream) != 0 || failed;
    text->stream = NULL;
    if (failed || growth->refused)
        written =
            szg_fail(growth->context, SZG_ENOMEM,
                     "out of memory: a text of %" PRId64 " bytes could not grow", growth->length);
    if (written == SZG_OK) {
        text->text = growth->block;
        text->length = growth->length;
    }
    return written;
}

void szg_text_close(szg_text *text) {
    if (text->stream)
        fclose(text->stream);
    if (text->growth)
        szg_memory_free(text->growth->block);
    szg_memory_free(text->growth);
    *text = (szg_text){0};
}

/* fopencookie's stream over memory of szgi_memory_alloc: open_memstream may leave NULL behind a
 * fclose that succeeded, and no failure can be injected there. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"

struct szgi_text_growth {
    szg_context *context;
    char *block;
    int64_t length, room; /* room > length: the rest is zero */
    szg_status refused;   /* from the first refusal on nothing is taken */
    char words[512];      /* of the refusal, which the work that prints may hide by its own */
};

/* A NUL follows what is written. */
static szg_status make_room(struct szgi_text_growth *growth, int64_t bytes) {
    return szgi_memory_reserve(growth->context, &growth->block, &growth->room, growth->length,
                               bytes + 1);
}

/* Where it is refused for its size the text is named, not where the work is cancelled. */
static szg_status name_text(const struct szgi_text_growth *growth, szg_status status) {
    if (status != SZG_ENOMEM)
        return status;
    return szgi_fail_prefix(growth->context, status, "a text of %" PRId64 " bytes could not grow",
                            growth->length);
}

static ssize_t take(void *cookie, const char *bytes, size_t size) {
    struct szgi_text_growth *growth = cookie;
    if (growth->refused != SZG_OK)
        return 0; /* the stream's error */
    growth->refused = name_text(growth, make_room(growth, (int64_t)size));
    if (growth->refused != SZG_OK) {
        szgi_print(growth->words, sizeof growth->words, "%s",
                   growth->context ? szg_context_message(growth->context) : "");
        return 0;
    }
    memcpy(growth->block + growth->length, bytes, size);
    growth->length += (int64_t)size;
    return (ssize_t)size;
}

szg_status szgi_text_open(szg_context *context, szgi_text *out) {
    *out = (szgi_text){0};
    SZG_TRY(szgi_memory_alloc(context, 1, &out->growth));
    out->growth->context = context;
    szg_status status = make_room(out->growth, 0);
    if (status == SZG_OK) {
        out->stream = fopencookie(out->growth, "w", (cookie_io_functions_t){.write = take});
        if (!out->stream)
            status = szgi_fail(context, SZG_ENOMEM, "out of memory for a text");
    }
    if (status != SZG_OK)
        szgi_text_close(out);
    return status;
}

szg_status szgi_text_end(szgi_text *text, szg_status written) {
    struct szgi_text_growth *growth = text->growth;
    bool failed = ferror(text->stream) != 0;
    failed = fclose(text->stream) != 0 || failed;
    text->stream = NULL;
    if (growth->refused != SZG_OK)
        written = szgi_fail(growth->context, growth->refused, "%s", growth->words);
    else if (failed)
        written = szgi_fail(growth->context, SZG_ENOMEM,
                            "out of memory: a text of %" PRId64 " bytes was not written whole",
                            growth->length);
    if (written == SZG_OK) {
        text->text = growth->block;
        text->length = growth->length;
    }
    return written;
}

void szgi_text_close(szgi_text *text) {
    if (text->stream)
        fclose(text->stream);
    if (text->growth)
        szgi_memory_free(text->growth->block);
    szgi_memory_free(text->growth);
    *text = (szgi_text){0};
}

/* ---- Endings ---- */

bool szgi_text_ends(const char *text, const char *ending) {
    size_t length = strlen(text), tail = strlen(ending);
    return length >= tail && strcmp(text + length - tail, ending) == 0;
}

bool szgi_path_ends(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

const char *szgi_path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}


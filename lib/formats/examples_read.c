/* Reading labelled sequences from JSONL, line by line over the whole file in memory. */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>

#include "formats/examples.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include "examples_scan.h"

enum { LINE_LIMIT = 16 << 20, A_REPORT = 1024 };

typedef struct reader {
    szg_context *context;
    const char *name;
    int64_t line; /* from 1 */
    int32_t *tokens;
    int64_t capacity;
} reader;

SZG_PRINTF(2, 3)
static szg_status fail_at(const reader *r, const char *format, ...) {
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    szgi_vprint(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return szgi_fail(r->context, SZG_EDATA, "%s: line %" PRId64 ": %s", r->name, r->line, sentence);
}

static szg_status reserve_tokens(reader *r, int64_t count) {
    return szgi_memory_reserve(r->context, &r->tokens, &r->capacity, 0, count);
}

/* r->tokens has room: a token takes two bytes of the line. */
static szg_status take_tokens(reader *r, const json_t *array) {
    int64_t count = (int64_t)json_array_size(array);
    if (!json_is_array(array))
        return fail_at(r, "\"tokens\" is not an array of integers");
    if (count == 0)
        return fail_at(r, "\"tokens\" is empty: a sequence has one word at least");
    for (int64_t i = 0; i < count; i++) {
        const json_t *token = json_array_get(array, (size_t)i);
        json_int_t value = json_integer_value(token);
        if (!json_is_integer(token))
            return fail_at(r, "token %" PRId64 " is not an integer", i);
        if (value == 0)
            return fail_at(r, "token %" PRId64 " is 0, which is padding: leave it out", i);
        if (value < 0 || value > INT32_MAX)
            return fail_at(r,
                           "token %" PRId64 " is %" JSON_INTEGER_FORMAT ", outside 1 .. 2147483647",
                           i, value);
        r->tokens[i] = (int32_t)value;
    }
    return SZG_OK;
}

static szg_status take_label(reader *r, const json_t *label, int32_t *out) {
    json_int_t value = json_integer_value(label);
    if (!json_is_integer(label))
        return fail_at(r, "\"label\" is not an integer");
    if (value < 0 || value > INT32_MAX)
        return fail_at(r, "\"label\" is %" JSON_INTEGER_FORMAT ", outside 0 .. 2147483647", value);
    *out = (int32_t)value;
    return SZG_OK;
}

static szg_status take_fields(reader *r, json_t *object, szg_examples *out) {
    const json_t *tokens = json_object_get(object, "tokens");
    const json_t *label = json_object_get(object, "label");
    const char *key;
    json_t *value;
    int32_t number = 0;
    if (!json_is_object(object))
        return fail_at(r, "is not an object {\"tokens\": [ids], \"label\": n}");
    if (!tokens || !label)
        return fail_at(r, "\"%s\" is missing", tokens ? "label" : "tokens");
    json_object_foreach(object, key, value) {
        if (value != tokens && value != label)
            return fail_at(r,
                           "\"%s\" is not a field of an example: the fields are tokens and label",
                           SHOWN(key));
    }
    SZG_TRY(take_tokens(r, tokens));
    SZG_TRY(take_label(r, label, &number));
    return szgi_examples_add(r->context, out, (int64_t)json_array_size(tokens), r->tokens, number);
}

static bool is_blank(const char *text, int64_t length) {
    for (int64_t i = 0; i < length; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

/* Any JSON; it has the words for what is wrong. It allocates each number, which makes it eight
 * times slower than szgi_examples_scan (100,000 lines of 120 tokens: 4.2 s and 0.5 s). */
static szg_status take_json(reader *r, const char *text, int64_t length, szg_examples *out) {
    json_error_t error;
    json_t *root = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (!root && json_error_code(&error) == json_error_out_of_memory)
        return szgi_fail(r->context, SZG_ENOMEM, "%s: out of memory for JSON", r->name);
    if (!root)
        return fail_at(r, "column %d: not valid JSON: %s", error.column, SHOWN(error.text));
    szg_status status = take_fields(r, root, out);
    json_decref(root);
    return status;
}

static szg_status take_line(reader *r, const char *text, int64_t length, szg_examples *out) {
    int64_t count;
    int32_t label;
    if (is_blank(text, length))
        return SZG_OK;
    if (length > LINE_LIMIT)
        return fail_at(r, "has %" PRId64 " bytes, %d are the most", length, (int)LINE_LIMIT);
    SZG_TRY(reserve_tokens(r, length / 2 + 1));
    if (szgi_examples_scan(text, length, r->tokens, &count, &label))
        return szgi_examples_add(r->context, out, count, r->tokens, label);
    return take_json(r, text, length, out);
}

static szg_status take_lines(reader *r, const char *text, int64_t size, szg_examples *out) {
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        text += 3;
        size -= 3;
    }
    for (int64_t at = 0; at < size; at++) {
        const char *end = memchr(text + at, '\n', (size_t)(size - at));
        int64_t length = end ? end - text - at : size - at;
        if (r->line++ % A_REPORT == 0) {
            szgi_progress(r->context, "reading examples", at, size);
            SZG_TRY(szgi_context_check_cancel(r->context));
        }
        SZG_TRY(take_line(r, text + at, length, out));
        at += length;
    }
    szgi_progress(r->context, "reading examples", size, size);
    if (out->count == 0)
        return szgi_fail(r->context, SZG_EDATA, "%s: holds no examples", r->name);
    return SZG_OK;
}

szg_status szgi_examples_read_bytes(szg_context *context, const char *name, const void *data,
                                    int64_t size, szg_examples *out) {
    reader r = {.context = context, .name = name};
    *out = (szg_examples){0};
    szg_status status = take_lines(&r, data, size, out);
    szgi_memory_free(r.tokens);
    if (status != SZG_OK)
        szg_examples_close(out);
    return status;
}

szg_status szg_examples_read(szg_context *context, const char *path, szg_examples *out) {
    szgi_contents contents;
    *out = (szg_examples){0};
    SZGI_ENTER(context);
    SZG_TRY(szgi_contents_open(context, path, &contents));
    szg_status status = szgi_examples_read_bytes(context, path, contents.data, contents.size, out);
    szgi_contents_close(&contents);
    return status;
}

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "json_emit.h"
#include "json_private.h"

static void new_line(int indent, int depth, FILE *stream) {
    if (indent > 0)
        fprintf(stream, "\n%*s", indent * depth, "");
}

static void print_node(const json_t *node, int indent, int depth, FILE *stream);

static void print_object(const json_t *node, int indent, int depth, FILE *stream) {
    const char *key, *comma = "";
    json_t *child;
    putc('{', stream);
    json_object_foreach((json_t *)node, key, child) {
        fputs(comma, stream);
        new_line(indent, depth + 1, stream);
        szgi_emit_text(key, stream);
        fputs(indent > 0 ? ": " : ":", stream);
        print_node(child, indent, depth + 1, stream);
        comma = ",";
    }
    if (*comma)
        new_line(indent, depth, stream);
    putc('}', stream);
}

/* An array of plain values stays on one line, whatever the indent. */
static bool is_flat(const json_t *array) {
    size_t index;
    json_t *child;
    json_array_foreach(array, index, child) {
        if (json_is_object(child) || json_is_array(child))
            return false;
    }
    return true;
}

static void print_array(const json_t *node, int indent, int depth, FILE *stream) {
    bool flat = is_flat(node);
    const char *comma = "", *next = flat && indent > 0 ? ", " : ",";
    size_t index;
    json_t *child;
    putc('[', stream);
    json_array_foreach(node, index, child) {
        fputs(comma, stream);
        if (!flat)
            new_line(indent, depth + 1, stream);
        print_node(child, indent, depth + 1, stream);
        comma = next;
    }
    if (!flat)
        new_line(indent, depth, stream);
    putc(']', stream);
}

static void print_node(const json_t *node, int indent, int depth, FILE *stream) {
    switch (json_typeof(node)) {
    case JSON_OBJECT:
        print_object(node, indent, depth, stream);
        break;
    case JSON_ARRAY:
        print_array(node, indent, depth, stream);
        break;
    case JSON_STRING:
        szgi_emit_text(json_string_value(node), stream);
        break;
    case JSON_INTEGER:
        fprintf(stream, "%" PRId64, (int64_t)json_integer_value(node));
        break;
    case JSON_REAL:
        szgi_emit_real(json_real_value(node), stream);
        break;
    default:
        fputs(json_is_null(node) ? "null" : json_is_true(node) ? "true" : "false", stream);
    }
}

szg_status szgi_json_print(szg_context *context, szgi_json_value value, int indent, FILE *stream) {
    if (!value.node)
        return szgi_fail(context, SZG_EINVAL, "JSON: there is no value to print");
    print_node(value.node, indent, 0, stream);
    szg_status status = szgi_stream_flush(context, stream);
    return status == SZG_OK ? SZG_OK : szgi_fail_prefix(context, status, "JSON");
}

szg_status szgi_json_text(szg_context *context, szgi_json_value value, int indent, char **out) {
    *out = NULL;
    szgi_text text;
    SZG_TRY(szgi_text_open(context, &text));
    szg_status status = szgi_text_end(&text, szgi_json_print(context, value, indent, text.stream));
    if (status == SZG_OK)
        status = szgi_memory_copy_text(context, text.text, out);
    szgi_text_close(&text);
    return status;
}

szg_status szgi_json_write(szg_context *context, const szgi_json *json, const char *path) {
    szgi_writer *writer;
    SZG_TRY(szgi_writer_open(context, path, &writer));
    szg_status status =
        szgi_json_print(context, szgi_json_root(json), 2, szgi_writer_stream(writer));
    if (status == SZG_OK) {
        putc('\n', szgi_writer_stream(writer));
        return szgi_writer_commit(context, &writer);
    }
    szgi_writer_discard(&writer);
    return szgi_fail_prefix(context, status, "%s", path);
}

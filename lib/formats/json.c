#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "formats/csv.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "json_private.h"
#include "safetensors_private.h"

enum { PATH_TEXT = 256, FILE_LIMIT = 256 << 20 };

szg_status szgi_json_wrap(szg_context *context, const char *name, json_t *root, szgi_json **out) {
    *out = NULL;
    if (!root)
        return szgi_fail(context, SZG_ENOMEM, "%sout of memory for JSON", name);
    szgi_json *json;
    szg_status status = szgi_memory_alloc(context, 1, &json);
    if (status != SZG_OK) {
        json_decref(root);
        return status;
    }
    json->root = root;
    status = szgi_memory_copy_text(context, name, &json->name);
    if (status != SZG_OK)
        szgi_json_close(&json);
    *out = json;
    return status;
}

szg_status szgi_json_parse(szg_context *context, const char *name, const void *text, int64_t length,
                           szgi_json **out) {
    *out = NULL;
    json_error_t error;
    json_t *root = json_loadb(length > 0 ? text : "", (size_t)(length > 0 ? length : 0),
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (root)
        return szgi_json_wrap(context, name, root, out);
    if (json_error_code(&error) == json_error_out_of_memory)
        return szgi_fail(context, SZG_ENOMEM, "%s: out of memory for JSON", name);
    return szgi_fail(context, SZG_EDATA, "%s: line %d, column %d: not valid JSON: %s", name,
                     error.line, error.column, SHOWN(error.text));
}

szg_status szgi_json_read(szg_context *context, const char *path, szgi_json **out) {
    *out = NULL;
    szgi_contents contents;
    SZG_TRY(szgi_contents_open_within(context, path, FILE_LIMIT, "a JSON file", &contents));
    szg_status status = szgi_lfs_refuse(context, path, contents.data, contents.size);
    if (status == SZG_OK)
        status = szgi_json_parse(context, path, contents.data, contents.size, out);
    szgi_contents_close(&contents);
    return status;
}

void szgi_json_close(szgi_json **json) {
    if (!json || !*json)
        return;
    szgi_json_unwatch(*json);
    json_decref((*json)->root);
    szgi_memory_free((*json)->name);
    szgi_memory_free(*json);
    *json = NULL;
}

szgi_json_value szgi_json_root(const szgi_json *json) {
    return (szgi_json_value){.document = json, .node = json->root};
}

szgi_json_kind szgi_json_kind_of(szgi_json_value value) {
    static const szgi_json_kind kinds[] = {
        [JSON_OBJECT] = SZGI_JSON_OBJECT, [JSON_ARRAY] = SZGI_JSON_ARRAY,
        [JSON_STRING] = SZGI_JSON_TEXT,   [JSON_INTEGER] = SZGI_JSON_INTEGER,
        [JSON_REAL] = SZGI_JSON_REAL,     [JSON_TRUE] = SZGI_JSON_BOOLEAN,
        [JSON_FALSE] = SZGI_JSON_BOOLEAN, [JSON_NULL] = SZGI_JSON_NULL,
    };
    return value.node ? kinds[json_typeof((const json_t *)value.node)] : SZGI_JSON_ABSENT;
}

szgi_json_value szgi_json_member(szgi_json_value object, const char *key) {
    if (!object.node)
        return object;
    if (object.document->watches > 0)
        szgi_json_watch_note(object.document, object.node, key);
    return (szgi_json_value){.document = object.document,
                             .node = json_object_get(object.node, key),
                             .parent = object.node,
                             .key = key};
}

szgi_json_value szgi_json_element(szgi_json_value array, int64_t index) {
    if (!array.node)
        return array;
    return (szgi_json_value){.document = array.document,
                             .node = index >= 0 ? json_array_get(array.node, (size_t)index) : NULL,
                             .parent = array.node,
                             .index = index};
}

int64_t szgi_json_count(szgi_json_value value) {
    if (json_is_array((const json_t *)value.node))
        return (int64_t)json_array_size(value.node);
    return (int64_t)json_object_size(value.node);
}

bool szgi_json_has(szgi_json_value object, const char *key) {
    szgi_json_kind kind = szgi_json_kind_of(szgi_json_member(object, key));
    return kind != SZGI_JSON_ABSENT && kind != SZGI_JSON_NULL;
}

bool szgi_json_next(szgi_json_value object, szgi_json_value *member) {
    json_t *node = (json_t *)object.node; /* Jansson's iterators are not const */
    void *at = member->key ? json_object_iter_next(node, json_object_iter_at(node, member->key))
                           : json_object_iter(node);
    if (!at)
        return false;
    *member = (szgi_json_value){.document = object.document,
                                .node = json_object_iter_value(at),
                                .parent = node,
                                .key = json_object_iter_key(at)};
    if (object.document->watches > 0 && json_is_object((const json_t *)member->node))
        szgi_json_watch_note(object.document, node, member->key);
    return true;
}

/* A path under construction; cut silently where it grows beyond its buffer. */
typedef struct path {
    char text[PATH_TEXT];
    size_t used;
} path;

static void path_add(path *at, const char *key, int64_t index) {
    size_t left = sizeof at->text - at->used;
    int more = key ? snprintf(at->text + at->used, left, "%s%s", at->used ? "." : "", SHOWN(key))
                   : snprintf(at->text + at->used, left, "[%" PRId64 "]", index);
    at->used = more < 0 || (size_t)more >= left ? sizeof at->text - 1 : at->used + (size_t)more;
}

/* Writes the path from `from` to the container `target`: containers occur once in a document, so
 * their address tells them apart. */
static bool find_container(const json_t *from, const json_t *target, path *at) {
    if (from == target)
        return true;
    size_t used = at->used;
    const char *key;
    json_t *child;
    size_t index;
    json_object_foreach((json_t *)from, key, child) {
        path_add(at, key, 0);
        if (find_container(child, target, at))
            return true;
        at->text[at->used = used] = 0;
    }
    json_array_foreach(from, index, child) {
        path_add(at, NULL, (int64_t)index);
        if (find_container(child, target, at))
            return true;
        at->text[at->used = used] = 0;
    }
    return false;
}

static path path_of(szgi_json_value value) {
    path at = {.used = 0};
    if (value.parent) {
        find_container(value.document->root, value.parent, &at);
        path_add(&at, value.key, value.index);
    }
    return at;
}

const char *szgi_json_path(szgi_json_value value, char *text, size_t size) {
    path at = path_of(value);
    snprintf(text, size, "%s", at.text);
    return text;
}

const char *szgi_json_nearest(const szgi_json *json, int64_t index, char *text, size_t size) {
    const json_watch *watch = &json->watch[index];
    const szgi_json_value value = {
        .document = json, .parent = watch->near_parent, .key = watch->near_key};
    return watch->nearest.word ? szgi_json_path(value, text, size) : NULL;
}

szg_status szgi_json_fail(szg_context *context, szgi_json_value value, const char *format, ...) {
    path at = path_of(value);
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    szgi_vprint(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    const char *name = value.document ? value.document->name : "";
    return szgi_fail(context, SZG_EDATA, "%s%s%s%s%s", name, *name ? ": " : "", at.text,
                     at.used ? ": " : "", sentence);
}

static const char *kind_words(szgi_json_kind kind) {
    static const char *const words[] = {
        [SZGI_JSON_ABSENT] = "missing",        [SZGI_JSON_NULL] = "null",
        [SZGI_JSON_BOOLEAN] = "true or false", [SZGI_JSON_INTEGER] = "an integer",
        [SZGI_JSON_REAL] = "a real number",    [SZGI_JSON_TEXT] = "a text",
        [SZGI_JSON_ARRAY] = "an array",        [SZGI_JSON_OBJECT] = "an object",
    };
    return words[kind];
}

static szg_status fail_kind(szg_context *context, szgi_json_value value, szgi_json_kind wanted) {
    szgi_json_value parent = {.document = value.document, .node = value.parent};
    szgi_json_kind kind = szgi_json_kind_of(value);
    if (kind == SZGI_JSON_ABSENT && value.parent &&
        szgi_json_kind_of(parent) != (value.key ? SZGI_JSON_OBJECT : SZGI_JSON_ARRAY))
        return szgi_json_fail(context, value, "is missing: its parent is %s",
                              kind_words(szgi_json_kind_of(parent)));
    if (kind == SZGI_JSON_ABSENT)
        return szgi_json_fail(context, value, "is missing: %s is needed", kind_words(wanted));
    return szgi_json_fail(context, value, "is %s, not %s", kind_words(kind), kind_words(wanted));
}

static szg_status want(szg_context *context, szgi_json_value value, szgi_json_kind wanted) {
    return szgi_json_kind_of(value) == wanted ? SZG_OK : fail_kind(context, value, wanted);
}

szg_status szgi_json_as_text(szg_context *context, szgi_json_value value, const char **out) {
    SZG_TRY(want(context, value, SZGI_JSON_TEXT));
    *out = json_string_value(value.node);
    return SZG_OK;
}

szg_status szgi_json_as_integer(szg_context *context, szgi_json_value value, int64_t *out) {
    SZG_TRY(want(context, value, SZGI_JSON_INTEGER));
    *out = json_integer_value(value.node);
    return SZG_OK;
}

szg_status szgi_json_as_real(szg_context *context, szgi_json_value value, double *out) {
    if (szgi_json_kind_of(value) != SZGI_JSON_INTEGER)
        SZG_TRY(want(context, value, SZGI_JSON_REAL));
    *out = json_number_value(value.node);
    return SZG_OK;
}

szg_status szgi_json_as_boolean(szg_context *context, szgi_json_value value, bool *out) {
    SZG_TRY(want(context, value, SZGI_JSON_BOOLEAN));
    *out = json_is_true((const json_t *)value.node);
    return SZG_OK;
}

szg_status szgi_json_as_hex(szg_context *context, szgi_json_value value, double *out) {
    if (szgi_json_kind_of(value) != SZGI_JSON_TEXT)
        return szgi_json_as_real(context, value, out);
    const char *text = json_string_value(value.node);
    if (!szgi_real_parse(text, out))
        return szgi_json_fail(context, value, "\"%s\" is not a number", SHOWN(text));
    return SZG_OK;
}

szg_status szgi_json_as_array(szg_context *context, szgi_json_value value) {
    return want(context, value, SZGI_JSON_ARRAY);
}

szg_status szgi_json_as_object(szg_context *context, szgi_json_value value) {
    return want(context, value, SZGI_JSON_OBJECT);
}

#include <math.h>

#include "formats/csv.h"
#include "base/memory.h"
#include "base/text.h"
#include "json_private.h"

szg_status szgi_json_open_object(szg_context *context, szgi_json **out) {
    return szgi_json_wrap(context, "", json_object(), out);
}

szg_status szgi_json_open_object_named(szg_context *context, const char *name, szgi_json **out) {
    return szgi_json_wrap(context, name, json_object(), out);
}

szg_status szgi_json_open_array(szg_context *context, szgi_json **out) {
    return szgi_json_wrap(context, "", json_array(), out);
}

szg_status szgi_json_copy(szg_context *context, szgi_json_value value, szgi_json **out) {
    *out = NULL;
    if (!value.node)
        return szgi_json_fail(context, value, "is missing");
    json_t *copy = json_deep_copy(value.node);
    if (!copy)
        return szgi_fail(context, SZG_ENOMEM, "out of memory for JSON");
    return szgi_json_wrap(context, value.document->name, copy, out);
}

/* Adds `value`, which it takes over, under a key that may need repair. */
static szg_status add_node(szg_context *context, szgi_json *json, const char *key, json_t *value) {
    if (!value)
        return szgi_fail(context, SZG_ENOMEM, "out of memory for JSON");
    if (key ? !json_is_object(json->root) : !json_is_array(json->root)) {
        json_decref(value);
        return szgi_fail(context, SZG_EINVAL, "JSON: %s cannot be added to an %s",
                         key ? SHOWN(key) : "an element", key ? "array" : "object");
    }
    if (!key)
        return json_array_append_new(json->root, value) == 0
                   ? SZG_OK
                   : szgi_fail(context, SZG_ENOMEM, "out of memory for JSON");
    char *repaired;
    szg_status status = szgi_utf8_copy(context, key, &repaired);
    if (status != SZG_OK) {
        json_decref(value);
        return status;
    }
    if (json_object_set_new(json->root, repaired, value) != 0)
        status = szgi_fail(context, SZG_ENOMEM, "out of memory for JSON");
    szgi_memory_free(repaired);
    return status;
}

szg_status szgi_json_add_text(szg_context *context, szgi_json *json, const char *key,
                              const char *value) {
    char *repaired;
    SZG_TRY(szgi_utf8_copy(context, value, &repaired));
    json_t *node = json_string(repaired);
    szgi_memory_free(repaired);
    return add_node(context, json, key, node);
}

szg_status szgi_json_add_integer(szg_context *context, szgi_json *json, const char *key,
                                 int64_t value) {
    return add_node(context, json, key, json_integer(value));
}

szg_status szgi_json_add_real(szg_context *context, szgi_json *json, const char *key,
                              double value) {
    return add_node(context, json, key, isfinite(value) ? json_real(value) : json_null());
}

szg_status szgi_json_add_hex(szg_context *context, szgi_json *json, const char *key, double value) {
    return add_node(context, json, key,
                    json_string(szgi_hex_text(value, (char[SZGI_REAL_TEXT]){0})));
}

szg_status szgi_json_add_boolean(szg_context *context, szgi_json *json, const char *key,
                                 bool value) {
    return add_node(context, json, key, json_boolean(value));
}

szg_status szgi_json_add(szg_context *context, szgi_json *json, const char *key,
                         szgi_json **child) {
    szg_status status = add_node(context, json, key, json_incref((*child)->root));
    szgi_json_close(child);
    return status;
}

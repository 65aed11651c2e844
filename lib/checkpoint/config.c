#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "checkpoint_private.h"

static szg_status same_number(szg_context *context, szgi_json_value first, szgi_json_value second) {
    double a, b;
    SZG_TRY(szgi_json_as_real(context, first, &a));
    SZG_TRY(szgi_json_as_real(context, second, &b));
    if (a != b)
        return szgi_json_fail(context, second,
                              "is %.17g, but '%s' is %.17g: they are two names of one value", b,
                              first.key, a);
    return SZG_OK;
}

szg_status szgi_config_find(szg_context *context, szgi_json_value object,
                            const char *const *aliases, szgi_json_value *out) {
    *out = szgi_json_member(object, aliases[0]);
    bool found = false;
    for (const char *const *alias = aliases; *alias; alias++) {
        if (!szgi_json_has(object, *alias))
            continue;
        szgi_json_value value = szgi_json_member(object, *alias);
        if (found)
            SZG_TRY(same_number(context, *out, value));
        else
            *out = value;
        found = true;
    }
    return SZG_OK;
}

szgi_json_value szgi_config_at(szgi_json_value object, const char *path) {
    char key[64];
    for (const char *rest = path; rest; rest = strchr(rest, '.')) {
        rest += *rest == '.';
        snprintf(key, sizeof key, "%.*s", (int)strcspn(rest, "."), rest);
        object = szgi_json_member(object, key);
    }
    return object;
}

szg_status szgi_config_require(szg_context *context, szgi_json_value value) {
    char path[256];
    if (szgi_json_kind_of(value) > SZGI_JSON_NULL)
        return SZG_OK;
    szgi_json_path(value, path, sizeof path);
    return szgi_json_fail(context, value,
                          "is missing, and nothing is assumed: --set %s=VALUE gives it", path);
}

szg_status szgi_config_integer(szg_context *context, szgi_json_value object,
                               const char *const *aliases, int64_t least, int64_t *out) {
    szgi_json_value value;
    SZG_TRY(szgi_config_find(context, object, aliases, &value));
    SZG_TRY(szgi_config_require(context, value));
    SZG_TRY(szgi_json_as_integer(context, value, out));
    if (*out < least)
        return szgi_json_fail(context, value, "is %" PRId64 ", and must be at least %" PRId64, *out,
                              least);
    return SZG_OK;
}

szg_status szgi_config_flag(szg_context *context, szgi_json_value object, const char *key,
                            bool otherwise, bool *out) {
    *out = otherwise;
    if (!szgi_json_has(object, key))
        return SZG_OK;
    return szgi_json_as_boolean(context, szgi_json_member(object, key), out);
}

int64_t szgi_config_number_or(const szg_checkpoint *checkpoint, const char *key,
                              int64_t otherwise) {
    szgi_json_value value = szgi_json_member(checkpoint->settings, key);
    int64_t number;
    return szgi_json_kind_of(value) > SZGI_JSON_NULL &&
                   szgi_json_as_integer(NULL, value, &number) == SZG_OK
               ? number
               : otherwise;
}

bool szgi_config_flag_or(const szg_checkpoint *checkpoint, const char *key, bool otherwise) {
    bool flag = otherwise;
    return szgi_config_flag(NULL, checkpoint->settings, key, otherwise, &flag) == SZG_OK && flag;
}

szg_status szgi_config_positive(szg_context *context, szgi_json_value value, double *out) {
    SZG_TRY(szgi_config_require(context, value));
    SZG_TRY(szgi_json_as_real(context, value, out));
    if (!(*out > 0) || !isfinite(*out))
        return szgi_json_fail(context, value, "is %.17g, and must be positive and finite", *out);
    return SZG_OK;
}

/* Kimi Linear as it was published numbers the layers with attention, from 1 on. */
static szg_status numbered_type(szg_context *context, szgi_json_value numbers, int64_t layer,
                                const char **out) {
    *out = "linear_attention";
    SZG_TRY(szgi_json_as_array(context, numbers));
    for (int64_t i = 0; i < szgi_json_count(numbers); i++) {
        int64_t number;
        SZG_TRY(szgi_json_as_integer(context, szgi_json_element(numbers, i), &number));
        if (number == layer + 1)
            *out = "full_attention";
    }
    return SZG_OK;
}

szg_status szgi_config_layer_type(szg_context *context, const szg_checkpoint *checkpoint,
                                  int64_t layer, const char **out) {
    szgi_json_value types = szgi_json_member(checkpoint->settings, "layer_types");
    szgi_json_value linear = szgi_json_member(checkpoint->settings, "linear_attn_config");
    if (szgi_json_kind_of(linear) == SZGI_JSON_OBJECT && szgi_json_has(linear, "full_attn_layers"))
        return numbered_type(context, szgi_json_member(linear, "full_attn_layers"), layer, out);
    SZG_TRY(szgi_config_require(context, types));
    SZG_TRY(szgi_json_as_array(context, types));
    if (szgi_json_count(types) != checkpoint->layers)
        return szgi_json_fail(context, types, "has %" PRId64 " entries for %" PRId64 " layers",
                              szgi_json_count(types), checkpoint->layers);
    return szgi_json_as_text(context, szgi_json_element(types, layer), out);
}

/* Puts *value, which is taken over, under the path of keys with points between. */
static szg_status change_at(szg_context *context, szgi_json *object, const char *path, int depth,
                            szgi_json **value) {
    enum { DEPTH = 8 };
    const char *point = strchr(path, '.');
    if (!point)
        return szgi_json_add(context, object, path, value);
    char key[256];
    if (depth == DEPTH || point - path >= (int64_t)sizeof key)
        return szgi_fail(context, SZG_EINVAL, "--set: a path of %d keys at most is needed", DEPTH);
    snprintf(key, sizeof key, "%.*s", (int)(point - path), path);
    szgi_json_value member = szgi_json_member(szgi_json_root(object), key);
    szgi_json *inner;
    if (szgi_json_kind_of(member) == SZGI_JSON_OBJECT)
        SZG_TRY(szgi_json_copy(context, member, &inner));
    else
        SZG_TRY(szgi_json_open_object(context, &inner));
    szg_status status = change_at(context, inner, point + 1, depth + 1, value);
    if (status == SZG_OK)
        return szgi_json_add(context, object, key, &inner);
    szgi_json_close(&inner);
    return status;
}

/* VALUE as JSON, or else as a text. */
static szg_status change_value(szg_context *context, const char *text, szgi_json **out) {
    szg_status status = szgi_json_parse(NULL, "--set", text, (int64_t)strlen(text), out);
    if (status != SZG_EDATA)
        return status == SZG_OK ? SZG_OK : szgi_fail(context, status, "out of memory for --set");
    szgi_json *list; /* a text alone is no document that can be built */
    SZG_TRY(szgi_json_open_array(context, &list));
    status = szgi_json_add_text(context, list, NULL, text);
    if (status == SZG_OK)
        status = szgi_json_copy(context, szgi_json_element(szgi_json_root(list), 0), out);
    szgi_json_close(&list);
    return status;
}

szg_status szgi_config_change(szg_context *context, szgi_json **config, const char *const *set,
                              int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const char *equals = strchr(set[i], '=');
        if (!equals || equals == set[i])
            return szgi_fail(context, SZG_EINVAL,
                             "--set %s: KEY=VALUE is needed, as in --set rope_theta=10000", set[i]);
        szgi_json *value = NULL;
        char *path;
        SZG_TRY(szgi_memory_copy_text(context, set[i], &path));
        path[equals - set[i]] = 0;
        szg_status status = change_value(context, equals + 1, &value);
        if (status == SZG_OK)
            status = change_at(context, *config, path, 0, &value);
        szgi_json_close(&value);
        szgi_memory_free(path);
        SZG_TRY(status);
    }
    return SZG_OK;
}

/* The member at the path of keys that `set` begins with; `keys` is room for them. */
static szgi_json_value changed_at(const szgi_json *config, const char *set, char *keys) {
    szgi_json_value value = szgi_json_root(config);
    char *rest = keys;
    size_t length = strcspn(set, "=");
    memcpy(keys, set, length);
    keys[length] = 0;
    while (rest)
        value = szgi_json_member(value, strsep(&rest, "."));
    return value;
}

szg_status szgi_config_watch(szg_context *context, szgi_json *config, const char *const *set,
                             int64_t count) {
    szg_status status = SZG_OK;
    char **keys; /* values borrow them until all are watched: looking one up reads it */
    szgi_json_value *value;
    SZG_TRY(szgi_memory_alloc(context, count, &keys));
    status = szgi_memory_alloc(context, count, &value);
    for (int64_t i = 0; i < count && status == SZG_OK; i++) {
        status = szgi_memory_copy_text(context, set[i], &keys[i]);
        if (status != SZG_OK)
            break;
        value[i] = changed_at(config, set[i], keys[i]);
        if (!value[i].node)
            status = szgi_fail(context, SZG_EINVAL, "--set %s: a later --set takes it away",
                               SHOWN(set[i]));
    }
    for (int64_t i = 0; i < count && status == SZG_OK; i++)
        status = szgi_json_watch(context, config, value[i]);
    for (int64_t i = 0; i < count; i++)
        szgi_memory_free(keys[i]);
    szgi_memory_free(keys);
    szgi_memory_free(value);
    return status;
}

/* A change that has no effect. */
static szg_status report_unread(szg_context *context, const szg_checkpoint *checkpoint,
                                const char *set, int64_t index) {
    char path[160], room[256], model[128] = "";
    snprintf(path, sizeof path, "%.*s", (int)strcspn(set, "="), set);
    if (checkpoint->model_type)
        snprintf(model, sizeof model, " (model_type '%s')", SHOWN(checkpoint->model_type));
    if (checkpoint->stacks && checkpoint->family && checkpoint->family->stack) {
        szgi_say(context, SZG_WARNING, "%s: --set %s: this stack does not read it",
                 checkpoint->source, SHOWN(path));
        return SZG_OK;
    }
    const char *nearest = szgi_json_nearest(checkpoint->config, index, room, sizeof room);
    return szgi_fail(
        context, SZG_EINVAL, "%s: --set %s: nothing reads this key in this model%s: %s%s%s",
        checkpoint->source, SHOWN(path), model, nearest ? "did you mean " : "leave it out",
        nearest ? nearest : "", nearest ? "?" : "");
}

szg_status szgi_config_check(szg_context *context, const szg_checkpoint *checkpoint,
                             const char *const *set, int64_t count) {
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < count && status == SZG_OK; i++)
        if (!szgi_json_was_read(checkpoint->config, i))
            status = report_unread(context, checkpoint, set[i], i);
    szgi_json_unwatch(checkpoint->config);
    return status;
}

szg_status szgi_text_append(szg_context *context, char **text, const char *format, ...) {
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    szgi_vprint(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    size_t before = *text ? strlen(*text) : 0;
    size_t size = before + 2 + strlen(sentence) + 1;
    char *whole;
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, &whole));
    snprintf(whole, size, "%s%s%s", before ? *text : "", before ? "; " : "", sentence);
    szgi_memory_free(*text);
    *text = whole;
    return SZG_OK;
}

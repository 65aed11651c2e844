/* Configurations as JSON, in and out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/csv.h"

#include "config_private.h"

enum { KEY_TEXT = 160, MESSAGE_TEXT = 2048 };

/* Where values come from, besides the profile. */
typedef struct sources {
    const szgi_json *json; /* NULL: none */
    const char *name;      /* of the document */
    const char *const *overrides;
    int64_t count;
} sources;

/* They are settled before the others are set. */
static bool comes_first(const char *key) {
    return strcmp(key, "profile") == 0 || strcmp(key, "model.encoding") == 0 ||
           strcmp(key, "data.task") == 0;
}

/* The JSON value as the text of a key of that type. */
static szg_status value_text(szg_context *context, const config_row *row, szgi_json_value value,
                             char number[SZGI_REAL_TEXT], const char **out) {
    int64_t integer;
    double real;
    bool yes;
    *out = number;
    switch (row->key.type) {
    case SZGI_CONFIG_INTEGER:
        SZG_TRY(szgi_json_as_integer(context, value, &integer));
        snprintf(number, SZGI_REAL_TEXT, "%" PRId64, integer);
        return SZG_OK;
    case SZGI_CONFIG_REAL:
        SZG_TRY(szgi_json_as_real(context, value, &real));
        szgi_real_text(real, number);
        return SZG_OK;
    case SZGI_CONFIG_BOOLEAN:
        SZG_TRY(szgi_json_as_boolean(context, value, &yes));
        *out = yes ? "true" : "false";
        return SZG_OK;
    default:
        return szgi_json_as_text(context, value, out);
    }
}

static szg_status take_member(szg_context *context, const char *key, szgi_json_value value,
                              bool settled, szg_train_config *config) {
    char sentence[CONFIG_SENTENCE], number[SZGI_REAL_TEXT];
    const char *text;
    const config_row *row = szgi_config_row_find(key);
    if (!row) {
        szgi_config_unknown(key, sentence);
        return szgi_json_fail(context, value, "%s", sentence);
    }
    SZG_TRY(value_text(context, row, value, number, &text));
    if (settled && comes_first(key))
        return SZG_OK;
    return szgi_config_set(row, text, config, sentence)
               ? SZG_OK
               : szgi_json_fail(context, value, "%s", sentence);
}

static szg_status take_section(szg_context *context, szgi_json_value section, bool settled,
                               szg_train_config *config) {
    char key[KEY_TEXT];
    SZG_TRY(szgi_json_as_object(context, section));
    for (szgi_json_value member = {0}; szgi_json_next(section, &member);) {
        snprintf(key, sizeof key, "%s.%s", section.key, member.key);
        SZG_TRY(take_member(context, key, member, settled, config));
    }
    return SZG_OK;
}

static szg_status take_document(szg_context *context, szgi_json_value root, bool settled,
                                szg_train_config *config) {
    SZG_TRY(szgi_json_as_object(context, root));
    for (szgi_json_value member = {0}; szgi_json_next(root, &member);)
        SZG_TRY(szgi_config_is_section(member.key)
                    ? take_section(context, member, settled, config)
                    : take_member(context, member.key, member, settled, config));
    return SZG_OK;
}

static szg_status take_override(szg_context *context, const char *text, bool settled,
                                szg_train_config *config) {
    char key[KEY_TEXT], sentence[CONFIG_SENTENCE];
    size_t length = strcspn(text, "=");
    snprintf(key, sizeof key, "%.*s", (int)(length < KEY_TEXT ? length : KEY_TEXT), text);
    const config_row *row = szgi_config_row_find(key);
    if (!text[length])
        return szgi_fail(context, SZG_EINVAL, "\"%.80s\" is not key=value, such as model.width=64",
                         text);
    if (!row) {
        szgi_config_unknown(key, sentence);
        return szgi_fail(context, SZG_EINVAL, "%.80s %s", key, sentence);
    }
    if ((settled && comes_first(key)) || szgi_config_set(row, text + length + 1, config, sentence))
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL, "%.120s: %s", text, sentence);
}

static szg_status take(szg_context *context, const sources *from, bool settled,
                       szg_train_config *config) {
    if (from->json)
        SZG_TRY(take_document(context, szgi_json_root(from->json), settled, config));
    for (int64_t i = 0; i < from->count; i++)
        SZG_TRY(take_override(context, from->overrides[i], settled, config));
    return SZG_OK;
}

static szg_status settle(szg_context *context, const sources *from, szg_train_config *out);

/* Values of a document that do not go together make it malformed, unless it takes the overrides to
 * say so: then the document alone is sound, or wrong in another way. */
static szg_status blame(szg_context *context, const sources *from, szg_status status) {
    if (status != SZG_EINVAL || !from->json)
        return status;
    if (from->count == 0)
        return szgi_fail_prefix(context, SZG_EDATA, "%s", from->name);
    char message[MESSAGE_TEXT], prefixed[2 * MESSAGE_TEXT];
    snprintf(message, sizeof message, "%s", szg_context_message(context));
    snprintf(prefixed, sizeof prefixed, "%s: %s", from->name, message);
    szg_train_config alone;
    const sources document = {.json = from->json, .name = from->name};
    status = settle(context, &document, &alone);
    if (status == SZG_ENOMEM ||
        (status == SZG_EDATA && strcmp(szg_context_message(context), prefixed) == 0))
        return status;
    return szgi_fail(context, SZG_EINVAL, "%s (an override, on top of %.200s)", message,
                     from->name);
}

static szg_status settle(szg_context *context, const sources *from, szg_train_config *out) {
    szg_train_config first;
    SZG_TRY(szgi_train_config_profile(context, SZG_PROFILE_TEXT, "rope", &first));
    SZG_TRY(take(context, from, false, &first));
    SZG_TRY(blame(
        context, from,
        szgi_config_profile(context, first.profile, first.model.encoding, first.data.task, out)));
    SZG_TRY(take(context, from, true, out));
    return blame(context, from, szg_train_config_check(context, out));
}

szg_status szg_train_config_read(szg_context *context, const char *path,
                                 const char *const *overrides, int64_t count,
                                 szg_train_config *out) {
    SZGI_ENTER(context);
    szgi_json *json = NULL;
    if (path)
        SZG_TRY(szgi_json_read(context, path, &json));
    sources from = {.json = json, .name = path, .overrides = overrides, .count = count};
    szg_status status = settle(context, &from, out);
    szgi_json_close(&json);
    return status;
}

szg_status szgi_train_config_parse(szg_context *context, const char *name, const char *text,
                                   szg_train_config *out) {
    szgi_json *json;
    SZG_TRY(szgi_json_parse(context, name, text, (int64_t)strlen(text), &json));
    szg_status status = settle(context, &(sources){.json = json, .name = name}, out);
    szgi_json_close(&json);
    return status;
}

static szg_status add_value(szg_context *context, const config_row *row, const char *key,
                            const szg_train_config *config, szgi_json *json) {
    char text[SZG_CONFIG_TEXT];
    const void *field = config_field(row, config);
    switch (row->key.type) {
    case SZGI_CONFIG_INTEGER:
        return szgi_json_add_integer(context, json, key, *(const int64_t *)field);
    case SZGI_CONFIG_REAL:
        return szgi_json_add_real(context, json, key, *(const double *)field);
    case SZGI_CONFIG_BOOLEAN:
        return szgi_json_add_boolean(context, json, key, *(const bool *)field);
    default:
        return szgi_json_add_text(context, json, key, szgi_config_text(row, config, text));
    }
}

/* Adds the section that row *at begins with, and moves on to the row after it. */
static szg_status add_section(szg_context *context, const szg_train_config *config, int64_t *at,
                              szgi_json *json) {
    char name[KEY_TEXT];
    const config_row *row = szgi_config_row_at(*at);
    size_t length = strcspn(row->key.name, ".");
    snprintf(name, sizeof name, "%.*s", (int)length, row->key.name);
    szgi_json *section;
    SZG_TRY(szgi_json_open_object(context, &section));
    szg_status status = SZG_OK;
    for (; status == SZG_OK && (row = szgi_config_row_at(*at)) &&
           strncmp(row->key.name, name, length) == 0 && row->key.name[length] == '.';
         ++*at)
        status = add_value(context, row, row->key.name + length + 1, config, section);
    if (status == SZG_OK)
        return szgi_json_add(context, json, name, &section);
    szgi_json_close(&section);
    return status;
}

szg_status szgi_train_config_json(szg_context *context, const szg_train_config *config,
                                  szgi_json **out) {
    szgi_json *json;
    *out = NULL;
    SZG_TRY(szgi_json_open_object(context, &json));
    szg_status status = SZG_OK;
    const config_row *row;
    for (int64_t i = 0; status == SZG_OK && (row = szgi_config_row_at(i));) {
        if (strchr(row->key.name, '.'))
            status = add_section(context, config, &i, json);
        else {
            status = add_value(context, row, row->key.name, config, json);
            i++;
        }
    }
    if (status != SZG_OK)
        szgi_json_close(&json);
    *out = json;
    return status;
}

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "encoding/spec.h"

struct szgi_spec {
    const szgi_spec_class *class;
    int64_t index;
    char *canonical;
    szgi_key_kept *kept; /* one a key of the class */
};

enum { KNOWN_LENGTH = 1024 };

/* "a, b, c" of the names; a list that does not fit ends in "...". */
typedef struct name_list {
    char text[KNOWN_LENGTH];
    size_t used;
} name_list;

static void add_name(name_list *names, const char *name) {
    size_t room = sizeof names->text - names->used;
    int length = snprintf(names->text + names->used, room, "%s%s", names->used ? ", " : "", name);
    if (length > 0 && (size_t)length < room)
        names->used += (size_t)length;
}

static bool same_word(const char *word, const char *text, size_t length) {
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

static int64_t find_key(const szgi_spec_class *class, const char *key, size_t length) {
    for (int64_t i = 0; i < class->keys; i++)
        if (same_word(class->key[i].name, key, length))
            return i;
    return -1;
}

enum { OTHER_WORD = 128 };

/* What a value of a key or another program's name for a key is here: "scaling=yarn" for yarn, dim
 * for head_dim. False: `out` is empty, as the class knows no such word. */
static bool other_word(const szgi_spec_class *class, const char *text, size_t length,
                       char out[OTHER_WORD]) {
    static const char *const names[][2] = {
        {"rope_theta", "base"}, {"head_dim", "dim"},    {"d_head", "dim"},
        {"n_heads", "heads"},   {"num_heads", "heads"}, {"num_attention_heads", "heads"}};
    out[0] = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (same_word(names[i][0], text, length) &&
            find_key(class, names[i][1], strlen(names[i][1])) >= 0)
            return snprintf(out, OTHER_WORD, "%s", names[i][1]) > 0;
    for (int64_t i = 0; i < class->keys && length > 3; i++)
        for (const char *word = class->key[i].choices; word && *word;) {
            size_t size = strcspn(word, "|");
            if (size == length && memcmp(word, text, length) == 0)
                return snprintf(out, OTHER_WORD, "%s=%.*s", class->key[i].name, (int)size, word) >
                       0;
            word += size + (word[size] != 0);
        }
    return false;
}

static szg_status unknown_name(szg_context *context, const char *what,
                               const szgi_spec_class *const *classes, int64_t count,
                               const char *text, size_t length) {
    name_list known = {0};
    szgi_suggestion near = szgi_suggest_begin(text, length);
    for (int64_t i = 0; i < count; i++) {
        char other[OTHER_WORD];
        if (other_word(classes[i], text, length, other))
            return szgi_fail(context, SZG_EINVAL, "%s \"%.*s\" is unknown: did you mean %s:%s?",
                             what, (int)length, text, classes[i]->name, other);
        add_name(&known, classes[i]->name);
        szgi_suggest(&near, classes[i]->name, strlen(classes[i]->name));
    }
    return szgi_fail(context, SZG_EINVAL, "%s \"%.*s\" is unknown: %s %s", what,
                     length > 64 ? 64 : (int)length, text,
                     SZGI_DID_YOU_MEAN(&near, "the known ones are"), known.text);
}

static szg_status unknown_key(szg_context *context, const szgi_spec_class *class, const char *key,
                              size_t length) {
    name_list known = {0};
    char other[OTHER_WORD];
    szgi_suggestion near = szgi_suggest_begin(key, length);
    for (int64_t i = 0; i < class->keys; i++) {
        add_name(&known, class->key[i].name);
        szgi_suggest(&near, class->key[i].name, strlen(class->key[i].name));
    }
    if (class->keys == 0)
        return szgi_fail(context, SZG_EINVAL, "%s: key \"%.*s\" is unknown: %s has no keys",
                         class->name, length > 64 ? 64 : (int)length, key, class->name);
    if (other_word(class, key, length, other))
        return szgi_fail(context, SZG_EINVAL, "%s: key \"%.*s\" is unknown: did you mean %s?",
                         class->name, (int)length, key, other);
    return szgi_fail(context, SZG_EINVAL, "%s: key \"%.*s\" is unknown: %s %s", class->name,
                     length > 64 ? 64 : (int)length, key,
                     SZGI_DID_YOU_MEAN(&near, "the known ones are"), known.text);
}

static int64_t find_class(const szgi_spec_class *const *classes, int64_t count, const char *name,
                          size_t length) {
    for (int64_t i = 0; i < count; i++)
        if (same_word(classes[i]->name, name, length))
            return i;
    return -1;
}

static const szgi_key_kept *kept_of(const szgi_spec *spec, const char *key) {
    return &spec->kept[find_key(spec->class, key, strlen(key))];
}

/* ---- Values ---- */

/* The place of a key that has not been given yet. */
static szg_status place_of(szg_context *context, const szgi_spec *spec, const char *key,
                           size_t length, int64_t *out) {
    const szgi_spec_class *class = spec->class;
    *out = find_key(class, key, length);
    if (*out < 0)
        return unknown_key(context, class, key, length);
    if (spec->kept[*out].given)
        return szgi_fail(context, SZG_EINVAL, "%s: key %s is given twice", class->name,
                         class->key[*out].name);
    szgi_key_close(&spec->kept[*out]); /* a default */
    return SZG_OK;
}

/* A second key within a value, "64 base=500" or "64:base=500", lacks its comma. A path may hold
 * anything. */
static szg_status check_comma(szg_context *context, const szgi_spec_class *class,
                              const szgi_key *key, const char *value, size_t length) {
    const char *equals = memchr(value, '=', length);
    if (!equals || key->type == SZGI_KEY_TEXT)
        return SZG_OK;
    const char *name = equals;
    while (name > value && (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z')))
        name--;
    if (name == value || find_key(class, name, (size_t)(equals - name)) < 0)
        return SZG_OK;
    size_t first = (size_t)(name - value);
    while (first > 0 && strchr(" \t:;/&", value[first - 1]))
        first--;
    return szgi_fail(context, SZG_EINVAL, "%s: %s=%.*s: a comma separates keys: write %s=%.*s,%.*s",
                     class->name, key->name, length > 64 ? 64 : (int)length, value, key->name,
                     (int)first, value, (int)(value + length - name), name);
}

/* Takes "key=value" of the given length. */
static szg_status take_pair(szg_context *context, szgi_spec *spec, const char *pair,
                            size_t length) {
    const szgi_spec_class *class = spec->class;
    const char *equals = memchr(pair, '=', length);
    if (!equals)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: \"%.*s\" is not key=value: commas separate keys, + the members of a "
                         "list",
                         class->name, length > 64 ? 64 : (int)length, pair);
    size_t name = (size_t)(equals - pair);
    int64_t place;
    SZG_TRY(place_of(context, spec, pair, name, &place));
    SZG_TRY(check_comma(context, class, &class->key[place], equals + 1, length - name - 1));
    SZG_TRY(szgi_key_read(context, class->name, &class->key[place], equals + 1, length - name - 1,
                          &spec->kept[place]));
    spec->kept[place].given = true;
    return SZG_OK;
}

static szg_status take_pairs(szg_context *context, szgi_spec *spec, const char *pairs) {
    for (const char *at = pairs;; at++) {
        size_t length = strcspn(at, ",");
        SZG_TRY(take_pair(context, spec, at, length));
        at += length;
        if (!*at)
            return SZG_OK;
    }
}

static szg_status take_values(szg_context *context, szgi_spec *spec, const szgi_key_value *values,
                              int64_t count) {
    const szgi_spec_class *class = spec->class;
    for (int64_t i = 0; i < count; i++) {
        int64_t place;
        SZG_TRY(place_of(context, spec, values[i].key, strlen(values[i].key), &place));
        SZG_TRY(szgi_key_take(context, class->name, &class->key[place], &values[i],
                              &spec->kept[place]));
        spec->kept[place].given = true;
    }
    return SZG_OK;
}

/* ---- What completes a SPEC ---- */

static szg_status fill_defaults(szg_context *context, szgi_spec *spec) {
    for (int64_t i = 0; i < spec->class->keys; i++) {
        const szgi_key *key = &spec->class->key[i];
        if (spec->kept[i].given)
            continue;
        if (key->required)
            return szgi_fail(context, SZG_EINVAL, "%s: key %s is missing: %s", spec->class->name,
                             key->name, key->doc);
        if (key->fallback)
            SZG_TRY(szgi_key_read(context, spec->class->name, key, key->fallback,
                                  strlen(key->fallback), &spec->kept[i]));
    }
    return SZG_OK;
}

static szg_status write_canonical(szg_context *context, szgi_spec *spec) {
    const szgi_spec_class *class = spec->class;
    size_t size = strlen(class->name) + 1;
    for (int64_t i = 0; i < class->keys; i++)
        if (spec->kept[i].given)
            size += strlen(class->key[i].name) + strlen(spec->kept[i].text) + 2;
    szgi_memory_free(spec->canonical);
    spec->canonical = NULL;
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, &spec->canonical));
    size_t used = (size_t)snprintf(spec->canonical, size, "%s", class->name);
    char separator = ':';
    for (int64_t i = 0; i < class->keys; i++) {
        if (!spec->kept[i].given)
            continue;
        used += (size_t)snprintf(spec->canonical + used, size - used, "%c%s=%s", separator,
                                 class->key[i].name, spec->kept[i].text);
        separator = ',';
    }
    return SZG_OK;
}

/* A SPEC of the class of that name, without a value. */
static szg_status open_class(szg_context *context, const char *what,
                             const szgi_spec_class *const *classes, int64_t count, const char *name,
                             size_t length, szgi_spec **out) {
    *out = NULL;
    int64_t index = find_class(classes, count, name, length);
    if (index < 0)
        return unknown_name(context, what, classes, count, name, length);
    szgi_spec *spec;
    SZG_TRY(szgi_memory_alloc(context, 1, &spec));
    spec->class = classes[index];
    spec->index = index;
    szg_status status = szgi_memory_alloc(context, spec->class->keys, &spec->kept);
    if (status != SZG_OK)
        szgi_spec_close(&spec);
    *out = spec;
    return status;
}

/* Completes the SPEC where `status`, that of taking its values, allows it; else closes it. */
static szg_status complete(szg_context *context, szg_status status, szgi_spec **spec) {
    if (status == SZG_OK)
        status = fill_defaults(context, *spec);
    if (status == SZG_OK)
        status = write_canonical(context, *spec);
    if (status != SZG_OK)
        szgi_spec_close(spec);
    return status;
}

szg_status szgi_spec_parse(szg_context *context, const char *what,
                           const szgi_spec_class *const *classes, int64_t count, const char *text,
                           szgi_spec **out) {
    size_t length = strcspn(text, ":");
    SZG_TRY(open_class(context, what, classes, count, text, length, out));
    return complete(context, text[length] ? take_pairs(context, *out, text + length + 1) : SZG_OK,
                    out);
}

szg_status szgi_spec_open(szg_context *context, const char *what,
                          const szgi_spec_class *const *classes, int64_t count, const char *name,
                          const szgi_key_value *values, int64_t value_count, szgi_spec **out) {
    SZG_TRY(open_class(context, what, classes, count, name, strlen(name), out));
    return complete(context, take_values(context, *out, values, value_count), out);
}

szg_status szgi_spec_add(szg_context *context, szgi_spec *spec, const szgi_key_value *values,
                         int64_t count) {
    SZG_TRY(take_values(context, spec, values, count));
    return write_canonical(context, spec);
}

void szgi_spec_close(szgi_spec **spec) {
    if (!spec || !*spec)
        return;
    for (int64_t i = 0; (*spec)->kept && i < (*spec)->class->keys; i++)
        szgi_key_close(&(*spec)->kept[i]);
    szgi_memory_free((*spec)->kept);
    szgi_memory_free((*spec)->canonical);
    szgi_memory_free(*spec);
    *spec = NULL;
}

/* ---- Reading ---- */

int64_t szgi_spec_class_index(const szgi_spec *spec) {
    return spec->index;
}

const char *szgi_spec_name(const szgi_spec *spec) {
    return spec->class->name;
}

const char *szgi_spec_canonical(const szgi_spec *spec) {
    return spec->canonical;
}

bool szgi_spec_given(const szgi_spec *spec, const char *key) {
    return kept_of(spec, key)->given;
}

int64_t szgi_spec_integer(const szgi_spec *spec, const char *key) {
    return kept_of(spec, key)->integer;
}

double szgi_spec_real(const szgi_spec *spec, const char *key) {
    return kept_of(spec, key)->real;
}

const char *szgi_spec_text(const szgi_spec *spec, const char *key) {
    return kept_of(spec, key)->text;
}

int64_t szgi_spec_choice(const szgi_spec *spec, const char *key) {
    const szgi_key_kept *kept = kept_of(spec, key);
    return kept->text ? kept->integer : -1;
}

const int64_t *szgi_spec_list(const szgi_spec *spec, const char *key, int64_t *count) {
    const szgi_key_kept *kept = kept_of(spec, key);
    *count = kept->count;
    return kept->list;
}

bool szgi_spec_names(const char *text, const char *name) {
    return same_word(name, text, strcspn(text, ":"));
}

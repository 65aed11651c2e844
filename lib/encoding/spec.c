#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "encoding/spec.h"
#include "base/text.h"

typedef struct spec_value {
    bool given;
    char *text; /* NULL: neither value nor default */
    int64_t integer;
    double real;
    int64_t *list;
    int64_t count;
} spec_value;

struct szgi_spec {
    const szgi_spec_class *class;
    int64_t index;
    char *canonical;
    spec_value *value; /* one a key of the class */
};

enum { KNOWN_LENGTH = 1024, NUMBER_LENGTH = 32 };

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

static szg_status unknown_name(szg_context *context, const char *what,
                               const szgi_spec_class *const *classes, int64_t count,
                               const char *text, size_t length) {
    name_list known = {0};
    for (int64_t i = 0; i < count; i++)
        add_name(&known, classes[i]->name);
    return szgi_fail(context, SZG_EINVAL, "%s \"%.*s\" is unknown: the known ones are %s", what,
                     length > 64 ? 64 : (int)length, text, known.text);
}

static szg_status unknown_key(szg_context *context, const szgi_spec_class *class, const char *key,
                              size_t length) {
    name_list known = {0};
    for (int64_t i = 0; i < class->keys; i++)
        add_name(&known, class->key[i].name);
    if (class->keys == 0)
        return szgi_fail(context, SZG_EINVAL, "%s: key \"%.*s\" is unknown: %s has no keys",
                         class->name, length > 64 ? 64 : (int)length, key, class->name);
    return szgi_fail(context, SZG_EINVAL, "%s: key \"%.*s\" is unknown: the known ones are %s",
                     class->name, length > 64 ? 64 : (int)length, key, known.text);
}

static bool same_word(const char *word, const char *text, size_t length) {
    return strlen(word) == length && memcmp(word, text, length) == 0;
}

static int64_t find_class(const szgi_spec_class *const *classes, int64_t count, const char *name,
                          size_t length) {
    for (int64_t i = 0; i < count; i++)
        if (same_word(classes[i]->name, name, length))
            return i;
    return -1;
}

static int64_t find_key(const szgi_spec_class *class, const char *key, size_t length) {
    for (int64_t i = 0; i < class->keys; i++)
        if (same_word(class->key[i].name, key, length))
            return i;
    return -1;
}

static const spec_value *value_of(const szgi_spec *spec, const char *key) {
    return &spec->value[find_key(spec->class, key, strlen(key))];
}

static szg_status bad_value(szg_context *context, const szgi_spec_class *class, const szgi_key *key,
                            const char *text, const char *wanted) {
    return szgi_fail(context, SZG_EINVAL, "%s: %s=%.80s is not %s", class->name, key->name, text,
                     wanted);
}

static szg_status out_of_range(szg_context *context, const szgi_spec_class *class,
                               const szgi_key *key, const char *text) {
    return szgi_fail(context, SZG_EINVAL, "%s: %s=%.80s is outside its range %.17g .. %.17g",
                     class->name, key->name, text, key->min, key->max);
}

/* strtod would skip spaces and take a plus sign. */
static bool starts_number(const char *text) {
    return (*text >= '0' && *text <= '9') || *text == '-' || *text == '.';
}

static szg_status parse_integer(szg_context *context, const szgi_spec_class *class,
                                const szgi_key *key, spec_value *value) {
    int64_t number;
    szgi_parsed parsed = szgi_integer_parse(value->text, &number);
    if (parsed == SZG_PARSED_NONE)
        return bad_value(context, class, key, value->text, "a whole number");
    if (parsed == SZG_PARSED_BEYOND || !((double)number >= key->min && (double)number <= key->max))
        return out_of_range(context, class, key, value->text);
    value->integer = number;
    return SZG_OK;
}

static szg_status parse_real(szg_context *context, const szgi_spec_class *class,
                             const szgi_key *key, spec_value *value) {
    char *end;
    double number = szgi_real_scan(value->text, &end);
    if (!starts_number(value->text) || *end || !isfinite(number))
        return bad_value(context, class, key, value->text, "a finite number");
    if (!(number >= key->min && number <= key->max))
        return out_of_range(context, class, key, value->text);
    value->real = number;
    return SZG_OK;
}

static szg_status parse_choice(szg_context *context, const szgi_spec_class *class,
                               const szgi_key *key, spec_value *value) {
    const char *word = key->choices;
    for (int64_t index = 0; word; index++) {
        size_t length = strcspn(word, "|");
        if (same_word(value->text, word, length)) {
            value->integer = index;
            return SZG_OK;
        }
        word = word[length] ? word + length + 1 : NULL;
    }
    return szgi_fail(context, SZG_EINVAL, "%s: %s=%.80s is unknown: one of %s", class->name,
                     key->name, value->text, key->choices);
}

static szg_status parse_list(szg_context *context, const szgi_spec_class *class,
                             const szgi_key *key, spec_value *value) {
    int64_t previous = -1;
    for (const char *at = value->text;; at++) {
        int64_t first, last;
        if (!szgi_span_scan(&at, &first, &last) || (*at && *at != '+') || last < first ||
            first <= previous)
            return bad_value(context, class, key, value->text,
                             "an ascending list such as 0-3 or 0+2+5");
        if (!((double)first >= key->min && (double)last <= key->max))
            return out_of_range(context, class, key, value->text);
        int64_t total = value->count + (last - first + 1);
        SZG_TRY(szgi_memory_grow(context, &value->list, value->count, total, sizeof *value->list));
        for (int64_t member = first; member <= last; member++)
            value->list[value->count++] = member;
        previous = last;
        if (!*at)
            return SZG_OK;
    }
}

static szg_status parse_value(szg_context *context, const szgi_spec_class *class,
                              const szgi_key *key, spec_value *value) {
    switch (key->type) {
    case SZG_KEY_INTEGER:
        return parse_integer(context, class, key, value);
    case SZG_KEY_REAL:
        return parse_real(context, class, key, value);
    case SZG_KEY_CHOICE:
        return parse_choice(context, class, key, value);
    case SZG_KEY_LIST:
        return parse_list(context, class, key, value);
    case SZG_KEY_TEXT:
        return SZG_OK;
    }
    return szgi_fail(context, SZG_EINTERNAL, "key %s has no type", key->name);
}

static szg_status copy_span(szg_context *context, const char *text, size_t length, char **out) {
    SZG_TRY(szgi_memory_alloc(context, (int64_t)length + 1, 1, out));
    memcpy(*out, text, length);
    return SZG_OK;
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
    int64_t index = find_key(class, pair, name);
    if (index < 0)
        return unknown_key(context, class, pair, name);
    spec_value *value = &spec->value[index];
    if (value->given)
        return szgi_fail(context, SZG_EINVAL, "%s: key %s is given twice", class->name,
                         class->key[index].name);
    if (length == name + 1)
        return szgi_fail(context, SZG_EINVAL, "%s: key %s has no value", class->name,
                         class->key[index].name);
    SZG_TRY(copy_span(context, equals + 1, length - name - 1, &value->text));
    value->given = true;
    return parse_value(context, class, &class->key[index], value);
}

static szg_status fill_defaults(szg_context *context, szgi_spec *spec) {
    for (int64_t i = 0; i < spec->class->keys; i++) {
        const szgi_key *key = &spec->class->key[i];
        spec_value *value = &spec->value[i];
        if (value->given)
            continue;
        if (key->required)
            return szgi_fail(context, SZG_EINVAL, "%s: key %s is missing: %s", spec->class->name,
                             key->name, key->doc);
        if (!key->fallback)
            continue;
        SZG_TRY(szgi_memory_copy_text(context, key->fallback, &value->text));
        SZG_TRY(parse_value(context, spec->class, key, value));
    }
    return SZG_OK;
}

/* The shortest decimal that reads back as `number`; whole numbers without an exponent. */
static void print_real(double number, char text[static NUMBER_LENGTH]) {
    if (fabs(number) < 1e15 && number == floor(number)) {
        szgi_print(text, NUMBER_LENGTH, "%.0f", number);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        szgi_print(text, NUMBER_LENGTH, "%.*g", digits, number);
        if (szgi_real_scan(text, NULL) == number)
            return;
    }
}

static const char *canonical_value(const szgi_key *key, const spec_value *value,
                                   char number[static NUMBER_LENGTH]) {
    if (key->type == SZG_KEY_INTEGER)
        snprintf(number, NUMBER_LENGTH, "%" PRId64, value->integer);
    else if (key->type == SZG_KEY_REAL)
        print_real(value->real, number);
    else
        return value->text;
    return number;
}

static szg_status write_canonical(szg_context *context, szgi_spec *spec) {
    const szgi_spec_class *class = spec->class;
    char number[NUMBER_LENGTH];
    size_t size = strlen(class->name) + 1;
    for (int64_t i = 0; i < class->keys; i++)
        if (spec->value[i].given)
            size += strlen(class->key[i].name) + 2 +
                    strlen(canonical_value(&class->key[i], &spec->value[i], number));
    SZG_TRY(szgi_memory_alloc(context, (int64_t)size, 1, &spec->canonical));
    size_t used = (size_t)snprintf(spec->canonical, size, "%s", class->name);
    char separator = ':';
    for (int64_t i = 0; i < class->keys; i++) {
        if (!spec->value[i].given)
            continue;
        used += (size_t)snprintf(spec->canonical + used, size - used, "%c%s=%s", separator,
                                 class->key[i].name,
                                 canonical_value(&class->key[i], &spec->value[i], number));
        separator = ',';
    }
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

szg_status szgi_spec_parse(szg_context *context, const char *what,
                           const szgi_spec_class *const *classes, int64_t count, const char *text,
                           szgi_spec **out) {
    *out = NULL;
    size_t length = strcspn(text, ":");
    int64_t index = find_class(classes, count, text, length);
    if (index < 0)
        return unknown_name(context, what, classes, count, text, length);
    szgi_spec *spec;
    SZG_TRY(szgi_memory_alloc(context, 1, sizeof *spec, &spec));
    spec->class = classes[index];
    spec->index = index;
    szg_status status;
    SZG_TRY_GOTO(status,
                 szgi_memory_alloc(context, spec->class->keys, sizeof *spec->value, &spec->value),
                 fail);
    if (text[length])
        SZG_TRY_GOTO(status, take_pairs(context, spec, text + length + 1), fail);
    SZG_TRY_GOTO(status, fill_defaults(context, spec), fail);
    SZG_TRY_GOTO(status, write_canonical(context, spec), fail);
    *out = spec;
    return SZG_OK;
fail:
    szgi_spec_close(&spec);
    return status;
}

void szgi_spec_close(szgi_spec **spec) {
    if (!spec || !*spec)
        return;
    for (int64_t i = 0; (*spec)->value && i < (*spec)->class->keys; i++) {
        szgi_memory_free((*spec)->value[i].text);
        szgi_memory_free((*spec)->value[i].list);
    }
    szgi_memory_free((*spec)->value);
    szgi_memory_free((*spec)->canonical);
    szgi_memory_free(*spec);
    *spec = NULL;
}

int64_t szgi_spec_class_index(const szgi_spec *spec) {
    return spec->index;
}

const char *szgi_spec_canonical(const szgi_spec *spec) {
    return spec->canonical;
}

bool szgi_spec_given(const szgi_spec *spec, const char *key) {
    return value_of(spec, key)->given;
}

int64_t szgi_spec_integer(const szgi_spec *spec, const char *key) {
    return value_of(spec, key)->integer;
}

double szgi_spec_real(const szgi_spec *spec, const char *key) {
    return value_of(spec, key)->real;
}

const char *szgi_spec_text(const szgi_spec *spec, const char *key) {
    return value_of(spec, key)->text;
}

int64_t szgi_spec_choice(const szgi_spec *spec, const char *key) {
    const spec_value *value = value_of(spec, key);
    return value->text ? value->integer : -1;
}

const int64_t *szgi_spec_list(const szgi_spec *spec, const char *key, int64_t *count) {
    const spec_value *value = value_of(spec, key);
    *count = value->count;
    return value->list;
}

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "encoding/key.h"

enum { NUMBER_LENGTH = 32 };

/* Where a value goes, and who speaks where it is refused. */
typedef struct key_place {
    szg_context *context;
    const char *owner;
    const szgi_key *key;
    szgi_key_kept *kept;
} key_place;

static szg_status bad_value(const key_place *at, const char *wanted) {
    return szgi_fail(at->context, SZG_EINVAL, "%s: %s=%.80s is not %s", at->owner, at->key->name,
                     at->kept->text, wanted);
}

static bool within(const szgi_key *key, double number) {
    return number >= key->min && number <= key->max;
}

static szg_status out_of_range(const key_place *at) {
    return szgi_fail(at->context, SZG_EINVAL,
                     "%s: %s=%.80s is outside its range %.17g .. %.17g%s%s", at->owner,
                     at->key->name, at->kept->text, at->key->min, at->key->max,
                     at->key->doc ? ": " : "", at->key->doc ? at->key->doc : "");
}

static szg_status keep_text(const key_place *at, const char *text, size_t length) {
    szgi_memory_free(at->kept->text);
    at->kept->text = NULL;
    SZG_TRY(szgi_memory_alloc(at->context, (int64_t)length + 1, &at->kept->text));
    memcpy(at->kept->text, text, length);
    return SZG_OK;
}

/* ---- Numbers ---- */

static szg_status keep_integer(const key_place *at, int64_t number) {
    char text[NUMBER_LENGTH];
    at->kept->integer = number;
    return keep_text(at, text, (size_t)snprintf(text, sizeof text, "%" PRId64, number));
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

static szg_status keep_real(const key_place *at, double number) {
    char text[NUMBER_LENGTH];
    print_real(number, text);
    at->kept->real = number;
    return keep_text(at, text, strlen(text));
}

/* strtod would skip spaces and take a plus sign. */
static bool starts_number(const char *text) {
    return (*text >= '0' && *text <= '9') || *text == '-' || *text == '.';
}

static szg_status read_integer(const key_place *at) {
    int64_t number;
    szgi_parsed parsed = szgi_integer_parse(at->kept->text, &number);
    if (parsed == SZGI_PARSED_NONE)
        return bad_value(at, "a whole number");
    if (parsed == SZGI_PARSED_BEYOND || !within(at->key, (double)number))
        return out_of_range(at);
    return keep_integer(at, number);
}

static szg_status read_real(const key_place *at) {
    char *end;
    double number = szgi_real_scan(at->kept->text, &end);
    if (!starts_number(at->kept->text) || *end || !isfinite(number))
        return bad_value(at, "a finite number");
    if (!within(at->key, number))
        return out_of_range(at);
    return keep_real(at, number);
}

/* ---- Words ---- */

static szg_status read_choice(const key_place *at) {
    const char *word = at->key->choices, *text = at->kept->text;
    for (int64_t index = 0; word; index++) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && memcmp(text, word, length) == 0) {
            at->kept->integer = index;
            return SZG_OK;
        }
        word = word[length] ? word + length + 1 : NULL;
    }
    return szgi_fail(at->context, SZG_EINVAL, "%s: %s=%.80s is unknown: %s %s", at->owner,
                     at->key->name, text, SZGI_DID_YOU_CHOOSE(text, at->key->choices, "one of"),
                     at->key->choices);
}

/* ---- Lists ---- */

/* Adds first .. last. */
static szg_status add_span(const key_place *at, int64_t first, int64_t last) {
    szgi_key_kept *kept = at->kept;
    if (!within(at->key, (double)first) || !within(at->key, (double)last))
        return out_of_range(at);
    int64_t total = kept->count + (last - first + 1);
    SZG_TRY(szgi_memory_grow(at->context, &kept->list, kept->count, total));
    for (int64_t member = first; member <= last; member++)
        kept->list[kept->count++] = member;
    return SZG_OK;
}

static szg_status read_list(const key_place *at) {
    int64_t previous = -1;
    for (const char *text = at->kept->text;; text++) {
        int64_t first, last;
        if (!szgi_span_scan(&text, &first, &last) || (*text && *text != '+') || last < first ||
            first <= previous)
            return bad_value(at, "an ascending list such as 0-3 or 0+2+5");
        SZG_TRY(add_span(at, first, last));
        previous = last;
        if (!*text)
            return SZG_OK;
    }
}

/* The text of a list: "0-3+5". */
static szg_status print_list(const key_place *at, const int64_t *list, int64_t count) {
    enum { MEMBER_LENGTH = 21 }; /* a sign, 19 digits, and the separator before the next one */
    SZG_TRY(szgi_memory_take(at->context, count + 1, MEMBER_LENGTH, &at->kept->text));
    char *text = at->kept->text;
    for (int64_t i = 0, end; i < count; i = end) { /* i .. end - 1: one span */
        end = i + 1;
        while (end < count && (uint64_t)list[end] == (uint64_t)list[end - 1] + 1)
            end++;
        text += sprintf(text, "%s%" PRId64, i > 0 ? "+" : "", list[i]);
        if (end - i > 1)
            text += sprintf(text, "-%" PRId64, list[end - 1]);
    }
    return SZG_OK;
}

static szg_status take_list(const key_place *at, const int64_t *list, int64_t count) {
    if (count < 1)
        return szgi_fail(at->context, SZG_EINVAL, "%s: key %s has no value", at->owner,
                         at->key->name);
    SZG_TRY(print_list(at, list, count));
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && list[i] <= list[i - 1])
            return bad_value(at, "an ascending list such as 0-3 or 0+2+5");
        SZG_TRY(add_span(at, list[i], list[i]));
    }
    return SZG_OK;
}

/* ---- Either way ---- */

szg_status szgi_key_read(szg_context *context, const char *owner, const szgi_key *key,
                         const char *text, size_t length, szgi_key_kept *out) {
    const key_place at = {context, owner, key, out};
    if (length == 0)
        return szgi_fail(context, SZG_EINVAL, "%s: key %s has no value", owner, key->name);
    SZG_TRY(keep_text(&at, text, length));
    switch (key->type) {
    case SZGI_KEY_INTEGER:
        return read_integer(&at);
    case SZGI_KEY_REAL:
        return read_real(&at);
    case SZGI_KEY_CHOICE:
        return read_choice(&at);
    case SZGI_KEY_LIST:
        return read_list(&at);
    case SZGI_KEY_TEXT:
        return SZG_OK;
    }
    return szgi_fail(context, SZG_EINTERNAL, "key %s has no type", key->name);
}

static const char *type_name(szgi_key_type type) {
    static const char *const names[] = {[SZGI_KEY_INTEGER] = "a whole number",
                                        [SZGI_KEY_REAL] = "a number",
                                        [SZGI_KEY_TEXT] = "a text",
                                        [SZGI_KEY_CHOICE] = "a word",
                                        [SZGI_KEY_LIST] = "a list"};
    return names[type];
}

static szg_status take_number(const key_place *at, double number) {
    SZG_TRY(keep_real(at, number));
    if (!isfinite(number))
        return bad_value(at, "a finite number");
    return within(at->key, number) ? SZG_OK : out_of_range(at);
}

/* A comma would end the value where the SPEC is read again. */
static szg_status take_text(const key_place *at, const char *text) {
    if (strchr(text, ','))
        return szgi_fail(at->context, SZG_EINVAL,
                         "%s: %s=%.80s holds a comma, which separates the keys of a SPEC: rename "
                         "the file",
                         at->owner, at->key->name, text);
    return szgi_key_read(at->context, at->owner, at->key, text, strlen(text), at->kept);
}

szg_status szgi_key_take(szg_context *context, const char *owner, const szgi_key *key,
                         const szgi_key_value *value, szgi_key_kept *out) {
    const key_place at = {context, owner, key, out};
    if (key->type == SZGI_KEY_REAL && value->type == SZGI_KEY_INTEGER)
        return take_number(&at, (double)value->integer);
    if (key->type != value->type)
        return szgi_fail(context, SZG_EINVAL, "%s: key %s takes %s, not %s", owner, key->name,
                         type_name(key->type), type_name(value->type));
    switch (key->type) {
    case SZGI_KEY_INTEGER:
        SZG_TRY(keep_integer(&at, value->integer));
        return within(key, (double)value->integer) ? SZG_OK : out_of_range(&at);
    case SZGI_KEY_REAL:
        return take_number(&at, value->real);
    case SZGI_KEY_LIST:
        return take_list(&at, value->list, value->count);
    case SZGI_KEY_CHOICE:
        return szgi_key_read(context, owner, key, value->text, strlen(value->text), out);
    case SZGI_KEY_TEXT:
        return take_text(&at, value->text);
    }
    return szgi_fail(context, SZG_EINTERNAL, "key %s has no type", key->name);
}

void szgi_key_close(szgi_key_kept *kept) {
    szgi_memory_free(kept->text);
    szgi_memory_free(kept->list);
    *kept = (szgi_key_kept){0};
}

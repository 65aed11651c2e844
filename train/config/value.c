/* A key's text and its field; which known key an unknown one resembles. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text.h"

#include "formats/csv.h"

#include "config_private.h"

_Static_assert(sizeof(szg_mask) == sizeof(int), "words are stored as enumerators");
_Static_assert(sizeof(uint64_t) == sizeof(int64_t), "seeds are stored as integers");

static bool refuse(char sentence[CONFIG_SENTENCE], const char *format, ...) SZG_PRINTF(2, 3);
static bool refuse(char sentence[CONFIG_SENTENCE], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    szgi_vprint(sentence, CONFIG_SENTENCE, format, arguments);
    va_end(arguments);
    return false;
}

static bool out_of_range(const config_row *row, char sentence[CONFIG_SENTENCE]) {
    return refuse(sentence, "is outside the range %.17g .. %.17g", row->key.min, row->key.max);
}

static bool set_integer(const config_row *row, const char *text, int64_t *field,
                        char sentence[CONFIG_SENTENCE]) {
    int64_t value;
    szgi_parsed parsed = szgi_integer_parse(text, &value);
    if (parsed == SZGI_PARSED_NONE)
        return refuse(sentence, "is not a whole number");
    if (parsed == SZGI_PARSED_BEYOND || value < (int64_t)row->key.min ||
        value > (int64_t)row->key.max)
        return out_of_range(row, sentence);
    *field = value;
    return true;
}

static bool set_real(const config_row *row, const char *text, double *field,
                     char sentence[CONFIG_SENTENCE]) {
    double value;
    if (!szgi_real_parse(text, &value) || !isfinite(value))
        return refuse(sentence, "is not a finite number");
    if (!(value >= row->key.min && value <= row->key.max))
        return out_of_range(row, sentence);
    *field = value;
    return true;
}

static bool set_boolean(const char *text, bool *field, char sentence[CONFIG_SENTENCE]) {
    bool yes = strcmp(text, "true") == 0;
    if (!yes && strcmp(text, "false") != 0)
        return refuse(sentence, "is neither true nor false");
    *field = yes;
    return true;
}

static bool set_choice(const config_row *row, const char *text, void *field,
                       char sentence[CONFIG_SENTENCE]) {
    int value = row->first;
    for (const char *word = row->key.choices;; value++) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && memcmp(word, text, length) == 0) {
            memcpy(field, &value, sizeof value);
            return true;
        }
        if (!word[length])
            return refuse(sentence, "is unknown: %s %s",
                          SZGI_DID_YOU_CHOOSE(text, row->key.choices, "one of"), row->key.choices);
        word += length + 1;
    }
}

static bool set_string(const char *text, char *field, char sentence[CONFIG_SENTENCE]) {
    size_t length = strlen(text);
    if (length >= SZG_CONFIG_TEXT)
        return refuse(sentence, "has %zu bytes, %d are the most", length, SZG_CONFIG_TEXT - 1);
    if (szgi_utf8_check(text, length) >= 0) /* JSON can hold no other */
        return refuse(sentence, "is not UTF-8");
    memset(field, 0, SZG_CONFIG_TEXT);
    memcpy(field, text, length);
    return true;
}

static bool set_indices(const config_row *row, const char *text, szg_index_list *field,
                        char sentence[CONFIG_SENTENCE]) {
    szg_index_list list = {.all = strcmp(text, "all") == 0};
    bool spans = !list.all && strcmp(text, "none") != 0;
    for (const char *at = text; spans; at++) {
        int64_t first, last, before = list.count ? list.index[list.count - 1] : -1;
        if (!szgi_span_scan(&at, &first, &last) || (*at && *at != '+' && *at != ',') ||
            last < first || first <= before)
            return refuse(sentence, "is not an ascending list such as 0-3 or 0+2+5, all or none");
        if (last > (int64_t)row->key.max)
            return out_of_range(row, sentence);
        if (last - first >= SZG_CONFIG_LIST - list.count)
            return refuse(sentence, "has more than %d members: write all", SZG_CONFIG_LIST);
        for (int64_t i = first; i <= last; i++)
            list.index[list.count++] = i;
        spans = *at;
    }
    *field = list;
    return true;
}

bool szgi_config_set(const config_row *row, const char *text, szg_train_config *config,
                     char sentence[CONFIG_SENTENCE]) {
    void *field = (char *)config + row->offset;
    switch (row->key.type) {
    case SZGI_CONFIG_INTEGER:
        return set_integer(row, text, field, sentence);
    case SZGI_CONFIG_REAL:
        return set_real(row, text, field, sentence);
    case SZGI_CONFIG_BOOLEAN:
        return set_boolean(text, field, sentence);
    case SZGI_CONFIG_CHOICE:
        return set_choice(row, text, field, sentence);
    case SZGI_CONFIG_STRING:
        return set_string(text, field, sentence);
    case SZGI_CONFIG_INDICES:
        return set_indices(row, text, field, sentence);
    }
    return refuse(sentence, "has no type");
}

bool szgi_index_list_has(const szg_index_list *list, int64_t index) {
    for (int64_t i = 0; i < list->count && !list->all; i++)
        if (list->index[i] == index)
            return true;
    return list->all;
}

static void print_indices(const szg_index_list *list, char text[SZG_CONFIG_TEXT]) {
    size_t used = 0;
    snprintf(text, SZG_CONFIG_TEXT, "%s", list->all ? "all" : "none");
    for (int64_t i = 0, end; !list->all && i < list->count; i = end) {
        for (end = i + 1; end < list->count && list->index[end] == list->index[end - 1] + 1;)
            end++;
        int length = snprintf(text + used, SZG_CONFIG_TEXT - used, "%s%" PRId64, i ? "+" : "",
                              list->index[i]);
        used += (size_t)length;
        if (end > i + 1)
            used += (size_t)snprintf(text + used, SZG_CONFIG_TEXT - used, "-%" PRId64,
                                     list->index[end - 1]);
    }
}

static void print_choice(const config_row *row, const void *field, char text[SZG_CONFIG_TEXT]) {
    int value;
    memcpy(&value, field, sizeof value);
    const char *word = row->key.choices;
    for (int i = row->first; i < value && strchr(word, '|'); i++)
        word = strchr(word, '|') + 1;
    snprintf(text, SZG_CONFIG_TEXT, "%.*s", (int)strcspn(word, "|"), word);
}

const char *szgi_config_text(const config_row *row, const szg_train_config *config,
                             char text[SZG_CONFIG_TEXT]) {
    const void *field = config_field(row, config);
    switch (row->key.type) {
    case SZGI_CONFIG_INTEGER:
        snprintf(text, SZG_CONFIG_TEXT, "%" PRId64, *(const int64_t *)field);
        break;
    case SZGI_CONFIG_REAL:
        szgi_real_text(*(const double *)field, text);
        break;
    case SZGI_CONFIG_BOOLEAN:
        snprintf(text, SZG_CONFIG_TEXT, "%s", *(const bool *)field ? "true" : "false");
        break;
    case SZGI_CONFIG_CHOICE:
        print_choice(row, field, text);
        break;
    case SZGI_CONFIG_STRING:
        snprintf(text, SZG_CONFIG_TEXT, "%s", (const char *)field);
        break;
    case SZGI_CONFIG_INDICES:
        print_indices(field, text);
        break;
    }
    return text;
}

static const char *last_part(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* What other programs call a key of the configuration; NULL: another name. */
static const char *other_name(const char *name) {
    static const char *const names[][2] = {{"lr", "loop.learning_rate"},
                                           {"batch_size", "loop.batch"},
                                           {"weight_decay", "loop.decay"},
                                           {"warmup_ratio", "loop.warmup"},
                                           {"max_steps", "loop.limit_steps"},
                                           {"hidden_size", "model.width"},
                                           {"d_model", "model.width"},
                                           {"n_layers", "model.layers"},
                                           {"num_hidden_layers", "model.layers"},
                                           {"n_heads", "model.heads"},
                                           {"num_attention_heads", "model.heads"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], name) == 0)
            return names[i][1];
    return NULL;
}

/* The key itself may be right and its section wrong or missing; the whole name wins a tie. */
void szgi_config_unknown(const char *name, char sentence[CONFIG_SENTENCE]) {
    const char *own = last_part(name), *named = NULL;
    szgi_suggestion whole = szgi_suggest_begin(name, strlen(name));
    szgi_suggestion last = szgi_suggest_begin(own, strlen(own));
    const config_row *row;
    for (int64_t i = 0; (row = szgi_config_row_at(i)); i++) {
        const char *key = row->key.name, *part = last_part(key), *before = last.word;
        szgi_suggest(&whole, key, strlen(key));
        szgi_suggest(&last, part, strlen(part));
        if (last.word != before)
            named = key;
    }
    const char *other = other_name(own);
    const char *nearest = other                                           ? other
                          : whole.word && whole.distance <= last.distance ? whole.word
                                                                          : named;
    if (nearest)
        snprintf(sentence, CONFIG_SENTENCE, "is not a key of the configuration: did you mean %s?",
                 nearest);
    else
        snprintf(sentence, CONFIG_SENTENCE,
                 "is not a key of the configuration: docs/reference/configuration.md lists them");
}

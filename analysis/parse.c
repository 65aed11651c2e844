#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"
#include "base/text.h"
#include "base/memory.h"

#include "command.h"

/* 8k is 8000 to some and 8192 to others: neither is taken. */
static void refuse_suffix(struct argp_state *state, const char *option, const char *text,
                          const char *end) {
    static const char letters[] = "kmg";
    char *after;
    long long number = strtoll(text, &after, 10);
    const char *letter = *end ? strchr(letters, *end | 0x20) : NULL;
    if (after != end || !letter || number <= 0 || number > INT64_MAX >> 30 ||
        (end[1] && strcasecmp(end + 1, "i") != 0))
        return;
    int power = (int)(letter - letters) + 1;
    long long thousands = number;
    for (int i = 0; i < power; i++)
        thousands *= 1000;
    if (end[1])
        argp_error(state, "%s: '%s': write %lld", option, SHOWN(text), number << 10 * power);
    argp_error(state, "%s: '%s' may be %lld or %lld: write the number", option, SHOWN(text),
               thousands, number << 10 * power);
}

int64_t parse_integer(struct argp_state *state, const char *option, const char *text, int64_t least,
                      int64_t most) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool whole = end != text && !*end && errno == 0;
    /* 1e9, where a double holds it exactly; 0x1e is none. */
    if (!whole && strpbrk(text, "eE") && !strpbrk(text, "xX")) {
        double number = szgi_real_scan(text, &end);
        whole = *end == 0 && fabs(number) <= 0x1p53 && number == floor(number);
        value = whole ? (long long)number : 0;
    }
    if (!whole)
        refuse_suffix(state, option, text, text + strspn(text, "0123456789"));
    if (!whole || value < least || value > most)
        argp_error(state, "%s: '%s' is not an integer in %" PRId64 " .. %" PRId64 "%s", option,
                   SHOWN(text), least, most, value > most ? ": use a smaller number" : "");
    return value;
}

double parse_real(struct argp_state *state, const char *option, const char *text, double least,
                  double most) {
    char *end;
    double value = szgi_real_scan(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        argp_error(state, "%s: '%s' is not a number in %g .. %g", option, SHOWN(text), least, most);
    return value;
}

int parse_choice(struct argp_state *state, const char *option, const char *text,
                 const char *choices) {
    int index = 0;
    for (const char *word = choices; word; index++) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && memcmp(text, word, length) == 0)
            return index;
        word = word[length] ? word + length + 1 : NULL;
    }
    argp_error(state, "%s: '%s' is unknown: %s %s", option, SHOWN(text),
               SZGI_DID_YOU_CHOOSE(text, choices, "one of"), choices);
    return 0;
}

/* Grows an array by one element; memory refused while options are parsed ends the program. */
static void grow(struct argp_state *state, void *array, int64_t count, size_t size) {
    if (szgi_memory_regrow(NULL, array, count, count + 1, size) != SZG_OK)
        argp_failure(state, EXIT_INTERNAL, 0, "out of memory");
}

void parse_integer_list(struct argp_state *state, const char *option, const char *text,
                        int64_t least, int64_t most, integer_list *list) {
    char item[32];
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        size_t kept = length < sizeof item ? length : sizeof item - 1;
        memcpy(item, at, kept);
        item[kept] = 0;
        if (kept < length)
            argp_error(state, "%s: '%s...' is not an integer", option, SHOWN(item));
        grow(state, &list->value, list->count, sizeof *list->value);
        list->value[list->count++] = parse_integer(state, option, item, least, most);
        at += length;
        if (!*at)
            return;
    }
}

void parse_text(struct argp_state *state, const char *text, text_list *list) {
    grow(state, &list->value, list->count, sizeof *list->value);
    list->value[list->count++] = text;
}

szg_status read_config_for_data(szg_context *context, const char *path, const char *data,
                                szg_train_config *out) {
    static const char key[] = "data.train_file=";
    char *text;
    SZG_TRY(szgi_memory_alloc(context, (int64_t)(sizeof key + strlen(data)), &text));
    stpcpy(stpcpy(text, key), data);
    const char *overrides[] = {text};
    szg_status status = szg_train_config_read(context, path, overrides, 1, out);
    szgi_memory_free(text);
    return status;
}

#include <string.h>

#include "examples_scan.h"

/* What is left of a line. */
typedef struct rest {
    const char *at, *end;
} rest;

static void skip_space(rest *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

static bool take(rest *r, const char *text) {
    size_t length = strlen(text);
    skip_space(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, text, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* A JSON integer without sign: no leading zero, then neither fraction nor exponent, as what follows
 * must be a separator. */
static bool take_number(rest *r, int32_t *out) {
    skip_space(r);
    const char *start = r->at;
    int64_t value = 0;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && value <= INT32_MAX)
        value = 10 * value + (*r->at++ - '0');
    *out = (int32_t)value;
    return r->at > start && value <= INT32_MAX && (*start != '0' || r->at == start + 1);
}

static bool take_tokens(rest *r, int32_t *tokens, int64_t *count) {
    for (*count = 0;;) {
        if (!take_number(r, &tokens[*count]) || tokens[*count] == 0)
            return false;
        ++*count;
        if (!take(r, ","))
            return take(r, "]");
    }
}

bool szgi_examples_scan(const char *text, int64_t length, int32_t *tokens, int64_t *count,
                        int32_t *label) {
    rest r = {text, text + length};
    if (!take(&r, "{") || !take(&r, "\"tokens\"") || !take(&r, ":") || !take(&r, "["))
        return false;
    if (!take_tokens(&r, tokens, count) || !take(&r, ",") || !take(&r, "\"label\"") ||
        !take(&r, ":") || !take_number(&r, label) || !take(&r, "}"))
        return false;
    skip_space(&r);
    return r.at == r.end;
}

/* Reads a printed SVG element: an independent and slow look at it. */
#ifndef SZG_TESTS_SVG_CHECK_H
#define SZG_TESTS_SVG_CHECK_H

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

typedef struct svg {
    double width, height; /* of the viewBox */
    int64_t marks;        /* elements of class "mark" */
    int64_t titles;
    double lo_x, hi_x, lo_y, hi_y; /* of every coordinate */
} svg;

static inline void svg_reach(svg *svg, double x, double y) {
    ck_assert_msg(isfinite(x) && isfinite(y), "coordinate %g %g", x, y);
    svg->lo_x = fmin(svg->lo_x, x);
    svg->hi_x = fmax(svg->hi_x, x);
    svg->lo_y = fmin(svg->lo_y, y);
    svg->hi_y = fmax(svg->hi_y, y);
}

/* A number as figures may print it: digits, and at most two behind the point. */
static inline double svg_number(const char **at) {
    while (**at == ' ' || **at == ',')
        ++*at;
    char *end;
    const char *point = *at + strspn(*at, "-0123456789");
    double value = strtod(*at, &end);
    ck_assert_msg(end > *at, "no number: %.40s", *at);
    if (*point == '.')
        ck_assert_msg(strspn(point + 1, "0123456789") <= 2, "many digits: %.40s", *at);
    ck_assert_msg(!memchr(*at, 'e', (size_t)(end - *at)), "an exponent: %.40s", *at);
    *at = end;
    return value;
}

static inline void svg_path(svg *svg, const char *at) {
    double x = 0, y = 0;
    char step = 0;
    for (;;) {
        while (*at == ' ')
            at++;
        if (!*at || *at == '"')
            return;
        if (isalpha((unsigned char)*at))
            step = *at++;
        double dx = islower((unsigned char)step) ? x : 0, dy = islower((unsigned char)step) ? y : 0;
        ck_assert_msg(step && strchr("MLHVmlhvaz", step), "step %c", step);
        for (int skipped = 0; step == 'a' && skipped < 5; skipped++)
            svg_number(&at);
        if (strchr("MLmlaHh", step))
            x = dx + svg_number(&at);
        if (strchr("MLmlaVv", step))
            y = dy + svg_number(&at);
        svg_reach(svg, x, y);
    }
}

/* The attributes of one start tag; true where it ends itself. */
static inline bool svg_tag(svg *svg, const char **at, bool measured) {
    double x = 0, y = 0;
    bool placed = false;
    for (;;) {
        while (isspace((unsigned char)**at))
            ++*at;
        if (**at == '>' || strncmp(*at, "/>", 2) == 0)
            break;
        const char *name = *at;
        *at += strspn(*at, "abcdefghijklmnopqrstuvwxyzBABCDEFGHIJKLMNOPQRSTUVWXYZ-");
        ck_assert_msg(*at > name && strncmp(*at, "=\"", 2) == 0, "attribute: %.40s", name);
        size_t length = (size_t)(*at - name);
        *at += 2;
        const char *value = *at;
        *at += strcspn(*at, "\"<");
        ck_assert_msg(**at == '"', "value: %.40s", value);
        ++*at;
        const char *from = value;
        if (length == 5 && strncmp(name, "class", 5) == 0)
            svg->marks += strncmp(value, "mark\"", 5) == 0 || strncmp(value, "mark ", 5) == 0;
        else if (length == 1 && *name == 'd')
            svg_path(svg, value);
        else if (length == 7 && strncmp(name, "viewBox", 7) == 0) {
            ck_assert(svg_number(&from) == 0 && svg_number(&from) == 0);
            svg->width = svg_number(&from);
            svg->height = svg_number(&from);
        } else if (measured && ((length == 1 && *name == 'x') || strncmp(name, "cx=", 3) == 0)) {
            x = svg_number(&from);
            placed = true;
        } else if (measured && ((length == 1 && *name == 'y') || strncmp(name, "cy=", 3) == 0)) {
            y = svg_number(&from);
        }
    }
    if (placed)
        svg_reach(svg, x, y);
    bool ended = **at == '/';
    *at += ended ? 2 : 1;
    return ended;
}

/* Text between tags: bare ampersands and control characters are none. */
static inline void svg_text(const char **at) {
    for (; **at && **at != '<'; ++*at) {
        unsigned char byte = (unsigned char)**at;
        ck_assert_msg(byte >= 0x20 || byte == '\n' || byte == '\t', "byte %d", byte);
        if (byte != '&')
            continue;
        static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
        bool known = false;
        for (int e = 0; e < 5; e++)
            known = known || strncmp(*at, entities[e], strlen(entities[e])) == 0;
        ck_assert_msg(known, "entity: %.20s", *at);
    }
}

enum { SVG_DEPTH = 16, SVG_NAME = 16 };

/* Fails unless the text is one well-formed element; what it holds. */
static inline svg svg_read(const char *text) {
    svg out = {.lo_x = INFINITY, .hi_x = -INFINITY, .lo_y = INFINITY, .hi_y = -INFINITY};
    char open[SVG_DEPTH][SVG_NAME];
    int depth = 0;
    const char *at = text;
    ck_assert_int_eq(strncmp(at, "<svg ", 5), 0);
    do {
        svg_text(&at);
        ck_assert_int_eq(*at, '<');
        bool closes = *++at == '/';
        at += closes;
        char name[SVG_NAME] = {0};
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        ck_assert(length > 0 && length < SVG_NAME);
        memcpy(name, at, length);
        at += length;
        if (closes) {
            ck_assert(depth > 0 && *at++ == '>');
            ck_assert_str_eq(name, open[--depth]);
            continue;
        }
        out.titles += strcmp(name, "title") == 0;
        if (!svg_tag(&out, &at, strcmp(name, "svg") != 0)) {
            ck_assert_int_lt(depth, SVG_DEPTH);
            memcpy(open[depth++], name, SVG_NAME);
        }
    } while (depth > 0);
    ck_assert_str_eq(at, "\n");
    return out;
}

#endif

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "decimal.h"

static locale_t c_locale;

static void make_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

void *szgi_locale_enter(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return uselocale(c_locale); /* (locale_t)0, if it was refused, changes nothing */
}

void szgi_locale_leave(void *callers) {
    uselocale(callers);
}

int szgi_vprint(char *text, size_t size, const char *format, va_list arguments) {
    void *callers = szgi_locale_enter();
    int length = vsnprintf(text, size, format, arguments);
    szgi_locale_leave(callers);
    return length;
}

int szgi_print(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = szgi_vprint(text, size, format, arguments);
    va_end(arguments);
    return length;
}

double szgi_real_scan(const char *text, char **end) {
    void *callers = szgi_locale_enter();
    double value = strtod(text, end);
    szgi_locale_leave(callers);
    return value;
}

const char *szgi_real_text(double value, char text[SZGI_REAL_TEXT]) {
    if (isnan(value))
        return strcpy(text, "nan");
    if (isinf(value))
        return strcpy(text, value < 0 ? "-inf" : "inf");
    if (szgi_decimal_text(value, text))
        return text;
    for (int digits = 15; digits <= 17; digits++) {
        szgi_print(text, SZGI_REAL_TEXT, "%.*g", digits, value);
        if (szgi_real_scan(text, NULL) == value)
            break;
    }
    return text;
}

const char *szgi_rounded_text(double value, int digits, szgi_end end, char text[SZGI_REAL_TEXT]) {
    if (!isfinite(value))
        return szgi_real_text(value, text);
    double sign = end == SZGI_END_LOWER ? -1 : 1, shown = value;
    szgi_print(text, SZGI_REAL_TEXT, "%.*e", digits - 1, value);
    /* Half a unit of the last digit: from the wrong side of `value` to the right one. */
    double step = pow(10, atoi(strchr(text, 'e') + 1) - digits + 1) / 2;
    szgi_print(text, SZGI_REAL_TEXT, "%.*g", digits, value);
    while (end != SZGI_END_NONE && sign * (szgi_real_scan(text, NULL) - value) < 0) {
        double further = shown + sign * step;
        if (further == shown) { /* below the least double there is no smaller step */
            szgi_print(text, SZGI_REAL_TEXT, "%.17g", value);
            break;
        }
        shown = further;
        szgi_print(text, SZGI_REAL_TEXT, "%.*g", digits, shown);
    }
    return text;
}

const char *szgi_hex_text(double value, char text[SZGI_REAL_TEXT]) {
    if (!isfinite(value))
        return szgi_real_text(value, text);
    szgi_print(text, SZGI_REAL_TEXT, "%a", value);
    return text;
}

bool szgi_real_parse(const char *text, double *out) {
    if (!*text || isspace((unsigned char)*text))
        return false;
    char *end;
    double value = szgi_real_scan(text, &end);
    if (end == text || *end)
        return false;
    if (isinf(value) && !strpbrk(text, "nN")) /* 1e999; "inf" has an n */
        return false;
    *out = value;
    return true;
}

/* ---- Whole numbers ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* strtoll would skip spaces, and take a plus sign. */
static szgi_parsed scan_integer(const char **at, int64_t *out) {
    if (!is_digit((*at)[**at == '-']))
        return SZGI_PARSED_NONE;
    char *end;
    errno = 0;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0 ? SZGI_PARSED : SZGI_PARSED_BEYOND;
}

szgi_parsed szgi_integer_parse(const char *text, int64_t *out) {
    int64_t value;
    szgi_parsed parsed = scan_integer(&text, &value);
    if (parsed == SZGI_PARSED_NONE || *text)
        return SZGI_PARSED_NONE;
    *out = value;
    return parsed;
}

bool szgi_span_scan(const char **at, int64_t *first, int64_t *last) {
    const char *end = *at;
    if (!is_digit(*end) || scan_integer(&end, first) != SZGI_PARSED)
        return false;
    *last = *first;
    if (*end == '-') {
        end++;
        if (!is_digit(*end) || scan_integer(&end, last) != SZGI_PARSED)
            return false;
    }
    *at = end;
    return true;
}

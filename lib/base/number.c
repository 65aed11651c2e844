#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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

/* False only where no decimal of 15 digits reads back as `value`: such a one is at most half a unit
 * of the last binary place away, 2^-53 |value|. With |value| brought to 10^14 .. 10^15 decimals of
 * 15 digits are integers. One rounding to 64 bits moves it by 2^-64 of itself, for powers up to
 * 10^27 are exact there; beyond them the answer is true. */
static bool may_have_15_digits(double value) {
#if LDBL_MANT_DIG >= 64
    enum { POWERS = 28 };
    static const long double ten[POWERS] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                            1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                            1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
                                            1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    double magnitude = fabs(value);
    if (!(magnitude > 1e-12 && magnitude < 1e14))
        return true;
    long double scaled = magnitude * ten[14 - (int)floor(log10(magnitude))];
    /* Where log10 was rounded up to an integer the scale is one digit short. */
    return scaled < 1e14L || fabsl(scaled - rintl(scaled)) <= scaled * (0x1p-53L + 0x1p-62L);
#else
    (void)value;
    return true;
#endif
}

const char *szgi_real_text(double value, char text[SZGI_REAL_TEXT]) {
    if (isnan(value))
        return strcpy(text, "nan");
    if (isinf(value))
        return strcpy(text, value < 0 ? "-inf" : "inf");
    for (int digits = may_have_15_digits(value) ? 15 : 16; digits <= 17; digits++) {
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

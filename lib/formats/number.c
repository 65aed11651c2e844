#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <szego/csv.h>

/* strtod and printf follow the locale that an embedding program chose; files must not. */
static locale_t c_locale;

static void make_c_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t enter_c_locale(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return uselocale(
        c_locale); /* of this thread; (locale_t)0, if it was refused, changes nothing */
}

const char *szg_real_text(double value, char text[SZG_REAL_TEXT]) {
    if (isnan(value))
        return strcpy(text, "nan");
    if (isinf(value))
        return strcpy(text, value < 0 ? "-inf" : "inf");
    locale_t callers = enter_c_locale();
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, SZG_REAL_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    uselocale(callers);
    return text;
}

const char *szg_hex_text(double value, char text[SZG_REAL_TEXT]) {
    if (!isfinite(value))
        return szg_real_text(value, text);
    locale_t callers = enter_c_locale();
    snprintf(text, SZG_REAL_TEXT, "%a", value);
    uselocale(callers);
    return text;
}

bool szg_real_parse(const char *text, double *out) {
    if (!*text || isspace((unsigned char)*text))
        return false;
    char *end;
    locale_t callers = enter_c_locale();
    double value = strtod(text, &end);
    uselocale(callers);
    if (end == text || *end)
        return false;
    if (isinf(value) && !strpbrk(text, "nN")) /* 1e999; "inf" has an n */
        return false;
    *out = value;
    return true;
}

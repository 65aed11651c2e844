#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"
#include "base/text.h"

static bool continues(const unsigned char *at, size_t left, size_t index) {
    return index < left && szgi_utf8_continues((char)at[index]);
}

int szgi_utf8_step(const unsigned char *at, size_t left) {
    if (left == 0)
        return 0;
    unsigned first = at[0];
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4 || !continues(at, left, 1))
        return 0;
    if (first < 0xE0)
        return 2;
    unsigned second = at[1];
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F))
        return 0;
    if (!continues(at, left, 2))
        return 0;
    if (first < 0xF0)
        return 3;
    return continues(at, left, 3) ? 4 : 0;
}

/* ---- Columns of a terminal ---- */

/* One character of valid UTF-8: its code point, and its bytes in *bytes. */
static wchar_t character(const char *text, size_t *bytes) {
    unsigned first = (unsigned char)*text;
    unsigned code = first < 0x80 ? first : first & (first < 0xE0 ? 0x1F : first < 0xF0 ? 0x0F : 7);
    for (*bytes = 1; szgi_utf8_continues(text[*bytes]); ++*bytes)
        code = code << 6 | ((unsigned char)text[*bytes] & 0x3F);
    return (wchar_t)code;
}

/* wcwidth knows no more than ASCII in the C locale. */
static locale_t wide_locale;

static void make_wide_locale(void) {
    wide_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

/* Bytes of the longest start that takes at most `most` columns, and what it takes in *columns. */
static size_t fit(const char *text, int64_t most, int64_t *columns) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_wide_locale);
    locale_t before = uselocale(wide_locale); /* (locale_t)0, if it was refused, changes nothing */
    size_t at = 0;
    *columns = 0;
    for (size_t bytes; text[at]; at += bytes) {
        int width = wcwidth(character(text + at, &bytes));
        width = width < 0 ? 1 : width;
        if (*columns + width > most)
            break;
        *columns += width;
    }
    uselocale(before);
    return at;
}

int64_t szgi_utf8_columns(const char *text) {
    int64_t columns;
    fit(text, INT64_MAX - 2, &columns);
    return columns;
}

size_t szgi_utf8_fit(const char *text, int64_t columns) {
    int64_t used;
    return fit(text, columns, &used);
}

int64_t szgi_utf8_check(const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        int step = szgi_utf8_step((const unsigned char *)text + i, length - i);
        if (step == 0)
            return (int64_t)i;
        i += (size_t)step;
    }
    return -1;
}

void szgi_utf8_put(const char *text, size_t length, FILE *stream) {
    for (int64_t bad; (bad = szgi_utf8_check(text, length)) >= 0;) {
        fwrite(text, 1, (size_t)bad, stream);
        fputs("\xEF\xBF\xBD", stream);
        text += bad + 1;
        length -= (size_t)bad + 1;
    }
    fwrite(text, 1, length, stream);
}

szg_status szgi_utf8_copy(szg_context *context, const char *text, char **out) {
    *out = NULL;
    size_t length = strlen(text), used = 0;
    char *copy;
    SZG_TRY(szgi_memory_take(context, (int64_t)length + 1, 3, &copy));
    for (size_t i = 0; i < length;) {
        int step = szgi_utf8_step((const unsigned char *)text + i, length - i);
        size_t bytes = step > 0 ? (size_t)step : 3;
        memcpy(copy + used, step > 0 ? text + i : "\xEF\xBF\xBD", bytes);
        used += bytes;
        i += step > 0 ? (size_t)step : 1;
    }
    *out = copy;
    return SZG_OK;
}

int szgi_shown_step(const unsigned char *at, size_t left) {
    int step = szgi_utf8_step(at, left);
    bool control =
        step == 1 ? at[0] < 0x20 || at[0] == 0x7F : step == 2 && at[0] == 0xC2 && at[1] < 0xA0;
    return control ? 0 : step;
}

void szgi_hidden_text(unsigned char byte, char out[SZGI_HIDDEN + 1]) {
    snprintf(out, SZGI_HIDDEN + 1, "\\x%02x", byte);
}

const char *szgi_show(const char *text, char *out, size_t size) {
    size_t length = strlen(text), used = 0, i = 0;
    while (i < length) {
        int step = szgi_shown_step((const unsigned char *)text + i, length - i);
        size_t bytes = step > 0 ? (size_t)step : SZGI_HIDDEN;
        if (used + bytes + 4 > size)
            break;
        if (step > 0)
            memcpy(out + used, text + i, bytes);
        else
            szgi_hidden_text((unsigned char)text[i], out + used);
        used += bytes;
        i += step > 0 ? (size_t)step : 1;
    }
    out[used] = 0;
    if (i < length && used + 4 <= size)
        memcpy(out + used, "...", 4);
    return out;
}

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/formula.h"
#include "base/text.h"

#include "html.h"

/* The character at `at`, which no NUL precedes, and in *bytes its length; -1, and 1 byte, where no
 * valid UTF-8 stands (overlong, a surrogate, beyond U+10FFFF, cut off: the NUL ends it too). */
static int32_t decode(const unsigned char *at, int *bytes) {
    int step = szgi_utf8_step(at, strnlen((const char *)at, 4));
    *bytes = step > 0 ? step : 1;
    if (step == 0)
        return -1;
    int32_t code = step == 1 ? at[0] : at[0] & (0xFF >> (step + 1));
    for (int i = 1; i < step; i++)
        code = code << 6 | (at[i] & 0x3F);
    return code;
}

/* Controls other than tab and line feed, and characters that are not seen but turn or break the
 * line: embeddings, overrides, isolates and marks of direction, line and paragraph separators, the
 * byte order mark. */
static bool is_hidden(int32_t code) {
    return (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7F && code < 0xA0) ||
           code == 0x61C || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0xFEFF;
}

/* Noncharacters: a parse error in HTML. */
static bool is_forbidden(int32_t code) {
    return code < 0 || (code >= 0xFDD0 && code <= 0xFDEF) || (code & 0xFFFE) == 0xFFFE;
}

/* The characters before `end`, until none of *left is left; false: there are more. */
static bool put_characters(FILE *stream, const char *text, const char *end, int64_t *left) {
    int bytes;
    for (const char *at = text; at < end; at += bytes, --*left) {
        int32_t code = decode((const unsigned char *)at, &bytes);
        if (*left == 0)
            return false;
        if (is_forbidden(code))
            fputs("\xEF\xBF\xBD", stream);
        else if (is_hidden(code))
            fprintf(stream, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
        else if (szgi_html_entity(code))
            fputs(szgi_html_entity(code), stream);
        else
            fwrite(at, 1, (size_t)bytes, stream);
    }
    return true;
}

void szgi_html_clipped(FILE *stream, const char *text, int64_t characters) {
    if (text && !put_characters(stream, text, text + strlen(text), &characters))
        fputs("…", stream);
}

void szgi_html_prose(FILE *stream, const char *text, int64_t characters) {
    szgi_prose_piece piece;
    bool whole = true;
    while (text && whole && szgi_prose_next(&text, &piece)) {
        if (!piece.formula) {
            whole = put_characters(stream, piece.text, piece.text + piece.length, &characters);
            continue;
        }
        whole = (int64_t)piece.length <= characters;
        characters -= (int64_t)piece.length;
        if (whole)
            szgi_formula_put(&piece, SZGI_FORMULA_MATHML, stream);
    }
    if (!whole)
        fputs("…", stream);
}

void szgi_html_text(FILE *stream, const char *text) {
    szgi_html_clipped(stream, text, INT64_MAX);
}

void szgi_html_vprint(FILE *stream, const char *format, va_list arguments) {
    char small[1024], *text = small;
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(small, sizeof small, format, arguments);
    if (length >= (int)sizeof small && vasprintf(&text, format, again) < 0)
        text = small; /* memory is short: the beginning is better than nothing */
    va_end(again);
    szgi_html_clipped(stream, text, HTML_PRINTED);
    if (text != small)
        free(text);
}

void szgi_html_print(FILE *stream, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    szgi_html_vprint(stream, format, arguments);
    va_end(arguments);
}

void szgi_html_number(FILE *stream, double value) {
    if (isfinite(value))
        fprintf(stream, "%.6g", value); /* in the C locale, as the whole page (page.c) */
    else
        fputs(isnan(value) ? "nan" : value < 0 ? "-inf" : "inf", stream);
}

void szgi_html_end(FILE *stream, double value, int digits, szgi_end end) {
    char text[SZGI_REAL_TEXT];
    fputs(szgi_rounded_text(value, digits, end, text), stream);
}

void szgi_html_title(FILE *stream, const char *id, const char *title) {
    fputs("<h2>", stream);
    szgi_html_text(stream, title);
    fprintf(stream,
            " <a class=\"permalink\" href=\"#%s\" aria-label=\"Link to this section\">#</a></h2>\n",
            id);
}

void szgi_html_cell(FILE *stream, const char *text, int64_t characters) {
    fputs("<td>", stream);
    szgi_html_clipped(stream, text, characters);
    fputs("</td>", stream);
}

void szgi_html_number_cell(FILE *stream, double value) {
    fputs("<td class=\"number\">", stream);
    if (!isnan(value))
        szgi_html_number(stream, value);
    fputs("</td>", stream);
}

#include <math.h>
#include <string.h>

#include "formats/csv.h"
#include "json_emit.h"
#include "base/text.h"

static void emit_escape(unsigned char c, FILE *stream) {
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *found = c ? strchr(from, c) : NULL;
    if (found)
        fprintf(stream, "\\%c", to[found - from]);
    else
        fprintf(stream, "\\u%04x", c);
}

static bool is_special(unsigned char c) {
    return c < 0x20 || c == '"' || c == '\\' || c == 0x7F;
}

void szgi_emit_text(const char *text, FILE *stream) {
    putc('"', stream);
    while (*text) {
        size_t run = 0;
        while (text[run] && !is_special((unsigned char)text[run]))
            run++;
        szgi_utf8_put(text, run, stream);
        text += run;
        if (*text)
            emit_escape((unsigned char)*text++, stream);
    }
    putc('"', stream);
}

void szgi_emit_real(double value, FILE *stream) {
    char text[SZGI_REAL_TEXT];
    if (!isfinite(value)) {
        fputs("null", stream);
        return;
    }
    fputs(szgi_real_text(value, text), stream);
    if (!strpbrk(text, ".e"))
        fputs(".0", stream);
}

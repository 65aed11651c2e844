#include <math.h>
#include <string.h>

#include <szego/csv.h>
#include "json_emit.h"
#include "text.h"

static void emit_escape(unsigned char c, FILE *stream) {
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *found = c ? strchr(from, c) : NULL;
    if (found)
        fprintf(stream, "\\%c", to[found - from]);
    else
        fprintf(stream, "\\u%04x", c);
}

void szg_emit_text(const char *text, FILE *stream) {
    size_t length = strlen(text);
    putc('"', stream);
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        int step = szg_utf8_step((const unsigned char *)text + i, length - i);
        if (step == 0)
            fputs("\xEF\xBF\xBD", stream);
        else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7F)
            emit_escape(c, stream);
        else
            fwrite(text + i, 1, (size_t)step, stream);
        i += step > 0 ? (size_t)step : 1;
    }
    putc('"', stream);
}

void szg_emit_real(double value, FILE *stream) {
    char text[SZG_REAL_TEXT];
    if (!isfinite(value)) {
        fputs("null", stream);
        return;
    }
    fputs(szg_real_text(value, text), stream);
    if (!strpbrk(text, ".e"))
        fputs(".0", stream);
}

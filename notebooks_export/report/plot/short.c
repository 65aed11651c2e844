#include "base/text.h"

#include "short.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/csv.h"

void szgi_print_real(FILE *stream, double value) {
    char text[SZGI_REAL_TEXT];
    szgi_print(text, sizeof text, "%.3g", value);
    /* Back and out again: 1230 and not 1.23e+03. */
    fputs(szgi_real_text(isfinite(value) ? szgi_real_scan(text, NULL) : value, text), stream);
}

const char *szgi_whole_text(double value, char out[WHOLE_TEXT]) {
    if (fabs(value) < 1e15)
        snprintf(out, WHOLE_TEXT, "%.0f", value);
    else
        szgi_real_text(value, out);
    return out;
}

const char *szgi_short_text(const char *text, char out[SHORT_TEXT]) {
    if (!text || !*text)
        return "-";
    if (strlen(text) < SHORT_TEXT)
        return text;
    size_t end = szgi_utf8_cut(text, SHORT_TEXT - 4);
    memcpy(out, text, end);
    strcpy(out + end, "...");
    return out;
}

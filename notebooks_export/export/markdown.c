/* Texts from files in the Markdown of a notebook: HTML's escapes, and Markdown's and MathJax's. */
#include <stdlib.h>
#include <string.h>

#include "export_private.h"
#include "html.h"

/* MathJax reads what the page shows, not what was written: an element of its own keeps a dollar or
 * a backslash from beginning a formula. */
static void put_character(char c, FILE *stream) {
    if (c == '\n' || c == '\t')
        putc(' ', stream);
    else if (c == '$' || c == '\\')
        fprintf(stream, "<span>&#%d;</span>", c);
    else if (strchr("`*_{}[]()+-.!|~:/@^=%", c))
        fprintf(stream, "&#%d;", c);
    else
        putc(c, stream);
}

szg_status export_markdown(szg_context *context, FILE *stream, const char *text,
                           int64_t characters) {
    char *escaped = NULL;
    size_t size;
    FILE *html = open_memstream(&escaped, &size);
    if (!html)
        return szg_fail(context, SZG_ENOMEM, "out of memory for a notebook's text");
    html_clipped(html, text, characters);
    bool failed = fclose(html) != 0;
    for (size_t i = 0; !failed && i < size; i++)
        put_character(escaped[i], stream);
    free(escaped);
    return failed ? szg_fail(context, SZG_ENOMEM, "out of memory for a notebook's text") : SZG_OK;
}

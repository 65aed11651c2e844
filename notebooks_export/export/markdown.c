/* Texts from files in the Markdown of a notebook: HTML's escapes, and Markdown's and MathJax's. */
#include <string.h>

#include "base/text.h"
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

szg_status szgi_export_markdown(szg_context *context, FILE *stream, const char *text,
                                int64_t characters) {
    szgi_text html;
    SZG_TRY(szgi_text_open(context, &html));
    szgi_html_clipped(html.stream, text, characters);
    szg_status status = szgi_text_end(&html, SZG_OK);
    for (int64_t i = 0; status == SZG_OK && i < html.length; i++)
        put_character(html.text[i], stream);
    szgi_text_close(&html);
    return status;
}

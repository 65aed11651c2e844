/* What stands beside the sections and is known once they are drawn: findings, navigation. */
#include <inttypes.h>
#include <stdarg.h>

#include "page_private.h"

enum { LISTED_TITLE = 80 }; /* characters of a figure's title in the navigation */

void szgi_page_remember(page *page, szg_status status) {
    if (page->status == SZG_OK)
        page->status = status;
}

FILE *szgi_page_aside(page *page, szgi_text *text) {
    if (!text->stream && page->status == SZG_OK)
        szgi_page_remember(page, szgi_text_open(page->context, text));
    return text->stream;
}

static szg_status end_text(szgi_text *text, szg_status status) {
    return text->stream ? szgi_text_end(text, status) : status;
}

szg_status szgi_page_end_asides(page *page) {
    szg_status status = end_text(&page->findings, page->status);
    return end_text(&page->contents, status);
}

/* ---- Findings ---- */

/* "Figure 7", or the section's title where the link leads to something else. */
static void print_link(const page *page, FILE *stream, const char *anchor) {
    fputs(" <a href=\"#", stream);
    szgi_html_text(stream, anchor ? anchor : page->section);
    if (!anchor && page->figures > 0)
        fprintf(stream, "-%" PRId64 "\">Figure %" PRId64, page->figures, page->numbered);
    else {
        fputs("\">", stream);
        szgi_html_text(stream, page->title);
    }
    fputs("</a>", stream);
}

void szgi_page_finding(page *page, const char *anchor, const char *format, ...) {
    FILE *stream = szgi_page_aside(page, &page->findings);
    va_list arguments;
    if (!stream)
        return;
    va_start(arguments, format);
    fputs("<li>", stream);
    szgi_html_vprint(stream, format, arguments);
    print_link(page, stream, anchor);
    fputs("</li>\n", stream);
    va_end(arguments);
}

void szgi_page_print_findings(const page *page) {
    if (!page->findings.text)
        return;
    fputs("<section id=\"findings\">\n", page->stream);
    szgi_html_title(page->stream, "findings", "Findings");
    fputs("<ul>\n", page->stream);
    fputs(page->findings.text, page->stream);
    fputs("</ul>\n</section>\n", page->stream);
}

/* ---- Navigation ---- */

void szgi_page_list_section(page *page) {
    FILE *stream = szgi_page_aside(page, &page->contents);
    if (!stream)
        return;
    fprintf(stream, "<li><a href=\"#%s\">", page->section);
    szgi_html_text(stream, page->title);
    fputs("</a>", stream);
}

void szgi_page_list_figure(page *page, const char *title) {
    FILE *stream = szgi_page_aside(page, &page->contents);
    if (!stream)
        return;
    if (page->figures == 1)
        fputs("<details><summary>figures</summary><ul>\n", stream);
    fprintf(stream, "<li><a href=\"#%s-%" PRId64 "\">%" PRId64 "&nbsp; ", page->section,
            page->figures, page->numbered);
    szgi_html_clipped(stream, title ? title : "figure", LISTED_TITLE);
    fputs("</a></li>\n", stream);
}

void szgi_page_list_end(page *page) {
    FILE *stream = szgi_page_aside(page, &page->contents);
    if (stream)
        fputs(page->figures > 0 ? "</ul></details></li>\n" : "</li>\n", stream);
}

void szgi_page_print_contents(const page *page) {
    FILE *stream = page->stream;
    fputs("<nav aria-label=\"Contents\"><ul>\n", stream);
    if (page->findings.text)
        fputs("<li><a href=\"#findings\">Findings</a></li>\n", stream);
    if (page->contents.text)
        fputs(page->contents.text, stream);
    fputs("<li><a href=\"#data\">Data in this page</a></li>\n"
          "<li><a href=\"#provenance\">What was run</a></li>\n</ul></nav>\n",
          stream);
}

/* The frame of the report: head, contents, sections in their order, data, script. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include <szego/page.h>
#include "base/text.h"
#include <szego/version.h>

#include "assets.h"
#include "page_private.h"

/* The last part of the folder's path: its own name where it was given as "." say. */
static void print_name(const page *page) {
    const char *given = szgi_collection_folder(page->results);
    char *real = realpath(given, NULL);
    char *path = real ? real : (char *)given;
    const char *slash = strrchr(path, '/');
    szgi_html_text(page->stream, slash && slash[1] ? slash + 1 : path);
    free(real);
}

static void print_asset(const page *page, const char *text, size_t size) {
    fwrite(text, 1, size, page->stream);
}

/* No source but what stands in the file: a name that got past the escaping could load nothing and
 * run nothing. */
static void print_head(const page *page) {
    FILE *stream = page->stream;
    fprintf(stream,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; script-src 'sha256-%s'; img-src data:; base-uri 'none'; "
            "form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"generator\" content=\"szego\">\n<link rel=\"icon\" href=\"data:,\">\n"
            "<title>",
            szgi_asset_report_sha256);
    print_name(page);
    fputs(" – szego report</title>\n<style>\n", stream);
    print_asset(page, szgi_asset_page, szgi_asset_page_size);
    print_asset(page, szgi_asset_figure, szgi_asset_figure_size);
    fputs("</style>\n</head>\n<body>\n", stream);
}

static bool is_present(const page *page, const section *section) {
    return section->is_present(page->results);
}

static void print_contents(const page *page) {
    FILE *stream = page->stream;
    fputs("<nav aria-label=\"Contents\"><ol>\n", stream);
    for (const section *const *at = szgi_section_table; *at; at++)
        if (is_present(page, *at)) {
            fprintf(stream, "<li><a href=\"#%s\">", (*at)->id);
            szgi_html_text(stream, (*at)->title);
            fputs("</a></li>\n", stream);
        }
    fputs("<li><a href=\"#data\">Data in this page</a></li>\n</ol></nav>\n", stream);
}

static szg_status print_header(page *page) {
    FILE *stream = page->stream;
    fputs("<header>\n<button type=\"button\" id=\"theme\" hidden>dark or light</button>\n<h1>",
          stream);
    print_name(page);
    fputs("</h1>\n<p class=\"from\">Results of <code>", stream);
    szgi_html_text(stream, szgi_collection_folder(page->results));
    fputs("</code>, drawn by szego ", stream);
    szgi_html_print(stream, "%s (%s)", szg_version(), szg_commit());
    fputs(
        ".</p>\n<noscript><p class=\"warning\">Plots, captions and tables need no JavaScript; the "
        "downloads of the rows behind them do.</p></noscript>\n",
        stream);
    print_contents(page);
    szg_status status = szgi_page_print_provenance(page);
    fputs("</header>\n", stream);
    return status;
}

static szg_status print_section(page *page, const section *section) {
    SZG_TRY(szgi_context_check_cancel(page->context));
    page->section = section->id;
    page->figures = 0;
    fprintf(page->stream, "<section id=\"%s\">\n<h2>", section->id);
    szgi_html_text(page->stream, section->title);
    fputs("</h2>\n", page->stream);
    SZG_TRY(section->draw(page));
    fputs("</section>\n", page->stream);
    return SZG_OK;
}

static szg_status print_page(page *page) {
    print_head(page);
    SZG_TRY(print_header(page));
    fputs("<main>\n", page->stream);
    for (const section *const *at = szgi_section_table; *at; at++)
        if (is_present(page, *at))
            SZG_TRY(print_section(page, *at));
    szgi_page_print_data(page);
    fputs("</main>\n<footer><p>One file: it loads nothing and works from disk. Each plot links to "
          "the rows that it was drawn from, as CSV that reads back exactly; the same tables stand "
          "in the folder.</p></footer>\n<script>",
          page->stream);
    print_asset(page, szgi_asset_report, szgi_asset_report_size);
    fputs("</script>\n</body>\n</html>\n", page->stream);
    return SZG_OK;
}

static void free_embedded(page *page) {
    for (int64_t i = 0; i < page->count; i++)
        szgi_memory_free(page->embedded[i].bytes);
    szgi_memory_free(page->embedded);
}

/* Numbers have a decimal point whatever locale an embedding program chose. */
static szg_status print_in_c_locale(page *page) {
    void *callers = szgi_locale_enter();
    szg_status status = print_page(page);
    szgi_locale_leave(callers);
    return status;
}

szg_status szg_page_write(szg_context *context, const szg_collection *collection,
                          const char *path) {
    page page = {.context = context, .results = collection};
    szgi_writer *writer;
    SZG_TRY(szgi_writer_open(context, path, &writer));
    page.stream = szgi_writer_stream(writer);
    szg_status status = print_in_c_locale(&page);
    free_embedded(&page);
    if (status == SZG_OK)
        return szgi_writer_commit(context, &writer);
    szgi_writer_discard(&writer);
    return szgi_fail_prefix(context, status, "%s", path);
}

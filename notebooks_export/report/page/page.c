/* The frame of the report: head, navigation, findings, sections in their order, data, provenance,
 * script. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include <szego/page.h>
#include "base/text.h"
#include <szego/version.h>

#include "assets.h"
#include "page_private.h"

#define SUBJECT "Positional encodings and the spectra of attention logits"

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

/* In the order in which they run: what needs a script is seen first, figures save by report.js. */
static const struct script {
    const char *text, *sha256;
    const size_t *size;
} scripts[] = {{szgi_asset_frame, szgi_asset_frame_sha256, &szgi_asset_frame_size},
               {szgi_asset_report, szgi_asset_report_sha256, &szgi_asset_report_size},
               {szgi_asset_figures, szgi_asset_figures_sha256, &szgi_asset_figures_size}};
enum { SCRIPTS = sizeof scripts / sizeof *scripts };

/* No source but what stands in the file: a name that got past the escaping could load nothing and
 * run nothing. */
static void print_head(const page *page) {
    FILE *stream = page->stream;
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src",
          stream);
    for (int i = 0; i < SCRIPTS; i++)
        fprintf(stream, " 'sha256-%s'", scripts[i].sha256);
    fputs("; img-src data:; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"szego\">\n<link rel=\"icon\" href=\"data:,\">\n"
          "<title>",
          stream);
    print_name(page);
    fputs(": " SUBJECT " (szego report)</title>\n<style>\n", stream);
    print_asset(page, szgi_asset_page, szgi_asset_page_size);
    print_asset(page, szgi_asset_figure, szgi_asset_figure_size);
    fputs("</style>\n</head>\n<body>\n", stream);
}

static void print_scripts(const page *page) {
    for (int i = 0; i < SCRIPTS; i++) {
        fputs("<script>", page->stream);
        print_asset(page, scripts[i].text, *scripts[i].size);
        fputs("</script>\n", page->stream);
    }
}

static void print_header(const page *page) {
    FILE *stream = page->stream;
    fputs("<header>\n<button type=\"button\" id=\"theme\">dark or light</button>\n<h1>" SUBJECT
          "</h1>\n<p class=\"from\">Results in <code>",
          stream);
    szgi_html_text(stream, szgi_collection_folder(page->results));
    fputs("</code>, drawn by szego ", stream);
    szgi_html_print(stream, "%s (%s)", szg_version(), szg_commit());
    fputs(". <a href=\"#provenance\">What was run</a></p>\n"
          "<noscript><p class=\"warning\">Figures, captions and tables need no JavaScript. "
          "Downloads, previews and values by touch do.</p></noscript>\n",
          stream);
    szgi_page_print_bad(page);
    fputs("</header>\n", stream);
}

static bool is_present(const page *page, const section *section) {
    bool any = !section->is_present && !section->tables[0];
    bool present = section->is_present ? section->is_present(page->results)
                                       : any && szg_collection_tables(page->results) > 0;
    for (const char *const *name = section->tables; *name; name++) {
        const szg_table *table = szgi_collection_find(page->results, *name);
        present = present || (table && szg_table_rows(table) > 0);
    }
    return present;
}

static szg_status draw_section(page *page, const section *section) {
    SZG_TRY(szgi_context_check_cancel(page->context));
    page->section = section->id;
    page->title = section->title;
    page->figures = page->headings = 0;
    szgi_page_list_section(page);
    fprintf(page->stream, "<section id=\"%s\">\n", section->id);
    szgi_html_title(page->stream, section->id, section->title);
    SZG_TRY(section->run(page, section));
    fputs("</section>\n", page->stream);
    szgi_page_list_end(page);
    return page->status;
}

static szg_status draw_present(page *page) {
    for (const section *const *at = szgi_section_table; *at; at++)
        if (is_present(page, *at))
            SZG_TRY(draw_section(page, *at));
    return SZG_OK;
}

/* Sections are drawn before anything is printed: what they find stands before them. */
static szg_status draw_sections(page *page, szgi_text *body) {
    SZG_TRY(szgi_text_open(page->context, body));
    page->stream = body->stream;
    SZG_TRY(szgi_text_end(body, draw_present(page)));
    return szgi_page_end_asides(page);
}

static szg_status print_page(page *page, const szgi_text *body) {
    FILE *stream = page->stream;
    print_head(page);
    print_header(page);
    szgi_page_print_contents(page);
    fputs("<main>\n", stream);
    szgi_page_print_findings(page);
    fwrite(body->text, 1, (size_t)body->length, stream);
    szgi_page_print_data(page);
    SZG_TRY(szgi_page_print_provenance(page));
    fputs(
        "</main>\n<footer><p>One file: it loads nothing and works from disk. Each figure links to "
        "the rows that it was drawn from, as CSV that reads back exactly. The folder holds the "
        "same tables.</p></footer>\n",
        stream);
    print_scripts(page);
    fputs("</body>\n</html>\n", stream);
    return SZG_OK;
}

static szg_status make_page(page *page) {
    FILE *file = page->stream;
    szgi_text body;
    szg_status status = draw_sections(page, &body);
    page->stream = file;
    if (status == SZG_OK)
        status = print_page(page, &body);
    szgi_text_close(&body);
    return status;
}

static void free_parts(page *page) {
    szgi_text_close(&page->findings);
    szgi_text_close(&page->contents);
    for (int64_t i = 0; i < page->count; i++)
        szgi_memory_free(page->embedded[i].bytes);
    szgi_memory_free(page->embedded);
}

/* Numbers have a decimal point whatever locale an embedding program chose. */
static szg_status print_in_c_locale(page *page) {
    void *callers = szgi_locale_enter();
    szg_status status = make_page(page);
    szgi_locale_leave(callers);
    return status;
}

szg_status szg_page_write(szg_context *context, const szg_collection *collection,
                          const char *path) {
    SZGI_ENTER(context);
    page page = {.context = context, .results = collection};
    szgi_writer *writer;
    SZG_TRY(szgi_writer_open(context, path, &writer));
    page.stream = szgi_writer_stream(writer);
    szg_status status = print_in_c_locale(&page);
    free_parts(&page);
    if (status == SZG_OK)
        return szgi_writer_commit(context, &writer);
    szgi_writer_discard(&writer);
    return szgi_fail_prefix(context, status, "%s", path);
}

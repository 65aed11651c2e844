/* Which results could not be read, at the top; which were, and how they were made, at the end. */
#include <inttypes.h>

#include "base/memory.h"
#include "formats/json.h"
#include "formats/result.h"

#include "page_private.h"

enum {
    MOST_RESULTS = 500,  /* more are counted */
    SHOWN_TEXT = 2000,   /* characters of an argument list */
    MOST_ARGUMENTS = 200 /* of one result */
};

void szgi_page_print_bad(const page *page) {
    int64_t count = szg_collection_bad_count(page->results);
    FILE *stream = page->stream;
    if (count == 0)
        return;
    fprintf(stream,
            "<div class=\"warning\" id=\"bad\"><p>%" PRId64 " result%s could not be read, and %s "
            "missing here:</p><ul>\n",
            count, count == 1 ? "" : "s", count == 1 ? "is" : "are");
    for (int64_t i = 0; i < count && i < MOST_RESULTS; i++) {
        fputs("<li>", stream);
        szgi_html_clipped(stream, szg_collection_bad(page->results, i), SHOWN_TEXT);
        fputs("</li>\n", stream);
    }
    if (count > MOST_RESULTS)
        fprintf(stream, "<li>and %" PRId64 " more</li>\n", count - MOST_RESULTS);
    fputs("</ul></div>\n", stream);
}

/* A text as it is, anything else as JSON; what is not there prints nothing. */
static szg_status print_value(page *page, szgi_json_value value) {
    szgi_json_kind kind = szgi_json_kind_of(value);
    const char *text;
    char *json;
    if (kind == SZGI_JSON_ABSENT || kind == SZGI_JSON_NULL)
        return SZG_OK;
    if (kind == SZGI_JSON_TEXT) {
        SZG_TRY(szgi_json_as_text(page->context, value, &text));
        szgi_html_clipped(page->stream, text, SHOWN_TEXT);
        return SZG_OK;
    }
    SZG_TRY(szgi_json_text(page->context, value, 0, &json));
    szgi_html_clipped(page->stream, json, SHOWN_TEXT);
    szgi_memory_free(json);
    return SZG_OK;
}

static szg_status print_arguments(page *page, szgi_json_value list) {
    if (szgi_json_kind_of(list) != SZGI_JSON_ARRAY)
        return print_value(page, list);
    int64_t count = szgi_json_count(list);
    for (int64_t i = 0; i < count && i < MOST_ARGUMENTS; i++) {
        fputs(i ? " " : "", page->stream);
        SZG_TRY(print_value(page, szgi_json_element(list, i)));
    }
    if (count > MOST_ARGUMENTS)
        fprintf(page->stream, " … (%" PRId64 " more)", count - MOST_ARGUMENTS);
    return SZG_OK;
}

/* One result: folded, with its path and its command in view. */
static szg_status print_result(page *page, int64_t index) {
    static const char *const members[] = {"version", "commit", "backend", "seed"};
    FILE *stream = page->stream;
    const szg_result *result = szgi_collection_result(page->results, index);
    szgi_json_value provenance = szgi_json_root(szgi_result_provenance(result));
    fputs("<details><summary><code>", stream);
    szgi_html_text(stream, szgi_collection_path(page->results, index));
    fputs("</code>: ", stream);
    szgi_html_text(stream, szg_result_command(result));
    fputs("</summary><dl>", stream);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        fprintf(stream, "<dt>%s</dt><dd>", members[i]);
        SZG_TRY(print_value(page, szgi_json_member(provenance, members[i])));
        fputs("</dd>\n", stream);
    }
    fputs("<dt>arguments</dt><dd><code>", stream);
    SZG_TRY(print_arguments(page, szgi_json_member(provenance, "arguments")));
    fputs("</code></dd></dl></details>\n", stream);
    return SZG_OK;
}

szg_status szgi_page_print_provenance(page *page) {
    FILE *stream = page->stream;
    int64_t count = szg_collection_count(page->results);
    fputs("<section id=\"provenance\">\n", stream);
    szgi_html_title(page->stream, "provenance", "What was run");
    fprintf(stream,
            "<p>%" PRId64
            " result%s, each with the command line, version and seed that made it.</p>\n",
            count, count == 1 ? "" : "s");
    for (int64_t i = 0; i < count && i < MOST_RESULTS; i++)
        SZG_TRY(print_result(page, i));
    if (count > MOST_RESULTS)
        fprintf(stream, "<p>And %" PRId64 " more.</p>\n", count - MOST_RESULTS);
    fputs("</section>\n", stream);
    return SZG_OK;
}

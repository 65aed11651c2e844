/* `szego report`: one HTML page of a folder of results. */
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include <szego/page.h>

#include "command.h"

typedef struct report_options {
    const char *folder;
} report_options;

static error_t parse(command_call *call, int key, char *argument, struct argp_state *state) {
    report_options *own = call->own;
    switch (key) {
    case ARGP_KEY_ARG:
        if (own->folder)
            argp_error(state, "one DIR is reported, '%s' is a second one", SHOWN(argument));
        own->folder = argument;
        return 0;
    case ARGP_KEY_END:
        if (!own->folder)
            argp_error(state, "DIR is missing: a folder of results, as -o DIR/ of the other "
                              "commands writes it");
        if (call->shared.format)
            argp_error(state, "--format: a report is an HTML page; `szego export` has the tables");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The page's own path: `given` where that is a file, else report.html in that folder, which is
 * made. No other ending: a slip of the hand would put the page in place of a table. */
static szg_status name_page(command_call *call, const char *given, char **out) {
    size_t length = strlen(given);
    bool ends_in_slash = length > 0 && given[length - 1] == '/';
    bool folder = szgi_result_form_of(given) == SZGI_RESULT_FOLDER;
    if (!folder && !szgi_path_ends(given, ".html"))
        return szgi_fail(call->context, SZG_EINVAL,
                         "output %s: end it in .html, or in / for report.html in a folder", given);
    if (!folder)
        return szgi_memory_copy_text(call->context, given, out);
    SZG_TRY(szgi_folder_create(call->context, given));
    int64_t size = (int64_t)length + 32;
    SZG_TRY(szgi_memory_alloc(call->context, size, out));
    snprintf(*out, (size_t)size, "%s%sreport.html", given, ends_in_slash ? "" : "/");
    return SZG_OK;
}

/* What could not be read is told, and decides the exit code; the page stands all the same. */
static szg_status tell_bad(command_call *call, const szg_collection *results) {
    int64_t bad = szg_collection_bad_count(results);
    for (int64_t i = 0; i < bad; i++)
        szgi_say(call->context, SZG_WARNING, "left out: %s", szg_collection_bad(results, i));
    if (bad > 0)
        return szgi_fail(call->context, SZG_EDATA,
                         "%" PRId64 " of the results could not be read; the rest is in the report",
                         bad);
    return SZG_OK;
}

static szg_status write_page(command_call *call, const szg_collection *results, const char *given) {
    char *path;
    SZG_TRY(name_page(call, given, &path));
    szg_status status = szg_page_write(call->context, results, path);
    if (status == SZG_OK)
        szgi_say(call->context, SZG_NOTE, "wrote %s", path);
    szgi_memory_free(path);
    return status;
}

szg_status report_folder(command_call *call, const char *folder, const char *output) {
    szg_collection *results;
    SZG_TRY(szg_collection_open(call->context, folder, &results));
    szg_status status = write_page(call, results, output);
    if (status == SZG_OK)
        status = tell_bad(call, results);
    szg_collection_close(&results);
    return status;
}

static szg_status run(command_call *call) {
    const report_options *own = call->own;
    return report_folder(call, own->folder,
                         call->shared.output ? call->shared.output : own->folder);
}

static const command_example examples[] = {
    {"szego report results/", "Writes results/report.html."},
    {"szego report results/ -o page.html", "Writes page.html."},
    {0}};

const command command_report = {
    .name = "report",
    .summary = "one HTML page of a folder of results: plots with the rows behind them",
    .arguments = "DIR",
    .doc = "Draws every result in DIR and below it, found by manifest.json alone, into one HTML "
           "page that loads nothing: a section for each kind of result, each plot with the rows "
           "that it was drawn from. -o names the page (default: DIR/report.html). Results that "
           "cannot be read are named in the page and give exit status 3.",
    .own_size = sizeof(report_options),
    .parse = parse,
    .run = run,
    .examples = examples,
};

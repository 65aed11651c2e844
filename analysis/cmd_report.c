/* `szego report`: one HTML page of a folder of results. The Python package draws it. */
#include <inttypes.h>
#include <stdio.h>

#include "script.h"

typedef struct report_options {
    const char *folder;
} report_options;

static const command_option options[] = {
    OPTION(report_options, folder, NULL, "DIR", "only one DIR is accepted",
           .missing = "DIR is missing: name a folder that a command wrote with -o DIR/"),
    {0}};

static const command_option common[] = {
    OPTION(
        shared_options, output, "output", "PATH",
        "the page, FILE.html, or a folder (DIR/) for report.html; default: DIR/report.html of the "
        "folder that is reported",
        .letter = 'o'),
    OPTION(shared_options, threads, "threads", "N",
           "processes that draw (default: one for each processor)", .least = 1, .most = 1024),
    {0}};

static szg_status run(command_call *call) {
    const report_options *own = call->own;
    char threads[32];
    if (call->shared.threads == 0)
        return script_run(call, call->command, (const char *[]){"--", own->folder, NULL});
    snprintf(threads, sizeof threads, "--threads=%" PRId64, call->shared.threads);
    return script_run(call, call->command, (const char *[]){threads, "--", own->folder, NULL});
}

static const command_example examples[] = {
    {"szego report results/", "Writes results/report.html."},
    {"szego report results/ -o page.html", "Writes page.html."},
    {0}};

const command command_report = {
    .name = "report",
    .summary = "one HTML page of a folder of results: plots with links to their data",
    .doc = "Draws all results in DIR and its subfolders into one self-contained HTML page. A "
           "result is a folder with a manifest.json. The page has a section for each kind of "
           "result, and each plot links to its data. -o names the page (default: DIR/report.html). "
           "The page names results that cannot be read; the exit status is then 3. This command "
           "needs Python with NumPy, Matplotlib and Jinja2, and the Python package szego.",
    .options = options,
    .own_size = sizeof(report_options),
    .common = common,
    .run = run,
    .examples = examples,
    .needs = "numpy matplotlib jinja2",
};

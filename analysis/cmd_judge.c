/* `szego judge`: what the runs of an experiment show. The Python package judges. */
#include <string.h>

#include <szego/reproduce.h>

#include "script.h"

typedef struct judge_options {
    const char *folder, *preset;
} judge_options;

static const command_option options[] = {
    OPTION(judge_options, preset, "preset", "NAME",
           "the preset of the runs, if DIR has no manifest.json: its name, or a preset file "
           "(FILE.json)",
           .list = &words_presets),
    OPTION(judge_options, folder, NULL, "DIR", "only one DIR is accepted",
           .missing = "DIR is missing: name a folder that `szego reproduce -o DIR/` wrote"),
    {0}};

static const command_option common[] = {
    OPTION(
        shared_options, output, "output", "PATH",
        "the folder (DIR/) that gets a CSV file for each table; it may be the one that is judged",
        .letter = 'o'),
    {0}};

/* As `szego reproduce` checks it. What DIR's manifest holds has been checked before it was written.
 */
static szg_status check_preset(const command_call *call, const char *path) {
    szg_reproduction *reproduction;
    szg_reproduction_options wanted = {SZG_INIT(szg_reproduction_options), .preset = path};
    SZG_TRY(szg_reproduction_open(call->context, &wanted, &reproduction));
    szg_reproduction_close(&reproduction);
    return SZG_OK;
}

static szg_status run(command_call *call) {
    const judge_options *own = call->own;
    char path[PATH_MAX], preset[PATH_MAX + 16];
    if (!own->preset)
        return script_run(call, call->command, (const char *[]){"--", own->folder, NULL});
    SZG_TRY(preset_path(call, own->preset, path));
    SZG_TRY(check_preset(call, path));
    snprintf(preset, sizeof preset, "--preset=%s", path);
    return script_run(call, call->command, (const char *[]){preset, "--", own->folder, NULL});
}

static const command_example examples[] = {
    {"szego judge results/", "Table 1 and the tests of the runs in results/."},
    {"szego judge results/ -o judged/", "Every table, as CSV files in judged/."},
    {0}};

const command command_judge = {
    .name = "judge",
    .summary = "Table 1, comparisons and tests of hypotheses from the runs of an experiment",
    .doc =
        "Reads the runs that `szego reproduce -o DIR/` left in DIR and judges them: Table 1, "
        "the sweep over rotated heads, the effect of each switch, the heads of each run, "
        "hypotheses, and relations between numbers of the runs. Nothing is trained. This command "
        "needs Python with NumPy and SciPy, and the Python package szego.",
    .options = options,
    .own_size = sizeof(judge_options),
    .common = common,
    .run = run,
    .examples = examples,
    .topics = "presets",
    .needs = "numpy scipy",
};

/* `szego judge`: what the runs of an experiment show. The Python package judges. */
#include <string.h>

#include "base/text.h"

#include "script.h"

enum { KEY_PRESET = 0xF00 };

static const struct argp_option options[] = {
    {"preset", KEY_PRESET, "NAME", 0,
     "which runs were to be made, if DIR has no manifest.json: a preset, or a preset file "
     "(FILE.json)",
     0},
    {0}};

typedef struct judge_options {
    const char *folder, *preset;
} judge_options;

static error_t parse(command_call *call, int key, char *argument, struct argp_state *state) {
    judge_options *own = call->own;
    switch (key) {
    case KEY_PRESET:
        own->preset = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (own->folder)
            argp_error(state, "one DIR is judged, '%s' is a second one", SHOWN(argument));
        own->folder = argument;
        return 0;
    case ARGP_KEY_END:
        if (!own->folder)
            argp_error(state, "DIR is missing: a folder that `szego reproduce -o DIR/` wrote");
        if (call->shared.format)
            argp_error(state, "--format: what is judged is printed for people; -o DIR/ writes the "
                              "tables");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static szg_status run(command_call *call) {
    const judge_options *own = call->own;
    char path[PATH_MAX], preset[PATH_MAX + 16];
    if (!own->preset)
        return script_run(call, call->command, (const char *[]){"--", own->folder, NULL});
    SZG_TRY(preset_path(call, own->preset, path));
    snprintf(preset, sizeof preset, "--preset=%s", path);
    return script_run(call, call->command, (const char *[]){preset, "--", own->folder, NULL});
}

static const option_words words[] = {{KEY_PRESET, NULL, &words_presets}, {0}};

static const command_example examples[] = {
    {"szego judge results/", "Table 1 and the tests of the runs in results/."},
    {"szego judge results/ -o judged/", "Every table, as CSV files in judged/."},
    {0}};

const command command_judge = {
    .name = "judge",
    .summary = "Table 1, comparisons and tests of hypotheses from the runs of an experiment",
    .arguments = "DIR",
    .doc = "Reads the runs that `szego reproduce -o DIR/` left in DIR and judges them: Table 1, "
           "the sweep over rotated heads, what each switch changes, the arms with their "
           "confidence intervals, hypotheses and the relations between heads. Nothing is trained. "
           "This command needs Python with NumPy and SciPy, and the Python package szego.",
    .argp = options,
    .own_size = sizeof(judge_options),
    .parse = parse,
    .run = run,
    .examples = examples,
    .words = words,
    .topics = "presets",
    .needs = "numpy scipy",
};

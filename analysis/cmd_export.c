/* `szego export`: a folder of results as a NumPy archive, joined CSV files or a Jupyter notebook. The
 * Python package writes it. */
#include <stdio.h>

#include "base/text.h"

#include "script.h"

enum { KEY_TO = 0x300 };

typedef struct export_options {
    const char *folder, *form;
} export_options;

static const struct argp_option options[] = {
    {"to", KEY_TO, "FORM", 0,
     "npz: one file for numpy.load; csv: a folder with a CSV file a table and manifest.json; "
     "ipynb: a Jupyter notebook, and the npz that it loads beside it",
     0},
    {0}};

static const char form_names[] = "npz|csv|ipynb";

static error_t parse(command_call *call, int key, char *argument, struct argp_state *state) {
    export_options *own = call->own;
    switch (key) {
    case KEY_TO:
        parse_choice(state, "--to", argument, form_names);
        own->form = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (own->folder)
            argp_error(state, "one DIR is exported, '%s' is a second one", SHOWN(argument));
        own->folder = argument;
        return 0;
    case ARGP_KEY_END:
        if (!own->folder)
            argp_error(state, "DIR is missing: a folder that holds results");
        if (!own->form)
            argp_error(state, "--to is missing: npz, csv or ipynb");
        if (call->shared.format)
            argp_error(state, "--format: an export writes files; --to says of which form");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static szg_status run(command_call *call) {
    const export_options *own = call->own;
    char form[32];
    snprintf(form, sizeof form, "--to=%s", own->form);
    return script_run(call, call->command, (const char *[]){form, "--", own->folder, NULL});
}

static const command_example examples[] = {
    {"szego export results/ --to csv", "Joined CSV files in results/export/."},
    {"szego export results/ --to ipynb -o results.ipynb",
     "A notebook, and the arrays that it loads."},
    {0}};

static const option_words words[] = {{KEY_TO, form_names, NULL}, {0}};

const command command_export = {
    .name = "export",
    .summary = "results as a NumPy archive, joined CSV files or a Jupyter notebook",
    .arguments = "DIR",
    .doc = "Every table of every result in DIR and below it, joined by command and table: "
           "train_metrics holds the metrics of all trainings, with the result's folder in each "
           "row. -o says where they go; the default is DIR/export.npz, DIR/export/ or "
           "DIR/export.ipynb. This command needs Python with NumPy and nbformat, and the Python "
           "package szego.",
    .argp = options,
    .own_size = sizeof(export_options),
    .parse = parse,
    .run = run,
    .examples = examples,
    .words = words,
    .needs = "numpy nbformat",
};

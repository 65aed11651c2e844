/* `szego export`: a folder of results as a NumPy archive, joined CSV files or a Jupyter notebook.
 * The Python package writes it. */
#include <stdio.h>

#include "script.h"

typedef struct export_options {
    const char *folder, *form;
} export_options;

static const command_option options[] = {
    OPTION(export_options, folder, NULL, "DIR", "only one DIR is accepted",
           .missing = "DIR is missing: name a folder that holds results"),
    OPTION(export_options, form, "to", "FORM",
           "npz: one file for numpy.load; csv: a folder with one CSV file per table and "
           "manifest.json; ipynb: a Jupyter notebook, and beside it the npz that it loads",
           .choices = "npz|csv|ipynb", .missing = "--to is missing: choose npz, csv or ipynb"),
    {0}};

static const command_option common[] = {
    OPTION(
        shared_options, output, "output", "PATH",
        "where the export goes: FILE.npz, FILE.ipynb, or with --to csv a folder (DIR/); default: "
        "export.npz, export.ipynb or export/ in the folder that is exported",
        .letter = 'o'),
    {0}};

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

const command command_export = {
    .name = "export",
    .summary = "results as a NumPy archive, joined CSV files or a Jupyter notebook",
    .doc = "Exports all tables in DIR and its subfolders. Tables with the same command and name "
           "are joined: train_metrics holds the metrics of all trainings, with the result's folder "
           "in each row. -o names the output; the default is DIR/export.npz, DIR/export/ or "
           "DIR/export.ipynb. This command needs Python with NumPy and nbformat, and the Python "
           "package szego.",
    .options = options,
    .own_size = sizeof(export_options),
    .common = common,
    .run = run,
    .examples = examples,
    .needs = "numpy nbformat",
};

/* `szego export`: a folder of results as a NumPy archive, joined CSV files or a Jupyter notebook.
 */
#include <inttypes.h>
#include <string.h>

#include <szego/export.h>
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include "command.h"

enum { KEY_TO = 0x300 };

typedef szg_status export_fn(szg_context *context, const szg_collection *collection,
                             const char *path);

/* What --to takes. */
typedef struct export_form {
    const char *name, *ending; /* of -o */
    const char *standard;      /* below DIR, where -o is not given */
    export_fn *write;
} export_form;

static const export_form forms[] = {{"npz", ".npz", "export.npz", szg_export_npz},
                                    {"csv", "/", "export/", szg_export_csv},
                                    {"ipynb", ".ipynb", "export.ipynb", szg_export_notebook}};

typedef struct export_options {
    const char *folder;
    const export_form *form;
} export_options;

static const struct argp_option options[] = {
    {"to", KEY_TO, "FORM", 0,
     "npz: one file for numpy.load; csv: a folder with a CSV file a table and manifest.json; "
     "ipynb: a Jupyter notebook, and the npz that it loads beside it",
     0},
    {0}};

static const char form_names[] = "npz|csv|ipynb"; /* in the order of `forms` */

static error_t parse(command_call *call, int key, char *argument, struct argp_state *state) {
    export_options *own = call->own;
    switch (key) {
    case KEY_TO:
        own->form = &forms[parse_choice(state, "--to", argument, form_names)];
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

/* Where the export goes: -o, whose ending must be the form's, or its place in DIR. */
static szg_status choose_path(command_call *call, char **out) {
    const export_options *own = call->own;
    const char *path = call->shared.output, *ending = own->form->ending;
    *out = NULL;
    if (!path) {
        int64_t size = (int64_t)(strlen(own->folder) + strlen(own->form->standard) + 2);
        SZG_TRY(szgi_memory_alloc(call->context, size, out));
        bool slash = strlen(own->folder) > 0 && own->folder[strlen(own->folder) - 1] == '/';
        snprintf(*out, (size_t)size, "%s%s%s", own->folder, slash ? "" : "/", own->form->standard);
        return SZG_OK;
    }
    bool folder = strcmp(ending, "/") == 0;
    bool named = strlen(path) > strlen(ending) && szgi_path_ends(path, ending);
    if (folder ? szgi_result_form_of(path) == SZGI_RESULT_FOLDER : named)
        return szgi_memory_copy_text(call->context, path, out);
    return szgi_fail(call->context, SZG_EINVAL, "output %s: end it in %s for --to %s%s", path,
                     ending, own->form->name, folder ? ", which writes a folder" : "");
}

/* Writes what was read; what could not be read decides the exit code. */
static szg_status write_all(command_call *call, const szg_collection *collection,
                            const char *path) {
    const export_options *own = call->own;
    int64_t bad = szg_collection_bad_count(collection);
    SZG_TRY(own->form->write(call->context, collection, path));
    int64_t tables = szg_collection_tables(collection), results = szg_collection_count(collection);
    szgi_say(call->context, SZG_NOTE, "wrote %s: %" PRId64 " table%s of %" PRId64 " result%s", path,
             tables, tables == 1 ? "" : "s", results, results == 1 ? "" : "s");
    for (int64_t i = 0; i < bad; i++)
        szgi_say(call->context, SZG_WARNING, "left out: %s", szg_collection_bad(collection, i));
    if (bad > 0)
        return szgi_fail(call->context, SZG_EDATA,
                         "%" PRId64 " of the results could not be read and are not in %s; the rest "
                         "is complete",
                         bad, path);
    return SZG_OK;
}

static szg_status run(command_call *call) {
    const export_options *own = call->own;
    char *path;
    szg_collection *collection;
    SZG_TRY(choose_path(call, &path));
    szg_status status = szg_collection_open(call->context, own->folder, &collection);
    if (status == SZG_OK)
        status = write_all(call, collection, path);
    szg_collection_close(&collection);
    szgi_memory_free(path);
    return status;
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
           "DIR/export.ipynb.",
    .options = options,
    .own_size = sizeof(export_options),
    .parse = parse,
    .run = run,
    .examples = examples,
    .words = words,
};

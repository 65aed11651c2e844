#include "specs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coupling/coupling.h"
#include "formats/result.h"
#include "base/memory.h"
#include "base/text.h"

/* `field` is that of the specs, with which specs_options begins. */
void specs_take_file(const command_option *row, void *field, const char *path,
                     struct argp_state *state) {
    specs_options *options = field;
    char *spec = NULL;
    (void)row;
    if (asprintf(&spec, "file:path=%s", path) < 0)
        argp_failure(state, EXIT_INTERNAL, 0, "out of memory");
    parse_text(state, spec, &options->keep);
    parse_text(state, spec, &options->specs);
}

bool specs_names_encoding(const char *text) {
    for (int64_t i = 0; i < szgi_encoding_classes(); i++)
        if (szgi_spec_names(text, szgi_encoding_class_at(i)->name))
            return true;
    return false;
}

/* The list of encodings would be no help to whoever names a file. The keys of a SPEC whose name is
 * misspelled may name one, and its own message then knows the closest name. */
void specs_refuse_file(const command_option *row, void *field, const char *path,
                       struct argp_state *state) {
    (void)row, (void)field;
    const char *shown = SHOWN(path);
    bool there = access(path, F_OK) == 0;
    if (specs_names_encoding(path) || (strchr(path, '=') && !there))
        return;
    if (szgi_path_ends(path, ".npy"))
        argp_error(state,
                   "'%s' is a file, not a SPEC: --coefficients %s reads it as Toeplitz "
                   "coefficients, `szego logits %s` as logits",
                   shown, shown, shown);
    if (szgi_path_ends(path, ".csv") || szgi_path_ends(path, ".txt"))
        argp_error(state,
                   "'%s' is a file, not a SPEC: --coefficients %s reads it as Toeplitz "
                   "coefficients",
                   shown, shown);
    if (szgi_path_ends(path, ".safetensors"))
        argp_error(state,
                   "'%s' is a file, not a SPEC: `szego checkpoint %s` reads it as weights, "
                   "`szego logits %s` as logits",
                   shown, shown, shown);
    if (strchr(path, '/') || there)
        argp_error(state,
                   "'%s' is a file or folder, not a SPEC: `szego help specs` lists the "
                   "encodings",
                   shown);
}

void specs_free(specs_options *options) {
    for (int64_t i = 0; i < options->keep.count; i++)
        free((void *)options->keep.value[i]);
    szgi_memory_free((void *)options->keep.value);
}

typedef struct visit_job {
    szg_context *context;
    const integer_list *orders;
    specs_visit *visit;
    void *user;
    int64_t done, total; /* in units of one encoding at one order */
} visit_job;

static szg_status visit_heads(visit_job *job, const szg_encoding *encoding) {
    char what[SZGI_SHOWN];
    snprintf(what, sizeof what, "matrices: %.*s", SZGI_SHOWN - 16, szg_encoding_spec(encoding));
    for (int64_t i = 0; i < job->orders->count; i++) {
        for (int64_t head = 0; head < szg_encoding_heads(encoding); head++) {
            SZG_TRY(szgi_context_check_cancel(job->context));
            SZG_TRY(job->visit(job->user, encoding, job->orders->value[i], head));
        }
        szgi_progress(job->context, what, ++job->done, job->total);
    }
    return SZG_OK;
}

szg_status specs_run(szg_context *context, const specs_options *options, specs_visit *visit,
                     void *user) {
    const text_list *specs = &options->specs;
    visit_job job = {
        context, &options->orders, visit, user, 0, specs->count * options->orders.count};
    for (int64_t i = 0; i < specs->count; i++) {
        szg_encoding *encoding;
        SZG_TRY(szg_encoding_parse(context, specs->value[i], &encoding));
        szg_status status = visit_heads(&job, encoding);
        szg_encoding_close(&encoding);
        SZG_TRY(status);
    }
    return SZG_OK;
}

bool specs_output_folder(const command_call *call) {
    const char *path = call->shared.output;
    return path && szgi_result_form_of(path) == SZGI_RESULT_FOLDER;
}

#include "specs.h"

#include <stdlib.h>
#include <string.h>

#include "coupling/coupling.h"
#include "formats/result.h"
#include "base/memory.h"

/* The largest order of any solver: 2 N still is an integer of 64 bits. */
static const int64_t ORDER_MOST = (int64_t)1 << 62;

static void describe_key(FILE *stream, const szgi_key *key) {
    fprintf(stream, "      %s", key->name);
    switch (key->type) {
    case SZGI_KEY_TEXT:
        fprintf(stream, "=FILE");
        break;
    case SZGI_KEY_CHOICE:
        fprintf(stream, "=%s", key->choices);
        break;
    case SZGI_KEY_LIST:
        fprintf(stream, "=LIST");
        break;
    default:
        fprintf(stream, "=%.7g..%.7g", key->min, key->max);
    }
    if (key->required)
        fprintf(stream, " (required)");
    else if (key->fallback)
        fprintf(stream, " (%s)", key->fallback);
    fprintf(stream, ": %s\n", key->doc);
}

static void describe_class(FILE *stream, const szgi_spec_class *class) {
    fprintf(stream, "    %s: %s", class->name, class->doc);
    if (class->reference)
        fprintf(stream, " (%s)", class->reference);
    fputc('\n', stream);
    for (int64_t i = 0; i < class->keys; i++)
        describe_key(stream, &class->key[i]);
}

void specs_describe(FILE *stream) {
    fprintf(stream, "A SPEC is NAME or NAME:key=value,key=value. Encodings, their keys, and "
                    "defaults in parentheses:\n");
    for (int64_t i = 0; i < szgi_encoding_classes(); i++)
        describe_class(stream, szgi_encoding_class_at(i));
    fprintf(stream, "Content, for --content:\n");
    for (int64_t i = 0; i < szgi_content_classes(); i++)
        describe_class(stream, szgi_content_class_at(i));
}

/* Appends the encoding of `file:path=PATH`. */
static void add_file(specs_options *options, const char *path, struct argp_state *state) {
    char *spec = NULL;
    if (asprintf(&spec, "file:path=%s", path) < 0)
        argp_failure(state, EXIT_INTERNAL, 0, "out of memory");
    parse_text(state, spec, &options->keep);
    parse_text(state, spec, &options->specs);
}

static void complete(specs_options *options, struct argp_state *state) {
    if (options->specs.count == 0)
        argp_error(state, "nothing to analyse: give --pe SPEC or --coefficients FILE");
    if (options->orders.count == 0)
        parse_integer_list(state, "-n", "512", 1, ORDER_MOST, &options->orders);
}

error_t specs_parse(specs_options *options, int key, const char *argument,
                    struct argp_state *state) {
    switch (key) {
    case SPECS_KEY_PE:
        parse_text(state, argument, &options->specs);
        return 0;
    case SPECS_KEY_COEFFICIENTS:
        add_file(options, argument, state);
        return 0;
    case 'n':
        parse_integer_list(state, "-n", argument, 1, ORDER_MOST, &options->orders);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': give encodings with --pe: szego %s --pe %s", argument,
                   state->name + strlen("szego "), argument);
        return EINVAL;
    case ARGP_KEY_END:
        complete(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void specs_free(specs_options *options) {
    for (int64_t i = 0; i < options->keep.count; i++)
        free((void *)options->keep.value[i]);
    szgi_memory_free((void *)options->keep.value);
    szgi_memory_free((void *)options->specs.value);
    szgi_memory_free(options->orders.value);
}

typedef struct visit_job {
    szg_context *context;
    const integer_list *orders;
    specs_visit *visit;
    void *user;
    int64_t done, total; /* in units of one encoding at one order */
} visit_job;

static szg_status visit_heads(visit_job *job, const szg_encoding *encoding) {
    for (int64_t i = 0; i < job->orders->count; i++) {
        for (int64_t head = 0; head < szg_encoding_heads(encoding); head++) {
            SZG_TRY(szgi_context_check_cancel(job->context));
            SZG_TRY(job->visit(job->user, encoding, job->orders->value[i], head));
        }
        szgi_progress(job->context, szg_encoding_spec(encoding), ++job->done, job->total);
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

int specs_parse_word(struct argp_state *state, const char *option, const char *text,
                     const char *const *words, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    argp_error(state, "%s: '%s' is unknown: %s, %s%s%s%s%s", option, text, words[0], words[1],
               count > 2 ? ", " : "", count > 2 ? words[2] : "", count > 3 ? ", " : "",
               count > 3 ? words[3] : "");
    return 0;
}

bool specs_output_folder(const command_call *call) {
    const char *path = call->shared.output;
    return path && szgi_result_form_of(path) == SZGI_RESULT_FOLDER;
}

/* `szego kernel`: the values by lag of encodings, or of the heads of a checkpoint. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "checkpoint/checkpoint.h"

#include "digest.h"
#include "display.h"
#include "model.h"
#include "specs.h"

typedef struct kernel_options {
    specs_options common;
    model_options model;
    const char *path, *layers, *heads;
    int64_t n;
} kernel_options;

static bool names_weights(const char *text) {
    return szgi_path_ends(text, ".safetensors") || szgi_path_ends(text, ".gguf") ||
           szgi_path_ends(text, ".json");
}

/* Toeplitz coefficients are named by an option, as everywhere. */
static bool names_coefficients(const char *text) {
    return szgi_path_ends(text, ".npy") || szgi_path_ends(text, ".csv") ||
           szgi_path_ends(text, ".txt");
}

static void take_source(const command_option *row, void *field, const char *text,
                        struct argp_state *state) {
    const command_call *call = state->input;
    kernel_options *own = call->own;
    bool there = access(text, F_OK) == 0;
    if (specs_names_encoding(text) && there)
        argp_error(state,
                   "'%s' is an encoding, and a file or folder here: --pe %s is the encoding, ./%s "
                   "the checkpoint",
                   SHOWN(text), SHOWN(text), SHOWN(text));
    if (specs_names_encoding(text) || names_coefficients(text) ||
        !(there || strchr(text, '/') || names_weights(text))) {
        specs_refuse_file(row, field, text, state);
        parse_text(state, text, field);
        return;
    }
    if (own->path)
        argp_error(state, "'%s' and '%s': only one checkpoint is accepted", SHOWN(own->path),
                   SHOWN(text));
    own->path = text;
}

static const command_option options[] = {
    OPTION(kernel_options, common.specs, "pe", "SPEC",
           "a positional encoding, as the operand SPEC; may be given several times",
           .list = &words_encodings),
    OPTION_BY(specs_take_file, kernel_options, common.specs, "coefficients", "FILE",
              "Toeplitz coefficients, one row per head: short for file:path=FILE"),
    OPTION(
        kernel_options, n, NULL, "N",
        "positions of an encoding, whose lags are below N in modulus; of a checkpoint's heads the "
        "lags below N, and 16 in each doubling beyond them (default 256)",
        .letter = 'n', .least = 1, .most = SPECS_ORDER_MOST, .fallback = "256"),
    OPTION(kernel_options, layers, "layers", "LIST", "of a checkpoint, only these layers: 0-7+12"),
    OPTION(kernel_options, heads, "heads", "LIST",
           "of a checkpoint, only these query heads of each layer"),
    MODEL_OPTIONS(kernel_options),
    MODEL_ADAPTER(kernel_options),
    OPTION_BY(take_source, kernel_options, common.specs, NULL, "SPEC...|PATH", NULL,
              .list = &words_encodings,
              .missing = "SPEC or PATH is missing: an encoding such as rope:dim=64 (`szego help "
                         "specs` lists them), --coefficients FILE, or a checkpoint"),
    {0}};

static void check_options(command_call *call, struct argp_state *state) {
    const kernel_options *own = call->own;
    bool model = own->layers || own->heads || own->model.config || own->model.prefix ||
                 own->model.revision || own->model.adapter || own->model.set.count > 0;
    if (own->path && own->common.specs.count > 0)
        argp_error(state,
                   "'%s' is a checkpoint and '%s' an encoding: give one checkpoint, or encodings",
                   SHOWN(own->path), SHOWN(own->common.specs.value[0]));
    if (!own->path && model)
        argp_error(
            state,
            "--layers, --heads, --config, --set, --prefix, --revision and --adapter belong to "
            "a checkpoint: leave them out, or name a PATH");
    if (own->path && own->n > SZG_CHECKPOINT_LAGS)
        argp_error(state, "-n %" PRId64 ": a head has at most %d lags", own->n,
                   SZG_CHECKPOINT_LAGS);
}

static void release(command_call *call) {
    kernel_options *own = call->own;
    specs_free(&own->common);
}

/* ---- Encodings ---- */

typedef struct kernel_job {
    command_call *call;
    szg_kernel_tables encodings;
    szg_checkpoint_tables checkpoint;
} kernel_job;

static szg_status visit(void *user, const szg_encoding *encoding, int64_t n, int64_t head) {
    kernel_job *job = user;
    for (int64_t matrix = 0; matrix < szg_encoding_matrices(encoding); matrix++)
        SZG_TRY(
            szg_kernel_tables_add(job->call->context, &job->encodings, encoding, head, matrix, n));
    return SZG_OK;
}

/* A person reads a column per matrix at some lags. */
static szg_status output_encodings(command_call *call, szg_kernel_tables *tables) {
    szg_table *lags;
    if (!display_is_for_a_person(call))
        return output_tables(call, 2, (szg_table * *[]){&tables->kernel, &tables->extrema}, NULL);
    SZG_TRY(digest_lags(call->context, tables->kernel, &lags));
    szg_status status = output_tables(call, 2, (szg_table * *[]){&lags, &tables->extrema}, NULL);
    szg_table_close(&lags);
    return status;
}

static szg_status run_encodings(command_call *call) {
    kernel_options *own = call->own;
    kernel_job job = {.call = call};
    own->common.orders = (integer_list){&own->n, 1};
    SZG_TRY(szg_kernel_tables_open(call->context, &job.encodings));
    szg_status status = specs_run(call->context, &own->common, visit, &job);
    if (status == SZG_OK)
        status = output_encodings(call, &job.encodings);
    szg_kernel_tables_close(&job.encodings);
    own->common.orders = (integer_list){0};
    return status;
}

/* ---- A checkpoint ---- */

/* A stack without a kernel is told, and the others are kept. */
static szg_status visit_stack(void *user, const szg_checkpoint *checkpoint) {
    kernel_job *job = user;
    const kernel_options *own = job->call->own;
    szg_context *context = job->call->context;
    const szg_checkpoint_options wanted = {SZG_INIT(szg_checkpoint_options),
                                           .layers = own->layers,
                                           .heads = own->heads,
                                           .kernel = own->n,
                                           .seed = job->call->shared.seed,
                                           .kernel_only = true};
    szg_checkpoint_tables tables;
    szg_checkpoint_facts facts = szg_checkpoint_describe(checkpoint);
    szg_status status = szg_checkpoint_analyse(context, checkpoint, &wanted, &tables);
    if (status == SZG_EDOMAIN && *facts.stack) {
        szgi_say(context, SZG_NOTE, "%s", szg_context_message(context));
        return SZG_OK;
    }
    SZG_TRY(status);
    status = szgi_checkpoint_tables_join(context, &job->checkpoint, &tables);
    szg_checkpoint_tables_close(&tables);
    return status;
}

static szg_status output_checkpoint(command_call *call, szg_checkpoint_tables *tables) {
    szg_table *shown;
    if (!display_is_for_a_person(call))
        return output_tables(call, 2, (szg_table * *[]){&tables->kernel, &tables->notes}, NULL);
    SZG_TRY(digest_kernel(call->context, tables->kernel, &shown));
    int64_t rows = szg_table_rows(shown), all = szg_table_rows(tables->kernel);
    szg_status status = output_tables(call, 2, (szg_table * *[]){&shown, &tables->notes}, NULL);
    szg_table_close(&shown);
    if (status == SZG_OK && rows < all)
        szgi_say(call->context, SZG_NOTE,
                 "the screen shows some lags, %" PRId64 " of %" PRId64
                 " rows: -o, csv and json have all",
                 rows, all);
    return status;
}

static szg_status run_checkpoint(command_call *call) {
    const kernel_options *own = call->own;
    kernel_job job = {.call = call};
    szg_status status = model_each_stack(call->context, &own->model, own->path, visit_stack, &job);
    if (status == SZG_OK && !job.checkpoint.kernel)
        status = szgi_fail(call->context, SZG_EDOMAIN,
                           "%s: no stack has a kernel over the lag: the notes say why", own->path);
    if (status == SZG_OK)
        status = output_checkpoint(call, &job.checkpoint);
    if (status == SZG_OK && job.checkpoint.bad > 0)
        status = szgi_fail(call->context, SZG_EDATA,
                           "skipped %" PRId64 " of the layers or heads: the notes say why; the "
                           "rest is complete",
                           job.checkpoint.bad);
    szg_checkpoint_tables_close(&job.checkpoint);
    return status;
}

static szg_status run(command_call *call) {
    const kernel_options *own = call->own;
    SZG_TRY(output_check(call));
    return own->path ? run_checkpoint(call) : run_encodings(call);
}

static const command_example examples[] = {
    {"szego kernel alibi:heads=4", "The bias of four heads by lag, on a screen."},
    {"szego kernel rope:dim=64 kms:rho=0.9 -n 1024 -o kernels/", "Every lag of two encodings."},
    {"szego kernel model/ --layers 0 --heads 0", "The kernels of one head of a checkpoint."},
    {0}};

const command command_kernel = {
    .name = "kernel",
    .summary = "values of an encoding, or of a checkpoint's heads, by lag",
    .doc =
        "Prints values by lag, the position of the query less that of the key. Of an encoding they "
        "are the entries of its matrix, for every head, and their extrema. Where the matrix is "
        "not Toeplitz they are means along diagonals, with their spread. A symmetric matrix "
        "lists lags 0 to N-1, others both signs; no mask is applied. Of a checkpoint they are "
        "two kernels of each head, beside what chance gives: `mean` is the expected logit of "
        "two independent tokens, `self` that of a token and its own copy. 95% of draws of random "
        "signs lie between mean_low and mean_high (self_low, self_high). No spectrum is "
        "computed. The screen shows some lags, of a checkpoint to three digits; -o, csv and json "
        "have all.",
    .options = options,
    .own_size = sizeof(kernel_options),
    .check = check_options,
    .run = run,
    .release = release,
    .examples = examples,
    .topics = "specs",
};

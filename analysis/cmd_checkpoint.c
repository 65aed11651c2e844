/* `szego checkpoint`: positional heads of a trained checkpoint, and spectra of every head. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint/checkpoint.h"
#include "base/memory.h"
#include "base/text.h"
#include "formats/npy.h"
#include "formats/result.h"

#include "command.h"
#include "digest.h"
#include "display.h"
#include "manual.h"
#include "model.h"
#include "terminal.h"

enum { LAG_MAX = 1 << 24 };

typedef struct checkpoint_options {
    model_options model;
    const char *path, *layers, *heads, *counts;
    int64_t positions, samples, kernel, top, context, draws;
    bool all, dry_run, raw, circuits;
    bool unknown;     /* so is the architecture: heads are none */
    char notes[2048]; /* lines on the model, and on what W_Q^T W_K leaves out, for the digest */
    integer_list lags;
    double *token_counts; /* of the file `counts` */
    int64_t token_count;
} checkpoint_options;

static void take_context(const command_option *row, void *field, const char *text,
                         struct argp_state *state) {
    *(int64_t *)field =
        strcmp(text, row->words) == 0
            ? SZG_CONTEXT_TRAINED
            : parse_integer(state, "--context N (or `trained`)", text, 1, (int64_t)1 << 40);
}

static void imply_circuits(const command_option *row, void *field, const char *text,
                           struct argp_state *state) {
    const command_call *call = state->input;
    (void)row, (void)field, (void)text;
    ((checkpoint_options *)call->own)->circuits = true;
}

static const command_option options[] = {
    MODEL_OPTIONS(checkpoint_options),
    MODEL_ADAPTER(checkpoint_options),
    OPTION(checkpoint_options, dry_run, "dry-run", NULL,
           "print what was resolved (the table `architecture`), and compute nothing"),
    OPTION(checkpoint_options, raw, "raw", NULL,
           "do not fold the gains of norms into the weights (default: those of input, query, key "
           "and latent norms are folded), bound no logit and compute no shares"),
    OPTION_BY(take_context, checkpoint_options, context, "context", "N",
              "bound the logits of rotary heads at the lags 0 to N - 1, which is sharper than at "
              "any lag (default) and takes one factorisation per lag; N may be `trained`, the "
              "length in the configuration",
              .words = "trained"),
    OPTION(checkpoint_options, positions, "positions", "N",
           "leading positions of the position table (default: all)", .letter = 'n', .least = 1,
           .most = (int64_t)1 << 40),
    OPTION(checkpoint_options, samples, "samples", "K",
           "samples of each Toeplitz part's symbol in the table `samples` (default 256)",
           .least = 1, .most = 1 << 24, .fallback = "256"),
    OPTION(checkpoint_options, kernel, "kernel", "N",
           "lags below N of each head's kernels in the table `kernel`, and 16 in each doubling "
           "beyond them (default 256; 0: none)",
           .most = SZG_CHECKPOINT_LAGS, .fallback = "256"),
    OPTION(checkpoint_options, counts, "token-counts", "FILE",
           "how often each token occurs in your text, by token id: FILE.npy of one axis, as "
           "numpy.bincount makes it; the mean kernels of layer 0 are then those of such tokens "
           "(default: each token of the vocabulary is as likely)"),
    OPTION(checkpoint_options, layers, "layers", "LIST",
           "only these layers: 0-7, or 0+2+5, or -1, the last; disjoint parts concatenate to the "
           "full result, and "
           "which heads stand out is judged in each part"),
    OPTION(checkpoint_options, heads, "heads", "LIST", "only these query heads of each layer"),
    OPTION(checkpoint_options, top, "top", "K",
           "for an unknown architecture, or with --config none: only the K largest singular values "
           "of each weight, with the error of each (table `top`); much faster for large weights",
           .least = 1, .most = (int64_t)1 << 40),
    OPTION(checkpoint_options, circuits, "circuits", NULL,
           "QK and OV circuits of every head in the table `circuits`, each beside a random "
           "baseline that --seed draws"),
    OPTION(checkpoint_options, lags, "lags", "K,...",
           "QK circuits with the rotation at these lags, place of the query minus place of the key "
           "(default 0: without rotation); implies --circuits",
           .least = -LAG_MAX, .most = LAG_MAX, .hook = imply_circuits),
    OPTION(checkpoint_options, draws, "draws", "N",
           "random circuits behind each baseline (default 200; 0: no baseline); implies --circuits",
           .most = 1 << 20, .fallback = "200", .hook = imply_circuits),
    OPTION(checkpoint_options, all, "all", NULL,
           "print every table, with one row per head, instead of a digest; -o, csv and json always "
           "have all rows"),
    OPTION(checkpoint_options, path, NULL, "PATH", "only one PATH is accepted",
           .missing = "PATH is missing: a safetensors or GGUF file, an index of shards, a model "
                      "folder, or a model of the Hugging Face hub, ORG/NAME"),
    {0}};

/* Which heads are positional, before any table; what a reader must know, behind them. */
static szg_status print_digest(command_call *call, szg_checkpoint_tables *tables) {
    const checkpoint_options *own = call->own;
    manual page = manual_text(stdout);
    digest found;
    szg_status status = digest_open(call->context, tables, own->notes, &found);
    if (status == SZG_OK) {
        terminal_clear(call->screen);
        manual_lines(&page, found.said.text);
        fputs(found.said.length > 0 ? "\n" : "", stdout);
        szg_table **const table[] = {&found.mean, &found.self, &found.layers, &found.weights,
                                     &tables->notes};
        status = output_tables(call, sizeof table / sizeof *table, table, NULL);
        fputs(found.notes.length > 0 ? "\n" : "", stdout);
        manual_lines(&page, found.notes.text);
    }
    digest_close(&found);
    if (status == SZG_OK)
        szgi_say(call->context, SZG_NOTE,
                 "a digest: --all prints every table, -o DIR/ writes them");
    return status;
}

/* Is the answer a digest, with sentences of its own? */
static bool wants_digest(const command_call *call) {
    const checkpoint_options *own = call->own;
    return !own->all && !own->dry_run && own->top == 0 && display_is_for_a_person(call);
}

static szg_status output(command_call *call, szg_checkpoint_tables *tables) {
    const checkpoint_options *own = call->own;
    if (own->dry_run)
        return output_tables(call, 1, (szg_table * *[]){&tables->architecture}, NULL);
    szg_table **table[SZGI_CHECKPOINT_TABLES];
    szgi_checkpoint_tables_list(tables, table);
    bool every = own->all || call->shared.output;
    if (own->top > 0 && !every)
        return output_tables(call, 1, (szg_table * *[]){&tables->top}, NULL);
    if (wants_digest(call))
        return print_digest(call, tables);
    return output_tables(call, every ? SZGI_CHECKPOINT_TABLES : 1, table, NULL);
}

/* Where the heads of one stack ("": the only one) are kept until the result is written; NULL: there
 * are none, or a result that is no folder has no such place. */
static const char *journal_of(const command_call *call, const char *stack, char path[PATH_MAX]) {
    const checkpoint_options *own = call->own;
    const char *folder = call->shared.output;
    if (own->dry_run || own->unknown || !folder ||
        szgi_result_form_of(folder) != SZGI_RESULT_FOLDER)
        return NULL;
    const char *slash = szgi_text_ends(folder, "/") ? "" : "/";
    int length = snprintf(path, PATH_MAX, "%s%scheckpoint%s%s.journal", folder, slash,
                          *stack ? "-" : "", stack);
    return length < PATH_MAX ? path : NULL;
}

/* Writes what was computed, in place of the journals of the stacks ("encoder+decoder"); what was
 * skipped decides the exit code. */
static szg_status write_tables(command_call *call, char *stacks, szg_checkpoint_tables *tables) {
    char path[PATH_MAX];
    SZG_TRY(output(call, tables));
    for (char *stack = strsep(&stacks, "+"); stack; stack = strsep(&stacks, "+"))
        if (journal_of(call, stack, path) && unlink(path) != 0 && errno != ENOENT)
            szgi_say(call->context, SZG_WARNING,
                     "%s: cannot be removed (%s): the result is complete; remove the file", path,
                     strerror(errno));
    if (tables->bad > 0)
        return szgi_fail(call->context, SZG_EDATA,
                         "skipped %" PRId64
                         " of the tensors or heads: the notes say why; the rest is "
                         "complete",
                         tables->bad);
    if (tables->unconverged > 0)
        return szgi_fail(call->context, SZG_ENOCONV,
                         "%" PRId64
                         " of the spectra did not converge: the notes say where; the rest is "
                         "complete",
                         tables->unconverged);
    return SZG_OK;
}

/* A line for the end of the digest, which begins with the answer. Stacks may say the same. */
static void keep_line(command_call *call, const char *format, const char *note) {
    checkpoint_options *own = call->own;
    char line[1024];
    size_t used = strlen(own->notes);
    if (!*note)
        return;
    szgi_print(line, sizeof line, format, note);
    if (!strstr(own->notes, line))
        szgi_print(own->notes + used, sizeof own->notes - used, "%s", line);
}

/* The shares know terms that W_Q^T W_K leaves out. */
static void keep_notes(command_call *call, const szg_checkpoint *checkpoint) {
    keep_line(call, "`sigma_max` is that of W_Q^T W_K alone (%s).\n",
              szgi_checkpoint_left_out(checkpoint));
    keep_line(call, "Of the model: %s.\n", szgi_checkpoint_note(checkpoint));
}

static void say_what(command_call *call, const szg_checkpoint *checkpoint) {
    szg_checkpoint_facts facts = szg_checkpoint_describe(checkpoint);
    if (facts.unknown)
        szgi_say(call->context, SZG_WARNING,
                 "%s: %s: singular values of every 2-D weight instead of heads", facts.source,
                 facts.unknown);
    else if (*facts.note && wants_digest(call))
        keep_notes(call, checkpoint);
    else if (*facts.note)
        szgi_say(call->context, SZG_NOTE, "%s: %s", facts.source, facts.note);
}

static szg_status analyse(command_call *call, const szg_checkpoint *checkpoint,
                          szg_checkpoint_tables *all) {
    const checkpoint_options *own = call->own;
    char journal[PATH_MAX];
    szg_checkpoint_options wanted = {
        SZG_INIT(szg_checkpoint_options),
        .positions = own->positions,
        .samples = own->samples,
        .layers = own->layers,
        .heads = own->heads,
        .dry_run = own->dry_run,
        .raw = own->raw,
        .kernel = own->kernel,
        .top = own->top,
        .circuits = own->circuits,
        .lags = own->lags.value,
        .lag_count = own->lags.count,
        .draws = own->draws,
        .seed = call->shared.seed,
        .context = own->context,
        .token_counts = own->token_counts,
        .token_count = own->token_count,
        .journal = journal_of(call, szg_checkpoint_describe(checkpoint).stack, journal)};
    szg_checkpoint_tables tables;
    SZG_TRY(szg_checkpoint_analyse(call->context, checkpoint, &wanted, &tables));
    szg_status status = szgi_checkpoint_tables_join(call->context, all, &tables);
    szg_checkpoint_tables_close(&tables);
    return status;
}

/* The tables of all stacks, and their names with a plus sign between. */
typedef struct checkpoint_job {
    command_call *call;
    szg_checkpoint_tables tables;
    char stacks[256];
} checkpoint_job;

static szg_status run_stack(void *user, const szg_checkpoint *checkpoint) {
    checkpoint_job *job = user;
    checkpoint_options *own = job->call->own;
    szg_checkpoint_facts facts = szg_checkpoint_describe(checkpoint);
    own->unknown = facts.unknown;
    snprintf(job->stacks, sizeof job->stacks, "%s", facts.unknown ? "" : facts.stacks);
    say_what(job->call, checkpoint);
    return analyse(job->call, checkpoint, &job->tables);
}

static szg_status take_counts(szg_context *context, const szgi_npy *npy, checkpoint_options *own) {
    if (szgi_npy_dims(npy) != 1 || szgi_npy_is_complex(npy))
        return szgi_fail(context, SZG_EDATA,
                         "%s: %d axes%s: a real array of one axis is needed, with a count for each "
                         "token id",
                         own->counts, szgi_npy_dims(npy),
                         szgi_npy_is_complex(npy) ? " of complex numbers" : "");
    own->token_count = szgi_npy_count(npy);
    SZG_TRY(szgi_memory_alloc(context, own->token_count + 1, &own->token_counts));
    SZG_TRY(szgi_npy_read_real(context, npy, 0, own->token_count, own->token_counts));
    return szgi_npy_check(context, npy);
}

static szg_status read_counts(szg_context *context, checkpoint_options *own) {
    szgi_npy *npy;
    if (!own->counts || own->dry_run)
        return SZG_OK;
    SZG_TRY(szgi_npy_open(context, own->counts, &npy));
    szg_status status = take_counts(context, npy, own);
    szgi_npy_close(&npy);
    return status;
}

static szg_status run(command_call *call) {
    checkpoint_options *own = call->own;
    checkpoint_job job = {.call = call};
    SZG_TRY(output_check(call));
    szg_status status = read_counts(call->context, own);
    if (status == SZG_OK)
        status = model_each_stack(call->context, &own->model, own->path, run_stack, &job);
    if (status == SZG_OK)
        status = write_tables(call, job.stacks, &job.tables);
    szg_checkpoint_tables_close(&job.tables);
    szgi_memory_free(own->token_counts);
    return status;
}

static const command_example examples[] = {
    {"szego checkpoint model/", "Which heads of a model are positional, at what distance?"},
    {"szego checkpoint model/ -o spectra/", "Shares, kernels and spectra of every head, in files."},
    {"szego checkpoint model/ --dry-run",
     "The architecture that szego recognises, and the keys that decide it."},
    {0}};

const command command_checkpoint = {
    .name = "checkpoint",
    .summary = "positional heads of a trained checkpoint, and spectra of every head",
    .doc =
        "Says which attention heads of a trained model are positional, at what distance, and "
        "whether that is more than chance: the share of the logits' variance that the lag "
        "explains, beside random signs. A person sees the heads that stand out, then a row per "
        "layer. Further tables have the singular values and eigenvalues of W_Q^T W_K of every "
        "head, its position-position term with the Toeplitz part's symbol, and the coupling of "
        "every rotary frequency. PATH is a safetensors file, an index of shards, a GGUF file, a "
        "model folder with config.json, or a model of the Hugging Face hub that is in its cache, "
        "ORG/NAME or ORG/NAME:FILE; missing keys have the defaults of the model's class. For "
        "an unknown architecture szego computes the singular values of every 2-D weight. With -o "
        "DIR/ finished heads are kept in DIR/checkpoint.journal, and after an interruption the "
        "same command continues.",
    .options = options,
    .own_size = sizeof(checkpoint_options),
    .run = run,
    .examples = examples,
};

/* `szego diff`: what changed between checkpoints, head by head, or between encodings. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "checkpoint/adapter.h"
#include "checkpoint/diff.h"
#include "contraction/encoding_diff.h"

#include "command.h"
#include "digest.h"
#include "display.h"
#include "manual.h"
#include "model.h"
#include "specs.h"
#include "terminal.h"

typedef struct diff_options {
    text_list paths;
    model_options model;
    int64_t top, order;
    bool previous, spectra, raw, encodings;
    char notes[2048]; /* what W_Q^T W_K leaves out, to be said behind the answer */
} diff_options;

static const command_option options[] = {
    OPTION(diff_options, previous, "to", "first|previous",
           "the checkpoint with which each one of a series is compared: the first one (default), "
           "or the one before",
           .choices = "first|previous"),
    OPTION(diff_options, top, "top", "R",
           "number of singular vectors whose span left_angle and right_angle measure (default 4)",
           .least = 1, .most = 1 << 20),
    OPTION(diff_options, spectra, "spectra", NULL,
           "also the table `diff_spectra`: every singular value of M_A, M_B, D2, D3 and M_B - M_A"),
    OPTION(diff_options, raw, "raw", NULL,
           "do not fold the gains of norms into the weights (default: those of input, query, key "
           "and latent norms are folded)"),
    MODEL_OPTIONS(diff_options),
    OPTION(diff_options, order, NULL, "N", "sequence length of encodings (default 512)",
           .letter = 'n', .least = 1, .most = (int64_t)1 << 40),
    OPTION(diff_options, paths, NULL, "PATH...|SPEC SPEC...", NULL, .list = &words_encodings,
           .missing = "PATH is missing: two or more checkpoints, or a folder of folders "
                      "checkpoint-STEP; or two encodings"),
    {0}};

/* What is there as a file or folder is a PATH, whatever its name; a SPEC begins with the name of an
 * encoding. */
static bool is_spec(const char *operand) {
    return access(operand, F_OK) != 0 && specs_names_encoding(operand);
}

/* An operand among encodings that is none: a checkpoint, or a name that nothing has. */
static void refuse_mixture(const diff_options *own, struct argp_state *state) {
    for (int64_t i = 0; i < own->paths.count; i++)
        if (!is_spec(own->paths.value[i]) && access(own->paths.value[i], F_OK) != 0)
            argp_error(state,
                       "'%s' is neither a file nor an encoding: `szego help specs` lists "
                       "the encodings",
                       SHOWN(own->paths.value[i]));
    argp_error(state, "checkpoints and encodings (SPEC) have nothing in common: give the one or "
                      "the other");
}

/* Options that would do nothing. */
static void refuse_unused(const diff_options *own, struct argp_state *state) {
    const char *unused = own->top > 0          ? "--top"
                         : own->spectra        ? "--spectra"
                         : own->model.revision ? "--revision"
                                               : "--raw";
    if (own->encodings && (own->top > 0 || own->spectra || own->raw || own->model.revision))
        argp_error(state, "%s is about checkpoints, and encodings (SPEC) are given: leave it out",
                   unused);
    if (!own->encodings && own->order > 0)
        argp_error(state, "-n is about encodings (SPEC), and checkpoints are given: leave it out");
}

static void complete(command_call *call, struct argp_state *state) {
    diff_options *own = call->own;
    int64_t specs = 0;
    for (int64_t i = 0; i < own->paths.count; i++)
        specs += is_spec(own->paths.value[i]);
    if (specs > 0 && specs < own->paths.count)
        refuse_mixture(own, state);
    if (specs == 1)
        argp_error(state, "'%s' has nothing to be compared with: a second SPEC is missing",
                   SHOWN(own->paths.value[0]));
    own->encodings = specs > 0;
    refuse_unused(own, state);
}

/* ---- Checkpoints ---- */

/* An adapter is compared over the first PATH, its base. */
static szg_status open_one(command_call *call, const char *path, const char *base,
                           const char *stack, szg_checkpoint **out) {
    const diff_options *own = call->own;
    szg_checkpoint_choices choices = model_choices(&own->model, stack);
    bool adapter;
    SZG_TRY(szgi_path_is_adapter(call->context, path, &adapter));
    if (adapter && base) {
        choices.adapter = path;
        path = base;
    }
    return szg_checkpoint_open_chosen(call->context, path, &choices, out);
}

/* One stack of each. */
typedef struct stack_diff {
    const szgi_series *series;
    const char *stack; /* NULL: the first */
    szgi_diff_tables *tables;
} stack_diff;

/* Of a series one bad checkpoint is a row with a note; of two it is the end. */
static szg_status pass_over(command_call *call, const stack_diff *diff, int64_t i,
                            const szg_checkpoint *base, szg_status status) {
    const struct szgi_series_item *item = &diff->series->item[i];
    char *problem;
    if (diff->series->count == 2 || (status != SZG_EDATA && status != SZG_EIO))
        return status;
    SZG_TRY(szgi_memory_copy_text(call->context, szg_context_message(call->context), &problem));
    status = szgi_diff_problem(call->context, diff->tables, base, item->path, item->step, problem);
    szgi_memory_free(problem);
    return status;
}

/* Compares checkpoint `i`; with --to previous it becomes the base of the next. */
static szg_status compare(command_call *call, const stack_diff *diff, int64_t i,
                          szg_checkpoint **base) {
    const diff_options *own = call->own;
    const struct szgi_series_item *item = &diff->series->item[i];
    szg_checkpoint *other;
    szg_status status = open_one(call, item->path, diff->series->item[0].path, diff->stack, &other);
    if (status != SZG_OK)
        return pass_over(call, diff, i, *base, status);
    status = szgi_diff_check(call->context, *base, other);
    if (status != SZG_OK) {
        status = pass_over(call, diff, i, *base, status);
        szg_checkpoint_close(&other);
        return status;
    }
    const szgi_diff_options wanted = {
        .top = own->top > 0 ? own->top : 4, .raw = own->raw, .seed = call->shared.seed};
    status = szgi_checkpoint_diff(call->context, *base, other, item->step, &wanted, diff->tables);
    if (own->previous && status == SZG_OK) {
        szg_checkpoint *old = *base;
        *base = other;
        other = old;
    }
    szg_checkpoint_close(&other);
    return status;
}

/* The first checkpoint, which the others are compared with: of a series, too, nothing is without
 * it. */
static szg_status open_base(command_call *call, const stack_diff *diff, szg_checkpoint **out) {
    szg_status status = open_one(call, diff->series->item[0].path, NULL, diff->stack, out);
    char *problem;
    if (diff->series->count == 2 || (status != SZG_EDATA && status != SZG_EIO))
        return status;
    SZG_TRY(szgi_memory_copy_text(call->context, szg_context_message(call->context), &problem));
    status = szgi_fail(call->context, status,
                       "%s; the others are compared with it: leave it out, and name those that are "
                       "there as PATHs",
                       problem);
    szgi_memory_free(problem);
    return status;
}

/* `stacks` gets the names of all stacks of the first, with a plus sign between. */
static szg_status run_stack(command_call *call, const stack_diff *diff, char *stacks, size_t size) {
    diff_options *own = call->own;
    size_t used = strlen(own->notes);
    szg_checkpoint *base;
    SZG_TRY(open_base(call, diff, &base));
    szg_checkpoint_facts facts = szg_checkpoint_describe(base);
    snprintf(stacks, size, "%s", facts.unknown ? "" : facts.stacks);
    if (!facts.unknown && *facts.note)
        szgi_print(own->notes + used, sizeof own->notes - used, "%s%s: %s", used ? "\n" : "",
                   facts.source, facts.note);
    szg_status status = SZG_OK;
    for (int64_t i = 1; i < diff->series->count && status == SZG_OK; i++)
        status = compare(call, diff, i, &base);
    szg_checkpoint_close(&base);
    return status;
}

static szg_status run_stacks(command_call *call, const szgi_series *series,
                             szgi_diff_tables *tables) {
    char stacks[256], more[256];
    stack_diff diff = {series, NULL, tables};
    SZG_TRY(run_stack(call, &diff, stacks, sizeof stacks));
    char *rest = stacks;
    strsep(&rest, "+");
    while (rest) {
        diff.stack = strsep(&rest, "+");
        SZG_TRY(run_stack(call, &diff, more, sizeof more));
    }
    return SZG_OK;
}

/* ---- Series of checkpoints ---- */

static szg_status list_series(command_call *call, szgi_series *out) {
    const diff_options *own = call->own;
    if (own->paths.count > 1)
        return szgi_series_of_paths(call->context, own->paths.value, own->paths.count, out);
    if (!szgi_path_is_folder(own->paths.value[0]))
        return szgi_fail(call->context, SZG_EINVAL,
                         "%s: one file has nothing to be compared with: give A and B, or a folder "
                         "of folders checkpoint-STEP",
                         SHOWN(own->paths.value[0]));
    return szgi_series_of_folder(call->context, own->paths.value[0], out);
}

/* A person sees which heads changed most, before any table, and the first of them in the tables. */
static szg_status print_digest(command_call *call, szgi_diff_tables *tables) {
    manual page = manual_text(stdout);
    szg_table *heads = NULL, *diff = NULL;
    szgi_text said;
    szg_status status = digest_changes(call->context, tables->diff, tables->diff_heads, &said);
    if (status == SZG_OK && tables->diff_heads)
        status = digest_most_changed(call->context, tables->diff_heads, &heads);
    if (status == SZG_OK)
        status = digest_most_changed(call->context, tables->diff, &diff);
    if (status == SZG_OK) {
        int64_t rows = szg_table_rows(diff), all = szg_table_rows(tables->diff);
        if (heads && szg_table_rows(heads) == 0)
            szg_table_close(&heads);
        terminal_clear(call->screen);
        manual_lines(&page, said.text);
        fputs(said.length > 0 ? "\n" : "", stdout);
        szg_table **const table[] = {&heads, &diff, &tables->diff_spectra};
        status = output_tables(call, sizeof table / sizeof *table, table, "diff");
        if (status == SZG_OK && rows < all)
            szgi_say(call->context, SZG_NOTE,
                     "the screen shows the heads that changed most, %" PRId64 " of %" PRId64
                     " rows: -o, csv and json have all",
                     rows, all);
    }
    szgi_text_close(&said);
    szg_table_close(&heads);
    szg_table_close(&diff);
    return status;
}

/* Writes what was computed; what was skipped decides the exit code. */
static szg_status write_tables(command_call *call, szgi_diff_tables *tables) {
    diff_options *own = call->own;
    szg_table **const table[] = {&tables->diff_heads, &tables->diff, &tables->diff_adapter,
                                 &tables->diff_spectra};
    int64_t bad = tables->bad, unconverged = tables->unconverged;
    if (own->raw)
        szg_table_close(&tables->diff_heads);
    if (tables->diff_adapter && szg_table_rows(tables->diff_adapter) == 0)
        szg_table_close(&tables->diff_adapter);
    if (display_is_for_a_person(call))
        SZG_TRY(print_digest(call, tables));
    else
        SZG_TRY(output_tables(call, sizeof table / sizeof *table, table, "diff"));
    for (char *rest = own->notes; *own->notes && rest;)
        szgi_say(call->context, SZG_NOTE, "%s", strsep(&rest, "\n"));
    if (bad > 0)
        return szgi_fail(call->context, SZG_EDATA,
                         "skipped %" PRId64 " of the checkpoints, layers or heads: the notes say "
                         "why; the rest is complete",
                         bad);
    if (unconverged > 0)
        return szgi_fail(call->context, SZG_ENOCONV,
                         "%" PRId64 " of the heads did not converge: the notes say where; the "
                         "rest is complete",
                         unconverged);
    return SZG_OK;
}

/* ---- Encodings ---- */

/* Every encoding behind the first with the first, or with the one before. */
static szg_status compare_encodings(command_call *call, szg_table *table) {
    const diff_options *own = call->own;
    szg_encoding *base, *other;
    SZG_TRY(szg_encoding_parse(call->context, own->paths.value[0], &base));
    szg_status status = SZG_OK;
    for (int64_t i = 1; i < own->paths.count && status == SZG_OK; i++) {
        status = szg_encoding_parse(call->context, own->paths.value[i], &other);
        if (status == SZG_OK)
            status = szgi_encoding_diff(call->context, base, other,
                                        own->order > 0 ? own->order : 512, table);
        if (status == SZG_OK && own->previous) {
            szg_encoding *old = base;
            base = other;
            other = old;
        }
        szg_encoding_close(&other);
    }
    szg_encoding_close(&base);
    return status;
}

static szg_status run_encodings(command_call *call) {
    szg_table *table;
    SZG_TRY(szgi_encoding_diff_open(call->context, &table));
    szg_status status = compare_encodings(call, table);
    if (status == SZG_OK)
        status = output_tables(call, 1, (szg_table * *[]){&table}, NULL);
    szg_table_close(&table);
    return status;
}

/* ---- The command ---- */

static szg_status run(command_call *call) {
    const diff_options *own = call->own;
    szgi_series series;
    szgi_diff_tables tables;
    SZG_TRY(output_check(call));
    if (own->encodings)
        return run_encodings(call);
    SZG_TRY(list_series(call, &series));
    szg_status status = szgi_diff_open(call->context, own->spectra, &tables);
    if (status == SZG_OK) {
        status = run_stacks(call, &series, &tables);
        if (status == SZG_OK)
            status = write_tables(call, &tables);
        szgi_diff_close(&tables);
    }
    szgi_series_close(&series);
    return status;
}

static const command_example examples[] = {
    {"szego diff training/checkpoint-100 training/checkpoint-200",
     "What changed between two checkpoints, the head that changed most first."},
    {"szego diff training/ -o changes/",
     "Every checkpoint-STEP of a folder against the first, in files."},
    {"szego diff rope:dim=64 rope:dim=64,base=500000 -n 512",
     "Two encodings: symbols, and how far their eigenvalues are apart."},
    {0}};

const command command_diff = {
    .name = "diff",
    .summary = "what changed between checkpoints, per head; series of checkpoints by step",
    .doc =
        "Compares W_Q^T W_K of every head, with the gains of norms folded in, of checkpoint B, "
        "the second PATH, with that of A, the first, of one architecture: the parts of first "
        "and second order of the change (D2, D3), norms, stable rank, spectral entropy, and the "
        "angles by which the top singular directions turned. The table diff_heads has the shares "
        "and kernels of positional heads before and after. Heads that changed most come "
        "first, and the screen shows ten of each step. More PATHs, or one folder that contains "
        "folders checkpoint-STEP, are a series "
        "with a column `step`. A PATH behind the first may be an adapter of peft (LoRA, rsLoRA, "
        "DoRA): "
        "B is then A with the adapter, and the table diff_adapter has the spectrum of what it adds "
        "to each head, beside random factors of its rank. For encodings (SPEC) the command "
        "compares the symbols' certified "
        "ranges and the eigenvalues; an operand that exists as a file or folder is a PATH.",
    .options = options,
    .own_size = sizeof(diff_options),
    .check = complete,
    .run = run,
    .examples = examples,
    .topics = "specs",
};

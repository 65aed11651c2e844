#include <inttypes.h>

#include "base/options.h"
#include "analyse.h"
#include "circuit.h"
#include "decay.h"
#include "properties.h"
#include "use.h"

static szg_status check_options(szg_context *context, const szg_checkpoint *checkpoint,
                                const szg_checkpoint_options *options) {
    if (options->positions < 0)
        return szgi_fail(context, SZG_EINVAL, "%" PRId64 " positions: at least 1 is needed",
                         options->positions);
    if (options->samples < 0)
        return szgi_fail(context, SZG_EINVAL, "%" PRId64 " symbol samples: a negative number",
                         options->samples);
    if (options->kernel < 0 || options->kernel > SZG_CHECKPOINT_LAGS)
        return szgi_fail(context, SZG_EINVAL,
                         "%" PRId64 " lags of the mean kernel: 0 to %d are possible",
                         options->kernel, SZG_CHECKPOINT_LAGS);
    if (options->top < 0)
        return szgi_fail(context, SZG_EINVAL,
                         "the %" PRId64 " largest values: at least 1 is needed", options->top);
    if (options->top > 0 && checkpoint->family)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: --top is for whole weights, and heads of a known architecture have "
                         "all their values: leave it out, or add --config none for whole weights",
                         checkpoint->source);
    if (options->context < 0 && options->context != SZG_CONTEXT_TRAINED)
        return szgi_fail(context, SZG_EINVAL, "a context of %" PRId64 ": at least 1 is needed",
                         options->context);
    if (options->context != 0 && options->raw)
        return szgi_fail(context, SZG_EINVAL,
                         "--context bounds logits and --raw bounds none: leave one of them out");
    if (options->token_counts && !checkpoint->family)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: token counts belong to heads, and none is known: %s",
                         checkpoint->source, checkpoint->unknown);
    if (options->positions > 0 && checkpoint->position_kind == SZG_POSITIONS_NONE)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: %" PRId64 " positions asked for, but nothing known adds positions to "
                         "the input",
                         checkpoint->source, options->positions);
    return szgi_circuit_check(context, checkpoint, options);
}

/* Without heads there are no kernels. */
static szg_status check_kernel_only(szg_context *context, const szg_checkpoint *checkpoint,
                                    const szg_checkpoint_options *options) {
    if (options->kernel_only && options->kernel == 0)
        return szgi_fail(context, SZG_EINVAL, "0 lags of a kernel: at least 1 is needed");
    if (options->kernel_only && !checkpoint->family)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: no head is known, so that none has a kernel: %s", checkpoint->source,
                         szg_checkpoint_describe(checkpoint).unknown);
    return SZG_OK;
}

/* A file's size and time tell whether it is that of an earlier call; memory has neither. */
static szg_status check_journal(szg_context *context, const szg_checkpoint *checkpoint,
                                const szg_checkpoint_options *options) {
    if (!options->journal || !checkpoint->in_memory)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "%s: a model in memory has no journal: nothing tells whether its weights are "
                     "still those that the journal is of",
                     checkpoint->source);
}

/* Why the first head that has no numbers has none. */
static const char *first_note(const szg_table *heads) {
    const char *note = NULL;
    for (int64_t row = 0; row < szg_table_rows(heads) && !note; row++)
        note = szg_table_get_text(heads, row, szg_table_columns(heads) - 1);
    return note ? note : "it has no heads";
}

/* Leaves the tables `kernel` and `notes`. SZG_EDOMAIN: nothing of the model has a kernel. */
static szg_status keep_kernel(szg_context *context, const szg_checkpoint *checkpoint,
                              szg_checkpoint_tables *tables) {
    szg_checkpoint_tables kept = {.kernel = tables->kernel,
                                  .notes = tables->notes,
                                  .bad = tables->bad,
                                  .unconverged = tables->unconverged};
    if (szg_table_rows(tables->kernel) == 0 && tables->bad + tables->unconverged == 0)
        return szgi_fail(context, SZG_EDOMAIN, "%s: no head has a kernel over the lag: %s",
                         checkpoint->source, first_note(tables->heads));
    tables->kernel = tables->notes = NULL;
    szg_checkpoint_tables_close(tables);
    *tables = kept;
    return SZG_OK;
}

/* What was asked for and has no effect here. */
static void note_idle(szg_context *context, const szg_checkpoint *checkpoint,
                      const szg_checkpoint_options *options) {
    if (options->context != 0 && checkpoint->rotations == 0)
        szgi_say(context, SZG_NOTE, "%s: --context: nothing rotates here, so it changes no bound",
                 checkpoint->source);
}

/* What is known of bad layers before a weight is read. */
static void count_bad(const szg_checkpoint *checkpoint, szg_checkpoint_tables *out) {
    for (int64_t i = 0; checkpoint->family && i < checkpoint->layers; i++)
        out->bad += checkpoint->layer[i].problem != NULL;
}

/* What was resolved, and which tensors a run would read. */
static szg_status plan(szg_context *context, const szg_checkpoint *checkpoint,
                       const szg_checkpoint_options *options, szg_checkpoint_tables *out) {
    szg_status status = szgi_properties_report(context, checkpoint, &out->architecture);
    if (status == SZG_OK && checkpoint->family)
        status = szgi_use_plan(context, checkpoint, options, out);
    if (status != SZG_OK)
        szg_checkpoint_tables_close(out);
    return status;
}

szg_status szg_checkpoint_analyse(szg_context *context, const szg_checkpoint *checkpoint,
                                  const szg_checkpoint_options *options,
                                  szg_checkpoint_tables *out) {
    *out = (szg_checkpoint_tables){0};
    SZGI_ENTER(context);
    szg_checkpoint_options own;
    SZG_TRY(SZGI_OPTIONS(context, szg_checkpoint_options, options, &own));
    SZG_TRY(check_options(context, checkpoint, &own));
    SZG_TRY(check_journal(context, checkpoint, &own));
    SZG_TRY(check_kernel_only(context, checkpoint, &own));
    note_idle(context, checkpoint, &own);
    if (own.dry_run) {
        count_bad(checkpoint, out);
        return plan(context, checkpoint, &own, out);
    }
    head_part part;
    SZG_TRY(szgi_part_open(context, checkpoint, &own, &part));
    szg_status status = szgi_use_check(context, checkpoint, &own, &part);
    if (status == SZG_OK)
        status = szgi_rows_open(context, checkpoint, &own, out);
    if (checkpoint->family && !szgi_part_owns(&part, 0))
        szg_table_close(&out->architecture);
    if (status == SZG_OK)
        status = checkpoint->family ? szgi_analyse_heads(context, checkpoint, &own, &part, out)
                                    : szgi_analyse_weights(context, checkpoint, &own, out);
    if (status == SZG_OK && !own.raw && !own.kernel_only)
        status = szgi_decays_report(context, checkpoint, checkpoint->family ? &part : NULL, out);
    if (status == SZG_OK)
        status = szgi_checkpoint_check_files(context, checkpoint);
    if (status == SZG_OK)
        szgi_rows_unsaid(context, out->bad + out->unconverged,
                         own.kernel_only ? "notes" : "summary");
    if (status == SZG_OK && own.kernel_only)
        status = keep_kernel(context, checkpoint, out);
    szgi_part_close(&part);
    if (status != SZG_OK)
        szg_checkpoint_tables_close(out);
    return status;
}

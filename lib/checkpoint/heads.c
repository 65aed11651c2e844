/* All heads: shares of them in the pool, and their rows in order. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/pool.h"
#include "analyse.h"
#include "circuit_rows.h"
#include "fold.h"
#include "head.h"
#include "layer_rows.h"
#include "positional_rows.h"
#include "profile_rows.h"
#include "resume.h"
#include "scale.h"
#include "use.h"

/* Query heads of one key head that a block of the pool takes: what the key head costs is shared by
 * so many at least, and layers with a single key head still have work for many threads. */
enum { SHARE = 8 };
/* Shares computed between two passes that write rows in order; layers at least whose numbers are
 * looked at together. */
enum { WINDOW = 64, LOOK = 16 };

typedef struct head_job {
    head_input input;
    const head_part *part;
    char **problem;  /* [layers]: why a layer is skipped, or NULL */
    int64_t checked; /* layers before this one have been looked at, or are in the journal */
    head_resume *resume;
    int64_t group, parts; /* query heads a key head, and the shares that they make */
    int64_t first;        /* share of block 0: layers, then key heads, then parts */
    int64_t reported;     /* shares of the window that have their rows */
    bool torn;            /* of the share behind these, some rows may be there */
    int64_t wanted;       /* heads of the part */
    _Atomic int64_t done;
    head_work *work; /* [threads] */
    _Atomic bool finished[WINDOW];
    layer_shares shares; /* of the layer whose rows are at work */
    circuit_job circuits;
    circuit_work *circuit_work; /* [threads] */
    head_circuits circuit[WINDOW][SHARE];
    head_result result[WINDOW][SHARE];
} head_job;

/* Query heads first .. first + count - 1 of a layer, which have one key head. */
typedef struct head_share {
    int64_t layer, key_head, first, count;
} head_share;

static int64_t shares_of_layer(const head_job *job) {
    return job->input.checkpoint->key_heads * job->parts;
}

static int64_t share_count(const head_job *job) {
    return job->input.checkpoint->layers * shares_of_layer(job);
}

static head_share share_of(const head_job *job, int64_t index) {
    int64_t part = index % job->parts, keys = index / job->parts;
    int64_t key_heads = job->input.checkpoint->key_heads, left = job->group - part * SHARE;
    head_share share = {.layer = keys / key_heads, .key_head = keys % key_heads};
    share.first = share.key_head * job->group + part * SHARE;
    share.count = left < SHARE ? left : SHARE;
    return share;
}

/* Is it the last one of its layer? */
static bool is_last(const head_job *job, int64_t index) {
    return (index + 1) % shares_of_layer(job) == 0;
}

static bool is_wanted(const head_job *job, const head_share *share, int64_t index) {
    return job->part->layer[share->layer] && job->part->head[share->first + index];
}

static int64_t count_wanted(const head_job *job, const head_share *share) {
    int64_t count = 0;
    for (int64_t i = 0; i < share->count; i++)
        count += is_wanted(job, share, i);
    return count;
}

/* A failure of one head is kept in its result; others end the job. */
static szg_status keep_failure(szg_context *context, const head_job *job, int64_t layer,
                               szg_status status, head_result *result) {
    if (status != SZG_OK && !szgi_is_local_failure(status))
        return status;
    result->status = status;
    return status == SZG_OK ? SZG_OK
                            : szgi_layer_problem(context, &job->input.checkpoint->layer[layer],
                                                 &result->problem);
}

static szg_status read_key(szg_context *context, const head_job *job, const head_share *share,
                           int worker) {
    SZG_TRY(szgi_head_read_key(context, &job->input, share->layer, share->key_head,
                               &job->work[worker]));
    return job->circuits.input.head
               ? szgi_circuit_read_key(context, &job->circuits.input, share->layer, share->key_head,
                                       &job->circuit_work[worker])
               : SZG_OK;
}

static szg_status analyse_head(szg_context *context, head_job *job, const head_share *share,
                               int64_t block, int64_t index, int worker) {
    int64_t head = share->first + index;
    SZG_TRY(szgi_head_analyse(context, &job->input, share->layer, head, &job->work[worker],
                              &job->result[block][index]));
    return job->circuits.input.head
               ? szgi_circuit_analyse(context, &job->circuits.input, share->layer, head,
                                      &job->work[worker], &job->circuit_work[worker],
                                      &job->circuit[block][index])
               : SZG_OK;
}

static szg_status run_share(szg_context *context, head_job *job, const head_share *share,
                            int64_t block, int worker) {
    if (!job->work[worker].memory)
        SZG_TRY(szgi_head_work_open(context, &job->input, &job->work[worker]));
    szg_status key = read_key(context, job, share, worker);
    for (int64_t i = 0; i < share->count; i++) {
        szg_status status = key;
        if (!is_wanted(job, share, i))
            continue;
        SZG_TRY(szgi_context_check_cancel(context));
        if (key == SZG_OK)
            status = analyse_head(context, job, share, block, i, worker);
        SZG_TRY(keep_failure(context, job, share->layer, status, &job->result[block][i]));
    }
    return SZG_OK;
}

static szg_status share_block(szg_context *context, void *data, int64_t block, int worker) {
    head_job *job = data;
    const szg_checkpoint *checkpoint = job->input.checkpoint;
    head_share share = share_of(job, job->first + block);
    int64_t wanted = count_wanted(job, &share);
    if (wanted > 0 && !job->problem[share.layer] && !checkpoint->layer[share.layer].absent)
        SZG_TRY(run_share(context, job, &share, block, worker));
    atomic_store(&job->finished[block], true);
    if (wanted == 0)
        return SZG_OK;
    szgi_progress(context, "heads", atomic_fetch_add(&job->done, wanted) + wanted, job->wanted);
    return SZG_OK;
}

/* ---- Rows, in order ---- */

/* A row of `summary`, and the values. */
static szg_status report_spectra(szg_context *context, const head_job *job,
                                 szg_checkpoint_tables *tables, const row_key *key,
                                 const head_facts *facts) {
    SZG_TRY(szgi_rows_head(context, job->input.checkpoint, tables, key, facts));
    return szgi_rows_spectra(context, tables, key, facts->eigenvalues, facts->singular);
}

static szg_status report_positions(szg_context *context, const head_job *job, const row_key *key,
                                   const head_result *result, szg_checkpoint_tables *tables) {
    const head_facts facts = {.eigenvalues = &result->position_eigenvalues,
                              .singular = &result->position_singular,
                              .lost = result->position_lost,
                              .folded =
                                  szgi_fold_name(job->input.checkpoint, key->layer, FOLD_NONE)};
    SZG_TRY(report_spectra(context, job, tables, key, &facts));
    SZG_TRY(szgi_rows_toeplitz(context, tables, key, &result->toeplitzness, &result->range));
    SZG_TRY(szgi_rows_symbol(context, tables, key, &result->range));
    return result->samples ? szgi_rows_samples(context, tables, key, job->input.options->samples,
                                               result->samples)
                           : SZG_OK;
}

static szg_status report_position(szg_context *context, const head_job *job, const row_key *key,
                                  const head_result *result, layer_shares *shares,
                                  szg_checkpoint_tables *tables) {
    szg_summary summary = {.effective_rank = NAN};
    if (job->input.unplaced)
        return SZG_OK;
    bool bounded = !job->input.options->raw && !job->input.bare;
    szgi_layer_shares_add(&result->positional, key->head, shares);
    if (!job->input.bare)
        SZG_TRY(szg_summary_of(context, NULL, &result->singular, &summary));
    const head_sizes sizes = {.bound = bounded ? result->bound.value : NAN,
                              .effective_rank = summary.effective_rank};
    int64_t key_head = key->head / job->group;
    SZG_TRY(szgi_positional_rows_add(context, tables, key, key_head, &sizes, &result->positional));
    return szgi_kernel_rows_add(context, tables, key, key_head, &result->positional);
}

static szg_status report_head(szg_context *context, head_job *job, int64_t layer, int64_t head,
                              const head_result *result, const head_circuits *circuits,
                              szg_checkpoint_tables *tables) {
    const szg_checkpoint *checkpoint = job->input.checkpoint;
    row_key key = {checkpoint->source, layer, head, "qk"};
    if (job->input.quiet && result->status != SZG_OK)
        return SZG_OK;
    if (result->status != SZG_OK) {
        *(result->status == SZG_ENOCONV ? &tables->unconverged : &tables->bad) += 1;
        return szgi_rows_problem(context, checkpoint, tables, &key, true, result->problem);
    }
    if (job->input.bare)
        return report_position(context, job, &key, result, &job->shares, tables);
    const head_facts facts = {
        .eigenvalues = &result->eigenvalues,
        .singular = &result->singular,
        .lost = result->lost,
        .folded = szgi_fold_name(checkpoint, layer, job->input.options->raw ? FOLD_NONE : FOLD_ALL),
        .scale_free = szgi_fold_is_scale_free(checkpoint, layer)};
    SZG_TRY(report_spectra(context, job, tables, &key, &facts));
    if (tables->bounds)
        SZG_TRY(szgi_rows_bound(context, tables, &key, &result->bound));
    SZG_TRY(szgi_rows_pairs(context, tables, &key, result->rotary.pairs, result->pairs));
    SZG_TRY(report_position(context, job, &key, result, &job->shares, tables));
    SZG_TRY(szgi_circuit_rows_add(context, &job->circuits, layer, head, result, circuits, tables));
    key.matrix = "position";
    return result->has_positions ? report_positions(context, job, &key, result, tables) : SZG_OK;
}

/* A part without the row's head warns: its own heads of the layer are missing too. */
static szg_status report_skipped(szg_context *context, const head_job *job, int64_t layer,
                                 szg_checkpoint_tables *tables) {
    const row_key key = {job->input.checkpoint->source, layer, -1, "qk"};
    tables->bad++;
    return szgi_rows_problem(context, job->input.checkpoint, tables, &key,
                             szgi_part_owns(job->part, layer), job->problem[layer]);
}

/* Where the lags end is taken, not known. */
static szg_status note_length(szg_context *context, const head_job *job, const row_key *key,
                              szg_checkpoint_tables *tables) {
    const szg_checkpoint *checkpoint = job->input.checkpoint;
    bool kernels = checkpoint->rotations > 0 || job->input.bias.value || job->input.table.projected;
    if (job->input.options->raw || checkpoint->trained_length > 0 || !kernels)
        return SZG_OK;
    return szgi_rows_note(context, tables, key,
                          "the length of the training is not known: kernels reach to lag %d",
                          LAGS_UNKNOWN_LENGTH - 1);
}

/* What is to be said of a layer as a whole, before its heads. */
static szg_status report_layer(szg_context *context, const head_job *job, int64_t layer,
                               szg_checkpoint_tables *tables) {
    const szg_checkpoint *checkpoint = job->input.checkpoint;
    const row_key key = {checkpoint->source, layer, -1, NULL};
    if (job->input.quiet)
        return SZG_OK;
    if (job->problem[layer])
        return report_skipped(context, job, layer, tables);
    SZG_TRY(szgi_circuit_rows_missing(context, &job->circuits, layer, tables));
    const char *why = job->input.vocabulary.why;
    if (layer == 0 && why && szgi_part_owns(job->part, layer))
        SZG_TRY(szgi_rows_note(context, tables, &key, "%s", why));
    if (layer == 0 && szgi_part_owns(job->part, layer))
        SZG_TRY(note_length(context, job, &key, tables));
    return checkpoint->rotations > 0 && checkpoint->layer[layer].rotation < 0 &&
                   szgi_part_owns(job->part, layer)
               ? szgi_rows_note(context, tables, &key, "this layer does not rotate")
               : SZG_OK;
}

/* Of a layer whose heads all are the part's. */
static szg_status report_shares(szg_context *context, head_job *job, int64_t layer,
                                szg_checkpoint_tables *tables) {
    const szg_checkpoint *checkpoint = job->input.checkpoint;
    const row_key key = {checkpoint->source, layer, -1, NULL};
    bool whole = tables->layers && job->part->layer[layer] && !job->problem[layer];
    for (int64_t i = 0; i < checkpoint->heads; i++)
        whole = whole && job->part->head[i];
    return whole ? szgi_layer_rows_add(context, tables, &key, checkpoint->heads, &job->shares)
                 : SZG_OK;
}

static szg_status report_rows(szg_context *context, head_job *job, int64_t block,
                              szg_checkpoint_tables *tables) {
    head_share share = share_of(job, job->first + block);
    if (share.first == 0) {
        job->shares = (layer_shares){0};
        SZG_TRY(report_layer(context, job, share.layer, tables));
    }
    for (int64_t i = 0; i < share.count && !job->problem[share.layer]; i++)
        if (is_wanted(job, &share, i))
            SZG_TRY(report_head(context, job, share.layer, share.first + i, &job->result[block][i],
                                &job->circuit[block][i], tables));
    return is_last(job, job->first + block) ? report_shares(context, job, share.layer, tables)
                                            : SZG_OK;
}

/* What the rows of a share need and takes long. */
static szg_status draw_share(szg_context *context, head_job *job, int64_t block) {
    head_share share = share_of(job, job->first + block);
    for (int64_t i = 0; i < share.count && !job->problem[share.layer]; i++)
        if (is_wanted(job, &share, i) && job->result[block][i].status == SZG_OK)
            SZG_TRY(szgi_circuit_rows_draw(context, &job->circuits, share.layer,
                                           &job->circuit[block][i]));
    return SZG_OK;
}

/* A share has all its rows or, if it is cancelled, none. */
static szg_status report_share(szg_context *context, head_job *job, int64_t block,
                               szg_checkpoint_tables *tables) {
    SZG_TRY(draw_share(context, job, block));
    job->torn = true;
    szgi_context_defer_cancel(context, true);
    szg_status status = report_rows(context, job, block, tables);
    szgi_context_defer_cancel(context, false);
    job->torn = status != SZG_OK;
    return status;
}

/* Rows of the first shares of a window, behind those that have theirs; a layer that is skipped has
 * one row. The journal gets whole layers: what draws make of one needs all of its heads. */
static szg_status report_window(szg_context *context, head_job *job, int64_t count,
                                szg_checkpoint_tables *tables) {
    for (; job->reported < count; job->reported++) {
        int64_t index = job->first + job->reported;
        if (!job->input.checkpoint->layer[share_of(job, index).layer].absent)
            SZG_TRY(report_share(context, job, job->reported, tables));
        if (is_last(job, index))
            SZG_TRY(szgi_resume_keep(context, job->resume, index + 1, false));
    }
    return SZG_OK;
}

static void release_head(head_job *job, int64_t block, int64_t index) {
    szgi_head_release(&job->result[block][index]);
    szgi_circuit_release(&job->circuit[block][index]);
}

/* ---- What is checked before ---- */

szg_status szgi_layer_check(szg_context *context, const layer_weights *layer) {
    const szgi_tensor *const tensor[] = {layer->q.weight, layer->q.down, layer->q.gain,
                                         layer->k.weight, layer->k.down, layer->k.gain};
    for (size_t i = 0; i < sizeof tensor / sizeof *tensor; i++)
        if (tensor[i] && (i == 0 || tensor[i] != layer->q.weight))
            SZG_TRY(szgi_tensor_check(context, tensor[i]));
    return SZG_OK;
}

/* Why layer `block` is skipped: found when opening, or a number that is not finite. */
static szg_status check_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    head_job *job = data;
    int64_t index = job->checked + block;
    const layer_weights *layer = &job->input.checkpoint->layer[index];
    const char *problem = layer->problem;
    if (layer->absent || !job->part->layer[index])
        return SZG_OK;
    if (!problem) {
        szg_status status = szgi_layer_check(context, layer);
        if (status != SZG_EDATA)
            return status;
        problem = szg_context_message(context);
    }
    return szgi_memory_copy_text(context, problem, &job->problem[index]);
}

/* Looks at the layers up to that of the window's last share, and at some more. */
static szg_status check_layers(szg_context *context, head_job *job, int64_t shares) {
    int64_t layers = job->input.checkpoint->layers;
    int64_t needed = share_of(job, job->first + shares - 1).layer + 1;
    int64_t batch = szg_context_threads(context) > LOOK ? szg_context_threads(context) : LOOK;
    if (needed <= job->checked)
        return SZG_OK;
    int64_t last = needed > job->checked + batch ? needed : job->checked + batch;
    int64_t count = (last < layers ? last : layers) - job->checked;
    SZG_TRY(szgi_pool_run(context, count, check_block, job));
    job->checked += count;
    return SZG_OK;
}

/* ---- Windows of shares ---- */

static int64_t count_finished(const head_job *job, int64_t count) {
    int64_t finished = 0;
    while (finished < count && atomic_load(&job->finished[finished]))
        finished++;
    return finished;
}

/* What was finished before a failure is kept; the message says so behind the failure's own. A
 * cancellation leaves out heads whose random circuits are not drawn: that takes minutes. */
static szg_status keep_finished(szg_context *context, head_job *job, int64_t count,
                                szg_status failure, szg_checkpoint_tables *tables) {
    char why[1024];
    if (!job->resume || job->torn)
        return failure;
    snprintf(why, sizeof why, "%s", szg_context_message(context));
    int64_t layer = shares_of_layer(job);
    int64_t whole = (job->first + count_finished(job, count)) / layer * layer - job->first;
    szg_status status = report_window(context, job, whole, tables);
    if ((status == SZG_OK || !job->torn) && (job->first + job->reported) % layer == 0)
        status = szgi_resume_keep(context, job->resume, job->first + job->reported, true);
    if (szgi_resume_kept(job->resume) == 0)
        return szgi_fail(context, failure, "%s", why);
    int64_t kept = szgi_resume_kept(job->resume) / shares_of_layer(job);
    return szgi_fail(context, failure, "%s; %" PRId64 " of %" PRId64 " layers are kept in %s%s",
                     why, kept, job->input.checkpoint->layers, job->input.options->journal,
                     failure == SZG_ECANCEL ? ": the same command goes on"
                                            : ": once that is mended, the same command goes on");
}

static szg_status run_window(szg_context *context, head_job *job, int64_t count,
                             szg_checkpoint_tables *tables) {
    for (int64_t i = 0; i < WINDOW; i++)
        atomic_store(&job->finished[i], false);
    job->reported = 0;
    szg_status status = check_layers(context, job, count);
    if (status == SZG_OK)
        status = szgi_pool_run(context, count, share_block, job);
    if (status == SZG_OK)
        status = report_window(context, job, count, tables);
    if (status != SZG_OK)
        status = keep_finished(context, job, count, status, tables);
    for (int64_t i = 0; i < WINDOW * SHARE; i++)
        release_head(job, i / SHARE, i % SHARE);
    return status;
}

static szg_status run_windows(szg_context *context, head_job *job, szg_checkpoint_tables *tables) {
    int64_t shares = share_count(job), layer = shares_of_layer(job);
    int64_t window = layer < WINDOW ? WINDOW / layer * layer : WINDOW; /* whole layers */
    for (; job->first < shares; job->first += window)
        SZG_TRY(run_window(context, job,
                           shares - job->first < window ? shares - job->first : window, tables));
    /* The result is not written yet: where there is a journal it is complete. */
    return szgi_resume_keep(context, job->resume, shares, szgi_resume_kept(job->resume) > 0);
}

/* Reads the positions; a table that cannot be used is reported once and left out. */
static szg_status load_positions(szg_context *context, head_job *job,
                                 szg_checkpoint_tables *tables) {
    const szg_checkpoint *checkpoint = job->input.checkpoint;
    if (checkpoint->position_kind == SZG_POSITIONS_NONE)
        return SZG_OK;
    int64_t size, n = job->input.options->positions;
    if (n == 0)
        n = checkpoint->position_rows > 0 ? checkpoint->position_rows : 1;
    SZG_TRY(szgi_memory_product(context, n, checkpoint->model_size, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &job->input.p));
    szg_status status = szgi_checkpoint_positions(context, checkpoint, n, job->input.p);
    if (status == SZG_OK) {
        job->input.positions = n;
        job->input.p_exponent = szgi_scale_take(size, job->input.p);
    }
    if (status != SZG_EDATA)
        return status;
    if (job->input.quiet)
        return SZG_OK;
    tables->bad++;
    row_key key = {checkpoint->source, -1, -1, "position"};
    char *problem;
    SZG_TRY(szgi_memory_copy_text(context, szg_context_message(context), &problem));
    status =
        szgi_rows_problem(context, checkpoint, tables, &key, szgi_part_owns(job->part, 0), problem);
    szgi_memory_free(problem);
    return status;
}

/* Takes what an earlier run left, and begins behind it. */
static szg_status take_kept(szg_context *context, head_job *job, szg_checkpoint_tables *tables) {
    const szg_checkpoint_options *options = job->input.options;
    SZG_TRY(szgi_resume_open(context, job->input.checkpoint, options, tables, &job->resume));
    SZG_TRY(szgi_resume_read(context, job->resume, &job->first));
    int64_t done = 0, shares = share_count(job);
    if (job->first < 0 || job->first > shares)
        return szgi_fail(context, SZG_EDATA, "%s: has work beyond the last layer: remove it",
                         options->journal);
    for (int64_t i = 0; i < job->first; i++) {
        head_share share = share_of(job, i);
        done += count_wanted(job, &share);
    }
    atomic_store(&job->done, done);
    job->checked = job->first / shares_of_layer(job);
    if (job->first > 0)
        szgi_say(context, SZG_NOTE, "going on after layer %" PRId64 " of %" PRId64 ": %s",
                 job->checked, job->input.checkpoint->layers, options->journal);
    return SZG_OK;
}

/* Counts that nothing depends on are refused; of several stacks one may use them. */
static szg_status check_counted(szg_context *context, const head_input *input) {
    const char *why = input->options->raw     ? "no share is computed (--raw)"
                      : input->vocabulary.why ? input->vocabulary.why
                      : input->absolute.why   ? input->absolute.why
                                              : "it does not read the embeddings";
    if (!input->counts.value || input->vocabulary.memory || input->absolute.memory)
        return SZG_OK;
    if (!input->checkpoint->family->stack)
        return szgi_fail(context, SZG_EINVAL, "%s: layer 0 does not depend on token counts: %s",
                         input->checkpoint->source, why);
    szgi_say(context, SZG_NOTE, "%s: layer 0 does not depend on token counts: %s",
             input->checkpoint->source, why);
    return SZG_OK;
}

static szg_status analyse_all(szg_context *context, head_job *job, szg_checkpoint_tables *tables) {
    SZG_TRY(szgi_circuit_job_open(context, &job->input, job->part, &job->circuits, tables));
    if (tables->tensors)
        SZG_TRY(szgi_use_report(context, job->input.checkpoint, job->input.options, job->part,
                                job->circuits.input.values.layer, tables));
    SZG_TRY(load_positions(context, job, tables));
    job->input.absolute.why = "the table of positions cannot be read";
    if (job->input.positions > 0 && !job->input.options->raw && !job->input.unplaced)
        SZG_TRY(szgi_absolute_open(context, job->input.checkpoint, &job->input.counts,
                                   job->input.positions, job->input.p, job->input.p_exponent,
                                   job->input.options->kernel, &job->input.absolute));
    SZG_TRY(check_counted(context, &job->input));
    SZG_TRY(szgi_profile_rows_add(context, job->input.checkpoint, job->input.options, job->part,
                                  &job->input.bias, tables));
    SZG_TRY(take_kept(context, job, tables));
    SZG_TRY(run_windows(context, job, tables));
    if (job->input.unplaced)
        return SZG_OK;
    SZG_TRY(szgi_positional_rows_judge(context, tables));
    return szgi_layer_rows_judge(context, tables);
}

/* The lags that a bound is asked for, 0: any. */
static szg_status choose_lags(szg_context *context, const szg_checkpoint *checkpoint,
                              const szg_checkpoint_options *options, int64_t *lags) {
    bool trained = options->context == SZG_CONTEXT_TRAINED && checkpoint->rotations > 0;
    *lags = trained ? checkpoint->trained_length : options->context > 0 ? options->context : 0;
    if (!trained || *lags > 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: %s is %s (a GGUF file: context_length), so that the length of the "
                     "model's training is not known: use "
                     "--context N",
                     checkpoint->source,
                     checkpoint->trained_key ? checkpoint->trained_key : TRAINED_LENGTH_KEY,
                     checkpoint->trained_key ? "no length" : "missing");
}

static szg_status open_job(szg_context *context, const szg_checkpoint *checkpoint,
                           const szg_checkpoint_options *options, const head_part *part,
                           head_job *job) {
    job->input.checkpoint = checkpoint;
    job->input.options = options;
    job->part = part;
    job->wanted = szgi_part_heads(checkpoint, part);
    job->group = checkpoint->heads / checkpoint->key_heads;
    job->parts = (job->group - 1) / SHARE + 1;
    SZG_TRY(choose_lags(context, checkpoint, options, &job->input.lags));
    if (options->token_counts) {
        job->input.counts = (token_counts){options->token_counts, options->token_count};
        SZG_TRY(szgi_vocabulary_check(context, checkpoint, &job->input.counts));
    }
    if (!options->raw && !job->input.unplaced) {
        SZG_TRY(
            szgi_lag_moments_list_open(context, checkpoint, options->kernel, &job->input.moments));
        SZG_TRY(szgi_lag_bias_open(context, checkpoint, options->kernel, &job->input.bias));
        SZG_TRY(szgi_lag_table_open(context, checkpoint, options->kernel, &job->input.table));
        if (szgi_vocabulary_is_read(checkpoint))
            SZG_TRY(szgi_vocabulary_open(context, checkpoint, &job->input.counts,
                                         &job->input.vocabulary));
        SZG_TRY(szgi_token_sample_open(context, checkpoint, options->seed, &job->input.tokens));
        const known_tokens *known =
            job->input.vocabulary.memory ? &job->input.vocabulary.tokens : NULL;
        SZG_TRY(szgi_shared_norms_open(context, checkpoint, part->layer, &job->input.tokens, known,
                                       &job->input.shared));
    }
    SZG_TRY(szgi_memory_alloc(context, szg_context_threads(context), &job->work));
    SZG_TRY(szgi_memory_alloc(context, szg_context_threads(context), &job->circuit_work));
    return szgi_memory_alloc(context, checkpoint->layers, &job->problem);
}

static void close_job(szg_context *context, head_job *job) {
    for (int64_t i = 0; job->problem && i < job->input.checkpoint->layers; i++)
        szgi_memory_free(job->problem[i]);
    for (int i = 0; job->work && i < szg_context_threads(context); i++)
        szgi_head_work_close(&job->work[i]);
    szgi_resume_close(&job->resume);
    for (int i = 0; job->circuit_work && i < szg_context_threads(context); i++)
        szgi_circuit_work_close(&job->circuit_work[i]);
    szgi_circuit_job_close(&job->circuits);
    szgi_memory_free(job->problem);
    szgi_memory_free(job->work);
    szgi_memory_free(job->circuit_work);
    szgi_memory_free(job->input.p);
    szgi_lag_moments_list_close(&job->input.moments);
    szgi_shared_norms_close(job->input.checkpoint, job->input.shared);
    szgi_token_sample_close(&job->input.tokens);
    szgi_vocabulary_close(&job->input.vocabulary);
    szgi_lag_bias_close(&job->input.bias);
    szgi_lag_table_close(&job->input.table);
    szgi_absolute_close(&job->input.absolute);
    szgi_memory_free(job);
}

szg_status szgi_analyse_heads(szg_context *context, const szg_checkpoint *checkpoint,
                              const szg_checkpoint_options *options, const head_part *part,
                              szg_checkpoint_tables *tables) {
    head_job *job;
    SZG_TRY(szgi_memory_alloc(context, 1, &job));
    job->input.quiet = !tables->summary;
    job->input.unplaced = !tables->heads;
    job->input.bare = job->input.quiet || options->kernel_only;
    szg_status status = open_job(context, checkpoint, options, part, job);
    if (status == SZG_OK)
        status = analyse_all(context, job, tables);
    close_job(context, job);
    return status;
}

/* Two checkpoints, head by head: the key heads of all layers in the pool, and rows by what changed
 * most. */
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/row.h"
#include "base/text.h"
#include "analyse.h"
#include "diff.h"
#include "fold.h"
#include "increment.h"

/* ---- Tables ---- */

#define NORMS(X, NAME, name, what)                                                                 \
    X(NAME##_SIGMA_MAX, name "_sigma_max", SZG_REAL, "1", "largest singular value",                \
      "spectral norm of " what)                                                                    \
    X(NAME##_FROBENIUS, name "_frobenius", SZG_REAL, "1", "Frobenius norm",                        \
      "Frobenius norm of " what)                                                                   \
    X(NAME##_NUCLEAR, name "_nuclear", SZG_REAL, "1", "sum of singular values",                    \
      "sum of the singular values of " what)                                                       \
    X(NAME##_STABLE_RANK, name "_stable_rank", SZG_REAL, "1", "stable rank",                       \
      "(Frobenius norm / spectral norm)^2 of " what)                                               \
    X(NAME##_ENTROPY, name "_entropy", SZG_REAL, "nats", "spectral entropy",                       \
      "spectral entropy of " what ", nats: -sum p log p with p = sigma / sum sigma")

#define ANGLES(X, NAME, name, what)                                                                \
    X(LEFT_ANGLE##NAME, "left_angle" name, SZG_REAL, "radians", "turn of queries",                 \
      "radians, the largest principal angle between the spans of the first " what                  \
      " left singular vectors of M_A and M_B (directions of queries)")                             \
    X(RIGHT_ANGLE##NAME, "right_angle" name, SZG_REAL, "radians", "turn of keys",                  \
      "the same of right singular vectors (directions of keys)")                                   \
    X(GAP##NAME, "gap" name, SZG_REAL, "1", "gap",                                                 \
      "the smaller of both matrices' (sigma_r - sigma_(r+1)) / sigma_1, r = " what                 \
      "; rounding moves the angles by about 2.2e-16 / gap")

#define DIFF(X)                                                                                    \
    X(SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint B as it was named")      \
    X(BASE, "base", SZG_TEXT, "", "compared with", "the checkpoint A that it is compared with")    \
    X(STACK, "stack", SZG_TEXT, "", "stack",                                                       \
      "encoder, decoder or cross; empty where a model has one stack")                              \
    X(STEP, "step", SZG_INTEGER, "1", "training step",                                             \
      "of B: STEP of checkpoint-STEP, or its number in a series")                                  \
    X(LAYER, "layer", SZG_INTEGER, "1", "layer", "from 0")                                         \
    X(HEAD, "head", SZG_INTEGER, "1", "head", "query head, from 0")                                \
    X(CHANGE, "change", SZG_REAL, "1", "relative change",                                          \
      "||M_B - M_A||_F / ||M_A||_F, M = scale W_Q^T W_K; empty if M_A = 0")                        \
    X(D2_SHARE, "d2", SZG_REAL, "1", "relative change of first order",                             \
      "||D2||_F / ||M_A||_F, D2 = dW_Q^T W_K + W_Q^T dW_K")                                        \
    X(D3_SHARE, "d3", SZG_REAL, "1", "relative change of second order",                            \
      "||D3||_F / ||M_A||_F, D3 = dW_Q^T dW_K = M_B - M_A - D2")                                   \
    NORMS(X, BASE, "base", "M_A")                                                                  \
    NORMS(X, QK, "qk", "M_B")                                                                      \
    NORMS(X, D2, "d2", "D2")                                                                       \
    NORMS(X, D3, "d3", "D3")                                                                       \
    NORMS(X, CHANGE, "change", "M_B - M_A")                                                        \
    ANGLES(X, _1, "_1", "1")                                                                       \
    X(TOP, "top", SZG_INTEGER, "1", "leading vectors",                                             \
      "how many singular vectors left_angle and right_angle follow")                               \
    ANGLES(X, , "", "`top`")                                                                       \
    X(FOLDED, "folded", SZG_TEXT, "", "folded norms",                                              \
      "norms whose gains are in the weights of A and of B: input, qk, latent, with plus signs "    \
      "between; or none")                                                                          \
    X(NOTE, "note", SZG_TEXT, "", "note", "what a reader must know, or why there are no numbers")
#define DIFF_SCREEN                                                                                \
    SZGI_SHOW(3, source)                                                                           \
    SZGI_SHOW(1, step)                                                                             \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, change)                                                                           \
    SZGI_SHOW(1, d2)                                                                               \
    SZGI_SHOW(1, d3)                                                                               \
    SZGI_SHOW_AS(2, base_stable_rank, "stable_rank_A", NULL)                                       \
    SZGI_SHOW_AS(2, qk_stable_rank, "stable_rank_B", NULL)                                         \
    SZGI_SHOW_AS(2, left_angle_1, "left_angle_1", "left ∠₁")                                       \
    SZGI_SHOW_AS(2, right_angle_1, "right_angle_1", "right ∠₁")                                    \
    SZGI_SHOW_AS(4, base_entropy, "entropy_A", NULL)                                               \
    SZGI_SHOW_AS(4, qk_entropy, "entropy_B", NULL)                                                 \
    SZGI_SHOW_AS(5, left_angle, "left_angle", "left ∠")                                            \
    SZGI_SHOW_AS(5, right_angle, "right_angle", "right ∠")                                         \
    SZGI_SHOW_AS(6, base_sigma_max, "sigma_max_A", "σ_max A")                                      \
    SZGI_SHOW_AS(6, qk_sigma_max, "sigma_max_B", "σ_max B")                                        \
    SZGI_SHOW(9, base)
SZGI_SCHEMA(diff_columns, "diff", DIFF, DIFF_SCREEN);

/* The first column of each matrix's norms. */
static const int norms_column[] = {BASE_SIGMA_MAX, QK_SIGMA_MAX, D2_SIGMA_MAX, D3_SIGMA_MAX,
                                   CHANGE_SIGMA_MAX};

#define SPECTRA(X)                                                                                 \
    X(SPECTRA_SOURCE, "source", SZG_TEXT, "", "encoding or file",                                  \
      "the checkpoint B as it was named")                                                          \
    X(SPECTRA_STEP, "step", SZG_INTEGER, "1", "training step", "as in diff")                       \
    X(SPECTRA_LAYER, "layer", SZG_INTEGER, "1", "layer", "from 0")                                 \
    X(SPECTRA_HEAD, "head", SZG_INTEGER, "1", "head", "query head, from 0")                        \
    X(SPECTRA_MATRIX, "matrix", SZG_TEXT, "", "matrix",                                            \
      "base (M_A), qk (M_B), d2, d3 or change (M_B - M_A)")                                        \
    X(SPECTRA_INDEX, "index", SZG_INTEGER, "1", "place in the spectrum",                           \
      "from 0, the largest first")                                                                 \
    X(SPECTRA_SIGMA, "sigma", SZG_REAL, "1", "singular value", "singular value")                   \
    X(SPECTRA_NOTE, "note", SZG_TEXT, "", "note", "empty")
SZGI_SCHEMA(spectra_columns, "diff_spectra", SPECTRA, SZGI_NOT_SHOWN);

szg_status szgi_diff_open(szg_context *context, bool spectra, szgi_diff_tables *out) {
    *out = (szgi_diff_tables){0};
    SZG_TRY(szgi_schema_open(context, &diff_columns_schema, &out->diff));
    szg_status status = szgi_diff_heads_open(context, &out->diff_heads);
    if (status == SZG_OK)
        status = szgi_diff_adapter_open(context, &out->diff_adapter);
    if (status == SZG_OK && spectra)
        status = szgi_schema_open(context, &spectra_columns_schema, &out->diff_spectra);
    if (status != SZG_OK)
        szgi_diff_close(out);
    return status;
}

void szgi_diff_close(szgi_diff_tables *tables) {
    szg_table_close(&tables->diff);
    szg_table_close(&tables->diff_heads);
    szg_table_close(&tables->diff_adapter);
    szg_table_close(&tables->diff_spectra);
    *tables = (szgi_diff_tables){0};
}

/* ---- May they be compared? ---- */

typedef struct shape {
    const char *key, *decided; /* what the configuration calls it, where it does */
    int64_t base, other;
} shape;

static szg_status check_known(szg_context *context, const szg_checkpoint *checkpoint) {
    if (!checkpoint->unknown)
        return SZG_OK;
    return szgi_fail(context, SZG_EDATA,
                     "%s: %s: without an architecture there are no heads to compare; "
                     "--config FILE names a configuration",
                     checkpoint->source, checkpoint->unknown);
}

szg_status szgi_diff_check(szg_context *context, const szg_checkpoint *base,
                           const szg_checkpoint *other) {
    SZG_TRY(check_known(context, base));
    SZG_TRY(check_known(context, other));
    if (strcmp(base->model_type, other->model_type) != 0)
        return szgi_fail(context, SZG_EDATA,
                         "%s: model_type is '%s', and '%s' in %s: only checkpoints of one "
                         "architecture have a difference",
                         other->source, SHOWN(other->model_type), SHOWN(base->model_type),
                         base->source);
    const deciding_keys *keys = &other->decided;
    const shape shapes[] = {
        {"num_hidden_layers", keys->layers, base->layers, other->layers},
        {"num_attention_heads", keys->heads, base->heads, other->heads},
        {"num_key_value_heads", keys->key_heads, base->key_heads, other->key_heads},
        {"head_dim", keys->head_size, base->head_size, other->head_size},
        {"hidden_size", keys->model_size, base->model_size, other->model_size}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].base != shapes[i].other)
            return szgi_fail(context, SZG_EDATA,
                             "%s: %s is %" PRId64 ", and %" PRId64
                             " in %s: only checkpoints of one shape have a difference",
                             other->source, shapes[i].decided ? shapes[i].decided : shapes[i].key,
                             shapes[i].other, shapes[i].base, base->source);
    return SZG_OK;
}

/* ---- Heads in the pool ---- */

typedef struct head_change {
    int64_t layer, head;
    szg_status status; /* a local failure; `problem` says which */
    char *problem;
    szgi_increment increment;
} head_change;

typedef struct diff_job {
    const szg_checkpoint *base, *other;
    int64_t top;
    bool spectra;
    fold_kind fold;
    uint64_t seed;
    char **problem;            /* [layers]: why a layer is skipped, or NULL */
    bool *turned;              /* [layers]: rotations differ */
    szgi_increment_work *work; /* [threads] */
    head_change *change;       /* [layers heads] */
    int64_t skipped;
    _Atomic int64_t done;
} diff_job;

static bool is_gguf(const szg_checkpoint *checkpoint) {
    return checkpoint->gguf.families > 0;
}

/* Does one of both keep the two dimensions of a pair side by side, where the other has them half a
 * head apart? llama.cpp's converter moves the rows of some models so. */
static bool rows_are_moved(const diff_job *job, const szgi_rotary *a, const szgi_rotary *b) {
    return is_gguf(job->base) != is_gguf(job->other) && a->pairs > 0 && a->pairs == b->pairs &&
           a->offset == b->offset && a->pairing != b->pairing;
}

static szg_status check_rotation(szg_context *context, const diff_job *job, int64_t layer,
                                 bool *turned) {
    szgi_rotary a, b;
    SZG_TRY(szgi_checkpoint_rotary(context, job->base, layer, &a));
    SZG_TRY(szgi_checkpoint_rotary(context, job->other, layer, &b));
    *turned = a.pairs != b.pairs ||
              (a.pairs > 0 && a.pairing != b.pairing && !rows_are_moved(job, &a, &b));
    for (int64_t t = 0; t < a.pairs && !*turned; t++)
        *turned = !(a.theta[t] == b.theta[t]);
    return SZG_OK;
}

/* Why a layer of one checkpoint cannot be read, and of which, or NULL in *problem. */
static szg_status find_problem(szg_context *context, const szg_checkpoint *checkpoint,
                               int64_t index, char **problem) {
    const layer_weights *layer = &checkpoint->layer[index];
    if (*problem || layer->absent)
        return SZG_OK;
    if (layer->problem) /* which names no file */
        return szgi_text_append(context, problem, "%s: %s", checkpoint->source, layer->problem);
    szg_status status = szgi_layer_check(context, layer);
    return status == SZG_EDATA
               ? szgi_memory_copy_text(context, szg_context_message(context), problem)
               : status;
}

/* Gains that are in one side alone would be taken for a change of the weights. */
static szg_status check_folded(szg_context *context, const diff_job *job, int64_t layer,
                               char **problem) {
    const char *a = szgi_fold_name(job->base, layer, job->fold),
               *b = szgi_fold_name(job->other, layer, job->fold);
    if (*problem || strcmp(a, b) == 0)
        return SZG_OK;
    return szgi_text_append(context, problem,
                            "gains of these norms are folded: %s, and %s in %s, which has or lacks "
                            "their tensors: --raw folds none",
                            b, a, job->base->source);
}

static szg_status check_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    diff_job *job = data;
    const layer_weights *a = &job->base->layer[block], *b = &job->other->layer[block];
    if (!a->absent != !b->absent)
        return szgi_text_append(context, &job->problem[block],
                                "only one of both has queries and keys: the other is of type '%s'",
                                a->absent ? a->absent : b->absent);
    SZG_TRY(find_problem(context, job->base, block, &job->problem[block]));
    SZG_TRY(find_problem(context, job->other, block, &job->problem[block]));
    if (a->absent)
        return SZG_OK;
    SZG_TRY(check_folded(context, job, block, &job->problem[block]));
    return check_rotation(context, job, block, &job->turned[block]);
}

/* Rows of B in the order of A's, without which dW would be a difference of other rows. */
static szg_status align_rows(szg_context *context, const diff_job *job, int64_t layer,
                             double *rows) {
    szgi_rotary a, b;
    double *copy;
    int64_t d = job->base->model_size;
    SZG_TRY(szgi_checkpoint_rotary(context, job->base, layer, &a));
    SZG_TRY(szgi_checkpoint_rotary(context, job->other, layer, &b));
    if (!rows_are_moved(job, &a, &b))
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, 2 * a.pairs * d, &copy));
    rows += a.offset * d;
    memcpy(copy, rows, (size_t)(2 * a.pairs * d) * sizeof *copy);
    for (int64_t t = 0; t < 2 * a.pairs; t++) {
        int64_t apart = t % 2 * a.pairs + t / 2; /* where row t side by side is, half apart */
        bool half = a.pairing == SZGI_PAIRING_HALF;
        memcpy(rows + (half ? apart : t) * d, copy + (half ? t : apart) * d,
               (size_t)d * sizeof *copy);
    }
    szgi_memory_free(copy);
    return SZG_OK;
}

static szg_status read_keys(szg_context *context, const diff_job *job, int64_t layer,
                            int64_t key_head, szgi_increment_work *work) {
    fold_kind fold = job->fold;
    SZG_TRY(szgi_fold_keys(context, job->base, layer, key_head, fold, work->k.a, NULL));
    SZG_TRY(szgi_fold_keys(context, job->other, layer, key_head, fold, work->k.b, NULL));
    SZG_TRY(align_rows(context, job, layer, work->k.b));
    return szgi_increment_factor(context, work, &work->k);
}

static szg_status compare_head(szg_context *context, const diff_job *job, head_change *change,
                               szgi_increment_work *work) {
    int64_t layer = change->layer, head = change->head;
    fold_kind fold = job->fold;
    SZG_TRY(szgi_fold_queries(context, job->base, layer, head, fold, work->q.a, NULL));
    SZG_TRY(szgi_fold_queries(context, job->other, layer, head, fold, work->q.b, NULL));
    SZG_TRY(align_rows(context, job, layer, work->q.b));
    SZG_TRY(szgi_increment_factor(context, work, &work->q));
    SZG_TRY(szgi_increment_compute(context, work, job->top, &change->increment));
    if (!job->spectra) { /* the norms stay */
        szgi_memory_free(change->increment.value[0]);
        change->increment.value[0] = NULL;
    }
    return SZG_OK;
}

/* A failure of one head is kept in its result; others end the job. */
static szg_status keep_failure(szg_context *context, const diff_job *job, szg_status status,
                               head_change *change) {
    if (status == SZG_OK || !szgi_is_local_failure(status))
        return status;
    szgi_increment_release(&change->increment);
    change->status = status;
    return szgi_layer_problem(context, &job->other->layer[change->layer], &change->problem);
}

/* One key head, and the query heads that share it. */
static szg_status key_block(szg_context *context, void *data, int64_t block, int worker) {
    diff_job *job = data;
    const szg_checkpoint *base = job->base;
    int64_t layer = block / base->key_heads, key_head = block % base->key_heads;
    int64_t group = base->heads / base->key_heads;
    szgi_increment_work *work = &job->work[worker];
    if (!job->problem[layer] && !base->layer[layer].absent) {
        if (!work->memory)
            SZG_TRY(szgi_increment_open(context, base->head_size, base->model_size, work));
        szg_status key = read_keys(context, job, layer, key_head, work);
        for (int64_t head = key_head * group; head < (key_head + 1) * group; head++) {
            head_change *change = &job->change[layer * base->heads + head];
            *change = (head_change){.layer = layer, .head = head, .status = SZG_OK};
            SZG_TRY(szgi_context_check_cancel(context));
            szg_status status = key == SZG_OK ? compare_head(context, job, change, work) : key;
            SZG_TRY(keep_failure(context, job, status, change));
        }
    }
    szgi_progress(context, "heads", atomic_fetch_add(&job->done, group) + group,
                  base->layers * base->heads);
    return SZG_OK;
}

/* ---- Rows ---- */

static double share_of(const szgi_increment *increment, szgi_increment_matrix matrix) {
    return increment->norms[matrix].frobenius / increment->norms[SZGI_INCREMENT_BASE].frobenius;
}

/* What heads are ordered by: infinite where M_A is 0 and M_B is not, -1 where there is nothing. */
static double change_of(const head_change *change) {
    if (change->status != SZG_OK)
        return -1;
    double share = share_of(&change->increment, SZGI_INCREMENT_CHANGE);
    return isnan(share) ? 0 : share;
}

static int compare_changes(const void *a, const void *b) {
    const head_change *first = *(const head_change *const *)a;
    const head_change *second = *(const head_change *const *)b;
    double x = change_of(first), y = change_of(second);
    if (x != y)
        return x > y ? -1 : 1;
    if (first->layer != second->layer)
        return first->layer < second->layer ? -1 : 1;
    return first->head < second->head ? -1 : first->head > second->head;
}

static szgi_row label(szg_context *context, szg_table *table, const szg_checkpoint *base,
                      const char *other, int64_t step, int64_t layer, int64_t head) {
    const char *stack = szg_checkpoint_describe(base).stack;
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, SOURCE, other);
    szgi_row_text(&row, BASE, base->source);
    szgi_row_text(&row, STACK, stack && *stack ? stack : NULL);
    szgi_row_place(&row, STEP, step);
    szgi_row_place(&row, LAYER, layer);
    szgi_row_place(&row, HEAD, head);
    return row;
}

static void put_angles(szgi_row *row, int column, const szgi_increment_angles *angles) {
    szgi_row_number(row, column, angles->left);
    szgi_row_number(row, column + 1, angles->right);
    szgi_row_number(row, column + 2, angles->gap);
}

static void note_angles(szgi_row *row, const szgi_increment_angles *angles) {
    if (isnan(angles->left))
        szgi_row_note(row,
                      "no angle of %" PRId64 " vectors: singular value %" PRId64
                      " of M_A or M_B is, to rounding, 0 or the next one",
                      angles->top, angles->top);
}

static void put_increment(szgi_row *row, const szgi_increment *increment) {
    const szgi_increment_norms *base = &increment->norms[SZGI_INCREMENT_BASE];
    if (base->frobenius > 0) {
        szgi_row_number(row, CHANGE, share_of(increment, SZGI_INCREMENT_CHANGE));
        szgi_row_number(row, D2_SHARE, share_of(increment, SZGI_INCREMENT_D2));
        szgi_row_number(row, D3_SHARE, share_of(increment, SZGI_INCREMENT_D3));
    } else {
        szgi_row_note(row, "M_A is 0: nothing is relative to it");
    }
    for (int i = 0; i < SZGI_INCREMENT_MATRICES; i++) {
        const szgi_increment_norms *norms = &increment->norms[i];
        szgi_row_number(row, norms_column[i], norms->spectral);
        szgi_row_number(row, norms_column[i] + 1, norms->frobenius);
        szgi_row_number(row, norms_column[i] + 2, norms->nuclear);
        szgi_row_number(row, norms_column[i] + 3, norms->stable_rank);
        szgi_row_number(row, norms_column[i] + 4, norms->entropy);
    }
    put_angles(row, LEFT_ANGLE_1, &increment->angles[0]);
    szgi_row_integer(row, TOP, increment->angles[1].top);
    put_angles(row, LEFT_ANGLE, &increment->angles[1]);
    note_angles(row, &increment->angles[0]);
    if (increment->angles[1].top > 1)
        note_angles(row, &increment->angles[1]);
}

static szg_status put_spectra(szg_context *context, const diff_job *job, int64_t step,
                              const head_change *change, szg_table *table) {
    for (int matrix = 0; matrix < SZGI_INCREMENT_MATRICES; matrix++)
        for (int64_t i = 0; i < change->increment.values; i++) {
            szgi_row row = szgi_row_add(context, table);
            szgi_row_text(&row, SPECTRA_SOURCE, job->other->source);
            szgi_row_place(&row, SPECTRA_STEP, step);
            szgi_row_integer(&row, SPECTRA_LAYER, change->layer);
            szgi_row_integer(&row, SPECTRA_HEAD, change->head);
            szgi_row_text(&row, SPECTRA_MATRIX, szgi_increment_name(matrix));
            szgi_row_integer(&row, SPECTRA_INDEX, i);
            szgi_row_real(&row, SPECTRA_SIGMA, change->increment.value[matrix][i]);
            SZG_TRY(row.status);
        }
    return SZG_OK;
}

static szg_status skip(szg_context *context, diff_job *job, int64_t step, int64_t layer,
                       int64_t head, const char *problem, szgi_diff_tables *tables) {
    char place[64];
    if (head < 0)
        snprintf(place, sizeof place, "layer %" PRId64, layer);
    else
        snprintf(place, sizeof place, "layer %" PRId64 ", head %" PRId64, layer, head);
    szgi_row row = label(context, tables->diff, job->base, job->other->source, step, layer, head);
    if (++job->skipped <= SAID_MOST)
        szgi_say(context, SZG_WARNING, "skipped: %s: %s", place, problem);
    szgi_row_note(&row, "skipped: %s: %s", place, problem);
    return row.status;
}

static szg_status report_head(szg_context *context, diff_job *job, int64_t step,
                              const head_change *change, szgi_diff_tables *tables) {
    if (change->status != SZG_OK) {
        *(change->status == SZG_ENOCONV ? &tables->unconverged : &tables->bad) += 1;
        return skip(context, job, step, change->layer, change->head, change->problem, tables);
    }
    szgi_row row = label(context, tables->diff, job->base, job->other->source, step, change->layer,
                         change->head);
    put_increment(&row, &change->increment);
    szgi_row_text(&row, FOLDED, szgi_fold_name(job->base, change->layer, job->fold));
    if (job->turned[change->layer])
        szgi_row_note(&row, "rotary frequencies differ too: M leaves them out");
    SZG_TRY(row.status);
    return job->spectra ? put_spectra(context, job, step, change, tables->diff_spectra) : SZG_OK;
}

static szg_status report_all(szg_context *context, diff_job *job, int64_t step,
                             szgi_diff_tables *tables) {
    int64_t count = 0, heads = job->base->heads, layers = job->base->layers;
    const head_change **order;
    SZG_TRY(szgi_memory_alloc(context, layers * heads, &order));
    for (int64_t i = 0; i < layers * heads; i++)
        if (!job->problem[i / heads] && !job->base->layer[i / heads].absent)
            order[count++] = &job->change[i];
    if (count > 0)
        qsort(order, (size_t)count, sizeof *order, compare_changes);
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < count && status == SZG_OK; i++)
        status = report_head(context, job, step, order[i], tables);
    for (int64_t i = 0; i < layers && status == SZG_OK; i++)
        if (job->problem[i]) {
            tables->bad++;
            status = skip(context, job, step, i, -1, job->problem[i], tables);
        }
    szgi_rows_unsaid(context, job->skipped, "diff");
    szgi_memory_free(order);
    return status;
}

/* ---- The whole ---- */

static szg_status open_job(szg_context *context, diff_job *job) {
    int64_t heads;
    SZG_TRY(szgi_memory_product(context, job->base->layers, job->base->heads, &heads));
    SZG_TRY(szgi_memory_alloc(context, szg_context_threads(context), &job->work));
    SZG_TRY(szgi_memory_alloc(context, job->base->layers, &job->problem));
    SZG_TRY(szgi_memory_alloc(context, job->base->layers, &job->turned));
    return szgi_memory_alloc(context, heads, &job->change);
}

static void close_job(szg_context *context, diff_job *job) {
    for (int64_t i = 0; job->change && i < job->base->layers * job->base->heads; i++) {
        szgi_memory_free(job->change[i].problem);
        szgi_increment_release(&job->change[i].increment);
    }
    for (int64_t i = 0; job->problem && i < job->base->layers; i++)
        szgi_memory_free(job->problem[i]);
    for (int i = 0; job->work && i < szg_context_threads(context); i++)
        szgi_increment_close(&job->work[i]);
    szgi_memory_free(job->change);
    szgi_memory_free(job->problem);
    szgi_memory_free(job->turned);
    szgi_memory_free(job->work);
}

static szg_status run_job(szg_context *context, diff_job *job, int64_t step,
                          szgi_diff_tables *tables) {
    const szg_checkpoint *base = job->base, *other = job->other;
    SZG_TRY(open_job(context, job));
    SZG_TRY(szgi_pool_run(context, base->layers, check_block, job));
    SZG_TRY(szgi_pool_run(context, base->layers * base->key_heads, key_block, job));
    SZG_TRY(report_all(context, job, step, tables));
    const szgi_heads_pair pair = {base, other, step, job->problem, job->seed};
    if (job->fold != FOLD_NONE)
        SZG_TRY(szgi_diff_heads_add(context, &pair, tables->diff_heads));
    SZG_TRY(szgi_diff_adapter_add(context, &pair, tables->diff_adapter));
    SZG_TRY(szgi_checkpoint_check_files(context, base));
    return szgi_checkpoint_check_files(context, other);
}

szg_status szgi_checkpoint_diff(szg_context *context, const szg_checkpoint *base,
                                const szg_checkpoint *other, int64_t step,
                                const szgi_diff_options *options, szgi_diff_tables *tables) {
    int64_t top = options->top;
    if (top < 1)
        return szgi_fail(context, SZG_EINVAL, "top %" PRId64 ": at least 1 is needed", top);
    SZG_TRY(szgi_diff_check(context, base, other));
    diff_job job = {.base = base,
                    .other = other,
                    .top = top,
                    .spectra = tables->diff_spectra != NULL,
                    .fold = options->raw ? FOLD_NONE : FOLD_ALL,
                    .seed = options->seed};
    szg_status status = run_job(context, &job, step, tables);
    close_job(context, &job);
    return status;
}

szg_status szgi_diff_problem(szg_context *context, szgi_diff_tables *tables,
                             const szg_checkpoint *base, const char *other, int64_t step,
                             const char *problem) {
    szgi_row row = label(context, tables->diff, base, other, step, -1, -1);
    szgi_say(context, SZG_WARNING, "skipped: %s", problem);
    szgi_row_note(&row, "skipped: %s", problem);
    tables->bad++;
    return row.status;
}

/* Rows of circuits, each beside its random baseline. */
#include "circuit_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/row.h"
#include "summary/summary.h"

#define QUANTILES(X, NAME, name, words)                                                            \
    X(CIRCUITS_##NAME##_Q025, name "_q025", SZG_REAL, "1", words ", 2.5% quantile",                \
      words " of random factors: 2.5% of the draws are below")                                     \
    X(CIRCUITS_##NAME##_MEDIAN, name "_median", SZG_REAL, "1", words ", median",                   \
      words " of random factors: the median")                                                      \
    X(CIRCUITS_##NAME##_Q975, name "_q975", SZG_REAL, "1", words ", 97.5% quantile",               \
      words " of random factors: 2.5% of the draws are above")

#define CIRCUITS(X)                                                                                \
    X(CIRCUITS_SOURCE, "source", SZG_TEXT, "", "encoding or file",                                 \
      "the checkpoint as it was named")                                                            \
    X(CIRCUITS_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                 \
    X(CIRCUITS_HEAD, "head", SZG_INTEGER, "1", "head", "query head, counted from 0")               \
    X(CIRCUITS_KEY_HEAD, "key_head", SZG_INTEGER, "1", "key head",                                 \
      "the key and value head that it reads")                                                      \
    X(CIRCUITS_CIRCUIT, "circuit", SZG_TEXT, "", "circuit",                                        \
      "qk: scaled W_Q^T R W_K, R the rotation at the lag; ov: W_O W_V")                            \
    X(CIRCUITS_LAG, "lag", SZG_INTEGER, "positions", "lag",                                        \
      "place of the query minus place of the key; empty: the circuit does not depend on it")       \
    X(CIRCUITS_SIGMA_MAX, "sigma_max", SZG_REAL, "1", "largest singular value",                    \
      "largest singular value")                                                                    \
    X(CIRCUITS_FROBENIUS, "frobenius", SZG_REAL, "1", "Frobenius norm", "Frobenius norm")          \
    X(CIRCUITS_STABLE_RANK, "stable_rank", SZG_REAL, "1", "stable rank",                           \
      "(frobenius / sigma_max)^2")                                                                 \
    X(CIRCUITS_EFFECTIVE_RANK, "effective_rank", SZG_REAL, "1", "effective rank",                  \
      "exp of the entropy of sigma_i / sum sigma")                                                 \
    X(CIRCUITS_RESIDUAL, "residual", SZG_REAL, "1", "residual",                                    \
      "the larger residual of eigenvalues and singular values")                                    \
    X(CIRCUITS_FOLDED, "folded", SZG_TEXT, "", "folded norms",                                     \
      "norms whose gains the matrix has: input, qk, latent, with plus signs between; or none")     \
    X(CIRCUITS_SCALE_FREE, "scale_free", SZG_INTEGER, "1", "scale is arbitrary",                   \
      "1: a factor's output, or its latent, is normalised, so that the scale is arbitrary")        \
    QUANTILES(X, SIGMA_MAX, "sigma_max", "sigma_max")                                              \
    QUANTILES(X, STABLE_RANK, "stable_rank", "stable_rank")                                        \
    QUANTILES(X, EFFECTIVE_RANK, "effective_rank", "effective_rank")                               \
    X(CIRCUITS_DRAWS, "draws", SZG_INTEGER, "1", "random circuits",                                \
      "random circuits behind the quantiles; 0: none")                                             \
    X(CIRCUITS_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define CIRCUITS_SCREEN                                                                            \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(3, key_head)                                                                         \
    SZGI_SHOW(1, circuit)                                                                          \
    SZGI_SHOW(1, lag)                                                                              \
    SZGI_SHOW(2, sigma_max)                                                                        \
    SZGI_SHOW_RANGE(3, sigma_max_random, sigma_max_q025, sigma_max_q975)                           \
    SZGI_SHOW(1, stable_rank)                                                                      \
    SZGI_SHOW_RANGE(1, stable_rank_random, stable_rank_q025, stable_rank_q975)                     \
    SZGI_SHOW(3, effective_rank)                                                                   \
    SZGI_SHOW_RANGE(4, effective_rank_random, effective_rank_q025, effective_rank_q975)            \
    SZGI_SHOW(5, folded)
SZGI_SCHEMA(circuit_columns, "circuits", CIRCUITS, CIRCUITS_SCREEN);

/* ---- One row ---- */

/* What a row is about. */
typedef struct circuit_key {
    int64_t layer, head; /* head -1: of the whole layer; layer -1: of all */
    const char *circuit;
    const int64_t *lag; /* NULL: none */
} circuit_key;

static szgi_row add_row(szg_context *context, const circuit_job *job, szg_table *table,
                        const circuit_key *key) {
    const szg_checkpoint *checkpoint = job->input.head->checkpoint;
    int64_t group = checkpoint->heads / checkpoint->key_heads;
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, CIRCUITS_SOURCE, checkpoint->source);
    szgi_row_place(&row, CIRCUITS_LAYER, key->layer);
    szgi_row_place(&row, CIRCUITS_HEAD, key->head);
    szgi_row_place(&row, CIRCUITS_KEY_HEAD, key->head < 0 ? -1 : key->head / group);
    szgi_row_text(&row, CIRCUITS_CIRCUIT, key->circuit);
    if (key->lag)
        szgi_row_integer(&row, CIRCUITS_LAG, *key->lag);
    return row;
}

/* A row that holds nothing but the reason; a warning is sent. `tables` as for szgi_rows_problem. */
static szg_status add_problem(szg_context *context, const circuit_job *job, szg_table *table,
                              const circuit_key *key, const char *problem) {
    char place[96] = "", lag[40] = "";
    if (key->lag)
        snprintf(lag, sizeof lag, " at lag %" PRId64, *key->lag);
    if (key->layer >= 0 && key->head >= 0)
        snprintf(place, sizeof place, "layer %" PRId64 ", head %" PRId64 ", ", key->layer,
                 key->head);
    else if (key->layer >= 0)
        snprintf(place, sizeof place, "layer %" PRId64 ", ", key->layer);
    szgi_say(context, SZG_WARNING, "skipped: %s%s%s: %s", place, key->circuit, lag, problem);
    if (!table)
        return SZG_OK;
    szgi_row row = add_row(context, job, table, key);
    szgi_row_note(&row, "skipped: %s%s%s: %s", place, key->circuit, lag, problem);
    return row.status;
}

static void put_quantiles(szgi_row *row, const baseline_quantiles found[BASELINE_QUANTITIES]) {
    static const int64_t first[BASELINE_QUANTITIES] = {
        CIRCUITS_SIGMA_MAX_Q025, CIRCUITS_STABLE_RANK_Q025, CIRCUITS_EFFECTIVE_RANK_Q025};
    for (int i = 0; i < BASELINE_QUANTITIES; i++) {
        szgi_row_number(row, first[i], found[i].low);
        szgi_row_number(row, first[i] + 1, found[i].median);
        szgi_row_number(row, first[i] + 2, found[i].high);
    }
}

static szg_status put_numbers(szg_context *context, szgi_row *row, const szg_spectrum *eigenvalues,
                              const szg_spectrum *singular, int64_t lost) {
    szg_summary summary;
    SZG_TRY(szg_summary_of(context, NULL, singular, &summary));
    szgi_row_number(row, CIRCUITS_SIGMA_MAX, summary.sigma_max);
    szgi_row_number(row, CIRCUITS_FROBENIUS, summary.frobenius);
    szgi_row_number(row, CIRCUITS_STABLE_RANK, summary.stable_rank);
    szgi_row_number(row, CIRCUITS_EFFECTIVE_RANK, summary.effective_rank);
    szgi_row_number(row, CIRCUITS_RESIDUAL, fmax(eigenvalues->residual, singular->residual));
    if (summary.note)
        szgi_row_note(row, "%s", summary.note);
    if (lost > 0)
        szgi_row_note(row, "%" PRId64 " values lost digits: multiply the weights by a power of two",
                      lost);
    return row->status;
}

/* ---- A head ---- */

static fold_kind fold_of(const circuit_job *job) {
    return job->input.head->options->raw ? FOLD_NONE : FOLD_ALL;
}

/* Values that `spectra` has not yet. */
static szg_status add_values(szg_context *context, const circuit_job *job, const circuit_key *key,
                             const circuit_result *result, szg_checkpoint_tables *tables) {
    char matrix[32];
    row_key row = {.source = job->input.head->checkpoint->source,
                   .layer = key->layer,
                   .head = key->head,
                   .matrix = key->circuit};
    if (key->lag) {
        snprintf(matrix, sizeof matrix, "%s@%" PRId64, key->circuit, *key->lag);
        row.matrix = matrix;
    }
    SZG_TRY(szgi_rows_values(context, tables, &row, key->lag, &result->eigenvalues));
    return szgi_rows_values(context, tables, &row, key->lag, &result->singular);
}

static szg_status add_qk(szg_context *context, const circuit_job *job, const circuit_key *key,
                         int64_t index, const circuit_norms *norms, const circuit_result *result,
                         szg_checkpoint_tables *tables) {
    const szg_checkpoint *checkpoint = job->input.head->checkpoint;
    baseline_quantiles found[BASELINE_QUANTITIES];
    szgi_row row = add_row(context, job, tables->circuits, key);
    szgi_row_text(&row, CIRCUITS_FOLDED, szgi_fold_name(checkpoint, key->layer, fold_of(job)));
    szgi_row_integer(&row, CIRCUITS_SCALE_FREE, szgi_fold_is_scale_free(checkpoint, key->layer));
    szgi_row_integer(&row, CIRCUITS_DRAWS, job->input.head->options->draws);
    SZG_TRY(put_numbers(context, &row, &result->eigenvalues, &result->singular, result->lost));
    if (key->lag && *key->lag != 0 && checkpoint->family->norm == NORM_HEAD_AFTER)
        szgi_row_note(&row, "the norm after the rotation has gains, which are left out: logits "
                            "depend on more than the lag");
    if (!key->lag && job->input.head->options->lag_count > 0)
        szgi_row_note(&row, "nothing rotates in this layer: the same at every lag");
    if (!job->baseline)
        return row.status;
    SZG_TRY(szgi_baseline_qk(context, job->baseline, key->layer, key->head, index, norms, found));
    put_quantiles(&row, found);
    return row.status;
}

/* Rows of lags; where nothing rotates, one row without a lag. */
static szg_status add_lags(szg_context *context, circuit_job *job, int64_t layer, int64_t head,
                           const head_result *result, const head_circuits *own,
                           szg_checkpoint_tables *tables) {
    circuit_result still = {
        .eigenvalues = result->eigenvalues, .singular = result->singular, .lost = result->lost};
    circuit_key key = {.layer = layer, .head = head, .circuit = "qk"};
    int64_t count;
    const int64_t *lags = szgi_circuit_lags(job->input.head->options, &count);
    if (own->lags == 0)
        return add_qk(context, job, &key, 0, &own->norms, &still, tables);
    for (int64_t i = 0; i < count; i++) {
        const circuit_result *at = lags[i] == 0 ? &still : &own->qk[i];
        key.lag = &lags[i];
        if (at->status != SZG_OK) {
            *(at->status == SZG_ENOCONV ? &tables->unconverged : &tables->bad) += 1;
            SZG_TRY(add_problem(context, job, tables->circuits, &key, at->problem));
            continue;
        }
        SZG_TRY(add_qk(context, job, &key, i, &own->norms, at, tables));
        if (lags[i] != 0)
            SZG_TRY(add_values(context, job, &key, at, tables));
    }
    return SZG_OK;
}

static szg_status add_ov(szg_context *context, circuit_job *job, int64_t layer, int64_t head,
                         const head_circuits *own, szg_checkpoint_tables *tables) {
    const szg_checkpoint *checkpoint = job->input.head->checkpoint;
    const circuit_key key = {.layer = layer, .head = head, .circuit = "ov"};
    baseline_quantiles found[BASELINE_QUANTITIES];
    szgi_row row = add_row(context, job, tables->circuits, &key);
    szgi_row_text(&row, CIRCUITS_FOLDED, szgi_values_folded(checkpoint, layer, fold_of(job)));
    szgi_row_integer(&row, CIRCUITS_SCALE_FREE, szgi_values_are_scale_free(checkpoint));
    szgi_row_integer(&row, CIRCUITS_DRAWS, job->input.head->options->draws);
    SZG_TRY(put_numbers(context, &row, &own->ov.eigenvalues, &own->ov.singular, own->ov.lost));
    if (szgi_values_note(checkpoint))
        szgi_row_note(&row, "%s", szgi_values_note(checkpoint));
    if (job->baseline) {
        SZG_TRY(szgi_baseline_ov(context, job->baseline, layer, &own->norms, found));
        put_quantiles(&row, found);
    }
    SZG_TRY(row.status);
    return add_values(context, job, &key, &own->ov, tables);
}

static bool has_ov(const circuit_job *job, int64_t layer, const head_circuits *own) {
    const value_set *values = &job->input.values;
    return !values->problem && !values->layer[layer].problem && own->ov.status == SZG_OK;
}

static szg_status add_ov_or_problem(szg_context *context, circuit_job *job, int64_t layer,
                                    int64_t head, const head_circuits *own,
                                    szg_checkpoint_tables *tables) {
    const circuit_key key = {.layer = layer, .head = head, .circuit = "ov"};
    if (job->input.values.problem || job->input.values.layer[layer].problem)
        return SZG_OK; /* is reported of the layer, or of all */
    if (own->ov.status == SZG_OK)
        return add_ov(context, job, layer, head, own, tables);
    *(own->ov.status == SZG_ENOCONV ? &tables->unconverged : &tables->bad) += 1;
    return add_problem(context, job, tables->circuits, &key, own->ov.problem);
}

szg_status szgi_circuit_rows_draw(szg_context *context, circuit_job *job, int64_t layer,
                                  const head_circuits *circuits) {
    return job->baseline
               ? szgi_baseline_draw(context, job->baseline, layer, has_ov(job, layer, circuits))
               : SZG_OK;
}

szg_status szgi_circuit_rows_add(szg_context *context, circuit_job *job, int64_t layer,
                                 int64_t head, const head_result *result,
                                 const head_circuits *circuits, szg_checkpoint_tables *tables) {
    if (!job->input.head)
        return SZG_OK;
    SZG_TRY(add_lags(context, job, layer, head, result, circuits, tables));
    return add_ov_or_problem(context, job, layer, head, circuits, tables);
}

/* ---- The job ---- */

static szg_status report_all(szg_context *context, const circuit_job *job,
                             szg_checkpoint_tables *tables) {
    const circuit_key key = {.layer = -1, .head = -1, .circuit = "ov"};
    if (!job->input.values.problem)
        return SZG_OK;
    tables->bad++;
    return add_problem(context, job, szgi_part_owns(job->part, 0) ? tables->circuits : NULL, &key,
                       job->input.values.problem);
}

szg_status szgi_circuit_job_open(szg_context *context, const head_input *input,
                                 const head_part *part, circuit_job *job,
                                 szg_checkpoint_tables *tables) {
    if (!input->options->circuits)
        return SZG_OK;
    job->input.head = input;
    job->part = part;
    SZG_TRY(szgi_schema_open(context, &circuit_columns_schema, &tables->circuits));
    SZG_TRY(szgi_values_open(context, input->checkpoint, part, &job->input.values));
    if (input->options->draws > 0)
        SZG_TRY(szgi_baseline_open(context, input->checkpoint, input->options, part,
                                   &job->input.values, &job->baseline));
    return report_all(context, job, tables);
}

void szgi_circuit_job_close(circuit_job *job) {
    szgi_baseline_close(&job->baseline);
    if (job->input.head)
        szgi_values_close(job->input.head->checkpoint, &job->input.values);
}

szg_status szgi_circuit_rows_missing(szg_context *context, const circuit_job *job, int64_t layer,
                                     szg_checkpoint_tables *tables) {
    const circuit_key key = {.layer = layer, .head = -1, .circuit = "ov"};
    if (!job->input.head || job->input.values.problem || !job->part->layer[layer] ||
        !job->input.values.layer[layer].problem)
        return SZG_OK;
    tables->bad++;
    return add_problem(context, job, szgi_part_owns(job->part, layer) ? tables->circuits : NULL,
                       &key, job->input.values.layer[layer].problem);
}

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "linalg/linalg.h"
#include "toeplitz/factored.h"
#include "base/memory.h"
#include "base/pool.h"
#include "toeplitz/symbol.h"
#include "toeplitz/toeplitz.h"
#include "analyse.h"
#include "scale.h"

/* Heads computed between two passes that write rows in order. */
enum { WINDOW = 64 };

/* What one block of the pool leaves for the rows of one head. */
typedef struct head_result {
    szg_status status; /* a local failure; `problem` says which */
    char *problem;
    szg_spectrum eigenvalues, singular;
    int64_t lost; /* values that lost digits, see scale_lost */
    bool has_positions;
    szg_spectrum position_eigenvalues, position_singular;
    int64_t position_lost;
    szg_tau toeplitzness;
    szg_range range; /* method NULL: beyond SZG_SYMBOL_RANGE_LIMIT */
    szg_c64 *samples;
    szgi_rotary rotary;
    szgi_pair_coupling *pairs;
} head_result;

typedef struct head_job {
    const szg_checkpoint *checkpoint;
    const szg_checkpoint_options *options;
    int64_t positions; /* rows of p; 0: no position-position term */
    double *p;         /* positions x model size, divided by 2^p_exponent */
    int p_exponent;
    char **problem; /* [layers]: why a layer is skipped, or NULL */
    int64_t first;  /* item of block 0; item = layer heads + head */
    _Atomic int64_t done;
    head_result result[WINDOW];
} head_job;

bool szgi_is_local_failure(szg_status status) {
    return status == SZG_EDATA || status == SZG_EDOMAIN || status == SZG_ENOCONV;
}

static void release_result(head_result *result) {
    szgi_memory_free(result->problem);
    szg_spectrum_close(&result->eigenvalues);
    szg_spectrum_close(&result->singular);
    szg_spectrum_close(&result->position_eigenvalues);
    szg_spectrum_close(&result->position_singular);
    szgi_memory_free(result->samples);
    szgi_memory_free(result->pairs);
    *result = (head_result){.status = SZG_OK};
}

static void transpose(int64_t rows, int64_t columns, const double *a, double *out) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            out[j * rows + i] = a[i * columns + j];
}

static szg_status factored_spectra(szg_context *context, const szg_factored *factored,
                                   szg_spectrum *eigenvalues, szg_spectrum *singular) {
    const szg_matrix matrix = szg_matrix_factored(factored);
    SZG_TRY(szg_spectrum_compute(context, &matrix, SZG_QUESTION_EIGENVALUES, NULL, eigenvalues));
    return szg_spectrum_compute(context, &matrix, SZG_QUESTION_SINGULAR, NULL, singular);
}

/* The rows of a head, divided by powers of two whose product is 2^exponent. */
typedef struct head_rows {
    double *q, *k;
    int exponent;
} head_rows;

/* W_Q^T W_K = A B^T with A = q^T, B = k^T, d x e. */
static szg_status analyse_qk(szg_context *context, const szg_checkpoint *checkpoint,
                             const head_rows *rows, head_result *result) {
    int64_t e = checkpoint->head_size, d = checkpoint->model_size, size;
    double *factors;
    SZG_TRY(szgi_memory_product(context, 2 * e, d, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &factors));
    double *a = factors, *b = factors + e * d;
    transpose(e, d, rows->q, a);
    transpose(e, d, rows->k, b);
    szg_factored factored = {.n = d, .d = e, .a = a, .lda = e, .b = b, .ldb = e};
    szg_status status =
        factored_spectra(context, &factored, &result->eigenvalues, &result->singular);
    szgi_memory_free(factors);
    SZG_TRY(status);
    return szgi_scale_return_spectra(context, "W_Q^T W_K", rows->exponent, &result->eigenvalues,
                                     &result->singular, &result->lost);
}

static szg_status analyse_symbol(szg_context *context, const szg_factored *factored,
                                 int64_t samples, head_result *result) {
    szg_toeplitz *part;
    szg_status status;
    SZG_TRY(szgi_factored_toeplitz_part(context, factored, &part));
    if (szgi_toeplitz_degree(part) <= SZG_SYMBOL_RANGE_LIMIT)
        SZG_TRY_GOTO(status, szg_symbol_modulus_range(context, part, &result->range), done);
    if (samples > 0) {
        SZG_TRY_GOTO(status, szgi_memory_alloc(context, samples, &result->samples), done);
        status = szg_symbol_samples(context, part, samples, result->samples);
    }
done:
    szg_toeplitz_close(&part);
    return status;
}

/* P W_Q^T W_K P^T = A B^T with A = P q^T, B = P k^T, n x e. */
static szg_status analyse_positions(szg_context *context, const head_job *job,
                                    const head_rows *rows, head_result *result) {
    int64_t n = job->positions, e = job->checkpoint->head_size, d = job->checkpoint->model_size;
    int64_t size;
    int exponent = rows->exponent + 2 * job->p_exponent;
    double *a;
    SZG_TRY(szgi_memory_product(context, 2 * n, e, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &a));
    double *b = a + n * e;
    szg_factored factored = {.n = n, .d = e, .a = a, .lda = e, .b = b, .ldb = e};
    szg_status status;
    result->has_positions = true;
    SZG_TRY_GOTO(status, szgi_gemm(context, 'n', 't', n, e, d, 1, job->p, d, rows->q, d, 0, a, e),
                 done);
    SZG_TRY_GOTO(status, szgi_gemm(context, 'n', 't', n, e, d, 1, job->p, d, rows->k, d, 0, b, e),
                 done);
    SZG_TRY_GOTO(status,
                 factored_spectra(context, &factored, &result->position_eigenvalues,
                                  &result->position_singular),
                 done);
    SZG_TRY_GOTO(status,
                 szgi_scale_return_spectra(context, "P W_Q^T W_K P^T", exponent,
                                           &result->position_eigenvalues,
                                           &result->position_singular, &result->position_lost),
                 done);
    SZG_TRY_GOTO(status, analyse_symbol(context, &factored, job->options->samples, result), done);
    szgi_scale_return_range(exponent, &result->range);
    if (result->samples)
        szgi_scale_return_samples(exponent, job->options->samples, result->samples);
    status = szg_factored_toeplitzness(context, &factored, &result->toeplitzness);
    if (status == SZG_EDOMAIN) /* the zero matrix: NaN */
        status = SZG_OK;
done:
    szgi_memory_free(a);
    return status;
}

static szg_status analyse_pairs(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t layer, const head_rows *rows, head_result *result) {
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &result->rotary));
    if (result->rotary.pairs == 0)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, result->rotary.pairs, &result->pairs));
    SZG_TRY(szgi_checkpoint_couple(context, &result->rotary, checkpoint->model_size, rows->q,
                                   rows->k, result->pairs));
    szgi_scale_return_pairs(rows->exponent, result->rotary.pairs, result->pairs);
    return SZG_OK;
}

static szg_status analyse_head(szg_context *context, const head_job *job, int64_t layer,
                               int64_t head, head_result *result) {
    const szg_checkpoint *checkpoint = job->checkpoint;
    int64_t size;
    double *q;
    SZG_TRY(szgi_memory_product(context, checkpoint->head_size, checkpoint->model_size, &size));
    SZG_TRY(szgi_memory_alloc(context, 2 * size, &q));
    head_rows rows = {.q = q, .k = q + size};
    szg_status status;
    SZG_TRY_GOTO(status, szgi_checkpoint_head(context, checkpoint, layer, head, q, rows.k), done);
    rows.exponent = szgi_scale_take(size, rows.q) + szgi_scale_take(size, rows.k);
    SZG_TRY_GOTO(status, analyse_qk(context, checkpoint, &rows, result), done);
    if (job->positions > 0)
        SZG_TRY_GOTO(status, analyse_positions(context, job, &rows, result), done);
    status = analyse_pairs(context, checkpoint, layer, &rows, result);
done:
    szgi_memory_free(q);
    return status;
}

/* The context's message, behind the tensors that it is about. */
static szg_status name_problem(szg_context *context, const layer_weights *layer, char **problem) {
    const char *query = layer->q.weight->name, *key = layer->k.weight->name;
    bool fused = layer->q.weight == layer->k.weight;
    return szgi_text_append(context, problem, "%s%s%s: %s", query, fused ? "" : ", ",
                            fused ? "" : key, szg_context_message(context));
}

static szg_status head_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)worker;
    head_job *job = data;
    const szg_checkpoint *checkpoint = job->checkpoint;
    int64_t item = job->first + block;
    int64_t layer = item / checkpoint->heads, head = item % checkpoint->heads;
    head_result *result = &job->result[block];
    if (!job->problem[layer] && !checkpoint->layer[layer].absent) {
        szg_status status = analyse_head(context, job, layer, head, result);
        if (status != SZG_OK && !szgi_is_local_failure(status))
            return status;
        result->status = status;
        if (status != SZG_OK)
            SZG_TRY(name_problem(context, &checkpoint->layer[layer], &result->problem));
    }
    szgi_progress(context, "heads", atomic_fetch_add(&job->done, 1) + 1,
                  checkpoint->layers * checkpoint->heads);
    return SZG_OK;
}

/* ---- Rows, in order ---- */

static szg_status report_head(szg_context *context, const head_job *job, int64_t layer,
                              int64_t head, const head_result *result,
                              szg_checkpoint_tables *tables) {
    row_key key = {job->checkpoint->source, layer, head, "qk"};
    if (result->status != SZG_OK) {
        *(result->status == SZG_ENOCONV ? &tables->unconverged : &tables->bad) += 1;
        return szgi_rows_problem(context, tables, &key, result->problem);
    }
    SZG_TRY(szgi_rows_spectra(context, tables, &key, &result->eigenvalues, &result->singular,
                              job->checkpoint->model_size, result->lost));
    if (tables->frequencies && result->rotary.pairs == 0)
        SZG_TRY(szg_table_note(context, tables->summary, "this layer does not rotate"));
    SZG_TRY(szgi_rows_pairs(context, tables, &key, result->rotary.pairs, result->pairs));
    if (!result->has_positions)
        return SZG_OK;
    key.matrix = "position";
    SZG_TRY(szgi_rows_spectra(context, tables, &key, &result->position_eigenvalues,
                              &result->position_singular, job->positions, result->position_lost));
    SZG_TRY(szgi_rows_symbol(context, tables, &key, &result->toeplitzness, &result->range));
    return result->samples
               ? szgi_rows_samples(context, tables, &key, job->options->samples, result->samples)
               : SZG_OK;
}

/* Rows of the items of one window; a layer that is skipped has one row. */
static szg_status report_window(szg_context *context, head_job *job, int64_t count,
                                szg_checkpoint_tables *tables) {
    int64_t heads = job->checkpoint->heads;
    for (int64_t block = 0; block < count; block++) {
        int64_t layer = (job->first + block) / heads, head = (job->first + block) % heads;
        row_key key = {job->checkpoint->source, layer, -1, "qk"};
        if (job->checkpoint->layer[layer].absent)
            continue;
        if (!job->problem[layer]) {
            SZG_TRY(report_head(context, job, layer, head, &job->result[block], tables));
        } else if (head == 0) {
            SZG_TRY(szgi_rows_problem(context, tables, &key, job->problem[layer]));
            tables->bad++;
        }
    }
    return SZG_OK;
}

static szg_status run_windows(szg_context *context, head_job *job, szg_checkpoint_tables *tables) {
    int64_t items = job->checkpoint->layers * job->checkpoint->heads;
    for (job->first = 0; job->first < items; job->first += WINDOW) {
        int64_t count = items - job->first < WINDOW ? items - job->first : WINDOW;
        szg_status status = szgi_pool_run(context, count, head_block, job);
        if (status == SZG_OK)
            status = report_window(context, job, count, tables);
        for (int64_t i = 0; i < WINDOW; i++)
            release_result(&job->result[i]);
        SZG_TRY(status);
    }
    return SZG_OK;
}

/* ---- What is checked before ---- */

static szg_status check_layer(szg_context *context, const layer_weights *layer) {
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
    const layer_weights *layer = &job->checkpoint->layer[block];
    const char *problem = layer->problem;
    if (layer->absent)
        return SZG_OK;
    if (!problem) {
        szg_status status = check_layer(context, layer);
        if (status != SZG_EDATA)
            return status;
        problem = szg_context_message(context);
    }
    return szgi_memory_copy_text(context, problem, &job->problem[block]);
}

/* Reads the positions; a table that cannot be used is reported once and left out. */
static szg_status load_positions(szg_context *context, head_job *job,
                                 szg_checkpoint_tables *tables) {
    const szg_checkpoint *checkpoint = job->checkpoint;
    if (checkpoint->position_kind == SZG_POSITIONS_NONE)
        return SZG_OK;
    int64_t size, n = job->options->positions;
    if (n == 0)
        n = checkpoint->position_rows > 0 ? checkpoint->position_rows : 1;
    SZG_TRY(szgi_memory_product(context, n, checkpoint->model_size, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &job->p));
    szg_status status = szgi_checkpoint_positions(context, checkpoint, n, job->p);
    if (status == SZG_OK) {
        job->positions = n;
        job->p_exponent = szgi_scale_take(size, job->p);
    }
    if (status != SZG_EDATA)
        return status;
    tables->bad++;
    row_key key = {checkpoint->source, -1, -1, "position"};
    char *problem;
    SZG_TRY(szgi_memory_copy_text(context, szg_context_message(context), &problem));
    status = szgi_rows_problem(context, tables, &key, problem);
    szgi_memory_free(problem);
    return status;
}

static szg_status list_tensors(szg_context *context, const szg_checkpoint *checkpoint,
                               szg_checkpoint_tables *tables) {
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        const char *use = tensor == checkpoint->position_table ? "positions" : "none";
        for (int64_t j = 0; j < checkpoint->layers; j++) {
            const side_weights *q = &checkpoint->layer[j].q, *k = &checkpoint->layer[j].k;
            bool query = tensor == q->weight || tensor == q->down || tensor == q->gain;
            bool key = tensor == k->weight || tensor == k->down || tensor == k->gain;
            if (query || key)
                use = query && key ? "query and key" : query ? "query" : "key";
        }
        SZG_TRY(szgi_rows_tensor(context, tables, checkpoint->source, tensor, use,
                                 tensor->count == 0  ? "empty"
                                 : tensor->dims == 0 ? "one number"
                                                     : NULL));
    }
    return SZG_OK;
}

static szg_status analyse_all(szg_context *context, head_job *job, szg_checkpoint_tables *tables) {
    SZG_TRY(list_tensors(context, job->checkpoint, tables));
    SZG_TRY(szgi_pool_run(context, job->checkpoint->layers, check_block, job));
    SZG_TRY(load_positions(context, job, tables));
    return run_windows(context, job, tables);
}

szg_status szgi_analyse_heads(szg_context *context, const szg_checkpoint *checkpoint,
                              const szg_checkpoint_options *options,
                              szg_checkpoint_tables *tables) {
    head_job *job;
    SZG_TRY(szgi_memory_alloc(context, 1, &job));
    job->checkpoint = checkpoint;
    job->options = options;
    szg_status status = szgi_memory_alloc(context, checkpoint->layers, &job->problem);
    if (status == SZG_OK)
        status = analyse_all(context, job, tables);
    for (int64_t i = 0; job->problem && i < checkpoint->layers; i++)
        szgi_memory_free(job->problem[i]);
    szgi_memory_free(job->problem);
    szgi_memory_free(job->p);
    szgi_memory_free(job);
    return status;
}

#include "shared_norm.h"

#include <math.h>

#include "base/memory.h"
#include "base/pool.h"
#include "fold.h"
#include "linalg/linalg.h"
#include "problem.h"
#include "toeplitz/toeplitz.h"

typedef struct norm_job {
    const szg_checkpoint *checkpoint;
    const bool *wanted;
    const token_sample *tokens;
    const known_tokens *known;
    shared_norm *norms;
} norm_job;

/* One side of a layer, while its rows are read in parts. */
typedef struct norm_sum {
    const norm_job *job;
    int64_t layer;
    bool query;
    norm_divisors *out;
    double *rows, *shift; /* of a part */
    double *made;         /* products of the tokens with them */
    int64_t count;        /* of rows up to now */
} norm_sum;

/* Adds squares of `size` rows' products with n tokens. */
static szg_status add_tokens(szg_context *context, const norm_sum *sum, int64_t size, int64_t n,
                             const double *tokens, double *out) {
    int64_t d = sum->job->checkpoint->model_size;
    SZG_TRY(
        szgi_gemm(context, 'n', 't', n, size, d, 1, tokens, d, sum->rows, d, 0, sum->made, size));
    for (int64_t t = 0; t < n; t++)
        for (int64_t i = 0; i < size; i++) {
            double x = sum->made[t * size + i] + sum->shift[i];
            out[t] += x * x;
        }
    return SZG_OK;
}

/* The part in rows and shift, behind the gains of the layer's input. */
static szg_status add_part(szg_context *context, norm_sum *sum, int64_t size) {
    const szg_checkpoint *checkpoint = sum->job->checkpoint;
    const known_tokens *known = sum->layer == 0 ? sum->job->known : NULL;
    int64_t d = checkpoint->model_size;
    double error;
    if (szgi_fold_has_input(checkpoint, sum->layer))
        SZG_TRY(
            szgi_fold_input(context, checkpoint, sum->layer, sum->query, size, sum->rows, &error));
    if (szgi_fold_centres(checkpoint))
        szgi_centre_rows(size, d, sum->rows);
    sum->out->root += szgi_isotropic_factor(checkpoint) * szgi_dot(size * d, sum->rows, sum->rows) +
                      szgi_dot(size, sum->shift, sum->shift);
    sum->count += size;
    SZG_TRY(add_tokens(context, sum, size, sum->job->tokens->count, sum->job->tokens->value,
                       sum->out->tried));
    return known ? add_tokens(context, sum, size, known->count, known->value, sum->out->known)
                 : SZG_OK;
}

/* All heads' rows, one head after the other. */
static szg_status add_heads(szg_context *context, norm_sum *sum) {
    const szg_checkpoint *checkpoint = sum->job->checkpoint;
    int64_t e = checkpoint->head_size;
    int64_t heads = sum->query ? checkpoint->heads : checkpoint->key_heads;
    for (int64_t head = 0; head < heads; head++) {
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(szgi_law_raw_rows(context, checkpoint, sum->layer, sum->query, head, sum->rows,
                                  sum->shift));
        SZG_TRY(add_part(context, sum, e));
    }
    return SZG_OK;
}

/* The rows that make a latent, as many at a time as a head has. */
static szg_status add_latent(szg_context *context, norm_sum *sum) {
    const szg_checkpoint *checkpoint = sum->job->checkpoint;
    const layer_weights *weights = &checkpoint->layer[sum->layer];
    const szgi_tensor *down = sum->query ? weights->q.down : weights->k.down;
    int64_t rank = sum->query ? checkpoint->latent.query_rank : checkpoint->latent.key_rank;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    for (int64_t first = 0; first < rank; first += e) {
        int64_t size = rank - first < e ? rank - first : e;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(szgi_tensor_read(context, down, first * d, size * d, sum->rows));
        SZG_TRY(add_part(context, sum, size));
    }
    return SZG_OK;
}

static void take_root(const norm_sum *sum, int64_t count, double *squares) {
    for (int64_t t = 0; t < count; t++)
        squares[t] = sqrt(squares[t] / (double)sum->count);
}

/* Nothing where queries do not come from a latent. */
static szg_status find_side(szg_context *context, const norm_job *job, int64_t layer, bool query,
                            double *memory, norm_divisors *out) {
    const szg_checkpoint *checkpoint = job->checkpoint;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size, tokens = job->tokens->count;
    int64_t known = job->known && layer == 0 ? job->known->count : 0;
    bool latent = checkpoint->latent.key_rank > 0;
    norm_sum sum = {.job = job, .layer = layer, .query = query, .out = out};
    *out = (norm_divisors){.root = 0};
    if (latent && query && !checkpoint->latent.query_rank)
        return SZG_OK;
    out->tried = memory;
    out->known = known > 0 ? memory + tokens : NULL;
    SZG_TRY(
        szgi_memory_alloc(context, e * d + e + (tokens > known ? tokens : known) * e, &sum.rows));
    sum.shift = sum.rows + e * d;
    sum.made = sum.shift + e;
    szg_status status = latent ? add_latent(context, &sum) : add_heads(context, &sum);
    out->root = sqrt(out->root / (double)sum.count);
    take_root(&sum, tokens, out->tried);
    take_root(&sum, known, out->known);
    szgi_memory_free(sum.rows);
    return status;
}

static szg_status find_layer(szg_context *context, void *data, int64_t layer, int worker) {
    const norm_job *job = data;
    const layer_weights *weights = &job->checkpoint->layer[layer];
    shared_norm *norm = &job->norms[layer];
    int64_t count = job->tokens->count + (job->known && layer == 0 ? job->known->count : 0);
    (void)worker;
    if (!job->wanted[layer] || weights->problem || weights->absent ||
        szgi_law_refusal(job->checkpoint, layer))
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, 2 * count, &norm->memory));
    szg_status status = find_side(context, job, layer, true, norm->memory, &norm->q);
    if (status == SZG_OK)
        status = find_side(context, job, layer, false, norm->memory + count, &norm->k);
    if (status != SZG_OK && !szgi_is_local_failure(status))
        return status;
    if (status != SZG_OK || !(norm->k.root > 0 && isfinite(norm->k.root)) ||
        (norm->q.tried && !(norm->q.root > 0 && isfinite(norm->q.root))))
        norm->why = "what queries and keys are normalised by is 0, or not finite";
    return SZG_OK;
}

szg_status szgi_shared_norms_open(szg_context *context, const szg_checkpoint *checkpoint,
                                  const bool *wanted, const token_sample *tokens,
                                  const known_tokens *known, shared_norm **out) {
    if (!szgi_fold_shares_norm(checkpoint))
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, checkpoint->layers, out));
    norm_job job = {checkpoint, wanted, tokens, known, *out};
    return szgi_pool_run(context, checkpoint->layers, find_layer, &job);
}

void szgi_shared_norms_close(const szg_checkpoint *checkpoint, shared_norm *norms) {
    for (int64_t i = 0; norms && i < checkpoint->layers; i++)
        szgi_memory_free(norms[i].memory);
    szgi_memory_free(norms);
}

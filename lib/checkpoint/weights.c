/* The rows of one head. */
#include <inttypes.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "checkpoint_private.h"
#include "fold.h"

/* Columns first .. first + e - 1 of a [d, columns] tensor, as e rows of d. */
static szg_status read_columns(szg_context *context, const szgi_tensor *tensor, int64_t first,
                               int64_t e, int64_t d, double *out) {
    double *line;
    SZG_TRY(szgi_memory_alloc(context, e, &line));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < d && status == SZG_OK; i++) {
        status = szgi_tensor_read(context, tensor, i * tensor->shape[1] + first, e, line);
        for (int64_t j = 0; j < e && status == SZG_OK; j++)
            out[j * d + i] = line[j];
    }
    szgi_memory_free(line);
    return status;
}

static void scale_rows(double *rows, int64_t count, double factor) {
    for (int64_t i = 0; i < count; i++)
        rows[i] *= factor;
}

/* YaRN's attention factor stands on the dimensions that rotate. */
static szg_status scale_rotated(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t layer, double *rows) {
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    if (rotary.amplitude != 1)
        scale_rows(rows + rotary.offset * checkpoint->model_size,
                   2 * rotary.pairs * checkpoint->model_size, rotary.amplitude);
    return SZG_OK;
}

/* Columns times gains. */
static szg_status gain_columns(szg_context *context, const szgi_tensor *gain, int64_t rows,
                               int64_t columns, double *values) {
    double *factor;
    SZG_TRY(szgi_memory_alloc(context, columns, &factor));
    szg_status status = szgi_tensor_read(context, gain, 0, columns, factor);
    for (int64_t i = 0; i < rows && status == SZG_OK; i++)
        for (int64_t j = 0; j < columns; j++)
            values[i * columns + j] *= factor[j];
    szgi_memory_free(factor);
    return status;
}

/* `rows` rows of the weight times its latent's gains times what makes the latent: rows x d. */
static szg_status read_product(szg_context *context, const side_weights *side, int64_t first,
                               int64_t rows, int64_t rank, int64_t d, fold_kind fold, double *out) {
    double *up, *down;
    int64_t upper, lower;
    SZG_TRY(szgi_memory_product(context, rows, rank, &upper));
    SZG_TRY(szgi_memory_product(context, rank, d, &lower));
    SZG_TRY(szgi_memory_alloc(context, upper + lower, &up));
    down = up + upper;
    szg_status status = szgi_tensor_read(context, side->weight, first * rank, upper, up);
    if (status == SZG_OK && fold != FOLD_NONE)
        status = gain_columns(context, side->gain, rows, rank, up);
    if (status == SZG_OK)
        status = szgi_tensor_read(context, side->down, 0, lower, down);
    if (status == SZG_OK)
        status = szgi_gemm(context, 'n', 'n', rows, d, rank, 1, up, rank, down, d, 0, out, d);
    szgi_memory_free(up);
    return status;
}

static szg_status read_rows(szg_context *context, const szg_checkpoint *checkpoint,
                            const szgi_tensor *tensor, int64_t first, double *out) {
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    return checkpoint->family->layout == LAYOUT_CONV1D
               ? read_columns(context, tensor, first, e, d, out)
               : szgi_tensor_read(context, tensor, first * d, e * d, out);
}

/* Latent attention: a key's rows without rotation come from the latent, and the rotary ones, which
 * all heads share, from the tokens. */
static szg_status read_latent_keys(szg_context *context, const szg_checkpoint *checkpoint,
                                   const side_weights *side, int64_t first, fold_kind fold,
                                   double *k) {
    const latent_sizes *latent = &checkpoint->latent;
    int64_t d = checkpoint->model_size;
    SZG_TRY(read_product(context, side, first, latent->nope, latent->key_rank, d, fold, k));
    return szgi_tensor_read(context, side->down, latent->key_rank * d, latent->rope * d,
                            k + latent->nope * d);
}

/* The layer, which has such a head and no problem; `heads`: how many there are of its kind. */
static szg_status check_place(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                              int64_t head, int64_t heads) {
    if (layer < 0 || layer >= checkpoint->layers || head < 0 || head >= heads)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: layer %" PRId64 ", head %" PRId64 " of %" PRId64
                         " layers with %" PRId64 " heads",
                         checkpoint->source, layer, head, checkpoint->layers, heads);
    const layer_weights *weights = &checkpoint->layer[layer];
    if (weights->absent)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: layer %" PRId64 " is of type '%s', without queries and keys",
                         checkpoint->source, layer, weights->absent);
    return weights->problem
               ? szgi_fail(context, SZG_EDATA, "%s: %s", checkpoint->source, weights->problem)
               : SZG_OK;
}

szg_status szgi_fold_queries(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                             int64_t head, fold_kind fold, double *q, double *error) {
    SZG_TRY(check_place(context, checkpoint, layer, head, checkpoint->heads));
    const layer_weights *weights = &checkpoint->layer[layer];
    int64_t first = szgi_layout_row(&checkpoint->query_at, head), e = checkpoint->head_size;
    if (weights->q.down)
        SZG_TRY(read_product(context, &weights->q, first, e, checkpoint->latent.query_rank,
                             checkpoint->model_size, fold, q));
    else
        SZG_TRY(read_rows(context, checkpoint, weights->q.weight, first, q));
    if (fold == FOLD_ALL)
        SZG_TRY(szgi_fold_rows(context, checkpoint, layer, true, head, q, error));
    scale_rows(q, e * checkpoint->model_size, weights->scale);
    return scale_rotated(context, checkpoint, layer, q);
}

szg_status szgi_fold_keys(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                          int64_t key_head, fold_kind fold, double *k, double *error) {
    SZG_TRY(check_place(context, checkpoint, layer, key_head, checkpoint->key_heads));
    const layer_weights *weights = &checkpoint->layer[layer];
    int64_t first = szgi_layout_row(&checkpoint->key_at, key_head);
    if (weights->k.down)
        SZG_TRY(read_latent_keys(context, checkpoint, &weights->k, first, fold, k));
    else
        SZG_TRY(read_rows(context, checkpoint, weights->k.weight, first, k));
    if (fold == FOLD_ALL)
        SZG_TRY(szgi_fold_rows(context, checkpoint, layer, false, key_head, k, error));
    return scale_rotated(context, checkpoint, layer, k);
}

szg_status szgi_checkpoint_queries(szg_context *context, const szg_checkpoint *checkpoint,
                                   int64_t layer, int64_t head, double *q) {
    return szgi_fold_queries(context, checkpoint, layer, head, FOLD_LATENT, q, NULL);
}

szg_status szgi_checkpoint_keys(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t layer, int64_t key_head, double *k) {
    return szgi_fold_keys(context, checkpoint, layer, key_head, FOLD_LATENT, k, NULL);
}

/* The rows of one head. */
#include <inttypes.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "checkpoint_private.h"

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

/* YaRN's attention factor stands on the dimensions that rotate: the first ones. */
static szg_status scale_rotated(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t layer, double *q, double *k) {
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    if (rotary.amplitude == 1)
        return SZG_OK;
    int64_t first = rotary.offset * checkpoint->model_size;
    int64_t count = 2 * rotary.pairs * checkpoint->model_size;
    scale_rows(q + first, count, rotary.amplitude);
    scale_rows(k + first, count, rotary.amplitude);
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
                               int64_t rows, int64_t rank, int64_t d, double *out) {
    double *up, *down;
    int64_t upper, lower;
    SZG_TRY(szgi_memory_product(context, rows, rank, &upper));
    SZG_TRY(szgi_memory_product(context, rank, d, &lower));
    SZG_TRY(szgi_memory_alloc(context, upper + lower, &up));
    down = up + upper;
    szg_status status = szgi_tensor_read(context, side->weight, first * rank, upper, up);
    if (status == SZG_OK)
        status = gain_columns(context, side->gain, rows, rank, up);
    if (status == SZG_OK)
        status = szgi_tensor_read(context, side->down, 0, lower, down);
    if (status == SZG_OK)
        status = szgi_gemm(context, 'n', 'n', rows, d, rank, 1, up, rank, down, d, 0, out, d);
    szgi_memory_free(up);
    return status;
}

/* Latent attention: rows without rotation come from the latent; the rotary rows of keys, which all
 * heads share, from the tokens. */
static szg_status read_latent(szg_context *context, const szg_checkpoint *checkpoint,
                              const layer_weights *layer, int64_t head, double *q, double *k) {
    const latent_sizes *latent = &checkpoint->latent;
    int64_t d = checkpoint->model_size, e = checkpoint->head_size;
    int64_t query = szgi_layout_row(&checkpoint->query_at, head);
    int64_t key = szgi_layout_row(&checkpoint->key_at, head);
    if (latent->query_rank)
        SZG_TRY(read_product(context, &layer->q, query, e, latent->query_rank, d, q));
    else
        SZG_TRY(szgi_tensor_read(context, layer->q.weight, query * d, e * d, q));
    SZG_TRY(read_product(context, &layer->k, key, latent->nope, latent->key_rank, d, k));
    return szgi_tensor_read(context, layer->k.down, latent->key_rank * d, latent->rope * d,
                            k + latent->nope * d);
}

static szg_status read_head(szg_context *context, const szg_checkpoint *checkpoint,
                            const layer_weights *layer, int64_t head, double *q, double *k) {
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    int64_t key_head = head / (checkpoint->heads / checkpoint->key_heads);
    int64_t query = szgi_layout_row(&checkpoint->query_at, head);
    int64_t key = szgi_layout_row(&checkpoint->key_at, key_head);
    if (checkpoint->family->layout == LAYOUT_CONV1D) {
        SZG_TRY(read_columns(context, layer->q.weight, query, e, d, q));
        return read_columns(context, layer->k.weight, key, e, d, k);
    }
    SZG_TRY(szgi_tensor_read(context, layer->q.weight, query * d, e * d, q));
    return szgi_tensor_read(context, layer->k.weight, key * d, e * d, k);
}

szg_status szgi_checkpoint_head(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t layer, int64_t head, double *q, double *k) {
    if (layer < 0 || layer >= checkpoint->layers || head < 0 || head >= checkpoint->heads)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: layer %" PRId64 ", head %" PRId64 " of %" PRId64
                         " layers with %" PRId64 " heads",
                         checkpoint->source, layer, head, checkpoint->layers, checkpoint->heads);
    const layer_weights *weights = &checkpoint->layer[layer];
    if (weights->problem)
        return szgi_fail(context, SZG_EDATA, "%s: %s", checkpoint->source, weights->problem);
    if (weights->absent)
        return szgi_fail(context, SZG_EDOMAIN,
                         "%s: layer %" PRId64 " is of type '%s', without queries and keys",
                         checkpoint->source, layer, weights->absent);
    if (checkpoint->family->layout == LAYOUT_LATENT)
        SZG_TRY(read_latent(context, checkpoint, weights, head, q, k));
    else
        SZG_TRY(read_head(context, checkpoint, weights, head, q, k));
    scale_rows(q, checkpoint->head_size * checkpoint->model_size, weights->scale);
    return scale_rotated(context, checkpoint, layer, q, k);
}

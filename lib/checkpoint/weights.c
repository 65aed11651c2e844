/* The rows of one head. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "checkpoint_private.h"
#include "fold.h"

/* An adapter's product is made of all of them at once. */
static szg_status read_changed_columns(szg_context *context, const szgi_tensor *tensor,
                                       int64_t first, int64_t e, int64_t d, double *out) {
    double *columns;
    SZG_TRY(szgi_memory_alloc(context, d * e, &columns));
    szg_status status = szgi_tensor_read_part(context, tensor, 0, d, first, e, columns);
    for (int64_t i = 0; i < d && status == SZG_OK; i++)
        for (int64_t j = 0; j < e; j++)
            out[j * d + i] = columns[i * e + j];
    szgi_memory_free(columns);
    return status;
}

szg_status szgi_read_columns(szg_context *context, const szgi_tensor *tensor, int64_t first,
                             int64_t e, int64_t d, double *out) {
    double *line;
    const int64_t columns = tensor->count / tensor->shape[0];
    if (szgi_tensor_low_rank(tensor))
        return read_changed_columns(context, tensor, first, e, d, out);
    SZG_TRY(szgi_memory_alloc(context, e, &line));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < d && status == SZG_OK; i++) {
        status = szgi_tensor_read(context, tensor, i * columns + first, e, line);
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

/* YaRN's attention factor multiplies the dimensions that rotate. */
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

/* ---- Latent attention ---- */

void szgi_latent_release(latent_side *kept) {
    szgi_memory_free(kept->down);
    szgi_memory_free(kept->up);
    *kept = (latent_side){0};
}

/* Room for `size` numbers in place of what was there. */
static szg_status make_room(szg_context *context, int64_t size, double **array, int64_t *held) {
    if (*held >= size)
        return SZG_OK;
    szgi_memory_free(*array);
    *array = NULL;
    *held = 0;
    SZG_TRY(szgi_memory_alloc(context, size, array));
    *held = size;
    return SZG_OK;
}

/* GGUF files have keys as [heads, rank, rows]: each head's are transposed. */
static szg_status read_transposed(szg_context *context, const szgi_tensor *tensor, int64_t first,
                                  int64_t rows, int64_t rank, double *out) {
    double *columns;
    SZG_TRY(szgi_memory_alloc(context, rows * rank, &columns));
    szg_status status = szgi_tensor_read(context, tensor, first * rank, rows * rank, columns);
    for (int64_t i = 0; i < rows && status == SZG_OK; i++)
        for (int64_t j = 0; j < rank; j++)
            out[i * rank + j] = columns[j * rows + i];
    szgi_memory_free(columns);
    return status;
}

/* Rows first .. first + rows - 1 of the weight of a side that acts on a latent of `rank` numbers,
 * rows x rank, times the model's factor on what it makes. Gains are not in. */
static szg_status read_up(szg_context *context, const side_weights *side, int64_t first,
                          int64_t rows, int64_t rank, double *out) {
    SZG_TRY(side->weight->dims == 3
                ? read_transposed(context, side->weight, first, rows, rank, out)
                : szgi_tensor_read(context, side->weight, first * rank, rows * rank, out));
    for (int64_t i = 0; i < rows * rank && side->factor != 1; i++)
        out[i] *= side->factor;
    return SZG_OK;
}

static szg_status read_down(szg_context *context, const szgi_tensor *tensor, latent_side *kept) {
    if (kept->source == tensor)
        return SZG_OK;
    kept->source = NULL;
    SZG_TRY(make_room(context, tensor->count, &kept->down, &kept->down_size));
    SZG_TRY(szgi_tensor_read(context, tensor, 0, tensor->count, kept->down));
    kept->source = tensor;
    return SZG_OK;
}

szg_status szgi_read_product(szg_context *context, const side_weights *side, int64_t first,
                             int64_t rows, int64_t rank, int64_t d, fold_kind fold,
                             latent_side *kept, double *out) {
    int64_t size;
    SZG_TRY(szgi_memory_product(context, rows, rank, &size));
    SZG_TRY(make_room(context, size, &kept->up, &kept->up_size));
    SZG_TRY(read_up(context, side, first, rows, rank, kept->up));
    if (fold != FOLD_NONE)
        SZG_TRY(gain_columns(context, side->gain, rows, rank, kept->up));
    SZG_TRY(read_down(context, side->down, kept));
    return szgi_gemm(context, 'n', 'n', rows, d, rank, 1, kept->up, rank, kept->down, d, 0, out, d);
}

static szg_status read_rows(szg_context *context, const szg_checkpoint *checkpoint,
                            const szgi_tensor *tensor, int64_t first, double *out) {
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    weight_layout layout = checkpoint->family->layout;
    if (layout == LAYOUT_CONV1D || layout == LAYOUT_COLUMNS)
        return szgi_read_columns(context, tensor, first, e, d, out);
    if (!checkpoint->family->turns_back)
        return szgi_tensor_read(context, tensor, first * d, e * d, out);
    int64_t half = e / 2; /* halves are paired: the second of a pair comes first */
    SZG_TRY(szgi_tensor_read(context, tensor, (first + half) * d, half * d, out));
    return szgi_tensor_read(context, tensor, first * d, half * d, out + half * d);
}

/* A key's rows without rotation come from the latent, and the rotary ones, which all heads share,
 * from the tokens. */
static szg_status read_latent_keys(szg_context *context, const szg_checkpoint *checkpoint,
                                   const side_weights *side, int64_t first, fold_kind fold,
                                   latent_side *kept, double *k) {
    const latent_sizes *latent = &checkpoint->latent;
    int64_t d = checkpoint->model_size, rank = latent->key_rank;
    SZG_TRY(szgi_read_product(context, side, first, latent->nope, rank, d, fold, kept, k));
    memcpy(k + latent->nope * d, kept->down + rank * d,
           (size_t)(latent->rope * d) * sizeof *kept->down);
    return SZG_OK;
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

szg_status szgi_fold_queries_kept(szg_context *context, const szg_checkpoint *checkpoint,
                                  int64_t layer, int64_t head, fold_kind fold, latent_side *kept,
                                  double *q, double *error) {
    SZG_TRY(check_place(context, checkpoint, layer, head, checkpoint->heads));
    const side_weights *side = &checkpoint->layer[layer].q;
    int64_t first = szgi_layout_row(&checkpoint->query_at, head), e = checkpoint->head_size;
    int64_t d = checkpoint->model_size, rank = checkpoint->latent.query_rank;
    if (side->down)
        SZG_TRY(szgi_read_product(context, side, first, e, rank, d, fold, kept, q));
    else
        SZG_TRY(read_rows(context, checkpoint, side->weight, first, q));
    if (fold == FOLD_ALL)
        SZG_TRY(szgi_fold_rows(context, checkpoint, layer, true, head, q, error));
    scale_rows(q, e * d, checkpoint->layer[layer].scale);
    return scale_rotated(context, checkpoint, layer, q);
}

szg_status szgi_fold_keys_kept(szg_context *context, const szg_checkpoint *checkpoint,
                               int64_t layer, int64_t key_head, fold_kind fold, latent_side *kept,
                               double *k, double *error) {
    SZG_TRY(check_place(context, checkpoint, layer, key_head, checkpoint->key_heads));
    const side_weights *side = &checkpoint->layer[layer].k;
    int64_t first = szgi_layout_row(&checkpoint->key_at, key_head);
    if (side->down)
        SZG_TRY(read_latent_keys(context, checkpoint, side, first, fold, kept, k));
    else
        SZG_TRY(read_rows(context, checkpoint, side->weight, first, k));
    if (fold == FOLD_ALL)
        SZG_TRY(szgi_fold_rows(context, checkpoint, layer, false, key_head, k, error));
    return scale_rotated(context, checkpoint, layer, k);
}

szg_status szgi_fold_queries(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                             int64_t head, fold_kind fold, double *q, double *error) {
    latent_side kept = {0};
    szg_status status =
        szgi_fold_queries_kept(context, checkpoint, layer, head, fold, &kept, q, error);
    szgi_latent_release(&kept);
    return status;
}

szg_status szgi_fold_keys(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                          int64_t key_head, fold_kind fold, double *k, double *error) {
    latent_side kept = {0};
    szg_status status =
        szgi_fold_keys_kept(context, checkpoint, layer, key_head, fold, &kept, k, error);
    szgi_latent_release(&kept);
    return status;
}

szg_status szgi_checkpoint_queries(szg_context *context, const szg_checkpoint *checkpoint,
                                   int64_t layer, int64_t head, double *q) {
    return szgi_fold_queries(context, checkpoint, layer, head, FOLD_LATENT, q, NULL);
}

szg_status szgi_checkpoint_keys(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t layer, int64_t key_head, double *k) {
    return szgi_fold_keys(context, checkpoint, layer, key_head, FOLD_LATENT, k, NULL);
}

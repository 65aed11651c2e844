/* Gradient norms by head. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "capture_private.h"

/* A weight whose rows, or columns, are shared out evenly to the heads. */
typedef struct head_weight {
    const char *name;
    bool columns;
} head_weight;

static const head_weight plain[] = {{"q_linear.weight", false},
                                    {"k_linear.weight", false},
                                    {"v_linear.weight", false},
                                    {"out_linear.weight", true}};
static const head_weight latent[] = {{"attn.W_UQ.weight", false},
                                     {"attn.W_UK.weight", false},
                                     {"attn.W_UV.weight", false},
                                     {"attn.W_QR.weight", false},
                                     {"attn.out_proj.weight", true}};

/* Adds the squares of each head's part of a [rows, columns] matrix. */
static void add_squares(const szgi_parameter *weight, bool by_columns, int64_t heads,
                        const double *g, double *sums) {
    int64_t rows = weight->shape[0], columns = weight->shape[1];
    int64_t each = (by_columns ? columns : rows) / heads;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double x = g[i * columns + j];
            sums[(by_columns ? j : i) / each] += x * x;
        }
}

szg_status szgi_capture_parts(szg_context *context, const szg_model *model, int64_t layer,
                              capture_part parts[SZGI_HEAD_PARTS], int64_t *count) {
    const szg_model_config *config = &szgi_model_settings(model)->model;
    bool decoupled = szgi_encoding_attaches(szgi_model_encoding(model)) & SZGI_ATTACH_DECOUPLED;
    const head_weight *weights = decoupled ? latent : plain;
    int all =
        decoupled ? (int)(sizeof latent / sizeof *latent) : (int)(sizeof plain / sizeof *plain);
    *count = 0;
    for (int i = 0; i < all; i++) {
        char name[64];
        if (decoupled && i == 3 && config->rotary_queries == SZG_QUERIES_SHARED)
            continue;
        snprintf(name, sizeof name, "layers.%" PRId64 ".%s", layer, weights[i].name);
        const szgi_parameter *parameter = szgi_model_find(model, name);
        if (!parameter)
            return szgi_fail(context, SZG_EINVAL, "the model has no parameter %s", name);
        parts[(*count)++] = (capture_part){parameter, weights[i].columns};
    }
    return SZG_OK;
}

static szg_status add_part(szg_context *context, const szg_model *model, const void *gradient,
                           const capture_part *part, double *sums) {
    const szgi_parameter *parameter = part->parameter;
    double *g;
    SZG_TRY(szgi_memory_alloc(context, parameter->count, &g));
    szg_status status =
        szgi_model_read(context, model, gradient, parameter->offset, parameter->count, g);
    if (status == SZG_OK)
        add_squares(parameter, part->by_columns, szgi_model_settings(model)->model.heads, g, sums);
    szgi_memory_free(g);
    return status;
}

szg_status szgi_capture_gradient_norms(szg_context *context, const szg_model *model,
                                       const void *gradient, int64_t layer, double *norms) {
    int64_t heads = szgi_model_settings(model)->model.heads, count;
    capture_part parts[SZGI_HEAD_PARTS];
    SZG_TRY(szgi_capture_parts(context, model, layer, parts, &count));
    for (int64_t h = 0; h < heads; h++)
        norms[h] = 0;
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(add_part(context, model, gradient, &parts[i], norms));
    for (int64_t h = 0; h < heads; h++)
        norms[h] = sqrt(norms[h]);
    return SZG_OK;
}

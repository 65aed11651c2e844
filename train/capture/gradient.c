/* Gradient norms by head. */
#include <math.h>

#include "base/memory.h"
#include "capture_private.h"

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

int64_t szgi_capture_parts(const szg_model *model, int64_t layer, bool queries_keys,
                           szgi_head_share parts[SZGI_HEAD_SHARES]) {
    szgi_head_share all[SZGI_HEAD_SHARES];
    int64_t shares = szgi_model_head_shares(model, layer, all), count = 0;
    for (int64_t i = 0; i < shares; i++)
        if (queries_keys ? all[i].queries_keys : all[i].projects)
            parts[count++] = all[i];
    return count;
}

static szg_status add_part(szg_context *context, const szg_model *model, const void *gradient,
                           const szgi_head_share *part, double *norms, double *norms_qk) {
    const szgi_parameter *parameter = part->parameter;
    int64_t heads = szgi_model_settings(model)->model.heads;
    double *g;
    SZG_TRY(szgi_memory_alloc(context, parameter->count, &g));
    szg_status status =
        szgi_model_read(context, model, gradient, parameter->offset, parameter->count, g);
    if (status == SZG_OK)
        add_squares(parameter, part->by_columns, heads, g, norms);
    if (status == SZG_OK && part->queries_keys)
        add_squares(parameter, part->by_columns, heads, g, norms_qk);
    szgi_memory_free(g);
    return status;
}

szg_status szgi_capture_gradient_norms(szg_context *context, const szg_model *model,
                                       const void *gradient, int64_t layer, double *norms,
                                       double *norms_qk) {
    szgi_head_share parts[SZGI_HEAD_SHARES];
    int64_t heads = szgi_model_settings(model)->model.heads;
    int64_t count = szgi_capture_parts(model, layer, false, parts);
    for (int64_t h = 0; h < heads; h++)
        norms[h] = norms_qk[h] = 0;
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(add_part(context, model, gradient, &parts[i], norms, norms_qk));
    for (int64_t h = 0; h < heads; h++) {
        norms[h] = sqrt(norms[h]);
        norms_qk[h] = sqrt(norms_qk[h]);
    }
    return SZG_OK;
}

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "toeplitz/toeplitz.h"
#include "train/run/run_private.h"

#include "differences.h"

/* ---- The batch and its decoder ---- */

static szg_status open_model(szg_context *context, const szg_model *model, szg_model **out) {
    szg_train_config *config;
    SZG_TRY(szgi_memory_alloc(context, 1, &config));
    *config = *szgi_model_settings(model);
    config->model.dropout = 0;
    szg_status status = szgi_model_open(context, config, szgi_model_classes(model), out);
    szgi_memory_free(config);
    return status;
}

static szg_status take_batch(szg_context *context, differences *self, const szg_examples *examples,
                             int64_t count, int64_t length, int32_t *tokens) {
    int32_t *lengths = tokens + count * length, *labels = lengths + count;
    const szgi_batch batch = {count, length, tokens, lengths, labels};
    SZG_TRY(szgi_batch_fill(context, examples, NULL, count, length,
                            szgi_model_settings(self->model)->model.vocabulary,
                            szgi_model_classes(self->model), tokens, lengths, labels));
    SZG_TRY(szgi_decoder_open(context, self->model, count, length, true, &self->decoder));
    return szgi_decoder_embed(context, self->decoder, &batch, false); /* it stays at hand */
}

static szg_status open_batch(szg_context *context, differences *self, const szg_examples *examples,
                             int64_t length) {
    int64_t count = szgi_model_settings(self->model)->curvature.examples, numbers;
    int32_t *tokens;
    if (count > examples->count)
        return szgi_fail(context, SZG_EINVAL,
                         "curvature.examples=%" PRId64 ": the training split has %" PRId64
                         " examples: lower it, or set curvature.every=0",
                         count, examples->count);
    SZG_TRY(szgi_memory_product(context, count, length + 2, &numbers));
    SZG_TRY(szgi_memory_alloc(context, numbers, &tokens));
    szg_status status = take_batch(context, self, examples, count, length, tokens);
    szgi_memory_free(tokens);
    if (status != SZG_ENOMEM)
        return status;
    return szgi_fail_prefix(context, status, "curvature.examples=%" PRId64, count);
}

static szg_status open_arrays(szg_context *context, differences *self) {
    double **const arrays[] = {&self->weight, &self->moved, &self->ahead, &self->behind};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        SZG_TRY(szgi_memory_alloc(context, self->n, arrays[i]));
    SZG_TRY(szgi_device_alloc(context, self->n * szgi_network_real_size(context), &self->gradient));
    return szgi_device_alloc(context, (int64_t)sizeof *self->tally, &self->tally);
}

szg_status szgi_differences_open(szg_context *context, const szg_model *model,
                                 const szg_examples *examples, int64_t length, differences *out) {
    *out = (differences){.n = szgi_model_count(model)};
    szg_status status = open_model(context, model, &out->model);
    if (status == SZG_OK)
        status = open_batch(context, out, examples, length);
    if (status == SZG_OK)
        status = open_arrays(context, out);
    if (status != SZG_OK)
        szgi_differences_close(context, out);
    return status;
}

void szgi_differences_close(szg_context *context, differences *self) {
    szgi_device_free(context, self->tally);
    szgi_device_free(context, self->gradient);
    szgi_memory_free(self->weight);
    szgi_memory_free(self->moved);
    szgi_memory_free(self->ahead);
    szgi_memory_free(self->behind);
    szgi_decoder_close(context, &self->decoder);
    szg_model_close(context, &self->model);
    *self = (differences){0};
}

/* ---- The point ---- */

szg_status szgi_differences_take(szg_context *context, differences *self, const szg_model *model) {
    void *own = szgi_model_arena(self->model);
    int64_t bytes = szgi_model_numbers(model) * szgi_network_real_size(context);
    SZG_TRY(szgi_device_copy(context, own, szgi_model_arena(model), bytes));
    SZG_TRY(szgi_model_intervene(context, self->model, szgi_model_intervened(model)));
    SZG_TRY(szgi_model_read(context, self->model, own, 0, self->n, self->weight));
    self->norm = sqrt(szgi_dot(self->n, self->weight, self->weight));
    return SZG_OK;
}

/* ---- Products ---- */

/* The gradient at weight + factor * direction. */
static szg_status gradient_at(szg_context *context, differences *self, double factor,
                              const double *direction, double *out) {
    for (int64_t i = 0; i < self->n; i++)
        self->moved[i] = self->weight[i] + factor * direction[i];
    SZG_TRY(szgi_model_write(context, self->model, szgi_model_arena(self->model), 0, self->n,
                             self->moved));
    SZG_TRY(szgi_decoder_forward(context, self->decoder, NULL));
    SZG_TRY(szgi_decoder_backward(context, self->decoder, self->gradient, self->tally));
    SZG_TRY(szgi_intervention_clear(context, self->model, self->gradient));
    return szgi_model_read(context, self->model, self->gradient, 0, self->n, out);
}

static double scale_at(const hessian *self, int64_t i) {
    return self->scale ? self->scale[i] : 1;
}

szg_status szgi_hessian_apply(szg_context *context, void *data, const double *x, double *y) {
    const hessian *self = data;
    differences *at = self->at;
    int64_t n = at->n;
    for (int64_t i = 0; i < n; i++)
        y[i] = scale_at(self, i) * x[i];
    double length = sqrt(szgi_dot(n, y, y)), h = self->step * at->norm;
    if (length == 0)
        return SZG_OK; /* S x = 0, and so is its image */
    SZG_TRY(gradient_at(context, at, h / length, y, at->ahead));
    SZG_TRY(gradient_at(context, at, -h / length, y, at->behind));
    for (int64_t i = 0; i < n; i++)
        y[i] = scale_at(self, i) * (at->ahead[i] - at->behind[i]) * length / (2 * h);
    return SZG_OK;
}

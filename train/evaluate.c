/* Loss and accuracy of a model on a set of examples. */
#include <string.h>

#include <szego/memory.h>
#include "run_private.h"

szg_status szg_batch_open(szg_context *context, int64_t batch, int64_t length, batch_arrays *out) {
    *out = (batch_arrays){0};
    int64_t count;
    SZG_TRY(szg_memory_product(context, batch, length, &count));
    szg_status status = szg_memory_alloc(context, count, sizeof *out->tokens, &out->tokens);
    if (status == SZG_OK)
        status = szg_memory_alloc(context, batch, sizeof *out->lengths, &out->lengths);
    if (status == SZG_OK)
        status = szg_memory_alloc(context, batch, sizeof *out->labels, &out->labels);
    if (status != SZG_OK)
        szg_batch_close(out);
    return status;
}

void szg_batch_close(batch_arrays *arrays) {
    szg_memory_free(arrays->tokens);
    szg_memory_free(arrays->lengths);
    szg_memory_free(arrays->labels);
    *arrays = (batch_arrays){0};
}

int64_t szg_padded_length(const szg_train_config *config, const szg_examples *examples) {
    const szg_model_config *model = &config->model;
    bool unseen = model->mask_padding || model->mask == SZG_MASK_CAUSAL;
    if (model->pooling == SZG_POOL_REAL && unseen && examples->longest < model->max_length)
        return examples->longest;
    return model->max_length;
}

/* What a pass over a set needs. */
typedef struct evaluation {
    szg_model *model;
    const szg_examples *examples;
    int64_t batch, length, classes;
    szg_decoder *decoder;
    batch_arrays arrays;
    szg_tally *tally; /* the backend's memory */
    int64_t *order;   /* examples of the current batch */
    void *raw;        /* a batch's logits as the backend has them; NULL: not wanted */
} evaluation;

static void close_evaluation(szg_context *context, evaluation *self) {
    szg_memory_free(self->raw);
    szg_memory_free(self->order);
    szg_device_free(context, self->tally);
    szg_batch_close(&self->arrays);
    szg_decoder_close(context, &self->decoder);
}

static szg_status open_evaluation(szg_context *context, evaluation *self, bool logits) {
    SZG_TRY(
        szg_decoder_open(context, self->model, self->batch, self->length, false, &self->decoder));
    SZG_TRY(szg_batch_open(context, self->batch, self->length, &self->arrays));
    SZG_TRY(szg_device_alloc(context, (int64_t)sizeof *self->tally, &self->tally));
    SZG_TRY(szg_memory_alloc(context, self->batch, sizeof *self->order, &self->order));
    int64_t count;
    if (!logits)
        return SZG_OK;
    SZG_TRY(szg_memory_product(context, self->batch, self->classes, &count));
    return szg_memory_alloc(context, count, (size_t)szg_network_real_size(context), &self->raw);
}

static szg_status fetch_logits(szg_context *context, const evaluation *self, int64_t count,
                               double *out) {
    int64_t numbers = count * self->classes, size = szg_network_real_size(context);
    SZG_TRY(
        szg_device_download(context, self->raw, szg_decoder_logits(self->decoder), numbers * size));
    for (int64_t i = 0; i < numbers; i++)
        out[i] = size == 8 ? ((const double *)self->raw)[i] : ((const float *)self->raw)[i];
    return SZG_OK;
}

static szg_status evaluate_batch(szg_context *context, const evaluation *self, int64_t first,
                                 double *logits) {
    int64_t left = self->examples->count - first;
    int64_t count = left < self->batch ? left : self->batch;
    for (int64_t i = 0; i < count; i++)
        self->order[i] = first + i;
    const batch_arrays *arrays = &self->arrays;
    SZG_TRY(szg_batch_fill(context, self->examples, self->order, count, self->length,
                           szg_model_settings(self->model)->model.vocabulary, self->classes,
                           arrays->tokens, arrays->lengths, arrays->labels));
    szg_batch batch = {.count = count,
                       .length = self->length,
                       .tokens = arrays->tokens,
                       .lengths = arrays->lengths,
                       .labels = arrays->labels};
    SZG_TRY(szg_decoder_forward(context, self->decoder, &batch));
    SZG_TRY(szg_decoder_score(context, self->decoder, self->tally));
    return self->raw ? fetch_logits(context, self, count, logits + first * self->classes) : SZG_OK;
}

static szg_status evaluate(szg_context *context, evaluation *self, szg_tally *tally,
                           double *logits) {
    SZG_TRY(open_evaluation(context, self, logits != NULL));
    for (int64_t first = 0; first < self->examples->count; first += self->batch) {
        SZG_TRY(szg_context_check_cancel(context));
        SZG_TRY(evaluate_batch(context, self, first, logits));
        szg_progress(context, "evaluating", first, self->examples->count);
    }
    return szg_device_download(context, tally, self->tally, (int64_t)sizeof *tally);
}

szg_status szg_train_evaluate(szg_context *context, szg_model *model, const szg_examples *examples,
                              szg_tally *tally, double *logits) {
    *tally = (szg_tally){0};
    if (examples->count == 0)
        return SZG_OK;
    const szg_train_config *config = szg_model_settings(model);
    int64_t batch = config->loop.evaluate_batch;
    evaluation self = {.model = model,
                       .examples = examples,
                       .batch = batch < examples->count ? batch : examples->count,
                       .length = szg_padded_length(config, examples),
                       .classes = szg_model_classes(model)};
    szg_status status = evaluate(context, &self, tally, logits);
    close_evaluation(context, &self);
    return status;
}

/* Loss and accuracy of a model on a set of examples. */
#include "base/memory.h"
#include "base/text.h"
#include "train/data/resident.h"
#include "run_private.h"

int64_t szgi_padded_length(const szg_train_config *config, const szg_examples *examples) {
    const szg_model_config *model = &config->model;
    bool unseen = model->mask_padding || model->mask == SZG_MASK_CAUSAL;
    if (model->pooling == SZG_POOL_REAL && unseen && examples->longest < model->max_length)
        return examples->longest;
    return model->max_length;
}

struct evaluation {
    szg_model *model;
    int64_t batch, length, classes;
    szgi_decoder *decoder;
    resident_set set;
    szgi_tally *tally; /* the backend's memory */
};

void szgi_evaluation_close(szg_context *context, evaluation **out) {
    evaluation *self = *out;
    if (!self)
        return;
    szgi_device_free(context, self->tally);
    szgi_resident_close(context, &self->set);
    szgi_decoder_close(context, &self->decoder);
    szgi_memory_free(self);
    *out = NULL;
}

static szg_status open_parts(szg_context *context, evaluation *self, const szg_examples *examples) {
    const batch_limits limits = {self->length, szgi_model_settings(self->model)->model.vocabulary,
                                 self->classes};
    SZG_TRY(szgi_resident_open(context, examples, &limits, false, &self->set));
    SZG_TRY(
        szgi_decoder_open(context, self->model, self->batch, self->length, false, &self->decoder));
    return szgi_device_alloc(context, (int64_t)sizeof *self->tally, &self->tally);
}

szg_status szgi_evaluation_open(szg_context *context, szg_model *model,
                                const szg_examples *examples, evaluation **out) {
    const szg_train_config *config = szgi_model_settings(model);
    int64_t batch = config->loop.evaluate_batch;
    evaluation *self;
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &self));
    self->model = model;
    self->batch = batch < examples->count ? batch : examples->count;
    self->length = szgi_padded_length(config, examples);
    self->classes = szgi_model_classes(model);
    *out = self;
    szg_status status = open_parts(context, self, examples);
    if (status != SZG_OK)
        szgi_evaluation_close(context, out);
    return status;
}

/* The logits of the batch at hand. */
static szg_status fetch_logits(szg_context *context, const evaluation *self, int64_t count,
                               double *out) {
    int64_t numbers = count * self->classes, size = szgi_network_real_size(context);
    void *raw;
    SZG_TRY(szgi_memory_take(context, numbers, (size_t)size, &raw));
    szg_status status =
        szgi_device_download(context, raw, szgi_decoder_logits(self->decoder), numbers * size);
    for (int64_t i = 0; i < numbers && status == SZG_OK; i++)
        out[i] = size == 8 ? ((const double *)raw)[i] : (double)((const float *)raw)[i];
    szgi_memory_free(raw);
    return status;
}

static szg_status evaluate_batch(szg_context *context, const evaluation *self, int64_t first,
                                 double *logits) {
    int64_t left = self->set.count - first, count = left < self->batch ? left : self->batch;
    szgi_gather gather = szgi_resident_batch(&self->set, first, NULL, count, self->length);
    SZG_TRY(szgi_decoder_gather(context, self->decoder, &gather));
    SZG_TRY(szgi_decoder_forward(context, self->decoder, NULL));
    SZG_TRY(szgi_decoder_score(context, self->decoder, self->tally));
    return logits ? fetch_logits(context, self, count, logits + first * self->classes) : SZG_OK;
}

/* The rest takes as long for each example as those before it did. */
static void tell_progress(szg_context *context, const evaluation *self, int64_t done,
                          double began) {
    double left = szgi_context_seconds(context) - began;
    left *= (double)(self->set.count - done) / (double)done;
    char text[96];
    szgi_print(text, sizeof text, "evaluating, %.0f %s left", left < 120 ? left : left / 60,
               left < 120 ? "s" : "min");
    szgi_progress(context, text, done, self->set.count);
}

szg_status szgi_evaluation_run(szg_context *context, evaluation *self, szgi_tally *tally,
                               double *logits) {
    SZG_TRY(szgi_device_clear(context, self->tally, (int64_t)sizeof *tally));
    double began = szgi_context_seconds(context);
    for (int64_t first = 0, end; first < self->set.count; first = end) {
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(evaluate_batch(context, self, first, logits));
        end = first + self->batch < self->set.count ? first + self->batch : self->set.count;
        tell_progress(context, self, end, began);
    }
    return szgi_device_download(context, tally, self->tally, (int64_t)sizeof *tally);
}

szg_status szgi_train_evaluate(szg_context *context, szg_model *model, const szg_examples *examples,
                               szgi_tally *tally, double *logits) {
    evaluation *self;
    *tally = (szgi_tally){0};
    if (examples->count == 0)
        return SZG_OK;
    SZG_TRY(szgi_evaluation_open(context, model, examples, &self));
    szg_status status = szgi_evaluation_run(context, self, tally, logits);
    szgi_evaluation_close(context, &self);
    return status;
}

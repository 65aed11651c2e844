/* Where numbers stopped being finite: parameters, then activations from the input upwards, then
 * gradients from the loss downwards. */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "run_private.h"

enum { PLACE_TEXT = 160 };

typedef struct search {
    szg_context *context;
    szg_model *model;
    szgi_step_block *block; /* the backend's memory: szgi_network_finite's flag */
    char place[PLACE_TEXT];
} search;

static szg_status is_finite(search *self, int64_t count, const void *x, bool *out) {
    szgi_step_block block = {.finite = 1};
    SZG_TRY(szgi_device_upload(self->context, self->block, &block, (int64_t)sizeof block));
    SZG_TRY(szgi_network_finite(self->context, count, x, self->block));
    SZG_TRY(szgi_device_download(self->context, &block, self->block, (int64_t)sizeof block));
    *out = block.finite != 0;
    return SZG_OK;
}

/* The last tensor of an arena that is not finite (the one nearest to the loss); NULL: none. */
static szg_status last_bad(search *self, const void *arena, const szgi_parameter **out) {
    int64_t size = szgi_network_real_size(self->context);
    *out = NULL;
    for (int64_t i = szgi_model_parameters(self->model) - 1; i >= 0 && !*out; i--) {
        const szgi_parameter *parameter = szgi_model_parameter(self->model, i);
        bool finite;
        SZG_TRY(is_finite(self, parameter->count, (const char *)arena + parameter->offset * size,
                          &finite));
        if (!finite)
            *out = parameter;
    }
    return SZG_OK;
}

static szg_status check_stream(search *self, szgi_decoder *decoder, const szgi_batch *batch,
                               int64_t layer, bool *finite) {
    int64_t count = batch->count * batch->length * szgi_model_settings(self->model)->model.width;
    SZG_TRY(szgi_decoder_attend(self->context, decoder, layer));
    SZG_TRY(is_finite(self, count, szgi_decoder_stream(decoder), finite));
    if (!*finite && layer == 0)
        snprintf(self->place, PLACE_TEXT, "the embeddings of the input");
    else if (!*finite)
        snprintf(self->place, PLACE_TEXT, "the activations that leave layer %" PRId64, layer - 1);
    return *finite ? szgi_decoder_finish(self->context, decoder, layer) : SZG_OK;
}

/* A forward pass without dropout, layer by layer. */
static szg_status search_forward(search *self, szgi_decoder *decoder, const szgi_batch *batch) {
    bool finite = true;
    int64_t layers = szgi_model_settings(self->model)->model.layers;
    SZG_TRY(szgi_decoder_embed(self->context, decoder, batch, false));
    for (int64_t layer = 0; layer < layers && finite; layer++)
        SZG_TRY(check_stream(self, decoder, batch, layer, &finite));
    if (!finite)
        return SZG_OK;
    SZG_TRY(szgi_decoder_classify(self->context, decoder));
    SZG_TRY(is_finite(self, batch->count * szgi_model_classes(self->model),
                      szgi_decoder_logits(decoder), &finite));
    if (!finite)
        snprintf(self->place, PLACE_TEXT,
                 "the activations of layer %" PRId64 " or of the classifier", layers - 1);
    return SZG_OK;
}

static szg_status search_activations(search *self, const szgi_batch *batch) {
    szgi_decoder *decoder;
    SZG_TRY(szgi_decoder_open(self->context, self->model, batch->count, batch->length, false,
                              &decoder));
    szg_status status = search_forward(self, decoder, batch);
    szgi_decoder_close(self->context, &decoder);
    return status;
}

static szg_status find_place(search *self, const szgi_batch *batch, const void *gradient) {
    const szgi_parameter *parameter;
    SZG_TRY(last_bad(self, szgi_model_arena(self->model), &parameter));
    if (parameter) {
        snprintf(self->place, PLACE_TEXT, "the parameter %s", parameter->name);
        return SZG_OK;
    }
    SZG_TRY(search_activations(self, batch));
    if (*self->place)
        return SZG_OK;
    SZG_TRY(last_bad(self, gradient, &parameter));
    if (parameter)
        snprintf(self->place, PLACE_TEXT, "the gradient of %s", parameter->name);
    else
        snprintf(self->place, PLACE_TEXT, "the loss");
    return SZG_OK;
}

static szg_status search_step(search *self, const train_failure *failure, int32_t *tokens,
                              int32_t *lengths, int32_t *labels) {
    int64_t count = failure->count, length = failure->length;
    const szgi_batch batch = {count, length, tokens, lengths, labels};
    SZG_TRY(szgi_batch_fill(self->context, failure->examples, failure->order, count, length,
                            szgi_model_settings(self->model)->model.vocabulary,
                            szgi_model_classes(self->model), tokens, lengths, labels));
    return find_place(self, &batch, failure->gradient);
}

static szg_status open_search(search *self, const train_failure *failure) {
    int64_t rows;
    int32_t *ints;
    szg_context *context = self->context;
    SZG_TRY(szgi_memory_product(context, failure->count, failure->length + 2, &rows));
    SZG_TRY(szgi_memory_alloc(context, rows, &ints));
    int32_t *lengths = ints + failure->count * failure->length, *labels = lengths + failure->count;
    szg_status status = szgi_device_alloc(context, (int64_t)sizeof *self->block, &self->block);
    if (status == SZG_OK)
        status = search_step(self, failure, ints, lengths, labels);
    szgi_device_free(context, self->block);
    szgi_memory_free(ints);
    return status;
}

szg_status szgi_train_explain(szg_context *context, const train_failure *failure) {
    search self = {.context = context, .model = failure->model};
    SZG_TRY(open_search(&self, failure));
    char kept[64] = "there is no checkpoint yet";
    if (failure->saved >= 0)
        snprintf(kept, sizeof kept, "the checkpoint of step %" PRId64 " stays", failure->saved);
    return szgi_fail(context, SZG_EDATA,
                     "step %" PRId64
                     ": not finite: %s; %s: lower loop.learning_rate or lengthen loop.warmup",
                     failure->step, self.place, kept);
}

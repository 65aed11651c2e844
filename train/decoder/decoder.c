/* The decoder's handle, both ends of the forward pass, and the pass as a whole. */
#include <inttypes.h>

#include "base/memory.h"
#include "decoder_private.h"

/* ---- The handle ---- */

static szg_status open_parts(szg_context *context, szgi_decoder *decoder) {
    const szg_model_config *c = decoder_config(decoder);
    if (decoder->batch < 1 || decoder->length < 1 || decoder->length > c->max_length)
        return szgi_fail(context, SZG_EINVAL,
                         "decoder: batches of %" PRId64 " sequences of %" PRId64
                         " positions: at least 1 of 1 .. max_length=%" PRId64,
                         decoder->batch, decoder->length, c->max_length);
    decoder->real = szgi_network_real_size(context);
    SZG_TRY(szgi_memory_alloc(context, c->layers + 1, &decoder->layer));
    return szgi_decoder_open_memory(context, decoder);
}

szg_status szgi_decoder_open(szg_context *context, szg_model *model, int64_t batch, int64_t length,
                             bool training, szgi_decoder **out) {
    *out = NULL;
    szgi_decoder *decoder;
    SZG_TRY(szgi_memory_alloc(context, 1, &decoder));
    decoder->model = model;
    decoder->batch = batch;
    decoder->length = length;
    decoder->training = training;
    szg_status status = open_parts(context, decoder);
    if (status == SZG_OK)
        *out = decoder;
    else
        szgi_decoder_close(context, &decoder);
    return status;
}

void szgi_decoder_close(szg_context *context, szgi_decoder **decoder) {
    if (!decoder || !*decoder)
        return;
    szgi_device_free(context, (*decoder)->memory);
    szgi_memory_free((*decoder)->layer);
    szgi_memory_free(*decoder);
    *decoder = NULL;
}

void szgi_decoder_set_block(szgi_decoder *decoder, szgi_step_block *block) {
    decoder->block = block;
}

const szgi_attention *szgi_decoder_attention(const szgi_decoder *decoder) {
    return &decoder->attention;
}

void *szgi_decoder_heads(const szgi_decoder *decoder) {
    return decoder->layer[decoder->latest].heads;
}

void *szgi_decoder_stream(const szgi_decoder *decoder) {
    return decoder->layer[decoder->latest].stream;
}

const void *szgi_decoder_logits(const szgi_decoder *decoder) {
    return decoder->logits;
}

/* ---- The batch ---- */

static szg_status check_tokens(szg_context *context, const szgi_decoder *decoder,
                               const szgi_batch *batch) {
    int64_t vocabulary = decoder_config(decoder)->vocabulary;
    for (int64_t at = 0; at < batch->count * batch->length; at++)
        if (batch->tokens[at] < 0 || batch->tokens[at] >= vocabulary)
            return szgi_fail(context, SZG_EINVAL,
                             "decoder: token %d of sequence %" PRId64 ", position %" PRId64
                             ", is outside the vocabulary 0 .. %" PRId64,
                             (int)batch->tokens[at], at / batch->length, at % batch->length,
                             vocabulary - 1);
    return SZG_OK;
}

static szg_status check_sizes(szg_context *context, const szgi_decoder *decoder, int64_t count,
                              int64_t length) {
    if (count >= 1 && count <= decoder->batch && length >= 1 && length <= decoder->length)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "decoder: a batch of %" PRId64 " sequences of %" PRId64
                     " positions, opened for 1 .. %" PRId64 " of 1 .. %" PRId64,
                     count, length, decoder->batch, decoder->length);
}

static szg_status check_batch(szg_context *context, const szgi_decoder *decoder,
                              const szgi_batch *batch) {
    SZG_TRY(check_sizes(context, decoder, batch->count, batch->length));
    for (int64_t b = 0; b < batch->count; b++) {
        if (batch->lengths[b] < 1 || batch->lengths[b] > batch->length)
            return szgi_fail(context, SZG_EINVAL,
                             "decoder: sequence %" PRId64 " has length %d, outside 1 .. %" PRId64,
                             b, (int)batch->lengths[b], batch->length);
        if (batch->labels && (batch->labels[b] < 0 || batch->labels[b] >= decoder->model->classes))
            return szgi_fail(context, SZG_EINVAL,
                             "decoder: label %d of sequence %" PRId64
                             " is outside the classes 0 .. %" PRId64,
                             (int)batch->labels[b], b, decoder->model->classes - 1);
    }
    return check_tokens(context, decoder, batch);
}

static void set_batch(szgi_decoder *decoder, int64_t count, int64_t length, bool labelled) {
    decoder->count = count;
    decoder->n = length;
    decoder->rows = count * length;
    decoder->copies = 1;
    decoder->labelled = labelled;
}

static szg_status upload_batch(szg_context *context, szgi_decoder *decoder,
                               const szgi_batch *batch) {
    const int64_t size = sizeof(int32_t);
    set_batch(decoder, batch->count, batch->length, batch->labels != NULL);
    SZG_TRY(szgi_device_upload(context, decoder->tokens, batch->tokens, decoder->rows * size));
    SZG_TRY(szgi_device_upload(context, decoder->lengths, batch->lengths, batch->count * size));
    if (!batch->labels)
        return SZG_OK;
    return szgi_device_upload(context, decoder->labels, batch->labels, batch->count * size);
}

szg_status szgi_decoder_gather(szg_context *context, szgi_decoder *decoder,
                               const szgi_gather *gather) {
    szgi_gather own = *gather;
    decoder->count = 0;
    SZG_TRY(check_sizes(context, decoder, gather->count, gather->length));
    own.tokens = decoder->tokens;
    own.lengths = decoder->lengths;
    own.labels = decoder->labels;
    SZG_TRY(szgi_network_gather(context, &own));
    set_batch(decoder, gather->count, gather->length, gather->classes != NULL);
    return SZG_OK;
}

/* ---- Copies of the batch ---- */

/* Repeats the first `bytes` bytes of an array behind themselves. */
static szg_status repeat(szg_context *context, void *array, int64_t copies, int64_t bytes) {
    for (int64_t copy = 1; copy < copies; copy++)
        SZG_TRY(szgi_device_copy(context, (char *)array + copy * bytes, array, bytes));
    return SZG_OK;
}

szg_status szgi_decoder_repeat(szg_context *context, szgi_decoder *decoder, int64_t copies) {
    int64_t alone = decoder->count / (decoder->copies > 0 ? decoder->copies : 1);
    int64_t room = alone == 0 ? 0 : decoder->training ? 1 : decoder->batch / alone;
    if (copies < 1 || copies > room)
        return szgi_fail(context, SZG_EINVAL,
                         "decoder: %" PRId64 " copies of the %" PRId64
                         " sequences at hand: 1 .. %" PRId64 " fit",
                         copies, alone, room);
    decoder->copies = copies;
    decoder->count = copies * alone;
    decoder->rows = decoder->count * decoder->n;
    decoder->classified = false;
    SZG_TRY(repeat(context, decoder->lengths, copies, alone * (int64_t)sizeof(int32_t)));
    if (decoder_config(decoder)->keys_values != SZG_KEYS_EMBEDDING)
        return SZG_OK;
    return repeat(context, decoder->layer[0].stream, copies,
                  alone * decoder->n * decoder_config(decoder)->width * decoder->real);
}

/* ---- Embedding ---- */

/* The rows in the arena: one table, or the sum of two. */
static szg_status trained_rows(szg_context *context, const szgi_decoder *decoder,
                               const void **rows) {
    const szg_model *model = decoder->model;
    const szgi_dropout none = {0};
    const void *own = decoder_weight(decoder, model->position_rows);
    const void *extra = decoder_weight(decoder, model->extra_rows);
    *rows = own ? own : extra;
    if (!own || !extra)
        return SZG_OK;
    *rows = decoder->position_sum;
    return szgi_network_dropout_residual(context, decoder->n, decoder_config(decoder)->width, &none,
                                         own, extra, decoder->position_sum);
}

szgi_embedding szgi_decoder_embedding(const szgi_decoder *decoder) {
    const szg_model_config *c = decoder_config(decoder);
    return (szgi_embedding){.batch = decoder->count,
                            .length = decoder->n,
                            .vocabulary = c->vocabulary,
                            .width = c->width,
                            .tokens = decoder->tokens,
                            .table = decoder_weight(decoder, decoder->model->embedding),
                            .fixed = decoder->zeroed ? NULL : decoder->model->positions.fixed,
                            .out = decoder->layer[0].stream};
}

static szg_status take_batch(szg_context *context, szgi_decoder *decoder, const szgi_batch *batch) {
    if (!batch && decoder->count == 0)
        return szgi_fail(context, SZG_EINVAL, "decoder: there is no batch at hand");
    if (!batch)
        return szgi_decoder_repeat(context, decoder, 1);
    decoder->count = 0;
    SZG_TRY(check_batch(context, decoder, batch));
    return upload_batch(context, decoder, batch);
}

szg_status szgi_decoder_embed(szg_context *context, szgi_decoder *decoder, const szgi_batch *batch,
                              bool zero_positions) {
    decoder->classified = false;
    decoder->zeroed = zero_positions;
    SZG_TRY(take_batch(context, decoder, batch));
    szgi_embedding embedding = szgi_decoder_embedding(decoder);
    if (!zero_positions)
        SZG_TRY(trained_rows(context, decoder, &embedding.trained));
    return szgi_network_embedding(context, &embedding);
}

/* ---- Classes ---- */

szgi_pooling szgi_decoder_pooling(const szgi_decoder *decoder) {
    const szg_model_config *c = decoder_config(decoder);
    return (szgi_pooling){.batch = decoder->count,
                          .length = decoder->n,
                          .width = c->width,
                          .lengths = c->pooling == SZG_POOL_REAL ? decoder->lengths : NULL};
}

/* logits = pooled W^T + bias, [batch][classes]. */
szgi_linear szgi_decoder_classifier(const szgi_decoder *decoder) {
    const szg_model *model = decoder->model;
    int64_t width = decoder_config(decoder)->width;
    return (szgi_linear){.rows = decoder->count,
                         .in = width,
                         .out = model->classes,
                         .x = decoder->pooled,
                         .ldx = width,
                         .weight = decoder_weight(decoder, model->classifier.weight),
                         .bias = decoder_weight(decoder, model->classifier.bias),
                         .y = decoder->logits,
                         .ldy = model->classes};
}

szg_status szgi_decoder_classify(szg_context *context, szgi_decoder *decoder) {
    const szg_model_config *c = decoder_config(decoder);
    SZG_TRY(szgi_decoder_check_layer(context, decoder, c->layers - 1));
    const void *stream = decoder->layer[c->layers].stream;
    if (c->final_norm) {
        SZG_TRY(szgi_decoder_norm(context, decoder, decoder->model->final_norm, stream,
                                  decoder->final_mean, decoder->final_inverse));
        stream = decoder->normed;
    }
    szgi_pooling pooling = szgi_decoder_pooling(decoder);
    SZG_TRY(szgi_network_pooling(context, &pooling, stream, decoder->pooled));
    szgi_linear classifier = szgi_decoder_classifier(decoder);
    SZG_TRY(szgi_network_linear(context, &classifier));
    decoder->classified = true;
    return SZG_OK;
}

/* ---- All of it ---- */

szg_status szgi_decoder_forward(szg_context *context, szgi_decoder *decoder,
                                const szgi_batch *batch) {
    SZG_TRY(szgi_decoder_embed(context, decoder, batch, false));
    for (int64_t l = 0; l < decoder_config(decoder)->layers; l++) {
        SZG_TRY(szgi_decoder_attend(context, decoder, l));
        SZG_TRY(szgi_decoder_finish(context, decoder, l));
    }
    return szgi_decoder_classify(context, decoder);
}

szg_status szgi_decoder_cross_entropy(szg_context *context, szgi_decoder *decoder, int64_t copy,
                                      void *dlogits, szgi_tally *tally, szgi_step_block *block) {
    if (!decoder->classified || !decoder->labelled)
        return szgi_fail(context, SZG_EINVAL, "decoder: no loss: %s",
                         decoder->classified ? "the batch has no labels"
                                             : "the forward pass comes first");
    int64_t alone = decoder->count / decoder->copies, classes = decoder->model->classes;
    szgi_cross_entropy entropy = {.batch = alone,
                                  .classes = classes,
                                  .ignored = (int32_t)decoder_config(decoder)->ignored_label,
                                  .logits =
                                      decoder_at(decoder, decoder->logits, copy * alone * classes),
                                  .labels = decoder->labels,
                                  .dlogits = dlogits,
                                  .tally = tally,
                                  .block = block};
    return szgi_network_cross_entropy(context, &entropy);
}

szg_status szgi_decoder_score(szg_context *context, szgi_decoder *decoder, szgi_tally *tally) {
    for (int64_t copy = 0; copy < decoder->copies || copy == 0; copy++)
        SZG_TRY(szgi_decoder_cross_entropy(context, decoder, copy, NULL, tally + copy, NULL));
    return SZG_OK;
}

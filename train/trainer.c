/* One step of training, and what it needs: model, moments, gradients, a batch, and the record that
 * the backend reads and writes. */
#include <inttypes.h>
#include <math.h>

#include <szego/memory.h>
#include "model_private.h"
#include "trainer.h"

static szg_status open_arenas(szg_context *context, trainer *self) {
    void **const arenas[] = {&self->gradient, &self->moment1, &self->moment2};
    int64_t bytes;
    SZG_TRY(szg_memory_product(context, szg_model_count(self->model),
                               szg_network_real_size(context), &bytes));
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++)
        SZG_TRY(model_alloc(context, bytes, "gradients and moments", arenas[i]));
    return szg_device_alloc(context, (int64_t)sizeof *self->record, &self->record);
}

static szg_status count_steps(szg_context *context, trainer *self) {
    const szg_loop_config *loop = &self->config->loop;
    self->epoch_steps = szg_train_epoch_steps(loop, self->data->train.count);
    SZG_TRY(szg_memory_product(context, self->epoch_steps, loop->epochs, &self->total));
    if (self->total > UINT32_MAX)
        return szg_fail(context, SZG_EINVAL,
                        "%" PRId64 " epochs of %" PRId64
                        " steps are more than 2^32 steps: lower loop.epochs or raise loop.batch",
                        loop->epochs, self->epoch_steps);
    return SZG_OK;
}

static szg_status open_parts(szg_context *context, trainer *self) {
    const szg_examples *train = &self->data->train;
    int64_t batch = self->config->loop.batch;
    if (batch > train->count)
        batch = train->count;
    self->length = szg_padded_length(self->config, train);
    self->order_epoch = -1;
    SZG_TRY(count_steps(context, self));
    SZG_TRY(szg_model_open(context, self->config, self->data->classes, &self->model));
    SZG_TRY(szg_decoder_open(context, self->model, batch, self->length, true, &self->decoder));
    SZG_TRY(open_arenas(context, self));
    szg_decoder_set_block(self->decoder, &self->record->block);
    SZG_TRY(szg_batch_open(context, batch, self->length, &self->arrays));
    return szg_memory_alloc(context, train->count, sizeof *self->order, &self->order);
}

szg_status trainer_open(szg_context *context, const szg_train_options *options, trainer *out) {
    *out = (trainer){
        .config = options->config, .data = options->data, .seed = options->seed, .saved = -1};
    if (options->data->train.count < 1)
        return szg_fail(context, SZG_EDATA, "there are no examples to train on");
    szg_status status = open_parts(context, out);
    if (status != SZG_OK)
        trainer_close(context, out);
    return status;
}

void trainer_close(szg_context *context, trainer *self) {
    szg_capture_close(context, &self->capture);
    szg_memory_free(self->order);
    szg_batch_close(&self->arrays);
    szg_device_free(context, self->record);
    szg_device_free(context, self->moment2);
    szg_device_free(context, self->moment1);
    szg_device_free(context, self->gradient);
    szg_decoder_close(context, &self->decoder);
    szg_model_close(context, &self->model);
    *self = (trainer){0};
}

szg_status trainer_set_tally(szg_context *context, trainer *self, const szg_tally *tally) {
    step_record record = {.block.finite = 1, .tally = *tally};
    return szg_device_upload(context, self->record, &record, (int64_t)sizeof record);
}

static szg_status fill_batch(szg_context *context, trainer *self, int64_t step) {
    const szg_examples *train = &self->data->train;
    int64_t epoch = step / self->epoch_steps, batch = self->config->loop.batch;
    if (epoch != self->order_epoch)
        szg_train_order(self->seed, epoch, train->count, self->order);
    self->order_epoch = epoch;
    int64_t first = step % self->epoch_steps * batch;
    int64_t left = train->count - first;
    self->batch = (szg_batch){.count = left < batch ? left : batch,
                              .length = self->length,
                              .tokens = self->arrays.tokens,
                              .lengths = self->arrays.lengths,
                              .labels = self->arrays.labels};
    return szg_batch_fill(context, train, self->order + first, self->batch.count, self->length,
                          self->config->model.vocabulary, szg_model_classes(self->model),
                          self->arrays.tokens, self->arrays.lengths, self->arrays.labels);
}

int64_t trainer_batch_tokens(const trainer *self) {
    int64_t sum = 0;
    for (int64_t i = 0; i < self->batch.count; i++)
        sum += self->arrays.lengths[i];
    return sum;
}

/* What the record says after a step; numbers that are not finite are an error. */
static szg_status check(szg_context *context, trainer *self, int64_t step, szg_tally *out) {
    step_record record;
    SZG_TRY(szg_device_download(context, &record, self->record, (int64_t)sizeof record));
    *out = record.tally;
    if (record.block.finite && isfinite(record.tally.loss))
        return SZG_OK;
    return szg_train_explain(context, self->model, &self->batch, self->gradient, step, self->saved);
}

static szg_status gradients(szg_context *context, trainer *self, int64_t step) {
    szg_step_block block = szg_train_block(&self->config->loop, self->seed, step, self->total);
    SZG_TRY(szg_device_upload(context, &self->record->block, &block, (int64_t)sizeof block));
    SZG_TRY(fill_batch(context, self, step));
    SZG_TRY(szg_decoder_forward(context, self->decoder, &self->batch));
    SZG_TRY(szg_decoder_backward(context, self->decoder, self->gradient, &self->record->tally));
    return szg_network_finite(context, szg_model_count(self->model), self->gradient,
                              &self->record->block);
}

static szg_status update(szg_context *context, trainer *self) {
    const szg_loop_config *loop = &self->config->loop;
    szg_adamw adamw = {.count = szg_model_count(self->model),
                       .beta1 = loop->beta1,
                       .beta2 = loop->beta2,
                       .eps = loop->eps,
                       .decay = loop->decay,
                       .block = &self->record->block,
                       .gradient = self->gradient,
                       .weight = szg_model_arena(self->model),
                       .moment1 = self->moment1,
                       .moment2 = self->moment2};
    return szg_network_adamw(context, &adamw);
}

szg_status trainer_step(szg_context *context, trainer *self, int64_t step,
                        szg_contraction_tables *captured, double *capture_seconds,
                        szg_tally *tally) {
    SZG_TRY(gradients(context, self, step));
    if (captured) {
        SZG_TRY(check(context, self, step, tally));
        double begin = szg_train_seconds();
        SZG_TRY(szg_capture_step(context, self->capture, step, self->gradient, captured));
        *capture_seconds += szg_train_seconds() - begin;
    }
    SZG_TRY(update(context, self));
    return check(context, self, step, tally);
}

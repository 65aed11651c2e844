/* Steps of training, and what they need: model, moments, gradients, the examples, and the record
 * that the backend reads and writes. */
#include <inttypes.h>
#include <stddef.h>

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
    SZG_TRY(szg_device_alloc(context, (int64_t)sizeof *self->record, &self->record));
    return szg_device_alloc(context, (int64_t)sizeof *self->window, &self->window);
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
    SZG_TRY(szg_memory_alloc(context, train->count, sizeof *self->order, &self->order));
    const batch_limits limits = {self->length, self->config->model.vocabulary,
                                 szg_model_classes(self->model)};
    SZG_TRY(resident_open(context, train, &limits, true, &self->set));
    return trainer_set_tally(context, self, &(szg_tally){0});
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
    for (int i = 0; i < 2; i++)
        szg_device_recording_close(context, self->shape[i].recording);
    resident_close(context, &self->set);
    szg_memory_free(self->order);
    szg_device_free(context, self->window);
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

/* ---- A window ---- */

/* Examples of a step. */
static int64_t batch_of(const trainer *self, int64_t step) {
    int64_t batch = self->config->loop.batch;
    int64_t left = self->set.count - step % self->epoch_steps * batch;
    return left < batch ? left : batch;
}

int64_t trainer_batch_tokens(const trainer *self) {
    const int64_t *start = self->data->train.start;
    int64_t first = self->first % self->epoch_steps * self->config->loop.batch;
    int64_t end = (self->first + self->count - 1) % self->epoch_steps * self->config->loop.batch +
                  batch_of(self, self->first + self->count - 1);
    int64_t sum = 0;
    for (int64_t i = first; i < end; i++)
        sum += start[self->order[i] + 1] - start[self->order[i]];
    return sum;
}

int64_t trainer_room(szg_context *context, const trainer *self) {
    static const double SECONDS = 0.5;
    if (!szg_device_records(context) || !(self->pace > 0))
        return 1;
    double steps = SECONDS / self->pace;
    return steps < 1 ? 1 : steps < TRAINER_WINDOW ? (int64_t)steps : TRAINER_WINDOW;
}

/* The backend learns what the steps are. */
static szg_status begin_window(szg_context *context, trainer *self, int64_t first, int64_t count) {
    int64_t epoch = first / self->epoch_steps;
    step_window window = {.at = 0};
    if (epoch != self->order_epoch) {
        szg_train_order(self->seed, epoch, self->set.count, self->order);
        SZG_TRY(resident_set_order(context, &self->set, self->order));
    }
    self->order_epoch = epoch;
    self->first = first;
    self->count = count;
    for (int64_t i = 0; i < count; i++) {
        szg_step_block *block = &window.blocks[i];
        *block = szg_train_block(&self->config->loop, self->seed, first + i, self->total);
        block->first = (first + i) % self->epoch_steps * self->config->loop.batch;
    }
    return szg_device_upload(
        context, self->window, &window,
        (int64_t)(offsetof(step_window, blocks) + (size_t)count * sizeof *window.blocks));
}

/* What the record says after a window; numbers that are not finite are an error. */
static szg_status end_window(szg_context *context, trainer *self, szg_tally *out) {
    step_record record;
    SZG_TRY(szg_device_download(context, &record, self->record, (int64_t)sizeof record));
    *out = record.tally;
    if (record.block.finite)
        return SZG_OK;
    const train_failure failure = {.model = self->model,
                                   .examples = &self->data->train,
                                   .order = self->order + record.block.first,
                                   .count = batch_of(self, record.block.step),
                                   .length = self->length,
                                   .gradient = self->gradient,
                                   .step = record.block.step,
                                   .saved = self->saved};
    return szg_train_explain(context, &failure);
}

/* ---- A step ---- */

static szg_status gradients(szg_context *context, trainer *self, int64_t batch) {
    szg_step_block *block = &self->record->block;
    szg_gather gather = resident_batch(&self->set, 0, block, batch, self->length);
    SZG_TRY(szg_network_advance(context, self->window->blocks, TRAINER_WINDOW, block,
                                &self->window->at));
    SZG_TRY(szg_decoder_gather(context, self->decoder, &gather));
    SZG_TRY(szg_decoder_forward(context, self->decoder, NULL));
    SZG_TRY(szg_decoder_backward(context, self->decoder, self->gradient, &self->record->tally));
    return szg_network_finite(context, szg_model_count(self->model), self->gradient, block);
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

static szg_status give_step(szg_context *context, trainer *self, int64_t batch) {
    SZG_TRY(gradients(context, self, batch));
    return update(context, self);
}

static szg_status record(szg_context *context, trainer *self, int64_t batch, void **out) {
    SZG_TRY(szg_device_record_begin(context));
    szg_status status = give_step(context, self, batch);
    if (status == SZG_OK)
        return szg_device_record_end(context, out);
    SZG_TRY(szg_device_record_end(context, NULL));
    return status;
}

/* The window's next step, of so many examples. */
static szg_status next_step(szg_context *context, trainer *self, int64_t batch) {
    step_shape *shape = &self->shape[batch < self->config->loop.batch];
    if (!shape->ran || !szg_device_records(context)) {
        shape->ran = true;
        return give_step(context, self, batch);
    }
    if (!shape->recording)
        SZG_TRY(record(context, self, batch, &shape->recording));
    return szg_device_replay(context, shape->recording);
}

szg_status trainer_steps(szg_context *context, trainer *self, int64_t first, int64_t count,
                         szg_tally *tally) {
    double begin = szg_context_seconds(context);
    SZG_TRY(begin_window(context, self, first, count));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(next_step(context, self, batch_of(self, first + i)));
    SZG_TRY(end_window(context, self, tally));
    self->pace = (szg_context_seconds(context) - begin) / (double)count;
    return SZG_OK;
}

/* The report is between gradients and update: a step that is not replayed. */
static szg_status capture_step(szg_context *context, trainer *self, int64_t step,
                               szg_contraction_tables *captured, double *capture_seconds,
                               szg_tally *tally) {
    SZG_TRY(begin_window(context, self, step, 1));
    SZG_TRY(gradients(context, self, batch_of(self, step)));
    SZG_TRY(end_window(context, self, tally));
    double begin = szg_context_seconds(context);
    SZG_TRY(szg_capture_step(context, self->capture, step, self->gradient, captured));
    *capture_seconds += szg_context_seconds(context) - begin;
    return update(context, self);
}

szg_status trainer_step(szg_context *context, trainer *self, int64_t step,
                        szg_contraction_tables *captured, double *capture_seconds,
                        szg_tally *tally) {
    if (!captured)
        return trainer_steps(context, self, step, 1, tally);
    return capture_step(context, self, step, captured, capture_seconds, tally);
}

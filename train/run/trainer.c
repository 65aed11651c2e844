/* Steps of training, and what they need: model, moments, gradients, the examples, and the record
 * that the backend reads and writes. */
#include <inttypes.h>
#include <stddef.h>

#include "base/memory.h"
#include "train/decoder/model_private.h"
#include "trainer.h"

static szg_status open_arenas(szg_context *context, trainer *self) {
    void **const arenas[] = {&self->gradient, &self->moment1, &self->moment2};
    int64_t bytes;
    SZG_TRY(szgi_memory_product(context, szgi_model_count(self->model),
                                szgi_network_real_size(context), &bytes));
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++)
        SZG_TRY(szgi_model_alloc(context, bytes, "gradients and moments", arenas[i]));
    SZG_TRY(szgi_device_alloc(context, (int64_t)sizeof *self->record, &self->record));
    return szgi_device_alloc(context, (int64_t)sizeof *self->window, &self->window);
}

static szg_status count_steps(szg_context *context, trainer *self) {
    const szg_loop_config *loop = &self->config->loop;
    self->epoch_steps = szgi_train_epoch_steps(loop, self->data->train.count);
    SZG_TRY(szgi_memory_product(context, self->epoch_steps, loop->epochs, &self->total));
    if (self->total > UINT32_MAX)
        return szgi_fail(context, SZG_EINVAL,
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
    self->length = szgi_padded_length(self->config, train);
    self->order_epoch = -1;
    SZG_TRY(count_steps(context, self));
    self->begins = szgi_intervention_first(&self->config->intervention, self->total);
    SZG_TRY(szgi_model_open(context, self->config, self->data->classes, &self->model));
    SZG_TRY(szgi_decoder_open(context, self->model, batch, self->length, true, &self->decoder));
    SZG_TRY(open_arenas(context, self));
    szgi_decoder_set_block(self->decoder, &self->record->block);
    SZG_TRY(szgi_memory_alloc(context, train->count, &self->order));
    const batch_limits limits = {self->length, self->config->model.vocabulary,
                                 szgi_model_classes(self->model)};
    SZG_TRY(szgi_resident_open(context, train, &limits, true, &self->set));
    return szgi_trainer_set_tally(context, self, &(szgi_tally){0});
}

szg_status szgi_trainer_open(szg_context *context, const szg_train_options *options, trainer *out) {
    *out = (trainer){
        .config = options->config, .data = options->data, .seed = options->seed, .saved = -1};
    if (options->data->train.count < 1)
        return szgi_fail(context, SZG_EDATA, "there are no examples to train on");
    szg_status status = open_parts(context, out);
    if (status != SZG_OK)
        szgi_trainer_close(context, out);
    return status;
}

static void forget_recordings(szg_context *context, trainer *self) {
    for (int i = 0; i < 2; i++) {
        szgi_device_recording_close(context, self->shape[i].recording);
        self->shape[i] = (step_shape){0};
    }
}

void szgi_trainer_close(szg_context *context, trainer *self) {
    szgi_capture_close(context, &self->capture);
    forget_recordings(context, self);
    szgi_resident_close(context, &self->set);
    szgi_memory_free(self->order);
    szgi_device_free(context, self->window);
    szgi_device_free(context, self->record);
    szgi_device_free(context, self->moment2);
    szgi_device_free(context, self->moment1);
    szgi_device_free(context, self->gradient);
    szgi_decoder_close(context, &self->decoder);
    szg_model_close(context, &self->model);
    *self = (trainer){0};
}

szg_status szgi_trainer_set_tally(szg_context *context, trainer *self, const szgi_tally *tally) {
    step_record record = {.block.finite = 1, .tally = *tally};
    return szgi_device_upload(context, self->record, &record, (int64_t)sizeof record);
}

/* ---- The intervention ---- */

/* What was recorded are the steps of before. Without a gradient, AdamW would go on moving a
 * parameter by the moment that is left. */
szg_status szgi_trainer_reach(szg_context *context, trainer *self, int64_t step) {
    bool begun = self->config->intervention.kind != SZG_INTERVENTION_NONE && step >= self->begins;
    if (begun == szgi_model_intervened(self->model))
        return SZG_OK;
    forget_recordings(context, self);
    SZG_TRY(szgi_model_intervene(context, self->model, begun));
    return szgi_intervention_clear(context, self->model, self->moment1);
}

/* ---- A window ---- */

/* Examples of a step. */
static int64_t batch_of(const trainer *self, int64_t step) {
    int64_t batch = self->config->loop.batch;
    int64_t left = self->set.count - step % self->epoch_steps * batch;
    return left < batch ? left : batch;
}

int64_t szgi_trainer_batch_tokens(const trainer *self) {
    const int64_t *start = self->data->train.start;
    int64_t first = self->first % self->epoch_steps * self->config->loop.batch;
    int64_t end = (self->first + self->count - 1) % self->epoch_steps * self->config->loop.batch +
                  batch_of(self, self->first + self->count - 1);
    int64_t sum = 0;
    for (int64_t i = first; i < end; i++)
        sum += start[self->order[i] + 1] - start[self->order[i]];
    return sum;
}

int64_t szgi_trainer_room(szg_context *context, const trainer *self) {
    static const double SECONDS = 0.5;
    if (!szgi_device_records(context) || !(self->pace > 0))
        return 1;
    double steps = SECONDS / self->pace;
    return steps < 1 ? 1 : steps < TRAINER_WINDOW ? (int64_t)steps : TRAINER_WINDOW;
}

/* The backend learns what the steps are. */
static szg_status begin_window(szg_context *context, trainer *self, int64_t first, int64_t count) {
    int64_t epoch = first / self->epoch_steps;
    step_window window = {.at = 0};
    if (epoch != self->order_epoch) {
        szgi_train_order(self->seed, epoch, self->set.count, self->order);
        SZG_TRY(szgi_resident_set_order(context, &self->set, self->order));
    }
    self->order_epoch = epoch;
    self->first = first;
    self->count = count;
    for (int64_t i = 0; i < count; i++) {
        szgi_step_block *block = &window.blocks[i];
        *block = szgi_train_block(&self->config->loop, self->seed, first + i, self->total);
        block->first = (first + i) % self->epoch_steps * self->config->loop.batch;
    }
    return szgi_device_upload(
        context, self->window, &window,
        (int64_t)(offsetof(step_window, blocks) + (size_t)count * sizeof *window.blocks));
}

/* What the record says after a window; numbers that are not finite are an error. */
static szg_status end_window(szg_context *context, trainer *self, szgi_tally *out) {
    step_record record;
    SZG_TRY(szgi_device_download(context, &record, self->record, (int64_t)sizeof record));
    *out = record.tally;
    if (record.block.finite)
        return SZG_OK;
    self->lost = true;
    self->lost_at = record.block.step;
    const train_failure failure = {.model = self->model,
                                   .examples = &self->data->train,
                                   .order = self->order + record.block.first,
                                   .count = batch_of(self, record.block.step),
                                   .length = self->length,
                                   .gradient = self->gradient,
                                   .step = record.block.step,
                                   .saved = self->saved};
    return szgi_train_explain(context, &failure);
}

/* ---- A step ---- */

static szg_status gradients(szg_context *context, trainer *self, int64_t batch) {
    szgi_step_block *block = &self->record->block;
    szgi_gather gather = szgi_resident_batch(&self->set, 0, block, batch, self->length);
    SZG_TRY(szgi_network_advance(context, self->window->blocks, TRAINER_WINDOW, block,
                                 &self->window->at));
    SZG_TRY(szgi_decoder_gather(context, self->decoder, &gather));
    SZG_TRY(szgi_decoder_forward(context, self->decoder, NULL));
    SZG_TRY(szgi_decoder_backward(context, self->decoder, self->gradient, &self->record->tally));
    return szgi_network_finite(context, szgi_model_count(self->model), self->gradient, block);
}

static szg_status update(szg_context *context, trainer *self) {
    const szg_loop_config *loop = &self->config->loop;
    SZG_TRY(szgi_intervention_clear(context, self->model, self->gradient));
    szgi_adamw adamw = {.count = szgi_model_count(self->model),
                        .beta1 = loop->beta1,
                        .beta2 = loop->beta2,
                        .eps = loop->eps,
                        .decay = loop->decay,
                        .block = &self->record->block,
                        .gradient = self->gradient,
                        .weight = szgi_model_arena(self->model),
                        .moment1 = self->moment1,
                        .moment2 = self->moment2};
    return szgi_network_adamw(context, &adamw);
}

static szg_status give_step(szg_context *context, trainer *self, int64_t batch) {
    SZG_TRY(gradients(context, self, batch));
    return update(context, self);
}

static szg_status record(szg_context *context, trainer *self, int64_t batch, void **out) {
    SZG_TRY(szgi_device_record_begin(context));
    szg_status status = give_step(context, self, batch);
    if (status == SZG_OK)
        return szgi_device_record_end(context, out);
    SZG_TRY(szgi_device_record_end(context, NULL));
    return status;
}

/* The window's next step, of so many examples. */
static szg_status next_step(szg_context *context, trainer *self, int64_t batch) {
    step_shape *shape = &self->shape[batch < self->config->loop.batch];
    if (!shape->ran || !szgi_device_records(context)) {
        shape->ran = true;
        return give_step(context, self, batch);
    }
    if (!shape->recording)
        SZG_TRY(record(context, self, batch, &shape->recording));
    return szgi_device_replay(context, shape->recording);
}

szg_status szgi_trainer_steps(szg_context *context, trainer *self, int64_t first, int64_t count,
                              szgi_tally *tally) {
    double begin = szgi_context_seconds(context);
    SZG_TRY(begin_window(context, self, first, count));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(next_step(context, self, batch_of(self, first + i)));
    SZG_TRY(end_window(context, self, tally));
    self->pace = (szgi_context_seconds(context) - begin) / (double)count;
    return szgi_trainer_reach(context, self, first + count);
}

/* The report is between gradients and update: a step that is not replayed. Its gradient is whole:
 * an intervention takes its part away in the update. */
static szg_status capture_step(szg_context *context, trainer *self, int64_t step,
                               szg_contraction_tables *captured, double *capture_seconds,
                               szgi_tally *tally) {
    SZG_TRY(begin_window(context, self, step, 1));
    SZG_TRY(gradients(context, self, batch_of(self, step)));
    SZG_TRY(end_window(context, self, tally));
    double begin = szgi_context_seconds(context);
    SZG_TRY(szgi_capture_step(context, self->capture, step, self->gradient, captured));
    *capture_seconds += szgi_context_seconds(context) - begin;
    SZG_TRY(update(context, self));
    return szgi_trainer_reach(context, self, step + 1);
}

szg_status szgi_trainer_step(szg_context *context, trainer *self, int64_t step,
                             szg_contraction_tables *captured, double *capture_seconds,
                             szgi_tally *tally) {
    if (!captured)
        return szgi_trainer_steps(context, self, step, 1, tally);
    return capture_step(context, self, step, captured, capture_seconds, tally);
}

/* A run: steps, epochs, logs, checkpoints, and going on after a kill.
 *
 * Order of writing: log rows are appended and flushed, then the state file is renamed into place,
 * then the weights. The state's renaming is the commit: it holds parameters, moments, progress and
 * the lengths and checksums of the logs. A kill before it leaves the former state, and the logs are
 * cut back to the lengths that it knows; a kill after it leaves at most weights that are older,
 * which are written again from the state. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "linalg/ops.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "train/curvature/curvature.h"
#include "run_folder.h"
#include "trainer.h"

typedef struct run {
    szg_context *context;
    const szg_train_options *options;
    trainer trainer;
    evaluation *test;          /* NULL: there are no test examples */
    szgi_curvature *curvature; /* NULL: it is not measured */
    szg_table *measured;       /* the present step's row, until the step is done; NULL: none */
    run_folder folder;
    run_identity identity;
    szg_table *labels; /* what the rows of every log begin with */
    run_progress progress;
    int64_t limit;    /* steps to do in all */
    timing_row time;  /* since the latest row of timing */
    int64_t products; /* that products.csv holds */
    /* Of this process: when it began to train, and what it did since. */
    double began, seconds, capture_seconds;
    int64_t tokens, steps;
} run;

/* ---- Logs ---- */

static szg_status append(run *self, int which, const szg_table *rows) {
    return szgi_log_append(self->context, &self->folder.log[which], self->labels, rows);
}

/* The rows of each table that is open. */
static szg_status log_captured(run *self, const szg_contraction_tables *captured) {
    const szg_table *const tables[] = {captured->contraction, captured->values, captured->symbols};
    for (int i = 0; i < (int)(sizeof tables / sizeof *tables); i++)
        if (tables[i])
            SZG_TRY(append(self, LOG_CONTRACTION + i, tables[i]));
    return SZG_OK;
}

static szg_status open_captured(const run *self, szg_contraction_tables *out) {
    bool spectra = self->options->config->capture.spectra;
    return szg_contraction_tables_open(self->context, spectra, spectra, out);
}

static szg_status collect_pending(run *self, szg_contraction_tables *captured) {
    double begin = szgi_context_seconds(self->context);
    SZG_TRY(szgi_capture_collect(self->context, self->trainer.capture, captured));
    self->time.capture += szgi_context_seconds(self->context) - begin;
    self->capture_seconds += szgi_context_seconds(self->context) - begin;
    return log_captured(self, captured);
}

/* Rows that the backend still computes; under a deferred cancellation, or they might get lost. */
static szg_status log_pending(run *self) {
    szg_contraction_tables captured;
    if (!szgi_capture_pending(self->trainer.capture))
        return SZG_OK;
    SZG_TRY(open_captured(self, &captured));
    szg_status status = collect_pending(self, &captured);
    szg_contraction_tables_close(&captured);
    return status;
}

static szg_status fill_metrics(run *self, const szgi_tally *test, szg_table *table) {
    const run_progress *progress = &self->progress;
    metrics_row row = {.epoch = (progress->step - 1) / self->trainer.epoch_steps + 1,
                       .step = progress->step,
                       .split = "train",
                       .tally = progress->tally,
                       .learning_rate = szgi_train_learning_rate(
                           &self->options->config->loop, progress->step - 1, self->trainer.total)};
    SZG_TRY(szgi_metrics_add(self->context, table, &row));
    if (self->options->data->test.count == 0)
        return SZG_OK;
    row.split = "test";
    row.tally = *test;
    return szgi_metrics_add(self->context, table, &row);
}

static szg_status log_metrics(run *self, const szgi_tally *test) {
    szg_table *table;
    SZG_TRY(szgi_metrics_table(self->context, &table));
    szg_status status = fill_metrics(self, test, table);
    if (status == SZG_OK)
        status = append(self, LOG_METRICS, table);
    szg_table_close(&table);
    return status;
}

static szg_status log_timing(run *self) {
    self->time.epoch = (self->progress.step - 1) / self->trainer.epoch_steps + 1;
    self->time.step = self->progress.step;
    szg_table *table;
    if (!self->folder.log[LOG_TIMING].stream) /* a file that is left to its owner */
        return SZG_OK;
    SZG_TRY(szgi_timing_table(self->context, &table));
    szg_status status = szgi_timing_add(self->context, table, &self->time);
    if (status == SZG_OK)
        status = append(self, LOG_TIMING, table);
    szg_table_close(&table);
    self->time = (timing_row){0};
    return status;
}

/* Both logs get their rows or neither does: after a cancellation between the two they would come
 * again. */
static szg_status log_both(run *self, const szgi_tally *test) {
    szgi_context_defer_cancel(self->context, true);
    szg_status status = log_pending(self);
    if (status == SZG_OK)
        status = log_metrics(self, test);
    if (status == SZG_OK)
        status = log_timing(self);
    szgi_context_defer_cancel(self->context, false);
    return status;
}

/* Evaluates and logs where the run stands. */
static szg_status report(run *self) {
    szgi_tally test = {0};
    double begin = szgi_context_seconds(self->context);
    if (self->test)
        SZG_TRY(szgi_evaluation_run(self->context, self->test, &test, NULL));
    if (!isfinite(test.loss)) {
        self->trainer.lost = true;
        self->trainer.lost_at = self->progress.step;
        return szgi_fail(self->context, SZG_EDATA,
                         "step %" PRId64 ": the loss on the test examples is not finite: lower "
                         "loop.learning_rate or lengthen loop.warmup",
                         self->progress.step);
    }
    self->time.evaluate = szgi_context_seconds(self->context) - begin;
    return log_both(self, &test);
}

/* ---- Saving ---- */

static szg_status write_checkpoint(run *self) {
    const trainer *parts = &self->trainer;
    const run_folder *folder = &self->folder;
    SZG_TRY(szgi_run_folder_sync(self->context, &self->folder, self->progress.log));
    SZG_TRY(szgi_products_write(self->context, self->options->folder, &self->products));
    SZG_TRY(szgi_state_save(self->context, folder->state, parts->model, parts->moment1,
                            parts->moment2, &self->identity, &self->progress));
    return szgi_model_save(self->context, parts->model, folder->weights, self->options->seed,
                           self->progress.step);
}

/* A cancellation waits until both files are there. The rows of every step that they know are in the
 * logs. */
static szg_status save(run *self) {
    szgi_context_defer_cancel(self->context, true);
    szg_status status = log_pending(self);
    if (status == SZG_OK)
        status = write_checkpoint(self);
    szgi_context_defer_cancel(self->context, false);
    if (status == SZG_OK)
        self->trainer.saved = self->progress.step;
    return status;
}

static szg_status end_epoch(run *self) {
    SZG_TRY(report(self));
    self->progress.epochs++;
    self->progress.tally = (szgi_tally){0};
    SZG_TRY(szgi_trainer_set_tally(self->context, &self->trainer, &self->progress.tally));
    return save(self);
}

/* ---- Steps ---- */

static void show_progress(const run *self) {
    const run_progress *progress = &self->progress;
    const szgi_tally *tally = &progress->tally;
    double rate = self->seconds > 0 ? (double)self->tokens / self->seconds : 0;
    double each = (szgi_context_seconds(self->context) - self->began) / (double)self->steps;
    double left = each * (double)(self->limit - progress->step);
    char text[160];
    szgi_print(text, sizeof text,
               "epoch %" PRId64 "/%" PRId64 ", accuracy %.4f, %.0f tokens/s, %.0f %s left",
               progress->step / self->trainer.epoch_steps + 1, self->options->config->loop.epochs,
               tally->counted > 0 ? (double)tally->correct / (double)tally->counted : 0, rate,
               left < 120 ? left : left / 60, left < 120 ? "s" : "min");
    szgi_progress(self->context, text, progress->step, self->limit);
}

static bool captures(const run *self, int64_t step) {
    const szg_capture_config *capture = &self->options->config->capture;
    return self->trainer.capture && step % capture->every == 0 &&
           (capture->until == 0 || step < capture->until);
}

/* The next multiple of `every` behind the present step; every = 0: the limit. */
static int64_t next_multiple(const run *self, int64_t every) {
    return every > 0 ? (self->progress.step / every + 1) * every : self->limit;
}

/* Steps until something is to be done between two: the epoch's end, a checkpoint, a capture, the
 * intervention's beginning, the last step; and no more than a window holds. */
static int64_t window_of(const run *self) {
    const szg_train_config *config = self->options->config;
    int64_t ends[] = {self->limit, (self->progress.epochs + 1) * self->trainer.epoch_steps,
                      next_multiple(self, config->loop.checkpoint_every),
                      next_multiple(self, self->trainer.capture ? config->capture.every : 0),
                      self->trainer.begins > self->progress.step ? self->trainer.begins
                                                                 : self->limit};
    int64_t count = szgi_trainer_room(self->context, &self->trainer);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i] - self->progress.step < count)
            count = ends[i] - self->progress.step;
    return count;
}

static void count_window(run *self, int64_t steps, double spent, double capture) {
    int64_t tokens = szgi_trainer_batch_tokens(&self->trainer);
    self->progress.step += steps;
    self->time.steps += steps;
    self->time.tokens += tokens;
    self->time.train += spent;
    self->time.capture += capture;
    self->tokens += tokens;
    self->steps += steps;
    self->seconds += spent;
    self->capture_seconds += capture;
}

static szg_status take_steps(run *self, int64_t count) {
    double begin = szgi_context_seconds(self->context);
    SZG_TRY(szgi_trainer_steps(self->context, &self->trainer, self->progress.step, count,
                               &self->progress.tally));
    count_window(self, count, szgi_context_seconds(self->context) - begin, 0);
    return SZG_OK;
}

/* Gives the step to the caller's function; *seconds grows by what that takes. */
static void hand_out(const run *self, const szg_contraction_tables *rows, double *seconds) {
    const szg_train_options *options = self->options;
    szg_captured_step step = {.step = self->progress.step,
                              .contraction = rows->contraction,
                              .values = rows->values,
                              .symbols = rows->symbols};
    if (!options->captured)
        return;
    double begin = szgi_context_seconds(self->context);
    szgi_capture_kept(self->trainer.capture, &step);
    options->captured(self->context, &step, options->user);
    *seconds += szgi_context_seconds(self->context) - begin;
}

static szg_status take_captured(run *self, szg_contraction_tables *captured) {
    double begin = szgi_context_seconds(self->context), capture = 0;
    SZG_TRY(szgi_trainer_step(self->context, &self->trainer, self->progress.step, captured,
                              &capture, &self->progress.tally));
    SZG_TRY(log_captured(self, captured));
    hand_out(self, captured, &capture);
    count_window(self, 1, szgi_context_seconds(self->context) - begin - capture, capture);
    return SZG_OK;
}

static szg_status capture_step(run *self) {
    szg_contraction_tables captured;
    SZG_TRY(open_captured(self, &captured));
    szg_status status = take_captured(self, &captured);
    szg_contraction_tables_close(&captured);
    return status;
}

/* The curvature before the present step, where it is due: windows are of one step, as a backend
 * that records is refused. It may take minutes and be cancelled: it changes nothing, and a run that
 * goes on measures again. */
static szg_status measure(run *self) {
    const trainer *parts = &self->trainer;
    if (!szgi_curvature_measures(&self->options->config->curvature, self->progress.step))
        return SZG_OK;
    SZG_TRY(szgi_curvature_table(self->context, &self->measured));
    return szgi_curvature_add(self->context, self->curvature, parts->model, parts->moment2,
                              self->progress.step, self->measured);
}

/* The row comes with its step: a checkpoint knows both or neither. */
static szg_status log_measured(run *self) {
    szg_status status = SZG_OK;
    if (self->measured)
        status = append(self, LOG_CURVATURE, self->measured);
    szg_table_close(&self->measured);
    return status;
}

static szg_status log_and_step(run *self) {
    SZG_TRY(log_measured(self));
    return captures(self, self->progress.step) ? capture_step(self)
                                               : take_steps(self, window_of(self));
}

/* A window, whole, whatever is cancelled meanwhile. */
static szg_status step(run *self) {
    szgi_context_defer_cancel(self->context, true);
    szg_status status = log_and_step(self);
    szgi_context_defer_cancel(self->context, false);
    if (status == SZG_OK)
        show_progress(self);
    return status;
}

static bool checkpoint_is_due(const run *self) {
    int64_t every = self->options->config->loop.checkpoint_every;
    return every > 0 && self->progress.step % every == 0 &&
           self->trainer.saved != self->progress.step;
}

static szg_status advance(run *self) {
    SZG_TRY(szgi_context_check_cancel(self->context));
    if (self->progress.step == (self->progress.epochs + 1) * self->trainer.epoch_steps)
        return end_epoch(self);
    if (checkpoint_is_due(self))
        SZG_TRY(save(self));
    SZG_TRY(measure(self));
    return step(self);
}

static bool is_done(const run *self) {
    const run_progress *progress = &self->progress;
    return progress->step >= self->limit &&
           progress->step < (progress->epochs + 1) * self->trainer.epoch_steps;
}

/* Steps until the limit. Where that is within an epoch, the rows of the part come after the
 * checkpoint, which does not know of them: a run that goes on further drops them. */
static szg_status train(run *self) {
    szg_status status = SZG_OK;
    while (status == SZG_OK && !is_done(self))
        status = advance(self);
    if (status == SZG_OK && self->progress.step % self->trainer.epoch_steps != 0) {
        if (self->trainer.saved != self->progress.step)
            SZG_TRY(save(self));
        status = report(self);
    }
    if (status != SZG_ECANCEL)
        return status;
    SZG_TRY(save(self));
    return szgi_fail(self->context, SZG_ECANCEL,
                     "stopped after step %" PRId64 " of %" PRId64
                     "; saved in %s: the same command with --resume continues",
                     self->progress.step, self->limit, self->options->folder);
}

/* ---- Beginning ---- */

static szg_status begin(run *self) {
    trainer *parts = &self->trainer;
    self->trainer.saved = -1;
    if (!self->folder.resumes) {
        SZG_TRY(szgi_model_initialise(self->context, parts->model, self->options->seed));
        return szgi_trainer_reach(self->context, parts, 0);
    }
    SZG_TRY(szgi_state_load(self->context, self->folder.state, parts->model, parts->moment1,
                            parts->moment2, &self->identity, &self->progress));
    SZG_TRY(szgi_trainer_set_tally(self->context, parts, &self->progress.tally));
    self->trainer.saved = self->progress.step;
    return szgi_trainer_reach(self->context, parts, self->progress.step);
}

static szg_status open_capture(run *self) {
    const szg_capture_config *capture = &self->options->config->capture;
    if (capture->every == 0)
        return SZG_OK;
    if (capture->dump)
        SZG_TRY(szgi_folder_create(self->context, self->folder.dump));
    return szgi_capture_open(self->context, self->trainer.model, &self->options->data->test, NULL,
                             capture->dump ? self->folder.dump : NULL,
                             self->options->captured != NULL, &self->trainer.capture);
}

static szg_status open_curvature(run *self) {
    const trainer *parts = &self->trainer;
    if (self->options->config->curvature.every == 0)
        return SZG_OK;
    return szgi_curvature_open(self->context, parts->model, &self->options->data->train,
                               parts->length, self->options->seed, &self->curvature);
}

static int64_t count_parameters(const szg_model *model) {
    int64_t sum = 0;
    for (int64_t i = 0; i < szgi_model_parameters(model); i++)
        sum += szgi_model_parameter(model, i)->count;
    return sum;
}

static szg_status perform(run *self, szg_train_result *out) {
    const szg_train_options *options = self->options;
    SZG_TRY(szgi_run_folder_open(self->context, options, &self->folder));
    SZG_TRY(szgi_trainer_open(self->context, options, &self->trainer));
    SZG_TRY(open_curvature(self));
    int64_t limit = options->config->loop.limit_steps;
    self->limit = limit > 0 && limit < self->trainer.total ? limit : self->trainer.total;
    SZG_TRY(begin(self));
    self->folder.ended = is_done(self);
    SZG_TRY(szgi_run_folder_start(self->context, &self->folder, options->folder, options->config,
                                  self->progress.log));
    if (self->folder.resumes) /* now that no other process is at work here */
        SZG_TRY(szgi_run_folder_repair(self->context, &self->folder, self->trainer.model,
                                       options->seed, self->progress.step));
    SZG_TRY(
        szgi_products_begin(self->context, options->folder, options->config->loop.time_products));
    SZG_TRY(open_capture(self));
    if (options->data->test.count > 0)
        SZG_TRY(szgi_evaluation_open(self->context, self->trainer.model, &options->data->test,
                                     &self->test));
    self->began = szgi_context_seconds(self->context);
    SZG_TRY(train(self));
    SZG_TRY(szgi_products_write(self->context, options->folder, &self->products));
    SZG_TRY(szgi_run_folder_sync(self->context, &self->folder, self->progress.log));
    *out = (szg_train_result){.steps = self->progress.step,
                              .epochs = self->progress.epochs,
                              .parameters = count_parameters(self->trainer.model),
                              .seconds = self->seconds,
                              .tokens_per_second =
                                  self->seconds > 0 ? (double)self->tokens / self->seconds : 0,
                              .capture_seconds = self->capture_seconds};
    return szgi_metrics_summarise(self->context, options->folder, out);
}

szg_status szgi_train_run(szg_context *context, const szg_train_options *options,
                          szg_train_result *out, int64_t *lost_at) {
    *out = (szg_train_result){0};
    *lost_at = -1;
    szg_train_options own;
    SZG_TRY(SZGI_OPTIONS(context, szg_train_options, options, &own));
    run *self;
    SZG_TRY(szgi_memory_alloc(context, 1, &self));
    self->context = context;
    self->options = &own;
    self->identity = (run_identity){.config = own.config,
                                    .backend = szgi_backend_name(context),
                                    .seed = own.seed,
                                    .data = szgi_dataset_digest(own.data),
                                    .classes = own.data->classes};
    const run_labels labels = szgi_run_labels(&own);
    szg_status status = szgi_labels_table(context, &labels, &self->labels);
    if (status == SZG_OK)
        status = perform(self, out);
    if (status == SZG_EDATA && self->trainer.lost)
        *lost_at = self->trainer.lost_at;
    szg_table_close(&self->labels);
    szg_table_close(&self->measured);
    szgi_curvature_close(context, &self->curvature);
    szgi_evaluation_close(context, &self->test);
    szgi_trainer_close(context, &self->trainer);
    szgi_run_folder_close(&self->folder);
    szgi_memory_free(self);
    return status;
}

szg_status szg_train_run(szg_context *context, const szg_train_options *options,
                         szg_train_result *out) {
    SZGI_ENTER(context);
    int64_t lost_at;
    return szgi_train_run(context, options, out, &lost_at);
}

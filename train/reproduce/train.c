/* Training what is not finished, in pieces of any length. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "linalg/ops.h"
#include "linalg/linalg.h"
#include "formats/csv.h"
#include "base/file.h"
#include "base/memory.h"
#include <szego/version.h>

#include "reproduce_private.h"
#include "train/run/train.h"

/* ---- Files ---- */

szg_status szgi_reproduction_is_begun(szg_context *context, const reproduction_run *run,
                                      bool *out) {
    char *state;
    SZG_TRY(szgi_path_join(context, run->folder, "checkpoint.state.safetensors", &state));
    *out = access(state, F_OK) == 0;
    szgi_memory_free(state);
    return SZG_OK;
}

/* ---- One run ---- */

static szg_status write_ablation(szg_context *context, const reproduction_run *run,
                                 szg_ablation_method method, const szg_ablation *ablation) {
    szg_table *table = NULL;
    char *path;
    szg_run_key key = reproduction_key(run);
    SZG_TRY(szgi_reproduction_ablation_path(context, run, method, &path));
    szg_status status = szg_ablation_table_open(context, &table);
    if (status == SZG_OK)
        status = szg_ablation_rows(context, table, &key, ablation);
    if (status == SZG_OK)
        status = szgi_csv_write(context, table, path);
    szg_table_close(&table);
    szgi_memory_free(path);
    return status;
}

static szg_status ablate(szg_context *context, reproduction_run *run, const szg_dataset *data,
                         szg_model *model, szg_ablation_method method) {
    szg_ablation ablation;
    szg_ablation_options options = {SZG_INIT(szg_ablation_options), .method = method};
    SZG_TRY(szg_ablation_run(context, model, &data->test, &options, &ablation));
    ablation.ceiling = run->facts.data.ceiling;
    run->facts.whole = ablation.accuracy;
    szg_status status = write_ablation(context, run, method, &ablation);
    szg_ablation_close(&ablation);
    return status;
}

/* Which program finishes the run, on what. */
static void name_origin(szg_context *context, run_facts *facts) {
    szg_device device;
    const char *libraries;
    int count;
    snprintf(facts->version, sizeof facts->version, "%s", szg_version());
    snprintf(facts->commit, sizeof facts->commit, "%s", szg_commit());
    snprintf(facts->backend, sizeof facts->backend, "%s", szgi_backend_name(context));
    *facts->device = 0;
    if (strncmp(facts->backend, "cuda", 4) == 0 &&
        szg_backend_devices(context, 1, &device, &count, &libraries) == SZG_OK && count > 0)
        snprintf(facts->device, sizeof facts->device, "%s", device.name);
}

/* What the trained model says: operations, accuracy without each head, and on longer sequences. */
static szg_status examine(szg_context *context, reproduction_run *run, const szg_dataset *data) {
    szg_model *model;
    char *path;
    SZG_TRY(szgi_path_join(context, run->folder, "checkpoint.safetensors", &path));
    szg_status status = szg_model_load(context, path, NULL, &model);
    szgi_memory_free(path);
    if (status != SZG_OK)
        return status;
    szgi_model_operations operations = szgi_model_operations_per_token(model);
    run->facts.parameters = szgi_model_count(model);
    run->facts.forward = operations.forward;
    run->facts.training = operations.training;
    run->facts.whole = run->facts.test_accuracy;
    name_origin(context, &run->facts);
    for (int method = 0; method < SZG_ABLATION_METHODS && status == SZG_OK; method++)
        if (run->shown.methods >> method & 1)
            status = ablate(context, run, data, model, (szg_ablation_method)method);
    szg_model_close(context, &model);
    return status == SZG_OK ? szgi_reproduction_length_write(context, run) : status;
}

/* A run whose numbers stop being finite has failed, which is no failure of the call. */
static szg_status train(szg_context *context, reproduction_run *run, const szg_dataset *data) {
    szg_train_options options = {
        SZG_INIT(szg_train_options), .config = run->config, .data = data,
        .seed = run->shown.seed,     .folder = run->folder, .resume = true};
    szg_train_result result;
    int64_t lost_at;
    name_origin(context, &run->facts);
    szg_status status = szgi_train_run(context, &options, &result, &lost_at);
    if (lost_at >= 0)
        return szgi_failure_write(context, run, lost_at);
    SZG_TRY(status);
    run->facts.steps = result.steps;
    run->facts.epochs = result.epochs;
    run->facts.train_loss = result.train_loss;
    run->facts.train_accuracy = result.train_accuracy;
    run->facts.test_loss = result.test_loss;
    run->facts.test_accuracy = result.test_accuracy;
    run->facts.best_accuracy = result.best_accuracy;
    return SZG_OK;
}

/* Whether two runs have the same examples. */
static bool same_data(const szg_train_config *a, const szg_train_config *b) {
    return a->model.vocabulary == b->model.vocabulary &&
           memcmp(&a->data, &b->data, sizeof a->data) == 0;
}

/* Those of a finished run with the same examples, or computed. */
static szg_status take_data_facts(szg_context *context, const szg_reproduction *self,
                                  const szg_dataset *data, reproduction_run *run) {
    for (int64_t i = 0; i < self->count; i++)
        if (self->run[i].shown.finished && same_data(self->run[i].config, run->config)) {
            run->facts.data = self->run[i].facts.data;
            return SZG_OK;
        }
    return szgi_facts_of_data(context, run->config, data, &run->facts.data);
}

/* What follows on training, under the lock that training has just given up: no other process may
 * conclude the run meanwhile. One that did so in between has it finished. */
static szg_status conclude(szg_context *context, const szg_reproduction *self,
                           const szg_dataset *data, reproduction_run *run) {
    run_log log;
    reproduction_run there = *run;
    SZG_TRY(szgi_log_open(context, run->folder, "metrics.csv", &log));
    szg_status status = szgi_facts_read(context, &there);
    if (status == SZG_OK && there.shown.finished) {
        *run = there;
    } else if (status == SZG_OK) {
        status = take_data_facts(context, self, data, run);
        if (status == SZG_OK)
            status = examine(context, run, data);
        if (status == SZG_OK)
            status = szgi_facts_write(context, run);
    }
    szgi_log_close(&log);
    return status;
}

static szg_status finish_run(szg_context *context, const szg_reproduction *self,
                             reproduction_run *run) {
    szg_dataset data;
    SZG_TRY(szgi_folder_create(context, run->folder));
    SZG_TRY(szg_dataset_open(context, run->config, &data));
    szg_status status = train(context, run, &data);
    if (status == SZG_OK && !run->shown.failed)
        status = conclude(context, self, &data, run);
    szg_dataset_close(&data);
    run->shown.finished = status == SZG_OK && !run->shown.failed;
    return status;
}

/* ---- A piece ---- */

/* What this process has measured, and the time that it has. */
typedef struct piece {
    double seconds, end;      /* allowed in all, and when they are over; 0: no limit */
    double operations, spent; /* of the runs that it began and finished */
} piece;

/* Seconds that a run will take; NaN: nothing is measured yet. Runs that are finished from before
 * count where this process has none of its own. */
static szg_status estimate(szg_context *context, const szg_reproduction *self, const piece *now,
                           const reproduction_run *run, double *out) {
    double training, ablation, operations = now->operations, seconds = now->spent;
    SZG_TRY(szgi_reproduction_operations(context, run, &training, &ablation));
    if (!(seconds > 0))
        SZG_TRY(szgi_reproduction_measured(context, self, &operations, &seconds));
    *out = operations > 0 ? (training + ablation) * seconds / operations : NAN;
    return SZG_OK;
}

/* Whether there is time for the run. One that was begun goes on, and one that no piece could hold
 * is begun all the same. */
static szg_status fits(szg_context *context, const szg_reproduction *self, const piece *now,
                       const reproduction_run *run, bool *out) {
    double need, left = now->end - szgi_context_seconds(context);
    SZG_TRY(szgi_reproduction_is_begun(context, run, out));
    if (*out)
        return SZG_OK;
    SZG_TRY(estimate(context, self, now, run, &need));
    *out = left > 0 && !(need > left && need <= now->seconds);
    if (*out && !isnan(need))
        szgi_say(context, SZG_NOTE, "%s: about %.1f min; %.1f are left", run->name, need / 60,
                 left / 60);
    else if (!*out)
        szgi_say(context, SZG_NOTE, "%s: about %.1f min; %.1f are left: not begun", run->name,
                 need / 60, left > 0 ? left / 60 : 0);
    return SZG_OK;
}

static szg_status finish_and_measure(szg_context *context, const szg_reproduction *self, piece *now,
                                     reproduction_run *run) {
    double begin = szgi_context_seconds(context), training, ablation;
    bool begun;
    SZG_TRY(szgi_reproduction_is_begun(context, run, &begun));
    SZG_TRY(finish_run(context, self, run));
    if (begun || run->shown.failed)
        return SZG_OK;
    SZG_TRY(szgi_reproduction_operations(context, run, &training, &ablation));
    now->operations += training + ablation;
    now->spent += szgi_context_seconds(context) - begin;
    return SZG_OK;
}

/* How many runs are finished, and how many will never be. */
static int64_t count_finished(const szg_reproduction *self) {
    int64_t count = 0;
    for (int64_t i = 0; i < self->count; i++)
        count += self->run[i].shown.finished;
    return count;
}

static int64_t count_given_up(const szg_reproduction *self) {
    int64_t count = 0;
    for (int64_t i = 0; i < self->count; i++)
        count += self->run[i].shown.failed || reproduction_lacks_head(&self->run[i]);
    return count;
}

/* What a person needs to know of an error. */
static szg_status explain(szg_context *context, szg_status status, const szg_reproduction *self,
                          const reproduction_run *run) {
    if (status != SZG_ECANCEL)
        return szgi_fail_prefix(context, status, "%s", run->name);
    if (!szg_context_is_cancelled(context))
        szgi_say(context, SZG_NOTE, "the time is up in %s", run->name);
    return szgi_fail(context, SZG_ECANCEL,
                     "interrupted in %s, %" PRId64 " of %" PRId64
                     " runs are finished: the same command continues where it stopped",
                     run->name, count_finished(self), self->count);
}

static szg_status train_run(szg_context *context, szg_reproduction *self, piece *now,
                            reproduction_run *run) {
    szgi_say(context, SZG_NOTE, "run %" PRId64 " of %" PRId64 ": %s",
             count_finished(self) + count_given_up(self) + 1, self->count, run->name);
    szg_status status = finish_and_measure(context, self, now, run);
    if (status != SZG_OK)
        return explain(context, status, self, run);
    if (run->shown.failed)
        szgi_say(context, SZG_WARNING, "%s: failed: %s", run->name, run->reason);
    else
        szgi_say(context, SZG_NOTE, "%s: test accuracy %.4f", run->name, run->facts.test_accuracy);
    return SZG_OK;
}

/* Whether there is nothing to train: a run whose head does not exist is left out. */
static szg_status is_left_out(szg_context *context, const szg_reproduction *self,
                              reproduction_run *run, bool *out) {
    char words[HEAD_WORDS];
    SZG_TRY(szgi_head_settle(context, self, run));
    *out = reproduction_lacks_head(run);
    if (*out)
        szgi_say(context, SZG_NOTE, "%s: left out: %s", run->name,
                 szgi_head_absence(self, run, words));
    return SZG_OK;
}

/* A run, and before it the one that says on which head it intervenes, which waits for none. */
static szg_status train_at(szg_context *context, szg_reproduction *self, piece *now, int64_t at,
                           bool *enough) {
    reproduction_run *run = &self->run[at];
    bool left_out = false;
    if (run->shown.finished || run->shown.failed)
        return SZG_OK;
    if (run->needs >= 0) {
        SZG_TRY(train_at(context, self, now, run->needs, enough));
        if (*enough)
            SZG_TRY(is_left_out(context, self, run, &left_out));
    }
    if (*enough && !left_out && now->seconds > 0)
        SZG_TRY(fits(context, self, now, run, enough));
    return *enough && !left_out ? train_run(context, self, now, run) : SZG_OK;
}

static szg_status train_all(szg_context *context, szg_reproduction *self, piece *now) {
    bool enough = true;
    for (int64_t i = 0; i < self->count && enough; i++)
        SZG_TRY(train_at(context, self, now, i, &enough));
    return SZG_OK;
}

szg_status szg_reproduction_train(szg_context *context, szg_reproduction *reproduction,
                                  double seconds) {
    SZGI_ENTER(context);
    piece now = {.seconds = seconds, .end = szgi_context_seconds(context) + seconds};
    if (!reproduction->folder)
        return szgi_fail(context, SZG_EINVAL, "reproduction: no folder to train in");
    szg_context_set_deadline(context, seconds);
    szg_status status = train_all(context, reproduction, &now);
    szg_context_set_deadline(context, 0);
    if (status == SZG_ECANCEL && !szg_context_is_cancelled(context))
        status = SZG_OK; /* the time is up */
    int64_t done = count_finished(reproduction);
    if (status == SZG_OK && done + count_given_up(reproduction) < reproduction->count)
        szgi_say(context, SZG_NOTE,
                 "%" PRId64 " of %" PRId64
                 " runs are finished: the same command continues where it stopped",
                 done, reproduction->count);
    return status;
}

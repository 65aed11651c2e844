/* What presets need: operations from shapes and tokens, hours at the rate measured here. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "train/decoder/model_private.h"
#include "reproduce_private.h"

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* Words of an example, expected: of the training split, or of the test split, which may be longer.
 */
static double words_of(const szg_data_config *data, bool test) {
    bool longer = test && data->test_between_max > 0;
    if (data->task == SZG_TASK_COUNT)
        return (double)(test && data->test_words > 0 ? data->test_words : data->words);
    return 2 + (double)(data->side_min + data->side_max) +
           (longer ? (double)(data->test_between_min + data->test_between_max)
                   : (double)(data->between_min + data->between_max)) /
               2;
}

/* Tokens of an epoch, expected from the configuration; NaN where the data are a file. */
static void expect_tokens(const szg_train_config *config, double *train, double *test) {
    const szg_data_config *data = &config->data;
    double examples = *data->train_file ? NAN : (double)data->examples;
    *train = data->train_part * examples * words_of(data, false);
    *test = (1 - data->train_part) * examples * words_of(data, true);
}

static int64_t classes_of(const szg_train_config *config) {
    const szg_data_config *data = &config->data;
    int64_t between =
        data->between_max > data->test_between_max ? data->between_max : data->test_between_max;
    return data->task == SZG_TASK_DISTANCE ? between + 2 : data->count_max + 1;
}

/* Every length with each of its scalings: as many tokens a time as it has words. */
static szg_status length_operations(szg_context *context, const reproduction_run *run,
                                    double *out) {
    szg_train_config *config;
    szg_status status = SZG_OK;
    *out = 0;
    SZG_TRY(szgi_memory_alloc(context, 1, &config));
    *config = *run->config;
    for (int64_t i = 0; i < run->length.count && status == SZG_OK; i++) {
        szgi_model_operations each;
        int64_t words = run->length.words[i], times = 0;
        for (unsigned bits = szgi_length_scalings(run->config, &run->length, words); bits;
             bits &= bits - 1)
            times++;
        config->model.max_length = words;
        status = szgi_model_count_operations(context, config, classes_of(config), &each);
        if (status == SZG_OK)
            *out += each.forward * (double)words * (double)(times * run->length.examples);
    }
    szgi_memory_free(config);
    return status;
}

szg_status szgi_reproduction_operations(szg_context *context, const reproduction_run *run,
                                        double *training, double *after) {
    const run_facts *facts = &run->facts;
    const szg_model_config *shape = &run->config->model;
    double train = (double)facts->data.train_tokens, test = (double)facts->data.test_tokens;
    szgi_model_operations operations = {facts->forward, facts->training};
    if (!run->shown.finished) {
        expect_tokens(run->config, &train, &test);
        SZG_TRY(szgi_model_count_operations(context, run->config, classes_of(run->config),
                                            &operations));
    }
    *training = (double)run->config->loop.epochs *
                (train * operations.training + test * operations.forward);
    /* Each head of a layer, and all of them: what lies above, half of the layers on average. */
    SZG_TRY(length_operations(context, run, after));
    for (unsigned bits = run->shown.methods; bits; bits &= bits - 1)
        *after += test * operations.forward * (double)(shape->heads + 1) *
                  (double)(shape->layers + 1) / 2;
    return SZG_OK;
}

/* ---- Seconds ---- */

szg_status szgi_reproduction_measured(szg_context *context, const szg_reproduction *self,
                                      double *operations, double *seconds) {
    *operations = *seconds = 0;
    for (int64_t i = 0; i < self->count; i++) {
        const reproduction_run *run = &self->run[i];
        szg_train_tables logs;
        if (!run->shown.finished)
            continue;
        SZG_TRY(szg_train_tables_read(context, run->folder, &logs));
        const szg_table *timing = logs.timing;
        for (int64_t row = 0; timing && row < szg_table_rows(timing); row++) {
            *seconds += szg_table_get_real(timing, row, szg_table_find(timing, "train_seconds"));
            *operations += run->facts.training *
                           szg_table_get_real(timing, row, szg_table_find(timing, "tokens"));
        }
        szg_train_tables_close(&logs);
    }
    return SZG_OK;
}

#define NEEDS(X)                                                                                   \
    X(NEEDS_PRESET, "preset", SZG_TEXT, "", "preset", "name of the preset")                        \
    X(NEEDS_EXPERIMENT, "experiment", SZG_TEXT, "", "experiment",                                  \
      "part of the preset; empty: all")                                                            \
    X(NEEDS_TASK, "task", SZG_TEXT, "", "task", "distance or count; empty: both")                  \
    X(NEEDS_RUNS, "runs", SZG_INTEGER, "1", "runs", "runs, one for each encoding and seed")        \
    X(NEEDS_FINISHED, "finished", SZG_INTEGER, "1", "runs finished",                               \
      "runs that are finished here")                                                               \
    X(NEEDS_OPERATIONS, "operations", SZG_REAL, "operations", "operations",                        \
      "floating-point operations of training and evaluation, from shapes and tokens")              \
    X(NEEDS_HOURS, "hours", SZG_REAL, "hours", "time needed",                                      \
      "hours that these operations take at the measured rate")                                     \
    X(NEEDS_RATE, "rate", SZG_REAL, "operations/s", "rate",                                        \
      "operations a second of training: while the finished runs trained, or as the note says")     \
    X(NEEDS_NOTE, "note", SZG_TEXT, "", "note", "")
#define NEEDS_SCREEN                                                                               \
    SZGI_SHOW(1, preset)                                                                           \
    SZGI_SHOW_EMPTY(1, experiment, "all")                                                          \
    SZGI_SHOW_EMPTY(1, task, "both")                                                               \
    SZGI_SHOW(1, runs)                                                                             \
    SZGI_SHOW(1, finished)                                                                         \
    SZGI_SHOW(1, hours)                                                                            \
    SZGI_SHOW(2, operations)                                                                       \
    SZGI_SHOW(2, rate)
SZGI_SCHEMA(needs_columns, "needs", NEEDS, NEEDS_SCREEN);

/* The sum over runs of an experiment and task; NULL: of all. */
typedef struct need {
    const char *experiment, *task;
    int64_t first; /* run of the experiment */
    int64_t runs, finished;
    double operations;
} need;

static int64_t run_after(const szg_reproduction *self, const need *sum, int64_t index) {
    if (sum->experiment)
        return self->run[index].next;
    return index + 1 < self->count ? index + 1 : -1;
}

static szg_status sum_up(szg_context *context, const szg_reproduction *self, need *out) {
    for (int64_t i = out->first; i >= 0; i = run_after(self, out, i)) {
        const reproduction_run *run = &self->run[i];
        double operations, ablation;
        if (out->task && strcmp(run->shown.task, out->task) != 0)
            continue;
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(szgi_reproduction_operations(context, run, &operations, &ablation));
        out->operations += operations;
        out->runs++;
        out->finished += run->shown.finished;
    }
    return SZG_OK;
}

static szg_status need_row(szg_context *context, szg_table *table, const szg_reproduction *self,
                           need sum, double rate) {
    SZG_TRY(sum_up(context, self, &sum));
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, NEEDS_PRESET, self->name);
    szgi_row_text(&row, NEEDS_EXPERIMENT, sum.experiment);
    szgi_row_text(&row, NEEDS_TASK, sum.task);
    szgi_row_integer(&row, NEEDS_RUNS, sum.runs);
    szgi_row_integer(&row, NEEDS_FINISHED, sum.finished);
    if (!isfinite(sum.operations)) {
        szgi_row_note(&row, "the examples of a file are not counted in advance");
        return row.status;
    }
    szgi_row_real(&row, NEEDS_OPERATIONS, sum.operations);
    if (!(rate > 0)) {
        szgi_row_note(&row, "%s",
                      sum.finished > 0 ? "the finished runs have no times: no rate is measured"
                                       : "no run is finished: no rate is measured");
        return row.status;
    }
    szgi_row_real(&row, NEEDS_RATE, rate);
    szgi_row_real(&row, NEEDS_HOURS, sum.operations / rate / 3600);
    return row.status;
}

static bool is_repeated(const szg_reproduction *self, int64_t index) {
    for (int64_t i = self->run[index].first; i < index; i = self->run[i].next)
        if (strcmp(self->run[i].shown.task, self->run[index].shown.task) == 0)
            return true;
    return false;
}

/* The task of every run; NULL: there are both. */
static const char *only_task(const szg_reproduction *self) {
    for (int64_t i = 1; i < self->count; i++)
        if (strcmp(self->run[i].shown.task, self->run[0].shown.task) != 0)
            return NULL;
    return self->count > 0 ? self->run[0].shown.task : NULL;
}

static szg_status need_rows(szg_context *context, szg_table *table, const szg_reproduction *self,
                            double rate) {
    for (int64_t i = 0; i < self->count; i++) {
        const reproduction_run *run = &self->run[i];
        need part = {.experiment = run->experiment, .task = run->shown.task, .first = run->first};
        if (!is_repeated(self, i))
            SZG_TRY(need_row(context, table, self, part, rate));
    }
    return need_row(context, table, self, (need){.task = only_task(self)}, rate);
}

szg_status szgi_reproduction_needs(szg_context *context, const szg_reproduction *self,
                                   const szg_reproduction *other, double other_rate,
                                   szg_table **out) {
    double operations, seconds;
    SZG_TRY(szgi_schema_open(context, &needs_columns_schema, out));
    SZG_TRY(szgi_reproduction_measured(context, self, &operations, &seconds));
    double rate = seconds > 0 ? operations / seconds : 0;
    SZG_TRY(need_rows(context, *out, self, rate));
    if (!other)
        return SZG_OK;
    if (other_rate > 0)
        rate = other_rate;
    SZG_TRY(need_row(context, *out, other, (need){.task = only_task(other)}, rate));
    if (!(rate > 0))
        return SZG_OK;
    return szg_table_note(
        context, *out, "%s",
        other_rate > 0 ? "rate of a few steps of its first run's model, timed now"
                       : "at the rate of the finished runs: larger products run at a higher one");
}

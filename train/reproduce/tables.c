/* Table 1, the sweep over rotated heads, and what has not run. */
#include <inttypes.h>
#include <string.h>

#include "encoding/encoding.h"
#include "published.h"

#include "reproduce_private.h"
#include "train/data/running_mean.h"

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* Which finished runs are averaged. */
typedef struct run_kind {
    int64_t first; /* run of the experiment */
    const char *encoding, *task;
} run_kind;

/* The runs of a kind: test accuracy, and the last one's facts (NULL: none is finished). */
static const run_facts *average(const szg_reproduction *self, const run_kind *kind,
                                running_mean *accuracy) {
    const run_facts *facts = NULL;
    *accuracy = (running_mean){0};
    for (int64_t i = kind->first; i >= 0; i = self->run[i].next) {
        const reproduction_run *run = &self->run[i];
        if (!run->shown.finished || strcmp(run->encoding, kind->encoding) != 0 ||
            strcmp(run->shown.task, kind->task) != 0)
            continue;
        mean_take(accuracy, run->facts.test_accuracy);
        facts = &run->facts;
    }
    return facts;
}

/* Whether an earlier run has the same experiment and encoding. */
static bool is_repeated(const szg_reproduction *self, int64_t index, bool task_too) {
    for (int64_t i = self->run[index].first; i < index; i = self->run[i].next)
        if (strcmp(self->run[i].encoding, self->run[index].encoding) == 0 &&
            (!task_too || strcmp(self->run[i].shown.task, self->run[index].shown.task) == 0))
            return true;
    return false;
}

/* ---- Table 1 ---- */

#define TABLE1(X)                                                                                  \
    X(TABLE1_EXPERIMENT, "experiment", SZG_TEXT, "", "experiment", "part of the preset")           \
    X(TABLE1_ENCODING, "encoding", SZG_TEXT, "", "encoding", "SPEC of the encoding")               \
    X(TABLE1_TASK1, "task1", SZG_REAL, "%", "task 1",                                              \
      "test accuracy of trigger distance in percent, mean over seeds")                             \
    X(TABLE1_TASK2, "task2", SZG_REAL, "%", "task 2",                                              \
      "test accuracy of trigger count in percent, mean over seeds")                                \
    X(TABLE1_SPREAD1, "spread1", SZG_REAL, "%", "standard deviation of task 1",                    \
      "standard deviation of task1 over seeds")                                                    \
    X(TABLE1_SPREAD2, "spread2", SZG_REAL, "%", "standard deviation of task 2",                    \
      "standard deviation of task2 over seeds")                                                    \
    X(TABLE1_SEEDS1, "seeds1", SZG_INTEGER, "1", "seeds of task 1", "finished runs of task 1")     \
    X(TABLE1_SEEDS2, "seeds2", SZG_INTEGER, "1", "seeds of task 2", "finished runs of task 2")     \
    X(TABLE1_PAPER1, "paper1", SZG_REAL, "%", "paper's task 1",                                    \
      "Table 1 of the paper, task 1, in percent")                                                  \
    X(TABLE1_PAPER2, "paper2", SZG_REAL, "%", "paper's task 2",                                    \
      "Table 1 of the paper, task 2, in percent")                                                  \
    X(TABLE1_LENGTH1, "length1", SZG_REAL, "%", "by length alone, task 1",                         \
      "task 1 by the sequence's length alone, in percent")                                         \
    X(TABLE1_LENGTH2, "length2", SZG_REAL, "%", "by length alone, task 2",                         \
      "task 2 by the sequence's length alone, in percent")                                         \
    X(TABLE1_CEILING1, "ceiling1", SZG_REAL, "%", "label ceiling of task 1",                       \
      "best accuracy that any classifier can have in task 1, in percent")                          \
    X(TABLE1_CEILING2, "ceiling2", SZG_REAL, "%", "label ceiling of task 2",                       \
      "best accuracy that any classifier can have in task 2, in percent")                          \
    X(TABLE1_NOTE, "note", SZG_TEXT, "", "note", "")
#define TABLE1_SCREEN                                                                              \
    SZGI_SHOW(1, experiment)                                                                       \
    SZGI_SHOW(1, encoding)                                                                         \
    SZGI_SHOW(1, task1)                                                                            \
    SZGI_SHOW(2, spread1)                                                                          \
    SZGI_SHOW(1, paper1)                                                                           \
    SZGI_SHOW(2, ceiling1)                                                                         \
    SZGI_SHOW(1, task2)                                                                            \
    SZGI_SHOW(2, spread2)                                                                          \
    SZGI_SHOW(1, paper2)                                                                           \
    SZGI_SHOW(2, ceiling2)                                                                         \
    SZGI_SHOW(3, seeds1)                                                                           \
    SZGI_SHOW(3, seeds2)
SZGI_SCHEMA(table1_columns, "table1", TABLE1, TABLE1_SCREEN);

/* Where a task's numbers stand. */
typedef struct task_columns {
    const char *task;
    int accuracy, spread, seeds, paper, length, ceiling;
} task_columns;
static const task_columns tasks[] = {{"distance", TABLE1_TASK1, TABLE1_SPREAD1, TABLE1_SEEDS1,
                                      TABLE1_PAPER1, TABLE1_LENGTH1, TABLE1_CEILING1},
                                     {"count", TABLE1_TASK2, TABLE1_SPREAD2, TABLE1_SEEDS2,
                                      TABLE1_PAPER2, TABLE1_LENGTH2, TABLE1_CEILING2}};

static void put_task(szgi_row *row, const szg_reproduction *self, const reproduction_run *run,
                     const szgi_published *paper, const task_columns *at) {
    const run_kind kind = {run->first, run->encoding, at->task};
    running_mean accuracy;
    const run_facts *facts = average(self, &kind, &accuracy);
    szgi_row_number(row, at->paper, szgi_published_accuracy(paper, run->encoding, at->task));
    if (!facts)
        return;
    szgi_row_number(row, at->accuracy, 100 * mean_of(&accuracy));
    szgi_row_number(row, at->spread, 100 * spread_of(&accuracy));
    szgi_row_integer(row, at->seeds, accuracy.count);
    szgi_row_number(row, at->length, 100 * facts->data.by_length);
    szgi_row_number(row, at->ceiling, 100 * facts->data.ceiling);
}

static szg_status table1_row(szg_context *context, szg_table *table, const szg_reproduction *self,
                             const reproduction_run *run, const szgi_published *paper) {
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, TABLE1_EXPERIMENT, run->experiment);
    szgi_row_text(&row, TABLE1_ENCODING, run->encoding);
    for (int64_t i = 0; i < COUNT(tasks); i++)
        put_task(&row, self, run, paper, &tasks[i]);
    return row.status;
}

static szg_status table1_rows(szg_context *context, szg_table *table, const szg_reproduction *self,
                              const szgi_published *paper) {
    for (int64_t i = 0; i < self->count; i++)
        if (self->run[i].shown.rotated_heads < 0 && !self->run[i].like &&
            !is_repeated(self, i, false))
            SZG_TRY(table1_row(context, table, self, &self->run[i], paper));
    return SZG_OK;
}

szg_status szgi_reproduction_table1(szg_context *context, const szg_reproduction *self,
                                    szg_table **out) {
    szgi_published *paper;
    SZG_TRY(szgi_schema_open(context, &table1_columns_schema, out));
    SZG_TRY(szgi_published_open(context, &paper));
    szg_status status = table1_rows(context, *out, self, paper);
    szgi_published_close(&paper);
    return status;
}

/* ---- The sweep ---- */

#define SWEEP(X)                                                                                   \
    X(SWEEP_EXPERIMENT, "experiment", SZG_TEXT, "", "experiment", "part of the preset")            \
    X(SWEEP_TASK, "task", SZG_TEXT, "", "task", "distance or count")                               \
    X(SWEEP_ROTATED_HEADS, "rotated_heads", SZG_INTEGER, "1", "heads that RoPE turns",             \
      "number of heads with RoPE, the first ones; the others have NoPE")                           \
    X(SWEEP_ENCODING, "encoding", SZG_TEXT, "", "encoding", "SPEC of the encoding")                \
    X(SWEEP_ACCURACY, "accuracy", SZG_REAL, "1", "accuracy", "test accuracy, mean over seeds")     \
    X(SWEEP_SPREAD, "spread", SZG_REAL, "1", "standard deviation over seeds",                      \
      "its standard deviation over seeds")                                                         \
    X(SWEEP_SEEDS, "seeds", SZG_INTEGER, "1", "seeds", "finished runs")                            \
    X(SWEEP_NOTE, "note", SZG_TEXT, "", "note", "")
SZGI_SCHEMA(sweep_columns, "sweep", SWEEP, SZGI_NOT_SHOWN);

/* Heads that rotate in a run that belongs to the experiment's sweep; -1: it does not. */
static int64_t rotated_heads(const szg_reproduction *self, const reproduction_run *run) {
    bool sweep = false;
    for (int64_t i = run->first; i >= 0; i = self->run[i].next)
        sweep |= self->run[i].shown.rotated_heads >= 0 &&
                 strcmp(self->run[i].shown.task, run->shown.task) == 0;
    if (!sweep || run->shown.rotated_heads >= 0)
        return run->shown.rotated_heads;
    /* The ends of the sweep: no positions, and every head rotates, in an encoding without keys. */
    const szgi_encoding_traits *traits = szgi_encoding_traits_of(run->encoding);
    if (!traits || strcmp(run->encoding, traits->class.name) != 0)
        return -1;
    return traits->attaches == 0                    ? 0
           : traits->attaches == SZGI_ATTACH_ROTARY ? run->config->model.heads
                                                    : -1;
}

static szg_status sweep_row(szg_context *context, szg_table *table, const szg_reproduction *self,
                            const reproduction_run *run) {
    run_kind kind = {run->first, run->encoding, run->shown.task};
    running_mean accuracy;
    average(self, &kind, &accuracy);
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, SWEEP_EXPERIMENT, run->experiment);
    szgi_row_text(&row, SWEEP_TASK, run->shown.task);
    szgi_row_integer(&row, SWEEP_ROTATED_HEADS, rotated_heads(self, run));
    szgi_row_text(&row, SWEEP_ENCODING, run->encoding);
    szgi_row_integer(&row, SWEEP_SEEDS, accuracy.count);
    szgi_row_number(&row, SWEEP_ACCURACY, mean_of(&accuracy));
    szgi_row_number(&row, SWEEP_SPREAD, spread_of(&accuracy));
    return row.status;
}

/* Rows in the order of rotated heads, for each experiment and task in the order of the runs. */
static szg_status sweep_rows(szg_context *context, szg_table *table, const szg_reproduction *self,
                             const reproduction_run *like) {
    for (int64_t heads = 0; heads <= like->config->model.heads; heads++)
        for (int64_t i = like->first; i >= 0; i = self->run[i].next) {
            const reproduction_run *run = &self->run[i];
            if (strcmp(run->shown.task, like->shown.task) == 0 &&
                rotated_heads(self, run) == heads && !is_repeated(self, i, true))
                SZG_TRY(sweep_row(context, table, self, run));
        }
    return SZG_OK;
}

static bool begins_sweep(const szg_reproduction *self, int64_t index) {
    for (int64_t i = self->run[index].first; i < index; i = self->run[i].next)
        if (self->run[i].shown.rotated_heads >= 0 &&
            strcmp(self->run[i].shown.task, self->run[index].shown.task) == 0)
            return false;
    return self->run[index].shown.rotated_heads >= 0;
}

szg_status szgi_reproduction_sweep(szg_context *context, const szg_reproduction *self,
                                   szg_table **out) {
    for (int64_t i = 0; i < self->count; i++) {
        if (!begins_sweep(self, i))
            continue;
        if (!*out)
            SZG_TRY(szgi_schema_open(context, &sweep_columns_schema, out));
        SZG_TRY(sweep_rows(context, *out, self, &self->run[i]));
    }
    return SZG_OK;
}

/* ---- What has not run ---- */

#define MISSING(X)                                                                                 \
    RUN_COLUMNS(X, MISSING)                                                                        \
    X(MISSING_STATE, "state", SZG_TEXT, "", "state",                                               \
      "not begun, begun, failed (its numbers stopped being finite, or those of the run that says " \
      "on which head it intervenes), or left out (there is no such head)")                         \
    X(MISSING_FAILED_STEP, "failed_step", SZG_INTEGER, "1", "step of the failure",                 \
      "steps done when its own numbers stopped being finite; empty: they did not")                 \
    X(MISSING_NOTE, "note", SZG_TEXT, "", "note", "")
SZGI_SCHEMA(missing_columns, "missing", MISSING, SZGI_NOT_SHOWN);

static szg_status missing_row(szg_context *context, szg_table *table, const szg_reproduction *self,
                              const reproduction_run *run) {
    const szg_run_key key = reproduction_key(run);
    bool begun = false;
    char words[HEAD_WORDS];
    if (run->folder)
        SZG_TRY(szgi_reproduction_is_begun(context, run, &begun));
    szgi_row row = szgi_row_add(context, table);
    szgi_run_key_put(&row, &key);
    szgi_row_text(&row, MISSING_STATE,
                  run->shown.failed              ? "failed"
                  : reproduction_lacks_head(run) ? "left out"
                  : begun                        ? "begun"
                                                 : "not begun");
    szgi_row_place(&row, MISSING_FAILED_STEP, run->shown.failed_step);
    if (reproduction_lacks_head(run))
        szgi_row_note(&row, "left out: %s", szgi_head_absence(self, run, words));
    else if (run->shown.failed)
        szgi_row_note(&row, "%s", run->reason);
    else
        szgi_row_note(&row, "%s", begun ? "begun, not finished" : "not begun");
    if (run->head_state == HEAD_OPEN)
        szgi_row_note(&row, "%s says on which head it intervenes", self->run[run->needs].name);
    return row.status;
}

szg_status szgi_reproduction_missing(szg_context *context, const szg_reproduction *self,
                                     szg_table **out) {
    SZG_TRY(szgi_schema_open(context, &missing_columns_schema, out));
    for (int64_t i = 0; i < self->count; i++)
        if (!self->run[i].shown.finished)
            SZG_TRY(missing_row(context, *out, self, &self->run[i]));
    return SZG_OK;
}

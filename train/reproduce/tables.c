/* Table 1, the sweep over rotated heads, and what has not run. */
#include <string.h>

#include "base/memory.h"
#include "published.h"

#include "reproduce_mean.h"

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

static const szg_column table1_columns[] = {
    {"experiment", SZG_TEXT, "part of the preset"},
    {"encoding", SZG_TEXT, "SPEC of the encoding"},
    {"task1", SZG_REAL, "test accuracy of trigger distance in percent, mean over seeds"},
    {"task2", SZG_REAL, "test accuracy of trigger count in percent, mean over seeds"},
    {"spread1", SZG_REAL, "standard deviation of task1 over seeds"},
    {"spread2", SZG_REAL, "standard deviation of task2 over seeds"},
    {"seeds1", SZG_INTEGER, "finished runs of task 1"},
    {"seeds2", SZG_INTEGER, "finished runs of task 2"},
    {"paper1", SZG_REAL, "Table 1 of the paper, task 1, in percent"},
    {"paper2", SZG_REAL, "Table 1 of the paper, task 2, in percent"},
    {"length1", SZG_REAL, "task 1 by the sequence's length alone, in percent"},
    {"length2", SZG_REAL, "task 2 by the sequence's length alone, in percent"},
    {"ceiling1", SZG_REAL, "best accuracy that any classifier can have in task 1, in percent"},
    {"ceiling2", SZG_REAL, "best accuracy that any classifier can have in task 2, in percent"},
    {"note", SZG_TEXT, ""},
};

static szg_status set_task(szg_context *context, szg_table *table, const szg_reproduction *self,
                           const run_kind *kind, int number) {
    static const char *const names[][5] = {{"task1", "spread1", "seeds1", "length1", "ceiling1"},
                                           {"task2", "spread2", "seeds2", "length2", "ceiling2"}};
    running_mean accuracy;
    const run_facts *facts = average(self, kind, &accuracy);
    if (!facts)
        return SZG_OK;
    SZG_TRY(set_known(context, table, names[number][0], 100 * mean_of(&accuracy)));
    SZG_TRY(set_known(context, table, names[number][1], 100 * spread_of(&accuracy)));
    SZG_TRY(szg_table_set_integer(context, table, names[number][2], accuracy.count));
    SZG_TRY(set_known(context, table, names[number][3], 100 * facts->data.by_length));
    return set_known(context, table, names[number][4], 100 * facts->data.ceiling);
}

static szg_status table1_row(szg_context *context, szg_table *table, const szg_reproduction *self,
                             const reproduction_run *run, const szgi_published *paper) {
    run_kind kind = {run->first, run->encoding, "distance"};
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "experiment", run->experiment));
    SZG_TRY(szg_table_set_text(context, table, "encoding", run->encoding));
    SZG_TRY(set_task(context, table, self, &kind, 0));
    kind.task = "count";
    SZG_TRY(set_task(context, table, self, &kind, 1));
    SZG_TRY(set_known(context, table, "paper1",
                      szgi_published_accuracy(paper, run->encoding, "distance")));
    return set_known(context, table, "paper2",
                     szgi_published_accuracy(paper, run->encoding, "count"));
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
    SZG_TRY(szg_table_open(context, "table1", table1_columns, COUNT(table1_columns), out));
    SZG_TRY(szgi_published_open(context, &paper));
    szg_status status = table1_rows(context, *out, self, paper);
    szgi_published_close(&paper);
    return status;
}

/* ---- The sweep ---- */

static const szg_column sweep_columns[] = {
    {"experiment", SZG_TEXT, "part of the preset"},
    {"task", SZG_TEXT, "distance or count"},
    {"rotated_heads", SZG_INTEGER, "RoPE in the first so many heads, NoPE in the others"},
    {"encoding", SZG_TEXT, "SPEC of the encoding"},
    {"accuracy", SZG_REAL, "test accuracy, mean over seeds"},
    {"spread", SZG_REAL, "its standard deviation over seeds"},
    {"seeds", SZG_INTEGER, "finished runs"},
    {"note", SZG_TEXT, ""},
};

/* Heads that rotate in a run that belongs to the experiment's sweep; -1: it does not. */
static int64_t rotated_heads(const szg_reproduction *self, const reproduction_run *run) {
    bool sweep = false;
    for (int64_t i = run->first; i >= 0; i = self->run[i].next)
        sweep |= self->run[i].shown.rotated_heads >= 0 &&
                 strcmp(self->run[i].shown.task, run->shown.task) == 0;
    if (!sweep || run->shown.rotated_heads >= 0)
        return run->shown.rotated_heads;
    return strcmp(run->encoding, "nope") == 0   ? 0
           : strcmp(run->encoding, "rope") == 0 ? run->config->model.heads
                                                : -1;
}

static szg_status sweep_row(szg_context *context, szg_table *table, const szg_reproduction *self,
                            const reproduction_run *run) {
    run_kind kind = {run->first, run->encoding, run->shown.task};
    running_mean accuracy;
    average(self, &kind, &accuracy);
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "experiment", run->experiment));
    SZG_TRY(szg_table_set_text(context, table, "task", run->shown.task));
    SZG_TRY(szg_table_set_integer(context, table, "rotated_heads", rotated_heads(self, run)));
    SZG_TRY(szg_table_set_text(context, table, "encoding", run->encoding));
    SZG_TRY(szg_table_set_integer(context, table, "seeds", accuracy.count));
    SZG_TRY(set_known(context, table, "accuracy", mean_of(&accuracy)));
    return set_known(context, table, "spread", spread_of(&accuracy));
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
            SZG_TRY(szg_table_open(context, "sweep", sweep_columns, COUNT(sweep_columns), out));
        SZG_TRY(sweep_rows(context, *out, self, &self->run[i]));
    }
    return SZG_OK;
}

/* ---- What has not run ---- */

static const szg_column missing_columns[] = {
    RUN_COLUMNS,
    {"note", SZG_TEXT, ""},
};

static szg_status missing_row(szg_context *context, szg_table *table, const reproduction_run *run) {
    const szg_run_key key = reproduction_key(run);
    bool begun = false;
    if (run->folder)
        SZG_TRY(szgi_reproduction_is_begun(context, run, &begun));
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szgi_run_key_set(context, table, &key));
    return szg_table_note(context, table, begun ? "begun, not finished" : "not begun");
}

szg_status szgi_reproduction_missing(szg_context *context, const szg_reproduction *self,
                                     szg_table **out) {
    SZG_TRY(szg_table_open(context, "missing", missing_columns, COUNT(missing_columns), out));
    for (int64_t i = 0; i < self->count; i++)
        if (!self->run[i].shown.finished)
            SZG_TRY(missing_row(context, *out, &self->run[i]));
    return SZG_OK;
}

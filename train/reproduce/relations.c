/* Does one number of the runs go with another one? Correlations between arms and within them, as a
 * preset asks for them: exploratory, and without a decision. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/correlation.h"
#include "base/inference.h"
#include "base/memory.h"

#include "hypotheses.h"
#include "reproduce_preset.h"

enum { MOST_RELATIONS = 100 };

/* ---- The preset ---- */

static bool is_of(const reproduction_run *run, const char *encoding, const char *task) {
    return strcmp(run->encoding, encoding) == 0 && strcmp(run->shown.task, task) == 0;
}

static szg_status add_arm(szg_context *context, const szg_reproduction *self,
                          szgi_json_value object, const arm_kind *arm, struct szgi_relation *to) {
    for (int64_t i = 0; i < to->arms; i++)
        if (strcmp(to->arm[i].experiment, arm->experiment) == 0 &&
            strcmp(to->arm[i].encoding, arm->encoding) == 0)
            return szgi_json_fail(context, object, "is there twice");
    SZG_TRY(szgi_arm_check(context, self, object, arm, to->task, &to->x));
    SZG_TRY(szgi_arm_check(context, self, object, arm, to->task, &to->y));
    to->arm[to->arms++] = *arm;
    return SZG_OK;
}

static szg_status read_listed(szg_context *context, const szg_reproduction *self,
                              szgi_json_value list, struct szgi_relation *out) {
    SZG_TRY(szgi_json_as_array(context, list));
    int64_t count = szgi_json_count(list);
    if (count < 1)
        return szgi_json_fail(context, list, "has no arm: leave it out for all of them");
    SZG_TRY(szgi_memory_alloc(context, count, &out->arm));
    for (int64_t i = 0; i < count; i++) {
        arm_kind arm;
        szgi_json_value object = szgi_json_element(list, i);
        SZG_TRY(szgi_arm_read(context, object, &arm));
        SZG_TRY(add_arm(context, self, object, &arm, out));
    }
    return SZG_OK;
}

/* Whether no earlier run belongs to the arm of this one. */
static bool begins_arm(const szg_reproduction *self, int64_t index) {
    const reproduction_run *run = &self->run[index];
    for (int64_t i = run->first; i < index; i = self->run[i].next)
        if (is_of(&self->run[i], run->encoding, run->shown.task))
            return false;
    return true;
}

static szg_status take_all(szg_context *context, const szg_reproduction *self,
                           szgi_json_value object, struct szgi_relation *out) {
    SZG_TRY(szgi_memory_alloc(context, self->count, &out->arm));
    for (int64_t i = 0; i < self->count; i++) {
        const reproduction_run *run = &self->run[i];
        const arm_kind arm = {run->experiment, run->encoding};
        if (strcmp(run->shown.task, out->task) == 0 && begins_arm(self, i))
            SZG_TRY(add_arm(context, self, object, &arm, out));
    }
    return out->arms > 0
               ? SZG_OK
               : szgi_json_fail(context, object, "the preset has no run of task %s", out->task);
}

static szg_status read_side(szg_context *context, szgi_json_value object, arm_quantity *out) {
    SZG_TRY(szgi_preset_members(context, object, "measure|layer|step"));
    return szgi_quantity_read(context, object, SZGI_MEASURES_OF_RELATIONS, out);
}

static szg_status read_relation(szg_context *context, szgi_json_value root, szgi_json_value object,
                                szg_reproduction *self) {
    struct szgi_relation *out = &self->relation[self->relations++];
    szgi_json_value name = szgi_json_member(object, "name"),
                    arms = szgi_json_member(object, "arms");
    SZG_TRY(szgi_preset_members(context, object, "name|text|task|x|y|arms"));
    SZG_TRY(szgi_json_as_text(context, name, &out->name));
    if (!*out->name) /* an empty cell is no name */
        return szgi_json_fail(context, name, "is empty: tables and figures call it by its name");
    for (const struct szgi_relation *other = self->relation; other < out; other++)
        if (strcmp(other->name, out->name) == 0)
            return szgi_json_fail(context, name, "\"%.64s\" is there twice", out->name);
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(object, "text"), &out->statement));
    SZG_TRY(szgi_arm_task_read(context, root, object, &out->task));
    SZG_TRY(read_side(context, szgi_json_member(object, "x"), &out->x));
    SZG_TRY(read_side(context, szgi_json_member(object, "y"), &out->y));
    return szgi_json_kind_of(arms) == SZGI_JSON_ABSENT ? take_all(context, self, object, out)
                                                       : read_listed(context, self, arms, out);
}

szg_status szgi_relations_read(szg_context *context, szgi_json_value root, szg_reproduction *out) {
    szgi_json_value list = szgi_json_member(root, "relations");
    if (szgi_json_kind_of(list) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_array(context, list));
    int64_t count = szgi_json_count(list);
    if (count < 1 || count > MOST_RELATIONS)
        return szgi_json_fail(context, list, "has %" PRId64 " elements: 1 to %d", count,
                              MOST_RELATIONS);
    SZG_TRY(szgi_memory_alloc(context, count, &out->relation));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(read_relation(context, root, szgi_json_element(list, i), out));
    return SZG_OK;
}

/* ---- Tables ---- */

#define RELATION(X, TABLE)                                                                         \
    X(TABLE##_RELATION, "relation", SZG_TEXT, "", "relation", "its name in the preset")            \
    X(TABLE##_X, "x", SZG_TEXT, "", "x", "the one number of a run")                                \
    X(TABLE##_X_LAYER, "x_layer", SZG_INTEGER, "1", "layer of x", "from 0; empty: of all layers")  \
    X(TABLE##_X_STEP, "x_step", SZG_INTEGER, "1", "step of x",                                     \
      "of captured numbers; empty: the mean over the early steps")                                 \
    X(TABLE##_Y, "y", SZG_TEXT, "", "y", "the other one")                                          \
    X(TABLE##_Y_LAYER, "y_layer", SZG_INTEGER, "1", "layer of y", "as x_layer")                    \
    X(TABLE##_Y_STEP, "y_step", SZG_INTEGER, "1", "step of y", "as x_step")

#define RELATIONS(X)                                                                               \
    RELATION(X, RELATIONS)                                                                         \
    X(RELATIONS_KIND, "kind", SZG_TEXT, "", "kind",                                                \
      "between: of the arms' means; within: of runs, centred in their arms")                       \
    X(RELATIONS_N, "n", SZG_INTEGER, "1", "count", "between: arms; within: runs less arms")        \
    X(RELATIONS_ARMS, "arms", SZG_INTEGER, "1", "arms",                                            \
      "arms that count; within: those in which both numbers vary")                                 \
    X(RELATIONS_SEEDS, "seeds", SZG_INTEGER, "1", "seeds",                                         \
      "within: different seeds of their runs")                                                     \
    X(RELATIONS_RUNS, "runs", SZG_INTEGER, "1", "runs",                                            \
      "runs of these arms that have both numbers")                                                 \
    X(RELATIONS_FAILED, "failed", SZG_INTEGER, "1", "failed",                                      \
      "runs of the relation that are finished, have failed or are left out, and lack a number")    \
    X(RELATIONS_MISSING, "missing", SZG_INTEGER, "1", "missing",                                   \
      "runs of the relation that are not finished")                                                \
    X(RELATIONS_CORRELATION, "correlation", SZG_REAL, "1", "correlation", "of x and y")            \
    X(RELATIONS_LO, "lo", SZG_REAL, "1", "lower end",                                              \
      "95% interval; empty: fewer than 4 arms, within: fewer than 4 seeds, or a correlation of 1 " \
      "or -1")                                                                                     \
    X(RELATIONS_HI, "hi", SZG_REAL, "1", "upper end", "95% interval")                              \
    X(RELATIONS_METHOD, "method", SZG_TEXT, "", "method",                                          \
      "spearman: of ranks, interval by Fisher's z with n arms; pearson: of deviations in units "   \
      "of their arm's, interval of z by leaving out a seed at a time")                             \
    X(RELATIONS_STATEMENT, "statement", SZG_TEXT, "", "statement",                                 \
      "the question, as the preset says it")                                                       \
    X(RELATIONS_NOTE, "note", SZG_TEXT, "", "note", "")
#define RELATIONS_SCREEN                                                                           \
    SZGI_SHOW(1, relation)                                                                         \
    SZGI_SHOW(2, x)                                                                                \
    SZGI_SHOW(2, x_step)                                                                           \
    SZGI_SHOW(2, y)                                                                                \
    SZGI_SHOW(1, kind)                                                                             \
    SZGI_SHOW(1, n)                                                                                \
    SZGI_SHOW(3, arms)                                                                             \
    SZGI_SHOW(3, runs)                                                                             \
    SZGI_SHOW(2, failed)                                                                           \
    SZGI_SHOW(3, missing)                                                                          \
    SZGI_SHOW(1, correlation)                                                                      \
    SZGI_SHOW_RANGE(1, interval, lo, hi)                                                           \
    SZGI_SHOW(4, method)
SZGI_SCHEMA(relations_columns, "relations", RELATIONS, RELATIONS_SCREEN);

#define RELATION_ARMS(X)                                                                           \
    RELATION(X, RELATION_ARMS)                                                                     \
    X(RELATION_ARMS_ARM, "arm", SZG_TEXT, "", "arm", "experiment and encoding")                    \
    X(RELATION_ARMS_RUNS, "runs", SZG_INTEGER, "1", "runs", "runs that have both numbers")         \
    X(RELATION_ARMS_X_MEAN, "x_mean", SZG_REAL, "1", "mean of x", "mean of x over these runs")     \
    X(RELATION_ARMS_X_LO, "x_lo", SZG_REAL, "1", "lower end of the mean of x",                     \
      "95% interval of the mean by Student's t")                                                   \
    X(RELATION_ARMS_X_HI, "x_hi", SZG_REAL, "1", "upper end of the mean of x",                     \
      "95% interval of the mean by Student's t")                                                   \
    X(RELATION_ARMS_Y_MEAN, "y_mean", SZG_REAL, "1", "mean of y", "mean of y over these runs")     \
    X(RELATION_ARMS_Y_LO, "y_lo", SZG_REAL, "1", "lower end of the mean of y",                     \
      "95% interval of the mean by Student's t")                                                   \
    X(RELATION_ARMS_Y_HI, "y_hi", SZG_REAL, "1", "upper end of the mean of y",                     \
      "95% interval of the mean by Student's t")                                                   \
    X(RELATION_ARMS_NOTE, "note", SZG_TEXT, "", "note", "")
#define RELATION_ARMS_SCREEN                                                                       \
    SZGI_SHOW(1, relation)                                                                         \
    SZGI_SHOW(1, arm)                                                                              \
    SZGI_SHOW(2, runs)                                                                             \
    SZGI_SHOW(3, x)                                                                                \
    SZGI_SHOW(1, x_mean)                                                                           \
    SZGI_SHOW_RANGE(2, x_interval, x_lo, x_hi)                                                     \
    SZGI_SHOW(3, y)                                                                                \
    SZGI_SHOW(1, y_mean)                                                                           \
    SZGI_SHOW_RANGE(2, y_interval, y_lo, y_hi)
SZGI_SCHEMA(relation_arms_columns, "relation_arms", RELATION_ARMS, RELATION_ARMS_SCREEN);

#define RELATION_RUNS(X)                                                                           \
    RELATION(X, RELATION_RUNS)                                                                     \
    X(RELATION_RUNS_ARM, "arm", SZG_TEXT, "", "arm", "experiment and encoding")                    \
    X(RELATION_RUNS_SEED, "seed", SZG_INTEGER, "1", "seed", "of the run")                          \
    X(RELATION_RUNS_X_VALUE, "x_value", SZG_REAL, "1", "x", "x; empty: the run has none")          \
    X(RELATION_RUNS_Y_VALUE, "y_value", SZG_REAL, "1", "y", "y; empty: the run has none")          \
    X(RELATION_RUNS_NOTE, "note", SZG_TEXT, "", "note", "")
#define RELATION_RUNS_SCREEN                                                                       \
    SZGI_SHOW(1, relation)                                                                         \
    SZGI_SHOW(1, arm)                                                                              \
    SZGI_SHOW(1, seed)                                                                             \
    SZGI_SHOW(3, x)                                                                                \
    SZGI_SHOW(1, x_value)                                                                          \
    SZGI_SHOW(3, y)                                                                                \
    SZGI_SHOW(1, y_value)
SZGI_SCHEMA(relation_runs_columns, "relation_runs", RELATION_RUNS, RELATION_RUNS_SCREEN);

/* The columns that all three begin with. */
static void put_relation(szgi_row *row, const struct szgi_relation *of) {
    char name[MEASURE_NAME];
    szgi_row_text(row, RELATIONS_RELATION, of->name);
    szgi_row_text(row, RELATIONS_X, szgi_measure_name(of->x.measure, name));
    szgi_row_place(row, RELATIONS_X_LAYER, of->x.layer);
    szgi_row_place(row, RELATIONS_X_STEP, of->x.step);
    szgi_row_text(row, RELATIONS_Y, szgi_measure_name(of->y.measure, name));
    szgi_row_place(row, RELATIONS_Y_LAYER, of->y.layer);
    szgi_row_place(row, RELATIONS_Y_STEP, of->y.step);
}

/* What is found while the runs of a relation are read. */
typedef struct relation_work {
    const struct szgi_relation *of;
    szg_table *relations, *arms, *runs;
    szgi_grouped *run; /* with both numbers; those of an arm stand together */
    int64_t count, failed, missing;
    double *x, *y;           /* the numbers of one arm */
    double *mean_x, *mean_y; /* of the arms that have runs */
    int64_t means;
} relation_work;

/* ---- Runs ---- */

/* A run that failed or is left out has no number, as one that lacks it has not. */
static szg_status take_numbers(szg_context *context, const szg_reproduction *self,
                               const reproduction_run *run, const struct szgi_relation *of,
                               szgi_grouped *out) {
    out->x = out->y = NAN;
    if (!run->shown.finished)
        return SZG_OK;
    SZG_TRY(szgi_arm_number(context, self, run, &of->x, &out->x));
    return szgi_arm_number(context, self, run, &of->y, &out->y);
}

static szg_status take_run(szg_context *context, const szg_reproduction *self,
                           const reproduction_run *run, int64_t arm, relation_work *work) {
    char name[SZG_CONFIG_TEXT + 80];
    szgi_grouped own = {.group = arm, .block = run->shown.seed};
    SZG_TRY(take_numbers(context, self, run, work->of, &own));
    bool missing = !run->shown.finished && !run->shown.failed && !reproduction_lacks_head(run);
    bool failed = !missing && (isnan(own.x) || isnan(own.y));
    work->missing += missing;
    work->failed += failed;
    if (!missing && !failed)
        work->run[work->count++] = own;
    szgi_row row = szgi_row_add(context, work->runs);
    put_relation(&row, work->of);
    szgi_row_text(&row, RELATION_RUNS_ARM, szgi_arm_name(run->experiment, run->encoding, name));
    szgi_row_integer(&row, RELATION_RUNS_SEED, (int64_t)run->shown.seed);
    szgi_row_number(&row, RELATION_RUNS_X_VALUE, own.x);
    szgi_row_number(&row, RELATION_RUNS_Y_VALUE, own.y);
    if (missing || failed)
        szgi_row_note(&row, "%s", missing ? "the run is not finished" : "the run lacks a number");
    return row.status;
}

/* ---- Arms ---- */

/* The runs from `first` on are the arm's. */
static szg_status put_arm(szg_context *context, const arm_kind *arm, int64_t first,
                          relation_work *work) {
    char name[SZG_CONFIG_TEXT + 80];
    int64_t count = work->count - first;
    for (int64_t i = 0; i < count; i++) {
        work->x[i] = work->run[first + i].x;
        work->y[i] = work->run[first + i].y;
    }
    szgi_mean_interval x = szgi_mean_interval_of(count, work->x),
                       y = szgi_mean_interval_of(count, work->y);
    if (count > 0) {
        work->mean_x[work->means] = x.mean;
        work->mean_y[work->means++] = y.mean;
    }
    szgi_row row = szgi_row_add(context, work->arms);
    put_relation(&row, work->of);
    szgi_row_text(&row, RELATION_ARMS_ARM, szgi_arm_name(arm->experiment, arm->encoding, name));
    szgi_row_integer(&row, RELATION_ARMS_RUNS, count);
    szgi_row_number(&row, RELATION_ARMS_X_MEAN, x.mean);
    szgi_row_number(&row, RELATION_ARMS_X_LO, x.low);
    szgi_row_number(&row, RELATION_ARMS_X_HI, x.high);
    szgi_row_number(&row, RELATION_ARMS_Y_MEAN, y.mean);
    szgi_row_number(&row, RELATION_ARMS_Y_LO, y.low);
    szgi_row_number(&row, RELATION_ARMS_Y_HI, y.high);
    return row.status;
}

static szg_status take_arm(szg_context *context, const szg_reproduction *self, int64_t index,
                           relation_work *work) {
    const arm_kind *arm = &work->of->arm[index];
    int64_t first = work->count;
    for (int64_t i = szgi_run_find(self, arm->experiment, arm->encoding, work->of->task, -1);
         i >= 0; i = self->run[i].next)
        if (is_of(&self->run[i], arm->encoding, work->of->task))
            SZG_TRY(take_run(context, self, &self->run[i], index, work));
    return put_arm(context, arm, first, work);
}

/* ---- Correlations ---- */

static void put_correlation(szgi_row *row, const relation_work *work,
                            const szgi_correlation *correlation) {
    put_relation(row, work->of);
    szgi_row_integer(row, RELATIONS_FAILED, work->failed);
    szgi_row_integer(row, RELATIONS_MISSING, work->missing);
    szgi_row_number(row, RELATIONS_CORRELATION, correlation->value);
    szgi_row_number(row, RELATIONS_LO, correlation->low);
    szgi_row_number(row, RELATIONS_HI, correlation->high);
    szgi_row_text(row, RELATIONS_STATEMENT, work->of->statement);
}

/* Ranks: ratios reach from 0.9 to 20, accuracies lie close below the ceiling, and none of this is a
 * line. */
static szg_status put_between(szg_context *context, const relation_work *work) {
    szgi_correlation correlation;
    SZG_TRY(szgi_spearman_interval(context, work->means, work->mean_x, work->mean_y, &correlation));
    szgi_row row = szgi_row_add(context, work->relations);
    put_correlation(&row, work, &correlation);
    szgi_row_text(&row, RELATIONS_KIND, "between");
    szgi_row_integer(&row, RELATIONS_N, work->means);
    szgi_row_integer(&row, RELATIONS_ARMS, work->means);
    szgi_row_integer(&row, RELATIONS_RUNS, work->count);
    szgi_row_text(&row, RELATIONS_METHOD, "spearman");
    return row.status;
}

static szg_status put_within(szg_context *context, const relation_work *work) {
    szgi_pooled pooled;
    SZG_TRY(szgi_pool_groups(context, work->count, work->run, &pooled));
    szgi_row row = szgi_row_add(context, work->relations);
    put_correlation(&row, work, &pooled.correlation);
    szgi_row_text(&row, RELATIONS_KIND, "within");
    szgi_row_integer(&row, RELATIONS_N, pooled.pairs - pooled.groups);
    szgi_row_integer(&row, RELATIONS_ARMS, pooled.groups);
    szgi_row_integer(&row, RELATIONS_SEEDS, pooled.blocks);
    szgi_row_integer(&row, RELATIONS_RUNS, pooled.pairs);
    szgi_row_text(&row, RELATIONS_METHOD, "pearson");
    return row.status;
}

static szg_status put_rows(szg_context *context, const szg_reproduction *self,
                           relation_work *work) {
    for (int64_t i = 0; i < work->of->arms; i++)
        SZG_TRY(take_arm(context, self, i, work));
    SZG_TRY(put_between(context, work));
    return put_within(context, work);
}

static void close_work(relation_work *work) {
    szgi_memory_free(work->run);
    szgi_memory_free(work->x);
    szgi_memory_free(work->mean_x);
}

static szg_status open_work(szg_context *context, const szg_reproduction *self,
                            relation_work *out) {
    SZG_TRY(szgi_memory_alloc(context, self->count, &out->run));
    SZG_TRY(szgi_memory_alloc(context, 2 * self->count, &out->x));
    SZG_TRY(szgi_memory_alloc(context, 2 * self->count, &out->mean_x));
    out->y = out->x + self->count;
    out->mean_y = out->mean_x + self->count;
    return SZG_OK;
}

szg_status szgi_reproduction_relations(szg_context *context, const szg_reproduction *self,
                                       szg_table **relations, szg_table **arms, szg_table **runs) {
    relation_work work = {0};
    if (self->relations == 0)
        return SZG_OK;
    SZG_TRY(szgi_schema_open(context, &relations_columns_schema, relations));
    SZG_TRY(szgi_schema_open(context, &relation_arms_columns_schema, arms));
    SZG_TRY(szgi_schema_open(context, &relation_runs_columns_schema, runs));
    szg_status status = open_work(context, self, &work);
    for (int64_t i = 0; i < self->relations && status == SZG_OK; i++) {
        work.of = &self->relation[i];
        work.relations = *relations;
        work.arms = *arms;
        work.runs = *runs;
        work.count = work.means = work.failed = work.missing = 0;
        status = put_rows(context, self, &work);
    }
    close_work(&work);
    return status;
}

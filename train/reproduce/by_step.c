/* When? The deposit index, the winner's share of the gradients and the ratio of widths by step:
 * means over seeds with intervals, from an arm and from the same runs stopped early. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/inference.h"
#include "base/memory.h"
#include "train/ablation/ablation.h"
#include "train/config/config_private.h"

#include "hypotheses.h"
#include "reproduce_preset.h"

enum { MOST_COURSES = 100 };

/* ---- The preset ---- */

static bool is_of(const reproduction_run *run, const arm_kind *arm, const char *task) {
    return strcmp(run->encoding, arm->encoding) == 0 && strcmp(run->shown.task, task) == 0;
}

/* Whether runs may differ in the key and still have the same steps, as far as either goes. */
static bool is_free(const char *key) {
    return strcmp(key, "loop.limit_steps") == 0 || strncmp(key, "capture.", 8) == 0;
}

static bool same_head(const head_rule *a, const head_rule *b) {
    if (!a->of || !b->of)
        return a->of == b->of;
    return strcmp(a->of, b->of) == 0 && strcmp(a->encoding, b->encoding) == 0 &&
           a->layer == b->layer && a->other == b->other;
}

/* The first key that makes one run another one than the same stopped early; NULL: none. */
static const char *difference_of(const reproduction_run *run, const reproduction_run *whole) {
    char own[SZG_CONFIG_TEXT], other[SZG_CONFIG_TEXT];
    const config_row *row;
    for (int64_t i = 0; (row = szgi_config_row_at(i)); i++)
        if (!is_free(row->key.name) && strcmp(szgi_config_text(row, run->config, own),
                                              szgi_config_text(row, whole->config, other)) != 0)
            return row->key.name;
    return same_head(&run->head, &whole->head) ? NULL : "head";
}

static szg_status check_stopped(szg_context *context, const szg_reproduction *self,
                                szgi_json_value object, const arm_kind *arm,
                                const struct szgi_course *of) {
    for (int64_t i = szgi_run_find(self, arm->experiment, arm->encoding, of->task, -1); i >= 0;
         i = self->run[i].next) {
        const reproduction_run *run = &self->run[i];
        if (!is_of(run, arm, of->task))
            continue;
        int64_t whole = szgi_run_find(self, of->arm->experiment, of->arm->encoding, of->task,
                                      (int64_t)run->shown.seed);
        if (whole < 0)
            return szgi_json_fail(context, object,
                                  "has the seed %" PRIu64 ", and the arm that is not stopped lacks "
                                  "it",
                                  run->shown.seed);
        const char *key = difference_of(run, &self->run[whole]);
        if (key)
            return szgi_json_fail(context, object,
                                  "is not the arm stopped early: %s differs. Only loop.limit_steps "
                                  "and capture may",
                                  key);
    }
    return SZG_OK;
}

static szg_status add_arm(szg_context *context, const szg_reproduction *self,
                          szgi_json_value object, struct szgi_course *to) {
    const arm_quantity index = {.measure = ARM_INDEX};
    arm_kind *arm = &to->arm[to->arms];
    SZG_TRY(szgi_arm_read(context, object, arm));
    SZG_TRY(szgi_arm_check(context, self, object, arm, to->task, &index));
    if (to->arms > 0)
        SZG_TRY(check_stopped(context, self, object, arm, to));
    to->arms++;
    return SZG_OK;
}

static szg_status read_course(szg_context *context, szgi_json_value root, szgi_json_value object,
                              szg_reproduction *self) {
    struct szgi_course *out = &self->course[self->courses++];
    szgi_json_value stopped = szgi_json_member(object, "stopped");
    int64_t count = 0;
    SZG_TRY(szgi_preset_members(context, object, "task|arm|stopped"));
    SZG_TRY(szgi_arm_task_read(context, root, object, &out->task));
    if (szgi_json_kind_of(stopped) != SZGI_JSON_ABSENT) {
        SZG_TRY(szgi_json_as_array(context, stopped));
        count = szgi_json_count(stopped);
    }
    SZG_TRY(szgi_memory_alloc(context, count + 1, &out->arm));
    SZG_TRY(add_arm(context, self, szgi_json_member(object, "arm"), out));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(add_arm(context, self, szgi_json_element(stopped, i), out));
    return SZG_OK;
}

szg_status szgi_by_step_read(szg_context *context, szgi_json_value root, szg_reproduction *out) {
    szgi_json_value list = szgi_json_member(root, "by_step");
    if (szgi_json_kind_of(list) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_array(context, list));
    int64_t count = szgi_json_count(list);
    if (count < 1 || count > MOST_COURSES)
        return szgi_json_fail(context, list, "has %" PRId64 " elements: 1 to %d", count,
                              MOST_COURSES);
    SZG_TRY(szgi_memory_alloc(context, count, &out->course));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(read_course(context, root, szgi_json_element(list, i), out));
    return SZG_OK;
}

/* ---- What the runs say ---- */

typedef enum step_measure { STEP_INDEX, STEP_GRADIENT_SHARE, STEP_CONTRACTION } step_measure;

/* A number of one seed; NaN: the run lacks it. `order`: the place of its run among those of the
 * seed, of which the first speaks. */
typedef struct step_point {
    step_measure measure;
    int64_t layer, step, order;
    uint64_t seed;
    double value;
} step_point;

typedef struct step_work {
    const szg_reproduction *self;
    const struct szgi_course *of;
    step_point *point;
    int64_t count, room;
    int64_t seeds;                 /* of the arm */
    const reproduction_run *whole; /* the run of the seed that is not stopped */
    int64_t *winner;               /* [layers] of that run; -1: none */
    double *share;                 /* [heads] */
} step_work;

static szg_status add_point(szg_context *context, const step_point *point, step_work *work) {
    SZG_TRY(szgi_memory_reserve(context, &work->point, &work->room, work->count, 1));
    work->point[work->count++] = *point;
    return SZG_OK;
}

/* Of the run's last step. */
static szg_status add_indices(szg_context *context, const reproduction_run *run, step_point at,
                              step_work *work) {
    at.measure = STEP_INDEX;
    at.step = run->facts.steps;
    for (at.layer = 0; at.layer < run->config->model.layers; at.layer++) {
        const arm_quantity index = {ARM_INDEX, at.layer, -1};
        SZG_TRY(szgi_arm_number(context, work->self, run, &index, &at.value));
        SZG_TRY(add_point(context, &at, work));
    }
    return SZG_OK;
}

/* Who wins is not known before the whole run is finished. */
static szg_status add_share(szg_context *context, const szg_table *contraction, step_point at,
                            step_work *work) {
    int64_t heads = work->whole->config->model.heads, steps, winner = work->winner[at.layer];
    if (!work->whole->shown.finished)
        return SZG_OK;
    SZG_TRY(szgi_gradient_shares(context, contraction, at.layer, heads,
                                 (step_range){at.step, at.step}, work->share, &steps));
    at.measure = STEP_GRADIENT_SHARE;
    at.value = steps > 0 && winner >= 0 ? work->share[winner] : NAN;
    return add_point(context, &at, work);
}

/* Rows of a step and layer stand together; if they do not, the point is there twice. */
static szg_status add_captured(szg_context *context, const szg_table *contraction, step_point at,
                               step_work *work) {
    int64_t step = szg_table_find(contraction, "step"),
            layer = szg_table_find(contraction, "layer"),
            layers = work->whole->config->model.layers;
    at.step = -1;
    for (int64_t row = 0; row < szg_table_rows(contraction); row++) {
        step_point own = at;
        own.step = szg_table_get_integer(contraction, row, step);
        own.layer = szg_table_get_integer(contraction, row, layer);
        if (szg_table_is_empty(contraction, row, step) || own.step < 0 || own.layer < 0 ||
            own.layer >= layers || (own.step == at.step && own.layer == at.layer))
            continue;
        const arm_quantity ratio = {ARM_CONTRACTION, own.layer, own.step};
        own.measure = STEP_CONTRACTION;
        own.value = szgi_mean_contraction(contraction, &ratio, 0);
        SZG_TRY(add_point(context, &own, work));
        SZG_TRY(add_share(context, contraction, own, work));
        at = own;
    }
    return SZG_OK;
}

static szg_status add_run(szg_context *context, const reproduction_run *run, int64_t order,
                          step_work *work) {
    const step_point at = {.seed = run->shown.seed, .order = order};
    szg_train_tables logs;
    SZG_TRY(add_indices(context, run, at, work));
    szg_status status = szg_train_tables_read(context, run->folder, &logs);
    if (status == SZG_OK && logs.contraction)
        status = add_captured(context, logs.contraction, at, work);
    szg_train_tables_close(&logs);
    return status;
}

static szg_status add_runs(szg_context *context, step_work *work) {
    const struct szgi_course *of = work->of;
    for (int64_t a = 0; a < of->arms; a++) {
        int64_t found = szgi_run_find(work->self, of->arm[a].experiment, of->arm[a].encoding,
                                      of->task, (int64_t)work->whole->shown.seed);
        if (found >= 0 && work->self->run[found].shown.finished)
            SZG_TRY(add_run(context, &work->self->run[found], a, work));
    }
    return SZG_OK;
}

static szg_status add_seed(szg_context *context, step_work *work) {
    const szg_model_config *model = &work->whole->config->model;
    szg_status status = szgi_memory_alloc(context, model->layers, &work->winner);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, model->heads, &work->share);
    for (int64_t i = 0; status == SZG_OK && work->whole->shown.finished && i < model->layers; i++)
        status = szgi_head_winner(context, work->whole, i, &work->winner[i]);
    if (status == SZG_OK)
        status = add_runs(context, work);
    szgi_memory_free(work->share);
    szgi_memory_free(work->winner);
    work->share = NULL;
    work->winner = NULL;
    return status;
}

static szg_status add_seeds(szg_context *context, step_work *work) {
    const arm_kind *arm = work->of->arm;
    for (int64_t i = szgi_run_find(work->self, arm->experiment, arm->encoding, work->of->task, -1);
         i >= 0; i = work->self->run[i].next) {
        work->whole = &work->self->run[i];
        if (!is_of(work->whole, arm, work->of->task))
            continue;
        work->seeds++;
        SZG_TRY(add_seed(context, work));
    }
    return SZG_OK;
}

/* ---- The table ---- */

#define BY_STEP(X)                                                                                 \
    X(BY_STEP_ARM, "arm", SZG_TEXT, "", "arm",                                                     \
      "experiment and encoding; others are it, stopped early")                                     \
    X(BY_STEP_TASK, "task", SZG_TEXT, "", "task", "distance or count")                             \
    X(BY_STEP_MEASURE, "measure", SZG_TEXT, "", "measure",                                         \
      "index: of the deposit, of runs that end at the step; gradient_share: of the gradient norm " \
      "of W_Q and W_K, the share of the head that has the largest drop when the arm's run of the " \
      "seed ends; contraction: geometric mean of the ratio of widths over heads and probes")       \
    X(BY_STEP_LAYER, "layer", SZG_INTEGER, "1", "layer", "from 0")                                 \
    X(BY_STEP_STEP, "step", SZG_INTEGER, "1", "training step", "steps done")                       \
    X(BY_STEP_SEEDS, "seeds", SZG_INTEGER, "1", "seeds", "of which the number is known")           \
    X(BY_STEP_FAILED, "failed", SZG_INTEGER, "1", "failed",                                        \
      "seeds whose run lacks it: drops of 0.05 or less have no index, and without a drop no head " \
      "wins")                                                                                      \
    X(BY_STEP_MISSING, "missing", SZG_INTEGER, "1", "missing",                                     \
      "further seeds of the arm: no finished run has the step, or who wins is not known")          \
    X(BY_STEP_MEAN, "mean", SZG_REAL, "1", "mean over seeds", "over the seeds")                    \
    X(BY_STEP_LOW, "t_low", SZG_REAL, "1", "lower end of the mean",                                \
      "95% interval of the mean by Student's t; empty: fewer than two seeds")                      \
    X(BY_STEP_HIGH, "t_high", SZG_REAL, "1", "upper end of the mean",                              \
      "95% interval of the mean by Student's t")                                                   \
    X(BY_STEP_REFERENCE, "reference", SZG_REAL, "1", "reference",                                  \
      "index: its mean if shares are uniform on the simplex; gradient_share: 1 / heads; "          \
      "contraction: 1")                                                                            \
    X(BY_STEP_NOTE, "note", SZG_TEXT, "", "note", "")
#define BY_STEP_SCREEN                                                                             \
    SZGI_SHOW(1, arm)                                                                              \
    SZGI_SHOW(3, task)                                                                             \
    SZGI_SHOW(1, measure)                                                                          \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, step)                                                                             \
    SZGI_SHOW(1, mean)                                                                             \
    SZGI_SHOW_RANGE(1, interval, t_low, t_high)                                                    \
    SZGI_SHOW(2, seeds)                                                                            \
    SZGI_SHOW(2, failed)                                                                           \
    SZGI_SHOW(3, missing)                                                                          \
    SZGI_SHOW(3, reference)
SZGI_SCHEMA(by_step_columns, "by_step", BY_STEP, BY_STEP_SCREEN);

static int compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* Whether both are of the same row: 0. */
static int by_row(const step_point *a, const step_point *b) {
    int order = compare(a->measure, b->measure);
    order = order ? order : compare(a->layer, b->layer);
    return order ? order : compare(a->step, b->step);
}

static int by_place(const void *left, const void *right) {
    const step_point *a = left, *b = right;
    int order = by_row(a, b);
    order = order ? order : (a->seed > b->seed) - (a->seed < b->seed);
    return order ? order : compare(a->order, b->order);
}

static double reference_of(step_measure measure, int64_t heads) {
    return measure == STEP_INDEX            ? szgi_deposit_uniform(heads)
           : measure == STEP_GRADIENT_SHARE ? 1 / (double)heads
                                            : 1;
}

/* `value`: the numbers of the seeds that have one. */
static szg_status put_row(szg_context *context, const step_work *work, const step_point *of,
                          int64_t count, int64_t failed, const double *value, szg_table *out) {
    static const char *const names[] = {"index", "gradient_share", "contraction"};
    char name[SZG_CONFIG_TEXT + 80];
    const arm_kind *arm = work->of->arm;
    szgi_mean_interval mean = szgi_mean_interval_of(count, value);
    szgi_row row = szgi_row_add(context, out);
    szgi_row_text(&row, BY_STEP_ARM, szgi_arm_name(arm->experiment, arm->encoding, name));
    szgi_row_text(&row, BY_STEP_TASK, work->of->task);
    szgi_row_text(&row, BY_STEP_MEASURE, names[of->measure]);
    szgi_row_integer(&row, BY_STEP_LAYER, of->layer);
    szgi_row_integer(&row, BY_STEP_STEP, of->step);
    szgi_row_integer(&row, BY_STEP_SEEDS, count);
    szgi_row_integer(&row, BY_STEP_FAILED, failed);
    szgi_row_integer(&row, BY_STEP_MISSING, work->seeds - count - failed);
    szgi_row_number(&row, BY_STEP_MEAN, mean.mean);
    szgi_row_number(&row, BY_STEP_LOW, mean.low);
    szgi_row_number(&row, BY_STEP_HIGH, mean.high);
    szgi_row_number(&row, BY_STEP_REFERENCE,
                    reference_of(of->measure, work->whole->config->model.heads));
    return row.status;
}

/* `value`: room for a number a seed. */
static szg_status put_rows(szg_context *context, const step_work *work, double *value,
                           szg_table *out) {
    const step_point *all = work->point;
    for (int64_t first = 0, next; first < work->count; first = next) {
        int64_t count = 0, failed = 0;
        for (next = first; next < work->count && by_row(&all[first], &all[next]) == 0; next++) {
            if (next > first && all[next].seed == all[next - 1].seed)
                continue;
            if (isfinite(all[next].value))
                value[count++] = all[next].value;
            else
                failed++;
        }
        SZG_TRY(put_row(context, work, &all[first], count, failed, value, out));
    }
    return SZG_OK;
}

static szg_status put_course(szg_context *context, step_work *work, szg_table *out) {
    double *value;
    SZG_TRY(add_seeds(context, work));
    if (work->count == 0)
        return SZG_OK;
    qsort(work->point, (size_t)work->count, sizeof *work->point, by_place);
    SZG_TRY(szgi_memory_alloc(context, work->seeds, &value));
    szg_status status = put_rows(context, work, value, out);
    szgi_memory_free(value);
    return status;
}

szg_status szgi_reproduction_by_step(szg_context *context, const szg_reproduction *self,
                                     szg_table **out) {
    szg_status status = SZG_OK;
    if (self->courses == 0)
        return SZG_OK;
    SZG_TRY(szgi_schema_open(context, &by_step_columns_schema, out));
    for (int64_t i = 0; i < self->courses && status == SZG_OK; i++) {
        step_work work = {.self = self, .of = &self->course[i]};
        status = put_course(context, &work, *out);
        szgi_memory_free(work.point);
    }
    return status;
}

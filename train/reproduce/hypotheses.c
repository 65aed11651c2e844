/* The hypotheses of a preset, and what the runs say of them: pairs over seeds, intervals, tests. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/inference.h"
#include "base/memory.h"
#include "base/suggest.h"

#include "hypotheses.h"
#include "reproduce_preset.h"
#include "shares.h"

enum { MOST_HYPOTHESES = 100, LEAST_PAIRS = 5 };
#define LEVEL .05

/* ---- The preset ---- */

/* A member that is there, from 0; -1: it may be left out, and is. */
static szg_status read_place(szg_context *context, szgi_json_value value, int64_t *out) {
    *out = -1;
    if (szgi_json_kind_of(value) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_integer(context, value, out));
    return *out >= 0
               ? SZG_OK
               : szgi_json_fail(context, value, "is %" PRId64 ", not an integer from 0", *out);
}

static szg_status read_layer(szg_context *context, szgi_json_value layer, const char *name,
                             arm_quantity *out) {
    if (out->measure == ARM_CONTRACTION)
        return read_place(context, layer, &out->layer);
    if (szgi_arm_has_layer(out->measure))
        return szgi_json_as_integer(context, layer, &out->layer);
    if (szgi_json_kind_of(layer) != SZGI_JSON_ABSENT)
        return szgi_json_fail(context, layer, "%s is of a whole run: leave the layer out", name);
    return SZG_OK;
}

szg_status szgi_quantity_read(szg_context *context, szgi_json_value object, const char *known,
                              arm_quantity *out) {
    szgi_json_value measure = szgi_json_member(object, "measure"),
                    step = szgi_json_member(object, "step");
    const char *name;
    char own[MEASURE_NAME];
    int last = 0;
    for (const char *at = known; (at = strchr(at, '|')); at++)
        last++;
    *out = (arm_quantity){.layer = -1, .step = -1};
    SZG_TRY(szgi_json_as_text(context, measure, &name));
    while ((int)out->measure <= last && strcmp(name, szgi_measure_name(out->measure, own)) != 0)
        out->measure++;
    if ((int)out->measure > last)
        return szgi_json_fail(context, measure, "is \"%.40s\": %s %s", name,
                              SZGI_DID_YOU_CHOOSE(name, known, "one of"), known);
    SZG_TRY(read_layer(context, szgi_json_member(object, "layer"), name, out));
    if (szgi_is_captured(out->measure))
        return read_place(context, step, &out->step);
    if (szgi_json_kind_of(step) != SZGI_JSON_ABSENT)
        return szgi_json_fail(context, step, "%s is of a whole run: leave the step out", name);
    return SZG_OK;
}

static const reproduction_run *find_arm(const szg_reproduction *self, const arm_kind *arm,
                                        const char *task, int64_t seed) {
    int64_t found = szgi_run_find(self, arm->experiment, arm->encoding, task, seed);
    return found < 0 ? NULL : &self->run[found];
}

/* The runs of a seed with which those of the arm are compared; false: one is not in the preset. */
static bool find_minus(const szg_reproduction *self, const struct szgi_hypothesis *of,
                       uint64_t seed, const reproduction_run *minus[MOST_MINUS]) {
    for (int64_t m = 0; m < of->minus_count; m++)
        if (!(minus[m] = find_arm(self, &of->minus[m], of->task, (int64_t)seed)))
            return false;
    return true;
}

/* Whether the run is one of the arm's. */
static bool is_of(const struct szgi_hypothesis *of, const reproduction_run *run) {
    return strcmp(run->experiment, of->arm.experiment) == 0 &&
           strcmp(run->encoding, of->arm.encoding) == 0 && strcmp(run->shown.task, of->task) == 0;
}

/* Layers of captured logits are those of the model too. */
static szg_status check_layer(szg_context *context, szgi_json_value object,
                              const reproduction_run *run, const arm_quantity *of) {
    bool ablated = szgi_arm_has_layer(of->measure);
    if (ablated && !(run->shown.methods >> SZG_ABLATE_OUTPUT & 1))
        return szgi_json_fail(context, object,
                              "heads of experiment %.64s are not ablated by output: give it "
                              "\"ablation\"",
                              run->experiment);
    if (of->layer < (ablated ? 0 : -1) || of->layer >= run->config->model.layers)
        return szgi_json_fail(context, object, "has no layer %" PRId64 ": layers count from 0",
                              of->layer);
    return SZG_OK;
}

szg_status szgi_arm_read(szg_context *context, szgi_json_value object, arm_kind *out) {
    SZG_TRY(szgi_preset_members(context, object, "experiment|encoding"));
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(object, "experiment"), &out->experiment));
    return szgi_json_as_text(context, szgi_json_member(object, "encoding"), &out->encoding);
}

szg_status szgi_arm_check(szg_context *context, const szg_reproduction *self,
                          szgi_json_value object, const arm_kind *arm, const char *task,
                          const arm_quantity *of) {
    const reproduction_run *run = find_arm(self, arm, task, -1);
    if (!run)
        return szgi_json_fail(context, object,
                              "the preset has no run of experiment %.64s, encoding %.80s, task %s",
                              arm->experiment, arm->encoding, task);
    SZG_TRY(check_layer(context, object, run, of));
    return szgi_measure_check(context, object, run, of, self->early_steps);
}

static szg_status read_arm(szg_context *context, const szg_reproduction *self,
                           szgi_json_value object, const struct szgi_hypothesis *of,
                           arm_kind *out) {
    SZG_TRY(szgi_arm_read(context, object, out));
    return szgi_arm_check(context, self, object, out, of->task, &of->of);
}

static szg_status read_minus(szg_context *context, const szg_reproduction *self,
                             szgi_json_value object, const struct szgi_hypothesis *of,
                             arm_kind *out) {
    SZG_TRY(read_arm(context, self, object, of, out));
    if (strcmp(out->experiment, of->arm.experiment) != 0 ||
        strcmp(out->encoding, of->arm.encoding) != 0)
        return SZG_OK;
    return szgi_json_fail(context, object,
                          "experiment %.64s, encoding %.80s is \"arm\" itself: name another one",
                          out->experiment, out->encoding);
}

/* A pair is of one seed. */
static szg_status check_seeds(szg_context *context, const szg_reproduction *self,
                              szgi_json_value object, const struct szgi_hypothesis *of) {
    const reproduction_run *minus[MOST_MINUS];
    for (int64_t i = 0; i < self->count; i++)
        if (is_of(of, &self->run[i]) && find_minus(self, of, self->run[i].shown.seed, minus))
            return SZG_OK;
    return szgi_json_fail(context, object,
                          "no seed of experiment %.64s is one of all these too: give the "
                          "experiments a common one in \"seeds\"",
                          of->arm.experiment);
}

static szg_status read_arms(szg_context *context, const szg_reproduction *self,
                            szgi_json_value object, struct szgi_hypothesis *out) {
    szgi_json_value minus = szgi_json_member(object, "minus");
    SZG_TRY(read_arm(context, self, szgi_json_member(object, "arm"), out, &out->arm));
    if (szgi_json_kind_of(minus) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_array(context, minus));
    int64_t count = szgi_json_count(minus);
    if (count < 1 || count > MOST_MINUS)
        return szgi_json_fail(context, minus,
                              "has %" PRId64 " arms: 1 to %d, or leave it out to compare with 0",
                              count, MOST_MINUS);
    for (; out->minus_count < count; out->minus_count++)
        SZG_TRY(read_minus(context, self, szgi_json_element(minus, out->minus_count), out,
                           &out->minus[out->minus_count]));
    return check_seeds(context, self, minus, out);
}

szg_status szgi_arm_task_read(szg_context *context, szgi_json_value root, szgi_json_value object,
                              const char **out) {
    szgi_json_value task = szgi_json_member(object, "task"),
                    tasks = szgi_json_member(root, "tasks"), only = {0};
    if (szgi_json_kind_of(task) == SZGI_JSON_ABSENT && szgi_json_count(tasks) == 1 &&
        szgi_json_next(tasks, &only)) {
        *out = only.key;
        return SZG_OK;
    }
    return szgi_json_as_text(context, task, out);
}

static szg_status read_hypothesis(szg_context *context, szgi_json_value root,
                                  szgi_json_value object, szg_reproduction *self) {
    struct szgi_hypothesis *out = &self->hypothesis[self->hypotheses];
    szgi_json_value name = szgi_json_member(object, "name");
    SZG_TRY(szgi_preset_members(context, object, "name|text|task|measure|layer|arm|minus|primary"));
    SZG_TRY(szgi_json_as_text(context, name, &out->name));
    if (!*out->name) /* an empty cell is no name */
        return szgi_json_fail(context, name, "is empty: tables and figures call it by its name");
    for (int64_t i = 0; i < self->hypotheses; i++)
        if (strcmp(self->hypothesis[i].name, out->name) == 0)
            return szgi_json_fail(context, name, "\"%.64s\" is there twice", out->name);
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(object, "text"), &out->statement));
    SZG_TRY(szgi_json_as_boolean(context, szgi_json_member(object, "primary"), &out->primary));
    SZG_TRY(szgi_arm_task_read(context, root, object, &out->task));
    SZG_TRY(szgi_quantity_read(context, object, SZGI_MEASURES_OF_HYPOTHESES, &out->of));
    SZG_TRY(read_arms(context, self, object, out));
    self->hypotheses++;
    return SZG_OK;
}

szg_status szgi_hypotheses_read(szg_context *context, szgi_json_value root, szg_reproduction *out) {
    szgi_json_value list = szgi_json_member(root, "hypotheses"),
                    early = szgi_json_member(root, "early_steps");
    if (szgi_json_kind_of(early) != SZGI_JSON_ABSENT) {
        SZG_TRY(szgi_json_as_integer(context, early, &out->early_steps));
        if (out->early_steps < 1)
            return szgi_json_fail(context, early, "is %" PRId64 ", not an integer from 1",
                                  out->early_steps);
    }
    if (szgi_json_kind_of(list) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_array(context, list));
    int64_t count = szgi_json_count(list);
    if (count < 1 || count > MOST_HYPOTHESES)
        return szgi_json_fail(context, list, "has %" PRId64 " elements: 1 to %d", count,
                              MOST_HYPOTHESES);
    SZG_TRY(szgi_memory_alloc(context, count, &out->hypothesis));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(read_hypothesis(context, root, szgi_json_element(list, i), out));
    return SZG_OK;
}

/* ---- Pairs ---- */

/* What a seed says. */
typedef enum pair_state { PAIR_MADE, PAIR_FAILED, PAIR_MISSING } pair_state;

typedef struct pair {
    pair_state state;
    uint64_t seed;
    double arm, minus; /* NaN: no such number; minus: 0 without arms to subtract */
} pair;

/* The pairs of a hypothesis, and what they come to. */
typedef struct verdict {
    pair *pair;
    int64_t seeds, pairs, failed, missing;
    double *difference; /* [pairs] */
    szgi_mean_interval mean;
    double p, adjusted; /* NaN: not tested */
} verdict;

static void close_verdict(verdict *of) {
    szgi_memory_free(of->pair);
    szgi_memory_free(of->difference);
}

/* A run that failed or is left out has no number, as one that was not trained well enough has. */
static szg_status take_number(szg_context *context, const szg_reproduction *self,
                              const struct szgi_hypothesis *of, const reproduction_run *run,
                              pair *to, double *out) {
    *out = NAN;
    if (run->shown.finished)
        return szgi_arm_number(context, self, run, &of->of, out);
    if (!run->shown.failed && !reproduction_lacks_head(run))
        to->state = PAIR_MISSING;
    return SZG_OK;
}

static szg_status take_pair(szg_context *context, const szg_reproduction *self,
                            const struct szgi_hypothesis *of, const reproduction_run *run,
                            const reproduction_run *const *minus, pair *out) {
    *out = (pair){.seed = run->shown.seed};
    SZG_TRY(take_number(context, self, of, run, out, &out->arm));
    for (int64_t m = 0; m < of->minus_count; m++) {
        double own;
        SZG_TRY(take_number(context, self, of, minus[m], out, &own));
        out->minus += own / (double)of->minus_count;
    }
    if (out->state == PAIR_MADE && isnan(out->arm - out->minus))
        out->state = PAIR_FAILED;
    return SZG_OK;
}

/* How far numbers of this size may be off. They are shares of counts, off by units of 2^-53 of the
 * accuracies that they come from, and one may be the difference of nearly equal ones. The line of
 * steps_to_half divides by a difference of accuracies, an example at least: of 2^16 examples, it
 * loses 16 bits. Equal sums of differences would else count as other ones. */
#define ROUNDING 0x1p-36

/* Every seed that all arms have in the preset. */
static szg_status take_pairs(szg_context *context, const szg_reproduction *self,
                             const struct szgi_hypothesis *of, verdict *out) {
    const reproduction_run *minus[MOST_MINUS];
    double largest = 0;
    SZG_TRY(szgi_memory_alloc(context, self->count, &out->pair));
    SZG_TRY(szgi_memory_alloc(context, self->count, &out->difference));
    for (int64_t i = 0; i < self->count; i++) {
        const reproduction_run *run = &self->run[i];
        if (!is_of(of, run) || !find_minus(self, of, run->shown.seed, minus))
            continue;
        pair *own = &out->pair[out->seeds++];
        SZG_TRY(take_pair(context, self, of, run, minus, own));
        out->failed += own->state == PAIR_FAILED;
        out->missing += own->state == PAIR_MISSING;
        if (own->state != PAIR_MADE)
            continue;
        out->difference[out->pairs++] = own->arm - own->minus;
        largest = fmax(largest, fmax(fabs(own->arm), fabs(own->minus)));
    }
    out->mean = szgi_mean_interval_of(out->pairs, out->difference);
    /* A test is made once, of all runs. */
    out->p = out->missing == 0 && out->pairs >= LEAST_PAIRS
                 ? szgi_sign_flip(out->pairs, out->difference, ROUNDING * largest)
                 : NAN;
    out->adjusted = NAN;
    return SZG_OK;
}

/* Over the primary hypotheses, once all their runs are there: another one's p changes them all. */
static szg_status adjust(szg_context *context, const szg_reproduction *self, verdict *all) {
    double p[MOST_HYPOTHESES], adjusted[MOST_HYPOTHESES];
    int64_t count = 0, missing = 0;
    for (int64_t i = 0; i < self->hypotheses; i++)
        if (self->hypothesis[i].primary) {
            p[count++] = all[i].p;
            missing += all[i].missing;
        }
    if (missing > 0)
        return SZG_OK;
    SZG_TRY(szgi_holm(context, count, p, adjusted));
    count = 0;
    for (int64_t i = 0; i < self->hypotheses; i++)
        if (self->hypothesis[i].primary)
            all[i].adjusted = adjusted[count++];
    return SZG_OK;
}

static const char *decide(const struct szgi_hypothesis *of, const verdict *found) {
    if (!of->primary)
        return "exploratory";
    if (found->missing > 0)
        return "not complete";
    if (found->pairs < LEAST_PAIRS)
        return "not testable";
    if (isnan(found->adjusted)) /* a run of another one is missing */
        return "not complete";
    if (!(found->adjusted <= LEVEL))
        return "not decided";
    return found->mean.mean > 0 ? "supported" : "opposed";
}

/* ---- Tables ---- */

#define HYPOTHESIS(X, TABLE)                                                                       \
    X(TABLE##_HYPOTHESIS, "hypothesis", SZG_TEXT, "", "hypothesis", "its name in the preset")      \
    X(TABLE##_PRIMARY, "primary", SZG_TEXT, "", "primary",                                         \
      "yes: it is decided; no: it is exploratory")                                                 \
    X(TABLE##_MEASURE, "measure", SZG_TEXT, "", "measure",                                         \
      "the column of `arms` that is compared")                                                     \
    X(TABLE##_LAYER, "layer", SZG_INTEGER, "1", "layer",                                           \
      "from 0; empty: the measure is of the whole run")                                            \
    X(TABLE##_ARM, "arm", SZG_TEXT, "", "arm", "experiment and encoding")                          \
    X(TABLE##_MINUS, "minus", SZG_TEXT, "", "what is subtracted",                                  \
      "what is subtracted, the mean of arms with | between them; empty: nothing")

#define HYPOTHESES(X)                                                                              \
    HYPOTHESIS(X, HYPOTHESES)                                                                      \
    X(HYPOTHESES_SEEDS, "seeds", SZG_INTEGER, "1", "seeds",                                        \
      "seeds that all its arms have in the preset")                                                \
    X(HYPOTHESES_PAIRS, "pairs", SZG_INTEGER, "1", "pairs", "those with a difference")             \
    X(HYPOTHESES_FAILED, "failed", SZG_INTEGER, "1", "failed",                                     \
      "those that have run and have none: a run lacks the number")                                 \
    X(HYPOTHESES_MISSING, "missing", SZG_INTEGER, "1", "missing",                                  \
      "those of which a run is not finished")                                                      \
    X(HYPOTHESES_DIFFERENCE, "difference", SZG_REAL, "1", "mean difference",                       \
      "mean over the pairs")                                                                       \
    X(HYPOTHESES_T_LOW, "t_low", SZG_REAL, "1", "lower end of the mean",                           \
      "95% interval of the mean by Student's t")                                                   \
    X(HYPOTHESES_T_HIGH, "t_high", SZG_REAL, "1", "upper end of the mean",                         \
      "95% interval of the mean by Student's t")                                                   \
    X(HYPOTHESES_P, "p", SZG_REAL, "1", "p value",                                                 \
      "sign-flip test of the pairs, to both sides; empty: fewer than 5 pairs, or a run is "        \
      "missing")                                                                                   \
    X(HYPOTHESES_P_HOLM, "p_holm", SZG_REAL, "1", "adjusted p value",                              \
      "adjusted over the primary hypotheses by Holm")                                              \
    X(HYPOTHESES_DECISION, "decision", SZG_TEXT, "", "decision",                                   \
      "supported or opposed (p_holm is at most 0.05), not decided, not testable (fewer than 5 "    \
      "pairs), not complete (a run of a primary hypothesis is missing), or exploratory")           \
    X(HYPOTHESES_STATEMENT, "statement", SZG_TEXT, "", "statement",                                \
      "the hypothesis, as the preset says it")                                                     \
    X(HYPOTHESES_NOTE, "note", SZG_TEXT, "", "note", "")
#define HYPOTHESES_SCREEN                                                                          \
    SZGI_SHOW(1, hypothesis)                                                                       \
    SZGI_SHOW(2, measure)                                                                          \
    SZGI_SHOW_EMPTY(2, layer, "run")                                                               \
    SZGI_SHOW(3, arm)                                                                              \
    SZGI_SHOW(3, minus)                                                                            \
    SZGI_SHOW(1, pairs)                                                                            \
    SZGI_SHOW(2, failed)                                                                           \
    SZGI_SHOW(3, missing)                                                                          \
    SZGI_SHOW(1, difference)                                                                       \
    SZGI_SHOW_RANGE(1, interval, t_low, t_high)                                                    \
    SZGI_SHOW(2, p)                                                                                \
    SZGI_SHOW(1, p_holm)                                                                           \
    SZGI_SHOW(1, decision)                                                                         \
    SZGI_SHOW(4, primary)
SZGI_SCHEMA(hypotheses_columns, "hypotheses", HYPOTHESES, HYPOTHESES_SCREEN);

#define PAIRS(X)                                                                                   \
    HYPOTHESIS(X, PAIRS)                                                                           \
    X(PAIRS_SEED, "seed", SZG_INTEGER, "1", "seed", "of the runs that are compared")               \
    X(PAIRS_ARM_VALUE, "arm_value", SZG_REAL, "1", "this arm",                                     \
      "the measure of the arm; empty: it has none")                                                \
    X(PAIRS_MINUS_VALUE, "minus_value", SZG_REAL, "1", "what is subtracted",                       \
      "what is subtracted; empty: it is not known")                                                \
    X(PAIRS_DIFFERENCE, "difference", SZG_REAL, "1", "difference", "the one less the other")       \
    X(PAIRS_NOTE, "note", SZG_TEXT, "", "note", "")
#define PAIRS_SCREEN                                                                               \
    SZGI_SHOW(1, hypothesis)                                                                       \
    SZGI_SHOW(1, seed)                                                                             \
    SZGI_SHOW(1, arm_value)                                                                        \
    SZGI_SHOW(1, minus_value)                                                                      \
    SZGI_SHOW(1, difference)                                                                       \
    SZGI_SHOW(2, measure)                                                                          \
    SZGI_SHOW(2, layer)                                                                            \
    SZGI_SHOW(3, arm)                                                                              \
    SZGI_SHOW(3, minus)
SZGI_SCHEMA(pairs_columns, "pairs", PAIRS, PAIRS_SCREEN);

/* The columns that both tables begin with. */
static void put_hypothesis(szgi_row *row, const struct szgi_hypothesis *of) {
    char text[MOST_MINUS * (SZG_CONFIG_TEXT + 80)], name[SZG_CONFIG_TEXT + 80];
    size_t used = 0;
    szgi_row_text(row, HYPOTHESES_HYPOTHESIS, of->name);
    szgi_row_text(row, HYPOTHESES_PRIMARY, of->primary ? "yes" : "no");
    szgi_row_text(row, HYPOTHESES_MEASURE, szgi_measure_name(of->of.measure, name));
    szgi_row_place(row, HYPOTHESES_LAYER, of->of.layer);
    szgi_row_text(row, HYPOTHESES_ARM, szgi_arm_name(of->arm.experiment, of->arm.encoding, name));
    for (int64_t m = 0; m < of->minus_count; m++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", m ? "|" : "",
                             szgi_arm_name(of->minus[m].experiment, of->minus[m].encoding, name));
    szgi_row_text(row, HYPOTHESES_MINUS, used ? text : NULL);
}

static szg_status hypothesis_row(szg_context *context, szg_table *table,
                                 const struct szgi_hypothesis *of, const verdict *found) {
    szgi_row row = szgi_row_add(context, table);
    put_hypothesis(&row, of);
    szgi_row_integer(&row, HYPOTHESES_SEEDS, found->seeds);
    szgi_row_integer(&row, HYPOTHESES_PAIRS, found->pairs);
    szgi_row_integer(&row, HYPOTHESES_FAILED, found->failed);
    szgi_row_integer(&row, HYPOTHESES_MISSING, found->missing);
    szgi_row_number(&row, HYPOTHESES_DIFFERENCE, found->mean.mean);
    szgi_row_number(&row, HYPOTHESES_T_LOW, found->mean.low);
    szgi_row_number(&row, HYPOTHESES_T_HIGH, found->mean.high);
    szgi_row_number(&row, HYPOTHESES_P, found->p);
    szgi_row_number(&row, HYPOTHESES_P_HOLM, found->adjusted);
    szgi_row_text(&row, HYPOTHESES_DECISION, decide(of, found));
    szgi_row_text(&row, HYPOTHESES_STATEMENT, of->statement);
    return row.status;
}

static szg_status pair_rows(szg_context *context, szg_table *table,
                            const struct szgi_hypothesis *of, const verdict *found) {
    for (int64_t i = 0; i < found->seeds; i++) {
        const pair *own = &found->pair[i];
        szgi_row row = szgi_row_add(context, table);
        put_hypothesis(&row, of);
        szgi_row_integer(&row, PAIRS_SEED, (int64_t)own->seed);
        szgi_row_number(&row, PAIRS_ARM_VALUE, own->arm);
        if (of->minus_count > 0)
            szgi_row_number(&row, PAIRS_MINUS_VALUE, own->minus);
        szgi_row_number(&row, PAIRS_DIFFERENCE, own->arm - own->minus);
        if (own->state != PAIR_MADE)
            szgi_row_note(&row, "%s",
                          own->state == PAIR_MISSING ? "a run is not finished"
                                                     : "a run lacks the number");
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

static szg_status put_verdicts(szg_context *context, const szg_reproduction *self, verdict *all,
                               szg_table *hypotheses, szg_table *pairs) {
    for (int64_t i = 0; i < self->hypotheses; i++)
        SZG_TRY(take_pairs(context, self, &self->hypothesis[i], &all[i]));
    SZG_TRY(adjust(context, self, all));
    for (int64_t i = 0; i < self->hypotheses; i++) {
        SZG_TRY(hypothesis_row(context, hypotheses, &self->hypothesis[i], &all[i]));
        SZG_TRY(pair_rows(context, pairs, &self->hypothesis[i], &all[i]));
    }
    return SZG_OK;
}

szg_status szgi_reproduction_hypotheses(szg_context *context, const szg_reproduction *self,
                                        szg_table **hypotheses, szg_table **pairs) {
    verdict *all;
    if (self->hypotheses == 0)
        return SZG_OK;
    SZG_TRY(szgi_schema_open(context, &hypotheses_columns_schema, hypotheses));
    SZG_TRY(szgi_schema_open(context, &pairs_columns_schema, pairs));
    SZG_TRY(szgi_memory_alloc(context, self->hypotheses, &all));
    szg_status status = put_verdicts(context, self, all, *hypotheses, *pairs);
    for (int64_t i = 0; i < self->hypotheses; i++)
        close_verdict(&all[i]);
    szgi_memory_free(all);
    return status;
}

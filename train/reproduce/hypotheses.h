/* What a preset says of its arms: hypotheses, paired over seeds, relations of two numbers, and
 * numbers by step. */
#ifndef SZG_TRAIN_REPRODUCE_HYPOTHESES_H
#define SZG_TRAIN_REPRODUCE_HYPOTHESES_H

#include "reproduce_private.h"

/* The runs of an experiment with one encoding. The texts are the preset's. */
typedef struct arm_kind {
    const char *experiment, *encoding;
} arm_kind;

/* What is compared. */
typedef enum arm_measure {
    ARM_INDEX,
    ARM_ACCURACY,
    ARM_STEPS_TO_HALF,
    ARM_RANK_CORRELATION,
    ARM_TOTAL_DROP,
    /* Of relations alone. */
    ARM_CONTRACTION,
    ARM_CURVATURE,
    ARM_CURVATURE_ADAMW,
    ARM_MEASURES
} arm_measure;

/* Their names, in that order. */
#define SZGI_MEASURES_OF_HYPOTHESES "index|accuracy|steps_to_half|rank_correlation|total_drop"
#define SZGI_MEASURES_OF_RELATIONS                                                                 \
    SZGI_MEASURES_OF_HYPOTHESES "|contraction|curvature|curvature_adamw"

/* A number of a run. */
typedef struct arm_quantity {
    arm_measure measure;
    int64_t layer; /* -1: the measure has none, or all layers count */
    int64_t step;  /* a captured one; -1: the measure has none, or all early steps count */
} arm_quantity;

enum { MOST_MINUS = 8, MEASURE_NAME = 32 };

struct szgi_hypothesis {
    const char *name, *statement, *task;
    arm_quantity of;
    arm_kind arm, minus[MOST_MINUS];
    int64_t minus_count;
    bool primary;
};

struct szgi_relation {
    const char *name, *statement, *task;
    arm_quantity x, y;
    arm_kind *arm; /* [arms] */
    int64_t arms;
};

/* An arm, and others that are the same runs stopped early. */
struct szgi_course {
    const char *task;
    arm_kind *arm; /* [arms]; the first is the whole one */
    int64_t arms;
};

/* ---- arms.c: the numbers of one run ---- */

/* "EXPERIMENT/ENCODING". */
const char *szgi_arm_name(const char *experiment, const char *encoding,
                          char out[SZG_CONFIG_TEXT + 80]);

/* Whether the measure is one of a layer. */
bool szgi_arm_has_layer(arm_measure measure);

/* Of one layer and one way of ablating. NaN: it has none. */
typedef struct arm_numbers {
    double accuracy, total, largest;
    double index; /* NaN where the drops do not exceed SZGI_LEAST_DROP */
    int64_t worst;
    double *drop; /* [heads], gains counted as 0 */
    double steps_to_half;
    int64_t early_steps; /* captured ones */
    double rank_correlation;
} arm_numbers;

#define SZGI_LEAST_DROP .05

/* Steps until test accuracy is half of the last one's, on the line from epoch to epoch, which
 * begins at step 0 with `majority`. NaN: half of it is no more than that. */
double szgi_steps_to_half(const szg_table *metrics, double majority);

/* Steps before the first epoch whose test accuracy exceeds `majority` by three standard errors of
 * `examples` test examples: the end of the epoch before it, 0 where it is the first. */
int64_t szgi_steps_at_chance(const szg_table *metrics, double majority, int64_t examples);

/* Both steps belong to it. */
typedef struct step_range {
    int64_t first, last;
} step_range;

/* The heads' shares of the gradient norm of W_Q and W_K in a layer, means over the captured steps
 * of the range; how many these are. 0 steps: `contraction` has no such norms, or not of every head.
 */
SZG_CHECK_RESULT szg_status szgi_gradient_shares(szg_context *context, const szg_table *contraction,
                                                 int64_t layer, int64_t heads, step_range range,
                                                 double *share, int64_t *steps);

/* One number of a finished run, by ablation of outputs. NaN: the run has none. */
SZG_CHECK_RESULT szg_status szgi_arm_number(szg_context *context, const szg_reproduction *self,
                                            const reproduction_run *run, const arm_quantity *of,
                                            double *out);

/* Steps before this one count as early. */
int64_t szgi_early_end(const szg_reproduction *self, const reproduction_run *run,
                       const szg_table *metrics);

/* ---- captured.c: numbers of captured steps ---- */

/* Whether the measure is one of captured steps. */
bool szgi_is_captured(arm_measure measure);

/* The geometric mean of the ratio of widths over layers (or the quantity's), heads, probes and the
 * captured steps before `end` (or the quantity's). NaN: there are no such rows, or one of them has
 * no ratio. */
double szgi_mean_contraction(const szg_table *contraction, const arm_quantity *of, int64_t end);

/* The mean of a column over the same steps. NaN: there are none, or one has no number. */
double szgi_mean_curvature(const szg_table *curvature, const char *column, const arm_quantity *of,
                           int64_t end);

/* One of them, from a run's logs. */
double szgi_captured_number(const szg_train_tables *logs, const arm_quantity *of, int64_t end);

/* ---- measures.c: what a preset asks for ---- */

const char *szgi_measure_name(arm_measure measure, char out[MEASURE_NAME]);

/* Whether a run can have the measure, if it is of captured steps: SZG_EDATA names the key that
 * keeps it from that. `object`: what messages are about; `early_steps`: of the preset. */
SZG_CHECK_RESULT szg_status szgi_measure_check(szg_context *context, szgi_json_value object,
                                               const reproduction_run *run, const arm_quantity *of,
                                               int64_t early_steps);

/* ---- hypotheses.c ---- */

/* Reads `measure` and, as the measure asks, `layer` and `step` of an object; `known`: the measures
 * that it may name. */
SZG_CHECK_RESULT szg_status szgi_quantity_read(szg_context *context, szgi_json_value object,
                                               const char *known, arm_quantity *out);

/* The member `task`, which may be left out if the preset has one. */
SZG_CHECK_RESULT szg_status szgi_arm_task_read(szg_context *context, szgi_json_value root,
                                               szgi_json_value object, const char **out);

/* An arm, and that the preset has runs of it, which have the quantity; `object`: what messages are
 * about. */
SZG_CHECK_RESULT szg_status szgi_arm_read(szg_context *context, szgi_json_value object,
                                          arm_kind *out);
SZG_CHECK_RESULT szg_status szgi_arm_check(szg_context *context, const szg_reproduction *self,
                                           szgi_json_value object, const arm_kind *arm,
                                           const char *task, const arm_quantity *of);

/* Reads "hypotheses" and "early_steps" of a preset whose runs are known. */
SZG_CHECK_RESULT szg_status szgi_hypotheses_read(szg_context *context, szgi_json_value root,
                                                 szg_reproduction *out);

/* ---- relations.c ---- */

/* Reads "relations" of a preset whose runs are known. */
SZG_CHECK_RESULT szg_status szgi_relations_read(szg_context *context, szgi_json_value root,
                                                szg_reproduction *out);

/* ---- by_step.c ---- */

/* Reads "by_step" of a preset whose runs are known. */
SZG_CHECK_RESULT szg_status szgi_by_step_read(szg_context *context, szgi_json_value root,
                                              szg_reproduction *out);

#endif

/* What a preset asks of its runs, checked before they are trained. */
#ifndef SZG_TRAIN_REPRODUCE_QUESTIONS_H
#define SZG_TRAIN_REPRODUCE_QUESTIONS_H

#include "reproduce_preset.h"

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

/* ---- questions.c ---- */

/* Checks element `index` of a list of questions. SZG_EDATA names what is wrong with it. */
typedef szg_status question_check(szg_context *context, const szg_reproduction *self,
                                  szgi_json_value root, szgi_json_value list, int64_t index);

/* Checks the name of element `index`, which no earlier element has, and its text. */
SZG_CHECK_RESULT szg_status szgi_question_name(szg_context *context, szgi_json_value list,
                                               int64_t index);

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

/* The arm's run of a task and seed (-1: any); NULL: the preset has none. */
const reproduction_run *szgi_arm_find(const szg_reproduction *self, const arm_kind *arm,
                                      const char *task, int64_t seed);

/* ---- measures.c ---- */

/* Whether the measure is one of captured steps. */
bool szgi_is_captured(arm_measure measure);

enum { MEASURE_NAME = 32 };
const char *szgi_measure_name(arm_measure measure, char out[MEASURE_NAME]);

/* Whether a run can have the measure, if it is of captured steps: SZG_EDATA names the key that
 * keeps it from that. `object`: what messages are about; `early_steps`: of the preset. */
SZG_CHECK_RESULT szg_status szgi_measure_check(szg_context *context, szgi_json_value object,
                                               const reproduction_run *run, const arm_quantity *of,
                                               int64_t early_steps);

/* ---- hypotheses.c ---- */

/* Reads the preset's "early_steps" and checks its "hypotheses", "relations" and "by_step"; its runs
 * are known. */
SZG_CHECK_RESULT szg_status szgi_questions_read(szg_context *context, szgi_json_value root,
                                                szg_reproduction *out);

/* ---- relations.c, by_step.c ---- */

question_check szgi_relation_check, szgi_course_check;

#endif

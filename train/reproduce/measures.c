/* The numbers that a preset asks for: their names, and whether its runs can have them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "questions.h"
#include "train/config/train_config.h"

bool szgi_is_captured(arm_measure measure) {
    return measure == ARM_CONTRACTION || measure == ARM_CURVATURE || measure == ARM_CURVATURE_ADAMW;
}

/* Whether the measure is one of a layer. */
const char *szgi_measure_name(arm_measure measure, char out[MEASURE_NAME]) {
    const char *at = SZGI_MEASURES_OF_RELATIONS;
    for (int place = 0; place < (int)measure; place++)
        at = strchr(at, '|') + 1;
    snprintf(out, MEASURE_NAME, "%.*s", (int)strcspn(at, "|"), at);
    return out;
}

/* ---- Captured steps ---- */

/* The steps that have a number. */
typedef struct schedule {
    const char *key; /* the keys' part before the dot */
    int64_t every, until, from;
} schedule;

static schedule schedule_of(const szg_train_config *config, arm_measure measure) {
    const szg_capture_config *capture = &config->capture;
    const szg_curvature_config *curvature = &config->curvature;
    if (measure != ARM_CURVATURE && measure != ARM_CURVATURE_ADAMW)
        return (schedule){"capture", capture->every, capture->until, 0};
    /* AdamW has no moments at step 0. */
    return (schedule){"curvature", curvature->every, curvature->until,
                      measure == ARM_CURVATURE_ADAMW ? curvature->every : 0};
}

static szg_status check_step(szg_context *context, szgi_json_value object,
                             const reproduction_run *run, const arm_quantity *of,
                             int64_t early_steps) {
    const schedule in = schedule_of(run->config, of->measure);
    int64_t step = of->step >= 0 ? of->step : in.from;
    const struct {
        const char *key, *member;
        int64_t step; /* 0: none */
    } ends[] = {{in.key, ".until", in.until},
                {"loop", ".limit_steps", run->config->loop.limit_steps},
                {"early_steps", "", of->step >= 0 ? 0 : early_steps}};
    char name[MEASURE_NAME];
    szgi_measure_name(of->measure, name);
    if (in.every == 0)
        return szgi_json_fail(context, object,
                              "runs of experiment %.64s have no %s: give it %s.every in \"config\"",
                              run->experiment, name, in.key);
    if (step % in.every != 0 || step < in.from)
        return szgi_json_fail(context, object,
                              "runs of experiment %.64s have no %s at step %" PRId64
                              ": take a multiple of %s.every, %" PRId64 ", from %" PRId64,
                              run->experiment, name, step, in.key, in.every, in.from);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i].step > 0 && step >= ends[i].step)
            return szgi_json_fail(context, object,
                                  "runs of experiment %.64s have no %s at step %" PRId64
                                  ": raise %s%s, which is %" PRId64,
                                  run->experiment, name, step, ends[i].key, ends[i].member,
                                  ends[i].step);
    return SZG_OK;
}

/* Shares of a layer's gradients want all its heads. */
static bool lacks_head(const szg_train_config *config) {
    for (int64_t head = 0; head < config->model.heads; head++)
        if (!szgi_index_list_has(&config->capture.heads, head))
            return true;
    return false;
}

szg_status szgi_measure_check(szg_context *context, szgi_json_value object,
                              const reproduction_run *run, const arm_quantity *of,
                              int64_t early_steps) {
    if (!szgi_is_captured(of->measure) && of->measure != ARM_RANK_CORRELATION)
        return SZG_OK;
    SZG_TRY(check_step(context, object, run, of, early_steps));
    if (of->layer >= 0 && !szgi_index_list_has(&run->config->capture.layers, of->layer))
        return szgi_json_fail(context, object,
                              "runs of experiment %.64s do not capture layer %" PRId64
                              ": add it to capture.layers",
                              run->experiment, of->layer);
    if (of->measure == ARM_RANK_CORRELATION && lacks_head(run->config))
        return szgi_json_fail(context, object,
                              "runs of experiment %.64s do not capture every head, and have no "
                              "rank_correlation: set capture.heads to \"all\"",
                              run->experiment);
    return SZG_OK;
}

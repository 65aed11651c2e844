/* What a preset asks of its runs: hypotheses, relations of two numbers, and numbers by step.
 * `szego judge` answers. Here a question is refused before anything is trained, if it makes no
 * sense or the runs cannot answer it. */
#include <inttypes.h>
#include <string.h>

#include "base/suggest.h"

#include "questions.h"

szg_status szgi_question_name(szg_context *context, szgi_json_value list, int64_t index) {
    szgi_json_value name = szgi_json_member(szgi_json_element(list, index), "name");
    const char *text, *other, *statement;
    SZG_TRY(szgi_json_as_text(context, name, &text));
    if (!*text) /* an empty cell is no name */
        return szgi_json_fail(context, name, "is empty: tables and figures call it by its name");
    for (int64_t i = 0; i < index; i++) {
        szgi_json_value earlier = szgi_json_member(szgi_json_element(list, i), "name");
        SZG_TRY(szgi_json_as_text(context, earlier, &other));
        if (strcmp(other, text) == 0)
            return szgi_json_fail(context, name, "\"%.64s\" is there twice", text);
    }
    return szgi_json_as_text(context, szgi_json_member(szgi_json_element(list, index), "text"),
                             &statement);
}

/* ---- Quantities ---- */

static bool has_layer(arm_measure measure) {
    return measure != ARM_ACCURACY && measure != ARM_STEPS_TO_HALF && !szgi_is_captured(measure);
}

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
    if (has_layer(out->measure))
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

/* ---- Arms ---- */

const reproduction_run *szgi_arm_find(const szg_reproduction *self, const arm_kind *arm,
                                      const char *task, int64_t seed) {
    int64_t found = szgi_run_find(self, arm->experiment, arm->encoding, task, seed);
    return found < 0 ? NULL : &self->run[found];
}

/* Layers of captured logits are those of the model too. */
static szg_status check_layer(szg_context *context, szgi_json_value object,
                              const reproduction_run *run, const arm_quantity *of) {
    bool ablated = has_layer(of->measure);
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
    const reproduction_run *run = szgi_arm_find(self, arm, task, -1);
    if (!run)
        return szgi_json_fail(context, object,
                              "the preset has no run of experiment %.64s, encoding %.80s, task %s",
                              arm->experiment, arm->encoding, task);
    SZG_TRY(check_layer(context, object, run, of));
    return szgi_measure_check(context, object, run, of, self->early_steps);
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

/* The courses that a preset asks for: an arm, and others that are the same runs stopped early. */
#include <inttypes.h>
#include <string.h>

#include "train/config/config_private.h"

#include "questions.h"

typedef struct course {
    const char *task;
    arm_kind arm; /* the one that is not stopped */
} course;

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
                                szgi_json_value object, const arm_kind *arm, const course *of) {
    for (int64_t i = szgi_run_find(self, arm->experiment, arm->encoding, of->task, -1); i >= 0;
         i = self->run[i].next) {
        const reproduction_run *run = &self->run[i];
        if (!is_of(run, arm, of->task))
            continue;
        int64_t whole = szgi_run_find(self, of->arm.experiment, of->arm.encoding, of->task,
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

static szg_status read_arm(szg_context *context, const szg_reproduction *self,
                           szgi_json_value object, const char *task, arm_kind *out) {
    const arm_quantity index = {.measure = ARM_INDEX};
    SZG_TRY(szgi_arm_read(context, object, out));
    return szgi_arm_check(context, self, object, out, task, &index);
}

szg_status szgi_course_check(szg_context *context, const szg_reproduction *self,
                             szgi_json_value root, szgi_json_value list, int64_t at) {
    szgi_json_value object = szgi_json_element(list, at),
                    stopped = szgi_json_member(object, "stopped");
    course own;
    SZG_TRY(szgi_preset_members(context, object, "task|arm|stopped"));
    SZG_TRY(szgi_arm_task_read(context, root, object, &own.task));
    SZG_TRY(read_arm(context, self, szgi_json_member(object, "arm"), own.task, &own.arm));
    if (szgi_json_kind_of(stopped) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_array(context, stopped));
    for (int64_t i = 0; i < szgi_json_count(stopped); i++) {
        szgi_json_value element = szgi_json_element(stopped, i);
        arm_kind arm;
        SZG_TRY(read_arm(context, self, element, own.task, &arm));
        SZG_TRY(check_stopped(context, self, element, &arm, &own));
    }
    return SZG_OK;
}

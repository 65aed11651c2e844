/* The relations that a preset asks for: whether its runs have the two numbers. */
#include <string.h>

#include "base/memory.h"

#include "questions.h"

typedef struct relation {
    const char *task;
    arm_quantity x, y;
    arm_kind *arm; /* [arms] */
    int64_t arms;
} relation;

static bool is_of(const reproduction_run *run, const char *encoding, const char *task) {
    return strcmp(run->encoding, encoding) == 0 && strcmp(run->shown.task, task) == 0;
}

static szg_status add_arm(szg_context *context, const szg_reproduction *self,
                          szgi_json_value object, const arm_kind *arm, relation *to) {
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
                              szgi_json_value list, relation *out) {
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
                           szgi_json_value object, relation *out) {
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

static szg_status check(szg_context *context, const szg_reproduction *self, szgi_json_value root,
                        szgi_json_value object, relation *out) {
    szgi_json_value arms = szgi_json_member(object, "arms");
    SZG_TRY(szgi_arm_task_read(context, root, object, &out->task));
    SZG_TRY(read_side(context, szgi_json_member(object, "x"), &out->x));
    SZG_TRY(read_side(context, szgi_json_member(object, "y"), &out->y));
    return szgi_json_kind_of(arms) == SZGI_JSON_ABSENT ? take_all(context, self, object, out)
                                                       : read_listed(context, self, arms, out);
}

szg_status szgi_relation_check(szg_context *context, const szg_reproduction *self,
                               szgi_json_value root, szgi_json_value list, int64_t index) {
    szgi_json_value object = szgi_json_element(list, index);
    relation own = {0};
    SZG_TRY(szgi_preset_members(context, object, "name|text|task|x|y|arms"));
    SZG_TRY(szgi_question_name(context, list, index));
    szg_status status = check(context, self, root, object, &own);
    szgi_memory_free(own.arm);
    return status;
}

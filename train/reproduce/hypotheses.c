/* Hypotheses of a preset, and all that it asks of its runs. */
#include <inttypes.h>
#include <string.h>

#include "questions.h"

enum { MOST_MINUS = 8 };

typedef struct hypothesis {
    const char *task;
    arm_quantity of;
    arm_kind arm, minus[MOST_MINUS];
    int64_t minus_count;
} hypothesis;

/* The runs of a seed with which those of the arm are compared; false: one is not in the preset. */
static bool find_minus(const szg_reproduction *self, const hypothesis *of, uint64_t seed,
                       const reproduction_run *minus[MOST_MINUS]) {
    for (int64_t m = 0; m < of->minus_count; m++)
        if (!(minus[m] = szgi_arm_find(self, &of->minus[m], of->task, (int64_t)seed)))
            return false;
    return true;
}

/* Whether the run is one of the arm's. */
static bool is_of(const hypothesis *of, const reproduction_run *run) {
    return strcmp(run->experiment, of->arm.experiment) == 0 &&
           strcmp(run->encoding, of->arm.encoding) == 0 && strcmp(run->shown.task, of->task) == 0;
}

static szg_status read_arm(szg_context *context, const szg_reproduction *self,
                           szgi_json_value object, const hypothesis *of, arm_kind *out) {
    SZG_TRY(szgi_arm_read(context, object, out));
    return szgi_arm_check(context, self, object, out, of->task, &of->of);
}

static szg_status read_minus(szg_context *context, const szg_reproduction *self,
                             szgi_json_value object, const hypothesis *of, arm_kind *out) {
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
                              szgi_json_value object, const hypothesis *of) {
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
                            szgi_json_value object, hypothesis *out) {
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

static szg_status check_hypothesis(szg_context *context, const szg_reproduction *self,
                                   szgi_json_value root, szgi_json_value list, int64_t index) {
    szgi_json_value object = szgi_json_element(list, index);
    hypothesis own = {0};
    bool primary;
    SZG_TRY(szgi_preset_members(context, object, "name|text|task|measure|layer|arm|minus|primary"));
    SZG_TRY(szgi_question_name(context, list, index));
    SZG_TRY(szgi_json_as_boolean(context, szgi_json_member(object, "primary"), &primary));
    SZG_TRY(szgi_arm_task_read(context, root, object, &own.task));
    SZG_TRY(szgi_quantity_read(context, object, SZGI_MEASURES_OF_HYPOTHESES, &own.of));
    return read_arms(context, self, object, &own);
}

/* ---- The preset ---- */

/* Checks every element of the preset's list `member`, which may be absent. */
static szg_status check_list(szg_context *context, const szg_reproduction *self,
                             szgi_json_value root, const char *member, question_check *check) {
    enum { MOST = 100 };
    szgi_json_value list = szgi_json_member(root, member);
    if (szgi_json_kind_of(list) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_array(context, list));
    int64_t count = szgi_json_count(list);
    if (count < 1 || count > MOST)
        return szgi_json_fail(context, list, "has %" PRId64 " elements: 1 to %d", count, MOST);
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(check(context, self, root, list, i));
    return SZG_OK;
}

static szg_status read_early_steps(szg_context *context, szgi_json_value root, int64_t *out) {
    szgi_json_value early = szgi_json_member(root, "early_steps");
    if (szgi_json_kind_of(early) == SZGI_JSON_ABSENT)
        return SZG_OK;
    SZG_TRY(szgi_json_as_integer(context, early, out));
    return *out >= 1
               ? SZG_OK
               : szgi_json_fail(context, early, "is %" PRId64 ", not an integer from 1", *out);
}

szg_status szgi_questions_read(szg_context *context, szgi_json_value root, szg_reproduction *out) {
    SZG_TRY(read_early_steps(context, root, &out->early_steps));
    SZG_TRY(check_list(context, out, root, "hypotheses", check_hypothesis));
    SZG_TRY(check_list(context, out, root, "relations", szgi_relation_check));
    return check_list(context, out, root, "by_step", szgi_course_check);
}

/* Numbers of captured steps: how far the encoding narrows the logits, and the curvature. */
#include <math.h>

#include "hypotheses.h"

bool szgi_is_captured(arm_measure measure) {
    return measure == ARM_CONTRACTION || measure == ARM_CURVATURE || measure == ARM_CURVATURE_ADAMW;
}

/* Whether a row's step counts. AdamW has moments once a step is done: at step 0 there is nothing to
 * precondition with, and nothing is missing. */
static bool is_at(const szg_table *table, int64_t row, const arm_quantity *of, int64_t end) {
    int64_t column = szg_table_find(table, "step");
    int64_t step = szg_table_get_integer(table, row, column);
    bool none = of->measure == ARM_CURVATURE_ADAMW && step == 0;
    return !szg_table_is_empty(table, row, column) &&
           (of->step >= 0 ? step == of->step : step < end && !none);
}

/* Ratios are averaged by their logarithms: what one head widens twofold and another one narrows to
 * half is 1, and a bias that widens one head fiftyfold does not speak for all. */
double szgi_mean_contraction(const szg_table *contraction, const arm_quantity *of, int64_t end) {
    double sum = 0, count = 0;
    if (!contraction)
        return NAN;
    int64_t layer = szg_table_find(contraction, "layer"),
            ratio = szg_table_find(contraction, "width_ratio");
    for (int64_t row = 0; row < szg_table_rows(contraction); row++) {
        if (!is_at(contraction, row, of, end) ||
            (of->layer >= 0 && szg_table_get_integer(contraction, row, layer) != of->layer))
            continue;
        double own = szg_table_get_real(contraction, row, ratio);
        if (!(own > 0 && isfinite(own)))
            return NAN;
        sum += log(own);
        count++;
    }
    return count > 0 ? exp(sum / count) : NAN;
}

double szgi_mean_curvature(const szg_table *curvature, const char *column, const arm_quantity *of,
                           int64_t end) {
    double sum = 0, count = 0;
    if (!curvature)
        return NAN;
    for (int64_t row = 0; row < szg_table_rows(curvature); row++)
        if (is_at(curvature, row, of, end)) {
            sum += szg_table_get_real(curvature, row, szg_table_find(curvature, column));
            count++;
        }
    return count > 0 && isfinite(sum) ? sum / count : NAN;
}

/* An eigenvalue that is not resolved is an empty cell. */
double szgi_captured_number(const szg_train_tables *logs, const arm_quantity *of, int64_t end) {
    if (of->measure == ARM_CONTRACTION)
        return szgi_mean_contraction(logs->contraction, of, end);
    return szgi_mean_curvature(logs->curvature,
                               of->measure == ARM_CURVATURE ? "hessian_max" : "adamw_max", of, end);
}

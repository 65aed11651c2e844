#include "contraction_share.h"

#include <math.h>
#include <string.h>

/* Rounding of logits in single precision, many times over. */
static const double same = 1e-6;

bool szgi_contraction_is_unchanged(rows of) {
    static const char *const ratios[] = {"width_ratio", "norm_ratio", "nuclear_ratio"};
    bool any = false;
    for (int r = 0; r < 3; r++)
        for (int64_t i = 0; i < of.count; i++) {
            double ratio = szgi_rows_real(of, i, ratios[r]);
            if (isnan(ratio))
                continue;
            if (!(fabs(ratio - 1) <= same))
                return false;
            any = true;
        }
    return any;
}

static bool same_text(rows a, rows b, const char *column) {
    const char *left = szgi_rows_text(a, 0, column), *right = szgi_rows_text(b, 0, column);
    return left && right ? strcmp(left, right) == 0 : left == right;
}

/* Whether a run before it, that has a figure, is of the same encoding and task. */
static bool is_repeated(const contraction_share *runs, int64_t index) {
    for (int64_t i = 0; i < index; i++)
        if (runs[i].figures > 0 && same_text(runs[i].of, runs[index].of, "encoding") &&
            same_text(runs[i].of, runs[index].of, "task"))
            return true;
    return false;
}

/* One figure for each run that has something to show; false: none has. */
static bool deal(contraction_share *runs, int64_t count, int64_t *left) {
    bool dealt = false;
    for (int64_t i = 0; i<count && * left> 0; i++)
        if (!runs[i].unchanged) {
            runs[i].figures++;
            --*left;
            dealt = true;
        }
    return dealt;
}

void szgi_contraction_share_figures(contraction_share *runs, int64_t count, int64_t most) {
    int64_t left = most;
    for (int64_t i = 0; i < count; i++)
        runs[i].figures = 0;
    for (int64_t i = 0; i < count && left > 0; i++)
        if (!runs[i].unchanged && !is_repeated(runs, i)) {
            runs[i].figures = 1;
            left--;
        }
    for (int64_t i = 0; i < count && left > 0; i++)
        if (!runs[i].unchanged && runs[i].figures == 0) {
            runs[i].figures = 1;
            left--;
        }
    while (left > 0 && deal(runs, count, &left))
        ;
}

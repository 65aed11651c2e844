#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "quantile.h"

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The number of listed values below `limit`, or up to it. */
static int64_t count_below(const quantiles *of, double limit, bool and_equal) {
    int64_t first = 0, last = of->listed;
    while (first < last) {
        int64_t middle = first + (last - first) / 2;
        if (of->value[middle] < limit || (and_equal && of->value[middle] == limit))
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

szg_status szgi_quantiles_of(szg_context *context, int64_t count, const double *value,
                             int64_t zeros, quantiles *out) {
    *out = (quantiles){.zeros = zeros};
    SZG_TRY(szgi_memory_alloc(context, count, &out->value));
    for (int64_t i = 0; i < count; i++)
        if (isfinite(value[i]))
            out->value[out->listed++] = value[i];
    qsort(out->value, (size_t)out->listed, sizeof *out->value, compare);
    out->below = count_below(out, 0, false);
    out->total = out->listed + zeros;
    return SZG_OK;
}

void szgi_quantiles_free(quantiles *quantiles) {
    szgi_memory_free(quantiles->value);
    *quantiles = (struct quantiles){0};
}

double szgi_quantiles_at(const quantiles *of, double share) {
    int64_t place = (int64_t)(share * (double)of->total);
    place = place < of->total ? place : of->total - 1;
    if (place < of->below)
        return of->value[place];
    return place < of->below + of->zeros ? 0 : of->value[place - of->zeros];
}

int64_t szgi_quantiles_within(const quantiles *of, double lo, double hi, double *beyond) {
    int64_t within = count_below(of, hi, true) - count_below(of, lo, false);
    double least = of->listed > 0 ? of->value[0] : 0;
    double most = of->listed > 0 ? of->value[of->listed - 1] : 0;
    if (of->zeros > 0) {
        within += lo <= 0 && 0 <= hi ? of->zeros : 0;
        least = fmin(least, 0);
        most = fmax(most, 0);
    }
    *beyond = of->total > 0 ? fmax(0, fmax(lo - least, most - hi)) : 0;
    return within > 0 ? within : 0;
}

/* A quantile function as steps: the values in their order, all zeros as one step. */
typedef struct steps {
    const quantiles *of;
    int64_t listed, passed; /* listed values, and values, up to the step's end */
    double value, end;      /* the step, and the share at which it ends */
    bool zeros_passed;
} steps;

static bool next_step(steps *steps) {
    const quantiles *of = steps->of;
    if (steps->passed == of->total)
        return false;
    if (of->zeros > 0 && steps->listed == of->below && !steps->zeros_passed) {
        steps->zeros_passed = true;
        steps->passed += of->zeros;
        steps->value = 0;
    } else {
        steps->value = of->value[steps->listed++];
        steps->passed++;
    }
    steps->end = (double)steps->passed / (double)of->total;
    return true;
}

double szgi_quantiles_distance(const quantiles *a, const quantiles *b) {
    steps left = {.of = a}, right = {.of = b};
    bool more = next_step(&left);
    double at = 0, sum = 0;
    if (!next_step(&right) || !more)
        return NAN;
    while (more) {
        double end = fmin(left.end, right.end);
        sum += fabs(left.value - right.value) * (end - at);
        at = end;
        bool left_ends = left.end <= end, right_ends = right.end <= end;
        more = (!left_ends || next_step(&left)) && (!right_ends || next_step(&right));
    }
    return sum;
}

/* The place among all values of point `index` of the curve, `ends` of whose points are zeros. */
static int64_t place_of(const quantiles *of, int64_t index, int64_t ends) {
    int64_t past = index - of->below;
    if (past < 0)
        return index;
    if (past >= ends)
        return index - ends + of->zeros;
    return of->below + (ends > 1 ? past * (of->zeros - 1) / (ends - 1) : 0);
}

szg_status szgi_quantiles_curve(szg_context *context, const quantiles *of, int64_t *count,
                                double **share, double **value) {
    int64_t ends = of->zeros < QUANTILES_ZEROS ? of->zeros : QUANTILES_ZEROS;
    int64_t points = of->listed + ends;
    *share = *value = NULL;
    SZG_TRY(szgi_memory_alloc(context, points, share));
    szg_status status = szgi_memory_alloc(context, points, value);
    if (status != SZG_OK) {
        szgi_memory_free(*share);
        *share = NULL;
        return status;
    }
    for (int64_t i = 0; i < points; i++) {
        bool listed = i < of->below || i >= of->below + ends;
        (*share)[i] = ((double)place_of(of, i, ends) + 0.5) / (double)of->total;
        (*value)[i] = listed ? of->value[i < of->below ? i : i - ends] : 0;
    }
    *count = points;
    return SZG_OK;
}

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "theory/theory.h"

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* A running sum in two doubles (Knuth's two-sum), the lower part's own rounding bounded apart. */
typedef struct running_sum {
    double high, low;
} running_sum;

static void sum_add(running_sum *s, double x) {
    double high = s->high + x;
    double back = high - s->high;
    double error = (s->high - (high - back)) + (x - back);
    s->high = high;
    s->low += error;
}

static szg_status sorted_copy(szg_context *context, const char *which, int64_t n, const double *x,
                              double **out) {
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return szgi_fail(context, SZG_EDATA, "majorisation: %s[%lld] is %g", which,
                             (long long)i, x[i]);
    SZG_TRY(szgi_memory_alloc(context, n, out));
    memcpy(*out, x, (size_t)n * sizeof *x);
    qsort(*out, (size_t)n, sizeof *x, descending);
    return SZG_OK;
}

/* Walks the partial sums of two descending arrays. */
static void walk(int64_t n, const double *x, const double *y, double error, bool weak,
                 szg_majorisation *out) {
    running_sum difference = {0.0, 0.0}; /* sum of y minus sum of x */
    double magnitude = 0.0;
    *out = (szg_majorisation){.order = SZG_ORDER_HOLDS, .strict = true, .margin = INFINITY};
    for (int64_t k = 1; k <= n; k++) {
        sum_add(&difference, y[k - 1]);
        sum_add(&difference, -x[k - 1]);
        magnitude += fabs(x[k - 1]) + fabs(y[k - 1]);
        double margin = difference.high + difference.low;
        if (k == n && !weak)
            margin = -fabs(margin);
        /* 2k additions in doubled precision, one rounding of the result, 2k errors of the input. */
        double rounding = 2.0 * (double)k * error + DBL_EPSILON * fabs(margin) +
                          4.0 * (double)k * (double)k * DBL_EPSILON * DBL_EPSILON * magnitude;
        if (margin < out->margin) {
            out->margin = margin;
            out->margin_at = k;
            out->rounding = rounding;
        }
        if (k < n && !(margin > rounding))
            out->strict = false;
        if (margin < -rounding && out->first_violation == 0) {
            out->first_violation = k;
            out->order = SZG_ORDER_VIOLATED;
        }
    }
    if (out->order == SZG_ORDER_VIOLATED)
        out->strict = false;
}

szg_status szg_majorisation_test(szg_context *context, int64_t n, const double *x, const double *y,
                                 double error, bool weak, szg_majorisation *out) {
    SZGI_ENTER(context);
    if (n < 1 || !x || !y || !out)
        return szgi_fail(context, SZG_EINVAL, "majorisation: n = %lld numbers, at least 1 needed",
                         (long long)n);
    if (!(error >= 0.0) || !isfinite(error))
        return szgi_fail(context, SZG_EINVAL, "majorisation: error = %g, a bound >= 0 needed",
                         error);
    double *sorted_x = NULL, *sorted_y = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, sorted_copy(context, "x", n, x, &sorted_x), done);
    SZG_TRY_GOTO(status, sorted_copy(context, "y", n, y, &sorted_y), done);
    walk(n, sorted_x, sorted_y, error, weak, out);
done:
    szgi_memory_free(sorted_x);
    szgi_memory_free(sorted_y);
    return status;
}

#include "choose.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#include "density.h"

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of `count` > 0 finite numbers, which are sorted. */
static double median_of(int64_t count, double *value) {
    qsort(value, (size_t)count, sizeof *value, ascending);
    return szgi_density_quantile(count, value, 0.5);
}

szg_status szgi_choose_scale(szg_context *context, int64_t count, const double *value,
                             chosen_scale *out) {
    static const double much = 100;
    double *size, most = 0;
    int64_t sizes = 0;
    bool positive = true;
    *out = (chosen_scale){0};
    SZG_TRY(szgi_memory_alloc(context, count, &size));
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(value[i]))
            continue;
        positive = positive && value[i] > 0;
        if (value[i] != 0)
            size[sizes++] = fabs(value[i]);
        most = fmax(most, fabs(value[i]));
    }
    double median = sizes > 0 ? median_of(sizes, size) : 0;
    szgi_memory_free(size);
    if (!(most / much > median))
        return SZG_OK;
    out->logarithmic = positive;
    if (!positive)
        out->linear = fmax(pow(10, floor(log10(median))), 1e-300);
    return SZG_OK;
}

enum { LEAST_VALUES = 5 };

/* What a distance from the median is divided by; 0: all values are equal. */
static double unit_of(int64_t count, double *distance) {
    double mean = 0;
    for (int64_t i = 0; i < count; i++)
        mean += distance[i] / (double)count;
    double mad = median_of(count, distance);
    return mad > 0 ? mad / 0.6745 : mean / 0.7979;
}

static szg_status scores(szg_context *context, int64_t count, const double *value, double *score) {
    double *finite;
    int64_t known = 0;
    SZG_TRY(szgi_memory_alloc(context, count, &finite));
    for (int64_t i = 0; i < count; i++)
        if (isfinite(value[i]))
            finite[known++] = value[i];
    double median = known > 0 ? median_of(known, finite) : NAN;
    for (int64_t i = 0; i < known; i++)
        finite[i] = fabs(finite[i] - median);
    double unit = known >= LEAST_VALUES ? unit_of(known, finite) : 0;
    for (int64_t i = 0; i < count; i++)
        score[i] = unit > 0 && isfinite(value[i]) ? fabs(value[i] - median) / unit : 0;
    szgi_memory_free(finite);
    return SZG_OK;
}

szg_status szgi_choose_outliers(szg_context *context, int64_t count, const double *value, int most,
                                int *rank) {
    static const double limit = 3.5;
    double *score;
    SZG_TRY(szgi_memory_alloc(context, count, &score));
    szg_status status = scores(context, count, value, score);
    for (int64_t i = 0; i < count; i++)
        rank[i] = -1;
    for (int r = 0; status == SZG_OK && r < most; r++) {
        int64_t next = -1;
        for (int64_t i = 0; i < count; i++)
            if (rank[i] < 0 && score[i] > limit && (next < 0 || score[i] > score[next]))
                next = i;
        if (next < 0)
            break;
        rank[next] = r;
    }
    szgi_memory_free(score);
    return status;
}

#include "discoveries.h"

#include <math.h>

#include "base/sort.h"

/* p-values are ratios of counts, so that one may be the limit itself. */
static const double rounding = 1 + 1e-12;

double szgi_discoveries_limit(int64_t count, double *p) {
    int64_t known = 0;
    double limit = -1;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(p[i]))
            p[known++] = p[i];
    szgi_sort_reals(known, p);
    for (int64_t i = 0; i < known; i++)
        if (p[i] * (double)known <= SZGI_LEVEL * (double)(i + 1) * rounding)
            limit = p[i];
    return limit;
}

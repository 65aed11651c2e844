#include "numbered.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

szg_status szgi_distinct_numbers(szg_context *context, rows of, const char *column, int64_t *count,
                                 double **out) {
    int64_t finite = 0, kept = 0;
    double *sorted;
    *count = 0;
    *out = NULL;
    SZG_TRY(szgi_memory_alloc(context, of.count, &sorted));
    for (int64_t i = 0; i < of.count; i++) {
        double value = szgi_rows_real(of, i, column);
        if (isfinite(value))
            sorted[finite++] = value;
    }
    qsort(sorted, (size_t)finite, sizeof *sorted, compare);
    for (int64_t i = 0; i < finite; i++)
        if (kept == 0 || sorted[i] != sorted[kept - 1])
            sorted[kept++] = sorted[i];
    *count = kept;
    *out = sorted;
    return SZG_OK;
}

int64_t szgi_find_number(int64_t count, const double *numbers, double wanted) {
    const double *found = isnan(wanted) || count == 0
                              ? NULL
                              : bsearch(&wanted, numbers, (size_t)count, sizeof *numbers, compare);
    return found ? found - numbers : -1;
}

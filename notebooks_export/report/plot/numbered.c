#include "numbered.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct numbered {
    double value;
    rows of;
} numbered;

static int by_value(const void *a, const void *b) {
    const numbered *p = a, *q = b;
    return (p->value > q->value) - (p->value < q->value);
}

szg_status szgi_groups_by_number(szg_context *context, rows all, const char *column, groups *out) {
    const char *const columns[] = {column, NULL};
    numbered *list;
    int64_t count = 0;
    SZG_TRY(szgi_groups_split(context, all, columns, out));
    szg_status status = szgi_memory_alloc(context, out->count, &list);
    if (status != SZG_OK) {
        szgi_groups_free(out);
        return status;
    }
    for (int64_t i = 0; i < out->count; i++) {
        numbered one = {szgi_rows_real(out->group[i], 0, column), out->group[i]};
        if (isfinite(one.value))
            list[count++] = one;
    }
    qsort(list, (size_t)count, sizeof *list, by_value);
    for (int64_t i = 0; i < count; i++)
        out->group[i] = list[i].of;
    out->count = count;
    szgi_memory_free(list);
    return SZG_OK;
}

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

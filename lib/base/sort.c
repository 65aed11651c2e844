#include "base/sort.h"

#include <stdlib.h>

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void szgi_sort_reals(int64_t count, double *x) {
    qsort(x, (size_t)count, sizeof *x, ascending);
}

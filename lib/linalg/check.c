#include <inttypes.h>
#include <math.h>

#include "check.h"

szg_status szgi_check_shape(szg_context *context, const char *name, int64_t rows, int64_t columns,
                            int64_t ld) {
    if (rows < 0 || columns < 0)
        return szgi_fail(context, SZG_EINVAL, "%s: a size of %" PRId64 " x %" PRId64 " is negative",
                         name, rows, columns);
    if (ld < 1 || ld < columns)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: leading dimension %" PRId64 " is below the %" PRId64 " columns", name,
                         ld, columns);
    return SZG_OK;
}

/* A sum of x - x is 0 exactly where all x are finite, and the loop vectorises. */
static bool row_is_finite(const double *x, int64_t count) {
    double lanes[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (int j = 0; j < 8; j++)
            lanes[j] += x[i + j] - x[i + j];
    for (; i < count; i++)
        lanes[0] += x[i] - x[i];
    for (int j = 1; j < 8; j++)
        lanes[0] += lanes[j];
    return lanes[0] == 0;
}

static szg_status check_row(szg_context *context, const char *name, int64_t row, int64_t columns,
                            int width, const double *x) {
    if (row_is_finite(x, columns * width))
        return SZG_OK;
    int64_t i = 0;
    while (isfinite(x[i]))
        i++;
    return szgi_fail(context, SZG_EDATA, "%s: row %" PRId64 ", column %" PRId64 " is %g", name, row,
                     i / width, x[i]);
}

szg_status szgi_check_matrix(szg_context *context, const char *name, int64_t rows, int64_t columns,
                             int width, const void *a, int64_t ld) {
    SZG_TRY(szgi_check_shape(context, name, rows, columns, ld));
    for (int64_t i = 0; i < rows; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(check_row(context, name, i, columns, width, (const double *)a + i * ld * width));
    }
    return SZG_OK;
}

szg_status szgi_check_lower(szg_context *context, int64_t n, int width, const void *a,
                            int64_t lda) {
    SZG_TRY(szgi_check_shape(context, "matrix", n, n, lda));
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        SZG_TRY(check_row(context, "matrix", i, i + 1, width, (const double *)a + i * lda * width));
    }
    return SZG_OK;
}

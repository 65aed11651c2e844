#include "band.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

typedef struct pair {
    double x, y;
} pair;

static int by_x(const void *a, const void *b) {
    const pair *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

/* The rows whose x and y are finite, ascending in x. */
static szg_status sorted_pairs(szg_context *context, rows of, const char *x, const char *y,
                               int64_t *count, pair **out) {
    *count = 0;
    SZG_TRY(szgi_memory_alloc(context, of.count, out));
    for (int64_t i = 0; i < of.count; i++) {
        pair one = {szgi_rows_real(of, i, x), szgi_rows_real(of, i, y)};
        if (isfinite(one.x) && isfinite(one.y))
            (*out)[(*count)++] = one;
    }
    qsort(*out, (size_t)*count, sizeof **out, by_x);
    return SZG_OK;
}

/* The pairs of one x, from `first` on; their end. */
static int64_t take_run(const pair *pairs, int64_t count, int64_t first, band *out) {
    int64_t at = out->count++, end = first;
    double lo = INFINITY, hi = -INFINITY, mean = 0;
    for (; end < count && pairs[end].x == pairs[first].x; end++) {
        mean += (pairs[end].y - mean) / (double)(end - first + 1); /* no overflow of a sum */
        lo = fmin(lo, pairs[end].y);
        hi = fmax(hi, pairs[end].y);
    }
    out->x[at] = pairs[first].x;
    out->mean[at] = mean;
    out->lo[at] = lo;
    out->hi[at] = hi;
    if (end - first > out->most)
        out->most = end - first;
    if (at == 0 || end - first < out->least)
        out->least = end - first;
    return end;
}

szg_status szgi_band_open(szg_context *context, rows of, const char *x, const char *y, band *out) {
    pair *pairs;
    int64_t count;
    *out = (band){0};
    SZG_TRY(sorted_pairs(context, of, x, y, &count, &pairs));
    szg_status status = szgi_memory_alloc(context, 4 * count, &out->x);
    if (status == SZG_OK) {
        out->mean = out->x + count;
        out->lo = out->mean + count;
        out->hi = out->lo + count;
        for (int64_t i = 0; i < count;)
            i = take_run(pairs, count, i, out);
    }
    szgi_memory_free(pairs);
    return status;
}

/* Correlations with an interval. */
#include <math.h>
#include <stdlib.h>

#include "base/correlation.h"
#include "base/inference.h"
#include "base/memory.h"

/* ---- Fisher's z ---- */

/* A correlation of 1 or -1, but for rounding, has no finite z. */
static szgi_correlation around(double value, double reach) {
    double z = atanh(value);
    bool known = fabs(value) < 1 - 1e-12 && isfinite(reach);
    return (szgi_correlation){value, known ? tanh(z - reach) : NAN, known ? tanh(z + reach) : NAN};
}

/* ---- Of pairs ---- */

szg_status szgi_spearman_interval(szg_context *context, int64_t count, const double *x,
                                  const double *y, szgi_correlation *out) {
    const double normal = 1.959963984540054; /* the 97.5% quantile */
    double value;
    *out = (szgi_correlation){NAN, NAN, NAN};
    SZG_TRY(szgi_spearman(context, count, x, y, &value));
    double variance =
        count < SZGI_LEAST_FOR_INTERVAL ? NAN : (1 + value * value / 2) / (double)(count - 3);
    *out = around(value, normal * sqrt(variance));
    return SZG_OK;
}

/* ---- Within groups ---- */

/* Of the pairs of a group. */
typedef struct moments {
    double count, x, y; /* means */
    double xx, yy, xy;  /* sums of products of the distances from the means */
} moments;

/* The place behind the last pair of the group that begins at `first`; `without`: NULL, or a block
 * that is left out. */
static int64_t take_group(int64_t count, const szgi_grouped *pair, int64_t first,
                          const uint64_t *without, moments *out) {
    int64_t end = first;
    *out = (moments){0};
    for (; end < count && pair[end].group == pair[first].group; end++)
        if (!without || pair[end].block != *without) {
            out->count++;
            out->x += (pair[end].x - out->x) / out->count;
            out->y += (pair[end].y - out->y) / out->count;
        }
    for (int64_t i = first; i < end; i++)
        if (!without || pair[i].block != *without) {
            double x = pair[i].x - out->x, y = pair[i].y - out->y;
            out->xx += x * x;
            out->yy += y * y;
            out->xy += x * y;
        }
    return end;
}

/* Numbers of single precision are off by some 1e-7. A deviation that small is rounding, and divided
 * by itself it would look like any other. */
static bool is_spread(double squares, double count, double mean) {
    const double rounding = 1e-6;
    return count > 1 && sqrt(squares / (count - 1)) > rounding * fabs(mean);
}

static bool varies(const moments *of) {
    return is_spread(of->xx, of->count, of->x) && is_spread(of->yy, of->count, of->y);
}

static double pool(int64_t count, const szgi_grouped *pair, const uint64_t *without) {
    double sum = 0, freedom = 0;
    for (int64_t first = 0; first < count;) {
        moments own;
        first = take_group(count, pair, first, without, &own);
        if (!varies(&own))
            continue;
        sum += (own.count - 1) * (own.xy / (sqrt(own.xx) * sqrt(own.yy)));
        freedom += own.count - 1;
    }
    return freedom > 0 ? fmin(1, fmax(-1, sum / freedom)) : NAN;
}

static int ascending(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The different blocks of the groups that vary, in `block` [count]; counts them, and those groups
 * and their pairs. */
static void count_varying(int64_t count, const szgi_grouped *pair, uint64_t *block,
                          szgi_pooled *out) {
    for (int64_t first = 0, next; first < count; first = next) {
        moments own;
        next = take_group(count, pair, first, NULL, &own);
        for (int64_t i = first; i < next && varies(&own); i++)
            block[out->pairs++] = pair[i].block;
        out->groups += varies(&own);
    }
    qsort(block, (size_t)out->pairs, sizeof *block, ascending);
    for (int64_t i = 0; i < out->pairs; i++)
        if (i == 0 || block[i] != block[i - 1])
            block[out->blocks++] = block[i];
}

/* Half of the width of the interval of z. */
static double jackknife(int64_t count, const szgi_grouped *pair, int64_t blocks,
                        const uint64_t *block, double *left) {
    double mean = 0, squares = 0, n = (double)blocks;
    if (blocks < SZGI_LEAST_FOR_INTERVAL)
        return NAN;
    for (int64_t i = 0; i < blocks; i++) {
        left[i] = atanh(pool(count, pair, &block[i]));
        mean += left[i] / n;
    }
    for (int64_t i = 0; i < blocks; i++)
        squares += (left[i] - mean) * (left[i] - mean);
    return szgi_student_quantile(blocks - 1) * sqrt(squares * (n - 1) / n);
}

szg_status szgi_pool_groups(szg_context *context, int64_t count, const szgi_grouped *pair,
                            szgi_pooled *out) {
    uint64_t *block;
    double *left = NULL;
    *out = (szgi_pooled){0};
    SZG_TRY(szgi_memory_alloc(context, count, &block));
    count_varying(count, pair, block, out);
    szg_status status = szgi_memory_alloc(context, out->blocks, &left);
    if (status == SZG_OK)
        out->correlation =
            around(pool(count, pair, NULL), jackknife(count, pair, out->blocks, block, left));
    szgi_memory_free(left);
    szgi_memory_free(block);
    return status;
}

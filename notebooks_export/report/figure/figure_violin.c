#include <math.h>
#include <stdlib.h>
#include "base/memory.h"

#include "density.h"
#include "figure_parts.h"

enum { OUTLINE = 64, VALUES = 300, LEAST_VALUES = 10 };

/* A value, and where the caller had it. */
typedef struct item {
    double value;
    int64_t index;
} item;

static int by_value(const void *a, const void *b) {
    const item *one = a, *other = b;
    if (one->value != other->value)
        return one->value < other->value ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

/* The values that have a place, ascending. */
static szg_status sorted_items(szg_context *context, figure *figure, int64_t count,
                               const double *value, item **out, int64_t *kept) {
    *kept = 0;
    SZG_TRY(szgi_memory_alloc(context, count, out));
    for (int64_t i = 0; i < count; i++) {
        if (!szgi_figure_accepts(figure, &figure->y, value[i]))
            continue;
        if (figure->y.fixed && !(value[i] >= figure->y.lo && value[i] <= figure->y.hi)) {
            figure->outside++;
            continue;
        }
        (*out)[(*kept)++] = (item){value[i], i};
    }
    if (*kept > 0)
        qsort(*out, (size_t)*kept, sizeof **out, by_value);
    return SZG_OK;
}

/* The outline in fractions of the values' own range, in which no difference overflows: places in
 * at, half widths from 0 to 1 in half. False where all values are equal, or nearly. */
static szg_status outline(szg_context *context, const scale *own, int64_t count, const item *items,
                          double *at, double *half, bool *found) {
    double *fraction = NULL, most = 0;
    SZG_TRY(szgi_memory_alloc(context, count, &fraction));
    for (int64_t i = 0; i < count; i++)
        fraction[i] = szgi_scale_fraction(own, items[i].value);
    double bandwidth = szgi_density_bandwidth(count, fraction);
    *found = bandwidth > 1e-9;
    szg_status status = SZG_OK;
    if (*found)
        status = szgi_density_estimate(context, count, fraction, bandwidth, OUTLINE, at, half);
    for (int p = 0; *found && status == SZG_OK && p < OUTLINE; p++)
        most = fmax(most, half[p]);
    for (int p = 0; most > 0 && p < OUTLINE; p++)
        half[p] /= most;
    szgi_memory_free(fraction);
    return status;
}

/* What stands at a fraction of a scale. */
static double value_at(const scale *own, double fraction) {
    double value = own->lo * (1 - fraction) + own->hi * fraction;
    return own->logarithmic ? pow(10, value) : value;
}

static double median_of(int64_t count, const item *items) {
    double low = items[(count - 1) / 2].value, high = items[count / 2].value;
    return low / 2 + high / 2;
}

static szg_status add_shape(szg_context *context, figure *figure, const figure_style *style,
                            double x, double width, int64_t count, const item *items,
                            const double *at, const double *half, const scale *own) {
    mark *mark;
    SZG_TRY(szgi_figure_add(context, figure, MARK_VIOLIN, style, OUTLINE, &mark));
    mark->width = width;
    mark->middle = median_of(count, items);
    for (int p = 0; p < OUTLINE; p++) {
        double y = value_at(own, at[p]);
        mark->x[p] = x;
        mark->y[p] = fmin(fmax(y, items[0].value), items[count - 1].value);
        mark->lo[p] = x - half[p] * width / 2;
        mark->hi[p] = x + half[p] * width / 2;
    }
    figure->elements++;
    return SZG_OK;
}

/* From -1 to 1, spread evenly over successive points, the same on every run: the multiples of the
 * golden section. */
static double jitter(int64_t i) {
    double turns = (double)i * 0.6180339887498949;
    return 2 * (turns - floor(turns)) - 1;
}

/* The density at a fraction, by its outline. */
static double half_at(const double *half, bool found, double fraction) {
    double place = fmin(fmax(fraction, 0), 1) * (OUTLINE - 1);
    int below = (int)place < OUTLINE - 1 ? (int)place : OUTLINE - 2;
    double part = place - below;
    return found ? half[below] * (1 - part) + half[below + 1] * part : 0.5;
}

/* The values as points, where there are many only some: evenly by rank, with both ends. */
static szg_status add_values(szg_context *context, figure *figure, const figure_style *style,
                             double x, double width, int64_t count, const item *items,
                             const double *half, bool found, const scale *own,
                             const char *const *hover) {
    int64_t drawn = count < VALUES ? count : VALUES;
    mark *mark;
    SZG_TRY(szgi_figure_add(context, figure, MARK_POINTS, style, drawn, &mark));
    mark->in_legend = style->name && !found;
    mark->small = true;
    if (hover)
        SZG_TRY(szgi_memory_alloc(context, drawn, &mark->hover));
    for (int64_t k = 0; k < drawn; k++) {
        int64_t i =
            drawn < 2 ? 0 : (int64_t)((double)k * (double)(count - 1) / (double)(drawn - 1));
        double room = half_at(half, found, szgi_scale_fraction(own, items[i].value));
        mark->y[k] = items[i].value;
        mark->lo[k] = x; /* what the hover text tells: the jitter is no data */
        mark->x[k] = count == 1 ? x : x + 0.8 * room * jitter(k) * width / 2;
        szgi_axis_cover(&figure->y, mark->y[k]);
        if (hover)
            SZG_TRY(szgi_figure_text(context, hover[items[i].index], &mark->hover[k]));
        SZG_TRY(szgi_mark_take_head(context, figure, mark, k, items[i].index));
    }
    figure->given += count;
    figure->drawn += drawn;
    figure->elements += drawn;
    return SZG_OK;
}

szg_status szgi_figure_violin(szg_context *context, figure *figure, const figure_style *style,
                              double x, double width, int64_t count, const double *value,
                              const char *const *hover) {
    if (!szgi_figure_accepts(figure, &figure->x, x))
        return SZG_OK;
    if (figure->x.fixed && !(x >= figure->x.lo && x <= figure->x.hi)) {
        figure->outside += count;
        return SZG_OK;
    }
    width = isfinite(width) ? fabs(width) : 0;
    item *items = NULL;
    int64_t kept = 0;
    double at[OUTLINE], half[OUTLINE] = {0};
    bool found = false;
    szg_status status = sorted_items(context, figure, count, value, &items, &kept);
    scale own = szgi_scale_of(figure->y.logarithmic, kept ? items[0].value : NAN,
                              kept ? items[kept - 1].value : NAN, 0);
    if (status == SZG_OK && kept >= LEAST_VALUES && items[0].value < items[kept - 1].value)
        status = outline(context, &own, kept, items, at, half, &found);
    if (status == SZG_OK && found)
        status = add_shape(context, figure, style, x, width, kept, items, at, half, &own);
    if (status == SZG_OK && kept > 0) {
        szgi_axis_cover_data(&figure->x, x);
        szgi_axis_cover(&figure->x, x - width / 2);
        szgi_axis_cover(&figure->x, x + width / 2);
        status =
            add_values(context, figure, style, x, width, kept, items, half, found, &own, hover);
    }
    szgi_memory_free(items);
    return status;
}

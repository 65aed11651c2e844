#include <math.h>
#include "base/memory.h"

#include "figure_parts.h"
#include "thin.h"

/* Points of one call that are printed at most, unless the figure is wider. */
enum { POINTS = 1000 };

/* Coordinates for thinning: in the axes' units, NaN where a point has no place. */
typedef struct places {
    double *x, *lo, *hi;
    int64_t points;
} places;

static void places_free(places *places) {
    szgi_memory_free(places->x);
    szgi_memory_free(places->lo);
    szgi_memory_free(places->hi);
}

static double in_units(const axis *axis, double value) {
    const scale scale = {.logarithmic = axis->logarithmic, .linear = axis->linear};
    return szgi_scale_units(&scale, value);
}

/* lo and hi may be one array. */
static szg_status places_of(szg_context *context, figure *figure, int64_t count, const double *x,
                            const double *lo, const double *hi, places *out) {
    *out = (places){0};
    SZG_TRY(szgi_memory_alloc(context, count, &out->x));
    SZG_TRY(szgi_memory_alloc(context, count, &out->lo));
    SZG_TRY(szgi_memory_alloc(context, count, &out->hi));
    for (int64_t i = 0; i < count; i++) {
        bool good = szgi_figure_accepts(figure, &figure->x, x[i]) &&
                    szgi_figure_accepts(figure, &figure->y, lo[i]) &&
                    (hi == lo || szgi_figure_accepts(figure, &figure->y, hi[i]));
        out->x[i] = good ? in_units(&figure->x, x[i]) : NAN;
        out->lo[i] = good ? in_units(&figure->y, fmin(lo[i], hi[i])) : NAN;
        out->hi[i] = good ? in_units(&figure->y, fmax(lo[i], hi[i])) : NAN;
        out->points += good;
    }
    return SZG_OK;
}

/* On an axis whose ends are not given everything has a place. */
static double place(const axis *axis, const scale *scale, double value) {
    return isnan(value) ? NAN : axis->fixed ? szgi_scale_fraction(scale, value) : 0.5;
}

/* Whether any of the line lies between the ends that are given. */
static bool is_visible(const figure *figure, const mark *mark) {
    scale across = szgi_axis_scale(&figure->x), up = szgi_axis_scale(&figure->y);
    double x0 = NAN, y0 = NAN;
    for (int64_t i = 0; i < mark->count; i++) {
        double x1 = place(&figure->x, &across, mark->x[i]);
        double y1 = place(&figure->y, &up, mark->y[i]);
        double a = isnan(x0) ? x1 : x0, b = isnan(x0) ? y1 : y0, c = x1, d = y1;
        if (!isnan(x1) && szgi_segment_clip(&a, &b, &c, &d))
            return true;
        x0 = x1;
        y0 = y1;
    }
    return false;
}

/* Adds the thinned points of a line or a band: NaN in all arrays where it breaks. */
static szg_status add_thinned(szg_context *context, figure *figure, mark_kind kind,
                              const figure_style *style, int64_t count, const double *x,
                              const double *lo, const double *hi, mark **out) {
    places places;
    int64_t *keep = NULL, kept = 0;
    szg_status status = places_of(context, figure, count, x, lo, hi, &places);
    if (status == SZG_OK)
        status = szgi_thin_line(context, count, places.x, places.lo, places.hi, figure->width,
                                &keep, &kept);
    if (status == SZG_OK)
        status = szgi_figure_add(context, figure, kind, style, kept, out);
    for (int64_t k = 0; status == SZG_OK && k < kept; k++) {
        bool good = !isnan(places.x[keep[k]]);
        (*out)->x[k] = good ? x[keep[k]] : NAN;
        (*out)->y[k] = (*out)->lo[k] = good ? fmin(lo[keep[k]], hi[keep[k]]) : NAN;
        (*out)->hi[k] = good ? fmax(lo[keep[k]], hi[keep[k]]) : NAN;
        if (!good)
            continue;
        szgi_axis_cover_data(&figure->x, x[keep[k]]);
        szgi_axis_cover(&figure->y, lo[keep[k]]);
        szgi_axis_cover(&figure->y, hi[keep[k]]);
        figure->drawn++;
    }
    if (status == SZG_OK)
        figure->given += places.points;
    szgi_memory_free(keep);
    places_free(&places);
    return status;
}

szg_status szgi_figure_line(szg_context *context, figure *figure, const figure_style *style,
                            int64_t count, const double *x, const double *y) {
    mark *mark;
    SZG_TRY(add_thinned(context, figure, MARK_LINE, style, count, x, y, y, &mark));
    mark->hidden = !is_visible(figure, mark);
    figure->elements += !mark->hidden;
    return SZG_OK;
}

szg_status szgi_figure_band(szg_context *context, figure *figure, const figure_style *style,
                            int64_t count, const double *x, const double *lo, const double *hi) {
    mark *mark;
    SZG_TRY(add_thinned(context, figure, MARK_BAND, style, count, x, lo, hi, &mark));
    figure->elements += mark->count > 0;
    return SZG_OK;
}

static bool is_between(const axis *axis, double value) {
    return !axis->fixed || (value >= axis->lo && value <= axis->hi);
}

szg_status szgi_figure_points(szg_context *context, figure *figure, const figure_style *style,
                              int64_t count, const double *x, const double *y,
                              const char *const *hover) {
    places places;
    mark *mark = NULL;
    int64_t *keep = NULL, kept = 0;
    szg_status status = places_of(context, figure, count, x, y, y, &places);
    for (int64_t i = 0; status == SZG_OK && i < count; i++)
        if (!isnan(places.x[i]) &&
            !(is_between(&figure->x, x[i]) && is_between(&figure->y, y[i]))) {
            places.x[i] = NAN;
            places.points--;
            figure->outside++;
        }
    if (status == SZG_OK)
        status = szgi_thin_points(context, count, places.x, places.lo, POINTS, &keep, &kept);
    if (status == SZG_OK)
        status = szgi_figure_add(context, figure, MARK_POINTS, style, kept, &mark);
    if (status == SZG_OK && hover)
        status = szgi_memory_alloc(context, kept, &mark->hover);
    for (int64_t k = 0; status == SZG_OK && k < kept; k++) {
        mark->x[k] = x[keep[k]];
        mark->y[k] = y[keep[k]];
        szgi_axis_cover_data(&figure->x, mark->x[k]);
        szgi_axis_cover(&figure->y, mark->y[k]);
        if (hover)
            status = szgi_figure_text(context, hover[keep[k]], &mark->hover[k]);
        if (status == SZG_OK)
            status = szgi_mark_take_head(context, figure, mark, k, keep[k]);
    }
    if (status == SZG_OK) {
        figure->given += places.points;
        figure->drawn += kept;
        figure->elements += szgi_mark_is_crowd(mark) ? 1 : kept;
    }
    szgi_memory_free(keep);
    places_free(&places);
    return status;
}

szg_status szgi_figure_rule(szg_context *context, figure *figure, const figure_style *style,
                            bool vertical, double at) {
    axis *axis = vertical ? &figure->x : &figure->y;
    if (!szgi_figure_accepts(figure, axis, at))
        return SZG_OK;
    if (!is_between(axis, at)) {
        figure->outside++;
        return SZG_OK;
    }
    mark *mark;
    SZG_TRY(szgi_figure_add(context, figure, MARK_RULE, style, 1, &mark));
    mark->vertical = vertical;
    mark->x[0] = mark->y[0] = at;
    szgi_axis_cover_data(axis, at);
    figure->elements++;
    return SZG_OK;
}

/* The end of a whisker: the bar's own height where there is none. */
static double whisker(const axis *axis, const double *end, int64_t i, double y) {
    return !end || !isfinite(end[i]) || (axis->logarithmic && end[i] <= 0) ? y : end[i];
}

static void cover_bar(figure *figure, const mark *mark, int64_t k) {
    szgi_axis_cover_data(&figure->x, mark->x[k]);
    szgi_axis_cover(&figure->x, mark->x[k] - mark->width / 2);
    szgi_axis_cover(&figure->x, mark->x[k] + mark->width / 2);
    szgi_axis_cover(&figure->y, mark->y[k]);
    szgi_axis_cover(&figure->y, mark->lo[k]);
    szgi_axis_cover(&figure->y, mark->hi[k]);
    if (!figure->y.logarithmic)
        szgi_axis_cover(&figure->y, 0);
}

szg_status szgi_figure_bars(szg_context *context, figure *figure, const figure_style *style,
                            int64_t count, double width, const double *x, const double *y,
                            const double *lo, const double *hi) {
    places places;
    mark *mark;
    int64_t *keep = NULL, kept = 0, bars = 0;
    szg_status status = places_of(context, figure, count, x, y, y, &places);
    if (status == SZG_OK)
        status = szgi_thin_line(context, count, places.x, places.lo, places.hi, figure->width,
                                &keep, &kept);
    for (int64_t k = 0; k < kept; k++) /* without the breaks of lines */
        if (!isnan(places.x[keep[k]]) && is_between(&figure->x, x[keep[k]]))
            keep[bars++] = keep[k];
    if (status == SZG_OK)
        status = szgi_figure_add(context, figure, MARK_BARS, style, bars, &mark);
    for (int64_t k = 0; status == SZG_OK && k < bars; k++) {
        mark->width = isfinite(width) ? fabs(width) : 0;
        mark->x[k] = x[keep[k]];
        mark->y[k] = y[keep[k]];
        mark->lo[k] = whisker(&figure->y, lo, keep[k], mark->y[k]);
        mark->hi[k] = whisker(&figure->y, hi, keep[k], mark->y[k]);
        cover_bar(figure, mark, k);
        status = szgi_mark_take_head(context, figure, mark, k, keep[k]);
    }
    if (status == SZG_OK) {
        figure->given += places.points;
        figure->drawn += bars;
        figure->elements += bars;
    }
    szgi_memory_free(keep);
    places_free(&places);
    return status;
}

/* Both ends have a place, and one of them lies between the ends that are given. */
static bool has_range(figure *figure, double y, double lo, double hi) {
    if (!szgi_figure_accepts(figure, &figure->y, y) ||
        !szgi_figure_accepts(figure, &figure->x, lo) ||
        !szgi_figure_accepts(figure, &figure->x, hi))
        return false;
    const axis *x = &figure->x;
    bool apart = x->fixed && (fmax(lo, hi) < x->lo || fmin(lo, hi) > x->hi);
    figure->outside += apart || !is_between(&figure->y, y);
    return !apart && is_between(&figure->y, y);
}

static void take_range(figure *figure, mark *mark, double y, double lo, double hi) {
    int64_t k = mark->count++;
    mark->x[k] = lo / 2 + hi / 2;
    mark->y[k] = y;
    mark->lo[k] = fmin(lo, hi);
    mark->hi[k] = fmax(lo, hi);
    szgi_axis_cover(&figure->x, lo);
    szgi_axis_cover(&figure->x, hi);
    szgi_axis_cover(&figure->y, y - mark->width / 2);
    szgi_axis_cover(&figure->y, y + mark->width / 2);
}

szg_status szgi_figure_ranges(szg_context *context, figure *figure, const figure_style *style,
                              int64_t count, double width, const double *y, const double *lo,
                              const double *hi, const char *const *hover) {
    mark *mark;
    szg_status status = SZG_OK;
    SZG_TRY(szgi_figure_add(context, figure, MARK_RANGES, style, count, &mark));
    mark->count = 0; /* of `count` there is room for */
    mark->width = isfinite(width) ? fabs(width) : 0;
    if (hover)
        status = szgi_memory_alloc(context, count, &mark->hover);
    for (int64_t i = 0; status == SZG_OK && i < count; i++) {
        if (!has_range(figure, y[i], lo[i], hi[i]))
            continue;
        take_range(figure, mark, y[i], lo[i], hi[i]);
        if (hover)
            status = szgi_figure_text(context, hover[i], &mark->hover[mark->count - 1]);
    }
    figure->y.reversed = figure->y.names != NULL;
    figure->given += mark->count;
    figure->drawn += mark->count;
    figure->elements += mark->count;
    return status;
}

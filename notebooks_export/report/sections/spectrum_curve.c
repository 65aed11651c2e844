/* The figures: values over quantiles, and values in the complex plane. */
#include <math.h>

#include "base/memory.h"
#include "captioned.h"
#include "spectrum.h"

enum { CIRCLE_POINTS = 181, MOST_SOURCES = 4 * FIGURE_COLOURS, PLANE_SIZE = 480 };

/* The series of the greatest order: its range stands for all. */
static const spectrum_series *greatest(const spectrum_series *series, int64_t count) {
    const spectrum_series *most = series;
    for (int64_t i = 1; i < count; i++)
        if (series[i].n > most->n)
            most = &series[i];
    return most;
}

typedef struct titled {
    const spectrum_series *series;
    const char *what;
} titled;

static void say_title(words *title, const void *of) {
    const titled *self = of;
    szgi_words_key(title, self->series->values);
    fprintf(title->stream, ": %s%s", self->series->singular ? "singular values" : "eigenvalues",
            self->what);
}

static szg_status open_titled(page *page, const spectrum_series *series, figure_options options,
                              const char *what, figure **out) {
    const titled self = {series, what};
    return szgi_figure_open_titled(szgi_page_context(page), options, say_title, &self, out);
}

/* Calls a drawing function with the name that the series has in the legend. */
static szg_status add_points(szg_context *context, figure *figure, const spectrum_series *series,
                             int colour, int64_t count, const double *x, const double *y) {
    words name;
    SZG_TRY(szgi_words_open(context, &name));
    szgi_spectrum_name(&name, series);
    szg_status status = szgi_words_end(context, &name);
    if (status == SZG_OK)
        status = szgi_figure_points(context, figure,
                                    &(figure_style){.name = name.text, .colour = colour}, count, x,
                                    y, NULL);
    szgi_words_free(&name);
    return status;
}

static szg_status add_range(szg_context *context, figure *figure, const spectrum_series *series,
                            bool alone) {
    const double x[] = {0, 1}, lo[] = {series->lo, series->lo}, hi[] = {series->hi, series->hi};
    words name;
    if (isnan(series->hi))
        return SZG_OK;
    SZG_TRY(szgi_words_open(context, &name));
    fputs("certified range", name.stream);
    if (!alone) {
        fputs(", n = ", name.stream);
        szgi_html_number(name.stream, series->n);
    }
    szg_status status = szgi_words_end(context, &name);
    if (status == SZG_OK)
        status = szgi_figure_band(context, figure,
                                  &(figure_style){.name = name.text, .colour = FIGURE_BAND}, 2, x,
                                  lo, hi);
    szgi_words_free(&name);
    return status;
}

/* Which part of the values a figure shows. */
typedef struct part {
    double from, to; /* shares */
} part;
static const part whole = {0, 1}, middle = {0.05, 0.95};
static const double flat = 20; /* times the middle's width: what lies outside flattens the middle */

/* Narrows a curve to the part. */
static void narrow(part part, int64_t *count, double **share, double **value) {
    while (*count > 0 && (*share)[*count - 1] > part.to)
        --*count;
    for (; *count > 0 && **share < part.from; --*count) {
        ++*share;
        ++*value;
    }
}

/* A curve's points within the part, or the line through them. */
static szg_status add_curve(szg_context *context, figure *figure, const spectrum_series *series,
                            part part, int colour, const figure_style *line) {
    double *share, *value;
    int64_t count;
    const quantiles *of = line ? &series->symbol : &series->spectrum;
    SZG_TRY(szgi_quantiles_curve(context, of, &count, &share, &value));
    double *x = share, *y = value;
    narrow(part, &count, &x, &y);
    szg_status status = line ? szgi_figure_line(context, figure, line, count, x, y)
                             : add_points(context, figure, series, colour, count, x, y);
    szgi_memory_free(share);
    szgi_memory_free(value);
    return status;
}

/* One line of its own colour beside one list of values; beside several a thin one to each. */
static szg_status add_symbol(szg_context *context, figure *figure, const spectrum_series *series,
                             part part, int colour, bool alone) {
    if (series->symbol.total == 0)
        return SZG_OK;
    const char *name = series->singular ? "quantiles of |a|" : "quantiles of the symbol";
    figure_style style = {.name = alone || colour == 0 ? name : NULL,
                          .colour = alone ? 1 : colour + (int)FIGURE_THIN};
    return add_curve(context, figure, series, part, colour, &style);
}

static szg_status add_curves(szg_context *context, figure *figure, const spectrum_series *series,
                             int64_t count, part part) {
    if (part.to == whole.to)
        SZG_TRY(add_range(context, figure, greatest(series, count), count == 1));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(add_curve(context, figure, &series[i], part, (int)i, NULL));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(add_symbol(context, figure, &series[i], part, (int)i, count == 1));
    return SZG_OK;
}

/* The rows that the figure was drawn from. */
static int64_t list_sources(const spectrum_series *series, int64_t count, rows *source) {
    int64_t sources = 0;
    for (int64_t i = 0; i < count; i++) {
        const rows *const other[] = {series[i].samples, series[i].range, series[i].summary};
        source[sources++] = series[i].values;
        for (int k = 0; k < 3; k++)
            if (other[k])
                source[sources++] = *other[k];
    }
    return sources;
}

typedef struct described {
    const spectrum_series *series;
    int64_t count;
    void (*describe)(words *, const spectrum_series *, int64_t);
} described;

static void say_caption(words *caption, const void *of) {
    const described *self = of;
    self->describe(caption, self->series, self->count);
}

static szg_status put(page *page, figure **figure, const spectrum_series *series, int64_t count,
                      void (*describe)(words *, const spectrum_series *, int64_t)) {
    const described self = {series, count, describe};
    rows source[MOST_SOURCES];
    int64_t sources = list_sources(series, count, source);
    return szgi_page_figure_captioned(page, figure, source, sources, say_caption, &self);
}

static szg_status draw_part(page *page, const spectrum_series *series, int64_t count, part part) {
    bool all = part.to == whole.to;
    figure_options options = {
        .x = {.label = "share of the values below", .lo = part.from, .hi = part.to},
        .y = {.label = series->singular ? "singular value" : "eigenvalue"}};
    figure *figure;
    SZG_TRY(
        open_titled(page, series, options, all ? " over quantiles" : ", the middle 90 %", &figure));
    szg_status status = add_curves(szgi_page_context(page), figure, series, count, part);
    if (status == SZG_OK)
        return put(page, &figure, series, count,
                   all ? szgi_spectrum_describe_curves : szgi_spectrum_describe_middle);
    szgi_figure_close(&figure);
    return status;
}

/* Widens [lo, hi] to the quantiles at the ends of the part. */
static void widen(const quantiles *of, part part, double *lo, double *hi) {
    if (of->total == 0)
        return;
    *lo = fmin(*lo, szgi_quantiles_at(of, part.from));
    *hi = fmax(*hi, szgi_quantiles_at(of, part.to));
}

/* Whether a few values stand so far out that nothing is seen of the others. */
static bool is_flat(const spectrum_series *series, int64_t count) {
    double lo[] = {INFINITY, INFINITY}, hi[] = {-INFINITY, -INFINITY};
    for (int64_t i = 0; i < count; i++) {
        widen(&series[i].spectrum, whole, &lo[0], &hi[0]);
        widen(&series[i].symbol, whole, &lo[0], &hi[0]);
        widen(&series[i].spectrum, middle, &lo[1], &hi[1]);
        widen(&series[i].symbol, middle, &lo[1], &hi[1]);
    }
    return hi[1] > lo[1] && hi[0] - lo[0] > flat * (hi[1] - lo[1]);
}

szg_status szgi_spectrum_draw_curves(page *page, const spectrum_series *series, int64_t count,
                                     budget *budget) {
    SZG_TRY(draw_part(page, series, count, whole));
    return is_flat(series, count) && szgi_budget_take(budget)
               ? draw_part(page, series, count, middle)
               : SZG_OK;
}

static szg_status add_circle(szg_context *context, figure *figure, double radius) {
    double x[CIRCLE_POINTS], y[CIRCLE_POINTS];
    const double turn = 6.28318530717958647692;
    for (int i = 0; i < CIRCLE_POINTS; i++) {
        x[i] = radius * cos(turn * i / (CIRCLE_POINTS - 1));
        y[i] = radius * sin(turn * i / (CIRCLE_POINTS - 1));
    }
    return szgi_figure_line(
        context, figure,
        &(figure_style){.name = "certified maximum of |a|", .colour = FIGURE_MUTED}, CIRCLE_POINTS,
        x, y);
}

static szg_status add_plane(szg_context *context, figure *figure, const spectrum_series *series,
                            int64_t count) {
    double radius = greatest(series, count)->radius;
    if (!isnan(radius))
        SZG_TRY(add_circle(context, figure, radius));
    for (int64_t i = count - 1; i >= 0; i--) /* the fewest on top */
        SZG_TRY(add_points(context, figure, &series[i], (int)i, series[i].values.count,
                           series[i].re, series[i].im));
    return SZG_OK;
}

/* Half the side of the square that holds the circle and every value. */
static double reach(const spectrum_series *series, int64_t count) {
    double most = 0;
    for (int64_t s = 0; s < count; s++) {
        most = fmax(most, series[s].radius);
        for (int64_t i = 0; i < series[s].values.count; i++) {
            double modulus = hypot(series[s].re[i], series[s].im[i]);
            most = isfinite(modulus) ? fmax(most, modulus) : most;
        }
    }
    return 1.05 * most;
}

szg_status szgi_spectrum_draw_plane(page *page, const spectrum_series *series, int64_t count) {
    double side = reach(series, count);
    figure_options options = {.x = {.label = "real part", .lo = -side, .hi = side},
                              .y = {.label = "imaginary part", .lo = -side, .hi = side},
                              .width = PLANE_SIZE,
                              .height = PLANE_SIZE};
    figure *figure;
    SZG_TRY(open_titled(page, series, options, "", &figure));
    szg_status status = add_plane(szgi_page_context(page), figure, series, count);
    if (status == SZG_OK)
        return put(page, &figure, series, count, szgi_spectrum_describe_plane);
    szgi_figure_close(&figure);
    return status;
}

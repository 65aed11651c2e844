/* The figures: values over quantiles, and values in the complex plane. */
#include <math.h>

#include <szego/memory.h>
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

static szg_status open_titled(page *page, const spectrum_series *series, figure_options options,
                              const char *what, figure **out) {
    szg_context *context = page_context(page);
    words title;
    SZG_TRY(words_open(context, &title));
    words_key(&title, series->values);
    fprintf(title.stream, ": %s%s", series->singular ? "singular values" : "eigenvalues", what);
    szg_status status = words_end(context, &title);
    if (status == SZG_OK) {
        options.title = title.text;
        status = figure_open(context, &options, out);
    }
    words_free(&title);
    return status;
}

/* Calls a drawing function with the name that the series has in the legend. */
static szg_status add_points(szg_context *context, figure *figure, const spectrum_series *series,
                             int colour, int64_t count, const double *x, const double *y) {
    words name;
    SZG_TRY(words_open(context, &name));
    spectrum_name(&name, series);
    szg_status status = words_end(context, &name);
    if (status == SZG_OK)
        status =
            figure_points(context, figure, &(figure_style){name.text, colour}, count, x, y, NULL);
    words_free(&name);
    return status;
}

static szg_status add_range(szg_context *context, figure *figure, const spectrum_series *series) {
    const double x[] = {0, 1}, lo[] = {series->lo, series->lo}, hi[] = {series->hi, series->hi};
    if (isnan(series->hi))
        return SZG_OK;
    return figure_band(context, figure, &(figure_style){"certified range", FIGURE_BAND}, 2, x, lo,
                       hi);
}

static szg_status add_values(szg_context *context, figure *figure, const spectrum_series *series,
                             int colour) {
    double *share, *value;
    int64_t count;
    SZG_TRY(quantiles_curve(context, &series->spectrum, &count, &share, &value));
    szg_status status = add_points(context, figure, series, colour, count, share, value);
    szg_memory_free(share);
    szg_memory_free(value);
    return status;
}

/* One line of its own colour beside one list of values; beside several a thin one to each. */
static szg_status add_symbol(szg_context *context, figure *figure, const spectrum_series *series,
                             int colour, bool alone) {
    double *share, *value;
    int64_t count;
    if (series->symbol.total == 0)
        return SZG_OK;
    SZG_TRY(quantiles_curve(context, &series->symbol, &count, &share, &value));
    const char *name = series->singular ? "quantiles of |a|" : "quantiles of the symbol";
    figure_style style = {alone || colour == 0 ? name : NULL,
                          alone ? 1 : colour + (int)FIGURE_THIN};
    szg_status status = figure_line(context, figure, &style, count, share, value);
    szg_memory_free(share);
    szg_memory_free(value);
    return status;
}

static szg_status add_curves(szg_context *context, figure *figure, const spectrum_series *series,
                             int64_t count) {
    SZG_TRY(add_range(context, figure, greatest(series, count)));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(add_values(context, figure, &series[i], (int)i));
    for (int64_t i = 0; i < count; i++)
        SZG_TRY(add_symbol(context, figure, &series[i], (int)i, count == 1));
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

static szg_status put(page *page, figure **figure, const spectrum_series *series, int64_t count,
                      void (*describe)(words *, const spectrum_series *, int64_t)) {
    rows source[MOST_SOURCES];
    words caption;
    szg_status status = words_open(page_context(page), &caption);
    if (status == SZG_OK) {
        describe(&caption, series, count);
        status = words_end(page_context(page), &caption);
    }
    if (status == SZG_OK)
        status =
            page_figure(page, figure, source, list_sources(series, count, source), caption.text);
    words_free(&caption);
    figure_close(figure);
    return status;
}

szg_status spectrum_draw_curves(page *page, const spectrum_series *series, int64_t count) {
    figure_options options = {.x = {.label = "share of the values below", .lo = 0, .hi = 1},
                              .y = {.label = series->singular ? "singular value" : "eigenvalue"}};
    figure *figure;
    SZG_TRY(open_titled(page, series, options, " over quantiles", &figure));
    szg_status status = add_curves(page_context(page), figure, series, count);
    if (status == SZG_OK)
        return put(page, &figure, series, count, spectrum_describe_curves);
    figure_close(&figure);
    return status;
}

static szg_status add_circle(szg_context *context, figure *figure, double radius) {
    double x[CIRCLE_POINTS], y[CIRCLE_POINTS];
    const double turn = 6.28318530717958647692;
    for (int i = 0; i < CIRCLE_POINTS; i++) {
        x[i] = radius * cos(turn * i / (CIRCLE_POINTS - 1));
        y[i] = radius * sin(turn * i / (CIRCLE_POINTS - 1));
    }
    return figure_line(context, figure, &(figure_style){"certified maximum of |a|", FIGURE_MUTED},
                       CIRCLE_POINTS, x, y);
}

static szg_status add_plane(szg_context *context, figure *figure, const spectrum_series *series,
                            int64_t count) {
    double radius = greatest(series, count)->radius;
    if (!isnan(radius))
        SZG_TRY(add_circle(context, figure, radius));
    for (int64_t i = 0; i < count; i++)
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

szg_status spectrum_draw_plane(page *page, const spectrum_series *series, int64_t count) {
    double side = reach(series, count);
    figure_options options = {.x = {.label = "real part", .lo = -side, .hi = side},
                              .y = {.label = "imaginary part", .lo = -side, .hi = side},
                              .width = PLANE_SIZE,
                              .height = PLANE_SIZE};
    figure *figure;
    SZG_TRY(open_titled(page, series, options, "", &figure));
    szg_status status = add_plane(page_context(page), figure, series, count);
    if (status == SZG_OK)
        return put(page, &figure, series, count, spectrum_describe_plane);
    figure_close(&figure);
    return status;
}

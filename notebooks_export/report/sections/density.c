/* How the eigenvalues of long kernels are spread: the density with its standard error and its
 * resolution, and the moments that it is made from. */
#include <math.h>

#include "plot.h"

enum { BARS = 7 }; /* of the resolution, over one density */

/* The least positive value; where there is none, 0. */
static double least_positive(int64_t count, const double *value) {
    double least = INFINITY;
    for (int64_t i = 0; i < count; i++)
        if (value[i] > 0 && value[i] < least)
            least = value[i];
    return isfinite(least) ? least : 0;
}

static double greatest(int64_t count, const double *value) {
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        if (value[i] > most)
            most = value[i];
    return most;
}

/* Less and more its error, where it has one. */
static void add_error(plot_figure *figure, plot_series *series, double *most) {
    double *error = szgi_plot_reals(figure->run, series->of, "error");
    if (!error)
        return;
    double own = greatest(series->count, error);
    *most = fmax(*most, own);
    if (!(own > 0) || !szgi_plot_new(figure->run, series->count, &series->lo) ||
        !szgi_plot_new(figure->run, series->count, &series->hi))
        return;
    for (int64_t i = 0; i < series->count; i++) {
        series->lo[i] = series->y[i] - error[i];
        series->hi[i] = series->y[i] + error[i];
    }
}

static void add_errors(plot_figure *figure) {
    double *most;
    if (!szgi_plot_new(figure->run, 1, &most))
        return;
    figure->own = most;
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t i = 0; i < figure->panel[p].count && figure->run->status == SZG_OK; i++)
            add_error(figure, &figure->panel[p].series[i], most);
}

/* Bars along lambda at a few points of the first density: the others of a matrix have almost the
 * same interval. */
static void add_resolution(plot_figure *figure, plot_panel *panel) {
    rows of = panel->series[0].of;
    double *resolution = szgi_plot_reals(figure->run, of, "resolution");
    int64_t count = of.count < BARS ? of.count : BARS;
    plot_series *bars = resolution ? szgi_plot_add(figure, panel, of, count) : NULL;
    if (!bars || !szgi_plot_new(figure->run, count, &bars->lo) ||
        !szgi_plot_new(figure->run, count, &bars->hi))
        return;
    const plot_series *line = &panel->series[0];
    bars->name = "resolution";
    bars->marks = PLOT_POINTS;
    bars->colour = FIGURE_MUTED;
    bars->flat = bars->beside = true;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = (2 * i + 1) * of.count / (2 * count);
        bars->x[i] = line->x[at];
        bars->y[i] = line->y[at];
        bars->lo[i] = line->x[at] - resolution[at];
        bars->hi[i] = line->x[at] + resolution[at];
    }
}

/* A density is not negative: where its error is larger, the area ends at the least value drawn, so
 * that a logarithmic axis can have it. */
static void cut_areas(plot_figure *figure) {
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t i = 0; i < figure->panel[p].count; i++) {
            plot_series *one = &figure->panel[p].series[i];
            double least = least_positive(one->count, one->y);
            for (int64_t k = 0; one->lo && one->hi && k < one->count; k++)
                one->lo[k] = one->lo[k] > least ? one->lo[k] : fmin(least, one->y[k]);
        }
}

static void prepare_density(plot_figure *figure) {
    add_errors(figure);
    cut_areas(figure);
    if (figure->run->status == SZG_OK && figure->panels > 0 && figure->panel->count > 0)
        add_resolution(figure, figure->panel);
}

static void say_error(words *words, const plot_figure *figure) {
    const double *most = figure->own;
    if (*most > 0) {
        fputs("The standard error is at most ", words->stream);
        szgi_plot_number(words, *most);
        fputs(".", words->stream);
    } else {
        fputs("Moments are exact up to rounding: there is no standard error.", words->stream);
    }
}

static void say_density(words *words, const plot_figure *figure) {
    say_error(words, figure);
    fputs(" A grey bar has the kernel's standard deviation to either side of its point.",
          words->stream);
}

#define BY_MATRIX                                                                                  \
    .figure_by = {"result", "source", "matrix"}, .group_by = {"result", "source"},                 \
    .series_by = {"head", "n"}, .outliers = true, .subject = szgi_words_source

static const plot density = {BY_MATRIX,
                             .tables = {"spectrum_density"},
                             .needs = {"lambda", "density", "error", "resolution"},
                             .undone = "the densities are not drawn",
                             .area = true,
                             .x = {.column = "lambda"},
                             .y = {.column = "density", .scale = PLOT_CHOSEN},
                             .title = "density of the eigenvalues",
                             .prepare = prepare_density,
                             .caption = say_density};

static const plot moments = {BY_MATRIX,
                             .tables = {"spectrum_moments"},
                             .needs = {"index", "moment", "error"},
                             .undone = "the moments are not drawn",
                             .area = true,
                             .x = {.column = "index", .label = "Chebyshev polynomial"},
                             .y = {.column = "moment"},
                             .title = "Chebyshev moments",
                             .prepare = add_errors,
                             .caption = say_error};

static const plot *const plots[] = {&density, &moments, NULL};

const section szgi_section_density = {
    .id = "density",
    .title = "Spectral density",
    .tables = {"spectrum_density", "spectrum_moments"},
    .intro = "The share of the eigenvalues for each unit of their value, smoothed by Jackson's "
             "kernel. The area is one standard error to either side.",
    .plots = plots,
    .run = szgi_plot_section};

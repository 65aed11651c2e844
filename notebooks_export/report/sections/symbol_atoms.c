/* The point masses of almost periodic kernels. */
#include <inttypes.h>
#include <math.h>

#include "spectrum.h"

enum { MOST_STEMS = 64 };
static const double wide = 50; /* the ratio of angles from which on a log axis shows them */

typedef struct masses {
    int64_t count, at_zero; /* those at angle 0 that a logarithmic axis has no place for */
    double total, zero_mass;
} masses;

/* Whether only a logarithmic axis shows the angles apart. */
static bool is_wide(const plot_series *of) {
    double least = INFINITY, greatest = 0;
    for (int64_t i = 0; i < of->count; i++)
        if (of->x[i] > 0 && isfinite(of->x[i])) {
            least = fmin(least, of->x[i]);
            greatest = fmax(greatest, of->x[i]);
        }
    return greatest > wide * least;
}

static void count_masses(plot_series *of, bool logarithmic, masses *to) {
    for (int64_t i = 0; i < of->count; i++) {
        to->count++;
        to->total += isfinite(of->y[i]) ? of->y[i] : 0;
        if (of->x[i] != 0 || !logarithmic)
            continue;
        to->at_zero++;
        to->zero_mass += of->y[i];
        of->x[i] = NAN;
    }
}

/* Few masses stand on stems. */
static void add_stems(plot_run *run, plot_series *of) {
    if (of->count > MOST_STEMS || !szgi_plot_new(run, of->count, &of->lo) ||
        !szgi_plot_new(run, of->count, &of->hi))
        return;
    for (int64_t i = 0; i < of->count; i++)
        of->hi[i] = isnan(of->x[i]) ? NAN : of->y[i];
}

static void prepare(plot_figure *figure) {
    masses *own;
    if (figure->panels == 0 || figure->panel->count == 0 || !szgi_plot_new(figure->run, 1, &own))
        return;
    plot_series *series = figure->panel->series;
    bool logarithmic = is_wide(series);
    figure->own = own;
    figure->x.scale = logarithmic ? PLOT_LOG : PLOT_LINEAR;
    series->name = "point mass";
    count_masses(series, logarithmic, own);
    add_stems(figure->run, series);
}

static void say_caption(words *words, const plot_figure *figure) {
    const masses *of = figure->own;
    szgi_plot_count(words, of->count, "point mass, ", "point masses, ");
    szgi_plot_number(words, of->total);
    fputs(" in sum: no symbol is a function, no limit theorem applies", words->stream);
    if (of->at_zero > 0) {
        fputs("; the mass ", words->stream);
        szgi_plot_number(words, of->zero_mass);
        fputs(" at angle 0 is not drawn here", words->stream);
    }
    fputs(".", words->stream);
}

const plot szgi_symbol_atoms = {.tables = {"symbol_atoms"},
                                .needs = {"theta", "mass"},
                                .undone = "the point masses are not drawn",
                                .figure_by = {"result", "source", "layer", "head", "matrix", "n"},
                                .group_by = {"result", "source"},
                                .marks = PLOT_POINTS,
                                .x = {.column = "theta"},
                                .y = {.column = "mass"},
                                .subject = szgi_words_key,
                                .title = "point masses",
                                .prepare = prepare,
                                .caption = say_caption};

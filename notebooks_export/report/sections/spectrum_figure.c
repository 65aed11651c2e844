/* A figure of sorted values, or of the complex plane, from the rows of its matrices. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#include "spectrum.h"

enum { CIRCLE_POINTS = 181, PLANE_SIZE = 400, DOTTED_SERIES = 4, DOTTED_VALUES = 10 };

/* A line beside a series. */
typedef struct curve {
    int64_t count;
    double *x, *y;
} curve;

/* One panel in the making. */
typedef struct making {
    plot_figure *figure;
    plot_panel *panel;
    spectrum_facts *facts;
    bool *dropped; /* [panel->count] */
    curve *symbol; /* [panel->count]; count 0: none */
} making;

static bool copy_curve(plot_run *run, const quantiles *from, curve *out) {
    double *share = NULL, *value = NULL;
    int64_t count = 0;
    szg_status status = szgi_quantiles_curve(run->context, from, &count, &share, &value);
    if (szgi_plot_keep(run, status) && szgi_plot_new(run, count, &out->x) &&
        szgi_plot_new(run, count, &out->y) && count > 0) {
        memcpy(out->x, share, (size_t)count * sizeof *share);
        memcpy(out->y, value, (size_t)count * sizeof *value);
        out->count = count;
    }
    szgi_memory_free(share);
    szgi_memory_free(value);
    return run->status == SZG_OK;
}

/* ---- What the values of one matrix say ---- */

static int64_t count_within_circle(const spectrum_series *of, double *beyond) {
    int64_t within = of->zeros;
    *beyond = 0;
    for (int64_t i = 0; i < of->listed; i++) {
        double modulus = hypot(of->re[i], of->im[i]);
        within += modulus <= of->radius;
        *beyond = fmax(*beyond, modulus - of->radius);
    }
    return within;
}

static void count_bounded(spectrum_facts *to, const spectrum_series *of) {
    double beyond;
    int64_t total = to->plane ? of->listed + of->zeros : of->spectrum.total;
    to->total += total;
    if (isnan(to->plane ? of->radius : of->hi))
        return;
    to->within += to->plane ? count_within_circle(of, &beyond)
                            : szgi_quantiles_within(&of->spectrum, of->lo, of->hi, &beyond);
    to->bounded += total;
    to->beyond = fmax(to->beyond, beyond);
    to->lo = fmin(to->lo, of->lo);
    to->hi = fmax(to->hi, of->hi);
    to->radius = fmax(to->radius, of->radius);
}

static void count_distance(spectrum_facts *to, const spectrum_series *of) {
    double distance = szgi_quantiles_distance(&of->spectrum, &of->symbol);
    if (of->samples && of->symbol.total > 0 && szgi_symbol_is_coarse(*of->samples))
        to->coarse = of->n;
    if (isnan(distance) || !of->summary || !szgi_spectrum_theorem(*of->summary))
        return;
    to->distance = fmax(to->distance, distance);
    to->blur = fmax(to->blur, of->blur);
}

static void count_facts(spectrum_facts *to, const spectrum_series *of) {
    count_bounded(to, of);
    count_distance(to, of);
    to->singular = of->singular;
    to->part |= of->part;
    to->unsaid |= of->unsaid;
    to->zeros += of->zeros;
    for (int64_t i = 0; i < of->spectrum.listed; i++)
        to->computed += of->spectrum.value[i] == 0;
    if (of->spectrum.total > 0) {
        to->least = fmin(to->least, szgi_quantiles_at(&of->spectrum, 0));
        to->greatest = fmax(to->greatest, szgi_quantiles_at(&of->spectrum, 1));
    }
}

/* Of which matrix these are the eigenvalues, where it is not the one that the figure names. */
static const char *label_of(const spectrum_series *of) {
    if (of->singular)
        return "singular value";
    if (szgi_cell_says(of->values, "values_of", "hermitian_part"))
        return "eigenvalue of the Hermitian part";
    if (of->summary && szgi_cell_says(*of->summary, "solver", "triangular"))
        return "diagonal entry (triangular matrix)";
    return "eigenvalue";
}

/* ---- Series ---- */

/* Values that do not add up to the matrix's order have no places among its quantiles. */
static bool is_whole(const spectrum_series *of) {
    return isnan(of->n) || of->n == (double)(of->listed + of->zeros);
}

static void say_key(words *words, const void *of) {
    szgi_words_key(words, *(const rows *)of);
}

static void say_partial(plot_run *run, const spectrum_series *of) {
    const char *key = szgi_plot_text(run, say_key, &of->values);
    if (run->status == SZG_OK)
        szgi_page_paragraph(run->page,
                            "%s: %" PRId64 " values are listed and %" PRId64
                            " are said to be 0, which is not the matrix's order %.0f: no "
                            "quantiles.",
                            key, of->listed, of->zeros, of->n);
}

static void take_matrix(const making *of, int64_t index, const spectrum_series *matrix) {
    plot_run *run = of->figure->run;
    plot_series *series = &of->panel->series[index];
    curve sorted = {0};
    of->dropped[index] = !is_whole(matrix);
    if (of->dropped[index]) {
        say_partial(run, matrix);
        return;
    }
    count_facts(of->facts, matrix);
    of->figure->y.label = of->facts->plane ? "imaginary part" : label_of(matrix);
    if (of->facts->plane || !copy_curve(run, &matrix->spectrum, &sorted))
        return;
    series->count = sorted.count;
    series->x = sorted.x;
    series->y = sorted.y;
    if (matrix->symbol.total > 0)
        copy_curve(run, &matrix->symbol, &of->symbol[index]);
}

/* The summary's rows are linked where all ranges are. */
static void add_sources(plot_figure *figure, const spectrum_series *of) {
    const rows *const other[] = {of->samples, of->range};
    for (int k = 0; k < 2; k++)
        if (other[k])
            szgi_plot_add_source(figure, *other[k]);
}

static void take_series(const making *of, int64_t index) {
    plot_run *run = of->figure->run;
    spectrum_series matrix;
    szg_status status = run->status;
    if (status == SZG_OK)
        status = szgi_spectrum_read(run->context, run->own, of->panel->series[index].of, &matrix);
    if (!szgi_plot_keep(run, status))
        return;
    take_matrix(of, index, &matrix);
    if (!of->dropped[index])
        add_sources(of->figure, &matrix);
    szgi_spectrum_free(&matrix);
}

/* ---- Panels ---- */

/* One line of its own colour beside one list of values; beside several a thin one to each. */
static void add_symbols(const making *of, int64_t count) {
    bool alone = count == 1;
    for (int64_t i = 0; i < count && count <= DOTTED_SERIES; i++) {
        const curve *symbol = &of->symbol[i];
        plot_series *line =
            symbol->count > 0
                ? szgi_plot_add(of->figure, of->panel, of->panel->series[i].of, symbol->count)
                : NULL;
        if (!line)
            continue;
        line->x = symbol->x;
        line->y = symbol->y;
        line->marks = PLOT_LINES;
        line->colour = alone ? 1 : (int)i + (int)FIGURE_THIN;
        line->name = of->facts->singular ? "quantiles of |a|" : "quantiles of the symbol";
        line->unlisted = i > 0;
    }
}

/* A few matrices are dots, many are lines; so few values are dots always. */
static void choose_marks(const plot_panel *panel, bool plane) {
    for (int64_t i = 0; i < panel->count; i++) {
        bool dots =
            plane || panel->count <= DOTTED_SERIES || panel->series[i].count < DOTTED_VALUES;
        panel->series[i].marks = dots ? PLOT_POINTS : PLOT_LINES;
    }
}

static void swap_axes(const plot_panel *panel) {
    for (int64_t i = 0; i < panel->count; i++) {
        double *im = panel->series[i].x;
        panel->series[i].x = panel->series[i].y;
        panel->series[i].y = im;
    }
}

static void drop_symbols(const making *of) {
    int64_t kept = 0;
    for (int64_t i = 0; i < of->panel->count; i++)
        if (!of->dropped[i])
            of->symbol[kept++] = of->symbol[i];
}

static void prepare_panel(plot_figure *figure, plot_panel *panel, spectrum_facts *facts) {
    making of = {.figure = figure, .panel = panel, .facts = facts};
    if (!szgi_plot_new(figure->run, panel->count, &of.dropped) ||
        !szgi_plot_new(figure->run, panel->count, &of.symbol))
        return;
    for (int64_t i = 0; i < panel->count; i++)
        take_series(&of, i);
    if (figure->run->status != SZG_OK)
        return;
    if (!facts->plane)
        szgi_heads_find(panel, of.dropped, &facts->left_out);
    drop_symbols(&of);
    szgi_heads_drop(panel, of.dropped);
    szgi_heads_name(figure, panel, facts->singular ? "singular values" : "eigenvalues");
    choose_marks(panel, facts->plane);
    if (facts->plane)
        swap_axes(panel);
    else
        add_symbols(&of, panel->count);
}

/* ---- The figure ---- */

/* Heads without a range share the panels: what bounds some values is drawn for none. */
static bool bounds_all(const spectrum_facts *facts) {
    return facts->bounded > 0 && facts->bounded == facts->total;
}

static void bound_values(plot_figure *figure, const spectrum_facts *facts) {
    figure->x = (plot_axis){.label = "share of the values below", .lo = 0, .hi = 1};
    figure->y = (plot_axis){.label = figure->y.label, .scale = PLOT_CHOSEN};
    if (!bounds_all(facts))
        return;
    szgi_plot_add_rule(figure, (plot_rule){.name = "certified range", .at = facts->lo});
    szgi_plot_add_rule(figure, (plot_rule){.at = facts->hi});
}

/* Half the side of the square that holds the circle and every value. */
static double reach(const plot_figure *figure, const spectrum_facts *facts) {
    double most = facts->radius;
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t s = 0; s < figure->panel[p].count; s++) {
            const plot_series *one = &figure->panel[p].series[s];
            for (int64_t i = 0; i < one->count; i++) {
                double modulus = hypot(one->x[i], one->y[i]);
                most = isfinite(modulus) ? fmax(most, modulus) : most;
            }
        }
    return 1.05 * most;
}

static void add_circle(plot_figure *figure, plot_panel *panel, double radius) {
    const double turn = 6.28318530717958647692;
    plot_series *circle = szgi_plot_add(figure, panel, panel->of, CIRCLE_POINTS);
    if (!circle)
        return;
    circle->marks = PLOT_LINES;
    circle->colour = FIGURE_MUTED;
    circle->beside = true;
    circle->name = "certified maximum of |a|";
    for (int i = 0; i < CIRCLE_POINTS; i++) {
        circle->x[i] = radius * cos(turn * i / (CIRCLE_POINTS - 1));
        circle->y[i] = radius * sin(turn * i / (CIRCLE_POINTS - 1));
    }
}

static void bound_plane(plot_figure *figure, const spectrum_facts *facts) {
    double side = reach(figure, facts);
    figure->x = (plot_axis){.label = "real part", .lo = -side, .hi = side};
    figure->y = (plot_axis){.label = "imaginary part", .lo = -side, .hi = side};
    if (figure->panels == 1)
        figure->width = figure->height = PLANE_SIZE;
    for (int64_t p = 0; p < figure->panels && bounds_all(facts); p++)
        add_circle(figure, &figure->panel[p], facts->radius);
}

/* Singular values have no imaginary part; x is that of eigenvalues so far. */
static bool is_complex(const plot_figure *figure) {
    for (int64_t p = 0; p < figure->panels; p++)
        for (int64_t s = 0; s < figure->panel[p].count; s++) {
            const plot_series *one = &figure->panel[p].series[s];
            for (int64_t i = 0; i < one->count; i++)
                if (one->x[i] != 0 && !isnan(one->x[i]))
                    return !szgi_cell_says(one->of, "kind", "singular");
        }
    return false;
}

void szgi_spectrum_prepare(plot_figure *figure) {
    spectrum_facts *facts;
    if (!szgi_plot_new(figure->run, 1, &facts))
        return;
    *facts = (spectrum_facts){.plane = is_complex(figure),
                              .lo = NAN,
                              .hi = NAN,
                              .radius = NAN,
                              .least = NAN,
                              .greatest = NAN,
                              .distance = NAN,
                              .coarse = NAN};
    figure->own = facts;
    for (int64_t p = 0; p < figure->panels; p++)
        prepare_panel(figure, &figure->panel[p], facts);
    if (facts->plane)
        bound_plane(figure, facts);
    else
        bound_values(figure, facts);
}

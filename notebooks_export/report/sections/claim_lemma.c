/* Lemma B.1 over random and adversarial trials: maxima and widths of f against those of g. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "claims.h"

enum { VERDICT = 40, WIDE = 100 };

static bool is_equal(rows of) {
    const char *equality = szgi_rows_text(of, 0, "equality");
    return equality && strcmp(equality, "yes") == 0;
}

/* ---- The trials' enclosures ---- */

/* What is compared: columns that enclose it, of f and of g. */
typedef struct comparison {
    const char *what, *lo[2], *hi[2], *ratio;
} comparison;

static const comparison maxima = {"max|f| above max|g|",
                                  {"max_f_lo", "max_g_lo"},
                                  {"max_f_hi", "max_g_hi"},
                                  "max|f| / max|g|"},
                        widths = {"the width of f above that of g",
                                  {"width_f_lo", "width_g_lo"},
                                  {"width_f_hi", "width_g_hi"},
                                  "width of f / width of g"};

static const comparison *compared(const plot_figure *figure) {
    return strcmp(figure->y.column, maxima.lo[0]) == 0 ? &maxima : &widths;
}

typedef struct trial {
    double lo[2], hi[2]; /* f, g */
    bool known;
} trial;

static trial trial_of(const comparison *what, rows of, int64_t index) {
    trial out = {.known = true};
    for (int i = 0; i < 2; i++) {
        out.lo[i] = szgi_rows_real(of, index, what->lo[i]);
        out.hi[i] = szgi_rows_real(of, index, what->hi[i]);
        out.known &= out.lo[i] <= out.hi[i] && isfinite(out.hi[i] - out.lo[i]);
    }
    return out;
}

/* ---- Points, at the middles of the enclosures ---- */

static void place_points(const comparison *what, plot_series *points) {
    for (int64_t i = 0; i < points->count; i++) {
        trial one = trial_of(what, points->of, i);
        points->x[i] = one.known ? one.lo[1] / 2 + one.hi[1] / 2 : NAN;
        points->y[i] = one.known ? one.lo[0] / 2 + one.hi[0] / 2 : NAN;
    }
}

typedef struct extent {
    double lo, hi;
} extent;

static extent extent_of(const plot_panel *panel) {
    extent out = {NAN, NAN};
    for (int64_t i = 0; i < panel->count; i++)
        for (int64_t k = 0; k < panel->series[i].count; k++) {
            out.lo = fmin(out.lo, fmin(panel->series[i].x[k], panel->series[i].y[k]));
            out.hi = fmax(out.hi, fmax(panel->series[i].x[k], panel->series[i].y[k]));
        }
    return out;
}

/* Sizes far apart: quotients, which 1 parts as the diagonal parts the sizes. */
static void draw_quotients(plot_figure *figure, plot_panel *panel) {
    for (int64_t i = 0; i < panel->count; i++)
        for (int64_t k = 0; k < panel->series[i].count; k++)
            panel->series[i].y[k] /= panel->series[i].x[k];
    figure->x.scale = PLOT_LOG;
    figure->y.label = compared(figure)->ratio;
    szgi_plot_add_rule(figure, (plot_rule){.name = "equal", .at = 1});
}

static void draw_diagonal(plot_figure *figure, plot_panel *panel, extent ends) {
    plot_series *line = szgi_plot_add(figure, panel, panel->of, 2);
    if (!line)
        return;
    line->x[0] = line->y[0] = ends.lo;
    line->x[1] = line->y[1] = ends.hi;
    line->marks = PLOT_LINES;
    line->name = "equal";
    line->colour = FIGURE_MUTED;
}

static void prepare_trials(plot_figure *figure) {
    plot_panel *panel = figure->panel;
    if (figure->panels == 0)
        return;
    for (int64_t i = 0; i < panel->count; i++) {
        place_points(compared(figure), &panel->series[i]);
        panel->series[i].colour = is_equal(panel->series[i].of) ? 1 : 0;
    }
    extent ends = extent_of(panel);
    if (ends.lo > 0 && ends.hi / ends.lo > WIDE)
        draw_quotients(figure, panel);
    else if (ends.lo <= ends.hi)
        draw_diagonal(figure, panel, ends);
}

/* ---- Words ---- */

static void say_equality(words *words, rows of) {
    fputs(is_equal(of) ? "max|f| = max|g| exactly" : "other trials", words->stream);
}

typedef struct counts {
    int64_t known, above, equal;
} counts;

static counts count_trials(const comparison *what, rows of) {
    counts out = {0};
    for (int64_t i = 0; i < of.count; i++) {
        const char *equality = szgi_rows_text(of, i, "equality");
        trial one = trial_of(what, of, i);
        out.known += one.known;
        out.above += one.known && one.lo[0] > one.hi[1];
        out.equal += one.known && equality && strcmp(equality, "yes") == 0;
    }
    return out;
}

/* "0 of 64 trials have max|f| above max|g|" */
static counts say_count(words *words, const plot_figure *figure) {
    const comparison *what = compared(figure);
    counts of = count_trials(what, figure->of);
    fprintf(words->stream, "%" PRId64 " of %" PRId64 " trials have %s", of.above, of.known,
            what->what);
    return of;
}

static void say_maxima(words *words, const plot_figure *figure) {
    counts of = say_count(words, figure);
    fprintf(words->stream,
            of.above > 0 ? ", which contradicts the lemma; %" PRId64 " have equality."
                         : ", as the lemma says; %" PRId64 " have equality.",
            of.equal);
}

static void say_widths(words *words, const plot_figure *figure) {
    bool above = say_count(words, figure).above > 0;
    fputs(above ? ", which contradicts L3" : "", words->stream);
    if (figure->run->own) {
        fputs(above ? " (verdict: " : " (verdict on L3: ", words->stream);
        szgi_words_clipped(words, figure->run->own, VERDICT);
        fputs(")", words->stream);
    }
    fputs(".", words->stream);
}

/* ---- Records ---- */

#define TRIALS(...)                                                                                \
    {                                                                                              \
        .tables = {"verify_lemma"}, .series_by = {"equality"}, .series_name = say_equality,        \
        .marks = PLOT_POINTS, .width = 480, .height = 360, .prepare = prepare_trials, __VA_ARGS__  \
    }

static const plot of_maxima =
                      TRIALS(.x = {.column = "max_g_lo", .label = "max|g|"},
                             .y = {.column = "max_f_lo", .label = "max|f|"},
                             .title = "Lemma B.1: max|f| against max|g|", .caption = say_maxima),
                  of_widths = TRIALS(.x = {.column = "width_g_lo", .label = "width of g"},
                                     .y = {.column = "width_f_lo", .label = "width of f"},
                                     .title = "Lemma B.1: width of f against width of g",
                                     .caption = say_widths);

static void draw_trials(plot_run *run, const plot *plot, const comparison *what, rows trials) {
    if (count_trials(what, trials).known == 0) {
        szgi_page_paragraph(run->page, "%s: the table has no enclosures to draw.", plot->title);
    } else if (run->left == 0) {
        run->left_out++;
    } else {
        run->left--;
        szgi_plot_one(run, plot, trials);
    }
}

void szgi_lemma_figures(plot_run *run, rows trials, const char *verdict) {
    szgi_page_heading(run->page, "Lemma B.1 over random and adversarial trials");
    szgi_page_grid_begin(run->page);
    run->own = verdict;
    draw_trials(run, &of_maxima, &maxima, trials);
    draw_trials(run, &of_widths, &widths, trials);
    run->own = NULL;
    szgi_page_grid_end(run->page);
}

/* From rows to panels and series: which rows are one line, and its numbers. */
#include <math.h>
#include <string.h>

#include "base/memory.h"

#include "band.h"
#include "choose.h"
#include "label.h"
#include "numbered.h"
#include "plot_private.h"
#include "quantile.h"

/* ---- Places: values that are names ---- */

static const char *const no_column[] = {NULL};

static bool is_text(rows of, const char *column) {
    int64_t found = column ? szg_table_find(of.table, column) : -1;
    return found >= 0 && szg_table_column(of.table, found)->type == SZG_TEXT;
}

bool szgi_plot_has_places(const plot_axis *axis, rows of) {
    return axis->column && (axis->places || is_text(of, axis->column));
}

/* The different values of the axis' column, as names; numbers ascend. */
typedef struct places {
    const char **name;
    double *number; /* NULL: texts */
    int64_t count;
} places;

static void say_whole(words *words, const void *of) {
    szgi_plot_number(words, *(const double *)of);
}

static void find_numbers(plot_run *run, rows of, const char *column, places *out) {
    double *number = NULL;
    int64_t count = 0;
    if (!szgi_plot_keep(run, szgi_distinct_numbers(run->context, of, column, &count, &number)))
        return;
    szgi_plot_adopt(run, number);
    count = count < PLOT_KEYS ? count : PLOT_KEYS;
    if (run->status != SZG_OK || !szgi_plot_new(run, count, &out->name))
        return;
    out->number = number;
    out->count = count;
    for (int64_t i = 0; i < count; i++)
        out->name[i] = szgi_plot_text(run, say_whole, &number[i]);
}

static void find_texts(plot_run *run, rows of, const char *column, places *out) {
    const char *const by[] = {column, NULL};
    groups all = szgi_plot_split(run, of, by, NULL);
    if (!szgi_plot_new(run, all.count < PLOT_KEYS ? all.count : PLOT_KEYS, &out->name))
        return;
    for (int64_t i = 0; i < all.count && out->count < PLOT_KEYS; i++) {
        const char *text = szgi_rows_text(all.group[i], 0, column);
        if (text)
            out->name[out->count++] = text;
    }
}

static places find_places(plot_run *run, const plot_axis *axis, rows of) {
    places out = {0};
    if (run->status != SZG_OK || !szgi_plot_has_places(axis, of))
        return out;
    if (is_text(of, axis->column))
        find_texts(run, of, axis->column, &out);
    else
        find_numbers(run, of, axis->column, &out);
    return out;
}

static double place_of(const places *of, rows from, int64_t index, const char *column) {
    if (of->number) {
        int64_t at = szgi_find_number(of->count, of->number, szgi_rows_real(from, index, column));
        return at < 0 ? NAN : (double)at;
    }
    const char *text = szgi_rows_text(from, index, column);
    for (int64_t i = 0; text && i < of->count; i++)
        if (strcmp(of->name[i], text) == 0)
            return (double)i;
    return NAN;
}

/* ---- Series ---- */

plot_series *szgi_plot_add(plot_figure *figure, plot_panel *panel, rows of, int64_t count) {
    plot_run *run = figure->run;
    if (panel->count == PLOT_SERIES)
        figure->undrawn++;
    if (run->status != SZG_OK || panel->count == PLOT_SERIES)
        return NULL;
    if (panel->count == panel->room) {
        plot_series *more;
        int64_t room = panel->room ? 2 * panel->room : 8;
        if (!szgi_plot_new(run, room, &more))
            return NULL;
        if (panel->count > 0)
            memcpy(more, panel->series, (size_t)panel->count * sizeof *more);
        panel->series = more;
        panel->room = room;
    }
    plot_series *new = &panel->series[panel->count];
    *new = (plot_series){.of = of, .marks = figure->plot->marks, .count = count};
    new->colour = (int)panel->count;
    new->flat = figure->plot->marks == PLOT_RANGES;
    if (!szgi_plot_new(run, count, &new->x) || !szgi_plot_new(run, count, &new->y))
        return NULL;
    panel->count++;
    return new;
}

static double times(const plot_axis *axis) {
    return axis->times != 0 ? axis->times : 1;
}

static const char *column_of(const plot_figure *figure, const plot_series *one) {
    return one->from ? one->from->column : figure->y.column;
}

static const char *spread_of(const plot_figure *figure, const plot_series *one) {
    return one->from ? one->from->spread : figure->plot->spread;
}

/* One seed has no deviation. */
static void take_spread(const plot_figure *figure, plot_series *to, int64_t i) {
    const char *seeds = to->from ? to->from->seeds : figure->plot->seeds;
    bool several = szgi_rows_real(to->of, i, seeds ? seeds : "seeds") > 1;
    double spread = szgi_rows_real(to->of, i, spread_of(figure, to)) *
                    times(to->flat ? &figure->x : &figure->y);
    double mean = to->flat ? to->x[i] : to->y[i];
    to->lo[i] = several ? mean - spread : NAN;
    to->hi[i] = several ? mean + spread : NAN;
}

/* A point a row. */
static void take_each(plot_figure *figure, plot_series *to, const places *x, const places *y) {
    const plot *plot = figure->plot;
    plot_run *run = figure->run;
    bool spread = spread_of(figure, to) != NULL;
    to->flat = to->flat || (spread && y->name);
    double by = times(to->flat ? &figure->x : &figure->y);
    if (plot->lo || spread)
        szgi_plot_new(run, to->count, &to->lo);
    if (plot->hi || spread)
        szgi_plot_new(run, to->count, &to->hi);
    if (plot->hover[0])
        szgi_plot_new(run, to->count, &to->hover);
    for (int64_t i = 0; i < to->count && run->status == SZG_OK; i++) {
        to->x[i] = x->name ? place_of(x, to->of, i, figure->x.column)
                   : figure->x.column
                       ? times(&figure->x) * szgi_rows_real(to->of, i, figure->x.column)
                       : (double)i;
        to->y[i] = y->name ? place_of(y, to->of, i, figure->y.column)
                           : times(&figure->y) * szgi_rows_real(to->of, i, column_of(figure, to));
        if (spread) {
            take_spread(figure, to, i);
        } else {
            if (to->lo)
                to->lo[i] = by * szgi_rows_real(to->of, i, plot->lo);
            if (to->hi)
                to->hi[i] = by * szgi_rows_real(to->of, i, plot->hi);
        }
        if (to->hover)
            to->hover[i] = szgi_plot_hover(figure, to->name, to->of, i);
    }
}

static void take_means(plot_figure *figure, plot_series *to) {
    plot_run *run = figure->run;
    band band;
    if (run->status != SZG_OK || /* the series' name may have failed */
        !szgi_plot_keep(run, szgi_band_open(run->context, to->of, figure->x.column,
                                            column_of(figure, to), &band)))
        return;
    szgi_plot_adopt(run, band.x); /* the four arrays are one block */
    if (run->status != SZG_OK)
        return;
    bool wide = false;
    for (int64_t i = 0; i < band.count; i++) {
        wide = wide || band.lo[i] < band.hi[i];
        band.x[i] *= times(&figure->x);
        band.mean[i] *= times(&figure->y);
        band.lo[i] *= times(&figure->y);
        band.hi[i] *= times(&figure->y);
    }
    to->count = band.count;
    to->x = band.x;
    to->y = band.mean;
    to->lo = wide ? band.lo : NULL;
    to->hi = wide ? band.hi : NULL;
    to->least = band.least;
    to->most = band.most;
}

/* Sorted values over their rank, or over the share of values below. */
static void take_sorted(plot_figure *figure, plot_series *to) {
    plot_run *run = figure->run;
    quantiles sorted;
    double *value = szgi_plot_reals(run, to->of, column_of(figure, to));
    if (!value ||
        !szgi_plot_keep(run, szgi_quantiles_of(run->context, to->count, value, 0, &sorted)))
        return;
    to->count = sorted.listed;
    for (int64_t i = 0; i < sorted.listed; i++) {
        bool ranked = figure->plot->values == PLOT_RANKED;
        to->y[i] = times(&figure->y) * sorted.value[ranked ? sorted.listed - 1 - i : i];
        to->x[i] = ranked ? (double)(i + 1) : ((double)i + 0.5) / (double)sorted.listed;
    }
    szgi_quantiles_free(&sorted);
}

/* `from`: NULL, or one of the record's columns. */
static void take_series(plot_figure *figure, plot_panel *panel, rows of, const plot_column *from,
                        const places *x, const places *y) {
    plot_series *new = szgi_plot_add(figure, panel, of, of.count);
    if (!new)
        return;
    new->from = from;
    new->colour = from ? (int)(from - figure->plot->columns) : new->colour;
    new->name = from && from->name ? from->name
                : from             ? szgi_label_words(from->column)
                                   : szgi_plot_series_name(figure->run, figure->plot, of);
    if (figure->plot->values == PLOT_EACH)
        take_each(figure, new, x, y);
    else if (figure->plot->values == PLOT_MEANS)
        take_means(figure, new);
    else
        take_sorted(figure, new);
}

static rows filled(plot_run *run, rows of, const char *column) {
    int64_t found = szg_table_find(of.table, column), *row;
    rows kept = {.table = of.table};
    if (found < 0 || !szgi_plot_new(run, of.count, &row))
        return kept;
    kept.row = row;
    for (int64_t i = 0; i < of.count; i++)
        if (!szg_table_is_empty(of.table, szgi_rows_at(of, i), found))
            row[kept.count++] = szgi_rows_at(of, i);
    return kept;
}

static void take_columns(plot_figure *figure, plot_panel *panel, rows of, const places *x,
                         const places *y) {
    const plot_column *from = figure->plot->columns;
    if (!from->column)
        take_series(figure, panel, of, NULL, x, y);
    for (int i = 0; i < PLOT_LIST && from[i].column; i++) {
        rows kept = filled(figure->run, of, from[i].column);
        if (kept.count > 0)
            take_series(figure, panel, kept, &from[i], x, y);
    }
}

/* ---- Series that stand out ---- */

static void colour_outliers(plot_figure *figure, plot_panel *panel) {
    enum { MOST = 4, FEW = 4 };
    plot_run *run = figure->run;
    double *peak;
    int *rank;
    int64_t grey = 0;
    if (panel->count <= FEW || !szgi_plot_new(run, panel->count, &peak) ||
        !szgi_plot_new(run, panel->count, &rank))
        return;
    for (int64_t i = 0; i < panel->count; i++) {
        const plot_series *one = &panel->series[i];
        double own = figure->plot->by_last ? szgi_plot_last(one) : szgi_plot_peak(one);
        peak[i] = figure->y.scale == PLOT_LOG ? log10(own) : own;
    }
    if (!szgi_plot_keep(run, szgi_choose_outliers(run->context, panel->count, peak, MOST, rank)))
        return;
    for (int64_t i = 0; i < panel->count; i++) {
        grey += rank[i] < 0;
        panel->series[i].colour = rank[i] < 0 ? FIGURE_MUTED : rank[i];
        panel->series[i].unlisted = rank[i] < 0 && grey > 1;
        panel->series[i].stands_out = rank[i] >= 0;
    }
}

/* ---- Panels ---- */

static void fill_panel(plot_figure *figure, plot_panel *panel, const places *x, const places *y) {
    groups lines =
        szgi_plot_split(figure->run, panel->of, figure->plot->series_by, figure->plot->series_key);
    for (int64_t i = 0; i < lines.count && figure->run->status == SZG_OK; i++)
        take_columns(figure, panel, lines.group[i], x, y);
    if (figure->plot->outliers && figure->run->status == SZG_OK)
        colour_outliers(figure, panel);
}

void szgi_plot_fill(plot_figure *figure) {
    const plot *plot = figure->plot;
    plot_run *run = figure->run;
    places x = find_places(run, &figure->x, figure->of),
           y = find_places(run, &figure->y, figure->of);
    groups panels =
        szgi_plot_split(run, figure->of, plot->panel_by[0] ? plot->panel_by : no_column, NULL);
    figure->x_names = x.name;
    figure->x_count = x.count;
    figure->y_names = y.name;
    figure->y_count = y.count;
    int64_t count = panels.count < PLOT_PANELS ? panels.count : PLOT_PANELS;
    figure->undrawn = panels.count - count;
    if (!szgi_plot_new(run, count, &figure->panel))
        return;
    for (int64_t i = 0; i < count && run->status == SZG_OK; i++) {
        plot_panel *panel = &figure->panel[figure->panels++];
        panel->of = panels.group[i];
        if (plot->panel_by[0])
            panel->name = szgi_plot_key(run, plot->panel_by, panel->of);
        fill_panel(figure, panel, &x, &y);
    }
}

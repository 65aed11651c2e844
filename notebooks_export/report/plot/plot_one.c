/* One figure of a record, or its rows as a table. */
#include <math.h>

#include "match.h"
#include "plot_private.h"

static double greatest(rows of, const char *column) {
    double value = NAN;
    for (int64_t i = 0; i < of.count; i++)
        value = fmax(value, szgi_rows_real(of, i, column));
    return value;
}

/* Those with the column's greatest number; all where none has a number. */
static rows last_of(plot_run *run, rows of, const char *column) {
    int64_t *row;
    double last = column ? greatest(of, column) : NAN;
    if (isnan(last) || !szgi_plot_new(run, of.count, &row))
        return of;
    rows kept = {.table = of.table, .row = row};
    for (int64_t i = 0; i < of.count; i++)
        if (szgi_rows_real(of, i, column) == last)
            row[kept.count++] = szgi_rows_at(of, i);
    return kept;
}

static bool has_several(rows of, const char *column) {
    double first = NAN;
    for (int64_t i = 0; i < of.count; i++) {
        double value = szgi_rows_real(of, i, column);
        if (isfinite(value) && isfinite(first) && value != first)
            return true;
        first = isfinite(first) ? first : value;
    }
    return false;
}

static void choose_column(plot_axis *axis, rows of) {
    if (axis->otherwise && !has_several(of, axis->column) && has_several(of, axis->otherwise))
        axis->column = axis->otherwise;
}

void szgi_plot_one(plot_run *run, const plot *plot, rows of) {
    static const char *const no_columns[PLOT_COLUMNS] = {NULL};
    block *mark = run->block;
    of = last_of(run, of, plot->last);
    if (plot->marks == PLOT_ROWS) {
        if (run->status == SZG_OK)
            szgi_plot_keep(
                run, szgi_page_rows(run->page, of, plot->shown[0] ? plot->shown : no_columns));
        return;
    }
    plot_figure figure = {.run = run,
                          .plot = plot,
                          .of = of,
                          .x = plot->x,
                          .y = plot->y,
                          .width = plot->width,
                          .height = plot->height};
    figure.title = szgi_plot_title(run, plot, of);
    for (int i = 0; i < PLOT_LIST && plot->rules[i].name; i++)
        szgi_plot_add_rule(&figure, plot->rules[i]);
    choose_column(&figure.x, of);
    if (plot->marks == PLOT_CELLS)
        szgi_plot_fill_cells(&figure);
    else
        szgi_plot_fill(&figure);
    if (run->status == SZG_OK && plot->prepare)
        plot->prepare(&figure);
    szgi_plot_draw(&figure);
    szgi_plot_release(run, mark);
}

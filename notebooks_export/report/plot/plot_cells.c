/* Means by two keys: layer and head, layer and pair. */
#include <math.h>

#include "base/memory.h"

#include "numbered.h"
#include "plot_private.h"

static int64_t find_keys(plot_run *run, rows of, const char *column, double **out) {
    int64_t count = 0;
    *out = NULL;
    if (run->status != SZG_OK ||
        !szgi_plot_keep(run, szgi_distinct_numbers(run->context, of, column, &count, out)))
        return 0;
    szgi_plot_adopt(run, *out);
    return count < PLOT_KEYS ? count : PLOT_KEYS;
}

/* Means without a sum that could overflow; rows without both keys are counted. */
static void add_values(plot_figure *figure, plot_cells *to, int64_t *count) {
    rows of = figure->of;
    for (int64_t i = 0; i < of.count; i++) {
        int64_t r =
            szgi_find_number(to->rows, to->row_key, szgi_rows_real(of, i, figure->y.column));
        int64_t c =
            szgi_find_number(to->columns, to->column_key, szgi_rows_real(of, i, figure->x.column));
        double value = szgi_rows_real(of, i, figure->plot->value);
        if (r < 0 || c < 0) {
            figure->undrawn++;
        } else if (isfinite(value)) {
            int64_t cell = r * to->columns + c;
            double part = 1 / (double)++count[cell];
            to->value[cell] = to->value[cell] * (1 - part) + value * part;
        }
    }
}

static void summarise(plot_cells *to, const int64_t *count) {
    for (int64_t i = 0; i < to->rows * to->columns; i++) {
        if (count[i] == 0) {
            to->value[i] = NAN;
            continue;
        }
        if (to->filled++ == 0)
            to->least = to->greatest = i;
        to->least = to->value[i] < to->value[to->least] ? i : to->least;
        to->greatest = to->value[i] > to->value[to->greatest] ? i : to->greatest;
        double part = 1 / (double)to->filled;
        to->mean = to->mean * (1 - part) + to->value[i] * part;
    }
}

void szgi_plot_fill_cells(plot_figure *figure) {
    plot_run *run = figure->run;
    plot_cells *cells;
    int64_t *count;
    if (!szgi_plot_new(run, 1, &cells))
        return;
    cells->rows = find_keys(run, figure->of, figure->y.column, &cells->row_key);
    cells->columns = find_keys(run, figure->of, figure->x.column, &cells->column_key);
    int64_t all = cells->rows * cells->columns; /* at most PLOT_KEYS squared */
    if (!szgi_plot_new(run, all, &cells->value) || !szgi_plot_new(run, all, &count))
        return;
    add_values(figure, cells, count);
    summarise(cells, count);
    figure->cells = cells;
}

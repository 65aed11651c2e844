#include <math.h>
#include "base/memory.h"

#include "figure_parts.h"

/* Cells that are printed at most, and the pixels that a cell needs. */
enum { CELLS = 4000, CELL_PIXELS = 2 };

static int64_t parts(int64_t count, int64_t each) {
    return (count + each - 1) / each;
}

/* How many rows and columns one cell stands for. */
static void choose_blocks(const figure *figure, cells *to) {
    int64_t most_rows = figure->height / (2 * CELL_PIXELS);
    int64_t most_columns = figure->width / (2 * CELL_PIXELS);
    to->down = parts(to->all_rows, most_rows);
    to->across = parts(to->all_columns, most_columns);
    while (parts(to->all_rows, to->down) * parts(to->all_columns, to->across) > CELLS) {
        if (parts(to->all_rows, to->down) > parts(to->all_columns, to->across))
            to->down += parts(to->down, 8);
        else
            to->across += parts(to->across, 8);
    }
    to->rows = parts(to->all_rows, to->down);
    to->columns = parts(to->all_columns, to->across);
}

/* The mean of a block's finite values, NaN of none; a block of one value is that value. */
static double block_mean(const figure_map *map, const cells *to, int64_t row, int64_t column) {
    int64_t row_end = (row + 1) * to->down, column_end = (column + 1) * to->across, count = 0;
    double mean = NAN;
    for (int64_t r = row * to->down; r < row_end && r < map->rows; r++)
        for (int64_t c = column * to->across; c < column_end && c < map->columns; c++) {
            double value = map->value[r * map->columns + c];
            if (to->down * to->across == 1)
                return value;
            if (!isfinite(value))
                continue;
            count++;
            double part = 1 / (double)count;
            mean = count == 1 ? value : mean * (1 - part) + value * part;
        }
    return mean;
}

/* Beyond given ends by more than rounding. */
static void count_beyond(cells *of) {
    double slack = 1e-9 * (of->hi / 2 - of->lo / 2);
    for (int64_t i = 0; i < of->rows * of->columns; i++)
        of->beyond += of->value[i] < of->lo - slack || of->value[i] > of->hi + slack;
}

static szg_status merge(szg_context *context, const figure_map *map, cells *to) {
    SZG_TRY(szgi_memory_alloc(context, to->rows * to->columns, &to->value));
    double lo = INFINITY, hi = -INFINITY;
    for (int64_t row = 0; row < to->rows; row++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t column = 0; column < to->columns; column++) {
            double mean = block_mean(map, to, row, column);
            to->value[row * to->columns + column] = mean;
            if (!isfinite(mean))
                continue;
            lo = fmin(lo, mean);
            hi = fmax(hi, mean);
            to->finite++;
        }
    }
    if (!(isfinite(to->lo) && isfinite(to->hi) && to->lo < to->hi)) {
        scale ends = szgi_scale_of(false, lo, hi, 0);
        to->lo = ends.lo;
        to->hi = ends.hi;
    } else {
        count_beyond(to);
    }
    return SZG_OK;
}

/* An axis of rows or columns in place of the one of the options. */
static szg_status set_axis(szg_context *context, axis *axis, int64_t count,
                           const char *const *names) {
    axis->logarithmic = false;
    axis->fixed = axis->whole = true;
    axis->lo = -0.5;
    axis->hi = (double)count - 0.5;
    if (!names)
        return SZG_OK;
    szgi_figure_texts_free(axis->names, axis->count);
    axis->names = NULL;
    axis->count = count;
    return szgi_figure_texts(context, names, count, &axis->names);
}

szg_status szgi_figure_cells(szg_context *context, figure *figure, const figure_map *map) {
    if (map->rows <= 0 || map->columns <= 0)
        return SZG_OK;
    cells *new = NULL;
    SZG_TRY(szgi_memory_alloc(context, 1, &new));
    *new = (cells){.all_rows = map->rows,
                   .all_columns = map->columns,
                   .lo = fmin(map->lo, map->hi),
                   .hi = fmax(map->lo, map->hi),
                   .middle = isfinite(map->middle) ? map->middle : 0,
                   .diverging = map->diverging,
                   .logarithmic = map->logarithmic};
    choose_blocks(figure, new);
    szg_status status = merge(context, map, new);
    if (status == SZG_OK)
        status = szgi_figure_text(context, map->what, &new->what);
    if (status == SZG_OK && new->down *new->across == 1)
        status = szgi_figure_texts(context, figure->heads, map->rows * map->columns, &new->heads);
    if (status == SZG_OK)
        status = set_axis(context, &figure->x, map->columns, map->column_names);
    if (status == SZG_OK)
        status = set_axis(context, &figure->y, map->rows, map->row_names);
    if (status != SZG_OK) {
        szgi_cells_free(new);
        return status;
    }
    figure->y.reversed = true;
    szgi_cells_free(figure->map);
    figure->map = new;
    figure->elements = new->rows *new->columns;
    figure->given = map->rows * map->columns;
    figure->drawn = figure->elements;
    return SZG_OK;
}

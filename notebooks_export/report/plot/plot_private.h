/* What the files of the engine share. */
#ifndef SZG_NOTEBOOKS_EXPORT_PLOT_PRIVATE_H
#define SZG_NOTEBOOKS_EXPORT_PLOT_PRIVATE_H

#include "plot.h"

/* Memory of a run, the newest first. */
typedef struct block {
    struct block *next;
    void *memory;
} block;

/* Gives memory of szgi_memory_alloc to the run, after a failure too. */
void szgi_plot_adopt(plot_run *run, void *memory);
/* Frees what is newer than `mark`. */
void szgi_plot_release(plot_run *run, struct block *mark);

/* Splits by columns, or by a key where there is one; the run has the groups' memory. */
groups szgi_plot_split(plot_run *run, rows of, const char *const *columns, row_key_fn *key);

/* Panels and series of the figure's rows. */
void szgi_plot_fill(plot_figure *figure);
/* Places of an axis: the values of a column, their count in *count; NULL: it has none. */
bool szgi_plot_has_places(const plot_axis *axis, rows of);
/* Cells of the figure's rows, by the columns of x and y. */
void szgi_plot_fill_cells(plot_figure *figure);

/* Opens figures, adds marks, puts them on the page. */
void szgi_plot_draw(plot_figure *figure);

/* Texts, in the run's memory. */
const char *szgi_plot_title(plot_run *run, const plot *plot, rows of);
const char *szgi_plot_caption(const plot_figure *figure);
const char *szgi_plot_series_name(plot_run *run, const plot *plot, rows of);
const char *szgi_plot_key(plot_run *run, const char *const *columns, rows of);
const char *szgi_plot_hover(const plot_figure *figure, const char *name, rows of, int64_t index);
const char *szgi_plot_axis_label(plot_run *run, const plot_axis *axis);

#endif

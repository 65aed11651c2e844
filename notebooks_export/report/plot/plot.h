/* One engine for the figures of every section: a section is a list of records, and only what is
 * really its own is a function.
 *
 * A record says which rows (tables, needs, where), how they split (figure by, panel by, series by),
 * what is on the axes, with which marks, and what hover text, title and caption say. The engine
 * finds the rows, shares the section's figures among the groups, reads columns, chooses scales,
 * colours outliers, draws, captions, links the rows, and names what is left out. Drawing functions
 * return nothing: a run remembers its first failure, and what follows a failure does nothing. */
#ifndef SZG_NOTEBOOKS_EXPORT_PLOT_H
#define SZG_NOTEBOOKS_EXPORT_PLOT_H

#include "keyed.h"
#include "section.h"
#include "words.h"

typedef struct plot_run plot_run;
typedef struct plot_figure plot_figure;

/* ---- The record ---- */

typedef enum plot_scale {
    PLOT_LINEAR,
    PLOT_LOG,   /* logarithmic; linear where a value is not positive */
    PLOT_CHOSEN /* by the data: linear, logarithmic, or logarithmic on both sides of 0 */
} plot_scale;

typedef struct plot_axis {
    const char *column; /* of numbers; of x (of y for ranges) also of texts: a place each */
    const char *label;  /* NULL: the column's words and unit (label.h) */
    plot_scale scale;
    double times;          /* unit in the figure over unit in the table: 100 for percent; 0: 1 */
    double lo, hi;         /* ends, for values that all lie between them; equal: from the values */
    bool places;           /* numbers are names: each has a place of its own, ascending */
    const char *otherwise; /* column in place of one with a single value; NULL: none */
} plot_axis;

/* What the rows of a series become. */
typedef enum plot_values {
    PLOT_EACH,     /* a point a row */
    PLOT_MEANS,    /* the mean of each x, with the area from the least to the greatest */
    PLOT_RANKED,   /* the values from the greatest on, over 1, 2, ... */
    PLOT_QUANTILES /* the values from the least on, over the share of values below */
} plot_values;

typedef enum plot_marks {
    PLOT_LINES,
    PLOT_POINTS,
    PLOT_BARS,    /* from 0 to y, whiskers from lo to hi */
    PLOT_RANGES,  /* horizontal, from lo to hi, at a place of y a row */
    PLOT_VIOLINS, /* the values at each place of x; fewer than ten are dots */
    PLOT_CELLS,   /* means of `value`, over the numbers in x and y */
    PLOT_ROWS     /* no figure: the columns of `shown`, as a table */
} plot_marks;

/* A line across the figure: at a column's mean over the panel's rows, or at a number. */
typedef struct plot_rule {
    const char *name; /* NULL: the end of the list */
    const char *column;
    const char *plus; /* a column whose mean is added; NULL: none */
    double at;        /* without a column */
    bool vertical;
} plot_rule;

/* One of several columns over the same x, each a series of its own; rows without a value in it are
 * none of its points. */
typedef struct plot_column {
    const char *column; /* NULL: the end of the list */
    const char *name;   /* NULL: the column's words */
    const char *spread, *seeds;
} plot_column;

enum { PLOT_LIST = 8, PLOT_COLUMNS = 16 };

typedef struct plot {
    /* Which rows. */
    const char *tables[PLOT_LIST]; /* every one that is there */
    const char *only; /* a column: tables without it are none of the record's; NULL: no such */
    const char *needs[PLOT_LIST]; /* columns of numbers */
    const char *undone;           /* said without them: "the energies are not drawn"; NULL:
                                   * nothing, as another record says it */
    struct {
        const char *column, *value;
    } where; /* rows with this text; column NULL: all */
    bool (*keeps)(const plot_run *run, rows of, int64_t index); /* NULL: every row */
    const char *last; /* of a figure's rows those with this column's greatest value; NULL: all */

    /* How they split. */
    const char *figure_by[PLOT_LIST];
    row_key_fn *figure_key;          /* in place of figure_by */
    const char *group_by[PLOT_LIST]; /* of these each gets a figure before any gets a second */
    bool (*skips)(rows of);          /* a figure that shows nothing; NULL: none */
    const char *skipped; /* "every ratio is 1 up to rounding"; NULL: nothing is said, as another
                          * record says it */
    const char *panel_by[PLOT_LIST]; /* small multiples with shared axes */
    const char *series_by[PLOT_LIST];
    row_key_fn *series_key; /* in place of series_by */
    bool outliers;          /* series are grey; what stands out is coloured and named */
    bool by_last;           /* outliers: by their last value, not their peak */
    int64_t most;           /* figures of this record; 0: as many as the section has */

    /* What is drawn. */
    plot_marks marks;
    plot_values values;
    plot_axis x, y;
    plot_column columns[PLOT_LIST]; /* in place of y's */
    const char *lo, *hi;            /* columns, in y's unit (x's for ranges) */
    bool area;                      /* of lines: lo and hi bound an area; else they are whiskers */
    const char *spread; /* column: lo and hi are y (x over places of y) less and more this, where
                         * `seeds` > 1 */
    const char *seeds;  /* column; NULL: "seeds" */
    const char *value;  /* column of cells */
    double middle;      /* of cells: two hues meet here, a half as far from 1 as 2; 0: one scale */
    plot_scale colours; /* of cells */
    double value_lo, value_hi;
    plot_rule rules[PLOT_LIST];
    const char *shown[PLOT_COLUMNS];
    int width, height; /* 0: as usual */

    /* What is said. */
    const char *heading;                        /* above the record's figures; NULL: none */
    const char *title;                          /* what is drawn: "singular values by head" */
    void (*subject)(words *words, rows of);     /* of what; NULL: the title is alone */
    void (*series_name)(words *words, rows of); /* NULL: "head 3", from series_by */
    const char *hover[PLOT_LIST];               /* columns told at a point or an interval */
    void (*prepare)(plot_figure *figure);       /* adds or changes series, rules, sources */
    void (*caption)(words *words, const plot_figure *figure); /* NULL: greatest and least value */
    const char *remark; /* behind the caption: its formulas are set, so no name is in it */
    void (*finding)(const plot_figure *figure); /* once it is on the page: szgi_page_finding */
} plot;

/* ---- A figure in the making ---- */

typedef struct plot_series {
    rows of;
    const plot_column *from; /* NULL: the record's column of y */
    const char *name;
    int colour;      /* as figure_style */
    bool unlisted;   /* not in the legend */
    bool beside;     /* goes with the others, and is none of the "8 others" of a legend */
    bool stands_out; /* from the others of its panel */
    bool flat;       /* lo and hi lie along x */
    plot_marks marks;
    int64_t count;
    double *x, *y;       /* [count]; NaN: no point */
    double *lo, *hi;     /* [count] or NULL */
    const char **hover;  /* [count] or NULL */
    int64_t least, most; /* PLOT_MEANS: values at one x */
} plot_series;

typedef struct plot_panel {
    rows of;
    const char *name; /* NULL: the only one */
    plot_series *series;
    int64_t count, room;
} plot_panel;

struct plot_figure {
    plot_run *run;
    const plot *plot;
    rows of;
    const char *title;
    plot_panel *panel;
    int64_t panels;
    plot_axis x, y; /* as the record's; prepare may change them */
    const char *const *x_names, *const *y_names;
    int64_t x_count, y_count;
    plot_rule rule[2 * PLOT_LIST];
    int64_t rules;
    rows source[4 * PLOT_LIST]; /* beside `of`, linked below the figure */
    int64_t sources;
    struct plot_cells *cells; /* of PLOT_CELLS */
    int64_t undrawn;          /* series beyond those that a figure has */
    int width, height;        /* as the record's; prepare may change them */
    void *own;                /* what prepare leaves to caption and finding */
};

/* Means by two keys, ascending. */
typedef struct plot_cells {
    int64_t rows, columns, filled, least, greatest; /* the last two: places of cells */
    double *row_key, *column_key, *value;
    double mean;
} plot_cells;

enum { PLOT_SERIES = 256, PLOT_PANELS = 24, PLOT_KEYS = 256, PLOT_FIGURES = 8 };

/* ---- A run: one section while it is drawn ---- */

struct plot_run {
    page *page;
    szg_context *context;
    const section *section;
    szg_status status;   /* the first failure */
    struct block *block; /* memory until the figure is on the page */
    const void *own;     /* what functions of the section need */
    int64_t left, left_out, skipped;
    bool in_grid;
    bool found; /* for a section's findings: that one has been said */
};

/* Draws the section's plots: section.run. */
SZG_CHECK_RESULT szg_status szgi_plot_section(page *page, const section *section);

/* For a section with a run of its own: begins, draws records as szgi_plot_section does, or one of
 * them for some rows as one figure; the end says the first failure. */
void szgi_plot_begin(plot_run *run, page *page, const section *section);
void szgi_plot_all(plot_run *run, const plot *const *plots);
void szgi_plot_one(plot_run *run, const plot *plot, rows of);
SZG_CHECK_RESULT szg_status szgi_plot_end(plot_run *run);

/* ---- For functions of a section ---- */

/* Remembers the first failure; true: there is none so far. */
bool szgi_plot_keep(plot_run *run, szg_status status);

/* Memory that lives until the figure is on the page; NULL after a failure. */
#define szgi_plot_new(run, count, out) szgi_plot_take((run), (count), sizeof **(out), (out))
bool szgi_plot_take(plot_run *run, int64_t count, size_t size, void *out);
double *szgi_plot_reals(plot_run *run, rows of, const char *column);

/* A text that `say` writes about `of`, until the figure is on the page; "" after a failure. */
const char *szgi_plot_text(plot_run *run, void (*say)(words *, const void *), const void *of);

/* A further series at the end of a panel, with arrays x and y of `count` zeros; NULL after a
 * failure, and beyond PLOT_SERIES. The panel's series may move. */
plot_series *szgi_plot_add(plot_figure *figure, plot_panel *panel, rows of, int64_t count);
void szgi_plot_add_rule(plot_figure *figure, plot_rule rule);
void szgi_plot_add_source(plot_figure *figure, rows of);

/* Adds to the page's findings what `say` writes, unless the section has done so before. */
void szgi_plot_find(const plot_figure *figure, void (*say)(words *, const plot_figure *));

/* Of the finite y of a series: the greatest; NaN: none. */
double szgi_plot_peak(const plot_series *series);
double szgi_plot_last(const plot_series *series);
/* The series whose peak is the greatest (the least), over all panels; NULL: none has any. */
const plot_series *szgi_plot_extreme(const plot_figure *figure, bool least);

/* "; heads that stand out: 0.2, 4.9", by layer and head; nothing where none does. */
void szgi_plot_say_outliers(words *words, const plot_figure *figure);

/* Four significant digits, without an exponent below 1e15. */
void szgi_plot_number(words *words, double value);
/* " KEY 3" */
void szgi_plot_count(words *words, int64_t count, const char *one, const char *many);

#endif

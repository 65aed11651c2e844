/* What a figure is made of, shared by the files that add marks and that print them. */
#ifndef SZG_NOTEBOOKS_EXPORT_FIGURE_PARTS_H
#define SZG_NOTEBOOKS_EXPORT_FIGURE_PARTS_H

#include "figure.h"
#include "ticks.h"

typedef enum mark_kind {
    MARK_LINE,
    MARK_POINTS,
    MARK_BAND,
    MARK_RULE,
    MARK_BARS,
    MARK_RANGES, /* from lo to hi at the heights y */
    MARK_VIOLIN  /* x: places of the values y, lo and hi: the outline's ends */
} mark_kind;

/* Marks added by one call, after thinning. Arrays that the kind has no use for are NULL. */
typedef struct mark {
    mark_kind kind;
    char *name, *entry; /* entry: in the legend; NULL: the name */
    bool in_legend;
    int colour;
    bool thin;  /* a line: half as wide, dotted */
    bool small; /* points: on a violin, where lo has their place without jitter */
    int64_t count;
    double *x, *y, *lo, *hi;
    char **hover;
    char *head, **heads; /* of the series; of each point, which may be NULL */
    double width;        /* of bars */
    bool vertical;       /* a rule */
    bool hidden;         /* a line beside the given ends of the axes */
    double middle;       /* a violin's median */
} mark;

typedef struct axis {
    char *label;
    bool logarithmic, whole, reversed;
    double linear;     /* > 0: logarithmic on both sides of 0 */
    bool fixed, found; /* ends given; any mark seen */
    bool fractional;   /* a point's coordinate that is no whole number was seen */
    double lo, hi, margin;
    char **names;
    int64_t count;
} axis;

/* Cells after merging: each stands for `down` rows and `across` columns of the given map. */
typedef struct cells {
    int64_t rows, columns, down, across, all_rows, all_columns;
    double *value;
    char *what;
    char **heads; /* [rows, columns]; NULL: none, or merged */
    double lo, hi, middle;
    bool diverging, logarithmic;
    int64_t finite, beyond; /* beyond: the given ends */
} cells;

struct figure {
    char *title;
    axis x, y;
    int width, height;
    mark *mark;
    int64_t count, room;
    cells *map;
    const char *head, *const *heads; /* of the marks that come next; the caller's */
    int64_t elements, given, drawn;
    int64_t not_finite, not_positive, outside;
};

/* A copy of at most FIGURE_TEXT bytes, cut between characters; NULL of NULL. */
enum { FIGURE_TEXT = 1000 };
szg_status szgi_figure_text(szg_context *context, const char *text, char **out);
szg_status szgi_figure_texts(szg_context *context, const char *const *texts, int64_t count,
                             char ***out);
void szgi_figure_texts_free(char **texts, int64_t count);
void szgi_cells_free(cells *cells);

/* Whether a number has a place on an axis; what has none is counted in the figure. */
bool szgi_figure_accepts(figure *figure, const axis *axis, double value);
/* Makes room for a number that was accepted, unless the axis' ends are given. */
void szgi_axis_cover(axis *axis, double value);
/* The same for a coordinate of data: where all are whole numbers, so are the ticks. */
void szgi_axis_cover_data(axis *axis, double value);
bool szgi_axis_is_whole(const axis *axis);
scale szgi_axis_scale(const axis *axis);
bool szgi_axis_is_blank(const axis *axis); /* nothing to put ticks at */

/* A new mark, whose arrays are zeros, at the end of the list; in the figure on success. */
szg_status szgi_figure_add(szg_context *context, figure *figure, mark_kind kind,
                           const figure_style *style, int64_t count, mark **out);
void szgi_mark_free(mark *mark);
/* Point `point` of the mark shows the head that the caller names for its value `index`. */
szg_status szgi_mark_take_head(szg_context *context, const figure *figure, mark *mark,
                               int64_t point, int64_t index);
/* The place in the figure's list of the series' first mark in the legend: one of the same name and
 * look. A mark that the legend does not list goes with the first one of its colour that it lists; a
 * grey one must have a name for that. -1: it belongs to none. */
int64_t szgi_mark_series(const figure *figure, const mark *mark);
/* Points that are printed as one shape: more than a reader points at one by one. */
bool szgi_mark_is_crowd(const mark *mark);

/* The part of a segment between fractions 0 and 1; false: none of it. */
bool szgi_segment_clip(double *x0, double *y0, double *x1, double *y1);

#endif

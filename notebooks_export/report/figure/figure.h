/* A figure: axes and marks, printed as one SVG element. Data and texts are copied. */
#ifndef SZG_NOTEBOOKS_EXPORT_FIGURE_H
#define SZG_NOTEBOOKS_EXPORT_FIGURE_H

#include <stdio.h>
#include "base/context.h"

typedef struct figure figure;

typedef struct figure_axis {
    const char *label;        /* with its unit; NULL: none */
    bool logarithmic;         /* marks that are not positive are left out, and counted */
    double linear;            /* > 0: logarithmic on both sides of 0, and linear below this size */
    double lo, hi;            /* ends; equal: from the marks */
    const char *const *names; /* ticks at 0, 1, 2, ...; NULL: numbers */
    int64_t count;            /* of names */
} figure_axis;

typedef struct figure_options {
    const char *title; /* what is drawn, of what: also the text that screen readers get */
    figure_axis x, y;
    int width, height; /* 0: 640 x 360 */
} figure_options;

/* Colours of series, apart for every kind of colour vision, each with a dash and a marker of its
 * own. Beyond the last they begin again. */
enum { FIGURE_COLOURS = 8, FIGURE_MUTED = -1, FIGURE_BAND = -2 };
/* Added to a colour that is not negative: a line half as wide, dotted and without markers, for what
 * goes with the thick line of that colour. */
enum { FIGURE_THIN = 1 << 20 };

typedef struct figure_style {
    const char *name;  /* in the legend and in hover texts; NULL: in no legend */
    int colour;        /* 0, 1, ... or FIGURE_MUTED (grey) or FIGURE_BAND (a pale area) */
    bool unlisted;     /* the name is in hover texts only */
    const char *entry; /* in the legend in place of the name; NULL: the name */
} figure_style;

/* SZG_ENOMEM. Close with szgi_figure_close. */
SZG_CHECK_RESULT szg_status szgi_figure_open(szg_context *context, const figure_options *options,
                                             figure **out);
void szgi_figure_close(figure **figure);

/* Which heads of a model the marks of the calls that follow show: "2.4" for head 4 of layer 2, say.
 * A reader who points at one sees the marks of the same head in every figure of the page. `head` is
 * what the whole series shows; `each` is one text for every point, bar, value of a violin or cell
 * [rows, columns], NULL where it shows none. Both NULL: no heads from here on. The texts must live
 * through the calls that follow. */
void szgi_figure_show_heads(figure *figure, const char *head, const char *const *each);

/* Each adds marks. Points with a NaN or infinite coordinate are left out; a line breaks there. */

SZG_CHECK_RESULT szg_status szgi_figure_line(szg_context *context, figure *figure,
                                             const figure_style *style, int64_t count,
                                             const double *x, const double *y);
/* hover: NULL, or a text a point in place of "NAME: x, y". */
SZG_CHECK_RESULT szg_status szgi_figure_points(szg_context *context, figure *figure,
                                               const figure_style *style, int64_t count,
                                               const double *x, const double *y,
                                               const char *const *hover);
/* The area between lo and hi. */
SZG_CHECK_RESULT szg_status szgi_figure_band(szg_context *context, figure *figure,
                                             const figure_style *style, int64_t count,
                                             const double *x, const double *lo, const double *hi);
/* A line across the whole figure at y = at, or x = at where `vertical`. */
SZG_CHECK_RESULT szg_status szgi_figure_rule(szg_context *context, figure *figure,
                                             const figure_style *style, bool vertical, double at);
/* Bars from 0 to y, `width` in units of x; whiskers from lo to hi where these are not NULL. */
SZG_CHECK_RESULT szg_status szgi_figure_bars(szg_context *context, figure *figure,
                                             const figure_style *style, int64_t count, double width,
                                             const double *x, const double *y, const double *lo,
                                             const double *hi);
/* Horizontal intervals from lo to hi at the heights y, each a bar of `width` in units of y: one
 * that holds a single number is a stroke. hover: NULL, or a text an interval. */
SZG_CHECK_RESULT szg_status szgi_figure_ranges(szg_context *context, figure *figure,
                                               const figure_style *style, int64_t count,
                                               double width, const double *y, const double *lo,
                                               const double *hi, const char *const *hover);
/* A violin at x: the density of the values to both sides, at most `width` wide in units of x, a
 * line at the median, and the values as points on it. Fewer than ten values: points alone. */
SZG_CHECK_RESULT szg_status szgi_figure_violin(szg_context *context, figure *figure,
                                               const figure_style *style, double x, double width,
                                               int64_t count, const double *value,
                                               const char *const *hover);

/* How a heat map turns numbers into colours. */
typedef struct figure_map {
    int64_t rows, columns;
    const double *value;          /* [rows, columns]; NaN: an empty cell */
    const char *const *row_names; /* NULL: 0, 1, 2, ... */
    const char *const *column_names;
    const char *what; /* the value's name, for hover and colour bar */
    double lo, hi;    /* ends of the colours, beyond which cells are counted in a note; equal: from
                       * the values */
    bool diverging;   /* two hues that meet at `middle` */
    double middle;
    bool logarithmic; /* colours by the logarithm: a half is as far from 1 as 2 is */
} figure_map;

/* Fills the figure with cells, row 0 on top; no other mark goes with them. */
SZG_CHECK_RESULT szg_status szgi_figure_cells(szg_context *context, figure *figure,
                                              const figure_map *map);

/* Elements of class "mark" in the printed SVG, and the number in its attribute data-marks: one for
 * each line with anything between the axes' ends, band, rule, violin's outline and cloud of more
 * than 400 points, one for each point of fewer, each bar and each cell, empty ones too, that is
 * drawn. Hover points, markers, whiskers, medians and what a legend shows are none. */
int64_t szgi_figure_marks(const figure *figure);

/* The title, at most FIGURE_TEXT bytes of it; NULL: none. */
const char *szgi_figure_title(const figure *figure);

/* Values that were given and have a place on the axes, and those that are drawn: fewer where there
 * are more than the figure has pixels for. A line or band keeps the least and the greatest value of
 * every pixel column; a cloud one point of each cell of a grid and its extreme points (1000 at
 * most), a violin 300 values; cells beyond 4000 are merged by their means. What has no place (not
 * finite, not positive on a logarithmic axis, outside) is told in a note below the figure. */
void szgi_figure_counts(const figure *figure, int64_t *given, int64_t *drawn);

/* Prints the SVG element; write errors are left to the stream. Its classes are those of
 * assets/figure.css. A figure without a mark says so. SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_figure_print(szg_context *context, const figure *figure,
                                              FILE *stream);

#endif

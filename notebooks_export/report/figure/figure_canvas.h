/* A figure while it is printed. */
#ifndef SZG_NOTEBOOKS_EXPORT_FIGURE_CANVAS_H
#define SZG_NOTEBOOKS_EXPORT_FIGURE_CANVAS_H

#include "figure_parts.h"

typedef struct canvas {
    FILE *stream;
    const figure *figure;
    scale x, y;
    double left, top, width, height; /* of the area that marks are drawn in */
    double full_width, full_height;  /* of the picture, with legend and notes */
    int64_t hits;                    /* hover points that a line or a crowd may have */
} canvas;

/* Pixels of a text of at most `most` characters in the figures' font. */
double szgi_text_width(const char *text, int64_t most);

enum { NAME_CHARACTERS = 24, HOVER_CHARACTERS = 60 };

/* Bytes of the first of two lines: up to the last blank that `room` characters have, else these; 0:
 * one line holds the text (NULL: none). */
size_t szgi_text_break(const char *text, int64_t room);

/* A coordinate: at most two decimals, a decimal point in every locale. */
void szgi_print_coordinate(FILE *stream, double value);
/* NAME="value" and a blank, for attributes. */
void szgi_print_attribute(FILE *stream, const char *name, double value);
/* A letter of a path and a point. */
void szgi_print_step(FILE *stream, char letter, double x, double y);

/* Pixels of a number on an axis, kept within the area. */
double szgi_canvas_x(const canvas *canvas, double value);
double szgi_canvas_y(const canvas *canvas, double value);
bool szgi_canvas_shows(const canvas *canvas, double x, double y);

/* <title>: the series' name, and both values with their axes' labels. */
void szgi_print_hover(const canvas *canvas, const char *name, double x, double y);
/* A value as its axis names it. */
void szgi_print_value(FILE *stream, const axis *axis, double value);

/* The margins that the ticks' texts need; then the ticks themselves. */
void szgi_axes_measure(const canvas *canvas, double *left, double *bottom);
void szgi_axes_print(const canvas *canvas);

/* The hover text of one point of a mark. */
void szgi_point_hover(const canvas *canvas, const mark *mark, int64_t point);
/* Hover points of a line or a crowd, and how many each of the figure's may have. */
void szgi_hits_print(const canvas *canvas, const mark *mark);
int64_t szgi_hits_each(const figure *figure);

void szgi_mark_print(const canvas *canvas, const mark *mark);
void szgi_cells_print(const canvas *canvas);

/* The path of a marker at a point, without its quotes. */
void szgi_print_marker(FILE *stream, int shape, double x, double y);
const char *szgi_dash_of(const mark *mark); /* NULL: none */
/* data-head="..." and a blank, which marks of one head share in all figures; NULL prints nothing.
 */
void szgi_print_head(FILE *stream, const char *head);
void szgi_print_point_head(FILE *stream, const mark *mark, int64_t point);
/* data-series="N" and a blank, which a series shares with its entry in the legend. */
void szgi_print_series(const canvas *canvas, FILE *stream, const mark *mark);
/* class="KIND cN" */
void szgi_print_class(FILE *stream, const char *kind, const mark *mark);

/* The legend's rows from `y` on; prints nothing where stream is NULL. Its height. */
double szgi_legend_print(const canvas *canvas, FILE *stream, double y);
double szgi_notes_print(const canvas *canvas, FILE *stream, double y);

#endif

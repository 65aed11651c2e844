/* Lines of a layer, one a head, in figures of as many as have colours. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_HEAD_LINES_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_HEAD_LINES_H

#include "budget.h"

typedef struct head_lines {
    const char *what;  /* goes on in the title after the layer: "singular values" */
    figure_axis x, y;  /* how the axes look */
    const char *by;    /* column of x; NULL: 1, 2, ... from the greatest value on */
    const char *value; /* column of y */
    const char *noun;  /* in the caption: "singular value" */
} head_lines;

/* Draws the rows of one layer. */
SZG_CHECK_RESULT szg_status szgi_head_lines_draw(page *page, const head_lines *look, rows layer,
                                                 budget *budget);

#endif

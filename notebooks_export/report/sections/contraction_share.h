/* How the figures of the section on contraction are shared among its runs. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_CONTRACTION_SHARE_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_CONTRACTION_SHARE_H

#include "groups.h"

/* The rows of a run, and how many figures are set aside for it. */
typedef struct contraction_share {
    rows of;
    bool unchanged; /* there are ratios, and each is 1 within rounding: nothing to draw */
    int64_t figures;
} contraction_share;

/* Whether the ratios of the rows are all 1. */
bool szgi_contraction_is_unchanged(rows of);

/* Sets `figures` of every run from `of` and `unchanged`: of `most` figures the first run of each
 * encoding and task gets one, then every other run, and what is left goes round; an unchanged run
 * gets none. */
void szgi_contraction_share_figures(contraction_share *runs, int64_t count, int64_t most);

#endif

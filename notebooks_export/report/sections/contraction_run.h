/* The rows of one run in the tables of contraction, and what is drawn of them. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_CONTRACTION_RUN_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_CONTRACTION_RUN_H

#include "band.h"
#include "numbered.h"
#include "section.h"
#include "captioned.h"
#include "short.h"

/* Layers and heads in their order; a pair is a layer and a head that the rows have. */
typedef struct contraction_run {
    rows of;
    words name;            /* "rope, distance (text), seed 0, in RESULT" */
    groups layers, *heads; /* heads: [layers] */
    int64_t pairs, columns;
    double *column; /* distinct heads of all layers, ascending */
    int64_t steps;
    double *step; /* distinct, ascending; none: the rows have no step */
} contraction_run;

SZG_CHECK_RESULT szg_status szgi_contraction_run_open(szg_context *context, rows of,
                                                      contraction_run *out);
void szgi_contraction_run_close(contraction_run *run);

/* The name of the run that the rows are of. */
void szgi_contraction_run_say(words *words, rows run);

/* Opens a figure of the run: "rope, distance (text): WHAT". */
SZG_CHECK_RESULT szg_status szgi_contraction_figure_open(szg_context *context,
                                                         const contraction_run *run,
                                                         const char *what, figure_options options,
                                                         figure **out);

/* The width ratio of every pair at every step (at one, where rows have no step), the mean over
 * probes: [pairs, szgi_contraction_run_steps], NaN where there is none (szgi_memory_free). */
SZG_CHECK_RESULT szg_status szgi_contraction_run_ratios(szg_context *context,
                                                        const contraction_run *run, double **out);
int64_t szgi_contraction_run_steps(const contraction_run *run);

/* Maps of the width ratio: layer by head at the last step, and pair by step. */
SZG_CHECK_RESULT szg_status szgi_contraction_draw_heads(page *page, const contraction_run *run);
SZG_CHECK_RESULT szg_status szgi_contraction_draw_steps(page *page, const contraction_run *run);

/* The width ratio over the steps, a figure a layer, a line a head. */
SZG_CHECK_RESULT szg_status szgi_contraction_draw_layer(page *page, const contraction_run *run,
                                                        int64_t layer);

/* A quantity over the steps, a line a layer. */
typedef struct contraction_quantity {
    const char *column, *beside; /* beside: drawn thin, NULL: nothing */
    const char *title, *hint; /* title: goes on behind the run; hint: what the caption ends with */
    bool share;               /* of rows: least and greatest say nothing */
} contraction_quantity;

SZG_CHECK_RESULT szg_status szgi_contraction_draw_quantity(page *page, const contraction_run *run,
                                                           const contraction_quantity *quantity);

/* Rows without a step: the three ratios by order, or by head where there is one order. */
SZG_CHECK_RESULT szg_status szgi_contraction_draw_orders(page *page, const contraction_run *run);

#endif

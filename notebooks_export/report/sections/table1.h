/* What the files of Table 1's section share. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_TABLE1_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_TABLE1_H

#include "plot.h"

enum { TABLE1_TASKS = 2, TABLE1_NAME = 48 };

/* One task's cells of a row of table1; NaN where they are empty. */
typedef struct outcome {
    double mean, spread, seeds, paper, length, ceiling; /* percent, seeds apart */
} outcome;

/* `task` 0: trigger distance, 1: trigger count. */
outcome szgi_table1_outcome(rows of, int64_t index, int task);

/* One figure a task and experiment, of the result that run->own names; NULL at the end. */
extern const plot *const szgi_table1_plots[];

/* ---- table1_settings.c ---- */

/* Whether the runs had the paper's sizes: a sentence that a reader must see before the numbers. */
SZG_CHECK_RESULT szg_status szgi_table1_caveat(page *page, const char *result);
/* Settings, items, missing runs and needs, each where its table is there. */
SZG_CHECK_RESULT szg_status szgi_table1_beside(page *page, const char *result);

/* ---- table1_runs.c: finished runs of `szego train`, outside of reproductions ---- */
SZG_CHECK_RESULT szg_status szgi_table1_runs(page *page);

#endif

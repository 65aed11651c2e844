/* Tensors of a checkpoint whose architecture is unknown: one row each. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_TENSORS_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_TENSORS_H

#include "budget.h"

/* Largest singular value and effective rank of each, and of the first checkpoints the numbers as a
 * table. */
SZG_CHECK_RESULT szg_status szgi_tensors_draw(page *page, rows tensors, budget *budget);

#endif

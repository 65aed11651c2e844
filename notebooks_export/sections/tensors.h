/* Tensors of a checkpoint whose architecture is unknown: one row each. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_TENSORS_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_TENSORS_H

#include "section.h"

/* Largest singular value and effective rank of each, and the numbers as a table. */
SZG_CHECK_RESULT szg_status tensors_draw(page *page, rows tensors);

#endif

/* The numbers of a column: layers, heads, steps. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_NUMBERED_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_NUMBERED_H

#include "base/context.h"

#include "groups.h"

/* The distinct finite numbers of a column, ascending (szgi_memory_free). SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_distinct_numbers(szg_context *context, rows of, const char *column,
                                                  int64_t *count, double **out);
/* The place of `wanted` in such a list; -1: none. */
int64_t szgi_find_number(int64_t count, const double *numbers, double wanted);

#endif

/* Rows in the order of a number: layers, heads. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_NUMBERED_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_NUMBERED_H

#include <szego/context.h>

#include "groups.h"

/* A group for each finite number in the column, ascending; rows without one are in no group.
 * SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status groups_by_number(szg_context *context, rows all, const char *column,
                                             groups *out);

#endif

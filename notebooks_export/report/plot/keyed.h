/* Groups of rows by keys that are no column. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_KEYED_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_KEYED_H

#include <stdio.h>
#include "base/context.h"

#include "groups.h"

/* Prints the key of row `index` of the list; false: the row belongs to no group. */
typedef bool row_key_fn(FILE *stream, rows of, int64_t index, const void *user);

/* Splits as groups_split does, by keys. SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_keyed_split(szg_context *context, rows all, row_key_fn *key,
                                             const void *user, groups *out);

#endif

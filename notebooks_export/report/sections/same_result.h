/* Rows of another table that are of one result. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_SAME_RESULT_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_SAME_RESULT_H

#include "section.h"

/* The rows of the collection's table `table` whose result is `result` (NULL: no rows), as one group
 * or none; groups_free. */
SZG_CHECK_RESULT szg_status szgi_rows_of_result(page *page, const char *table, const char *result,
                                                groups *out);

/* Whether the result at `path` is the one in `folder` or lies below it. */
bool szgi_is_below(const char *path, const char *folder);

/* The same of one of the folders of `above`, groups by result. NULL is in none. */
bool szgi_is_within(const char *path, const groups *above);

#endif

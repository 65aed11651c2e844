/* Rows of one table that belong to rows of another. */
#ifndef SZG_NOTEBOOKS_EXPORT_MATCH_H
#define SZG_NOTEBOOKS_EXPORT_MATCH_H

#include "groups.h"

/* Every row of a table; NULL: no rows. */
rows szgi_match_all(const szg_table *table);

/* The first group whose cells in `columns` (ends with NULL) are those of the first row of `like`,
 * numbers as numbers; a column that one of the two tables lacks decides nothing. NULL: none. */
const rows *szgi_match_find(const groups *in, rows like, const char *const *columns);

#endif

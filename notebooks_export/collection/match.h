/* Rows of one table that belong to rows of another. */
#ifndef SZG_NOTEBOOKS_EXPORT_MATCH_H
#define SZG_NOTEBOOKS_EXPORT_MATCH_H

#include "groups.h"

/* Every row of a table; NULL: no rows. */
rows szgi_match_all(const szg_table *table);

/* Whether row i of `a` and row j of `b` have the same in a column: a text, or a number. NaN, an
 * empty cell and a column that the table lacks are the same. */
bool szgi_match_cells(rows a, int64_t i, rows b, int64_t j, const char *column);

/* The first group whose cells in `columns` (ends with NULL) are those of the first row of `like`,
 * numbers as numbers; a column that one of the two tables lacks decides nothing. NULL: none. */
const rows *szgi_match_find(const groups *in, rows like, const char *const *columns);

#endif

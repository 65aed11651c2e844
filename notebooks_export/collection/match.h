/* Rows of one table that belong to rows of another. */
#ifndef SZG_NOTEBOOKS_EXPORT_MATCH_H
#define SZG_NOTEBOOKS_EXPORT_MATCH_H

#include "groups.h"

/* Every row of a table; NULL: no rows. */
rows szgi_match_all(const szg_table *table);

/* The first group whose cells in `columns` (ends with NULL) are those of the first row of `like`,
 * numbers as numbers; a column that one of the two tables lacks decides nothing. NULL: none. */
const rows *szgi_match_find(const groups *in, rows like, const char *const *columns);

/* The groups in the order of their cells, for many rows of one table to be found among them. */
typedef struct match_index {
    const rows **sorted;
    int64_t count;
    const char **column; /* those that both tables have */
    int64_t columns;
} match_index;

/* For rows of the table `like`. The groups must outlive the index. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_match_index_open(szg_context *context, const groups *in,
                                                  const szg_table *like, const char *const *columns,
                                                  match_index *out);
void szgi_match_index_close(match_index *index);
/* Whether szgi_match_find would find a group. */
bool szgi_match_index_has(const match_index *index, rows like);

#endif

/* How many figures a section draws: what is beyond is counted, and its rows are linked. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_BUDGET_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_BUDGET_H

#include "section.h"

/* Figures of a section at most. */
enum { MOST_FIGURES = 24 };

/* Figures that may still be drawn, and those that are not. */
typedef struct budget {
    int64_t left, left_out;
} budget;

/* Whether one more may be drawn, which then counts as drawn; otherwise it counts as left out. */
bool szgi_budget_take(budget *budget);

/* Sets aside at most `most` of the figures that are left: so that what comes first leaves some to
 * what follows. szgi_budget_join gives back what remains of them. */
budget szgi_budget_part(budget *whole, int64_t most);
void szgi_budget_join(budget *whole, const budget *part);

/* Says how many `what` ("figures") were left out and in which of the tables (ends with NULL) their
 * rows are, and links those; nothing where none was. */
SZG_CHECK_RESULT szg_status szgi_budget_end(page *page, const budget *budget, const char *what,
                                            const char *const *tables);

#endif

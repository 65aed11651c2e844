/* Columns that a section cannot draw without. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_NEEDS_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_NEEDS_H

#include "section.h"

/* Whether the table of `all` has every one of the columns (ends with NULL) with numbers in it.
 * Where it has not, the page says so, that `undone` ("the symbols are not drawn"), and links the
 * rows. */
SZG_CHECK_RESULT szg_status szgi_needs_numbers(page *page, rows all, const char *const *columns,
                                               const char *undone, bool *met);

#endif

/* What the columns of tables are called where a person reads: in figures, tables and the notebook.
 */
#ifndef SZG_NOTEBOOKS_EXPORT_PLOT_LABEL_H
#define SZG_NOTEBOOKS_EXPORT_PLOT_LABEL_H

#include <stddef.h>

typedef struct column_label {
    const char *column, *words, *unit; /* unit NULL: none */
} column_label;

/* By column name, ascending. */
extern const column_label szgi_label_table[];
extern const size_t szgi_label_count;

/* The words for a column: its name where the list has none. */
const char *szgi_label_words(const char *column);
/* "words (unit)" in `out`. */
enum { LABEL_TEXT = 160 };
const char *szgi_label_axis(const char *column, char out[LABEL_TEXT]);

#endif

/* What the sections on trained models share: rows by a key of our own, means over seeds or probes,
 * captions. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_TRAINING_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_TRAINING_H

#include "match.h"
#include "section.h"
#include "words.h"

/* Figures of a section; series of a figure; bytes of a name on it, the NUL included. */
enum { MOST_FIGURES = 24, MOST_SERIES = FIGURE_COLOURS, SHORT_TEXT = 64, WHOLE_TEXT = 32 };

/* ---- keyed.c ---- */

/* Prints the key of row `index` of the list; false: the row belongs to no group. */
typedef bool row_key_fn(FILE *stream, rows of, int64_t index, const void *user);

/* Splits as groups_split does, by keys. */
SZG_CHECK_RESULT szg_status keyed_split(szg_context *context, rows all, row_key_fn *key,
                                        const void *user, groups *out);

/* ---- band.c ---- */

/* The values of one column for each value of another, ascending. */
typedef struct band {
    int64_t count;
    double *x, *mean, *lo, *hi;
    int64_t least, most; /* values at one x */
} band;

/* Rows where either is missing, NaN or infinite do not count. */
SZG_CHECK_RESULT szg_status band_open(szg_context *context, rows of, const char *x, const char *y,
                                      band *out);
void band_close(band *band);

/* The value at x, NaN where there is none. */
double band_at(const band *band, double x);

/* The line of the means, and the area between least and greatest where they differ. */
SZG_CHECK_RESULT szg_status band_draw(szg_context *context, figure *figure, const char *name,
                                      int colour, const band *band);

/* The distinct finite values of a column, ascending (szg_memory_free). */
SZG_CHECK_RESULT szg_status distinct_values(szg_context *context, rows of, const char *column,
                                            int64_t *count, double **out);

/* ---- numbered.c ---- */

/* A group for each finite number in the column, ascending; rows without one are in no group. */
SZG_CHECK_RESULT szg_status groups_by_number(szg_context *context, rows all, const char *column,
                                             groups *out);

/* ---- short.c ---- */

/* At most three digits, with a decimal point in every locale. */
void print_real(FILE *stream, double value);
/* A number of layers, heads, steps: without a point, "1e+300" where it is huge. */
const char *whole_text(double value, char out[WHOLE_TEXT]);
/* `text` cut to SHORT_TEXT - 1 bytes between two characters, with "..." where it was cut; "-" in
 * place of NULL and of nothing. */
const char *short_text(const char *text, char out[SHORT_TEXT]);

/* ---- budget.c ---- */

/* Figures that a section may still draw, and those that it does not. */
typedef struct budget {
    int64_t left, left_out;
} budget;

/* Whether one more may be drawn. */
bool budget_take(budget *budget);
/* Says how many were left out, and links the tables' rows. */
SZG_CHECK_RESULT szg_status budget_end(page *page, const budget *budget, const char *const *tables);

#endif

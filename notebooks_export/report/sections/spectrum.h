/* What the files of the section about eigenvalues share. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_SPECTRUM_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_SPECTRUM_H

#include "budget.h"
#include "match.h"
#include "quantile.h"
#include "section.h"
#include "words.h"

/* The columns that tell one matrix of one order from the others (ends with NULL). */
extern const char *const szgi_spectrum_order[];

typedef struct spectrum_tables {
    rows eigenvalues;               /* table NULL: none */
    groups samples, range, summary; /* by szgi_spectrum_order */
} spectrum_tables;

/* The eigenvalues or singular values of one matrix, and what is known of its symbol. */
typedef struct spectrum_series {
    rows values;
    const rows *samples, *range, *summary; /* of the same matrix; NULL: none */
    bool singular;                         /* singular values */
    bool complex;                          /* some imaginary part is not 0 */
    bool part;                             /* the symbol is of the matrix's Toeplitz part only */
    bool unsaid;                           /* a range is there, not what it bounds */
    double n;                              /* NaN: not said */
    double *re, *im;                       /* [values.count] */
    int64_t zeros;                         /* further values that are 0, as far as is said */
    quantiles spectrum;                    /* of re */
    quantiles symbol;                      /* total 0: no symbol whose quantiles compare */
    double blur;                           /* of those quantiles, as the samples are so many */
    double lo, hi;                         /* certified to hold every value; NaN: nothing is */
    double radius;                         /* the same for moduli */
} spectrum_series;

SZG_CHECK_RESULT szg_status szgi_spectrum_read(szg_context *context, const spectrum_tables *tables,
                                               rows values, spectrum_series *out);
void szgi_spectrum_free(spectrum_series *series);

/* The certified range that a row of `range` or `summary` states for the values of a matrix. */
typedef struct spectrum_bounds {
    double lo, hi;   /* of eigenvalues, or of singular values; NaN: none */
    double radius;   /* of their moduli */
    bool part;       /* the symbol is of the Toeplitz part, and bounds nothing of the matrix */
    bool is_modulus; /* stated is the range of |a| */
    bool unsaid;     /* nothing is stated about what it bounds, as by earlier versions: no bound */
} spectrum_bounds;
spectrum_bounds szgi_spectrum_bounds_of(rows stated, bool singular);
/* Whether the text in `column` of the first row is `what`. */
bool szgi_cell_says(rows of, const char *column, const char *what);

/* Figures of values of one matrix at up to FIGURE_COLOURS orders: over quantiles, and a second one
 * of their middle, out of the budget, where a few values flatten it; or in the complex plane. */
SZG_CHECK_RESULT szg_status szgi_spectrum_draw_curves(page *page, const spectrum_series *series,
                                                      int64_t count, budget *budget);
SZG_CHECK_RESULT szg_status szgi_spectrum_draw_plane(page *page, const spectrum_series *series,
                                                     int64_t count);

/* The caption for them: what holds at every order. */
void szgi_spectrum_describe_curves(words *words, const spectrum_series *series, int64_t count);
void szgi_spectrum_describe_middle(words *words, const spectrum_series *series, int64_t count);
void szgi_spectrum_describe_plane(words *words, const spectrum_series *series, int64_t count);

/* Rows of `summary` whose values are not listed, and how many of it are of the zero matrix. */
typedef struct spectrum_unlisted {
    rows all;     /* every row of the summary */
    int64_t *row; /* [count] */
    int64_t count, zero;
} spectrum_unlisted;

/* None, and the page says why, where columns are missing. SZG_ENOMEM, SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_spectrum_unlisted_open(page *page, rows eigenvalues, rows summary,
                                                        spectrum_unlisted *out);
void szgi_spectrum_unlisted_close(spectrum_unlisted *unlisted);

/* Ends of these spectra within the certified range. */
SZG_CHECK_RESULT szg_status szgi_spectrum_draw_ranges(page *page, const spectrum_unlisted *unlisted,
                                                      budget *budget);

/* "eigenvalues, n = 512" */
void szgi_spectrum_name(words *words, const spectrum_series *series);

#endif

/* What the sections about ranges, eigenvalues and symbols share. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_SPECTRUM_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_SPECTRUM_H

#include "heads.h"
#include "quantile.h"

/* The columns that tell one matrix of one order from the others (ends with NULL). */
extern const char *const szgi_spectrum_order[];

/* The other tables, by szgi_spectrum_order: what the section's run has for its figures. */
typedef struct spectrum_tables {
    groups samples, range, summary;
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
    double *re, *im;                       /* [listed] */
    int64_t listed;                        /* values that are not zeros by structure */
    int64_t zeros;                         /* values that are, as far as is said */
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

/* The theorem that the column `theorem` names, in a few words; NULL: none, or no such column. */
const char *szgi_spectrum_theorem(rows summary);

/* What the values in a figure have in common: counted by prepare, said by the caption. */
typedef struct spectrum_facts {
    bool singular, plane, part, unsaid;
    int64_t total, zeros, computed; /* values; 0 by structure; listed and 0 */
    int64_t bounded, within;        /* values with a certified range; of those, inside it */
    double beyond;                  /* how far the farthest is outside */
    double lo, hi, radius;          /* the certified range of all; NaN: none has any */
    double least, greatest;         /* of the values */
    double distance, blur;          /* from the symbol's quantiles, where a theorem applies */
    double coarse;                  /* the order n whose symbol has too few samples */
    heads_left_out left_out;
} spectrum_facts;

void szgi_spectrum_prepare(plot_figure *figure);
void szgi_spectrum_say(words *words, const plot_figure *figure);

/* Whether the symbol of these samples, a polynomial of degree n - 1, may oscillate more often than
 * they can show: their curve and quantiles then miss what the certified ends see. */
bool szgi_symbol_is_coarse(rows samples);

/* Point masses over the angle, a record of the section about symbols. */
extern const plot szgi_symbol_atoms;

/* A number of an enclosure to four digits, rounded outwards. */
void szgi_print_end(words *words, double value, szgi_end end);

#endif

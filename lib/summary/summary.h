/* What the house alone uses of <szego/summary.h>. */
#ifndef SZEGO_SPECTRA_SUMMARY_H
#define SZEGO_SPECTRA_SUMMARY_H

#include <szego/report.h>
#include <szego/summary.h>
#include "base/row.h"
#include "base/table.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

/* szg_summary_compute of a matrix without encoding, of which the eigenvalues, or those of the
 * Hermitian part if it is not Hermitian, are known: they move into the report. Kind
 * SZG_SPECTRUM_NONE: they are not known. */
SZG_CHECK_RESULT szg_status szgi_summary_compute(szg_context *context, const szg_matrix *matrix,
                                                 const szg_report_options *options,
                                                 szg_spectrum *eigenvalues, szg_matrix_report *out);

/* ---- The table `summary` ---- */

/* Its numbers in the order of their columns, for tables that repeat them under other names. */
enum {
    SZGI_NUMBER_RANK,
    SZGI_NUMBER_LAMBDA_MIN,
    SZGI_NUMBER_LAMBDA_MAX,
    SZGI_NUMBER_WIDTH,
    SZGI_NUMBER_RADIUS,
    SZGI_NUMBER_SIGMA_MIN,
    SZGI_NUMBER_SIGMA_MAX,
    SZGI_NUMBER_CONDITION,
    SZGI_NUMBER_STABLE_RANK,
    SZGI_NUMBER_EFFECTIVE_RANK,
    SZGI_NUMBER_TOEPLITZNESS,
    SZGI_NUMBER_TOEPLITZNESS_ERROR,
    SZGI_NUMBER_TOEPLITZNESS_SAMPLED,
    SZGI_NUMBER_SYMBOL_MIN_LO,
    SZGI_NUMBER_SYMBOL_MIN_HI,
    SZGI_NUMBER_SYMBOL_MAX_LO,
    SZGI_NUMBER_SYMBOL_MAX_HI,
    SZGI_NUMBER_RESIDUAL,
    SZGI_SUMMARY_NUMBERS
};
typedef struct szgi_summary_number {
    const char *column, *doc;
    double value;    /* NaN: an empty cell */
    bool integer;    /* the column's type is SZG_INTEGER, else SZG_REAL */
    bool eigenvalue; /* derived from eigenvalues: lambda_min, lambda_max, width, radius */
    szgi_end end;    /* of an enclosure, which the number is */
} szgi_summary_number;

/* `out`: SZGI_SUMMARY_NUMBERS numbers. toeplitzness may be NULL or NaN, symbol NULL or without a
 * method: none. */
void szgi_summary_numbers(const szg_summary *summary, const szg_tau *toeplitzness,
                          const struct szg_range *symbol, szgi_summary_number *out);

/* Puts the number into `column`; NaN leaves it empty. */
void szgi_summary_put(szgi_row *row, int64_t column, const szgi_summary_number *number);

/* Whose eigenvalues a row holds. */
typedef enum szgi_values_of {
    SZGI_VALUES_OF_MATRIX,        /* of the matrix itself */
    SZGI_VALUES_OF_HERMITIAN_PART /* of (L + L^T)/2 */
} szgi_values_of;

/* What the range of a symbol bounds. */
typedef enum szgi_bound_of {
    SZGI_BOUND_OF_NOTHING,         /* no bound: a Fejer mean */
    SZGI_BOUND_OF_EIGENVALUES,     /* a real symbol: the range holds every eigenvalue */
    SZGI_BOUND_OF_SINGULAR_VALUES, /* |a|: its maximum bounds every singular value */
    SZGI_BOUND_OF_TOEPLITZ_PART    /* |a| of the Toeplitz part: bounds that part alone */
} szgi_bound_of;

/* "matrix", "hermitian_part" */
const char *szgi_values_of_name(szgi_values_of of);
/* "nothing", "eigenvalues", "singular_values", "toeplitz_part" */
const char *szgi_bound_of_name(szgi_bound_of of);

/* Docs of columns that several tables have. */
#define SZGI_SOLVER_DOC                                                                            \
    "zero, diagonal, triangular, closed_form, dense, reduced, mapped, halves, squares, "           \
    "divide_and_conquer, lanczos or randomised, see docs/explanation/methods.md"
#define SZGI_ZEROS_DOC "further values of this spectrum that are exactly 0 and not listed"
#define SZGI_VALUES_OF_DOC "whose eigenvalues: matrix, or hermitian_part for those of (L + L^T)/2"
#define SZGI_BOUND_OF_DOC                                                                          \
    "what the symbol's range bounds: eigenvalues, singular_values (by the maximum of |a|), "       \
    "toeplitz_part (|a| of that part alone) or nothing"

/* An empty table `summary`: source, layer, head, matrix, n, the numbers but residual, theorem,
 * method, residual, solver, values_of, bound_of, the certified ends of the spectrum, note. */
SZG_CHECK_RESULT szg_status szgi_summary_table(szg_context *context, szg_table **out);

/* The identity of a row; negative layer and head, NULL texts leave cells empty. */
typedef struct szgi_summary_labels {
    const char *source;
    int64_t layer, head;
    const char *matrix, *theorem;
    szgi_values_of values_of; /* the cell is empty where no eigenvalue is given */
    szgi_bound_of bound_of;   /* the cell is empty where no symbol is given */
} szgi_summary_labels;

/* A new row: labels, numbers, method, solver, and a note where toeplitzness is sampled. The caller
 * writes what else belongs into `note`. */
SZG_CHECK_RESULT szg_status szgi_summary_add(szg_context *context, szg_table *table,
                                             const szgi_summary_labels *labels,
                                             const szg_summary *summary,
                                             const szg_tau *toeplitzness,
                                             const struct szg_range *symbol);

/* The certified ends of a matrix's eigenvalues and singular values, where there are any; the latter
 * from the former where the matrix is Hermitian. */
void szgi_summary_put_ends(szgi_row *row, const szg_spectrum *eigenvalues,
                           const szg_spectrum *singular);

/* Sample j of `count` of a symbol, at 2 pi j / count: theta, re and im, from `column` on. */
void szgi_sample_put(szgi_row *row, int64_t column, int64_t j, int64_t count, szg_c64 value);

/* Says beside the last of the listed values how many more are zeros. */
void szgi_zeros_note(szgi_row *row, const szg_spectrum *spectrum);

SZGI_END_DECLS

#endif

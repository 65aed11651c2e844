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

/* Its numbers in the order of their columns: tables that have some of them take these rows. SUFFIX
 * is of the names, OF of the labels; PART says what eigenvalues are of: "of the Hermitian part: ".
 */
#define SZGI_RANK(X, TABLE, SUFFIX, OF, PART)                                                      \
    X(TABLE##_RANK, "rank" SUFFIX, SZG_INTEGER, "1", "rank" OF,                                    \
      "rank by structure; of weights, singular values above n eps sigma_max")
#define SZGI_LAMBDA_MIN(X, TABLE, SUFFIX, OF, PART)                                                \
    X(TABLE##_LAMBDA_MIN, "lambda_min" SUFFIX, SZG_REAL, "1", "least eigenvalue" OF,               \
      PART "least eigenvalue, or least real part")
#define SZGI_LAMBDA_MAX(X, TABLE, SUFFIX, OF, PART)                                                \
    X(TABLE##_LAMBDA_MAX, "lambda_max" SUFFIX, SZG_REAL, "1", "largest eigenvalue" OF,             \
      PART "largest eigenvalue, or largest real part")
#define SZGI_WIDTH(X, TABLE, SUFFIX, OF, PART)                                                     \
    X(TABLE##_WIDTH, "width" SUFFIX, SZG_REAL, "1", "width of the spectrum" OF,                    \
      PART "lambda_max - lambda_min of real eigenvalues")
#define SZGI_RADIUS(X, TABLE, SUFFIX, OF, PART)                                                    \
    X(TABLE##_RADIUS, "radius" SUFFIX, SZG_REAL, "1", "spectral radius" OF,                        \
      PART "largest modulus of an eigenvalue")
#define SZGI_SIGMA_MIN(X, TABLE, SUFFIX, OF, PART)                                                 \
    X(TABLE##_SIGMA_MIN, "sigma_min" SUFFIX, SZG_REAL, "1", "least singular value" OF,             \
      "least singular value")
#define SZGI_SIGMA_MAX(X, TABLE, SUFFIX, OF, PART)                                                 \
    X(TABLE##_SIGMA_MAX, "sigma_max" SUFFIX, SZG_REAL, "1", "largest singular value" OF,           \
      "largest singular value")
#define SZGI_CONDITION(X, TABLE, SUFFIX, OF, PART)                                                 \
    X(TABLE##_CONDITION, "condition" SUFFIX, SZG_REAL, "1", "condition" OF, "sigma_max / sigma_min")
#define SZGI_STABLE_RANK(X, TABLE, SUFFIX, OF, PART)                                               \
    X(TABLE##_STABLE_RANK, "stable_rank" SUFFIX, SZG_REAL, "1", "stable rank" OF,                  \
      "squared Frobenius over squared spectral norm")
#define SZGI_EFFECTIVE_RANK(X, TABLE, SUFFIX, OF, PART)                                            \
    X(TABLE##_EFFECTIVE_RANK, "effective_rank" SUFFIX, SZG_REAL, "1", "effective rank" OF,         \
      "exponential of the entropy of the singular values")
#define SZGI_TOEPLITZNESS(X, TABLE, SUFFIX, OF, PART)                                              \
    X(TABLE##_TOEPLITZNESS, "toeplitzness" SUFFIX, SZG_REAL, "1", "toeplitzness" OF,               \
      "share of the squared Frobenius norm that the Toeplitz part holds")
#define SZGI_TOEPLITZNESS_ERROR(X, TABLE, SUFFIX, OF, PART)                                        \
    X(TABLE##_TOEPLITZNESS_ERROR, "toeplitzness_error" SUFFIX, SZG_REAL, "1",                      \
      "error of the toeplitzness" OF,                                                              \
      "bound of the absolute error of toeplitzness; its standard error if sampled",                \
      SZGI_END_UPPER)
#define SZGI_TOEPLITZNESS_SAMPLED(X, TABLE, SUFFIX, OF, PART)                                      \
    X(TABLE##_TOEPLITZNESS_SAMPLED, "toeplitzness_sampled" SUFFIX, SZG_INTEGER, "1",               \
      "toeplitzness is sampled" OF,                                                                \
      "1: 1 - toeplitzness is a mean over 64 Gaussian vectors; 0: computed")
#define SZGI_SYMBOL_MIN_LO(X, TABLE, SUFFIX, OF, PART)                                             \
    X(TABLE##_SYMBOL_MIN_LO, "symbol_min_lo" SUFFIX, SZG_REAL, "1",                                \
      "lower end of the symbol's minimum" OF,                                                      \
      "certified lower bound of the symbol's minimum, or its modulus's", SZGI_END_LOWER)
#define SZGI_SYMBOL_MIN_HI(X, TABLE, SUFFIX, OF, PART)                                             \
    X(TABLE##_SYMBOL_MIN_HI, "symbol_min_hi" SUFFIX, SZG_REAL, "1",                                \
      "upper end of the symbol's minimum" OF,                                                      \
      "certified upper bound of the symbol's minimum, or its modulus's", SZGI_END_UPPER)
#define SZGI_SYMBOL_MAX_LO(X, TABLE, SUFFIX, OF, PART)                                             \
    X(TABLE##_SYMBOL_MAX_LO, "symbol_max_lo" SUFFIX, SZG_REAL, "1",                                \
      "lower end of the symbol's maximum" OF,                                                      \
      "certified lower bound of the symbol's maximum, or its modulus's", SZGI_END_LOWER)
#define SZGI_SYMBOL_MAX_HI(X, TABLE, SUFFIX, OF, PART)                                             \
    X(TABLE##_SYMBOL_MAX_HI, "symbol_max_hi" SUFFIX, SZG_REAL, "1",                                \
      "upper end of the symbol's maximum" OF,                                                      \
      "certified upper bound of the symbol's maximum, or its modulus's", SZGI_END_UPPER)
#define SZGI_RESIDUAL(X, TABLE, SUFFIX, OF, PART)                                                  \
    X(TABLE##_RESIDUAL, "residual" SUFFIX, SZG_REAL, "1", "residual" OF,                           \
      "backward error or defect of the spectrum, see docs/explanation/methods.md")

/* What is known of the Toeplitz part. */
#define SZGI_TOEPLITZ_NUMBERS(X, TABLE, SUFFIX, OF, PART)                                          \
    SZGI_TOEPLITZNESS(X, TABLE, SUFFIX, OF, PART)                                                  \
    SZGI_TOEPLITZNESS_ERROR(X, TABLE, SUFFIX, OF, PART)                                            \
    SZGI_TOEPLITZNESS_SAMPLED(X, TABLE, SUFFIX, OF, PART)                                          \
    SZGI_SYMBOL_MIN_LO(X, TABLE, SUFFIX, OF, PART)                                                 \
    SZGI_SYMBOL_MIN_HI(X, TABLE, SUFFIX, OF, PART)                                                 \
    SZGI_SYMBOL_MAX_LO(X, TABLE, SUFFIX, OF, PART)                                                 \
    SZGI_SYMBOL_MAX_HI(X, TABLE, SUFFIX, OF, PART)
/* All but the residual. */
#define SZGI_NUMBERS(X, TABLE, SUFFIX, OF, PART)                                                   \
    SZGI_RANK(X, TABLE, SUFFIX, OF, PART)                                                          \
    SZGI_LAMBDA_MIN(X, TABLE, SUFFIX, OF, PART)                                                    \
    SZGI_LAMBDA_MAX(X, TABLE, SUFFIX, OF, PART)                                                    \
    SZGI_WIDTH(X, TABLE, SUFFIX, OF, PART)                                                         \
    SZGI_RADIUS(X, TABLE, SUFFIX, OF, PART)                                                        \
    SZGI_SIGMA_MIN(X, TABLE, SUFFIX, OF, PART)                                                     \
    SZGI_SIGMA_MAX(X, TABLE, SUFFIX, OF, PART)                                                     \
    SZGI_CONDITION(X, TABLE, SUFFIX, OF, PART)                                                     \
    SZGI_STABLE_RANK(X, TABLE, SUFFIX, OF, PART)                                                   \
    SZGI_EFFECTIVE_RANK(X, TABLE, SUFFIX, OF, PART)                                                \
    SZGI_TOEPLITZ_NUMBERS(X, TABLE, SUFFIX, OF, PART)
enum {
    SZGI_NUMBERS(SZGI_COLUMN_INDEX, SZGI_NUMBER, , , ) SZGI_NUMBER_RESIDUAL,
    SZGI_SUMMARY_NUMBERS
};

/* `out`: SZGI_SUMMARY_NUMBERS numbers, NaN for those that do not exist. toeplitzness may be NULL or
 * NaN, symbol NULL or without a method: none. */
void szgi_summary_numbers(const szg_summary *summary, const szg_tau *toeplitzness,
                          const struct szg_range *symbol, double *out);

/* Puts the number into `column`, of integers or reals; NaN leaves it empty. */
void szgi_summary_put(szgi_row *row, int64_t column, double number);

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

/* The tables `samples` and `range` of a symbol, which `spectrum`, `symbol` and `checkpoint` write.
 * A writer gives the rows of its own labels behind `source`. */
#define SZGI_SAMPLES(X, TABLE, LABELS)                                                             \
    X(TABLE##_THETA, "theta", SZG_REAL, "radians a position", "angle",                             \
      "argument of the symbol, radians")                                                           \
    X(TABLE##_RE, "re", SZG_REAL, "1", "value", "real part of the symbol")                         \
    X(TABLE##_IM, "im", SZG_REAL, "1", "imaginary part", "imaginary part of the symbol")           \
    LABELS(X, TABLE)                                                                               \
    X(TABLE##_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define SZGI_RANGE(X, TABLE, SOURCE, LABELS)                                                       \
    SOURCE(X, TABLE)                                                                               \
    X(TABLE##_MIN_LO, "min_lo", SZG_REAL, "1", "lower end of the minimum",                         \
      "lower bound of the symbol's minimum, or its modulus's", SZGI_END_LOWER)                     \
    X(TABLE##_MIN_HI, "min_hi", SZG_REAL, "1", "upper end of the minimum",                         \
      "upper bound of the symbol's minimum, or its modulus's", SZGI_END_UPPER)                     \
    X(TABLE##_MAX_LO, "max_lo", SZG_REAL, "1", "lower end of the maximum",                         \
      "lower bound of the symbol's maximum, or its modulus's", SZGI_END_LOWER)                     \
    X(TABLE##_MAX_HI, "max_hi", SZG_REAL, "1", "upper end of the maximum",                         \
      "upper bound of the symbol's maximum, or its modulus's", SZGI_END_UPPER)                     \
    X(TABLE##_THETA_MIN, "theta_min", SZG_REAL, "radians a position", "angle of the minimum",      \
      "where the minimum was found, radians")                                                      \
    X(TABLE##_THETA_MAX, "theta_max", SZG_REAL, "radians a position", "angle of the maximum",      \
      "where the maximum was found, radians")                                                      \
    X(TABLE##_METHOD, "method", SZG_TEXT, "", "method", "how the range was established")           \
    LABELS(X, TABLE)                                                                               \
    X(TABLE##_BOUND_OF, "bound_of", SZG_TEXT, "", "what the symbol bounds", SZGI_BOUND_OF_DOC)     \
    X(TABLE##_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define SZGI_RANGE_SCREEN                                                                          \
    SZGI_SHOW(1, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, n)                                                                                \
    SZGI_SHOW_RANGE(1, min, min_lo, min_hi)                                                        \
    SZGI_SHOW_RANGE(1, max, max_lo, max_hi)                                                        \
    SZGI_SHOW_RANGE(9, certified, min_lo, max_hi)                                                  \
    SZGI_SHOW_AS(2, theta_min, "theta_min", "θ_min")                                               \
    SZGI_SHOW_AS(2, theta_max, "theta_max", "θ_max")                                               \
    SZGI_SHOW(3, bound_of)                                                                         \
    SZGI_SHOW(3, method)                                                                           \
    SZGI_SHOW(3, matrix)                                                                           \
    SZGI_SHOW(4, convention)

/* What a screen shows of every table `summary`, cells whose columns a table lacks left out. */
#define SZGI_SUMMARY_SCREEN                                                                        \
    SZGI_SHOW(1, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(3, matrix)                                                                           \
    SZGI_SHOW(1, n)                                                                                \
    SZGI_SHOW(1, rows)                                                                             \
    SZGI_SHOW(1, columns)                                                                          \
    SZGI_SHOW_AS(1, lambda_min, "lambda_min", "λ_min")                                             \
    SZGI_SHOW_AS(1, lambda_max, "lambda_max", "λ_max")                                             \
    SZGI_SHOW_BOUND(1, certified, "certified", NULL, symbol_min_lo, symbol_max_hi, bound_of,       \
                    eigenvalues)                                                                   \
    SZGI_SHOW(1, theorem)                                                                          \
    SZGI_SHOW(2, rank)                                                                             \
    SZGI_SHOW(2, width)                                                                            \
    SZGI_SHOW(2, residual)                                                                         \
    SZGI_SHOW(3, dropped)                                                                          \
    SZGI_SHOW_RANGE(9, certified_min, lambda_min_lo, lambda_min_hi)                                \
    SZGI_SHOW_RANGE(9, certified_max, lambda_max_lo, lambda_max_hi)                                \
    SZGI_SHOW_RANGE(9, certified_sigma_min, sigma_min_lo, sigma_min_hi)                            \
    SZGI_SHOW_RANGE(9, certified_sigma_max, sigma_max_lo, sigma_max_hi)                            \
    SZGI_SHOW_AS(4, sigma_max, "sigma_max", "σ_max")                                               \
    SZGI_SHOW_BOUND(4, certified_sigma, "certified_sigma", "certified σ", symbol_min_lo,           \
                    symbol_max_hi, bound_of, singular_values)                                      \
    SZGI_SHOW(5, stable_rank)                                                                      \
    SZGI_SHOW(5, toeplitzness)                                                                     \
    SZGI_SHOW_AS(6, condition_e, "condition_e", "σ_max / σ_e")                                     \
    SZGI_SHOW(6, key_head)

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

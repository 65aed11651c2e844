/* The columns of the table `summary`, in their one place. */
#include <stdio.h>
#include <string.h>

#include "linalg/ops.h"
#include "ball/ball.h"
#include "summary/summary.h"
#include "base/table.h"
#include "toeplitz/toeplitz.h"

#include "spectra/spectra.h"

/* theorem and method are between the symbol's columns and the residual, the last number. What other
 * programs read has columns of its own, so that notes and methods can be reworded. */
#define SUMMARY(X)                                                                                 \
    X(SUMMARY_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the SPEC or the file")          \
    X(SUMMARY_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")                  \
    X(SUMMARY_HEAD, "head", SZG_INTEGER, "1", "head", "query head, counted from 0")                \
    X(SUMMARY_MATRIX, "matrix", SZG_TEXT, "", "matrix", "which matrix of the source")              \
    X(SUMMARY_N, "n", SZG_INTEGER, "1", "order n",                                                 \
      "order; of a rectangular matrix the smaller side")                                           \
    SZGI_NUMBERS(X, SUMMARY, "", "", "")                                                           \
    X(SUMMARY_THEOREM, "theorem", SZG_TEXT, "", "theorem",                                         \
      "limit theorem that applies as N grows")                                                     \
    X(SUMMARY_METHOD, "method", SZG_TEXT, "", "method", "how the spectrum was computed")           \
    SZGI_RESIDUAL(X, SUMMARY, "", "", "")                                                          \
    X(SUMMARY_SOLVER, "solver", SZG_TEXT, "", "solver", SZGI_SOLVER_DOC)                           \
    X(SUMMARY_VALUES_OF, "values_of", SZG_TEXT, "", "whose eigenvalues", SZGI_VALUES_OF_DOC)       \
    X(SUMMARY_BOUND_OF, "bound_of", SZG_TEXT, "", "what the symbol bounds", SZGI_BOUND_OF_DOC)     \
    X(SUMMARY_MIN_LO, "lambda_min_lo", SZG_REAL, "1", "lower end of the least eigenvalue",         \
      "proven lower bound of the least eigenvalue", SZGI_END_LOWER)                                \
    X(SUMMARY_MIN_HI, "lambda_min_hi", SZG_REAL, "1", "upper end of the least eigenvalue",         \
      "proven upper bound of the least eigenvalue", SZGI_END_UPPER)                                \
    X(SUMMARY_MAX_LO, "lambda_max_lo", SZG_REAL, "1", "lower end of the largest eigenvalue",       \
      "proven lower bound of the largest eigenvalue", SZGI_END_LOWER)                              \
    X(SUMMARY_MAX_HI, "lambda_max_hi", SZG_REAL, "1", "upper end of the largest eigenvalue",       \
      "proven upper bound of the largest eigenvalue", SZGI_END_UPPER)                              \
    X(SUMMARY_LEAST_LO, "sigma_min_lo", SZG_REAL, "1", "lower end of the least singular value",    \
      "proven lower bound of the least singular value", SZGI_END_LOWER)                            \
    X(SUMMARY_LEAST_HI, "sigma_min_hi", SZG_REAL, "1", "upper end of the least singular value",    \
      "proven upper bound of the least singular value", SZGI_END_UPPER)                            \
    X(SUMMARY_LARGEST_LO, "sigma_max_lo", SZG_REAL, "1",                                           \
      "lower end of the largest singular value",                                                   \
      "proven lower bound of the largest singular value", SZGI_END_LOWER)                          \
    X(SUMMARY_LARGEST_HI, "sigma_max_hi", SZG_REAL, "1",                                           \
      "upper end of the largest singular value",                                                   \
      "proven upper bound of the largest singular value", SZGI_END_UPPER)                          \
    X(SUMMARY_DROPPED, "dropped", SZG_REAL, "1", "dropped terms",                                  \
      "dropped and deflated terms of a divide and conquer over the norm")                          \
    X(SUMMARY_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
SZGI_SCHEMA(summary_columns, "summary", SUMMARY, SZGI_SUMMARY_SCREEN);

/* Column of a number (SZGI_NUMBER_...). */
static int64_t column_of(int number) {
    return number == SZGI_NUMBER_RESIDUAL ? SUMMARY_RESIDUAL : SUMMARY_RANK + number;
}

void szgi_summary_numbers(const szg_summary *s, const szg_tau *toeplitzness,
                          const szg_range *symbol, double *out) {
    const szg_range none = {{NAN, NAN}, {NAN, NAN}, NAN, NAN, NULL};
    const szg_tau missing = {NAN, NAN, false}, *tau = toeplitzness ? toeplitzness : &missing;
    const szg_range *range = symbol && symbol->method ? symbol : &none;
    const double numbers[SZGI_SUMMARY_NUMBERS] = {
        [SZGI_NUMBER_RANK] = s->rank < 0 ? NAN : (double)s->rank,
        [SZGI_NUMBER_LAMBDA_MIN] = s->lambda_min,
        [SZGI_NUMBER_LAMBDA_MAX] = s->lambda_max,
        [SZGI_NUMBER_WIDTH] = s->width,
        [SZGI_NUMBER_RADIUS] = s->radius,
        [SZGI_NUMBER_SIGMA_MIN] = s->sigma_min,
        [SZGI_NUMBER_SIGMA_MAX] = s->sigma_max,
        [SZGI_NUMBER_CONDITION] = s->condition,
        [SZGI_NUMBER_STABLE_RANK] = s->stable_rank,
        [SZGI_NUMBER_EFFECTIVE_RANK] = s->effective_rank,
        [SZGI_NUMBER_TOEPLITZNESS] = tau->value,
        [SZGI_NUMBER_TOEPLITZNESS_ERROR] = tau->error,
        [SZGI_NUMBER_TOEPLITZNESS_SAMPLED] = isnan(tau->value) ? NAN : tau->sampled,
        [SZGI_NUMBER_SYMBOL_MIN_LO] = range->min.lo,
        [SZGI_NUMBER_SYMBOL_MIN_HI] = range->min.hi,
        [SZGI_NUMBER_SYMBOL_MAX_LO] = range->max.lo,
        [SZGI_NUMBER_SYMBOL_MAX_HI] = range->max.hi,
        [SZGI_NUMBER_RESIDUAL] = s->residual,
    };
    memcpy(out, numbers, sizeof numbers);
}

void szgi_summary_put(szgi_row *row, int64_t column, double number) {
    if (isnan(number))
        return;
    if (szg_table_column(row->table, column)->type == SZG_INTEGER)
        szgi_row_integer(row, column, (int64_t)number);
    else
        szgi_row_real(row, column, number);
}

szg_status szgi_summary_table(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &summary_columns_schema, out);
}

const char *szgi_values_of_name(szgi_values_of of) {
    return of == SZGI_VALUES_OF_HERMITIAN_PART ? "hermitian_part" : "matrix";
}

const char *szgi_bound_of_name(szgi_bound_of of) {
    static const char *const names[] = {[SZGI_BOUND_OF_NOTHING] = "nothing",
                                        [SZGI_BOUND_OF_EIGENVALUES] = "eigenvalues",
                                        [SZGI_BOUND_OF_SINGULAR_VALUES] = "singular_values",
                                        [SZGI_BOUND_OF_TOEPLITZ_PART] = "toeplitz_part"};
    return names[of];
}

static void put_bound(szgi_row *row, const szg_range *symbol, szgi_bound_of bound_of) {
    if (symbol && symbol->method)
        szgi_row_text(row, SUMMARY_BOUND_OF, szgi_bound_of_name(bound_of));
}

void szgi_sample_put(szgi_row *row, int64_t column, int64_t j, int64_t count, szg_c64 value) {
    const double turn = 6.28318530717958647692;
    szgi_row_real(row, column, turn * (double)j / (double)count);
    szgi_row_real(row, column + 1, value.re);
    szgi_row_real(row, column + 2, value.im);
}

void szgi_zeros_note(szgi_row *row, const szg_spectrum *spectrum) {
    if (spectrum->zeros > 0)
        szgi_row_note(row, "%lld further values are exactly 0 and not listed",
                      (long long)spectrum->zeros);
}

/* The columns that say what the numbers are, empty where those are. */
static void put_facts(szgi_row *row, const szgi_summary_labels *labels, const szg_summary *summary,
                      const szg_range *symbol) {
    bool eigenvalues =
        !isnan(summary->lambda_min) || !isnan(summary->lambda_max) || !isnan(summary->radius);
    szgi_row_text(row, SUMMARY_SOLVER, szg_method_solver(summary->method));
    if (eigenvalues)
        szgi_row_text(row, SUMMARY_VALUES_OF, szgi_values_of_name(labels->values_of));
    if (!isnan(summary->dropped))
        szgi_row_real(row, SUMMARY_DROPPED, summary->dropped);
    put_bound(row, symbol, labels->bound_of);
}

/* Where the backend's solver did the work, the words say whose that was. */
static void put_method(szgi_row *row, szg_method method) {
    const char *words = szgi_method_words(method), *backend = szgi_backend_name(row->context);
    const char *library = strncmp(backend, "cuda", 4) == 0        ? "cuSOLVER or LAPACK, by size"
                          : strncmp(backend, "reference", 9) == 0 ? "Jacobi"
                                                                  : "LAPACK";
    char text[256];
    snprintf(text, sizeof text, "%s (%s)", words ? words : "", library);
    szgi_row_text(row, SUMMARY_METHOD, words ? text : szg_method_name(method));
}

static szgi_row add_label(szg_context *context, szg_table *table,
                          const szgi_summary_labels *labels) {
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, SUMMARY_SOURCE, labels->source);
    szgi_row_place(&row, SUMMARY_LAYER, labels->layer);
    szgi_row_place(&row, SUMMARY_HEAD, labels->head);
    szgi_row_text(&row, SUMMARY_MATRIX, labels->matrix);
    szgi_row_text(&row, SUMMARY_THEOREM, labels->theorem);
    return row;
}

/* Both ends of one interval; NaN leaves the cells empty. */
static void put_interval(szgi_row *row, int64_t column, szg_interval end) {
    if (isnan(end.lo) || isnan(end.hi))
        return;
    szgi_row_real(row, column, end.lo);
    szgi_row_real(row, column + 1, end.hi);
}

void szgi_summary_put_ends(szgi_row *row, const szg_spectrum *eigenvalues,
                           const szg_spectrum *singular) {
    szg_interval least = singular->min, largest = singular->max;
    if (eigenvalues->certified) {
        put_interval(row, SUMMARY_MIN_LO, eigenvalues->min);
        put_interval(row, SUMMARY_MAX_LO, eigenvalues->max);
    }
    if (singular->certified || szgi_spectrum_moduli(eigenvalues, &least, &largest)) {
        put_interval(row, SUMMARY_LEAST_LO, least);
        put_interval(row, SUMMARY_LARGEST_LO, largest);
    }
}

szg_status szgi_summary_add(szg_context *context, szg_table *table,
                            const szgi_summary_labels *labels, const szg_summary *summary,
                            const szg_tau *toeplitzness, const szg_range *symbol) {
    double numbers[SZGI_SUMMARY_NUMBERS];
    szgi_row row = add_label(context, table, labels);
    szgi_summary_numbers(summary, toeplitzness, symbol, numbers);
    szgi_row_integer(&row, SUMMARY_N, summary->n);
    for (int i = 0; i < SZGI_SUMMARY_NUMBERS; i++)
        szgi_summary_put(&row, column_of(i), numbers[i]);
    if (toeplitzness && szgi_tau_note(toeplitzness))
        szgi_row_note(&row, "%s", szgi_tau_note(toeplitzness));
    put_facts(&row, labels, summary, symbol);
    put_method(&row, summary->method);
    return row.status;
}

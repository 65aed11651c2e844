/* The columns of the table `summary`, in their one place. */
#include <stdio.h>
#include <string.h>

#include "linalg/ops.h"
#include "ball/ball.h"
#include "summary/summary.h"
#include "base/table.h"
#include "toeplitz/toeplitz.h"

#include "spectra/spectra.h"

/* What stands before the numbers. */
#define HEAD(X)                                                                                    \
    X(HEAD_SOURCE, "source", SZG_TEXT, "the SPEC or the file")                                     \
    X(HEAD_LAYER, "layer", SZG_INTEGER, "layer, counted from 0")                                   \
    X(HEAD_HEAD, "head", SZG_INTEGER, "query head, counted from 0")                                \
    X(HEAD_MATRIX, "matrix", SZG_TEXT, "which matrix of the source")                               \
    X(HEAD_N, "n", SZG_INTEGER, "order; of a rectangular matrix the smaller side")
SZGI_SCHEMA(head_columns, HEAD);

/* theorem and method stand between the symbol's columns and the residual, the last number. What
 * other programs read stands in columns of its own, so that notes and methods can be reworded. */
#define TAIL(X)                                                                                    \
    X(TAIL_THEOREM, "theorem", SZG_TEXT, "limit theorem that applies as N grows")                  \
    X(TAIL_METHOD, "method", SZG_TEXT, "how the spectrum was computed")                            \
    X(TAIL_RESIDUAL, "residual", SZG_REAL,                                                         \
      "backward error or defect of the spectrum, see docs/explanation/methods.md")                 \
    X(TAIL_SOLVER, "solver", SZG_TEXT, SZGI_SOLVER_DOC)                                            \
    X(TAIL_VALUES_OF, "values_of", SZG_TEXT, SZGI_VALUES_OF_DOC)                                   \
    X(TAIL_BOUND_OF, "bound_of", SZG_TEXT, SZGI_BOUND_OF_DOC)                                      \
    X(TAIL_MIN_LO, "lambda_min_lo", SZG_REAL, "proven lower bound of the least eigenvalue")        \
    X(TAIL_MIN_HI, "lambda_min_hi", SZG_REAL, "proven upper bound of the least eigenvalue")        \
    X(TAIL_MAX_LO, "lambda_max_lo", SZG_REAL, "proven lower bound of the largest eigenvalue")      \
    X(TAIL_MAX_HI, "lambda_max_hi", SZG_REAL, "proven upper bound of the largest eigenvalue")      \
    X(TAIL_LEAST_LO, "sigma_min_lo", SZG_REAL, "proven lower bound of the least singular value")   \
    X(TAIL_LEAST_HI, "sigma_min_hi", SZG_REAL, "proven upper bound of the least singular value")   \
    X(TAIL_LARGEST_LO, "sigma_max_lo", SZG_REAL,                                                   \
      "proven lower bound of the largest singular value")                                          \
    X(TAIL_LARGEST_HI, "sigma_max_hi", SZG_REAL,                                                   \
      "proven upper bound of the largest singular value")                                          \
    X(TAIL_DROPPED, "dropped", SZG_REAL,                                                           \
      "dropped and deflated terms of a divide and conquer over the norm")                          \
    X(TAIL_NOTE, "note", SZG_TEXT, "what a reader must know")
SZGI_SCHEMA(tail_columns, TAIL);

/* Where the parts begin; the numbers between them are those before the residual. */
enum {
    NUMBERS_AT = head_columns_count,
    TAIL_AT = NUMBERS_AT + SZGI_NUMBER_RESIDUAL,
    COLUMNS = TAIL_AT + tail_columns_count
};

/* Column of a number (SZGI_NUMBER_...). */
static int64_t column_of(int number) {
    return number == SZGI_NUMBER_RESIDUAL ? TAIL_AT + TAIL_RESIDUAL : NUMBERS_AT + number;
}

void szgi_summary_numbers(const szg_summary *s, const szg_tau *toeplitzness,
                          const szg_range *symbol, szgi_summary_number *out) {
    const szg_range none = {{NAN, NAN}, {NAN, NAN}, NAN, NAN, NULL};
    const szg_tau missing = {NAN, NAN, false}, *tau = toeplitzness ? toeplitzness : &missing;
    const szg_range *range = symbol && symbol->method ? symbol : &none;
    const szgi_summary_number numbers[SZGI_SUMMARY_NUMBERS] = {
        [SZGI_NUMBER_RANK] =
            {.column = "rank",
             .doc = "rank by structure; of weights, singular values above n eps sigma_max",
             .value = s->rank < 0 ? NAN : (double)s->rank,
             .integer = true},
        [SZGI_NUMBER_LAMBDA_MIN] = {.column = "lambda_min",
                                    .doc = "least eigenvalue, or least real part",
                                    .value = s->lambda_min,
                                    .eigenvalue = true},
        [SZGI_NUMBER_LAMBDA_MAX] = {.column = "lambda_max",
                                    .doc = "largest eigenvalue, or largest real part",
                                    .value = s->lambda_max,
                                    .eigenvalue = true},
        [SZGI_NUMBER_WIDTH] = {.column = "width",
                               .doc = "lambda_max - lambda_min of real eigenvalues",
                               .value = s->width,
                               .eigenvalue = true},
        [SZGI_NUMBER_RADIUS] = {.column = "radius",
                                .doc = "largest modulus of an eigenvalue",
                                .value = s->radius,
                                .eigenvalue = true},
        [SZGI_NUMBER_SIGMA_MIN] = {.column = "sigma_min",
                                   .doc = "least singular value",
                                   .value = s->sigma_min},
        [SZGI_NUMBER_SIGMA_MAX] = {.column = "sigma_max",
                                   .doc = "largest singular value",
                                   .value = s->sigma_max},
        [SZGI_NUMBER_CONDITION] = {.column = "condition",
                                   .doc = "sigma_max / sigma_min",
                                   .value = s->condition},
        [SZGI_NUMBER_STABLE_RANK] = {.column = "stable_rank",
                                     .doc = "squared Frobenius over squared spectral norm",
                                     .value = s->stable_rank},
        [SZGI_NUMBER_EFFECTIVE_RANK] = {.column = "effective_rank",
                                        .doc = "exponential of the entropy of the singular values",
                                        .value = s->effective_rank},
        [SZGI_NUMBER_TOEPLITZNESS] =
            {.column = "toeplitzness",
             .doc = "share of the squared Frobenius norm that the Toeplitz part holds",
             .value = tau->value},
        [SZGI_NUMBER_TOEPLITZNESS_ERROR] =
            {.column = "toeplitzness_error",
             .doc = "bound of the absolute error of toeplitzness; its standard error if sampled",
             .value = tau->error,
             .end = SZGI_END_UPPER},
        [SZGI_NUMBER_TOEPLITZNESS_SAMPLED] =
            {.column = "toeplitzness_sampled",
             .doc = "1: 1 - toeplitzness is a mean over 64 Gaussian vectors; 0: computed",
             .value = isnan(tau->value) ? NAN : tau->sampled,
             .integer = true},
        [SZGI_NUMBER_SYMBOL_MIN_LO] =
            {.column = "symbol_min_lo",
             .doc = "certified lower bound of the symbol's minimum, or its modulus's",
             .value = range->min.lo,
             .end = SZGI_END_LOWER},
        [SZGI_NUMBER_SYMBOL_MIN_HI] =
            {.column = "symbol_min_hi",
             .doc = "certified upper bound of the symbol's minimum, or its modulus's",
             .value = range->min.hi,
             .end = SZGI_END_UPPER},
        [SZGI_NUMBER_SYMBOL_MAX_LO] =
            {.column = "symbol_max_lo",
             .doc = "certified lower bound of the symbol's maximum, or its modulus's",
             .value = range->max.lo,
             .end = SZGI_END_LOWER},
        [SZGI_NUMBER_SYMBOL_MAX_HI] =
            {.column = "symbol_max_hi",
             .doc = "certified upper bound of the symbol's maximum, or its modulus's",
             .value = range->max.hi,
             .end = SZGI_END_UPPER},
        [SZGI_NUMBER_RESIDUAL] =
            {.column = "residual",
             .doc = "backward error or defect of the spectrum, see docs/explanation/methods.md",
             .value = s->residual},
    };
    memcpy(out, numbers, sizeof numbers);
}

void szgi_summary_put(szgi_row *row, int64_t column, const szgi_summary_number *number) {
    if (isnan(number->value))
        return;
    if (number->integer)
        szgi_row_integer(row, column, (int64_t)number->value);
    else
        szgi_row_real(row, column, number->value);
}

szg_status szgi_summary_table(szg_context *context, szg_table **out) {
    szg_column columns[COLUMNS];
    const szg_summary empty = {0};
    szgi_summary_number numbers[SZGI_SUMMARY_NUMBERS];
    szgi_summary_numbers(&empty, NULL, NULL, numbers);
    memcpy(columns, head_columns, sizeof head_columns);
    for (int i = 0; i < SZGI_NUMBER_RESIDUAL; i++)
        columns[NUMBERS_AT + i] = (szg_column){
            numbers[i].column, numbers[i].integer ? SZG_INTEGER : SZG_REAL, numbers[i].doc};
    memcpy(columns + TAIL_AT, tail_columns, sizeof tail_columns);
    SZG_TRY(szg_table_open(context, "summary", columns, COLUMNS, out));
    for (int i = 0; i < SZGI_NUMBER_RESIDUAL; i++)
        szgi_table_set_end(*out, NUMBERS_AT + i, numbers[i].end);
    SZG_TRY(szgi_table_mark_ends(context, *out, "lambda_min_lo", "lambda_min_hi"));
    SZG_TRY(szgi_table_mark_ends(context, *out, "lambda_max_lo", "lambda_max_hi"));
    SZG_TRY(szgi_table_mark_ends(context, *out, "sigma_min_lo", "sigma_min_hi"));
    return szgi_table_mark_ends(context, *out, "sigma_max_lo", "sigma_max_hi");
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
        szgi_row_text(row, TAIL_AT + TAIL_BOUND_OF, szgi_bound_of_name(bound_of));
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
    szgi_row_text(row, TAIL_AT + TAIL_SOLVER, szg_method_solver(summary->method));
    if (eigenvalues)
        szgi_row_text(row, TAIL_AT + TAIL_VALUES_OF, szgi_values_of_name(labels->values_of));
    if (!isnan(summary->dropped))
        szgi_row_real(row, TAIL_AT + TAIL_DROPPED, summary->dropped);
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
    szgi_row_text(row, TAIL_AT + TAIL_METHOD, words ? text : szg_method_name(method));
}

static szgi_row add_label(szg_context *context, szg_table *table,
                          const szgi_summary_labels *labels) {
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, HEAD_SOURCE, labels->source);
    szgi_row_place(&row, HEAD_LAYER, labels->layer);
    szgi_row_place(&row, HEAD_HEAD, labels->head);
    szgi_row_text(&row, HEAD_MATRIX, labels->matrix);
    szgi_row_text(&row, TAIL_AT + TAIL_THEOREM, labels->theorem);
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
        put_interval(row, TAIL_AT + TAIL_MIN_LO, eigenvalues->min);
        put_interval(row, TAIL_AT + TAIL_MAX_LO, eigenvalues->max);
    }
    if (singular->certified || szgi_spectrum_moduli(eigenvalues, &least, &largest)) {
        put_interval(row, TAIL_AT + TAIL_LEAST_LO, least);
        put_interval(row, TAIL_AT + TAIL_LARGEST_LO, largest);
    }
}

szg_status szgi_summary_add(szg_context *context, szg_table *table,
                            const szgi_summary_labels *labels, const szg_summary *summary,
                            const szg_tau *toeplitzness, const szg_range *symbol) {
    szgi_summary_number numbers[SZGI_SUMMARY_NUMBERS];
    szgi_row row = add_label(context, table, labels);
    szgi_summary_numbers(summary, toeplitzness, symbol, numbers);
    szgi_row_integer(&row, HEAD_N, summary->n);
    for (int i = 0; i < SZGI_SUMMARY_NUMBERS; i++)
        szgi_summary_put(&row, column_of(i), &numbers[i]);
    if (toeplitzness && szgi_tau_note(toeplitzness))
        szgi_row_note(&row, "%s", szgi_tau_note(toeplitzness));
    put_facts(&row, labels, summary, symbol);
    put_method(&row, summary->method);
    return row.status;
}

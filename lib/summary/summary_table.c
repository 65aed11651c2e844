/* The columns of the table `summary`, in their one place. */
#include <stdio.h>
#include <string.h>

#include "linalg/ops.h"
#include "linalg/linalg.h"
#include "ball/ball.h"
#include "summary/summary.h"
#include "base/table.h"
#include "toeplitz/toeplitz.h"

#include "spectra/spectra.h"

enum { HEAD_COLUMNS = 5, TAIL_COLUMNS = 7 };

static const szg_column head_columns[HEAD_COLUMNS] = {
    {"source", SZG_TEXT, "the SPEC or the file"},
    {"layer", SZG_INTEGER, "layer, counted from 0"},
    {"head", SZG_INTEGER, "query head, counted from 0"},
    {"matrix", SZG_TEXT, "which matrix of the source"},
    {"n", SZG_INTEGER, "order; of a rectangular matrix the smaller side"},
};

/* theorem and method stand between the symbol's columns and the residual, the last number. What
 * other programs read stands in columns of its own, so that notes and methods can be reworded. */
static const szg_column tail_columns[TAIL_COLUMNS] = {
    {"theorem", SZG_TEXT, "limit theorem that applies as N grows"},
    {"method", SZG_TEXT, "how the spectrum was computed"},
    {"residual", SZG_REAL, "backward error or defect of the spectrum, see docs/spectra.md"},
    {"solver", SZG_TEXT, SZGI_SOLVER_DOC},
    {"values_of", SZG_TEXT, SZGI_VALUES_OF_DOC},
    {"bound_of", SZG_TEXT, SZGI_BOUND_OF_DOC},
    {"note", SZG_TEXT, "what a reader must know"},
};

void szgi_summary_numbers(const szg_summary *s, const szg_tau *toeplitzness,
                          const szg_range *symbol, szgi_summary_number *out) {
    const szg_range none = {{NAN, NAN}, {NAN, NAN}, NAN, NAN, NULL};
    const szg_tau missing = {NAN, NAN, false}, *tau = toeplitzness ? toeplitzness : &missing;
    const szg_range *range = symbol && symbol->method ? symbol : &none;
    const szgi_summary_number numbers[SZGI_SUMMARY_NUMBERS] = {
        {.column = "rank",
         .doc = "rank by structure; of weights, singular values above n eps sigma_max",
         .value = s->rank < 0 ? NAN : (double)s->rank,
         .integer = true},
        {.column = "lambda_min",
         .doc = "least eigenvalue, or least real part",
         .value = s->lambda_min,
         .eigenvalue = true},
        {.column = "lambda_max",
         .doc = "largest eigenvalue, or largest real part",
         .value = s->lambda_max,
         .eigenvalue = true},
        {.column = "width",
         .doc = "lambda_max - lambda_min of real eigenvalues",
         .value = s->width,
         .eigenvalue = true},
        {.column = "radius",
         .doc = "largest modulus of an eigenvalue",
         .value = s->radius,
         .eigenvalue = true},
        {.column = "sigma_min", .doc = "least singular value", .value = s->sigma_min},
        {.column = "sigma_max", .doc = "largest singular value", .value = s->sigma_max},
        {.column = "condition", .doc = "sigma_max / sigma_min", .value = s->condition},
        {.column = "stable_rank",
         .doc = "squared Frobenius over squared spectral norm",
         .value = s->stable_rank},
        {.column = "effective_rank",
         .doc = "exponential of the entropy of the singular values",
         .value = s->effective_rank},
        {.column = "toeplitzness",
         .doc = "share of the squared Frobenius norm that the Toeplitz part holds",
         .value = tau->value},
        {.column = "toeplitzness_error",
         .doc = "bound of the absolute error of toeplitzness; its standard error if sampled",
         .value = tau->error,
         .end = SZGI_END_UPPER},
        {.column = "toeplitzness_sampled",
         .doc = "1: 1 - toeplitzness is a mean over 64 Gaussian vectors; 0: computed",
         .value = isnan(tau->value) ? NAN : tau->sampled,
         .integer = true},
        {.column = "symbol_min_lo",
         .doc = "certified lower bound of the symbol's minimum, or its modulus's",
         .value = range->min.lo,
         .end = SZGI_END_LOWER},
        {.column = "symbol_min_hi",
         .doc = "certified upper bound of the symbol's minimum, or its modulus's",
         .value = range->min.hi,
         .end = SZGI_END_UPPER},
        {.column = "symbol_max_lo",
         .doc = "certified lower bound of the symbol's maximum, or its modulus's",
         .value = range->max.lo,
         .end = SZGI_END_LOWER},
        {.column = "symbol_max_hi",
         .doc = "certified upper bound of the symbol's maximum, or its modulus's",
         .value = range->max.hi,
         .end = SZGI_END_UPPER},
        {.column = "residual",
         .doc = "backward error or defect of the spectrum, see docs/spectra.md",
         .value = s->residual},
    };
    memcpy(out, numbers, sizeof numbers);
}

szg_status szgi_summary_set(szg_context *context, szg_table *table, const char *column,
                            const szgi_summary_number *number) {
    if (isnan(number->value))
        return SZG_OK;
    if (number->integer)
        return szg_table_set_integer(context, table, column, (int64_t)number->value);
    return szg_table_set_real(context, table, column, number->value);
}

szg_status szgi_summary_table(szg_context *context, szg_table **out) {
    szg_column columns[HEAD_COLUMNS + SZGI_SUMMARY_NUMBERS - 1 + TAIL_COLUMNS];
    const szg_summary empty = {0};
    szgi_summary_number numbers[SZGI_SUMMARY_NUMBERS];
    szgi_summary_numbers(&empty, NULL, NULL, numbers);
    int64_t count = HEAD_COLUMNS;
    memcpy(columns, head_columns, sizeof head_columns);
    for (int i = 0; i < SZGI_SUMMARY_NUMBERS - 1; i++)
        columns[count++] = (szg_column){
            numbers[i].column, numbers[i].integer ? SZG_INTEGER : SZG_REAL, numbers[i].doc};
    memcpy(columns + count, tail_columns, sizeof tail_columns);
    SZG_TRY(szg_table_open(context, "summary", columns, count + TAIL_COLUMNS, out));
    for (int i = 0; i < SZGI_SUMMARY_NUMBERS - 1; i++)
        szgi_table_set_end(*out, HEAD_COLUMNS + i, numbers[i].end);
    return SZG_OK;
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

/* The columns that say what the numbers are, empty where those are. */
static szg_status set_facts(szg_context *context, szg_table *table,
                            const szgi_summary_labels *labels, const szg_summary *summary,
                            const szg_range *symbol) {
    bool eigenvalues =
        !isnan(summary->lambda_min) || !isnan(summary->lambda_max) || !isnan(summary->radius);
    SZG_TRY(szg_table_set_text(context, table, "solver", szg_method_solver(summary->method)));
    if (eigenvalues)
        SZG_TRY(szg_table_set_text(context, table, "values_of",
                                   szgi_values_of_name(labels->values_of)));
    if (symbol && symbol->method)
        return szg_table_set_text(context, table, "bound_of", szgi_bound_of_name(labels->bound_of));
    return SZG_OK;
}

/* Where the backend's solver did the work, the words say whose that was. */
static szg_status set_method(szg_context *context, szg_table *table, szg_method method) {
    const char *words = szgi_method_words(method), *backend = szgi_backend_name(context);
    const char *library = strncmp(backend, "cuda", 4) == 0        ? "cuSOLVER or LAPACK, by size"
                          : strncmp(backend, "reference", 9) == 0 ? "Jacobi"
                                                                  : "LAPACK";
    char text[256];
    if (!words)
        return szg_table_set_text(context, table, "method", szg_method_name(method));
    snprintf(text, sizeof text, "%s (%s)", words, library);
    return szg_table_set_text(context, table, "method", text);
}

szg_status szgi_summary_label(szg_context *context, szg_table *table,
                              const szgi_summary_labels *labels) {
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "source", labels->source));
    if (labels->layer >= 0)
        SZG_TRY(szg_table_set_integer(context, table, "layer", labels->layer));
    if (labels->head >= 0)
        SZG_TRY(szg_table_set_integer(context, table, "head", labels->head));
    SZG_TRY(szg_table_set_text(context, table, "matrix", labels->matrix));
    return szg_table_set_text(context, table, "theorem", labels->theorem);
}

szg_status szgi_summary_add(szg_context *context, szg_table *table,
                            const szgi_summary_labels *labels, const szg_summary *summary,
                            const szg_tau *toeplitzness, const szg_range *symbol) {
    szgi_summary_number numbers[SZGI_SUMMARY_NUMBERS];
    szgi_summary_numbers(summary, toeplitzness, symbol, numbers);
    SZG_TRY(szgi_summary_label(context, table, labels));
    SZG_TRY(szg_table_set_integer(context, table, "n", summary->n));
    for (int i = 0; i < SZGI_SUMMARY_NUMBERS; i++)
        SZG_TRY(szgi_summary_set(context, table, numbers[i].column, &numbers[i]));
    if (toeplitzness && szgi_tau_note(toeplitzness))
        SZG_TRY(szg_table_note(context, table, "%s", szgi_tau_note(toeplitzness)));
    SZG_TRY(set_facts(context, table, labels, summary, symbol));
    return set_method(context, table, summary->method);
}

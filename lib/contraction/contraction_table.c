/* The tables of contraction reports. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "summary/report_private.h"
#include "contraction/contraction.h"
#include "base/options.h"
#include "base/table.h"
#include "summary/summary.h"
#include "toeplitz/toeplitz.h"

#define NOTE(X, TABLE) X(TABLE##_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")

/* ---- The table `contraction`: labels, the numbers of both matrices, note ---- */

#define LABELS(X)                                                                                  \
    SZGI_LOGITS_IDENTITY(X, LABEL)                                                                 \
    X(LABEL_N, "n", SZG_INTEGER, "1", "order n", "order")                                          \
    X(LABEL_CONTENT_KIND, "content_kind", SZG_TEXT, "", "compared with",                           \
      "same_qk: queries and keys without the position part; zeroed: position table zeroed")        \
    X(LABEL_PAIRING, "pairing", SZG_TEXT, "", "pairing", SZGI_PAIRING_DOC)                         \
    X(LABEL_WIDTH_RATIO, "width_ratio", SZG_REAL, "1", "ratio of widths",                          \
      "eigenvalue width of the Hermitian parts, coupled / content")                                \
    X(LABEL_NORM_RATIO, "norm_ratio", SZG_REAL, "1", "ratio of the largest singular values",       \
      "largest singular value, coupled / content")                                                 \
    X(LABEL_NUCLEAR_RATIO, "nuclear_ratio", SZG_REAL, "1", "ratio of the sums of singular values", \
      "sum of singular values, coupled / content")                                                 \
    X(LABEL_MAJORISED, "majorised", SZG_INTEGER, "1", "share of heads and probes majorised",       \
      "1: eigenvalues of coupled's Hermitian part are majorised by those of content's")            \
    X(LABEL_MARGIN, "margin", SZG_REAL, "1", "slack of the majorisation",                          \
      "least slack of the majorisation's partial sums")                                            \
    X(LABEL_MARGIN_ERROR, "margin_error", SZG_REAL, "1", "rounding of the slack",                  \
      "rounding that majorised allows that partial sum: 1 means a margin of at least minus this")  \
    X(LABEL_GRAD_NORM, "grad_norm", SZG_REAL, "1", "gradient norm",                                \
      "gradient norm of the head: its rows of W_Q, W_K, W_V, its columns of W_O")                  \
    X(LABEL_GRAD_NORM_QK, "grad_norm_qk", SZG_REAL, "1", "gradient norm of queries and keys",      \
      "gradient norm of the head's rows of W_Q and W_K alone")
/* Eigenvalues are those of the Hermitian part; see the header. */
#define NUMBERS(X, TABLE, SUFFIX, OF)                                                              \
    SZGI_NUMBERS(X, TABLE, SUFFIX, OF, "of the Hermitian part: ")                                  \
    SZGI_RESIDUAL(X, TABLE, SUFFIX, OF, )
#define CONTRACTION(X)                                                                             \
    LABELS(X)                                                                                      \
    NUMBERS(X, CONTENT, "_content", " of the content")                                             \
    NUMBERS(X, COUPLED, "_coupled", " with the encoding")                                          \
    NOTE(X, CONTRACTION)
#define CONTRACTION_SCREEN                                                                         \
    SZGI_SHOW(1, source)                                                                           \
    SZGI_SHOW(1, step)                                                                             \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(2, probe)                                                                            \
    SZGI_SHOW(1, n)                                                                                \
    SZGI_SHOW(1, width_ratio)                                                                      \
    SZGI_SHOW(1, norm_ratio)                                                                       \
    SZGI_SHOW(2, nuclear_ratio)                                                                    \
    SZGI_SHOW(1, majorised)                                                                        \
    SZGI_SHOW(4, rank_content)                                                                     \
    SZGI_SHOW(4, rank_coupled)                                                                     \
    SZGI_SHOW(4, width_content)                                                                    \
    SZGI_SHOW(3, width_coupled)                                                                    \
    SZGI_SHOW(5, toeplitzness_content)                                                             \
    SZGI_SHOW(3, toeplitzness_coupled)                                                             \
    SZGI_SHOW_AS(3, lambda_min_coupled, "lambda_min_coupled", "λ_min_coupled")                     \
    SZGI_SHOW_AS(3, lambda_max_coupled, "lambda_max_coupled", "λ_max_coupled")                     \
    SZGI_SHOW_RANGE(9, certified_content, symbol_min_lo_content, symbol_max_hi_content)            \
    SZGI_SHOW_RANGE(6, certified_coupled, symbol_min_lo_coupled, symbol_max_hi_coupled)
SZGI_SCHEMA(contraction_columns, "contraction", CONTRACTION, CONTRACTION_SCREEN);

szg_status szg_contraction_table(szg_context *context, szg_table **out) {
    SZGI_ENTER(context);
    return szgi_schema_open(context, &contraction_columns_schema, out);
}

void szgi_logits_identify(szgi_row *row, const szg_contraction_labels *labels) {
    szgi_row_text(row, LABEL_SOURCE, labels->source);
    szgi_row_place(row, LABEL_STEP, labels->step);
    szgi_row_place(row, LABEL_LAYER, labels->layer);
    szgi_row_place(row, LABEL_HEAD, labels->head);
    szgi_row_text(row, LABEL_PROBE, labels->probe);
}

static void put_ratios(szgi_row *row, const szg_contraction_ratios *ratios) {
    bool holds = ratios->eigenvalues.order == SZG_ORDER_HOLDS;
    szgi_row_number(row, LABEL_WIDTH_RATIO, ratios->width);
    szgi_row_number(row, LABEL_NORM_RATIO, ratios->norm);
    szgi_row_number(row, LABEL_NUCLEAR_RATIO, ratios->nuclear);
    if (!ratios->ordered) {
        szgi_row_note(row, "no majorisation: it needs all eigenvalues (--all)");
        return;
    }
    szgi_row_integer(row, LABEL_MAJORISED, holds);
    szgi_row_real(row, LABEL_MARGIN, ratios->eigenvalues.margin);
    szgi_row_real(row, LABEL_MARGIN_ERROR, ratios->eigenvalues.rounding);
    if (!holds)
        szgi_row_note(row, "first violated partial sum: k = %lld",
                      (long long)ratios->eigenvalues.first_violation);
}

static void put_numbers(szgi_row *row, const szg_matrix_report *report, int64_t first) {
    double numbers[SZGI_SUMMARY_NUMBERS];
    szgi_summary_numbers(&report->summary, &report->toeplitzness, &report->symbol, numbers);
    for (int i = 0; i < SZGI_SUMMARY_NUMBERS; i++)
        szgi_summary_put(row, first + i, numbers[i]);
}

static void put_notes(szgi_row *row, const szg_contraction *contraction) {
    const szg_matrix_report *content = &contraction->content, *coupled = &contraction->coupled;
    if (content->matrix && content->summary.sigma_max == 0)
        szgi_row_note(row, "no ratios: the content is the zero matrix");
    if (content->hermitian_part && !coupled->hermitian_part)
        szgi_row_note(row, "content " REPORT_HERMITIAN_PART);
    if (szgi_tau_note(&content->toeplitzness))
        szgi_row_note(row, "content: %s", szgi_tau_note(&content->toeplitzness));
    if (szgi_tau_note(&coupled->toeplitzness))
        szgi_row_note(row, "coupled: %s", szgi_tau_note(&coupled->toeplitzness));
    if (content->noise[0])
        szgi_row_note(row, "content: %s", content->noise);
    if (coupled->note[0])
        szgi_row_note(row, "%s", coupled->note);
}

static szg_status add_row(szg_context *context, szg_table *table,
                          const szg_contraction_labels *labels,
                          const szg_contraction *contraction) {
    szgi_row row = szgi_row_add(context, table);
    szgi_logits_identify(&row, labels);
    szgi_row_text(&row, LABEL_CONTENT_KIND, labels->content_kind);
    szgi_row_text(&row, LABEL_PAIRING, labels->pairing);
    szgi_row_number(&row, LABEL_GRAD_NORM, labels->grad_norm);
    szgi_row_number(&row, LABEL_GRAD_NORM_QK,
                    isnan(labels->grad_norm) ? labels->grad_norm : labels->grad_norm_qk);
    szgi_row_integer(&row, LABEL_N, contraction->n);
    if (contraction->content.matrix) {
        put_ratios(&row, &contraction->ratios);
        put_numbers(&row, &contraction->content, CONTENT_RANK);
    } else {
        szgi_row_note(&row, "no ratios: there is no content to compare with");
    }
    put_numbers(&row, &contraction->coupled, COUPLED_RANK);
    put_notes(&row, contraction);
    return row.status;
}

szg_status szg_contraction_add(szg_context *context, szg_table *table,
                               const szg_contraction_labels *labels,
                               const szg_contraction *contraction) {
    SZGI_ENTER(context);
    szg_contraction_labels own;
    SZG_TRY(SZGI_OPTIONS(context, szg_contraction_labels, labels, &own));
    return add_row(context, table, &own, contraction);
}

szg_status szgi_contraction_add_problem(szg_context *context, szg_table *table,
                                        const szg_contraction_labels *labels, int64_t n,
                                        const char *problem) {
    szgi_row row = szgi_row_add(context, table);
    szgi_logits_identify(&row, labels);
    szgi_row_text(&row, LABEL_CONTENT_KIND, labels->content_kind);
    szgi_row_integer(&row, LABEL_N, n);
    szgi_row_text(&row, LABEL_PAIRING, labels->pairing);
    szgi_row_note(&row, SZGI_NOT_COMPUTED "%s", problem);
    return row.status;
}

/* ---- Whole spectra and symbols ---- */

#define VALUES(X)                                                                                  \
    SZGI_LOGITS_IDENTITY(X, VALUES)                                                                \
    X(VALUES_MATRIX, "matrix", SZG_TEXT, "", "matrix", "content or logits")                        \
    X(VALUES_KIND, "kind", SZG_TEXT, "", "kind", "eigenvalue (of the Hermitian part) or singular") \
    X(VALUES_INDEX, "index", SZG_INTEGER, "1", "place in the spectrum",                            \
      "place in the spectrum, counted from 0")                                                     \
    X(VALUES_VALUE, "value", SZG_REAL, "1", "value",                                               \
      "eigenvalues ascend, singular values descend")                                               \
    X(VALUES_N, "n", SZG_INTEGER, "1", "order n", "order of the matrix")                           \
    X(VALUES_ZEROS, "zeros", SZG_INTEGER, "1", "zeros by structure", SZGI_ZEROS_DOC)               \
    NOTE(X, VALUES)
SZGI_SCHEMA(values_columns, "contraction_values", VALUES, SZGI_NOT_SHOWN);

#define SYMBOLS(X)                                                                                 \
    SZGI_LOGITS_IDENTITY(X, SYMBOLS)                                                               \
    X(SYMBOLS_MATRIX, "matrix", SZG_TEXT, "", "matrix", "content or logits")                       \
    X(SYMBOLS_THETA, "theta", SZG_REAL, "radians a position", "angle", "angle, radians")           \
    X(SYMBOLS_RE, "re", SZG_REAL, "1", "value", "real part of the Toeplitz part's symbol")         \
    X(SYMBOLS_IM, "im", SZG_REAL, "1", "imaginary part",                                           \
      "imaginary part of the Toeplitz part's symbol")                                              \
    X(SYMBOLS_N, "n", SZG_INTEGER, "1", "order n", "order of the matrix")                          \
    NOTE(X, SYMBOLS)
SZGI_SCHEMA(symbols_columns, "contraction_symbols", SYMBOLS, SZGI_NOT_SHOWN);

szg_status szgi_contraction_values_table(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &values_columns_schema, out);
}

szg_status szgi_contraction_symbols_table(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &symbols_columns_schema, out);
}

szg_status szg_contraction_tables_open(szg_context *context, bool values, bool symbols,
                                       szg_contraction_tables *out) {
    *out = (szg_contraction_tables){0};
    SZGI_ENTER(context);
    szg_status status = szg_contraction_table(context, &out->contraction);
    if (status == SZG_OK && values)
        status = szgi_contraction_values_table(context, &out->values);
    if (status == SZG_OK && symbols)
        status = szgi_contraction_symbols_table(context, &out->symbols);
    if (status != SZG_OK)
        szg_contraction_tables_close(out);
    return status;
}

void szg_contraction_tables_close(szg_contraction_tables *tables) {
    szg_table_close(&tables->contraction);
    szg_table_close(&tables->values);
    szg_table_close(&tables->symbols);
}

static szg_status add_spectrum(szg_context *context, szg_table *table,
                               const szg_contraction_labels *labels,
                               const szg_matrix_report *report, const szg_spectrum *spectrum) {
    for (int64_t i = 0; i < spectrum->count; i++) {
        szgi_row row = szgi_row_add(context, table);
        szgi_logits_identify(&row, labels);
        szgi_row_text(&row, VALUES_MATRIX, report->matrix);
        szgi_row_text(&row, VALUES_KIND, szg_spectrum_kind_name(spectrum->kind));
        szgi_row_integer(&row, VALUES_INDEX, i);
        szgi_row_real(&row, VALUES_VALUE, spectrum->re[i]);
        szgi_row_integer(&row, VALUES_N, report->summary.n);
        szgi_row_integer(&row, VALUES_ZEROS, spectrum->zeros);
        if (i + 1 == spectrum->count)
            szgi_zeros_note(&row, spectrum);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

static szg_status add_samples(szg_context *context, szg_table *table,
                              const szg_contraction_labels *labels,
                              const szg_matrix_report *report) {
    for (int64_t j = 0; j < report->samples; j++) {
        szgi_row row = szgi_row_add(context, table);
        szgi_logits_identify(&row, labels);
        szgi_row_text(&row, SYMBOLS_MATRIX, report->matrix);
        szgi_sample_put(&row, SYMBOLS_THETA, j, report->samples, report->sample[j]);
        szgi_row_integer(&row, SYMBOLS_N, report->summary.n);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

szg_status szgi_contraction_add_to(szg_context *context, szg_contraction_tables *tables,
                                   const szg_contraction_labels *labels,
                                   const szg_contraction *contraction) {
    const szg_matrix_report *reports[] = {&contraction->content, &contraction->coupled};
    SZG_TRY(add_row(context, tables->contraction, labels, contraction));
    for (int i = 0; i < 2; i++) {
        if (!reports[i]->matrix)
            continue;
        if (tables->values) {
            SZG_TRY(add_spectrum(context, tables->values, labels, reports[i],
                                 &reports[i]->eigenvalues));
            SZG_TRY(
                add_spectrum(context, tables->values, labels, reports[i], &reports[i]->singular));
        }
        if (tables->symbols)
            SZG_TRY(add_samples(context, tables->symbols, labels, reports[i]));
    }
    return SZG_OK;
}

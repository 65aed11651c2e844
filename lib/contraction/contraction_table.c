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

#define NOTE(X, TABLE) X(TABLE##_NOTE, "note", SZG_TEXT, "what a reader must know")

/* ---- The table `contraction`: labels, the numbers of both matrices, note ---- */

#define LABELS(X)                                                                                  \
    SZGI_LOGITS_IDENTITY(X, LABEL)                                                                 \
    X(LABEL_N, "n", SZG_INTEGER, "order")                                                          \
    X(LABEL_CONTENT_KIND, "content_kind", SZG_TEXT,                                                \
      "same_qk: queries and keys without the position part; zeroed: position table zeroed")        \
    X(LABEL_PAIRING, "pairing", SZG_TEXT, SZGI_PAIRING_DOC)                                        \
    X(LABEL_WIDTH_RATIO, "width_ratio", SZG_REAL,                                                  \
      "eigenvalue width of the Hermitian parts, coupled / content")                                \
    X(LABEL_NORM_RATIO, "norm_ratio", SZG_REAL, "largest singular value, coupled / content")       \
    X(LABEL_NUCLEAR_RATIO, "nuclear_ratio", SZG_REAL, "sum of singular values, coupled / content") \
    X(LABEL_MAJORISED, "majorised", SZG_INTEGER,                                                   \
      "1: eigenvalues of coupled's Hermitian part are majorised by those of content's")            \
    X(LABEL_MARGIN, "margin", SZG_REAL, "least slack of the majorisation's partial sums")          \
    X(LABEL_MARGIN_ERROR, "margin_error", SZG_REAL,                                                \
      "rounding that majorised allows that partial sum: 1 means a margin of at least minus this")  \
    X(LABEL_GRAD_NORM, "grad_norm", SZG_REAL,                                                      \
      "gradient norm of the head: its rows of W_Q, W_K, W_V, its columns of W_O")                  \
    X(LABEL_GRAD_NORM_QK, "grad_norm_qk", SZG_REAL,                                                \
      "gradient norm of the head's rows of W_Q and W_K alone")
SZGI_SCHEMA(label_columns, LABELS);
enum { NAME = 48, COLUMNS = label_columns_count + 2 * SZGI_SUMMARY_NUMBERS + 1 };
static const char *const suffixes[] = {"_content", "_coupled"};

/* The columns of one matrix. Eigenvalues are those of the Hermitian part; see the header. */
typedef struct number_columns {
    char name[SZGI_SUMMARY_NUMBERS][NAME], doc[SZGI_SUMMARY_NUMBERS][NAME + 80];
} number_columns;

static void fill_columns(const char *suffix, number_columns *own, szg_column *columns) {
    const szg_summary empty = {0};
    szgi_summary_number numbers[SZGI_SUMMARY_NUMBERS];
    szgi_summary_numbers(&empty, NULL, NULL, numbers);
    for (int i = 0; i < SZGI_SUMMARY_NUMBERS; i++) {
        snprintf(own->name[i], sizeof own->name[i], "%s%s", numbers[i].column, suffix);
        snprintf(own->doc[i], sizeof own->doc[i], "%s%s",
                 numbers[i].eigenvalue ? "of the Hermitian part: " : "", numbers[i].doc);
        columns[i] =
            (szg_column){own->name[i], numbers[i].integer ? SZG_INTEGER : SZG_REAL, own->doc[i]};
    }
}

static void mark_ends(szg_table *table) {
    const szg_summary empty = {0};
    szgi_summary_number numbers[SZGI_SUMMARY_NUMBERS];
    szgi_summary_numbers(&empty, NULL, NULL, numbers);
    for (int i = 0; i < 2 * SZGI_SUMMARY_NUMBERS; i++)
        szgi_table_set_end(table, label_columns_count + i, numbers[i % SZGI_SUMMARY_NUMBERS].end);
}

szg_status szg_contraction_table(szg_context *context, szg_table **out) {
    SZGI_ENTER(context);
    szg_column columns[COLUMNS];
    number_columns own[2];
    memcpy(columns, label_columns, sizeof label_columns);
    for (int i = 0; i < 2; i++)
        fill_columns(suffixes[i], &own[i],
                     columns + label_columns_count + i * SZGI_SUMMARY_NUMBERS);
    columns[COLUMNS - 1] = (szg_column){"note", SZG_TEXT, "what a reader must know"};
    SZG_TRY(szg_table_open(context, "contraction", columns, COLUMNS, out));
    mark_ends(*out);
    return SZG_OK;
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
    szgi_summary_number numbers[SZGI_SUMMARY_NUMBERS];
    szgi_summary_numbers(&report->summary, &report->toeplitzness, &report->symbol, numbers);
    for (int i = 0; i < SZGI_SUMMARY_NUMBERS; i++)
        szgi_summary_put(row, first + i, &numbers[i]);
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
        put_numbers(&row, &contraction->content, label_columns_count);
    } else {
        szgi_row_note(&row, "no ratios: there is no content to compare with");
    }
    put_numbers(&row, &contraction->coupled, label_columns_count + SZGI_SUMMARY_NUMBERS);
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
    X(VALUES_MATRIX, "matrix", SZG_TEXT, "content or logits")                                      \
    X(VALUES_KIND, "kind", SZG_TEXT, "eigenvalue (of the Hermitian part) or singular")             \
    X(VALUES_INDEX, "index", SZG_INTEGER, "place in the spectrum, counted from 0")                 \
    X(VALUES_VALUE, "value", SZG_REAL, "eigenvalues ascend, singular values descend")              \
    X(VALUES_N, "n", SZG_INTEGER, "order of the matrix")                                           \
    X(VALUES_ZEROS, "zeros", SZG_INTEGER, SZGI_ZEROS_DOC)                                          \
    NOTE(X, VALUES)
SZGI_SCHEMA(values_columns, VALUES);

#define SYMBOLS(X)                                                                                 \
    SZGI_LOGITS_IDENTITY(X, SYMBOLS)                                                               \
    X(SYMBOLS_MATRIX, "matrix", SZG_TEXT, "content or logits")                                     \
    X(SYMBOLS_THETA, "theta", SZG_REAL, "angle, radians")                                          \
    X(SYMBOLS_RE, "re", SZG_REAL, "real part of the Toeplitz part's symbol")                       \
    X(SYMBOLS_IM, "im", SZG_REAL, "imaginary part of the Toeplitz part's symbol")                  \
    X(SYMBOLS_N, "n", SZG_INTEGER, "order of the matrix")                                          \
    NOTE(X, SYMBOLS)
SZGI_SCHEMA(symbols_columns, SYMBOLS);

szg_status szgi_contraction_values_table(szg_context *context, szg_table **out) {
    return szg_table_open(context, "contraction_values", values_columns, values_columns_count, out);
}

szg_status szgi_contraction_symbols_table(szg_context *context, szg_table **out) {
    return szg_table_open(context, "contraction_symbols", symbols_columns, symbols_columns_count,
                          out);
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

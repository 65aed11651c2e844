/* The tables of contraction reports. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "summary/report_private.h"
#include "contraction/contraction.h"
#include "base/table.h"
#include "summary/summary.h"
#include "toeplitz/toeplitz.h"

#define IDENTITY                                                                                   \
    {"source", SZG_TEXT, "the SPEC or the file"}, {"step", SZG_INTEGER, "training step"},          \
        {"layer", SZG_INTEGER, "layer, counted from 0"},                                           \
        {"head", SZG_INTEGER, "head, counted from 0"}, {                                           \
        "probe", SZG_TEXT, "input that the logits were captured on"                                \
    }
#define NOTE                                                                                       \
    { "note", SZG_TEXT, "what a reader must know" }

/* ---- The table `contraction` ---- */

static const szg_column label_columns[] = {
    IDENTITY,
    {"n", SZG_INTEGER, "order"},
    {"content_kind", SZG_TEXT,
     "same_qk: queries and keys without the position part; zeroed: position table zeroed"},
    {"width_ratio", SZG_REAL, "eigenvalue width of the Hermitian parts, coupled / content"},
    {"norm_ratio", SZG_REAL, "largest singular value, coupled / content"},
    {"nuclear_ratio", SZG_REAL, "sum of singular values, coupled / content"},
    {"majorised", SZG_INTEGER,
     "1: eigenvalues of coupled's Hermitian part are majorised by those of content's"},
    {"margin", SZG_REAL, "least slack of the majorisation's partial sums"},
    {"grad_norm", SZG_REAL,
     "gradient norm of the head: its rows of W_Q, W_K, W_V, its columns of W_O"},
};
enum { LABELS = sizeof label_columns / sizeof *label_columns, NAME = 48 };
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
        szgi_table_set_end(table, LABELS + i, numbers[i % SZGI_SUMMARY_NUMBERS].end);
}

szg_status szg_contraction_table(szg_context *context, szg_table **out) {
    enum { COUNT = LABELS + 2 * SZGI_SUMMARY_NUMBERS + 1 };
    szg_column columns[COUNT];
    number_columns own[2];
    memcpy(columns, label_columns, sizeof label_columns);
    for (int i = 0; i < 2; i++)
        fill_columns(suffixes[i], &own[i], columns + LABELS + i * SZGI_SUMMARY_NUMBERS);
    columns[COUNT - 1] = (szg_column)NOTE;
    SZG_TRY(szg_table_open(context, "contraction", columns, COUNT, out));
    mark_ends(*out);
    return SZG_OK;
}

/* The columns of IDENTITY. */
static szg_status set_identity(szg_context *context, szg_table *table,
                               const szg_contraction_labels *labels) {
    const struct {
        const char *column;
        int64_t value;
    } integers[] = {{"step", labels->step}, {"layer", labels->layer}, {"head", labels->head}};
    for (int i = 0; i < 3; i++)
        if (integers[i].value >= 0)
            SZG_TRY(szg_table_set_integer(context, table, integers[i].column, integers[i].value));
    SZG_TRY(szg_table_set_text(context, table, "source", labels->source));
    return szg_table_set_text(context, table, "probe", labels->probe);
}

static szg_status set_ratios(szg_context *context, szg_table *table,
                             const szg_contraction_ratios *ratios) {
    const szgi_summary_number reals[] = {{.column = "width_ratio", .value = ratios->width},
                                         {.column = "norm_ratio", .value = ratios->norm},
                                         {.column = "nuclear_ratio", .value = ratios->nuclear}};
    for (int i = 0; i < 3; i++)
        SZG_TRY(szgi_summary_set(context, table, reals[i].column, &reals[i]));
    if (!ratios->ordered)
        return szg_table_note(context, table, "no majorisation: it needs all eigenvalues (--all)");
    SZG_TRY(szg_table_set_integer(context, table, "majorised",
                                  ratios->eigenvalues.order == SZG_ORDER_HOLDS));
    SZG_TRY(szg_table_set_real(context, table, "margin", ratios->eigenvalues.margin));
    if (ratios->eigenvalues.order == SZG_ORDER_HOLDS)
        return SZG_OK;
    return szg_table_note(context, table, "first violated partial sum: k = %lld",
                          (long long)ratios->eigenvalues.first_violation);
}

static szg_status set_numbers(szg_context *context, szg_table *table,
                              const szg_matrix_report *report, const char *suffix) {
    szgi_summary_number numbers[SZGI_SUMMARY_NUMBERS];
    char name[NAME];
    szgi_summary_numbers(&report->summary, &report->toeplitzness, &report->symbol, numbers);
    for (int i = 0; i < SZGI_SUMMARY_NUMBERS; i++) {
        snprintf(name, NAME, "%s%s", numbers[i].column, suffix);
        SZG_TRY(szgi_summary_set(context, table, name, &numbers[i]));
    }
    return SZG_OK;
}

static szg_status set_notes(szg_context *context, szg_table *table,
                            const szg_contraction *contraction) {
    if (contraction->content.matrix && contraction->content.summary.sigma_max == 0)
        SZG_TRY(szg_table_note(context, table, "no ratios: the content is the zero matrix"));
    if (contraction->content.hermitian_part && !contraction->coupled.hermitian_part)
        SZG_TRY(szg_table_note(context, table, "content " REPORT_HERMITIAN_PART));
    if (szgi_tau_note(&contraction->content.toeplitzness))
        SZG_TRY(szg_table_note(context, table, "content: %s",
                               szgi_tau_note(&contraction->content.toeplitzness)));
    if (szgi_tau_note(&contraction->coupled.toeplitzness))
        SZG_TRY(szg_table_note(context, table, "coupled: %s",
                               szgi_tau_note(&contraction->coupled.toeplitzness)));
    if (contraction->content.noise[0])
        SZG_TRY(szg_table_note(context, table, "content: %s", contraction->content.noise));
    if (contraction->coupled.note[0])
        SZG_TRY(szg_table_note(context, table, "%s", contraction->coupled.note));
    return SZG_OK;
}

szg_status szg_contraction_add(szg_context *context, szg_table *table,
                               const szg_contraction_labels *labels,
                               const szg_contraction *contraction) {
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(set_identity(context, table, labels));
    SZG_TRY(szg_table_set_text(context, table, "content_kind", labels->content_kind));
    if (!isnan(labels->grad_norm))
        SZG_TRY(szg_table_set_real(context, table, "grad_norm", labels->grad_norm));
    SZG_TRY(szg_table_set_integer(context, table, "n", contraction->n));
    if (contraction->content.matrix) {
        SZG_TRY(set_ratios(context, table, &contraction->ratios));
        SZG_TRY(set_numbers(context, table, &contraction->content, suffixes[0]));
    } else {
        SZG_TRY(szg_table_note(context, table, "no ratios: there is no content to compare with"));
    }
    SZG_TRY(set_numbers(context, table, &contraction->coupled, suffixes[1]));
    return set_notes(context, table, contraction);
}

/* ---- Whole spectra and symbols ---- */

static const szg_column value_columns[] = {
    IDENTITY,
    {"matrix", SZG_TEXT, "content or logits"},
    {"kind", SZG_TEXT, "eigenvalue (of the Hermitian part) or singular"},
    {"index", SZG_INTEGER, "place in the spectrum, counted from 0"},
    {"value", SZG_REAL, "eigenvalues ascend, singular values descend"},
    {"n", SZG_INTEGER, "order of the matrix"},
    {"zeros", SZG_INTEGER, SZGI_ZEROS_DOC},
    NOTE,
};

static const szg_column symbol_columns[] = {
    IDENTITY,
    {"matrix", SZG_TEXT, "content or logits"},
    {"theta", SZG_REAL, "angle, radians"},
    {"re", SZG_REAL, "real part of the Toeplitz part's symbol"},
    {"im", SZG_REAL, "imaginary part of the Toeplitz part's symbol"},
    {"n", SZG_INTEGER, "order of the matrix"},
    NOTE,
};

#define COUNT(array) ((int64_t)(sizeof array / sizeof *array))

szg_status szgi_contraction_values_table(szg_context *context, szg_table **out) {
    return szg_table_open(context, "contraction_values", value_columns, COUNT(value_columns), out);
}

szg_status szgi_contraction_symbols_table(szg_context *context, szg_table **out) {
    return szg_table_open(context, "contraction_symbols", symbol_columns, COUNT(symbol_columns),
                          out);
}

szg_status szg_contraction_tables_open(szg_context *context, bool values, bool symbols,
                                       szg_contraction_tables *out) {
    *out = (szg_contraction_tables){0};
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

static szg_status add_matrix_row(szg_context *context, szg_table *table,
                                 const szg_contraction_labels *labels,
                                 const szg_matrix_report *report) {
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(set_identity(context, table, labels));
    SZG_TRY(szg_table_set_text(context, table, "matrix", report->matrix));
    return szg_table_set_integer(context, table, "n", report->summary.n);
}

static szg_status add_spectrum(szg_context *context, szg_table *table,
                               const szg_contraction_labels *labels,
                               const szg_matrix_report *report, const szg_spectrum *spectrum) {
    for (int64_t i = 0; i < spectrum->count; i++) {
        SZG_TRY(add_matrix_row(context, table, labels, report));
        SZG_TRY(szg_table_set_text(context, table, "kind", szg_spectrum_kind_name(spectrum->kind)));
        SZG_TRY(szg_table_set_integer(context, table, "index", i));
        SZG_TRY(szg_table_set_real(context, table, "value", spectrum->re[i]));
        SZG_TRY(szg_table_set_integer(context, table, "zeros", spectrum->zeros));
    }
    if (spectrum->count > 0 && spectrum->zeros > 0)
        return szg_table_note(context, table, "%lld further values are exactly 0 and not listed",
                              (long long)spectrum->zeros);
    return SZG_OK;
}

static szg_status add_samples(szg_context *context, szg_table *table,
                              const szg_contraction_labels *labels,
                              const szg_matrix_report *report) {
    const double turn = 6.28318530717958647692;
    for (int64_t j = 0; j < report->samples; j++) {
        SZG_TRY(add_matrix_row(context, table, labels, report));
        SZG_TRY(szg_table_set_real(context, table, "theta",
                                   turn * (double)j / (double)report->samples));
        SZG_TRY(szg_table_set_real(context, table, "re", report->sample[j].re));
        SZG_TRY(szg_table_set_real(context, table, "im", report->sample[j].im));
    }
    return SZG_OK;
}

szg_status szgi_contraction_add_to(szg_context *context, szg_contraction_tables *tables,
                                   const szg_contraction_labels *labels,
                                   const szg_contraction *contraction) {
    const szg_matrix_report *reports[] = {&contraction->content, &contraction->coupled};
    SZG_TRY(szg_contraction_add(context, tables->contraction, labels, contraction));
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

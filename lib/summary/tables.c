#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "summary/summary.h"
#include "report_private.h"

static const szg_column eigenvalue_columns[] = {
    {"source", SZG_TEXT, "the SPEC or the file"},
    {"layer", SZG_INTEGER, "layer, counted from 0"},
    {"head", SZG_INTEGER, "head, counted from 0"},
    {"matrix", SZG_TEXT, "which matrix of the source"},
    {"kind", SZG_TEXT, "eigenvalue or singular"},
    {"index", SZG_INTEGER, "place in the spectrum, counted from 0"},
    {"re", SZG_REAL, "real part"},
    {"im", SZG_REAL, "imaginary part"},
    {"n", SZG_INTEGER, "order of the matrix"},
    {"zeros", SZG_INTEGER, SZGI_ZEROS_DOC},
    {"values_of", SZG_TEXT, SZGI_VALUES_OF_DOC},
    {"note", SZG_TEXT, "what a reader must know"},
};

#define SYMBOL_LABELS                                                                              \
    {"head", SZG_INTEGER, "head, counted from 0"}, {"matrix", SZG_TEXT, "which matrix"},           \
        {"n", SZG_INTEGER, "order of the matrix"}, {                                               \
        "convention", SZG_TEXT,                                                                    \
            "truncated (lags below n), fejer, "                                                    \
            "closed_form"                                                                          \
    }
#define NOTE                                                                                       \
    { "note", SZG_TEXT, "what a reader must know" }

static const szg_column sample_columns[] = {
    {"theta", SZG_REAL, "angle, radians"},
    {"re", SZG_REAL, "real part of the symbol"},
    {"im", SZG_REAL, "imaginary part of the symbol"},
    {"source", SZG_TEXT, "the SPEC or the file"},
    SYMBOL_LABELS,
    NOTE,
};

static const szg_column atom_columns[] = {
    {"source", SZG_TEXT, "the SPEC or the file"},
    {"theta", SZG_REAL, "the masses stand at +theta and -theta, radians"},
    {"mass", SZG_REAL, "both masses together: a_k = sum mass cos(k theta)"},
    {"head", SZG_INTEGER, "head, counted from 0"},
    {"matrix", SZG_TEXT, "which matrix"},
    {"n", SZG_INTEGER, "order of the matrix"},
    {"note", SZG_TEXT, "what a reader must know"},
};

static const szg_column range_columns[] = {
    {"source", SZG_TEXT, "the SPEC or the file"},
    {"min_lo", SZG_REAL, "lower bound of the minimum"},
    {"min_hi", SZG_REAL, "upper bound of the minimum"},
    {"max_lo", SZG_REAL, "lower bound of the maximum"},
    {"max_hi", SZG_REAL, "upper bound of the maximum"},
    {"theta_min", SZG_REAL, "where the minimum was found, radians"},
    {"theta_max", SZG_REAL, "where the maximum was found, radians"},
    {"method", SZG_TEXT, "how the range was established"},
    SYMBOL_LABELS,
    {"bound_of", SZG_TEXT, SZGI_BOUND_OF_DOC},
    NOTE,
};

#define COUNT(array) ((int64_t)(sizeof array / sizeof *array))

szg_status szg_report_tables_open(szg_context *context, bool eigenvalues, bool symbols,
                                  szg_report_tables *out) {
    *out = (szg_report_tables){0};
    szg_status status = szgi_summary_table(context, &out->summary);
    if (status == SZG_OK && eigenvalues)
        status = szg_table_open(context, "eigenvalues", eigenvalue_columns,
                                COUNT(eigenvalue_columns), &out->eigenvalues);
    if (status == SZG_OK && symbols)
        status = szg_table_open(context, "samples", sample_columns, COUNT(sample_columns),
                                &out->samples);
    if (status == SZG_OK && symbols)
        status = szg_table_open(context, "range", range_columns, COUNT(range_columns), &out->range);
    if (status == SZG_OK && symbols)
        status = szgi_table_mark_ends(context, out->range, "min_lo", "min_hi");
    if (status == SZG_OK && symbols)
        status = szgi_table_mark_ends(context, out->range, "max_lo", "max_hi");
    if (status == SZG_OK && symbols)
        status = szg_table_open(context, "atoms", atom_columns, COUNT(atom_columns), &out->atoms);
    if (status != SZG_OK)
        szg_report_tables_close(out);
    return status;
}

void szg_report_tables_close(szg_report_tables *tables) {
    szg_table_close(&tables->summary);
    szg_table_close(&tables->eigenvalues);
    szg_table_close(&tables->samples);
    szg_table_close(&tables->range);
    szg_table_close(&tables->atoms);
}

/* A new row with the labels that the table has columns for. */
static szg_status add_row(szg_context *context, szg_table *table, const szg_report_labels *labels,
                          const szg_matrix_report *report) {
    SZG_TRY(szg_table_add_row(context, table));
    SZG_TRY(szg_table_set_text(context, table, "source", labels->source));
    if (labels->layer >= 0 && szg_table_find(table, "layer") >= 0)
        SZG_TRY(szg_table_set_integer(context, table, "layer", labels->layer));
    if (labels->head >= 0)
        SZG_TRY(szg_table_set_integer(context, table, "head", labels->head));
    SZG_TRY(szg_table_set_text(context, table, "matrix", report->matrix));
    return szg_table_set_integer(context, table, "n", report->summary.n);
}

/* What the range of the report's symbol bounds. */
static szgi_bound_of bound_of(const szg_matrix_report *report) {
    if (report->toeplitz_part)
        return SZGI_BOUND_OF_TOEPLITZ_PART;
    if (report->modulus)
        return SZGI_BOUND_OF_SINGULAR_VALUES;
    return report->convention == SZG_SYMBOL_FEJER ? SZGI_BOUND_OF_NOTHING
                                                  : SZGI_BOUND_OF_EIGENVALUES;
}

static szgi_values_of values_of(const szg_matrix_report *report) {
    return report->hermitian_part ? SZGI_VALUES_OF_HERMITIAN_PART : SZGI_VALUES_OF_MATRIX;
}

static szg_status add_summary(szg_context *context, szg_table *table,
                              const szg_report_labels *labels, const szg_matrix_report *report) {
    const szgi_summary_labels row = {labels->source,  labels->layer,        labels->head,
                                     report->matrix,  report->theorem.name, values_of(report),
                                     bound_of(report)};
    SZG_TRY(szgi_summary_add(context, table, &row, &report->summary, &report->toeplitzness,
                             &report->symbol));
    return report->note[0] ? szg_table_note(context, table, "%s", report->note) : SZG_OK;
}

static szg_status add_values(szg_context *context, szg_table *table,
                             const szg_report_labels *labels, const szg_matrix_report *report,
                             const szg_spectrum *spectrum) {
    szgi_values_of whose =
        spectrum == &report->eigenvalues ? values_of(report) : SZGI_VALUES_OF_MATRIX;
    for (int64_t i = 0; i < spectrum->count; i++) {
        SZG_TRY(add_row(context, table, labels, report));
        SZG_TRY(szg_table_set_text(context, table, "kind", szg_spectrum_kind_name(spectrum->kind)));
        SZG_TRY(szg_table_set_integer(context, table, "index", i));
        SZG_TRY(szg_table_set_real(context, table, "re", spectrum->re[i]));
        SZG_TRY(szg_table_set_real(context, table, "im", spectrum->im ? spectrum->im[i] : 0));
        SZG_TRY(szg_table_set_integer(context, table, "zeros", spectrum->zeros));
        SZG_TRY(szg_table_set_text(context, table, "values_of", szgi_values_of_name(whose)));
        if (whose == SZGI_VALUES_OF_HERMITIAN_PART)
            SZG_TRY(szg_table_note(context, table, "of the Hermitian part (L + L^T)/2"));
    }
    if (spectrum->count > 0 && spectrum->zeros > 0)
        return szg_table_note(context, table, "%lld further values are exactly 0 and not listed",
                              (long long)spectrum->zeros);
    return SZG_OK;
}

static szg_status add_samples(szg_context *context, szg_table *table,
                              const szg_report_labels *labels, const szg_matrix_report *report) {
    const double turn = 6.28318530717958647692;
    const char *convention = szg_symbol_convention_name(report->convention);
    for (int64_t j = 0; j < report->samples; j++) {
        SZG_TRY(add_row(context, table, labels, report));
        SZG_TRY(szg_table_set_text(context, table, "convention", convention));
        SZG_TRY(szg_table_set_real(context, table, "theta",
                                   turn * (double)j / (double)report->samples));
        SZG_TRY(szg_table_set_real(context, table, "re", report->sample[j].re));
        SZG_TRY(szg_table_set_real(context, table, "im", report->sample[j].im));
    }
    return SZG_OK;
}

static szg_status add_atoms(szg_context *context, szg_table *table, const szg_report_labels *labels,
                            const szg_matrix_report *report) {
    for (int64_t j = 0; j < report->atoms; j++) {
        SZG_TRY(add_row(context, table, labels, report));
        SZG_TRY(szg_table_set_real(context, table, "theta", report->atom_theta[j]));
        SZG_TRY(szg_table_set_real(context, table, "mass", report->atom_mass[j]));
    }
    return SZG_OK;
}

static const char *range_note(const szg_matrix_report *report) {
    switch (bound_of(report)) {
    case SZGI_BOUND_OF_TOEPLITZ_PART:
        return "modulus of the symbol of the Toeplitz part: bounds the singular values of that "
               "part, not of the whole matrix";
    case SZGI_BOUND_OF_SINGULAR_VALUES:
        return "modulus of a complex symbol: its maximum bounds the singular values";
    case SZGI_BOUND_OF_NOTHING:
        return "Fejer mean: inside the symbol's range, no bound of the eigenvalues";
    case SZGI_BOUND_OF_EIGENVALUES:
        break;
    }
    return report->convention == SZG_SYMBOL_CLOSED_FORM
               ? "the infinite symbol: eigenvalues lie inside at every n"
               : "bounds every eigenvalue of the matrix";
}

static szg_status add_range(szg_context *context, szg_table *table, const szg_report_labels *labels,
                            const szg_matrix_report *report) {
    const szg_range *range = &report->symbol;
    if (!range->method) {
        SZG_TRY(add_row(context, table, labels, report));
        return szg_table_note(context, table, "%s",
                              report->note[0]
                                  ? report->note
                                  : "no symbol: nothing makes the matrix Toeplitz at every N");
    }
    const struct {
        const char *column;
        double value;
    } reals[] = {{"min_lo", range->min.lo},       {"min_hi", range->min.hi},
                 {"max_lo", range->max.lo},       {"max_hi", range->max.hi},
                 {"theta_min", range->theta_min}, {"theta_max", range->theta_max}};
    SZG_TRY(add_row(context, table, labels, report));
    for (int64_t i = 0; i < COUNT(reals); i++)
        SZG_TRY(szg_table_set_real(context, table, reals[i].column, reals[i].value));
    SZG_TRY(szg_table_set_text(context, table, "method", range->method));
    SZG_TRY(szg_table_set_text(context, table, "convention",
                               szg_symbol_convention_name(report->convention)));
    SZG_TRY(szg_table_set_text(context, table, "bound_of", szgi_bound_of_name(bound_of(report))));
    return szg_table_note(context, table, "%s", range_note(report));
}

szg_status szg_report_add(szg_context *context, szg_report_tables *tables,
                          const szg_report_labels *labels, const szg_matrix_report *report) {
    if (tables->summary)
        SZG_TRY(add_summary(context, tables->summary, labels, report));
    if (tables->eigenvalues) {
        SZG_TRY(add_values(context, tables->eigenvalues, labels, report, &report->eigenvalues));
        SZG_TRY(add_values(context, tables->eigenvalues, labels, report, &report->singular));
    }
    if (tables->samples)
        SZG_TRY(add_samples(context, tables->samples, labels, report));
    if (tables->atoms)
        SZG_TRY(add_atoms(context, tables->atoms, labels, report));
    return tables->range ? add_range(context, tables->range, labels, report) : SZG_OK;
}

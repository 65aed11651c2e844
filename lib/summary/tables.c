
#include "base/options.h"
#include "base/row.h"
#include "base/table.h"
#include "spectra/spectra.h"
#include "summary/summary.h"
#include "report_private.h"

#define SOURCE(X, TABLE)                                                                           \
    X(TABLE##_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the SPEC or the file")

#define NOTE(X, TABLE) X(TABLE##_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define SYMBOL_LABELS(X, TABLE)                                                                    \
    X(TABLE##_HEAD, "head", SZG_INTEGER, "1", "head", "head, counted from 0")                      \
    X(TABLE##_MATRIX, "matrix", SZG_TEXT, "", "matrix", "which matrix")                            \
    X(TABLE##_N, "n", SZG_INTEGER, "1", "order n", "order of the matrix")
#define CONVENTION(X, TABLE)                                                                       \
    X(TABLE##_CONVENTION, "convention", SZG_TEXT, "", "convention",                                \
      "truncated (lags below n), fejer, closed_form")

#define EIGENVALUES(X)                                                                             \
    SOURCE(X, EIGENVALUES)                                                                         \
    X(EIGENVALUES_LAYER, "layer", SZG_INTEGER, "1", "layer", "layer, counted from 0")              \
    X(EIGENVALUES_HEAD, "head", SZG_INTEGER, "1", "head", "head, counted from 0")                  \
    X(EIGENVALUES_MATRIX, "matrix", SZG_TEXT, "", "matrix", "which matrix of the source")          \
    X(EIGENVALUES_KIND, "kind", SZG_TEXT, "", "kind", "eigenvalue or singular")                    \
    X(EIGENVALUES_INDEX, "index", SZG_INTEGER, "1", "place in the spectrum",                       \
      "place of the first of these values in the spectrum, counted from 0")                        \
    X(EIGENVALUES_RE, "re", SZG_REAL, "1", "value", "real part")                                   \
    X(EIGENVALUES_IM, "im", SZG_REAL, "1", "imaginary part", "imaginary part")                     \
    X(EIGENVALUES_MULTIPLICITY, "multiplicity", SZG_INTEGER, "1", "multiplicity",                  \
      "how often the value stands: 1, but for the row of the zeros by structure")                  \
    X(EIGENVALUES_N, "n", SZG_INTEGER, "1", "order n", "order of the matrix")                      \
    X(EIGENVALUES_ZEROS, "zeros", SZG_INTEGER, "1", "zeros by structure",                          \
      "values of this spectrum that are exactly 0 by structure: they are one row")                 \
    X(EIGENVALUES_VALUES_OF, "values_of", SZG_TEXT, "", "whose eigenvalues", SZGI_VALUES_OF_DOC)   \
    X(EIGENVALUES_LO, "lo", SZG_REAL, "1", "lower end", "proven lower bound of the value",         \
      SZGI_END_LOWER)                                                                              \
    X(EIGENVALUES_HI, "hi", SZG_REAL, "1", "upper end", "proven upper bound of the value",         \
      SZGI_END_UPPER)                                                                              \
    NOTE(X, EIGENVALUES)
#define EIGENVALUES_SCREEN                                                                         \
    SZGI_SHOW(1, source)                                                                           \
    SZGI_SHOW(1, layer)                                                                            \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(3, matrix)                                                                           \
    SZGI_SHOW(1, n)                                                                                \
    SZGI_SHOW(2, kind)                                                                             \
    SZGI_SHOW(1, index)                                                                            \
    SZGI_SHOW(1, re)                                                                               \
    SZGI_SHOW(1, im)                                                                               \
    SZGI_SHOW(2, multiplicity)                                                                     \
    SZGI_SHOW(4, zeros)
SZGI_SCHEMA(eigenvalues_columns, "eigenvalues", EIGENVALUES, EIGENVALUES_SCREEN);

#define RANGE_LABELS(X, TABLE)                                                                     \
    SYMBOL_LABELS(X, TABLE)                                                                        \
    CONVENTION(X, TABLE)
#define SAMPLES_LABELS(X, TABLE)                                                                   \
    SOURCE(X, TABLE)                                                                               \
    RANGE_LABELS(X, TABLE)
#define SAMPLES(X) SZGI_SAMPLES(X, SAMPLES, SAMPLES_LABELS)
SZGI_SCHEMA(samples_columns, "samples", SAMPLES, SZGI_NOT_SHOWN);

#define ATOMS(X)                                                                                   \
    SOURCE(X, ATOMS)                                                                               \
    X(ATOMS_THETA, "theta", SZG_REAL, "radians a position", "angle",                               \
      "the masses are at +theta and -theta, radians")                                              \
    X(ATOMS_MASS, "mass", SZG_REAL, "1", "mass at the angle and its opposite",                     \
      "both masses together: a_k = sum mass cos(k theta)")                                         \
    SYMBOL_LABELS(X, ATOMS)                                                                        \
    NOTE(X, ATOMS)
#define ATOMS_SCREEN                                                                               \
    SZGI_SHOW(1, source)                                                                           \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, n)                                                                                \
    SZGI_SHOW_AS(1, theta, "theta", "θ")                                                           \
    SZGI_SHOW(1, mass)
SZGI_SCHEMA(atoms_columns, "atoms", ATOMS, ATOMS_SCREEN);

#define RANGE(X) SZGI_RANGE(X, RANGE, SOURCE, RANGE_LABELS)
SZGI_SCHEMA(range_columns, "range", RANGE, SZGI_RANGE_SCREEN);

szg_status szg_report_tables_open(szg_context *context, bool eigenvalues, bool symbols,
                                  szg_report_tables *out) {
    *out = (szg_report_tables){0};
    SZGI_ENTER(context);
    szg_status status = szgi_summary_table(context, &out->summary);
    if (status == SZG_OK && eigenvalues)
        status = szgi_schema_open(context, &eigenvalues_columns_schema, &out->eigenvalues);
    if (status == SZG_OK && symbols)
        status = szgi_schema_open(context, &samples_columns_schema, &out->samples);
    if (status == SZG_OK && symbols)
        status = szgi_schema_open(context, &range_columns_schema, &out->range);
    if (status == SZG_OK && symbols)
        status = szgi_schema_open(context, &atoms_columns_schema, &out->atoms);
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

/* Where a table has the columns of the labels; layer -1: it has none. */
typedef struct label_columns {
    int64_t source, layer, head, matrix, n;
} label_columns;
#define LABELS(TABLE, layer)                                                                       \
    ((label_columns){TABLE##_SOURCE, layer, TABLE##_HEAD, TABLE##_MATRIX, TABLE##_N})

static szgi_row add_row(szg_context *context, szg_table *table, label_columns at,
                        const szg_report_labels *labels, const szg_matrix_report *report) {
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, at.source, labels->source);
    if (at.layer >= 0)
        szgi_row_place(&row, at.layer, labels->layer);
    szgi_row_place(&row, at.head, labels->head);
    szgi_row_text(&row, at.matrix, report->matrix);
    szgi_row_integer(&row, at.n, report->summary.n);
    return row;
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
    szgi_row added = szgi_row_latest(context, table);
    szgi_summary_put_ends(&added, &report->eigenvalues, &report->singular);
    if (report->note[0])
        szgi_row_note(&added, "%s", report->note);
    return added.status;
}

/* One value, `multiplicity` times. */
typedef struct listed_value {
    int64_t index, multiplicity;
    szg_c64 value;
} listed_value;

static szgi_row add_value(szg_context *context, szg_table *table, const szg_report_labels *labels,
                          const szg_matrix_report *report, const szg_spectrum *spectrum,
                          listed_value one) {
    szgi_values_of whose =
        spectrum == &report->eigenvalues ? values_of(report) : SZGI_VALUES_OF_MATRIX;
    szgi_row row = add_row(context, table, LABELS(EIGENVALUES, EIGENVALUES_LAYER), labels, report);
    szgi_row_text(&row, EIGENVALUES_KIND, szg_spectrum_kind_name(spectrum->kind));
    szgi_row_integer(&row, EIGENVALUES_INDEX, one.index);
    szgi_row_real(&row, EIGENVALUES_RE, one.value.re);
    szgi_row_real(&row, EIGENVALUES_IM, one.value.im);
    szgi_row_integer(&row, EIGENVALUES_MULTIPLICITY, one.multiplicity);
    szgi_row_integer(&row, EIGENVALUES_ZEROS, spectrum->zeros);
    szgi_row_text(&row, EIGENVALUES_VALUES_OF, szgi_values_of_name(whose));
    if (whose == SZGI_VALUES_OF_HERMITIAN_PART)
        szgi_row_note(&row, "of the Hermitian part (L + L^T)/2");
    return row;
}

static szg_c64 value_at(const szg_spectrum *spectrum, int64_t i) {
    return (szg_c64){spectrum->re[i], spectrum->im ? spectrum->im[i] : 0};
}

static void put_bounds(szgi_row *row, const szg_interval bounds) {
    szgi_row_real(row, EIGENVALUES_LO, bounds.lo);
    szgi_row_real(row, EIGENVALUES_HI, bounds.hi);
}

/* The listed values, and the zeros by structure as one row where they stand. Zeros have bounds
 * where they are the lower end, of semidefinite matrices and of singular values: those of that end.
 */
static szg_status add_values(szg_context *context, szg_table *table,
                             const szg_report_labels *labels, const szg_matrix_report *report,
                             const szg_spectrum *spectrum) {
    int64_t place = spectrum->zeros > 0 ? szgi_spectrum_before_zeros(spectrum) : -1;
    for (int64_t i = 0; i <= spectrum->count; i++) {
        if (i == place) {
            listed_value zeros = {i, spectrum->zeros, {0, 0}};
            szgi_row row = add_value(context, table, labels, report, spectrum, zeros);
            bool lower = spectrum->kind == SZG_SPECTRUM_SINGULAR || i == 0;
            if (spectrum->lo && lower)
                put_bounds(&row, spectrum->min);
            szgi_row_note(&row, "0 by structure, %lld times", (long long)spectrum->zeros);
            SZG_TRY(row.status);
        }
        if (i == spectrum->count)
            break;
        int64_t passed = place >= 0 && i >= place ? spectrum->zeros : 0;
        listed_value one = {i + passed, 1, value_at(spectrum, i)};
        szgi_row row = add_value(context, table, labels, report, spectrum, one);
        if (spectrum->lo)
            put_bounds(&row, (szg_interval){spectrum->lo[i], spectrum->hi[i]});
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

static szg_status add_samples(szg_context *context, szg_table *table,
                              const szg_report_labels *labels, const szg_matrix_report *report) {
    const char *convention = szg_symbol_convention_name(report->convention);
    for (int64_t j = 0; j < report->samples; j++) {
        szgi_row row = add_row(context, table, LABELS(SAMPLES, -1), labels, report);
        szgi_row_text(&row, SAMPLES_CONVENTION, convention);
        szgi_sample_put(&row, SAMPLES_THETA, j, report->samples, report->sample[j]);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

static szg_status add_atoms(szg_context *context, szg_table *table, const szg_report_labels *labels,
                            const szg_matrix_report *report) {
    for (int64_t j = 0; j < report->atoms; j++) {
        szgi_row row = add_row(context, table, LABELS(ATOMS, -1), labels, report);
        szgi_row_real(&row, ATOMS_THETA, report->atom_theta[j]);
        szgi_row_real(&row, ATOMS_MASS, report->atom_mass[j]);
        SZG_TRY(row.status);
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
    szgi_row row = add_row(context, table, LABELS(RANGE, -1), labels, report);
    if (!range->method) {
        szgi_row_note(&row, "%s",
                      report->note[0] ? report->note
                                      : "no symbol: nothing makes the matrix Toeplitz at every N");
        return row.status;
    }
    szgi_row_real(&row, RANGE_MIN_LO, range->min.lo);
    szgi_row_real(&row, RANGE_MIN_HI, range->min.hi);
    szgi_row_real(&row, RANGE_MAX_LO, range->max.lo);
    szgi_row_real(&row, RANGE_MAX_HI, range->max.hi);
    szgi_row_real(&row, RANGE_THETA_MIN, range->theta_min);
    szgi_row_real(&row, RANGE_THETA_MAX, range->theta_max);
    szgi_row_text(&row, RANGE_METHOD, range->method);
    szgi_row_text(&row, RANGE_CONVENTION, szg_symbol_convention_name(report->convention));
    szgi_row_text(&row, RANGE_BOUND_OF, szgi_bound_of_name(bound_of(report)));
    szgi_row_note(&row, "%s", range_note(report));
    return row.status;
}

static szg_status add_rows(szg_context *context, szg_report_tables *tables,
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

szg_status szg_report_add(szg_context *context, szg_report_tables *tables,
                          const szg_report_labels *labels, const szg_matrix_report *report) {
    SZGI_ENTER(context);
    szg_report_labels own;
    SZG_TRY(SZGI_OPTIONS(context, szg_report_labels, labels, &own));
    return add_rows(context, tables, &own, report);
}

/* The table of eigenvalues at the ends of spectra. */
#include <math.h>
#include <szego/extremes.h>

#include "base/options.h"
#include "base/row.h"
#include "base/table.h"
#include "spectra/spectra.h"
#include "summary/summary.h"

#define EXTREMES(X)                                                                                \
    X(EXTREMES_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the SPEC or the file")         \
    X(EXTREMES_HEAD, "head", SZG_INTEGER, "1", "head", "head, counted from 0")                     \
    X(EXTREMES_MATRIX, "matrix", SZG_TEXT, "", "matrix", "which matrix of the source")             \
    X(EXTREMES_N, "n", SZG_INTEGER, "1", "order n", "order of the matrix")                         \
    X(EXTREMES_END, "end", SZG_TEXT, "", "end of the spectrum",                                    \
      "which end of the spectrum: least or largest")                                               \
    X(EXTREMES_INDEX, "index", SZG_INTEGER, "1", "place from the end",                             \
      "place at that end; 0: the outermost")                                                       \
    X(EXTREMES_VALUE, "value", SZG_REAL, "1", "eigenvalue",                                        \
      "an eigenvalue to within `error`; empty where error exceeds 1e-10 of the norm")              \
    X(EXTREMES_ERROR, "error", SZG_REAL, "1", "error",                                             \
      "an eigenvalue lies within this distance of the computed value", SZGI_END_UPPER)             \
    X(EXTREMES_GAP, "gap", SZG_REAL, "1", "gap", "distance to the nearest other computed value")   \
    X(EXTREMES_RESOLVED, "resolved", SZG_INTEGER, "1", "resolved",                                 \
      "1 where error <= gap / 10 and <= 1e-10 of the norm, else 0")                                \
    X(EXTREMES_LO, "lo", SZG_REAL, "1", "lower end",                                               \
      "the end of the spectrum is not less (index 0)", SZGI_END_LOWER)                             \
    X(EXTREMES_HI, "hi", SZG_REAL, "1", "upper end",                                               \
      "the end of the spectrum is not larger (index 0)", SZGI_END_UPPER)                           \
    X(EXTREMES_SOLVER, "solver", SZG_TEXT, "", "solver", "which solver")                           \
    X(EXTREMES_VALUES_OF, "values_of", SZG_TEXT, "", "whose eigenvalues", SZGI_VALUES_OF_DOC)      \
    X(EXTREMES_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define EXTREMES_SCREEN                                                                            \
    SZGI_SHOW(1, source)                                                                           \
    SZGI_SHOW(2, head)                                                                             \
    SZGI_SHOW(3, matrix)                                                                           \
    SZGI_SHOW(1, n)                                                                                \
    SZGI_SHOW(1, end)                                                                              \
    SZGI_SHOW(1, index)                                                                            \
    SZGI_SHOW(1, value)                                                                            \
    SZGI_SHOW(1, error)                                                                            \
    SZGI_SHOW(1, resolved)                                                                         \
    SZGI_SHOW(2, gap)                                                                              \
    SZGI_SHOW_RANGE(2, enclosure, lo, hi)                                                          \
    SZGI_SHOW(4, solver)                                                                           \
    SZGI_SHOW(5, values_of)
SZGI_SCHEMA(extremes_columns, "extremes", EXTREMES, EXTREMES_SCREEN);

szg_status szg_extremes_table(szg_context *context, szg_table **out) {
    SZGI_ENTER(context);
    return szgi_schema_open(context, &extremes_columns_schema, out);
}

/* A value that is known within its error is given, though a neighbour may be the same eigenvalue.
 */
static void add_value(szgi_row *row, const szg_extreme *value, double norm) {
    bool known = value->resolved || szgi_is_known(value->error, norm);
    if (known)
        szgi_row_real(row, EXTREMES_VALUE, value->value);
    if (!isnan(value->error))
        szgi_row_real(row, EXTREMES_ERROR, value->error);
    if (isfinite(value->gap))
        szgi_row_real(row, EXTREMES_GAP, value->gap);
    szgi_row_integer(row, EXTREMES_RESOLVED, value->resolved);
    if (!value->resolved)
        szgi_row_text(row, EXTREMES_NOTE,
                      known ? "not resolved: an eigenvalue lies within the error of the value, but "
                              "the error exceeds a tenth of the gap, so that two rows may be one "
                              "eigenvalue"
                            : "not resolved: the error exceeds 1e-10 of the norm");
}

static szg_status add_end(szg_context *context, szg_table *table, const szg_matrix_labels *labels,
                          const szg_extremes *extremes, bool largest) {
    const szg_extreme *values = largest ? extremes->largest : extremes->least;
    double norm = extremes->count > 0
                      ? fmax(fabs(extremes->least[0].value), fabs(extremes->largest[0].value))
                      : NAN;
    for (int64_t i = 0; i < extremes->count; i++) {
        szgi_row row = szgi_row_add(context, table);
        szgi_row_text(&row, EXTREMES_SOURCE, labels->source);
        szgi_row_place(&row, EXTREMES_HEAD, labels->head);
        szgi_row_text(&row, EXTREMES_MATRIX, labels->matrix);
        szgi_row_integer(&row, EXTREMES_N, extremes->n);
        szgi_row_text(&row, EXTREMES_END, largest ? "largest" : "least");
        szgi_row_integer(&row, EXTREMES_INDEX, i);
        add_value(&row, &values[i], norm);
        if (i == 0) {
            szgi_row_real(&row, EXTREMES_LO, largest ? extremes->largest_lo : extremes->least_lo);
            szgi_row_real(&row, EXTREMES_HI, largest ? extremes->largest_hi : extremes->least_hi);
        }
        szgi_row_text(&row, EXTREMES_SOLVER, szg_method_solver(extremes->method));
        szgi_row_text(&row, EXTREMES_VALUES_OF,
                      szgi_values_of_name(extremes->hermitian_part ? SZGI_VALUES_OF_HERMITIAN_PART
                                                                   : SZGI_VALUES_OF_MATRIX));
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

szg_status szg_extremes_add(szg_context *context, szg_table *table, const szg_matrix_labels *labels,
                            const szg_extremes *extremes) {
    SZGI_ENTER(context);
    szg_matrix_labels own;
    SZG_TRY(SZGI_OPTIONS(context, szg_matrix_labels, labels, &own));
    SZG_TRY(add_end(context, table, &own, extremes, false));
    return add_end(context, table, &own, extremes, true);
}

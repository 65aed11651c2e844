/* The tables of spectral densities. */
#include <szego/density.h>

#include "base/options.h"
#include "base/row.h"
#include "base/table.h"
#include "summary/summary.h"

#define LABELS(X, TABLE)                                                                           \
    X(TABLE##_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the SPEC or the file")          \
    X(TABLE##_HEAD, "head", SZG_INTEGER, "1", "head", "head, counted from 0")                      \
    X(TABLE##_MATRIX, "matrix", SZG_TEXT, "", "matrix", "which matrix of the source")              \
    X(TABLE##_N, "n", SZG_INTEGER, "1", "order n", "order of the matrix")

#define DENSITY(X)                                                                                 \
    LABELS(X, DENSITY)                                                                             \
    X(DENSITY_LAMBDA, "lambda", SZG_REAL, "1", "eigenvalue", "where the density is evaluated")     \
    X(DENSITY_DENSITY, "density", SZG_REAL, "1", "density of eigenvalues",                         \
      "share of the eigenvalues for each unit of lambda")                                          \
    X(DENSITY_ERROR, "error", SZG_REAL, "1", "standard error",                                     \
      "bound of the standard error of density; 0: its moments are exact", SZGI_END_UPPER)          \
    X(DENSITY_CUMULATIVE, "cumulative", SZG_REAL, "1", "share of eigenvalues below",               \
      "share of the eigenvalues below lambda")                                                     \
    X(DENSITY_RESOLUTION, "resolution", SZG_REAL, "1", "resolution",                               \
      "standard deviation of the kernel that smooths at lambda")                                   \
    X(DENSITY_VALUES_OF, "values_of", SZG_TEXT, "", "whose eigenvalues", SZGI_VALUES_OF_DOC)
SZGI_SCHEMA(density_columns, "density", DENSITY, SZGI_NOT_SHOWN);

#define MOMENTS(X)                                                                                 \
    LABELS(X, MOMENTS)                                                                             \
    X(MOMENTS_INDEX, "index", SZG_INTEGER, "1", "degree", "m of the Chebyshev polynomial T_m")     \
    X(MOMENTS_MOMENT, "moment", SZG_REAL, "1", "Chebyshev moment",                                 \
      "mean of T_m(x), x from -1 at lo to 1 at hi")                                                \
    X(MOMENTS_ERROR, "error", SZG_REAL, "1", "standard error",                                     \
      "bound of its standard error; 0: exact but for rounding", SZGI_END_UPPER)                    \
    X(MOMENTS_VECTORS, "vectors", SZG_INTEGER, "1", "random vectors",                              \
      "random vectors; 0: from all eigenvalues")                                                   \
    X(MOMENTS_LO, "lo", SZG_REAL, "1", "lower end", "no eigenvalue is less", SZGI_END_LOWER)       \
    X(MOMENTS_HI, "hi", SZG_REAL, "1", "upper end", "no eigenvalue is larger", SZGI_END_UPPER)     \
    X(MOMENTS_PROVED, "proved", SZG_INTEGER, "1", "proved",                                        \
      "1: lo and hi have a proof; 0: computed ends, moved outwards by a bound of their error")     \
    X(MOMENTS_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
SZGI_SCHEMA(moments_columns, "moments", MOMENTS, SZGI_NOT_SHOWN);

szg_status szg_density_tables_open(szg_context *context, szg_density_tables *out) {
    *out = (szg_density_tables){0};
    SZGI_ENTER(context);
    szg_status status = szgi_schema_open(context, &density_columns_schema, &out->density);
    if (status == SZG_OK)
        status = szgi_schema_open(context, &moments_columns_schema, &out->moments);
    if (status != SZG_OK)
        szg_density_tables_close(out);
    return status;
}

void szg_density_tables_close(szg_density_tables *tables) {
    szg_table_close(&tables->density);
    szg_table_close(&tables->moments);
}

/* A row with its labels, which both tables have at the same places. */
static szgi_row add_row(szg_context *context, szg_table *table, const szg_matrix_labels *labels,
                        int64_t n) {
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, DENSITY_SOURCE, labels->source);
    szgi_row_place(&row, DENSITY_HEAD, labels->head);
    szgi_row_text(&row, DENSITY_MATRIX, labels->matrix);
    szgi_row_integer(&row, DENSITY_N, n);
    return row;
}

static szg_status add_points(szg_context *context, szg_table *table,
                             const szg_matrix_labels *labels, const szg_density *density) {
    const char *of = szgi_values_of_name(density->hermitian_part ? SZGI_VALUES_OF_HERMITIAN_PART
                                                                 : SZGI_VALUES_OF_MATRIX);
    for (int64_t i = 0; i < density->points; i++) {
        szgi_row row = add_row(context, table, labels, density->n);
        szgi_row_real(&row, DENSITY_LAMBDA, density->lambda[i]);
        szgi_row_real(&row, DENSITY_DENSITY, density->density[i]);
        szgi_row_real(&row, DENSITY_ERROR, density->error[i]);
        szgi_row_real(&row, DENSITY_CUMULATIVE, density->cumulative[i]);
        szgi_row_real(&row, DENSITY_RESOLUTION, density->resolution[i]);
        szgi_row_text(&row, DENSITY_VALUES_OF, of);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

static szg_status add_moments(szg_context *context, szg_table *table,
                              const szg_matrix_labels *labels, const szg_density *density) {
    for (int64_t m = 0; m < density->moments; m++) {
        szgi_row row = add_row(context, table, labels, density->n);
        szgi_row_integer(&row, MOMENTS_INDEX, m);
        szgi_row_real(&row, MOMENTS_MOMENT, density->moment[m]);
        szgi_row_real(&row, MOMENTS_ERROR, density->moment_error);
        szgi_row_integer(&row, MOMENTS_VECTORS, density->vectors);
        szgi_row_real(&row, MOMENTS_LO, density->lo);
        szgi_row_real(&row, MOMENTS_HI, density->hi);
        szgi_row_integer(&row, MOMENTS_PROVED, density->proved);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

szg_status szg_density_add(szg_context *context, szg_density_tables *tables,
                           const szg_matrix_labels *labels, const szg_density *density) {
    SZGI_ENTER(context);
    szg_matrix_labels own;
    SZG_TRY(SZGI_OPTIONS(context, szg_matrix_labels, labels, &own));
    SZG_TRY(add_points(context, tables->density, &own, density));
    return add_moments(context, tables->moments, &own, density);
}

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "base/row.h"
#include "base/table.h"
#include "summary/summary.h"
#include "rows_top.h"

#define TOP(X)                                                                                     \
    X(TOP_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the checkpoint as it was named")    \
    X(TOP_MATRIX, "matrix", SZG_TEXT, "", "matrix", "the tensor's name")                           \
    X(TOP_INDEX, "index", SZG_INTEGER, "1", "place in the spectrum",                               \
      "place among the singular values, counted from 0")                                           \
    X(TOP_SIGMA, "sigma", SZG_REAL, "1", "singular value", "singular value")                       \
    X(TOP_ERROR, "error", SZG_REAL, "1", "error",                                                  \
      "the value of this index is within it of sigma, for all but one in 10^9 seeds")              \
    X(TOP_RESIDUAL, "residual", SZG_REAL, "1", "residual",                                         \
      "some singular value of the matrix is within it of sigma, whatever the seed")                \
    X(TOP_SHARE_LO, "share_lo", SZG_REAL, "1", "lower end of the share",                           \
      "lower bound of the share of the squared Frobenius norm in the values up to this one",       \
      SZGI_END_LOWER)                                                                              \
    X(TOP_SHARE_HI, "share_hi", SZG_REAL, "1", "upper end of the share",                           \
      "upper bound of that share", SZGI_END_UPPER)                                                 \
    X(TOP_RESOLVED, "resolved", SZG_INTEGER, "1", "resolved",                                      \
      "1: error is at most 1e-6 of the largest value; 0: values may be missed above sigma")        \
    X(TOP_NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define TOP_SCREEN                                                                                 \
    SZGI_SHOW(2, source)                                                                           \
    SZGI_SHOW(1, matrix)                                                                           \
    SZGI_SHOW(1, index)                                                                            \
    SZGI_SHOW_AS(1, sigma, "sigma", "σ")                                                           \
    SZGI_SHOW(1, error)                                                                            \
    SZGI_SHOW(3, residual)                                                                         \
    SZGI_SHOW_RANGE(2, share, share_lo, share_hi)                                                  \
    SZGI_SHOW(1, resolved)
SZGI_SCHEMA(top_columns, "top", TOP, TOP_SCREEN);

szg_status szgi_rows_top_open(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &top_columns_schema, out);
}

/* Squares of value / norm, rounded outwards: a handful of roundings, and the norm's own. */
static double square_of(double value, double norm, int outwards) {
    double ratio = fmax(value, 0) / norm;
    return ratio * ratio * (1 + 8 * outwards * DBL_EPSILON);
}

static szg_status add_value(szg_context *context, szg_table *table, const row_key *key,
                            const szgi_largest_value *value, int64_t index, const double *share) {
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, TOP_SOURCE, key->source);
    szgi_row_text(&row, TOP_MATRIX, key->matrix);
    szgi_row_integer(&row, TOP_INDEX, index);
    szgi_row_real(&row, TOP_SIGMA, value->sigma);
    szgi_row_real(&row, TOP_ERROR, value->error);
    szgi_row_real(&row, TOP_RESIDUAL, value->residual);
    szgi_row_number(&row, TOP_SHARE_LO, share[0]);
    szgi_row_number(&row, TOP_SHARE_HI, share[1]);
    szgi_row_integer(&row, TOP_RESOLVED, value->resolved);
    return row.status;
}

/* The zero matrix has no shares. */
static szg_status add_values(szg_context *context, szg_table *table, const row_key *key,
                             const szgi_top *top) {
    double share[2] = {0, 0};
    for (int64_t i = 0; i < top->count; i++) {
        const szgi_largest_value *value = &top->value[i];
        share[0] += square_of(value->sigma - value->error, top->frobenius, -1);
        share[1] += square_of(value->sigma + value->error, top->frobenius, 1);
        share[0] *= 1 - DBL_EPSILON;
        share[1] = fmin(share[1] * (1 + DBL_EPSILON), 1);
        SZG_TRY(add_value(context, table, key, value, i, share));
    }
    return SZG_OK;
}

static szg_status add_summary(szg_context *context, szg_checkpoint_tables *tables,
                              const row_key *key, const szgi_tensor *tensor, const szgi_top *top) {
    double largest = top->value[0].sigma, ratio = top->frobenius / largest, residual = 0;
    int64_t open = 0;
    for (int64_t i = 0; i < top->count; i++) {
        residual = fmax(residual, top->value[i].residual);
        open += !top->value[i].resolved;
    }
    const szg_summary summary = {.n = tensor->shape[0] < tensor->shape[1] ? tensor->shape[0]
                                                                          : tensor->shape[1],
                                 .rank = -1,
                                 .zeros = -1,
                                 .lambda_min = NAN,
                                 .lambda_max = NAN,
                                 .width = NAN,
                                 .radius = NAN,
                                 .sigma_min = NAN,
                                 .sigma_max = largest,
                                 .condition = NAN,
                                 .stable_rank = ratio * ratio,
                                 .effective_rank = NAN,
                                 .nuclear = NAN,
                                 .frobenius = top->frobenius,
                                 .residual = largest > 0 ? residual / largest : 0,
                                 .method = top->method};
    SZG_TRY(
        szgi_rows_weight_numbers(context, tables, key->source, tensor, &summary, top->count, 0));
    return open > 0
               ? szgi_rows_note(context, tables, key,
                                "%" PRId64 " of %" PRId64 " values are not resolved: the table "
                                "top has their errors",
                                open, top->count)
               : SZG_OK;
}

szg_status szgi_rows_top(szg_context *context, szg_checkpoint_tables *tables, const row_key *key,
                         const szgi_tensor *tensor, const szgi_top *top) {
    SZG_TRY(add_summary(context, tables, key, tensor, top));
    return add_values(context, tables->top, key, top);
}

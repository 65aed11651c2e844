/* The tables of an encoding's matrices by lag. */
#include <math.h>

#include "base/memory.h"
#include "base/row.h"
#include "encoding/encoding.h"

#define LABELS(X, TABLE)                                                                           \
    X(TABLE##_SOURCE, "source", SZG_TEXT, "", "encoding or file", "the encoding")                  \
    X(TABLE##_HEAD, "head", SZG_INTEGER, "1", "head", "head, counted from 0")                      \
    X(TABLE##_MATRIX, "matrix", SZG_TEXT, "", "matrix", "what the encoding calls the matrix")      \
    X(TABLE##_N, "n", SZG_INTEGER, "1", "order n", "positions: the matrix is n x n")

#define KERNEL(X)                                                                                  \
    LABELS(X, KERNEL)                                                                              \
    X(KERNEL_LAG, "lag", SZG_INTEGER, "positions", "lag",                                          \
      "position of the query less that of the key")                                                \
    X(KERNEL_RE, "re", SZG_REAL, "1", "value",                                                     \
      "entry at that lag, the real part; of a matrix that is not Toeplitz the mean along the "     \
      "diagonal")                                                                                  \
    X(KERNEL_IM, "im", SZG_REAL, "1", "imaginary part",                                            \
      "imaginary part; empty: the matrix is "                                                      \
      "real")                                                                                      \
    X(KERNEL_SPREAD, "spread", SZG_REAL, "1", "spread along the diagonal",                         \
      "standard deviation of the diagonal's entries; empty: the matrix is Toeplitz")
#define KERNEL_SCREEN                                                                              \
    SZGI_SHOW(4, source)                                                                           \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(2, matrix)                                                                           \
    SZGI_SHOW(3, n)                                                                                \
    SZGI_SHOW(1, lag)                                                                              \
    SZGI_SHOW(1, re)                                                                               \
    SZGI_SHOW(1, im)                                                                               \
    SZGI_SHOW(1, spread)
SZGI_SCHEMA(lags_columns, "kernel", KERNEL, KERNEL_SCREEN);

#define EXTREMA(X)                                                                                 \
    LABELS(X, EXTREMA)                                                                             \
    X(EXTREMA_SYMMETRY, "symmetry", SZG_TEXT, "", "symmetry",                                      \
      "symmetric: lag -k has the value of lag k; hermitian: its conjugate; none: both signs are "  \
      "listed")                                                                                    \
    X(EXTREMA_LEAST, "least", SZG_REAL, "1", "least value", "least value of any lag, real part")   \
    X(EXTREMA_LEAST_LAG, "least_lag", SZG_INTEGER, "positions", "lag of the least value",          \
      "its lag; of several the nearest to 0, and of two the positive one")                         \
    X(EXTREMA_GREATEST, "greatest", SZG_REAL, "1", "greatest value",                               \
      "greatest value of any lag, real part")                                                      \
    X(EXTREMA_GREATEST_LAG, "greatest_lag", SZG_INTEGER, "positions", "lag of the greatest value", \
      "its lag, chosen likewise")                                                                  \
    X(EXTREMA_SPREAD, "spread_greatest", SZG_REAL, "1", "greatest spread along a diagonal",        \
      "greatest spread of any lag; empty: the matrix is Toeplitz")                                 \
    X(EXTREMA_NOTE, "note", SZG_TEXT, "", "note", "what the kernel is")
#define EXTREMA_SCREEN                                                                             \
    SZGI_SHOW(1, source)                                                                           \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(4, matrix)                                                                           \
    SZGI_SHOW(5, n)                                                                                \
    SZGI_SHOW(2, symmetry)                                                                         \
    SZGI_SHOW(1, least)                                                                            \
    SZGI_SHOW_AS(1, least_lag, "at lag", NULL)                                                     \
    SZGI_SHOW(1, greatest)                                                                         \
    SZGI_SHOW_AS(1, greatest_lag, "at lag", NULL)                                                  \
    SZGI_SHOW_AS(3, spread_greatest, "spread", NULL)
SZGI_SCHEMA(extrema_columns, "extrema", EXTREMA, EXTREMA_SCREEN);

szg_status szg_kernel_tables_open(szg_context *context, szg_kernel_tables *out) {
    *out = (szg_kernel_tables){0};
    SZGI_ENTER(context);
    szg_status status = szgi_schema_open(context, &lags_columns_schema, &out->kernel);
    if (status == SZG_OK)
        status = szgi_schema_open(context, &extrema_columns_schema, &out->extrema);
    if (status != SZG_OK)
        szg_kernel_tables_close(out);
    return status;
}

void szg_kernel_tables_close(szg_kernel_tables *tables) {
    szg_table_close(&tables->kernel);
    szg_table_close(&tables->extrema);
}

/* Of `kernel`, with the arrays that it is made from. */
enum { BYTES_A_ROW = 128 };

/* One matrix by lag: [2n - 1] each. */
typedef struct by_lag {
    const char *source;
    szg_kernel_facts facts;
    int64_t head, n;
    double *re, *im, *spread; /* NULL where they say nothing */
} by_lag;

static bool has_both_signs(const by_lag *values) {
    return values->facts.kind == SZG_TOEPLITZ_REAL || values->facts.kind == SZG_TOEPLITZ_COMPLEX;
}

static szg_status add_lags(szg_context *context, const by_lag *values, szg_table *table) {
    int64_t n = values->n, first = has_both_signs(values) ? 1 - n : 0;
    SZG_TRY(szgi_table_reserve(context, table, szg_table_rows(table) + n - first));
    for (int64_t k = first; k < n; k++) {
        szgi_row row = szgi_row_add(context, table);
        szgi_row_text(&row, KERNEL_SOURCE, values->source);
        szgi_row_integer(&row, KERNEL_HEAD, values->head);
        szgi_row_text(&row, KERNEL_MATRIX, values->facts.matrix);
        szgi_row_integer(&row, KERNEL_N, n);
        szgi_row_integer(&row, KERNEL_LAG, k);
        szgi_row_real(&row, KERNEL_RE, values->re[k + n - 1]);
        if (values->im)
            szgi_row_real(&row, KERNEL_IM, values->im[k + n - 1]);
        if (values->spread)
            szgi_row_real(&row, KERNEL_SPREAD, values->spread[k + n - 1]);
        SZG_TRY(row.status);
    }
    return SZG_OK;
}

/* The lag of the largest sign * value: 0 first, then 1, -1, 2, .. */
static int64_t extreme_lag(const double *value, int64_t n, double sign) {
    int64_t found = 0;
    const double *at = value + n - 1;
    for (int64_t k = 1; k < n; k++) {
        if (sign * at[k] > sign * at[found])
            found = k;
        if (sign * at[-k] > sign * at[found])
            found = -k;
    }
    return found;
}

static szg_status add_extrema(szg_context *context, const by_lag *values, szg_table *table) {
    static const char *const symmetries[] = {[SZG_TOEPLITZ_SYMMETRIC] = "symmetric",
                                             [SZG_TOEPLITZ_HERMITIAN] = "hermitian",
                                             [SZG_TOEPLITZ_REAL] = "none",
                                             [SZG_TOEPLITZ_COMPLEX] = "none"};
    int64_t n = values->n, least = extreme_lag(values->re, n, -1);
    int64_t greatest = extreme_lag(values->re, n, 1);
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, EXTREMA_SOURCE, values->source);
    szgi_row_integer(&row, EXTREMA_HEAD, values->head);
    szgi_row_text(&row, EXTREMA_MATRIX, values->facts.matrix);
    szgi_row_integer(&row, EXTREMA_N, n);
    szgi_row_text(&row, EXTREMA_SYMMETRY, symmetries[values->facts.kind]);
    szgi_row_real(&row, EXTREMA_LEAST, values->re[least + n - 1]);
    szgi_row_integer(&row, EXTREMA_LEAST_LAG, least);
    szgi_row_real(&row, EXTREMA_GREATEST, values->re[greatest + n - 1]);
    szgi_row_integer(&row, EXTREMA_GREATEST_LAG, greatest);
    if (values->spread)
        szgi_row_real(&row, EXTREMA_SPREAD,
                      values->spread[extreme_lag(values->spread, n, 1) + n - 1]);
    szgi_row_note(&row, "%s", values->facts.line);
    return row.status;
}

szg_status szg_kernel_tables_add(szg_context *context, szg_kernel_tables *tables,
                                 const szg_encoding *encoding, int64_t head, int64_t matrix,
                                 int64_t n) {
    SZGI_ENTER(context);
    by_lag values = {.source = szg_encoding_spec(encoding), .head = head, .n = n};
    int64_t count;
    double *room;
    SZG_TRY(szg_encoding_facts(context, encoding, head, matrix, &values.facts));
    SZG_TRY(szgi_memory_require(context, n, has_both_signs(&values) ? 2 : 1, BYTES_A_ROW,
                                "the table of lags", "use a smaller N"));
    SZG_TRY(szgi_memory_product(context, n, 2, &count));
    SZG_TRY(szgi_memory_alloc(context, 3 * count, &room));
    values.re = room;
    values.im = szgi_kernel_is_complex(&values.facts) ? room + count : NULL;
    values.spread = values.facts.structure == SZG_KERNEL_GRAM ? room + 2 * count : NULL;
    szg_status status = szg_encoding_lags(context, encoding, head, 1, matrix, n, values.re,
                                          values.im, values.spread);
    if (status == SZG_OK)
        status = add_lags(context, &values, tables->kernel);
    if (status == SZG_OK)
        status = add_extrema(context, &values, tables->extrema);
    szgi_memory_free(room);
    return status;
}

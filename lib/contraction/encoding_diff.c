/* T_A and T_B are Toeplitz, and so is their difference. By Weyl |lambda_i(T_A) - lambda_i(T_B)| <=
 * ||T_B - T_A||_2 with values in order, and of singular values alike; the norm is at most the
 * maximum of |a_B - a_A|, the symbols' difference, which ball arithmetic encloses. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <szego/spectrum.h>
#include <szego/symbol.h>
#include "base/memory.h"
#include "base/row.h"
#include "base/table.h"
#include "base/text.h"
#include "encoding/encoding.h"
#include "toeplitz/toeplitz.h"
#include "encoding_diff.h"

#define COLUMNS(X)                                                                                 \
    X(SOURCE, "source", SZG_TEXT, "", "encoding or file", "the encoding B")                        \
    X(BASE, "base", SZG_TEXT, "", "compared with", "the encoding A that it is compared with")      \
    X(HEAD, "head", SZG_INTEGER, "1", "head", "from 0")                                            \
    X(MATRIX, "matrix", SZG_TEXT, "", "matrix", "what B calls the matrix")                         \
    X(N, "n", SZG_INTEGER, "1", "order n", "order N of the matrices T_A and T_B")                  \
    X(KIND, "kind", SZG_TEXT, "", "kind", "eigenvalue; singular if one of both is not Hermitian")  \
    X(BASE_LO, "base_symbol_lo", SZG_REAL, "1", "lower end of A's symbol",                         \
      "certified lower bound of A's symbol of order N; of its modulus if kind is singular",        \
      SZGI_END_LOWER)                                                                              \
    X(BASE_HI, "base_symbol_hi", SZG_REAL, "1", "upper end of A's symbol",                         \
      "certified upper bound", SZGI_END_UPPER)                                                     \
    X(SYMBOL_LO, "symbol_lo", SZG_REAL, "1", "lower end of B's symbol", "the same of B",           \
      SZGI_END_LOWER)                                                                              \
    X(SYMBOL_HI, "symbol_hi", SZG_REAL, "1", "upper end of B's symbol", "the same of B",           \
      SZGI_END_UPPER)                                                                              \
    X(BASE_LEAST, "base_least", SZG_REAL, "1", "least value of A",                                 \
      "least value (of `kind`) of T_A")                                                            \
    X(BASE_LARGEST, "base_largest", SZG_REAL, "1", "largest value of A", "largest value of T_A")   \
    X(LEAST, "least", SZG_REAL, "1", "least value of B", "least value of T_B")                     \
    X(LARGEST, "largest", SZG_REAL, "1", "largest value of B", "largest value of T_B")             \
    X(SHIFT, "shift", SZG_REAL, "1", "largest shift",                                              \
      "largest |value i of T_B - value i of T_A|, both in order")                                  \
    X(NORM, "change_norm", SZG_REAL, "1", "norm of the change",                                    \
      "||T_B - T_A||_2, a bound of shift (Weyl)")                                                  \
    X(CHANGE_HI, "symbol_change_hi", SZG_REAL, "1", "upper end of the change of symbols",          \
      "certified upper bound of max |a_B - a_A| over the symbols, a bound of change_norm",         \
      SZGI_END_UPPER)                                                                              \
    X(NOTE, "note", SZG_TEXT, "", "note", "what a reader must know")
#define COLUMNS_SCREEN                                                                             \
    SZGI_SHOW(3, source)                                                                           \
    SZGI_SHOW(1, head)                                                                             \
    SZGI_SHOW(1, n)                                                                                \
    SZGI_SHOW(1, shift)                                                                            \
    SZGI_SHOW(1, change_norm)                                                                      \
    SZGI_SHOW(1, symbol_change_hi)                                                                 \
    SZGI_SHOW_RANGE(2, symbol_A, base_symbol_lo, base_symbol_hi)                                   \
    SZGI_SHOW_RANGE(2, symbol_B, symbol_lo, symbol_hi)                                             \
    SZGI_SHOW_RANGE(4, values_A, base_least, base_largest)                                         \
    SZGI_SHOW_RANGE(4, values_B, least, largest)                                                   \
    SZGI_SHOW(5, kind)                                                                             \
    SZGI_SHOW(5, matrix)
SZGI_SCHEMA(columns, "diff_encodings", COLUMNS, COLUMNS_SCREEN);

szg_status szgi_encoding_diff_open(szg_context *context, szg_table **out) {
    return szgi_schema_open(context, &columns_schema, out);
}

/* A and B, and B - A, whose lags are rounded once. */
typedef struct encoding_pair {
    szg_context *context;
    int64_t n;
    bool hermitian;
    szg_toeplitz *a, *b, *change;
    double rounding; /* bounds the symbol of what the lags of `change` are off by */
} encoding_pair;

/* Opens the difference from `lags` of its lags: all of them from 1 - n on, or those from 0 on. */
static szg_status open_change(encoding_pair *pair, int64_t lags, const szg_c64 *lag, double *re) {
    bool real = szgi_toeplitz_is_real(pair->a) && szgi_toeplitz_is_real(pair->b);
    int64_t n = pair->n;
    for (int64_t i = 0; i < lags; i++)
        re[i] = lag[i].re;
    if (pair->hermitian)
        return real ? szg_toeplitz_open_symmetric(pair->context, n, n, re, &pair->change)
                    : szg_toeplitz_open_hermitian(pair->context, n, n, lag, &pair->change);
    return real ? szg_toeplitz_open_real(pair->context, n, n, re, &pair->change)
                : szg_toeplitz_open_complex(pair->context, n, n, lag, &pair->change);
}

static szg_status subtract(encoding_pair *pair) {
    szg_c64 *lag;
    double *re, sum = 0;
    int64_t first = pair->hermitian ? 0 : 1 - pair->n, lags = pair->n - first;
    SZG_TRY(szgi_memory_alloc(pair->context, lags, &re));
    szg_status status = szgi_memory_alloc(pair->context, lags, &lag);
    for (int64_t i = 0; i < lags && status == SZG_OK; i++) {
        szg_c64 a = szg_toeplitz_at(pair->a, first + i), b = szg_toeplitz_at(pair->b, first + i);
        lag[i] = (szg_c64){b.re - a.re, b.im - a.im};
        sum += fabs(lag[i].re) + fabs(lag[i].im);
    }
    /* A rounding a part, and those of the sum; lags below 0 count as well. */
    pair->rounding = 2 * sum * DBL_EPSILON * (1 + (double)lags * DBL_EPSILON);
    if (status == SZG_OK) {
        status = open_change(pair, lags, lag, re);
        szgi_memory_free(lag);
    }
    szgi_memory_free(re);
    return status;
}

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* All n values, zeros by structure among them, the largest first. */
static szg_status take_values(const encoding_pair *pair, const szg_toeplitz *toeplitz,
                              double *out) {
    const szg_matrix matrix = szg_matrix_toeplitz(toeplitz);
    szg_spectrum spectrum;
    SZG_TRY(szg_spectrum_compute(pair->context, &matrix,
                                 pair->hermitian ? SZG_QUESTION_EIGENVALUES : SZG_QUESTION_SINGULAR,
                                 NULL, &spectrum));
    for (int64_t i = 0; i < pair->n; i++)
        out[i] = i < spectrum.count ? spectrum.re[i] : 0;
    szg_spectrum_close(&spectrum);
    qsort(out, (size_t)pair->n, sizeof *out, descending);
    return SZG_OK;
}

static szg_status put_values(const encoding_pair *pair, szgi_row *row) {
    double *a, shift = 0;
    int64_t n = pair->n, size;
    SZG_TRY(szgi_memory_product(pair->context, 3, n, &size));
    SZG_TRY(szgi_memory_alloc(pair->context, size, &a));
    double *b = a + n, *change = b + n;
    szg_status status;
    SZG_TRY_GOTO(status, take_values(pair, pair->a, a), done);
    SZG_TRY_GOTO(status, take_values(pair, pair->b, b), done);
    SZG_TRY_GOTO(status, take_values(pair, pair->change, change), done);
    for (int64_t i = 0; i < n; i++)
        shift = fmax(shift, fabs(b[i] - a[i]));
    szgi_row_real(row, BASE_LEAST, a[n - 1]);
    szgi_row_real(row, BASE_LARGEST, a[0]);
    szgi_row_real(row, LEAST, b[n - 1]);
    szgi_row_real(row, LARGEST, b[0]);
    szgi_row_real(row, SHIFT, shift);
    szgi_row_real(row, NORM, fmax(fabs(change[0]), fabs(change[n - 1])));
done:
    szgi_memory_free(a);
    return status;
}

/* Into two columns; of a real symbol itself, else of its modulus. */
static szg_status put_range(const encoding_pair *pair, const szg_toeplitz *toeplitz, int64_t lo,
                            szgi_row *row) {
    szg_range range;
    SZG_TRY(pair->hermitian ? szg_symbol_range(pair->context, toeplitz, &range)
                            : szg_symbol_modulus_range(pair->context, toeplitz, &range));
    szgi_row_real(row, lo, range.min.lo);
    szgi_row_real(row, lo + 1, range.max.hi);
    return SZG_OK;
}

static szg_status put_symbols(const encoding_pair *pair, szgi_row *row) {
    szg_range range;
    if (szgi_toeplitz_degree(pair->a) > SZG_SYMBOL_RANGE_LIMIT ||
        szgi_toeplitz_degree(pair->b) > SZG_SYMBOL_RANGE_LIMIT) {
        szgi_row_note(row, "no certified range: a symbol's degree is beyond %d",
                      SZG_SYMBOL_RANGE_LIMIT);
        return SZG_OK;
    }
    SZG_TRY(put_range(pair, pair->a, BASE_LO, row));
    SZG_TRY(put_range(pair, pair->b, SYMBOL_LO, row));
    SZG_TRY(pair->hermitian ? szg_symbol_range(pair->context, pair->change, &range)
                            : szg_symbol_modulus_range(pair->context, pair->change, &range));
    double most = fmax(fabs(range.min.lo), fabs(range.max.hi));
    szgi_row_real(row, CHANGE_HI,
                  pair->rounding > 0 ? nextafter(most + pair->rounding, INFINITY) : most);
    return SZG_OK;
}

/* One head and matrix of both. */
static szg_status add_row(encoding_pair *pair, const szg_encoding *const encoding[2],
                          const int64_t head[2], int64_t matrix, szg_table *table) {
    szg_kernel_facts base, other;
    szg_context *context = pair->context;
    SZG_TRY(szg_encoding_facts(context, encoding[0], head[0], matrix, &base));
    SZG_TRY(szg_encoding_facts(context, encoding[1], head[1], matrix, &other));
    SZG_TRY(szgi_encoding_kernel_of(context, encoding[0], head[0], &base, pair->n, &pair->a));
    SZG_TRY(szgi_encoding_kernel_of(context, encoding[1], head[1], &other, pair->n, &pair->b));
    pair->hermitian = szgi_toeplitz_is_hermitian(pair->a) && szgi_toeplitz_is_hermitian(pair->b);
    SZG_TRY(subtract(pair));
    szgi_row row = szgi_row_add(context, table);
    szgi_row_text(&row, SOURCE, szg_encoding_spec(encoding[1]));
    szgi_row_text(&row, BASE, szg_encoding_spec(encoding[0]));
    szgi_row_integer(&row, HEAD, head[0] > head[1] ? head[0] : head[1]);
    szgi_row_text(&row, MATRIX, other.matrix);
    szgi_row_integer(&row, N, pair->n);
    szgi_row_text(
        &row, KIND,
        szg_spectrum_kind_name(pair->hermitian ? SZG_SPECTRUM_EIGENVALUE : SZG_SPECTRUM_SINGULAR));
    if (strcmp(base.matrix, other.matrix) != 0)
        szgi_row_note(&row, "the matrix of A is its %s", base.matrix);
    SZG_TRY(row.status);
    SZG_TRY(put_symbols(pair, &row));
    SZG_TRY(put_values(pair, &row));
    return row.status;
}

szg_status szgi_encoding_diff(szg_context *context, const szg_encoding *base,
                              const szg_encoding *other, int64_t n, szg_table *table) {
    const szg_encoding *const encoding[] = {base, other};
    int64_t heads[] = {szg_encoding_heads(base), szg_encoding_heads(other)};
    int64_t most = heads[0] > heads[1] ? heads[0] : heads[1];
    int64_t matrices = szg_encoding_matrices(base);
    if (heads[0] != heads[1] && heads[0] > 1 && heads[1] > 1)
        return szgi_fail(context, SZG_EDATA,
                         "%s has %" PRId64 " heads, and %s %" PRId64
                         ": give both the same number, or one of them a single head",
                         SHOWN(szg_encoding_spec(base)), heads[0], SHOWN(szg_encoding_spec(other)),
                         heads[1]);
    if (matrices != szg_encoding_matrices(other))
        return szgi_fail(context, SZG_EDATA,
                         "%s has %" PRId64 " matrices, and %s %" PRId64
                         ": only encodings of as many can be compared",
                         SHOWN(szg_encoding_spec(base)), matrices, SHOWN(szg_encoding_spec(other)),
                         szg_encoding_matrices(other));
    for (int64_t i = 0; i < most * matrices; i++) {
        encoding_pair pair = {.context = context, .n = n};
        int64_t head[2] = {heads[0] > 1 ? i / matrices : 0, heads[1] > 1 ? i / matrices : 0};
        SZG_TRY(szgi_context_check_cancel(context));
        szg_status status = add_row(&pair, encoding, head, i % matrices, table);
        szg_toeplitz_close(&pair.a);
        szg_toeplitz_close(&pair.b);
        szg_toeplitz_close(&pair.change);
        SZG_TRY(status);
        szgi_progress(context, "matrices", i + 1, most * matrices);
    }
    return SZG_OK;
}

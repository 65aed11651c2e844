/* Eigenvalues at the ends of a spectrum, and which of them their errors tell apart. */
#include <inttypes.h>
#include <szego/extremes.h>

#include <szego/symbol.h>

#include "toeplitz/matrix.h"
#include "toeplitz/toeplitz.h"

#include "factored.h"
#include "solvers.h"
#include "spectra_private.h"

void szg_extremes_close(szg_extremes *extremes) {
    if (!extremes)
        return;
    szgi_memory_free(extremes->least); /* with the largest behind */
    *extremes = (szg_extremes){0};
}

/* ---- Which values ---- */

/* The listed values, ascending, with the structural zeros among them: number i, 0 <= i < total. */
typedef struct value_list {
    const szg_spectrum *spectrum;
    int64_t total, below; /* values below the zeros */
} value_list;

static value_list list_of(const szg_spectrum *spectrum) {
    return (value_list){.spectrum = spectrum,
                        .total = spectrum->count + spectrum->zeros,
                        .below = szgi_spectrum_before_zeros(spectrum)};
}

static void value_at(const value_list *list, int64_t i, double *value, double *error) {
    int64_t zeros = list->spectrum->zeros;
    *value = *error = 0;
    if (i >= list->below && i < list->below + zeros)
        return;
    int64_t place = i < list->below ? i : i - zeros;
    *value = list->spectrum->re[place];
    *error = list->spectrum->error ? list->spectrum->error[place] : NAN;
}

/* From number i to number j; NaN where one is. */
static double distance(const value_list *list, int64_t i, int64_t j) {
    double value, other, error;
    if (j < 0 || j >= list->total)
        return INFINITY;
    value_at(list, i, &value, &error);
    value_at(list, j, &other, &error);
    return fabs(value - other);
}

static double smaller(double x, double y) {
    return isnan(x) || x < y ? x : y;
}

static szg_extreme judge(const value_list *list, int64_t i, double norm) {
    szg_extreme out;
    value_at(list, i, &out.value, &out.error);
    out.gap = smaller(distance(list, i, i - 1), distance(list, i, i + 1));
    out.resolved = szgi_is_resolved(out.error, out.gap, norm);
    return out;
}

static void judge_all(const szg_spectrum *spectrum, szg_extremes *out) {
    value_list list = list_of(spectrum);
    double least, largest, error;
    value_at(&list, 0, &least, &error);
    value_at(&list, list.total - 1, &largest, &error);
    double norm = fmax(fabs(least), fabs(largest));
    for (int64_t i = 0; i < out->count; i++) {
        out->least[i] = judge(&list, i, norm);
        out->largest[i] = judge(&list, list.total - 1 - i, norm);
    }
}

/* ---- Where the ends are ---- */

static bool by_products(szg_method method) {
    return method == SZG_METHOD_LANCZOS || method == SZG_METHOD_SHARED_LANCZOS ||
           method == SZG_METHOD_MATRIX_FREE || method == SZG_METHOD_MATRIX_FREE_PART;
}

/* Lags up to which the symbol's certified range takes a tenth of a second. */
enum { SYMBOL_LAGS = 8192 };

/* The eigenvalues of a circulant around T are values of its symbol, which thus is never shorter by
 * more than rounding: a transform's is some 1e-13 of the norm, ball arithmetic's a unit. Of the two
 * circulants of a long matrix the interval may be longer. */
static szg_status enclose_toeplitz(szg_context *context, const szg_toeplitz *t, double *lo,
                                   double *hi) {
    szg_range symbol;
    SZG_TRY(szgi_toeplitz_enclose(context, t, lo, hi));
    if (szgi_toeplitz_degree(t) >= SYMBOL_LAGS)
        return SZG_OK;
    SZG_TRY(szg_symbol_range(context, t, &symbol));
    *lo = fmax(*lo, symbol.min.lo);
    *hi = fmin(*hi, symbol.max.hi);
    return SZG_OK;
}

/* An interval that holds every eigenvalue; T is Hermitian where the matrix is Toeplitz. */
static szg_status enclose(szg_context *context, const szg_matrix *matrix,
                          const szg_spectrum *spectrum, double *lo, double *hi) {
    if (matrix->kind == SZG_MATRIX_TOEPLITZ)
        return by_products(spectrum->method)
                   ? enclose_toeplitz(context, matrix->of.toeplitz, lo, hi)
                   : szgi_toeplitz_enclose(context, matrix->of.toeplitz, lo, hi);
    /* A sum of squares, row after row. */
    double norm = spectrum->frobenius * (1 + (double)matrix->rows * DBL_EPSILON);
    if (matrix->kind == SZG_MATRIX_FACTORED)
        SZG_TRY(szgi_logits_norm_above(context, &matrix->of.factored, &norm));
    *hi = isnan(norm) ? INFINITY : norm;
    *lo = -*hi;
    return SZG_OK;
}

/* Within the error of a value there is an eigenvalue, and so an end is not inside of it. */
static szg_status set_ends(szg_context *context, const szg_matrix *matrix,
                           const szg_spectrum *spectrum, szg_extremes *out) {
    double lo, hi;
    szg_extreme least = out->least[0], largest = out->largest[0];
    SZG_TRY(enclose(context, matrix, spectrum, &lo, &hi));
    if (!by_products(spectrum->method)) {
        lo = fmax(lo, nextafter(least.value - least.error, -INFINITY));
        hi = fmin(hi, nextafter(largest.value + largest.error, INFINITY));
    }
    out->least_lo = lo;
    out->largest_hi = hi;
    out->least_hi = fmin(hi, nextafter(least.value + least.error, INFINITY));
    out->largest_lo = fmax(lo, nextafter(largest.value - largest.error, -INFINITY));
    return SZG_OK;
}

/* ---- The verb ---- */

/* One value more at each end than asked for: it is the last one's neighbour. */
static szg_status of_hermitian(szg_context *context, const szg_matrix *matrix, int64_t k,
                               szg_extremes *out) {
    const szg_spectra_options options = {SZG_INIT(szg_spectra_options), .want = SZG_WANT_RANGE,
                                         .ends = k + 1};
    szg_spectrum spectrum;
    out->n = matrix->rows;
    out->count = k < out->n ? k : out->n;
    SZG_TRY(szgi_memory_alloc(context, 2 * out->count, &out->least));
    out->largest = out->least + out->count;
    SZG_TRY(
        szg_spectrum_compute(context, matrix, SZG_QUESTION_HERMITIAN_PART, &options, &spectrum));
    out->method = spectrum.method;
    judge_all(&spectrum, out);
    szg_status status = set_ends(context, matrix, &spectrum, out);
    szg_spectrum_close(&spectrum);
    return status;
}

static szg_status compute(szg_context *context, const szg_matrix *matrix, int64_t k,
                          szg_extremes *out) {
    bool hermitian;
    szg_toeplitz *part;
    SZG_TRY(szgi_matrix_is_hermitian(context, matrix, &hermitian));
    out->hermitian_part = !hermitian;
    if (hermitian || matrix->kind != SZG_MATRIX_TOEPLITZ)
        return of_hermitian(context, matrix, k, out);
    SZG_TRY(szgi_toeplitz_open_part(context, matrix->of.toeplitz, &part));
    szg_matrix half = szg_matrix_toeplitz(part);
    szg_status status = of_hermitian(context, &half, k, out);
    szg_toeplitz_close(&part);
    return status;
}

szg_status szg_extremes_compute(szg_context *context, const szg_matrix *matrix, int64_t k,
                                szg_extremes *out) {
    *out = (szg_extremes){0};
    SZGI_ENTER(context);
    SZG_TRY(szgi_matrix_check(context, matrix));
    if (k < 1 || k > INT32_MAX)
        return szgi_fail(context, SZG_EINVAL,
                         "%" PRId64 " eigenvalues at each end: at least one is needed", k);
    if (matrix->rows != matrix->columns || matrix->rows < 1)
        return szgi_fail(context, SZG_EINVAL,
                         "the ends of a %" PRId64 " x %" PRId64
                         " matrix's spectrum: it has no eigenvalues, or none at all",
                         matrix->rows, matrix->columns);
    szg_status status = compute(context, matrix, k, out);
    if (status != SZG_OK)
        szg_extremes_close(out);
    return status;
}

#include <inttypes.h>
#include <stdlib.h>

#include "solvers.h"
#include "spectra_private.h"

/* From here on the memory is asked for, with a remedy, before it is taken. */
enum { LONG_LIST = 1 << 24 };

const char szgi_defect_meaning[] =
    "larger of |sum of values - trace| / (sqrt(n) ||L||_F) and | ||values||_2 - ||L||_F | / "
    "||L||_F "
    "(the latter alone for singular values), both norms taken from the entries: a necessary check "
    "of "
    "the solver's backward-stable answer, whose error is at most about n eps ||L||_2";

szg_status szgi_selection_of(szg_context *context, int64_t n, const szg_spectra_options *options,
                             szgi_selection *out) {
    *out = (szgi_selection){.n = n, .low = n};
    if (n < 1)
        return szgi_fail(context, SZG_EINVAL, "order %" PRId64 ": a spectrum needs n >= 1", n);
    szg_want want = options ? options->want : SZG_WANT_ALL;
    if (want != SZG_WANT_ALL && want != SZG_WANT_RANGE)
        return szgi_fail(context, SZG_EINVAL, "unknown part of a spectrum: %d", (int)want);
    int64_t ends = options && options->ends != 0 ? options->ends : 1;
    if (ends < 0)
        return szgi_fail(context, SZG_EINVAL, "%" PRId64 " values at each end: none are negative",
                         ends);
    if (want == SZG_WANT_RANGE && ends <= n / 2)
        *out = (szgi_selection){.n = n, .low = ends, .high = ends};
    return SZG_OK;
}

szg_status szgi_spectrum_open(szg_context *context, int64_t n, int64_t count,
                              szg_spectrum_kind kind, bool is_complex, szg_spectrum *out) {
    *out = (szg_spectrum){.n = n, .count = count, .rank = -1, .kind = kind};
    out->trace = out->frobenius = NAN;
    szg_status status = SZG_OK;
    if (count > LONG_LIST)
        status = szgi_memory_require(context, count, is_complex ? 2 : 1, sizeof *out->re,
                                     "the list of values", "ask for the range");
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, count, &out->re);
    if (status == SZG_OK && is_complex)
        status = szgi_memory_alloc(context, count, &out->im);
    if (status != SZG_OK)
        szg_spectrum_close(out);
    return status;
}

szg_status szgi_spectrum_errors(szg_context *context, double error, szg_spectrum *out) {
    SZG_TRY(szgi_memory_alloc(context, out->count, &out->error));
    for (int64_t i = 0; i < out->count; i++)
        out->error[i] = error;
    return SZG_OK;
}

szg_status szgi_spectrum_zero(szg_context *context, int64_t n, szg_spectrum_kind kind,
                              szg_spectrum *out) {
    SZG_TRY(szgi_spectrum_open(context, n, 0, kind, false, out));
    out->zeros = n;
    out->rank = 0;
    out->normal = kind == SZG_SPECTRUM_EIGENVALUE;
    out->trace = out->frobenius = 0;
    out->residual_meaning = "exact: the zero matrix";
    out->method = SZG_METHOD_ZERO;
    return SZG_OK;
}

szg_status szgi_zero_eigen(szg_context *context, const szg_matrix *matrix,
                           const szg_spectra_options *options, szg_spectrum *out) {
    (void)options;
    return szgi_spectrum_zero(context, matrix->rows, SZG_SPECTRUM_EIGENVALUE, out);
}

szg_status szgi_zero_singular(szg_context *context, const szg_matrix *matrix,
                              const szg_spectra_options *options, szg_spectrum *out) {
    (void)options;
    return szgi_spectrum_zero(context, matrix->rows, SZG_SPECTRUM_SINGULAR, out);
}

void szgi_spectrum_scale(szg_spectrum *spectrum, int exponent) {
    for (int64_t i = 0; i < spectrum->count; i++) {
        spectrum->re[i] = ldexp(spectrum->re[i], exponent);
        if (spectrum->im)
            spectrum->im[i] = ldexp(spectrum->im[i], exponent);
    }
    for (int64_t i = 0; spectrum->error && i < spectrum->count; i++)
        spectrum->error[i] = ldexp(spectrum->error[i], exponent) + DBL_TRUE_MIN;
    spectrum->trace = ldexp(spectrum->trace, exponent);
    spectrum->frobenius = ldexp(spectrum->frobenius, exponent);
}

void szg_spectrum_close(szg_spectrum *spectrum) {
    if (!spectrum)
        return;
    szgi_memory_free(spectrum->re);
    szgi_memory_free(spectrum->im);
    szgi_memory_free(spectrum->lo);
    szgi_memory_free(spectrum->hi);
    szgi_memory_free(spectrum->error);
    memset(spectrum, 0, sizeof *spectrum);
}

szg_status szgi_spectrum_finish(szg_status status, szg_spectrum *out) {
    if (status != SZG_OK)
        szg_spectrum_close(out);
    return status;
}

szg_status szgi_spectrum_from_values(szg_context *context, const szgi_selection *selection,
                                     const double *ascending, szg_spectrum *out) {
    SZG_TRY(szgi_spectrum_open(context, selection->n, szgi_selection_count(selection),
                               SZG_SPECTRUM_EIGENVALUE, false, out));
    for (int64_t place = 0; place < out->count; place++)
        out->re[place] = ascending[szgi_selection_index(selection, place)];
    return SZG_OK;
}

szg_status szgi_spectrum_from_moduli(szg_context *context, const szgi_selection *selection,
                                     const double *values, szg_spectrum *out) {
    int64_t n = selection->n;
    szg_spectrum all;
    SZG_TRY(szgi_spectrum_open(context, n, n, SZG_SPECTRUM_SINGULAR, false, &all));
    for (int64_t i = 0; i < n; i++)
        all.re[i] = fabs(values[i]);
    szgi_sort_descending(n, all.re);
    /* What a descending list keeps from its two ends is the same set: low and high are equal unless
     * all values are listed. */
    all.count = szgi_selection_count(selection);
    for (int64_t place = 0; place < all.count; place++)
        all.re[place] = all.re[szgi_selection_index(selection, place)];
    *out = all;
    return SZG_OK;
}

int64_t szgi_spectrum_before_zeros(const szg_spectrum *spectrum) {
    int64_t before = 0;
    if (spectrum->kind == SZG_SPECTRUM_SINGULAR)
        return spectrum->count;
    for (int64_t i = 0; i < spectrum->count; i++) {
        double re = spectrum->re[i], im = spectrum->im ? spectrum->im[i] : 0;
        before += re < 0 || (re == 0 && im < 0);
    }
    return before;
}

szg_status szgi_spectrum_range(szg_context *context, const szg_spectrum *spectrum, double *least,
                               double *largest) {
    if (spectrum->im || spectrum->count + spectrum->zeros < 1)
        return szgi_fail(context, SZG_EINVAL, "a range needs at least one value, and real ones");
    bool descending = spectrum->kind == SZG_SPECTRUM_SINGULAR;
    double first = 0, last = 0;
    if (spectrum->count > 0) {
        first = spectrum->re[descending ? spectrum->count - 1 : 0];
        last = spectrum->re[descending ? 0 : spectrum->count - 1];
    }
    *least = spectrum->zeros > 0 ? fmin(first, 0) : first;
    *largest = spectrum->zeros > 0 ? fmax(last, 0) : last;
    return SZG_OK;
}

static int compare_ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static int compare_descending(const void *left, const void *right) {
    return compare_ascending(right, left);
}

void szgi_sort_ascending(int64_t count, double *values) {
    if (count > 1)
        qsort(values, (size_t)count, sizeof *values, compare_ascending);
}

void szgi_sort_descending(int64_t count, double *values) {
    if (count > 1)
        qsort(values, (size_t)count, sizeof *values, compare_descending);
}

/* Scaled by F, so that nothing overflows; subnormal numbers have no relative accuracy to ask for.
 */
double szgi_spectrum_defect(int64_t n, const double *values, double trace, double frobenius) {
    double unit = fmax(frobenius, DBL_MIN), sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double value = values[i] / unit;
        sum += value;
        squares += value * value;
    }
    double norm = fabs(sqrt(squares) - frobenius / unit);
    double first = isnan(trace) ? 0 : fabs(sum - trace / unit) / sqrt(fmax((double)n, 1));
    return szgi_larger(norm, first);
}

double szgi_defect_limit(int64_t n) {
    return 64 * (double)n * DBL_EPSILON;
}

szg_status szgi_spectrum_check_within(szg_context *context, int64_t n, const double *values,
                                      double trace, double frobenius, double limit,
                                      szg_spectrum *out) {
    double defect = szgi_spectrum_defect(n, values, trace, frobenius);
    if (!(defect <= limit))
        return szgi_fail(context, SZG_ENOCONV,
                         "the computed values miss the matrix's trace or Frobenius norm by %.3g "
                         "(relative; %.3g is allowed at n = %" PRId64 "): they are not returned",
                         defect, limit, n);
    out->residual = defect;
    out->residual_meaning = szgi_defect_meaning;
    out->trace = trace;
    out->frobenius = frobenius;
    return SZG_OK;
}

szg_status szgi_spectrum_check(szg_context *context, int64_t n, const double *values, double trace,
                               double frobenius, szg_spectrum *out) {
    return szgi_spectrum_check_within(context, n, values, trace, frobenius, szgi_defect_limit(n),
                                      out);
}

szg_status szgi_require_finite(szg_context *context, const char *name, double value) {
    if (!isfinite(value))
        return szgi_fail(context, SZG_EINVAL, "%s is %g: a finite number is needed", name, value);
    return SZG_OK;
}

szg_status szgi_dense_frobenius(szg_context *context, int64_t m, int64_t n, const double *a,
                                int64_t lda, double *out) {
    return szgi_wide_frobenius(context, m, n, 1, a, lda, out);
}

szg_status szgi_wide_frobenius(szg_context *context, int64_t m, int64_t n, int64_t width,
                               const double *a, int64_t lda, double *out) {
    double largest = 0;
    for (int64_t i = 0; i < m; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < n; j++) {
            double value = fabs(a[i * lda + j]);
            if (!isfinite(value))
                return szgi_fail(context, SZG_EDATA, "entry (%" PRId64 ", %" PRId64 ") is %g", i,
                                 j / width, a[i * lda + j]);
            largest = value > largest ? value : largest; /* fmax is a call */
        }
    }
    double squares = 0, scale = largest > 0 ? 1 / largest : 1;
    if (!isfinite(scale)) /* all entries subnormal */
        scale = 1 / DBL_MIN;
    for (int64_t i = 0; i < m; i++) {
        SZG_TRY(szgi_context_check_cancel(context));
        for (int64_t j = 0; j < n; j++) {
            double value = a[i * lda + j] * scale;
            squares += value * value;
        }
    }
    *out = sqrt(squares) / scale;
    return SZG_OK;
}

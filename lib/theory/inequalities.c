#include <math.h>

#include "theory/theory.h"
#include "base/context.h"

static bool is_interval(szg_interval a) {
    return a.lo <= a.hi;
}

/* The product of a bound of the spectrum and the diagonal entry that makes it worst. */
static double outward_max(double a, double b) {
    double product = nextafter(a * b, INFINITY);
    return a == 1.0 ? b : b == 1.0 ? a : a == 0.0 || b == 0.0 ? 0.0 : product;
}

szg_status szg_schur_range(szg_context *context, szg_interval eigenvalues, szg_interval diagonal,
                           szg_interval *out) {
    SZGI_ENTER(context);
    if (!is_interval(eigenvalues) || !is_interval(diagonal) || !(diagonal.lo >= 0.0) || !out)
        return szgi_fail(context, SZG_EINVAL,
                         "Schur: eigenvalues in [%g, %g], diagonal in [%g, %g]: an interval, and a "
                         "diagonal >= 0, are needed",
                         eigenvalues.lo, eigenvalues.hi, diagonal.lo, diagonal.hi);
    /* lambda_min I <= A <= lambda_max I, and o B keeps both orders: lambda_max diag(B) above. */
    double top = eigenvalues.hi >= 0.0 ? diagonal.hi : diagonal.lo;
    double bottom = eigenvalues.lo >= 0.0 ? diagonal.lo : diagonal.hi;
    out->hi = outward_max(eigenvalues.hi, top);
    out->lo = -outward_max(-eigenvalues.lo, bottom);
    return SZG_OK;
}

szg_status szg_bapat_sunder_test(szg_context *context, int64_t n, const double *coupled,
                                 const double *content, const double *diagonal, double error,
                                 szg_majorisation *out) {
    SZGI_ENTER(context);
    for (int64_t i = 0; diagonal && i < n; i++)
        if (diagonal[i] != 1.0)
            return szgi_fail(context, SZG_EDOMAIN,
                             "Bapat-Sunder: diagonal entry %lld is %.17g, the theorem needs 1",
                             (long long)i, diagonal[i]);
    return szg_majorisation_test(context, n, coupled, content, error, false, out);
}

szg_status szg_perron_applies(szg_context *context, int64_t n, const double *a, int64_t lda,
                              const szg_c64 *b, int64_t ldb, bool *applies) {
    SZGI_ENTER(context);
    if (n < 1 || !a || !b || !applies || lda < n || ldb < n)
        return szgi_fail(context, SZG_EINVAL, "Perron: n = %lld, leading dimensions %lld and %lld",
                         (long long)n, (long long)lda, (long long)ldb);
    *applies = true;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double bound = a[i * lda + j];
            szg_c64 entry = b[i * ldb + j];
            /* hypot is within an ulp; equal moduli, the usual case, must pass */
            if (!(bound >= 0.0) || !(hypot(entry.re, entry.im) <= bound * (1.0 + 4e-16)))
                *applies = false;
        }
    return SZG_OK;
}

static double ratio(double coupled, double content) {
    return content > 0.0 ? coupled / content : NAN;
}

static double width_of(int64_t n, const double *x) {
    double least = INFINITY, largest = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        least = fmin(least, x[i]);
        largest = fmax(largest, x[i]);
    }
    return largest - least;
}

static double largest_of(int64_t n, const double *x) {
    double largest = n > 0 ? 0.0 : NAN;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, x[i]);
    return largest;
}

static double sum_of(int64_t n, const double *x) {
    double sum = n > 0 ? 0.0 : NAN;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

szg_status szgi_contraction_ratios_of(szg_context *context, const szgi_contraction_input *input,
                                      szg_contraction_ratios *out) {
    if (!input || !out || input->eigenvalues < 0 || input->content_values < 0 ||
        input->coupled_values < 0)
        return szgi_fail(context, SZG_EINVAL,
                         "contraction: a count is negative or an argument NULL");
    *out = (szg_contraction_ratios){.width = NAN, .norm = NAN, .nuclear = NAN};
    if (input->content_singular && input->coupled_singular) {
        out->norm = ratio(largest_of(input->coupled_values, input->coupled_singular),
                          largest_of(input->content_values, input->content_singular));
        out->nuclear = ratio(sum_of(input->coupled_values, input->coupled_singular),
                             sum_of(input->content_values, input->content_singular));
    }
    int64_t n = input->eigenvalues;
    if (n < 1 || !input->content_eigenvalues || !input->coupled_eigenvalues)
        return SZG_OK;
    SZG_TRY(szg_majorisation_test(context, n, input->coupled_eigenvalues,
                                  input->content_eigenvalues, input->error, false,
                                  &out->eigenvalues));
    out->ordered = true;
    out->width =
        ratio(width_of(n, input->coupled_eigenvalues), width_of(n, input->content_eigenvalues));
    return SZG_OK;
}

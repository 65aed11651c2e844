#include <string.h>

#include "base/context.h"
#include "spectra/spectra.h"
#include "summary/summary.h"

static bool is_singular(const szg_spectrum *spectrum) {
    return spectrum->kind == SZG_SPECTRUM_SINGULAR;
}

static bool is_complete(const szg_spectrum *spectrum) {
    return spectrum->count + spectrum->zeros == spectrum->n;
}

static double modulus(const szg_spectrum *spectrum, int64_t i) {
    return spectrum->im ? hypot(spectrum->re[i], spectrum->im[i]) : fabs(spectrum->re[i]);
}

static double largest_modulus(const szg_spectrum *spectrum) {
    double largest = spectrum->count + spectrum->zeros > 0 ? 0 : NAN;
    for (int64_t i = 0; i < spectrum->count; i++)
        largest = szgi_larger(largest, modulus(spectrum, i));
    return largest;
}

/* sum (sigma / largest)^p over the listed values; structural zeros add nothing. */
static double power_sum(const szg_spectrum *spectrum, double largest, double p) {
    double sum = 0;
    for (int64_t i = 0; i < spectrum->count; i++)
        sum += pow(modulus(spectrum, i) / largest, p);
    return sum;
}

/* Schatten norm (sum sigma^p)^(1/p), scaled: no overflow on the way. */
static double schatten(const szg_spectrum *spectrum, double p) {
    double largest = largest_modulus(spectrum);
    if (largest == 0)
        return largest;
    return largest * pow(power_sum(spectrum, largest, p), 1 / p);
}

/* exp(-sum p log p) with p = sigma / sum sigma; NaN for the zero matrix. */
static double effective_rank(const szg_spectrum *spectrum) {
    double largest = largest_modulus(spectrum);
    if (largest == 0)
        return NAN;
    double sum = power_sum(spectrum, largest, 1), entropy = 0;
    for (int64_t i = 0; i < spectrum->count; i++) {
        double share = modulus(spectrum, i) / largest / sum;
        if (!(share == 0))
            entropy -= share * log(share);
    }
    return exp(entropy);
}

static void complex_extent(const szg_spectrum *spectrum, szg_summary *out) {
    out->lambda_min = spectrum->zeros > 0 ? 0 : INFINITY;
    out->lambda_max = spectrum->zeros > 0 ? 0 : -INFINITY;
    for (int64_t i = 0; i < spectrum->count; i++) {
        out->lambda_min = fmin(out->lambda_min, spectrum->re[i]);
        out->lambda_max = fmax(out->lambda_max, spectrum->re[i]);
    }
    out->note =
        "complex eigenvalues: lambda_min and lambda_max are real parts, width does not exist; far "
        "from normal they may be off by much more than the residual, which is a backward error";
}

static szg_status summarise_eigenvalues(szg_context *context, const szg_spectrum *eigenvalues,
                                        szg_summary *out) {
    out->radius = largest_modulus(eigenvalues);
    if (eigenvalues->im) {
        complex_extent(eigenvalues, out);
        return SZG_OK;
    }
    SZG_TRY(szgi_spectrum_range(context, eigenvalues, &out->lambda_min, &out->lambda_max));
    out->width = out->lambda_max - out->lambda_min;
    return SZG_OK;
}

/* Singular values from part of a normal matrix's spectrum: the largest is at one of its ends; the
 * least is where the ends have one sign. */
static void partial_normal(const szg_spectrum *eigenvalues, szg_summary *out) {
    out->sigma_max = out->radius;
    out->note = "from the ends of the spectrum alone: the rest needs all eigenvalues";
    if (eigenvalues->im)
        return;
    if (out->lambda_min > 0)
        out->sigma_min = out->lambda_min;
    else if (out->lambda_max < 0)
        out->sigma_min = -out->lambda_max;
}

/* `values` holds the moduli of a complete set of singular values. */
static void complete_singular(const szg_spectrum *values, szg_summary *out) {
    out->sigma_max = largest_modulus(values);
    out->sigma_min = values->zeros > 0 ? 0 : out->sigma_max;
    for (int64_t i = 0; i < values->count; i++)
        out->sigma_min = -szgi_larger(-out->sigma_min, -modulus(values, i));
    out->nuclear = schatten(values, 1);
    out->frobenius = schatten(values, 2);
    out->effective_rank = effective_rank(values);
}

static szg_status summarise_singular(szg_context *context, const szg_spectrum *eigenvalues,
                                     const szg_spectrum *singular, szg_summary *out) {
    const szg_spectrum *values = singular ? singular : eigenvalues;
    out->frobenius = values->frobenius;
    if (!singular && !eigenvalues->normal) {
        if (!out->note)
            out->note = "eigenvalues of a matrix that is not normal do not give singular values";
        return SZG_OK;
    }
    if (is_complete(values)) {
        complete_singular(values, out);
    } else if (singular) {
        SZG_TRY(szgi_spectrum_range(context, singular, &out->sigma_min, &out->sigma_max));
        out->note = "from the ends of the spectrum alone: the rest needs all singular values";
    } else {
        partial_normal(values, out);
    }
    if (out->sigma_max > 0) {
        double ratio = out->frobenius / out->sigma_max;
        out->condition = out->sigma_max / out->sigma_min;
        out->stable_rank = ratio * ratio;
    } else if (out->sigma_max == 0) {
        out->note = "the zero matrix: condition, stable and effective rank do not exist";
    }
    return SZG_OK;
}

static void summarise_origin(const szg_spectrum *eigenvalues, const szg_spectrum *singular,
                             szg_summary *out) {
    const szg_spectrum *first = eigenvalues ? eigenvalues : singular, *worst = first;
    if (eigenvalues && singular && !(singular->residual <= eigenvalues->residual))
        worst = singular;
    out->n = first->n;
    out->rank = first->rank;
    if (singular && out->rank < 0)
        out->rank = singular->rank;
    out->zeros = is_complete(first) ? first->zeros : -1;
    out->residual = worst->residual;
    out->residual_meaning = worst->residual_meaning;
    out->dropped = first->method == SZG_METHOD_DIVIDE ? first->dropped : NAN;
    out->method = first->method;
    out->note = first->note;
}

szg_status szg_summary_of(szg_context *context, const szg_spectrum *eigenvalues,
                          const szg_spectrum *singular, szg_summary *out) {
    *out = (szg_summary){.rank = -1};
    out->lambda_min = out->lambda_max = out->width = out->radius = NAN;
    out->sigma_min = out->sigma_max = out->condition = NAN;
    out->stable_rank = out->effective_rank = out->nuclear = out->frobenius = NAN;
    SZGI_ENTER(context);
    if (!eigenvalues && !singular)
        return szgi_fail(context, SZG_EINVAL, "a summary needs eigenvalues or singular values");
    if ((eigenvalues && is_singular(eigenvalues)) || (singular && !is_singular(singular)))
        return szgi_fail(context, SZG_EINVAL, "eigenvalues and singular values are exchanged");
    if (eigenvalues && singular && eigenvalues->n != singular->n)
        return szgi_fail(context, SZG_EINVAL,
                         "eigenvalues of order %lld and singular values of order %lld are not of "
                         "one matrix",
                         (long long)eigenvalues->n, (long long)singular->n);
    summarise_origin(eigenvalues, singular, out);
    if (eigenvalues)
        SZG_TRY(summarise_eigenvalues(context, eigenvalues, out));
    return summarise_singular(context, eigenvalues, singular, out);
}

/* The bin of `value`, or -1 outside; NaN is outside. */
static int64_t bin_of(double value, int64_t bins, const double *edges) {
    double lo = edges[0], hi = edges[bins];
    if (!(value >= lo && value <= hi))
        return -1;
    int64_t bin = (int64_t)((value - lo) / (hi - lo) * (double)bins);
    if (bin > bins - 1)
        bin = bins - 1;
    /* The quotient may round across an edge. */
    while (bin > 0 && value < edges[bin])
        bin--;
    while (bin < bins - 1 && value >= edges[bin + 1])
        bin++;
    return bin;
}

szg_status szg_summary_density(szg_context *context, const szg_spectrum *spectrum, int64_t bins,
                               double lo, double hi, double *edges, double *mass) {
    SZGI_ENTER(context);
    if (bins < 1 || !(lo <= hi))
        return szgi_fail(context, SZG_EINVAL,
                         "%lld bins on [%g, %g]: at least one bin and lo <= hi are needed",
                         (long long)bins, lo, hi);
    if (lo == 0 && hi == 0)
        SZG_TRY(szgi_spectrum_range(context, spectrum, &lo, &hi));
    if (spectrum->im || !isfinite(lo) || !isfinite(hi))
        return szgi_fail(context, SZG_EINVAL, "a density needs real, finite values");
    if (lo == hi) {
        double around = lo == 0 ? 0.5 : fabs(lo) / 2;
        lo -= around;
        hi += around;
    }
    for (int64_t i = 0; i <= bins; i++) {
        double share = (double)i / (double)bins;
        edges[i] = lo * (1 - share) + hi * share;
    }
    memset(mass, 0, (size_t)bins * sizeof *mass);
    for (int64_t i = 0; i < spectrum->count; i++) {
        int64_t bin = bin_of(spectrum->re[i], bins, edges);
        if (bin >= 0)
            mass[bin] += 1;
    }
    int64_t zero = bin_of(0, bins, edges);
    if (zero >= 0)
        mass[zero] += (double)spectrum->zeros;
    for (int64_t i = 0; i < bins; i++)
        mass[i] /= (double)spectrum->n;
    return SZG_OK;
}

#include <float.h>
#include <math.h>

#include "toeplitz/toeplitz.h"
#include "scale.h"

enum { FAR = 100 };

/* Whether the sum of squares shows that the largest modulus is within 2^-100 .. 2^100, without a
 * search for it: nearly all weights are such. The sum is between that modulus squared and `count`
 * times as much, up to rounding, for which a factor of 4 is left. False where a number is NaN. */
static bool is_ordinary(int64_t count, const double *x) {
    double squares = szgi_dot(count, x, x);
    return squares <= ldexp(1, 2 * FAR - 2) && squares >= ldexp((double)count, 2 - 2 * FAR);
}

int szgi_scale_take(int64_t count, double *x) {
    double largest = 0;
    int exponent;
    if (is_ordinary(count, x))
        return 0;
    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(x[i]));
    frexp(largest, &exponent);
    if (largest == 0 || !isfinite(largest) || (exponent >= -FAR && exponent <= FAR))
        return 0;
    for (int64_t i = 0; i < count; i++)
        x[i] = ldexp(x[i], -exponent);
    return exponent;
}

/* The number value 2^exponent, which is no double, as m and p of m 10^p. */
static void decimal(double value, int exponent, double *mantissa, int *power) {
    double log = log10(value) + exponent * log10(2);
    *power = (int)floor(log);
    *mantissa = pow(10, log - *power);
}

static szg_status check_size(szg_context *context, const char *what, int exponent,
                             const szg_spectrum *singular) {
    double largest = singular->count > 0 ? singular->re[0] : 0, mantissa;
    int power;
    if (largest == 0)
        return SZG_OK;
    /* Norms are at most the number of values times the largest; the factor 2 covers rounding. */
    double most = ldexp(2 * (double)singular->n * largest, exponent);
    if (ldexp(largest, exponent) >= DBL_MIN && isfinite(most))
        return SZG_OK;
    decimal(largest, exponent, &mantissa, &power);
    return szgi_fail(context, SZG_EDATA,
                     "the largest singular value of %s is %.3ge%+d, %s: %s the weights by a power "
                     "of two",
                     what, mantissa, power,
                     power < 0 ? "too small for a double" : "too large for norms in doubles",
                     power < 0 ? "multiply" : "divide");
}

static int64_t count_lost(int exponent, const szg_spectrum *spectrum) {
    int64_t lost = 0;
    for (int64_t i = 0; i < spectrum->count; i++) {
        double im = spectrum->im ? spectrum->im[i] : 0;
        double part = fmax(fabs(spectrum->re[i]), fabs(im));
        lost += part > 0 && ldexp(part, exponent) < DBL_MIN;
    }
    return lost;
}

int64_t szgi_scale_lost(int64_t side, int exponent, const szg_spectrum *eigenvalues,
                        const szg_spectrum *singular) {
    double largest = singular->count > 0 ? singular->re[0] : 0;
    if (ldexp((double)side * DBL_EPSILON * largest, exponent) >= DBL_MIN)
        return 0;
    return count_lost(exponent, singular) + (eigenvalues ? count_lost(exponent, eigenvalues) : 0);
}

szg_status szgi_scale_return_spectra(szg_context *context, const char *what, int exponent,
                                     szg_spectrum *eigenvalues, szg_spectrum *singular,
                                     int64_t *lost) {
    *lost = szgi_scale_lost(singular->n, exponent, eigenvalues, singular);
    if (exponent == 0)
        return SZG_OK;
    SZG_TRY(check_size(context, what, exponent, singular));
    szgi_spectrum_scale(eigenvalues, exponent);
    szgi_spectrum_scale(singular, exponent);
    return SZG_OK;
}

/* A lower or an upper end stays one where the product is rounded. */
static double scale_end(double end, int exponent, double towards) {
    double scaled = ldexp(end, exponent);
    return ldexp(scaled, -exponent) == end ? scaled : nextafter(scaled, towards);
}

static void scale_interval(int exponent, szg_interval *interval) {
    interval->lo = scale_end(interval->lo, exponent, -INFINITY);
    interval->hi = scale_end(interval->hi, exponent, INFINITY);
    interval->lo = interval->lo < 0 ? 0 : interval->lo; /* of a modulus */
}

void szgi_scale_return_range(int exponent, szg_range *range) {
    if (exponent == 0)
        return;
    scale_interval(exponent, &range->min);
    scale_interval(exponent, &range->max);
}

static szg_c64 scale_number(int exponent, szg_c64 z) {
    return (szg_c64){ldexp(z.re, exponent), ldexp(z.im, exponent)};
}

void szgi_scale_return_samples(int exponent, int64_t count, szg_c64 *samples) {
    for (int64_t i = 0; exponent != 0 && i < count; i++)
        samples[i] = scale_number(exponent, samples[i]);
}

static double scale_energy(int exponent, double energy) {
    double scaled = ldexp(energy, 2 * exponent);
    return energy == 0 || isnormal(scaled) ? scaled : NAN;
}

void szgi_scale_return_pairs(int exponent, int64_t count, szgi_pair_coupling *pairs) {
    for (int64_t t = 0; exponent != 0 && t < count; t++) {
        pairs[t].rotation = scale_number(exponent, pairs[t].rotation);
        pairs[t].reflection = scale_number(exponent, pairs[t].reflection);
        pairs[t].energy = scale_energy(exponent, pairs[t].energy);
        pairs[t].model_energy = scale_energy(exponent, pairs[t].model_energy);
    }
}

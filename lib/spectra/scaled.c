#include "scaled.h"

#include "spectra_private.h"

enum { TINY = -400, HUGE_FROM = 400 };

/* Whether division by 2^exponent rounds no coefficient to a subnormal number, or to 0. */
static bool is_exact(const szg_toeplitz *t, int exponent) {
    for (int64_t k = -szgi_toeplitz_degree(t); k <= szgi_toeplitz_degree(t); k++) {
        szg_c64 a = szg_toeplitz_at(t, k);
        if (ldexp(ldexp(a.re, -exponent), exponent) != a.re ||
            ldexp(ldexp(a.im, -exponent), exponent) != a.im)
            return false;
    }
    return true;
}

/* Lags first .. degree of T / 2^exponent: real, or complex where `width` is 2. */
static void scaled_lags(const szg_toeplitz *t, int64_t first, int64_t width, int exponent,
                        double *out) {
    for (int64_t k = first; k <= szgi_toeplitz_degree(t); k++) {
        szg_c64 a = szg_toeplitz_at(t, k);
        double *to = out + (k - first) * width;
        to[0] = ldexp(a.re, -exponent);
        if (width == 2)
            to[1] = ldexp(a.im, -exponent);
    }
}

/* *exponent: 0 where the largest coefficient is 0 or between the limits; else *out is T /
 * 2^exponent, exactly, with coefficients up to 1, and the caller closes it. */
static szg_status scale(szg_context *context, const szg_toeplitz *t, int *exponent,
                        szg_toeplitz **out) {
    double largest = szgi_toeplitz_largest_part(t), *lags;
    frexp(largest, exponent);
    *out = NULL;
    bool ordinary = largest == 0 || (*exponent > TINY && *exponent < HUGE_FROM);
    if (ordinary || !is_exact(t, *exponent)) {
        *exponent = 0;
        return SZG_OK;
    }
    int64_t n = szg_toeplitz_size(t), count = szgi_toeplitz_degree(t) + 1;
    bool one_side = szgi_toeplitz_is_hermitian(t);
    int64_t width = szgi_toeplitz_is_real(t) ? 1 : 2;
    SZG_TRY(szgi_memory_alloc(context, 2 * count * width, &lags));
    scaled_lags(t, one_side ? 0 : 1 - count, width, *exponent, lags);
    szg_status status;
    if (one_side)
        status = width == 1 ? szg_toeplitz_open_symmetric(context, n, count, lags, out)
                            : szg_toeplitz_open_hermitian(context, n, count, (szg_c64 *)lags, out);
    else
        status = width == 1 ? szg_toeplitz_open_real(context, n, count, lags, out)
                            : szg_toeplitz_open_complex(context, n, count, (szg_c64 *)lags, out);
    szgi_memory_free(lags);
    return status;
}

/* The values are then rounded to the grid of subnormal numbers perhaps: the residual says so. */
static void scale_back(int exponent, szg_spectrum *spectrum) {
    if (exponent == 0)
        return;
    /* Half the distance of subnormal numbers, relative to the norm. */
    if (spectrum->frobenius > 0)
        spectrum->residual += ldexp(1, -1075 - exponent) / spectrum->frobenius;
    szgi_spectrum_scale(spectrum, exponent);
}

szg_status szgi_scaled_solve(szg_context *context, const szg_toeplitz *t,
                             const szg_spectra_options *options, szgi_scaled_solver *solver,
                             szg_spectrum *out) {
    int exponent;
    szg_toeplitz *scaled;
    memset(out, 0, sizeof *out);
    SZG_TRY(scale(context, t, &exponent, &scaled));
    szg_status status = solver(context, scaled ? scaled : t, options, out);
    szg_toeplitz_close(&scaled);
    if (status == SZG_OK)
        scale_back(exponent, out);
    return status;
}

/* The symbol of a Toeplitz matrix: samples by one FFT, certified ranges through lib/ball. */
#include <inttypes.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "toeplitz/symbol.h"
#include "ball/ball.h"
#include "toeplitz/toeplitz.h"

const char *szg_symbol_convention_name(szg_symbol_convention convention) {
    static const char *const names[] = {"truncated", "fejer", "closed_form"};
    if ((int)convention < 0 || convention >= SZG_SYMBOL_CONVENTIONS)
        return "unknown";
    return names[convention];
}

/* a_k, times the Fejer weight where order > 0. */
static szg_c64 tapered(const szg_toeplitz *toeplitz, int64_t lag, int64_t order) {
    szg_c64 a = szg_toeplitz_at(toeplitz, lag);
    if (order == 0)
        return a;
    const int64_t size = lag < 0 ? -lag : lag;
    const double weight = size < order ? (double)(order - size) / (double)order : 0;
    return (szg_c64){weight * a.re, weight * a.im};
}

/* folded[k mod grid] = sum of the lags congruent to k, for the first `count` residues: on the grid
 * e^{ikt} depends on k mod grid alone. */
static void fold(const szg_toeplitz *toeplitz, int64_t order, int64_t grid, int64_t count,
                 szg_c64 *folded) {
    const int64_t degree = szgi_toeplitz_degree(toeplitz);
    for (int64_t lag = -degree; lag <= degree; lag++) {
        const int64_t residue = (lag % grid + grid) % grid;
        if (residue >= count)
            continue;
        const szg_c64 a = tapered(toeplitz, lag, order);
        folded[residue].re += a.re;
        folded[residue].im += a.im;
    }
}

static szg_status transform(szg_context *context, szgi_fft_kind kind, int64_t grid,
                            const szg_c64 *in, void *out) {
    szgi_fft *fft;
    SZG_TRY(szgi_fft_open(context, kind, grid, 1, &fft));
    szg_status status = szgi_fft_run(context, fft, in, out);
    szgi_fft_close(&fft);
    return status;
}

/* The folded coefficients of a Hermitian matrix are Hermitian: half of them, and a real result. */
static szg_status sample_real(szg_context *context, const szg_toeplitz *toeplitz, int64_t order,
                              int64_t grid, szg_c64 *out) {
    const int64_t half = grid / 2 + 1;
    szg_c64 *folded = NULL;
    double *values = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, half, &folded), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, grid, &values), done);
    fold(toeplitz, order, grid, half, folded);
    SZG_TRY_GOTO(status, transform(context, SZGI_FFT_REAL_BACKWARD, grid, folded, values), done);
    for (int64_t j = 0; j < grid; j++)
        out[j] = (szg_c64){values[j], 0};
done:
    szgi_memory_free(folded);
    szgi_memory_free(values);
    return status;
}

static szg_status sample_complex(szg_context *context, const szg_toeplitz *toeplitz, int64_t order,
                                 int64_t grid, szg_c64 *out) {
    szg_c64 *folded;
    SZG_TRY(szgi_memory_alloc(context, grid, &folded));
    fold(toeplitz, order, grid, grid, folded);
    szg_status status = transform(context, SZGI_FFT_BACKWARD, grid, folded, out);
    szgi_memory_free(folded);
    return status;
}

static szg_status sample(szg_context *context, const szg_toeplitz *toeplitz, int64_t order,
                         int64_t grid, szg_c64 *out) {
    if (grid < 1)
        return szgi_fail(context, SZG_EINVAL, "a grid of %" PRId64 " points: at least 1", grid);
    if (szgi_toeplitz_is_hermitian(toeplitz))
        return sample_real(context, toeplitz, order, grid, out);
    return sample_complex(context, toeplitz, order, grid, out);
}

static szg_status check_order(szg_context *context, int64_t order) {
    if (order < 1)
        return szgi_fail(context, SZG_EINVAL, "a Fejer mean of order %" PRId64 ": at least 1",
                         order);
    return SZG_OK;
}

szg_status szg_symbol_samples(szg_context *context, const szg_toeplitz *toeplitz, int64_t grid,
                              szg_c64 *out) {
    SZGI_ENTER(context);
    return sample(context, toeplitz, 0, grid, out);
}

szg_status szg_symbol_fejer_samples(szg_context *context, const szg_toeplitz *toeplitz,
                                    int64_t order, int64_t grid, szg_c64 *out) {
    SZGI_ENTER(context);
    SZG_TRY(check_order(context, order));
    return sample(context, toeplitz, order, grid, out);
}

/* Lags first .. degree in one array; the caller frees it. */
static szg_status copy_lags(szg_context *context, const szg_toeplitz *toeplitz, int64_t first,
                            int64_t *count, szg_c64 **lags) {
    *count = szgi_toeplitz_degree(toeplitz) - first + 1;
    SZG_TRY(szgi_memory_alloc(context, *count, lags));
    for (int64_t k = 0; k < *count; k++)
        (*lags)[k] = szg_toeplitz_at(toeplitz, first + k);
    return SZG_OK;
}

static szg_status real_range(szg_context *context, const szg_toeplitz *toeplitz, szgi_taper taper,
                             int64_t order, szg_range *out) {
    if (!szgi_toeplitz_is_hermitian(toeplitz))
        return szgi_fail(
            context, SZG_EDOMAIN,
            "the symbol of a matrix that is not Hermitian is not real and has no range; "
            "take the range of its modulus");
    int64_t count;
    szg_c64 *lags;
    SZG_TRY(copy_lags(context, toeplitz, 0, &count, &lags));
    szg_status status =
        szgi_ball_symbol_range(context, count, lags, taper, order, SZGI_BALL_BITS, out);
    szgi_memory_free(lags);
    return status;
}

szg_status szg_symbol_range(szg_context *context, const szg_toeplitz *toeplitz, szg_range *out) {
    SZGI_ENTER(context);
    return real_range(context, toeplitz, SZGI_TAPER_NONE, 0, out);
}

szg_status szg_symbol_fejer_range(szg_context *context, const szg_toeplitz *toeplitz, int64_t order,
                                  szg_range *out) {
    SZGI_ENTER(context);
    SZG_TRY(check_order(context, order));
    return real_range(context, toeplitz, SZGI_TAPER_FEJER, order, out);
}

szg_status szg_symbol_modulus_range(szg_context *context, const szg_toeplitz *toeplitz,
                                    szg_range *out) {
    SZGI_ENTER(context);
    int64_t count;
    szg_c64 *lags;
    SZG_TRY(copy_lags(context, toeplitz, -szgi_toeplitz_degree(toeplitz), &count, &lags));
    szg_status status = szgi_ball_modulus_range(context, count, lags, SZGI_BALL_BITS, out);
    szgi_memory_free(lags);
    return status;
}

/* An enclosure of |a| from one FFT, for reports of many small matrices: wider than the range of
 * ball arithmetic, some twenty times as fast. */
#include <float.h>
#include <math.h>

#include "linalg/linalg.h"
#include "base/memory.h"
#include "toeplitz/symbol.h"

#include "toeplitz_private.h"

/* Points a degree. A maximum between two points is 1 / cos(pi / 64) times their larger value at
 * most: 0.12% more. */
enum { POINTS = 64 };

static const double TURN = 6.28318530717958647692;

/* Lags -degree .. degree, scaled by 2^-exponent to numbers of order 1, at their residues. */
static szg_status open_lags(szg_context *context, const szg_toeplitz *t, int64_t grid,
                            int *exponent, double *norm, szg_c64 **out) {
    const int64_t degree = szgi_toeplitz_degree(t);
    double largest = 0;
    SZG_TRY(szgi_memory_alloc(context, grid, out));
    for (int64_t lag = -degree; lag <= degree; lag++) {
        szg_c64 a = szg_toeplitz_at(t, lag);
        largest = fmax(largest, fmax(fabs(a.re), fabs(a.im)));
    }
    frexp(largest, exponent);
    for (int64_t lag = -degree; lag <= degree; lag++) {
        szg_c64 a = szg_toeplitz_at(t, lag);
        (*out)[lag < 0 ? lag + grid : lag] =
            (szg_c64){ldexp(a.re, -*exponent), ldexp(a.im, -*exponent)};
    }
    *norm = szgi_norm(2 * grid, &(*out)->re);
    return SZG_OK;
}

typedef struct grid_extrema {
    double least, largest;
    int64_t least_at, largest_at;
} grid_extrema;

static grid_extrema scan(int64_t grid, const szg_c64 *value) {
    grid_extrema e = {.least = INFINITY, .largest = -1};
    for (int64_t j = 0; j < grid; j++) {
        double square = value[j].re * value[j].re + value[j].im * value[j].im;
        if (square < e.least) {
            e.least = square;
            e.least_at = j;
        }
        if (square > e.largest) {
            e.largest = square;
            e.largest_at = j;
        }
    }
    e.least = sqrt(e.least);
    e.largest = sqrt(e.largest);
    return e;
}

/* M. Riesz (1914): a real trigonometric polynomial T of degree m with |T| <= L = T(s) has T(t) >= L
 * cos(m (t - s)) for |t - s| <= pi / m; some point of the grid is pi / grid near s. With T = Re
 * e^{i phi} a, m = degree: max |a| <= largest / cos(degree pi / grid). With T = (F + f) / 2 -
 * |a|^2, m = 2 degree, F the bound of max |a|^2 and f = min |a|^2: f >= (2 least^2 - F (1 - C)) /
 * (1 + C), C = cos(2 degree pi / grid). `error` bounds the rounding of a value on the grid. */
static void enclose(const grid_extrema *e, int64_t degree, int64_t grid, double error,
                    szg_range *out) {
    double step = (double)degree * TURN / 2 / (double)grid, c = cos(2 * step);
    double high = (e->largest + error) / cos(step) * (1 + 4 * DBL_EPSILON);
    double low = fmax(e->least - error, 0);
    double square = (2 * low * low - high * high * (1 - c)) / (1 + c);
    out->max = (szg_interval){fmax(e->largest - error, 0), high};
    out->min =
        (szg_interval){degree == 0 ? low : sqrt(fmax(square - 16 * DBL_EPSILON * high * high, 0)),
                       e->least + error};
    out->theta_max = TURN * (double)e->largest_at / (double)grid;
    out->theta_min = TURN * (double)e->least_at / (double)grid;
    out->method = "grid of 64 points a degree with the inequality of M. Riesz, double precision";
}

static void unscale(int exponent, szg_range *range) {
    double *ends[] = {&range->min.lo, &range->min.hi, &range->max.lo, &range->max.hi};
    for (int i = 0; i < 4; i++)
        *ends[i] = ldexp(*ends[i], exponent);
}

static szg_status transform(szg_context *context, int64_t grid, const szg_c64 *lags,
                            szg_c64 **out) {
    szgi_fft *fft;
    SZG_TRY(szgi_memory_alloc(context, grid, out));
    SZG_TRY(szgi_fft_open(context, SZGI_FFT_BACKWARD, grid, 1, &fft));
    szg_status status = szgi_fft_run(context, fft, lags, *out);
    szgi_fft_close(&fft);
    return status;
}

szg_status szgi_symbol_modulus_enclosure(szg_context *context, const szg_toeplitz *toeplitz,
                                         szg_range *out) {
    int64_t degree = szgi_toeplitz_degree(toeplitz), points;
    int exponent = 0;
    double norm = 0;
    szg_c64 *lags = NULL, *values = NULL;
    szg_status status;
    SZG_TRY(szgi_memory_product(context, degree > 0 ? degree : 1, POINTS, &points));
    int64_t grid = szgi_fft_fast_length(points);
    SZG_TRY_GOTO(status, open_lags(context, toeplitz, grid, &exponent, &norm, &lags), done);
    SZG_TRY_GOTO(status, transform(context, grid, lags, &values), done);
    grid_extrema extrema = scan(grid, values);
    /* Higham 2002, Theorem 24.2: the transform is off by log2(grid) eta ||a||_2 sqrt(grid) in the
     * Euclidean norm, eta a few eps; a squared modulus adds one eps. */
    double error = 8 * DBL_EPSILON * log2((double)grid) * sqrt((double)grid) * norm;
    enclose(&extrema, degree, grid, error, out);
    unscale(exponent, out);
done:
    szgi_memory_free(lags);
    szgi_memory_free(values);
    return status;
}

/* Symbols: samples against the sum, ranges against eigenvalues and samples, conventions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "toeplitz/symbol.h"
#include "ball/ball.h"
#include "toeplitz/toeplitz.h"
#include "rounding.h"
#include "suite.h"

static const double PI = 3.141592653589793;

enum { LAGS = 9, SIZE = 12 };

/* One matrix of each kind with corner-biased coefficients. */
static szg_toeplitz *open_kind(szg_toeplitz_kind kind, uint32_t step, int64_t n, int64_t count) {
    const szgi_stream stream = {test_seed(), step, 7};
    szg_c64 *a = calloc((size_t)(2 * count), sizeof *a);
    double *real = calloc((size_t)(2 * count), sizeof *real);
    szg_toeplitz *out = NULL;
    for (int64_t k = 0; k < 2 * count - 1; k++) {
        a[k] = (szg_c64){test_real(&stream, (uint64_t)(2 * k)),
                         test_real(&stream, (uint64_t)(2 * k + 1))};
        real[k] = a[k].re;
    }
    switch (kind) {
    case SZG_TOEPLITZ_SYMMETRIC:
        ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), n, count, real, &out));
        break;
    case SZG_TOEPLITZ_HERMITIAN:
        a[0].im = 0;
        ck_szg_ok(szg_toeplitz_open_hermitian(test_context(), n, count, a, &out));
        break;
    case SZG_TOEPLITZ_REAL:
        ck_szg_ok(szg_toeplitz_open_real(test_context(), n, count, real, &out));
        break;
    default:
        ck_szg_ok(szg_toeplitz_open_complex(test_context(), n, count, a, &out));
    }
    free(a);
    free(real);
    return out;
}

/* a(t) by the plain sum. */
static szg_c64 value_at(const szg_toeplitz *toeplitz, int64_t order, double t) {
    long double re = 0, im = 0;
    const int64_t degree = szgi_toeplitz_degree(toeplitz);
    for (int64_t k = -degree; k <= degree; k++) {
        const szg_c64 a = szg_toeplitz_at(toeplitz, k);
        const long double weight = order ? fmaxl(0, 1 - fabsl((long double)k) / order) : 1;
        const long double c = cosl(k * (long double)t), s = sinl(k * (long double)t);
        re += weight * (a.re * c - a.im * s);
        im += weight * (a.re * s + a.im * c);
    }
    return (szg_c64){(double)re, (double)im};
}

/* |FFT - sum|: each of log2(grid) stages errs by 8 eps ||a||_1, the folding of lags and tapers by a
 * rounding a lag; the sum's point 2 pi j / grid passes three, which its lag below LAGS magnifies.
 */
static double sample_error(const szg_toeplitz *t, int64_t grid) {
    double transform = 8 * DBL_EPSILON * log2((double)grid);
    return (transform + gamma_of(2 * LAGS + 3 * 2 * PI * LAGS)) * szgi_toeplitz_norm_wiener(t);
}

START_TEST(test_samples) {
    static const int64_t grids[] = {1, 2, 3, 7, 16, 30, 101};
    for (int kind = 0; kind < 4; kind++)
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
            for (int64_t order = 0; order <= 5; order += 5) {
                szg_toeplitz *t = open_kind((szg_toeplitz_kind)kind, (uint32_t)g, SIZE, LAGS);
                szg_c64 out[101];
                if (order)
                    ck_szg_ok(szg_symbol_fejer_samples(test_context(), t, order, grids[g], out));
                else
                    ck_szg_ok(szg_symbol_samples(test_context(), t, grids[g], out));
                const double bound = sample_error(t, grids[g]);
                for (int64_t j = 0; j < grids[g]; j++) {
                    const szg_c64 want = value_at(t, order, 2 * PI * (double)j / (double)grids[g]);
                    ck_close(out[j].re, want.re, bound);
                    ck_close(out[j].im, want.im, bound);
                    if (szgi_toeplitz_is_hermitian(t))
                        ck_assert(out[j].im == 0);
                }
                szg_toeplitz_close(&t);
            }
}
END_TEST

/* Every eigenvalue lies in the certified range (Grenander and Szego 1958, 5.2), every singular
 * value below the modulus. */
START_TEST(test_bounds) {
    for (uint32_t trial = 0; trial < test_trials(10); trial++)
        for (int kind = 0; kind < 2; kind++) {
            szg_toeplitz *t = open_kind((szg_toeplitz_kind)kind, 100 + trial, SIZE, LAGS);
            szg_c64 dense[SIZE * SIZE];
            double w[SIZE];
            szg_range r, modulus;
            ck_szg_ok(szgi_toeplitz_dense_complex(test_context(), t, dense, SIZE));
            ck_szg_ok(szgi_eigen_hermitian(test_context(), SIZE, dense, SIZE, w, false));
            ck_szg_ok(szg_symbol_range(test_context(), t, &r));
            ck_szg_ok(szg_symbol_modulus_range(test_context(), t, &modulus));
            const double slack = weyl(SIZE, szgi_toeplitz_norm_frobenius(t));
            ck_assert(w[0] >= r.min.lo - slack && w[SIZE - 1] <= r.max.hi + slack);
            const szg_interval size = szgi_range_modulus(&r);
            ck_assert(size.lo <= modulus.max.hi && modulus.max.lo <= size.hi);
            szg_toeplitz_close(&t);
        }
}
END_TEST

/* The range of a Fejer mean lies inside the range of the symbol: it is no bound. */
START_TEST(test_fejer_inside) {
    szg_toeplitz *t = open_kind(SZG_TOEPLITZ_HERMITIAN, 7, SIZE, LAGS);
    szg_range whole, mean;
    ck_szg_ok(szg_symbol_range(test_context(), t, &whole));
    for (int64_t order = 1; order <= SIZE; order++) {
        ck_szg_ok(szg_symbol_fejer_range(test_context(), t, order, &mean));
        ck_assert(mean.max.lo <= whole.max.hi && mean.min.hi >= whole.min.lo);
        const szg_c64 at = value_at(t, order, mean.theta_max);
        /* The width that "ball/ball.h" promises. */
        ck_close(at.re, mean.max.lo, 1e-12 * fmax(fabs(mean.min.lo), fabs(mean.max.hi)));
    }
    szg_toeplitz_close(&t);
}
END_TEST

/* Any kind: sampled |a| stays within the modulus range. */
START_TEST(test_modulus) {
    enum { GRID = 2000 };
    for (int kind = 0; kind < 4; kind++) {
        szg_toeplitz *t = open_kind((szg_toeplitz_kind)kind, 31, SIZE, LAGS);
        szg_range r;
        szg_c64 out[GRID];
        ck_szg_ok(szg_symbol_modulus_range(test_context(), t, &r));
        ck_szg_ok(szg_symbol_samples(test_context(), t, GRID, out));
        const double slack = sample_error(t, GRID);
        for (int j = 0; j < GRID; j++) {
            const double size = hypot(out[j].re, out[j].im);
            ck_assert(size <= r.max.hi + slack && size >= r.min.lo - slack);
        }
        szg_toeplitz_close(&t);
    }
}
END_TEST

/* What an enclosure allows for its transform of `grid` points, over ||a||_2 <= max |a|: Higham
 * 2002, Theorem 24.2 with eta = 8 eps. */
static double grid_error(double grid) {
    return 8 * DBL_EPSILON * log2(grid) * sqrt(grid);
}

/* The enclosure by a grid contains the certified range, and is as narrow as its theorem says: the
 * maximum within 1 / cos(pi / 64), the minimum's square within (1 - C) / (1 + C) of the maximum's
 * bound, C = cos(pi / 32). Ends are moved out by the error of values that have it: twice, squares
 * four times; the certified ones are 1e-12 wide. */
START_TEST(test_enclosure) {
    const double slack = 4 * grid_error(64 * LAGS) + 2e-12, wider = 1 / cos(PI / 64);
    for (uint32_t step = 0; step < (uint32_t)test_trials(30); step++)
        for (int kind = 0; kind < 4; kind++) {
            int64_t n = 1 + step % SIZE, lags = 1 + step % LAGS;
            szg_toeplitz *t = open_kind((szg_toeplitz_kind)kind, step + 50, n, lags);
            szg_range exact, quick;
            ck_szg_ok(szg_symbol_modulus_range(test_context(), t, &exact));
            ck_szg_ok(szgi_symbol_modulus_enclosure(test_context(), t, &quick));
            ck_assert(quick.max.lo <= exact.max.hi && exact.max.hi <= quick.max.hi);
            ck_assert(quick.min.lo <= exact.min.lo && exact.min.lo <= quick.min.hi);
            double top = exact.max.hi, c = cos(PI / 32);
            ck_assert(quick.max.hi <= top * (wider + slack));
            ck_assert(quick.max.lo >= top * (1 / wider - slack));
            double missed = exact.min.lo * exact.min.lo - quick.min.lo * quick.min.lo;
            ck_assert(missed <= ((1 - c) / (1 + c) * wider * wider + slack) * top * top);
            double above = quick.min.hi * quick.min.hi - exact.min.hi * exact.min.hi;
            ck_assert(above <= ((1 - c) / 2 + slack) * top * top);
            szg_c64 highest = value_at(t, 0, quick.theta_max);
            ck_close(hypot(highest.re, highest.im), quick.max.lo,
                     slack * top + sample_error(t, 64 * LAGS));
            szg_toeplitz_close(&t);
        }
}
END_TEST

/* Where rounding alone is left: the constant symbol, the zero matrix, sizes near the ends of the
 * range of doubles. |2 + e^{it}| is in [1, 3] on the grid exactly, t = pi and 0. */
START_TEST(test_enclosure_by_hand) {
    static const double sizes[] = {1, 0x1p-1000, 0x1p1000};
    for (int i = 0; i < 3; i++) {
        double lags[] = {0, 2 * sizes[i], sizes[i]};
        szg_toeplitz *t;
        szg_range r;
        ck_szg_ok(szg_toeplitz_open_real(test_context(), 5, 2, lags, &t));
        ck_szg_ok(szgi_symbol_modulus_enclosure(test_context(), t, &r));
        double error = 2 * grid_error(64) * sqrt(5); /* ||a||_2 / size */
        ck_close(r.max.lo / sizes[i], 3, error);
        ck_close(r.min.hi / sizes[i], 1, error);
        ck_close(r.max.hi / sizes[i], 3 / cos(PI / 64), error / cos(PI / 64));
        ck_assert(r.min.lo < sizes[i] && r.min.lo > 0.98 * sizes[i]);
        szg_toeplitz_close(&t);
    }
    const double constant = -3, zero = 0;
    szg_toeplitz *t;
    szg_range r;
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 4, 1, &constant, &t));
    ck_szg_ok(szgi_symbol_modulus_enclosure(test_context(), t, &r));
    ck_close(r.min.lo, 3, 2 * grid_error(64) * 3);
    ck_close(r.max.hi, 3, 2 * grid_error(64) * 3);
    szg_toeplitz_close(&t);
    ck_szg_ok(szg_toeplitz_open_symmetric(test_context(), 4, 1, &zero, &t));
    ck_szg_ok(szgi_symbol_modulus_enclosure(test_context(), t, &r));
    ck_assert(r.min.lo == 0 && r.max.hi == 0);
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(test_conventions) {
    ck_assert_str_eq(szg_symbol_convention_name(SZG_SYMBOL_TRUNCATED), "truncated");
    ck_assert_str_eq(szg_symbol_convention_name(SZG_SYMBOL_CLOSED_FORM), "closed_form");
    ck_assert_str_eq(szg_symbol_convention_name(SZG_SYMBOL_CONVENTIONS), "unknown");
}
END_TEST

START_TEST(test_symbol_errors) {
    szg_toeplitz *t = open_kind(SZG_TOEPLITZ_REAL, 1, SIZE, LAGS);
    szg_range r;
    szg_c64 out[4];
    ck_szg_fails(SZG_EDOMAIN, "not Hermitian", szg_symbol_range(test_context(), t, &r));
    ck_szg_fails(SZG_EDOMAIN, "not Hermitian", szg_symbol_fejer_range(test_context(), t, 2, &r));
    ck_szg_fails(SZG_EINVAL, "order 0", szg_symbol_fejer_range(test_context(), t, 0, &r));
    ck_szg_fails(SZG_EINVAL, "grid of 0", szg_symbol_samples(test_context(), t, 0, out));
    szg_toeplitz_close(&t);
}
END_TEST

START_TEST(test_symbol_memory) {
    szg_toeplitz *t = open_kind(SZG_TOEPLITZ_HERMITIAN, 2, SIZE, LAGS);
    szg_range r;
    szg_c64 out[16];
    ck_survives_failed_allocations(1, szg_symbol_range(test_context(), t, &r));
    ck_survives_failed_allocations(1, szg_symbol_modulus_range(test_context(), t, &r));
    ck_survives_failed_allocations(2, szgi_symbol_modulus_enclosure(test_context(), t, &r));
    ck_survives_failed_allocations(1, szg_symbol_samples(test_context(), t, 16, out));
    szg_toeplitz_close(&t);
}
END_TEST

TEST_FILE("symbol") {
    test_add(suite, "samples", test_samples);
    test_add(suite, "bounds", test_bounds);
    test_add(suite, "fejer inside", test_fejer_inside);
    test_add(suite, "modulus", test_modulus);
    test_add(suite, "enclosure", test_enclosure);
    test_add(suite, "enclosure by hand", test_enclosure_by_hand);
    test_add(suite, "conventions", test_conventions);
    test_add(suite, "errors", test_symbol_errors);
    test_add(suite, "memory", test_symbol_memory);
}

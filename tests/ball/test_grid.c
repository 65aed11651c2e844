/* The transform, the grid and the Taylor bounds inside the certified range: each proved error bound
 * against the true error. */
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/ball/grid.h"
#include "../../lib/ball/sieve.h"
#include "../../lib/ball/taylor.h"
#include "rounding.h"
#include "suite.h"

/* The transform against the sum in 200 bits: the error is below the bound at every point. */
START_TEST(test_transform) {
    for (int64_t size = 2; size <= 256; size *= 2) {
        const szgi_stream stream = {test_seed(), (uint32_t)size, 8};
        fft plan;
        pair x[256], input[256];
        ck_szg_ok(szgi_ball_fft_open(test_context(), size, &plan));
        real one = 0, two = 0;
        for (int64_t k = 0; k < size; k++) {
            input[k] = (pair){test_real(&stream, (uint64_t)(2 * k)),
                              test_real(&stream, (uint64_t)(2 * k + 1))};
            x[szgi_ball_fft_place(&plan, k)] = input[k];
            one += hypotl(input[k].re, input[k].im);
            two += input[k].re * input[k].re + input[k].im * input[k].im;
        }
        ck_szg_ok(szgi_ball_fft_run(test_context(), &plan, x));
        acb_t sum, term;
        acb_init(sum);
        acb_init(term);
        for (int64_t j = 0; j < size; j++) {
            acb_zero(sum);
            for (int64_t k = 0; k < size; k++) {
                const szgi_phase angle = {.rational = true, .p = 2 * (j * k % size), .q = size};
                acb_t value;
                acb_init(value);
                szgi_phase_exp(term, &angle, 1, 200);
                acb_set_d_d(value, (double)input[k].re, (double)input[k].im);
                acb_addmul(sum, term, value, 200);
                acb_clear(value);
            }
            const real re = szgi_real_of(arb_midref(acb_realref(sum))) - x[j].re;
            const real im = szgi_real_of(arb_midref(acb_imagref(sum))) - x[j].im;
            const real scale = fminl(one, sqrtl((real)size * two));
            ck_assert(hypotl(re, im) <= szgi_ball_fft_error(&plan) * scale);
        }
        acb_clear(sum);
        acb_clear(term);
        szgi_ball_fft_close(&plan);
    }
}
END_TEST

/* sum 2 Re c_k (ik/n)^p e^{ikt} 2^-exponent in balls. */
static real derivative_at(const polynomial *p, const grid *g, int order, int64_t j) {
    acb_t sum, term;
    acb_init(sum);
    acb_init(term);
    for (int64_t k = 1; k <= p->degree; k++) {
        const szgi_phase angle = {.rational = true, .p = 2 * (j * k % g->size), .q = g->size};
        szgi_phase_exp(term, &angle, 1, 200);
        acb_mul(term, term, p->c + k, 200);
        for (int q = 0; q < order; q++) {
            acb_mul_si(term, term, (slong)k, 200);
            acb_div_si(term, term, (slong)p->degree, 200);
            acb_mul_onei(term, term);
        }
        acb_add(sum, sum, term, 200);
    }
    arb_mul_2exp_si(acb_realref(sum), acb_realref(sum), (slong)(1 - g->exponent));
    const real out = szgi_real_of(arb_midref(acb_realref(sum)));
    acb_clear(sum);
    acb_clear(term);
    return out;
}

/* Every derivative on the grid is within `error`, every value below `bound`. */
START_TEST(test_grid_errors) {
    enum { COUNT = 12 };
    for (uint32_t trial = 0; trial < test_trials(3); trial++) {
        const szgi_stream stream = {test_seed(), trial, 9};
        szg_c64 a[COUNT];
        for (uint64_t k = 0; k < COUNT; k++)
            a[k] = (szg_c64){test_real(&stream, 2 * k), k ? test_real(&stream, 2 * k + 1) : 0};
        a[COUNT - 1].re = 1;
        polynomial p;
        grid g;
        ck_szg_ok(
            szgi_polynomial_from_symbol(test_context(), COUNT, a, SZGI_TAPER_NONE, 0, 128, &p));
        ck_szg_ok(szgi_grid_open(test_context(), &p, &g));
        for (int q = 0; q < g.orders; q += 2) {
            ck_szg_ok(szgi_grid_next(test_context(), &g, q));
            for (int64_t j = 0; j < g.size; j++) {
                const real value = derivative_at(&p, &g, q, j);
                const real slope = derivative_at(&p, &g, q + 1, j);
                ck_assert(fabsl(value - g.value[j].re) <= g.error);
                ck_assert(fabsl(slope - g.value[j].im) <= g.error);
                ck_assert(fabsl(value) <= g.bound[q] && fabsl(slope) <= g.bound[q + 1]);
            }
            ck_assert(g.error <= 1e-14L * g.bound[0]);
        }
        szgi_grid_close(&g);
        szgi_polynomial_close(&p);
    }
}
END_TEST

/* The Taylor bound of an interval is never below a value in it, and tight for quadratics. */
START_TEST(test_taylor) {
    enum { COUNT = 8 };
    const szgi_stream stream = {test_seed(), 0, 10};
    for (uint64_t trial = 0; trial < 300; trial++) {
        real a[COUNT], b[COUNT];
        for (uint64_t q = 0; q < COUNT; q++)
            a[q] = test_real(&stream, COUNT * trial + q);
        const real radius = ldexpl(1, -(int)(trial % 20)), centre = 0.25L;
        szgi_taylor_shift(COUNT, a, centre, b);
        real largest = -INFINITY, size = 0;
        for (int q = 0; q < COUNT; q++)
            size += fabsl(a[q]);
        for (int i = -50; i <= 50; i++) {
            const real x = centre + radius * i / 50;
            largest = fmaxl(largest, szgi_taylor_value(COUNT, a, x));
        }
        const real slack = 100 * ROUNDOFF * size * ldexpl(1, COUNT);
        ck_assert(szgi_taylor_upper(COUNT, b, radius) >= largest - slack);
        const real x = szgi_taylor_climb(COUNT, a, radius);
        ck_assert(fabsl(x) <= radius);
        ck_assert(szgi_taylor_value(COUNT, a, x) >= a[0]);
    }
    const real inside[] = {1, 1, -2}, outside[] = {1, 4, -1}, convex[] = {1, -1, 1};
    ck_close((double)szgi_taylor_upper(3, inside, 1), 1.125, UNIT * 1.125);
    ck_close((double)szgi_taylor_upper(3, outside, 1), 4, UNIT * 4);
    ck_close((double)szgi_taylor_upper(3, convex, 2), 7, UNIT * 7);
}
END_TEST

/* Common divisors, leading zeros and radii: what normalising makes of them. */
START_TEST(test_polynomial) {
    szg_c64 a[20] = {{7, 0}};
    a[6].re = 1;
    a[9].im = 2;
    polynomial p;
    ck_szg_ok(szgi_polynomial_from_symbol(test_context(), 20, a, SZGI_TAPER_NONE, 0, 128, &p));
    ck_assert_int_eq(p.degree, 3);
    ck_assert_int_eq(p.period, 3);
    ck_assert(mag_is_zero(p.perturbation));
    szgi_polynomial_close(&p);
    ck_szg_ok(szgi_polynomial_from_symbol(test_context(), 20, a, SZGI_TAPER_FEJER, 7, 128, &p));
    ck_assert_int_eq(p.degree, 1);
    ck_assert_int_eq(p.period, 6);
    ck_assert(!mag_is_zero(p.perturbation) && mag_cmp_2exp_si(p.perturbation, -120) < 0);
    szgi_polynomial_close(&p);
}
END_TEST

/* Another rounding mode would void the error bounds: it is refused. */
START_TEST(test_rounding_mode) {
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    const szg_c64 a[] = {{0, 0}, {1, 0}};
    szg_range r;
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(fesetround(modes[i]), 0);
        szg_status status =
            szgi_ball_symbol_range(test_context(), 2, a, SZGI_TAPER_NONE, 0, 128, &r);
        ck_assert_int_eq(fesetround(FE_TONEAREST), 0);
        ck_assert_int_eq(status, SZG_EBACKEND);
    }
    ck_szg_ok(szgi_ball_symbol_range(test_context(), 2, a, SZGI_TAPER_NONE, 0, 128, &r));
}
END_TEST

/* A cancelled context stops the search and leaks nothing. */
START_TEST(test_cancel) {
    szg_context *context;
    ck_assert_int_eq(szg_context_open(NULL, &context), SZG_OK);
    szg_context_cancel(context);
    const szg_c64 a[] = {{0, 0}, {1, 0}, {0, 1}};
    const double w[] = {0, 1, 1};
    szg_range r;
    ck_assert_int_eq(szgi_ball_symbol_range(context, 3, a, SZGI_TAPER_NONE, 0, 128, &r),
                     SZG_ECANCEL);
    ck_assert_int_eq(szgi_ball_range_check(context, 3, w, NULL, SZGI_PHASE_PLAIN, 128, 1e-9, &r),
                     SZG_ECANCEL);
    szg_context_close(&context);
}
END_TEST

/* One look for each of the four parts of FFT_LOOK points and for each of the three joins. */
START_TEST(long_transforms_look_for_cancellation) {
    enum { SIZE = 4 * FFT_LOOK, LOOKS = 4 + 2 + 1 };
    test_looks own;
    fft plan;
    pair *x;
    szg_context *context = test_counting_context(&own);
    ck_szg_ok(szgi_memory_alloc(test_context(), SIZE, &x));
    ck_szg_ok(szgi_ball_fft_open(test_context(), SIZE, &plan));
    ck_looks_for_cancellation(&own, LOOKS, szgi_ball_fft_run(context, &plan, x));
    szgi_ball_fft_close(&plan);
    szgi_memory_free(x);
    szg_context_close(&context);
}
END_TEST

/* cos(n t) + 2^-80 cos t has n maxima that only more digits tell apart: each is in a cell that
 * stays, and cells are climbed SIEVE_LOOK at a time. The last look is that of szgi_sieve_take. The
 * first time all cells of the grid are taken, as many at a time. */
START_TEST(many_cells_look_for_cancellation) {
    enum { N = 3 * SIEVE_LOOK };
    test_looks own;
    polynomial p;
    grid g;
    sieve s = {.sign = 1};
    szg_c64 *a;
    szg_context *context = test_counting_context(&own);
    ck_szg_ok(szgi_memory_alloc(test_context(), N + 1, &a));
    a[1].re = 0x1p-80;
    a[N].re = 1;
    ck_szg_ok(szgi_polynomial_from_symbol(test_context(), N + 1, a, SZGI_TAPER_NONE, 0, 128, &p));
    ck_szg_ok(szgi_grid_open(test_context(), &p, &g));
    for (int q = 0; q < 4; q += 2) {
        own.count = 0;
        ck_szg_ok(szgi_grid_next(test_context(), &g, q));
        int64_t cells = s.cells;
        ck_assert_int_eq(szgi_sieve_take(context, &g, q, &s), SZG_OK);
        ck_assert_int_ge(s.cells, N);
        int64_t first = g.size / SIEVE_LOOK, later = (cells + SIEVE_LOOK - 1) / SIEVE_LOOK + 1;
        ck_assert_int_eq(own.count, q > 0 ? later : first);
    }
    szgi_sieve_close(&s);
    szgi_grid_close(&g);
    szgi_polynomial_close(&p);
    szgi_memory_free(a);
    szg_context_close(&context);
}
END_TEST

/* Whichever look finds the cancellation, nothing is looked at after it. Two derivatives take six
 * looks (the range's, the transform's, and two of each sieve; the first ones, four), and each
 * extremum one for its cells, three for value, slope and curvature, four for a cluster. */
START_TEST(ranges_stop_at_the_first_look) {
    const szg_c64 a[] = {{0, 0}, {1, 0}, {0, 1}, {0.5, 0.25}};
    test_looks own;
    szg_range range;
    szg_context *context = test_counting_context(&own);
    ck_assert_int_eq(szgi_ball_modulus_range(context, 4, a, 128, &range), SZG_OK);
    const int64_t all = own.count;
    grid g;
    polynomial p;
    ck_szg_ok(szgi_polynomial_from_modulus(test_context(), 4, a, 256, &p));
    ck_szg_ok(szgi_grid_open(test_context(), &p, &g));
    ck_assert_int_ge(all, 6 * (g.orders / 2) - 2 + 2 * (1 + 3 + 4));
    szgi_grid_close(&g);
    szgi_polynomial_close(&p);
    for (int64_t last = 1; last <= all; last++) {
        own = (test_looks){.last = last};
        ck_assert_int_eq(szgi_ball_modulus_range(context, 4, a, 128, &range), SZG_ECANCEL);
        ck_assert_int_eq(own.count, last);
    }
    szg_context_close(&context);
}
END_TEST

TEST_FILE("grid") {
    test_add(suite, "transform", test_transform);
    test_add(suite, "grid errors", test_grid_errors);
    test_add(suite, "taylor", test_taylor);
    test_add(suite, "polynomial", test_polynomial);
    test_add(suite, "rounding mode", test_rounding_mode);
    test_add(suite, "cancel", test_cancel);
    test_add(suite, "long_transforms_look_for_cancellation", long_transforms_look_for_cancellation);
    test_add(suite, "many_cells_look_for_cancellation", many_cells_look_for_cancellation);
    test_add(suite, "ranges_stop_at_the_first_look", ranges_stop_at_the_first_look);
}

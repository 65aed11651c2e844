/* Certified ranges: closed forms, an independent algorithm, dense samples in higher precision. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ball/arb.h"
#include "rounding.h"
#include "suite.h"

static const double PROMISE = 1e-12; /* widths, over max |f|: "ball/ball.h" */
static const double PI = 3.141592653589793;

static double largest(const szg_range *r) {
    return fmax(fmax(fabs(r->min.lo), fabs(r->max.hi)), DBL_MIN);
}

static void ck_ordered(const szg_range *r) {
    ck_assert(r->min.lo <= r->min.hi && r->min.hi <= r->max.hi);
    ck_assert(r->min.lo <= r->max.lo && r->max.lo <= r->max.hi);
    ck_assert(r->theta_min >= 0 && r->theta_min <= 2 * PI);
    ck_assert(r->theta_max >= 0 && r->theta_max <= 2 * PI);
    ck_assert_ptr_nonnull(r->method);
}

static void ck_tight(const szg_range *r) {
    ck_ordered(r);
    ck_assert_msg(r->min.hi - r->min.lo <= PROMISE * largest(r), "min [%.17g, %.17g]", r->min.lo,
                  r->min.hi);
    ck_assert_msg(r->max.hi - r->max.lo <= PROMISE * largest(r), "max [%.17g, %.17g]", r->max.lo,
                  r->max.hi);
}

static void ck_contains(szg_interval x, double value, double slack) {
    ck_assert_msg(x.lo - slack <= value && value <= x.hi + slack, "[%.17g, %.17g] lacks %.17g",
                  x.lo, x.hi, value);
}

/* What docs/explanation/methods.md says of extrema that are alone. */
static void ck_two_steps(szg_interval x) {
    ck_assert_msg(x.hi <= nextafter(nextafter(x.lo, INFINITY), INFINITY), "[%.17g, %.17g]", x.lo,
                  x.hi);
}

static void range_of_real(int64_t count, const double *a, szg_range *out) {
    szg_c64 *c = calloc((size_t)count, sizeof *c);
    for (int64_t k = 0; k < count; k++)
        c[k].re = a[k];
    ck_szg_ok(
        szgi_ball_symbol_range(test_context(), count, c, SZGI_TAPER_NONE, 0, SZGI_BALL_BITS, out));
    free(c);
}

/* f = 2 cos(nt): 2n extrema, one cell each after the common divisor is taken out. */
START_TEST(test_chebyshev) {
    static const int64_t degree[] = {1, 2, 7, 64, 1000, 4096};
    for (size_t i = 0; i < sizeof degree / sizeof *degree; i++) {
        double *a = calloc((size_t)degree[i] + 1, sizeof *a);
        a[degree[i]] = 1;
        szg_range r;
        range_of_real(degree[i] + 1, a, &r);
        ck_tight(&r);
        ck_contains(r.max, 2, 0);
        ck_contains(r.min, -2, 0);
        /* f = 2 cos is within the promise of its maximum 2; the rounding of the phase, n theta u,
         * is multiplied by a sine below sqrt(2 PROMISE). */
        ck_close(cos((double)degree[i] * r.theta_max), 1, PROMISE + gamma_of(2));
        ck_close(cos((double)degree[i] * r.theta_min), -1, PROMISE + gamma_of(2));
        /* A small lag 1 takes the periodicity away and leaves 2n nearly equal extrema. */
        a[1] += degree[i] > 1 ? 1e-9 : 0;
        range_of_real(degree[i] + 1, a, &r);
        ck_tight(&r);
        double top = degree[i] > 1 ? 2 + 2 * a[1] : 2;
        ck_contains(r.max, top, UNIT * top); /* of the sum */
        free(a);
    }
}
END_TEST

/* Dirichlet's kernel: maximum 2n + 1 at 0. Fejer's: the same maximum, minimum 0 when exact. */
START_TEST(test_kernels) {
    for (int64_t n = 1; n <= 300; n = 2 * n + 1) {
        double *a = calloc((size_t)n + 1, sizeof *a);
        szg_range r;
        for (int64_t k = 0; k <= n; k++)
            a[k] = 1;
        range_of_real(n + 1, a, &r);
        ck_tight(&r);
        ck_contains(r.max, (double)(2 * n + 1), 0);
        ck_assert(r.theta_max == 0);
        for (int64_t k = 0; k <= n; k++)
            a[k] = (double)(n + 1 - k);
        range_of_real(n + 1, a, &r);
        ck_tight(&r);
        ck_contains(r.max, (double)((n + 1) * (n + 1)), 0);
        ck_contains(r.min, 0, 0);
        free(a);
    }
}
END_TEST

/* Truncated KMS: sum_{|k|<=n} rho^|k| e^{ikt} at 0 and, for odd n, at pi, in long double. */
START_TEST(test_kms) {
    for (int64_t n = 3; n <= 4095; n = 4 * n + 3) {
        double *a = calloc((size_t)n + 1, sizeof *a);
        long double top = 0, bottom = 0;
        for (int64_t k = 0; k <= n; k++) {
            a[k] = pow(0.5, (double)k);
            top += (k ? 2 : 1) * (long double)a[k];
            bottom += (k ? 2 : 1) * (k % 2 ? -1 : 1) * (long double)a[k];
        }
        szg_range r;
        range_of_real(n + 1, a, &r);
        ck_tight(&r);
        ck_contains(r.max, (double)top, UNIT * (double)top); /* of (double) */
        ck_contains(r.min, (double)bottom, UNIT * (double)bottom);
        ck_two_steps(r.max);
        ck_two_steps(r.min); /* flat next to the degree: the candidates are a wide interval */
        free(a);
    }
}
END_TEST

/* cos^2m(t/2): a minimum that vanishes to order 2m. Binomials over 4^m, exact up to m = 25. */
START_TEST(test_flat) {
    for (int m = 1; m <= 25; m += 3) {
        double a[26];
        a[m] = 1;
        for (int k = m; k > 0; k--)
            a[k - 1] = a[k] * (m + k) / (m - k + 1);
        for (int k = 0; k <= m; k++)
            a[k] = ldexp(a[k], -2 * m);
        szg_range r;
        range_of_real(m + 1, a, &r);
        ck_tight(&r);
        ck_contains(r.max, 1, 0);
        ck_contains(r.min, 0, 0);
        ck_assert(r.theta_max == 0);
    }
}
END_TEST

START_TEST(test_constants) {
    const double corner[] = {0, 1, -1, 0x1p-1074, -DBL_MAX, 1e-300, 3.5};
    for (size_t i = 0; i < sizeof corner / sizeof *corner; i++) {
        double a[4] = {corner[i], 0, 0, 0};
        szg_range r;
        for (int64_t count = 1; count <= 4; count++) {
            range_of_real(count, a, &r);
            ck_assert(r.min.lo == corner[i] && r.min.hi == corner[i]);
            ck_assert(r.max.lo == corner[i] && r.max.hi == corner[i]);
        }
    }
}
END_TEST

/* Scaling by powers of two: down into the denormals, up to overflow of the sum. */
START_TEST(test_dynamic_range) {
    szg_range r;
    double tiny[] = {0, 0x1p-1074, 0, 0x1p-1074};
    range_of_real(4, tiny, &r);
    ck_ordered(&r);
    ck_assert(r.max.lo <= 0x1p-1072 && r.max.hi >= 0x1p-1072 && r.max.hi <= 0x1p-1071);
    double huge[] = {0, DBL_MAX, DBL_MAX};
    range_of_real(3, huge, &r);
    ck_assert(r.max.hi == INFINITY && r.max.lo >= DBL_MAX);
    double wide[] = {1e16, 1e-300, 1e-200};
    range_of_real(3, wide, &r);
    ck_tight(&r);
    ck_contains(r.max, 1e16, 0);
    double mixed[] = {0, 1e300, 1e-300};
    range_of_real(3, mixed, &r);
    ck_tight(&r);
    ck_contains(r.max, 2e300, 0);
    double lifted[] = {1e6, 1e-9};
    range_of_real(2, lifted, &r);
    ck_assert(r.max.hi - r.max.lo <= 2 * DBL_EPSILON * 1e6); /* an ulp each side */
}
END_TEST

/* An enclosure of f at one point: the sum as it is written. */
static szg_interval value_at(int64_t count, const double *w, const szgi_phase *theta,
                             szgi_phase_mode mode, const szgi_phase *at, slong bits) {
    arb_t t, phase, angle, sum;
    arb_init(t), arb_init(phase), arb_init(angle), arb_init(sum);
    szgi_phase_angle(t, at, bits);
    for (slong i = 0; i < count; i++) {
        szgi_phase_angle(phase, theta + i, bits);
        if (mode == SZGI_PHASE_TIMES_INDEX)
            arb_mul_si(phase, phase, i, bits);
        arb_mul_si(angle, t, i, bits);
        arb_add(angle, angle, phase, bits);
        arb_cos(angle, angle, bits);
        arb_set_d(phase, 2 * w[i]);
        arb_addmul(sum, phase, angle, bits);
    }
    szg_interval value = szgi_interval_of(sum);
    arb_clear(t), arb_clear(phase), arb_clear(angle), arb_clear(sum);
    return value;
}

static void fill_random(uint32_t step, int64_t count, double *w, szgi_phase *theta) {
    const szgi_stream weight = {test_seed(), step, 1}, phase = {test_seed(), step, 2};
    for (int64_t i = 0; i < count; i++) {
        w[i] = test_real(&weight, (uint64_t)i);
        theta[i].rational = szgi_random_below(&phase, (uint64_t)(4 * i), 2);
        theta[i].radians = test_real(&phase, (uint64_t)(4 * i + 1));
        theta[i].p = szgi_random_below(&phase, (uint64_t)(4 * i + 2), 41) - 20;
        theta[i].q = 1 + szgi_random_below(&phase, (uint64_t)(4 * i + 3), 12);
    }
}

/* Fast range against the algorithm that shares no step with it: the enclosures must meet, and each
 * proved side must lie beyond each attained value of the other. */
START_TEST(test_against_check) {
    enum { COUNT = 24 };
    const int64_t trials = test_trials(24);
    for (int64_t trial = 0; trial < trials; trial++) {
        double w[COUNT];
        szgi_phase theta[COUNT];
        const int64_t count = 1 + trial % COUNT;
        fill_random((uint32_t)trial, count, w, theta);
        const szgi_phase_mode mode = trial % 2 ? SZGI_PHASE_PLAIN : SZGI_PHASE_TIMES_INDEX;
        szg_range fast, slow;
        ck_szg_ok(szgi_ball_range(test_context(), count, w, theta, mode, 128, &fast));
        ck_szg_ok(szgi_ball_range_check(test_context(), count, w, theta, mode, 256, 1e-9, &slow));
        ck_ordered(&fast);
        ck_assert_msg(fast.max.lo <= slow.max.hi && slow.max.lo <= fast.max.hi,
                      "trial %d: [%.17g, %.17g] and [%.17g, %.17g]", (int)trial, fast.max.lo,
                      fast.max.hi, slow.max.lo, slow.max.hi);
        ck_assert(fast.min.hi >= slow.min.lo && slow.min.hi >= fast.min.lo);
        /* The value at theta_max, computed afresh, is within the rounding of the point. */
        szgi_phase at = {.radians = fast.theta_max};
        szg_interval value = value_at(count, w, theta, mode, &at, 256);
        ck_assert(value.lo <= fast.max.hi);
        ck_close(value.hi, fast.max.lo, PROMISE * largest(&fast));
    }
}
END_TEST

/* Few bits give wider intervals, many give narrower ones, and all are true: they meet. */
START_TEST(test_precision) {
    enum { COUNT = 20 };
    for (uint32_t trial = 0; trial < test_trials(5); trial++) {
        static const int64_t bits[] = {53, 80, 128, 300};
        double w[COUNT];
        szgi_phase theta[COUNT];
        szg_range r[4];
        fill_random(2000 + trial, COUNT, w, theta);
        for (int i = 0; i < 4; i++) {
            ck_szg_ok(
                szgi_ball_range(test_context(), COUNT, w, theta, SZGI_PHASE_PLAIN, bits[i], &r[i]));
            ck_tight(&r[i]);
            for (int j = 0; j < i; j++) {
                ck_assert_int_eq(szgi_interval_compare(r[i].max, r[j].max), 0);
                ck_assert_int_eq(szgi_interval_compare(r[i].min, r[j].min), 0);
            }
        }
    }
}
END_TEST

/* Dense sampling: no value passes a proved end. */
START_TEST(test_against_samples) {
    enum { COUNT = 60, GRID = 3000 };
    for (int64_t trial = 0; trial < test_trials(3); trial++) {
        double w[COUNT];
        szgi_phase theta[COUNT];
        fill_random((uint32_t)(1000 + trial), COUNT, w, theta);
        szg_range r;
        ck_szg_ok(szgi_ball_range(test_context(), COUNT, w, theta, SZGI_PHASE_PLAIN, 128, &r));
        ck_ordered(&r);
        for (int64_t j = 0; j < GRID; j++) {
            const szgi_phase at = {.rational = true, .p = 2 * j, .q = GRID};
            szg_interval value = value_at(COUNT, w, theta, SZGI_PHASE_PLAIN, &at, 128);
            ck_assert(value.lo <= r.max.hi && value.hi >= r.min.lo);
        }
    }
}
END_TEST

/* Random large degrees: tight, and above samples in long double. */
START_TEST(test_large) {
    static const int64_t degree[] = {999, 4095};
    for (size_t i = 0; i < sizeof degree / sizeof *degree; i++) {
        const szgi_stream stream = {test_seed(), (uint32_t)i, 3};
        const int64_t n = degree[i];
        szg_c64 *a = calloc((size_t)n + 1, sizeof *a);
        szgi_random_fill_normal(&stream, 0, 2 * n + 2, &a[0].re);
        a[0].im = 0;
        szg_range r;
        ck_szg_ok(szgi_ball_symbol_range(test_context(), n + 1, a, SZGI_TAPER_NONE, 0, 128, &r));
        ck_tight(&r);
        for (int64_t j = 0; j < 200; j++) {
            const double t = (double)j * 0.0314159 + (j % 2 ? r.theta_max : r.theta_min);
            /* The phase k t is rounded, then cosine, product and n sums. */
            long double sum = a[0].re, slack = 0;
            for (int64_t k = 1; k <= n; k++) {
                sum +=
                    2 * (a[k].re * cosl((long double)k * t) - a[k].im * sinl((long double)k * t));
                slack += 2 * hypotl(a[k].re, a[k].im) * ((long double)k * t + n + 4);
            }
            slack *= LDBL_EPSILON;
            ck_assert(sum <= r.max.hi + slack && sum >= r.min.lo - slack);
        }
        free(a);
    }
}
END_TEST

/* The counterexamples of the paper's lemma: values known in closed form or to the digits given. */
START_TEST(test_lemma) {
    szg_range f, g;
    const double w[] = {0, 1, 1};
    const szgi_phase quarter[] = {{.q = 1}, {.q = 1}, {.rational = true, .p = 1, .q = 4}};
    const szgi_phase half[] = {{.q = 1}, {.q = 1}, {.rational = true, .p = 1, .q = 1}};
    ck_szg_ok(szgi_ball_range(test_context(), 3, w, NULL, SZGI_PHASE_PLAIN, 128, &g));
    ck_contains(g.max, 4, 0);
    ck_contains(g.min, -2.25, 0);
    ck_contains(szgi_range_width(&g), 6.25, 0);
    ck_szg_ok(szgi_ball_range(test_context(), 3, w, quarter, SZGI_PHASE_TIMES_INDEX, 128, &f));
    ck_contains(szgi_range_width(&f), 7.0407, 5e-5);
    ck_assert_int_eq(szgi_interval_compare(szgi_range_width(&f), szgi_range_width(&g)), 1);
    ck_szg_ok(szgi_ball_range(test_context(), 3, w, half, SZGI_PHASE_TIMES_INDEX, 128, &f));
    ck_contains(szgi_range_modulus(&f), 4, 0);
    const double ones[] = {1, 1};
    const szgi_phase one[] = {{.radians = 1}, {.radians = 1}};
    ck_szg_ok(szgi_ball_range(test_context(), 2, ones, one, SZGI_PHASE_PLAIN, 128, &f));
    ck_contains(szgi_range_modulus(&f), 2 + 2 * cos(1), gamma_of(2) * 4); /* cosine and sum */
    const double sign[] = {5, 1, 1, -1};
    const szgi_phase third[] = {{.q = 1}, {.q = 1}, {.q = 1}, {.rational = true, .p = 1, .q = 3}};
    ck_szg_ok(szgi_ball_range(test_context(), 4, sign, NULL, SZGI_PHASE_PLAIN, 128, &g));
    ck_contains(szgi_range_modulus(&g), 12.879, 5e-4);
    ck_szg_ok(szgi_ball_range(test_context(), 4, sign, third, SZGI_PHASE_TIMES_INDEX, 128, &f));
    ck_contains(szgi_range_modulus(&f), 16, 0);
}
END_TEST

/* |1 - e^{it}| has range [0, 2]; |3 + 4i e^{it} ...| by samples; one term is constant. */
START_TEST(test_modulus) {
    szg_range r;
    const szg_c64 difference[] = {{1, 0}, {-1, 0}}, single[] = {{0, 0}, {3, 4}, {0, 0}};
    ck_szg_ok(szgi_ball_modulus_range(test_context(), 2, difference, 128, &r));
    ck_assert(r.min.lo == 0 && r.min.hi <= PROMISE * r.max.hi);
    ck_contains(r.max, 2, 0);
    ck_szg_ok(szgi_ball_modulus_range(test_context(), 3, single, 128, &r));
    ck_contains(r.min, 5, 0);
    ck_contains(r.max, 5, 0);
    enum { COUNT = 33, GRID = 20000 };
    for (uint32_t trial = 0; trial < 4; trial++) {
        const szgi_stream stream = {test_seed(), trial, 4};
        szg_c64 a[COUNT];
        szgi_random_fill_normal(&stream, 0, 2 * COUNT, &a[0].re);
        ck_szg_ok(szgi_ball_modulus_range(test_context(), COUNT, a, 128, &r));
        ck_tight(&r);
        double low = INFINITY, high = 0, moduli = 0;
        for (int k = 0; k < COUNT; k++)
            moduli += hypot(a[k].re, a[k].im);
        for (int j = 0; j < GRID; j++) {
            double re = 0, im = 0;
            for (int k = 0; k < COUNT; k++) {
                const double c = cos(2 * PI * j * k / GRID), s = sin(2 * PI * j * k / GRID);
                re += a[k].re * c - a[k].im * s;
                im += a[k].re * s + a[k].im * c;
            }
            low = fmin(low, hypot(re, im));
            high = fmax(high, hypot(re, im));
        }
        /* Phases below 2 pi COUNT pass four roundings; the sum COUNT. Half a step of the grid away
         * |f| has moved by at most (COUNT - 1) PI / GRID of its maximum, at the maximum by half of
         * the square of that (Bernstein, |f| and |f|^2). */
        double slack = gamma_of(4 * 2 * PI * COUNT + COUNT + 2) * moduli;
        double step = (COUNT - 1) * PI / GRID;
        ck_assert(high <= r.max.hi + slack && high >= r.max.lo * (1 - step * step / 2) - slack);
        ck_assert(low >= r.min.lo - slack && low <= r.min.hi + step * r.max.hi + slack);
    }
}
END_TEST

/* Fejer means of a positive measure stay positive; the taper of ones is Fejer's kernel. */
START_TEST(test_fejer) {
    szg_c64 a[40];
    for (int k = 0; k < 40; k++)
        a[k] = (szg_c64){1, 0};
    szg_range r;
    ck_szg_ok(szgi_ball_symbol_range(test_context(), 40, a, SZGI_TAPER_FEJER, 7, 128, &r));
    ck_contains(r.max, 7, 0);
    ck_contains(r.min, 0, 0);
    ck_szg_ok(szgi_ball_symbol_range(test_context(), 40, a, SZGI_TAPER_FEJER, 1, 128, &r));
    ck_contains(r.max, 1, 0);
    ck_contains(r.min, 1, 0);
}
END_TEST

START_TEST(test_bad_input) {
    szg_range r;
    szg_c64 a[] = {{1, 0}, {NAN, 0}};
    const double w[] = {1, INFINITY}, one[] = {1};
    const szgi_phase bad[] = {{.rational = true, .p = 1, .q = 0}};
    ck_szg_fails(SZG_EDATA, "coefficient 1",
                 szgi_ball_symbol_range(test_context(), 2, a, SZGI_TAPER_NONE, 0, 128, &r));
    a[0].im = 1;
    ck_szg_fails(SZG_EDATA, "not real",
                 szgi_ball_symbol_range(test_context(), 1, a, SZGI_TAPER_NONE, 0, 128, &r));
    ck_szg_fails(SZG_EINVAL, "0 coefficients",
                 szgi_ball_symbol_range(test_context(), 0, a, SZGI_TAPER_NONE, 0, 128, &r));
    a[0].im = 0;
    ck_szg_fails(SZG_EINVAL, "order 0",
                 szgi_ball_symbol_range(test_context(), 1, a, SZGI_TAPER_FEJER, 0, 128, &r));
    ck_szg_fails(SZG_EINVAL, "bits",
                 szgi_ball_symbol_range(test_context(), 1, a, SZGI_TAPER_NONE, 0, 5, &r));
    ck_szg_fails(SZG_EDATA, "weight 1",
                 szgi_ball_range(test_context(), 2, w, NULL, SZGI_PHASE_PLAIN, 128, &r));
    ck_szg_fails(SZG_EDATA, "phase 0",
                 szgi_ball_range(test_context(), 1, one, bad, SZGI_PHASE_PLAIN, 128, &r));
    ck_szg_fails(SZG_EINVAL, "tolerance",
                 szgi_ball_range_check(test_context(), 1, one, NULL, SZGI_PHASE_PLAIN, 128, 0, &r));
}
END_TEST

/* Every allocation fails once; the call then says so and leaks nothing (under ASan). */
START_TEST(test_memory) {
    szg_c64 a[] = {{1, 0}, {2, 1}, {0, 3}, {1, 1}};
    szg_range r;
    ck_survives_failed_allocations(
        1, szgi_ball_symbol_range(test_context(), 4, a, SZGI_TAPER_NONE, 0, 128, &r));
}
END_TEST

TEST_FILE("range") {
    test_add(suite, "chebyshev", test_chebyshev);
    test_add(suite, "kernels", test_kernels);
    test_add(suite, "kms", test_kms);
    test_add(suite, "flat", test_flat);
    test_add(suite, "constants", test_constants);
    test_add(suite, "dynamic range", test_dynamic_range);
    test_add(suite, "against check", test_against_check);
    test_add(suite, "against samples", test_against_samples);
    test_add(suite, "precision", test_precision);
    test_add(suite, "large", test_large);
    test_add(suite, "lemma", test_lemma);
    test_add(suite, "modulus", test_modulus);
    test_add(suite, "fejer", test_fejer);
    test_add(suite, "bad input", test_bad_input);
    test_add(suite, "memory", test_memory);
}

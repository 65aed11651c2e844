/* Majorisation against brute force, its rounding edge, the inequalities, contraction ratios. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "theory/theory.h"

enum { MOST = 12 };

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Partial sums in long double; integers stay exact. */
static int64_t first_violation_by_hand(int64_t n, const double *x, const double *y, bool weak,
                                       long double *least) {
    double a[MOST], b[MOST];
    memcpy(a, x, sizeof(double) * (size_t)n);
    memcpy(b, y, sizeof(double) * (size_t)n);
    qsort(a, (size_t)n, sizeof *a, descending);
    qsort(b, (size_t)n, sizeof *b, descending);
    long double sum = 0.0L;
    int64_t first = 0;
    *least = INFINITY;
    for (int64_t k = 1; k <= n; k++) {
        sum += (long double)b[k - 1] - a[k - 1];
        long double margin = k == n && !weak ? -fabsl(sum) : sum;
        if (margin < *least)
            *least = margin;
        if (margin < 0 && first == 0)
            first = k;
    }
    return first;
}

START_TEST(agrees_with_brute_force_on_integers) {
    int64_t trials = test_trials(4000), violated = 0;
    for (int64_t trial = 0; trial < trials; trial++) {
        szgi_stream stream = {test_seed(), (uint32_t)trial, 1};
        int64_t n = 1 + szgi_random_below(&stream, 0, MOST);
        bool weak = trial % 2;
        double x[MOST], y[MOST];
        long double least;
        for (int64_t i = 0; i < n; i++) {
            x[i] = (double)szgi_random_below(&stream, 10 + (uint64_t)i, 5) - 2.0;
            y[i] = (double)szgi_random_below(&stream, 50 + (uint64_t)i, 7) - 3.0;
        }
        if (trial % 4 < 2) { /* y with x's total: now and then majorised */
            memcpy(y, x, sizeof y);
            y[0] += 1.0;
            y[n - 1] -= 1.0;
        }
        szg_majorisation got;
        ck_szg_ok(szg_majorisation_test(test_context(), n, x, y, 0.0, weak, &got));
        int64_t want = first_violation_by_hand(n, x, y, weak, &least);
        ck_assert_int_eq(got.first_violation, want);
        ck_assert_int_eq(got.order, want ? SZG_ORDER_VIOLATED : SZG_ORDER_HOLDS);
        ck_close(got.margin, (double)least, 0.0);
        violated += want > 0;
    }
    ck_assert(violated > trials / 10 && violated < trials * 9 / 10);
}
END_TEST

/* Averages of y (Robin Hood transfers) are majorised by y: Hardy, Littlewood, Polya. */
START_TEST(transfers_majorise) {
    for (int64_t trial = 0; trial < test_trials(500); trial++) {
        szgi_stream stream = {test_seed(), (uint32_t)trial, 2};
        double x[MOST], y[MOST], scale = 0.0;
        for (int64_t i = 0; i < MOST; i++) {
            x[i] = y[i] = test_real(&stream, (uint64_t)i);
            scale = fmax(scale, fabs(x[i]));
        }
        for (int64_t step = 0; step < 20; step++) {
            int64_t i = szgi_random_below(&stream, 100 + 3 * (uint64_t)step, MOST);
            int64_t j = szgi_random_below(&stream, 101 + 3 * (uint64_t)step, MOST);
            double share = szgi_random_uniform(&stream, 102 + 3 * (uint64_t)step);
            double a = x[i], b = x[j];
            x[i] = (1.0 - share) * a + share * b;
            x[j] = share * a + (1.0 - share) * b;
        }
        szg_majorisation got;
        /* each of 20 steps errs by at most 4 eps scale in one number */
        ck_szg_ok(szg_majorisation_test(test_context(), MOST, x, y, 80.0 * DBL_EPSILON * scale,
                                        false, &got));
        ck_assert_int_eq(got.order, SZG_ORDER_HOLDS);
        ck_assert_int_eq(got.first_violation, 0);
    }
}
END_TEST

START_TEST(rounding_edge) {
    const double y[] = {1.0, 0.0, -1.0};
    double x[] = {1.0 + 4 * DBL_EPSILON, 0.0, -1.0 - 4 * DBL_EPSILON};
    szg_majorisation got;
    ck_szg_ok(szg_majorisation_test(test_context(), 3, x, y, 0.0, false, &got));
    ck_assert_int_eq(got.order, SZG_ORDER_VIOLATED);
    ck_assert_int_eq(got.first_violation, 1);
    ck_close(got.margin, -4 * DBL_EPSILON, 0.0);
    /* with an error of 2 eps in each number the excess of 4 eps is explained, of 6 eps it is not */
    ck_szg_ok(szg_majorisation_test(test_context(), 3, x, y, 2.0 * DBL_EPSILON, false, &got));
    ck_assert_int_eq(got.order, SZG_ORDER_HOLDS);
    ck_assert(!got.strict);
    x[0] += 2 * DBL_EPSILON;
    x[2] -= 2 * DBL_EPSILON;
    ck_szg_ok(szg_majorisation_test(test_context(), 3, x, y, 2.0 * DBL_EPSILON, false, &got));
    ck_assert_int_eq(got.order, SZG_ORDER_VIOLATED);
    /* cancellation: plain summation would lose the 1 */
    const double large[] = {1e17, 1.0, -1e17}, less[] = {1e17, 0.0, -1e17};
    ck_szg_ok(szg_majorisation_test(test_context(), 3, large, less, 0.0, false, &got));
    ck_assert_int_eq(got.first_violation, 2);
    ck_close(got.margin, -1.0, 0.0);
    const double wide[] = {1e17, -1e17}, narrow[] = {1.0, -1.0};
    ck_szg_ok(szg_majorisation_test(test_context(), 2, narrow, wide, 0.0, false, &got));
    ck_assert_int_eq(got.order, SZG_ORDER_HOLDS);
    ck_close(got.margin, 0.0, 0.0);
}
END_TEST

START_TEST(totals_and_strictness) {
    const double x[] = {1.0, 1.0}, more[] = {2.0, 1.0}, spread[] = {2.0, 0.0};
    szg_majorisation got;
    ck_szg_ok(szg_majorisation_test(test_context(), 2, x, more, 0.0, false, &got));
    ck_assert_int_eq(got.first_violation, 2);
    ck_szg_ok(szg_majorisation_test(test_context(), 2, x, more, 0.0, true, &got));
    ck_assert_int_eq(got.order, SZG_ORDER_HOLDS);
    ck_szg_ok(szg_majorisation_test(test_context(), 2, x, spread, 0.0, false, &got));
    ck_assert(got.order == SZG_ORDER_HOLDS && got.strict);
    ck_szg_ok(szg_majorisation_test(test_context(), 2, x, x, 0.0, false, &got));
    ck_assert(got.order == SZG_ORDER_HOLDS && !got.strict);
}
END_TEST

START_TEST(bad_input) {
    const double x[] = {1.0, NAN}, y[] = {1.0, 2.0};
    szg_majorisation got;
    ck_szg_fails(SZG_EDATA, "x[1]", szg_majorisation_test(test_context(), 2, x, y, 0, false, &got));
    ck_szg_fails(SZG_EDATA, "y[1]", szg_majorisation_test(test_context(), 2, y, x, 0, false, &got));
    ck_szg_fails(SZG_EINVAL, "at least 1",
                 szg_majorisation_test(test_context(), 0, y, y, 0, false, &got));
    ck_szg_fails(SZG_EINVAL, "error",
                 szg_majorisation_test(test_context(), 2, y, y, NAN, false, &got));
    for (int64_t at = 1; at <= 2; at++) {
        szgi_memory_fail_after(test_context(), at);
        ck_szg_fails(SZG_ENOMEM, "",
                     szg_majorisation_test(test_context(), 2, y, y, 0, false, &got));
    }
    szgi_memory_fail_after(test_context(), 0);
}
END_TEST

/* ---- Inequalities ---- */

/* 2 x 2 matrices have closed eigenvalues: the range of A o B lies where Schur says. */
START_TEST(schur_contains) {
    for (int64_t trial = 0; trial < test_trials(2000); trial++) {
        szgi_stream stream = {test_seed(), (uint32_t)trial, 3};
        double a = test_real(&stream, 0), b = test_real(&stream, 1), c = test_real(&stream, 2);
        double p = szgi_random_normal(&stream, 3), q = szgi_random_normal(&stream, 4);
        double r = szgi_random_normal(&stream, 5);
        /* B = [p 0; q r] [p 0; q r]^T is semidefinite */
        double b11 = p * p, b12 = p * q, b22 = q * q + r * r;
        double mean = 0.5 * (a + c), radius = hypot(0.5 * (a - c), b);
        double top = a * b11, low = c * b22, off = b * b12;
        double mean2 = 0.5 * (top + low), radius2 = hypot(0.5 * (top - low), off);
        double slack = 8.0 * DBL_EPSILON * (fabs(mean) + radius);
        double slack2 = 32.0 * DBL_EPSILON * (fabs(mean) + radius) * fmax(b11, b22);
        szg_interval range, spectrum = {mean - radius - slack, mean + radius + slack};
        szg_interval diagonal = {fmin(b11, b22), fmax(b11, b22)};
        ck_szg_ok(szg_schur_range(test_context(), spectrum, diagonal, &range));
        ck_assert(range.lo - slack2 <= mean2 - radius2 && mean2 + radius2 <= range.hi + slack2);
    }
}
END_TEST

START_TEST(schur_correlation_is_identity) {
    szg_interval range, spectrum = {-2.0, 3.0};
    ck_szg_ok(szg_schur_range(test_context(), spectrum, (szg_interval){1.0, 1.0}, &range));
    ck_assert(range.lo == -2.0 && range.hi == 3.0);
    ck_szg_ok(szg_schur_range(test_context(), spectrum, (szg_interval){0.0, 2.0}, &range));
    ck_assert(range.lo <= -4.0 && range.lo > -4.0001 && range.hi >= 6.0 && range.hi < 6.0001);
    ck_szg_fails(SZG_EINVAL, "Schur",
                 szg_schur_range(test_context(), spectrum, (szg_interval){-1.0, 2.0}, &range));
}
END_TEST

START_TEST(bapat_sunder_needs_unit_diagonal) {
    const double x[] = {1.0, 2.0}, y[] = {0.0, 3.0}, ones[] = {1.0, 1.0}, two[] = {1.0, 2.0};
    szg_majorisation got;
    ck_szg_ok(szg_bapat_sunder_test(test_context(), 2, x, y, ones, 0.0, &got));
    ck_assert_int_eq(got.order, SZG_ORDER_HOLDS);
    ck_szg_fails(SZG_EDOMAIN, "entry 1",
                 szg_bapat_sunder_test(test_context(), 2, x, y, two, 0.0, &got));
}
END_TEST

START_TEST(perron_hypothesis) {
    const double a[] = {1.0, 2.0, 3.0, 4.0}, signs[] = {1.0, -2.0, 3.0, 4.0};
    szg_c64 b[] = {{0.0, 1.0}, {-2.0, 0.0}, {3.0, 0.0}, {0.0, -4.0}};
    bool applies;
    ck_szg_ok(szg_perron_applies(test_context(), 2, a, 2, b, 2, &applies));
    ck_assert(applies);
    ck_szg_ok(szg_perron_applies(test_context(), 2, signs, 2, b, 2, &applies));
    ck_assert(!applies);
    b[3].im = -4.1;
    ck_szg_ok(szg_perron_applies(test_context(), 2, a, 2, b, 2, &applies));
    ck_assert(!applies);
    b[3].im = NAN;
    ck_szg_ok(szg_perron_applies(test_context(), 2, a, 2, b, 2, &applies));
    ck_assert(!applies);
}
END_TEST

START_TEST(contraction_ratios) {
    const double content[] = {-1.0, 0.0, 3.0}, coupled[] = {0.0, 0.5, 1.5};
    const double s_content[] = {3.0, 1.0, 0.0}, s_coupled[] = {1.5, 0.5, 0.0};
    szgi_contraction_input input = {3, content, coupled, 3, 3, s_content, s_coupled, 0.0};
    szg_contraction_ratios got;
    ck_szg_ok(szgi_contraction_ratios_of(test_context(), &input, &got));
    ck_close(got.width, 1.5 / 4.0, 0.0);
    ck_close(got.norm, 0.5, 0.0);
    ck_close(got.nuclear, 0.5, 0.0);
    ck_assert(got.ordered && got.eigenvalues.order == SZG_ORDER_HOLDS);
    const double zero[] = {0.0, 0.0, 0.0};
    input.content_eigenvalues = zero;
    input.content_singular = zero;
    ck_szg_ok(szgi_contraction_ratios_of(test_context(), &input, &got));
    ck_assert(isnan(got.width) && isnan(got.norm) && isnan(got.nuclear));
    input = (szgi_contraction_input){0};
    ck_szg_ok(szgi_contraction_ratios_of(test_context(), &input, &got));
    ck_assert(isnan(got.width) && isnan(got.norm) && !got.ordered);
}
END_TEST

TEST_FILE("majorisation") {
    test_add(suite, "agrees_with_brute_force_on_integers", agrees_with_brute_force_on_integers);
    test_add(suite, "transfers_majorise", transfers_majorise);
    test_add(suite, "rounding_edge", rounding_edge);
    test_add(suite, "totals_and_strictness", totals_and_strictness);
    test_add(suite, "bad_input", bad_input);
    test_add(suite, "schur_contains", schur_contains);
    test_add(suite, "schur_correlation_is_identity", schur_correlation_is_identity);
    test_add(suite, "bapat_sunder_needs_unit_diagonal", bapat_sunder_needs_unit_diagonal);
    test_add(suite, "perron_hypothesis", perron_hypothesis);
    test_add(suite, "contraction_ratios", contraction_ratios);
}

/* Inference from few numbers against closed cases, integrals and enumeration.
 * tests/peer/test_statistics.py has SciPy's numbers. */
#include <math.h>

#include "base/inference.h"
#include "base/random.h"

#include "suite.h"

enum { PURPOSE = 0x5354 };

/* ---- The mean ---- */

START_TEST(intervals_have_closed_cases) {
    /* Two numbers: mean 1, deviation sqrt(2), t with one degree of freedom is tan(0.95 pi / 2). */
    szgi_mean_interval two = szgi_mean_interval_of(2, (double[]){0, 2});
    double reach = tan(.95 * acos(0)), bound = 1e-13 * reach;
    ck_close(two.mean, 1, 0x1p-52);
    ck_close(two.high - two.mean, reach, bound);
    ck_close(two.mean - two.low, reach, bound);
    szgi_mean_interval equal = szgi_mean_interval_of(5, (double[]){.5, .5, .5, .5, .5});
    ck_assert(equal.mean == .5 && equal.low == .5 && equal.high == .5);
    szgi_mean_interval one = szgi_mean_interval_of(1, (double[]){3});
    ck_assert(one.mean == 3 && isnan(one.low) && isnan(one.high));
    ck_assert(isnan(szgi_mean_interval_of(0, NULL).mean));
}
END_TEST

/* ---- Signs ---- */

START_TEST(signs_have_closed_cases) {
    /* Of n equal numbers only x and -x are as far. */
    double ones[24], ramp[20];
    for (int64_t i = 0; i < 24; i++)
        ones[i] = .1;
    for (int64_t n = 1; n <= SZGI_EXACT_SIGNS; n++)
        ck_assert(szgi_sign_flip(n, ones, 0) == ldexp(1, 1 - (int)n));
    /* Powers of 2: every choice has another sum, which the signs' binary number orders. Of x with
     * the largest alone positive, 2^(n - 1) - (2^(n - 1) - 1) = 1 is the sum next to 0. */
    for (int64_t i = 0; i < 20; i++)
        ramp[i] = i < 19 ? -ldexp(1, (int)i) : ldexp(1, 19);
    ck_assert(szgi_sign_flip(20, ramp, 0) == 1);
    ramp[0] = 1; /* 3: beyond are all but the sums 1 and -1 */
    ck_assert(szgi_sign_flip(20, ramp, 0) == 1 - ldexp(1, -19));
    ck_assert(szgi_sign_flip(3, (double[]){0, 0, 0}, 0) == 1);
    ck_assert(isnan(szgi_sign_flip(0, NULL, 0)) && isnan(szgi_sign_flip(2, (double[]){1, NAN}, 0)));
    /* 0.1 + 0.2 - 0.3 is 0 but for rounding, as are four others of the eight choices' pairs: sums
     * are 0, 0.2, 0.4 and 0.6 of either sign. */
    ck_assert(szgi_sign_flip(3, (double[]){.1, .2, -.3}, 0) == 1);
    ck_assert(szgi_sign_flip(3, (double[]){.3, .1, -.2}, 0) == .75);
    /* Accuracies of 4500 examples, each off by 2^-54, so that differences are by 2^-53, and equal
     * sums of them are not. They are 10, 20, -30 and 40 of the examples, 40 in all. 10 of 16
     * choices are as far. */
    double n = 4500, x[4];
    for (int i = 0; i < 4; i++)
        x[i] = (4400 + (const int[]){10, 20, -30, 40}[i]) / n - 4400 / n;
    ck_assert(szgi_sign_flip(4, x, 0x1p-53) == 10 / 16.0);
    ck_assert(szgi_sign_flip(4, x, 0) < 10 / 16.0);
    ck_assert(isnan(szgi_sign_flip(4, x, NAN)));
}
END_TEST

/* As many choices as the loops say, by another order of adding. */
static double plain_flip(int64_t n, const double *x) {
    double observed = 0;
    int64_t beyond = 0;
    for (int64_t i = 0; i < n; i++)
        observed += x[i];
    for (int64_t signs = 0; signs < (int64_t)1 << n; signs++) {
        double sum = 0;
        for (int64_t i = n - 1; i >= 0; i--)
            sum += signs >> i & 1 ? x[i] : -x[i];
        beyond += fabs(sum) >= fabs(observed) * (1 - 1e-12);
    }
    return (double)beyond / ldexp(1, (int)n);
}

START_TEST(signs_are_enumerated) {
    for (int64_t trial = 0; trial < test_trials(50); trial++) {
        int64_t n = 1 + trial % 12;
        double *x = new_test_reals(PURPOSE, (uint32_t)trial, n);
        for (int64_t i = 0; i < n; i++)
            x[i] += .4; /* small p too */
        ck_assert(szgi_sign_flip(n, x, 0) == plain_flip(n, x));
        szgi_memory_free(x);
    }
}
END_TEST

START_TEST(many_signs_are_drawn) {
    /* Of 24 equal numbers the share of choices with k of one sign is binomial. Their sum is that of
     * 18 and 6: the chance of 0 .. 6 and 18 .. 24. */
    double x[24], term = 1, below = 0;
    for (int64_t i = 0; i < 24; i++)
        x[i] = i < 18 ? 1 : -1;
    for (int64_t k = 0; k <= 6; k++) {
        below += term;
        term = term * (double)(24 - k) / (double)(k + 1);
    }
    double chance = 2 * below / 0x1p24, drawn = szgi_sign_flip(24, x, 0);
    /* Six standard errors of the draws. */
    ck_close(drawn, chance, 6 * sqrt(chance / SZGI_DRAWN_SIGNS));
    for (int64_t i = 0; i < 24; i++)
        x[i] = 1;
    ck_close(szgi_sign_flip(24, x, 0), 0x1p-23 + 1e-6, 6e-6); /* never 0 */
    ck_assert(szgi_sign_flip(24, x, 0) > 0);
}
END_TEST

/* ---- Several hypotheses ---- */

START_TEST(holm_by_hand) {
    double out[4];
    /* Sorted .005, .01, .03, .04: times 4, 3, 2, 1, and never less than the one before. */
    ck_szg_ok(szgi_holm(test_context(), 4, (double[]){.01, .04, .03, .005}, out));
    ck_close(out[3], .02, 1e-15);
    ck_close(out[0], .03, 1e-15);
    ck_close(out[2], .06, 1e-15);
    ck_close(out[1], .06, 1e-15);
    /* What was not tested counts: .01 times 3. */
    ck_szg_ok(szgi_holm(test_context(), 3, (double[]){NAN, .01, NAN}, out));
    ck_assert(isnan(out[0]) && isnan(out[2]));
    ck_close(out[1], .03, 1e-15);
    ck_szg_ok(szgi_holm(test_context(), 2, (double[]){.9, .8}, out));
    ck_assert(out[0] == 1 && out[1] == 1);
    ck_szg_ok(szgi_holm(test_context(), 0, NULL, NULL));
}
END_TEST

/* ---- Ranks ---- */

static double spearman(int64_t n, const double *x, const double *y) {
    double out;
    ck_szg_ok(szgi_spearman(test_context(), n, x, y, &out));
    return out;
}

START_TEST(ranks_have_closed_cases) {
    const double up[] = {1, 2, 3, 40}, down[] = {9, 5, 1, -1}, equal[] = {1, 1, 1, 1};
    ck_close(spearman(4, up, up), 1, 0x1p-50);
    ck_close(spearman(4, up, down), -1, 0x1p-50);
    ck_assert(isnan(spearman(4, up, equal)) && isnan(spearman(1, up, up)));
    ck_assert(isnan(spearman(4, up, (double[]){1, NAN, 2, 3})));
    /* Without ties 1 - 6 sum d^2 / (n (n^2 - 1)): d = 1, -1, 1, -1. */
    ck_close(spearman(4, up, (double[]){2, 1, 4, 3}), .6, 0x1p-50);
    /* Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: 4.5 / sqrt(4.5 * 5). */
    ck_close(spearman(4, (double[]){0, 7, 7, 9}, up), 4.5 / sqrt(22.5), 0x1p-50);
}
END_TEST

TEST_FILE("inference") {
    test_add(suite, "intervals have closed cases", intervals_have_closed_cases);
    test_add(suite, "signs have closed cases", signs_have_closed_cases);
    test_add(suite, "signs are enumerated", signs_are_enumerated);
    test_add(suite, "many signs are drawn", many_signs_are_drawn);
    test_add(suite, "holm by hand", holm_by_hand);
    test_add(suite, "ranks have closed cases", ranks_have_closed_cases);
}

/* The largest of several shares against closed cases and simulation. tests/peer/test_statistics.py
 * has SciPy's numbers. */
#include <math.h>

#include "base/memory.h"
#include "train/ablation/ablation.h"
#include "train/reproduce/shares.h"

#include "suite.h"

START_TEST(largest_shares_have_closed_cases) {
    /* Two shares: the larger one is uniform on 1/2 .. 1. */
    ck_close(szgi_largest_share_tail(2, .75), .5, 1e-14);
    ck_close(szgi_largest_share_quantile(2, .05), .975, 1e-14);
    /* Above 1/2 at most one share is: n (1 - x)^(n - 1). */
    for (int64_t n = 3; n <= 64; n++)
        ck_close(szgi_largest_share_tail(n, .6), (double)n * pow(.4, (double)(n - 1)), 1e-14);
    /* Three: 3 (1 - x)^2 - 3 (1 - 2 x)^2. */
    ck_close(szgi_largest_share_tail(3, .4), 3 * .36 - 3 * .04, 1e-14);
    ck_assert(szgi_largest_share_tail(4, .25) == 1 && szgi_largest_share_tail(4, 1) == 0);
    ck_assert(szgi_largest_share_tail(4, -1) == 1 && szgi_largest_share_tail(1, .5) == 1);
    ck_assert(isnan(szgi_largest_share_tail(4, NAN)) && isnan(szgi_largest_share_tail(0, .5)));
    ck_assert(isnan(szgi_largest_share_quantile(4, 0)));
    /* Four heads: 0.52 on average, above 0.77 in 5%. */
    ck_close(szgi_largest_share_quantile(4, .05), .77, .005);
    ck_close(szgi_deposit_uniform(4), .52, .005);
}
END_TEST

/* The mean is the integral of the tail; the tail falls, and is 1 up to 1 / n. */
START_TEST(tails_integrate_to_the_mean) {
    for (int64_t n = 2; n <= 256; n *= 2) {
        enum { STEPS = 1 << 16 };
        double sum = 0, before = 1;
        for (int64_t i = 0; i < STEPS; i++) {
            double tail = szgi_largest_share_tail(n, ((double)i + .5) / STEPS);
            /* Either side of a point may be off by 1e-7. */
            ck_assert(tail >= 0 && tail <= 1 && tail <= before + 2e-7);
            before = tail;
            sum += tail / STEPS;
        }
        /* The midpoint rule of a falling function is off by half a step at most; the tail by 1e-7
         * at each point. */
        ck_close(sum, szgi_deposit_uniform(n), .5 / STEPS + 1e-7);
    }
}
END_TEST

static double *shares_of(int64_t heads, int64_t examples, double accuracy, double total,
                         uint64_t seed) {
    szgi_equal_heads of = {heads, examples, accuracy, total};
    double *out;
    ck_szg_ok(szgi_memory_alloc(test_context(), SZGI_EQUAL_TRIALS, &out));
    ck_szg_ok(szgi_equal_heads_shares(test_context(), &of, seed, 0, out));
    return out;
}

static double mean_above(const double *shares, double bound) {
    int64_t above = 0;
    for (int64_t i = 0; i < SZGI_EQUAL_TRIALS; i++) {
        ck_assert(i == 0 || shares[i] >= shares[i - 1]);
        above += shares[i] > bound;
    }
    return (double)above / SZGI_EQUAL_TRIALS;
}

START_TEST(equal_heads_share_with_sampling_error) {
    /* Without error: every accuracy without a head is 0, so that all drops are equal. */
    double *exact = shares_of(4, 1000, .5, 2, 7);
    ck_assert(exact[0] == .25 && exact[SZGI_EQUAL_TRIALS - 1] == .25);
    szgi_memory_free(exact);
    /* One example of accuracy 1, two heads, each right half of the time: drops are 0 or 1. The
     * share is 0 (no drop) with 1/4, 1 with 1/2, 1/2 with 1/4. Six standard errors. */
    double *coin = shares_of(2, 1, 1, 1, 8), error = 6 * .5 / sqrt(SZGI_EQUAL_TRIALS);
    ck_close(mean_above(coin, .25), .75, error);
    ck_close(mean_above(coin, .75), .5, error);
    szgi_memory_free(coin);
    /* Many examples: drops of .1 with a standard error s = sqrt(.7 .3 / n). Two heads: the share is
     * 1/2 + |a - b| / (2 (a + b)), |a - b| normal with the deviation sqrt(2) s, a + b nearly .2.
     * Its 95% quantile is 1/2 + 1.96 sqrt(2) s / .4, but for terms of the order (s / .2)^2 and the
     * error of a quantile of 10,000 trials: sqrt(.05 .95 / 10000) / density, density .0584 2 (two
     * sides) in units of the deviation. */
    int64_t n = 100000;
    double *fine = shares_of(2, n, .8, .2, 9), s = sqrt(.7 * .3 / (double)n);
    double want = .5 + 1.959964 * sqrt(2) * s / .4;
    double sampling = 6 * sqrt(.05 * .95 / SZGI_EQUAL_TRIALS) / (2 * .0584) * sqrt(2) * s / .4;
    ck_close(fine[SZGI_EQUAL_TRIALS * 95 / 100], want, sampling + 9 * s * s / .04);
    double *again = shares_of(2, n, .8, .2, 9), *other = shares_of(2, n, .8, .2, 10);
    int64_t differ = 0;
    for (int64_t i = 0; i < SZGI_EQUAL_TRIALS; i++) {
        ck_assert(again[i] == fine[i]);
        differ += other[i] != fine[i];
    }
    ck_assert_int_gt(differ, 0);
    szgi_memory_free(fine);
    szgi_memory_free(again);
    szgi_memory_free(other);
}
END_TEST

START_TEST(impossible_heads_are_refused) {
    double out[SZGI_EQUAL_TRIALS];
    const szgi_equal_heads bad[] = {
        {0, 10, .5, .1}, {2, 0, .5, .1}, {2, 10, 1.5, .1}, {2, 10, NAN, .1}, {2, 10, .5, NAN}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_szg_fails(SZG_EINVAL, "equal heads",
                     szgi_equal_heads_shares(test_context(), &bad[i], 1, 0, out));
}
END_TEST

TEST_FILE("shares") {
    test_add(suite, "largest shares have closed cases", largest_shares_have_closed_cases);
    test_add(suite, "tails integrate to the mean", tails_integrate_to_the_mean);
    test_add(suite, "equal heads share with sampling error", equal_heads_share_with_sampling_error);
    test_add(suite, "impossible heads are refused", impossible_heads_are_refused);
}

/* Correlations and their intervals against closed cases, the jackknife as its author wrote it, and
 * simulation. tests/peer/test_statistics.py has NumPy's and SciPy's numbers. The groups are arms of
 * an experiment, the blocks its seeds. */
#include <inttypes.h>
#include <math.h>

#include "base/correlation.h"
#include "base/inference.h"
#include "base/random.h"

#include "suite.h"

enum { PURPOSE = 0x434f };

static szgi_correlation ranks_of(int64_t n, const double *x, const double *y) {
    szgi_correlation out;
    ck_szg_ok(szgi_spearman_interval(test_context(), n, x, y, &out));
    return out;
}

START_TEST(ranks_have_intervals) {
    const double up[] = {1, 2, 3, 40}, other[] = {2, 1, 4, 3};
    /* Ranks correlate by .6: z = log(4) / 2, deviation sqrt(1.18 / 1). tanh(log(4) / 2 + t) is
     * (4 e^2t - 1) / (4 e^2t + 1). */
    szgi_correlation four = ranks_of(4, up, other);
    double far = exp(2 * 1.959963984540054 * sqrt(1.18));
    ck_close(four.value, .6, 0x1p-50);
    ck_close(four.high, (4 * far - 1) / (4 * far + 1), 1e-14);
    ck_close(four.low, (4 / far - 1) / (4 / far + 1), 1e-14);
    szgi_correlation three = ranks_of(3, up, other);
    ck_assert(three.value == .5 && isnan(three.low) && isnan(three.high));
    szgi_correlation all = ranks_of(4, up, up);
    ck_assert(all.value == 1 && isnan(all.low) && isnan(all.high));
    szgi_correlation none = ranks_of(4, up, (double[]){1, 1, 1, 1});
    ck_assert(isnan(none.value) && isnan(none.low) && isnan(none.high));
}
END_TEST

enum { ARMS = 3, SEEDS = 6 };

/* Arm a is x[0 .. SEEDS - 1] times scale[a] and moved by shift[a], y likewise. */
static szgi_pooled pool_copies(int64_t arms, const double *x, const double *y, const double *scale,
                               const double *shift) {
    szgi_grouped run[ARMS * SEEDS];
    szgi_pooled out;
    for (int64_t i = 0; i < arms * SEEDS; i++) {
        int64_t arm = i / SEEDS, seed = i % SEEDS;
        run[i] = (szgi_grouped){scale[arm] * x[seed] + shift[arm],
                                scale[arms - 1 - arm] * y[seed] - shift[arm], 7 + arm,
                                (uint64_t)(200 - seed)};
    }
    ck_szg_ok(szgi_pool_groups(test_context(), arms * SEEDS, run, &out));
    return out;
}

static const double one_x[] = {1, 2, 3, 4, 5, 6}, one_y[] = {1, 3, 2, 5, 4, 7},
                    scales[ARMS] = {1, 64, 1 / 8.0}, shifts[ARMS] = {0, 32, -8};

/* Arms that say the same say no more than one of them: runs of one seed are not independent. Units
 * and places of the arms do not matter. */
START_TEST(copies_of_an_arm_add_nothing) {
    szgi_pooled one = pool_copies(1, one_x, one_y, scales, shifts),
                all = pool_copies(ARMS, one_x, one_y, scales, shifts);
    ck_assert(one.pairs == SEEDS && one.groups == 1 && one.blocks == SEEDS);
    ck_assert(all.pairs == ARMS * SEEDS && all.groups == ARMS && all.blocks == SEEDS);
    ck_assert(isfinite(one.correlation.low) && isfinite(one.correlation.high));
    /* Deviations, squares and products of the numbers are off by a few roundings of their size, at
     * most 64 + 6; atanh has a slope of at most 40 at the correlations here, below .99. */
    ck_close(all.correlation.value, one.correlation.value, 1e-12);
    ck_close(all.correlation.low, one.correlation.low, 1e-12);
    ck_close(all.correlation.high, one.correlation.high, 1e-12);
}
END_TEST

static double plain_pearson(int64_t n, const double *x, const double *y) {
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (int64_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xy / sqrt(xx * yy);
}

/* One arm: Pearson's, and the jackknife as Tukey wrote it, by pseudo-values n z - (n - 1) z_i.
 * Their mean is not the middle of the interval; their deviation is its width. */
START_TEST(one_arm_is_the_jackknife) {
    szgi_pooled one = pool_copies(1, one_x, one_y, scales, shifts);
    double pseudo[SEEDS], value = plain_pearson(SEEDS, one_x, one_y);
    for (int64_t left = 0; left < SEEDS; left++) {
        double x[SEEDS - 1], y[SEEDS - 1];
        for (int64_t i = 0, at = 0; i < SEEDS; i++)
            if (i != left) {
                x[at] = one_x[i];
                y[at++] = one_y[i];
            }
        pseudo[left] = SEEDS * atanh(value) - (SEEDS - 1) * atanh(plain_pearson(SEEDS - 1, x, y));
    }
    szgi_mean_interval interval = szgi_mean_interval_of(SEEDS, pseudo);
    double reach = interval.high - interval.mean;
    ck_close(one.correlation.value, value, 1e-14);
    ck_close(one.correlation.low, tanh(atanh(value) - reach), 1e-12);
    ck_close(one.correlation.high, tanh(atanh(value) + reach), 1e-12);
}
END_TEST

START_TEST(arms_that_do_not_vary_say_nothing) {
    szgi_grouped run[2 * SEEDS + 1];
    szgi_pooled out, one = pool_copies(1, one_x, one_y, scales, shifts);
    for (int64_t i = 0; i < SEEDS; i++) {
        run[i] = (szgi_grouped){one_x[i], one_y[i], 0, (uint64_t)i};
        /* A ratio that is 1 but for rounding; seeds of their own. */
        run[SEEDS + i] =
            (szgi_grouped){1 + 1e-7 * (double)(i % 2), -one_y[i], 1, (uint64_t)(50 + i)};
    }
    run[2 * SEEDS] = (szgi_grouped){3, 4, 2, 1}; /* one run has no deviation */
    ck_szg_ok(szgi_pool_groups(test_context(), 2 * SEEDS + 1, run, &out));
    ck_assert(out.pairs == SEEDS && out.groups == 1 && out.blocks == SEEDS);
    ck_close(out.correlation.value, one.correlation.value, 1e-14);
    ck_close(out.correlation.low, one.correlation.low, 1e-12);
    ck_szg_ok(szgi_pool_groups(test_context(), SEEDS + 1, run + SEEDS, &out));
    ck_assert(out.pairs == 0 && out.groups == 0 && out.blocks == 0);
    ck_assert(isnan(out.correlation.value) && isnan(out.correlation.low));
    ck_szg_ok(szgi_pool_groups(test_context(), 0, NULL, &out));
    ck_assert(isnan(out.correlation.value));
    /* Three seeds have no interval; nor has a line. */
    ck_szg_ok(szgi_pool_groups(test_context(), 3, run, &out));
    ck_assert(out.blocks == 3 && isfinite(out.correlation.value) && isnan(out.correlation.low));
    for (int64_t i = 0; i < SEEDS; i++)
        run[i].y = -.3 * run[i].x;
    ck_szg_ok(szgi_pool_groups(test_context(), SEEDS, run, &out));
    ck_close(out.correlation.value, -1, 1e-14);
    ck_assert(isnan(out.correlation.low) && isnan(out.correlation.high));
}
END_TEST

/* Eight arms of ten seeds; four fifths of each number's variance are the seed's, in all arms. */
static void draw_runs(uint32_t trial, szgi_grouped run[80]) {
    const szgi_stream stream = {.seed = 7, .step = trial, .purpose = PURPOSE};
    for (uint64_t i = 0; i < 80; i++) {
        uint64_t seed = i % 10;
        double own = sqrt(.2), shared = sqrt(.8);
        run[i] = (szgi_grouped){shared * szgi_random_normal(&stream, seed) +
                                    own * szgi_random_normal(&stream, 100 + i),
                                shared * szgi_random_normal(&stream, 200 + seed) +
                                    own * szgi_random_normal(&stream, 300 + i),
                                (int64_t)(i / 10), seed};
    }
}

/* x and y have nothing to do with each other: 95% of the intervals contain 0, but for six standard
 * errors of the trials, 4%, and for the jackknife's own error, for which as much is allowed.
 * Fisher's interval takes runs less arms as independent, and reaches to 1.96 / sqrt(70) = .23. But
 * what the seeds share has nine degrees of freedom: the deviation is at least .8 / sqrt(9) = .27,
 * of which .23 holds 62% at most, and 9% more by the error of the trials. */
START_TEST(seeds_in_common_widen_the_interval) {
    enum { TRIALS = 1000 };
    int64_t holds = 0, fisher = 0;
    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        szgi_grouped run[80];
        szgi_pooled out;
        draw_runs(trial, run);
        ck_szg_ok(szgi_pool_groups(test_context(), 80, run, &out));
        holds += out.correlation.low <= 0 && out.correlation.high >= 0;
        fisher += fabs(atanh(out.correlation.value)) <= 1.96 / sqrt(72 - 2);
    }
    ck_assert_msg(holds > .87 * TRIALS && holds < TRIALS && fisher < .71 * TRIALS,
                  "of %d intervals %" PRId64 " contain 0, and %" PRId64 " of Fisher's", TRIALS,
                  holds, fisher);
}
END_TEST

/* Arms of 2 and 4 runs have the weights 1 and 3. */
START_TEST(arms_have_weights) {
    const szgi_grouped run[] = {{1, 1, 0, 1}, {2, 0, 0, 2}, {0, 0, 1, 1},
                                {1, 1, 1, 2}, {2, 1, 1, 3}, {3, 2, 1, 4}};
    szgi_pooled out;
    ck_szg_ok(szgi_pool_groups(test_context(), 6, run, &out));
    double four = plain_pearson(4, (double[]){0, 1, 2, 3}, (double[]){0, 1, 1, 2});
    ck_close(out.correlation.value, (-1 + 3 * four) / 4, 1e-14);
    ck_assert(out.pairs - out.groups == 4);
}
END_TEST

TEST_FILE("correlation") {
    test_add(suite, "ranks have intervals", ranks_have_intervals);
    test_add(suite, "copies of an arm", copies_of_an_arm_add_nothing);
    test_add(suite, "one arm is the jackknife", one_arm_is_the_jackknife);
    test_add(suite, "arms that do not vary", arms_that_do_not_vary_say_nothing);
    test_add(suite, "arms have weights", arms_have_weights);
    test_add(suite, "seeds in common", seeds_in_common_widen_the_interval);
}

/* L2c's criterion: exact decisions against enclosures, against the second code path, by hand. */
#include <math.h>

#include "suite.h"
#include "claims/lemma.h"
#include "enclose.h"

enum { TERMS = 6 };

static bool decide(int64_t count, const double *w, const szgi_phase *theta) {
    bool equality;
    ck_szg_ok(szgi_lemma_equality(test_context(), count, w, theta, &equality));
    return equality;
}

static bool decide_again(int64_t count, const double *w, const szgi_phase *theta) {
    const instance at = szgi_instance(count, w, theta);
    return szgi_equality_maximum.recheck(&at);
}

static bool reaches(int64_t count, const double *w, const szgi_phase *theta) {
    const instance at = szgi_instance(count, w, theta);
    sampled_range r = szgi_lemma_sample(&at, true, 5040);
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += 2.0 * w[i];
    return fmax(r.largest, -r.least) > sum - 1e-4;
}

/* Against the second path and against enclosures: an unequal pair with small denominators is apart.
 */
START_TEST(small_denominators) {
    int64_t equal = 0, trials = test_trials(3000);
    for (int64_t trial = 0; trial < trials; trial++) {
        szgi_stream stream = {test_seed(), (uint32_t)trial, 11};
        int64_t count = 2 + szgi_random_below(&stream, 0, TERMS - 1);
        double w[TERMS];
        szgi_phase theta[TERMS];
        for (int64_t i = 0; i < count; i++) {
            w[i] = szgi_random_below(&stream, 10 + (uint64_t)i, 3) ? 0.0 : 1.0;
            int64_t q = 1 + szgi_random_below(&stream, 20 + (uint64_t)i, 3);
            theta[i] =
                szgi_phase_ratio(szgi_random_below(&stream, 30 + (uint64_t)i, 4 * q) - 2 * q, q);
        }
        bool exact = decide(count, w, theta);
        ck_assert_int_eq(exact, decide_again(count, w, theta));
        szg_range f;
        const instance at = {.weights = count, .w = w};
        szg_interval sum;
        ck_szg_ok(
            szgi_ball_range(test_context(), count, w, theta, SZGI_PHASE_TIMES_INDEX, 128, &f));
        ck_szg_ok(szgi_quantity_enclose(test_context(), Q_TWO_SUM, &at, &sum));
        bool apart = szgi_interval_compare(szgi_range_modulus(&f), sum) != 0;
        ck_assert_msg(exact != apart, "trial %lld: exact %d, apart %d", (long long)trial, exact,
                      apart);
        equal += exact;
    }
    ck_assert(equal > trials / 20 && equal < trials * 19 / 20);
}
END_TEST

START_TEST(by_hand) {
    const szgi_phase zero = szgi_phase_ratio(0, 1), half = szgi_phase_ratio(1, 2),
                     one = szgi_phase_ratio(1, 1);
    const szgi_phase third = szgi_phase_ratio(1, 3), f1 = szgi_phase_radians(1.0),
                     f2 = szgi_phase_radians(2.0);
    const szgi_phase f0 = szgi_phase_radians(0.0), pi = szgi_phase_radians(3.141592653589793);
    const double all[] = {1, 1, 1}, tail[] = {0, 1, 1}, sparse[] = {1, 0, 1}, none[] = {0, 0, 0};
    const double odd[] = {0, 1, 0, 1};
    const struct {
        int64_t count;
        const double *w;
        szgi_phase theta[4];
        bool equal;
    } cases[] = {
        {3, all, {zero, zero, zero}, true},
        {3, all, {f2, zero, zero}, true},     /* theta_0 never matters */
        {3, all, {zero, zero, one}, true},    /* 2 pi */
        {3, all, {zero, zero, half}, false},  /* 2 theta_2 = pi; a shift spoils theta_1 */
        {3, tail, {zero, zero, half}, true},  /* both terms are -1 at t = pi */
        {3, all, {zero, third, third}, true}, /* aligned */
        {3, all, {zero, f1, f1}, true},       /* one float */
        {3, all, {zero, f1, f2}, false},      /* two floats: pi is irrational */
        {3, all, {zero, zero, f1}, false},    /* a float and a rational */
        {3, all, {zero, f0, one}, true},      /* a float zero is rational */
        {3, all, {zero, zero, pi}, false},    /* the double nearest pi is not pi */
        {3, sparse, {zero, f1, f2}, true},    /* one index left */
        {3, none, {zero, f1, f2}, true},      /* 0 = 0 */
        {4, odd, {zero, zero, zero, zero}, true},
        {4, odd, {zero, f1, zero, f1}, true},
        {4, odd, {zero, zero, zero, third}, false}, /* 3 theta_3 = pi: t with t = 0, 3t = pi no */
        {4, odd, {zero, zero, zero, szgi_phase_ratio(2, 3)}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool got = decide(cases[i].count, cases[i].w, cases[i].theta);
        ck_assert_msg(got == cases[i].equal, "case %zu: %d", i, got);
        ck_assert_msg(decide_again(cases[i].count, cases[i].w, cases[i].theta) == got,
                      "case %zu: the second path disagrees", i);
        ck_assert_msg(reaches(cases[i].count, cases[i].w, cases[i].theta) == got || i == 10,
                      "case %zu: samples disagree", i);
    }
}
END_TEST

/* w_0 = 0 and every term at -1: i (theta_i + t) = pi. */
START_TEST(half_turns) {
    for (int64_t trial = 0; trial < test_trials(300); trial++) {
        szgi_stream stream = {test_seed(), (uint32_t)trial, 12};
        double w[TERMS] = {0.0};
        szgi_phase theta[TERMS] = {szgi_phase_ratio(0, 1)};
        int64_t a = szgi_random_below(&stream, 0, 9), b = 1 + szgi_random_below(&stream, 1, 7);
        for (int64_t i = 1; i < TERMS; i++) {
            int64_t m = szgi_random_below(&stream, 10 + (uint64_t)i, i);
            w[i] = 1.0;
            theta[i] = szgi_phase_ratio((2 * m + 1) * b - a * i, i * b);
        }
        ck_assert(decide(TERMS, w, theta));
        ck_assert(decide_again(TERMS, w, theta));
        w[0] = 1.0; /* the constant then pulls the other way: equality only by another shift */
        bool positive = decide(TERMS, w, theta);
        ck_assert_int_eq(positive, decide_again(TERMS, w, theta));
    }
}
END_TEST

START_TEST(huge_numbers) {
    const double w[] = {0.0, 1.0, 1.0};
    szgi_phase theta[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(INT64_MAX, INSTANCE_PHASE_MAX),
                          szgi_phase_ratio(INT64_MIN, INSTANCE_PHASE_MAX)};
    bool equality;
    ck_szg_ok(szgi_lemma_equality(test_context(), 3, w, theta, &equality));
    theta[1].q = INSTANCE_PHASE_MAX + 1;
    ck_szg_fails(SZG_ENOCONV, "2^40", szgi_lemma_equality(test_context(), 3, w, theta, &equality));
}
END_TEST

TEST_FILE("criterion") {
    test_add(suite, "small_denominators", small_denominators);
    test_add(suite, "by_hand", by_hand);
    test_add(suite, "half_turns", half_turns);
    test_add(suite, "huge_numbers", huge_numbers);
}

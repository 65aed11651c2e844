/* Quantile curves against closed forms and against sorting everything. */
#include "suite.h"

#include <math.h>
#include <stdlib.h>

#include "quantile.h"

static const double pi = 3.14159265358979323846;

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static quantiles of(int64_t count, const double *value, int64_t zeros) {
    quantiles out;
    ck_szg_ok(szgi_quantiles_of(test_context(), count, value, zeros, &out));
    return out;
}

/* Each value `times` times, in order: both lists of the same length can be compared one by one. */
static double *repeated(int64_t count, const double *value, int64_t zeros, int64_t times) {
    int64_t total = (count + zeros) * times;
    double *out = new_numbers(total);
    for (int64_t i = 0; i < total; i++)
        out[i] = i / times < count ? value[i / times] : 0;
    qsort(out, (size_t)total, sizeof *out, compare);
    return out;
}

static double slow_distance(int64_t na, const double *a, int64_t za, int64_t nb, const double *b,
                            int64_t zb) {
    int64_t total = (na + za) * (nb + zb);
    double *left = repeated(na, a, za, nb + zb), *right = repeated(nb, b, zb, na + za), sum = 0;
    for (int64_t i = 0; i < total; i++)
        sum += fabs(left[i] - right[i]) / (double)total;
    szgi_memory_free(left);
    szgi_memory_free(right);
    return sum;
}

/* Bound: each of the fast sum's at most na + nb + 2 terms carries 4 eps of its own and each
 * addition one eps of the sum; the slow sum has na nb additions: eps na nb of the sum. */
START_TEST(distance_is_that_of_all_values) {
    for (int64_t trial = 0; trial < test_trials(50); trial++) {
        const szgi_stream stream = {.seed = test_seed(), .step = (uint32_t)trial, .purpose = 8801};
        int64_t na = 1 + (int64_t)szgi_random_below(&stream, 0, 17);
        int64_t nb = 1 + (int64_t)szgi_random_below(&stream, 1, 17);
        int64_t za = (int64_t)szgi_random_below(&stream, 2, 9) - 4, zb = trial % 3;
        double *a = new_numbers(na), *b = new_numbers(nb), size = 0;
        za = za < 0 ? 0 : za;
        for (int64_t i = 0; i < na; i++)
            size = fmax(size, fabs(a[i] = szgi_random_normal(&stream, 10 + (uint64_t)i)));
        for (int64_t i = 0; i < nb; i++)
            size = fmax(size, fabs(b[i] = 3 + szgi_random_normal(&stream, 50 + (uint64_t)i)));
        quantiles left = of(na, a, za), right = of(nb, b, zb);
        double want = slow_distance(na, a, za, nb, b, zb);
        double terms = (double)((na + za) * (nb + zb)) + 40;
        ck_close(szgi_quantiles_distance(&left, &right), want, terms * 2.3e-16 * (want + 2 * size));
        ck_close(szgi_quantiles_distance(&right, &left), want, terms * 2.3e-16 * (want + 2 * size));
        ck_assert_double_eq(szgi_quantiles_distance(&left, &left), 0);
        szgi_quantiles_free(&left);
        szgi_quantiles_free(&right);
        szgi_memory_free(a);
        szgi_memory_free(b);
    }
}
END_TEST

/* The symbol of rho^|k| is (1 - rho^2) / (1 - 2 rho cos t + rho^2), which falls from t = 0 to pi:
 * the q-quantile is its value at pi (1 - q). Of m samples at equal angles the k-th quantile differs
 * from that at (k + 1/2)/m by at most the change of the symbol over half a step to either side. */
START_TEST(quantiles_of_a_kms_symbol) {
    enum { SAMPLES = 1000 };
    const double rho = 0.7;
    double sample[SAMPLES], *share, *value;
    int64_t count;
    for (int i = 0; i < SAMPLES; i++)
        sample[i] = (1 - rho * rho) / (1 - 2 * rho * cos(2 * pi * i / SAMPLES) + rho * rho);
    quantiles curve = of(SAMPLES, sample, 0);
    ck_szg_ok(szgi_quantiles_curve(test_context(), &curve, &count, &share, &value));
    ck_assert_int_eq(count, SAMPLES);
    for (int i = 0; i < SAMPLES; i++) {
        double low = pi * fmax(0, 1 - share[i] - 1.0 / SAMPLES);
        double high = pi * fmin(1, 1 - share[i] + 1.0 / SAMPLES);
        double most = (1 - rho * rho) / (1 - 2 * rho * cos(low) + rho * rho);
        double least = (1 - rho * rho) / (1 - 2 * rho * cos(high) + rho * rho);
        ck_close(share[i], (i + 0.5) / SAMPLES, 1e-15);
        ck_assert_msg(value[i] >= least - 1e-13 && value[i] <= most + 1e-13, "%g not in [%g, %g]",
                      value[i], least, most);
    }
    szgi_quantiles_free(&curve);
    szgi_memory_free(share);
    szgi_memory_free(value);
}
END_TEST

START_TEST(zeros_stand_between) {
    const double given[] = {3, -2, NAN, 1, -INFINITY, -1};
    double *share, *value, beyond;
    int64_t count;
    quantiles curve = of(6, given, 6);
    ck_assert_int_eq(curve.total, 10);
    ck_szg_ok(szgi_quantiles_curve(test_context(), &curve, &count, &share, &value));
    const double want_value[] = {-2, -1, 0, 0, 0, 0, 0, 0, 1, 3};
    ck_assert_int_eq(count, 10);
    for (int i = 0; i < 10; i++) {
        ck_close(share[i], (i + 0.5) / 10, 1e-15);
        ck_assert_double_eq(value[i], want_value[i]);
    }
    for (int i = 0; i < 10; i++)
        ck_assert_double_eq(szgi_quantiles_at(&curve, share[i]), want_value[i]);
    ck_assert_double_eq(szgi_quantiles_at(&curve, 1), 3);
    ck_assert_int_eq(szgi_quantiles_within(&curve, -1, 1, &beyond), 8);
    ck_assert_double_eq(beyond, 2);
    ck_assert_int_eq(szgi_quantiles_within(&curve, 0.5, 4, &beyond), 2);
    ck_assert_double_eq(beyond, 2.5);
    ck_assert_int_eq(szgi_quantiles_within(&curve, -2, 3, &beyond), 10);
    ck_assert_double_eq(beyond, 0);
    szgi_quantiles_free(&curve);
    szgi_memory_free(share);
    szgi_memory_free(value);
}
END_TEST

/* A hundred million zeros take no memory, and no time. */
START_TEST(lists_of_zeros_and_of_nothing) {
    double *share, *value, beyond, one = 1;
    int64_t count, many = 100000000;
    quantiles zeros = of(0, NULL, many), none = of(0, NULL, 0), ones = of(1, &one, 0);
    ck_szg_ok(szgi_quantiles_curve(test_context(), &zeros, &count, &share, &value));
    ck_assert_int_eq(count, QUANTILES_ZEROS);
    ck_assert_double_eq(share[0], 0.5 / (double)many);
    ck_assert_double_eq(share[QUANTILES_ZEROS - 1], ((double)many - 0.5) / (double)many);
    for (int i = 1; i < QUANTILES_ZEROS; i++)
        ck_close(share[i] - share[i - 1], 1.0 / (QUANTILES_ZEROS - 1), 3.0 / (double)many);
    szgi_memory_free(share);
    szgi_memory_free(value);
    ck_szg_ok(szgi_quantiles_curve(test_context(), &none, &count, &share, &value));
    ck_assert_int_eq(count, 0);
    szgi_memory_free(share);
    szgi_memory_free(value);
    ck_assert_double_eq(szgi_quantiles_distance(&zeros, &ones), 1);
    ck_assert(isnan(szgi_quantiles_distance(&zeros, &none)));
    ck_assert_int_eq(szgi_quantiles_within(&zeros, 0, 0, &beyond), many);
    ck_assert_int_eq(szgi_quantiles_within(&zeros, 1, 2, &beyond), 0);
    ck_assert_double_eq(beyond, 1);
    ck_assert_int_eq(szgi_quantiles_within(&none, 1, 2, &beyond), 0);
    szgi_quantiles_free(&zeros);
    szgi_quantiles_free(&none);
    szgi_quantiles_free(&ones);
}
END_TEST

static szg_status one_curve(void) {
    const double given[] = {2, 1};
    quantiles curve;
    double *share = NULL, *value = NULL;
    int64_t count;
    SZG_TRY(szgi_quantiles_of(test_context(), 2, given, 1, &curve));
    szg_status status = szgi_quantiles_curve(test_context(), &curve, &count, &share, &value);
    szgi_memory_free(share);
    szgi_memory_free(value);
    szgi_quantiles_free(&curve);
    return status;
}

START_TEST(refused_memory) {
    ck_survives_failed_allocations(2, one_curve());
}
END_TEST

TEST_FILE("quantile") {
    test_add(suite, "distance_is_that_of_all_values", distance_is_that_of_all_values);
    test_add(suite, "quantiles_of_a_kms_symbol", quantiles_of_a_kms_symbol);
    test_add(suite, "zeros_stand_between", zeros_stand_between);
    test_add(suite, "lists_of_zeros_and_of_nothing", lists_of_zeros_and_of_nothing);
    test_add(suite, "refused_memory", refused_memory);
}

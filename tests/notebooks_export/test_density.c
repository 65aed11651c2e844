/* Kernel densities against the plain sum, and their integral. */
#include <math.h>
#include <stdlib.h>

#include "density.h"
#include "suite.h"

enum { VALUES = 40, PLACES = 4001 };

static int ascending(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

/* `count` values, among them repeats; ascending. */
static void draw(uint32_t step, int64_t count, double *value) {
    const szgi_stream stream = {test_seed(), step, 41};
    for (int64_t i = 0; i < count; i++)
        value[i] = round(8 * szgi_random_normal(&stream, (uint64_t)i)) / 8 + (i % 3) * step;
    qsort(value, (size_t)count, sizeof *value, ascending);
}

static double normal_density(double x) {
    return exp(-x * x / 2) / sqrt(2 * M_PI);
}

static double plain_sum(int64_t count, const double *value, double width, double at) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += normal_density((at - value[i]) / width) / width / (double)count;
    return sum;
}

/* At most |f''| <= 1 / (width^3 sqrt(2 pi)) / mass, and a Gaussian's mass between the ends is 0.47
 * or more for the width that Silverman's rule gives here; the rule of trapezes is off by at most
 * (b - a) step^2 / 12 of it. */
static double trapeze_error(double span, double width) {
    double step = span / (PLACES - 1);
    return span * step * step / 12 / (width * width * width * sqrt(2 * M_PI)) / 0.47;
}

START_TEST(the_density_is_the_sum_of_kernels_over_its_integral) {
    for (uint32_t trial = 0; trial < test_trials(20); trial++) {
        static double value[VALUES], at[PLACES], density[PLACES];
        int64_t count = 3 + trial % (VALUES - 2);
        draw(trial + 1, count, value);
        double width = szgi_density_bandwidth(count, value), span = value[count - 1] - value[0];
        if (!(span > 0))
            continue;
        ck_szg_ok(szgi_density_estimate(test_context(), count, value, width, PLACES, at, density));
        double integral = 0, sums = 0;
        for (int p = 0; p < PLACES; p++) {
            double weight = (p == 0 || p == PLACES - 1 ? 0.5 : 1) * span / (PLACES - 1);
            integral += weight * density[p];
            sums += weight * plain_sum(count, value, width, at[p]);
            ck_close(at[p], value[0] + span * p / (PLACES - 1), 1e-12 * (fabs(value[0]) + span));
        }
        double bound = trapeze_error(span, width) + 1e-12;
        ck_close(integral, 1, bound);
        /* The same sum, scaled by its integral as trapezes find it. */
        for (int p = 0; p < PLACES; p += 97) {
            double want = plain_sum(count, value, width, at[p]) / sums;
            ck_close(density[p], want, want * 2.2 * bound + 1e-15);
        }
    }
}
END_TEST

/* Silverman 1986, (3.31), from sums and order statistics taken anew. */
START_TEST(the_bandwidth_is_silvermans) {
    static double value[VALUES];
    for (uint32_t trial = 0; trial < 20; trial++) {
        int64_t count = 4 * (1 + trial % 9) + 1; /* quartiles are values */
        draw(trial + 1, count, value);
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < count; i++) {
            sum += value[i];
            squares += value[i] * value[i];
        }
        double n = (double)count, deviation = sqrt((squares - sum * sum / n) / (n - 1));
        double range = (value[3 * (count - 1) / 4] - value[(count - 1) / 4]) / 1.34;
        double spread = range > 0 && range < deviation ? range : deviation;
        /* The one-pass variance loses what the squares exceed the spread by. */
        double bound = 1e-13 * (1 + squares / (spread * spread)) * spread;
        ck_close(szgi_density_bandwidth(count, value), 0.9 * spread / pow(n, 0.2), bound);
    }
    const double equal[] = {3, 3, 3, 3}, outlier[] = {0, 0, 0, 0, 0, 0, 0, 0, 8};
    ck_assert(szgi_density_bandwidth(4, equal) == 0);
    /* No quartile range: the deviation, whose square is 64 / 9. */
    ck_close(szgi_density_bandwidth(9, outlier), 0.9 * (8.0 / 3) / pow(9, 0.2), 1e-14);
}
END_TEST

START_TEST(quantiles_lie_between_neighbours) {
    const double value[] = {1, 2, 4, 8};
    ck_assert(szgi_density_quantile(4, value, 0) == 1 && szgi_density_quantile(4, value, 1) == 8);
    ck_close(szgi_density_quantile(4, value, 0.5), 3, 1e-15);
    ck_close(szgi_density_quantile(4, value, 0.25), 1.75, 1e-15);
    ck_assert(szgi_density_quantile(1, value, 0.3) == 1);
}
END_TEST

START_TEST(a_cancelled_density_stops) {
    szg_context *context = NULL;
    ck_szg_ok(szg_context_open(NULL, &context));
    szg_context_cancel(context);
    const double value[] = {0, 1, 3};
    double at[4], density[4];
    ck_assert_int_eq(szgi_density_estimate(context, 3, value, 1, 4, at, density), SZG_ECANCEL);
    szg_context_close(&context);
}
END_TEST

TEST_FILE("density") {
    test_add(suite, "the density is the sum of kernels over its integral",
             the_density_is_the_sum_of_kernels_over_its_integral);
    test_add(suite, "the bandwidth is Silverman's", the_bandwidth_is_silvermans);
    test_add(suite, "quantiles lie between neighbours", quantiles_lie_between_neighbours);
    test_add(suite, "a cancelled density stops", a_cancelled_density_stops);
}

/* The maximum of a Taylor polynomial in balls, beside values of it. */
#include <math.h>

#include "../../lib/ball/maximum.h"
#include "rounding.h"
#include "suite.h"

enum { COUNT = 7, POINTS = 64, BITS = 128 };

/* The polynomial at s, rounded after 256 bits. */
static double value_at(const double *a, double s) {
    arb_t sum, x;
    arb_init(sum);
    arb_init(x);
    arb_set_d(x, s);
    for (int q = COUNT - 1; q >= 0; q--) {
        arb_mul(sum, sum, x, 256);
        arb_set_d(x, a[q]);
        arb_add(sum, sum, x, 256);
        arb_set_d(x, s);
    }
    const double value = arf_get_d(arb_midref(sum), ARF_RND_NEAR);
    arb_clear(sum);
    arb_clear(x);
    return value;
}

/* szgi_taylor_raise from `lower` on. */
static double bound_of(const double *a, double rest, double radius, double lower,
                       double tolerance) {
    arb_ptr coefficient = _arb_vec_init(COUNT);
    mag_t remainder;
    arf_t least, slack, upper;
    mag_init(remainder);
    arf_init(least);
    arf_init(slack);
    arf_init(upper);
    for (int q = 0; q < COUNT; q++)
        arb_set_d(coefficient + q, a[q]);
    mag_set_d(remainder, rest);
    arf_set_d(least, lower);
    arf_set_d(slack, tolerance);
    arf_set(upper, least);
    const taylor t = {COUNT, coefficient, remainder, BITS};
    szgi_taylor_raise(&t, radius, least, slack, upper);
    const double bound = arf_get_d(upper, ARF_RND_CEIL);
    _arb_vec_clear(coefficient, COUNT);
    mag_clear(remainder);
    arf_clear(least);
    arf_clear(slack);
    arf_clear(upper);
    return bound;
}

/* The largest of the values at POINTS + 1 points. */
static double largest_value(const double *a, double radius) {
    double largest = -INFINITY;
    for (int i = 0; i <= POINTS; i++)
        largest = fmax(largest, value_at(a, radius * (2 * i - POINTS) / POINTS));
    return largest;
}

/* No value exceeds the bound, whatever the tolerance with which the search may end: from nothing to
 * the spread of the values, where the first bound is taken as it is. */
START_TEST(no_value_is_above) {
    const szgi_stream stream = {test_seed(), 0, 31};
    for (uint64_t trial = 0; trial < 3000; trial++) {
        double a[COUNT], spread = 0;
        const double radius = ldexp(1, -(int)(trial % 4));
        for (uint64_t q = 0; q < COUNT; q++)
            a[q] = szgi_random_normal(&stream, COUNT * trial + q);
        a[2] -= (double)(trial % 5);
        a[3] *= (double)(1 + trial % 2 * 3);
        for (int q = 1; q < COUNT; q++)
            spread += fabs(a[q]) * pow(radius, q);
        const double tolerance = trial % 7 ? ldexp(spread, -(int)(trial % 7)) : 0;
        const double rest = trial % 3 ? 0 : ldexp(spread, -4);
        const double largest = largest_value(a, radius) + rest;
        const double bound = bound_of(a, rest, radius, value_at(a, 0), tolerance);
        ck_assert_msg(largest <= bound, "trial %d: %.17g above %.17g", (int)trial, largest, bound);
    }
}
END_TEST

/* 1 - m (s - v)^2 + s^3 / 64: its slope -2 m (s - v) + 3 s^2 / 64 has one root near v. The bound is
 * as near as it was asked for, so the search did not end with its budget. */
START_TEST(a_vertex_is_found) {
    const double vertex[] = {0, 0.25, -0.3125, 0.4375}, bend[] = {1, 3, 1024};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            const double v = vertex[i], m = bend[k], third = 1.0 / 64;
            const double a[COUNT] = {1 - m * v * v, 2 * m * v, -m, third};
            const double at = 2 * m * v / (m + sqrt(m * m - 6 * m * v * third));
            const double largest = value_at(a, at);
            const double bound = bound_of(a, 0, 0.5, largest - 8 * UNIT, 16 * UNIT);
            ck_assert(largest <= bound && bound <= largest + 9 * UNIT);
        }
}
END_TEST

TEST_FILE("maximum") {
    test_add(suite, "no_value_is_above", no_value_is_above);
    test_add(suite, "a_vertex_is_found", a_vertex_is_found);
}

/* Intervals, phases, and balls by themselves. */
#include <float.h>
#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ball/arb.h"
#include "rounding.h"
#include "suite.h"

static bool congruent(szgi_phase a, szgi_phase b, int64_t multiplier) {
    return szgi_phase_congruent(&a, &b, multiplier);
}

START_TEST(test_congruence) {
    ck_assert(congruent(szgi_phase_ratio(1, 3), szgi_phase_ratio(7, 3), 1));
    ck_assert(congruent(szgi_phase_ratio(1, 3), szgi_phase_ratio(2, 6), 1));
    ck_assert(!congruent(szgi_phase_ratio(1, 3), szgi_phase_ratio(4, 3), 1));
    ck_assert(congruent(szgi_phase_ratio(1, 3), szgi_phase_ratio(4, 3), 2));
    ck_assert(congruent(szgi_phase_ratio(-1, 1), szgi_phase_ratio(1, 1), 1));
    ck_assert(congruent(szgi_phase_ratio(0, 1), szgi_phase_ratio(1, 4), 8));
    ck_assert(!congruent(szgi_phase_ratio(0, 1), szgi_phase_ratio(1, 4), 4));
    ck_assert(congruent(szgi_phase_ratio(INT64_MAX, INT64_MAX), szgi_phase_ratio(1, 1), INT64_MAX));
    ck_assert(congruent(szgi_phase_radians(1), szgi_phase_radians(1), 5));
    ck_assert(!congruent(szgi_phase_radians(0), szgi_phase_radians(6.283185307179586), 1));
    ck_assert(congruent(szgi_phase_radians(0), szgi_phase_ratio(2, 1), 1));
    ck_assert(congruent(szgi_phase_radians(-0.0), szgi_phase_ratio(4, 1), 1));
    ck_assert(!congruent(szgi_phase_radians(3.141592653589793), szgi_phase_ratio(1, 1), 2));
    ck_assert(congruent(szgi_phase_radians(3), szgi_phase_ratio(1, 1), 0));
}
END_TEST

/* a op b in long double lies in the interval: 64 bits are exact enough to tell. */
START_TEST(test_intervals) {
    const szgi_stream stream = {test_seed(), 0, 6};
    for (uint64_t i = 0; i < 2000; i++) {
        const double x = test_real(&stream, 4 * i), y = test_real(&stream, 4 * i + 1);
        const szg_interval a = {fmin(x, y), fmax(x, y)};
        const double u = test_real(&stream, 4 * i + 2), v = test_real(&stream, 4 * i + 3);
        const szg_interval b = {fmin(u, v), fmax(u, v)};
        const szg_interval sum = szgi_interval_add(a, b), rest = szgi_interval_subtract(a, b);
        const szg_interval product = szgi_interval_multiply(a, b);
        ck_assert(sum.lo <= (long double)x + u && (long double)x + u <= sum.hi);
        ck_assert(rest.lo <= (long double)y - v && (long double)y - v <= rest.hi);
        ck_assert(product.lo <= (long double)x * v && (long double)x * v <= product.hi);
        ck_assert(product.lo <= (long double)y * u && (long double)y * u <= product.hi);
    }
    const szg_interval bad = szgi_interval_add((szg_interval){NAN, 1}, (szg_interval){0, 0});
    ck_assert(bad.lo == -INFINITY && bad.hi == INFINITY);
    const szg_interval infinite =
        szgi_interval_multiply((szg_interval){0, 1}, (szg_interval){1, INFINITY});
    ck_assert(infinite.lo <= 0 && infinite.hi == INFINITY);
    ck_assert_int_eq(szgi_interval_compare((szg_interval){0, 1}, (szg_interval){1, 2}), 0);
    ck_assert_int_eq(szgi_interval_compare((szg_interval){0, 1}, (szg_interval){2, 2}), -1);
    ck_assert_int_eq(szgi_interval_compare((szg_interval){3, 4}, (szg_interval){2, 2}), 1);
    ck_assert_int_eq(szgi_interval_compare((szg_interval){NAN, NAN}, (szg_interval){2, 2}), 0);
}
END_TEST

/* `value`, up to `slack`, in an enclosure that is no wider than an ulp each side and what 128 bits
 * leave of 0. */
static void ck_ball(const arb_t x, double value, double slack) {
    const szg_interval in = szgi_interval_of(x);
    ck_assert_msg(in.lo - slack <= value && value <= in.hi + slack, "[%.17g, %.17g], not %.17g",
                  in.lo, in.hi, value);
    ck_assert(in.hi - in.lo <= 2 * DBL_EPSILON * fabs(value) + 0x1p-100);
}

START_TEST(test_phases) {
    const szgi_phase sixth = szgi_phase_ratio(1, 6), one = szgi_phase_radians(1);
    acb_t z;
    arb_t x;
    acb_init(z);
    arb_init(x);
    szgi_phase_exp(z, &sixth, 3, 128);
    ck_ball(acb_realref(z), 0, 0);
    ck_ball(acb_imagref(z), 1, 0);
    szgi_phase_polar(z, 2, 3, &sixth, 128);
    ck_ball(acb_realref(z), 0, 0);
    ck_ball(acb_imagref(z), 2, 0);
    szgi_phase_polar(z, 2, -3, &one, 128);
    ck_ball(acb_realref(z), 2 * cos(3), gamma_of(2) * 2); /* libm: less than an ulp */
    ck_ball(acb_imagref(z), -2 * sin(3), gamma_of(2) * 2);
    szgi_phase_exp(z, &one, INT64_MAX, 128); /* 1 - cos^2 = sin^2 at any angle */
    arb_zero(x);
    szgi_ball_accumulate(x, acb_realref(z), acb_realref(z), 128);
    szgi_ball_accumulate(x, acb_imagref(z), acb_imagref(z), 128);
    ck_ball(x, 1, 0);
    szgi_phase_angle(x, &sixth, 128);
    arb_sin(x, x, 128);
    ck_ball(x, 0.5, 0);
    szgi_phase_angle(x, &one, 128);
    ck_assert(arb_is_one(x));
    acb_clear(z);
    arb_clear(x);
}
END_TEST

START_TEST(test_enclosures) {
    arb_t x;
    arb_init(x);
    arb_set_d(x, 0.1);
    szg_interval in = szgi_interval_of(x);
    ck_assert(in.lo == 0.1 && in.hi == 0.1); /* a double is itself */
    arb_mul_2exp_si(x, x, 2000);             /* beyond DBL_MAX */
    in = szgi_interval_of(x);
    ck_assert(in.lo == DBL_MAX && in.hi == INFINITY);
    arb_set_si(x, 1);
    arb_div_si(x, x, 3, 128);
    in = szgi_interval_of(x);
    ck_assert(in.hi == nextafter(in.lo, 1) && in.lo <= 1.0 / 3 && 1.0 / 3 <= in.hi);
    arb_div_si(x, x, 0, 128); /* no number: nothing is known */
    in = szgi_interval_of(x);
    ck_assert(in.lo == -INFINITY && in.hi == INFINITY);
    arb_set_d(x, NAN);
    in = szgi_interval_of(x);
    ck_assert(in.lo == -INFINITY && in.hi == INFINITY);
    arb_clear(x);
}
END_TEST

START_TEST(test_phase_errors) {
    const szgi_phase none = szgi_phase_ratio(1, 0), endless = szgi_phase_radians(-INFINITY);
    const szgi_phase good[] = {szgi_phase_ratio(INT64_MIN, INT64_MAX), szgi_phase_radians(-0.0)};
    ck_szg_fails(SZG_EDATA, "phase 7: the denominator 0",
                 szgi_check_phase(test_context(), &none, "phase", 7));
    ck_szg_fails(SZG_EDATA, "not an angle", szgi_check_phase(test_context(), &endless, "phase", 7));
    for (int i = 0; i < 2; i++)
        ck_szg_ok(szgi_check_phase(test_context(), &good[i], "phase", i));
    ck_szg_ok(szgi_check_bits(test_context(), BITS_MIN));
    ck_szg_ok(szgi_check_bits(test_context(), BITS_MAX));
    ck_szg_fails(SZG_EINVAL, "bits", szgi_check_bits(test_context(), BITS_MIN - 1));
    ck_szg_fails(SZG_EINVAL, "bits", szgi_check_bits(test_context(), BITS_MAX + 1));
}
END_TEST

/* ---- What FLINT and GMP do for want of memory ---- */

#ifdef __SANITIZE_ADDRESS__
/* Memory that cannot be had is refused, as without the sanitizer. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}
#endif

static const size_t TOO_MUCH = (size_t)1 << 60; /* beyond any address space */

static void end_with_code(size_t bytes) {
    _exit(bytes == TOO_MUCH ? 42 : bytes == 0 ? 43 : 44);
}

static void give_up(int way) {
    void *(*gmp_allocate)(size_t);
    mp_get_memory_functions(&gmp_allocate, NULL, NULL);
    if (way == 0)
        flint_free(flint_malloc(TOO_MUCH));
    else if (way == 1)
        flint_free(flint_calloc(TOO_MUCH / 16, 16));
    else if (way == 2)
        flint_free(flint_realloc(flint_malloc(8), TOO_MUCH));
    else if (way == 3)
        free(gmp_allocate(TOO_MUCH));
    else
        flint_abort();
}

START_TEST(test_end) {
    for (int way = 0; way < 5; way++) {
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            szgi_ball_set_end(end_with_code);
            give_up(way);
            _exit(0);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == (way < 4 ? 42 : 43),
                      "way %d: status %#x", way, (unsigned)status);
    }
}
END_TEST

TEST_FILE("number") {
    test_add(suite, "congruence", test_congruence);
    test_add(suite, "intervals", test_intervals);
    test_add(suite, "phases", test_phases);
    test_add(suite, "enclosures", test_enclosures);
    test_add(suite, "phase errors", test_phase_errors);
    test_add(suite, "end", test_end);
}

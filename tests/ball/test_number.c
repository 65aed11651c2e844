/* Intervals, phases and registers. */
#include <flint/flint.h>
#include <float.h>
#include <gmp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ball/ball.h"
#include "rounding.h"
#include "suite.h"

static szgi_phase ratio(int64_t p, int64_t q) {
    return (szgi_phase){.rational = true, .p = p, .q = q};
}

static szgi_phase radians(double x) {
    return (szgi_phase){.radians = x};
}

static bool congruent(szgi_phase a, szgi_phase b, int64_t multiplier) {
    return szgi_phase_congruent(&a, &b, multiplier);
}

START_TEST(test_congruence) {
    ck_assert(congruent(ratio(1, 3), ratio(7, 3), 1));
    ck_assert(congruent(ratio(1, 3), ratio(2, 6), 1));
    ck_assert(!congruent(ratio(1, 3), ratio(4, 3), 1));
    ck_assert(congruent(ratio(1, 3), ratio(4, 3), 2));
    ck_assert(congruent(ratio(-1, 1), ratio(1, 1), 1));
    ck_assert(congruent(ratio(0, 1), ratio(1, 4), 8));
    ck_assert(!congruent(ratio(0, 1), ratio(1, 4), 4));
    ck_assert(congruent(ratio(INT64_MAX, INT64_MAX), ratio(1, 1), INT64_MAX));
    ck_assert(congruent(radians(1), radians(1), 5));
    ck_assert(!congruent(radians(0), radians(6.283185307179586), 1));
    ck_assert(congruent(radians(0), ratio(2, 1), 1));
    ck_assert(congruent(radians(-0.0), ratio(4, 1), 1));
    ck_assert(!congruent(radians(3.141592653589793), ratio(1, 1), 2));
    ck_assert(congruent(radians(3), ratio(1, 1), 0));
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

enum { A, B, C, D, E, REGISTERS };

static void ck_register(const szgi_balls *balls, int64_t r, double re, double im, double slack) {
    szg_interval x, y;
    ck_szg_ok(szgi_balls_get(test_context(), balls, r, &x, &y));
    ck_assert_msg(x.lo - slack <= re && re <= x.hi + slack, "re [%.17g, %.17g], not %.17g", x.lo,
                  x.hi, re);
    ck_assert_msg(y.lo - slack <= im && im <= y.hi + slack, "im [%.17g, %.17g], not %.17g", y.lo,
                  y.hi, im);
    /* an ulp each side, and what 128 bits leave of 0 */
    ck_assert(x.hi - x.lo <= 2 * DBL_EPSILON * fabs(re) + 0x1p-100);
}

START_TEST(test_registers) {
    szg_context *ctx = test_context();
    szgi_balls *b;
    const szgi_phase sixth = ratio(1, 6), one = radians(1);
    ck_szg_ok(szgi_balls_open(ctx, REGISTERS, 128, &b));
    ck_szg_ok(szgi_balls_set(ctx, b, A, (szg_c64){3, 4}));
    ck_szg_ok(szgi_balls_apply(ctx, b, SZG_BALL_MODULUS, B, A, A));
    ck_register(b, B, 5, 0, 0);
    ck_szg_ok(szgi_balls_apply(ctx, b, SZG_BALL_CONJUGATE, C, A, 0));
    ck_szg_ok(szgi_balls_apply(ctx, b, SZG_BALL_MULTIPLY, C, A, C));
    ck_register(b, C, 25, 0, 0);
    ck_szg_ok(szgi_balls_apply(ctx, b, SZG_BALL_ROOT, C, C, 0));
    ck_register(b, C, 5, 0, 0);
    ck_szg_ok(szgi_balls_apply(ctx, b, SZG_BALL_DIVIDE, D, A, C));
    ck_register(b, D, 0.6, 0.8, UNIT); /* of the digits */
    ck_szg_ok(szgi_balls_apply(ctx, b, SZG_BALL_IMAGINARY, D, A, 0));
    ck_register(b, D, 4, 0, 0);
    ck_szg_ok(szgi_balls_set_polar(ctx, b, D, 2, 3, &sixth));
    ck_register(b, D, 0, 2, 0);
    ck_szg_ok(szgi_balls_set_polar(ctx, b, D, 2, -3, &one));
    ck_register(b, D, 2 * cos(3), -2 * sin(3), gamma_of(2) * 2);
    ck_szg_ok(szgi_balls_set_angle(ctx, b, E, &sixth));
    ck_szg_ok(szgi_balls_apply(ctx, b, SZG_BALL_SIN, E, E, 0));
    ck_szg_ok(szgi_balls_set_ratio(ctx, b, D, 1, 2));
    ck_register(b, E, 0.5, 0, 0);
    int sign;
    ck_szg_ok(szgi_balls_compare(ctx, b, E, D, &sign));
    ck_assert_int_eq(sign, 0); /* equal numbers are never decided by enclosures */
    ck_szg_ok(szgi_balls_apply(ctx, b, SZG_BALL_EXP, E, E, 0));
    ck_szg_ok(szgi_balls_compare(ctx, b, E, D, &sign));
    ck_assert_int_eq(sign, 1);
    char *text;
    ck_szg_ok(szgi_balls_format(ctx, b, E, 12, &text));
    ck_assert_msg(strncmp(text, "[1.648721270", 12) == 0, "%s", text);
    szgi_memory_free(text);
    szgi_balls_close(&b);
    ck_assert_ptr_null(b);
    szgi_balls_close(&b);
}
END_TEST

START_TEST(test_register_errors) {
    szg_context *ctx = test_context();
    szgi_balls *b;
    const szgi_phase bad = ratio(1, 0);
    ck_szg_fails(SZG_EINVAL, "bits", szgi_balls_open(ctx, 1, 1, &b));
    ck_szg_fails(SZG_EINVAL, "registers", szgi_balls_open(ctx, 0, 128, &b));
    ck_szg_ok(szgi_balls_open(ctx, 2, 64, &b));
    ck_szg_fails(SZG_EINVAL, "register 2", szgi_balls_set(ctx, b, 2, (szg_c64){0, 0}));
    ck_szg_fails(SZG_EDATA, "finite", szgi_balls_set(ctx, b, 0, (szg_c64){NAN, 0}));
    ck_szg_fails(SZG_EDATA, "1/0", szgi_balls_set_ratio(ctx, b, 0, 1, 0));
    ck_szg_fails(SZG_EDATA, "denominator", szgi_balls_set_polar(ctx, b, 0, 1, 1, &bad));
    ck_szg_fails(SZG_EDOMAIN, "divisor", szgi_balls_apply(ctx, b, SZG_BALL_DIVIDE, 0, 0, 1));
    ck_szg_ok(szgi_balls_set(ctx, b, 0, (szg_c64){-1, 0}));
    ck_szg_fails(SZG_EDOMAIN, "negative", szgi_balls_apply(ctx, b, SZG_BALL_ROOT, 0, 0, 0));
    ck_szg_fails(SZG_EINVAL, "operation", szgi_balls_apply(ctx, b, SZG_BALL_OP_COUNT, 0, 0, 0));
    szgi_balls_close(&b);
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
    test_add(suite, "registers", test_registers);
    test_add(suite, "register errors", test_register_errors);
    test_add(suite, "end", test_end);
}

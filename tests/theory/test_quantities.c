/* Every row of quantity.def: what it accepts, and that its two paths enclose the same number. */
#include <math.h>
#include <string.h>

#include "quantity.h"
#include "suite.h"

enum { TERMS = 6 };

typedef struct drawn {
    double w[TERMS];
    szgi_phase theta[TERMS];
    instance at;
} drawn;

static bool is_toeplitz(quantity q) {
    return q == Q_TOP_W || q == Q_TOP_WE || q == Q_SPREAD_W || q == Q_SPREAD_WE;
}

static szgi_phase draw_phase(const szgi_stream *stream, uint64_t at) {
    int64_t q = 1 + szgi_random_below(stream, at, 6);
    return szgi_random_below(stream, at + 1, 2)
               ? szgi_phase_radians(szgi_random_normal(stream, at + 2))
               : szgi_phase_ratio(szgi_random_below(stream, at + 3, 4 * q) - 2 * q, q);
}

/* A small instance that the quantity accepts. */
static void draw(quantity q, const szgi_stream *stream, drawn *out) {
    out->at = (instance){.w = out->w, .theta = out->theta};
    for (uint64_t i = 0; i < TERMS; i++) {
        out->w[i] = szgi_random_normal(stream, 100 + i);
        out->theta[i] = draw_phase(stream, 200 + 10 * i);
    }
    if (is_toeplitz(q)) /* Hermitian */
        out->theta[0] = szgi_phase_ratio(0, 1);
    for (uint64_t i = 1000; !szgi_quantity_accepts(q, &out->at); i += 3) {
        ck_assert_uint_lt(i, 1000000);
        out->at.n = szgi_random_below(stream, i, 16);
        out->at.weights = szgi_random_below(stream, i + 1, TERMS + 1);
        out->at.phases = szgi_random_below(stream, i + 2, TERMS + 1);
    }
}

/* The second enclosure lies inside the first, widened by what a certificate leaves as room: 2^-30
 * of the value or of 1 (docs/explanation/theory.md). */
START_TEST(both_paths) {
    for (int q = 0; q < Q_COUNT; q++)
        for (int64_t trial = 0; trial < test_trials(12); trial++) {
            szgi_stream stream = {test_seed(), (uint32_t)trial, 40 + (uint32_t)q};
            drawn d;
            szg_interval first, second;
            draw((quantity)q, &stream, &d);
            ck_szg_ok(szgi_quantity_enclose(test_context(), (quantity)q, &d.at, &first));
            ck_szg_ok(szgi_quantity_recheck(test_context(), (quantity)q, &d.at, &second));
            double room = 0x1p-30 * fmax(1.0, fmax(fabs(first.lo), fabs(first.hi)));
            ck_assert_msg(first.lo <= first.hi && first.lo - room <= second.lo &&
                              second.lo <= second.hi && second.hi <= first.hi + room,
                          "%s: [%.17g, %.17g] and [%.17g, %.17g]", szgi_quantity_name((quantity)q),
                          first.lo, first.hi, second.lo, second.hi);
        }
}
END_TEST

/* Values by hand: one instance a formula. */
START_TEST(by_hand) {
    const double three[] = {0.0, 0.0, -0.5}, two[] = {3.0, 4.0}, one[] = {0.5};
    const double four[] = {1.0, 2.0, 3.0, 4.0};
    const szgi_phase half[] = {szgi_phase_ratio(1, 2), szgi_phase_ratio(1, 1)};
    const struct {
        quantity q;
        instance at;
        double value;
    } cases[] = {
        {Q_TWO_SUM, {.n = 2, .weights = 2, .w = two}, 14.0},
        {Q_FOUR_SUM, {.n = 2, .weights = 2, .w = two}, 28.0},
        {Q_SOFTMAX_0, {.n = 2, .weights = 3, .w = three}, 0.5},
        {Q_SOFTMAX_1, {.n = 2, .weights = 3, .w = three}, 1.0 / (1.0 + exp(-0.5))},
        {Q_GRAM, {.n = 1, .weights = 2, .phases = 2, .w = two, .theta = half}, 7.0},
        {Q_ROTATED, {.n = 1, .weights = 2, .phases = 2, .w = two, .theta = half}, 5.0},
        {Q_ROTATED_REAL, {.n = 1, .weights = 2, .phases = 2, .w = two, .theta = half}, 4.0},
        {Q_UNIT_MINOR, {.n = 2, .weights = 2, .w = two}, -7.0},
        {Q_ZERO, {.n = 2, .weights = 2, .w = two}, 0.0},
        {Q_MLA_TRUE, {.n = 2, .weights = 2, .phases = 1, .w = two, .theta = half + 1}, -1.0},
        {Q_MLA_PRINTED, {.n = 2, .weights = 2, .phases = 1, .w = two, .theta = half + 1}, 0.0},
        /* a_0 = 3 i has real part 0; a_1 = -4: 2 Re(-4 i) = 0, and 2 (0) 1 + 2 (-4) 0 = 0 */
        {Q_SYMBOL, {.n = 2, .weights = 2, .phases = 2, .w = two, .theta = half}, 0.0},
        {Q_SYMBOL_PRINTED, {.n = 2, .weights = 2, .phases = 2, .w = two, .theta = half}, 0.0},
        {Q_SYMBOL, {.n = 1, .weights = 1, .phases = 1, .w = two, .theta = half + 1}, -3.0},
        {Q_SYMBOL_PRINTED, {.n = 1, .weights = 1, .phases = 1, .w = two, .theta = half + 1}, -6.0},
        /* p_0 = (0, 1), p_1 = (1, 0) */
        {Q_POSITION_00, {.n = 2, .weights = 4, .phases = 1, .w = four, .theta = half}, 4.0},
        {Q_POSITION_11, {.n = 2, .weights = 4, .phases = 1, .w = four, .theta = half}, 1.0},
        {Q_ALIBI_LAG, {.n = 5, .weights = 1, .w = one}, -2.5},
        {Q_ALIBI_LINE, {.n = 5, .weights = 1, .w = one}, -2.5},
        {Q_TAIL_LAG, {.n = 9, .weights = 2, .w = two}, 4.0},
        {Q_TAIL, {.n = 9, .weights = 2, .w = two}, 4.0},
        {Q_ROTARY_SHARE, {.n = 6, .phases = 2, .theta = half}, 1.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        szg_interval x;
        ck_assert(szgi_quantity_accepts(cases[i].q, &cases[i].at));
        ck_szg_ok(szgi_quantity_enclose(test_context(), cases[i].q, &cases[i].at, &x));
        /* libm's exp and the sum: less than four units of the last place */
        double slack = 0x1p-51 * fabs(cases[i].value);
        ck_assert_msg(x.lo - slack <= cases[i].value && cases[i].value <= x.hi + slack,
                      "case %zu, %s: [%.17g, %.17g], not %.17g", i, szgi_quantity_name(cases[i].q),
                      x.lo, x.hi, cases[i].value);
        ck_assert_msg(x.hi - x.lo <= 0x1p-51 * fabs(cases[i].value) + 0x1p-100,
                      "case %zu: [%.17g, %.17g]", i, x.lo, x.hi);
    }
}
END_TEST

/* Two tokens: the width is twice the modulus of lag 1. theta = (pi/2, pi), w = (3, 4): 4 of
 * Re(-3 i - 4), 5 of -3 i - 4, 7 of 3 + 4. One pair keeps its modulus, whatever the angle. */
START_TEST(widths_by_hand) {
    const double two[] = {3.0, 4.0};
    const szgi_phase half[] = {szgi_phase_ratio(1, 2), szgi_phase_ratio(1, 1)};
    const instance both = {.n = 2, .weights = 2, .phases = 2, .w = two, .theta = half};
    const instance one = {.n = 2, .weights = 1, .phases = 1, .w = two, .theta = half};
    const struct {
        quantity q;
        const instance *at;
        double value;
    } cases[] = {{Q_SPREAD_CONTENT, &both, 8.0},  {Q_SPREAD_GRAM, &both, 10.0},
                 {Q_SPREAD_COUPLED, &both, 14.0}, {Q_SPREAD_CONTENT, &one, 0.0},
                 {Q_SPREAD_GRAM, &one, 6.0},      {Q_SPREAD_COUPLED, &one, 6.0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        szg_interval x;
        ck_szg_ok(szgi_quantity_enclose(test_context(), cases[i].q, cases[i].at, &x));
        ck_assert_msg(x.lo <= cases[i].value && cases[i].value <= x.hi && x.hi - x.lo <= 1e-13,
                      "case %zu: [%.17g, %.17g]", i, x.lo, x.hi);
    }
}
END_TEST

START_TEST(names) {
    for (int q = 0; q < Q_COUNT; q++)
        ck_assert_int_eq(szgi_quantity_find(szgi_quantity_name((quantity)q)), q);
    ck_assert_int_eq(szgi_quantity_find("max|h|"), Q_COUNT);
}
END_TEST

/* Numbers that are none are refused by both paths, with the place. */
START_TEST(bad_numbers) {
    const double bad[] = {1.0, NAN}, good[] = {1.0, 1.0};
    const szgi_phase none[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(1, 0)};
    const szgi_phase infinite[] = {szgi_phase_ratio(0, 1), szgi_phase_radians(INFINITY)};
    const instance cases[] = {{.n = 2, .weights = 2, .w = bad},
                              {.n = 2, .weights = 2, .phases = 2, .w = good, .theta = none},
                              {.n = 2, .weights = 2, .phases = 2, .w = good, .theta = infinite}};
    static const char *const places[] = {"weight 1", "phase 1", "phase 1"};
    for (int i = 0; i < 3; i++) {
        szg_interval x;
        ck_szg_fails(SZG_EDATA, places[i],
                     szgi_quantity_enclose(test_context(), Q_MAX_F, &cases[i], &x));
        ck_szg_fails(SZG_EDATA, places[i],
                     szgi_quantity_recheck(test_context(), Q_TWO_SUM, &cases[i], &x));
    }
}
END_TEST

TEST_FILE("quantities") {
    test_add(suite, "both_paths", both_paths);
    test_add(suite, "by_hand", by_hand);
    test_add(suite, "widths_by_hand", widths_by_hand);
    test_add(suite, "names", names);
    test_add(suite, "bad_numbers", bad_numbers);
}

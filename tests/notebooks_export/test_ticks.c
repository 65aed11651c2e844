/* Ticks: nice numbers, told exactly, at the places of their texts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "ticks.h"

/* The value of a tick's text: "0.2", "1.5e-7" or "10⁻⁷". */
static double value_of(const char *text) {
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char *end;
    double value = strtod(text, &end);
    if (!*end)
        return value;
    ck_assert_msg(strncmp(text, "10", 2) == 0, "%s", text);
    const char *at = text + 2;
    bool below = strncmp(at, "⁻", 3) == 0;
    at += below ? 3 : 0;
    int power = 0;
    while (*at)
        for (int digit = 0; digit < 10; digit++)
            if (strncmp(at, raised[digit], strlen(raised[digit])) == 0) {
                power = 10 * power + digit;
                at += strlen(raised[digit]);
                break;
            }
    char again[32];
    snprintf(again, sizeof again, "1e%d", below ? -power : power);
    return strtod(again, NULL);
}

/* Of the scale, in long doubles, which neither overflow nor cancel as doubles may. */
static double place_of(const scale *scale, double value) {
    long double at = scale->logarithmic ? log10l((long double)value) : (long double)value;
    return (double)((at - scale->lo) / ((long double)scale->hi - scale->lo));
}

static double corner(const szgi_stream *stream, uint64_t index) {
    static const double rare[] = {
        1.7976931348623157e308, -1.7976931348623157e308, 5e-324, 1e-310, 1e300, -1e300, 0.1, 1e15};
    szgi_stream choice = *stream;
    choice.purpose ^= 0x40000000u;
    int64_t which = szgi_random_below(&choice, index, 24);
    return which < 8 ? rare[which] : test_real(stream, index);
}

static void check_ticks(const scale *scale, const ticks *ticks, int wanted) {
    ck_assert_msg(ticks->count >= 2 && ticks->count <= TICKS_MAX, "%d ticks of %d from %g to %g",
                  ticks->count, wanted, scale->lo, scale->hi);
    for (int i = 0; i < ticks->count; i++) {
        const tick *tick = &ticks->tick[i];
        double value = value_of(tick->text);
        ck_assert(tick->at >= 0 && tick->at <= 1);
        /* Ten digits in the text, and 1e-9 of the scale at its ends. */
        if (!scale->logarithmic || (value > 0 && isfinite(value))) /* 10^320 is a tick as well */
            ck_close(tick->at, place_of(scale, value), 3e-7);
        ck_assert_msg(strlen(tick->text) <= 16, "%s", tick->text);
        ck_assert(i == 0 || (tick->at > tick[-1].at && strcmp(tick->text, tick[-1].text) != 0));
    }
    /* No end is left bare for longer than the longest step; steps of a logarithmic axis differ. */
    double longest = 0;
    for (int i = 1; i < ticks->count; i++)
        longest = fmax(longest, ticks->tick[i].at - ticks->tick[i - 1].at);
    longest *= scale->logarithmic ? 2 : 1;
    ck_assert_msg(ticks->tick[0].at <= longest + 1e-6, "first at %g of %g", ticks->tick[0].at,
                  longest);
    ck_assert_msg(ticks->tick[ticks->count - 1].at >= 1 - longest - 1e-6, "last at %g of %g",
                  ticks->tick[ticks->count - 1].at, longest);
}

START_TEST(ticks_cover_every_range) {
    for (uint32_t trial = 0; trial < test_trials(20000); trial++) {
        const szgi_stream stream = {test_seed(), trial, 45};
        bool logarithmic = trial % 2;
        double a = corner(&stream, 0), b = corner(&stream, 1);
        if (logarithmic) {
            a = fabs(a) < 1e-290 || fabs(a) > 1e301 ? 1 : fabs(a);
            b = fabs(b) < 1e-290 || fabs(b) > 1e301 ? 1 : fabs(b);
        }
        int wanted = 4 + (int)(trial % 7);
        scale scale = szgi_scale_of(logarithmic, fmin(a, b), fmax(a, b), trial % 3 ? 0.04 : 0);
        ck_assert(isfinite(scale.lo) && isfinite(scale.hi) && scale.lo < scale.hi);
        double low = szgi_scale_fraction(&scale, fmin(a, b)),
               high = szgi_scale_fraction(&scale, fmax(a, b));
        ck_assert_msg(low >= -1e-12 && high <= 1 + 1e-12 && low <= high, "%g to %g of %.17g, %.17g",
                      low, high, a, b);
        ticks ticks;
        szgi_ticks_place(&scale, wanted, false, &ticks);
        check_ticks(&scale, &ticks, wanted);
    }
}
END_TEST

START_TEST(steps_are_one_two_or_five) {
    for (uint32_t trial = 0; trial < test_trials(2000); trial++) {
        const szgi_stream stream = {test_seed(), trial, 46};
        double lo = szgi_random_normal(&stream, 0), span = exp(3 * szgi_random_normal(&stream, 1));
        scale scale = szgi_scale_of(false, lo, lo + span, 0);
        ticks ticks;
        szgi_ticks_place(&scale, 5, false, &ticks);
        double step = value_of(ticks.tick[1].text) - value_of(ticks.tick[0].text);
        double lead = step / pow(10, floor(log10(step * (1 + 1e-7))));
        double near = fmin(fabs(lead - 1), fmin(fabs(lead - 2), fabs(lead - 5)));
        ck_assert_msg(near < 1e-6, "step %g from %g to %g", step, scale.lo, scale.hi);
        ck_assert_int_le(ticks.count, 6);
    }
}
END_TEST

START_TEST(texts_are_exact) {
    static const struct {
        long long number;
        int exponent;
        const char *text;
    } known[] = {{3, -1, "0.3"},      {30, -1, "3.0"}, {0, -1, "0"},          {-5, -2, "-0.05"},
                 {1234, -2, "12.34"}, {2, 3, "2000"},  {-15, 5, "-1500000"},  {12, 6, "1.2e7"},
                 {5, -4, "0.0005"},   {5, -5, "5e-5"}, {-250, -9, "-2.5e-7"}, {1, 308, "1e308"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char text[TICK_TEXT];
        szgi_ticks_text(known[i].number, known[i].exponent, text);
        ck_assert_str_eq(text, known[i].text);
    }
}
END_TEST

static void expect(scale scale, int wanted, bool whole, const char *texts) {
    char all[512] = "";
    ticks ticks;
    szgi_ticks_place(&scale, wanted, whole, &ticks);
    for (int i = 0; i < ticks.count; i++) {
        strcat(all, i ? " " : "");
        strcat(all, ticks.tick[i].text);
    }
    ck_assert_str_eq(all, texts);
}

START_TEST(well_known_axes) {
    expect(szgi_scale_of(false, 0, 1, 0), 5, false, "0 0.2 0.4 0.6 0.8 1.0");
    expect(szgi_scale_of(false, -0.5, 3.5, 0), 10, true, "0 1 2 3");
    expect(szgi_scale_of(true, 1, 1000, 0), 6, false, "1 2 5 10 20 50 100 200 500 1000");
    expect(szgi_scale_of(true, 1e-12, 1, 0), 6, false, "10⁻¹² 10⁻¹⁰ 10⁻⁸ 10⁻⁶ 10⁻⁴ 10⁻² 10⁰");
    expect(szgi_scale_of(true, 2, 3, 0), 5, false, "2.0 2.2 2.4 2.6 2.8 3.0");
    expect(szgi_scale_of(false, 0, 0, 0), 4, false, "-1.0 -0.5 0 0.5 1.0");
    expect(szgi_scale_of(false, NAN, 1, 0), 4, false, "0 0.5 1.0");
}
END_TEST

TEST_FILE("ticks") {
    test_add(suite, "ticks cover every range", ticks_cover_every_range);
    test_add(suite, "steps are one, two or five", steps_are_one_two_or_five);
    test_add(suite, "texts are exact", texts_are_exact);
    test_add(suite, "well-known axes", well_known_axes);
}

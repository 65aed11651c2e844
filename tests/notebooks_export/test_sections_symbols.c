/* The section about symbols, on results made by hand: what the page says is
 * counted here by loops over the same numbers. */
#include <math.h>

#include "sections_builder.h"

START_TEST(symbols_and_their_ends) {
    const double re[] = {3, 1, -1, 1}, im[] = {0, 1, 0, -1};
    builder b = {0};
    begin(&b, "symbol");
    table(&b, "samples", SAMPLES);
    add_samples(&b, "kms", 2, 4, re, NULL);
    add_samples(&b, "kms", 3, 4, re, NULL);
    add_samples(&b, "t5", 3, 4, re, im);
    table(&b, "range", RANGE);
    add_range(&b, "kms", 2, -1, 3, "bounds");
    add_range(&b, "kms", 3, -1.5, 3.25, "bounds");
    add_range(&b, "t5", 3, 1, 3, "modulus");
    table(&b, "atoms", KEY "r:theta r:mass");
    key(&b, "rope");
    real(&b, "theta", 1);
    real(&b, "mass", 0.25);
    key(&b, "rope");
    real(&b, "theta", 0.001);
    real(&b, "mass", 0.5);
    key(&b, "rope");
    real(&b, "theta", 0);
    real(&b, "mass", 0.125);
    finish(&b);
    SAYS("Certified ranges, all within -1.5 to 3.25; each end is known to within");
    SAYS("Certified range of |a| 1 to 3;");
    SAYS("Too few samples: the line may miss peaks."); /* n = 3: 2 waves in 4 samples */
    SAYS("3 point masses, 0.875 in sum");
    SAYS("the mass 0.125 at angle 0 is not drawn here");
    ck_assert_int_eq(occurrences(page, "<figure id=\"symbol-"), 3);
    MARKS("symbol-1", 2 * (1 + 2));
    MARKS("symbol-2", 3 + 2 * 2); /* three lines; at each end a point and a rule */
    MARKS("symbol-3", 2 + 2);     /* stems and points; a logarithm leaves 0 out */
    remove_folder();
}
END_TEST

/* To the nearest the first would be 0.5385 to 1.876, and neither end would be one. */
START_TEST(ends_are_rounded_outwards) {
    const double re[] = {1.5, 1};
    builder b = {0};
    begin(&b, "symbol");
    table(&b, "samples", SAMPLES);
    add_samples(&b, "kms", 2, 2, re, NULL);
    table(&b, "range", RANGE);
    add_range(&b, "kms", 2, 0.53849182, 1.8761432, "bounds");
    finish(&b);
    SAYS("Certified range 0.5384 to 1.877; each end is known to within 1.1e-09.");
    remove_folder();
}
END_TEST

static void add_shape(builder *b, const char *source, int64_t head, double times) {
    for (int i = 0; i < 4; i++) {
        const double re = times * (i % 2 ? -1 : 3);
        add_samples(b, source, 8, 1, &re, NULL);
        real(b, "theta", i);
        whole(b, "head", head);
    }
}

/* Heads of one shape are one curve, with its own two ends, on two rules; one of the other sign has
 * another shape. */
START_TEST(proportional_heads_are_one_curve) {
    builder b = {0};
    begin(&b, "symbol");
    table(&b, "samples", SAMPLES);
    for (int head = 0; head < 4; head++)
        add_shape(&b, "alibi", head, ldexp(1, -head));
    add_shape(&b, "other", 0, 1);
    add_shape(&b, "other", 1, -1);
    table(&b, "range", RANGE);
    for (int head = 0; head < 4; head++) {
        add_range(&b, "alibi", 8, ldexp(-1, -head), ldexp(3, -head), "bounds");
        whole(&b, "head", head);
    }
    finish(&b);
    SAYS("Certified ranges, all within -1 to 3;");
    SAYS("Left out: 3 heads, 0.125 to 0.5 times the one drawn.");
    MARKS("symbol-1", 1 + 2 + 2);
    MARKS("symbol-2", 2);
    ck_assert_int_eq(occurrences(page, "Left out"), 1);
    remove_folder();
}
END_TEST

START_TEST(columns_that_are_missing) {
    builder b = {0};
    begin(&b, "symbol");
    table(&b, "samples", "r:theta r:re");
    row(&b);
    table(&b, "atoms", "r:theta t:mass");
    row(&b);
    finish(&b);
    SAYS("The table symbol_samples has no column of numbers im");
    SAYS("The table symbol_atoms has no column of numbers mass");
    remove_folder();
}
END_TEST

TEST_FILE("sections_symbols") {
    test_add(suite, "symbols_and_their_ends", symbols_and_their_ends);
    test_add(suite, "ends_are_rounded_outwards", ends_are_rounded_outwards);
    test_add(suite, "proportional heads are one curve", proportional_heads_are_one_curve);
    test_add(suite, "columns_that_are_missing", columns_that_are_missing);
}

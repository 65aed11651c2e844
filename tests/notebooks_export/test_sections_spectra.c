/* The section about spectra, on results made by hand: what the page says is
 * counted here by loops over the same numbers. */
#include <math.h>

#include "sections_builder.h"

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

START_TEST(eigenvalues_over_a_symbol) {
    /* Twice as many samples as values: value k stands beside the samples 2k and 2k + 1. */
    const double value[] = {5, 1, 2.25, 8.5, 3, -0.5, 4, 7}; /* two outside [0, 8] */
    double sorted[8], sample[16], distance = 0;
    for (int i = 0; i < 16; i++)
        sample[i] = 4 + 4 * cos(0.3 + i);
    double way = fabs(sample[0] - sample[15]); /* round the samples, before they are sorted */
    for (int i = 1; i < 16; i++)
        way += fabs(sample[i] - sample[i - 1]);
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, HOSTILE, 8, 8, value, NULL, "eigenvalue");
    table(&b, "samples", SAMPLES);
    add_samples(&b, HOSTILE, 8, 16, sample, NULL);
    add_samples(&b, "another", 8, 3, value, NULL);
    table(&b, "range", RANGE);
    add_range(&b, HOSTILE, 9, 0, 100, "eigenvalues"); /* of another n */
    add_range(&b, HOSTILE, 8, 0, 8, "eigenvalues");
    table(&b, "summary", KEY "i:n r:lambda_min r:lambda_max t:theorem t:method r:residual");
    key(&b, HOSTILE);
    whole(&b, "n", 8);
    text(&b, "theorem", "szego");
    finish(&b);
    memcpy(sorted, value, sizeof sorted);
    qsort(sorted, 8, sizeof *sorted, compare);
    qsort(sample, 16, sizeof *sample, compare);
    for (int i = 0; i < 16; i++)
        distance += fabs(sample[i] - sorted[i / 2]) / 16;
    SAYS("6 of 8 eigenvalues (the farthest stands 0.5 outside) lie in the certified range [0, 8]");
    SAYS("On average they stand %.6g from the quantiles of the symbol", distance);
    SAYS("the finite number of samples makes up to about %.6g).", way / (4 * 16));
    SAYS("theorem applies: as n grows the eigenvalues are distributed");
    SAYS("&lt;script&gt;alert(&quot;1&quot;)");
    ck_assert_int_eq(occurrences(page, "<script>alert"), 0);
    ck_assert_int_eq(occurrences(page, "more oscillations"), 0); /* 7 waves in 16 samples */
    ck_assert_int_eq(occurrences(page, "<figure id=\"spectrum-"), 1);
    MARKS("spectrum-1", 8 + 2); /* range and symbol */
    remove_folder();
}
END_TEST

/* To the nearest the range would read [0.538492, 7.00001], and the values 0.5384919 and 7.000014
 * stand in it. */
START_TEST(ranges_are_rounded_outwards) {
    const double value[] = {0.5384919, 1, 7.000014};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "kms", 3, 3, value, NULL, "eigenvalue");
    add_values(&b, "t5", 3, 3, value, value, "eigenvalue");
    table(&b, "range", RANGE);
    add_range(&b, "t5", 3, 0, 10.000001, "singular_values");
    add_range(&b, "kms", 3, 0.53849182, 7.000014, "eigenvalues");
    finish(&b);
    SAYS("All 3 eigenvalues lie in the certified range [0.538491, 7.00002]");
    SAYS("All 3 eigenvalues lie in the circle |z| = 10.0001, the certified maximum of |a|");
    remove_folder();
}
END_TEST

/* 8 waves in 16 samples: every second one is lost. */
START_TEST(samples_that_are_too_few) {
    double value[16];
    for (int i = 0; i < 16; i++)
        value[i] = i % 5;
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "coarse", 9, 9, value, NULL, "eigenvalue");
    table(&b, "samples", SAMPLES);
    add_samples(&b, "coarse", 9, 16, value, NULL);
    finish(&b);
    SAYS("At n = 9 the symbol has more oscillations than samples are listed");
    remove_folder();
}
END_TEST

/* Of 101 values the 91 whose places (k + 1/2)/101 are within 0.05 to 0.95, k = 5 to 95. */
START_TEST(the_middle_of_a_spectrum_with_an_outlier) {
    double value[101];
    for (int i = 0; i < 100; i++)
        value[i] = 0.01 * i;
    value[100] = 1000;
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "outlier", 101, 101, value, NULL, "eigenvalue");
    value[100] = 2;
    add_values(&b, "none", 101, 101, value, NULL, "eigenvalue");
    finish(&b);
    SAYS("The 101 eigenvalues reach from 0 to 1000, and no certified range bounds them (n = 101).");
    SAYS("The same eigenvalues without the least and the greatest 5 %%");
    MARKS("spectrum-1", 101);
    MARKS("spectrum-2", 91);
    MARKS("spectrum-3", 101);
    ck_assert_int_eq(occurrences(page, "<figure id=\"spectrum-"), 3);
    remove_folder();
}
END_TEST

/* What the structure makes 0, and what was computed and came out as 0, are told apart. */
START_TEST(zeros_that_are_listed) {
    const double value[] = {0, 0, 2};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values_and_zeros(&b, "whole", 10, 3, value, NULL, "eigenvalue", 7);
    finish(&b);
    SAYS("Exactly 0 are 7 of 10 by structure, and 2 more came out as 0. ");
    remove_folder();
}
END_TEST

START_TEST(zeros_that_are_not_listed) {
    const double value[] = {1, -1, 2};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values_and_zeros(&b, "whole", 10, 3, value, NULL, "eigenvalue", 7);
    text(&b, "note", "5 further values are exactly 0 and not listed");
    add_values(&b, "partial", 10, 3, value, NULL, "eigenvalue");
    table(&b, "range", RANGE);
    add_range(&b, "whole", 10, -1, 1.5, "eigenvalues");
    add_range(&b, "partial", 10, -1, 2, "eigenvalues");
    finish(&b);
    SAYS("9 of 10 eigenvalues (the farthest stands 0.5 outside)");
    SAYS("Exactly 0 are 7 of 10. No symbol stands beside these values.");
    SAYS("partial, head 0, coefficients: 3 values are listed and 0 are said to be 0");
    ck_assert_int_eq(occurrences(page, "<figure id=\"spectrum-"), 1);
    MARKS("spectrum-1", 10 + 1);
    ck_assert_int_eq(occurrences(page, "theorem"), 0); /* no summary names one */
    remove_folder();
}
END_TEST

/* Whose values these are, and what the solver makes of them, stand in columns alone. */
START_TEST(whose_values_they_are) {
    const double value[] = {1, 2};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "half", 2, 2, value, NULL, "eigenvalue");
    text(&b, "values_of", "matrix");
    add_values(&b, "part", 1, 1, value, NULL, "eigenvalue");
    text(&b, "values_of", "hermitian_part");
    add_values(&b, "causal", 2, 2, value, NULL, "eigenvalue");
    text(&b, "note", "of the Hermitian part (L + L^T)/2");
    table(&b, "summary", KEY "i:n r:lambda_min r:lambda_max t:method t:solver");
    key(&b, "half");
    whole(&b, "n", 2);
    text(&b, "method", "diagonal of a triangular matrix");
    key(&b, "causal");
    whole(&b, "n", 2);
    text(&b, "solver", "triangular");
    finish(&b);
    ck_assert_int_eq(occurrences(page, "These are eigenvalues of the Hermitian part"), 1);
    ck_assert_int_eq(occurrences(page, "The matrix is triangular"), 1);
    remove_folder();
}
END_TEST

/* A range that nothing is said about is none that bounds: neither by its note nor by default. */
START_TEST(ranges_of_earlier_versions) {
    const double value[] = {1, 2};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "one", 2, 2, value, NULL, "eigenvalue");
    add_values(&b, "inside", 2, 2, value, NULL, "eigenvalue");
    table(&b, "range", RANGE);
    add_range(&b, "one", 2, 0, 8, NULL);
    text(&b, "note", "bounds every eigenvalue of the matrix");
    add_range(&b, "inside", 2, 0, 8, "nothing");
    table(&b, "summary", KEY "i:n r:lambda_min r:lambda_max r:symbol_min_lo r:symbol_max_hi");
    key(&b, "two");
    real(&b, "lambda_min", 1);
    real(&b, "lambda_max", 2);
    real(&b, "symbol_min_lo", 0);
    real(&b, "symbol_max_hi", 8);
    finish(&b);
    SAYS("The 2 eigenvalues reach from 1 to 2 (n = 2). ");
    SAYS("A certified range is there, but not what it bounds: the result lacks the column");
    SAYS("The 2 eigenvalues reach from 1 to 2, and no certified range bounds them (n = 2). ");
    SAYS("Of 1 certified ranges the result does not say what they bound");
    MARKS("spectrum-1", 2);
    remove_folder();
}
END_TEST

START_TEST(complex_eigenvalues_and_singular_values) {
    const double re[] = {3, 0, -1, NAN}, im[] = {4, 2, 0, 1}, singular[] = {6, 2, 1};
    const double sample_re[] = {3, 0, 1}, sample_im[] = {4, -2, 0};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "t5", 4, 4, re, im, "eigenvalue");
    add_values(&b, "other", 3, 3, singular, NULL, "singular");
    table(&b, "samples", SAMPLES);
    add_samples(&b, "other", 3, 3, sample_re, sample_im);
    table(&b, "range", RANGE);
    add_range(&b, "t5", 4, 0, 4.5, "singular_values");
    add_range(&b, "other", 3, 1.5, 5, "singular_values");
    finish(&b);
    SAYS("2 of 4 eigenvalues (the farthest stands 0.5 outside) lie in the circle |z| = 4.5");
    SAYS(
        "2 of 3 singular values (the farthest stands 1 outside) lie in the certified range [0, 5]");
    /* |a| = 5, 2, 1 beside 6, 2, 1 */
    SAYS("On average they stand %.6g from", 1.0 / 3);
    MARKS("spectrum-1", 3 + 1); /* without the NaN, with the circle */
    MARKS("spectrum-2", 3 + 2);
    remove_folder();
}
END_TEST

START_TEST(many_spectra_are_bounded) {
    const double value[] = {1, 2};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    for (int i = 0; i < 30; i++) {
        char source[16];
        snprintf(source, sizeof source, "source %d", i);
        add_values(&b, source, 2, 2, value, NULL, "eigenvalue");
    }
    finish(&b);
    ck_assert_int_eq(occurrences(page, "<figure id=\"spectrum-"), 24);
    SAYS("6 more figures are left out; their rows are in spectrum_eigenvalues.");
    remove_folder();
}
END_TEST

static void add_ends(builder *b, double lo, double hi, double symbol_lo, double symbol_hi,
                     const char *bound_of) {
    key(b, "alibi");
    whole(b, "n", 4);
    real(b, "lambda_min", lo);
    real(b, "lambda_max", hi);
    real(b, "sigma_min", 0.5);
    real(b, "sigma_max", 3);
    real(b, "symbol_min_lo", symbol_lo);
    real(b, "symbol_max_hi", symbol_hi);
    text(b, "bound_of", bound_of);
}

START_TEST(ranges_without_values) {
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "summary",
          KEY "i:n r:lambda_min r:lambda_max r:sigma_min r:sigma_max "
              "r:symbol_min_lo r:symbol_max_hi t:bound_of");
    add_ends(&b, -1, 1, -2, 2, "eigenvalues");
    add_ends(&b, -1, 3, -2, 2, "eigenvalues");
    add_ends(&b, -1, 9, 1, 4, "singular_values");
    add_ends(&b, -1, 1, -2, 2, "toeplitz_part");
    add_ends(&b, NAN, INFINITY, NAN, NAN, NULL);
    finish(&b);
    SAYS("2 of 3 spectra with such a range lie in it.");
    SAYS("singular values are drawn");
    MARKS("spectrum-1", 3 * (3 + 3 + 1)); /* a line and two points: range, eigenvalues, singular */
    ck_assert_int_eq(occurrences(page, "<figure id=\"spectrum-"), 1);
    remove_folder();
}
END_TEST

START_TEST(columns_that_are_missing) {
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", "t:source t:re r:im");
    row(&b);
    table(&b, "summary", "t:source i:n r:lambda_min");
    row(&b);
    finish(&b);
    SAYS("The table spectrum_eigenvalues has no column of numbers re");
    SAYS("The table spectrum_summary has no column of numbers lambda_max");
    remove_folder();
}
END_TEST

START_TEST(refused_memory) {
    const double value[] = {1, 2}, im[] = {0.5, -0.5};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "one", 2, 2, value, NULL, "eigenvalue");
    add_values(&b, "two", 2, 2, value, im, "eigenvalue");
    table(&b, "samples", SAMPLES);
    add_samples(&b, "one", 2, 2, value, NULL);
    table(&b, "summary", KEY "i:n r:lambda_min r:lambda_max");
    key(&b, "three");
    real(&b, "lambda_min", 1);
    real(&b, "lambda_max", 2);
    finish(&b);
    ck_survives_failed_allocations(20, write_page(folder));
    remove_folder();
}
END_TEST

TEST_FILE("sections_spectra") {
    test_add(suite, "samples that are too few", samples_that_are_too_few);
    test_add(suite, "ranges_are_rounded_outwards", ranges_are_rounded_outwards);
    test_add(suite, "eigenvalues_over_a_symbol", eigenvalues_over_a_symbol);
    test_add(suite, "the_middle_of_a_spectrum_with_an_outlier",
             the_middle_of_a_spectrum_with_an_outlier);
    test_add(suite, "zeros_that_are_not_listed", zeros_that_are_not_listed);
    test_add(suite, "zeros_that_are_listed", zeros_that_are_listed);
    test_add(suite, "whose_values_they_are", whose_values_they_are);
    test_add(suite, "ranges_of_earlier_versions", ranges_of_earlier_versions);
    test_add(suite, "complex_eigenvalues_and_singular_values",
             complex_eigenvalues_and_singular_values);
    test_add(suite, "many_spectra_are_bounded", many_spectra_are_bounded);
    test_add(suite, "ranges_without_values", ranges_without_values);
    test_add(suite, "columns_that_are_missing", columns_that_are_missing);
    test_add(suite, "refused_memory", refused_memory);
}

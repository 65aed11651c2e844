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
    SAYS("6 of 8 eigenvalues (the farthest 0.5 outside) lie in the certified range [0, 8].");
    /* So few samples are a quarter of their way round apart: no smaller distance is told. */
    ck_assert(distance < way / (4 * 16));
    SAYS("quantiles: below %.4g.", way / (4 * 16));
    SAYS("&lt;script&gt;alert(&quot;1&quot;)");
    ck_assert_int_eq(occurrences(page, "<script>alert"), 0);
    ck_assert_int_eq(occurrences(page, "too few samples"), 0); /* 7 waves in 16 samples */
    ck_assert_int_eq(occurrences(page, "<figure id=\"spectrum-"), 1);
    MARKS("spectrum-1", 8 + 1 + 2); /* the symbol, and two rules */
    ck_assert_int_eq(occurrences(page, "class=\"band"), 0);
    remove_folder();
}
END_TEST

/* To the nearest the range would read [0.5385, 7], and the values 0.5384919 and 7.000014 stand in
 * it. */
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
    SAYS("All 3 eigenvalues lie in the certified range [0.5384, 7.001].");
    SAYS("All 3 eigenvalues lie in the certified circle |z| = 10.01.");
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
    SAYS("The symbol has too few samples at n = 9.");
    remove_folder();
}
END_TEST

/* One value that would flatten all others bends the axis: no second figure shows the others. */
START_TEST(a_spectrum_with_an_outlier_has_one_figure) {
    double value[101];
    for (int i = 0; i < 100; i++)
        value[i] = 0.01 * i;
    value[100] = 100000;
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "outlier", 101, 101, value, NULL, "eigenvalue");
    finish(&b);
    SAYS("101 eigenvalues from 0 to 100000; no certified range bounds them.");
    MARKS("spectrum-1", 101);
    ck_assert_int_eq(occurrences(page, "<figure id=\"spectrum-"), 1);
    /* On a linear axis to 100000 neither decade would have a tick. */
    SAYS(">100<");
    SAYS(">10000<");
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
    add_values_and_zeros(&b, "outside", 10, 3, value, NULL, "eigenvalue", 7);
    table(&b, "range", RANGE);
    add_range(&b, "outside", 10, 0, 1, "eigenvalues");
    finish(&b);
    SAYS("; 7 are 0 by structure, 2 more came out as 0.");
    SAYS("9 of 10 eigenvalues (the farthest 1 outside) lie in the certified range [0, 1]; 7 are 0 "
         "by "
         "structure.");
    MARKS("spectrum-1", 3 + 7);
    remove_folder();
}
END_TEST

/* The row of the zeros by structure counts as often as it says; a value that came out as 0 once. */
START_TEST(zeros_that_are_one_row) {
    static const double value[] = {-1, 0, 0, 2};
    static const int64_t times[] = {1, 1, 6, 1};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES " i:multiplicity");
    for (int64_t i = 0; i < 4; i++) {
        add_values_and_zeros(&b, "whole", 9, 1, &value[i], NULL, "eigenvalue", 6);
        whole(&b, "multiplicity", times[i]);
    }
    table(&b, "range", RANGE);
    add_range(&b, "whole", 9, -1, 2, "eigenvalues");
    finish(&b);
    SAYS("All 9 eigenvalues lie in the certified range [-1, 2]; 6 are 0 by structure, 1 more came "
         "out as 0.");
    MARKS("spectrum-1", 9 + 2);
    ck_assert_int_eq(occurrences(page, "no quantiles"), 0);
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
    SAYS("9 of 10 eigenvalues (the farthest 0.5 outside) lie in the certified range [-1, 1.5]; 7 "
         "are 0 by structure.");
    SAYS("partial, head 0, coefficients: 3 values are listed and 0 are said to be 0");
    ck_assert_int_eq(occurrences(page, "<figure id=\"spectrum-"), 1);
    MARKS("spectrum-1", 10 + 2);
    ck_assert_int_eq(occurrences(page, "Mean distance"), 0); /* no summary names a theorem */
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
    ck_assert_int_eq(occurrences(page, ">eigenvalue of the Hermitian part<"), 1);
    ck_assert_int_eq(occurrences(page, ">diagonal entry (triangular matrix)<"), 1);
    ck_assert_int_eq(occurrences(page, ">eigenvalue<"), 1); /* of `half` */
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
    SAYS("2 eigenvalues from 1 to 2; a range is stated, but not what it bounds (no column "
         "bound_of).");
    SAYS("2 eigenvalues from 1 to 2; no certified range bounds them.");
    SAYS("No certified range bounds these spectra. 1 row states a range, but not what it bounds.");
    MARKS("spectrum-1", 2);
    MARKS("ranges-1", 1);
    ck_assert_int_eq(occurrences(page, "id=\"findings\""), 0);
    remove_folder();
}
END_TEST

START_TEST(complex_eigenvalues_and_singular_values) {
    const double re[] = {3, 0, -1, NAN}, im[] = {4, 2, 0, 1}, singular[] = {6, 2, 1};
    const double sample_re[] = {3, 3, 3, 0, 0, 0, 1, 1, 1};
    const double sample_im[] = {4, 4, 4, -2, -2, -2, 0, 0, 0};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    add_values(&b, "t5", 4, 4, re, im, "eigenvalue");
    add_values(&b, "other", 3, 3, singular, NULL, "singular");
    table(&b, "samples", SAMPLES);
    add_samples(&b, "other", 3, 9, sample_re, sample_im);
    table(&b, "range", RANGE);
    add_range(&b, "t5", 4, 0, 4.5, "singular_values");
    add_range(&b, "other", 3, 1.5, 5, "singular_values");
    table(&b, "summary", KEY "i:n r:lambda_min r:lambda_max t:theorem");
    key(&b, "other");
    whole(&b, "n", 3);
    text(&b, "theorem", "avram-parter");
    finish(&b);
    SAYS("2 of 4 eigenvalues (the farthest 0.5 outside) lie in the certified circle |z| = 4.5.");
    SAYS("2 of 3 singular values (the farthest 1 outside) lie in the certified range [0, 5].");
    /* |a| = 5, 2, 1 beside 6, 2, 1 are 1/3 apart; a quarter of the samples' way round is 8/36. */
    SAYS("quantiles: 0.3333.");
    MARKS("spectrum-1", 3 + 1); /* without the NaN, with the circle */
    MARKS("spectrum-2", 3 + 1 + 2);
    remove_folder();
}
END_TEST

/* Twelve figures: three sources and their singular values have theirs, though one of twelve
 * matrices comes before them, which has what remains. */
START_TEST(every_source_has_a_figure_before_any_has_a_second) {
    const double value = 1;
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    for (int i = 0; i < 12; i++) {
        char matrix[16];
        snprintf(matrix, sizeof matrix, "matrix %d", i);
        add_values(&b, "many", 1, 1, &value, NULL, "eigenvalue");
        text(&b, "matrix", matrix);
    }
    for (int i = 0; i < 3; i++) {
        char source[16];
        snprintf(source, sizeof source, "source %d", i);
        add_values(&b, source, 1, 1, &value, NULL, i == 2 ? "singular" : "eigenvalue");
    }
    finish(&b);
    ck_assert_int_eq(occurrences(page, "<figure id=\"spectrum-"), 12);
    SAYS("<title>source 0, coefficients: eigenvalues</title>");
    SAYS("<title>source 1, coefficients: eigenvalues</title>");
    SAYS("<title>source 2, coefficients: singular values</title>");
    SAYS("Left out: 3 figures more (many, matrix 9");
    remove_folder();
}
END_TEST

static void add_head(builder *b, const char *source, int64_t head, double times) {
    static const double value[] = {-3, -1, 0.5, 2, 7};
    for (int i = 0; i < 5; i++) {
        row(b);
        text(b, "source", source);
        whole(b, "head", head);
        text(b, "matrix", "bias");
        text(b, "kind", "eigenvalue");
        /* Of the third head of `other` one value is out of proportion, by 1e-6 of the greatest. */
        real(b, "re", times * value[i] + (i == 2 && times == 0.3 ? 7e-6 * times : 0));
        real(b, "im", 0);
        whole(b, "n", 5);
    }
}

START_TEST(proportional_heads_are_one_panel) {
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    for (int head = 0; head < 3; head++)
        add_head(&b, "alibi", head, ldexp(1, -head));
    add_head(&b, "other", 0, 1);
    add_head(&b, "other", 1, -1);
    add_head(&b, "other", 2, 0.3);
    table(&b, "range", RANGE);
    for (int head = 0; head < 3; head++) {
        add_range(&b, "alibi", 5, ldexp(-4, -head), ldexp(8, -head), "eigenvalues");
        whole(&b, "head", head);
        text(&b, "matrix", "bias");
    }
    finish(&b);
    SAYS("All 15 eigenvalues lie in the certified range [-4, 8]. Left out: 2 heads, 0.25 to 0.5 "
         "times the one drawn.");
    MARKS("spectrum-1", 5 + 2);
    SAYS("15 eigenvalues from -7 to 7; no certified range bounds them.");
    MARKS("spectrum-2", 15);
    ck_assert_int_eq(occurrences(page, "Left out"), 1);
    SAYS(">head 1<");
    remove_folder();
}
END_TEST

/* The circle is none of the grey heads. */
START_TEST(complex_heads_and_their_circle) {
    const double re[] = {1, 1}, im[] = {1, -1};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    for (int head = 0; head < 6; head++)
        for (int i = 0; i < 2; i++) {
            add_values(&b, "t5", 2, 1, re + i, im + i, "eigenvalue");
            whole(&b, "head", head);
        }
    table(&b, "range", RANGE);
    for (int head = 0; head < 6; head++) {
        add_range(&b, "t5", 2, 0, 4 + head, "singular_values");
        whole(&b, "head", head);
    }
    finish(&b);
    SAYS("All 12 eigenvalues lie in the certified circle |z| = 9.");
    MARKS("spectrum-1", 12 + 1);
    SAYS(">6 others<");
    SAYS(">certified maximum of |a|<");
    remove_folder();
}
END_TEST

/* Of two heads one has a certified range: the caption does not speak of all values. */
START_TEST(values_that_no_range_bounds) {
    const double first[] = {0, 1, 2}, second[] = {0, 1, 4};
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "eigenvalues", VALUES);
    for (int head = 0; head < 2; head++)
        for (int i = 0; i < 3; i++) {
            add_values(&b, "kms", 3, 1, (head ? second : first) + i, NULL, "eigenvalue");
            whole(&b, "head", head);
        }
    table(&b, "range", RANGE);
    add_range(&b, "kms", 3, -1, 3, "eigenvalues");
    whole(&b, "head", 0);
    finish(&b);
    SAYS("All 3 eigenvalues lie in the certified range [-1, 3]; no certified range bounds 3 "
         "others.");
    ck_assert_ptr_null(strstr(page, "<title>certified range</title>")); /* of one head of two */
    remove_folder();
}
END_TEST

/* ---- Ranges ---- */

#define SUMMARY                                                                                    \
    KEY "i:n r:lambda_min r:lambda_max r:sigma_min r:sigma_max r:symbol_min_lo r:symbol_max_hi "   \
        "t:bound_of t:theorem"

static void add_ends(builder *b, const char *source, double lo, double hi, double symbol_lo,
                     double symbol_hi, const char *bound_of) {
    key(b, source);
    whole(b, "n", 4);
    real(b, "lambda_min", lo);
    real(b, "lambda_max", hi);
    real(b, "sigma_min", 0.5);
    real(b, "sigma_max", 3);
    real(b, "symbol_min_lo", symbol_lo);
    real(b, "symbol_max_hi", symbol_hi);
    text(b, "bound_of", bound_of);
}

START_TEST(ranges_and_what_bounds_them) {
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "summary", SUMMARY);
    add_ends(&b, "inside", -1, 1, -2, 2, "eigenvalues");
    text(&b, "theorem", "szego");
    add_ends(&b, "outside", -1, 3, -2, 2, "eigenvalues");
    add_ends(&b, "modulus", -1, 9, 1, 4, "singular_values");
    add_ends(&b, "part", -1, 1, -2, 2, "toeplitz_part");
    add_ends(&b, "unknown", NAN, INFINITY, NAN, NAN, NULL);
    key(&b, "unknown"); /* without an order, too */
    finish(&b);
    ck_assert_int_eq(occurrences(page, "= nan"), 0);
    SAYS("<td>unknown, n = 4</td>");
    SAYS("2 of 3 certified ranges hold their spectra.");
    MARKS("ranges-1", 4 + 3);
    SAYS("<td>inside</td><td class=\"number\">1</td><td class=\"number\">4</td>"
         "<td class=\"number\">-1 to 1</td><td class=\"number\">-2 to 2</td><td>Szegő</td>");
    SAYS("singular values 0.5 to 3</td><td class=\"number\">0 to 4</td><td>none</td>");
    SAYS("not computed</td><td class=\"number\">none</td>");
    SAYS("<li>Of 3 certified ranges 2 hold their spectra; the widest is that of outside: "
         "eigenvalues -1 to 3.");
    ck_assert_int_eq(occurrences(page, "<figure id=\"spectrum-"), 0);
    remove_folder();
}
END_TEST

/* Heads are one row, which each of them must be inside; ends are rounded outwards. */
START_TEST(heads_are_one_range) {
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "summary", SUMMARY);
    for (int head = 0; head < 2; head++) {
        add_ends(&b, "alibi", ldexp(-3, -head), ldexp(5, -head), ldexp(-4, -head), ldexp(8, -head),
                 "eigenvalues");
        whole(&b, "head", head);
    }
    add_ends(&b, "rope:dim=8", 0, 2.000049, -1.23449, 3.45671, "eigenvalues");
    finish(&b);
    MARKS("ranges-1", 2 + 2);
    SAYS("Every certified range (2) holds its spectrum.");
    SAYS(">alibi, 2 heads<");
    SAYS("<td>alibi</td><td class=\"number\">2</td><td class=\"number\">4</td>"
         "<td class=\"number\">-3 to 5</td><td class=\"number\">-4 to 8</td>");
    SAYS("<li>Each of the 2 certified ranges holds its spectrum; the widest is that of alibi, 2 "
         "heads: eigenvalues -3 to 5.");
    SAYS("<li>rope:dim=8: eigenvalues 0 to 2, certified within -1.235 to 3.457.");
    remove_folder();
}
END_TEST

/* A range over all heads has no certified range that only some of them have, no theorem that not
 * all of them have, and is one of eigenvalues or of singular values. */
START_TEST(what_some_heads_have_alone) {
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "summary", SUMMARY);
    for (int head = 0; head < 2; head++) {
        add_ends(&b, "bounded", -1, 1, head ? NAN : -2, head ? NAN : 2,
                 head ? NULL : "eigenvalues");
        whole(&b, "head", head);
        text(&b, "theorem", head ? "none" : "szego");
    }
    for (int head = 0; head < 2; head++) {
        add_ends(&b, "mixed", -1, 1, 0, 4, head ? "singular_values" : "eigenvalues");
        whole(&b, "head", head);
    }
    finish(&b);
    MARKS("ranges-1", 2 + 1);
    SAYS("Every certified range (1) holds its spectrum.");
    SAYS("<td class=\"number\">-1 to 1</td><td class=\"number\">of 1 of 2 heads alone</td>"
         "<td>none</td>");
    SAYS("<td class=\"number\">singular values 0.5 to 3</td><td class=\"number\">0 to 4</td>");
    remove_folder();
}
END_TEST

/* One source of 50 orders leaves its last ones out, not the sources behind it. */
START_TEST(many_ranges_are_bounded) {
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "summary", SUMMARY);
    for (int n = 1; n <= 50; n++) {
        add_ends(&b, "kms", 0, 1, -1, 2, "eigenvalues");
        whole(&b, "n", n);
    }
    add_ends(&b, "t5", 0, 1, -1, 2, "eigenvalues");
    add_ends(&b, "alibi", 0, 1, -1, 2, "eigenvalues");
    finish(&b);
    SAYS("Left out: 12 further rows."); /* 40 are shown */
    MARKS("ranges-1", 40 + 40);
    SAYS("<td>t5</td>");
    SAYS("<td>alibi</td>");
    SAYS("<td>kms, n = 38</td>");
    ck_assert_int_eq(occurrences(page, "<td>kms, n = 39</td>"), 0);
    remove_folder();
}
END_TEST

/* What is not drawn counts too; what lies outside its range and the widest are drawn. */
START_TEST(ranges_left_out_count) {
    builder b = {0};
    begin(&b, "spectrum");
    table(&b, "summary", SUMMARY);
    for (int n = 1; n <= 50; n++) {
        add_ends(&b, "kms", 0, n == 45 ? 3 : 1, -1, n == 47 ? 5 : 2, "eigenvalues");
        whole(&b, "n", n);
    }
    add_ends(&b, "t5", 0, 4, -1, 5, "eigenvalues");
    finish(&b);
    SAYS("50 of 51 certified ranges hold their spectra. Left out: 11 further rows."); /* of 40 */
    SAYS("<li>Of 51 certified ranges 50 hold their spectra; the widest is that of t5: eigenvalues "
         "0 to 4.");
    SAYS("<td>kms, n = 38</td>");
    SAYS("<td>kms, n = 45</td>");
    ck_assert_int_eq(occurrences(page, "<td>kms, n = 39</td>"), 0);
    remove_folder();
}
END_TEST

START_TEST(one_range_is_no_plural) {
    for (int outside = 0; outside < 2; outside++) {
        builder b = {0};
        begin(&b, "spectrum");
        table(&b, "summary", SUMMARY);
        add_ends(&b, "kms", 0, outside ? 3 : 1, -1, 2, "eigenvalues");
        finish(&b);
        if (outside)
            SAYS("<li>The certified range does not hold the spectrum of kms: eigenvalues 0 to 3.");
        else
            SAYS("<li>The certified range holds the spectrum of kms: eigenvalues 0 to 1.");
        remove_folder();
    }
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
    test_add(suite, "a_spectrum_with_an_outlier_has_one_figure",
             a_spectrum_with_an_outlier_has_one_figure);
    test_add(suite, "zeros_that_are_one_row", zeros_that_are_one_row);
    test_add(suite, "zeros_that_are_not_listed", zeros_that_are_not_listed);
    test_add(suite, "zeros_that_are_listed", zeros_that_are_listed);
    test_add(suite, "whose_values_they_are", whose_values_they_are);
    test_add(suite, "ranges_of_earlier_versions", ranges_of_earlier_versions);
    test_add(suite, "complex_eigenvalues_and_singular_values",
             complex_eigenvalues_and_singular_values);
    test_add(suite, "every source has a figure before any has a second",
             every_source_has_a_figure_before_any_has_a_second);
    test_add(suite, "proportional heads are one panel", proportional_heads_are_one_panel);
    test_add(suite, "complex heads and their circle", complex_heads_and_their_circle);
    test_add(suite, "ranges and what bounds them", ranges_and_what_bounds_them);
    test_add(suite, "heads are one range", heads_are_one_range);
    test_add(suite, "what some heads have alone", what_some_heads_have_alone);
    test_add(suite, "values that no range bounds", values_that_no_range_bounds);
    test_add(suite, "many ranges are bounded", many_ranges_are_bounded);
    test_add(suite, "ranges left out count", ranges_left_out_count);
    test_add(suite, "one range is no plural", one_range_is_no_plural);
    test_add(suite, "columns_that_are_missing", columns_that_are_missing);
    test_add(suite, "refused_memory", refused_memory);
}

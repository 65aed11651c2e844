/* The sections on long kernels: what they draw of hand-made densities and ends. */
#include "sections_csv.h"

/* Two orders of one kernel: lines with their areas, and bars of the resolution over the first one.
 */
START_TEST(densities_and_their_errors) {
    enum { POINTS = 20, MOMENTS = 6 };
    csv_text csv, other;
    begin_folder();
    begin_csv(&csv,
              "source:t,head:i,matrix:t,n:i,lambda:r,density:r,error:r,cumulative:r,resolution:r");
    begin_csv(&other, "source:t,head:i,matrix:t,n:i,index:i,moment:r,error:r,vectors:i,lo:r,hi:r");
    for (int64_t n = 100; n <= 200; n += 100) {
        for (int i = 0; i < POINTS; i++)
            fprintf(csv.stream, "a.npy,0,coefficients,%" PRId64 ",%d,%d,0.25,0.5,0.125\n", n, i,
                    1 + i);
        for (int i = 0; i < MOMENTS; i++)
            fprintf(other.stream, "a.npy,0,coefficients,%" PRId64 ",%d,0.5,0.0625,3,0,19\n", n, i);
    }
    write_csv("d", "spectrum", "density", end_csv(&csv), "moments", end_csv(&other));
    free(csv.text);
    free(other.text);
    char *text = section_of(folder, "density");
    ck_says(text, "The standard error is at most 0.25. A grey bar has");
    ck_says(text, "The standard error is at most 0.0625.");
    ck_assert_int_eq(occurrences(text, "<figure "), 2);
    ck_assert_int_eq(marks_of(text, "density", 1), 2 * 2 + 2 * 7); /* lines, areas; bars, points */
    ck_assert_int_eq(marks_of(text, "density", 2), 2 * 2);
    ck_says(text, "eigenvalue: 0.875\ndensity of eigenvalues: 2"); /* the first bar: a resolution to
                                                                      either side of 1 */
    ck_says(text, "eigenvalue: 1.125\ndensity of eigenvalues: 2");
    ck_says(text, "CSV: %d rows of spectrum_density", 2 * POINTS);
    ck_says(text, "CSV: %d rows of spectrum_moments", 2 * MOMENTS);
    free(text);
    end_folder();
}
END_TEST

/* The places behind `from` of the path that `count` points make. */
static void take_path(const char *from, int count, double (*place)[2]) {
    const char *at = from ? strstr(from, " d=\"") : NULL;
    ck_assert_ptr_nonnull(at);
    at += strlen(" d=\"");
    for (int i = 0; i < count; i++) {
        int length = 0;
        ck_assert_int_eq(sscanf(at, "%*1[ML]%lf %lf%n", &place[i][0], &place[i][1], &length), 2);
        at += length;
    }
}

/* Densities 1, 3 and 5 with an error of 2: the area reaches up to 3, 5 and 7, and down to 1, 1 and
 * 3. Below the first point it ends at the least density. */
START_TEST(areas_are_one_error_to_either_side) {
    csv_text csv;
    begin_folder();
    begin_csv(&csv,
              "source:t,head:i,matrix:t,n:i,lambda:r,density:r,error:r,cumulative:r,resolution:r");
    for (int i = 0; i < 3; i++)
        fprintf(csv.stream, "a.npy,0,coefficients,9,%d,%d,2,0.5,0.125\n", i, 1 + 2 * i);
    write_csv("d", "spectrum", "density", end_csv(&csv), NULL, NULL);
    free(csv.text);
    char *text = section_of(folder, "density");
    const char *element = strstr(text, "<g class=\"area");
    double area[6][2], line[3][2];
    take_path(element, 6, area); /* to the right above, and back below */
    take_path(element ? strstr(element, "<g class=\"line c0") : NULL, 3, line);
    const double digits = 0.02; /* two behind the point */
    ck_close(area[0][1], line[1][1], digits);
    ck_close(area[1][1], line[2][1], digits);
    ck_close(area[2][1], 2 * line[2][1] - line[1][1], 3 * digits);
    ck_close(area[3][1], line[1][1], digits);
    ck_close(area[4][1], line[0][1], digits);
    ck_close(area[5][1], line[0][1], digits);
    ck_assert(line[0][1] > line[1][1] + 1 && area[0][0] == line[0][0] && area[3][0] == line[2][0]);
    free(text);
    end_folder();
}
END_TEST

START_TEST(densities_of_exact_moments) {
    csv_text csv;
    begin_folder();
    begin_csv(&csv,
              "source:t,head:i,matrix:t,n:i,lambda:r,density:r,error:r,cumulative:r,resolution:r");
    for (int i = 0; i < 3; i++)
        fprintf(csv.stream, "kms,0,kernel,9,%d,%d,0,0.5,0.125\n", i, 1 + i);
    write_csv("d", "spectrum", "density", end_csv(&csv), NULL, NULL);
    free(csv.text);
    char *text = section_of(folder, "density");
    ck_says(text, "Moments are exact up to rounding: there is no standard error. A grey bar");
    ck_assert_int_eq(marks_of(text, "density", 1), 1 + 2 * 3); /* no area */
    free(text);
    end_folder();
}
END_TEST

/* At the least end no value is resolved, at the largest two of three: these alone are drawn, and
 * the errors and gaps of all. */
START_TEST(ends_and_what_is_resolved) {
    csv_text csv;
    begin_folder();
    begin_csv(&csv,
              "source:t,head:i,matrix:t,n:i,end:t,index:i,value:r,error:r,gap:r,resolved:i,lo:r,"
              "hi:r,solver:t,values_of:t,note:t");
    for (int i = 0; i < 3; i++)
        fprintf(csv.stream, "a.npy,0,coefficients,100,least,%d,,1e-9,1e-12,0,%s,lanczos,matrix,\n",
                i, i ? "," : "0,0.5");
    for (int i = 0; i < 3; i++)
        fprintf(csv.stream,
                "a.npy,0,coefficients,100,largest,%d,%s,1e-12,1e-3,%d,%s,lanczos,matrix,\n", i,
                i < 2 ? (i ? "17" : "18") : "", i < 2, i ? "," : "17.25,17.75");
    write_csv("k", "spectrum", "extremes", end_csv(&csv), NULL, NULL);
    free(csv.text);
    char *text = section_of(folder, "extremes");
    ck_lacks(text, "a.npy, coefficients: the least eigenvalues");
    ck_says(text, "a.npy, coefficients: the largest eigenvalues");
    ck_says(text, "Resolved: 0 of 3.");
    ck_says(text, "Resolved: 2 of 3.");
    ck_assert_int_eq(occurrences(text, "<figure "), 3);
    ck_assert_int_eq(marks_of(text, "extremes", 1),
                     2 + 2); /* values, and both ends of the interval */
    ck_assert_int_eq(marks_of(text, "extremes", 2), 2 * 3);
    ck_assert_int_eq(marks_of(text, "extremes", 3), 2 * 3);
    free(text);
    end_folder();
}
END_TEST

TEST_FILE("sections_long") {
    test_add(suite, "densities_and_their_errors", densities_and_their_errors);
    test_add(suite, "areas_are_one_error_to_either_side", areas_are_one_error_to_either_side);
    test_add(suite, "densities_of_exact_moments", densities_of_exact_moments);
    test_add(suite, "ends_and_what_is_resolved", ends_and_what_is_resolved);
}

/* Relations of two numbers: what the page says and draws of hand-made results. */
#include "sections_csv.h"

#define FIRST "R,contraction,,0,accuracy,,,"
#define SECOND "S,curvature,,,index,1,,"

static const char relations[] =
    RELATIONS "\n" FIRST "between,4,4,,9,1,2,-0.5,-0.9,0.25,spearman,Negative: <it>.,\n" FIRST
              "within,5,2,3,7,1,2,0.75,0.5,0.875,pearson,Negative: <it>.,\n" SECOND
              "between,0,0,,0,0,8,,,,spearman,Is it so?,\n" SECOND
              "within,0,0,0,0,0,8,,,,pearson,Is it so?,\n"
              "T,index,0,,accuracy,,,between,5,5,,9,0,0,-0.9,-0.95,-0.5,spearman,Below 0.,\n";

static const char arms[] = RELATION_ARMS
    "\n" FIRST "e/rope,3,0.9,0.8,1,0.95,0.9,1,\n" FIRST "e/nope,3,1,1,1,0.2,0.1,0.3,\n" FIRST
    "e/alibi,1,3,,,0.5,,,\n" FIRST "e/t5,2,20,10,30,0.6,0.5,0.7,\n" FIRST "e/none,0,,,,,,,\n";

static const char runs[] = RELATION_RUNS
    "\n" FIRST "e/rope,1,0.8,0.9,\n" FIRST "e/rope,2,0.9,0.95,\n" FIRST "e/rope,3,1,1,\n" FIRST
    "e/nope,1,1,0.2,\n" FIRST "e/nope,2,1,0.1,\n" FIRST "e/t5,1,10,0.5,\n" FIRST
    "e/t5,2,30,0.7,\n" FIRST "e/t5,3,,0.7,the run lacks a number\n";

static void write_results(void) {
    begin_folder();
    write_csv("rep", "reproduce", "relations", relations, "relation_arms", arms);
}

START_TEST(each_kind_has_a_sentence) {
    write_results();
    char *text = section_of(folder, "relations"), *page = page_of(folder);
    ck_says(text, "<h2");
    ck_says(text, "Relations, exploratory");
    ck_says(text,
            "Negative: &lt;it&gt;. Exploratory. Between 4 arms the correlation is negative: -0.5, "
            "95%% interval [-0.9, 0.25], which contains 0; 1 run lacks a number; 2 runs are not "
            "finished.");
    /* Without an arm: a sentence, and no figure. */
    ck_says(text, "S: Is it so? Exploratory. Between 0 arms there is no correlation; 8 runs are "
                  "not finished.");
    ck_says(text, "CSV: 5 rows of reproduce_relations");
    ck_says(page, "Relations, exploratory: of 5 correlations 3 have an interval, and 2 of these do "
                  "not contain 0.");
    free(page);
    free(text);
    end_folder();
}
END_TEST

/* A point an arm, its interval to both sides where it has one. */
START_TEST(arms_are_points_with_intervals) {
    double x[2], y[2];
    write_results();
    char *text = section_of(folder, "relations");
    ck_says(text, "R: accuracy over ratio of widths, step 0: means of the arms");
    /* Four points; three arms have two intervals each. */
    ck_assert_int_eq(marks_of(text, "relations", 1), 4 + 3 * 2);
    ck_says(text, "e/alibi\nruns: 1\nmean of x: 3\nmean of y: 0.5<");
    /* The first of the thin lines is rope's along y, the last ones lie along x. */
    int along_x = 0, along_y = 0;
    for (const char *at = text; (at = strstr(at, " thin\"")); at++) {
        const char *path = strstr(at, " d=\"M");
        ck_assert(path && sscanf(path, " d=\"M%lf %lfL%lf %lf", &x[0], &y[0], &x[1], &y[1]) == 4);
        along_x += y[0] == y[1];
        along_y += x[0] == x[1] && y[0] != y[1];
    }
    ck_assert_int_eq(along_x, 3);
    ck_assert_int_eq(along_y, 3);
    ck_says(text, "CSV: 4 rows of reproduce_relation_arms");
    free(text);
    end_folder();
}
END_TEST

/* Two arms vary: rope's deviations are -1, 0, 1 of its own, t5's have the size of sqrt(1/2). */
START_TEST(runs_are_centred_in_their_arms) {
    begin_folder();
    write_csv("rep", "reproduce", "relations", relations, "relation_runs", runs);
    char *text = section_of(folder, "relations");
    ck_assert_int_eq(marks_of(text, "relations", 1), 3 + 2);
    ck_says(text, "Within 2 arms the correlation is positive: 0.75, 95%% interval [0.5, 0.875], "
                  "which does not contain 0; 1 run lacks a number");
    ck_says(text, "x in its arm (deviations)");
    ck_says(text, "e/t5\nseed: 2\nx: 30\ny: 0.7<");
    ck_lacks(text, "not finite");
    ck_lacks(text, "e/nope\nseed");
    free(text);
    end_folder();
}
END_TEST

START_TEST(arms_alone_say_so) {
    begin_folder();
    write_csv("rep", "reproduce", "relation_arms", arms, NULL, NULL);
    char *text = section_of(folder, "relations");
    ck_says(text, "The table of relations does not have this one.");
    ck_assert_int_eq(marks_of(text, "relations", 1), 4 + 3 * 2);
    free(text);
    end_folder();
}
END_TEST

TEST_FILE("sections_relations") {
    test_add(suite, "sentences", each_kind_has_a_sentence);
    test_add(suite, "arms are points", arms_are_points_with_intervals);
    test_add(suite, "runs are centred", runs_are_centred_in_their_arms);
    test_add(suite, "arms alone", arms_alone_say_so);
}

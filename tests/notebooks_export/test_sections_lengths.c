/* Longer sequences: what the page says and draws of hand-made means. */
#include "sections_csv.h"

#define MEANS                                                                                      \
    "experiment:t,encoding:t,scaling:t,words:i,factor:r,seeds:i,accuracy:r,t_low:r,t_high:r,"      \
    "test_accuracy:r,label_ceiling:r,note:t\n"

static const char arms[] = MEANS "e,rope,none,34,1,10,0.9,0.85,0.95,0.98,0.99,\n"
                                 "e,rope,none,68,2,10,0.5,0.4,0.6,0.98,0.98,\n"
                                 "e,rope,yarn,68,2,10,0.7,0.6,0.8,0.98,0.98,\n"
                                 "e,<alibi>,none,34,1,10,0.6,0.5,0.7,0.44,0.99,\n"
                                 "e,<alibi>,none,68,2,10,0.25,0.125,0.375,0.44,0.98,\n";
static const char single[] = MEANS "e,rope,none,34,1,1,0.5,,,0.75,0.99,\n"
                                   "e,nope,none,34,1,1,,,,,0.99,\n";

START_TEST(the_longest_sequences_have_a_sentence) {
    static const char said[] =
        "68 words, 2 times the longest of training: highest rope scaled by yarn 70%% [60, 80] "
        "(98%% on the test split), lowest &lt;alibi&gt; as trained 25%% [12.5, 37.5] (44%% on the "
        "test "
        "split); "
        "10 seeds.";
    begin_folder();
    write_csv("rep", "reproduce", "length_arms", arms, NULL, NULL);
    char *text = section_of(folder, "lengths"), *page = page_of(folder);
    ck_says(text, said);
    ck_says(page, "Experiment e: accuracy on longer sequences");
    /* The finding, before all sections, and the caption. */
    const char *first = strstr(page, "68 words, 2 times");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(strstr(first + 1, "68 words, 2 times"));
    ck_says(text, "CSV: 5 rows of reproduce_length_arms");
    free(page);
    free(text);
    end_folder();
}
END_TEST

/* Three series: two lines of two points, one point of a scaling; an interval at each. */
START_TEST(arms_are_lines_with_intervals) {
    begin_folder();
    write_csv("rep", "reproduce", "length_arms", arms, NULL, NULL);
    char *text = section_of(folder, "lengths");
    ck_says(text, "scaled by yarn");
    ck_says(text, "&lt;alibi&gt;");
    int64_t with = marks_of(text, "lengths", 1);
    free(text);
    end_folder();
    begin_folder();
    write_csv("rep", "reproduce", "length_arms", single, NULL, NULL);
    text = section_of(folder, "lengths");
    ck_says(text, "34 words, as many as the longest of training has: highest rope as trained 50%% "
                  "(75%% on the test "
                  "split); 1 seed.");
    ck_assert_int_gt(with, marks_of(text, "lengths", 1));
    free(text);
    end_folder();
}
END_TEST

TEST_FILE("sections_lengths") {
    test_add(suite, "a sentence", the_longest_sequences_have_a_sentence);
    test_add(suite, "lines with intervals", arms_are_lines_with_intervals);
}

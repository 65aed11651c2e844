/* Numbers by step: what the page says and draws of hand-made means. */
#include "sections_csv.h"

#define BY_STEP                                                                                    \
    "arm:t,task:t,measure:t,layer:i,step:i,seeds:i,failed:i,missing:i,mean:r,t_low:r,t_high:r,"    \
    "reference:r,note:t\n"
#define INDEX "<w>/rope,distance,index,"
#define SHARE "<w>/rope,distance,gradient_share,"
#define RATIO "<w>/rope,distance,contraction,"

static const char means[] = BY_STEP INDEX
    "0,100,9,1,0,0.5,0.25,0.75,0.52,\n" INDEX "0,990,8,1,1,0.75,0.5,1,0.52,\n" INDEX
    "1,100,10,0,0,0.4,0.3,0.5,0.52,\n" INDEX "1,990,10,0,0,0.5,0.4,0.6,0.52,\n" SHARE
    "0,0,10,0,0,0.25,0.2,0.3,0.25,\n" SHARE "0,4,10,0,0,0.3,0.2,0.4,0.25,\n" SHARE
    "0,8,0,10,0,,,,0.25,\n" RATIO "0,0,10,0,0,0.9,0.8,1,1,\n" RATIO "0,4,10,0,0,2,1.5,2.5,1,\n";

START_TEST(each_question_has_a_figure_and_a_sentence) {
    begin_folder();
    write_csv("rep", "reproduce", "by_step", means, NULL, NULL);
    char *text = section_of(folder, "by-step"), *page = page_of(folder);
    ck_says(text, "<h2>By step");
    ck_says(text, "&lt;w&gt;/rope, task distance, deposit index: by step, a panel a layer");
    ck_says(text, "At step 990 the worst head&#39;s share of the drops is 0.75 [0.5, 1] in layer 0 "
                  "(8 seeds, 1 without it, 1 not finished), 0.5 [0.4, 0.6] in layer 1 (10 seeds); "
                  "uniform shares, mean: 0.52.");
    /* Step 8 has no mean. */
    ck_says(text,
            "At step 4 the winner&#39;s share of the gradient norm is 0.3 [0.2, 0.4] in layer "
            "0 (10 seeds); equal heads: 0.25.");
    ck_says(text, "At step 4 the ratio of widths is 2 [1.5, 2.5] in layer 0 (10 seeds); content "
                  "alone: 1.");
    /* A panel a layer: a line, two points with an interval each, and the reference. */
    ck_assert_int_eq(marks_of(text, "by-step", 1), 2 * (1 + 2 + 2 + 1));
    ck_assert_int_eq(marks_of(text, "by-step", 2), 1 + 2 + 2 + 1);
    ck_says(text, "uniform shares, mean: 0.52</title>");
    ck_says(text, "mean: 0.75\nt_low: 0.5\nt_high: 1\nseeds: 8<");
    ck_says(text, "CSV: 4 rows of reproduce_by_step");
    /* The finding, before all sections, and the caption: of the index alone. */
    const char *first = strstr(page, "At step 990 the");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(strstr(first + 1, "At step 990 the"));
    first = strstr(page, "At step 4 the ratio");
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(strstr(first + 1, "At step 4 the ratio"));
    free(page);
    free(text);
    end_folder();
}
END_TEST

static const char few[] = BY_STEP INDEX
    "0,990,1,0,0,0.5,,,0.75,\n" RATIO "0,0,1,0,0,0.9,,,1,\n" RATIO "0,4,1,0,0,0.8,,,1,\n" RATIO
    "1,0,1,0,0,0.9,,,1,\n" RATIO "1,4,1,0,0,0.8,,,1,\n" RATIO "2,4,1,0,0,0.8,,,1,\n" RATIO
    "3,4,1,0,0,0.8,,,1,\n" RATIO "4,4,1,0,0,0.8,,,1,\n" RATIO "5,4,1,0,0,0.8,,,1,\n";

START_TEST(one_step_and_one_seed_say_so) {
    begin_folder();
    write_csv("rep", "reproduce", "by_step", few, NULL, NULL);
    char *text = section_of(folder, "by-step");
    ck_says(text,
            "Not drawn, because there is one step: &lt;w&gt;/rope, task distance, deposit index.");
    ck_says(text, "At step 4 the ratio of widths is 0.8 in layer 0 (1 seed), 0.8 in layer 1 (1 "
                  "seed), 0.8 in layer 2 (1 seed), 0.8 in layer 3 (1 seed), and 2 layers more; "
                  "content alone: 1.");
    ck_lacks(text, "nan");
    ck_lacks(text, "the worst head");
    free(text);
    end_folder();
}
END_TEST

TEST_FILE("sections_by_step") {
    test_add(suite, "sentences", each_question_has_a_figure_and_a_sentence);
    test_add(suite, "one step", one_step_and_one_seed_say_so);
}

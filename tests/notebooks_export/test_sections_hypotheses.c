/* Hypotheses and arms: what the page says and draws of hand-made results. */
#include "sections_csv.h"

static const char hypotheses[] =
    HYPOTHESES "\n"
               "H1,yes,index,0,e/rope,e/nope|e/t5,4,3,1,0,0.25,-0.5,1,0.25,0.75,not decided,"
               "It is larger.,\n"
               "H2,yes,rank_correlation,1,e/rope,,4,0,3,1,,,,,,not complete,It is above <0>.,\n"
               "X,no,accuracy,,e/rope,e/nope,4,4,0,0,0.5,0.4,0.6,0.125,,exploratory,It learns.,\n";

static const char pairs[] = PAIRS "\n"
                                  "H1,yes,index,0,e/rope,e/nope|e/t5,1,0.5,0.5,0,\n"
                                  "H1,yes,index,0,e/rope,e/nope|e/t5,2,0.7,0.5,0.2,\n"
                                  "H1,yes,index,0,e/rope,e/nope|e/t5,3,,0.5,,no\n"
                                  "H1,yes,index,0,e/rope,e/nope|e/t5,4,0.95,0.4,0.55,\n"
                                  "H2,yes,rank_correlation,1,e/rope,,1,,,,no\n"
                                  "X,no,accuracy,,e/rope,e/nope,1,0.9,0.4,0.5,\n";

static const char arms[] = ARMS "\n"
                                "a,rope,distance,1,e,e/rope,0,0.4,0.8,0.52,0.77,0.3,output,\n"
                                "a,rope,distance,2,e,e/rope,0,0.4,0.4,0.52,0.77,0.5,output,\n"
                                "b,nope,distance,1,e,e/nope,0,0.4,0.35,0.52,0.77,0.31,output,\n"
                                "b,nope,distance,2,e,e/nope,0,0.04,,0.52,0.77,,output,\n";

static void write_results(void) {
    write_csv("rep", "reproduce", "hypotheses", hypotheses, "pairs", pairs);
    write_csv("rep2", "reproduce", "arms", arms, NULL, NULL);
}

START_TEST(each_hypothesis_has_a_sentence) {
    begin_folder();
    write_results();
    char *text = section_of(folder, "mechanism"), *page = page_of(folder);
    ck_says(text, "It is larger. Result: not decided; mean 0.25 [-0.5, 1] over 3 seeds, p = 0.25, "
                  "after Holm 0.75; 1 seed failed.");
    /* Without a pair: a sentence, and no figure. */
    ck_says(text, "H2: It is above &lt;0&gt;. Result: not complete; no seed has a difference; 3 "
                  "seeds failed; 1 seed has not run.");
    ck_says(text, "It learns. Result: exploratory; mean 0.5 [0.4, 0.6] over 4 seeds, p = 0.125.");
    ck_says(text, "CSV: 3 rows of reproduce_hypotheses");
    ck_lacks(text, "before"); /* when they were named, no table says */
    ck_says(page, "Hypotheses: of 2 primary ones 0 supported, 0 opposed, 1 "
                  "not decided, 0 not testable, 1 not complete.");
    free(page);
    free(text);
    end_folder();
}
END_TEST

/* Seeds below each other, their mean with its interval at a place of its own, no difference. */
START_TEST(seeds_are_points_beside_their_mean) {
    double x[2], y[2];
    begin_folder();
    write_results();
    char *text = section_of(folder, "mechanism");
    ck_says(text, "H1: index of e/rope less e/nope|e/t5, layer 0: differences seed by seed");
    /* three seeds, the mean, its interval, the rule */
    ck_assert_int_eq(marks_of(text, "mechanism", 1), 3 + 1 + 1 + 1);
    const char *line = strstr(text, "<g class=\"line c1 thin\""), *path = strstr(line, " d=\"M");
    ck_assert(path && sscanf(path, " d=\"M%lf %lfL%lf %lf", &x[0], &y[0], &x[1], &y[1]) == 4);
    ck_assert(x[0] < x[1] && y[0] == y[1]);
    ck_says(text, "mean, 95%%");
    ck_says(text, "seed: 4\nthis arm: 0.95\nwhat is subtracted: 0.4\n");
    ck_says(text, "CSV: 3 rows of reproduce_pairs");
    free(text);
    end_folder();
}
END_TEST

START_TEST(indices_stand_beside_the_references) {
    begin_folder();
    write_results();
    char *text = section_of(folder, "mechanism");
    ck_says(text,
            "Of 3 indices 1 exceed what uniform shares exceed in 5%% (0.77; on average they give "
            "0.52), 2 what equal heads of the same run exceed in 5%% (on average 0.37).");
    /* three seeds, two means, the interval of the one with two seeds, three rules */
    ck_assert_int_eq(marks_of(text, "mechanism", 3), 3 + 2 + 1 + 3);
    /* Its interval, -1.9 to 3.1, is drawn from 0 to 1: the whole axis. */
    double x[2], y[2];
    const char *line = strstr(strstr(text, "deposit index by arm"), "<g class=\"line c1 thin\""),
               *path = line ? strstr(line, " d=\"M") : NULL;
    ck_assert(path && sscanf(path, " d=\"M%lf %lfL%lf %lf", &x[0], &y[0], &x[1], &y[1]) == 4);
    ck_assert(x[1] - x[0] > 300 && y[0] == y[1]);
    const char *tick = strstr(strstr(text, "deposit index by arm"), "text-anchor=\"middle\">");
    ck_assert(tick && strncmp(strchr(tick, '>'), ">0<", 3) == 0);
    ck_says(text, "mean over the seeds, 95%% interval");
    ck_says(text, "Task distance, heads ablated by output, layer 0: deposit index by arm");
    free(text);
    end_folder();
}
END_TEST

/* Pairs whose hypothesis the other table lacks. */
START_TEST(pairs_alone_say_so) {
    begin_folder();
    write_csv("rep", "reproduce", "pairs", pairs, "arms", arms);
    char *text = section_of(folder, "mechanism");
    ck_says(text, "The table of hypotheses does not name this one.");
    ck_assert_int_eq(marks_of(text, "mechanism", 1), 3 + 1);
    free(text);
    end_folder();
}
END_TEST

TEST_FILE("sections_hypotheses") {
    test_add(suite, "sentences", each_hypothesis_has_a_sentence);
    test_add(suite, "seeds are points", seeds_are_points_beside_their_mean);
    test_add(suite, "indices and references", indices_stand_beside_the_references);
    test_add(suite, "pairs alone", pairs_alone_say_so);
}

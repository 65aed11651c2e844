/* The section on contraction: what it says and draws of hand-made results. */
#include "sections_csv.h"

enum { LAYERS = 2, HEADS = 3, STEPS = 4, PROBES = 2 };

static double ratio_at(int64_t step, int64_t layer, int64_t head, int64_t probe) {
    return 1.5 - 0.2 * (double)step - 0.1 * (double)layer + 0.25 * (double)head +
           0.032 * (double)probe;
}

static void write_contraction(int64_t layers, int64_t heads, int64_t steps) {
    csv_text csv;
    begin_csv(&csv, CONTRACTION);
    for (int64_t step = 0; step < steps; step++)
        for (int64_t layer = 0; layer < layers; layer++)
            for (int64_t head = heads - 1; head >= 0; head--)
                for (int64_t probe = 0; probe < PROBES; probe++)
                    fprintf(csv.stream,
                            "run-0,rope,count,5,s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                            ",20,same_qk,%.17g,1.1,1.2,%d,-0.5,0.1,0.3,\n",
                            100 * step, layer, head, probe, ratio_at(step, layer, head, probe),
                            head == 1);
    write_csv("t/run-0", "train", "contraction", end_csv(&csv), NULL, NULL);
    free(csv.text);
}

static int64_t heads_below(int64_t step) {
    int64_t below = 0;
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++)
            below += ratio_at(step, layer, head, 0) + ratio_at(step, layer, head, 1) < 2;
    return below;
}

START_TEST(contraction_counts_heads_below_one) {
    char least[32], greatest[32];
    begin_folder();
    write_contraction(LAYERS, HEADS, STEPS);
    char *text = section_of(folder, "contraction");
    ck_assert_int_gt(heads_below(STEPS - 1), heads_below(0));
    ck_says(text,
            "at step 0 %" PRId64 " of 6 heads have a width ratio below 1 (%s to %s), at step 300 "
            "%" PRId64 " of 6",
            heads_below(0), shown(1.4 + 0.016, least), shown(2 + 0.016, greatest),
            heads_below(STEPS - 1));
    ck_assert_int_eq(marks_of(text, "contraction", 4), LAYERS * HEADS);
    for (int64_t layer = 0; layer < LAYERS; layer++) /* lines, areas of two probes, the rule */
        ck_assert_int_eq(marks_of(text, "contraction", 2 + layer), HEADS + HEADS + 1);
    ck_assert_int_eq(marks_of(text, "contraction", 1), LAYERS * HEADS * STEPS);
    ck_says(text, "Below 1, in blue, are %" PRId64 " of 24 values",
            heads_below(0) + heads_below(1) + heads_below(2) + heads_below(3));
    ck_assert_int_eq(marks_of(text, "contraction", 5), LAYERS * 2); /* coupled, content */
    ck_says(text, "layer 0 0.333 at step 0, 0.333 at step 300");
    ck_says(text, "same_qk");
    ck_assert_int_eq(occurrences(text, "<figure "), 1 + LAYERS + 1 + 5);
    free(text);
    end_folder();
}
END_TEST

START_TEST(contraction_without_steps_is_drawn_by_order) {
    begin_folder();
    write_csv("s", "spectrum", "contraction",
              "source:t,step:i,layer:i,head:i,probe:t,n:i,content_kind:t,width_ratio:r,"
              "norm_ratio:r,nuclear_ratio:r,majorised:i,note:t\n"
              "rope:dim=64,,,0,,64,same_qk,0.9,0.8,1.1,1,\n"
              "rope:dim=64,,,0,,256,same_qk,0.7,0.6,1.2,0,\n",
              NULL, NULL);
    char *text = section_of(folder, "contraction");
    ck_assert_int_eq(marks_of(text, "contraction", 1), 3 + 1);
    ck_says(text, "majorised by the content are 1 of 2, which");
    ck_says(text, "width_ratio 0.9 at n 64, 0.7 at n 256; norm_ratio 0.8 at n 64, 0.6 at n 256");
    free(text);
    end_folder();
}
END_TEST

/* ---- Which runs are seen ---- */

static void add_run(FILE *stream, const char *encoding, int64_t seed, const char *step,
                    double ratio) {
    fprintf(stream, "text/count/%s/run-%" PRId64 ",%s,count,%" PRId64 ",s,%s,0,0,0,20,same_qk,",
            encoding, seed, encoding, seed, step);
    fprintf(stream, "%.17g,%.17g,%.17g,1,0,0.1,0.3,\n", ratio, ratio, ratio);
}

START_TEST(every_encoding_is_seen_and_one_that_changes_nothing_is_named) {
    enum { ENCODINGS = 10, SEEDS = 3, OF_A_RUN = 1 + 1 + 1 + 5 };
    csv_text csv;
    char encoding[16], title[64];
    begin_folder();
    begin_csv(&csv, CONTRACTION);
    for (int64_t e = 0; e < ENCODINGS; e++)
        for (int64_t seed = 0; seed < SEEDS; seed++)
            for (int step = 0; step < 2; step++) {
                snprintf(encoding, sizeof encoding, "e%" PRId64, e);
                add_run(csv.stream, encoding, seed, step ? "100" : "0", 0.5);
                if (e == 0)
                    add_run(csv.stream, "nope", seed, step ? "100" : "0", step ? 1 : 1 - 1e-9);
            }
    write_csv("rep", "reproduce", "contraction", end_csv(&csv), NULL, NULL);
    char *text = section_of(folder, "contraction");
    ck_assert_int_eq(occurrences(text, "<figure "), 24);
    for (int64_t e = 0; e < ENCODINGS; e++) {
        snprintf(title, sizeof title,
                 "<title>e%" PRId64 ", count (text): width ratio by head and step", e);
        ck_says(text, "%s", title);
    }
    ck_says(text, "%d more figures are left out", ENCODINGS * SEEDS * OF_A_RUN - 24);
    ck_says(text, "nope, count (text), seed 0, in rep; nope, count (text), seed 1, in rep; "
                  "nope, count (text), seed 2, in rep.");
    ck_lacks(text, "<title>nope");
    free(csv.text);
    free(text);
    end_folder();
}
END_TEST

START_TEST(the_experiment_is_not_read_out_of_the_run) {
    begin_folder();
    write_csv("rep", "reproduce", "contraction",
              "run:t,encoding:t,task:t,seed:i,source:t,step:i,layer:i,head:i,probe:t,n:i,"
              "content_kind:t,width_ratio:r,norm_ratio:r,nuclear_ratio:r,majorised:i,experiment:t,"
              "note:t\n"
              "other/x,rope,count,0,s,0,0,0,0,20,same_qk,0.5,0.5,0.5,1,text,\n"
              "other/x,rope,count,0,s,100,0,0,0,20,same_qk,0.5,0.5,0.5,1,text,\n",
              NULL, NULL);
    char *text = section_of(folder, "contraction");
    ck_says(text, "<title>rope, count (text): width ratio by head and step");
    ck_lacks(text, "(other)");
    free(text);
    end_folder();
}
END_TEST

/* Thirteen runs of one figure each leave enough for all eight of the last one. */
START_TEST(figures_that_runs_do_not_need_go_to_others) {
    csv_text csv;
    char encoding[16];
    begin_folder();
    begin_csv(&csv, CONTRACTION);
    for (int64_t e = 0; e < 13; e++) {
        snprintf(encoding, sizeof encoding, "e%" PRId64, e);
        add_run(csv.stream, encoding, 0, "", 0.5);
    }
    add_run(csv.stream, "last", 0, "0", 0.5);
    add_run(csv.stream, "last", 0, "100", 2);
    write_csv("rep", "reproduce", "contraction", end_csv(&csv), NULL, NULL);
    char *text = section_of(folder, "contraction");
    ck_assert_int_eq(occurrences(text, "<figure "), 13 + 8);
    ck_lacks(text, "left out");
    free(csv.text);
    free(text);
    end_folder();
}
END_TEST

START_TEST(every_refused_allocation_is_survived) {
    begin_folder();
    write_contraction(1, 1, 2);
    ck_survives_failed_allocations(100, write_page(folder));
    end_folder();
}
END_TEST

TEST_FILE("sections_contraction") {
    test_add(suite, "every encoding is seen, and one that changes nothing is named",
             every_encoding_is_seen_and_one_that_changes_nothing_is_named);
    test_add(suite, "the experiment is not read out of the run",
             the_experiment_is_not_read_out_of_the_run);
    test_add(suite, "figures that runs do not need go to others",
             figures_that_runs_do_not_need_go_to_others);
    test_add(suite, "every refused allocation is survived", every_refused_allocation_is_survived);
    test_add(suite, "contraction counts heads below one", contraction_counts_heads_below_one);
    test_add(suite, "contraction without steps is drawn by order",
             contraction_without_steps_is_drawn_by_order);
}

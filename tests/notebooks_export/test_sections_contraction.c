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
                            ",20,same_qk,%.17g,0.9,1.2,%d,-0.5,0.1,0.3,\n",
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

/* Of the means over probes at a step. */
static void find_ends(int64_t step, double *least, double *greatest) {
    *least = INFINITY;
    *greatest = -INFINITY;
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++) {
            double mean = (ratio_at(step, layer, head, 0) + ratio_at(step, layer, head, 1)) / 2;
            *least = fmin(*least, mean);
            *greatest = fmax(*greatest, mean);
        }
}

START_TEST(contraction_counts_heads_below_one) {
    enum { LAST = STEPS - 1 };
    double least, greatest;
    begin_folder();
    write_contraction(LAYERS, HEADS, STEPS);
    char *text = section_of(folder, "contraction");
    ck_assert_int_gt(heads_below(LAST), heads_below(0));
    find_ends(LAST, &least, &greatest);
    ck_says(text,
            "The encoding narrows %" PRId64 " of 6 heads (%.4g to %.4g) at step 300, %" PRId64
            " at step 0.",
            heads_below(LAST), least, greatest, heads_below(0));
    ck_says(text,
            "The encoding narrows %" PRId64 " of 6 heads (%.4g to %.4g) at step 300: blue, below "
            "1.",
            heads_below(LAST), least, greatest);
    /* Of each layer the heads' lines, areas of two probes, and the rule. */
    ck_assert_int_eq(marks_of(text, "contraction", 1), LAYERS * (HEADS + HEADS + 1));
    ck_assert_int_eq(marks_of(text, "contraction", 2), LAYERS * HEADS); /* the last step alone */
    ck_says(text, "CSV: %d rows of train_contraction", LAYERS * HEADS * PROBES);
    ck_assert_int_eq(marks_of(text, "contraction", 3), LAYERS * (3 + 1)); /* no areas */
    ck_assert_int_eq(marks_of(text, "contraction", 4), LAYERS * 2);       /* coupled, content */
    ck_says(text, "from layer to layer: with the encoding 0.3, content alone 0.1.");
    ck_assert_int_eq(marks_of(text, "contraction", 5), LAYERS); /* of three heads one */
    ck_says(text, "At training step 300, from layer to layer: share majorised 0.3333.");
    ck_says(text, "mean slack -0.5.");
    ck_says(text, "Content (same_qk): ");
    ck_lacks(text, "(zeroed)");
    ck_assert_int_eq(occurrences(text, "<figure "), 6);
    free(text);
    char *page = page_of(folder);
    ck_says(page,
            "Logits, rope, count: the encoding narrows the spectrum of %" PRId64
            " of 6 heads (%.4g to %.4g).",
            heads_below(LAST), least, greatest);
    free(page);
    end_folder();
}
END_TEST

/* Eight heads a layer: one that ends far from the others, though it was never above them. */
START_TEST(heads_that_end_far_from_the_others_are_named) {
    csv_text csv;
    begin_folder();
    begin_csv(&csv, CONTRACTION);
    for (int layer = 0; layer < 2; layer++)
        for (int head = 0; head < 8; head++)
            for (int step = 0; step < 2; step++)
                fprintf(csv.stream, "run-0,rope,count,5,s,%d,%d,%d,0,20,same_qk,%g,1.1,1.2,0,,,,\n",
                        step, layer, head,
                        step == 0                 ? 1.0
                        : layer == 1 && head == 6 ? 0.1
                                                  : 0.8 + 0.01 * head);
    write_csv("t", "train", "contraction", end_csv(&csv), NULL, NULL);
    char *text = section_of(folder, "contraction");
    ck_says(text, "The encoding narrows 16 of 16 heads (0.1 to 0.87) at step 1, 0 at step 0; "
                  "heads that stand out: 1.6.");
    *strstr(text, "</figure>") = 0;
    ck_assert_int_eq(occurrences(text, "class=\"line c0\""), 1 + 1); /* and its entry */
    ck_has(text, ">head 6<title>");
    ck_has(text, ">7 others<title>");
    free(csv.text);
    free(text);
    end_folder();
}
END_TEST

/* What rounding leaves of a ratio of 1 narrows nothing: a head that does not rotate. */
START_TEST(rounding_narrows_nothing) {
    static const double ratio[] = {0.5, 1 - 1e-7, 1 + 1e-7};
    csv_text csv;
    begin_folder();
    begin_csv(&csv, CONTRACTION);
    for (int step = 0; step < 2; step++)
        for (int head = 0; head < 3; head++)
            fprintf(csv.stream, "run-0,rope,count,5,s,%d,0,%d,0,20,same_qk,%.17g,1.1,1.2,0,,,,\n",
                    step, head, ratio[head]);
    write_csv("t", "train", "contraction", end_csv(&csv), NULL, NULL);
    char *text = section_of(folder, "contraction");
    ck_says(text, "The encoding narrows 1 of 3 heads (0.5 to 1) at step 1, 1 at step 0.");
    ck_says(text, "The encoding narrows 1 of 3 heads (0.5 to 1) at step 1: blue, below 1.");
    free(csv.text);
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
              "rope:dim=64,,,0,,256,same_qk,0.7,0.6,1.2,0,\n"
              "alibi:heads=2,,,0,,64,same_qk,0.5,0.8,1.1,1,\n"
              "alibi:heads=2,,,1,,64,same_qk,0.25,0.8,1.3,1,\n",
              NULL, NULL);
    char *text = section_of(folder, "contraction");
    ck_assert_int_eq(occurrences(text, "<figure "), 2);
    ck_assert_int_eq(marks_of(text, "contraction", 1), 3 + 1);
    ck_says(text, "At order n 256: widths 0.7, spectral norms 0.6, nuclear norms 1.2.");
    ck_says(text, "From head to head: widths 0.25 to 0.5, spectral norms 0.8, nuclear norms 1.1 to "
                  "1.3.");
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

/* Beyond the section's figures; the further ones go round. */
START_TEST(every_encoding_is_seen_and_one_that_changes_nothing_is_named) {
    enum { ENCODINGS = 10, SEEDS = 3, FIGURES = 16, OF_A_RUN = 4 /* lines, map, ratios, share */ };
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
    ck_assert_int_eq(occurrences(text, "<figure "), FIGURES);
    for (int64_t e = 0; e < ENCODINGS; e++) {
        snprintf(title, sizeof title, "<title>e%" PRId64 ", count (text), seed 0, in rep: ", e);
        ck_says(text, "%s", title);
    }
    ck_says(text, "Left out: %d figures more", ENCODINGS * SEEDS * (OF_A_RUN + 2) - FIGURES);
    ck_says(text, "because every ratio is 1 up to rounding: nope, count (text), seed 0, in rep; "
                  "nope, count (text), seed 1, in rep; nope, count (text), seed 2, in rep.");
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
    ck_says(text, "<title>rope, count (text), seed 0, in rep: ratio of widths by head");
    ck_lacks(text, "(other)");
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
    test_add(suite, "heads that end far from the others are named",
             heads_that_end_far_from_the_others_are_named);
    test_add(suite, "every refused allocation is survived", every_refused_allocation_is_survived);
    test_add(suite, "contraction counts heads below one", contraction_counts_heads_below_one);
    test_add(suite, "rounding narrows nothing", rounding_narrows_nothing);
    test_add(suite, "contraction without steps is drawn by order",
             contraction_without_steps_is_drawn_by_order);
}

/* The section on the softmax: what it draws of hand-made statistics. */
#include "sections_csv.h"

enum { LAYERS = 2, HEADS = 3, PROBES = 2 };

#define STATISTICS                                                                                 \
    "source:t,step:i,layer:i,head:i,probe:t,matrix:t,n:i,largest_logit:r,entropy_mean:r,"          \
    "entropy_normalised:r,first_share:r,sinks:t,sink_share:r,learned_share:r,note:t"

/* At the last step the entropies grow with layer and head from 0.1 on; before it they are 0.9. */
static double entropy_at(int64_t step, int64_t last, int64_t layer, int64_t head, int64_t probe) {
    return step < last ? 0.9
                       : 0.1 + 0.3 * (double)layer + 0.1 * (double)head + 0.02 * (double)probe;
}

static void write_statistics(int64_t steps, bool layers, const char *sink_share) {
    csv_text csv;
    begin_csv(&csv, STATISTICS);
    for (int64_t step = 0; step < steps; step++)
        for (int64_t layer = 0; layer < (layers ? LAYERS : 1); layer++)
            for (int64_t head = 0; head < HEADS; head++)
                for (int64_t probe = 0; probe < PROBES; probe++) {
                    fprintf(csv.stream, "rope:dim=8,%" PRId64 ",", 100 * step);
                    if (layers)
                        fprintf(csv.stream, "%" PRId64, layer);
                    fprintf(csv.stream,
                            ",%" PRId64 ",%" PRId64 ",logits,20,%" PRId64
                            ".5,1.5,%.17g,0.25,%s,%s,,\n",
                            head, probe, 10 * step + head,
                            entropy_at(step, steps - 1, layer, head, probe),
                            *sink_share ? "0+1" : "", sink_share);
                }
    write_csv("t", "logits", "statistics", end_csv(&csv), NULL, NULL);
    free(csv.text);
}

/* Maps of the last step, a cell a head; courses of both steps, a line a head; nothing of a share
 * that no row has. */
START_TEST(heads_by_layer_and_step) {
    begin_folder();
    write_statistics(2, true, "");
    char *text = section_of(folder, "softmax");
    ck_says(text,
            "rope:dim=8, logits: entropy of the attention weights over its maximum, mean over");
    /* Means of two probes: 0.1 + 0.01 and 0.6 + 0.01. */
    ck_says(text, "Greatest 0.61 at layer 1, head 2; least 0.11 at layer 0, head 0");
    ck_says(text, "attention weight of the first token");
    ck_says(text, "Greatest 12.5 at layer 0, head 2; least 10.5 at layer 0, head 0");
    ck_lacks(text, "weight of the declared sinks");
    ck_lacks(text, "weight of the learned sink");
    ck_says(text, "CSV: %d rows of logits_statistics", LAYERS * HEADS * PROBES);
    for (int map = 1; map <= 3; map++)
        ck_assert_int_eq(marks_of(text, "softmax", map), LAYERS * HEADS);
    ck_assert_int_eq(marks_of(text, "softmax", 4), LAYERS * 2 * HEADS); /* lines and their areas */
    ck_assert_int_eq(occurrences(text, "<figure "), 5);
    free(text);
    end_folder();
}
END_TEST

/* One step is no course; declared sinks have a map. */
START_TEST(one_step_with_sinks) {
    begin_folder();
    write_statistics(1, true, "0.5");
    char *text = section_of(folder, "softmax");
    ck_says(text, "attention weight of the declared sinks");
    ck_lacks(text, "a panel a layer");
    ck_assert_int_eq(occurrences(text, "<figure "), 4);
    free(text);
    end_folder();
}
END_TEST

/* A file that names no layer: a point a head and probe in each of three columns. */
START_TEST(heads_without_a_layer) {
    begin_folder();
    write_statistics(1, false, "0.5");
    char *text = section_of(folder, "softmax");
    ck_says(text, "rope:dim=8, logits: entropy and sinks of the attention weights");
    ck_assert_int_eq(occurrences(text, "<figure "), 1);
    ck_assert_int_eq(marks_of(text, "softmax", 1), 3 * HEADS * PROBES);
    free(text);
    end_folder();
}
END_TEST

TEST_FILE("sections_softmax") {
    test_add(suite, "heads_by_layer_and_step", heads_by_layer_and_step);
    test_add(suite, "one_step_with_sinks", one_step_with_sinks);
    test_add(suite, "heads_without_a_layer", heads_without_a_layer);
}

/* The sections about checkpoints, on results made by hand: what the page says is
 * counted here by loops over the same numbers. */
#include <math.h>

#include "sections_builder.h"

enum { LAYERS = 2, HEADS = 10 };

static double share_of(int64_t layer, int64_t head) {
    return 0.5 + 0.4 * sin((double)(3 * layer + head));
}

static void add_heads(builder *b) {
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++) {
            row(b);
            text(b, "source", HOSTILE);
            whole(b, "layer", layer);
            whole(b, "head", head);
            text(b, "matrix", "position");
            real(b, "toeplitzness", share_of(layer, head));
        }
    row(b); /* a key that no array may be indexed by */
    whole(b, "layer", INT64_MAX);
    whole(b, "head", INT64_MIN);
}

static void add_spectra(builder *b, const char *value, const char *by) {
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++)
            for (int i = 0; i < 3; i++) {
                row(b);
                text(b, "source", HOSTILE);
                whole(b, "layer", layer);
                whole(b, "head", head);
                real(b, value, (double)(1 + i) * share_of(layer, head));
                if (by)
                    real(b, by, pow(10, -i));
                else
                    text(b, "kind", "singular");
                if (by)
                    whole(b, "pair", i);
            }
}

/* A line a head: three lags of each, the last one of the last head beyond doubles. */
START_TEST(mean_kernels) {
    double most = -INFINITY;
    builder b = {0};
    begin(&b, "checkpoint");
    table(&b, "kernel", "t:source i:layer i:head i:key_head i:lag r:kernel");
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++)
            for (int lag = 0; lag < 3; lag++) {
                double value = (lag - 1) * share_of(layer, head);
                row(&b);
                text(&b, "source", HOSTILE);
                whole(&b, "layer", layer);
                whole(&b, "head", head);
                whole(&b, "lag", lag);
                if (layer == LAYERS - 1 && head == HEADS - 1 && lag == 2)
                    continue;
                real(&b, "kernel", value);
                most = fmax(most, value);
            }
    finish(&b);
    ck_assert_int_eq(occurrences(page, "<figure id=\"kernel-"), 1);
    MARKS("kernel-1", LAYERS * HEADS);
    SAYS("Greatest value %.4g, in layer", most);
    SAYS("CSV: %d rows of checkpoint_kernel", 3 * LAYERS * HEADS);
    ck_assert_int_eq(occurrences(page, "<script>alert"), 0);
    remove_folder();
}
END_TEST

START_TEST(heads_of_a_checkpoint) {
    double sum = 0, most = 0;
    int64_t where = 0;
    builder b = {0};
    begin(&b, "checkpoint");
    table(&b, "summary", "t:source i:layer i:head t:matrix r:toeplitzness r:sigma_max");
    add_heads(&b);
    table(&b, "spectra", "t:source i:layer i:head t:matrix t:kind r:re r:im");
    add_spectra(&b, "re", NULL);
    table(&b, "frequencies", "t:source i:layer i:head i:pair r:theta r:energy");
    add_spectra(&b, "energy", "theta");
    finish(&b);
    for (int64_t i = 0; i < LAYERS * HEADS; i++) {
        double share = share_of(i / HEADS, i % HEADS);
        sum += share / (LAYERS * HEADS);
        where = share > most ? i : where;
        most = fmax(most, share);
    }
    SAYS("mean %.4g.", sum);
    SAYS("Greatest %.4g at layer %d, head %d;", most, (int)(where / HEADS), (int)(where % HEADS));
    SAYS("Greatest value %.4g, in layer %d, head %d;", 3 * most, (int)(where / HEADS),
         (int)(where % HEADS));
    ck_assert_int_eq(occurrences(page, "<script>alert"), 0);
    /* One map, and one figure of a panel a layer. */
    ck_assert_int_eq(occurrences(page, "<figure id=\"toeplitzness-"), 2);
    MARKS("toeplitzness-1", LAYERS * HEADS);
    MARKS("toeplitzness-2", LAYERS * HEADS);
    MARKS("rotary-2", LAYERS * HEADS);
    SAYS("CSV: %d rows of checkpoint_spectra", 3 * LAYERS * HEADS);
    ck_assert_int_eq(occurrences(page, "<figure id=\"rotary-"), 2);
    remove_folder();
}
END_TEST

/* A figure a circuit and quantity, a panel a layer, and a point a head and lag; rows that only say
 * what is missing are none. */
START_TEST(circuits_beside_random_ones) {
    enum { LAGS = 3 };
    double most = 0;
    builder b = {0};
    begin(&b, "checkpoint");
    table(&b, "circuits",
          "t:source i:layer i:head t:circuit i:lag r:stable_rank r:stable_rank_q025 "
          "r:stable_rank_median r:stable_rank_q975 r:sigma_max");
    for (int64_t i = 0; i < LAYERS * HEADS * (LAGS + 1); i++) {
        int64_t head = i / (LAGS + 1) % HEADS, layer = i / (LAGS + 1) / HEADS, lag = i % (LAGS + 1);
        bool ov = lag == LAGS;
        double value = share_of(layer, head) + 0.01 * (double)lag;
        most = ov ? most : fmax(most, value);
        row(&b);
        text(&b, "source", HOSTILE);
        whole(&b, "layer", layer);
        whole(&b, "head", head);
        text(&b, "circuit", ov ? "ov" : "qk");
        if (!ov)
            whole(&b, "lag", 16 * lag);
        real(&b, "stable_rank", value);
        real(&b, "stable_rank_q025", 0.5);
        real(&b, "stable_rank_median", 0.6);
        real(&b, "stable_rank_q975", 0.7);
    }
    row(&b); /* "skipped: ..." */
    whole(&b, "layer", 0);
    text(&b, "circuit", "ov");
    finish(&b);
    ck_assert_int_eq(occurrences(page, "<figure id=\"circuits-"), 2);
    MARKS("circuits-1", 2 * LAYERS * HEADS * LAGS); /* points and intervals */
    MARKS("circuits-2", 2 * LAYERS * HEADS);
    SAYS("Greatest value %.4g, in layer ", most);
    SAYS(", QK: stable rank by head, a panel a layer");
    SAYS(", OV: stable rank by head, a panel a layer");
    SAYS("lag 32");
    SAYS("Intervals hold 95%% of the random circuits.");
    ck_assert_int_eq(occurrences(page, "<script>alert"), 0);
    remove_folder();
}
END_TEST

START_TEST(tensors_of_no_known_architecture) {
    builder b = {0};
    begin(&b, "checkpoint");
    table(&b, "summary", "t:source i:layer i:head t:matrix r:sigma_max r:effective_rank");
    for (int i = 0; i < 500; i++) {
        row(&b);
        text(&b, "source", "odd");
        text(&b, "matrix", i == 7 ? HOSTILE : "tensor");
        real(&b, "sigma_max", i == 7 ? 12.5 : 1 + 0.01 * i);
    }
    finish(&b);
    SAYS("Greatest: &lt;script&gt;");
    SAYS(" with 12.5.");
    MARKS("toeplitzness-1", 1); /* beyond 400 points are one shape */
    ck_assert_int_eq(occurrences(page, "<script>alert"), 0);
    ck_assert_int_eq(occurrences(page, "<figure id=\"toeplitzness-"), 1);
    remove_folder();
}
END_TEST

/* A table without layers has no heat maps, and says nothing of them; notes are a list. */
START_TEST(tensors_with_shapes_and_notes) {
    builder b = {0};
    begin(&b, "checkpoint");
    table(&b, "summary", "t:source t:matrix i:rows i:columns r:sigma_max r:effective_rank");
    for (int i = 0; i < 12; i++) {
        row(&b);
        text(&b, "source", "odd");
        text(&b, "matrix", i == 7 ? HOSTILE : "tensor");
        whole(&b, "rows", 3100 + i);
        whole(&b, "columns", 17);
        real(&b, "sigma_max", 1 + i);
        real(&b, "effective_rank", 2 + i);
    }
    table(&b, "notes", "t:source i:layer i:head t:matrix");
    row(&b);
    text(&b, "source", "odd");
    text(&b, "matrix", HOSTILE);
    text(&b, "note", "said of one tensor");
    finish(&b);
    MARKS("toeplitzness-1", 12);
    MARKS("toeplitzness-2", 12);
    SAYS("<td class=\"number\">3107");
    SAYS("<td>said of one tensor");
    ck_assert_int_eq(occurrences(page, "has no column of numbers"), 0);
    ck_assert_int_eq(occurrences(page, "<script>alert"), 0);
    remove_folder();
}
END_TEST

START_TEST(columns_that_are_missing) {
    builder b = {0};
    begin(&b, "checkpoint");
    table(&b, "summary", "t:layer i:head");
    row(&b);
    table(&b, "spectra", "t:re");
    row(&b);
    table(&b, "frequencies", "r:theta");
    row(&b);
    finish(&b);
    SAYS("The table checkpoint_summary has no column of numbers layer");
    SAYS("The table checkpoint_spectra has no column of numbers re");
    SAYS("The table checkpoint_frequencies has no column of numbers energy");
    remove_folder();
}
END_TEST

START_TEST(refused_memory) {
    builder b = {0};
    begin(&b, "checkpoint");
    table(&b, "summary", "t:source i:layer i:head t:matrix r:toeplitzness r:sigma_max");
    add_heads(&b);
    row(&b);
    real(&b, "sigma_max", 1);
    table(&b, "frequencies", "t:source i:layer i:head i:pair r:theta r:energy");
    row(&b);
    finish(&b);
    ck_survives_failed_allocations(20, write_page(folder));
    remove_folder();
}
END_TEST

enum { STEPS = 3 };

static void add_changes(builder *b, int steps) {
    for (int step = 1; step <= steps; step++)
        for (int64_t layer = 0; layer < LAYERS; layer++)
            for (int64_t head = 0; head < HEADS; head++) {
                row(b);
                text(b, "source", HOSTILE);
                text(b, "base", HOSTILE);
                if (steps > 1)
                    whole(b, "step", 100 * step);
                whole(b, "layer", layer);
                whole(b, "head", head);
                real(b, "change", step * share_of(layer, head));
                real(b, "left_angle_1", share_of(layer, head) / step);
            }
    row(b); /* a checkpoint that was skipped */
    text(b, "source", HOSTILE);
    if (steps > 1)
        whole(b, "step", 400);
}

/* Lines by step of a series, maps of two; none of the one from the other. */
START_TEST(what_changed) {
    for (int steps = 1; steps <= STEPS; steps += STEPS - 1) {
        double most = 0;
        builder b = {0};
        begin(&b, "diff");
        table(&b, "diff", "t:source t:base t:stack i:step i:layer i:head r:change r:left_angle_1");
        add_changes(&b, steps);
        finish(&b);
        for (int64_t i = 0; i < LAYERS * HEADS; i++)
            most = fmax(most, steps * share_of(i / HEADS, i % HEADS));
        ck_assert_int_eq(occurrences(page, "<figure id=\"diff-"), 2);
        /* Lines and their points, or cells. */
        MARKS("diff-1", (steps > 1 ? steps + 1 : 1) * LAYERS * HEADS);
        if (steps > 1)
            SAYS("Greatest value %.4g", most);
        else
            SAYS("Greatest %.4g at layer", most);
        ck_assert_int_eq(occurrences(page, "<script>alert"), 0);
        if (steps < STEPS)
            remove_folder(); /* the fixture removes the last one */
    }
}
END_TEST

TEST_FILE("sections_checkpoint") {
    test_add(suite, "heads_of_a_checkpoint", heads_of_a_checkpoint);
    test_add(suite, "circuits_beside_random_ones", circuits_beside_random_ones);
    test_add(suite, "mean_kernels", mean_kernels);
    test_add(suite, "tensors_of_no_known_architecture", tensors_of_no_known_architecture);
    test_add(suite, "tensors_with_shapes_and_notes", tensors_with_shapes_and_notes);
    test_add(suite, "columns_that_are_missing", columns_that_are_missing);
    test_add(suite, "refused_memory", refused_memory);
    test_add(suite, "what_changed", what_changed);
}

/* What prepares attention's arguments: joins, biases. */
#include "network_tests.h"

/* ---- Join ---- */

static szg_status join_forward(szg_context *context, const op_trial *t, void **at) {
    return szgi_network_join(context, t->shape, at[0], at[1], at[2]);
}

static szg_status join_backward(szg_context *context, const op_trial *t, void **at) {
    return szgi_network_join_backward(context, t->shape, at[3], at[4], at[5]);
}

static void open_join(szgi_join *join, op_trial *t, int64_t rows) {
    *t = (op_trial){.shape = join, .forward = join_forward, .backward = join_backward};
    *join = (szgi_join){rows,
                        DRAW_OF(1, 2, 5),
                        DRAW_OF(1, 3, 8, 16),
                        DRAW_OF(1, 2, 7, 16),
                        draw_below(2),
                        draw_below(2),
                        0,
                        0,
                        0};
    int64_t a = join->width_a * (join->shared_a ? 1 : join->heads);
    int64_t b = join->width_b * (join->shared_b ? 1 : join->heads);
    int64_t both = join->heads * (join->width_a + join->width_b);
    join->lda = a + DRAW_OF(0, 0, 3);
    join->ldb = b + DRAW_OF(0, 0, 1);
    join->ldout = both + DRAW_OF(0, 0, 5);
    add_matrix(t, SLOT_INPUT, "a", rows, a, join->lda, true);
    add_matrix(t, SLOT_INPUT, "b", rows, b, join->ldb, true);
    blank(t, add_matrix(t, SLOT_RESULT, "out", rows, both, join->ldout, true));
    add_matrix(t, SLOT_SEED, "dout", rows, both, join->ldout, true);
    blank(t, add_matrix(t, SLOT_GRADIENT, "da", rows, a, join->lda, true));
    blank(t, add_matrix(t, SLOT_GRADIENT, "db", rows, b, join->ldb, true));
    t->slot[3].of = 2;
    t->slot[4].of = 0;
    t->slot[5].of = 1;
    double heads = (double)join->heads;
    t->slot[4].bound = t->slot[5].bound = heads * heads * largest(t, 3);
}

START_TEST(joins_agree) {
    for (int64_t i = 0; i < test_trials(40); i++) {
        szgi_join join;
        op_trial t;
        open_join(&join, &t, DRAW_OF(1, 2, 17, 128, 300));
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

START_TEST(join_gradients_are_differences) {
    for (int64_t i = 0; i < test_trials(4); i++) {
        szgi_join join;
        op_trial t;
        open_join(&join, &t, 2);
        check_differences(&t);
        close_trial(&t);
    }
}
END_TEST

/* ---- Bias from a table ---- */

static szg_status bias_forward(szg_context *context, const op_trial *t, void **at) {
    szgi_bias_rows rows = *(const szgi_bias_rows *)t->shape;
    rows.row_of_lag = at[0];
    return szgi_network_bias(context, &rows, at[1], at[2]);
}

static szg_status bias_backward(szg_context *context, const op_trial *t, void **at) {
    szgi_bias_rows rows = *(const szgi_bias_rows *)t->shape;
    rows.row_of_lag = at[0];
    return szgi_network_bias_backward(context, &rows, at[3], at[4]);
}

static void open_bias(szgi_bias_rows *rows, op_trial *t) {
    *t = (op_trial){.shape = rows, .forward = bias_forward, .backward = bias_backward};
    *rows = (szgi_bias_rows){DRAW_OF(1, 2, 5, 16), DRAW_OF(1, 3, 7, 31, 63, 255),
                             DRAW_OF(1, 2, 8, 32, 300), NULL};
    add_ints(t, "row_of_lag", rows->lags, 0, rows->rows);
    add_slot(t, SLOT_INPUT, "table", rows->rows * rows->heads, true);
    blank(t, add_slot(t, SLOT_RESULT, "bias", rows->lags * rows->heads, true));
    add_slot(t, SLOT_SEED, "dbias", rows->lags * rows->heads, true);
    add_slot(t, SLOT_GRADIENT, "dtable", rows->rows * rows->heads, true);
    t->slot[3].of = 2;
    t->slot[4].of = 1;
    t->slot[4].adds = true;
    double lags = (double)rows->lags + 1;
    t->slot[4].bound = lags * (lags * largest(t, 3) + largest(t, 4));
}

START_TEST(biases_agree) {
    for (int64_t i = 0; i < test_trials(40); i++) {
        szgi_bias_rows rows;
        op_trial t;
        open_bias(&rows, &t);
        check_parity(&t);
        if (i < 4)
            check_differences(&t);
        close_trial(&t);
    }
}
END_TEST

TEST_FILE("network_arguments") {
    test_add(suite, "joins_agree", joins_agree);
    test_add(suite, "join_gradients_are_differences", join_gradients_are_differences);
    test_add(suite, "biases_agree", biases_agree);
}

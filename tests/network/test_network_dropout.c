/* Dropout and the residual path. */
#include "network_tests.h"

typedef struct dropout_case {
    int64_t rows, columns;
    szgi_dropout dropout;
    int x, residual, y, block, dy, dx;
} dropout_case;

static szgi_dropout dropout_at(const dropout_case *c, void **at) {
    szgi_dropout dropout = c->dropout;
    dropout.block = at[c->block];
    return dropout;
}

static szg_status dropout_forward(szg_context *context, const op_trial *trial, void **at) {
    const dropout_case *c = trial->shape;
    szgi_dropout dropout = dropout_at(c, at);
    return szgi_network_dropout_residual(context, c->rows, c->columns, &dropout, at[c->x],
                                         at[c->residual], at[c->y]);
}

static szg_status dropout_backward(szg_context *context, const op_trial *trial, void **at) {
    const dropout_case *c = trial->shape;
    szgi_dropout dropout = dropout_at(c, at);
    return szgi_network_dropout_backward(context, c->rows, c->columns, &dropout, at[c->dy],
                                         at[c->dx]);
}

static void open_dropout(dropout_case *c, op_trial *t, int64_t rows, int64_t columns, double p) {
    *t = (op_trial){.shape = c, .forward = dropout_forward, .backward = dropout_backward};
    *c = (dropout_case){rows, columns, .dropout = {p, szgi_network_purpose(SZGI_PLACE_HIDDEN, 3)}};
    c->x = add_slot(t, SLOT_INPUT, "x", rows * columns, true);
    c->residual = add_slot(t, SLOT_INPUT, "residual", rows * columns, draw_below(3) > 0);
    c->block = add_block(t);
    c->y = add_slot(t, SLOT_RESULT, "y", rows * columns, true);
    c->dy = add_slot(t, SLOT_SEED, "dy", rows * columns, true);
    c->dx = add_slot(t, SLOT_GRADIENT, "dx", rows * columns, true);
    t->slot[c->dy].of = c->y;
    t->slot[c->dx].of = c->x;
    t->slot[c->y].bound = 4 * (largest(t, c->x) / (1 - p) + largest(t, c->residual));
    t->slot[c->dx].bound = 4 * largest(t, c->dy) / (1 - p);
    blank(t, c->y);
    blank(t, c->dx);
}

START_TEST(dropout_agrees) {
    const double probabilities[] = {0, 0.1, 0.5, 0.9999, 1e-12};
    for (int64_t i = 0; i < test_trials(40); i++) {
        dropout_case c;
        op_trial t;
        open_dropout(&c, &t, DRAW_OF(1, 2, 7, 64, 129, 700), DRAW_OF(1, 3, 4, 5, 16, 31, 64, 101),
                     probabilities[i % 5]);
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

START_TEST(dropout_gradients_are_differences) {
    dropout_case c;
    op_trial t;
    open_dropout(&c, &t, 3, 5, 0.4);
    check_differences(&t);
    close_trial(&t);
}
END_TEST

/* The share of dropped elements lies within six deviations of p, whatever step and purpose. */
START_TEST(dropout_drops_its_share) {
    enum { COUNT = 80000 };
    dropout_case c;
    op_trial t;
    open_dropout(&c, &t, 200, COUNT / 200, 0.1);
    for (int i = 0; i < COUNT; i++)
        t.slot[c.x].values[i] = 1;
    for (int64_t i = 0; i < t.slot[c.residual].count; i++)
        t.slot[c.residual].values[i] = 0;
    run_forward(tested(1), &t);
    double dropped = 0;
    for (int i = 0; i < COUNT; i++) {
        dropped += t.slot[c.y].values[i] == 0;
        ck_assert(t.slot[c.y].values[i] == 0 || t.slot[c.y].values[i] == (double)(float)(1 / 0.9));
    }
    ck_close(dropped / COUNT, 0.1, 6 * sqrt(0.1 * 0.9 / COUNT));
    close_trial(&t);
}
END_TEST

TEST_FILE("network_dropout") {
    test_add(suite, "dropout_agrees", dropout_agrees);
    test_add(suite, "dropout_gradients_are_differences", dropout_gradients_are_differences);
    test_add(suite, "dropout_drops_its_share", dropout_drops_its_share);
}

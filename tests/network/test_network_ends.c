/* Embedding, pooling and loss. */
#include "network_tests.h"

/* ---- Embedding ---- */

typedef struct embedding_case {
    szgi_embedding e;
    int tokens, table, fixed, trained, out, dout, dtable, dtrained;
} embedding_case;

static szgi_embedding embedding_at(const embedding_case *c, void **at) {
    szgi_embedding e = c->e;
    e.tokens = at[c->tokens];
    e.table = at[c->table];
    e.fixed = at[c->fixed];
    e.trained = at[c->trained];
    e.out = at[c->out];
    return e;
}

static szg_status embedding_forward(szg_context *context, const op_trial *t, void **at) {
    szgi_embedding e = embedding_at(t->shape, at);
    return szgi_network_embedding(context, &e);
}

static szg_status embedding_backward(szg_context *context, const op_trial *t, void **at) {
    const embedding_case *c = t->shape;
    szgi_embedding e = embedding_at(c, at);
    return szgi_network_embedding_backward(context, &e, at[c->dout], at[c->dtable],
                                           at[c->dtrained]);
}

static void open_embedding(embedding_case *c, op_trial *t, const szgi_embedding *sizes) {
    int64_t rows = sizes->batch * sizes->length, width = sizes->width;
    *t = (op_trial){.shape = c, .forward = embedding_forward, .backward = embedding_backward};
    *c = (embedding_case){.e = *sizes};
    c->tokens = add_ints(t, "tokens", rows, 0, sizes->vocabulary);
    c->table = add_slot(t, SLOT_INPUT, "table", sizes->vocabulary * width, true);
    c->fixed = add_slot(t, SLOT_INPUT, "fixed", sizes->length * width, draw_below(2));
    c->trained = add_slot(t, SLOT_INPUT, "trained", sizes->length * width, draw_below(2));
    c->out = add_slot(t, SLOT_RESULT, "out", rows * width, true);
    c->dout = add_slot(t, SLOT_SEED, "dout", rows * width, true);
    c->dtable = add_slot(t, SLOT_GRADIENT, "dtable", sizes->vocabulary * width, draw_below(4) > 0);
    c->dtrained = add_slot(t, SLOT_GRADIENT, "dtrained", sizes->length * width,
                           t->slot[c->trained].count > 0);
    t->slot[c->dout].of = c->out;
    t->slot[c->dtable].of = c->table;
    t->slot[c->dtrained].of = c->trained;
    t->slot[c->dtable].adds = t->slot[c->dtrained].adds = true;
    double sum = largest(t, c->dout), n = (double)rows + 2;
    t->slot[c->out].bound =
        3 * (largest(t, c->table) + largest(t, c->fixed) + largest(t, c->trained));
    t->slot[c->dtable].bound = n * (n * sum + largest(t, c->dtable));
    t->slot[c->dtrained].bound = n * (n * sum + largest(t, c->dtrained));
    blank(t, c->out);
}

START_TEST(embeddings_agree) {
    for (int64_t i = 0; i < test_trials(40); i++) {
        embedding_case c;
        op_trial t;
        szgi_embedding sizes = {DRAW_OF(1, 2, 9, 33),
                                DRAW_OF(1, 3, 16, 37),
                                DRAW_OF(1, 2, 31, 574),
                                DRAW_OF(1, 3, 16, 33, 64),
                                NULL,
                                NULL,
                                NULL,
                                NULL,
                                NULL};
        open_embedding(&c, &t, &sizes);
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

/* Padding owns half of the rows: many tokens, of which most have no row, and many rows. */
START_TEST(large_embeddings_agree) {
    const szgi_embedding sizes[] = {{40, 33, 2500, 5, NULL, NULL, NULL, NULL, NULL},
                                    {261, 33, 3, 2, NULL, NULL, NULL, NULL, NULL}};
    for (int k = 0; k < 2; k++) {
        embedding_case c;
        op_trial t = {0};
        do {
            close_trial(&t);
            open_embedding(&c, &t, &sizes[k]);
        } while (t.slot[c.dtable].count == 0);
        for (int64_t i = 0; i < t.slot[c.tokens].count; i++)
            if (draw_below(2))
                t.slot[c.tokens].values[i] = 0;
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

START_TEST(embedding_gradients_are_differences) {
    for (int i = 0; i < 4; i++) {
        embedding_case c;
        op_trial t;
        open_embedding(&c, &t, &(szgi_embedding){2, 4, 5, 3, NULL, NULL, NULL, NULL, NULL});
        check_differences(&t);
        close_trial(&t);
    }
}
END_TEST

/* ---- Pooling ---- */

typedef struct pooling_case {
    szgi_pooling p;
    int x, lengths, y, dy, dx;
} pooling_case;

static szg_status pooling_forward(szg_context *context, const op_trial *t, void **at) {
    const pooling_case *c = t->shape;
    szgi_pooling p = c->p;
    p.lengths = at[c->lengths];
    return szgi_network_pooling(context, &p, at[c->x], at[c->y]);
}

static szg_status pooling_backward(szg_context *context, const op_trial *t, void **at) {
    const pooling_case *c = t->shape;
    szgi_pooling p = c->p;
    p.lengths = at[c->lengths];
    return szgi_network_pooling_backward(context, &p, at[c->dy], at[c->dx]);
}

static void open_pooling(pooling_case *c, op_trial *t, int64_t batch, int64_t length,
                         int64_t width) {
    *t = (op_trial){.shape = c, .forward = pooling_forward, .backward = pooling_backward};
    *c = (pooling_case){.p = {batch, length, width, NULL}};
    c->x = add_slot(t, SLOT_INPUT, "x", batch * length * width, true);
    c->lengths = add_ints(t, "lengths", batch, 1, length + 1);
    if (draw_below(2))
        t->slot[c->lengths].count = 0;
    c->y = add_slot(t, SLOT_RESULT, "y", batch * width, true);
    c->dy = add_slot(t, SLOT_SEED, "dy", batch * width, true);
    c->dx = add_slot(t, SLOT_GRADIENT, "dx", batch * length * width, true);
    t->slot[c->dy].of = c->y;
    t->slot[c->dx].of = c->x;
    t->slot[c->y].bound = (double)(length + 3) * largest(t, c->x);
    t->slot[c->dx].bound = 3 * largest(t, c->dy);
    blank(t, c->y);
    blank(t, c->dx);
}

START_TEST(pooling_agrees) {
    for (int64_t i = 0; i < test_trials(30); i++) {
        pooling_case c;
        op_trial t;
        open_pooling(&c, &t, DRAW_OF(1, 2, 9, 70), DRAW_OF(1, 2, 17, 40),
                     DRAW_OF(1, 3, 16, 33, 64));
        check_parity(&t);
        if (i < 3)
            check_differences(&t);
        close_trial(&t);
    }
}
END_TEST

/* What lies beyond a sequence's end is not read: NaN there does not matter. */
START_TEST(pooling_ignores_padding) {
    pooling_case c;
    op_trial t = {0};
    do {
        close_trial(&t);
        open_pooling(&c, &t, 3, 6, 5);
    } while (t.slot[c.lengths].count == 0);
    for (int b = 0; b < 3; b++)
        for (int i = (int)t.slot[c.lengths].values[b] * 5; i < 30; i++)
            t.slot[c.x].values[b * 30 + i] = NAN;
    run_forward(tested(1), &t);
    for (int i = 0; i < 15; i++)
        ck_assert(isfinite(t.slot[c.y].values[i]));
    close_trial(&t);
}
END_TEST

/* ---- Cross-entropy ---- */

typedef struct entropy_case {
    szgi_cross_entropy e;
    int logits, labels, dlogits, tally, block;
} entropy_case;

static szg_status entropy_forward(szg_context *context, const op_trial *t, void **at) {
    const entropy_case *c = t->shape;
    szgi_cross_entropy e = c->e;
    e.logits = at[c->logits];
    e.labels = at[c->labels];
    e.dlogits = at[c->dlogits];
    e.tally = at[c->tally];
    e.block = at[c->block];
    return szgi_network_cross_entropy(context, &e);
}

/* log sum exp errs by (classes + 8) eps and the rounding of the largest logit. */
static void open_entropy(entropy_case *c, op_trial *t, int64_t batch, int64_t classes,
                         int32_t ignored) {
    *t = (op_trial){.shape = c, .forward = entropy_forward};
    *c = (entropy_case){.e = {.batch = batch, .classes = classes, .ignored = ignored}};
    c->logits = add_slot(t, SLOT_INPUT, "logits", batch * classes, true);
    c->labels = add_ints(t, "labels", batch, 0, classes);
    c->dlogits = add_slot(t, SLOT_RESULT, "dlogits", batch * classes, draw_below(4) > 0);
    c->tally = add_slot(t, SLOT_RESULT, "tally", 3, true);
    const double before[] = {2.5, 7, 3};
    memcpy(t->slot[c->tally].values, before, sizeof before);
    t->slot[c->tally].kind = SLOT_TALLY;
    double size = largest(t, c->logits), n = (double)classes;
    t->slot[c->tally].bound = (double)batch * (n + 8 + 4 * (size + log(n))) + 8;
    t->slot[c->dlogits].bound = n + 16 + 4 * (size + log(n));
    t->slot[c->dlogits].floor = 8;
    blank(t, c->dlogits);
    c->block = add_block(t);
    t->slot[c->block].role = SLOT_RESULT;
    if (draw_below(2))
        t->slot[c->block].count = 0;
}

START_TEST(cross_entropies_agree) {
    for (int64_t i = 0; i < test_trials(50); i++) {
        entropy_case c;
        op_trial t;
        open_entropy(&c, &t, DRAW_OF(1, 2, 9, 64, 200), DRAW_OF(1, 2, 3, 16, 71, 101),
                     (int32_t)DRAW_OF(-1, -1, 0, 1));
        check_parity(&t);
        double *want[SLOTS], *got[SLOTS];
        run_on(oracle(), &t, t.forward, want);
        run_on(tested(1), &t, t.forward, got);
        ck_assert(got[c.tally][1] == want[c.tally][1] && got[c.tally][2] == want[c.tally][2]);
        free_run(&t, want), free_run(&t, got);
        close_trial(&t);
    }
}
END_TEST

/* Two largest logits: the first is the prediction. Every label ignored: gradients are 0. */
START_TEST(ties_and_ignored_labels) {
    entropy_case c;
    op_trial t = {0};
    do {
        close_trial(&t);
        open_entropy(&c, &t, 2, 4, 3);
    } while (t.slot[c.dlogits].count == 0);
    const double logits[] = {1, 5, 5, 0, 5, 5, 1, 1}, labels[] = {1, 1}, ignored[] = {3, 3};
    memcpy(t.slot[c.logits].values, logits, sizeof logits);
    memcpy(t.slot[c.labels].values, labels, sizeof labels);
    run_forward(tested(0), &t);
    ck_assert(t.slot[c.tally].values[1] == 9 && t.slot[c.tally].values[2] == 4);
    memcpy(t.slot[c.labels].values, ignored, sizeof ignored);
    run_forward(tested(0), &t);
    ck_assert(t.slot[c.tally].values[1] == 9 && t.slot[c.tally].values[2] == 4);
    for (int i = 0; i < 8; i++)
        ck_assert(t.slot[c.dlogits].values[i] == 0);
    close_trial(&t);
}
END_TEST

/* A loss that is not finite is not added where there is a block, and nothing is after it; the
 * gradient is written all the same. */
START_TEST(a_loss_that_is_not_finite_freezes_the_tally) {
    const double bad[] = {NAN, INFINITY, -INFINITY, 3};
    for (int k = 0; k < 8; k++) {
        entropy_case c;
        op_trial t = {0};
        do {
            close_trial(&t);
            open_entropy(&c, &t, 70, 5, -1);
        } while (t.slot[c.dlogits].count == 0 || t.slot[c.block].count == 0);
        bool frozen = k >= 4;
        double logit = bad[k % 4], *want[SLOTS], *got[SLOTS];
        int64_t example = draw_below(70);
        t.slot[c.logits].values[example * 5 + (int64_t)t.slot[c.labels].values[example]] = logit;
        t.slot[c.block].values[2] = !frozen;
        run_on(oracle(), &t, t.forward, want);
        run_on(tested(1), &t, t.forward, got);
        ck_assert(got[c.block][2] == (frozen || k < 3 ? 0 : 1));
        ck_assert(got[c.tally][1] == (frozen || k < 3 ? 7 : 77));
        ck_assert((got[c.tally][0] == 2.5) == (frozen || k < 3));
        for (int64_t i = 0; i < 70 * 5; i++)
            if (i / 5 != example)
                ck_close(got[c.dlogits][i], want[c.dlogits][i], t.slot[c.dlogits].bound * 0x1p-23);
        for (int s = c.tally; s <= c.block; s++)
            for (int64_t i = 1; i < t.slot[s].count; i++)
                ck_assert(got[s][i] == want[s][i]);
        free_run(&t, want), free_run(&t, got);
        close_trial(&t);
    }
}
END_TEST

/* dlogits is the gradient of the mean loss: differences of the tally. */
START_TEST(cross_entropy_gradients_are_differences) {
    enum { BATCH = 3, CLASSES = 4 };
    entropy_case c;
    op_trial t = {0};
    do {
        close_trial(&t);
        open_entropy(&c, &t, BATCH, CLASSES, 0);
    } while (t.slot[c.dlogits].count == 0);
    const double labels[] = {1, 0, 3}, step = 1e-4; /* the second does not count */
    memcpy(t.slot[c.labels].values, labels, sizeof labels);
    double *out[SLOTS], *above[SLOTS], *below[SLOTS];
    run_on(oracle(), &t, t.forward, out);
    for (int i = 0; i < BATCH * CLASSES; i++) {
        double old = t.slot[c.logits].values[i];
        t.slot[c.logits].values[i] = old + step;
        run_on(oracle(), &t, t.forward, above);
        t.slot[c.logits].values[i] = old - step;
        run_on(oracle(), &t, t.forward, below);
        t.slot[c.logits].values[i] = old;
        /* The third derivative of log sum exp is below 1, so the difference errs by h^2 / 6. */
        ck_close(out[c.dlogits][i], (above[c.tally][0] - below[c.tally][0]) / (4 * step),
                 step * step + 0x1p-46 / step);
        free_run(&t, above), free_run(&t, below);
    }
    free_run(&t, out);
    close_trial(&t);
}
END_TEST

TEST_FILE("network_ends") {
    test_add(suite, "embeddings_agree", embeddings_agree);
    test_add(suite, "large_embeddings_agree", large_embeddings_agree);
    test_add(suite, "embedding_gradients_are_differences", embedding_gradients_are_differences);
    test_add(suite, "pooling_agrees", pooling_agrees);
    test_add(suite, "pooling_ignores_padding", pooling_ignores_padding);
    test_add(suite, "cross_entropies_agree", cross_entropies_agree);
    test_add(suite, "ties_and_ignored_labels", ties_and_ignored_labels);
    test_add(suite, "cross_entropy_gradients_are_differences",
             cross_entropy_gradients_are_differences);
    test_add(suite, "a_loss_that_is_not_finite_freezes_the_tally",
             a_loss_that_is_not_finite_freezes_the_tally);
}

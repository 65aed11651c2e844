/* What a step begins and ends with: its numbers, its batch, the search for what is not finite, the
 * optimiser. */
#include "network_tests.h"

/* ---- Batches ---- */

typedef struct gather_case {
    szgi_gather g;
    int start, words, classes, order, block, tokens, lengths, labels;
} gather_case;

static szg_status gather_forward(szg_context *context, const op_trial *t, void **at) {
    const gather_case *c = t->shape;
    szgi_gather g = c->g;
    g.start = at[c->start];
    g.words = at[c->words];
    g.classes = at[c->classes];
    g.order = at[c->order];
    g.block = at[c->block];
    g.tokens = at[c->tokens];
    g.lengths = at[c->lengths];
    g.labels = at[c->labels];
    return szgi_network_gather(context, &g);
}

/* A set whose examples have 0 .. longest words: 0 and more than the batch's positions occur. */
static void add_set(gather_case *c, op_trial *t, int64_t examples, int64_t longest) {
    int64_t *start = NULL, *order = NULL;
    ck_szg_ok(szgi_memory_alloc(test_context(), examples + 1, &start));
    ck_szg_ok(szgi_memory_alloc(test_context(), examples, &order));
    for (int64_t e = 0; e < examples; e++) {
        start[e + 1] = start[e] + draw_below(longest + 1);
        int64_t j = draw_below(e + 1);
        order[e] = order[j];
        order[j] = e;
    }
    c->start = add_longs(t, SLOT_INPUT, "start", examples + 1, start);
    c->words = add_ints(t, "words", start[examples] + 1, 1, 574);
    c->classes = add_ints(t, "classes", examples, 0, 71);
    c->order = add_longs(t, SLOT_INPUT, "order", examples, order);
    szgi_memory_free(order);
    szgi_memory_free(start);
}

static void open_gather(gather_case *c, op_trial *t) {
    *t = (op_trial){.shape = c, .forward = gather_forward};
    *c = (gather_case){.g = {.examples = DRAW_OF(1, 2, 40, 300), .length = DRAW_OF(1, 3, 16, 129)}};
    c->g.count = 1 + draw_below(c->g.examples);
    c->g.first = draw_below(c->g.examples - c->g.count + 1);
    add_set(c, t, c->g.examples, c->g.length + 2);
    c->block = add_block(t);
    t->slot[c->block].values[6] = (double)c->g.first;
    c->tokens = add_ints(t, "tokens", c->g.count * c->g.length, 1, 9);
    c->lengths = add_ints(t, "lengths", c->g.count, 1, 9);
    c->labels = add_ints(t, "labels", c->g.count, 1, 9);
    for (int s = c->tokens; s <= c->labels; s++)
        t->slot[s].role = SLOT_RESULT;
    if (draw_below(4) == 0)
        t->slot[c->order].count = 0;
    if (draw_below(3) == 0)
        t->slot[c->block].count = 0; /* `first` of the arguments */
    else
        c->g.first = -1;
    if (draw_below(4) == 0)
        t->slot[c->classes].count = t->slot[c->labels].count = 0;
}

/* By hand: each word of each sequence, looked up in the lists as they were drawn. */
static void check_gathered(const gather_case *c, const op_trial *t, double **got) {
    const op_slot *slot = t->slot;
    int64_t first = slot[c->block].count ? (int64_t)slot[c->block].values[6] : c->g.first;
    for (int64_t b = 0; b < c->g.count; b++) {
        int64_t e = slot[c->order].count ? (int64_t)slot[c->order].values[first + b] : first + b;
        int64_t own = 0;
        for (int64_t w = (int64_t)slot[c->start].values[e];
             w < (int64_t)slot[c->start].values[e + 1] && own < c->g.length; w++)
            ck_assert(got[c->tokens][b * c->g.length + own++] == slot[c->words].values[w]);
        ck_assert(got[c->lengths][b] == (double)own);
        while (own < c->g.length)
            ck_assert(got[c->tokens][b * c->g.length + own++] == 0);
        if (slot[c->classes].count)
            ck_assert(got[c->labels][b] == slot[c->classes].values[e]);
    }
}

START_TEST(batches_are_gathered) {
    for (int64_t i = 0; i < test_trials(60); i++) {
        gather_case c;
        op_trial t;
        double *got[SLOTS];
        open_gather(&c, &t);
        check_parity(&t);
        run_on(tested(1), &t, t.forward, got);
        check_gathered(&c, &t, got);
        free_run(&t, got);
        close_trial(&t);
    }
}
END_TEST

/* ---- Steps ---- */

typedef struct advance_case {
    int64_t count;
    int blocks, block, at;
} advance_case;

static szg_status advance_forward(szg_context *context, const op_trial *t, void **at) {
    const advance_case *c = t->shape;
    return szgi_network_advance(context, at[c->blocks], c->count, at[c->block], at[c->at]);
}

/* Every place of the list and its end, running and frozen. */
START_TEST(a_step_advances_unless_it_is_frozen) {
    for (int64_t i = 0; i < 12; i++) {
        advance_case c = {.count = DRAW_OF(1, 5, 32)};
        op_trial t = {.shape = &c, .forward = advance_forward};
        c.blocks = add_blocks(&t, "blocks", c.count);
        c.block = add_block(&t);
        const int64_t at = i < 4 ? c.count - i % 2 : draw_below(c.count);
        c.at = add_longs(&t, SLOT_RESULT, "at", 1, &at);
        t.slot[c.block].role = SLOT_RESULT;
        bool runs = i % 3 > 0;
        t.slot[c.block].values[2] = runs;
        for (int64_t k = 0; k < c.count; k++)
            t.slot[c.blocks].values[k * BLOCK_NUMBERS + 6] = (double)(1000 * k + 1);
        double *got[SLOTS];
        run_on(tested(1), &t, t.forward, got);
        bool moves = runs && at < c.count;
        ck_assert(got[c.at][0] == (double)(at + moves));
        const double *want =
            moves ? t.slot[c.blocks].values + at * BLOCK_NUMBERS : t.slot[c.block].values;
        for (int k = 0; k < BLOCK_NUMBERS && !moves; k++)
            ck_assert(got[c.block][k] == want[k]);
        ck_assert(!moves || got[c.block][6] == (double)(1000 * at + 1));
        free_run(&t, got);
        check_parity(&t);
        close_trial(&t);
    }
}
END_TEST

/* ---- The optimiser ---- */

typedef struct finite_case {
    int64_t count;
} finite_case;

static szg_status finite_forward(szg_context *context, const op_trial *t, void **at) {
    const finite_case *c = t->shape;
    return szgi_network_finite(context, c->count, at[0], at[1]);
}

START_TEST(a_number_that_is_not_finite_is_found) {
    const double bad[] = {NAN, INFINITY, -INFINITY, 0x1p127};
    const int64_t counts[] = {1, 2, 7, 8, 33, 5000, 70001};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int k = 0; k < 4; k++) {
            finite_case c = {counts[i]};
            op_trial t = {.shape = &c, .forward = finite_forward};
            add_slot(&t, SLOT_INPUT, "x", c.count, true);
            t.slot[add_block(&t)].role = SLOT_RESULT;
            int64_t place = k == 0 ? 0 : k == 1 ? c.count - 1 : draw_below(c.count);
            t.slot[0].values[place] = bad[k];
            check_parity(&t); /* the seed and the rate stay */
            ck_assert(t.slot[1].values[2] == (k == 3));
            close_trial(&t);
        }
}
END_TEST

static szg_status adamw_forward(szg_context *context, const op_trial *t, void **at) {
    szgi_adamw a = *(const szgi_adamw *)t->shape;
    a.block = at[0];
    a.gradient = at[1];
    a.weight = at[2];
    a.moment1 = at[3];
    a.moment2 = at[4];
    return szgi_network_adamw(context, &a);
}

/* m and v are sums of two terms; the step is a quotient whose denominator is at least sqrt(v) and
 * eps: (1 - beta2) g^2 <= v keeps it below rate / correction1 sqrt(correction2 / (1 - beta2)) but
 * for m's past. */
static void check_adamw(int64_t count, bool finite) {
    szgi_adamw a = {count, 0.98, 0.9, 1e-8, 0.01, NULL, NULL, NULL, NULL, NULL};
    op_trial t = {.shape = &a, .forward = adamw_forward};
    add_block(&t);
    t.slot[0].values[2] = finite;
    const char *names[] = {"gradient", "weight", "moment1", "moment2"};
    for (int i = 0; i < 4; i++)
        add_slot(&t, i == 0 ? SLOT_INPUT : SLOT_RESULT, names[i], count, true);
    for (int64_t i = 0; i < count; i++)
        t.slot[4].values[i] = fabs(t.slot[4].values[i]) + 1e-4;
    double top = largest(&t, 1) + largest(&t, 3), step = 0.01 * 2 * top / sqrt(1e-4 * 0.9 * 4);
    t.slot[2].bound = 4 * largest(&t, 2) + 16 * step;
    t.slot[3].bound = 4 * top;
    t.slot[4].bound = 4 * (largest(&t, 4) + largest(&t, 1) * largest(&t, 1));
    double *kept = new_numbers(count);
    memcpy(kept, t.slot[2].values, (size_t)count * sizeof *kept);
    if (finite)
        check_parity(&t);
    run_forward(tested(1), &t);
    if (!finite)
        ck_assert_mem_eq(t.slot[2].values, kept, (size_t)count * sizeof *kept);
    szgi_memory_free(kept);
    close_trial(&t);
}

START_TEST(steps_of_adamw_agree) {
    const int64_t counts[] = {1, 3, 8, 17, 100, 5000, 17001};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        check_adamw(counts[i], true);
        check_adamw(counts[i], false);
    }
}
END_TEST

/* One step from zero moments by hand: m / c1 = g, v / c2 = g^2, so w moves by the rate against the
 * sign of g, after the decay. */
START_TEST(a_first_step_of_adamw_by_hand) {
    szgi_adamw a = {3, 0.98, 0.9, 0, 0.5, NULL, NULL, NULL, NULL, NULL};
    op_trial t = {.shape = &a, .forward = adamw_forward};
    const double block[BLOCK_NUMBERS] = {1, 0, 1, 0.25, 1 - 0.98, 1 - 0.9, 0};
    const double gradient[] = {4, -0.125, 1e-3};
    const double weight[] = {1, -2, 8};
    add_block(&t);
    memcpy(t.slot[0].values, block, sizeof block);
    add_slot(&t, SLOT_INPUT, "gradient", 3, true);
    for (int i = 2; i < 5; i++) {
        add_slot(&t, SLOT_RESULT, "state", 3, true);
        memset(t.slot[i].values, 0, sizeof gradient);
    }
    memcpy(t.slot[1].values, gradient, sizeof gradient);
    memcpy(t.slot[2].values, weight, sizeof weight);
    run_forward(tested(0), &t);
    for (int i = 0; i < 3; i++)
        ck_close(t.slot[2].values[i], weight[i] * 0.875 - (gradient[i] > 0 ? 0.25 : -0.25),
                 0x1p-20);
    close_trial(&t);
}
END_TEST

TEST_FILE("network_steps") {
    test_add(suite, "batches_are_gathered", batches_are_gathered);
    test_add(suite, "a_step_advances_unless_it_is_frozen", a_step_advances_unless_it_is_frozen);
    test_add(suite, "a_number_that_is_not_finite_is_found", a_number_that_is_not_finite_is_found);
    test_add(suite, "steps_of_adamw_agree", steps_of_adamw_agree);
    test_add(suite, "a_first_step_of_adamw_by_hand", a_first_step_of_adamw_by_hand);
}

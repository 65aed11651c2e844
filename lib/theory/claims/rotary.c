/* Rotary logits of one pair of tokens, two ways. */
#include "rotary.h"

enum { BITS = SZGI_BALL_BITS };

token_pair szgi_token_pair_draw(uint64_t seed, uint32_t purpose, int64_t trial) {
    szgi_stream stream = {seed, (uint32_t)trial, purpose};
    token_pair t;
    szgi_random_fill_normal(&stream, 0, 2 * ROTARY_PAIRS, t.q);
    szgi_random_fill_normal(&stream, 100, 2 * ROTARY_PAIRS, t.k);
    szgi_random_fill_normal(&stream, 200, ROTARY_CONTENT, t.content_q);
    szgi_random_fill_normal(&stream, 300, ROTARY_CONTENT, t.content_k);
    szgi_random_fill_normal(&stream, 400, ROTARY_PAIRS, t.theta);
    t.i = szgi_random_below(&stream, 500, 1 << 20);
    t.j = szgi_random_below(&stream, 501, 1 << 20);
    return t;
}

/* (x, y) = R_position (a, b), real arithmetic: x = a cos - b sin, y = a sin + b cos. */
static void rotate_pair(arb_t x, arb_t y, const double pair[2], int64_t position, double theta) {
    arb_t sine, cosine, a, b, product;
    arb_init(sine);
    arb_init(cosine);
    arb_init(a);
    arb_init(b);
    arb_init(product);
    arb_set_d(cosine, theta);
    arb_mul_si(cosine, cosine, (slong)position, BITS);
    arb_sin_cos(sine, cosine, cosine, BITS);
    arb_set_d(a, pair[0]);
    arb_set_d(b, pair[1]);
    arb_mul(x, a, cosine, BITS);
    arb_mul(product, b, sine, BITS);
    arb_sub(x, x, product, BITS);
    arb_mul(y, a, sine, BITS);
    szgi_ball_accumulate(y, b, cosine, BITS);
    arb_clear(sine);
    arb_clear(cosine);
    arb_clear(a);
    arb_clear(b);
    arb_clear(product);
}

/* sum over pairs of (R_i q) . (R_j k) */
static void rotated_product(arb_t sum, const token_pair *t) {
    arb_t q[2], k[2];
    for (int e = 0; e < 2; e++) {
        arb_init(q[e]);
        arb_init(k[e]);
    }
    arb_zero(sum);
    for (int64_t p = 0; p < ROTARY_PAIRS; p++) {
        rotate_pair(q[0], q[1], &t->q[2 * p], t->i, t->theta[p]);
        rotate_pair(k[0], k[1], &t->k[2 * p], t->j, t->theta[p]);
        szgi_ball_accumulate(sum, q[0], k[0], BITS);
        szgi_ball_accumulate(sum, q[1], k[1], BITS);
    }
    for (int e = 0; e < 2; e++) {
        arb_clear(q[e]);
        arb_clear(k[e]);
    }
}

void szgi_hadamard_sum(acb_t sum, const token_pair *t, bool plain) {
    acb_t q, k, turn;
    acb_init(q);
    acb_init(k);
    acb_init(turn);
    acb_zero(sum);
    for (int64_t p = 0; p < ROTARY_PAIRS; p++) {
        szgi_phase theta = szgi_phase_radians(t->theta[p]);
        acb_set_d_d(q, t->q[2 * p], t->q[2 * p + 1]);
        acb_set_d_d(k, t->k[2 * p], plain ? t->k[2 * p + 1] : -t->k[2 * p + 1]);
        acb_mul(q, q, k, BITS);
        szgi_phase_polar(turn, 1.0, t->i - t->j, &theta, BITS);
        acb_mul(q, q, turn, BITS);
        acb_add(sum, sum, q, BITS);
    }
    acb_clear(q);
    acb_clear(k);
    acb_clear(turn);
}

/* sum += q . k of the content */
static void add_content(arb_t sum, const token_pair *t) {
    arb_t q, k;
    arb_init(q);
    arb_init(k);
    for (int64_t c = 0; c < ROTARY_CONTENT; c++) {
        arb_set_d(q, t->content_q[c]);
        arb_set_d(k, t->content_k[c]);
        szgi_ball_accumulate(sum, q, k, BITS);
    }
    arb_clear(q);
    arb_clear(k);
}

identity szgi_rotary_trials(const claims_run *run, uint32_t purpose, bool content) {
    identity id = szgi_identity_start(run);
    arb_t left;
    acb_t right;
    arb_init(left);
    acb_init(right);
    for (int64_t trial = 0; trial < run->options.trials; trial++) {
        token_pair t = szgi_token_pair_draw(run->options.seed, purpose, trial);
        rotated_product(left, &t);
        szgi_hadamard_sum(right, &t, false);
        if (content) {
            add_content(left, &t);
            add_content(acb_realref(right), &t);
        }
        szgi_identity_compare(&id, left, acb_realref(right));
    }
    arb_clear(left);
    acb_clear(right);
    return id;
}

/* E8: the additive decomposition of logits. */
#include "identity.h"

enum { SIZE = 3, BITS = SZGI_BALL_BITS, STREAM = 0x7103 };

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_e8 = {
    .ledger = {.id = "E8",
               .kind = "paper",
               .expected = SZG_VERDICT_HOLDS,
               .statement = "additive logits are `G_{qc,kc} + G_{qc,kp} + G_{qp,kc} + G_{qp,kp} + "
                            "B`",
               .true_statement = "exact for bias-free linear maps of `c + p`",
               .source = "Eq. 8"},
    .check = check,
};

/* Inputs, normal: maps by rows, contents and positions of the tokens i and j, the bias. */
typedef struct additive {
    arb_ptr w_q, w_k, c_i, p_i, c_j, p_j, bias;
} additive;

enum { INPUTS = 2 * SIZE * SIZE + 4 * SIZE + 1 };

static additive draw(uint64_t seed, int64_t trial, arb_ptr room) {
    enum { FIRST = 2 };
    szgi_stream stream = {seed, (uint32_t)trial, STREAM};
    for (int64_t r = 0; r < INPUTS; r++)
        arb_set_d(room + r, szgi_random_normal(&stream, (uint64_t)(FIRST + r)));
    arb_ptr vectors = room + 2 * SIZE * SIZE;
    return (additive){room,
                      room + SIZE * SIZE,
                      vectors,
                      vectors + SIZE,
                      vectors + 2 * SIZE,
                      vectors + 3 * SIZE,
                      vectors + 4 * SIZE};
}

static void apply_map(arb_ptr image, arb_srcptr map, arb_srcptr x) {
    for (int64_t r = 0; r < SIZE; r++) {
        arb_zero(image + r);
        for (int64_t c = 0; c < SIZE; c++)
            szgi_ball_accumulate(image + r, map + SIZE * r + c, x + c, BITS);
    }
}

static void add_dot(arb_t sum, arb_srcptr x, arb_srcptr y) {
    for (int64_t c = 0; c < SIZE; c++)
        szgi_ball_accumulate(sum, x + c, y + c, BITS);
}

/* Four Gram terms and the bias. */
static void add_terms(arb_t sum, const additive *in) {
    arb_ptr q = _arb_vec_init(2 * SIZE), k = _arb_vec_init(2 * SIZE);
    apply_map(q, in->w_q, in->c_i);
    apply_map(q + SIZE, in->w_q, in->p_i);
    apply_map(k, in->w_k, in->c_j);
    apply_map(k + SIZE, in->w_k, in->p_j);
    arb_set(sum, in->bias);
    for (int e = 0; e < 4; e++)
        add_dot(sum, q + e / 2 * SIZE, k + e % 2 * SIZE);
    _arb_vec_clear(q, 2 * SIZE);
    _arb_vec_clear(k, 2 * SIZE);
}

/* (W_Q (c_i + p_i)) . (W_K (c_j + p_j)) + bias */
static void add_whole(arb_t sum, const additive *in) {
    arb_ptr x = _arb_vec_init(SIZE), q = _arb_vec_init(SIZE), k = _arb_vec_init(SIZE);
    _arb_vec_add(x, in->c_i, in->p_i, SIZE, BITS);
    apply_map(q, in->w_q, x);
    _arb_vec_add(x, in->c_j, in->p_j, SIZE, BITS);
    apply_map(k, in->w_k, x);
    arb_set(sum, in->bias);
    add_dot(sum, q, k);
    _arb_vec_clear(x, SIZE);
    _arb_vec_clear(q, SIZE);
    _arb_vec_clear(k, SIZE);
}

static szg_status check(claims_run *run, finding *out) {
    identity id = szgi_identity_start(run);
    arb_ptr room = _arb_vec_init(INPUTS);
    arb_t whole, terms;
    arb_init(whole);
    arb_init(terms);
    for (int64_t trial = 0; trial < run->options.trials; trial++) {
        additive in = draw(run->options.seed, trial, room);
        add_whole(whole, &in);
        add_terms(terms, &in);
        szgi_identity_compare(&id, whole, terms);
    }
    arb_clear(whole);
    arb_clear(terms);
    _arb_vec_clear(room, INPUTS);
    szgi_identity_finding(&id, out);
    return SZG_OK;
}

/* R3.2: the Gram matrix of a sinusoidal encoding. */
#include "identity.h"

enum { PAIRS = 4, BITS = SZGI_BALL_BITS, STREAM = 0x7104 };

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_r32 = {
    .ledger = {.id = "R3.2",
               .kind = "paper",
               .expected = SZG_VERDICT_HOLDS,
               .statement = "the Gram matrix `P P^T` of a sinusoidal encoding is Toeplitz",
               .true_statement = "`(P P^T)_ij = sum_t cos((i - j) theta_t)`",
               .source = "Remark 3.2"},
    .check = check,
};

/* gram += sin i theta sin j theta + cos i theta cos j theta, lag += cos((i - j) theta) */
static void add_pair(arb_t gram, arb_t lag, int64_t i, int64_t j, const szgi_phase *theta) {
    acb_t at_i, at_j, between;
    acb_init(at_i);
    acb_init(at_j);
    acb_init(between);
    szgi_phase_polar(at_i, 1.0, i, theta, BITS);
    szgi_phase_polar(at_j, 1.0, j, theta, BITS);
    szgi_phase_polar(between, 1.0, i - j, theta, BITS);
    szgi_ball_accumulate(gram, acb_realref(at_i), acb_realref(at_j), BITS);
    szgi_ball_accumulate(gram, acb_imagref(at_i), acb_imagref(at_j), BITS);
    arb_add(lag, lag, acb_realref(between), BITS);
    acb_clear(at_i);
    acb_clear(at_j);
    acb_clear(between);
}

static void try_positions(identity *id, const szgi_stream *stream) {
    int64_t i = szgi_random_below(stream, 0, 1 << 20), j = szgi_random_below(stream, 1, 1 << 20);
    arb_t gram, lag;
    arb_init(gram);
    arb_init(lag);
    for (int64_t t = 0; t < PAIRS; t++) {
        szgi_phase theta = szgi_phase_radians(szgi_random_normal(stream, 2 + (uint64_t)t));
        add_pair(gram, lag, i, j, &theta);
    }
    szgi_identity_compare(id, gram, lag);
    arb_clear(gram);
    arb_clear(lag);
}

static szg_status check(claims_run *run, finding *out) {
    identity id = szgi_identity_start(run);
    for (int64_t trial = 0; trial < run->options.trials; trial++) {
        szgi_stream stream = {run->options.seed, (uint32_t)trial, STREAM};
        try_positions(&id, &stream);
    }
    szgi_identity_finding(&id, out);
    return SZG_OK;
}

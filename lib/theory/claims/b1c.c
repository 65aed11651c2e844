/* B1c: rotary logits are a sum of Hadamard products. */
#include <string.h>

#include "rotary.h"

enum { STREAM = 0x7102 };

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_b1c = {
    .ledger = {.id = "B1c",
               .kind = "correction",
               .expected = SZG_VERDICT_HOLDS,
               .statement = "`L = Re sum_t G_t o E_t`, one Hadamard product per frequency",
               .true_statement = "`L = Re sum_t G_t o E_t` with `(G_t)_ij = q_i conj(k_j)` in "
                                 "pair `t`, `(E_t)_ij = e^{i(i-j) theta_t}`; `sum_t G_t o E_t = "
                                 "sum_t D_t G_t D_t^*`, `rank L <= d`",
               .source = "corrected Eq. 9-10"},
    .check = check,
};

/* L of d + 1 tokens has rank <= d: its determinant is 0. */
static szg_status rank_determinant(claims_run *run, szg_interval *determinant) {
    enum { N = 2 * ROTARY_PAIRS + 1, FIRST_TRIAL = 1000000 };
    szgi_ball_matrix *matrix;
    token_pair row[N];
    acb_t logit;
    for (int64_t i = 0; i < N; i++)
        row[i] = szgi_token_pair_draw(run->options.seed, STREAM, FIRST_TRIAL + i);
    SZG_TRY(szgi_ball_matrix_open(run->context, N, N, SZGI_BALL_BITS, &matrix));
    acb_init(logit);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++) {
            token_pair t = row[i];
            memcpy(t.k, row[j].k, sizeof t.k);
            memcpy(t.theta, row[0].theta, sizeof t.theta);
            t.i = i;
            t.j = j;
            szgi_hadamard_sum(logit, &t, false);
            acb_set_arb(szgi_ball_matrix_entry(matrix, i, j), acb_realref(logit));
        }
    acb_clear(logit);
    szg_status status = szgi_ball_matrix_minor(run->context, matrix, N, determinant, NULL);
    szgi_ball_matrix_close(&matrix);
    return status;
}

static szg_interval real_hadamard_sum(const token_pair *t, bool plain) {
    acb_t sum;
    acb_init(sum);
    szgi_hadamard_sum(sum, t, plain);
    szg_interval real = szgi_interval_of(acb_realref(sum));
    acb_clear(sum);
    return real;
}

/* Without the conjugate the identity is wrong: q = k = i, lag 0: q conj(k) = 1, q k = -1. */
static szg_status conjugate_matters(claims_run *run) {
    token_pair t = {.q = {0.0, 1.0}, .k = {0.0, 1.0}};
    SZG_TRY(szgi_evidence_add(run, "Re q conj(k) at q = k = i", real_hadamard_sum(&t, false),
                              "the logit"));
    return szgi_evidence_add(run, "Re q k at q = k = i", real_hadamard_sum(&t, true),
                             "without the conjugate: wrong");
}

static szg_status check(claims_run *run, finding *out) {
    szg_interval determinant;
    identity id = szgi_rotary_trials(run, STREAM, false);
    SZG_TRY(rank_determinant(run, &determinant));
    SZG_TRY(conjugate_matters(run));
    SZG_TRY(szgi_evidence_add(run, "determinant of L for d + 1 tokens", determinant,
                              "contains 0: rank L <= d"));
    id.trials++;
    id.refuted += !(determinant.lo <= 0.0 && determinant.hi >= 0.0);
    szgi_identity_finding(&id, out);
    return SZG_OK;
}

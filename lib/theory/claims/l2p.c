/* L2p: Lemma B.1 with phases theta_i in place of i theta_i. */
#include "lemma.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_l2p = {
    .ledger = {.id = "L2p",
               .kind = "reading",
               .expected = SZG_VERDICT_FAILS,
               .statement = "the same for `f` with phases `theta_i` in place of `i theta_i`, as "
                            "the printed proof treats it",
               .true_statement = "not sufficient: equal phases shift the terms unequally",
               .source = "proof of Lemma B.1"},
    .check = check,
    .refutations = {{.kind = "disjoint",
                     .left = Q_MAX_F_PLAIN,
                     .relation = "<",
                     .right = Q_TWO_SUM,
                     .hypotheses = {&szgi_hypothesis_nonnegative, &szgi_hypothesis_aligned}}},
};

static szg_status check(claims_run *run, finding *out) {
    /* The fewest terms: one term has max|f| = 2 w_0 |cos theta_0|, so theta_0 alone does it. */
    const refutation *rule = &szgi_claim_l2p.refutations[0];
    static const double weights[] = {1.0};
    const lattice space = {LATTICE_TERMS - 1, 1, weights, 4, szgi_quarter_turns, NULL};
    const double w[] = {1.0, 1.0};
    const szgi_phase theta[] = {szgi_phase_radians(1.0), szgi_phase_radians(1.0)};
    const instance at = szgi_instance(2, w, theta);
    bool minimal, printed;
    SZG_TRY(szgi_lemma_search(run, &space, rule, "fewest terms", &minimal));
    SZG_TRY(szgi_lemma_certify(run, rule, &at, "w = (1,1), theta = (1,1)", &printed));
    szgi_finding_fails(out, minimal && printed);
    return szgi_evidence_quantity(run, "max|f|", Q_MAX_F_PLAIN, &at, "w = (1,1), theta = (1,1)");
}

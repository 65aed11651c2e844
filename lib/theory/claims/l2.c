/* L2: equality in Lemma B.1. */
#include "lemma.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_l2 = {
    .ledger = {.id = "L2",
               .kind = "paper",
               .expected = SZG_VERDICT_FAILS,
               .statement = "equality iff all `theta_i` are equal modulo `2 pi`",
               .true_statement = "not necessary: see L2c",
               .source = "Lemma B.1, equality"},
    .check = check,
    .refutations = {{.kind = "exact",
                     .left = Q_MAX_F,
                     .relation = "=",
                     .right = Q_TWO_SUM,
                     .hypotheses = {&szgi_hypothesis_nonnegative, &szgi_hypothesis_unaligned},
                     .equal = &szgi_equality_maximum}},
};

static szg_status check(claims_run *run, finding *out) {
    const refutation *rule = &szgi_claim_l2.refutations[0];
    static const double weights[] = {1.0, 0.0};
    const lattice space = {LATTICE_TERMS - 1, 2, weights, 4, szgi_quarter_turns,
                           szgi_gap_unaligned};
    const double w3[] = {0.0, 1.0, 1.0}, w2[] = {1.0, 1.0};
    const szgi_phase theta3[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                                 szgi_phase_ratio(1, 1)};
    const szgi_phase theta2[] = {szgi_phase_radians(0.0), szgi_phase_radians(1.0)};
    const instance three = szgi_instance(3, w3, theta3), two = szgi_instance(2, w2, theta2);
    bool minimal, printed, floats;
    SZG_TRY(szgi_lemma_search(run, &space, rule, "fewest terms", &minimal));
    SZG_TRY(szgi_lemma_certify(run, rule, &three, "without w_0", &printed));
    SZG_TRY(szgi_lemma_certify(run, rule, &two, "float phases", &floats));
    szgi_finding_fails(out, minimal && printed && floats);
    return szgi_evidence_quantity(run, "max|f|", Q_MAX_F, &three, "w = (0,1,1), theta = (0,0,pi)");
}

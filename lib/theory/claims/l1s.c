/* L1s: the bound of Lemma B.1 for signed weights. */
#include <math.h>

#include "lemma.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_l1s = {
    .ledger = {.id = "L1s",
               .kind = "reading",
               .expected = SZG_VERDICT_FAILS,
               .statement = "the same for signed `w`, which positive definite `W` allows",
               .true_statement = "`max|f| <= 2 sum |w_i|`; `max|g|` may be smaller",
               .source = "Lemma B.1, signed"},
    .check = check,
    .refutations = {{.kind = "disjoint",
                     .left = Q_MAX_F,
                     .relation = ">",
                     .right = Q_MAX_G,
                     .hypotheses = {&szgi_hypothesis_positive_symbol}}},
};

static double largest_modulus(sampled_range r) {
    return fmax(r.largest, -r.least);
}

static double gap(const instance *at) {
    enum { GRID = 48 };
    return largest_modulus(szgi_lemma_sample(at, true, GRID)) -
           largest_modulus(szgi_lemma_sample(at, false, GRID));
}

/* Half the lemma's w_0: the symbol of W. */
static szg_status symbol_evidence(claims_run *run) {
    const double halved[] = {2.5, 1.0, 1.0, -1.0};
    szg_range range;
    SZG_TRY(szgi_ball_range(run->context, 4, halved, NULL, SZGI_PHASE_TIMES_INDEX, SZGI_BALL_BITS,
                            &range));
    return szgi_evidence_add(run, "minimum of the symbol of W", range.min, "w = (5,1,1,-1)");
}

static szg_status check(claims_run *run, finding *out) {
    const refutation *rule = &szgi_claim_l1s.refutations[0];
    static const double weights[] = {5.0, 1.0, -1.0};
    const lattice space = {LATTICE_TERMS - 1, 3, weights, 3, szgi_quarter_turns, gap};
    const double w[] = {5.0, 1.0, 1.0, -1.0};
    const szgi_phase theta[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                                szgi_phase_ratio(0, 1), szgi_phase_ratio(1, 3)};
    const instance at = szgi_instance(4, w, theta);
    bool minimal, larger;
    SZG_TRY(szgi_lemma_search(run, &space, rule, "fewest terms", &minimal));
    SZG_TRY(szgi_lemma_certify(run, rule, &at, "W positive definite for every N", &larger));
    szgi_finding_fails(out, minimal && larger);
    SZG_TRY(szgi_evidence_quantity(run, "max|g|", Q_MAX_G, &at, "w = (5,1,1,-1)"));
    SZG_TRY(szgi_evidence_quantity(run, "max|f|", Q_MAX_F, &at, "theta_3 = pi/3"));
    return symbol_evidence(run);
}

/* B3h: the range of W o E, E Hermitian Toeplitz and unimodular. */
#include "search.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_b3h = {
    .ledger = {.id = "B3h",
               .kind = "reading",
               .expected = SZG_VERDICT_FAILS,
               .statement = "the same with `E` Hermitian Toeplitz, unimodular, `e_0 = 1`",
               .true_statement = "the range can grow; `N = 3` is the least size",
               .source = "Prop. B.3, Hermitian"},
    .check = check,
    .refutations = {{.kind = "disjoint",
                     .left = Q_SPREAD_WE,
                     .relation = ">",
                     .right = Q_SPREAD_W,
                     .hypotheses = {&szgi_hypothesis_unit, &szgi_hypothesis_definite}}},
};

static const double w[] = {3.0, 1.0, 1.0};

/* w = (3,1,1), e_2 = i at N = 3 and N = 8. */
static szg_status two_sizes(claims_run *run, bool *three, bool *eight) {
    const refutation *rule = &szgi_claim_b3h.refutations[0];
    const szgi_phase e[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1), szgi_phase_ratio(1, 2)};
    instance at = szgi_instance(3, w, e);
    SZG_TRY(szgi_certify(run, rule, &at, "w = (3,1,1), e_2 = i, N = 3", three));
    SZG_TRY(szgi_evidence_quantity(run, "width of W, N = 3", Q_SPREAD_W, &at, "w = (3,1,1)"));
    SZG_TRY(szgi_evidence_quantity(run, "width of W o E, N = 3", Q_SPREAD_WE, &at, "e_2 = i"));
    at.n = 8;
    SZG_TRY(szgi_certify(run, rule, &at, "w = (3,1,1), e_2 = i, N = 8", eight));
    SZG_TRY(
        szgi_evidence_quantity(run, "largest eigenvalue of W, N = 8", Q_TOP_W, &at, "w = (3,1,1)"));
    SZG_TRY(szgi_evidence_quantity(run, "width of W, N = 8", Q_SPREAD_W, &at, "w = (3,1,1)"));
    SZG_TRY(szgi_evidence_quantity(run, "largest eigenvalue of W o E, N = 8", Q_TOP_WE, &at,
                                   "e_2 = i"));
    return szgi_evidence_quantity(run, "width of W o E, N = 8", Q_SPREAD_WE, &at, "e_2 = i");
}

/* Szego: the widths tend to those of the symbols. 2 theta_2 is the phase of e_2. */
static szg_status limits(claims_run *run) {
    const szgi_phase theta[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                                szgi_phase_ratio(1, 4)};
    const instance at = szgi_instance(3, w, theta);
    SZG_TRY(szgi_evidence_quantity(run, "limit of the width of W", Q_WIDTH_G, &at, "symbol"));
    return szgi_evidence_quantity(run, "limit of the width of W o E", Q_WIDTH_F, &at, "symbol");
}

static szg_status check(claims_run *run, finding *out) {
    static const double weights[] = {3.0, 1.0};
    const lattice space = {3, 2, weights, 3, szgi_quarter_turns, szgi_gap_unit};
    lattice_point least;
    bool minimal, three, eight;
    SZG_TRY(szgi_lattice_search(run, &space, &szgi_claim_b3h.refutations[0], "smallest size",
                                &least, &minimal));
    szgi_finding_note(out, "smallest N with a counterexample: %lld", (long long)least.at.n);
    SZG_TRY(two_sizes(run, &three, &eight));
    szgi_finding_fails(out, minimal && least.at.n == 3 && three && eight);
    return limits(run);
}

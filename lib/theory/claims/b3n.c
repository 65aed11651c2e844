/* B3n: the moduli of the eigenvalues of W o E, E Hermitian Toeplitz and unimodular. */
#include "search.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_b3n = {
    .ledger = {.id = "B3n",
               .kind = "reading",
               .expected = SZG_VERDICT_FAILS,
               .statement = "no eigenvalue's modulus grows under such `E`, Hermitian only",
               .true_statement = "it can for signed `w`; for `w >= 0` the radius cannot grow "
                                 "(Perron). Under the proposition's own hypotheses no such `E` "
                                 "exists (B3)",
               .source = "step of the proof of Prop. B.3, read with Hermitian E"},
    .check = check,
    .refutations = {{.kind = "disjoint",
                     .left = Q_TOP_WE,
                     .relation = ">",
                     .right = Q_TOP_W,
                     .hypotheses = {&szgi_hypothesis_unit, &szgi_hypothesis_definite}}},
};

static szg_status check(claims_run *run, finding *out) {
    const refutation *rule = &szgi_claim_b3n.refutations[0];
    static const double weights[] = {3.0, 1.0, -1.0};
    const lattice space = {3, 3, weights, 3, szgi_quarter_turns, szgi_gap_unit};
    lattice_point least;
    bool minimal, large;
    SZG_TRY(szgi_lattice_search(run, &space, rule, "smallest size", &least, &minimal));
    szgi_finding_note(out, "smallest N with a counterexample: %lld", (long long)least.at.n);
    const double w[] = {5.0, 1.0, 1.0, -1.0};
    const szgi_phase e[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1), szgi_phase_ratio(0, 1),
                            szgi_phase_ratio(1, 1)};
    instance at = szgi_instance(4, w, e);
    at.n = 32;
    SZG_TRY(szgi_certify(run, rule, &at, "w = (5,1,1,-1), e_3 = -1, N = 32", &large));
    szgi_finding_fails(out, minimal && least.at.n == 3 && large);
    SZG_TRY(szgi_evidence_quantity(run, "largest eigenvalue of W, N = 32", Q_TOP_W, &at, "W"));
    return szgi_evidence_quantity(run, "largest eigenvalue of W o E, N = 32", Q_TOP_WE, &at,
                                  "e_3 = -1");
}

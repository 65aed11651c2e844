/* B3s: B3p's statement with "strictly", which is our word. */
#include "claim.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_b3s = {
    .ledger = {.id = "B3s",
               .kind = "reading",
               .expected = SZG_VERDICT_FAILS,
               .statement = "the same, strictly, with `E` positive semidefinite",
               .true_statement = "\"strictly\" is our word, and fails: `E = v v^*`, so "
                                 "`W o E = D W D^*` has the spectrum of `W`; without it see B3p",
               .source = "Prop. B.3, semidefinite, with a word added"},
    .check = check,
    .refutations = {{.kind = "exact",
                     .left = Q_SPREAD_WE,
                     .relation = "=",
                     .right = Q_SPREAD_W,
                     .hypotheses = {&szgi_hypothesis_rank_one, &szgi_hypothesis_unit,
                                    &szgi_hypothesis_definite},
                     .equal = &szgi_equality_spectra}},
};

static szg_status check(claims_run *run, finding *out) {
    const refutation *rule = &szgi_claim_b3s.refutations[0];
    const double w[] = {3.0, 1.0, 1.0};
    const szgi_phase half[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(1, 2)};
    const szgi_phase thirds[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(1, 3),
                                 szgi_phase_ratio(2, 3)};
    const instance least = szgi_instance(2, w, half), next = szgi_instance(3, w, thirds);
    bool minimal, three;
    SZG_TRY(szgi_certify(run, rule, &least, "smallest size; E = v v^*", &minimal));
    SZG_TRY(szgi_certify(run, rule, &next, "E = v v^*, v_k = e^{i k pi / 3}", &three));
    szgi_finding_fails(out, minimal && three);
    return SZG_OK;
}

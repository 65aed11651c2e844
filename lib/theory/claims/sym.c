/* SYM: the symbol of a Hermitian Toeplitz matrix. */
#include "claim.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_sym = {
    .ledger = {.id = "SYM",
               .kind = "paper",
               .expected = SZG_VERDICT_FAILS,
               .statement = "the symbol of `W` is `sum_{i>=0} 2 Re{w_i} cos(i t)`",
               .true_statement = "`w_0 + 2 sum_{i>=1} (Re w_i cos(i t) - Im w_i sin(i t))`; wrong "
                                 "twice as printed, and harmless for widths of real `W`, where it "
                                 "only adds `w_0`",
               .source = "symbol in App. B"},
    .check = check,
    .refutations = {{.kind = "exact",
                     .left = Q_SYMBOL,
                     .relation = "!=",
                     .right = Q_SYMBOL_PRINTED,
                     .hypotheses = {&szgi_hypothesis_hermitian}}},
};

static szg_status check(claims_run *run, finding *out) {
    const refutation *rule = &szgi_claim_sym.refutations[0];
    const double one[] = {1.0}, beside[] = {0.0, 1.0};
    const szgi_phase quarter[] = {szgi_phase_ratio(0, 1), szgi_phase_ratio(1, 2)};
    const instance diagonal = szgi_instance(1, one, quarter);
    const instance imaginary = szgi_instance(2, beside, quarter);
    bool doubled, lost;
    SZG_TRY(szgi_certify(run, rule, &diagonal, "w_0 = 1 alone: printed twice", &doubled));
    SZG_TRY(szgi_certify(run, rule, &imaginary, "w_1 = i alone: the symbol is -2 sin t, printed 0",
                         &lost));
    szgi_finding_fails(out, doubled && lost);
    return SZG_OK;
}

/* E12: the paper's form of MLA logits. */
#include "claim.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_e12 = {
    .ledger = {.id = "E12",
               .kind = "paper",
               .expected = SZG_VERDICT_FAILS,
               .statement = "MLA logits are (the sum) `o (alpha G_e + I)`",
               .true_statement = "it fails with `I` the identity; with `I` all ones, natural for a "
                                 "Hadamard product, it is conditional: the two parts have "
                                 "contents of their own. In general see E12c",
               .source = "Eq. 12"},
    .check = check,
    .refutations =
        {{.kind = "exact", .left = Q_MLA_TRUE, .relation = "!=", .right = Q_MLA_PRINTED}},
};

static szg_status check(claims_run *run, finding *out) {
    /* c = 2, r = 1, theta = pi: L has diagonal 3 and 1 beside it. As printed the diagonal 3 forces
     * alpha = 0, and the entry beside it is 0. */
    const double parts[] = {2.0, 1.0};
    const szgi_phase theta[] = {szgi_phase_ratio(1, 1)};
    const instance at = {.n = 2, .weights = 2, .phases = 1, .w = parts, .theta = theta};
    bool certified;
    SZG_TRY(szgi_certify(run, &szgi_claim_e12.refutations[0], &at,
                         "contents c = 2 and r = 1, theta = pi", &certified));
    szgi_finding_fails(out, certified);
    SZG_TRY(szgi_evidence_quantity(run, "L_01", Q_MLA_TRUE, &at, "c + r e^{-i pi}"));
    return szgi_evidence_quantity(run, "L_01 as printed", Q_MLA_PRINTED, &at,
                                  "0 for every alpha and G_e");
}

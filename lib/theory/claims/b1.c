/* B1: rotary logits as one Hadamard product. */
#include "search.h"

static szg_status check(claims_run *run, finding *out);

enum { MODULUS, REAL_PART };

const szgi_claim szgi_claim_b1 = {
    .ledger = {.id = "B1",
               .kind = "paper",
               .expected = SZG_VERDICT_FAILS,
               .statement = "RoPE logits are the Hadamard product of the sum of Gram matrices and "
                            "one unimodular Toeplitz matrix `G_e`",
               .true_statement = "true for `d = 2` and when all `theta_t` agree modulo `2 pi`; in "
                                 "general see B1c. `G_e` is taken as a Gram matrix of the `e_i` "
                                 "with unimodular entries: the main text defines it as a Gram "
                                 "matrix, the proof as phases",
               .source = "Eq. 9-10, Prop. B.1"},
    .check = check,
    .refutations =
        {[MODULUS] = {.kind = "disjoint", .left = Q_ROTATED, .relation = "<", .right = Q_GRAM},
         [REAL_PART] =
             {.kind = "disjoint", .left = Q_ROTATED_REAL, .relation = ">", .right = Q_GRAM}},
};

static const refutation *const rules = szgi_claim_b1.refutations;

/* One query and one key with q = k = (1, 1) and with k = (1, -1), theta = (1, 0.01), lag 3. */
static szg_status at_lag_3(claims_run *run, bool *modulus, bool *real_part) {
    const double ones[] = {1.0, 1.0}, opposite[] = {1.0, -1.0};
    const szgi_phase theta[] = {szgi_phase_radians(1.0), szgi_phase_radians(0.01)};
    instance at = {.n = 3, .weights = 2, .phases = 2, .w = ones, .theta = theta};
    szg_interval coupled;
    SZG_TRY(szgi_certify(run, &rules[MODULUS], &at, "q = k = (1,1), theta = (1, 0.01), lag 3",
                         modulus));
    SZG_TRY(szgi_quantity_enclose(run->context, Q_ROTATED, &at, &coupled));
    coupled = szgi_interval_multiply(coupled, (szg_interval){0.5, 0.5});
    SZG_TRY(szgi_evidence_add(run, "modulus ratio at lag 3", coupled, "1 is claimed"));
    at.w = opposite;
    SZG_TRY(szgi_certify(run, &rules[REAL_PART], &at,
                         "q = (1,1), k = (1,-1), theta = (1, 0.01), lag 3: the Gram sum is 0",
                         real_part));
    SZG_TRY(
        szgi_evidence_quantity(run, "|Re L| at lag 3", Q_ROTATED_REAL, &at, "the Gram sum is 0"));
    return szgi_evidence_quantity(run, "|Gram sum|", Q_GRAM, &at, "Eq. 10 would give |L| the same");
}

static szg_status check(claims_run *run, finding *out) {
    static const double one[] = {1.0};
    const lattice space = {2, 1, one, 2, szgi_quarter_turns, NULL};
    lattice_point least;
    bool minimal, modulus, real_part;
    SZG_TRY(szgi_lattice_search(run, &space, &rules[MODULUS], "fewest pairs, d = 4; lag n", &least,
                                &minimal));
    szgi_finding_note(out, "least number of pairs with a counterexample: %lld",
                      (long long)least.at.weights);
    SZG_TRY(at_lag_3(run, &modulus, &real_part));
    szgi_finding_fails(out, minimal && least.at.weights == 2 && modulus && real_part);
    return SZG_OK;
}

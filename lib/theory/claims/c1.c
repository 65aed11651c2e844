/* C1: does it matter whether one kernel is added or multiplied? */
#include "mechanism.h"

static szg_status check(claims_run *run, finding *out) {
    return szgi_mechanism_quote(run, (const char *const[]){"E5", "E9", "E10", NULL}, out);
}

const szgi_claim szgi_claim_c1 = {
    .ledger = {.id = "C1",
               .kind = "paper",
               .expected = SZG_VERDICT_MEASURED,
               .statement =
                   "the Toeplitz structure splits encodings into additive and "
                   "multiplicative couplings, and the multiplicative one couples differently",
               .true_statement =
                   "the split is a definition; in small decoders RoPE learns more than its "
                   "mean kernel added, and about as much as added sinusoids",
               .source = "later version, framework; from a page about it, not read"},
    .check = check,
};

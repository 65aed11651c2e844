/* C3: is RoPE's multiplicative structure the cause of a deposit? */
#include "mechanism.h"

static szg_status check(claims_run *run, finding *out) {
    return szgi_mechanism_quote(run, (const char *const[]){"H5", "H6", "E1", "E4", "E6", NULL},
                                out);
}

const szgi_claim szgi_claim_c3 = {
    .ledger =
        {.id = "C3",
         .expected = SZG_VERDICT_MEASURED,
         .statement = "the multiplicative structure itself causes the deposit: ablations and "
                      "gradients show it",
         .true_statement =
             "in small decoders, leaving out the winning head's rotation in training changes which "
             "head wins, not decidedly its share; one frequency, multiplicative too, has a "
             "smaller share",
         .source = "later version, cause"},
    .check = check,
};

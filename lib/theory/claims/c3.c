/* C3: is RoPE's multiplicative structure the cause of a deposit? */
#include "mechanism.h"

static szg_status check(claims_run *run, finding *out) {
    SZG_TRY(
        szgi_mechanism_quote(run, (const char *const[]){"H5", "H6", "E1", "E4", "E6", NULL}, out));
    return szgi_mechanism_count_winners(run,
                                        (const char *const[]){"still/rope", "still-other/rope",
                                                              "frozen/rope", "frozen-other/rope",
                                                              NULL},
                                        out);
}

const szgi_claim szgi_claim_c3 = {
    .ledger =
        {.id = "C3",
         .kind = "paper",
         .expected = SZG_VERDICT_MEASURED,
         .statement = "the multiplicative structure itself causes the deposit: ablations and "
                      "gradients show it",
         .true_statement =
             "in small decoders a head that is not rotated, or not trained, is never the worst; "
             "another is, with no decidedly different share; one frequency, multiplicative too, "
             "has a smaller share",
         .source = "later version, cause; from a page about it, not read"},
    .check = check,
};

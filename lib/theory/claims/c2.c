/* C2: does RoPE leave the work on positions to one head more than other encodings do? */
#include "mechanism.h"

static szg_status check(claims_run *run, finding *out) {
    return szgi_mechanism_quote(
        run, (const char *const[]){"H1", "H2", "H3", "H4", "E11", "E12", "E13", "E14", NULL}, out);
}

const szgi_claim szgi_claim_c2 = {
    .ledger =
        {.id = "C2",
         .kind = "paper",
         .expected = SZG_VERDICT_MEASURED,
         .statement = "RoPE puts nearly all positional work into a single head of a shallow "
                      "layer",
         .true_statement =
             "in small decoders no planned difference from additive encodings is decided, and the "
             "plan could find large ones only; RoPE's mean share lies above that of sinusoids and "
             "below ALiBi's",
         .source = "later version, single-head deposit; from a page about it, not read"},
    .check = check,
};

/* E12c: MLA logits, content and rotary parts apart. */
#include "rotary.h"

enum { STREAM = 0x710a };

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_e12c = {
    .ledger = {.id = "E12c",
               .kind = "correction",
               .expected = SZG_VERDICT_HOLDS,
               .statement = "MLA logits are `Re{G^C + sum_t G_t^R o E_t}`",
               .true_statement = "as stated, content and rotary parts with their own queries and "
                                 "keys",
               .source = "corrected Eq. 12"},
    .check = check,
};

static szg_status check(claims_run *run, finding *out) {
    identity id = szgi_rotary_trials(run, STREAM, true);
    szgi_identity_finding(&id, out);
    return SZG_OK;
}

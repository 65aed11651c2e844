/* L2c: when the bound of Lemma B.1 is attained. */
#include <math.h>

#include "lemma.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_l2c = {
    .ledger = {.id = "L2c",
               .kind = "correction",
               .expected = SZG_VERDICT_HOLDS,
               .statement = "`w >= 0`: equality iff some `t^*` has `i(theta_i + t^*) = 0 mod 2 "
                            "pi` for all `i >= 1` with `w_i > 0` (or all `= pi` when `w_0 = 0`)",
               .true_statement = "as stated; `theta_0` never matters",
               .source = "corrected Lemma B.1"},
    .check = check,
};

static szg_status check(claims_run *run, finding *out) {
    SZG_TRY(szgi_lemma_trials(run));
    int64_t refuted = 0, undecided = 0, equal = 0;
    for (int64_t i = 0; i < run->options.trials; i++) {
        const lemma_trial *trial = &run->lemma[i];
        bool apart = szgi_interval_compare(trial->max_f, trial->two_sum) != 0;
        bool attained = trial->equality != (run->twist != 0.0);
        equal += attained;
        refuted += attained && apart;
        undecided += !attained && !apart;
    }
    /* A trial that the enclosures cannot decide supports nothing and refutes nothing: it does not
     * count; a run without any other has no verdict. */
    int64_t decided = run->options.trials - undecided;
    szgi_finding_holds(out, decided, refuted, NAN);
    if (decided == 0)
        szgi_finding_fails(out, false);
    szgi_finding_note(
        out,
        "%lld trials equal; %lld more, unequal but nearer than their enclosures, are not "
        "decided and not counted",
        (long long)equal, (long long)undecided);
    return SZG_OK;
}

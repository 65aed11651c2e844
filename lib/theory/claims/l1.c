/* L1: the bound of Lemma B.1. */
#include <math.h>

#include "lemma.h"

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_l1 = {
    .ledger = {.id = "L1",
               .kind = "paper",
               .expected = SZG_VERDICT_HOLDS,
               .statement = "`w >= 0`: `max|f| <= max|g| = 2 sum w_i`",
               .true_statement = "triangle inequality; `g` attains it at `t = 0`",
               .source = "Lemma B.1"},
    .check = check,
};

static szg_status check(claims_run *run, finding *out) {
    SZG_TRY(szgi_lemma_trials(run));
    int64_t refuted = 0, equal = 0;
    double worst = INFINITY;
    szg_interval worst_margin = {0.0, 0.0};
    for (int64_t i = 0; i < run->options.trials; i++) {
        const lemma_trial *trial = &run->lemma[i];
        szg_interval max_f = szgi_twisted(run, trial->max_f);
        if (szgi_interval_compare(max_f, trial->max_g) > 0 ||
            szgi_interval_compare(trial->max_g, trial->two_sum) != 0)
            refuted++;
        equal += trial->equality;
        if (trial->equality || !(trial->two_sum.lo > 0.0))
            continue;
        szg_interval margin = szgi_interval_subtract(trial->two_sum, max_f);
        if (margin.lo / trial->two_sum.hi < worst) {
            worst = margin.lo / trial->two_sum.hi;
            worst_margin =
                (szg_interval){worst, nextafter(margin.hi / trial->two_sum.lo, INFINITY)};
        }
    }
    szgi_finding_holds(out, run->options.trials, refuted, worst);
    szgi_finding_note(out, "margin (2 sum w - max|f|) / 2 sum w; %lld trials are equal exactly",
                      (long long)equal);
    return szgi_evidence_add(run, "least relative margin without equality", worst_margin,
                             "enclosure, over random and adversarial trials");
}

/* B3p: the same with positive semidefinite matrices. */
#include <math.h>

#include "lemma.h"

enum { SIZE = 6, TURNS = 24, STREAM = 0x710a };

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_b3p = {
    .ledger = {.id = "B3p",
               .kind = "reading",
               .expected = SZG_VERDICT_HOLDS,
               .statement = "the same with `E` positive semidefinite",
               .true_statement =
                   "with equality: `E = v v^*`, so `W o E = D W D^*` has the spectrum "
                   "of `W`",
               .source = "Prop. B.3, semidefinite"},
    .check = check,
};

/* W diagonally dominant, so positive definite, and E = v v^*, v_k = e^{i k theta}: how much wider
 * is W than W o E? */
static szg_status one_trial(claims_run *run, int64_t trial, szg_interval *margin) {
    szgi_stream stream = {run->options.seed, (uint32_t)trial, STREAM};
    int64_t turn = 1 + szgi_random_below(&stream, 0, TURNS - 1);
    double w[SIZE] = {1.0};
    szgi_phase plain[SIZE], turned[SIZE];
    szg_interval before, after;
    for (int64_t k = 0; k < SIZE; k++) {
        int64_t p = k ? szgi_random_below(&stream, (uint64_t)(1 + k), TURNS) : 0;
        plain[k] = szgi_phase_ratio(p, TURNS / 2);
        turned[k] = szgi_phase_ratio(p + k * turn, TURNS / 2);
        if (k) {
            w[k] = szgi_random_normal(&stream, (uint64_t)(SIZE + k));
            w[0] += 2.0 * fabs(w[k]);
        }
    }
    const instance untouched = szgi_instance(SIZE, w, plain),
                   product = szgi_instance(SIZE, w, turned);
    SZG_TRY(szgi_quantity_enclose(run->context, Q_SPREAD_WE, &untouched, &before));
    SZG_TRY(szgi_quantity_enclose(run->context, Q_SPREAD_WE, &product, &after));
    *margin = szgi_interval_subtract(before, szgi_twisted(run, after));
    return SZG_OK;
}

static szg_status check(claims_run *run, finding *out) {
    int64_t refuted = 0;
    double worst = INFINITY;
    for (int64_t trial = 0; trial < run->options.trials; trial++) {
        szg_interval margin;
        SZG_TRY(one_trial(run, trial, &margin));
        refuted += margin.hi < 0.0;
        worst = fmin(worst, margin.lo);
    }
    szgi_finding_holds(out, run->options.trials, refuted, worst);
    szgi_finding_note(out, "margin: width of W less that of W o E, which is 0");
    return SZG_OK;
}

/* L3c: bounds of the widths. */
#include <math.h>

#include "base/memory.h"

#include "lemma.h"

enum { STREAM = 0x7201 };

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_l3c = {
    .ledger = {.id = "L3c",
               .kind = "correction",
               .expected = SZG_VERDICT_HOLDS,
               .statement = "both widths are `<= 4 sum_{i>=1} w_i` for `w >= 0`",
               .true_statement = "for signed `w` the bound is `4 sum_{i>=1} |w_i|`",
               .source = "corrected Lemma B.1, widths"},
    .check = check,
};

/* 4 sum_{i>=1} |w_i| less the width, of one trial with the signs of `signs` (bit i: minus). */
static szg_status width_margin(claims_run *run, const lemma_trial *trial, uint32_t signs,
                               szg_interval *margin) {
    szg_context *context = run->context;
    int64_t n = run->options.terms;
    double *w;
    szg_range f;
    szg_interval bound;
    szg_status status;
    SZG_TRY(szgi_memory_alloc(context, n, &w));
    for (int64_t i = 1; i < n; i++)
        w[i] = trial->w[i];
    const instance tail = {.n = n, .weights = n, .w = w};
    SZG_TRY_GOTO(status, szgi_quantity_enclose(context, Q_FOUR_SUM, &tail, &bound), done);
    szg_interval width = trial->width_f;
    if (signs) {
        for (int64_t i = 1; i < n; i++)
            w[i] = signs >> (i % 32) & 1 ? -w[i] : w[i];
        SZG_TRY_GOTO(status,
                     szgi_ball_range(context, n, w, trial->theta, SZGI_PHASE_TIMES_INDEX,
                                     SZGI_BALL_BITS, &f),
                     done);
        width = szgi_range_width(&f);
    }
    *margin = szgi_interval_subtract(bound, szgi_twisted(run, width));
done:
    szgi_memory_free(w);
    return status;
}

static szg_status check(claims_run *run, finding *out) {
    SZG_TRY(szgi_lemma_trials(run));
    int64_t refuted = 0, trials = 0;
    double worst = INFINITY;
    szg_interval least = {0.0, 0.0};
    for (int64_t i = 0; i < run->options.trials; i++) {
        /* every fourth trial again with random signs */
        szgi_stream stream = {run->options.seed, (uint32_t)i, STREAM};
        uint32_t random_signs = szgi_random_word(&stream, 0) | 2u;
        for (int again = 0; again <= (i % 4 == 0); again++) {
            szg_interval margin;
            SZG_TRY(width_margin(run, &run->lemma[i], again ? random_signs : 0, &margin));
            trials++;
            refuted += margin.hi < 0.0;
            double scale = run->lemma[i].two_sum.hi;
            if (scale > 0.0 && margin.lo / scale < worst) {
                worst = margin.lo / scale;
                least = margin;
            }
        }
    }
    szgi_finding_holds(out, trials, refuted, worst);
    szgi_finding_note(out,
                      "margin (4 sum_{i>=1} |w_i| - width) / 2 sum w; odd terms alone attain 0");
    return szgi_evidence_add(run, "least margin", least, "enclosure, not divided");
}

/* T3.1: Szego's theorem, on drawn trigonometric polynomials. */
#include <math.h>

#include "theory/enclose.h"

#include "claim.h"

enum { DEGREE = 4, STREAM = 0x7106 };

static szg_status check(claims_run *run, finding *out);

const szgi_claim szgi_claim_t31 = {
    .ledger = {.id = "T3.1",
               .kind = "paper",
               .expected = SZG_VERDICT_HOLDS,
               .statement = "Szego: eigenvalues of `T_N(a)` fill `[min a, max a]` as `N` grows",
               .true_statement = "for a real continuous symbol the eigenvalues lie in `[min a, "
                                 "max a]` and are distributed like its values",
               .source = "Theorem 3.1"},
    .check = check,
};

/* One symbol: eigenvalues stay inside, and both gaps to the ends shrink by more than half from
 * N = 8 to N = 32 (the rate is 1/N^2 at a simple extremum: Kac, Murdock and Szego 1953). margin:
 * the lesser gap at N = 32, relative to the symbol's width. */
static szg_status szego_trial(claims_run *run, int64_t trial, bool *refuted, double *margin) {
    szgi_stream stream = {run->options.seed, (uint32_t)trial, STREAM};
    double w[DEGREE], half[DEGREE];
    szgi_phase theta[DEGREE];
    szg_range range;
    szg_interval least[2], largest[2];
    for (int64_t k = 0; k < DEGREE; k++) {
        w[k] = half[k] = fabs(szgi_random_normal(&stream, (uint64_t)k));
        theta[k] = k ? szgi_phase_radians(szgi_random_normal(&stream, 10 + (uint64_t)k))
                     : szgi_phase_ratio(0, 1);
    }
    half[0] *= 0.5; /* the lemma's polynomial has 2 w_0 where the symbol has w_0 */
    SZG_TRY(szgi_ball_range(run->context, DEGREE, half, theta, SZGI_PHASE_PLAIN, SZGI_BALL_BITS,
                            &range));
    SZG_TRY(szgi_toeplitz_extremes(run->context, 8, DEGREE, w, theta, &least[0], &largest[0]));
    SZG_TRY(szgi_toeplitz_extremes(run->context, 32, DEGREE, w, theta, &least[1], &largest[1]));
    double width = szgi_range_width(&range).hi, moved = width * run->twist * 10.0;
    double low = least[1].lo - moved - range.min.hi, high = range.max.lo - largest[1].hi - moved;
    double low_before = least[0].hi - range.min.lo, high_before = range.max.hi - largest[0].lo;
    *margin = fmin(low, high) / width;
    *refuted = least[1].hi - moved < range.min.lo || largest[1].lo + moved > range.max.hi ||
               !(low < 0.5 * low_before) || !(high < 0.5 * high_before);
    return SZG_OK;
}

static szg_status check(claims_run *run, finding *out) {
    int64_t refutations = 0, trials = run->options.trials < 32 ? run->options.trials : 32;
    double worst = INFINITY;
    for (int64_t trial = 0; trial < trials; trial++) {
        bool refuted;
        double margin;
        SZG_TRY(szego_trial(run, trial, &refuted, &margin));
        refutations += refuted;
        worst = fmin(worst, margin);
        SZG_TRY(szgi_context_check_cancel(run->context));
    }
    szgi_finding_holds(out, trials, refutations, worst);
    szgi_finding_note(out,
                      "margin: distance of the outermost eigenvalue of T_32 from the end of the "
                      "symbol's range, relative to its width; it at least halves from N = 8 to 32");
    return SZG_OK;
}

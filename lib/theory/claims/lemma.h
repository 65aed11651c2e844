/* Lemma B.1 (Gu and others 2025): f(t) = sum 2 w_i cos(i theta_i + i t), g(t) = sum 2 w_i cos(i t).
 */
#ifndef SZG_THEORY_LEMMA_H
#define SZG_THEORY_LEMMA_H

#include "search.h"

/* Fills run->lemma and the table `lemma` once; later calls return at once. */
SZG_CHECK_RESULT szg_status szgi_lemma_trials(claims_run *run);

/* Extremes of f over `grid` equally spaced points, in doubles, or of g: a guide, not a bound. */
typedef struct sampled_range {
    double least, largest;
} sampled_range;
sampled_range szgi_lemma_sample(const instance *at, bool phases, int64_t grid);

/* A gap that lets through instances whose phases are not all congruent, with some weight positive.
 */
double szgi_gap_unaligned(const instance *at);

/* x (1 + twist): what a test changes. */
szg_interval szgi_twisted(const claims_run *run, szg_interval x);

/* szgi_certify and szgi_lattice_search; then f and g of the counterexample go to `samples`. */
SZG_CHECK_RESULT szg_status szgi_lemma_certify(claims_run *run, const refutation *rule,
                                               const instance *at, const char *note,
                                               bool *certified);
SZG_CHECK_RESULT szg_status szgi_lemma_search(claims_run *run, const lattice *space,
                                              const refutation *rule, const char *note,
                                              bool *found);

#endif

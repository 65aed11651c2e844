/* Lemma B.1 in plain doubles, and its trials. */
#ifndef SZG_THEORY_LEMMA_H
#define SZG_THEORY_LEMMA_H

#include "claims_private.h"

/* Fills run->lemma and the table `lemma` once; later calls return at once. */
SZG_CHECK_RESULT szg_status lemma_trials(claims_run *run);

/* Extremes of f over `grid` equally spaced points, in doubles: a guide, not a bound. */
typedef struct sampled_range {
    double least, largest;
} sampled_range;
sampled_range lemma_sample(int64_t count, const double *w, const szg_phase *theta,
                           szg_phase_mode mode, int64_t grid);
double lemma_angle(const szg_phase *theta);
/* f(t) in doubles; theta NULL: g(t). */
double lemma_value(int64_t count, const double *w, const szg_phase *theta, szg_phase_mode mode,
                   double t);

/* Weights and phases on a small lattice, by number of terms, until the certificate is established:
 * the first one found has the fewest terms. The certificate's id, kind and relation are given; its
 * inputs are set on success and live in the caller's arrays w and theta (room for `most`). `gap`
 * (may be NULL) is positive, in doubles, where a ball evaluation is worth while. */
typedef struct lattice {
    int64_t most;
    int64_t weights;
    const double *weight;
    int64_t phases;
    const szg_phase *phase;
    double (*gap)(const certificate *c);
} lattice;
SZG_CHECK_RESULT szg_status lattice_search(claims_run *run, const lattice *space, certificate *c,
                                           double *w, szg_phase *theta, bool *found);

/* Encloses a quantity and puts it on record. */
SZG_CHECK_RESULT szg_status evidence_quantity(claims_run *run, const char *name, quantity q,
                                              const certificate *c, const char *note);

#endif

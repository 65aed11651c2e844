/* Lemma B.1 in plain doubles, and its trials. */
#ifndef SZG_THEORY_LEMMA_H
#define SZG_THEORY_LEMMA_H

#include "claims_private.h"

/* Fills run->lemma and the table `lemma` once; later calls return at once. */
SZG_CHECK_RESULT szg_status szgi_lemma_trials(claims_run *run);

/* Extremes of f over `grid` equally spaced points, in doubles: a guide, not a bound. */
typedef struct sampled_range {
    double least, largest;
} sampled_range;
sampled_range szgi_lemma_sample(int64_t count, const double *w, const szgi_phase *theta,
                                szgi_phase_mode mode, int64_t grid);
double szgi_lemma_angle(const szgi_phase *theta);
/* f(t) in doubles; theta NULL: g(t). */
double szgi_lemma_value(int64_t count, const double *w, const szgi_phase *theta,
                        szgi_phase_mode mode, double t);

/* Weights and phases on a small lattice, by number of terms, until the certificate is established:
 * the first one found has the fewest terms. The certificate's id, kind and relation are given; its
 * inputs are set on success and live in the caller's arrays w and theta (room for `most`). `gap`
 * (may be NULL) is positive, in doubles, where a ball evaluation is worth while. */
typedef struct lattice {
    int64_t most;
    int64_t weights;
    const double *weight;
    int64_t phases;
    const szgi_phase *phase;
    double (*gap)(const certificate *c);
} lattice;
SZG_CHECK_RESULT szg_status szgi_lattice_search(claims_run *run, const lattice *space,
                                                certificate *c, double *w, szgi_phase *theta,
                                                bool *found);

/* Encloses a quantity and puts it on record. */
SZG_CHECK_RESULT szg_status szgi_evidence_quantity(claims_run *run, const char *name, quantity q,
                                                   const certificate *c, const char *note);

#endif

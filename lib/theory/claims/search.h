/* Searches for counterexamples: over a lattice of few terms, and uphill. */
#ifndef SZG_THEORY_SEARCH_H
#define SZG_THEORY_SEARCH_H

#include "claim.h"

enum { LATTICE_TERMS = 4 };

/* 0, 1/2, 1, 3/2 times pi. */
extern const szgi_phase szgi_quarter_turns[4];

/* Weights and phases on a small lattice, by number of terms, until a certificate of the rule is
 * established: the first one found has the fewest terms. `gap` (may be NULL) is positive, in
 * doubles, where a ball evaluation is worth while. */
typedef struct lattice {
    int64_t most; /* terms; at most LATTICE_TERMS */
    int64_t weights;
    const double *weight;
    int64_t phases;
    const szgi_phase *phase;
    double (*gap)(const instance *at);
} lattice;

/* `at` points into w and theta: a point is not copied. Where nothing is found, at.n is `most`. */
typedef struct lattice_point {
    instance at;
    double w[LATTICE_TERMS];
    szgi_phase theta[LATTICE_TERMS];
} lattice_point;

SZG_CHECK_RESULT szg_status szgi_lattice_search(claims_run *run, const lattice *space,
                                                const refutation *rule, const char *note,
                                                lattice_point *point, bool *found);

/* A gap that lets through what has e_0 = 1. */
double szgi_gap_unit(const instance *at);

/* An exact angle in doubles. */
double szgi_angle(const szgi_phase *theta);

/* Hill climbing: maximises `value` over a vector of doubles by random steps whose size adapts;
 * returns the best. `x` is start and result. */
typedef struct ascent {
    int64_t count;
    double *x;
    int64_t steps;
    double step; /* first size */
    uint64_t seed;
    uint32_t purpose;
    double (*value)(void *user, const double *x);
    void *user;
} ascent;
SZG_CHECK_RESULT szg_status szgi_ascent_run(szg_context *context, const ascent *a, double *best);

#endif

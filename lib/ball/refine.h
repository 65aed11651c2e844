/* The last digits of an extremum, in ball arithmetic. */
#ifndef SZG_BALL_REFINE_H
#define SZG_BALL_REFINE_H

#include "sieve.h"

/* lower <= max sign (f - mean) <= upper, perturbation apart. */
typedef struct extremum {
    arf_t lower, upper;
    double at;  /* where `lower` is attained, up to rounding; in [0, 2 pi) */
    bool balls; /* false: upper is the sieve's, since the extrema are too many or too flat */
} extremum;

void szgi_extremum_init(extremum *e);
void szgi_extremum_clear(extremum *e);

SZG_CHECK_RESULT szg_status szgi_refine(szg_context *context, const polynomial *p, const grid *g,
                                        const sieve *s, slong bits, extremum *out);

#endif

/* The maximum of sign * (f - mean): cells of the grid that cannot hold it are dropped, derivative
 * by derivative; what is left is cut into intervals that can. */
#ifndef SZG_BALL_SIEVE_H
#define SZG_BALL_SIEVE_H

#include "grid.h"

/* An interval in y = degree t that may hold the maximum; elsewhere in [0, 2 pi degree) it is not.
 */
typedef struct candidate {
    real lo, hi;
} candidate;

enum { CANDIDATES_MAX = 1 << 16 };

typedef struct sieve {
    int sign;
    int64_t cells; /* that survive */
    int64_t *cell; /* their numbers, ascending */
    real *taylor;  /* row of ORDERS_MAX for each: sign F_q / q! */
    real lower;    /* proved lower bound of the maximum, scaled */
    real lower_at; /* y where it is (nearly) attained */
    real upper;    /* proved upper bound, scaled */
    int64_t candidates, room;
    candidate *candidate; /* ascending; incomplete where candidates > CANDIDATES_MAX */
} sieve;

void szgi_sieve_close(sieve *s);

/* Cells that are taken or climbed between two looks for cancellation: milliseconds. */
enum { SIEVE_LOOK = 1 << 12 };

/* Takes the values that szgi_grid_next(g, p) left; p = 0 first. */
SZG_CHECK_RESULT szg_status szgi_sieve_take(szg_context *context, const grid *g, int p, sieve *s);

/* After the last pair: bounds and candidates. */
SZG_CHECK_RESULT szg_status szgi_sieve_finish(szg_context *context, const grid *g, sieve *s);

#endif

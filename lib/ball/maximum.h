/* The maximum of a Taylor polynomial near 0, in ball arithmetic. */
#ifndef SZG_BALL_MAXIMUM_H
#define SZG_BALL_MAXIMUM_H

#include "ball/arb.h"

/* sum_{q < count} a_q s^q + e, |e| <= remainder; count >= 3. */
typedef struct taylor {
    int count;
    arb_srcptr a;
    mag_srcptr remainder;
    slong bits;
} taylor;

/* Raises `upper` to a bound of the maximum over |s| <= radius, a power of two, by branch and bound.
 * Where that is proved to be below `lower`, a value that the maximum of a larger whole is known to
 * reach, it may stay. The search ends when the bound exceeds a value that is attained by no more
 * than max(tolerance, 4 remainder), or with its budget: the bound is then wider, and true. */
void szgi_taylor_raise(const taylor *t, double radius, const arf_t lower, const arf_t tolerance,
                       arf_t upper);

#endif

/* Correlations with an interval: of pairs, and of pairs within groups. */
#ifndef SZG_BASE_CORRELATION_H
#define SZG_BASE_CORRELATION_H

#include "base/context.h"
#include "base/decls.h"

SZGI_BEGIN_DECLS

enum { SZGI_LEAST_FOR_INTERVAL = 4 };

/* A correlation and its 95% interval; NaN: there is none. */
typedef struct szgi_correlation {
    double value, low, high;
} szgi_correlation;

/* Spearman's, with the interval of Fisher's z, its inverse hyperbolic tangent: its variance is
 * (1 + value^2 / 2) / (count - 3) for ranks (Bonett and Wright 2000). No interval: fewer than
 * SZGI_LEAST_FOR_INTERVAL pairs, or ranks that agree or disagree all, of which z is not finite.
 * SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_spearman_interval(szg_context *context, int64_t count,
                                                   const double *x, const double *y,
                                                   szgi_correlation *out);

/* Two numbers, and where they belong. */
typedef struct szgi_grouped {
    double x, y; /* not NaN */
    int64_t group;
    uint64_t block; /* what pairs of several groups share */
} szgi_grouped;

/* What pooled groups come to. Those are counted in which both numbers vary, with their pairs and
 * the different blocks of these. */
typedef struct szgi_pooled {
    szgi_correlation correlation;
    int64_t pairs, groups, blocks;
} szgi_pooled;

/* Pearson's within groups. The pairs of a group stand together. Either number is centred in its
 * group, and divided by the group's standard deviation: else the group that varies most would speak
 * for all. The pooled products are then the mean of the groups' own correlations, each with the
 * weight pairs less 1. A group in which a number does not vary, but for rounding, says nothing.
 *
 * The interval is that of Fisher's z by leaving out a block at a time (the jackknife, Tukey 1958),
 * with Student's t of blocks - 1. Pairs of one block are not independent, and an interval for pairs
 * less groups would be too narrow. No interval: fewer than SZGI_LEAST_FOR_INTERVAL blocks, or a z
 * that is not finite. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_pool_groups(szg_context *context, int64_t count,
                                             const szgi_grouped *pair, szgi_pooled *out);

SZGI_END_DECLS

#endif

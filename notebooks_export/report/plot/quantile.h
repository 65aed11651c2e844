/* The quantiles of a list of numbers, some of which may be zeros that are counted, not listed. */
#ifndef SZG_NOTEBOOKS_EXPORT_QUANTILE_H
#define SZG_NOTEBOOKS_EXPORT_QUANTILE_H

#include "base/context.h"

typedef struct quantiles {
    double *value;  /* [listed], ascending, finite */
    int64_t listed; /* without what was not finite */
    int64_t below;  /* of the listed, those that stand before the zeros */
    int64_t zeros;  /* further values that are 0 */
    int64_t total;  /* listed + zeros */
} quantiles;

/* Sorts a copy of the values; NaN and infinities are left out. zeros >= 0. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_quantiles_of(szg_context *context, int64_t count,
                                              const double *value, int64_t zeros, quantiles *out);
void szgi_quantiles_free(quantiles *quantiles);

/* The value below which a share of all values lies, 0 <= share <= 1; total > 0. */
double szgi_quantiles_at(const quantiles *quantiles, double share);

/* How many of all values lie in [lo, hi], and in *beyond how far the farthest of the others is from
 * it, 0 where there is none. */
int64_t szgi_quantiles_within(const quantiles *quantiles, double lo, double hi, double *beyond);

/* The mean distance between the quantiles of the two lists, the integral of |Q_a(q) - Q_b(q)| over
 * 0 < q < 1: the 1-Wasserstein distance of the two empirical distributions. NaN where one is empty.
 */
double szgi_quantiles_distance(const quantiles *a, const quantiles *b);

enum { QUANTILES_ZEROS = 256 };

/* The curve for a plot: the k-th of all n values over (k + 1/2)/n; of more than QUANTILES_ZEROS
 * zeros so many at equal distances, the first and the last among them. Arrays of *count numbers
 * (szgi_memory_free). SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_quantiles_curve(szg_context *context, const quantiles *quantiles,
                                                 int64_t *count, double **share, double **value);

#endif

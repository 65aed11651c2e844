/* Kernels that nothing turns, by the columns of W_K: docs/explanation/theory.md, "Positional
 * heads".
 */
#ifndef SZG_CHECKPOINT_LAG_COLUMNS_H
#define SZG_CHECKPOINT_LAG_COLUMNS_H

#include "positional.h"

/* A kernel at the lags first .. first + count - 1 is what no sign changes plus the sum over the d
 * columns. */
typedef struct lag_columns {
    int64_t first, count, d;
    double *weight, *kernel; /* [count]; weight: szgi_lag_weights */
    double *still;           /* [count]: what no sign changes */
    double *column;          /* [count, d] */
    double *sum;             /* [count, CHANCE_DRAWS]: room */
} lag_columns;

/* Takes the means over the lags from `still` and from each column, and multiplies by the root of
 * the weight, so that squares of sums are variances. */
void szgi_lag_columns_centre(lag_columns *parts);
/* After that: the variances of all draws. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_lag_columns_draw(szg_context *context, uint64_t seed,
                                                  int64_t layer, const lag_columns *parts,
                                                  double draws[CHANCE_DRAWS]);
/* After that: the mean kernel at the listed lags; with `drawn` between what draws would give, about
 * its mean over the lags. */
void szgi_lag_columns_values(const lag_columns *parts, double mean, bool drawn,
                             head_positional *out);

#endif

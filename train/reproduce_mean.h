/* Mean and standard deviation over runs. */
#ifndef SZG_TRAIN_REPRODUCE_MEAN_H
#define SZG_TRAIN_REPRODUCE_MEAN_H

#include <math.h>

#include "reproduce_private.h"

typedef struct run_mean {
    int64_t count;
    double sum, squares; /* of the distances from the first value */
    double first;
} run_mean;

static inline void mean_take(run_mean *mean, double value) {
    if (mean->count++ == 0)
        mean->first = value;
    mean->sum += value - mean->first;
    mean->squares += (value - mean->first) * (value - mean->first);
}

static inline double mean_of(const run_mean *mean) {
    return mean->count ? mean->first + mean->sum / (double)mean->count : NAN;
}

/* NaN with fewer than two. */
static inline double spread_of(const run_mean *mean) {
    double n = (double)mean->count, left = mean->squares - mean->sum * mean->sum / n;
    return mean->count > 1 ? sqrt(left > 0 ? left / (n - 1) : 0) : NAN;
}

/* Leaves the cell empty where there is no number. */
static inline szg_status set_known(szg_context *context, szg_table *table, const char *column,
                                   double value) {
    return isnan(value) ? SZG_OK : szg_table_set_real(context, table, column, value);
}

#endif

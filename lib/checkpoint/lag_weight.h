/* What a lag counts in every mean and variance over the lags: docs/explanation/theory.md,
 * "Positional heads". */
#ifndef SZG_CHECKPOINT_LAG_WEIGHT_H
#define SZG_CHECKPOINT_LAG_WEIGHT_H

#include <stdint.h>

/* 1 / (1 + |lag|) */
double szgi_lag_weight(int64_t lag);
/* Those of the lags first .. first + count - 1, divided by their sum. */
void szgi_lag_weights(int64_t first, int64_t count, double *out);

typedef struct lag_spread {
    double mean, variance;
} lag_spread;
/* weight: szgi_lag_weights */
lag_spread szgi_lag_spread(int64_t count, const double *weight, const double *value);

#endif

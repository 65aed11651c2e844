/* Mean and standard deviation of numbers that come one by one. */
#ifndef SZG_TRAIN_RUNNING_MEAN_H
#define SZG_TRAIN_RUNNING_MEAN_H

#include <math.h>
#include <stdint.h>

/* Zeroed: no number yet. */
typedef struct running_mean {
    int64_t count;
    double mean, squares; /* squares: of the distances from the mean */
} running_mean;

/* Welford 1962: no term of `squares` is negative, so that nothing cancels where numbers are nearly
 * equal. */
static inline void mean_take(running_mean *mean, double value) {
    double off = value - mean->mean;
    mean->mean += off / (double)++mean->count;
    mean->squares += off * (value - mean->mean);
}

/* NaN without a number. */
static inline double mean_of(const running_mean *mean) {
    return mean->count ? mean->mean : NAN;
}

/* Of a sample; NaN with fewer than two numbers. */
static inline double spread_of(const running_mean *mean) {
    return mean->count > 1 ? sqrt(mean->squares / (double)(mean->count - 1)) : NAN;
}

#endif

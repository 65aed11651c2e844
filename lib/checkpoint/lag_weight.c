#include "lag_weight.h"

#include <math.h>

double szgi_lag_weight(int64_t lag) {
    return 1 / (1 + fabs((double)lag));
}

void szgi_lag_weights(int64_t first, int64_t count, double *out) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += out[i] = szgi_lag_weight(first + i);
    for (int64_t i = 0; i < count; i++)
        out[i] /= sum;
}

lag_spread szgi_lag_spread(int64_t count, const double *weight, const double *value) {
    lag_spread out = {0};
    for (int64_t i = 0; i < count; i++)
        out.mean += weight[i] * value[i];
    for (int64_t i = 0; i < count; i++)
        out.variance += weight[i] * (value[i] - out.mean) * (value[i] - out.mean);
    return out;
}

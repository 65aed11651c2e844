#include <math.h>

#include "toeplitz_private.h"

double szgi_unit_scale(double largest) {
    if (!(largest > 0) || !isfinite(largest))
        return 1;
    return ldexp(1, -ilogb(largest) > 1022 ? 1022 : -ilogb(largest));
}

double szgi_norm(int64_t count, const double *x) {
    double largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(x[i]));
    if (largest == 0 || !isfinite(largest))
        return largest;
    double scale = szgi_unit_scale(largest), sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * scale * (x[i] * scale);
    return sqrt(sum) / scale;
}

static double add_lanes(const double lanes[8]) {
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
           ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

double szgi_dot(int64_t count, const double *x, const double *y) {
    double lanes[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (int j = 0; j < 8; j++)
            lanes[j] += x[i + j] * y[i + j];
    for (int j = 0; i < count; i++, j++)
        lanes[j] += x[i] * y[i];
    return add_lanes(lanes);
}

double szgi_sum(int64_t count, const double *x) {
    double lanes[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (int j = 0; j < 8; j++)
            lanes[j] += x[i + j];
    for (int j = 0; i < count; i++, j++)
        lanes[j] += x[i];
    return add_lanes(lanes);
}

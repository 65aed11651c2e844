#include <math.h>

#include "density.h"

double szgi_density_quantile(int64_t count, const double *ascending, double at) {
    double place = at * (double)(count - 1);
    int64_t below = (int64_t)place;
    if (below >= count - 1)
        return ascending[count - 1];
    double part = place - (double)below;
    return ascending[below] * (1 - part) + ascending[below + 1] * part;
}

double szgi_density_bandwidth(int64_t count, const double *ascending) {
    if (count < 2 || ascending[0] == ascending[count - 1])
        return 0;
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < count; i++)
        mean += ascending[i] / (double)count;
    for (int64_t i = 0; i < count; i++)
        squares += (ascending[i] - mean) * (ascending[i] - mean);
    double deviation = sqrt(squares / (double)(count - 1));
    double quartiles = szgi_density_quantile(count, ascending, 0.75) -
                       szgi_density_quantile(count, ascending, 0.25);
    double spread = quartiles > 0 ? fmin(deviation, quartiles / 1.34) : deviation;
    return 0.9 * spread * pow((double)count, -0.2);
}

/* The part of the kernels' mass that lies between the ends. */
static double mass_inside(int64_t count, const double *value, double bandwidth) {
    double scale = 1 / (bandwidth * sqrt(2)), mass = 0;
    for (int64_t i = 0; i < count; i++)
        mass +=
            0.5 * (erf((value[count - 1] - value[i]) * scale) - erf((value[0] - value[i]) * scale));
    return mass / (double)count;
}

szg_status szgi_density_estimate(szg_context *context, int64_t count, const double *ascending,
                                 double bandwidth, int64_t points, double *at, double *density) {
    double lo = ascending[0], hi = ascending[count - 1];
    double height = 1 / (mass_inside(count, ascending, bandwidth) * (double)count * bandwidth *
                         sqrt(8 * atan(1)));
    for (int64_t p = 0; p < points; p++) {
        SZG_TRY(szgi_context_check_cancel(context));
        double part = (double)p / (double)(points - 1);
        at[p] = p == points - 1 ? hi : lo + part * (hi - lo);
        double sum = 0;
        for (int64_t i = 0; i < count; i++) {
            double away = (at[p] - ascending[i]) / bandwidth;
            sum += away * away < 80 ? exp(-0.5 * away * away) : 0;
        }
        density[p] = height * sum;
    }
    return SZG_OK;
}

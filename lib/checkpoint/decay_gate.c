#include "decay_gate.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"

const double szgi_typical_chance[TYPICAL] = {0.01, 0.5, 0.99};

static double softplus(double g) {
    return g > 0 ? g + log1p(exp(-g)) : log1p(exp(g));
}

static double sigmoid(double x) {
    return x > 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

/* ---- What it may be ---- */

double szgi_gate_reach(double radius, double shifts, double inner, int64_t size, double unit) {
    const double single = 0x1p-24;
    double summed = (2 * (double)size + 32) * single, rounded = pow(1 + unit, 6) - 1;
    double reach = radius * (1 + rounded) * (1 + summed) + inner * 2 * (rounded + summed);
    return (reach + 3 * unit * (shifts + reach)) * (1 + 0x1p-40);
}

/* Below it exp is 0, or has few digits, in single precision. */
static const double underflow = -87;

decay_range szgi_gate_range(const gate_rule *rule, int64_t count, const gate_channel *channel) {
    double low = INFINITY, high = -INFINITY, relative = 4 * rule->unit + 0x1p-20;
    double lost = (rule->sums ? 0x1.004p-24 : 0) + (rule->unit == 0x1p-11 ? 0x1p-24 : 0);
    for (int64_t i = 0; i < count; i++) {
        low = fmin(low, channel[i].shift - channel[i].reach);
        high = fmax(high, channel[i].shift + channel[i].reach);
    }
    if (rule->bounded) {
        low = rule->rate * low - 4 * rule->unit * fabs(rule->rate * low);
        high = rule->rate * high + 4 * rule->unit * fabs(rule->rate * high);
    }
    double near = rule->bounded ? sigmoid(low) : softplus(low);
    double far = rule->bounded ? sigmoid(high) : softplus(high);
    near = low < underflow ? 0 : fmax(0, near * (1 - relative) - lost);
    far = fmax(far, high < underflow ? 0x1p-125 : 0) * (1 + relative) + lost;
    if (rule->bounded)
        return (decay_range){rule->bound * fmin(far, 1), rule->bound * near};
    /* One token at a time the model does not clamp. */
    near = fmin(near, rule->most);
    far = fmax(far, rule->least);
    return (decay_range){-rule->rate * far, -rule->rate * near};
}

/* ---- What it typically is ---- */

/* cos^(size - 2), the density by the angle. */
static double density(int64_t size, double angle) {
    double c = cos(angle);
    return size == 2 ? 1 : c > 0 ? exp((double)(size - 2) * log(c)) : 0;
}

/* Simpson's rule on each interval. Beyond ten standard deviations there is less than 10^-20. */
szg_status szgi_sphere_open(szg_context *context, int64_t size, sphere_law *law) {
    double most = 10 / sqrt((double)size), quarter = acos(0);
    *law = (sphere_law){.size = size, .step = fmin(most, quarter) / (SPHERE_POINTS - 1)};
    SZG_TRY(szgi_memory_alloc(context, SPHERE_POINTS, &law->chance));
    for (int64_t i = 1; i < SPHERE_POINTS; i++) {
        double at = (double)i * law->step;
        law->chance[i] = law->chance[i - 1] + density(size, at - law->step) +
                         4 * density(size, at - law->step / 2) + density(size, at);
    }
    double whole = law->chance[SPHERE_POINTS - 1];
    for (int64_t i = 1; i < SPHERE_POINTS; i++)
        law->chance[i] /= 2 * whole;
    return SZG_OK;
}

double szgi_sphere_chance(const sphere_law *law, double x) {
    double place = asin(fmin(1, fabs(x))) / law->step;
    int64_t i = (int64_t)fmin(place, SPHERE_POINTS - 2);
    double part = fmin(1, place - (double)i);
    double chance = law->chance[i] + part * (law->chance[i + 1] - law->chance[i]);
    return x < 0 ? 0.5 - chance : 0.5 + chance;
}

/* The chance that the argument is at most g. */
static double argument_chance(const sphere_law *law, int64_t count, const gate_channel *channel,
                              double g) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double beyond = g - channel[i].shift;
        sum += channel[i].radius > 0 && fabs(beyond) < channel[i].radius
                   ? szgi_sphere_chance(law, beyond / channel[i].radius)
                   : beyond >= 0;
    }
    return sum / (double)count;
}

static double argument_quantile(const sphere_law *law, int64_t count, const gate_channel *channel,
                                double chance) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        low = fmin(low, channel[i].shift - channel[i].radius);
        high = fmax(high, channel[i].shift + channel[i].radius);
    }
    for (int i = 0; i < 64; i++) {
        double middle = low + (high - low) / 2;
        if (argument_chance(law, count, channel, middle) < chance)
            low = middle;
        else
            high = middle;
    }
    return high;
}

void szgi_gate_typical(const gate_rule *rule, const sphere_law *law, int64_t count,
                       const gate_channel *channel, double out[TYPICAL]) {
    for (int i = 0; i < TYPICAL; i++) {
        double g = argument_quantile(law, count, channel, 1 - szgi_typical_chance[i]);
        out[i] = rule->bounded ? rule->bound * sigmoid(rule->rate * g)
                               : -rule->rate * fmin(fmax(softplus(g), rule->least), rule->most);
    }
}

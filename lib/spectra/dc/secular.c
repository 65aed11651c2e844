#include <float.h>
#include <math.h>

#include "kernels.h"
#include "update.h"

/* Each step costs O(n), so it must be a good one: the sums left and right of the root are modelled
 * by one pole each. Bisection takes over wherever a step leaves the bracket. */
typedef struct search {
    const szgi_dc_secular *f;
    int64_t j;
    const double *d, *zz;
    double base, tau, low, high; /* the root's distance from base lies in [low, high] */
    double left, left_slope, right, right_slope; /* the sums over i <= j and i > j at tau */
} search;

enum { MOST_STEPS = 200 };

static double evaluate(search *s, int64_t split) {
    double near[2], far[4] = {0};
    const szgi_dc_block *block = s->f->block;
    int64_t low = block->low;
    if (s->f->far)
        szgi_dc_interpolate(((s->base - block->centre) + s->tau) / block->radius, s->f->far, far);
    szgi_dc_secular_sums(split - low, s->d + low, s->zz + low, s->base, s->tau, near);
    s->left = far[0] + near[0], s->left_slope = far[1] + near[1];
    szgi_dc_secular_sums(block->high - split, s->d + split, s->zz + split, s->base, s->tau, near);
    s->right = far[2] + near[0], s->right_slope = far[3] + near[1];
    return 1 + s->left + s->right;
}

/* Is the value at tau no more than its rounding error? */
static bool settled(const search *s, double value) {
    double slope = s->left_slope + s->right_slope;
    double error = 2 + 4 * (fabs(s->left) + fabs(s->right)) + fabs(s->tau) * slope;
    return fabs(value) <= DBL_EPSILON * error;
}

/* Moves tau by the step, or bisects; true when the next step could not change tau any more: the
 * convergence is quadratic in step / tau. */
static bool move(search *s, double value, double step) {
    if (value < 0)
        s->low = s->tau;
    else
        s->high = s->tau;
    double next = s->tau + step;
    bool inside = next > s->low && next < s->high;
    if (!inside)
        next = s->low + (s->high - s->low) / 2;
    bool last = (inside && fabs(step) <= 3e-9 * fabs(next)) || next == s->low || next == s->high;
    s->tau = next;
    return last;
}

/* A root eta of the two-pole model c - a eta + ... : the branch without cancellation. */
static double interior_step(const search *s, double value) {
    double slope = s->left_slope + s->right_slope, gap = s->d[s->j + 1] - s->d[s->j];
    double x = (s->d[s->j] - s->base) - s->tau, y = (s->d[s->j + 1] - s->base) - s->tau, c;
    if (s->base == s->d[s->j])
        c = value - y * slope + gap * (s->zz[s->j] / x) / x;
    else
        c = value - x * slope - gap * (s->zz[s->j + 1] / y) / y;
    double a = (x + y) * value - x * y * slope, b = x * y * value;
    double root = sqrt(fabs(a * a - 4 * b * c));
    double step = a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
    return value * step < 0 ? step : -value / slope;
}

/* Starts from the root of the two nearest poles plus the rest at the middle of the interval. */
static void start_interior(search *s) {
    double lower = s->d[s->j], upper = s->d[s->j + 1], gap = upper - lower;
    double p = s->zz[s->j], q = s->zz[s->j + 1];
    s->base = lower, s->tau = gap / 2;
    double value = evaluate(s, s->j + 1);
    double c = value + p / s->tau - q / (gap - s->tau);
    if (value > 0) {
        double a = c * gap + p + q, b = p * gap, root = sqrt(fabs(a * a - 4 * b * c));
        s->low = 0, s->high = gap / 2;
        s->tau = a > 0 ? 2 * b / (a + root) : (a - root) / (2 * c);
    } else {
        double a = c * gap - p - q, b = q * gap, root = sqrt(fabs(a * a + 4 * b * c));
        s->base = upper, s->low = -gap / 2, s->high = 0;
        s->tau = a < 0 ? 2 * b / (a - root) : -(a + root) / (2 * c);
    }
    if (!(s->tau > s->low && s->tau < s->high))
        s->tau = s->low + (s->high - s->low) / 2;
}

/* The last root has no pole on its right: the model takes the two poles on its left. */
static double last_step(const search *s, double value) {
    double x = (s->d[s->f->n - 2] - s->base) - s->tau, y = -s->tau;
    double slope = s->left_slope + s->right_slope;
    double c = fabs(value - x * s->left_slope - y * s->right_slope);
    double a = (x + y) * value - x * y * slope, b = x * y * value;
    double root = sqrt(fabs(a * a - 4 * b * c));
    double step = a >= 0 ? (a + root) / (2 * c) : 2 * b / (a - root);
    return value * step < 0 ? step : -value / slope;
}

void szgi_dc_secular_root(const szgi_dc_secular *f, int64_t j, double *base, double *tau) {
    search s = {.f = f, .j = j, .d = f->d, .zz = f->zz};
    int64_t n = f->n;
    bool last = j == n - 1;
    if (last) {
        s.base = f->d[n - 1], s.low = 0, s.high = f->zz_total, s.tau = f->zz_total;
        if (n > 1)
            s.tau = f->zz_total / 2;
    } else {
        start_interior(&s);
    }
    for (int step = 0; step < MOST_STEPS && n > 1; step++) {
        double value = evaluate(&s, last ? n - 1 : j + 1);
        if (settled(&s, value) ||
            move(&s, value, last ? last_step(&s, value) : interior_step(&s, value)))
            break;
    }
    *base = s.base;
    *tau = s.tau;
}

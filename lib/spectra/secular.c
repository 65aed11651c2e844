#include "spectra_private.h"

enum { STEPS_MAX = 200 };

/* A Newton step that leaves the bracket, or is not a number, is replaced by bisection. The bracket
 * shrinks with every step, so the loop ends: at worst at adjacent doubles. */
double szgi_secular_root(const szgi_secular *equation, double lo, double hi, double *last_step) {
    double t = lo + (hi - lo) / 2, f, slope, step = 0;
    for (int i = 0; i < STEPS_MAX; i++) {
        equation->value(equation, t, &f, &slope);
        if (f < 0)
            lo = t;
        else
            hi = t;
        double next = t - f / slope;
        if (!(next >= lo && next <= hi))
            next = lo + (hi - lo) / 2;
        step = fabs(next - t);
        t = next;
        if (step <= 4 * DBL_EPSILON * fabs(t))
            break;
    }
    *last_step = step;
    return t;
}

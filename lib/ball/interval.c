#include <math.h>

#include "ball/arb.h"

double szgi_upper_double(const arf_t x) {
    return arf_get_d(x, ARF_RND_CEIL);
}

double szgi_lower_double(const arf_t x) {
    return arf_get_d(x, ARF_RND_FLOOR);
}

szg_interval szgi_interval_of(const arb_t x) {
    if (!arb_is_finite(x))
        return (szg_interval){-INFINITY, INFINITY};
    arf_t end;
    arf_init(end);
    szg_interval out;
    arb_get_lbound_arf(end, x, 128);
    out.lo = szgi_lower_double(end);
    arb_get_ubound_arf(end, x, 128);
    out.hi = szgi_upper_double(end);
    arf_clear(end);
    return out;
}

/* Rounding to nearest is off by less than one step, so the neighbour is a bound. */
static double below(double x) {
    return nextafter(x, -INFINITY);
}

static double above(double x) {
    return nextafter(x, INFINITY);
}

static szg_interval outwards(double lo, double hi) {
    if (!(lo <= hi))
        return (szg_interval){-INFINITY, INFINITY};
    return (szg_interval){below(lo), above(hi)};
}

szg_interval szgi_interval_add(szg_interval a, szg_interval b) {
    return outwards(a.lo + b.lo, a.hi + b.hi);
}

szg_interval szgi_interval_subtract(szg_interval a, szg_interval b) {
    return outwards(a.lo - b.hi, a.hi - b.lo);
}

szg_interval szgi_interval_multiply(szg_interval a, szg_interval b) {
    const double product[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    double lo = product[0], hi = product[0];
    for (int i = 0; i < 4; i++) {
        if (isnan(product[i]))
            return (szg_interval){-INFINITY, INFINITY};
        lo = fmin(lo, product[i]);
        hi = fmax(hi, product[i]);
    }
    return outwards(lo, hi);
}

int szgi_interval_compare(szg_interval a, szg_interval b) {
    return a.hi < b.lo ? -1 : a.lo > b.hi ? 1 : 0;
}

szg_interval szgi_range_modulus(const szg_range *range) {
    const szg_interval low = {-range->min.hi, -range->min.lo}, high = range->max;
    szg_interval out = {fmax(fmax(low.lo, high.lo), 0), fmax(low.hi, high.hi)};
    return out;
}

szg_interval szgi_range_width(const szg_range *range) {
    szg_interval out = szgi_interval_subtract(range->max, range->min);
    out.lo = fmax(out.lo, 0);
    return out;
}

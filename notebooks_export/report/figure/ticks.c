#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ticks.h"

static double within(double value, double limit) {
    return value < -limit ? -limit : value > limit ? limit : value;
}

/* Zero alone stands between -1 and 1. Ten digits in a tick are enough, and a step of less than
 * 1e-300 has no reciprocal. */
static void widen(double *lo, double *hi) {
    double size = fmax(fabs(*lo), fabs(*hi));
    if (size == 0) {
        *lo = -1;
        *hi = 1;
    } else if (size < 1e-300) {
        *lo = -1e-300;
        *hi = 1e-300;
    } else if (*hi / 2 - *lo / 2 < 1e-9 * size) {
        double pad = *lo == *hi ? 0.1 * size : 1e-9 * size;
        *lo -= fmin(pad, DBL_MAX + *lo);
        *hi += fmin(pad, DBL_MAX - *hi);
    }
}

scale szgi_scale_of(bool logarithmic, double lo, double hi, double margin) {
    scale out = {.logarithmic = logarithmic, .lo = lo, .hi = hi};
    if (!(lo <= hi) || !isfinite(lo) || !isfinite(hi) || (logarithmic && lo <= 0)) {
        out.lo = 0;
        out.hi = 1;
        return out;
    }
    if (logarithmic) {
        out.lo = log10(lo);
        out.hi = log10(hi);
        if (out.hi - out.lo < 1e-9) {
            out.lo -= 0.5;
            out.hi += 0.5;
        }
        margin *= out.hi - out.lo;
        out.lo -= margin;
        out.hi += margin;
        return out;
    }
    widen(&out.lo, &out.hi);
    double pad = 2 * margin * (out.hi / 2 - out.lo / 2);
    out.lo = within(out.lo - fmin(pad, DBL_MAX + out.lo), DBL_MAX);
    out.hi = within(out.hi + fmin(pad, DBL_MAX - out.hi), DBL_MAX);
    return out;
}

scale szgi_scale_two_sided(double linear, double lo, double hi, double margin) {
    scale out = {.linear = linear};
    bool known = lo <= hi && isfinite(lo) && isfinite(hi);
    scale units = szgi_scale_of(false, szgi_scale_units(&out, known ? lo : -linear),
                                szgi_scale_units(&out, known ? hi : linear), margin);
    out.lo = units.lo;
    out.hi = units.hi;
    return out;
}

double szgi_scale_units(const scale *scale, double value) {
    if (scale->linear > 0)
        return copysign(log10(1 + fmin(fabs(value) / scale->linear, DBL_MAX)), value);
    return scale->logarithmic ? log10(value) : value;
}

/* Halves: hi - lo may be too large for a number. */
double szgi_scale_fraction(const scale *scale, double value) {
    value = szgi_scale_units(scale, value);
    double fraction = (value / 2 - scale->lo / 2) / (scale->hi / 2 - scale->lo / 2);
    return within(fraction, 1e6);
}

void szgi_ticks_text(long long number, int exponent, char text[TICK_TEXT]) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", llabs(number));
    int magnitude = length - 1 + exponent;
    const char *sign = number < 0 ? "-" : "";
    if (number == 0) {
        strcpy(text, "0");
    } else if (magnitude < -4 || magnitude > 6) {
        while (length > 1 && digits[length - 1] == '0')
            digits[--length] = 0;
        snprintf(text, TICK_TEXT, "%s%c%s%se%d", sign, digits[0], length > 1 ? "." : "", digits + 1,
                 magnitude);
    } else if (exponent >= 0) {
        snprintf(text, TICK_TEXT, "%s%s%.*s", sign, digits, exponent, "000000");
    } else {
        int before = length + exponent; /* digits before the point */
        snprintf(text, TICK_TEXT, "%s%.*s%s.%.*s%s", sign, before > 0 ? before : 0, digits,
                 before > 0 ? "" : "0", before < 0 ? -before : 0, "000000",
                 digits + (before > 0 ? before : 0));
    }
}

static double power(long long number, int exponent) {
    return exponent < 0 ? (double)number / pow(10, -exponent) : (double)number * pow(10, exponent);
}

static void add(ticks *out, double at, long long number, int exponent) {
    if (out->count == TICKS_MAX || !(at >= -1e-9) || !(at <= 1 + 1e-9))
        return;
    tick *next = &out->tick[out->count++];
    next->at = fmin(fmax(at, 0), 1);
    szgi_ticks_text(number, exponent, next->text);
}

/* Ticks at multiples of a nice number; their places are whole numbers until the last step. */
static void place_multiples(const scale *scale, double lo, double hi, int wanted, bool whole,
                            ticks *out) {
    double step = 2 * ((hi / 2 - lo / 2) / wanted);
    int exponent = (int)floor(log10(step));
    if (whole && exponent < 0)
        exponent = 0;
    long long nice = 1;
    if (power(1, exponent) < step)
        nice = power(2, exponent) >= step ? 2 : power(5, exponent) >= step ? 5 : 10;
    if (nice == 10) { /* 1, 2 and not 1.0, 2.0 */
        nice = 1;
        exponent++;
    }
    step = power(nice, exponent);
    for (double k = ceil(lo / step - 1e-9); k <= hi / step + 1e-9; k++)
        add(out, szgi_scale_fraction(scale, k * step), (long long)k * nice, exponent);
}

/* "10⁻⁷" */
static void power_text(int exponent, char text[TICK_TEXT]) {
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char digits[TICK_TEXT];
    snprintf(digits, sizeof digits, "%d", abs(exponent));
    strcpy(text, exponent < 0 ? "10⁻" : "10");
    for (const char *digit = digits; *digit; digit++)
        strcat(text, raised[*digit - '0']);
}

static void place_powers(const scale *scale, int wanted, ticks *out) {
    double span = scale->hi - scale->lo;
    int step = (int)ceil(span / wanted);
    bool between = span <= 3, small = scale->lo > -4.1 && scale->hi < 5.1;
    for (int k = (int)floor(scale->lo); k <= scale->hi + 1e-9; k++) {
        if (k % step)
            continue;
        int before = out->count;
        add(out, (k - scale->lo) / span, 1, k);
        if (out->count > before && !small)
            power_text(k, out->tick[before].text);
        for (int digit = 2; between && digit <= 5; digit += 3)
            add(out, (k + log10(digit) - scale->lo) / span, digit, k);
    }
}

/* The power of ten, times the sign, where the scale has it. */
static void add_power(const scale *scale, int sign, int exponent, ticks *out) {
    int before = out->count;
    add(out, szgi_scale_fraction(scale, sign * pow(10, exponent)), sign, exponent);
    if (out->count > before && (exponent < -3 || exponent > 4)) {
        char *text = out->tick[before].text;
        if (sign < 0)
            *text++ = '-';
        power_text(exponent, text);
    }
}

/* Zero, and powers of ten on both sides of it, from the least to the greatest. */
static void place_two_sided(const scale *scale, int wanted, ticks *out) {
    double most = fmax(fabs(scale->lo), fabs(scale->hi)) + log10(scale->linear);
    int first = (int)ceil(log10(scale->linear) - 1e-9), last = (int)floor(fmin(most, 308) + 1e-9);
    double sides = (scale->hi - scale->lo) / fmax(fabs(scale->lo), fabs(scale->hi));
    int step = (int)fmax(ceil((last - first + 1) * sides / wanted), 1);
    for (int k = last - (last - first) % step; k >= first; k -= step)
        add_power(scale, -1, k, out);
    add(out, szgi_scale_fraction(scale, 0), 0, 0);
    for (int k = first; k <= last; k += step)
        add_power(scale, 1, k, out);
}

static void place(const scale *scale, int wanted, bool whole, ticks *out) {
    out->count = 0;
    if (scale->linear > 0)
        place_two_sided(scale, wanted, out);
    else if (!scale->logarithmic)
        place_multiples(scale, scale->lo, scale->hi, wanted, whole, out);
    else if (scale->hi - scale->lo < 0.8 && scale->hi < 300 && scale->lo > -300)
        /* 1, 2, 5 are too few. */
        place_multiples(scale, pow(10, scale->lo), pow(10, scale->hi), wanted + wanted / 2, false,
                        out);
    else
        place_powers(scale, wanted, out);
}

/* One tick tells no scale: then twice as many are asked for. */
void szgi_ticks_place(const scale *scale, int wanted, bool whole, ticks *out) {
    place(scale, wanted, whole, out);
    if (out->count < 2 && !whole)
        place(scale, 2 * wanted, whole, out);
}

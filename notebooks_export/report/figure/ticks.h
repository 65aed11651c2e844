/* Where an axis has ticks, and what they say. */
#ifndef SZG_NOTEBOOKS_EXPORT_TICKS_H
#define SZG_NOTEBOOKS_EXPORT_TICKS_H

#include <stdbool.h>

/* A range that is drawn: finite, lo < hi; of logarithms to base ten where `logarithmic`, of
 * sign(v) log10(1 + |v| / linear) where linear > 0 (Webber 2013, equation 1): logarithmic on both
 * sides of 0, and nearly linear below that size. */
typedef struct scale {
    bool logarithmic;
    double lo, hi;
    double linear;
} scale;

/* The scale that shows every number from lo to hi (positive where logarithmic), widened where the
 * two are so near to each other that ticks could not be told apart. Not finite or lo > hi: one that
 * shows 0 to 1, or 1 to 10; 0 alone: -1 to 1. `margin`: the part of the range that is added at each
 * end. */
scale szgi_scale_of(bool logarithmic, double lo, double hi, double margin);

/* The same for a scale that is logarithmic on both sides of 0; 0 < linear is finite. */
scale szgi_scale_two_sided(double linear, double lo, double hi, double margin);

/* A number in the units of the scale's ends. */
double szgi_scale_units(const scale *scale, double value);

/* Where a number stands: 0 at lo, 1 at hi; beyond them outside of 0 and 1, but finite. */
double szgi_scale_fraction(const scale *scale, double value);

enum { TICKS_MAX = 32, TICK_TEXT = 48 };

typedef struct tick {
    double at; /* a fraction, from 0 to 1 */
    char text[TICK_TEXT];
} tick;

typedef struct ticks {
    int count;
    tick tick[TICKS_MAX];
} ticks;

/* About `wanted` (4 to 24) ticks at 1, 2 or 5 times a power of ten; powers of ten where a
 * logarithmic scale is long. Steps of 1 at least where `whole`. */
void szgi_ticks_place(const scale *scale, int wanted, bool whole, ticks *out);

/* number * 10^exponent as text, exactly; far from one as 1.5e-7, or as 10⁻⁷ where `power`. */
void szgi_ticks_text(long long number, int exponent, char text[TICK_TEXT]);

#endif

/* Numbers as colours. The colours of series are in assets/figure.css: they differ by theme. */
#ifndef SZG_NOTEBOOKS_EXPORT_COLOUR_H
#define SZG_NOTEBOOKS_EXPORT_COLOUR_H

#include <stdint.h>
#include <stdbool.h>

/* The colour 0xRRGGBB at a fraction from 0 to 1, on a map whose lightness only rises: viridis (van
 * der Walt and Smith 2015, in matplotlib), by ten points of it. NaN is taken for 0. */
uint32_t szgi_colour_sequential(double fraction);

/* On a map that is lightest at one half, blue below and red above: RdBu of ColorBrewer (Harrower
 * and Brewer 2003), turned round. */
uint32_t szgi_colour_diverging(double fraction);

/* Relative luminance (WCAG 2.1), 0 for black to 1 for white. */
double szgi_colour_luminance(uint32_t colour);

/* Whether black is read better than white on it. */
bool szgi_colour_is_light(uint32_t colour);

#endif

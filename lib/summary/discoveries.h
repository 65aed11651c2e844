/* Which of several p-values are more than chance. */
#ifndef SZG_SUMMARY_DISCOVERIES_H
#define SZG_SUMMARY_DISCOVERIES_H

#include <stdint.h>

/* Of each p-value alone, and of false ones among those that are kept. */
#define SZGI_LEVEL 0.05

/* Benjamini and Hochberg 1995: p-values up to the limit are kept, of which at most 5% are expected
 * to be false. Of m p-values in ascending order it is the last one with p_i <= 0.05 i / m; -1: none
 * is kept. NaN stands for no p-value. p is sorted. */
double szgi_discoveries_limit(int64_t count, double *p);

#endif

/* What the files that draw accuracy by epoch share. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_CURVES_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_CURVES_H

#include "band.h"
#include "short.h"
#include "words.h"

/* The encodings of one figure. */
typedef struct series {
    rows of;
    char name[SHORT_TEXT];
    band test, train;
} series;

typedef struct curves {
    rows of;
    const char *quantity; /* accuracy or loss */
    series *one;
    int64_t count;
    double ceiling; /* NaN: not known */
} curves;

/* Prints the caption of the figure, a `curves`. */
void szgi_curves_caption(words *words, const void *of);

#endif

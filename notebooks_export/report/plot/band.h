/* Means over seeds or probes, with the least and the greatest. */
#ifndef SZG_NOTEBOOKS_EXPORT_SECTIONS_BAND_H
#define SZG_NOTEBOOKS_EXPORT_SECTIONS_BAND_H

#include "base/context.h"

#include "groups.h"

/* The values of one column for each value of another, ascending. */
typedef struct band {
    int64_t count;
    double *x, *mean, *lo, *hi;
    int64_t least, most; /* values at one x */
} band;

/* Rows where either is missing, NaN or infinite do not count. One block holds the four arrays:
 * free x with szgi_memory_free. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_band_open(szg_context *context, rows of, const char *x,
                                           const char *y, band *out);

#endif

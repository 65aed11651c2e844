/* What a figure takes from its data: the scale of an axis, and which series stand out. */
#ifndef SZG_NOTEBOOKS_EXPORT_PLOT_CHOOSE_H
#define SZG_NOTEBOOKS_EXPORT_PLOT_CHOOSE_H

#include "base/context.h"

typedef struct chosen_scale {
    bool logarithmic;
    double linear; /* > 0: logarithmic on both sides of 0, nearly linear below this size */
} chosen_scale;

/* Linear where no value is more than 100 times the median size of those that are not 0;
 * otherwise logarithmic where all are positive, else on both sides of 0, from the power of ten
 * below that median on. NaN and infinities do not count. The notebook chooses by the same rule
 * (export/cells/load.py, bent). SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_choose_scale(szg_context *context, int64_t count,
                                              const double *value, chosen_scale *out);

/* Which values stand out: those whose modified z-score, 0.6745 |v - median| / MAD, is above 3.5
 * (Iglewicz and Hoaglin 1993, chapter 4; by the mean deviation, 0.7979 |v - median| / mean, where
 * the MAD is 0), at most `most`, the farthest first: rank[i] is 0, 1, ... or -1 for all others.
 * Of fewer than five finite values none stands out. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_choose_outliers(szg_context *context, int64_t count,
                                                 const double *value, int most, int *rank);

#endif

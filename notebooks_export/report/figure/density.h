/* The density of some values, smoothed. */
#ifndef SZG_NOTEBOOKS_EXPORT_DENSITY_H
#define SZG_NOTEBOOKS_EXPORT_DENSITY_H

#include "base/context.h"

/* 0.9 min(s, IQR / 1.34) n^(-1/5) of ascending values (Silverman 1986, equation 3.31); s alone
 * where the quartiles are equal; 0 where all values are. */
double szgi_density_bandwidth(int64_t count, const double *ascending);

/* The quantile of ascending values at 0 <= at <= 1, linear between neighbours (Hyndman and Fan
 * 1996, definition 7). */
double szgi_density_quantile(int64_t count, const double *ascending, double at);

/* The density at `points` >= 2 places from the least value to the greatest: a Gaussian kernel of
 * this bandwidth > 0, cut at the ends and scaled so that its integral between them is one. The
 * values are ascending, finite, count >= 1, and not all equal. SZG_ECANCEL. */
SZG_CHECK_RESULT szg_status szgi_density_estimate(szg_context *context, int64_t count,
                                                  const double *ascending, double bandwidth,
                                                  int64_t points, double *at, double *density);

#endif

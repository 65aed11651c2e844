/* Fewer points than there are data, where a figure has fewer pixels. */
#ifndef SZG_NOTEBOOKS_EXPORT_THIN_H
#define SZG_NOTEBOOKS_EXPORT_THIN_H

#include "base/context.h"

/* The points of a line that are drawn, by ascending index; *keep is freed with szgi_memory_free.
 * Points are cut into `columns` runs: columns of equal width in x where x only rises or only falls,
 * else stretches of equal length. Each run keeps its first and last point, its lowest `low` and its
 * highest `high`; without an order in x, its least and greatest x too. The first of equals is kept.
 * A point with a NaN or an infinite coordinate is no point, but where such stand between two kept
 * points, one of them is kept as well: the line breaks there. Up to 4 * columns points are all
 * kept. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_thin_line(szg_context *context, int64_t count, const double *x,
                                           const double *low, const double *high, int64_t columns,
                                           int64_t **keep, int64_t *kept);

/* At most `limit` (16 or more) points of a cloud, by ascending index: the first point of each cell
 * of a grid, as fine as the limit allows, and the four extreme points. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_thin_points(szg_context *context, int64_t count, const double *x,
                                             const double *y, int64_t limit, int64_t **keep,
                                             int64_t *kept);

#endif

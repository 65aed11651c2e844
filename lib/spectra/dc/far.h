/* Which poles are near a block of neighbouring roots, and what the far ones add by interpolation.
 */
#ifndef SZG_SPECTRA_DC_FAR_H
#define SZG_SPECTRA_DC_FAR_H

#include "kernels.h"

/* Roots first .. first + count - 1 of a secular equation, and the poles of the same indices, lie
 * within `radius` of `centre`. Poles outside low .. high - 1 are two radii away or more: their
 * sums vary so little over the block that their values at SZGI_DC_NODES points give them to the
 * last bit (docs/explanation/methods.md). */
typedef struct szgi_dc_block {
    int64_t first, count, low, high;
    double centre, radius;
} szgi_dc_block;

typedef struct szgi_dc_plan {
    int64_t count;
    szgi_dc_block *blocks;
} szgi_dc_plan;

/* The blocks of n roots between the poles, strictly ascending; the last root is at most `beyond`
 * above the last pole. A near pole costs `near` times as much at a root as a far one at a node: the
 * blocks are the best of those that halving makes. SZG_ENOMEM. */
SZG_CHECK_RESULT szg_status szgi_dc_plan_open(szg_context *context, int64_t n, const double *pole,
                                              double beyond, double near, szgi_dc_plan *plan);
void szgi_dc_plan_close(szgi_dc_plan *plan);

/* Does anything lie far from the block? */
static inline bool szgi_dc_has_far(const szgi_dc_block *block, int64_t n) {
    return block->high - block->low < n;
}

#endif

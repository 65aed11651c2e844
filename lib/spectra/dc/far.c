#include <math.h>

#include "base/memory.h"
#include "far.h"

/* Ratio of a pole's distance to the radius. The kernel 1/(pole - x) is then interpolated with an
 * error of 1e-18 of itself, its square with 6e-17. */
static const double SEPARATION = 2;
enum { SMALLEST = 32, LARGEST = 512 }; /* roots in a block */

typedef struct planner {
    int64_t n;
    const double *pole;
    double beyond, near;
    szgi_dc_plan *plan;
} planner;

/* The number of poles below a place given as a distance from a centre. */
static int64_t poles_below(const planner *p, double centre, double distance) {
    int64_t low = 0, high = p->n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (p->pole[middle] - centre < distance)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static szgi_dc_block make_block(const planner *p, int64_t first, int64_t count) {
    szgi_dc_block block = {.first = first, .count = count};
    bool last = first + count == p->n;
    double lower = p->pole[first], upper = p->pole[last ? p->n - 1 : first + count];
    double beyond = last ? p->beyond : 0;
    block.centre = lower + ((upper - lower) + beyond) / 2;
    block.radius = fmax(block.centre - lower, (upper - block.centre) + beyond);
    double distance = SEPARATION * block.radius;
    block.low = poles_below(p, block.centre, -distance);
    block.high = poles_below(p, block.centre, distance);
    /* Never without its own poles, whatever the rounding. */
    block.low = block.low < first ? block.low : first;
    block.high = block.high > first + count ? block.high : first + count;
    return block;
}

static double cost_of(const planner *p, const szgi_dc_block *block) {
    double near = (double)(block->high - block->low), far = (double)p->n - near;
    double nodes = far > 0 ? SZGI_DC_NODES : 0;
    return (double)block->count * (p->near * near + nodes) + nodes * far;
}

/* Appends the best blocks for these roots and returns their cost. */
static double divide(const planner *p, int64_t first, int64_t count) {
    szgi_dc_block whole = make_block(p, first, count);
    int64_t before = p->plan->count, left = (count / 2 + 7) / 8 * 8;
    double cost = cost_of(p, &whole), parts = INFINITY;
    if (count > SMALLEST)
        parts = divide(p, first, left) + divide(p, first + left, count - left);
    if (count > LARGEST || parts <= cost)
        return parts;
    p->plan->count = before;
    p->plan->blocks[p->plan->count++] = whole;
    return cost;
}

szg_status szgi_dc_plan_open(szg_context *context, int64_t n, const double *pole, double beyond,
                             double near, szgi_dc_plan *plan) {
    *plan = (szgi_dc_plan){0};
    planner p = {n, pole, beyond, near, plan};
    /* A part has more than SMALLEST / 2 - 8 roots, except the one block of a small n. */
    SZG_TRY(szgi_memory_alloc(context, n / (SMALLEST / 2 - 8) + 1, &plan->blocks));
    if (n > 0)
        divide(&p, 0, n);
    return SZG_OK;
}

void szgi_dc_plan_close(szgi_dc_plan *plan) {
    szgi_memory_free(plan->blocks);
    *plan = (szgi_dc_plan){0};
}

/* The threads of a grid, one fiber each, on one thread of the host.
 *
 * Blocks run one after the other. A thread runs until it has to wait for others; then the next goes
 * on, first those that can, then those that have not begun. SZG_EMULATED_ORDER = forward | reverse
 * | NUMBER (the seed of a shuffle) sets the order of the blocks and of the threads in a block, so
 * that results which depend on it show; under ahead | ahead-reverse a warp runs to its next barrier
 * before another gets a turn (schedule.cpp). Of a list with commas the first stream takes the first
 * item, the next one the next, round and round: two sessions then run the same kernels in two
 * orders. A launch fails when nothing can go on. */
#ifndef EMULATED_SIMT_H
#define EMULATED_SIMT_H

#include <stddef.h>
#include <stdint.h>

#include "vector_types.h"

namespace emulated {

/* Where in the source a thread waits. */
struct Place {
    const char *function, *file;
    int line;
};

struct Launch {
    dim3 grid, block;
    size_t shared;              /* bytes of dynamic shared memory */
    const void *kernel;         /* names it in messages */
    unsigned stream;            /* the number of its stream: Stream */
    void (*thread)(void *data); /* what every thread does */
    void *data;
};

/* Runs the grid; false after a message on stderr where it cannot end. */
bool simt_run(const Launch &launch);

/* The dynamic shared memory of the running block, filled with 0xff before each. */
void *simt_shared();

/* What the threads of a block gave to a barrier. */
struct Vote {
    int count, all, any;
};
Vote simt_barrier(int value, Place place);

enum class Kind { sync, shuffle, ballot, mma };
/* Waits for the lanes of `mask` that have not ended. Every lane posts `size` bytes, at most 40. A
 * shuffle returns what lane `source` posted (0xff where it posted nothing), a ballot the lanes
 * whose posted int is not 0, mma its four sums. What is returned is valid until the lane's next
 * call. */
const void *simt_exchange(Kind kind, unsigned mask, const void *post, size_t size, unsigned source,
                          Place place);
unsigned simt_lane();
unsigned simt_active_mask(); /* the lanes of the warp that have not ended */

} // namespace emulated

#endif

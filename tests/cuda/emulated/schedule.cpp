/* Which thread of the block runs next.
 *
 * By turns: those that can go on, in the order in which they were woken, then those that have not
 * begun. Or ahead: the first warp that can go on, until it waits for another one, its lanes in
 * turn: it comes to the next barrier while the others still stand at the last. */
#include "simt_block.h"

namespace emulated {
namespace {

/* By turns: a ring, and how many have begun. */
Thread *ready[most_threads];
unsigned first_ready, end_ready;
int order[most_threads], begun;

/* Ahead: warps and lanes that can go on, the first of them in the lowest bit. */
Ahead ahead;
uint32_t ready_warps, ready_lanes[most_warps];

/* The place of a bit in its order, and back. */
int mirrored(int place) {
    return ahead == Ahead::reverse ? 31 - place : place;
}

void wake_ahead(const Thread *thread) {
    int warp = mirrored(static_cast<int>(thread->warp - block.warps));
    ready_lanes[warp] |= 1u << mirrored(static_cast<int>(thread->lane));
    ready_warps |= 1u << warp;
}

Thread *next_ahead() {
    if (!ready_warps)
        return nullptr;
    int warp = __builtin_ctz(ready_warps), lane = __builtin_ctz(ready_lanes[warp]);
    ready_lanes[warp] &= ready_lanes[warp] - 1;
    if (!ready_lanes[warp])
        ready_warps &= ready_warps - 1;
    return block.warps[mirrored(warp)].first + mirrored(lane);
}

} // namespace

void schedule_begin(uint64_t block_number) {
    ahead = order_ahead();
    ready_warps = 0;
    for (uint32_t &lanes : ready_lanes)
        lanes = 0;
    for (int i = 0; ahead != Ahead::no && i < block.count; i++)
        wake_ahead(&block.threads[i]);
    if (ahead == Ahead::no)
        order_threads(block.count, block_number, order);
    begun = 0;
    first_ready = end_ready = 0;
}

void schedule_wake(Thread *thread) {
    if (ahead != Ahead::no)
        wake_ahead(thread);
    else
        ready[end_ready++ % most_threads] = thread;
}

Thread *schedule_next(void) {
    if (ahead != Ahead::no)
        return next_ahead();
    if (first_ready != end_ready)
        return ready[first_ready++ % most_threads];
    if (begun < block.count)
        return &block.threads[order[begun++]];
    return nullptr;
}

} // namespace emulated

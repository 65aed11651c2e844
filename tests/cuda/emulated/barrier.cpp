/* __syncthreads and its votes: all threads of the block that have not ended come to one place. */
#include <string.h>

#include "simt_block.h"

namespace emulated {
namespace {

bool same_place(const Place &a, const Place &b) {
    return a.line == b.line && (a.file == b.file || !strcmp(a.file, b.file));
}

/* By turns the last to come goes on last of all: every stretch between barriers has the same
 * order. */
void release() {
    block.verdict = block.votes;
    block.votes = {0, 1, 0};
    for (int i = 0; i < block.waiting_count; i++)
        schedule_wake(block.waiting[i]);
    block.waiting_count = 0;
}

} // namespace

Vote simt_barrier(int value, Place place) {
    Thread *self = block.current;
    block.votes.count += value != 0;
    block.votes.any |= value != 0;
    block.votes.all &= value != 0;
    if (block.waiting_count > 0 && !same_place(block.waiting[0]->place, place))
        block_fail("comes to a barrier while others wait at another one, it", place);
    block.waiting[block.waiting_count++] = self;
    if (block.waiting_count == block.live)
        release();
    block_wait("barrier", place);
    return block.verdict;
}

void barrier_forget(void) {
    if (block.waiting_count == block.live)
        release();
}

} // namespace emulated

/* SZG_EMULATED_ORDER: in which order blocks and threads begin. */
#include <stdlib.h>
#include <string.h>

#include "simt_block.h"

namespace emulated {
namespace {

enum class Order { forward, reverse, shuffled } mode;
Ahead ahead;
uint64_t seed;

/* splitmix64 (Steele, Lea and Flood 2014). */
uint64_t mixed(uint64_t state) {
    state += 0x9e3779b97f4a7c15u;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
    return state ^ (state >> 31);
}

void shuffle(int count, uint64_t stream, int *items) {
    for (int i = 0; i < count; i++)
        items[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int other = static_cast<int>(mixed(stream + static_cast<uint64_t>(i)) %
                                     static_cast<uint64_t>(i + 1));
        int kept = items[i];
        items[i] = items[other];
        items[other] = kept;
    }
}

uint64_t common_divisor(uint64_t a, uint64_t b) {
    return b ? common_divisor(b, a % b) : a;
}

} // namespace

void order_read(void) {
    const char *text = getenv("SZG_EMULATED_ORDER");
    ahead = Ahead::no;
    if (!text || !*text || !strcmp(text, "forward")) {
        mode = Order::forward;
    } else if (!strcmp(text, "reverse")) {
        mode = Order::reverse;
    } else if (!strcmp(text, "ahead")) {
        mode = Order::forward;
        ahead = Ahead::forward;
    } else if (!strcmp(text, "ahead-reverse")) {
        mode = Order::reverse;
        ahead = Ahead::reverse;
    } else {
        mode = Order::shuffled;
        seed = mixed(strtoull(text, nullptr, 0));
    }
}

Ahead order_ahead(void) {
    return ahead;
}

/* Warps are shuffled, and the lanes in them: the lanes of a warp stay together, which is faster. */
void order_threads(int count, uint64_t block_number, int *order) {
    if (mode != Order::shuffled) {
        for (int i = 0; i < count; i++)
            order[i] = mode == Order::forward ? i : count - 1 - i;
        return;
    }
    int warps[most_warps], lanes[32], warp_count = (count + 31) / 32, begun = 0;
    uint64_t stream = mixed(seed + block_number);
    shuffle(warp_count, stream, warps);
    shuffle(32, mixed(stream), lanes);
    for (int i = 0; i < warp_count * 32; i++) {
        int thread = warps[i / 32] * 32 + lanes[i % 32];
        if (thread < count)
            order[begun++] = thread;
    }
}

uint64_t order_block(uint64_t count, uint64_t step) {
    if (mode == Order::forward)
        return step;
    if (mode == Order::reverse)
        return count - 1 - step;
    uint64_t stride = seed % 0x7fffffff;
    while (common_divisor(stride, count) != 1)
        stride++;
    return (stride % count * step + seed % count) % count; /* count < 2^31 * 2^32 in theory only */
}

} // namespace emulated

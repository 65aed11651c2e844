/* SZG_EMULATED_ORDER: in which order blocks and threads begin. */
#include <stdlib.h>

#include <algorithm>
#include <string>

#include "setting.h"
#include "simt_block.h"

namespace emulated {
namespace {

enum class Order { forward, reverse, shuffled } mode;
Ahead ahead;
uint64_t seed;
std::string name;

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

/* Item `number` of a list with commas, round and round. */
std::string item_of(const std::string &list, unsigned number) {
    auto items = std::count(list.begin(), list.end(), ',') + 1;
    size_t begin = 0;
    for (auto skipped = number % items; skipped > 0; skipped--)
        begin = list.find(',', begin) + 1;
    return list.substr(begin, list.find(',', begin) - begin);
}

uint64_t common_divisor(uint64_t a, uint64_t b) {
    return b ? common_divisor(b, a % b) : a;
}

} // namespace

void order_read(unsigned stream) {
    const char *text = setting("SZG_EMULATED_ORDER");
    name = item_of(text && *text ? text : "forward", stream);
    ahead = name == "ahead" ? Ahead::forward : name == "ahead-reverse" ? Ahead::reverse : Ahead::no;
    if (name == "forward" || name == "ahead") {
        mode = Order::forward;
    } else if (name == "reverse" || name == "ahead-reverse") {
        mode = Order::reverse;
    } else {
        mode = Order::shuffled;
        seed = mixed(strtoull(name.c_str(), nullptr, 0));
    }
}

const char *order_name(void) {
    return name.c_str();
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

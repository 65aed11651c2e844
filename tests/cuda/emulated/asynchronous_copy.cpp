#include "asynchronous_copy.h"

#include <string.h>

#include <vector>

#include "simt_block.h"

namespace emulated {
namespace {

struct Copy {
    void *shared;
    const void *global;
    int group;
};

struct Copies {
    std::vector<Copy> pending;
    int group = 0; /* the one that is being filled */
};

Copies of_threads[most_threads];

Copies &mine() {
    return of_threads[block.current - block.threads];
}

bool aligned(const void *address) {
    return reinterpret_cast<uintptr_t>(address) % 16 == 0;
}

} // namespace

void copy_begin(void *shared, const void *global, Place place) {
    if (!aligned(shared) || !aligned(global))
        block_fail("an asynchronous copy of 16 bytes is not aligned to them", place);
    mine().pending.push_back({shared, global, mine().group});
    block.copies_pending = true;
}

void copy_end_group() {
    mine().group++;
}

void copy_wait(int groups_left) {
    Copies &copies = mine();
    std::vector<Copy> later;
    for (const Copy &copy : copies.pending)
        if (copy.group < copies.group - groups_left)
            memcpy(copy.shared, copy.global, 16);
        else
            later.push_back(copy);
    copies.pending.swap(later);
}

void copies_forget(void) {
    for (Copies &copies : of_threads)
        copies.pending.clear();
    block.copies_pending = false;
}

} // namespace emulated

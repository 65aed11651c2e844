#include "shared_memory.h"

#include <stdio.h>
#include <string.h>

#include "simt_block.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, size) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)0)
#endif

namespace emulated {
namespace {

constexpr size_t zone = 1024;
constexpr unsigned char zone_byte = 0xa5;
alignas(1024) unsigned char bytes[most_shared + zone];
size_t open_size;

} // namespace

void *simt_shared() {
    return bytes;
}

bool shared_open(size_t size) {
    if (size > most_shared)
        return false;
    open_size = size;
    memset(bytes + size, zone_byte, zone);
    ASAN_POISON_MEMORY_REGION(bytes + size, sizeof bytes - size);
    return true;
}

void shared_poison() {
    memset(bytes, 0xff, open_size);
}

bool shared_check() {
    ASAN_UNPOISON_MEMORY_REGION(bytes + open_size, zone);
    size_t good = 0;
    while (good < zone && bytes[open_size + good] == zone_byte)
        good++;
    ASAN_POISON_MEMORY_REGION(bytes + open_size, sizeof bytes - open_size);
    if (good == zone)
        return true;
    fprintf(stderr,
            "emulated GPU: block (%u, %u, %u) of kernel %p wrote %zu bytes beyond its %zu bytes of "
            "dynamic shared memory\n",
            blockIdx.x, blockIdx.y, blockIdx.z, block.launch.kernel, good, open_size);
    return false;
}

void shared_close() {
    ASAN_UNPOISON_MEMORY_REGION(bytes, sizeof bytes);
}

} // namespace emulated

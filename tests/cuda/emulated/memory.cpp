/* Device memory: one reserved range, closed to the host unless queued work runs, so that a host
 * that touches it crashes. What is allocated holds 0xff (floats are NaN); between allocations lie
 * bytes that nobody may touch. SZG_EMULATED_MEMORY limits the sum of the sizes;
 * SZG_EMULATED_HOST=pageable: no page-locked memory is given. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <map>

#include "setting.h"
#include "vendor.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(start, size) ((void)0)
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)0)
#endif

namespace emulated {
namespace {

constexpr size_t alignment = 256;
constexpr size_t gap = 256;
constexpr unsigned char gap_byte = 0xa5;
constexpr size_t reserved = size_t{256} << 30; /* addresses, not memory */
constexpr size_t huge_page = 2 << 20;          /* few pages open and close faster */
constexpr size_t give_back = 1 << 20;          /* freed memory of this size goes to the system */

char *base;
size_t high; /* bytes of the range that were ever used */
size_t used; /* sum of the sizes */
int open_count;
std::map<char *, size_t> live;  /* allocations and their sizes */
std::map<char *, size_t> holes; /* free below `high`, with their gaps */
std::map<char *, size_t> pinned;

size_t footprint(size_t size) {
    return (size + gap + alignment - 1) / alignment * alignment;
}

bool reserve() {
    if (base)
        return true;
    void *range = mmap(nullptr, reserved + huge_page, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return false;
    uintptr_t start = reinterpret_cast<uintptr_t>(range) + huge_page - 1;
    base = reinterpret_cast<char *>(start / huge_page * huge_page);
    madvise(base, reserved, MADV_HUGEPAGE);
    return true;
}

/* Opens or closes what was ever used, and some of what follows: LAPACK, which stands for cuSOLVER,
 * reads up to a column beyond a matrix (cusolver_eigen.cpp). A device has pages of 2 MiB too. */
void protect(int rights) {
    if (high > 0)
        mprotect(base, (high + 2 * huge_page - 1) / huge_page * huge_page, rights);
}

/* The first hole that is large enough, or the end of the range. */
char *place_for(size_t bytes) {
    for (auto hole = holes.begin(); hole != holes.end(); ++hole) {
        if (hole->second < bytes)
            continue;
        char *start = hole->first;
        size_t left = hole->second - bytes;
        holes.erase(hole);
        if (left > 0)
            holes[start + bytes] = left;
        return start;
    }
    if (high + bytes > reserved)
        return nullptr;
    char *start = base + high;
    high += bytes;
    if (open_count > 0)
        protect(PROT_READ | PROT_WRITE);
    return start;
}

void add_hole(char *start, size_t bytes) {
    auto next = holes.lower_bound(start);
    if (next != holes.end() && start + bytes == next->first) {
        bytes += next->second;
        next = holes.erase(next);
    }
    if (next != holes.begin()) {
        auto before = next;
        --before;
        if (before->first + before->second == start) {
            before->second += bytes;
            return;
        }
    }
    holes[start] = bytes;
}

cudaError_t allocate(void **pointer, size_t size) {
    if (!pointer)
        return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (size == 0)
        return cudaSuccess;
    if (size > memory_total() || used > memory_total() - size || !reserve())
        return cudaErrorMemoryAllocation;
    memory_open();
    char *start = place_for(footprint(size));
    if (start) {
        ASAN_UNPOISON_MEMORY_REGION(start, footprint(size));
        memset(start, 0xff, size);
        memset(start + size, gap_byte, footprint(size) - size);
        ASAN_POISON_MEMORY_REGION(start + size, footprint(size) - size);
        live[start] = size;
        used += size;
    }
    memory_close();
    *pointer = start;
    return start ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* The whole pages of a range: what else lies in its first and last one is others'. */
void give_pages(char *start, size_t bytes) {
    const uintptr_t page = 4096, first = reinterpret_cast<uintptr_t>(start);
    uintptr_t from = (first + page - 1) / page * page, to = (first + bytes) / page * page;
    madvise(reinterpret_cast<void *>(from), to - from, MADV_DONTNEED);
}

/* Whether the bytes behind an allocation are as they were. */
bool gap_whole(const char *start, size_t size) {
    size_t bytes = footprint(size) - size;
    ASAN_UNPOISON_MEMORY_REGION(start + size, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (static_cast<unsigned char>(start[size + i]) != gap_byte) {
            fprintf(stderr,
                    "emulated GPU: something wrote %zu bytes beyond the end of an allocation of "
                    "%zu bytes\n",
                    i, size);
            return false;
        }
    return true;
}

cudaError_t release(void *pointer) {
    auto found = live.find(static_cast<char *>(pointer));
    if (found == live.end())
        return cudaErrorInvalidValue;
    char *start = found->first;
    size_t size = found->second;
    memory_open();
    if (!gap_whole(start, size))
        device_break(cudaErrorIllegalAddress);
    if (size >= give_back)
        give_pages(start, footprint(size));
    else
        memset(start, 0xff, size);
    memory_close();
    ASAN_POISON_MEMORY_REGION(start, footprint(size));
    used -= size;
    live.erase(found);
    add_hole(start, footprint(size));
    return device_broken();
}

bool inside(const std::map<char *, size_t> &blocks, const void *pointer, size_t size) {
    char *start = static_cast<char *>(const_cast<void *>(pointer));
    auto after = blocks.upper_bound(start);
    if (after == blocks.begin())
        return false;
    --after;
    size_t offset = static_cast<size_t>(start - after->first);
    return offset <= after->second && size <= after->second - offset;
}

/* When the plugin is unloaded. The sanitizer finds pinned memory that was not freed by itself. */
struct End {
    ~End() {
        if (!live.empty())
            fprintf(stderr, "emulated GPU: %zu allocations, %zu bytes, were never freed\n",
                    live.size(), used);
        if (base) {
            ASAN_UNPOISON_MEMORY_REGION(base, high);
            munmap(base, reserved);
        }
    }
} at_end;

cudaError_t pin(void **pointer, size_t size) {
    if (!pointer)
        return returned(cudaErrorInvalidValue);
    if (cudaError_t refused = capture_refuses(true))
        return refused;
    *pointer = memory_host_is("pageable") ? nullptr : malloc(size ? size : 1);
    if (!*pointer)
        return returned(cudaErrorMemoryAllocation);
    memset(*pointer, 0xff, size);
    pinned[static_cast<char *>(*pointer)] = size;
    return cudaSuccess;
}

} // namespace

void memory_open() {
    if (open_count++ == 0)
        protect(PROT_READ | PROT_WRITE);
}

void memory_close() {
    if (--open_count == 0)
        protect(PROT_NONE);
}

bool memory_device(const void *pointer) {
    const char *address = static_cast<const char *>(pointer);
    return base && address >= base && address < base + reserved;
}

bool memory_holds(const void *pointer, size_t size) {
    return inside(live, pointer, size);
}

bool memory_pinned(const void *pointer, size_t size) {
    return inside(pinned, pointer, size);
}

bool memory_host_is(const char *kind) {
    const char *text = getenv("SZG_EMULATED_HOST");
    return text && !strcmp(text, kind);
}

bool range_good(const char *operand, const void *pointer, size_t bytes) {
    if (bytes == 0 || memory_holds(pointer, bytes))
        return true;
    fprintf(stderr, "emulated GPU: %s, %zu bytes at %p, is not within one allocation\n", operand,
            bytes, pointer);
    return false;
}

size_t memory_total() {
    const char *text = setting("SZG_EMULATED_MEMORY");
    size_t bytes = text ? strtoull(text, nullptr, 0) : 0;
    return bytes ? bytes : size_t{2} << 30;
}

size_t memory_used() {
    return used;
}

} // namespace emulated

using namespace emulated;

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    *total = memory_total();
    *free = used < *total ? *total - used : 0;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **pointer, size_t size) {
    EMULATED_ENTER(cudaErrorMemoryAllocation);
    if (cudaError_t refused = capture_refuses(true))
        return refused;
    return returned(allocate(pointer, size));
}

/* Waits for nothing: CUDA's "may perform implicit synchronization". */
cudaError_t cudaFree(void *pointer) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    if (!pointer)
        return cudaSuccess;
    if (cudaError_t refused = capture_refuses(true))
        return refused;
    return returned(release(pointer));
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream) {
    EMULATED_ENTER(cudaErrorMemoryAllocation);
    if (stream_captures(stream))
        return returned(cudaErrorNotSupported);
    return returned(allocate(pointer, size));
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    if (stream_captures(stream))
        return returned(cudaErrorNotSupported);
    if (!pointer)
        return cudaSuccess;
    return stream_push(stream, [pointer] { return release(pointer); });
}

cudaError_t cudaMallocHost(void **pointer, size_t size) {
    EMULATED_ENTER(cudaErrorMemoryAllocation);
    return pin(pointer, size);
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned) {
    EMULATED_ENTER(cudaErrorMemoryAllocation);
    return pin(pointer, size);
}

cudaError_t cudaFreeHost(void *pointer) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    if (!pointer)
        return cudaSuccess;
    if (cudaError_t refused = capture_refuses(true))
        return refused;
    if (!pinned.count(static_cast<char *>(pointer)))
        return returned(cudaErrorInvalidValue);
    cudaError_t error = streams_drain();
    pinned.erase(static_cast<char *>(pointer));
    free(pointer);
    return error;
}

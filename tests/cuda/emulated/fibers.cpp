#include "fibers.h"

#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(start, size) ((void)0)
#endif

namespace emulated {
namespace {

constexpr size_t page = 4096;
#ifdef __SANITIZE_ADDRESS__
constexpr size_t stack_bytes = 256 * 1024;
#else
constexpr size_t stack_bytes = 128 * 1024;
#endif

void begin(boost::context::detail::transfer_t from) {
    Fiber *self = fiber_arrive(from);
    self->body(self);
}

} // namespace

bool fiber_prepare(Fiber *fiber, int number, void (*body)(Fiber *self)) {
    if (!fiber->bottom) {
        void *block = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block == MAP_FAILED || mprotect(block, page, PROT_NONE) != 0)
            return false;
        fiber->bottom = static_cast<char *>(block) + page;
        /* Equal offsets of all stacks in their pages would meet in the same few sets of the cache.
         */
        fiber->size = stack_bytes - static_cast<size_t>(number * 320 % static_cast<int>(page));
    }
    ASAN_UNPOISON_MEMORY_REGION(fiber->bottom, fiber->size);
    char *top = static_cast<char *>(const_cast<void *>(fiber->bottom)) + fiber->size;
    fiber->context = boost::context::detail::make_fcontext(top, fiber->size, begin);
    fiber->fake_stack = nullptr;
    fiber->body = body;
    return true;
}

void fiber_release(Fiber *fiber) {
    ASAN_UNPOISON_MEMORY_REGION(fiber->bottom, fiber->size);
    munmap(static_cast<char *>(const_cast<void *>(fiber->bottom)) - page, page + stack_bytes);
}

} // namespace emulated

/* An allocator to put before the C library's by LD_PRELOAD: each block of aligned_alloc with the
 * house's alignment ends where an unmapped page begins, so that a read beyond it ends the process.
 * malloc and its kin are the C library's. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ALIGNMENT = 64 };

/* Addresses are never given twice: a block that was freed stays unmapped. */
static const size_t ARENA = (size_t)1 << 40;
static char *_Atomic arena;
static atomic_size_t used;

/* What stands before each block. */
typedef struct header {
    char *pages;
    size_t length;
} header;

static char *first_page(void) {
    char *start = atomic_load(&arena);
    if (start)
        return start;
    char *made = mmap(NULL, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) {
        fprintf(stderr, "guard_pages: no addresses\n");
        abort();
    }
    if (!atomic_compare_exchange_strong(&arena, &start, made)) {
        munmap(made, ARENA);
        return start;
    }
    return made;
}

static void *guarded(size_t bytes) {
    size_t length = (bytes + sizeof(header) + PAGE - 1) / PAGE * PAGE;
    char *pages = first_page() + atomic_fetch_add(&used, length + PAGE);
    if (pages + length + PAGE > atomic_load(&arena) + ARENA ||
        mprotect(pages, length, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    char *block = pages + length - bytes;
    memcpy(block - sizeof(header), &(header){pages, length}, sizeof(header));
    return block;
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t bytes) {
    if (alignment == ALIGNMENT && bytes > 0 && bytes % ALIGNMENT == 0)
        return guarded(bytes);
    void *block = NULL;
    return posix_memalign(&block, alignment, bytes) == 0 ? block : NULL;
}

__attribute__((visibility("default"))) void free(void *block) {
    static void (*_Atomic next)(void *);
    char *start = atomic_load(&arena), *at = block;
    if (start && at >= start && at < start + ARENA) {
        header is;
        memcpy(&is, at - sizeof is, sizeof is);
        madvise(is.pages, is.length, MADV_DONTNEED);
        mprotect(is.pages, is.length, PROT_NONE);
        return;
    }
    void (*real)(void *) = atomic_load(&next);
    if (!real) {
        void *found = dlsym(RTLD_NEXT, "free");
        memcpy(&real, &found, sizeof real);
        atomic_store(&next, real);
    }
    real(block);
}

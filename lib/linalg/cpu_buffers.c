/* OpenBLAS maps a buffer for each thread inside of it, keeps it, and where memory is limited asks
 * for it again and again without an end. So the buffers are made before they are needed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "linalg/linalg.h"
#include "base/pool.h"
#include "cpu.h"

/* Exported, though in no header; another build of the library may hide them. */
#ifndef SZGI_BLAS_ALLOC
#define SZGI_BLAS_ALLOC blas_memory_alloc
#define SZGI_BLAS_FREE blas_memory_free
#endif
extern void *SZGI_BLAS_ALLOC(int procedure) __attribute__((weak));
extern void SZGI_BLAS_FREE(void *buffer) __attribute__((weak));

/* BUFFER_SIZE of common_x86_64.h and common_arm64.h. The library names its own nowhere, and a first
 * buffer that is larger than the limit would not come back: so this is assumed, and more where the
 * first one is measured to be larger. */
#ifndef SZGI_BLAS_BUFFER
#define SZGI_BLAS_BUFFER ((size_t)32 << 22)
#endif
static atomic_size_t measured; /* bytes of a buffer; 0: none was made yet */

/* Half of the buffers that the library keeps at least (NUM_BUFFERS in common.h): the more threads
 * a context has, the less is known of how many of them are inside at once. */
enum { BUFFERS_MOST = 64 };

static atomic_int made; /* buffers that are there, or that no limit refuses */

static bool is_limited(int resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/* Whether Linux refuses a mapping for its size: the process has a limit, or the system counts every
 * mapping (vm.overcommit_memory = 2). */
static bool memory_is_limited(void) {
    if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA))
        return true;
    FILE *file = fopen("/proc/sys/vm/overcommit_memory", "re");
    int mode = file ? getc(file) : EOF;
    if (file)
        fclose(file);
    return mode == '2';
}

const char *szgi_backend_threads_remedy(void) {
    return memory_is_limited() ? "1" : NULL;
}

/* A block with a margin around it; MAP_FAILED where the limit refuses that. The library maps pages
 * beside a buffer, and the heap may grow between this question and its call, which asks without an
 * end if a single page is missing. */
static size_t with_margin(size_t bytes) {
    return bytes + ((size_t)1 << 20);
}

static void *map(size_t bytes) {
    return mmap(NULL, with_margin(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0);
}

static bool can_be_mapped(size_t bytes) {
    void *block = map(bytes);
    return block != MAP_FAILED && munmap(block, with_margin(bytes)) == 0;
}

static size_t buffer_bytes(void) {
    size_t bytes = atomic_load(&measured);
    return bytes > SZGI_BLAS_BUFFER ? bytes : SZGI_BLAS_BUFFER;
}

/* Bytes of the process's address space; 0: unknown. */
static size_t address_space(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    bool read = fscanf(file, "%lu", &pages) == 1;
    fclose(file);
    return read ? pages * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

/* What other threads map at the same moment adds, what they unmap takes away: the least growth is
 * kept, and never counts for less than what is assumed, since the library would ask without an end
 * for a buffer of which only a part fits. */
static void measure(size_t before, size_t after) {
    enum { LEAST = 1 << 20 }; /* less: a buffer that was there already */
    size_t grown = after > before ? after - before : 0, known = atomic_load(&measured);
    if (before > 0 && grown >= LEAST && (known == 0 || grown < known))
        atomic_store(&measured, grown);
}

/* Takes every buffer that is free and new ones up to `want`, and gives all of them back: they stay
 * mapped. Returns how many there are. Nobody is inside the library meanwhile. */
static int make_buffers(int want) {
    void *held[BUFFERS_MOST];
    int there = atomic_load(&made), kept = szgi_blas_servers(), count = 0;
    for (int i = kept; i < want && (i < there || can_be_mapped(buffer_bytes())); i++) {
        size_t before = address_space();
        held[count++] = SZGI_BLAS_ALLOC(0);
        measure(before, address_space());
    }
    for (int i = count; i-- > 0;)
        SZGI_BLAS_FREE(held[i]);
    return kept + count;
}

/* Where the library hides its functions: as many more buffers as the limit leaves room for at once.
 * Nothing keeps that room for it. */
static int try_buffers(int want) {
    void *held[BUFFERS_MOST];
    int there = atomic_load(&made), count = 0;
    for (int i = there; i < want; i++) {
        void *block = map(buffer_bytes());
        if (block == MAP_FAILED)
            break;
        held[count++] = block;
    }
    for (int i = count; i-- > 0;)
        munmap(held[i], with_margin(buffer_bytes()));
    return there + count;
}

/* The stacks of threads that the library is about to start: it does not look whether they did. */
static bool have_stacks(int threads) {
    struct rlimit limit;
    size_t stack = (size_t)8 << 20;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        stack = (size_t)limit.rlim_cur;
    return threads <= 0 || can_be_mapped((size_t)threads * stack);
}

static szg_status make_ready(szg_context *context, int want, int starts) {
    if (!memory_is_limited()) {
        atomic_store(&made, want);
        return SZG_OK;
    }
    int have = SZGI_BLAS_ALLOC ? make_buffers(want) : try_buffers(want);
    bool stay = SZGI_BLAS_ALLOC || have == want; /* tried ones do not, where the call is refused */
    if (stay && have > atomic_load(&made))
        atomic_store(&made, have);
    const char *fewer = want > 1 ? "use fewer threads (--threads 1), or " : "";
    if (have < want)
        return szgi_fail(context, SZG_ENOMEM,
                         "OpenBLAS works in a buffer of %zu MiB a thread; %d of %d fit into the "
                         "limit on memory: %sraise the limit (`ulimit -v`)",
                         buffer_bytes() >> 20, have, want, fewer);
    if (have_stacks(starts))
        return SZG_OK;
    return szgi_fail(
        context, SZG_ENOMEM,
        "the stacks of %d more threads of OpenBLAS do not fit into the limit on memory: "
        "%sraise the limit (`ulimit -v`) or lower that on stacks (`ulimit -s`)",
        starts, fewer);
}

szg_status szgi_blas_reserve(szg_context *context, bool large) {
    szgi_blas_tell_core(context);
    int threads = context ? szg_context_threads(context) : 1, kept = szgi_blas_servers();
    bool raises = large && !szgi_pool_is_inside() && threads > 1;
    int callers = szgi_context_threads_open(); /* not those inside: more follow at any moment */
    int want = raises && threads - 1 > kept ? threads
               : raises                     ? kept + 1
                                            : kept + (callers > 1 ? callers : 1);
    if (want > BUFFERS_MOST)
        want = BUFFERS_MOST;
    if (want > atomic_load(&made)) {
        pthread_rwlock_wrlock(&szgi_blas_calls); /* so that no buffer is in use */
        szg_status status = make_ready(context, want, raises ? threads - 1 - kept : 0);
        pthread_rwlock_unlock(&szgi_blas_calls);
        SZG_TRY(status);
    }
    if (raises)
        szgi_blas_tell_threads(context);
    return SZG_OK;
}

szg_status szgi_backend_prepare(szg_context *context) {
    szgi_blas_single();
    return szgi_blas_reserve(context, false);
}

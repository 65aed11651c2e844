/* OpenBLAS maps a buffer for each thread inside of it, keeps it, and where memory is limited asks
 * for it again and again without an end. So the buffers are made before they are needed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <szego/backend.h>
#include <szego/pool.h>
#include "cpu.h"

/* Exported, though in no header; another build of the library may hide them. */
extern void *blas_memory_alloc(int procedure) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

static const size_t BUFFER = (size_t)32 << 22; /* common_x86_64.h, common_arm64.h: BUFFER_SIZE */

/* Half of the buffers that the library keeps at least (NUM_BUFFERS in common.h): the more threads
 * a context has, the less is known of how many of them are inside at once. */
enum { BUFFERS_MOST = 64 };

static atomic_int made;    /* buffers that are there, or that no limit refuses */
static atomic_int servers; /* the library's own threads; each holds a buffer for good */
static atomic_int active;  /* our calls in progress */

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

const char *szg_backend_threads_remedy(void) {
    return memory_is_limited() ? "1" : NULL;
}

static bool can_be_mapped(size_t bytes) {
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block != MAP_FAILED && munmap(block, bytes) == 0;
}

/* Takes every buffer that is free and new ones up to `want`, and gives all of them back: they stay
 * mapped. Returns how many there were. */
static int make_buffers(int want) {
    void *held[BUFFERS_MOST];
    int there = atomic_load(&made), count = 0;
    int kept = atomic_load(&servers) + atomic_load(&active);
    for (int i = kept; i < want && (i < there || can_be_mapped(BUFFER)); i++)
        held[count++] = blas_memory_alloc ? blas_memory_alloc(0) : NULL;
    for (int i = count; i-- > 0;)
        if (held[i])
            blas_memory_free(held[i]);
    return kept + count;
}

/* The stacks of threads that the library is about to start: it does not look whether they did. */
static bool have_stacks(int threads) {
    struct rlimit limit;
    size_t stack = (size_t)8 << 20;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        stack = (size_t)limit.rlim_cur;
    return threads <= 0 || can_be_mapped((size_t)threads * stack);
}

static szg_status make_ready(szg_context *context, int threads, int want, int starts) {
    if (!memory_is_limited()) {
        atomic_store(&made, want);
        return SZG_OK;
    }
    int have = make_buffers(want);
    if (have > atomic_load(&made))
        atomic_store(&made, have);
    const char *fewer = threads > 1 ? "use fewer threads (--threads 1), or " : "";
    if (have < want)
        return szg_fail(context, SZG_ENOMEM,
                        "OpenBLAS works in a buffer of %zu MiB a thread; %d of %d fit into the "
                        "limit on memory: %sraise the limit (`ulimit -v`)",
                        BUFFER >> 20, have, want, fewer);
    if (have_stacks(starts))
        return SZG_OK;
    return szg_fail(
        context, SZG_ENOMEM,
        "the stacks of %d more threads of OpenBLAS do not fit into the limit on memory: "
        "%sraise the limit (`ulimit -v`) or lower that on stacks (`ulimit -s`)",
        starts, fewer);
}

szg_status szg_blas_reserve(szg_context *context, bool large) {
    int threads = context ? szg_context_threads(context) : 1, kept = atomic_load(&servers);
    bool raises = large && !szg_pool_is_inside() && threads > 1;
    int calls = atomic_load(&active) + 1;
    int want = raises && threads - 1 > kept ? threads
               : raises                     ? kept + 1
                                            : kept + (calls > threads ? calls : threads);
    if (want > BUFFERS_MOST)
        want = BUFFERS_MOST;
    if (want <= atomic_load(&made))
        return SZG_OK;
    pthread_rwlock_wrlock(&szg_blas_calls); /* so that no buffer is in use */
    szg_status status = make_ready(context, threads, want, raises ? threads - 1 - kept : 0);
    pthread_rwlock_unlock(&szg_blas_calls);
    return status;
}

void szg_blas_count(int calls, int own_threads) {
    atomic_fetch_add(&active, calls);
    if (own_threads - 1 > atomic_load(&servers))
        atomic_store(&servers, own_threads - 1);
}

szg_status szg_backend_prepare(szg_context *context) {
    return szg_blas_reserve(context, false);
}

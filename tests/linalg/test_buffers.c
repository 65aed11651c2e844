/* The buffers that OpenBLAS maps for each thread, where memory is limited: a program of its own,
 * built four times, because the case in which the library hides its functions is made by compiling
 * cpu_buffers.c against names that do not exist, the one of larger buffers than are assumed by
 * assuming smaller ones, and the one of a thread that unmaps memory while a buffer is measured by
 * compiling it against alloc_beside_unmapping. */
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "linalg/linalg.h"
#include "base/pool.h"
#include "../../lib/linalg/cpu.h"
#include "suite.h"

extern void *blas_memory_alloc(int procedure);
extern void blas_memory_free(void *buffer);
extern void openblas_set_num_threads(int threads);
extern int openblas_get_num_threads(void);
void *alloc_beside_unmapping(int procedure);
void free_beside_unmapping(void *buffer);

enum { CONTEXTS = 2, THREADS = 3, CALLERS = CONTEXTS * THREADS, MOST = 64 };

static size_t address_space(void) {
    unsigned long pages;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* With the half of a buffer that limit_to leaves over, the room for a buffer that is measured too
 * small by this, and none for a whole one. */
enum { UNMAPPED = 3 << 24 };
static size_t size_of_buffer;
static void *unmapped; /* mapped before the limit is set */
static int taken, taken_at_once;

static bool fits(size_t bytes) {
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block != MAP_FAILED && munmap(block, bytes) == 0;
}

/* The library's, beside another thread that unmaps a block during the first call. It takes a buffer
 * that is free, or maps one; where that does not fit the library would not come back. */
void *alloc_beside_unmapping(int procedure) {
    if (taken++ == taken_at_once) {
        taken_at_once = taken;
        ck_assert_msg(fits(size_of_buffer), "buffer %d is asked for, and does not fit", taken);
    }
    void *buffer = blas_memory_alloc(procedure);
    if (unmapped)
        munmap(unmapped, UNMAPPED);
    unmapped = NULL;
    return buffer;
}

void free_beside_unmapping(void *buffer) {
    taken--;
    blas_memory_free(buffer);
}

/* By a child, since a buffer that is there already would hide what a new one takes. */
static size_t buffer_size(void) {
    int ends[2];
    size_t size = 0;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        size_t before = address_space();
        bool there = blas_memory_alloc(0) != NULL;
        size = address_space() - before;
        _exit(there && write(ends[1], &size, sizeof size) == (ssize_t)sizeof size ? 0 : 1);
    }
    ck_assert_int_eq(read(ends[0], &size, sizeof size), sizeof size);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    return size;
}

typedef struct caller {
    szg_context *context;
    pthread_t thread;
    szg_status status[THREADS];
} caller;

static pthread_barrier_t limited, inside;

/* As many calls in progress at once as there are threads, the moment after each was prepared. */
static szg_status call(szg_context *context, void *argument, int64_t block, int worker) {
    caller *self = argument;
    (void)worker;
    self->status[block] = szgi_blas_reserve(context, false);
    pthread_barrier_wait(&inside);
    szgi_blas_call begun = szgi_blas_begin(context, false);
    pthread_barrier_wait(&inside);
    szgi_blas_end(begun);
    return SZG_OK;
}

static void *run_calls(void *argument) {
    caller *self = argument;
    pthread_barrier_wait(&limited);
    ck_assert_int_eq(szgi_pool_run(self->context, THREADS, call, self), SZG_OK);
    return NULL;
}

/* Room for that many buffers and a half: what else the calls need is far less. */
static void limit_to(size_t buffers, size_t size) {
    rlim_t bytes = address_space() + buffers * size + size / 2;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}), 0);
}

/* Returns how many of the calls were let in where `lacking` buffers of `size` do not fit. */
static int calls_let_in(int lacking, size_t size, caller *callers) {
    int let_in = 0;
    mallopt(M_ARENA_MAX, 1); /* a thread's arena is as large as half a buffer */
    pthread_barrier_init(&limited, NULL, CONTEXTS + 1);
    pthread_barrier_init(&inside, NULL, CALLERS);
    for (int i = 0; i < CONTEXTS; i++) {
        const szg_context_options options = {SZG_INIT(szg_context_options), .threads = THREADS};
        ck_assert_int_eq(szg_context_open(&options, &callers[i].context), SZG_OK);
        ck_assert_int_eq(pthread_create(&callers[i].thread, NULL, run_calls, &callers[i]), 0);
    }
    size_of_buffer = size;
    unmapped = mmap(NULL, UNMAPPED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(unmapped != MAP_FAILED);
    limit_to((size_t)(szgi_context_threads_open() - lacking), size);
    pthread_barrier_wait(&limited);
    for (int i = 0; i < CONTEXTS; i++) {
        pthread_join(callers[i].thread, NULL);
        for (int k = 0; k < THREADS; k++)
            let_in += callers[i].status[k] == SZG_OK;
    }
    return let_in;
}

/* Each of two contexts alone would fit. */
START_TEST(contexts_are_counted_together) {
    caller callers[CONTEXTS] = {0};
    char words[128];
    size_t size = buffer_size();
    ck_assert_int_eq(calls_let_in(1, size, callers), 0);
    int all = szgi_context_threads_open();
    snprintf(words, sizeof words, "a buffer of %zu MiB a thread; %d of %d fit", size >> 20, all - 1,
             all);
    ck_szg_fails(SZG_ENOMEM, words, szgi_backend_prepare(test_context()));
    for (int i = 0; i < CONTEXTS; i++)
        szg_context_close(&callers[i].context);
    ck_szg_ok(szgi_backend_prepare(test_context())); /* the others are closed */
}
END_TEST

/* What was let in finds its buffers mapped: they can all be taken, and nothing grows. */
START_TEST(buffers_of_all_contexts_are_there) {
    caller callers[CONTEXTS] = {0};
    void *held[MOST];
    ck_assert_int_eq(calls_let_in(0, buffer_size(), callers), CALLERS);
    int all = szgi_context_threads_open();
    size_t before = address_space();
    ck_assert_int_le(all, MOST);
    for (int i = 0; i < all; i++)
        held[i] = blas_memory_alloc(0);
    if (BUFFERS_SEEN)
        ck_assert_uint_eq(address_space(), before);
    for (int i = 0; i < all; i++)
        blas_memory_free(held[i]);
    for (int i = 0; i < CONTEXTS; i++)
        szg_context_close(&callers[i].context);
}
END_TEST

/* ELPA and ARPACK call BLAS without begin. The library starts with a thread for each processor. */
START_TEST(blas_beside_the_house_has_one_thread) {
    openblas_set_num_threads(THREADS);
    ck_szg_ok(szgi_backend_prepare(test_context()));
    ck_assert_int_eq(openblas_get_num_threads(), 1);
}
END_TEST

TEST_FILE("buffers") {
    test_add(suite, "blas_beside_the_house_has_one_thread", blas_beside_the_house_has_one_thread);
    test_add(suite, "contexts_are_counted_together", contexts_are_counted_together);
    test_add(suite, "buffers_of_all_contexts_are_there", buffers_of_all_contexts_are_there);
}

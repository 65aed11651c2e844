/* What is called when a thread that used the library ends. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/thread.h"

#include "suite.h"

static atomic_int ends;
static int told = -1; /* a pipe that the end of this process's own thread is told to */

static void count_end(void) {
    atomic_fetch_add(&ends, 1);
    if (told >= 0)
        ck_assert_int_eq(write(told, "e", 1), 1);
}

static szgi_thread_hook hook = {.release = count_end};

__attribute__((constructor)) static void have_ends_counted(void) {
    szgi_thread_at_end(&hook);
}

static void *do_nothing(void *unused) {
    return unused;
}

static void *take_memory(void *unused) {
    char *block;
    ck_assert_int_eq(szgi_memory_alloc(NULL, 1, &block), SZG_OK);
    szgi_memory_free(block);
    return unused;
}

static szg_status empty_block(szg_context *context, void *job, int64_t block, int worker) {
    (void)context, (void)job, (void)block, (void)worker;
    return SZG_OK;
}

/* The context is another thread's. */
static void *run_blocks(void *context) {
    ck_assert_int_eq(szgi_pool_run(context, 3, empty_block, NULL), SZG_OK);
    return NULL;
}

/* Two in turn, and one within the life of the other. */
static void *open_contexts(void *unused) {
    for (int repeat = 0; repeat < 2; repeat++) {
        szg_context *outer, *inner;
        const szg_context_options options = {SZG_INIT(szg_context_options), .threads = 1};
        ck_assert_int_eq(szg_context_open(&options, &outer), SZG_OK);
        ck_assert_int_eq(szg_context_open(&options, &inner), SZG_OK);
        szg_context_close(&outer);
        szg_context_close(&inner);
    }
    return unused;
}

static int ends_of(void *(*work)(void *), void *argument) {
    pthread_t thread;
    int before = atomic_load(&ends);
    ck_assert_int_eq(pthread_create(&thread, NULL, work, argument), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    return atomic_load(&ends) - before;
}

START_TEST(threads_that_used_the_library_end_once) {
    ck_assert_int_eq(ends_of(do_nothing, NULL), 0);
    ck_assert_int_eq(ends_of(take_memory, NULL), 1);
    ck_assert_int_eq(ends_of(run_blocks, test_context()), 1);
    ck_assert_int_eq(ends_of(open_contexts, NULL), 1);
}
END_TEST

/* Whether they got a block or not. */
START_TEST(workers_end_with_their_context) {
    for (int threads = 1; threads <= 4; threads++) {
        szg_context *context;
        int before = atomic_load(&ends);
        ck_assert_int_eq(szg_context_open(&(szg_context_options){SZG_INIT(szg_context_options),
                                                                 .threads = threads},
                                          &context),
                         SZG_OK);
        ck_assert_int_eq(szgi_pool_run(context, 20, empty_block, NULL), SZG_OK);
        ck_assert_int_eq(atomic_load(&ends), before);
        szg_context_close(&context);
        ck_assert_int_eq(atomic_load(&ends), before + threads - 1);
    }
}
END_TEST

/* A thread's own data of another library may be destroyed later, and use this one for it. */
static void use_again(void *unused) {
    take_memory(unused);
    atomic_fetch_add(&ends, 100);
}

/* glibc's, as in thread.c: destroyed after what is registered later. */
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));

static void *use_at_the_end(void *unused) {
    __cxa_thread_atexit_impl(use_again, NULL, &__dso_handle);
    return take_memory(unused);
}

START_TEST(a_thread_that_goes_on_ends_again) {
    ck_assert_int_eq(ends_of(use_at_the_end, NULL), 1 + 100 + 1);
}
END_TEST

/* The thread that calls exit ends with the process. */
START_TEST(the_end_of_the_process_counts) {
    int ends_pipe[2], status;
    char told_of[4];
    ck_assert_int_eq(pipe(ends_pipe), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        told = ends_pipe[1];
        take_memory(NULL);
        exit(0);
    }
    close(ends_pipe[1]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(read(ends_pipe[0], told_of, sizeof told_of), 1);
    close(ends_pipe[0]);
}
END_TEST

TEST_FILE("thread") {
    test_add(suite, "threads_that_used_the_library_end_once",
             threads_that_used_the_library_end_once);
    test_add(suite, "workers_end_with_their_context", workers_end_with_their_context);
    test_add(suite, "a_thread_that_goes_on_ends_again", a_thread_that_goes_on_ends_again);
    test_add(suite, "the_end_of_the_process_counts", the_end_of_the_process_counts);
}

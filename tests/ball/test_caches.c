/* What Arb and FLINT keep for a thread is freed when it ends: FLINT's blocks are counted. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "ball/arb.h"
#include "base/pool.h"

#include "suite.h"

/* More bits than the constants in Arb's own tables have: it computes them, and keeps them. */
enum { BITS = 8192, THREADS = 3, BLOCKS = 24 };

static atomic_long blocks;

static void *counted(void *block) {
    atomic_fetch_add(&blocks, 1);
    return block;
}

static void *count_alloc(size_t bytes) {
    return counted(malloc(bytes));
}

static void *count_calloc(size_t count, size_t size) {
    return counted(calloc(count, size));
}

static void *count_realloc(void *block, size_t bytes) {
    return block ? realloc(block, bytes) : count_alloc(bytes);
}

static void count_free(void *block) {
    if (block)
        atomic_fetch_sub(&blocks, 1);
    free(block);
}

/* Of the calling thread, which may be a former case's. */
static void count_blocks(void) {
    flint_cleanup();
    __flint_set_memory_functions(count_alloc, count_calloc, count_realloc, count_free);
    atomic_store(&blocks, 0);
}

static void stop_counting(void) {
    __flint_set_memory_functions(malloc, calloc, realloc, free);
}

static szg_status use_balls(szg_context *context) {
    static const double weights[] = {1, .5, .25};
    static const szgi_phase phases[] = {
        {.radians = 0}, {.radians = .7}, {.rational = true, .p = 3, .q = 7}};
    szg_range range;
    return szgi_ball_range(context, 3, weights, phases, SZGI_PHASE_TIMES_INDEX, BITS, &range);
}

static void *use_and_end(void *unused) {
    szg_context *context;
    ck_assert_int_eq(
        szg_context_open(&(szg_context_options){SZG_INIT(szg_context_options), .threads = 1},
                         &context),
        SZG_OK);
    ck_assert_int_eq(use_balls(context), SZG_OK);
    szg_context_close(&context);
    ck_assert_int_gt(atomic_load(&blocks), 0); /* that is what the thread would leave */
    return unused;
}

static void run_thread(void *(*work)(void *), void *argument) {
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, work, argument), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

START_TEST(a_thread_of_the_callers_leaves_nothing) {
    count_blocks();
    for (int repeat = 0; repeat < 3; repeat++) {
        run_thread(use_and_end, NULL);
        ck_assert_int_eq(atomic_load(&blocks), 0);
    }
    stop_counting();
}
END_TEST

static szg_status use_in_block(szg_context *context, void *unused, int64_t block, int worker) {
    (void)unused, (void)block, (void)worker;
    return use_balls(context);
}

/* The caller's thread takes blocks too, and goes on: its own are freed by hand here. */
START_TEST(a_pool_leaves_nothing) {
    count_blocks();
    for (int repeat = 0; repeat < 3; repeat++) {
        szg_context *context;
        ck_assert_int_eq(szg_context_open(&(szg_context_options){SZG_INIT(szg_context_options),
                                                                 .threads = THREADS},
                                          &context),
                         SZG_OK);
        ck_assert_int_eq(szgi_pool_run(context, BLOCKS, use_in_block, NULL), SZG_OK);
        ck_assert_int_gt(atomic_load(&blocks), 0);
        szg_context_close(&context);
        flint_cleanup();
        ck_assert_int_eq(atomic_load(&blocks), 0);
    }
    stop_counting();
}
END_TEST

/* Numbers of one thread that another one computes with, making none of its own. */
typedef struct exponential_job {
    szg_context *context;
    arb_ptr number;
} exponential_job;

static szg_status exponential(szg_context *context, void *argument, int64_t block, int worker) {
    const exponential_job *job = argument;
    (void)context, (void)worker;
    arb_exp(job->number + block, job->number + block, BITS);
    return SZG_OK;
}

static void *apply_and_end(void *argument) {
    exponential_job *job = argument;
    ck_assert_int_eq(szgi_pool_run(job->context, BLOCKS, exponential, job), SZG_OK);
    return NULL;
}

START_TEST(numbers_of_another_thread_leave_nothing) {
    exponential_job job;
    count_blocks();
    ck_assert_int_eq(
        szg_context_open(&(szg_context_options){SZG_INIT(szg_context_options), .threads = THREADS},
                         &job.context),
        SZG_OK);
    job.number = _arb_vec_init(BLOCKS);
    for (slong i = 0; i < BLOCKS; i++) {
        arb_set_si(job.number + i, i + 1);
        arb_div_si(job.number + i, job.number + i, 7, BITS);
    }
    run_thread(apply_and_end, &job);
    _arb_vec_clear(job.number, BLOCKS);
    szg_context_close(&job.context);
    flint_cleanup();
    ck_assert_int_eq(atomic_load(&blocks), 0);
    stop_counting();
}
END_TEST

TEST_FILE("caches") {
    test_add(suite, "a_thread_of_the_callers_leaves_nothing",
             a_thread_of_the_callers_leaves_nothing);
    test_add(suite, "a_pool_leaves_nothing", a_pool_leaves_nothing);
    test_add(suite, "numbers_of_another_thread_leave_nothing",
             numbers_of_another_thread_leave_nothing);
}

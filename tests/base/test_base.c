/* Base: random numbers against published vectors, the pool, memory, tables, files, the context. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comma_locale.h"
#include "suite.h"

/* Known answers of Random123's distribution (kat_vectors, philox4x32 with 10 rounds). */
START_TEST(philox_known_answers) {
    szg_stream zero = {0};
    const uint32_t words[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
    for (uint64_t i = 0; i < 4; i++)
        ck_assert_uint_eq(szg_random_word(&zero, i), words[i]);
}
END_TEST

/* Ten rounds written out from the paper's definition, against the library's. */
static void philox_by_definition(uint32_t counter[4], uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; round++) {
        uint64_t a = 0xD2511F53ull * counter[0], b = 0xCD9E8D57ull * counter[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ counter[1] ^ key0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ counter[3] ^ key1, (uint32_t)a};
        memcpy(counter, next, sizeof next);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

START_TEST(philox_counter_layout) {
    szg_stream stream = {.seed = 0x0123456789abcdefull, .step = 77, .purpose = 0xfeed0001u};
    for (uint64_t index = 0; index < 64; index += 4) {
        uint32_t counter[4] = {(uint32_t)(index / 4), 77, 0xfeed0001u, 0};
        philox_by_definition(counter, 0x89abcdefu, 0x01234567u);
        for (uint64_t lane = 0; lane < 4; lane++)
            ck_assert_uint_eq(szg_random_word(&stream, index + lane), counter[lane]);
    }
}
END_TEST

START_TEST(random_moments) {
    szg_stream stream = {.seed = test_seed(), .purpose = 3};
    enum { COUNT = 100000 };
    double sum = 0, square = 0, fourth = 0, uniform = 0;
    for (int i = 0; i < COUNT; i++) {
        double x = szg_random_normal(&stream, (uint64_t)i);
        double u = szg_random_uniform(&stream, (uint64_t)i);
        ck_assert(u >= 0 && u < 1);
        ck_assert(isfinite(x));
        sum += x;
        square += x * x;
        fourth += x * x * x * x;
        uniform += u;
    }
    /* Six standard errors: 1, sqrt 2, sqrt 96, sqrt(1/12), each over sqrt(COUNT). */
    double error = 6 / sqrt(COUNT);
    ck_close(sum / COUNT, 0, error);
    ck_close(square / COUNT, 1, error * sqrt(2));
    ck_close(fourth / COUNT, 3, error * sqrt(96));
    ck_close(uniform / COUNT, 0.5, error * sqrt(1.0 / 12));
}
END_TEST

START_TEST(random_below_stays_below) {
    szg_stream stream = {.seed = test_seed()};
    bool seen[7] = {false};
    for (uint64_t i = 0; i < 1000; i++) {
        int64_t value = szg_random_below(&stream, i, 7);
        ck_assert(value >= 0 && value < 7);
        seen[value] = true;
        ck_assert_int_eq(szg_random_below(&stream, i, 1), 0);
    }
    for (int i = 0; i < 7; i++)
        ck_assert(seen[i]);
}
END_TEST

START_TEST(random_fill_is_the_same_numbers) {
    szg_stream stream = {.seed = test_seed(), .step = 1};
    double normal[9], uniform[9];
    szg_random_fill_normal(&stream, 5, 9, normal);
    szg_random_fill_uniform(&stream, 5, 9, uniform);
    for (uint64_t i = 0; i < 9; i++) {
        ck_assert(normal[i] == szg_random_normal(&stream, 5 + i));
        ck_assert(uniform[i] == szg_random_uniform(&stream, 5 + i));
    }
}
END_TEST

enum { BLOCKS = 1000 };

typedef struct pool_job {
    atomic_int runs[BLOCKS];
    int64_t fail_at;
} pool_job;

static szg_status count_block(szg_context *context, void *argument, int64_t block, int worker) {
    pool_job *job = argument;
    ck_assert(worker >= 0 && worker < szg_context_threads(context));
    atomic_fetch_add(&job->runs[block], 1);
    if (block == job->fail_at)
        return szg_fail(context, SZG_EDOMAIN, "block %lld", (long long)block);
    return SZG_OK;
}

START_TEST(pool_runs_each_block_once) {
    pool_job *job = calloc(1, sizeof *job);
    job->fail_at = -1;
    for (int repeat = 1; repeat <= 50; repeat++) {
        ck_szg_ok(szg_pool_run(test_context(), BLOCKS, count_block, job));
        for (int i = 0; i < BLOCKS; i++)
            ck_assert_int_eq(atomic_load(&job->runs[i]), repeat);
    }
    ck_szg_ok(szg_pool_run(test_context(), 0, count_block, job));
    ck_szg_fails(SZG_EINVAL, "negative", szg_pool_run(test_context(), -1, count_block, job));
    free(job);
}
END_TEST

START_TEST(pool_reports_the_failure) {
    pool_job *job = calloc(1, sizeof *job);
    job->fail_at = 10;
    ck_szg_fails(SZG_EDOMAIN, "block 10", szg_pool_run(test_context(), BLOCKS, count_block, job));
    int runs = 0;
    for (int i = 0; i < BLOCKS; i++)
        runs += atomic_load(&job->runs[i]);
    ck_assert_int_lt(runs, BLOCKS);
    free(job);
}
END_TEST

static szg_status nest(szg_context *context, void *argument, int64_t block, int worker) {
    (void)block, (void)worker;
    return szg_pool_run(context, 10, count_block, argument);
}

START_TEST(pool_nests_serially) {
    pool_job *job = calloc(1, sizeof *job);
    job->fail_at = -1;
    ck_szg_ok(szg_pool_run(test_context(), 20, nest, job));
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(atomic_load(&job->runs[i]), 20);
    free(job);
}
END_TEST

static double read_clock(void *user) {
    return *(const double *)user;
}

static szg_context *open_threads(int threads) {
    szg_context *context;
    szg_context_options options = {.threads = threads};
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    return context;
}

/* ---- One context's blocks use another context ---- */

typedef struct nested_job {
    szg_context *inner[4]; /* one for each worker of the outer context */
    szg_context *outer;
    atomic_int blocks;
    int outer_worker; /* in the innermost calls */
} nested_job;

static szg_status innermost_block(szg_context *context, void *argument, int64_t block, int worker) {
    nested_job *job = argument;
    (void)context, (void)block;
    ck_assert_int_eq(worker, job->outer_worker);
    return SZG_OK;
}

/* Scratch of one number a worker, as the library's own jobs have it. */
typedef struct inner_job {
    nested_job *outer;
    int outer_worker;
    int64_t *scratch;
} inner_job;

static szg_status inner_block(szg_context *context, void *argument, int64_t block, int worker) {
    inner_job *job = argument;
    ck_assert(worker >= 0 && worker < szg_context_threads(context));
    job->scratch[worker] += block;
    atomic_fetch_add(&job->outer->blocks, 1);
    /* Back to the outer context: the number that it gave this thread. */
    nested_job again = {.outer_worker = job->outer_worker};
    return szg_pool_run(job->outer->outer, 2, innermost_block, &again);
}

static szg_status outer_block(szg_context *context, void *argument, int64_t block, int worker) {
    nested_job *job = argument;
    (void)context, (void)block;
    ck_assert(szg_pool_is_inside());
    szg_context *inner = job->inner[worker];
    inner_job own = {.outer = job, .outer_worker = worker};
    own.scratch = calloc((size_t)szg_context_threads(inner), sizeof *own.scratch);
    ck_assert_int_eq(szg_pool_run(inner, 5, inner_block, &own), SZG_OK);
    int64_t sum = 0;
    for (int i = 0; i < szg_context_threads(inner); i++)
        sum += own.scratch[i];
    ck_assert_int_eq(sum, 0 + 1 + 2 + 3 + 4);
    free(own.scratch);
    sched_yield(); /* so that every worker gets blocks */
    return SZG_OK;
}

START_TEST(nested_contexts_count_their_own_workers) {
    for (int threads = 1; threads <= 3; threads++) {
        nested_job job = {.outer = open_threads(4)};
        for (int i = 0; i < 4; i++)
            job.inner[i] = open_threads(threads);
        ck_assert_int_eq(szg_pool_run(job.outer, BLOCKS, outer_block, &job), SZG_OK);
        ck_assert_int_eq(atomic_load(&job.blocks), 5 * BLOCKS);
        for (int i = 0; i < 4; i++)
            szg_context_close(&job.inner[i]);
        szg_context_close(&job.outer);
    }
}
END_TEST

/* What a nested context says is its own, and leaves the outer one's words alone. */
static szg_status failing_inside(szg_context *context, void *argument, int64_t block, int worker) {
    szg_context *inner = ((szg_context **)argument)[worker];
    pool_job job = {.fail_at = 2};
    (void)szg_fail(context, SZG_EDATA, "outer %lld", (long long)block);
    ck_assert_int_eq(szg_pool_run(inner, 5, count_block, &job), SZG_EDOMAIN);
    ck_assert_str_eq(szg_context_message(inner), "block 2");
    char own[32];
    snprintf(own, sizeof own, "outer %lld", (long long)block);
    ck_assert_str_eq(szg_context_message(context), own);
    return SZG_OK;
}

START_TEST(nested_contexts_keep_their_messages) {
    szg_context *outer = open_threads(4), *inner[4];
    for (int i = 0; i < 4; i++)
        inner[i] = open_threads(2);
    (void)szg_fail(outer, SZG_EIO, "before");
    ck_assert_int_eq(szg_pool_run(outer, BLOCKS, failing_inside, inner), SZG_OK);
    ck_assert_str_eq(szg_context_message(outer), "before"); /* what was handled is not told */
    for (int i = 0; i < 4; i++)
        szg_context_close(&inner[i]);
    szg_context_close(&outer);
}
END_TEST

/* ---- Two blocks fail ---- */

typedef struct race_job {
    int first;        /* the block that fails first; the other one waits for it */
    atomic_int begun; /* blocks that have begun */
    atomic_bool failed;
} race_job;

static szg_status racing_block(szg_context *context, void *argument, int64_t block, int worker) {
    static const szg_status statuses[] = {SZG_EDOMAIN, SZG_ENOCONV};
    race_job *job = argument;
    (void)worker;
    ck_assert_int_lt(block, 2); /* a third block begins after neither failure */
    atomic_fetch_add(&job->begun, 1);
    while (atomic_load(&job->begun) < 2 || (block != job->first && !atomic_load(&job->failed)))
        sched_yield();
    (void)szg_fail(context, SZG_EDATA, "%lld", (long long)block);
    (void)szg_fail_prefix(context, SZG_EDATA, "block");
    if (block == job->first)
        atomic_store(&job->failed, true);
    return statuses[block];
}

START_TEST(the_lowest_failure_keeps_its_message) {
    szg_context *context = open_threads(2);
    for (int trial = 0; trial < 100; trial++) {
        race_job job = {.first = trial % 2};
        ck_assert_int_eq(szg_pool_run(context, 3, racing_block, &job), SZG_EDOMAIN);
        ck_assert_str_eq(szg_context_message(context), "block: 0");
    }
    szg_context_close(&context);
}
END_TEST

/* ---- Several threads, each with contexts of its own ---- */

static void *use_contexts(void *argument) {
    int threads = *(int *)argument;
    pool_job *job = calloc(1, sizeof *job);
    for (int repeat = 1; repeat <= 10; repeat++) {
        szg_context *context = open_threads(threads);
        job->fail_at = -1;
        ck_assert_int_eq(szg_pool_run(context, BLOCKS, count_block, job), SZG_OK);
        ck_assert_int_eq(szg_pool_run(context, 20, nest, job), SZG_OK);
        job->fail_at = 7;
        ck_assert_int_eq(szg_pool_run(context, 20, nest, job), SZG_EDOMAIN);
        ck_assert_str_eq(szg_context_message(context), "block 7");
        ck_assert_int_ge(atomic_load(&job->runs[BLOCKS - 1]), repeat);
        szg_context_close(&context);
    }
    free(job);
    return NULL;
}

START_TEST(several_threads_have_several_contexts) {
    pthread_t thread[4];
    int threads[] = {1, 2, 3, 4};
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, use_contexts, &threads[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}
END_TEST

/* ---- After a fork ---- */

/* In the child: 0, or the number of the check that failed. */
static int use_after_fork(szg_context *context) {
    pool_job *job = calloc(1, sizeof *job);
    job->fail_at = -1;
    if (szg_pool_run(context, BLOCKS, count_block, job) != SZG_EINVAL)
        return 1;
    if (!strstr(szg_context_message(context), "open a context in the child"))
        return 2;
    szg_context_close(&context);
    if (context)
        return 3;
#ifndef __SANITIZE_THREAD__ /* it stops a process that starts threads after a fork */
    context = open_threads(3);
    if (szg_pool_run(context, BLOCKS, count_block, job) != SZG_OK)
        return 4;
    szg_context_close(&context);
#endif
    free(job);
    return 0;
}

START_TEST(a_fork_does_not_take_the_context_along) {
    for (int threads = 1; threads <= 3; threads += 2) {
        szg_context *context = open_threads(threads);
        pool_job *job = calloc(1, sizeof *job);
        job->fail_at = -1;
        ck_assert_int_eq(szg_pool_run(context, BLOCKS, count_block, job), SZG_OK);
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            alarm(20); /* a hang ends with a signal */
            _exit(use_after_fork(context));
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        ck_assert_int_eq(szg_pool_run(context, BLOCKS, count_block, job), SZG_OK);
        free(job);
        szg_context_close(&context);
    }
}
END_TEST

START_TEST(a_deadline_stops_work_and_can_be_lifted) {
    double now = 1000;
    szg_context_options options = {.threads = 1, .clock = read_clock, .user = &now};
    szg_context *context;
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    ck_assert_double_eq(szg_context_seconds(context), now);
    szg_context_set_deadline(context, 1e300); /* far away, and no overflow */
    now = 1e8;
    ck_assert_int_eq(szg_context_check_cancel(context), SZG_OK);
    szg_context_set_deadline(context, .5);
    now += .25;
    ck_assert_int_eq(szg_context_check_cancel(context), SZG_OK);
    now += .25;
    ck_assert_int_eq(szg_context_check_cancel(context), SZG_ECANCEL);
    ck_assert_str_eq(szg_context_message(context), "the time is up");
    ck_assert(!szg_context_is_cancelled(context));
    szg_context_defer_cancel(context, true);
    ck_assert_int_eq(szg_context_check_cancel(context), SZG_OK);
    szg_context_defer_cancel(context, false);
    ck_assert_int_eq(szg_context_check_cancel(context), SZG_ECANCEL);
    szg_context_set_deadline(context, 0);
    ck_assert_int_eq(szg_context_check_cancel(context), SZG_OK);
    szg_context_cancel(context);
    ck_assert(szg_context_is_cancelled(context));
    ck_assert_int_eq(szg_context_check_cancel(context), SZG_ECANCEL);
    ck_assert_str_eq(szg_context_message(context), "interrupted");
    szg_context_close(&context);
}
END_TEST

/* Without a clock of the caller's it is one that goes on by itself and never back. */
START_TEST(a_deadline_comes_by_itself) {
    szg_context *context;
    ck_assert_int_eq(szg_context_open(NULL, &context), SZG_OK);
    double begin = szg_context_seconds(context);
    szg_context_set_deadline(context, .01);
    for (double last = begin; szg_context_check_cancel(context) == SZG_OK;) {
        double now = szg_context_seconds(context);
        ck_assert_double_ge(now, last);
        last = now;
    }
    /* Whole nanoseconds, and doubles of a clock that may have run for years: 1e-7 s. */
    ck_assert_double_ge(szg_context_seconds(context) - begin, .01 - 1e-7);
    szg_context_close(&context);
}
END_TEST

START_TEST(cancel_stops_the_pool) {
    szg_context *context;
    szg_context_options options = {.threads = 3};
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_OK);
    pool_job *job = calloc(1, sizeof *job);
    job->fail_at = -1;
    szg_context_cancel(context);
    szg_context_defer_cancel(context, true); /* what is deferred is finished first */
    ck_assert_int_eq(szg_pool_run(context, BLOCKS, count_block, job), SZG_OK);
    ck_assert_int_eq(atomic_exchange(&job->runs[0], 0), 1);
    szg_context_defer_cancel(context, false);
    ck_assert_int_eq(szg_pool_run(context, BLOCKS, count_block, job), SZG_ECANCEL);
    ck_assert_int_eq(atomic_load(&job->runs[0]), 0);
    ck_assert_str_eq(szg_context_message(context), "interrupted");
    free(job);
    szg_context_close(&context);
    ck_assert_ptr_null(context);
    szg_context_close(&context);
}
END_TEST

START_TEST(context_refuses_bad_options) {
    szg_context *context;
    szg_context_options options = {.threads = -1};
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_EINVAL);
    options.threads = 1025;
    ck_assert_int_eq(szg_context_open(&options, &context), SZG_EINVAL);
    ck_assert_ptr_null(context);
}
END_TEST

START_TEST(messages_are_prefixed_and_bounded) {
    szg_context *context = test_context();
    ck_assert_int_eq(szg_fail(context, SZG_EIO, "n = %d", 3), SZG_EIO);
    ck_assert_int_eq(szg_fail_prefix(context, SZG_EIO, "file %s", "a.npy"), SZG_EIO);
    ck_assert_str_eq(szg_context_message(context), "file a.npy: n = 3");
    ck_assert_int_eq(szg_fail_prefix(context, SZG_EIO, "file a.npy"), SZG_EIO); /* not twice */
    ck_assert_str_eq(szg_context_message(context), "file a.npy: n = 3");
    char longest[5000];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    (void)szg_fail(context, SZG_EIO, "%s", longest);
    (void)szg_fail_prefix(context, SZG_EIO, "p");
    ck_assert_int_eq(strncmp(szg_context_message(context), "p: xxx", 6), 0);
    (void)szg_fail_prefix(context, SZG_EIO, "%s", longest);
    ck_assert_uint_lt(strlen(szg_context_message(context)), 2048);
    for (int status = -1; status <= SZG_STATUS_COUNT; status++)
        ck_assert_uint_gt(strlen(szg_status_name((szg_status)status)), 0);
}
END_TEST

START_TEST(memory_checks_sizes) {
    szg_context *context = test_context();
    char *block;
    ck_szg_fails(SZG_EINVAL, "negative", szg_memory_alloc(context, -1, 8, &block));
    ck_assert_ptr_null(block);
    ck_szg_fails(SZG_ENOMEM, "refused", szg_memory_alloc(context, INT64_MAX, 8, &block));
    ck_szg_fails(SZG_ENOMEM, "refused", szg_memory_alloc(context, INT64_MAX / 8, 8, &block));
    ck_szg_ok(szg_memory_alloc(context, 0, 8, &block));
    ck_assert_ptr_nonnull(block);
    szg_memory_free(block);
    ck_szg_ok(szg_memory_alloc(context, 3, 1, &block));
    ck_assert_uint_eq((uintptr_t)block % 64, 0);
    memcpy(block, "abc", 3);
    ck_szg_ok(szg_memory_grow(context, &block, 3, 100, 1));
    ck_assert_int_eq(memcmp(block, "abc\0\0", 5), 0);
    szg_memory_fail_after(context, 1);
    ck_szg_fails(SZG_ENOMEM, "refused", szg_memory_grow(context, &block, 100, 200, 1));
    ck_assert_int_eq(memcmp(block, "abc", 3), 0);
    szg_memory_free(block);
}
END_TEST

START_TEST(memory_products_and_limits) {
    szg_context *context = test_context();
    int64_t product;
    ck_szg_ok(szg_memory_product(context, 1 << 20, 1 << 20, &product));
    ck_assert_int_eq(product, 1ll << 40);
    ck_szg_fails(SZG_ENOMEM, "overflow", szg_memory_product(context, 1ll << 40, 1 << 30, &product));
    ck_szg_fails(SZG_EINVAL, "negative", szg_memory_product(context, -1, 2, &product));
    ck_szg_ok(szg_memory_require(context, 1000, 1000, 8, "a dense matrix", "use less"));
    ck_szg_fails(SZG_ENOMEM, "use --range",
                 szg_memory_require(context, 1 << 30, 1 << 30, 8, "a dense matrix", "use --range"));
    ck_assert(strstr(szg_context_message(context), "8.0 EiB"));
    int64_t have = szg_memory_available();
    ck_assert_int_gt(have, 0);
    char *block; /* Linux would grant it, and kill the process that fills it */
    ck_szg_fails(SZG_ENOMEM, "are available: ask for less",
                 szg_memory_alloc(context, have / 8 + (1 << 28), 9, &block));
    ck_assert_ptr_null(block);
}
END_TEST

static const szg_column columns[] = {{"name", SZG_TEXT, "who"},
                                     {"index", SZG_INTEGER, "which"},
                                     {"value", SZG_REAL, "how much"},
                                     {"note", SZG_TEXT, "why"}};

static szg_status fill_table(szg_context *context, szg_table *table, int64_t rows) {
    char name[32];
    for (int64_t i = 0; i < rows; i++) {
        SZG_TRY(szg_table_add_row(context, table));
        snprintf(name, sizeof name, "row %d", (int)(i % 200));
        SZG_TRY(szg_table_set_text(context, table, "name", name));
        SZG_TRY(szg_table_set_integer(context, table, "index", i));
        if (i % 2)
            SZG_TRY(szg_table_set_real(context, table, "value", (double)i / 3));
    }
    return SZG_OK;
}

START_TEST(table_keeps_cells) {
    szg_context *context = test_context();
    szg_table *table, *copy;
    ck_szg_ok(szg_table_open(context, "t", columns, 4, &table));
    ck_szg_fails(SZG_EINVAL, "no row", szg_table_set_integer(context, table, "index", 1));
    ck_szg_ok(fill_table(context, table, 1000));
    ck_szg_ok(szg_table_open(context, "copy", columns, 4, &copy));
    ck_szg_ok(szg_table_append(context, copy, table));
    szg_table_close(&table);
    ck_assert_int_eq(szg_table_rows(copy), 1000);
    for (int64_t i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof name, "row %d", (int)(i % 200));
        ck_assert_str_eq(szg_table_get_text(copy, i, 0), name);
        ck_assert_int_eq(szg_table_get_integer(copy, i, 1), i);
        ck_assert(szg_table_get_real(copy, i, 1) == (double)i);
        ck_assert_int_eq(szg_table_is_empty(copy, i, 2), i % 2 == 0);
        double value = szg_table_get_real(copy, i, 2);
        ck_assert(i % 2 ? value == (double)i / 3 : isnan(value));
        ck_assert_ptr_null(szg_table_get_text(copy, i, 3));
    }
    szg_table_close(&copy);
    szg_table_close(&copy);
}
END_TEST

/* By index or by name, with room made before or not: the same table. */
START_TEST(table_takes_cells_by_index) {
    szg_context *context = test_context();
    szg_table *table;
    ck_szg_ok(szg_table_open(context, "t", columns, 4, &table));
    ck_szg_ok(szg_table_add_row(context, table));
    ck_szg_ok(szg_table_put_integer(context, table, 1, 5));
    ck_szg_ok(szg_table_reserve(context, table, 100));
    ck_szg_ok(szg_table_reserve(context, table, 3));
    ck_assert_int_eq(szg_table_rows(table), 1);
    ck_assert_int_eq(szg_table_get_integer(table, 0, 1), 5);
    for (int64_t i = 1; i < 300; i++) {
        ck_szg_ok(szg_table_add_row(context, table));
        for (int64_t k = 0; k < 4; k++)
            ck_assert(szg_table_is_empty(table, i, k));
        ck_szg_ok(szg_table_put_real(context, table, 2, (double)i / 7));
        ck_szg_ok(szg_table_put_text(context, table, 3, i % 3 ? "x" : NULL));
        ck_assert(szg_table_get_real(table, i, 2) == (double)i / 7);
        ck_assert_int_eq(szg_table_is_empty(table, i, 3), i % 3 == 0);
    }
    ck_assert_int_eq(szg_table_get_integer(table, 0, 1), 5);
    szg_table_close(&table);
}
END_TEST

START_TEST(table_refuses_mistakes) {
    szg_context *context = test_context();
    szg_table *table;
    const szg_column twice[] = {{"a", SZG_TEXT, ""}, {"a", SZG_REAL, ""}};
    ck_szg_fails(SZG_EINVAL, "twice", szg_table_open(context, "t", twice, 2, &table));
    ck_szg_fails(SZG_EINVAL, "no columns", szg_table_open(context, "t", twice, 0, &table));
    ck_szg_ok(szg_table_open(context, "t", columns, 4, &table));
    ck_szg_ok(szg_table_add_row(context, table));
    ck_szg_fails(SZG_EINVAL, "no column x", szg_table_set_real(context, table, "x", 1));
    ck_szg_fails(SZG_EINVAL, "another type", szg_table_set_real(context, table, "index", 1));
    ck_szg_fails(SZG_EINVAL, "no column 4", szg_table_put_real(context, table, 4, 1));
    ck_szg_fails(SZG_EINVAL, "no column -1", szg_table_put_text(context, table, -1, "x"));
    ck_szg_fails(SZG_EINVAL, "another type", szg_table_put_integer(context, table, 2, 1));
    ck_szg_fails(SZG_EINVAL, "", szg_table_reserve(context, table, -1));
    ck_szg_fails(SZG_ENOMEM, "", szg_table_reserve(context, table, INT64_MAX / 4));
    ck_szg_ok(szg_table_note(context, table, "first %d", 1));
    ck_szg_ok(szg_table_note(context, table, "second"));
    ck_assert_str_eq(szg_table_get_text(table, 0, 3), "first 1; second");
    szg_table *other;
    ck_szg_ok(szg_table_open(context, "o", columns, 3, &other));
    ck_szg_fails(SZG_EINVAL, "differ", szg_table_append(context, table, other));
    szg_table_close(&other);
    szg_table_close(&table);
}
END_TEST

/* Every allocation fails in turn; nothing leaks (LeakSanitizer watches) and nothing is lost. */
START_TEST(table_survives_failed_allocations) {
    szg_context *context = test_context();
    szg_status status = SZG_ENOMEM;
    for (int64_t at = 1; status != SZG_OK; at++) {
        szg_table *table = NULL;
        szg_memory_fail_after(context, at);
        status = szg_table_open(context, "t", columns, 4, &table);
        if (status == SZG_OK)
            status = fill_table(context, table, 100);
        szg_table_close(&table);
        ck_assert(status == SZG_OK || status == SZG_ENOMEM);
        ck_assert_int_lt(at, 1000);
    }
    szg_memory_fail_after(context, 0);
}
END_TEST

/* "0,1,2," and so on: long enough to grow several times and to pass stdio's buffer. */
static szg_status print_numbers(szg_text *out, int count) {
    SZG_TRY(szg_text_open(test_context(), out));
    for (int i = 0; i < count; i++)
        fprintf(out->stream, "%d,", i);
    return szg_text_end(out, SZG_OK);
}

static szg_status print_and_close(int count) {
    szg_text text;
    szg_status status = print_numbers(&text, count);
    ck_assert_int_eq(text.text != NULL, status == SZG_OK);
    szg_text_close(&text);
    return status;
}

START_TEST(text_grows) {
    static const int counts[] = {0, 1, 100, 10000};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        szg_text text;
        ck_szg_ok(print_numbers(&text, counts[k]));
        ck_assert_ptr_null(text.stream);
        char *at = text.text;
        for (long i = 0; i < counts[k]; i++) {
            ck_assert_int_eq(strtol(at, &at, 10), i);
            ck_assert_int_eq(*at++, ',');
        }
        ck_assert_int_eq(*at, 0);
        ck_assert_int_eq(at - text.text, text.length);
        szg_text_close(&text);
        szg_text_close(&text);
    }
    szg_text text;
    ck_szg_ok(szg_text_open(test_context(), &text));
    ck_assert_int_eq(fwrite("a\0b", 1, 3, text.stream), 3); /* any bytes */
    ck_szg_ok(szg_text_end(&text, SZG_OK));
    ck_assert_int_eq(text.length, 3);
    ck_assert_int_eq(memcmp(text.text, "a\0b", 4), 0);
    szg_text_close(&text);
    ck_szg_ok(szg_text_open(test_context(), &text));
    szg_text_close(&text); /* without its end */
}
END_TEST

/* Whatever the work noticed, a refusal is told, and nothing that was cut off is handed out. */
START_TEST(text_remembers_a_refusal) {
    szg_context *context = test_context();
    /* The text, its first memory, and at least one growth, as stdio hands over its buffer. */
    ck_survives_failed_allocations(3, print_and_close(10000));
    szg_text text;
    ck_szg_ok(szg_text_open(context, &text));
    szg_memory_fail_after(context, 1);
    for (int i = 0; i < 100000; i++)
        fprintf(text.stream, "%d,", i); /* memory is there again after the first refusal */
    ck_szg_fails(SZG_ENOMEM, "a text of",
                 szg_text_end(&text, szg_fail(context, SZG_EIO, "the disk is full")));
    ck_assert_ptr_null(text.text);
    szg_text_close(&text);
    ck_szg_ok(szg_text_open(context, &text));
    ck_szg_fails(SZG_EDOMAIN, "the work",
                 szg_text_end(&text, szg_fail(context, SZG_EDOMAIN, "the work")));
    ck_assert_ptr_null(text.text);
    szg_text_close(&text);
}
END_TEST

START_TEST(a_comma_in_the_locale_changes_nothing) {
    szg_context *context = test_context();
    char text[SZG_REAL_TEXT], *end;
    double value = 0;
    enter_comma_locale();
    ck_assert_str_eq(szg_real_text(0.1, text), "0.1");
    ck_assert_str_eq(szg_hex_text(0.75, text), "0x1.8p-1");
    ck_assert(szg_real_parse("2.5", &value) && value == 2.5);
    ck_assert(!szg_real_parse("2,5", &value));
    ck_assert(szg_real_scan("1.5:x", &end) == 1.5 && *end == ':');
    ck_assert_int_eq(szg_print(text, sizeof text, "%.2f", 0.25), 4);
    ck_assert_str_eq(text, "0.25");
    (void)szg_fail(context, SZG_EIO, "rho=%g", 0.5);
    (void)szg_fail_prefix(context, SZG_EIO, "p=%g", 1.5);
    ck_assert_str_eq(szg_context_message(context), "p=1.5: rho=0.5");
    ck_szg_fails(SZG_ENOMEM, "8.0 EiB",
                 szg_memory_require(context, 1 << 30, 1 << 30, 8, "a dense matrix", "less"));
    szg_table *table;
    ck_szg_ok(szg_table_open(context, "t", columns, 4, &table));
    ck_szg_ok(szg_table_add_row(context, table));
    ck_szg_ok(szg_table_note(context, table, "off by %.1e", 2.5));
    ck_assert_str_eq(szg_table_get_text(table, 0, 3), "off by 2.5e+00");
    szg_table_close(&table);
    snprintf(text, sizeof text, "%.1f", 0.5); /* the caller's own choice stays */
    ck_assert_str_eq(text, "0,5");
    leave_comma_locale();
}
END_TEST

static void read_file(const char *path, char text[static 64]) {
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, 63, file);
    text[length] = 0;
    fclose(file);
}

START_TEST(writer_replaces_whole_files_only) {
    szg_context *context = test_context();
    char folder[] = "/tmp/szego-test-XXXXXX", path[64], text[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/deep/er", folder);
    ck_szg_ok(szg_folder_create(context, path));
    ck_szg_ok(szg_folder_create(context, path));
    snprintf(path, sizeof path, "%s/deep/er/file", folder);
    const char *contents[] = {"first", "second"};
    for (int i = 0; i < 2; i++) {
        szg_writer *writer;
        ck_szg_ok(szg_writer_open(context, path, &writer));
        fputs(contents[i], szg_writer_stream(writer));
        ck_szg_ok(szg_writer_commit(context, &writer));
        ck_assert_ptr_null(writer);
        read_file(path, text);
        ck_assert_str_eq(text, contents[i]);
    }
    szg_writer *writer;
    ck_szg_ok(szg_writer_open(context, path, &writer));
    fputs("never", szg_writer_stream(writer));
    szg_writer_discard(&writer);
    read_file(path, text);
    ck_assert_str_eq(text, "second");
    szg_mapping mapping;
    ck_szg_ok(szg_mapping_open(context, path, &mapping));
    ck_assert_int_eq(mapping.size, 6);
    ck_assert_int_eq(memcmp(mapping.data, "second", 6), 0);
    szg_mapping_close(&mapping);
    ck_szg_fails(SZG_EIO, "folder", szg_folder_create(context, path));
    ck_assert_int_eq(unlink(path), 0);
    snprintf(path, sizeof path, "%s/deep/er", folder);
    /* An empty folder: neither commit nor discard left a temporary file. */
    ck_assert_int_eq(rmdir(path), 0);
    snprintf(path, sizeof path, "%s/deep", folder);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

/* In a child, whose other threads could still write: what is open is gone, what is written stays.
 */
START_TEST(abandoned_writers_leave_no_file) {
    szg_context *context = test_context();
    char folder[] = "/tmp/szego-abandoned-XXXXXX", path[4][64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (int i = 0; i < 4; i++)
        snprintf(path[i], sizeof path[i], "%s/%d", folder, i);
    szg_writer *writer[4];
    for (int i = 0; i < 4; i++)
        ck_szg_ok(szg_writer_open(context, path[i], &writer[i]));
    ck_szg_ok(szg_writer_commit(context, &writer[2]));
    szg_writer_discard(&writer[1]);
    pid_t child = fork();
    if (child == 0) {
        szg_writer_abandon_all();
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(unlink(path[2]), 0);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was there */
    szg_writer_discard(&writer[0]);
    ck_szg_fails(SZG_EIO, "writing failed", szg_writer_commit(context, &writer[3]));
}
END_TEST

START_TEST(files_that_cannot_be) {
    szg_context *context = test_context();
    szg_writer *writer;
    szg_mapping mapping;
    ck_szg_fails(SZG_EIO, "No such file", szg_writer_open(context, "/nowhere/x", &writer));
    ck_assert_ptr_null(writer);
    ck_szg_fails(SZG_EIO, "No such file", szg_mapping_open(context, "/nowhere/x", &mapping));
    char pipe[64];
    snprintf(pipe, sizeof pipe, "/tmp/szego-pipe-%d", (int)getpid());
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    ck_szg_fails(SZG_EIO, "is not a regular file", szg_writer_open(context, pipe, &writer));
    unlink(pipe);
    ck_szg_fails(SZG_EDATA, "regular", szg_mapping_open(context, "/", &mapping));
    ck_szg_fails(SZG_EDATA, "regular", szg_mapping_open(context, "/dev/zero", &mapping));
}
END_TEST

/* What a reader by position sees of a file that another program writes to meanwhile. */
START_TEST(a_file_that_changes_while_it_is_read) {
    szg_context *context = test_context();
    szg_source *source;
    char path[64], text[8] = "";
    snprintf(path, sizeof path, "/tmp/szego-source-%d", (int)getpid());
    FILE *stream = fopen(path, "wb");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs("abcdef", stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
    /* A time that no later write can have. */
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
    ck_szg_ok(szg_source_open(context, path, &source));
    ck_assert_int_eq(szg_source_size(source), 6);
    ck_szg_ok(szg_source_read(context, source, 2, 3, text));
    ck_assert_str_eq(text, "cde");
    ck_szg_ok(szg_source_read(context, source, 6, 0, text));
    ck_szg_ok(szg_source_check(context, source));
    ck_assert_int_eq(truncate(path, 4), 0);
    ck_szg_fails(SZG_EIO, "its 6 bytes end before byte 4 now",
                 szg_source_read(context, source, 3, 3, text));
    ck_szg_fails(SZG_EIO, "(6 bytes before, 4 now)", szg_source_check(context, source));
    szg_source_close(&source);
    ck_assert_ptr_null(source);
    /* As many bytes as before: the time alone tells. */
    ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
    ck_szg_ok(szg_source_open(context, path, &source));
    ck_assert_ptr_nonnull(stream = fopen(path, "r+b"));
    ck_assert_int_eq(fputc('z', stream), 'z');
    ck_assert_int_eq(fclose(stream), 0);
    ck_szg_fails(SZG_EIO, "was changed while it was read", szg_source_check(context, source));
    szg_source_close(&source);
    /* What is renamed over the file does not touch the one that is open. */
    ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
    ck_szg_ok(szg_source_open(context, path, &source));
    szg_writer *writer;
    ck_szg_ok(szg_writer_open(context, path, &writer));
    fputs("a longer text", szg_writer_stream(writer));
    ck_szg_ok(szg_writer_commit(context, &writer));
    ck_szg_ok(szg_source_check(context, source));
    ck_szg_ok(szg_source_read(context, source, 0, 4, text));
    ck_assert_int_eq(memcmp(text, "zbcd", 4), 0);
    szg_source_close(&source);
    ck_assert_int_eq(unlink(path), 0);
    ck_szg_fails(SZG_EIO, "No such file", szg_source_open(context, path, &source));
    ck_assert_ptr_null(source);
    ck_szg_fails(SZG_EDATA, "regular", szg_source_open(context, "/", &source));
    szg_source_close(&source);
}
END_TEST

/* /dev/full accepts the open and refuses the data: the error must surface at commit. */
START_TEST(full_disk_is_reported) {
    szg_context *context = test_context();
    char path[] = "/tmp/szego-full-XXXXXX";
    int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    close(descriptor);
    szg_writer *writer;
    ck_szg_ok(szg_writer_open(context, path, &writer));
    ck_assert_ptr_nonnull(freopen("/dev/full", "w", szg_writer_stream(writer)));
    for (int i = 0; i < 100000; i++)
        fputs("data", szg_writer_stream(writer));
    ck_szg_fails(SZG_EIO, "old contents were kept", szg_writer_commit(context, &writer));
    struct stat info;
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_size, 0);
    unlink(path);
}
END_TEST

TEST_FILE("base") {
    test_add(suite, "philox_known_answers", philox_known_answers);
    test_add(suite, "philox_counter_layout", philox_counter_layout);
    test_add(suite, "random_moments", random_moments);
    test_add(suite, "random_below_stays_below", random_below_stays_below);
    test_add(suite, "random_fill_is_the_same_numbers", random_fill_is_the_same_numbers);
    test_add(suite, "pool_runs_each_block_once", pool_runs_each_block_once);
    test_add(suite, "pool_reports_the_failure", pool_reports_the_failure);
    test_add(suite, "pool_nests_serially", pool_nests_serially);
    test_add(suite, "nested_contexts_count_their_own_workers",
             nested_contexts_count_their_own_workers);
    test_add(suite, "nested_contexts_keep_their_messages", nested_contexts_keep_their_messages);
    test_add(suite, "the_lowest_failure_keeps_its_message", the_lowest_failure_keeps_its_message);
    test_add(suite, "several_threads_have_several_contexts", several_threads_have_several_contexts);
    test_add(suite, "a_fork_does_not_take_the_context_along",
             a_fork_does_not_take_the_context_along);
    test_add(suite, "deadline", a_deadline_stops_work_and_can_be_lifted);
    test_add(suite, "deadline_by_itself", a_deadline_comes_by_itself);
    test_add(suite, "cancel_stops_the_pool", cancel_stops_the_pool);
    test_add(suite, "context_refuses_bad_options", context_refuses_bad_options);
    test_add(suite, "messages_are_prefixed_and_bounded", messages_are_prefixed_and_bounded);
    test_add(suite, "memory_checks_sizes", memory_checks_sizes);
    test_add(suite, "memory_products_and_limits", memory_products_and_limits);
    test_add(suite, "text_grows", text_grows);
    test_add(suite, "text_remembers_a_refusal", text_remembers_a_refusal);
    test_add(suite, "a_comma_in_the_locale_changes_nothing", a_comma_in_the_locale_changes_nothing);
    test_add(suite, "table_keeps_cells", table_keeps_cells);
    test_add(suite, "table_takes_cells_by_index", table_takes_cells_by_index);
    test_add(suite, "table_refuses_mistakes", table_refuses_mistakes);
    test_add(suite, "table_survives_failed_allocations", table_survives_failed_allocations);
    test_add(suite, "writer_replaces_whole_files_only", writer_replaces_whole_files_only);
    test_add(suite, "abandoned_writers_leave_no_file", abandoned_writers_leave_no_file);
    test_add(suite, "files_that_cannot_be", files_that_cannot_be);
    test_add(suite, "a_file_that_changes_while_it_is_read", a_file_that_changes_while_it_is_read);
    test_add(suite, "full_disk_is_reported", full_disk_is_reported);
}

#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/thread.h"
#include "context_private.h"

/* Number 0 is the caller's thread. */
typedef struct pool_worker {
    szg_pool *pool;
    pthread_t thread;
    int index;
    /* The block of the job in progress that failed here, -1: none, its status and its message. */
    int64_t failed;
    szg_status status;
    char message[MESSAGE_SIZE];
} pool_worker;

struct szg_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    int workers; /* started threads, the caller not counted */
    int entered; /* of them, those that have entered the library; guarded by lock */
    pool_worker *worker;
    bool stop;
    /* The job in progress; guarded by lock. */
    uint64_t generation;
    int busy;
    szg_context *context;
    szgi_block_fn *run;
    void *job;
    int64_t blocks, next;
    int rounding; /* the caller's mode, which each worker takes on */
    bool failed;  /* a block has: no further one is begun */
};

/* On a thread that runs blocks of a job that is shared with other threads: whose job, and as which
 * worker. A nested call on any context then runs serially, so there is one at most. */
typedef struct pool_place {
    const szg_context *context;
    pool_worker *worker;
} pool_place;
static _Thread_local pool_place place;

bool szgi_pool_is_inside(void) {
    return place.context;
}

static bool take_block(szg_pool *pool, int64_t *block) {
    pthread_mutex_lock(&pool->lock);
    bool taken = !pool->failed && pool->next < pool->blocks;
    if (taken)
        *block = pool->next++;
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

static szg_status run_block(szg_context *context, szgi_block_fn *run, void *job, int64_t block,
                            int worker) {
    SZG_TRY(szgi_context_check_cancel(context));
    return run(context, job, block, worker);
}

static void run_blocks(szg_pool *pool, pool_worker *worker) {
    SZGI_KEEP_DENORMALS();
    place = (pool_place){pool->context, worker};
    szgi_message_redirect(pool->context, worker->message);
    worker->failed = -1;
    worker->message[0] = 0;
    int64_t block;
    while (worker->failed < 0 && take_block(pool, &block)) {
        szg_status status = run_block(pool->context, pool->run, pool->job, block, worker->index);
        if (status == SZG_OK)
            continue;
        worker->failed = block;
        worker->status = status;
        pthread_mutex_lock(&pool->lock);
        pool->failed = true;
        pthread_mutex_unlock(&pool->lock);
    }
    place = (pool_place){0};
    szgi_message_redirect(NULL, NULL);
}

/* Blocks are begun in their order, and one that is begun is ended: the lowest that fails is the
 * same whatever the threads. */
static szg_status report_failure(const szg_pool *pool) {
    const pool_worker *lowest = NULL;
    for (int i = 0; i <= pool->workers; i++) {
        const pool_worker *worker = &pool->worker[i];
        if (worker->failed >= 0 && (!lowest || worker->failed < lowest->failed))
            lowest = worker;
    }
    if (!lowest)
        return SZG_OK;
    memcpy(pool->context->message, lowest->message, MESSAGE_SIZE);
    return lowest->status;
}

static void *worker_main(void *argument) {
    pool_worker *self = argument;
    szg_pool *pool = self->pool;
    uint64_t seen = 0;
    szgi_thread_enter();
    pthread_mutex_lock(&pool->lock);
    if (++pool->entered == pool->workers)
        pthread_cond_signal(&pool->done);
    for (;;) {
        while (!pool->stop && pool->generation == seen)
            pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->stop)
            break;
        seen = pool->generation;
        pthread_mutex_unlock(&pool->lock);
        fesetround(pool->rounding);
        run_blocks(pool, self);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* A thread's first allocation maps 128 MiB of addresses for a moment and keeps half of them. Where
 * those are limited, whoever asks a moment before sees room that is about to go. */
static void await_entry(szg_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    while (pool->entered < pool->workers)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

szg_status szgi_pool_open(int threads, szg_pool **out) {
    *out = NULL;
    szg_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return SZG_ENOMEM;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->worker = calloc((size_t)threads, sizeof *pool->worker);
    for (int i = 1; pool->worker && i < threads; i++) {
        pool->worker[i].pool = pool;
        pool->worker[i].index = i;
        if (pthread_create(&pool->worker[i].thread, NULL, worker_main, &pool->worker[i]) != 0)
            break;
        pthread_mutex_lock(&pool->lock);
        pool->workers++;
        pthread_mutex_unlock(&pool->lock);
    }
    await_entry(pool);
    if (!pool->worker || pool->workers != threads - 1) {
        szgi_pool_close(&pool);
        return SZG_ENOMEM;
    }
    *out = pool;
    return SZG_OK;
}

void szgi_pool_close(szg_pool **pool) {
    if (!*pool)
        return;
    pthread_mutex_lock(&(*pool)->lock);
    (*pool)->stop = true;
    pthread_cond_broadcast(&(*pool)->work);
    pthread_mutex_unlock(&(*pool)->lock);
    for (int i = 1; i <= (*pool)->workers; i++)
        pthread_join((*pool)->worker[i].thread, NULL);
    pthread_cond_destroy(&(*pool)->work);
    pthread_cond_destroy(&(*pool)->done);
    pthread_mutex_destroy(&(*pool)->lock);
    szgi_pool_abandon(pool);
}

void szgi_pool_abandon(szg_pool **pool) {
    free((*pool)->worker);
    free(*pool);
    *pool = NULL;
}

static szg_status run_serially(szg_context *context, int64_t blocks, szgi_block_fn *run, void *job,
                               int worker) {
    for (int64_t block = 0; block < blocks; block++)
        SZG_TRY(run_block(context, run, job, block, worker));
    return SZG_OK;
}

/* The number under which the calling thread serves `context`: on another context than the one whose
 * blocks it runs it is the caller. */
static int own_number(const szg_context *context) {
    return place.context == context ? place.worker->index : 0;
}

static void start_job(szg_pool *pool, szg_context *context, int64_t blocks, szgi_block_fn *run,
                      void *job) {
    pthread_mutex_lock(&pool->lock);
    pool->context = context;
    pool->run = run;
    pool->job = job;
    pool->blocks = blocks;
    pool->next = 0;
    pool->rounding = fegetround();
    pool->failed = false;
    pool->busy = pool->workers;
    pool->generation++;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

szg_status szgi_pool_run(szg_context *context, int64_t blocks, szgi_block_fn *run, void *job) {
    if (blocks < 0)
        return szgi_fail(context, SZG_EINVAL, "a job of %lld blocks is negative",
                         (long long)blocks);
    SZG_TRY(szgi_context_check_process(context));
    szg_pool *pool = context->pool;
    szgi_thread_enter();
    if (szgi_pool_is_inside() || pool->workers == 0 || blocks <= 1)
        return run_serially(context, blocks, run, job, own_number(context));
    start_job(pool, context, blocks, run, job);
    run_blocks(pool, &pool->worker[0]);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    return report_failure(pool);
}

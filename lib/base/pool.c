#include <pthread.h>
#include <stdlib.h>

#include <szego/pool.h>
#include "context_private.h"

typedef struct pool_worker {
    szg_pool *pool;
    pthread_t thread;
    int index;
} pool_worker;

struct szg_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    int workers; /* started threads, the caller not counted */
    pool_worker *worker;
    bool stop;
    /* The job in progress; guarded by lock. */
    uint64_t generation;
    int busy;
    szg_context *context;
    szg_block_fn *run;
    void *job;
    int64_t blocks, next;
    szg_status status;
};

/* Set on a thread while it runs a block: a nested call then runs serially. */
static _Thread_local int current_worker = -1;

bool szg_pool_is_inside(void) {
    return current_worker >= 0;
}

static bool take_block(szg_pool *pool, int64_t *block) {
    pthread_mutex_lock(&pool->lock);
    bool taken = pool->status == SZG_OK && pool->next < pool->blocks;
    if (taken)
        *block = pool->next++;
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

static szg_status run_block(szg_context *context, szg_block_fn *run, void *job, int64_t block,
                            int worker) {
    SZG_TRY(szg_context_check_cancel(context));
    return run(context, job, block, worker);
}

static void run_blocks(szg_pool *pool, int worker) {
    int outer = current_worker;
    current_worker = worker;
    int64_t block;
    while (take_block(pool, &block)) {
        szg_status status = run_block(pool->context, pool->run, pool->job, block, worker);
        if (status == SZG_OK)
            continue;
        pthread_mutex_lock(&pool->lock);
        if (pool->status == SZG_OK)
            pool->status = status;
        pthread_mutex_unlock(&pool->lock);
    }
    current_worker = outer;
}

static void *worker_main(void *argument) {
    pool_worker *self = argument;
    szg_pool *pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stop && pool->generation == seen)
            pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->stop)
            break;
        seen = pool->generation;
        pthread_mutex_unlock(&pool->lock);
        run_blocks(pool, self->index);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

szg_status szg_pool_open(int threads, szg_pool **out) {
    *out = NULL;
    szg_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return SZG_ENOMEM;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->worker = calloc((size_t)threads, sizeof *pool->worker);
    for (int i = 0; pool->worker && i < threads - 1; i++) {
        pool->worker[i] = (pool_worker){.pool = pool, .index = i + 1};
        if (pthread_create(&pool->worker[i].thread, NULL, worker_main, &pool->worker[i]) != 0)
            break;
        pool->workers++;
    }
    if (!pool->worker || pool->workers != threads - 1) {
        szg_pool_close(&pool);
        return SZG_ENOMEM;
    }
    *out = pool;
    return SZG_OK;
}

void szg_pool_close(szg_pool **pool) {
    if (!*pool)
        return;
    pthread_mutex_lock(&(*pool)->lock);
    (*pool)->stop = true;
    pthread_cond_broadcast(&(*pool)->work);
    pthread_mutex_unlock(&(*pool)->lock);
    for (int i = 0; i < (*pool)->workers; i++)
        pthread_join((*pool)->worker[i].thread, NULL);
    pthread_cond_destroy(&(*pool)->work);
    pthread_cond_destroy(&(*pool)->done);
    pthread_mutex_destroy(&(*pool)->lock);
    free((*pool)->worker);
    free(*pool);
    *pool = NULL;
}

static szg_status run_serially(szg_context *context, int64_t blocks, szg_block_fn *run, void *job,
                               int worker) {
    for (int64_t block = 0; block < blocks; block++)
        SZG_TRY(run_block(context, run, job, block, worker));
    return SZG_OK;
}

szg_status szg_pool_run(szg_context *context, int64_t blocks, szg_block_fn *run, void *job) {
    if (blocks < 0)
        return szg_fail(context, SZG_EINVAL, "a job of %lld blocks is negative", (long long)blocks);
    szg_pool *pool = context->pool;
    if (current_worker >= 0)
        return run_serially(context, blocks, run, job, current_worker);
    if (pool->workers == 0 || blocks <= 1)
        return run_serially(context, blocks, run, job, 0);
    pthread_mutex_lock(&pool->lock);
    pool->context = context;
    pool->run = run;
    pool->job = job;
    pool->blocks = blocks;
    pool->next = 0;
    pool->status = SZG_OK;
    pool->busy = pool->workers;
    pool->generation++;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    run_blocks(pool, 0);
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    szg_status status = pool->status;
    pthread_mutex_unlock(&pool->lock);
    return status;
}

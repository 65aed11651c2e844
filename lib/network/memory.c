#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "memory.h"

/* Blocks of a copy or of zeros that go to the pool; smaller jobs stay on the caller's thread. */
enum { CHUNK = 1 << 20 };

szg_status szgi_host_alloc(szg_context *context, int64_t bytes, void **out) {
    return szgi_memory_take(context, bytes, 1, out);
}

void szgi_host_free(szg_context *context, void *memory) {
    (void)context;
    szgi_memory_free(memory);
}

typedef struct transfer {
    char *to;
    const char *from; /* NULL: zeros */
    int64_t bytes;
} transfer;

static szg_status move_chunk(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const transfer *job = argument;
    int64_t first = block * CHUNK, left = job->bytes - first;
    size_t count = (size_t)(left < CHUNK ? left : CHUNK);
    if (job->from)
        memcpy(job->to + first, job->from + first, count);
    else
        memset(job->to + first, 0, count);
    return SZG_OK;
}

static szg_status move(szg_context *context, void *to, const void *from, int64_t bytes) {
    transfer job = {to, from, bytes};
    return szgi_pool_run(context, (bytes + CHUNK - 1) / CHUNK, move_chunk, &job);
}

szg_status szgi_host_copy(szg_context *context, void *to, const void *from, int64_t bytes) {
    return move(context, to, from, bytes);
}

szg_status szgi_host_clear(szg_context *context, void *memory, int64_t bytes) {
    return move(context, memory, NULL, bytes);
}

typedef struct columns_job {
    char *memory;
    int64_t rows, stride, bytes, rows_per_block;
} columns_job;

static szg_status clear_rows(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const columns_job *job = argument;
    int64_t first = block * job->rows_per_block, left = job->rows - first;
    int64_t count = left < job->rows_per_block ? left : job->rows_per_block;
    for (int64_t row = first; row < first + count; row++)
        memset(job->memory + row * job->stride, 0, (size_t)job->bytes);
    return SZG_OK;
}

szg_status szgi_host_clear_columns(szg_context *context, void *memory, int64_t rows, int64_t stride,
                                   int64_t bytes) {
    columns_job job = {memory, rows, stride, bytes, 1 + CHUNK / (bytes + 64)};
    return szgi_pool_run(context, (rows + job.rows_per_block - 1) / job.rows_per_block, clear_rows,
                         &job);
}

szg_status szgi_host_sync(szg_context *context) {
    (void)context;
    return SZG_OK;
}

void szgi_host_set_tally(const szgi_cross_entropy *entropy, const szgi_tally *sum) {
    szgi_step_block *block = entropy->block;
    if (block && !isfinite(sum->loss))
        block->finite = 0;
    if (!block || block->finite)
        *entropy->tally = *sum;
}

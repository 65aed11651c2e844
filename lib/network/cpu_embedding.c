/* The input: batches, rows of tokens and positions; and the mean over positions at the other end.
 */
#include <string.h>

#include "cpu_layers.h"
#include "cpu_network.h"
#include "cpu_work.h"

/* Forward: rows of a slice. Backward: columns of a block, which alone adds to them, in the order of
 * the rows. */
enum { SLICE = 128, COLUMNS = 32 };
static const double NANOSECONDS_A_NUMBER = 0.2;

/* ---- Batches ---- */

typedef struct gather_job {
    const szgi_gather *gather;
    szgi_cpu_split split;
} gather_job;

static void gather_one(const szgi_gather *g, int64_t b) {
    int64_t at = (g->block ? g->block->first : g->first) + b;
    int64_t example = g->order ? g->order[at] : at;
    int64_t start = g->start[example], count = g->start[example + 1] - start;
    int32_t *tokens = g->tokens + b * g->length;
    count = count < g->length ? count : g->length;
    memcpy(tokens, g->words + start, (size_t)count * sizeof *tokens);
    memset(tokens + count, 0, (size_t)(g->length - count) * sizeof *tokens);
    g->lengths[b] = (int32_t)count;
    if (g->classes)
        g->labels[b] = g->classes[example];
}

static szg_status gather_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const gather_job *job = argument;
    int64_t first = szgi_cpu_split_first(&job->split, block);
    int64_t end = first + szgi_cpu_split_count(&job->split, block);
    for (int64_t b = first; b < end; b++)
        gather_one(job->gather, b);
    return SZG_OK;
}

szg_status szgi_cpu_gather(szg_context *context, const szgi_gather *gather) {
    gather_job job = {.gather = gather};
    job.split =
        szgi_cpu_split_of(gather->count, SLICE, NANOSECONDS_A_NUMBER * (double)gather->length);
    return szgi_pool_run(context, job.split.slices, gather_slice, &job);
}

/* ---- Embedding ---- */

typedef struct embedding_job {
    const szgi_layers_kernels *kernels;
    const szgi_embedding *embedding;
    szgi_cpu_split split;
    const float *dout;
    float *dtable, *dtrained;
} embedding_job;

static szg_status forward_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const embedding_job *job = argument;
    const szgi_embedding *e = job->embedding;
    int64_t first = szgi_cpu_split_first(&job->split, block), width = e->width;
    int64_t end = first + szgi_cpu_split_count(&job->split, block);
    for (int64_t row = first; row < end; row++) {
        float *out = (float *)e->out + row * width;
        int64_t position = row % e->length;
        memcpy(out, (const float *)e->table + e->tokens[row] * width, (size_t)width * sizeof *out);
        if (e->fixed)
            job->kernels->add_row(width, (const float *)e->fixed + position * width, out);
        if (e->trained)
            job->kernels->add_row(width, (const float *)e->trained + position * width, out);
    }
    return SZG_OK;
}

szg_status szgi_cpu_embedding(szg_context *context, const szgi_embedding *embedding) {
    embedding_job job = {.embedding = embedding, .kernels = szgi_layers_best()};
    job.split = szgi_cpu_split_of(embedding->batch * embedding->length, SLICE,
                                  NANOSECONDS_A_NUMBER * (double)embedding->width);
    return szgi_pool_run(context, job.split.slices, forward_slice, &job);
}

static szg_status backward_columns(szg_context *context, void *argument, int64_t block,
                                   int worker) {
    (void)context, (void)worker;
    const embedding_job *job = argument;
    const szgi_embedding *e = job->embedding;
    int64_t column = szgi_cpu_split_first(&job->split, block), width = e->width;
    int64_t count = szgi_cpu_split_count(&job->split, block), rows = e->batch * e->length;
    for (int64_t row = 0; row < rows; row++) {
        const float *from = job->dout + row * width + column;
        if (job->dtable)
            job->kernels->add_row(count, from, job->dtable + e->tokens[row] * width + column);
        if (job->dtrained)
            job->kernels->add_row(count, from, job->dtrained + row % e->length * width + column);
    }
    return SZG_OK;
}

szg_status szgi_cpu_embedding_backward(szg_context *context, const szgi_embedding *embedding,
                                       const void *dout, void *dtable, void *dtrained) {
    embedding_job job = {.embedding = embedding,
                         .kernels = szgi_layers_best(),
                         .dout = dout,
                         .dtable = dtable,
                         .dtrained = dtrained};
    double rows = (double)embedding->batch * (double)embedding->length;
    job.split = szgi_cpu_split_of(embedding->width, COLUMNS, NANOSECONDS_A_NUMBER * rows);
    return szgi_pool_run(context, job.split.slices, backward_columns, &job);
}

/* ---- Pooling ---- */

typedef struct pooling_job {
    const szgi_layers_kernels *kernels;
    const szgi_pooling *pooling;
    szgi_cpu_split split;
    const float *from;
    float *to;
} pooling_job;

static int64_t length_of(const szgi_pooling *pooling, int64_t b) {
    return pooling->lengths ? pooling->lengths[b] : pooling->length;
}

static szg_status pool_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const pooling_job *job = argument;
    const szgi_pooling *p = job->pooling;
    int64_t first = szgi_cpu_split_first(&job->split, block), width = p->width;
    int64_t end = first + szgi_cpu_split_count(&job->split, block);
    for (int64_t b = first; b < end; b++) {
        float *y = job->to + b * width;
        int64_t length = length_of(p, b);
        memset(y, 0, (size_t)width * sizeof *y);
        for (int64_t i = 0; i < length; i++)
            job->kernels->add_row(width, job->from + (b * p->length + i) * width, y);
        for (int64_t c = 0; c < width && length > 0; c++)
            y[c] /= (float)length;
    }
    return SZG_OK;
}

static szg_status unpool_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const pooling_job *job = argument;
    const szgi_pooling *p = job->pooling;
    int64_t first = szgi_cpu_split_first(&job->split, block), width = p->width;
    int64_t end = first + szgi_cpu_split_count(&job->split, block);
    for (int64_t b = first; b < end; b++) {
        float *dx = job->to + b * p->length * width;
        int64_t length = length_of(p, b);
        for (int64_t c = 0; c < width && length > 0; c++)
            dx[c] = job->from[b * width + c] / (float)length;
        for (int64_t i = 1; i < length; i++)
            memcpy(dx + i * width, dx, (size_t)width * sizeof *dx);
        memset(dx + length * width, 0, (size_t)((p->length - length) * width) * sizeof *dx);
    }
    return SZG_OK;
}

static szg_status run_pooling(szg_context *context, const szgi_pooling *pooling, const void *from,
                              void *to, szgi_block_fn *run) {
    pooling_job job = {.pooling = pooling, .kernels = szgi_layers_best(), .from = from, .to = to};
    double numbers = (double)pooling->length * (double)pooling->width;
    job.split = szgi_cpu_split_of(pooling->batch, 4, NANOSECONDS_A_NUMBER * numbers);
    return szgi_pool_run(context, job.split.slices, run, &job);
}

szg_status szgi_cpu_pooling(szg_context *context, const szgi_pooling *pooling, const void *x,
                            void *y) {
    return run_pooling(context, pooling, x, y, pool_slice);
}

szg_status szgi_cpu_pooling_backward(szg_context *context, const szgi_pooling *pooling,
                                     const void *dy, void *dx) {
    return run_pooling(context, pooling, dy, dx, unpool_slice);
}

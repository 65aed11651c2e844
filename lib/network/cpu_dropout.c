/* Dropout on rows, with or without a residual path. */
#include "cpu_layers.h"
#include "cpu_network.h"
#include "cpu_random.h"
#include "cpu_work.h"

/* Numbers of a slice, and those whose factors are drawn at a time. */
enum { SLICE = 1 << 15, TILE = 1 << 10 };
static const double NANOSECONDS_A_NUMBER = 1;

typedef struct drop_job {
    const szgi_dropout *dropout;
    szgi_cpu_split split;
    const float *x, *residual;
    float *y;
} drop_job;

static szg_status drop_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const drop_job *job = argument;
    int64_t begin = szgi_cpu_split_first(&job->split, block);
    int64_t end = begin + szgi_cpu_split_count(&job->split, block);
    const szgi_layers_kernels *kernels = szgi_layers_best();
    float factors[TILE];
    for (int64_t i = 0; i < TILE; i++)
        factors[i] = 1;
    for (int64_t i = begin; i < end; i += TILE) {
        int64_t count = end - i < TILE ? end - i : TILE;
        if (job->dropout->probability > 0)
            szgi_cpu_dropout_factors(job->dropout, (uint64_t)i, count, factors);
        kernels->drop(count, factors, job->x + i, job->residual ? job->residual + i : NULL,
                      job->y + i);
    }
    return SZG_OK;
}

static szg_status drop(szg_context *context, int64_t count, drop_job job) {
    if (!(job.dropout->probability > 0) && !job.residual && job.x == job.y)
        return SZG_OK;
    job.split = szgi_cpu_split_of(count, SLICE, NANOSECONDS_A_NUMBER);
    return szgi_pool_run(context, job.split.slices, drop_slice, &job);
}

szg_status szgi_cpu_dropout_residual(szg_context *context, int64_t rows, int64_t columns,
                                     const szgi_dropout *dropout, const void *x,
                                     const void *residual, void *y) {
    return drop(context, rows * columns,
                (drop_job){.dropout = dropout, .x = x, .residual = residual, .y = y});
}

szg_status szgi_cpu_dropout_backward(szg_context *context, int64_t rows, int64_t columns,
                                     const szgi_dropout *dropout, const void *dy, void *dx) {
    return drop(context, rows * columns, (drop_job){.dropout = dropout, .x = dy, .y = dx});
}

/* The optimiser, the search for numbers that are not finite, and the next step's numbers. */
#include <math.h>
#include <stdatomic.h>

#include "cpu_layers.h"
#include "cpu_network.h"
#include "cpu_work.h"

enum { SLICE = 1 << 15 };

typedef struct adamw_job {
    const szgi_adamw *adamw;
    szgi_cpu_split split;
    szgi_layers_adamw_step step;
} adamw_job;

static szg_status adamw_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const adamw_job *job = argument;
    const szgi_adamw *a = job->adamw;
    int64_t first = szgi_cpu_split_first(&job->split, block);
    szgi_layers_best()->adamw(szgi_cpu_split_count(&job->split, block), &job->step,
                              (const float *)a->gradient + first, (float *)a->weight + first,
                              (float *)a->moment1 + first, (float *)a->moment2 + first);
    return SZG_OK;
}

szg_status szgi_cpu_adamw(szg_context *context, const szgi_adamw *adamw) {
    const szgi_step_block *block = adamw->block;
    if (!block->finite)
        return SZG_OK;
    double rate = block->learning_rate;
    adamw_job job = {.adamw = adamw,
                     .split = szgi_cpu_split_of(adamw->count, SLICE, 0.5),
                     .step = {.keep = (float)(1 - rate * adamw->decay),
                              .step = (float)(rate / block->correction1),
                              .root_correction = (float)(1 / sqrt(block->correction2)),
                              .beta1 = (float)adamw->beta1,
                              .beta2 = (float)adamw->beta2,
                              .rest1 = (float)(1 - adamw->beta1),
                              .rest2 = (float)(1 - adamw->beta2),
                              .eps = (float)adamw->eps}};
    return szgi_pool_run(context, job.split.slices, adamw_slice, &job);
}

typedef struct finite_job {
    const float *x;
    szgi_cpu_split split;
    atomic_bool found;
} finite_job;

static szg_status search_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    finite_job *job = argument;
    bool found;
    szgi_layers_best()->find_not_finite(szgi_cpu_split_count(&job->split, block),
                                        job->x + szgi_cpu_split_first(&job->split, block), &found);
    if (found)
        atomic_store_explicit(&job->found, true, memory_order_relaxed);
    return SZG_OK;
}

szg_status szgi_cpu_finite(szg_context *context, int64_t count, const void *x,
                           szgi_step_block *block) {
    finite_job job = {.x = x, .split = szgi_cpu_split_of(count, SLICE, 0.2)};
    SZG_TRY(szgi_pool_run(context, job.split.slices, search_slice, &job));
    if (atomic_load_explicit(&job.found, memory_order_relaxed))
        block->finite = 0;
    return SZG_OK;
}

szg_status szgi_cpu_advance(szg_context *context, const szgi_step_block *blocks, int64_t count,
                            szgi_step_block *block, int64_t *at) {
    (void)context;
    if (!block->finite || *at >= count)
        return SZG_OK;
    *block = blocks[*at];
    ++*at;
    return SZG_OK;
}

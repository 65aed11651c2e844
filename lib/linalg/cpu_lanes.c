/* Batches of small symmetric matrices, a group of vectors a block of the pool. */
#include <inttypes.h>

#include "base/memory.h"
#include "base/pool.h"
#include "cpu_lanes.h"

const szgi_lanes_kernels *szgi_lanes_of(szgi_cpu_level level) {
#ifdef __x86_64__
    static const szgi_lanes_kernels *const all[SZGI_CPU_LEVELS] = {
        &szgi_lanes_baseline, &szgi_lanes_avx2, &szgi_lanes_avx512};
    return all[level];
#else
    (void)level;
    return &szgi_lanes_baseline;
#endif
}

typedef struct batch_job {
    const szgi_lanes_kernels *kernels;
    int64_t each; /* matrices of a block */
    szgi_lanes_job all;
} batch_job;

static szg_status run_block(szg_context *context, void *argument, int64_t block, int worker) {
    const batch_job *job = argument;
    szgi_lanes_job own = job->all;
    int64_t before = block * job->each, left = own.count - before;
    (void)worker;
    own.count = left < job->each ? left : job->each;
    own.a += before * own.stride;
    own.w += before * own.n;
    SZG_TRY(szgi_memory_alloc(context, szgi_lanes_work(job->kernels, own.n), &own.work));
    int64_t failed = job->kernels->eigenvalues(&own);
    szgi_memory_free(own.work);
    if (failed == own.count)
        return SZG_OK;
    return szgi_fail(context, SZG_ENOCONV,
                     "matrix %" PRId64
                     " of the batch: some eigenvalues did not converge in %" PRId64 " sweeps of QL",
                     before + failed, own.sweeps);
}

/* No number depends on how a batch is cut: one vector a block if threads would rest otherwise. */
static int64_t matrices_of_block(szg_context *context, int lanes, int64_t count) {
    int64_t most = (int64_t)SZGI_LANES_GROUPS * lanes;
    return count / most < szg_context_threads(context) ? lanes : most;
}

szg_status szgi_lanes_eigen_symmetric(szg_context *context, const szgi_lanes_kernels *kernels,
                                      const szgi_lanes_job *batch) {
    int64_t each = matrices_of_block(context, kernels->lanes, batch->count);
    batch_job job = {.kernels = kernels, .each = each, .all = *batch};
    return szgi_pool_run(context, batch->count / each + (batch->count % each > 0), run_block, &job);
}

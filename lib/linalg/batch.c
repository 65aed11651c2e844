/* Batches over the single operations of the selected table, one matrix a block of the pool; small
 * symmetric matrices one a lane of a vector. */
#include <inttypes.h>

#include "batch.h"
#include "cpu_lanes.h"

typedef struct batch_job {
    const szgi_linalg_ops *ops;
    int64_t m, n, stride;
    double *a, *real;
    szg_c64 *complex;
} batch_job;

static szg_status name_matrix(szg_context *context, szg_status status, int64_t index) {
    if (status == SZG_OK || status == SZG_ECANCEL)
        return status;
    return szgi_fail_prefix(context, status, "matrix %" PRId64 " of the batch", index);
}

static szg_status symmetric_block(szg_context *context, void *argument, int64_t i, int worker) {
    (void)worker;
    batch_job *job = argument;
    return name_matrix(context,
                       job->ops->eigen_symmetric(context, job->n, job->a + i * job->stride, job->n,
                                                 job->real + i * job->n, false),
                       i);
}

static szg_status general_block(szg_context *context, void *argument, int64_t i, int worker) {
    (void)worker;
    batch_job *job = argument;
    return name_matrix(context,
                       job->ops->eigen_general(context, job->n, job->a + i * job->stride, job->n,
                                               job->complex + i * job->n),
                       i);
}

static szg_status singular_block(szg_context *context, void *argument, int64_t i, int worker) {
    (void)worker;
    batch_job *job = argument;
    int64_t k = job->m < job->n ? job->m : job->n;
    return name_matrix(context,
                       job->ops->singular(context, job->m, job->n, job->a + i * job->stride, job->n,
                                          job->real + i * k, NULL, 1, NULL, 1),
                       i);
}

static szg_status lanes(szg_context *context, int64_t count, int64_t n, const double *a,
                        int64_t stride, double *w) {
    const szgi_lanes_job job = {
        .count = count, .n = n, .stride = stride, .a = a, .w = w, .sweeps = SZGI_LANES_SWEEPS * n};
    return szgi_lanes_eigen_symmetric(context, szgi_lanes_of(szgi_cpu_level_best()), &job);
}

szg_status szgi_batch_eigen_symmetric(szg_context *context, int64_t count, int64_t n, double *a,
                                      int64_t stride, double *w) {
    batch_job job = {.ops = szgi_linalg_of(context), .n = n, .stride = stride, .a = a, .real = w};
    if (job.ops != &szgi_linalg_reference && n <= SZGI_SMALL_ORDER)
        return lanes(context, count, n, a, stride, w);
    return szgi_pool_run(context, count, symmetric_block, &job);
}

szg_status szgi_batch_eigen_general(szg_context *context, int64_t count, int64_t n, double *a,
                                    int64_t stride, szg_c64 *w) {
    batch_job job = {
        .ops = szgi_linalg_of(context), .n = n, .stride = stride, .a = a, .complex = w};
    return szgi_pool_run(context, count, general_block, &job);
}

szg_status szgi_batch_singular(szg_context *context, int64_t count, int64_t m, int64_t n, double *a,
                               int64_t stride, double *s) {
    batch_job job = {
        .ops = szgi_linalg_of(context), .m = m, .n = n, .stride = stride, .a = a, .real = s};
    return szgi_pool_run(context, count, singular_block, &job);
}

/* Layer normalisation: rows over the pool. */
#include "cpu_layers.h"
#include "cpu_network.h"
#include "cpu_work.h"

/* Forward: rows of a slice. Backward: groups of rows that sum gamma's and beta's gradients in
 * arrays of their own, added in a fixed order. */
enum { SLICE = 128, GROUPS = 16 };
static const double NANOSECONDS_A_NUMBER = 0.4;

typedef struct norm_job {
    const szgi_layer_norm *norm;
    const szgi_layer_norm_gradient *gradient;
    szgi_cpu_split split;
    float *sums; /* of the groups: dgamma, dbeta */
} norm_job;

static szg_status forward_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const norm_job *job = argument;
    const szgi_layer_norm *n = job->norm;
    int64_t first = szgi_cpu_split_first(&job->split, block), at = first * n->width;
    szgi_layers_best()->normalise(szgi_cpu_split_count(&job->split, block), n->width,
                                  (const float *)n->x + at, n->gamma, n->beta, (float)n->eps,
                                  (float *)n->y + at, n->mean ? (float *)n->mean + first : NULL,
                                  n->inverse ? (float *)n->inverse + first : NULL);
    return SZG_OK;
}

szg_status szgi_cpu_layer_norm(szg_context *context, const szgi_layer_norm *norm) {
    norm_job job = {.norm = norm};
    job.split = szgi_cpu_split_of(norm->rows, SLICE, NANOSECONDS_A_NUMBER * (double)norm->width);
    return szgi_pool_run(context, job.split.slices, forward_slice, &job);
}

static szg_status backward_group(szg_context *context, void *argument, int64_t group, int worker) {
    (void)context, (void)worker;
    const norm_job *job = argument;
    const szgi_layer_norm *n = job->norm;
    int64_t first = szgi_cpu_split_first(&job->split, group), at = first * n->width;
    float *sums = job->sums + 2 * group * n->width;
    for (int64_t c = 0; c < 2 * n->width; c++)
        sums[c] = 0;
    szgi_layers_norm_rows rows = {.rows = szgi_cpu_split_count(&job->split, group),
                                  .width = n->width,
                                  .x = (const float *)n->x + at,
                                  .gamma = n->gamma,
                                  .mean = (const float *)n->mean + first,
                                  .inverse = (const float *)n->inverse + first,
                                  .dy = (const float *)job->gradient->dy + at,
                                  .dx = (float *)job->gradient->dx + at,
                                  .dgamma = sums,
                                  .dbeta = sums + n->width,
                                  .add_dx = job->gradient->add_dx};
    szgi_layers_best()->normalise_backward(&rows);
    return SZG_OK;
}

szg_status szgi_cpu_layer_norm_backward(szg_context *context, const szgi_layer_norm *norm,
                                        const szgi_layer_norm_gradient *gradient) {
    if (norm->rows == 0)
        return SZG_OK;
    norm_job job = {.norm = norm, .gradient = gradient};
    job.split = szgi_cpu_split_of(norm->rows, (norm->rows + GROUPS - 1) / GROUPS,
                                  NANOSECONDS_A_NUMBER * (double)norm->width);
    SZG_TRY(
        szgi_cpu_work(context, 2 * job.split.slices * norm->width, sizeof *job.sums, &job.sums));
    SZG_TRY(szgi_pool_run(context, job.split.slices, backward_group, &job));
    int64_t stride = 2 * norm->width;
    szgi_layers_best()->add(norm->width, job.split.slices, stride, job.sums, gradient->dgamma);
    szgi_layers_best()->add(norm->width, job.split.slices, stride, job.sums + norm->width,
                            gradient->dbeta);
    return SZG_OK;
}

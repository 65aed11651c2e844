/* Linear layers: slices of rows over the pool, each one single-threaded product with bias and
 * activation while its result is in the cache. */
#include "base/memory.h"

#include "linalg/cpu.h"
#include "cpu_layers.h"
#include "cpu_network.h"
#include "cpu_work.h"

/* Rows of a slice: enough to pay for packing the weights again. GROUPS of slices sum the gradients
 * of the weights in an array each; the arrays are then added in a fixed order. */
enum { SLICE = 512, GROUPS = 8, CHUNK = 1 << 14 };
static const double NANOSECONDS_A_FLOP = 0.01;

static szgi_cpu_split split_rows(const szgi_linear *linear) {
    return szgi_cpu_split_of(linear->rows, SLICE,
                             2 * NANOSECONDS_A_FLOP * (double)linear->in * (double)linear->out);
}

static szg_status check_sizes(szg_context *context, const szgi_linear *l) {
    SZG_TRY(szgi_lapack_sizes(context, "linear layer", l->out, l->in, l->ldx));
    SZG_TRY(szgi_lapack_sizes(context, "linear layer", l->out, l->in, l->ldy));
    return szgi_blas_reserve(context, false);
}

/* ---- Forward ---- */

typedef struct forward_job {
    const szgi_linear *linear;
    szgi_cpu_split split;
} forward_job;

static szg_status forward_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)worker;
    const forward_job *job = argument;
    const szgi_linear *l = job->linear;
    int64_t first = szgi_cpu_split_first(&job->split, block);
    int64_t count = szgi_cpu_split_count(&job->split, block);
    const float *x = (const float *)l->x + first * l->ldx;
    float *y = (float *)l->y + first * l->ldy, *z = y;
    int64_t ldz = l->ldy;
    if (l->before) {
        z = (float *)l->before + first * l->out;
        ldz = l->out;
    }
    szgi_cpu_sgemm(context, 'n', 't', count, l->out, l->in, x, l->ldx, l->weight, l->in, 0, z, ldz);
    szgi_layers_best()->activate(count, l->out, l->activation, l->bias, z, ldz, y, l->ldy);
    return SZG_OK;
}

szg_status szgi_cpu_linear(szg_context *context, const szgi_linear *linear) {
    SZG_TRY(check_sizes(context, linear));
    forward_job job = {linear, split_rows(linear)};
    return szgi_pool_run(context, job.split.slices, forward_slice, &job);
}

/* ---- Backward ---- */

typedef struct backward_job {
    const szgi_linear *linear;
    const szgi_linear_gradient *gradient;
    szgi_cpu_split split;
    int64_t slices_a_group, groups;
    float *dweight, *dbias; /* of the groups one after the other; one group: the results */
} backward_job;

/* dz = dy act', dbias += its column sums, dx (+)= dz W, dW += dz^T x. `fresh`: dW is written. */
static void backward_slice(szg_context *context, const backward_job *job, int64_t slice,
                           float *dweight, float *dbias, bool fresh) {
    const szgi_linear *l = job->linear;
    const szgi_linear_gradient *g = job->gradient;
    int64_t first = szgi_cpu_split_first(&job->split, slice);
    int64_t count = szgi_cpu_split_count(&job->split, slice);
    bool gelu = l->activation == SZG_ACTIVATION_GELU;
    int64_t ldat = gelu ? l->out : l->ldy;
    const float *at = gelu ? l->before : l->activation == SZG_ACTIVATION_RELU ? l->y : NULL;
    float *dy = (float *)g->dy + first * g->lddy;
    if (at || dbias)
        szgi_layers_best()->differentiate(count, l->out, l->activation,
                                          at ? at + first * ldat : NULL, ldat, dy, g->lddy, dbias);
    if (g->dx)
        szgi_cpu_sgemm(context, 'n', 'n', count, l->in, l->out, dy, g->lddy, l->weight, l->in,
                       g->add_dx ? 1 : 0, (float *)g->dx + first * g->lddx, g->lddx);
    if (dweight)
        szgi_cpu_sgemm(context, 't', 'n', l->out, l->in, count, dy, g->lddy,
                       (const float *)l->x + first * l->ldx, l->ldx, fresh ? 0 : 1, dweight, l->in);
}

static szg_status backward_group(szg_context *context, void *argument, int64_t group, int worker) {
    (void)worker;
    const backward_job *job = argument;
    const szgi_linear *l = job->linear;
    float *dweight = job->dweight ? job->dweight + group * l->out * l->in : NULL;
    float *dbias = job->dbias ? job->dbias + group * l->out : NULL;
    bool alone = job->groups == 1;
    for (int64_t c = 0; dbias && !alone && c < l->out; c++)
        dbias[c] = 0;
    int64_t begin = group * job->slices_a_group, end = begin + job->slices_a_group;
    for (int64_t slice = begin; slice < end && slice < job->split.slices; slice++)
        backward_slice(context, job, slice, dweight, dbias, !alone && slice == begin);
    return SZG_OK;
}

typedef struct sum_job {
    szgi_cpu_split split;
    int64_t parts;
    const float *part;
    float *to;
} sum_job;

static szg_status sum_chunk(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const sum_job *job = argument;
    int64_t first = szgi_cpu_split_first(&job->split, block);
    szgi_layers_best()->add(szgi_cpu_split_count(&job->split, block), job->parts, job->split.items,
                            job->part + first, job->to + first);
    return SZG_OK;
}

/* to += part[0] + part[1] + ..., arrays of `count` one after the other. */
static szg_status sum_parts(szg_context *context, int64_t count, int64_t parts, const float *part,
                            float *to) {
    sum_job job = {szgi_cpu_split_of(count, CHUNK, 0.1 * (double)parts), parts, part, to};
    return szgi_pool_run(context, job.split.slices, sum_chunk, &job);
}

static szg_status backward_in_groups(szg_context *context, backward_job *job) {
    const szgi_linear *l = job->linear;
    const szgi_linear_gradient *g = job->gradient;
    int64_t weights, total;
    SZG_TRY(szgi_memory_product(context, l->out, l->in, &weights));
    SZG_TRY(szgi_memory_product(context, weights + l->out, job->groups, &total));
    float *work;
    SZG_TRY(szgi_cpu_work(context, total, sizeof *work, &work));
    job->dweight = g->dweight ? work : NULL;
    job->dbias = g->dbias ? work + weights * job->groups : NULL;
    SZG_TRY(szgi_pool_run(context, job->groups, backward_group, job));
    if (g->dweight)
        SZG_TRY(sum_parts(context, weights, job->groups, job->dweight, g->dweight));
    if (g->dbias)
        SZG_TRY(sum_parts(context, l->out, job->groups, job->dbias, g->dbias));
    return SZG_OK;
}

szg_status szgi_cpu_linear_backward(szg_context *context, const szgi_linear *linear,
                                    const szgi_linear_gradient *gradient) {
    SZG_TRY(check_sizes(context, linear));
    SZG_TRY(szgi_lapack_sizes(context, "linear layer", linear->out, linear->in, gradient->lddy));
    SZG_TRY(szgi_lapack_sizes(context, "linear layer", linear->out, linear->in, gradient->lddx));
    backward_job job = {.linear = linear,
                        .gradient = gradient,
                        .split = split_rows(linear),
                        .dweight = gradient->dweight,
                        .dbias = gradient->dbias};
    job.slices_a_group = (job.split.slices + GROUPS - 1) / GROUPS;
    if (job.slices_a_group < 1)
        return SZG_OK;
    job.groups = (job.split.slices + job.slices_a_group - 1) / job.slices_a_group;
    if (job.groups > 1)
        return backward_in_groups(context, &job);
    return szgi_pool_run(context, 1, backward_group, &job);
}

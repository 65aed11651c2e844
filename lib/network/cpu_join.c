/* Two vectors a head to one, and lag biases from their table. */
#include "cpu_layers.h"
#include "cpu_network.h"
#include "cpu_work.h"

enum { SLICE = 64 };
static const double NANOSECONDS_A_NUMBER = 0.5;

typedef struct join_job {
    const szgi_layers_kernels *kernels;
    const szgi_join *join;
    szgi_cpu_split split;
    const float *a, *b, *dout;
    float *out, *da, *db;
} join_job;

static szgi_layers_part part_a(const szgi_join *j) {
    return (szgi_layers_part){j->heads, j->width_a, j->lda, j->shared_a, j->width_a + j->width_b,
                              j->ldout};
}

static szgi_layers_part part_b(const szgi_join *j) {
    return (szgi_layers_part){j->heads, j->width_b, j->ldb, j->shared_b, j->width_a + j->width_b,
                              j->ldout};
}

static szg_status join_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const join_job *job = argument;
    const szgi_join *j = job->join;
    szgi_layers_part a = part_a(j), b = part_b(j);
    int64_t first = szgi_cpu_split_first(&job->split, block);
    int64_t count = szgi_cpu_split_count(&job->split, block);
    float *out = job->out + first * j->ldout;
    job->kernels->place(count, &a, job->a + first * j->lda, out);
    job->kernels->place(count, &b, job->b + first * j->ldb, out + j->width_a);
    return SZG_OK;
}

static szg_status part_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const join_job *job = argument;
    const szgi_join *j = job->join;
    szgi_layers_part a = part_a(j), b = part_b(j);
    int64_t first = szgi_cpu_split_first(&job->split, block);
    int64_t count = szgi_cpu_split_count(&job->split, block);
    const float *dout = job->dout + first * j->ldout;
    job->kernels->take(count, &a, dout, job->da + first * j->lda);
    job->kernels->take(count, &b, dout + j->width_a, job->db + first * j->ldb);
    return SZG_OK;
}

static szg_status run_join(szg_context *context, join_job job, szgi_block_fn *run) {
    const szgi_join *j = job.join;
    job.kernels = szgi_layers_best();
    double numbers = (double)j->heads * (double)(j->width_a + j->width_b);
    job.split = szgi_cpu_split_of(j->rows, SLICE, NANOSECONDS_A_NUMBER * numbers);
    return szgi_pool_run(context, job.split.slices, run, &job);
}

szg_status szgi_cpu_join(szg_context *context, const szgi_join *join, const void *a, const void *b,
                         void *out) {
    return run_join(context, (join_job){.join = join, .a = a, .b = b, .out = out}, join_slice);
}

szg_status szgi_cpu_join_backward(szg_context *context, const szgi_join *join, const void *dout,
                                  void *da, void *db) {
    return run_join(context, (join_job){.join = join, .dout = dout, .da = da, .db = db},
                    part_slice);
}

/* ---- Lag biases: some thousand numbers ---- */

szg_status szgi_cpu_bias(szg_context *context, const szgi_bias_rows *rows, const void *table,
                         void *bias) {
    (void)context;
    const float *from = table;
    float *to = bias;
    for (int64_t h = 0; h < rows->heads; h++)
        for (int64_t lag = 0; lag < rows->lags; lag++)
            to[h * rows->lags + lag] = from[rows->row_of_lag[lag] * rows->heads + h];
    return SZG_OK;
}

szg_status szgi_cpu_bias_backward(szg_context *context, const szgi_bias_rows *rows,
                                  const void *dbias, void *dtable) {
    (void)context;
    const float *from = dbias;
    float *to = dtable;
    for (int64_t h = 0; h < rows->heads; h++)
        for (int64_t lag = 0; lag < rows->lags; lag++)
            to[rows->row_of_lag[lag] * rows->heads + h] += from[h * rows->lags + lag];
    return SZG_OK;
}

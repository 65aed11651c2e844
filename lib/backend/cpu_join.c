/* Two vectors a head to one, and lag biases from their table. */
#include <string.h>

#include "cpu_layers.h"
#include "cpu_network.h"
#include "cpu_work.h"

enum { SLICE = 128 };
static const double NANOSECONDS_A_NUMBER = 0.5;

typedef struct join_job {
    const szg_layers_kernels *kernels;
    const szg_join *join;
    szg_cpu_split split;
    const float *a, *b, *dout;
    float *out, *da, *db;
} join_job;

/* One of the two parts: its numbers begin at `offset` of a head's. */
typedef struct join_part {
    int64_t width, offset;
    bool shared;
} join_part;

static join_part part_a(const szg_join *j) {
    return (join_part){j->width_a, 0, j->shared_a};
}

static join_part part_b(const szg_join *j) {
    return (join_part){j->width_b, j->width_a, j->shared_b};
}

static void place(const szg_join *j, join_part part, const float *from, float *out) {
    int64_t whole = j->width_a + j->width_b;
    for (int64_t h = 0; h < j->heads; h++)
        memcpy(out + h * whole + part.offset, from + (part.shared ? 0 : h * part.width),
               (size_t)part.width * sizeof *out);
}

static void take(const join_job *job, join_part part, const float *dout, float *to) {
    const szg_join *j = job->join;
    int64_t whole = j->width_a + j->width_b;
    for (int64_t h = 0; h < j->heads; h++) {
        const float *from = dout + h * whole + part.offset;
        if (part.shared && h > 0)
            job->kernels->add_row(part.width, from, to);
        else
            memcpy(to + h * part.width, from, (size_t)part.width * sizeof *to);
    }
}

static szg_status join_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const join_job *job = argument;
    const szg_join *j = job->join;
    int64_t first = szg_cpu_split_first(&job->split, block);
    int64_t end = first + szg_cpu_split_count(&job->split, block);
    for (int64_t row = first; row < end; row++) {
        place(j, part_a(j), job->a + row * j->lda, job->out + row * j->ldout);
        place(j, part_b(j), job->b + row * j->ldb, job->out + row * j->ldout);
    }
    return SZG_OK;
}

static szg_status part_slice(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    const join_job *job = argument;
    const szg_join *j = job->join;
    int64_t first = szg_cpu_split_first(&job->split, block);
    int64_t end = first + szg_cpu_split_count(&job->split, block);
    for (int64_t row = first; row < end; row++) {
        take(job, part_a(j), job->dout + row * j->ldout, job->da + row * j->lda);
        take(job, part_b(j), job->dout + row * j->ldout, job->db + row * j->ldb);
    }
    return SZG_OK;
}

static szg_status run_join(szg_context *context, join_job job, szg_block_fn *run) {
    const szg_join *j = job.join;
    job.kernels = szg_layers_best();
    double numbers = (double)j->heads * (double)(j->width_a + j->width_b);
    job.split = szg_cpu_split_of(j->rows, SLICE, NANOSECONDS_A_NUMBER * numbers);
    return szg_pool_run(context, job.split.slices, run, &job);
}

szg_status szg_cpu_join(szg_context *context, const szg_join *join, const void *a, const void *b,
                        void *out) {
    return run_join(context, (join_job){.join = join, .a = a, .b = b, .out = out}, join_slice);
}

szg_status szg_cpu_join_backward(szg_context *context, const szg_join *join, const void *dout,
                                 void *da, void *db) {
    return run_join(context, (join_job){.join = join, .dout = dout, .da = da, .db = db},
                    part_slice);
}

/* ---- Lag biases: some thousand numbers ---- */

szg_status szg_cpu_bias(szg_context *context, const szg_bias_rows *rows, const void *table,
                        void *bias) {
    (void)context;
    const float *from = table;
    float *to = bias;
    for (int64_t h = 0; h < rows->heads; h++)
        for (int64_t lag = 0; lag < rows->lags; lag++)
            to[h * rows->lags + lag] = from[rows->row_of_lag[lag] * rows->heads + h];
    return SZG_OK;
}

szg_status szg_cpu_bias_backward(szg_context *context, const szg_bias_rows *rows, const void *dbias,
                                 void *dtable) {
    (void)context;
    const float *from = dbias;
    float *to = dtable;
    for (int64_t h = 0; h < rows->heads; h++)
        for (int64_t lag = 0; lag < rows->lags; lag++)
            to[rows->row_of_lag[lag] * rows->heads + h] += from[h * rows->lags + lag];
    return SZG_OK;
}

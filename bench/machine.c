/* What the machine can do at best: the ceilings that the other figures are to be read against. */
#include <string.h>

#include <szego/memory.h>
#include <szego/pool.h>
#include "private.h"

enum { ORDER = 1024, CHUNKS = 64 };

typedef struct machine_job {
    double *a, *b, *c;
    int64_t count; /* doubles copied */
} machine_job;

static szg_status run_product(szg_context *context, void *argument) {
    machine_job *job = argument;
    bench_gemm(szg_context_threads(context), ORDER, job->a, job->b, job->c);
    return SZG_OK;
}

static szg_status copy_chunk(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    machine_job *job = argument;
    int64_t first = job->count * block / CHUNKS, last = job->count * (block + 1) / CHUNKS;
    memcpy(job->b + first, job->a + first, (size_t)(last - first) * sizeof *job->b);
    return SZG_OK;
}

static szg_status run_copy(szg_context *context, void *argument) {
    return szg_pool_run(context, CHUNKS, copy_chunk, argument);
}

static szg_status measure(szg_context *context, const bench_options *o, machine_job *job,
                          szg_table *table) {
    bench_case product = {.item = "machine",
                          .input = "dgemm",
                          .n = ORDER,
                          .ours_name = "OpenBLAS, all threads",
                          .ours = run_product,
                          .job = job,
                          .pairs = o->quick ? 5 : 21};
    bench_case copy = {.item = "machine",
                       .input = "copy",
                       .n = job->count,
                       .ours_name = "memcpy, all threads",
                       .ours = run_copy,
                       .job = job,
                       .pairs = o->quick ? 5 : 21};
    SZG_TRY(bench_measure(context, &product, table));
    double time = bench_last(table, "ours_s");
    SZG_TRY(
        szg_table_note(context, table, "%.4g GF/s in f64", 2e-9 * ORDER * ORDER * ORDER / time));
    SZG_TRY(bench_measure(context, &copy, table));
    time = bench_last(table, "ours_s");
    return szg_table_note(context, table, "%.4g GB/s, read and written",
                          16e-9 * (double)job->count / time);
}

szg_status bench_machine(szg_context *context, const bench_options *o, szg_table *table) {
    machine_job job = {.count = (int64_t)1 << (o->quick ? 23 : 25)};
    szg_status status;
    SZG_TRY_GOTO(status, szg_memory_alloc(context, job.count, sizeof(double), &job.a), end);
    SZG_TRY_GOTO(status, szg_memory_alloc(context, job.count, sizeof(double), &job.b), end);
    SZG_TRY_GOTO(status, szg_memory_alloc(context, ORDER * ORDER, sizeof(double), &job.c), end);
    for (int64_t i = 0; i < job.count; i++)
        job.a[i] = job.b[i] = 1 / (double)(i + 1);
    status = measure(context, o, &job, table);
end:
    szg_memory_free(job.a);
    szg_memory_free(job.b);
    szg_memory_free(job.c);
    return status;
}

/* What the machine can do at best: the ceilings that the other figures are to be read against. */
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "device.h"

enum { ORDER = 1024, CHUNKS = 64 };

static szg_status open_arrays(szg_context *context, int count, int64_t size, double *array[]) {
    for (int i = 0; i < count; i++) {
        SZG_TRY(szgi_memory_alloc(context, size, &array[i]));
        for (int64_t k = 0; k < size; k++)
            array[i][k] = 1 / (double)(k + 1);
    }
    return SZG_OK;
}

static void close_arrays(int count, double *array[]) {
    for (int i = 0; i < count; i++)
        szgi_memory_free(array[i]);
}

/* ---- Product ---- */

static szg_status run_product(szg_context *context, void *argument) {
    double **array = argument;
    bench_gemm(szg_context_threads(context), ORDER, array[0], array[1], array[2]);
    return SZG_OK;
}

static szg_status measure_product(szg_context *context, bench_run *run, double *array[]) {
    bench_case product = {.input = "dgemm",
                          .n = ORDER,
                          .ours_name = "OpenBLAS, all threads",
                          .ours = run_product,
                          .job = array,
                          .pairs = run->options.quick ? 5 : 21};
    SZG_TRY(bench_measure(context, run, &product));
    szgi_row row = bench_latest(context, run);
    szgi_row_note(&row, "%.4g GF/s in f64",
                  2e-9 * ORDER * ORDER * ORDER / bench_last(run, BENCH_OURS_S));
    return row.status;
}

szg_status bench_machine_product(szg_context *context, bench_run *run) {
    double *array[3] = {0};
    szg_status status = open_arrays(context, 3, (int64_t)ORDER * ORDER, array);
    if (status == SZG_OK)
        status = measure_product(context, run, array);
    close_arrays(3, array);
    return status;
}

/* ---- Copy ---- */

typedef struct copy_job {
    double *array[2];
    int64_t count;
} copy_job;

static szg_status copy_chunk(szg_context *context, void *argument, int64_t block, int worker) {
    (void)context, (void)worker;
    copy_job *job = argument;
    int64_t first = job->count * block / CHUNKS, last = job->count * (block + 1) / CHUNKS;
    memcpy(job->array[1] + first, job->array[0] + first,
           (size_t)(last - first) * sizeof **job->array);
    return SZG_OK;
}

static szg_status run_copy(szg_context *context, void *argument) {
    return szgi_pool_run(context, CHUNKS, copy_chunk, argument);
}

static szg_status measure_copy(szg_context *context, bench_run *run, copy_job *job) {
    bench_case copy = {.input = "copy",
                       .n = job->count,
                       .ours_name = "memcpy, all threads",
                       .ours = run_copy,
                       .job = job,
                       .pairs = run->options.quick ? 5 : 21};
    SZG_TRY(bench_measure(context, run, &copy));
    return bench_set_copy(context, run, 16 * (double)job->count);
}

szg_status bench_set_copy(szg_context *context, bench_run *run, double bytes) {
    szgi_row row = bench_latest(context, run);
    run->copy_rate = bytes / bench_last(run, BENCH_OURS_S);
    szgi_row_real(&row, BENCH_BYTES, bytes);
    szgi_row_real(&row, BENCH_BYTES_PER_S, run->copy_rate);
    szgi_row_note(&row, "%.4g GB/s, read and written", 1e-9 * run->copy_rate);
    return row.status;
}

szg_status bench_machine_copy(szg_context *context, bench_run *run) {
    if (bench_on_device(context))
        return bench_device_copy(context, run);
    copy_job job = {.count = (int64_t)1 << (run->options.quick ? 23 : 25)};
    szg_status status = open_arrays(context, 2, job.count, job.array);
    if (status == SZG_OK)
        status = measure_copy(context, run, &job);
    close_arrays(2, job.array);
    return status;
}

/* Batches of small symmetric matrices at each vector level, against one matrix a thread. Clocks are
 * the processor's, of all threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/random.h"
#include "linalg/cpu_level.h"
#include "linalg/linalg.h"
#include "private.h"

typedef struct small_job {
    const char *level;
    int64_t count, n;
    double *source, *a;   /* count matrices; `a` is destroyed by each run */
    double *ours, *rival; /* count x n values */
    double seconds;       /* of the run */
} small_job;

static szg_status prepare(szg_context *context, void *argument) {
    (void)context;
    small_job *job = argument;
    memcpy(job->a, job->source, (size_t)(job->count * job->n * job->n) * sizeof *job->a);
    return SZG_OK;
}

/* At the job's level; the environment is what it was afterwards. */
static szg_status run_ours(szg_context *context, void *argument) {
    small_job *job = argument;
    char before[16];
    const char *wanted = getenv("SZEGO_SIMD"); /* setenv may move it */
    snprintf(before, sizeof before, "%s", wanted ? wanted : "");
    setenv("SZEGO_SIMD", job->level, 1);
    double start = bench_processor_now();
    szg_status status =
        szgi_eigen_symmetric_batch(context, job->count, job->n, job->a, job->n * job->n, job->ours);
    job->seconds = bench_processor_now() - start;
    if (wanted)
        setenv("SZEGO_SIMD", before, 1);
    else
        unsetenv("SZEGO_SIMD");
    return status;
}

static szg_status rival_block(szg_context *context, void *argument, int64_t i, int worker) {
    small_job *job = argument;
    int64_t n = job->n;
    (void)worker;
    return szgi_eigen_symmetric(context, n, job->a + i * n * n, n, job->rival + i * n, false);
}

static szg_status run_rival(szg_context *context, void *argument) {
    small_job *job = argument;
    double start = bench_processor_now();
    szg_status status = szgi_pool_run(context, job->count, rival_block, job);
    job->seconds = bench_processor_now() - start;
    return status;
}

static szg_status fill(szg_context *context, const bench_run *run, small_job *job) {
    int64_t entries = job->count * job->n * job->n, values = job->count * job->n;
    SZG_TRY(szgi_memory_alloc(context, entries, &job->source));
    SZG_TRY(szgi_memory_alloc(context, entries, &job->a));
    SZG_TRY(szgi_memory_alloc(context, values, &job->ours));
    SZG_TRY(szgi_memory_alloc(context, values, &job->rival));
    szgi_stream stream = {.seed = run->options.seed, .purpose = 3};
    szgi_random_fill_normal(&stream, 0, entries, job->source); /* lower triangles are read */
    return SZG_OK;
}

static szg_status measure(szg_context *context, bench_run *run, szgi_cpu_level level, int64_t n) {
    static const double goals[SZGI_CPU_LEVELS] = {0, 2, 3};
    small_job job = {.level = szgi_cpu_level_name(level), .count = n > 128 ? 256 : 1024, .n = n};
    if (run->options.quick)
        job.count = 64;
    char input[64];
    snprintf(input, sizeof input, "%d Gaussian, %s, processor time", (int)job.count, job.level);
    bench_case what = {.input = input,
                       .n = n,
                       .ours_name = "one matrix a lane",
                       .rival_name = "dsyevd, one matrix a thread",
                       .prepare = prepare,
                       .ours = run_ours,
                       .rival = run_rival,
                       .job = &job,
                       .measured = &job.seconds,
                       .pairs = run->options.quick ? 3 : 5,
                       .target_ratio = run->options.quick || n > 128 ? 0 : goals[level]};
    szg_status status = fill(context, run, &job);
    if (status == SZG_OK)
        status = bench_measure(context, run, &what);
    if (status == SZG_OK) {
        szgi_row row = bench_latest(context, run);
        szgi_row_real(&row, BENCH_DIFFERENCE, bench_difference(job.count * n, job.ours, job.rival));
        status = row.status;
    }
    szgi_memory_free(job.source);
    szgi_memory_free(job.a);
    szgi_memory_free(job.ours);
    szgi_memory_free(job.rival);
    return status;
}

szg_status bench_batch_small(szg_context *context, bench_run *run) {
    for (int level = (int)szgi_cpu_level_best(); level >= 0; level--)
        for (int64_t n = 32; n <= 256; n *= 2)
            SZG_TRY(measure(context, run, (szgi_cpu_level)level, n));
    return SZG_OK;
}

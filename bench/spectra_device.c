/* `szego bench batch dense crossover --backend cuda`: spectra on a GPU beside the cpu table on two
 * threads. Matrices begin and end in the host's memory, as a caller has them: transfers count. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/ops.h"
#include "linalg/linalg.h"
#include "base/memory.h"
#include "base/random.h"
#include "spectra/spectra.h"
#include "device.h"

enum { CPU_THREADS = 2 };

typedef struct spectra_job spectra_job;
typedef szg_status values_fn(szg_context *context, const spectra_job *job, double *values);

/* `count` Gaussian matrices of order n and their values by both backends. */
struct spectra_job {
    values_fn *find;
    bool symmetric, complex;
    int64_t count, n;
    double *source, *a, *ours, *rival; /* each run destroys `a` */
    szg_context *cpu;
};

static szg_status find_checked(szg_context *context, const spectra_job *job, double *values) {
    double worst;
    return szgi_spectra_batch_symmetric(context, job->count, job->n, job->a, job->n * job->n,
                                        values, &worst);
}

static szg_status find_symmetric(szg_context *context, const spectra_job *job, double *values) {
    return szgi_eigen_symmetric_batch(context, job->count, job->n, job->a, job->n * job->n, values);
}

static szg_status find_dense(szg_context *context, const spectra_job *job, double *values) {
    return szgi_eigen_symmetric(context, job->n, job->a, job->n, values, false);
}

static szg_status find_singulars(szg_context *context, const spectra_job *job, double *values) {
    return szgi_singular_batch(context, job->count, job->n, job->n, job->a, job->n * job->n,
                               values);
}

static szg_status find_singular(szg_context *context, const spectra_job *job, double *values) {
    return szgi_singular(context, job->n, job->n, job->a, job->n, values, NULL, 1, NULL, 1);
}

static szg_status find_general(szg_context *context, const spectra_job *job, double *values) {
    return szgi_eigen_general(context, job->n, job->a, job->n, (szg_c64 *)(void *)values);
}

static szg_status find_product(szg_context *context, const spectra_job *job, double *values) {
    int64_t n = job->n;
    return szgi_gemm(context, 'n', 'n', n, n, n, 1, job->source, n, job->a, n, 0, values, n);
}

static szg_status prepare(szg_context *context, void *argument) {
    (void)context;
    const spectra_job *job = argument;
    memcpy(job->a, job->source, (size_t)(job->count * job->n * job->n) * sizeof *job->a);
    return SZG_OK;
}

static szg_status run_ours(szg_context *context, void *argument) {
    const spectra_job *job = argument;
    return job->find(context, job, job->ours);
}

static szg_status run_cpu(szg_context *context, void *argument) {
    const spectra_job *job = argument;
    szg_status status = job->find(job->cpu, job, job->rival);
    return status == SZG_OK ? status
                            : szgi_fail(context, status, "%s", szg_context_message(job->cpu));
}

/* A few million normal numbers, again and again: drawing them all would take longer than solving.
 */
static void fill(const spectra_job *job, uint64_t seed) {
    int64_t n = job->n, count = job->count * n * n;
    szgi_stream stream = {.seed = seed, .purpose = 2};
    int64_t block = count < 1 << 22 ? count : 1 << 22;
    szgi_random_fill_normal(&stream, 0, block, job->source);
    for (int64_t at = block; at < count; at += block)
        memcpy(job->source + at, job->source,
               (size_t)(count - at < block ? count - at : block) * sizeof *job->source);
    for (int64_t m = 0; job->symmetric && m < job->count; m++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++) {
                double *matrix = job->source + m * n * n;
                matrix[j * n + i] = matrix[i * n + j];
            }
}

static szg_status open_job(szg_context *context, spectra_job *job, uint64_t seed) {
    int64_t entries = job->count * job->n * job->n;
    int64_t values = job->find == find_product ? entries : 2 * job->count * job->n;
    SZG_TRY(szgi_memory_alloc(context, entries, &job->source));
    SZG_TRY(szgi_memory_alloc(context, entries, &job->a));
    SZG_TRY(szgi_memory_alloc(context, values, &job->ours));
    SZG_TRY(szgi_memory_alloc(context, values, &job->rival));
    fill(job, seed);
    SZG_TRY(szg_context_open(
        &(szg_context_options){SZG_INIT(szg_context_options), .threads = CPU_THREADS}, &job->cpu));
    return szg_backend_select(job->cpu, "cpu");
}

static void close_job(spectra_job *job) {
    szg_context_close(&job->cpu);
    szgi_memory_free(job->source);
    szgi_memory_free(job->a);
    szgi_memory_free(job->ours);
    szgi_memory_free(job->rival);
}

/* Complex eigenvalues come in no order: they are not compared here. */
static szg_status measure(szg_context *context, bench_run *run, bench_case what, spectra_job job) {
    bool alone = run->options.alone;
    what.ours_name = szgi_backend_name(context);
    what.rival_name = alone ? NULL : "cpu, two threads";
    what.n = job.n;
    what.prepare = prepare, what.ours = run_ours, what.rival = alone ? NULL : run_cpu;
    what.target_ratio = alone ? 0 : what.target_ratio;
    what.job = &job;
    szg_status status = open_job(context, &job, run->options.seed);
    if (status == SZG_OK)
        status = bench_measure(context, run, &what);
    szgi_row row = bench_latest(context, run);
    if (status == SZG_OK && !job.complex && !alone)
        szgi_row_real(&row, BENCH_DIFFERENCE,
                      bench_difference(job.count * job.n, job.ours, job.rival));
    close_job(&job);
    return status == SZG_OK ? row.status : status;
}

static szg_status measure_batch(szg_context *context, bench_run *run, const char *input,
                                values_fn *find) {
    bool quick = run->options.quick;
    bench_case what = {.input = input, .pairs = quick ? 3 : 5, .target_ratio = quick ? 0 : 10};
    spectra_job job = {find, .symmetric = true, .count = quick ? 20 : 10000, .n = quick ? 16 : 128};
    SZG_TRY(measure(context, run, what, job));
    return bench_note_device(context, run);
}

szg_status bench_device_batch(szg_context *context, bench_run *run) {
    return measure_batch(context, run, run->options.quick ? "20 symmetric" : "10000 symmetric",
                         find_symmetric);
}

szg_status bench_device_batch_checked(szg_context *context, bench_run *run) {
    return measure_batch(context, run, "the same, each checked by trace and norm", find_checked);
}

szg_status bench_device_dense(szg_context *context, bench_run *run) {
    bool quick = run->options.quick;
    bench_case what = {
        .input = "symmetric, all eigenvalues", .pairs = 3, .target_ratio = quick ? 0 : 10};
    spectra_job job = {find_dense, .symmetric = true, .count = 1, .n = quick ? 64 : 8192};
    SZG_TRY(measure(context, run, what, job));
    return bench_note_device(context, run);
}

/* ---- Crossovers: what lib/plugin/crossover.c holds ---- */

typedef struct spectra_kind {
    const char *name;
    values_fn *find;
    bool symmetric, complex, many;
    double rate; /* n^3 a second, about, of two threads: what takes long on them is left out */
} spectra_kind;

static const spectra_kind kinds[] = {{"product", find_product, false, false, false, 3e10},
                                     {"symmetric", find_dense, true, false, false, 5e9},
                                     {"general", find_general, false, true, false, 4e8},
                                     {"singular", find_singular, false, false, false, 2e9},
                                     {"symmetric-batched", find_symmetric, true, false, true, 4e9},
                                     {"singular-batched", find_singulars, false, false, true, 3e9}};
static const int64_t orders[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096},
                     counts[] = {1, 8, 64, 512};

static szg_status cross(szg_context *context, bench_run *run, const spectra_kind *kind,
                        int64_t count, int64_t n) {
    char input[64];
    double work = (double)count * (double)n * (double)n * (double)n;
    if (work / kind->rate > (run->options.quick ? 1e-5 : 2))
        return SZG_OK;
    snprintf(input, sizeof input, "%s, %lld at once", kind->name, (long long)count);
    bench_case what = {.input = input, .pairs = 3};
    return measure(context, run, what,
                   (spectra_job){.find = kind->find,
                                 .symmetric = kind->symmetric,
                                 .complex = kind->complex,
                                 .count = count,
                                 .n = n});
}

/* Below its crossovers a context on a GPU asks the cpu: both columns would be the cpu's. */
szg_status bench_crossover_check(szg_context *context) {
    const char *factor = getenv("SZEGO_CUDA_CROSSOVER");
    if (factor && strcmp(factor, "0") == 0)
        return SZG_OK;
    return szgi_fail(context, SZG_EINVAL,
                     "the items crossover need every size on the GPU: set the environment variable "
                     "SZEGO_CUDA_CROSSOVER=0");
}

szg_status bench_device_crossover(szg_context *context, bench_run *run) {
    const spectra_kind *kind = kinds;
    while (strcmp(kind->name, run->item->of) != 0)
        kind++;
    for (size_t c = 0; c < (kind->many ? sizeof counts / sizeof *counts : 1); c++)
        for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
            SZG_TRY(cross(context, run, kind, counts[c], orders[i]));
    return SZG_OK;
}

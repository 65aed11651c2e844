/* Many small matrices: one a thread, or a lane, against a loop in which LAPACK threads each. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "spectra/spectra.h"
#include "private.h"

enum { ORDER = 128 };

typedef struct batch_job {
    int64_t count;
    double *source, *a;   /* count matrices; `a` is destroyed by each run */
    double *ours, *rival; /* count x ORDER values, or twice as many numbers when complex */
    szg_status (*values)(szg_context *, int64_t, int64_t, double *, int64_t, double *, double *);
    szg_status (*lapack)(szg_context *, int, int64_t, int64_t, double *, double *);
} batch_job;

static szg_status prepare(szg_context *context, void *argument) {
    (void)context;
    batch_job *job = argument;
    memcpy(job->a, job->source, (size_t)(job->count * ORDER * ORDER) * sizeof *job->a);
    return SZG_OK;
}

static szg_status run_ours(szg_context *context, void *argument) {
    batch_job *job = argument;
    double worst;
    return job->values(context, job->count, ORDER, job->a, ORDER * ORDER, job->ours, &worst);
}

static szg_status run_rival(szg_context *context, void *argument) {
    batch_job *job = argument;
    return job->lapack(context, szg_context_threads(context), job->count, ORDER, job->a,
                       job->rival);
}

static szg_status run_single(szg_context *context, void *argument) {
    batch_job *job = argument;
    return job->lapack(context, 1, job->count, ORDER, job->a, job->rival);
}

static szg_status symmetric_values(szg_context *context, int64_t count, int64_t n, double *a,
                                   int64_t stride, double *values, double *worst) {
    return szgi_spectra_batch_symmetric(context, count, n, a, stride, values, worst);
}

static szg_status singular_values(szg_context *context, int64_t count, int64_t n, double *a,
                                  int64_t stride, double *values, double *worst) {
    return szgi_spectra_batch_singular(context, count, n, n, a, stride, values, worst);
}

static szg_status general_values(szg_context *context, int64_t count, int64_t n, double *a,
                                 int64_t stride, double *values, double *worst) {
    return szgi_spectra_batch_general(context, count, n, a, stride, (szg_c64 *)(void *)values,
                                      worst);
}

static szg_status general_lapack(szg_context *context, int threads, int64_t count, int64_t n,
                                 double *a, double *w) {
    return bench_lapack_general(context, threads, count, n, a, (szg_c64 *)(void *)w);
}

/* Complex eigenvalues come in any order: the largest distance to the nearest of the other list. */
static double complex_difference(int64_t count, const szg_c64 *x, const szg_c64 *y) {
    double largest = 0, norm = 0;
    for (int64_t i = 0; i < count * ORDER; i++) {
        double nearest = INFINITY;
        const szg_c64 *list = y + i / ORDER * ORDER;
        for (int64_t j = 0; j < ORDER; j++)
            nearest = fmin(nearest, hypot(x[i].re - list[j].re, x[i].im - list[j].im));
        largest = fmax(largest, nearest);
        norm = fmax(norm, hypot(y[i].re, y[i].im));
    }
    return largest / norm;
}

static szg_status fill(szg_context *context, bench_run *run, bool symmetric, batch_job *job) {
    int64_t entries = job->count * ORDER * ORDER, values = job->count * ORDER;
    SZG_TRY(szgi_memory_alloc(context, entries, &job->source));
    SZG_TRY(szgi_memory_alloc(context, entries, &job->a));
    SZG_TRY(szgi_memory_alloc(context, 2 * values, &job->ours));
    SZG_TRY(szgi_memory_alloc(context, 2 * values, &job->rival));
    szgi_stream stream = {.seed = run->options.seed, .purpose = 2};
    szgi_random_fill_normal(&stream, 0, entries, job->source);
    for (int64_t m = 0; symmetric && m < job->count; m++)
        for (int64_t i = 0; i < ORDER; i++)
            for (int64_t j = 0; j < i; j++) {
                double *matrix = job->source + m * ORDER * ORDER;
                matrix[j * ORDER + i] = matrix[i * ORDER + j];
            }
    return SZG_OK;
}

static szg_status measure(szg_context *context, bench_run *run, bench_case what, batch_job job) {
    job.count = run->options.quick ? 200 : 1000;
    bool symmetric = job.values == symmetric_values, complex = job.values == general_values;
    what.input = run->options.quick ? "200 Gaussian" : "1000 Gaussian";
    what.n = ORDER;
    what.ours_name = symmetric ? "one matrix a lane" : "one matrix a thread";
    what.prepare = prepare, what.ours = run_ours, what.rival = run_rival, what.single = run_single;
    what.job = &job;
    what.pairs = run->options.quick ? 3 : 5;
    if (run->options.quick)
        what.target_ratio = 0; /* set for 1,000 matrices */
    szg_status status = fill(context, run, symmetric, &job);
    if (status == SZG_OK)
        status = bench_measure(context, run, &what);
    if (status == SZG_OK) {
        double difference = complex ? complex_difference(job.count, (szg_c64 *)(void *)job.ours,
                                                         (szg_c64 *)(void *)job.rival)
                                    : bench_difference(job.count * ORDER, job.ours, job.rival);
        szgi_row row = bench_latest(context, run);
        szgi_row_real(&row, BENCH_DIFFERENCE, difference);
        status = row.status;
    }
    szgi_memory_free(job.source);
    szgi_memory_free(job.a);
    szgi_memory_free(job.ours);
    szgi_memory_free(job.rival);
    return status;
}

szg_status bench_batch_symmetric(szg_context *context, bench_run *run) {
    return measure(context, run,
                   (bench_case){.rival_name = "loop over dsyevd", .target_ratio = 2.1},
                   (batch_job){.values = symmetric_values, .lapack = bench_lapack_symmetric});
}

szg_status bench_batch_singular(szg_context *context, bench_run *run) {
    return measure(context, run,
                   (bench_case){.rival_name = "loop over dgesdd", .target_ratio = 2.3},
                   (batch_job){.values = singular_values, .lapack = bench_lapack_singular});
}

szg_status bench_batch_general(szg_context *context, bench_run *run) {
    return measure(context, run, (bench_case){.rival_name = "loop over dgeev", .target_ratio = 1.8},
                   (batch_job){.values = general_values, .lapack = general_lapack});
}

/* Rotary encodings: what structure makes of sizes that no dense matrix reaches. */
#include <math.h>

#include "toeplitz/factored.h"
#include "base/memory.h"
#include "base/random.h"
#include "spectra/spectra.h"
#include "private.h"

enum { PAIRS = 64, DIMENSIONS = 2 * PAIRS };

static double frequency(int64_t pair) {
    return pow(10000, -(double)pair / PAIRS);
}

/* ---- The mean kernel ---- */

typedef struct kernel_job {
    int64_t n;
    double theta[PAIRS];
    szg_spectrum spectrum;
} kernel_job;

static szg_status run_kernel(szg_context *context, void *argument) {
    kernel_job *job = argument;
    szg_spectrum_close(&job->spectrum);
    const szg_matrix kernel = szg_matrix_rotary_mean(job->n, PAIRS, job->theta, 0);
    return szg_spectrum_compute(context, &kernel, SZG_QUESTION_EIGENVALUES, NULL, &job->spectrum);
}

szg_status bench_rotary_kernel(szg_context *context, bench_run *run) {
    kernel_job job = {.n = 1000000000};
    for (int64_t t = 0; t < PAIRS; t++)
        job.theta[t] = frequency(t);
    bench_case what = {.input = "d = 128, base 10000",
                       .n = job.n,
                       .ours_name = "two Gram matrices of Dirichlet sums",
                       .ours = run_kernel,
                       .job = &job,
                       .pairs = run->options.quick ? 5 : 21,
                       .target_seconds = 0.005};
    szg_status status = bench_measure(context, run, &what);
    szgi_row row = bench_latest(context, run);
    if (status == SZG_OK)
        szgi_row_note(&row, "%lld nonzero values, residual %.2g", (long long)job.spectrum.count,
                      job.spectrum.residual);
    szg_spectrum_close(&job.spectrum);
    return status == SZG_OK ? row.status : status;
}

/* ---- Factored logits ---- */

typedef struct logits_job {
    szg_factored logits;
    double *a, *b;
    szg_spectrum eigen, singular;
} logits_job;

static szg_status run_logits(szg_context *context, void *argument) {
    logits_job *job = argument;
    szg_spectrum_close(&job->eigen);
    szg_spectrum_close(&job->singular);
    const szg_matrix logits = szg_matrix_factored(&job->logits);
    SZG_TRY(szg_spectrum_compute(context, &logits, SZG_QUESTION_EIGENVALUES, NULL, &job->eigen));
    return szg_spectrum_compute(context, &logits, SZG_QUESTION_SINGULAR, NULL, &job->singular);
}

/* Gaussian queries or keys, each pair turned by position times frequency. */
static void fill_rotated(bench_run *run, uint32_t purpose, int64_t n, double *x) {
    szgi_stream stream = {.seed = run->options.seed, .purpose = purpose};
    szgi_random_fill_normal(&stream, 0, n * DIMENSIONS, x);
    for (int64_t t = 0; t < PAIRS; t++) {
        double theta = frequency(t);
        for (int64_t i = 0; i < n; i++) {
            double c = cos((double)i * theta), s = sin((double)i * theta);
            double *pair = x + i * DIMENSIONS + 2 * t, re = pair[0], im = pair[1];
            pair[0] = c * re - s * im;
            pair[1] = s * re + c * im;
        }
    }
}

static szg_status measure_logits(szg_context *context, bench_run *run, logits_job *job) {
    int64_t n = job->logits.n, entries = n * DIMENSIONS;
    SZG_TRY(szgi_memory_alloc(context, entries, &job->a));
    SZG_TRY(szgi_memory_alloc(context, entries, &job->b));
    job->logits.a = job->a, job->logits.b = job->b;
    fill_rotated(run, 3, n, job->a);
    fill_rotated(run, 4, n, job->b);
    bench_case what = {.input = "Gaussian, d = 128",
                       .n = n,
                       .ours_name = "B^T A and R_A R_B^T",
                       .ours = run_logits,
                       .job = job,
                       .pairs = run->options.quick ? 3 : 7,
                       .target_seconds = 2};
    SZG_TRY(bench_measure(context, run, &what));
    bool small = bench_last(run, BENCH_PEAK_MIB) < 1024;
    szgi_row row = bench_latest(context, run);
    szgi_row_note(&row, "%lld eigen- and %lld singular values; memory %s 1 GiB",
                  (long long)job->eigen.count, (long long)job->singular.count,
                  small ? "under" : "over");
    return row.status;
}

szg_status bench_rotary_logits(szg_context *context, bench_run *run) {
    int64_t n = run->options.quick ? 16384 : 131072;
    logits_job job = {.logits = {.n = n, .d = DIMENSIONS, .lda = DIMENSIONS, .ldb = DIMENSIONS}};
    szg_status status = measure_logits(context, run, &job);
    szg_spectrum_close(&job.eigen);
    szg_spectrum_close(&job.singular);
    szgi_memory_free(job.a);
    szgi_memory_free(job.b);
    return status;
}

/* Full spectra of Toeplitz matrices against LAPACK on the dense matrix. */
#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "spectra/halves.h"
#include "spectra/spectra.h"
#include "toeplitz/toeplitz.h"
#include "private.h"

typedef struct toeplitz_job {
    szg_toeplitz *t;
    int64_t n;
    double *dense, *rival; /* n x n (two numbers an entry when Hermitian), n */
    szg_spectrum ours;
} toeplitz_job;

static bool is_complex(const toeplitz_job *job) {
    return szgi_toeplitz_kind_of(job->t) == SZG_TOEPLITZ_HERMITIAN;
}

static szg_status prepare(szg_context *context, void *argument) {
    toeplitz_job *job = argument;
    if (is_complex(job))
        return szgi_toeplitz_dense_complex(context, job->t, (szg_c64 *)(void *)job->dense, job->n);
    return szgi_toeplitz_dense(context, job->t, job->dense, job->n);
}

static szg_status run_ours(szg_context *context, void *argument) {
    toeplitz_job *job = argument;
    szg_spectrum_close(&job->ours);
    const szg_matrix matrix = szg_matrix_toeplitz(job->t);
    return szg_spectrum_compute(context, &matrix, SZG_QUESTION_EIGENVALUES, NULL, &job->ours);
}

static szg_status run_rival(szg_context *context, void *argument) {
    toeplitz_job *job = argument;
    int threads = szg_context_threads(context);
    if (is_complex(job))
        return bench_lapack_hermitian(context, threads, job->n, (szg_c64 *)(void *)job->dense,
                                      job->rival);
    return bench_lapack_symmetric(context, threads, 1, job->n, job->dense, job->rival);
}

static void close_job(toeplitz_job *job) {
    szg_spectrum_close(&job->ours);
    szg_toeplitz_close(&job->t);
    szgi_memory_free(job->dense);
    szgi_memory_free(job->rival);
}

/* Against a rival that fills job->rival. */
static szg_status measure_values(szg_context *context, bench_run *run, const bench_case *what,
                                 toeplitz_job *job) {
    SZG_TRY(szgi_memory_alloc(context, job->n, &job->rival));
    SZG_TRY(bench_measure(context, run, what));
    szgi_row row = bench_latest(context, run);
    szgi_row_text(&row, BENCH_OURS, szg_method_name(job->ours.method));
    szgi_row_real(&row, BENCH_DIFFERENCE, bench_difference(job->n, job->ours.re, job->rival));
    return row.status;
}

static szg_status measure(szg_context *context, bench_run *run, const bench_case *what,
                          toeplitz_job *job) {
    /* One column more than the matrix has: the threaded zgemv of OpenBLAS 0.3.21 reads beyond. */
    int64_t numbers, columns = job->n + 1;
    SZG_TRY(
        szgi_memory_product(context, job->n, is_complex(job) ? 2 * columns : columns, &numbers));
    SZG_TRY(szgi_memory_alloc(context, numbers, &job->dense));
    return measure_values(context, run, what, job);
}

/* ---- Inputs ---- */

typedef double lag_fn(const szgi_stream *stream, int64_t lag);

static double kms(const szgi_stream *stream, int64_t lag) {
    (void)stream;
    return pow(0.9, (double)lag);
}

static double lorentz(const szgi_stream *stream, int64_t lag) {
    (void)stream;
    return 1 / (1 + (double)lag * (double)lag);
}

/* KERPLE's logarithmic bias (Chi et al. 2022) with both parameters 1. */
static double kerple(const szgi_stream *stream, int64_t lag) {
    (void)stream;
    return -log1p((double)lag);
}

static double noise(const szgi_stream *stream, int64_t lag) {
    return szgi_random_normal(stream, (uint64_t)lag);
}

static const struct {
    const char *name;
    lag_fn *at;
} inputs[] = {
    {"0.9^|k|", kms}, {"1/(1+k^2)", lorentz}, {"-log(1+|k|)", kerple}, {"Gaussian", noise}};

static szg_status open_symmetric(szg_context *context, bench_run *run, lag_fn *at, int64_t n,
                                 szg_toeplitz **t) {
    double *lags;
    SZG_TRY(szgi_memory_alloc(context, n, &lags));
    szgi_stream stream = {.seed = run->options.seed, .purpose = 1};
    for (int64_t k = 0; k < n; k++)
        lags[k] = at(&stream, k);
    szg_status status = szg_toeplitz_open_symmetric(context, n, n, lags, t);
    szgi_memory_free(lags);
    return status;
}

szg_status bench_toeplitz(szg_context *context, bench_run *run) {
    int64_t largest = run->options.quick ? 2048 : 8192;
    for (int64_t n = 1024; n <= largest; n *= 2) {
        for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
            toeplitz_job job = {.n = n};
            bench_case what = {.input = inputs[i].name,
                               .n = n,
                               .rival_name = "dsyevd, dense",
                               .prepare = prepare,
                               .ours = run_ours,
                               .rival = run_rival,
                               .job = &job,
                               .pairs = run->options.quick ? 3 : 5};
            what.target_ratio = n == 4096 ? 5 : n == 8192 ? 7 : 0;
            szg_status status = open_symmetric(context, run, inputs[i].at, n, &job.t);
            if (status == SZG_OK)
                status = measure(context, run, &what, &job);
            close_job(&job);
            SZG_TRY(status);
        }
    }
    return SZG_OK;
}

/* ---- Gaussian lags against the two halves by LAPACK, which was the way before ---- */

static szg_status run_halves(szg_context *context, void *argument) {
    toeplitz_job *job = argument;
    return szgi_halves_eigenvalues(context, job->t, job->rival);
}

szg_status bench_random_lags(szg_context *context, bench_run *run) {
    int64_t largest = run->options.quick ? 2048 : 32768;
    for (int64_t n = 2048; n <= largest; n *= 2) {
        toeplitz_job job = {.n = n};
        bench_case what = {.input = "Gaussian",
                           .n = n,
                           .rival_name = "two halves, LAPACK",
                           .ours = run_ours,
                           .rival = run_halves,
                           .job = &job,
                           .pairs = n > 16384            ? 1
                                    : run->options.quick ? 3
                                                         : 5};
        what.target_ratio = n == 32768 ? 1.7 : 0;
        szg_status status = open_symmetric(context, run, noise, n, &job.t);
        if (status == SZG_OK)
            status = measure_values(context, run, &what, &job);
        close_job(&job);
        SZG_TRY(status);
    }
    return SZG_OK;
}

/* A decaying kernel with turning phases. */
static szg_status open_hermitian(szg_context *context, int64_t n, szg_toeplitz **t) {
    szg_c64 *lags;
    SZG_TRY(szgi_memory_alloc(context, n, &lags));
    for (int64_t k = 0; k < n; k++) {
        double size = 1 / (1 + (double)k), angle = 0.7 * (double)k * (double)k / (double)n;
        lags[k] = (szg_c64){size * cos(angle), k ? size * sin(angle) : 0};
    }
    szg_status status = szg_toeplitz_open_hermitian(context, n, n, lags, t);
    szgi_memory_free(lags);
    return status;
}

szg_status bench_hermitian(szg_context *context, bench_run *run) {
    int64_t n = run->options.quick ? 512 : 2048;
    toeplitz_job job = {.n = n};
    bench_case what = {.input = "e^{0.7 i k^2/n}/(1+k)",
                       .n = n,
                       .rival_name = "zheevd, dense",
                       .prepare = prepare,
                       .ours = run_ours,
                       .rival = run_rival,
                       .job = &job,
                       .pairs = run->options.quick ? 3 : 5};
    what.target_ratio = run->options.quick ? 0 : 3;
    szg_status status = open_hermitian(context, n, &job.t);
    if (status == SZG_OK)
        status = measure(context, run, &what, &job);
    close_job(&job);
    return status;
}

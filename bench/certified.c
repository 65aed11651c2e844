/* The proof of a spectrum's ends beside the solver that takes all values. */
#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "spectra/certified.h"
#include "toeplitz/toeplitz.h"
#include "private.h"

typedef struct certified_job {
    szg_matrix matrix;
    szg_spectrum spectrum; /* the solver's, to which the proof is added */
} certified_job;

static szg_status solve(szg_context *context, void *argument) {
    certified_job *job = argument;
    szg_spectrum_close(&job->spectrum);
    return szg_spectrum_compute(context, &job->matrix, SZG_QUESTION_EIGENVALUES, NULL,
                                &job->spectrum);
}

static szg_status prove(szg_context *context, void *argument) {
    certified_job *job = argument;
    const szg_spectra_options all = {SZG_INIT(szg_spectra_options), .certify = SZG_CERTIFY_ENDS};
    return szgi_spectrum_certify(context, &job->matrix, &all, &job->spectrum);
}

/* The wider end over the norm. */
static double relative_width(const szg_spectrum *s) {
    double width = fmax(s->min.hi - s->min.lo, s->max.hi - s->max.lo);
    return width / fmax(fabs(s->min.lo), fabs(s->max.hi));
}

/* The goal is that of arrays whose proof is a default. */
static szg_status measure(szg_context *context, bench_run *run, const char *input, double goal,
                          certified_job *job) {
    const bench_case what = {.input = input,
                             .n = job->matrix.rows,
                             .ours_name = "proof of both ends",
                             .rival_name = "all eigenvalues",
                             .ours = prove,
                             .rival = solve,
                             .job = job,
                             .pairs = run->options.quick ? 3 : 5,
                             .target_ratio = goal};
    SZG_TRY(solve(context, job));
    SZG_TRY(bench_measure(context, run, &what));
    szgi_row row = bench_latest(context, run);
    szgi_row_note(&row, "the wider end has a width of %.2g of the norm",
                  relative_width(&job->spectrum));
    return row.status;
}

static szg_status measure_dense(szg_context *context, bench_run *run, const szgi_stream *stream,
                                int64_t n) {
    double *a;
    SZG_TRY(szgi_memory_alloc(context, n * n, &a));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            a[i * n + j] = a[j * n + i] = szgi_random_normal(stream, (uint64_t)(i * n + j));
    certified_job job = {.matrix = szg_matrix_symmetric(n, a, n)};
    szg_status status = measure(context, run, "Gaussian, symmetric", n >= 4096 ? 4 : 0, &job);
    szg_spectrum_close(&job.spectrum);
    szgi_memory_free(a);
    return status;
}

static szg_status measure_toeplitz(szg_context *context, bench_run *run, const szgi_stream *stream,
                                   int64_t n) {
    double *lags;
    szg_toeplitz *t = NULL;
    SZG_TRY(szgi_memory_alloc(context, n, &lags));
    szgi_random_fill_normal(stream, 0, n, lags);
    szg_status status = szg_toeplitz_open_symmetric(context, n, n, lags, &t);
    certified_job job = {.matrix = szg_matrix_toeplitz(t)};
    if (status == SZG_OK)
        status = measure(context, run, "Gaussian lags, halves", 0, &job);
    szg_spectrum_close(&job.spectrum);
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
    return status;
}

szg_status bench_certified(szg_context *context, bench_run *run) {
    const int64_t orders[] = {128, 1024, 4096};
    const szgi_stream stream = {.seed = run->options.seed, .purpose = 2};
    for (int i = 0; i < (run->options.quick ? 2 : 3); i++) {
        SZG_TRY(measure_dense(context, run, &stream, orders[i]));
        SZG_TRY(measure_toeplitz(context, run, &stream, orders[i]));
    }
    return SZG_OK;
}

/* The proof of a spectrum's ends, and of every singular value, beside the solver of all values. */
#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "spectra/certified.h"
#include "spectra/certified_singular.h"
#include "toeplitz/toeplitz.h"
#include "private.h"

typedef struct certified_job {
    szg_matrix matrix;
    szg_question question;
    szg_certify certify;   /* what is proved */
    szg_spectrum spectrum; /* the solver's, to which the proof is added */
    double width;          /* of the last proof; the rival's answer replaces the spectrum */
} certified_job;

static szg_status solve(szg_context *context, void *argument) {
    certified_job *job = argument;
    szg_spectrum_close(&job->spectrum);
    return szg_spectrum_compute(context, &job->matrix, job->question, NULL, &job->spectrum);
}

/* The widest enclosure over the norm: of every value, else of the ends that are proved. */
static double relative_width(const szg_spectrum *s) {
    bool singular = s->kind == SZG_SPECTRUM_SINGULAR;
    double norm = singular ? s->max.hi : fmax(fabs(s->min.lo), fabs(s->max.hi)), width = 0;
    for (int64_t i = 0; s->lo && i < s->count; i++)
        width = fmax(width, s->hi[i] - s->lo[i]);
    if (s->lo)
        return width / norm;
    width = s->max.hi - s->max.lo;
    return (singular ? width : fmax(width, s->min.hi - s->min.lo)) / norm;
}

static szg_status prove(szg_context *context, void *argument) {
    certified_job *job = argument;
    const szg_spectra_options options = {SZG_INIT(szg_spectra_options), .certify = job->certify};
    szgi_memory_free(job->spectrum.lo); /* of the run before */
    szgi_memory_free(job->spectrum.hi);
    job->spectrum.lo = job->spectrum.hi = NULL;
    SZG_TRY(job->question == SZG_QUESTION_SINGULAR
                ? szgi_singular_certify(context, &job->matrix, &options, &job->spectrum)
                : szgi_spectrum_certify(context, &job->matrix, &options, &job->spectrum));
    job->width = relative_width(&job->spectrum);
    return SZG_OK;
}

static szg_status measure(szg_context *context, bench_run *run, const char *input, double goal,
                          certified_job *job) {
    const bench_case what = {.input = input,
                             .n = job->matrix.rows,
                             .ours_name = job->certify == SZG_CERTIFY_ENDS ? "proof of both ends"
                                                                           : "proof of every value",
                             .rival_name = job->question == SZG_QUESTION_SINGULAR
                                               ? "all singular values"
                                               : "all eigenvalues",
                             .ours = prove,
                             .rival = solve,
                             .job = job,
                             .pairs = run->options.quick ? 3 : 5,
                             .target_ratio = goal};
    SZG_TRY(solve(context, job));
    SZG_TRY(bench_measure(context, run, &what));
    szgi_row row = bench_latest(context, run);
    szgi_row_real(&row, BENCH_DIFFERENCE, job->width);
    return row.status;
}

/* From order 3072 on the proof of an array's ends is a default. */
static const struct {
    szg_certify certify;
    double goal; /* from that order on */
} proofs[] = {{SZG_CERTIFY_ENDS, 4}, {SZG_CERTIFY_VALUES, 0.2}};
enum { PROOFS = sizeof proofs / sizeof *proofs };

static szg_status measure_dense(szg_context *context, bench_run *run, const szgi_stream *stream,
                                int64_t n) {
    double *a;
    SZG_TRY(szgi_memory_alloc(context, n * n, &a));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            a[i * n + j] = a[j * n + i] = szgi_random_normal(stream, (uint64_t)(i * n + j));
    szg_status status = SZG_OK;
    for (int i = 0; status == SZG_OK && i < PROOFS; i++) {
        certified_job job = {.matrix = szg_matrix_symmetric(n, a, n), .certify = proofs[i].certify};
        status = measure(context, run, "Gaussian, symmetric", n >= 3072 ? proofs[i].goal : 0, &job);
        szg_spectrum_close(&job.spectrum);
    }
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
    certified_job job = {.matrix = szg_matrix_toeplitz(t), .certify = SZG_CERTIFY_ENDS};
    if (status == SZG_OK)
        status = measure(context, run, "Gaussian lags, halves", 0, &job);
    szg_spectrum_close(&job.spectrum);
    szg_toeplitz_close(&t);
    szgi_memory_free(lags);
    return status;
}

static szg_status measure_singular(szg_context *context, bench_run *run, const szgi_stream *stream,
                                   int64_t n) {
    double *a;
    SZG_TRY(szgi_memory_alloc(context, n * n, &a));
    szgi_random_fill_normal(stream, 0, n * n, a);
    szg_status status = SZG_OK;
    for (int i = 0; status == SZG_OK && i < PROOFS; i++) {
        certified_job job = {.matrix = szg_matrix_dense(n, n, a, n),
                             .question = SZG_QUESTION_SINGULAR,
                             .certify = proofs[i].certify};
        status = measure(context, run, "Gaussian", 0, &job);
        szg_spectrum_close(&job.spectrum);
    }
    szgi_memory_free(a);
    return status;
}

szg_status bench_certified(szg_context *context, bench_run *run) {
    const int64_t orders[] = {128, 1024, 3072, 4096};
    const szgi_stream stream = {.seed = run->options.seed, .purpose = 2};
    for (int i = 0; i < (run->options.quick ? 2 : 4); i++) {
        SZG_TRY(measure_dense(context, run, &stream, orders[i]));
        SZG_TRY(measure_toeplitz(context, run, &stream, orders[i]));
        SZG_TRY(measure_singular(context, run, &stream, orders[i]));
    }
    return SZG_OK;
}

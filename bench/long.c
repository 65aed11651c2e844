/* Long kernels: both ends of a spectrum, and its density, against what people write with SciPy. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <szego/density.h>
#include <szego/extremes.h>

#include "base/memory.h"
#include "toeplitz/toeplitz.h"
#include "peer.h"
#include "private.h"
#include "scratch.h"

typedef struct long_job {
    int64_t n, k; /* values at each end, or moments */
    double *lags;
    char folder[BENCH_SCRATCH], lags_file[BENCH_SCRATCH + 16], answer[BENCH_SCRATCH + 16];
    bench_peer peer;
    szg_extremes extremes;
    szg_density density;
} long_job;

/* ---- Inputs ---- */

static double kms(int64_t lag) {
    return pow(0.9, (double)lag);
}

static double lorentz(int64_t lag) {
    return 1 / (1 + (double)lag * (double)lag);
}

/* The lags, and a file of them for the rival. */
static szg_status open_lags(szg_context *context, double at(int64_t lag), int64_t n,
                            long_job *job) {
    szgi_memory_free(job->lags);
    job->n = n;
    SZG_TRY(szgi_memory_alloc(context, n, &job->lags));
    for (int64_t k = 0; k < n; k++)
        job->lags[k] = at(k);
    if (!job->peer.process)
        return SZG_OK;
    FILE *file = fopen(job->lags_file, "wbe");
    bool kept = file && fwrite(job->lags, sizeof *job->lags, (size_t)n, file) == (size_t)n;
    if (file)
        kept = fclose(file) == 0 && kept;
    return kept ? SZG_OK
                : szgi_fail(context, SZG_EIO, "%s: the lags cannot be written", job->lags_file);
}

static szg_status open_job(szg_context *context, const bench_run *run, long_job *job) {
    if (run->options.alone)
        return SZG_OK;
    const bench_peer_options options = {.program = &bench_peer_numpy,
                                        .threads = szg_context_threads(context),
                                        .plain = true,
                                        .log = run->options.rival_log};
    SZG_TRY(bench_scratch_open(context, job->folder));
    snprintf(job->lags_file, sizeof job->lags_file, "%s/lags", job->folder);
    snprintf(job->answer, sizeof job->answer, "%s/answer", job->folder);
    return bench_peer_open_or_say(context, &options, &job->peer);
}

static void close_job(long_job *job) {
    szg_extremes_close(&job->extremes);
    szg_density_close(&job->density);
    bench_peer_close(&job->peer);
    szgi_memory_free(job->lags);
    if (*job->folder)
        bench_scratch_remove(job->folder);
}

/* ---- Both sides ---- */

/* From the lags on: what products keep is made anew. */
static szg_status run_extremes(szg_context *context, void *argument) {
    long_job *job = argument;
    szg_toeplitz *t;
    szg_extremes_close(&job->extremes);
    SZG_TRY(szg_toeplitz_open_symmetric(context, job->n, job->n, job->lags, &t));
    const szg_matrix matrix = szg_matrix_toeplitz(t);
    szg_status status = szg_extremes_compute(context, &matrix, job->k, &job->extremes);
    szg_toeplitz_close(&t);
    return status;
}

static szg_status run_density(szg_context *context, void *argument) {
    long_job *job = argument;
    const szg_density_options options = {SZG_INIT(szg_density_options), .moments = job->k,
                                         .vectors = 1};
    szg_toeplitz *t;
    szg_density_close(&job->density);
    SZG_TRY(szg_toeplitz_open_symmetric(context, job->n, job->n, job->lags, &t));
    const szg_matrix matrix = szg_matrix_toeplitz(t);
    szg_status status = szg_density_compute(context, &matrix, &options, &job->density);
    szg_toeplitz_close(&t);
    return status;
}

static szg_status ask(szg_context *context, long_job *job, const char *request) {
    char answer[64];
    return bench_peer_ask(context, &job->peer, request, answer, sizeof answer);
}

static szg_status ask_extremes(szg_context *context, void *argument) {
    long_job *job = argument;
    char request[3 * BENCH_SCRATCH];
    snprintf(request, sizeof request, "extremes %s %lld %d %s", job->lags_file, (long long)job->k,
             szg_context_threads(context), job->answer);
    return ask(context, job, request);
}

/* Over our interval, so that moments can be compared. */
static szg_status ask_density(szg_context *context, void *argument) {
    long_job *job = argument;
    char request[3 * BENCH_SCRATCH];
    snprintf(request, sizeof request, "moments %s %lld %d %.17g %.17g %s", job->lags_file,
             (long long)job->k, szg_context_threads(context), job->density.lo, job->density.hi,
             job->answer);
    return ask(context, job, request);
}

/* ---- Rows ---- */

/* The largest difference of our `count` numbers from the rival's. */
static szg_status compare(szg_context *context, const long_job *job, int64_t count,
                          const double *ours, double *difference) {
    double *rival;
    SZG_TRY(szgi_memory_alloc(context, count, &rival));
    FILE *file = fopen(job->answer, "rbe");
    size_t got = file ? fread(rival, sizeof *rival, (size_t)count, file) : 0;
    if (file)
        fclose(file);
    *difference = bench_difference(count, ours, rival);
    szgi_memory_free(rival);
    return got == (size_t)count
               ? SZG_OK
               : szgi_fail(context, SZG_EBACKEND, "%s: %zu numbers, %lld were asked for",
                           job->answer, got, (long long)count);
}

static int64_t count_resolved(const long_job *job) {
    int64_t resolved = 0;
    for (int64_t i = 0; i < job->extremes.count; i++)
        resolved += job->extremes.largest[i].resolved;
    return resolved;
}

static szg_status put_extremes(szg_context *context, bench_run *run, const long_job *job,
                               bool rival) {
    szgi_row row = bench_latest(context, run);
    double difference, ours[64];
    szgi_row_note(&row, "both ends; of the largest %lld of %lld resolved",
                  (long long)count_resolved(job), (long long)job->k);
    if (!rival)
        return row.status;
    for (int64_t i = 0; i < job->k; i++)
        ours[i] = job->extremes.largest[i].value;
    SZG_TRY(compare(context, job, job->k, ours, &difference));
    szgi_row_real(&row, BENCH_DIFFERENCE, difference);
    szgi_row_note(&row, "the rival has the largest alone; NumPy %s", job->peer.version);
    return row.status;
}

typedef struct extremes_row {
    const char *input;
    double (*at)(int64_t lag);
    int64_t n, quick_n;
    bool rival;
    double seconds; /* the goal */
} extremes_row;

static szg_status measure_extremes(szg_context *context, bench_run *run, const extremes_row *row,
                                   long_job *job) {
    bool quick = run->options.quick, rival = row->rival && job->peer.process;
    job->k = 10;
    SZG_TRY(open_lags(context, row->at, quick ? row->quick_n : row->n, job));
    bench_case what = {.input = row->input,
                       .n = job->n,
                       .ours_name = "Lanczos, inverted where the edge is clustered",
                       .rival_name = rival ? "eigsh, products by FFT" : NULL,
                       .ours = run_extremes,
                       .rival = rival ? ask_extremes : NULL,
                       .job = job,
                       .pairs = quick ? 3 : 5,
                       .target_seconds = quick ? 0 : row->seconds};
    SZG_TRY(bench_measure(context, run, &what));
    return put_extremes(context, run, job, rival);
}

szg_status bench_extremes(szg_context *context, bench_run *run) {
    static const extremes_row rows[] = {
        {"0.9^|k|, ten at each end", kms, 20000, 4000, true, 0},
        {"1/(1+k^2), ten at each end", lorentz, 20000, 4000, true, 0},
        /* eigsh would take some 10^5 products */
        {"0.9^|k|, ten at each end", kms, 1000000, 20000, false, 10},
    };
    long_job job = {0};
    szg_status status = open_job(context, run, &job);
    for (size_t i = 0; status == SZG_OK && i < sizeof rows / sizeof *rows; i++)
        status = measure_extremes(context, run, &rows[i], &job);
    close_job(&job);
    return status;
}

static szg_status measure_density(szg_context *context, bench_run *run, int64_t n, int64_t pairs,
                                  double seconds, long_job *job) {
    bool rival = job->peer.process;
    double difference;
    job->k = 128;
    SZG_TRY(open_lags(context, lorentz, n, job));
    SZG_TRY(run_density(context, job)); /* the rival is told the interval */
    bench_case what = {.input = "1/(1+k^2), 128 moments",
                       .n = n,
                       .ours_name = "circulant and skew-circulant, side by side",
                       .rival_name = rival ? "NumPy, products by SciPy's FFT" : NULL,
                       .ours = run_density,
                       .rival = rival ? ask_density : NULL,
                       .job = job,
                       .pairs = pairs,
                       .target_seconds = seconds};
    SZG_TRY(bench_measure(context, run, &what));
    if (!rival)
        return SZG_OK;
    SZG_TRY(compare(context, job, job->k, job->density.moment, &difference));
    szgi_row row = bench_latest(context, run);
    szgi_row_real(&row, BENCH_DIFFERENCE, difference);
    szgi_row_note(&row, "standard error of a moment %.2g; NumPy %s", job->density.moment_error,
                  job->peer.version);
    return row.status;
}

szg_status bench_density(szg_context *context, bench_run *run) {
    bool quick = run->options.quick;
    long_job job = {0};
    szg_status status = open_job(context, run, &job);
    if (status == SZG_OK)
        status = measure_density(context, run, quick ? 50000 : 1000000, quick ? 3 : 5, 0, &job);
    if (status == SZG_OK && !quick)
        status = measure_density(context, run, 10000000, 1, 30, &job);
    close_job(&job);
    return status;
}

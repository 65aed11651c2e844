/* Spectra of logits beside other work. Matrices are copied on the main stream, where the arrays may
 * then change; an event hands them over to the side stream, which does the rest while the main
 * stream trains on. Nothing of it waits, and nothing is allocated but when a job is opened and when
 * scratch memory grows for the first time. */
#include <math.h>
#include <stdlib.h>

#include "capture.h"
#include "spectra.h"
#include "spectra_device.h"
#include "table.h"

/* The device's results, in this order; the host has a copy. */
typedef struct result_places {
    int64_t sums, norms, eigenvalues, squares, means, gram, checks, total; /* in numbers */
} result_places;

typedef struct capture_job {
    szgi_spectra_job job;
    float *taken;        /* [count][n][n]; written on the main stream */
    double *half, *gram; /* [count][n][n]; destroyed by the solver */
    double *results;     /* sums are written on the main stream, the rest on the side stream */
    double *host;
    result_places at;
    void *block;
} capture_job;

static result_places places_of(int64_t count, int64_t n, int64_t sums) {
    result_places at;
    at.sums = 0;
    at.norms = sums;
    at.eigenvalues = at.norms + count * LOGIT_NORMS;
    at.squares = at.eigenvalues + count * n;
    at.means = at.squares + count * n;
    at.gram = at.means + count * (2 * n - 1);
    at.checks = at.gram + count;
    at.total = at.checks + 2 * count;
    return at;
}

static szg_status allocate(szg_context *context, session *self, int64_t count, int64_t n,
                           capture_job *job) {
    const int64_t size = sizeof(double), numbers = count * n * n;
    int64_t total = 0, taken = part(&total, numbers * (int64_t)sizeof(float));
    int64_t half = part(&total, numbers * size), gram = part(&total, numbers * size);
    int64_t results = part(&total, job->at.total * size);
    if (self->recording)
        return fail(context, SZG_EBACKEND, "not while a step is recorded");
    job->host = static_cast<double *>(malloc(static_cast<size_t>(job->at.total * size)));
    if (!job->host)
        return fail(context, SZG_ENOMEM, "%lld bytes of host memory were refused",
                    (long long)(job->at.total * size));
    SZG_TRY(device_alloc(context, self, total, &job->block));
    char *base = static_cast<char *>(job->block);
    job->taken = reinterpret_cast<float *>(base + taken);
    job->half = reinterpret_cast<double *>(base + half);
    job->gram = reinterpret_cast<double *>(base + gram);
    job->results = reinterpret_cast<double *>(base + results);
    TRY_CUDA(context, cudaMemsetAsync(job->results, 0, static_cast<size_t>(job->at.total * size),
                                      self->stream));
    return SZG_OK;
}

void gpu_spectra_close(szg_context *context, szgi_spectra_job *given) {
    capture_job *job = reinterpret_cast<capture_job *>(given);
    session *self = session_of(context);
    device_free(self, job->block);
    free(job->host);
    free(job);
}

szg_status gpu_spectra_open(szg_context *context, int64_t count, int64_t n, int64_t sums,
                            szgi_spectra_job **out) {
    capture_job *job = static_cast<capture_job *>(calloc(1, sizeof *job));
    if (!job)
        return fail(context, SZG_ENOMEM, "%zu bytes of host memory were refused", sizeof *job);
    job->job.count = count;
    job->job.n = n;
    job->job.sums = sums;
    job->at = places_of(count, n, sums);
    szg_status status = allocate(context, session_of(context), count, n, job);
    if (status == SZG_OK)
        *out = &job->job;
    else
        gpu_spectra_close(context, &job->job);
    return named(context, status, "spectra of %lld matrices of order %lld", (long long)count,
                 (long long)n);
}

/* ---- Filling ---- */

static szg_status take(szg_context *context, session *self, capture_job *job, int64_t first,
                       int64_t count, int64_t length, const float *logits) {
    int64_t n = job->job.n;
    float *to = job->taken + first * n * n;
    if (self->recording)
        return fail(context, SZG_EBACKEND, "not while a step is recorded");
    if (length != n)
        return logits_cut(context, self->stream, count, n, length, logits, to);
    TRY_CUDA(context, cudaMemcpyAsync(to, logits, static_cast<size_t>(count * n * n) * sizeof *to,
                                      cudaMemcpyDeviceToDevice, self->stream));
    return SZG_OK;
}

szg_status gpu_spectra_take(szg_context *context, szgi_spectra_job *job, int64_t first,
                            int64_t count, int64_t length, const void *logits) {
    szg_status status = take(context, session_of(context), reinterpret_cast<capture_job *>(job),
                             first, count, length, static_cast<const float *>(logits));
    return named(context, status, "spectra: taking %lld matrices of order %lld from %lld",
                 (long long)count, (long long)job->n, (long long)length);
}

szg_status gpu_spectra_squares(szg_context *context, szgi_spectra_job *given, int64_t first,
                               int64_t heads, int64_t count, const szgi_head_part *parts) {
    session *self = session_of(context);
    capture_job *job = reinterpret_cast<capture_job *>(given);
    szg_status status = SZG_OK;
    if (self->recording)
        status = fail(context, SZG_EBACKEND, "not while a step is recorded");
    else
        status = logits_squares(context, self->stream, heads, count, parts,
                                job->results + job->at.sums + first);
    return named(context, status, "spectra: sums of squares of %lld heads", (long long)heads);
}

/* ---- Under way ---- */

static szg_status begin(szg_context *context, session *self, capture_job *job, int64_t count) {
    const int64_t n = job->job.n;
    double *const results = job->results;
    const result_places &at = job->at;
    if (self->recording)
        return fail(context, SZG_EBACKEND, "not while a step is recorded");
    TRY_CUDA(context, cudaEventRecord(self->handover, self->stream));
    TRY_CUDA(context, cudaStreamWaitEvent(self->side, self->handover, 0));
    if (count == 0)
        return SZG_OK;
    SZG_TRY(logits_prepare(context, self->side, count, n, job->taken, results + at.norms, job->half,
                           results + at.means));
    SZG_TRY(spectra_gram_batch(context, self, self->side, SCRATCH_SIDE, count, n, n, job->taken,
                               job->gram));
    SZG_TRY(logits_norms(context, self->side, count, n, job->gram, results + at.gram));
    SZG_TRY(spectra_eigen_batch(context, self, self->side, SCRATCH_SIDE, count, n, job->half,
                                results + at.eigenvalues, results + at.checks));
    return spectra_eigen_batch(context, self, self->side, SCRATCH_SIDE, count, n, job->gram,
                               results + at.squares, results + at.checks + count);
}

szg_status gpu_spectra_begin(szg_context *context, szgi_spectra_job *job, int64_t count) {
    session *self = session_of(context);
    szg_status status = begin(context, self, reinterpret_cast<capture_job *>(job), count);
    if (status != SZG_OK)
        cudaStreamSynchronize(self->side); /* what was queued still uses the job */
    return named(context, status, "spectra: %lld matrices of order %lld", (long long)count,
                 (long long)job->n);
}

/* A check that is NaN is no answer either. */
static szgi_logit_numbers numbers_of(const capture_job *job, int64_t count, int64_t i) {
    const int64_t n = job->job.n;
    const double *norms = job->host + job->at.norms + i * LOGIT_NORMS;
    const double *checks = job->host + job->at.checks;
    szgi_logit_numbers out = {};
    out.eigenvalues = job->host + job->at.eigenvalues + i * n;
    out.squares = job->host + job->at.squares + i * n;
    out.means = job->host + job->at.means + i * (2 * n - 1);
    out.trace = norms[LOGIT_TRACE];
    out.frobenius = norms[LOGIT_FROBENIUS];
    out.part_frobenius = norms[LOGIT_PART];
    out.rest_frobenius = norms[LOGIT_REST];
    out.gram_frobenius = job->host[job->at.gram + i];
    out.largest = norms[LOGIT_LARGEST];
    out.skew = norms[LOGIT_SKEW];
    out.infinite = static_cast<int64_t>(norms[LOGIT_INFINITE]);
    out.converged = checks[i] >= 0 && checks[count + i] >= 0;
    return out;
}

static szg_status collect(szg_context *context, session *self, capture_job *job) {
    return staging_download(context, self, self->side, job->host, 0, job->results, 1,
                            job->at.total * (int64_t)sizeof *job->host);
}

szg_status gpu_spectra_collect(szg_context *context, szgi_spectra_job *given,
                               szgi_logit_numbers *numbers, double *sums) {
    capture_job *job = reinterpret_cast<capture_job *>(given);
    szg_status status = collect(context, session_of(context), job);
    if (status != SZG_OK)
        return named(context, status, "spectra: %lld matrices of order %lld",
                     (long long)given->begun, (long long)given->n);
    for (int64_t i = 0; i < given->begun; i++)
        numbers[i] = numbers_of(job, given->begun, i);
    for (int64_t i = 0; sums && i < given->sums; i++)
        sums[i] = job->host[job->at.sums + i];
    return SZG_OK;
}

/* Many small symmetric matrices. */
#include "spectra_chunks.h"
#include "spectra_check.h"
#include "spectra_device.h"

/* cuSOLVER wants n lda count <= INT32_MAX, as its documentation says ("due to the current
 * implementation constraints"), and has refused batches beyond 32,767, which it says nowhere. */
static const int64_t BATCH_MOST = 16384;

int64_t spectra_eigen_batch_most(int64_t n) {
    int64_t most = INT32_MAX / n / n;
    return most < 1 ? 1 : most < BATCH_MOST ? most : BATCH_MOST;
}

typedef struct batch_work {
    solver *with;
    int64_t count; /* of one call */
    size_t on_device, on_host;
    int64_t known, info, work, total; /* offsets and size of the scratch memory */
} batch_work;

/* *fits: whether cuSOLVER takes a batch of this size. */
static szg_status size_call(szg_context *context, int64_t count, int64_t n, const double *a,
                            const double *w, batch_work *work, bool *fits) {
    size_t on_device = 0, on_host = 0;
    cusolverStatus_t error = cusolverDnXsyevBatched_bufferSize(
        work->with->handle, work->with->parameters, CUSOLVER_EIG_MODE_NOVECTOR,
        CUBLAS_FILL_MODE_UPPER, n, CUDA_R_64F, a, n, CUDA_R_64F, w, CUDA_R_64F, &on_device,
        &on_host, count);
    *fits = error != CUSOLVER_STATUS_INVALID_VALUE;
    if (error != CUSOLVER_STATUS_SUCCESS && (*fits || count == 1))
        return solver_failed(context, error, "cusolverDnXsyevBatched_bufferSize");
    work->on_device = on_device > work->on_device ? on_device : work->on_device;
    work->on_host = on_host > work->on_host ? on_host : work->on_host;
    return SZG_OK;
}

/* Calls are of equal size but the last. A release whose limit is lower than those that are known
 * refuses the size: it is halved until it is taken. */
static szg_status size_calls(szg_context *context, int64_t count, int64_t n, const double *a,
                             const double *w, batch_work *out) {
    int64_t most = spectra_eigen_batch_most(n);
    bool fits;
    out->count = count < most ? count : most;
    SZG_TRY(size_call(context, out->count, n, a, w, out, &fits));
    while (!fits) {
        out->count = (out->count + 1) / 2;
        SZG_TRY(size_call(context, out->count, n, a, w, out, &fits));
    }
    return count % out->count > 0 ? size_call(context, count % out->count, n, a, w, out, &fits)
                                  : SZG_OK;
}

static szg_status size_work(szg_context *context, session *self, cudaStream_t stream,
                            scratch_use use, const measured *what, const double *a, const double *w,
                            batch_work *out) {
    *out = {};
    SZG_TRY(solver_open(context, self, use, stream, &out->with));
    SZG_TRY(size_calls(context, what->count, what->rows, a, w, out));
    out->known = part(&out->total, check_bytes(what));
    out->info = part(&out->total, what->count * (int64_t)sizeof(int));
    out->work = part(&out->total, static_cast<int64_t>(out->on_device));
    return SZG_OK;
}

szg_status spectra_eigen_batch_bytes(szg_context *context, session *self, scratch_use use,
                                     int64_t count, int64_t n, int64_t *bytes) {
    const measured what = {.width = 1, .lower = true, .count = count, .rows = n, .columns = n};
    batch_work work;
    void *any; /* cuSOLVER wants pointers, and looks at nothing */
    SZG_TRY(scratch_take(context, self, use, 1, &any));
    const double *numbers = static_cast<const double *>(any);
    SZG_TRY(size_work(context, self, self->stream, use, &what, numbers, numbers, &work));
    *bytes = work.total;
    return SZG_OK;
}

static szg_status solve(szg_context *context, cudaStream_t stream, const batch_work *work,
                        int64_t count, int64_t n, double *a, double *w, void *memory, int *info) {
    void *host;
    SZG_TRY(solver_host(context, work->with, work->on_host, &host));
    TRY_SOLVER(context, cusolverDnXsyevBatched(
                            work->with->handle, work->with->parameters, CUSOLVER_EIG_MODE_NOVECTOR,
                            CUBLAS_FILL_MODE_UPPER, n, CUDA_R_64F, a, n, CUDA_R_64F, w, CUDA_R_64F,
                            memory, work->on_device, host, work->on_host, info, count));
    return solver_called(context, stream, work->with, work->on_host);
}

szg_status spectra_eigen_batch(szg_context *context, session *self, cudaStream_t stream,
                               scratch_use use, int64_t count, int64_t n, double *a, double *w,
                               double *check) {
    batch_work work;
    void *block;
    const measured what = {.width = 1, .lower = true, .count = count, .rows = n, .columns = n};
    SZG_TRY(size_work(context, self, stream, use, &what, a, w, &work));
    SZG_TRY(scratch_take(context, self, use, work.total, &block));
    char *base = static_cast<char *>(block);
    double *known = reinterpret_cast<double *>(base + work.known);
    int *info = reinterpret_cast<int *>(base + work.info);
    SZG_TRY(check_measure(context, stream, &what, a, known));
    for (int64_t first = 0; first < count; first += work.count) {
        int64_t left = count - first;
        SZG_TRY(solve(context, stream, &work, left < work.count ? left : work.count, n,
                      a + first * n * n, w + first * n, base + work.work, info + first));
    }
    return check_values(context, stream, VALUES_SYMMETRIC, count, n, w, known, info, check);
}

/* ---- The entry ---- */

typedef struct eigen_batch {
    int64_t n, stride;
    const double *a;
    double *w;
} eigen_batch;

static szg_status run_chunk(szg_context *context, session *self, batch_chunks *chunks,
                            void *argument, int64_t first, int64_t count) {
    eigen_batch *job = static_cast<eigen_batch *>(argument);
    const int64_t size = sizeof(double), n = job->n;
    SZG_TRY(staging_upload(context, self, self->stream, chunks->matrices,
                           job->a + first * job->stride, job->stride * size, count, n * n * size));
    SZG_TRY(spectra_eigen_batch(context, self, self->stream, SCRATCH_SPECTRA, count, n,
                                chunks->matrices, chunks->values, chunks->check));
    return staging_download(context, self, self->stream, job->w + first * n, 0, chunks->values, 1,
                            count * n * size);
}

static szg_status eigen_symmetric_batch(szg_context *context, int64_t count, int64_t n, double *a,
                                        int64_t stride, double *w) {
    session *self = session_of(context);
    eigen_batch job = {.n = n, .stride = stride, .a = a, .w = w};
    batch_chunks chunks = {};
    void *nothing;
    szg_status status = batch_chunks_open(context, self, count, n, 0, &chunks, &nothing);
    if (status == SZG_OK)
        status = batch_chunks_run(context, self, &chunks, run_chunk, &job);
    batch_chunks_close(&chunks);
    return named(context, status, "%lld symmetric matrices of order %lld on the GPU",
                 (long long)count, (long long)n);
}

void eigen_batch_fill(szgi_linalg_ops *ops) {
    ops->eigen_symmetric_batch = eigen_symmetric_batch;
}

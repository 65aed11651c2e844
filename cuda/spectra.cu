/* What the spectra's files share. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "spectra_check.h"
#include "spectra_device.h"
#include "table.h"

/* ---- cuSOLVER ---- */

/* One for each use, so that spectra on the main and on the side stream know nothing of each other.
 * cuSOLVER is deterministic unless told otherwise (cusolverDnSetDeterministicMode). */
struct spectra_handles {
    solver of[SCRATCH_USES];
};

szg_status solver_failed(szg_context *context, cusolverStatus_t error, const char *call) {
    static const char *const names[] = {"success",
                                        "not initialised",
                                        "memory for its own use was refused",
                                        "an argument is invalid: the order may be too large for it",
                                        "the device is too old for it",
                                        "mapping error",
                                        "its kernels failed",
                                        "internal error",
                                        "this kind of matrix is not supported",
                                        "not supported"};
    const char *name =
        (size_t)error < sizeof names / sizeof *names ? names[error] : "see cusolverStatus_t";
    return fail(context, SZG_EBACKEND, "cuSOLVER: %.*s: %s (status %d): use --backend cpu",
                (int)strcspn(call, "("), call, name, (int)error);
}

static szg_status create(szg_context *context, solver *solver) {
    if (!solver->handle)
        TRY_SOLVER(context, cusolverDnCreate(&solver->handle));
    if (!solver->parameters)
        TRY_SOLVER(context, cusolverDnCreateParams(&solver->parameters));
    return SZG_OK;
}

szg_status solver_open(szg_context *context, session *self, scratch_use use, cudaStream_t stream,
                       solver **out) {
    if (self->recording)
        return fail(context, SZG_EBACKEND, "spectra: not while a step is recorded");
    if (!self->spectra)
        self->spectra = static_cast<spectra_handles *>(calloc(1, sizeof *self->spectra));
    if (!self->spectra)
        return fail(context, SZG_ENOMEM, "%zu bytes of host memory were refused",
                    sizeof(spectra_handles));
    solver *solver = &self->spectra->of[use];
    SZG_TRY(create(context, solver));
    TRY_SOLVER(context, cusolverDnSetStream(solver->handle, stream));
    *out = solver;
    return SZG_OK;
}

szg_status solver_host(szg_context *context, solver *solver, size_t bytes, void **out) {
    *out = NULL;
    if (bytes == 0)
        return SZG_OK;
    auto *host = &solver->host[solver->turn];
    if (host->used)
        TRY_CUDA(context, cudaEventSynchronize(host->used));
    else
        TRY_CUDA(context, cudaEventCreateWithFlags(&host->used, cudaEventDisableTiming));
    if (bytes > host->bytes) {
        free(host->memory);
        host->memory = malloc(bytes);
        host->bytes = host->memory ? bytes : 0;
    }
    *out = host->memory;
    if (!host->memory)
        return fail(context, SZG_ENOMEM, "cuSOLVER: %zu bytes of host memory were refused", bytes);
    return SZG_OK;
}

szg_status solver_called(szg_context *context, cudaStream_t stream, solver *solver, size_t bytes) {
    if (bytes == 0)
        return SZG_OK;
    TRY_CUDA(context, cudaEventRecord(solver->host[solver->turn].used, stream));
    solver->turn = (solver->turn + 1) % (int)(sizeof solver->host / sizeof *solver->host);
    return SZG_OK;
}

void spectra_close(session *self) {
    if (!self->spectra)
        return;
    for (int use = 0; use < SCRATCH_USES; use++) {
        solver *solver = &self->spectra->of[use];
        if (solver->parameters)
            cusolverDnDestroyParams(solver->parameters);
        if (solver->handle)
            cusolverDnDestroy(solver->handle);
        for (auto &host : solver->host) {
            free(host.memory);
            if (host.used)
                cudaEventDestroy(host.used);
        }
    }
    free(self->spectra);
    self->spectra = NULL;
}

/* ---- Memory ---- */

szg_status memory_free_bytes(szg_context *context, int64_t *bytes) {
    size_t available, total;
    TRY_CUDA(context, cudaMemGetInfo(&available, &total));
    *bytes = static_cast<int64_t>(available);
    return SZG_OK;
}

szg_status memory_take(szg_context *context, session *self, call_memory *memory, int64_t bytes,
                       const char *remedy, void **out) {
    int64_t available = 0;
    SZG_TRY(memory_free_bytes(context, &available));
    const double unit = 1 << 20;
    if (bytes > available)
        return fail(context, SZG_EBACKEND,
                    "out of memory on %s: %.1f MiB are needed, %.1f of its %.1f MiB are free: %s",
                    self->device.name, (double)bytes / unit, (double)available / unit,
                    (double)self->device.memory / unit, remedy);
    SZG_TRY(device_alloc(context, self, bytes, out));
    memory->self = self;
    memory->blocks[memory->count++] = *out;
    return SZG_OK;
}

void memory_release(call_memory *memory) {
    for (int i = 0; i < memory->count; i++)
        device_free(memory->self, memory->blocks[i]);
    memory->count = 0;
}

/* ---- Verdicts ---- */

double spectra_limit(int64_t n) {
    return 1e3 * (double)n * DBL_EPSILON;
}

szg_status spectra_accept(szg_context *context, int64_t index, int64_t n, double check) {
    if (check < 0)
        return fail(context, SZG_ENOCONV,
                    "matrix %lld: cuSOLVER did not converge (info %.0f): use --backend cpu",
                    (long long)index, -check);
    if (!(check <= spectra_limit(n)))
        return fail(context, SZG_EBACKEND,
                    "matrix %lld: the values that cuSOLVER computed miss its trace or Frobenius "
                    "norm by %.3g (relative; %.3g is allowed at n = %lld): not handed out: use "
                    "--backend cpu and report it",
                    (long long)index, check, spectra_limit(n), (long long)n);
    return SZG_OK;
}

szg_status values_out(szg_context *context, session *self, value_kind kind, int64_t n,
                      double *values, const double *known, const int *info, double *check,
                      void *out, int64_t bytes) {
    double found;
    SZG_TRY(check_values(context, self->stream, kind, 1, n, values, known, info, check));
    SZG_TRY(staging_download(context, self, self->stream, &found, 0, check, 1, sizeof found));
    SZG_TRY(spectra_accept(context, 0, n, found));
    return staging_download(context, self, self->stream, out, 0, values, 1, bytes);
}

szg_status residual_accept(szg_context *context, const char *what, int64_t index, double residual,
                           double limit) {
    if (residual <= limit)
        return SZG_OK;
    return fail(context, SZG_EBACKEND,
                "%s %lld of cuSOLVER has the residual %.3g (relative; %.3g is allowed): not handed "
                "out: use --backend cpu and report it",
                what, (long long)index, residual, limit);
}

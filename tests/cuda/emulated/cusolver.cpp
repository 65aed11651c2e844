/* cuSOLVER's handles and workspaces. */
#include "cusolver.h"

#include <stdlib.h>
#include <string.h>

using namespace emulated;

struct cusolverDnParams {};

/* Of a batch; the true library's limit is documented nowhere, but met. */
static const int64_t most_matrices = 32767;

/* Of n lda batch, as documented, or what SZG_EMULATED_BATCH says. */
static int64_t most_numbers() {
    const char *text = getenv("SZG_EMULATED_BATCH");
    return text ? strtoll(text, nullptr, 0) : INT32_MAX;
}

namespace emulated {

/* Workspaces are asked for and overwritten, so that one that is too small or shared shows. */
bool workspaces_good(const SolverWork &work) {
    return range_good("the solver's workspace", work.device, work.device_bytes);
}

void workspaces_spoil(const SolverWork &work) {
    memset(work.device, 0xff, work.device_bytes);
}

bool batch_taken(int64_t n, int64_t leading, int64_t batch) {
    return batch <= most_matrices && (n < 1 || batch <= most_numbers() / leading / n);
}

cusolverStatus_t solver_sizes(const char *function, cusolverDnHandle_t handle, int64_t n,
                              int64_t batch, size_t *device_bytes, size_t *host_bytes) {
    Guard guard;
    if (!handle || !device_bytes || !host_bytes || n < 0 || batch < 0)
        return CUSOLVER_STATUS_INVALID_VALUE;
    if (injected(function))
        return CUSOLVER_STATUS_INTERNAL_ERROR;
    *device_bytes = 1024 + static_cast<size_t>(batch * n) * 48;
    *host_bytes = 512 + static_cast<size_t>(n) * 8;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t solver_push(const char *function, cusolverDnHandle_t handle, int64_t n,
                             int64_t batch, const SolverWork &given, double *values, Work work) {
    Guard guard;
    size_t device_bytes, host_bytes;
    cusolverStatus_t status = solver_sizes("", handle, n, batch, &device_bytes, &host_bytes);
    if (status != CUSOLVER_STATUS_SUCCESS)
        return status;
    if (injected(function) || device_broken() != cudaSuccess)
        return CUSOLVER_STATUS_EXECUTION_FAILED;
    if (given.device_bytes < device_bytes || given.host_bytes < host_bytes || !given.device ||
        !given.host)
        return CUSOLVER_STATUS_INVALID_WORKSPACE;
    memset(given.host, 0xff, host_bytes);
    SolverWork used = {given.device, device_bytes, given.host, host_bytes};
    bool wrong = counted("SZG_EMULATED_WRONG", function);
    cudaError_t error = stream_push(handle->stream, [used, work, values, wrong] {
        if (!workspaces_good(used))
            return cudaErrorIllegalAddress;
        workspaces_spoil(used);
        cudaError_t result = work();
        if (wrong)
            values[0] = 1.001 * values[0] + 0.001;
        return result;
    });
    return error == cudaSuccess ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_EXECUTION_FAILED;
}

} // namespace emulated

cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int *value) {
    const int version[] = {12, 0, 0};
    *value = version[type];
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle) {
    Guard guard;
    if (device_missing() || injected(__func__))
        return CUSOLVER_STATUS_NOT_INITIALIZED;
    *handle = new cusolverDnContext;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
    delete handle;
    return handle ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_NOT_INITIALIZED;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
    handle->stream = stream;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params) {
    Guard guard;
    if (injected(__func__))
        return CUSOLVER_STATUS_ALLOC_FAILED;
    *params = new cusolverDnParams;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) {
    delete params;
    return CUSOLVER_STATUS_SUCCESS;
}

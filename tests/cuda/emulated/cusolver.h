/* cuSOLVER from within. */
#ifndef EMULATED_CUSOLVER_H
#define EMULATED_CUSOLVER_H

#include "cusolverDn.h"
#include "vendor.h"

struct cusolverDnContext {
    cudaStream_t stream = nullptr;
};

namespace emulated {

struct SolverWork {
    void *device;
    size_t device_bytes;
    void *host;
    size_t host_bytes;
};

/* Whether XsyevBatched takes so many matrices at one time. */
bool batch_taken(int64_t n, int64_t leading, int64_t batch);
/* The workspaces that a solution of `batch` matrices of order n takes. */
cusolverStatus_t solver_sizes(const char *function, cusolverDnHandle_t handle, int64_t n,
                              int64_t batch, size_t *device_bytes, size_t *host_bytes);
/* Queues `work`, which finds both workspaces overwritten. SZG_EMULATED_WRONG=FUNCTION:N spoils the
 * first of the `values` that the N-th call returns, and says nothing. */
cusolverStatus_t solver_push(const char *function, cusolverDnHandle_t handle, int64_t n,
                             int64_t batch, const SolverWork &given, double *values, Work work);

} // namespace emulated

#endif

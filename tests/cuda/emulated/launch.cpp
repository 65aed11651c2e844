/* Launches: what the hardware refuses is refused here, the rest is queued. */
#include <stdio.h>

#include <map>

#include "gpu.h"
#include "shared_memory.h"

namespace emulated {
namespace {

constexpr size_t shared_without_asking = 48 * 1024;
constexpr size_t shared_of_multiprocessor = 228 * 1024;
constexpr size_t shared_of_system = 1024; /* a block takes so much more */
constexpr unsigned most_rows = 65535;

std::map<const void *, size_t> shared_limits;

size_t shared_limit(const void *function) {
    auto found = shared_limits.find(function);
    return found == shared_limits.end() ? shared_without_asking : found->second;
}

cudaError_t refused(const cudaLaunchConfig_t &config, const void *function) {
    dim3 grid = config.gridDim, block = config.blockDim;
    uint64_t threads = uint64_t{block.x} * block.y * block.z;
    if (threads == 0 || threads > 1024 || block.z > 64 || grid.x == 0 || grid.y == 0 ||
        grid.z == 0 || grid.x > 0x7fffffffu || grid.y > most_rows || grid.z > most_rows)
        return cudaErrorInvalidConfiguration;
    if (config.dynamicSmemBytes > shared_limit(function))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

void run_thread(void *kernel) {
    static_cast<const Kernel *>(kernel)->thread();
}

} // namespace

cudaError_t launch(const cudaLaunchConfig_t *config, const void *function, Kernel *kernel) {
    std::shared_ptr<Kernel> owned(kernel);
    Guard guard;
    cudaError_t error = enter("cudaLaunchKernelEx", cudaErrorLaunchOutOfResources);
    if (error == cudaSuccess)
        error = returned(refused(*config, function));
    if (error != cudaSuccess)
        return error;
    Launch launch = {config->gridDim,
                     config->blockDim,
                     config->dynamicSmemBytes,
                     function,
                     stream_number(config->stream),
                     run_thread,
                     kernel};
    return stream_push(config->stream, [launch, owned] {
        return simt_run(launch) ? cudaSuccess : cudaErrorLaunchFailure;
    });
}

cudaError_t set_attribute(const void *function, cudaFuncAttribute attribute, int value) {
    Guard guard;
    if (cudaError_t error = enter("cudaFuncSetAttribute", cudaErrorInvalidValue))
        return error;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return cudaSuccess;
    if (value < 0 || static_cast<size_t>(value) > most_shared)
        return returned(cudaErrorInvalidValue);
    shared_limits[function] = static_cast<size_t>(value);
    return cudaSuccess;
}

cudaError_t occupancy(int *blocks, const void *, int threads, size_t shared) {
    Guard guard;
    if (cudaError_t error =
            enter("cudaOccupancyMaxActiveBlocksPerMultiprocessor", cudaErrorInvalidValue))
        return error;
    if (!blocks || threads <= 0 || threads > 1024)
        return returned(cudaErrorInvalidValue);
    int by_threads = 2048 / threads;
    int by_shared = static_cast<int>(shared_of_multiprocessor / (shared + shared_of_system));
    *blocks = by_threads < by_shared ? by_threads : by_shared;
    return cudaSuccess;
}

} // namespace emulated

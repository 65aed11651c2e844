/* The device's properties: those of no real one. */
#include <stdio.h>
#include <string.h>

#include "gpu.h"
#include "setting.h"
#include "shared_memory.h"

#include <stdlib.h>

using namespace emulated;

namespace {

constexpr int version = 13000;

bool old() {
    const char *text = setting("SZG_EMULATED_GPU");
    return text && !strcmp(text, "old");
}

bool old_driver() {
    const char *text = setting("SZG_EMULATED_GPU");
    return text && !strcmp(text, "no-driver");
}

cudaDeviceProp properties_of_device() {
    cudaDeviceProp device = {};
    snprintf(device.name, sizeof device.name, "emulated GPU");
    device.totalGlobalMem = memory_total();
    device.sharedMemPerBlock = 48 * 1024;
    device.sharedMemPerBlockOptin = most_shared;
    device.sharedMemPerMultiprocessor = most_shared + 1024;
    device.major = old() ? 7 : 9;
    device.multiProcessorCount = 4;
    device.warpSize = 32;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiProcessor = 2048;
    device.regsPerBlock = 65536;
    device.l2CacheSize = 1 << 20;
    device.memoryBusWidth = 64;
    return device;
}

} // namespace

/* As with a real runtime: without a driver its version is 0. */
cudaError_t cudaDriverGetVersion(int *number) {
    *number = old_driver() ? 0 : version;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *number) {
    *number = version;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 0;
    EMULATED_ENTER(cudaErrorNoDevice);
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
    EMULATED_ENTER(cudaErrorInvalidDevice);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    EMULATED_ENTER(cudaErrorInvalidDevice);
    return device == 0 ? cudaSuccess : returned(cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    EMULATED_ENTER(cudaErrorInvalidDevice);
    if (device != 0)
        return returned(cudaErrorInvalidDevice);
    *properties = properties_of_device();
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    EMULATED_ENTER(cudaErrorInvalidDevice);
    if (device != 0)
        return returned(cudaErrorInvalidDevice);
    cudaDeviceProp known = properties_of_device();
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        *value = known.maxThreadsPerBlock;
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = static_cast<int>(known.sharedMemPerBlock);
        return cudaSuccess;
    case cudaDevAttrWarpSize:
        *value = known.warpSize;
        return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
        *value = known.multiProcessorCount;
        return cudaSuccess;
    case cudaDevAttrL2CacheSize:
        *value = known.l2CacheSize;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
        *value = known.major;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
        *value = known.minor;
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = static_cast<int>(known.sharedMemPerMultiprocessor);
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = static_cast<int>(known.sharedMemPerBlockOptin);
        return cudaSuccess;
    case cudaDevAttrMemoryPoolsSupported:
        *value = 1;
        return cudaSuccess;
    }
    return returned(cudaErrorInvalidValue);
}

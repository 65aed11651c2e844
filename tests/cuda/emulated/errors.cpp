/* Error codes, the missing device and injected failures.
 *
 * SZG_EMULATED_GPU=none: no device; no-driver: the driver is older than the runtime; old: compute
 * capability 7.0. SZG_EMULATED_FAIL=cudaMalloc:3: the third cudaMalloc after the variable was set
 * fails; cudaMalloc:3+: those after it too. SZG_EMULATED_BREAK likewise: and all that comes after
 * it, as after a kernel that wrote elsewhere, until the variable has another value. */
#include <stdlib.h>
#include <string.h>

#include <map>
#include <mutex>
#include <string>

#include "count.h"
#include "gpu.h"
#include "setting.h"

namespace emulated {
namespace {

std::recursive_mutex mutex;
cudaError_t broken = cudaSuccess;
std::string broken_by; /* the value of SZG_EMULATED_BREAK; "": a kernel */
/* In static memory of the thread though the plugin is loaded late: of what the dynamic linker
 * allocates for it glibc 2.36 says no size, and LeakSanitizer would take garbage for one. */
thread_local cudaError_t last __attribute__((tls_model("initial-exec"))) = cudaSuccess;

/* What a variable's value counts: calls since it was set. */
struct Count {
    std::string value;
    long calls = 0;
};
std::map<std::string, Count> counts;

struct Named {
    cudaError_t error;
    const char *name, *text;
};
#define NAMED(error, text)                                                                         \
    { error, #error, text }
const Named names[] = {
    NAMED(cudaSuccess, "no error"),
    NAMED(cudaErrorInvalidValue, "invalid argument"),
    NAMED(cudaErrorMemoryAllocation, "out of memory"),
    NAMED(cudaErrorInitializationError, "initialization error"),
    NAMED(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    NAMED(cudaErrorInvalidDevicePointer, "invalid device pointer"),
    NAMED(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    NAMED(cudaErrorInsufficientDriver,
          "CUDA driver version is insufficient for CUDA runtime version"),
    NAMED(cudaErrorInvalidDeviceFunction, "invalid device function"),
    NAMED(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    NAMED(cudaErrorInvalidDevice, "invalid device ordinal"),
    NAMED(cudaErrorNoKernelImageForDevice,
          "no kernel image is available for execution on the device"),
    NAMED(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    NAMED(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    NAMED(cudaErrorNotReady, "device not ready"),
    NAMED(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    NAMED(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    NAMED(cudaErrorLaunchFailure, "unspecified launch failure"),
    NAMED(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    NAMED(cudaErrorNotSupported, "operation not supported"),
    NAMED(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    NAMED(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error in capture"),
    NAMED(cudaErrorStreamCaptureMerge, "operation would merge two captures"),
    NAMED(cudaErrorStreamCaptureUnmatched, "capture was not begun in this stream"),
    NAMED(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    NAMED(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work"),
    NAMED(cudaErrorStreamCaptureImplicit, "operation would depend on the legacy stream"),
    NAMED(cudaErrorCapturedEvent, "operation not permitted on an event of a capturing stream"),
    NAMED(cudaErrorStreamCaptureWrongThread, "capture was begun by another thread"),
    NAMED(cudaErrorUnknown, "unknown error"),
};
#undef NAMED

const Named *named(cudaError_t error) {
    for (const Named &candidate : names)
        if (candidate.error == error)
            return &candidate;
    return nullptr;
}

bool gpu_is(const char *state) {
    const char *text = setting("SZG_EMULATED_GPU");
    return text && !strcmp(text, state);
}

/* What a variable broke is whole again once it has another value. */
void mend() {
    const char *text = setting("SZG_EMULATED_BREAK");
    if (broken_by.empty() || (text && broken_by == text))
        return;
    broken_by.clear();
    broken = cudaSuccess;
}

} // namespace

Guard::Guard() {
    mutex.lock();
}
Guard::~Guard() {
    mutex.unlock();
}

cudaError_t returned(cudaError_t error) {
    if (error != cudaSuccess)
        last = error;
    return error;
}

bool counted(const char *variable, const char *function) {
    const char *text = setting(variable);
    if (!text || !*text)
        return false;
    Count &count = counts[variable];
    if (count.value != text)
        count = {text, 0};
    const char *colon = strchr(text, ':');
    size_t length = strlen(function);
    if (!colon || static_cast<size_t>(colon - text) != length || strncmp(text, function, length))
        return false;
    char *end;
    long wanted = strtol(colon + 1, &end, 10);
    count.calls++;
    return *end == '+' ? count.calls >= wanted : count.calls == wanted;
}

bool injected(const char *function) {
    count_call(function);
    mend();
    if (counted("SZG_EMULATED_BREAK", function)) {
        broken_by = setting("SZG_EMULATED_BREAK");
        device_break(cudaErrorLaunchFailure);
        return true;
    }
    return counted("SZG_EMULATED_FAIL", function);
}

bool device_missing() {
    return gpu_is("none") || gpu_is("no-driver");
}

cudaError_t enter(const char *function, cudaError_t typical) {
    if (gpu_is("none"))
        return returned(cudaErrorNoDevice);
    if (gpu_is("no-driver"))
        return returned(cudaErrorInsufficientDriver);
    if (injected(function))
        return returned(typical);
    return returned(broken);
}

void device_break(cudaError_t error) {
    if (broken == cudaSuccess)
        broken = error;
}

cudaError_t device_broken() {
    return broken;
}

} // namespace emulated

const char *cudaGetErrorName(cudaError_t error) {
    const emulated::Named *known = emulated::named(error);
    return known ? known->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    const emulated::Named *known = emulated::named(error);
    return known ? known->text : "unrecognized error code";
}

cudaError_t cudaPeekAtLastError() {
    return emulated::last;
}

cudaError_t cudaGetLastError() {
    cudaError_t error = emulated::last;
    emulated::last = emulated::broken;
    return error;
}

cudaError_t cudaDeviceReset() {
    emulated::Guard guard;
    emulated::streams_drain();
    emulated::broken = emulated::last = cudaSuccess;
    return cudaSuccess;
}

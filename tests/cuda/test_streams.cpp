/* The emulated GPU itself: streams, events and graphs run late, and in order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

static __global__ void store(float *to, float value) {
    *to = value;
}

static __global__ void copy_one(float *to, const float *from) {
    *to = *from;
}

static cudaStream_t new_stream(void) {
    cudaStream_t stream;
    ck_cuda(cudaSuccess, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static cudaEvent_t new_event(void) {
    cudaEvent_t event;
    ck_cuda(cudaSuccess, cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

/* One stream writes, another reads what it has written, with an event between them or without. */
static float handed_over(bool waits) {
    cudaStream_t writer = new_stream(), reader = new_stream();
    cudaEvent_t written = new_event();
    float *device = device_array<float>(2), result;
    ck_cuda(cudaSuccess, start({1, 1, 0, writer}, store, device, 7.0f));
    ck_cuda(cudaSuccess, cudaEventRecord(written, writer));
    if (waits)
        ck_cuda(cudaSuccess, cudaStreamWaitEvent(reader, written));
    ck_cuda(cudaSuccess, start({1, 1, 0, reader}, copy_one, device + 1, device));
    ck_cuda(cudaSuccess,
            cudaMemcpyAsync(&result, device + 1, sizeof result, cudaMemcpyDeviceToHost, reader));
    ck_cuda(cudaSuccess, cudaStreamSynchronize(reader));
    ck_cuda(cudaSuccess, cudaStreamSynchronize(writer));
    ck_cuda(cudaSuccess, cudaFree(device));
    ck_cuda(cudaSuccess, cudaEventDestroy(written));
    ck_cuda(cudaSuccess, cudaStreamDestroy(writer));
    ck_cuda(cudaSuccess, cudaStreamDestroy(reader));
    return result;
}

START_TEST(a_missing_event_shows) {
    ck_assert(handed_over(true) == 7);
    ck_assert(isnan(handed_over(false)));
    setenv("SZG_EMULATED_STREAMS", "eager", 1);
    ck_assert(handed_over(false) == 7);
    unsetenv("SZG_EMULATED_STREAMS");
}
END_TEST

/* The default stream and blocking ones wait for each other. */
START_TEST(the_default_stream_waits) {
    cudaStream_t blocking;
    float *device = device_array<float>(2), result;
    ck_cuda(cudaSuccess, cudaStreamCreate(&blocking));
    ck_cuda(cudaSuccess, start({1, 1, 0, blocking}, store, device, 5.0f));
    ck_cuda(cudaSuccess, start({1, 1, 0, nullptr}, copy_one, device + 1, device));
    ck_cuda(cudaSuccess, start({1, 1, 0, blocking}, copy_one, device, device + 1));
    ck_cuda(cudaSuccess, cudaStreamSynchronize(blocking));
    ck_cuda(cudaSuccess, cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
    ck_assert(result == 5);
    ck_cuda(cudaSuccess, cudaStreamDestroy(blocking));
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

/* Host memory is read when its turn comes, pageable memory too. */
START_TEST(copies_read_when_cuda_does) {
    cudaStream_t stream = new_stream();
    float pageable = 1, *pinned, *device = device_array<float>(2), result[2];
    ck_cuda(cudaSuccess, cudaMallocHost(&pinned, sizeof *pinned));
    *pinned = 1;
    ck_cuda(cudaSuccess,
            cudaMemcpyAsync(device, &pageable, sizeof pageable, cudaMemcpyHostToDevice, stream));
    ck_cuda(cudaSuccess,
            cudaMemcpyAsync(device + 1, pinned, sizeof *pinned, cudaMemcpyHostToDevice, stream));
    pageable = *pinned = 2;
    ck_cuda(cudaSuccess, cudaStreamSynchronize(stream));
    read_array(result, device, 2);
    ck_assert(result[0] == 2 && result[1] == 2);
    ck_cuda(cudaSuccess, start({1, 1, 0, stream}, store, device, 3.0f));
    ck_cuda(cudaSuccess,
            cudaMemcpyAsync(pinned, device, sizeof *pinned, cudaMemcpyDeviceToHost, stream));
    ck_assert(*pinned == 2);
    ck_cuda(cudaErrorNotReady, cudaStreamQuery(stream));
    ck_assert(*pinned == 2);
    ck_cuda(cudaSuccess, cudaStreamQuery(stream));
    ck_assert(*pinned == 3);
    ck_cuda(cudaSuccess, cudaFreeHost(pinned));
    ck_cuda(cudaSuccess, cudaStreamDestroy(stream));
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

static __global__ void add(float *to, const float *step) {
    *to += *step;
}

/* A graph adds *step twice, the second time by way of a second stream. */
static cudaGraphExec_t captured(float *sum, const float *step, cudaStream_t stream,
                                cudaStream_t side, bool joins) {
    cudaGraph_t graph;
    cudaGraphExec_t executable = nullptr;
    cudaEvent_t fork = new_event(), join = new_event();
    ck_cuda(cudaSuccess, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    ck_cuda(cudaSuccess, start({1, 1, 0, stream}, add, sum, step));
    ck_cuda(cudaSuccess, cudaEventRecord(fork, stream));
    ck_cuda(cudaSuccess, cudaStreamWaitEvent(side, fork));
    ck_cuda(cudaSuccess, start({1, 1, 0, side}, add, sum, step));
    ck_cuda(cudaSuccess, cudaEventRecord(join, side));
    if (joins)
        ck_cuda(cudaSuccess, cudaStreamWaitEvent(stream, join));
    ck_cuda(joins ? cudaSuccess : cudaErrorStreamCaptureUnjoined,
            cudaStreamEndCapture(stream, &graph));
    if (joins) {
        ck_cuda(cudaSuccess, cudaGraphInstantiate(&executable, graph));
        ck_cuda(cudaSuccess, cudaGraphDestroy(graph));
    }
    ck_cuda(cudaSuccess, cudaEventDestroy(fork));
    ck_cuda(cudaSuccess, cudaEventDestroy(join));
    return executable;
}

START_TEST(graphs_replay) {
    cudaStream_t stream = new_stream(), side = new_stream();
    float *device = device_array<float>(2), host[2] = {0, 1}, step = 10;
    ck_cuda(cudaSuccess, cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    ck_assert_ptr_null(captured(device, device + 1, stream, side, false));
    cudaGraphExec_t graph = captured(device, device + 1, stream, side, true);
    read_array(host, device, 2);
    ck_assert(host[0] == 0); /* a capture runs nothing */
    ck_cuda(cudaSuccess, cudaGraphLaunch(graph, stream));
    ck_cuda(cudaSuccess,
            cudaMemcpyAsync(device + 1, &step, sizeof step, cudaMemcpyHostToDevice, stream));
    ck_cuda(cudaSuccess, cudaGraphLaunch(graph, stream));
    ck_cuda(cudaSuccess, cudaStreamSynchronize(stream));
    read_array(host, device, 2);
    ck_assert(host[0] == 22);
    ck_cuda(cudaSuccess, cudaGraphExecDestroy(graph));
    ck_cuda(cudaSuccess, cudaStreamDestroy(stream));
    ck_cuda(cudaSuccess, cudaStreamDestroy(side));
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

/* What would have to wait cannot be captured, and spoils the capture. */
START_TEST(captures_refuse_to_wait) {
    cudaStream_t stream = new_stream();
    cudaGraph_t graph;
    float *device = device_array<float>(1), host = 0;
    void *other;
    for (int attempt = 0; attempt < 4; attempt++) {
        ck_cuda(cudaSuccess, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        cudaError_t error = cudaSuccess;
        if (attempt == 0)
            error = cudaStreamSynchronize(stream);
        else if (attempt == 1)
            error = cudaMalloc(&other, 4);
        else if (attempt == 2)
            error = cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice);
        else
            error = cudaMemcpyAsync(device, &host, sizeof host, cudaMemcpyHostToDevice, stream);
        ck_cuda(cudaErrorStreamCaptureUnsupported, error);
        cudaError_t end = cudaStreamEndCapture(stream, &graph);
        ck_cuda(cudaErrorStreamCaptureInvalidated, end);
    }
    ck_cuda(cudaSuccess, cudaStreamDestroy(stream));
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

static __global__ void nothing(void) {
}

static cudaError_t start_shape(dim3 grid, dim3 block, size_t shared) {
    cudaError_t error = start({grid, block, shared}, nothing);
    cudaGetLastError();
    return error;
}

START_TEST(launches_have_limits) {
    ck_cuda(cudaSuccess, start_shape(1, 1024, 0));
    ck_cuda(cudaErrorInvalidConfiguration, start_shape(1, 1025, 0));
    ck_cuda(cudaErrorInvalidConfiguration, start_shape(0, 32, 0));
    ck_cuda(cudaErrorInvalidConfiguration, start_shape(dim3(1, 65536), 32, 0));
    ck_cuda(cudaSuccess, start_shape(1, 1, 48 * 1024));
    ck_cuda(cudaErrorInvalidValue, start_shape(1, 1, 48 * 1024 + 1));
    cudaFuncAttribute most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    ck_cuda(cudaErrorInvalidValue, cudaFuncSetAttribute(nothing, most, 227 * 1024 + 1));
    ck_cuda(cudaSuccess, cudaFuncSetAttribute(nothing, most, 227 * 1024));
    ck_cuda(cudaSuccess, start_shape(1, 1, 227 * 1024));
    ck_cuda(cudaSuccess, cudaDeviceSynchronize());
}
END_TEST

TEST_FILE("streams") {
    test_add(suite, "a missing event shows", a_missing_event_shows);
    test_add(suite, "the default stream waits", the_default_stream_waits);
    test_add(suite, "copies read when CUDA does", copies_read_when_cuda_does);
    test_add(suite, "graphs replay", graphs_replay);
    test_add(suite, "captures refuse to wait", captures_refuse_to_wait);
    test_add(suite, "launches have limits", launches_have_limits);
}

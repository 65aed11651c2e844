/* Launching a kernel from a test. */
#ifndef SZG_TESTS_CUDA_KERNELS_H
#define SZG_TESTS_CUDA_KERNELS_H

extern "C" {
#include "suite.h"
}

#include <hardware.cuh>

#define ck_cuda(expected, call)                                                                    \
    do {                                                                                           \
        cudaError_t ck_error_ = (call);                                                            \
        ck_assert_msg(ck_error_ == (expected), "%s: %s, not %s", #call,                            \
                      cudaGetErrorName(ck_error_), #expected);                                     \
    } while (0)

struct Shape {
    dim3 grid, block;
    size_t shared = 0;
    cudaStream_t stream = nullptr;
};

template <class... Parameters, class... Arguments>
cudaError_t start(const Shape &shape, void (*kernel)(Parameters...), Arguments... arguments) {
    cudaLaunchConfig_t config = {};
    config.gridDim = shape.grid;
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.shared;
    config.stream = shape.stream;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

/* `count` elements of device memory. */
template <class T> T *device_array(size_t count) {
    T *array;
    ck_cuda(cudaSuccess, cudaMalloc(&array, count * sizeof(T)));
    return array;
}

/* Waits for everything, then reads. */
template <class T> void read_array(T *to, const T *from, size_t count) {
    ck_cuda(cudaSuccess, cudaDeviceSynchronize());
    ck_cuda(cudaSuccess, cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyDeviceToHost));
}

#endif

/* The emulated GPU itself: memory, missing devices and injected failures. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.h"

START_TEST(memory_begins_as_nan) {
    float *device = device_array<float>(1000), host[1000];
    read_array(host, device, 1000);
    for (float value : host)
        ck_assert(isnan(value));
    ck_assert_uint_eq(reinterpret_cast<uintptr_t>(device) % 256, 0);
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

START_TEST(memory_is_limited_and_counted) {
    void *blocks[3];
    size_t free_before, free_after, total;
    setenv("SZG_EMULATED_MEMORY", "1000000", 1);
    ck_cuda(cudaSuccess, cudaMemGetInfo(&free_before, &total));
    ck_assert_uint_eq(total, 1000000);
    ck_assert_uint_eq(free_before, 1000000);
    ck_cuda(cudaSuccess, cudaMalloc(&blocks[0], 400000));
    ck_cuda(cudaSuccess, cudaMalloc(&blocks[1], 600000));
    ck_cuda(cudaErrorMemoryAllocation, cudaMalloc(&blocks[2], 1));
    ck_cuda(cudaErrorMemoryAllocation, cudaGetLastError());
    ck_cuda(cudaSuccess, cudaFree(blocks[0]));
    ck_cuda(cudaSuccess, cudaMemGetInfo(&free_after, &total));
    ck_assert_uint_eq(free_after, 400000);
    ck_cuda(cudaSuccess, cudaMalloc(&blocks[2], 400000));
    ck_cuda(cudaSuccess, cudaFree(blocks[1]));
    ck_cuda(cudaSuccess, cudaFree(blocks[2]));
    unsetenv("SZG_EMULATED_MEMORY");
}
END_TEST

START_TEST(strange_pointers_are_refused) {
    float host[8] = {0}, *device = device_array<float>(8);
    ck_cuda(cudaErrorInvalidValue, cudaFree(host));
    ck_cuda(cudaErrorInvalidValue, cudaFree(device + 1));
    ck_cuda(cudaErrorInvalidValue,
            cudaMemcpy(device + 1, host, sizeof host, cudaMemcpyHostToDevice));
    ck_cuda(cudaErrorInvalidValue, cudaMemcpy(host, device, sizeof host, cudaMemcpyHostToDevice));
    ck_cuda(cudaErrorInvalidValue, cudaMemset(device, 0, sizeof host + 1));
    ck_cuda(cudaSuccess, cudaFree(device));
    ck_cuda(cudaErrorInvalidValue, cudaFree(device));
    cudaGetLastError();
}
END_TEST

/* Many blocks of many sizes, freed in another order, keep their contents apart. */
START_TEST(allocations_are_apart) {
    enum { COUNT = 200 };
    unsigned char *blocks[COUNT], host[4096];
    size_t sizes[COUNT];
    szgi_stream stream = {};
    stream.seed = test_seed();
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < COUNT; i++) {
            if (round > 0 && i % 3 == 0)
                continue;
            stream.step = static_cast<uint32_t>(round);
            sizes[i] = 1 + static_cast<size_t>(szgi_random_below(&stream, i, sizeof host));
            ck_cuda(cudaSuccess, cudaMalloc(&blocks[i], sizes[i]));
            ck_cuda(cudaSuccess, cudaMemset(blocks[i], static_cast<int>(i), sizes[i]));
        }
        for (int i = 0; i < COUNT; i++) {
            ck_cuda(cudaSuccess, cudaMemcpy(host, blocks[i], sizes[i], cudaMemcpyDeviceToHost));
            for (size_t k = 0; k < sizes[i]; k++)
                ck_assert_int_eq(host[k], i);
            if (round == 2 || i % 3 != 0)
                ck_cuda(cudaSuccess, cudaFree(blocks[i]));
        }
    }
}
END_TEST

/* Freeing a large allocation leaves its neighbour as it was, which begins in its last page. */
START_TEST(neighbours_of_freed_memory_stay) {
    enum { SIZE = (4 << 20) + 1000, PAGE = 4096 };
    unsigned char *before = device_array<unsigned char>(SIZE), host[100];
    size_t gap = 256, rest = (reinterpret_cast<uintptr_t>(before) + SIZE + gap + 24) % PAGE;
    unsigned char *padding = device_array<unsigned char>((8 << 20) - rest - gap);
    unsigned char *first = device_array<unsigned char>(SIZE);
    ck_assert_uint_eq(reinterpret_cast<uintptr_t>(first) % PAGE, 0);
    unsigned char *second = device_array<unsigned char>(SIZE);
    ck_assert(second - first == (4 << 20) + 1280); /* in one page with the other's end */
    ck_cuda(cudaSuccess, cudaMemset(second, 7, sizeof host));
    ck_cuda(cudaSuccess, cudaDeviceSynchronize());
    ck_cuda(cudaSuccess, cudaFree(first));
    read_array(host, second, sizeof host);
    for (unsigned char byte : host)
        ck_assert_int_eq(byte, 7);
    ck_cuda(cudaSuccess, cudaFree(second));
    ck_cuda(cudaSuccess, cudaFree(before));
    ck_cuda(cudaSuccess, cudaFree(padding));
}
END_TEST

static __global__ void write_at(unsigned char *bytes, size_t index) {
    bytes[index] = 1;
}

/* The sanitizer would have stopped the kernel. */
START_TEST(a_write_beyond_the_end_shows) {
    unsigned char *device = device_array<unsigned char>(100);
    ck_cuda(cudaSuccess, start({1, 1}, write_at, device, size_t{99}));
#ifndef __SANITIZE_ADDRESS__
    ck_cuda(cudaSuccess, start({1, 1}, write_at, device, size_t{130}));
    ck_cuda(cudaSuccess, cudaDeviceSynchronize());
    ck_cuda(cudaErrorIllegalAddress, cudaFree(device));
    ck_cuda(cudaSuccess, cudaDeviceReset());
#else
    ck_cuda(cudaSuccess, cudaFree(device));
#endif
}
END_TEST

/* In a child, which dies of it. */
static bool dies(void (*act)(volatile unsigned char *), unsigned char *device) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        act(device);
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

START_TEST(the_host_cannot_touch_device_memory) {
    unsigned char *device = device_array<unsigned char>(100);
    ck_assert(dies([](volatile unsigned char *p) { (void)p[0]; }, device));
    ck_assert(dies([](volatile unsigned char *p) { p[99] = 1; }, device));
    ck_cuda(cudaSuccess, cudaFree(device));
}
END_TEST

START_TEST(devices_can_be_missing) {
    int count = -1;
    cudaDeviceProp properties;
    setenv("SZG_EMULATED_GPU", "none", 1);
    ck_cuda(cudaErrorNoDevice, cudaGetDeviceCount(&count));
    ck_assert_int_eq(count, 0);
    setenv("SZG_EMULATED_GPU", "no-driver", 1);
    ck_cuda(cudaErrorInsufficientDriver, cudaGetDeviceCount(&count));
    ck_cuda(cudaSuccess, cudaDriverGetVersion(&count));
    ck_assert_int_eq(count, 0);
    setenv("SZG_EMULATED_GPU", "old", 1);
    ck_cuda(cudaSuccess, cudaGetDeviceProperties(&properties, 0));
    ck_assert_int_eq(properties.major, 7);
    unsetenv("SZG_EMULATED_GPU");
    ck_cuda(cudaSuccess, cudaGetDeviceProperties(&properties, 0));
    ck_assert_int_eq(properties.major, 9);
    ck_cuda(cudaErrorInvalidDevice, cudaSetDevice(1));
    cudaGetLastError();
}
END_TEST

START_TEST(failures_can_be_injected) {
    void *blocks[3];
    setenv("SZG_EMULATED_FAIL", "cudaMalloc:2", 1);
    ck_cuda(cudaSuccess, cudaMalloc(&blocks[0], 8));
    ck_cuda(cudaErrorMemoryAllocation, cudaMalloc(&blocks[1], 8));
    ck_cuda(cudaSuccess, cudaMalloc(&blocks[2], 8));
    setenv("SZG_EMULATED_FAIL", "cudaDeviceSynchronize:1", 1);
    ck_cuda(cudaErrorLaunchFailure, cudaDeviceSynchronize());
    ck_cuda(cudaErrorLaunchFailure, cudaGetLastError());
    ck_cuda(cudaSuccess, cudaGetLastError());
    unsetenv("SZG_EMULATED_FAIL");
    ck_cuda(cudaSuccess, cudaFree(blocks[0]));
    ck_cuda(cudaSuccess, cudaFree(blocks[2]));
}
END_TEST

TEST_FILE("memory") {
    test_add(suite, "memory begins as NaN", memory_begins_as_nan);
    test_add(suite, "memory is limited and counted", memory_is_limited_and_counted);
    test_add(suite, "strange pointers are refused", strange_pointers_are_refused);
    test_add(suite, "allocations are apart", allocations_are_apart);
    test_add(suite, "neighbours of freed memory stay", neighbours_of_freed_memory_stay);
    test_add(suite, "a write beyond the end shows", a_write_beyond_the_end_shows);
    test_add(suite, "the host cannot touch device memory", the_host_cannot_touch_device_memory);
    test_add(suite, "devices can be missing", devices_can_be_missing);
    test_add(suite, "failures can be injected", failures_can_be_injected);
}

/* Sessions: opening and closing, failures, scratch memory. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "open.h"
#include "staging.h"
#include "table.h"

const szgi_host *cuda_host;

session *session_of(szg_context *context) {
    session *self = reinterpret_cast<session *>(cuda_host->ops_of(context));
    cudaSetDevice(self->index); /* fails only where the next call does */
    return self;
}

/* ---- Failures ---- */

szg_status fail(szg_context *context, szg_status status, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return cuda_host->fail(context, status, text);
}

szg_status named(szg_context *context, szg_status status, const char *format, ...) {
    if (status == SZG_OK || status == SZG_ECANCEL)
        return status;
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return cuda_host->fail_prefix(context, status, text);
}

szg_status cuda_failed(szg_context *context, cudaError_t error, const char *call) {
    cudaGetLastError(); /* an error that is not sticky shall not be met again */
    return fail(context, SZG_EBACKEND, "CUDA: %.*s: %s (%s)", (int)strcspn(call, "("), call,
                cudaGetErrorString(error), cudaGetErrorName(error));
}

szg_status product_failed(szg_context *context, cublasStatus_t error, const char *call) {
    return fail(context, SZG_EBACKEND, "cuBLASLt: %.*s: %s", (int)strcspn(call, "("), call,
                cublasLtGetStatusString(error));
}

/* ---- Memory ---- */

static void bytes_text(double bytes, char (&text)[32]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 3; unit++)
        bytes /= 1024;
    snprintf(text, sizeof text, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
}

static szg_status out_of_memory(szg_context *context, const session *self, int64_t bytes) {
    size_t available = 0, total = 0;
    char asked[32], left[32], whole[32];
    cudaMemGetInfo(&available, &total);
    bytes_text((double)bytes, asked);
    bytes_text((double)available, left);
    bytes_text((double)total, whole);
    return fail(context, SZG_EBACKEND,
                "out of memory on %s: %s were asked for, %s of its %s are free: lower loop.batch "
                "or loop.evaluate_batch, end what else uses the device, or use --backend cpu",
                self->device.name, asked, left, whole);
}

szg_status device_alloc(szg_context *context, session *self, int64_t bytes, void **out) {
    cudaError_t error = cudaMalloc(out, static_cast<size_t>(bytes > 0 ? bytes : 1));
    if (error == cudaSuccess)
        return SZG_OK;
    *out = NULL;
    if (error != cudaErrorMemoryAllocation)
        return cuda_failed(context, error, "cudaMalloc");
    cudaGetLastError();
    return out_of_memory(context, self, bytes);
}

void device_free(session *self, void *memory) {
    if (!memory)
        return;
    record_drop(self); /* no stream can be waited for while it captures */
    cudaStreamSynchronize(self->stream);
    cudaStreamSynchronize(self->side);
    cudaFree(memory);
}

/* A recorded step may hold addresses in it: kept until the session ends. */
static szg_status retire(szg_context *context, session *self, void *memory) {
    retired *item = static_cast<retired *>(malloc(sizeof *item));
    if (!item)
        return fail(context, SZG_ENOMEM, "%zu bytes of host memory were refused", sizeof *item);
    *item = {memory, self->retired_list};
    self->retired_list = item;
    return SZG_OK;
}

szg_status scratch_take(szg_context *context, session *self, scratch_use use, int64_t bytes,
                        void **out) {
    scratch *had = &self->scratch_of[use];
    *out = had->memory;
    if (bytes <= had->bytes)
        return SZG_OK;
    if (self->recording)
        return fail(context, SZG_EBACKEND,
                    "%lld bytes of scratch memory are needed while a step is recorded: it has to "
                    "run once before",
                    (long long)bytes);
    int64_t wanted = bytes > 2 * had->bytes ? bytes : 2 * had->bytes;
    void *memory;
    szg_status status = device_alloc(context, self, wanted, &memory);
    if (status == SZG_EBACKEND && wanted > bytes)
        status = device_alloc(context, self, wanted = bytes, &memory);
    SZG_TRY(status);
    if (had->memory && self->recorded)
        status = retire(context, self, had->memory);
    else
        device_free(self, had->memory);
    *had = {memory, wanted};
    *out = memory;
    return status;
}

/* ---- Launches ---- */

/* The most is 163 KiB on an A100, 227 KiB on an H100, 99 KiB on a workstation's device. */
szg_status shared_allow(szg_context *context, const void *kernel, int64_t bytes) {
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(bytes));
    if (error == cudaSuccess)
        return SZG_OK;
    if (error != cudaErrorInvalidValue)
        return cuda_failed(context, error, "cudaFuncSetAttribute");
    cudaGetLastError();
    return fail(context, SZG_EBACKEND,
                "%lld bytes of shared memory a block, more than this device has: heads of fewer "
                "numbers, or --backend cpu",
                (long long)bytes);
}

/* ---- Opening ---- */

static szg_status open_streams(szg_context *context, session *self) {
    TRY_CUDA(context, cudaSetDevice(self->index));
    TRY_CUDA(context, cudaStreamCreateWithFlags(&self->stream, cudaStreamNonBlocking));
    TRY_CUDA(context, cudaStreamCreateWithFlags(&self->side, cudaStreamNonBlocking));
    TRY_CUDA(context, cudaEventCreateWithFlags(&self->handover, cudaEventDisableTiming));
    TRY_PRODUCT(context, cublasLtCreate(&self->product));
    return SZG_OK;
}

static void fill_tables(session *self) {
    static const char *const names[SZGI_PRECISIONS] = {"cuda:tf32", "cuda:f32", "cuda:bf16"};
    self->ops.name = names[self->precision];
    self->ops.linalg = &self->algebra;
    self->ops.network = &gpu_network;
    algebra_fill(&self->algebra);
}

szg_status session_open(szg_context *context, int index, const szg_device *device,
                        szgi_precision precision, szgi_ops **out) {
    session *self = static_cast<session *>(calloc(1, sizeof *self));
    *out = NULL;
    if (!self)
        return fail(context, SZG_ENOMEM, "%zu bytes of host memory were refused", sizeof *self);
    self->index = index;
    self->device = *device;
    self->precision = precision;
    fill_tables(self);
    szg_status status = open_streams(context, self);
    if (status == SZG_OK)
        *out = &self->ops;
    else
        session_close(&self->ops);
    return status;
}

void session_close(szgi_ops *ops) {
    session *self = reinterpret_cast<session *>(ops);
    cudaSetDevice(self->index);
    record_drop(self);
    if (self->stream)
        cudaStreamSynchronize(self->stream);
    if (self->side)
        cudaStreamSynchronize(self->side);
    spectra_close(self);
    product_close(self);
    staging_close(self);
    clock_close(self);
    if (self->product)
        cublasLtDestroy(self->product);
    for (int use = 0; use < SCRATCH_USES; use++)
        cudaFree(self->scratch_of[use].memory);
    while (self->retired_list) {
        retired *item = self->retired_list;
        self->retired_list = item->next;
        cudaFree(item->memory);
        free(item);
    }
    if (self->handover)
        cudaEventDestroy(self->handover);
    if (self->side)
        cudaStreamDestroy(self->side);
    if (self->stream)
        cudaStreamDestroy(self->stream);
    free(self);
}

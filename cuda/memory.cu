/* Memory of the device. Everything runs on the session's main stream, in the order of the calls. */
#include "staging.h"
#include "table.h"

szg_status gpu_alloc(szg_context *context, int64_t bytes, void **out) {
    session *self = session_of(context);
    if (self->recording)
        return fail(context, SZG_EBACKEND, "device alloc: not while a step is recorded");
    SZG_TRY(named(context, device_alloc(context, self, bytes, out), "device alloc"));
    cudaError_t error = cudaMemsetAsync(*out, 0, static_cast<size_t>(bytes), self->stream);
    if (error == cudaSuccess)
        return SZG_OK;
    cudaFree(*out);
    *out = NULL;
    return named(context, cuda_failed(context, error, "cudaMemsetAsync"), "device alloc");
}

void gpu_free(szg_context *context, void *memory) {
    device_free(session_of(context), memory);
}

szg_status gpu_upload(szg_context *context, void *to, const void *from, int64_t bytes) {
    session *self = session_of(context);
    return named(context, staging_upload(context, self, self->stream, to, from, bytes, 1, bytes),
                 "device upload of %lld bytes", (long long)bytes);
}

szg_status gpu_download(szg_context *context, void *to, const void *from, int64_t bytes) {
    session *self = session_of(context);
    return named(context, staging_download(context, self, self->stream, to, bytes, from, 1, bytes),
                 "device download of %lld bytes (or work given before it)", (long long)bytes);
}

static szg_status copy(szg_context *context, session *self, void *to, const void *from,
                       int64_t bytes) {
    TRY_CUDA(context, cudaMemcpyAsync(to, from, static_cast<size_t>(bytes),
                                      cudaMemcpyDeviceToDevice, self->stream));
    return SZG_OK;
}

szg_status gpu_copy(szg_context *context, void *to, const void *from, int64_t bytes) {
    return named(context, copy(context, session_of(context), to, from, bytes),
                 "device copy of %lld bytes", (long long)bytes);
}

static szg_status clear(szg_context *context, session *self, void *memory, int64_t rows,
                        int64_t stride, int64_t bytes) {
    TRY_CUDA(context,
             cudaMemset2DAsync(memory, static_cast<size_t>(stride), 0, static_cast<size_t>(bytes),
                               static_cast<size_t>(rows), self->stream));
    return SZG_OK;
}

szg_status gpu_clear_columns(szg_context *context, void *memory, int64_t rows, int64_t stride,
                             int64_t bytes) {
    return named(context, clear(context, session_of(context), memory, rows, stride, bytes),
                 "device clear of %lld rows of %lld bytes", (long long)rows, (long long)bytes);
}

static szg_status clear_all(szg_context *context, session *self, void *memory, int64_t bytes) {
    TRY_CUDA(context, cudaMemsetAsync(memory, 0, static_cast<size_t>(bytes), self->stream));
    return SZG_OK;
}

szg_status gpu_clear(szg_context *context, void *memory, int64_t bytes) {
    return named(context, clear_all(context, session_of(context), memory, bytes),
                 "device clear of %lld bytes", (long long)bytes);
}

static szg_status synchronise(szg_context *context, session *self) {
    if (self->recording)
        return fail(context, SZG_EBACKEND, "not while a step is recorded");
    TRY_CUDA(context, cudaStreamSynchronize(self->stream));
    TRY_CUDA(context, cudaStreamSynchronize(self->side));
    return SZG_OK;
}

szg_status gpu_sync(szg_context *context) {
    return named(context, synchronise(context, session_of(context)), "device sync");
}

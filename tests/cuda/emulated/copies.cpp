/* Copies and fills, with no more synchronisation than CUDA documents ("API synchronization
 * behavior"): host memory is read and written when the stream comes to it, pageable memory too, for
 * a copy of it "might be synchronous" and need not. SZG_EMULATED_HOST=pinned: pageable memory is
 * refused in every stream but the default one. One rectangle serves all: a plain copy has
 * height 1. */
#include <string.h>

#include "gpu.h"

using namespace emulated;

namespace {

struct Rectangle {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, height;
};

void copy(const Rectangle &area) {
    for (size_t row = 0; row < area.height; row++)
        memmove(area.to + row * area.to_pitch, area.from + row * area.from_pitch, area.width);
}

size_t extent(size_t pitch, size_t width, size_t height) {
    return (height - 1) * pitch + width;
}

bool on_device(const void *pointer, cudaMemcpyKind kind, bool target) {
    if (kind == cudaMemcpyDefault)
        return memory_device(pointer);
    return kind == cudaMemcpyDeviceToDevice ||
           kind == (target ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
}

/* Each side lies where `kind` says, device memory in one allocation. */
bool side_valid(const void *pointer, size_t bytes, bool device) {
    return device ? memory_holds(pointer, bytes) : pointer && !memory_device(pointer);
}

bool valid(const Rectangle &area, cudaMemcpyKind kind) {
    return area.width <= area.to_pitch && area.width <= area.from_pitch &&
           side_valid(area.to, extent(area.to_pitch, area.width, area.height),
                      on_device(area.to, kind, true)) &&
           side_valid(area.from, extent(area.from_pitch, area.width, area.height),
                      on_device(area.from, kind, false));
}

cudaError_t push(const Rectangle &area, cudaMemcpyKind kind, cudaStream_t stream) {
    if (area.width == 0 || area.height == 0)
        return cudaSuccess;
    if (!valid(area, kind))
        return returned(cudaErrorInvalidValue);
    bool from_device = on_device(area.from, kind, false),
         to_device = on_device(area.to, kind, true);
    size_t from_bytes = extent(area.from_pitch, area.width, area.height);
    size_t to_bytes = extent(area.to_pitch, area.width, area.height);
    bool from_pageable = !from_device && !memory_pinned(area.from, from_bytes);
    bool to_pageable = !to_device && !memory_pinned(area.to, to_bytes);
    if ((from_pageable || to_pageable) && stream && memory_host_is("pinned"))
        return returned(cudaErrorInvalidValue);
    if ((from_pageable || to_pageable) && stream_captures(stream))
        return stream_drain(stream); /* refuses, as a wait */
    cudaError_t error = stream_push(stream, [area] {
        copy(area);
        return cudaSuccess;
    });
    if (error == cudaSuccess && !from_device && !to_device)
        error = stream_drain(stream);
    return error;
}

/* In the legacy stream, and to or from the host the call returns when it is done. */
cudaError_t copy_now(const Rectangle &area, cudaMemcpyKind kind) {
    if (cudaError_t refused = capture_refuses(false))
        return refused;
    bool device_only = on_device(area.from, kind, false) && on_device(area.to, kind, true);
    cudaError_t error = push(area, kind, nullptr);
    return error != cudaSuccess || device_only ? error : stream_drain(nullptr);
}

cudaError_t fill(void *pointer, size_t pitch, int value, size_t width, size_t height,
                 cudaStream_t stream) {
    if (width == 0 || height == 0)
        return cudaSuccess;
    if (width > pitch || !memory_holds(pointer, extent(pitch, width, height)))
        return returned(cudaErrorInvalidValue);
    return stream_push(stream, [=] {
        for (size_t row = 0; row < height; row++)
            memset(static_cast<char *>(pointer) + row * pitch, value, width);
        return cudaSuccess;
    });
}

Rectangle rectangle(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                    size_t height) {
    return {static_cast<char *>(to),
            static_cast<const char *>(from),
            to_pitch,
            from_pitch,
            width,
            height};
}

} // namespace

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    return copy_now(rectangle(to, size, from, size, size, 1), kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    return push(rectangle(to, size, from, size, size, 1), kind, stream);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    return copy_now(rectangle(to, to_pitch, from, from_pitch, width, height), kind);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    return push(rectangle(to, to_pitch, from, from_pitch, width, height), kind, stream);
}

cudaError_t cudaMemset(void *pointer, int value, size_t size) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    return fill(pointer, size, value, size, 1, nullptr);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t size, cudaStream_t stream) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    return fill(pointer, size, value, size, 1, stream);
}

cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    EMULATED_ENTER(cudaErrorInvalidValue);
    return fill(pointer, pitch, value, width, height, stream);
}

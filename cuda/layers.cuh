/* What the kernels of the layers share: one warp per row, four numbers per thread where arrays
 * allow. */
#ifndef SZG_CUDA_LAYERS_CUH
#define SZG_CUDA_LAYERS_CUH

#include <hardware.cuh>

#include "table.h"

enum { WARP = 32, THREADS = 256, WARPS = THREADS / WARP, WIDE = 4 };

/* Width numbers that stand one after the other, read and written in one access. */
template <int Width> struct numbers { float at[Width]; };

template <int Width> __device__ __forceinline__ numbers<Width> load(const float *from) {
    if constexpr (Width == WIDE) {
        float4 v = *reinterpret_cast<const float4 *>(from);
        return {{v.x, v.y, v.z, v.w}};
    } else {
        return {{*from}};
    }
}

template <int Width> __device__ __forceinline__ void store(float *to, const numbers<Width> &from) {
    if constexpr (Width == WIDE)
        *reinterpret_cast<float4 *>(to) =
            make_float4(from.at[0], from.at[1], from.at[2], from.at[3]);
    else
        *to = from.at[0];
}

/* The sum over the lanes, to the same bits in each. */
template <class Real> __device__ __forceinline__ Real warp_sum(Real x) {
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        x += __shfl_xor_sync(0xFFFFFFFFU, x, lanes);
    return x;
}

/* The thread's place in the grid, and the grid's threads. */
__device__ __forceinline__ int64_t first_item() {
    return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ int64_t items_at_once() {
    return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

/* ---- Host side ---- */

/* Whether rows of `columns` numbers can be read four at a time from each of the arrays; NULL is no
 * array. */
inline bool is_wide(int64_t columns, const void *a, const void *b = NULL, const void *c = NULL,
                    const void *d = NULL) {
    uintptr_t places = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                       reinterpret_cast<uintptr_t>(c) | reinterpret_cast<uintptr_t>(d);
    return columns % WIDE == 0 && places % (WIDE * sizeof(float)) == 0;
}

/* Blocks for `items` threads; they go round where there are more than fill the device. */
inline dim3 grid_for(const session *self, int64_t items) {
    int64_t most = static_cast<int64_t>(self->device.processors) * 16;
    int64_t blocks = (items + THREADS - 1) / THREADS;
    return dim3(static_cast<unsigned>(blocks < most ? blocks : most));
}

/* A thread for each of `count` numbers. */
template <class... Parameters, class... Arguments>
szg_status launch_each(szg_context *context, int64_t count, void (*kernel)(Parameters...),
                       Arguments... arguments) {
    if (count > static_cast<int64_t>(INT32_MAX) * THREADS)
        return fail(context, SZG_EBACKEND, "%lld numbers, more than a launch has threads",
                    (long long)count);
    return launch(context, session_of(context)->stream, kernel, dim3(blocks_for(count, THREADS)),
                  dim3(THREADS), 0, arguments...);
}

#endif

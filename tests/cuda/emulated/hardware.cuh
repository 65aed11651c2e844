/* The emulated GPU's answer to cuda/hardware/hardware.cuh: the instructions that C++ cannot name.
 */
#ifndef EMULATED_HARDWARE_CUH
#define EMULATED_HARDWARE_CUH

#include <cuda_runtime.h>

#include "asynchronous_copy.h"

/* The dynamic shared memory of the block. */
template <class T> T *shared_memory() {
    return static_cast<T *>(emulated::simt_shared());
}

/* cvt.rna.tf32.f32: the nearest number with ten bits behind the point, ties away from zero. */
inline uint32_t to_tf32(float x) {
    uint32_t bits = __float_as_uint(x);
    if (!(fabsf(x) <= 3.402823466e+38f))
        return bits & ~0x1fffu; /* infinities stay; a NaN keeps its quiet bit */
    return (bits + 0x1000u) & ~0x1fffu;
}

/* c += a b, mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32; layout and sums are in
 * exchange.cpp.
 */
inline void mma_tf32(float c[4], const uint32_t a[4], const uint32_t b[2],
                     const char *file = __builtin_FILE(), int line = __builtin_LINE(),
                     const char *function = __builtin_FUNCTION()) {
    uint32_t post[10] = {a[0] & ~0x1fffu, a[1] & ~0x1fffu, a[2] & ~0x1fffu,
                         a[3] & ~0x1fffu, b[0] & ~0x1fffu, b[1] & ~0x1fffu};
    memcpy(post + 6, c, 4 * sizeof *c);
    memcpy(c,
           emulated::simt_exchange(emulated::Kind::mma, 0xffffffffu, post, sizeof post, 0,
                                   {function, file, line}),
           4 * sizeof *c);
}

#endif

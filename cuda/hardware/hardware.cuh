/* What the kernels use of the hardware beyond CUDA C++: inline PTX stands here and nowhere else.
 * The emulated GPU of the tests has a file of this name with the same functions. */
#ifndef SZG_CUDA_HARDWARE_CUH
#define SZG_CUDA_HARDWARE_CUH

#include <cuda_runtime.h>
#include <stdint.h>

/* The launch's dynamic shared memory; its contents are undefined at the kernel's begin. */
template <class T> __device__ __forceinline__ T *shared_memory() {
    extern __shared__ __align__(16) unsigned char szgi_shared[];
    return reinterpret_cast<T *>(szgi_shared);
}

/* Rounds to 10 stored bits of mantissa, ties away from zero; the low 13 bits are 0. */
__device__ __forceinline__ uint32_t to_tf32(float x) {
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits & 0xFFFFE000U;
}

/* c += a b for a 16 x 8, b 8 x 8, by the 32 lanes of a warp. With g = lane / 4 and t = lane % 4:
 * a[0] = A(g, t), a[1] = A(g + 8, t), a[2] = A(g, t + 4), a[3] = A(g + 8, t + 4); b[0] = B(t, g),
 * b[1] = B(t + 4, g); c[0] = C(g, 2t), c[1] = C(g, 2t + 1), c[2] = C(g + 8, 2t), c[3] = C(g + 8, 2t
 * + 1) (PTX ISA, mma.m16n8k8). */
__device__ __forceinline__ void mma_tf32(float c[4], const uint32_t a[4], const uint32_t b[2]) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Copies 16 bytes from global to shared memory, both 16-byte aligned, behind the thread's back:
 * done once copy_async_wait<0>() has returned in this thread, and seen by others after a barrier.
 */
__device__ __forceinline__ void copy_async16(void *shared, const void *global) {
    uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
__device__ __forceinline__ void copy_async_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
/* At most `Left` of the latest groups are unfinished. */
template <int Left> __device__ __forceinline__ void copy_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}

#endif

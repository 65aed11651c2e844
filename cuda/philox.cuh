/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011) for device code: the words of "base/random.h".
 * Ten rounds of two multiplications: about 60 integer instructions for four words. */
#ifndef SZG_CUDA_PHILOX_CUH
#define SZG_CUDA_PHILOX_CUH

#include <cuda_runtime.h>
#include <stdint.h>

/* Words 4 block .. 4 block + 3 of the stream {seed, step, purpose}; block < 2^32. */
__device__ __forceinline__ uint4 philox_block(uint64_t seed, uint32_t step, uint32_t purpose,
                                              uint64_t block) {
    uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    uint4 counter = make_uint4(static_cast<uint32_t>(block), step, purpose, 0);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        uint64_t a = static_cast<uint64_t>(0xD2511F53U) * counter.x;
        uint64_t b = static_cast<uint64_t>(0xCD9E8D57U) * counter.z;
        counter =
            make_uint4(static_cast<uint32_t>(b >> 32) ^ counter.y ^ key0, static_cast<uint32_t>(b),
                       static_cast<uint32_t>(a >> 32) ^ counter.w ^ key1, static_cast<uint32_t>(a));
        key0 += 0x9E3779B9U;
        key1 += 0xBB67AE85U;
    }
    return counter;
}

#endif

/* Products of small tiles by a warp: fragments of mma.m16n8k8 (hardware.cuh) from tiles in shared
 * memory, and their precision.
 *
 * Exact: every number is split into two of tf32's, x = high + low up to 2^-23 |x|, and the product
 * is high high + high low + low high, at three instructions (Ootomo, Yokota 2022). Else tiles hold
 * numbers rounded before, and fragments are their bits; numbers of bf16 are numbers of tf32 too, so
 * both narrow precisions multiply exactly.
 *
 * Tensor cores do not round to nearest when they add (Fasi, Higham, Mikaitis, Pranesh 2021,
 * "Numerical behavior of NVIDIA tensor cores", PeerJ CS 7:e330). Products are exact; the addends of
 * a block, some products and what was there before, are cut off behind the last place that the
 * largest of them has in single precision (or a few places later), and their sum is cut off to
 * single precision. With eps = 2^-23 and B = |c| + sum |a b|, no addend but the largest errs, by
 * less than eps B each, and the sum by as much: 10 eps B for c += a b over k = 8 in two blocks of
 * four products (A100), 9 in one of eight. |c| never grows beyond the sizes of its terms, so a sum
 * of K products whose sizes add up to S errs by at most
 *   narrow: 10 (K / 8) eps S = 1.25 K eps S, and always towards zero where the terms have one sign;
 *   exact:  (15 + K / 16) eps S. What is left out, low low and the parts beyond low, is 4 eps S.
 *           Eight products at a time are summed from zero, the small ones first: 10 eps times their
 *           own sizes, and a little for the small ones. These sums are then added by the ordinary
 *           units, which round to nearest: K / 8 roundings of eps / 2.
 * Single precision gives K / 2 eps S: exact is at most twice that from K = 16 on, and better from
 * K = 35 on. Were one sum run through all instructions instead, it would err by 3.75 K eps S.
 *
 * The order of the products that a sum runs over is free. "Paired" fragments give t and t + 4 of it
 * the places 2t and 2t + 1: those two neighbours are what a lane holds of a result, so a result
 * goes into the next product as it stands. With rows of width + 4 numbers, width a multiple of 16,
 * no fragment below meets a bank twice. */
#ifndef SZG_CUDA_MMA_CUH
#define SZG_CUDA_MMA_CUH

#include <hardware.cuh>

enum { WARP = 32, MMA_M = 16, MMA_N = 8, MMA_K = 8, TILE_PAD = 4 };

/* Rounds to nearest by adding half a unit of the last place that is kept. */
typedef struct rounding {
    uint32_t half, keep; /* keep: all bits, and half 0, where nothing is rounded */
} rounding;

__device__ __forceinline__ float rounded(rounding r, float x) {
    uint32_t bits = __float_as_uint(x);
    return x == x ? __uint_as_float((bits + r.half) & r.keep) : x; /* a NaN must not run over */
}

/* g and t of hardware.cuh. */
__device__ __forceinline__ int lane_group() {
    return static_cast<int>(threadIdx.x % WARP) / 4;
}
__device__ __forceinline__ int lane_in_group() {
    return static_cast<int>(threadIdx.x % 4);
}

template <bool Exact, int Numbers> struct fragment {
    uint32_t high[Numbers], low[Exact ? Numbers : 1];

    __device__ __forceinline__ void set(int at, float x) {
        high[at] = Exact ? to_tf32(x) : __float_as_uint(x);
        if (Exact)
            low[at] = to_tf32(x - __uint_as_float(high[at]));
    }
};
template <bool Exact> using fragment_a = fragment<Exact, 4>;
template <bool Exact> using fragment_b = fragment<Exact, 2>;

template <bool Exact>
__device__ __forceinline__ void multiply_add(float c[4], const fragment_a<Exact> &a,
                                             const fragment_b<Exact> &b) {
    if (!Exact) {
        mma_tf32(c, a.high, b.high);
        return;
    }
    float sum[4] = {0, 0, 0, 0};
    mma_tf32(sum, a.low, b.high);
    mma_tf32(sum, a.high, b.low);
    mma_tf32(sum, a.high, b.high);
#pragma unroll
    for (int i = 0; i < 4; i++)
        c[i] += sum[i];
}

/* A(m, k) = tile[m][k]. */
template <bool Exact>
__device__ __forceinline__ fragment_a<Exact> load_a(const float *tile, int ld) {
    const float *at = tile + lane_group() * ld + lane_in_group();
    fragment_a<Exact> a;
    a.set(0, at[0]);
    a.set(1, at[8 * ld]);
    a.set(2, at[4]);
    a.set(3, at[8 * ld + 4]);
    return a;
}

/* B(k, n) = tile[n][k]. */
template <bool Exact>
__device__ __forceinline__ fragment_b<Exact> load_b_rows(const float *tile, int ld) {
    const float *at = tile + lane_group() * ld + lane_in_group();
    fragment_b<Exact> b;
    b.set(0, at[0]);
    b.set(1, at[4]);
    return b;
}

/* Paired, B(k, n) = tile[k][n]. */
template <bool Exact>
__device__ __forceinline__ fragment_b<Exact> load_b_paired(const float *tile, int ld) {
    const float *at = tile + 2 * lane_in_group() * ld + lane_group();
    fragment_b<Exact> b;
    b.set(0, at[0]);
    b.set(1, at[ld]);
    return b;
}

/* Paired, A(m, k) = the result c. */
template <bool Exact> __device__ __forceinline__ fragment_a<Exact> paired_a(const float c[4]) {
    fragment_a<Exact> a;
    a.set(0, c[0]);
    a.set(1, c[2]);
    a.set(2, c[1]);
    a.set(3, c[3]);
    return a;
}

/* The place of number `place` of eight in a tile that load_a reads as a paired fragment. */
__device__ __forceinline__ int paired_place(int place) {
    return place / 2 + place % 2 * 4;
}

#endif

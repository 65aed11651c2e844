/* What the kernels of attention share: their arguments, tiles of vectors on their way between
 * device and shared memory, dropout's masks. */
#ifndef SZG_CUDA_ATTENTION_TILE_CUH
#define SZG_CUDA_ATTENTION_TILE_CUH

#include "mma.cuh"
#include "philox.cuh"

#include "network/network.h"

/* An array of vectors, `width` wide: that of head h, row r begins at at[r * ld + h * width]. */
typedef struct vectors {
    float *at;
    int64_t ld;
    int width;
    bool wide; /* four numbers at a time: everything is aligned to 16 bytes */
} vectors;

typedef struct rotation {
    const float *factors; /* [length][pairs] of (re, im) */
    int64_t stride;       /* from head to head */
    int pairs, offset;
    bool half, wide; /* wide: as above */
} rotation;

typedef struct dropping {
    const szgi_step_block *block;
    uint32_t purpose, threshold; /* threshold 0: nothing drops */
    float factor;                /* 1 / (1 - p) */
    bool aligned;                /* rows begin at a multiple of four words */
    uint32_t *kept; /* [batch][heads][length][kept_words(length)]: bit j % 32 of word j / 32 is
                       whether key j is kept; NULL: not wanted */
} dropping;

/* A row's words in dropping.kept. */
template <class Integer> __host__ __device__ __forceinline__ Integer kept_words(Integer length) {
    return (length + 31) / 32;
}

typedef struct attention_call {
    int64_t batch;
    int heads, length;
    vectors q, k, v, out;
    vectors dout, dq, dk, dv; /* backward */
    rotation q_rotation, k_rotation;
    float scale;
    const float *bias;
    bool causal;
    const int32_t *lengths;
    dropping dropout;
    float *log_sum;
    float *lag_sums; /* backward: [batch][heads][2 length - 1], or NULL */
    rounding narrow;
} attention_call;

/* One head of one sequence. */
typedef struct head_place {
    int64_t sequence, index; /* index = sequence * heads + head */
    int head, keys;          /* keys that some row sees */
} head_place;

__device__ __forceinline__ head_place head_of(const attention_call &a, int64_t index) {
    head_place h;
    h.index = index;
    h.sequence = index / a.heads;
    h.head = static_cast<int>(index - h.sequence * a.heads);
    h.keys = a.length;
    if (a.lengths)
        h.keys = min(max(a.lengths[h.sequence], 0), a.length);
    return h;
}

__device__ __forceinline__ float *head_row(const attention_call &a, const head_place &h,
                                           const vectors &v, int row) {
    return v.at + (h.sequence * a.length + row) * v.ld + static_cast<int64_t>(h.head) * v.width;
}

__device__ __forceinline__ const float *row_factors(const head_place &h, const rotation &r,
                                                    int row) {
    return r.factors + h.head * r.stride + 2 * static_cast<int64_t>(row) * r.pairs;
}

/* Number c of a row whose pairs are multiplied by the factors, or by their conjugates (sign -1). */
__device__ __forceinline__ float turned(const rotation &r, const float *factors, float sign,
                                        const float *row, int c) {
    int place = c - r.offset;
    if (place < 0 || place >= 2 * r.pairs)
        return row[c];
    bool imaginary = r.half ? place >= r.pairs : place % 2 == 1;
    int pair = r.half ? (imaginary ? place - r.pairs : place) : place / 2;
    int step = r.half ? r.pairs : 1;
    float re = factors[2 * pair], im = sign * factors[2 * pair + 1];
    return imaginary ? row[c - step] * im + row[c] * re : row[c] * re - row[c + step] * im;
}

__device__ __forceinline__ float4 load4(const float *at) {
    return *reinterpret_cast<const float4 *>(at);
}

/* The same for numbers c .. c + 3 where rotation and row are wide. */
__device__ __forceinline__ float4 turned4(const rotation &r, const float *factors, float sign,
                                          const float *row, int c) {
    int place = c - r.offset;
    float4 x = load4(row + c);
    if (place < 0 || place >= 2 * r.pairs)
        return x;
    if (!r.half) {
        float4 f = load4(factors + place);
        f.y *= sign, f.w *= sign;
        return make_float4(x.x * f.x - x.y * f.y, x.x * f.y + x.y * f.x, x.z * f.z - x.w * f.w,
                           x.z * f.w + x.w * f.z);
    }
    bool imaginary = place >= r.pairs;
    const float *at = factors + 2 * (imaginary ? place - r.pairs : place);
    float4 y = load4(imaginary ? row + c - r.pairs : row + c + r.pairs);
    float4 f = load4(at), g = load4(at + 4);
    float turn = imaginary ? sign : -sign;
    return make_float4(x.x * f.x + y.x * (turn * f.y), x.y * f.z + y.y * (turn * f.w),
                       x.z * g.x + y.z * (turn * g.y), x.w * g.z + y.w * (turn * g.w));
}

/* Rows first .. of a head to a tile Rows x Width whose rows are Width + TILE_PAD apart: turned,
 * rounded; zeros from row `end` and from the vectors' width on. By all threads of the block. */
template <int Rows, int Width, int Threads>
__device__ __forceinline__ void load_tile(const attention_call &a, const head_place &h,
                                          const vectors &from, const rotation &turn, int first,
                                          int end, float *tile) {
    const bool wide = from.wide && turn.wide;
#pragma unroll 4
    for (int at = static_cast<int>(threadIdx.x); at < Rows * Width / 4; at += Threads) {
        int r = at / (Width / 4), c = at % (Width / 4) * 4, row = first + r;
        float4 x = make_float4(0, 0, 0, 0);
        if (row < end && c < from.width) {
            const float *source = head_row(a, h, from, row);
            const float *factors = turn.pairs > 0 ? row_factors(h, turn, row) : NULL;
            if (wide) {
                x = turned4(turn, factors, 1, source, c);
            } else {
                x.x = turned(turn, factors, 1, source, c);
                x.y = c + 1 < from.width ? turned(turn, factors, 1, source, c + 1) : 0;
                x.z = c + 2 < from.width ? turned(turn, factors, 1, source, c + 2) : 0;
                x.w = c + 3 < from.width ? turned(turn, factors, 1, source, c + 3) : 0;
            }
        }
        *reinterpret_cast<float4 *>(tile + r * (Width + TILE_PAD) + c) =
            make_float4(rounded(a.narrow, x.x), rounded(a.narrow, x.y), rounded(a.narrow, x.z),
                        rounded(a.narrow, x.w));
    }
}

/* A tile's rows to rows first .. end - 1 of a head, turned back. */
template <int Rows, int Width, int Threads>
__device__ __forceinline__ void store_tile(const attention_call &a, const head_place &h,
                                           const float *tile, const rotation &turn, int first,
                                           int end, const vectors &to) {
    const bool wide = to.wide && turn.wide;
#pragma unroll 4
    for (int at = static_cast<int>(threadIdx.x); at < Rows * Width / 4; at += Threads) {
        int r = at / (Width / 4), c = at % (Width / 4) * 4, row = first + r;
        if (row >= end || c >= to.width)
            continue;
        const float *source = tile + r * (Width + TILE_PAD);
        const float *factors = turn.pairs > 0 ? row_factors(h, turn, row) : NULL;
        float *target = head_row(a, h, to, row);
        if (wide)
            *reinterpret_cast<float4 *>(target + c) = turned4(turn, factors, -1, source, c);
        else
            for (int i = c; i < min(c + 4, to.width); i++)
                target[i] = turned(turn, factors, -1, source, i);
    }
}

__device__ __forceinline__ rotation no_rotation() {
    rotation r = {};
    r.wide = true;
    return r;
}

/* bias[lag] of a tile of logits: entry (i - first row) - (j - first key) + Keys - 1. */
template <int Rows, int Keys, int Threads>
__device__ __forceinline__ void load_bias(const attention_call &a, const head_place &h, int row,
                                          int key, float *slice) {
    const int lags = 2 * a.length - 1, least = row - key - (Keys - 1) + a.length - 1;
    for (int at = static_cast<int>(threadIdx.x); at < Rows + Keys - 1; at += Threads) {
        int lag = least + at;
        slice[at] = lag >= 0 && lag < lags ? a.bias[static_cast<int64_t>(h.head) * lags + lag] : 0;
    }
}

/* Dropout's stream; `words` of it are drawn four at a time. */
typedef struct drawing {
    uint64_t seed;
    uint32_t step;
} drawing;

__device__ __forceinline__ drawing drawing_of(const dropping &d) {
    drawing s = {};
    if (d.threshold > 0) {
        s.seed = d.block->seed;
        s.step = d.block->step;
    }
    return s;
}

__device__ __forceinline__ uint32_t kept_of_block(const dropping &d, const drawing &s,
                                                  uint64_t block) {
    uint4 word = philox_block(s.seed, s.step, d.purpose, block);
    return (word.x >= d.threshold ? 1U : 0) | (word.y >= d.threshold ? 2U : 0) |
           (word.z >= d.threshold ? 4U : 0) | (word.w >= d.threshold ? 8U : 0);
}

/* Bit c, c < 16: whether element index + c is kept. The four lanes of a group ask for the same
 * elements and draw a block each; what stands unaligned reaches into a fifth. */
__device__ __forceinline__ uint32_t kept_sixteen(const dropping &d, const drawing &s,
                                                 uint64_t index) {
    uint64_t block = index / 4;
    int t = lane_in_group();
    uint32_t bits = kept_of_block(d, s, block + static_cast<unsigned>(t)) << (4 * t);
    bits |= __shfl_xor_sync(0xFFFFFFFFU, bits, 1);
    bits |= __shfl_xor_sync(0xFFFFFFFFU, bits, 2);
    if (!d.aligned)
        bits |= kept_of_block(d, s, block + 4) << 16;
    return bits >> (index % 4);
}

__device__ __forceinline__ uint64_t weight_index(const attention_call &a, const head_place &h,
                                                 int row, int key) {
    return (static_cast<uint64_t>(h.index) * static_cast<unsigned>(a.length) +
            static_cast<unsigned>(row)) *
               static_cast<unsigned>(a.length) +
           static_cast<unsigned>(key);
}

/* e^x, by one instruction where the products are rounded anyway. */
template <bool Exact> __device__ __forceinline__ float exponential(float x) {
    return Exact ? expf(x) : __expf(x);
}

/* Keys that row i sees: those below this. */
__device__ __forceinline__ int keys_of_row(const attention_call &a, int keys, int i) {
    return a.causal ? min(keys, i + 1) : keys;
}

#endif

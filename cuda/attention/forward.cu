/* Attention forward (Dao et al. 2022): a block for 64 queries of a head, a warp for 16 of them;
 * keys and values pass through shared memory 64 at a time, the softmax is kept up with a running
 * maximum and sum. Nothing of order length^2 exists.
 *
 * What no query of a warp sees is left out, 16 keys at a time. Dropout's mask is drawn here once
 * and kept for the backward pass.
 *
 * At the paper's size (batch 512, 16 heads, length 128, d 16; causal, so that 36 of a head's 64
 * subtiles of 16 x 16 are seen): 288 mma a head, 4.8 GFLOP, 75 M exponentials, some 17 instructions
 * a weight beside, 268 MB of q, k, v, out; with dropout 18.9 M Philox blocks of about 60 integer
 * instructions and 17 MB of mask. On an H100 (3.0 TB/s as copied, half of its 495 TFLOP/s of tf32
 * by mma, 4 exponentials and 16 integer lanes a cycle and quarter of an SM at 1.7 GHz): 95 us of
 * memory, 20 us of products, 20 us of exponentials, 80 us of Philox, 35 us of other integer
 * instructions (rounding, masks): predicted 0.12 ms without dropout, 0.2 ms with it. */
#include "attention.cuh"

namespace {

enum {
    WARPS = 4,
    THREADS = WARPS * WARP,
    QUERIES = WARPS * MMA_M,
    KEYS = 64,
    STRIPS = KEYS / MMA_N
};

/* The tiles in shared memory. */
template <int Qk, int V> struct tiles {
    float q[QUERIES * (Qk + TILE_PAD)], k[KEYS * (Qk + TILE_PAD)], v[KEYS * (V + TILE_PAD)];
    float bias[QUERIES + KEYS];
};

/* What a lane knows of its rows g and g + 8 of the warp's 16. */
template <int V> struct running {
    int row[2];
    float largest[2], sum[2];
    float out[V / MMA_N][4]; /* fragments of sum exp(L - largest) keep v */
};

template <int V> __device__ __forceinline__ void begin(running<V> &r, int first) {
    for (int i = 0; i < 2; i++) {
        r.row[i] = first + lane_group() + 8 * i;
        r.largest[i] = -INFINITY;
        r.sum[i] = 0;
    }
#pragma unroll
    for (int c = 0; c < V / MMA_N; c++)
        r.out[c][0] = r.out[c][1] = r.out[c][2] = r.out[c][3] = 0;
}

/* s = q k^T of the warp's queries and the first `pairs` pairs of strips, as below: no row of the
 * warp sees the others. */
template <int Qk, bool Exact>
__device__ __forceinline__ void products(const float *q, const float *k, int pairs,
                                         float s[STRIPS][4]) {
    const int ld = Qk + TILE_PAD;
#pragma unroll
    for (int n = 0; n < STRIPS; n++)
        s[n][0] = s[n][1] = s[n][2] = s[n][3] = 0;
#pragma unroll
    for (int c = 0; c < Qk; c += MMA_K) {
        fragment_a<Exact> a = load_a<Exact>(q + c, ld);
#pragma unroll
        for (int n = 0; n < STRIPS; n++) {
            if (n / 2 >= pairs)
                break;
            multiply_add<Exact>(s[n], a, load_b_rows<Exact>(k + n * MMA_N * ld + c, ld));
        }
    }
}

/* Products to logits, masked ones to -infinity; largest: of the rows so far. */
template <int V>
__device__ __forceinline__ void logits(const attention_call &a, const head_place &h,
                                       const float *bias, int first_row, int first_key, int pairs,
                                       const running<V> &r, float s[STRIPS][4], float largest[2]) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        int end = keys_of_row(a, h.keys, r.row[i]);
        const float *lags = bias + (r.row[i] - first_row) + KEYS - 1;
        largest[i] = r.largest[i];
#pragma unroll
        for (int n = 0; n < 2 * STRIPS; n++) {
            if (n / 4 >= pairs)
                break;
            int at = n / 2 * MMA_N + 2 * lane_in_group() + n % 2;
            float *x = &s[n / 2][2 * i + n % 2];
            *x = a.bias ? *x * a.scale + lags[-at] : *x * a.scale;
            *x = first_key + at < end ? *x : -INFINITY;
            largest[i] = fmaxf(largest[i], *x); /* passes over NaN: the sum does not */
        }
        largest[i] = fmaxf(largest[i], __shfl_xor_sync(0xFFFFFFFFU, largest[i], 1));
        largest[i] = fmaxf(largest[i], __shfl_xor_sync(0xFFFFFFFFU, largest[i], 2));
    }
}

/* Logits to exponentials, which are added up; what was summed up before is scaled to match. */
template <int V, bool Exact>
__device__ __forceinline__ void exponentials(running<V> &r, const float largest[2], int pairs,
                                             float s[STRIPS][4]) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float top = largest[i] == -INFINITY ? 0 : largest[i]; /* no key yet */
        float shrink = exponential<Exact>(r.largest[i] - top), sum = 0;
        r.largest[i] = largest[i];
#pragma unroll
        for (int n = 0; n < 2 * STRIPS; n++) {
            if (n / 4 >= pairs)
                break;
            float *x = &s[n / 2][2 * i + n % 2];
            *x = exponential<Exact>(*x - top);
            sum += *x;
        }
        r.sum[i] = r.sum[i] * shrink + sum;
#pragma unroll
        for (int c = 0; c < V / MMA_N; c++) {
            r.out[c][2 * i] *= shrink;
            r.out[c][2 * i + 1] *= shrink;
        }
    }
}

/* The mask's words of the warp's rows, for the backward pass: a lane stores one of the four that
 * its group of lanes knows. */
template <int V>
__device__ __forceinline__ void keep_words(const attention_call &a, const head_place &h,
                                           const running<V> &r, int first_key,
                                           const uint32_t words[2][KEYS / 32]) {
    const int t = lane_in_group(), row = t / 2 ? r.row[1] : r.row[0];
    const int word = first_key / 32 + t % 2, count = kept_words(a.length);
    uint32_t first = t / 2 ? words[1][0] : words[0][0], second = t / 2 ? words[1][1] : words[0][1];
    if (row < a.length && word < count)
        a.dropout.kept[(h.index * a.length + row) * count + word] = t % 2 ? second : first;
}

/* Zeros for what drops: sixteen keys of both rows at a time. */
template <int V>
__device__ __forceinline__ void drop(const attention_call &a, const head_place &h, const drawing &d,
                                     const running<V> &r, int first_key, int pairs,
                                     float s[STRIPS][4]) {
    uint32_t words[2][KEYS / 32] = {};
#pragma unroll
    for (int n = 0; n < STRIPS; n += 2) {
        if (n / 2 >= pairs)
            break;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int key = first_key + n * MMA_N;
            uint32_t kept = kept_sixteen(a.dropout, d, weight_index(a, h, r.row[i], key));
            words[i][n / 4] |= (kept & 0xFFFFU) << (n % 4 * MMA_N);
            kept >>= 2 * lane_in_group();
            for (int e = 0; e < 2; e++) {
                s[n][2 * i + e] = kept >> e & 1 ? s[n][2 * i + e] : 0;
                s[n + 1][2 * i + e] = kept >> (e + MMA_N) & 1 ? s[n + 1][2 * i + e] : 0;
            }
        }
    }
    if (a.dropout.kept)
        keep_words(a, h, r, first_key, words);
}

template <int V, bool Exact>
__device__ __forceinline__ void weigh_values(const attention_call &a, const float *v, int pairs,
                                             const float s[STRIPS][4], running<V> &r) {
    const int ld = V + TILE_PAD;
#pragma unroll
    for (int n = 0; n < STRIPS; n++) {
        if (n / 2 >= pairs)
            break;
        const float weights[4] = {rounded(a.narrow, s[n][0]), rounded(a.narrow, s[n][1]),
                                  rounded(a.narrow, s[n][2]), rounded(a.narrow, s[n][3])};
        fragment_a<Exact> w = paired_a<Exact>(weights);
#pragma unroll
        for (int c = 0; c < V / MMA_N; c++)
            multiply_add<Exact>(r.out[c], w,
                                load_b_paired<Exact>(v + n * MMA_K * ld + c * MMA_N, ld));
    }
}

template <int V>
__device__ __forceinline__ void write(const attention_call &a, const head_place &h,
                                      const running<V> &r) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
        float sum = r.sum[i];
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 1);
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 2);
        if (r.row[i] >= a.length)
            continue;
        float factor = keys_of_row(a, h.keys, r.row[i]) > 0 ? a.dropout.factor / sum : 0;
        float *to = head_row(a, h, a.out, r.row[i]);
#pragma unroll
        for (int c = 0; c < V / MMA_N; c++) {
            int at = c * MMA_N + 2 * lane_in_group();
            if (at < a.out.width)
                to[at] = r.out[c][2 * i] * factor;
            if (at + 1 < a.out.width)
                to[at + 1] = r.out[c][2 * i + 1] * factor;
        }
        if (a.log_sum && lane_in_group() == 0)
            a.log_sum[h.index * a.length + r.row[i]] = r.largest[i] + logf(sum);
    }
}

/* Pairs of strips, 16 keys each, of which some row of the warp sees a key. */
__device__ __forceinline__ int pairs_seen(const attention_call &a, const head_place &h, int row,
                                          int key) {
    int seen = row < a.length ? keys_of_row(a, h.keys, row + MMA_M - 1) - key : 0;
    return min(max(seen + 2 * MMA_N - 1, 0) / (2 * MMA_N), STRIPS / 2);
}

/* Blocks of a multiprocessor at one time: limits the registers, 0 leaves them to the compiler.
 * Heads of 64 would spill. */
template <int Qk> constexpr int resident_blocks() {
    return Qk == 64 ? 3 : 0;
}

template <int Qk, int V, bool Exact>
__global__ void __launch_bounds__(THREADS, resident_blocks<Qk>())
    forward(const attention_call a, int row_tiles) {
    tiles<Qk, V> &t = *shared_memory<tiles<Qk, V>>();
    const head_place h = head_of(a, blockIdx.x / static_cast<unsigned>(row_tiles));
    const int first = static_cast<int>(blockIdx.x % static_cast<unsigned>(row_tiles)) * QUERIES;
    const int end = keys_of_row(a, h.keys, first + QUERIES - 1);
    const int warp = static_cast<int>(threadIdx.x) / WARP;
    const drawing draws = drawing_of(a.dropout);
    const int row = first + warp * MMA_M;
    running<V> rows;
    begin(rows, row);
    load_tile<QUERIES, Qk, THREADS>(a, h, a.q, a.q_rotation, first, a.length, t.q);
    for (int key = 0; key < end; key += KEYS) {
        const int pairs = pairs_seen(a, h, row, key);
        float s[STRIPS][4], largest[2];
        load_tile<KEYS, Qk, THREADS>(a, h, a.k, a.k_rotation, key, h.keys, t.k);
        load_tile<KEYS, V, THREADS>(a, h, a.v, no_rotation(), key, h.keys, t.v);
        if (a.bias)
            load_bias<QUERIES, KEYS, THREADS>(a, h, first, key, t.bias);
        __syncthreads();
        products<Qk, Exact>(t.q + warp * MMA_M * (Qk + TILE_PAD), t.k, pairs, s);
        logits(a, h, t.bias, first, key, pairs, rows, s, largest);
        exponentials<V, Exact>(rows, largest, pairs, s);
        if (a.dropout.threshold > 0)
            drop(a, h, draws, rows, key, pairs, s);
        weigh_values<V, Exact>(a, t.v, pairs, s, rows);
        __syncthreads();
    }
    write(a, h, rows);
}

template <int Qk, int V, bool Exact> struct forward_launch {
    static szg_status run(szg_context *context, session *self, const attention_call &a) {
        int tiles_of_rows = (a.length + QUERIES - 1) / QUERIES;
        int64_t blocks = a.batch * a.heads * tiles_of_rows;
        SZG_TRY(attention_grid(context, blocks));
        return launch(context, self->stream, forward<Qk, V, Exact>,
                      dim3(static_cast<unsigned>(blocks)), dim3(THREADS), sizeof(tiles<Qk, V>), a,
                      tiles_of_rows);
    }
};

} // namespace

szg_status attention_forward(szg_context *context, session *self, const attention_call &a) {
    return attention_by_width<forward_launch>(context, self, a);
}

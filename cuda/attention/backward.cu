/* Attention backward: a block for a head, which computes the weights again from q, k and log_sum.
 * It goes over tiles of keys, and inside over tiles of queries: a warp keeps the gradients of 16
 * keys and values in registers; those of the queries go through shared memory to their array, and
 * are added up there where there is more than one tile of keys. So every number has one owner and
 * one order of summation. With p = softmax, f dropout's factors, g = dout v^T, D = dout . out:
 * dv = (f p)^T dout, dL = p (f g - D), dq = scale dL k, dk = scale dL^T q (Dao et al. 2022).
 *
 * At the paper's size, as in forward.cu: 720 mma a head, 12.1 GFLOP, 75 M exponentials,
 * some 22 instructions a weight beside, 0.56 GB of q, k, v, out, dout, gradients and mask. On an
 * H100: 190 us of memory, 55 us of products, 20 us of exponentials, 60 us of other instructions,
 * and 92 reads and writes of shared memory a subtile, 120 us: predicted 0.3 ms, with dropout or
 * without.
 */
#include "attention.cuh"

namespace {

/* Wide heads have fewer keys a tile, or two tiles would not fit an A100's shared memory. */
template <int Qk, int V> struct sizes {
    enum {
        WARPS = Qk > 32 ? 4 : 8,
        THREADS = WARPS * WARP,
        KEYS = WARPS * MMA_M,
        QUERIES = Qk > 32 ? 32 : 64,
        BANDS = QUERIES / MMA_M, /* of queries */
        HELPED = Qk <= 32,       /* share: where a helper's sums have room */
        LD_QK = Qk + TILE_PAD,
        LD_V = V + TILE_PAD,
        LD_LOGITS = KEYS + TILE_PAD
    };
};

/* Strips of 8 queries that a warp works on at a time: as many as the registers hold. */
template <int Qk, bool Exact> __device__ constexpr int strips_at_once() {
    return Exact ? (Qk <= 64 ? 2 : 1) : Qk > 16 && Qk <= 64 ? 4 : 2;
}

/* The tiles in shared memory. */
template <int Qk, int V> struct tiles {
    typedef sizes<Qk, V> S;
    float k[S::KEYS * S::LD_QK], v[S::KEYS * S::LD_V];
    float q[S::QUERIES * S::LD_QK], dout[S::QUERIES * S::LD_V];
    float dlogits[S::QUERIES * S::LD_LOGITS]; /* keys in the order of paired_place */
    float bias[S::QUERIES + S::KEYS];
    float log_sum[S::QUERIES], product[S::QUERIES];
    uint32_t kept[S::QUERIES * S::KEYS / 32]; /* dropping.kept */
};

/* What a warp keeps of its 16 keys: fragments. */
template <int Qk, int V> struct sums { float dk[Qk / MMA_N][4], dv[V / MMA_N][4]; };

/* One pass: a tile of queries against a tile of keys. */
typedef struct pass {
    int query, key;    /* the first of each */
    int end;           /* keys from here on are seen by no query of the tile */
    bool begins, ends; /* the sum of dq */
} pass;

template <int Count> __device__ __forceinline__ void clear(float c[Count][4]) {
#pragma unroll
    for (int n = 0; n < Count; n++)
        c[n][0] = c[n][1] = c[n][2] = c[n][3] = 0;
}

/* log_sum and dout . out of a tile's queries, four lanes each. Rows beyond the length get an
 * infinite log_sum: their weights are 0. */
template <int Qk, int V>
__device__ __forceinline__ void load_rows(const attention_call &a, const head_place &h, int first,
                                          tiles<Qk, V> &t) {
    typedef sizes<Qk, V> S;
    for (int at = static_cast<int>(threadIdx.x); at < 4 * S::QUERIES; at += S::THREADS) {
        int row = first + at / 4;
        float sum = 0;
        if (row < a.length) {
            const float *x = head_row(a, h, a.dout, row), *y = head_row(a, h, a.out, row);
            for (int c = at % 4; c < a.v.width; c += 4)
                sum += x[c] * y[c];
        }
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 1);
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 2);
        if (at % 4 == 0) {
            t.product[at / 4] = sum;
            t.log_sum[at / 4] = row < a.length ? a.log_sum[h.index * a.length + row] : INFINITY;
        }
    }
}

/* The pass's part of dropout's mask. The forward pass has written every word with a key that a row
 * of the tile sees. */
template <int Qk, int V>
__device__ __forceinline__ void load_kept(const attention_call &a, const head_place &h,
                                          const pass &p, tiles<Qk, V> &t) {
    typedef sizes<Qk, V> S;
    const int of_row = S::KEYS / 32, count = kept_words(a.length);
    for (int at = static_cast<int>(threadIdx.x); at < S::QUERIES * of_row; at += S::THREADS) {
        int row = p.query + at / of_row, key = p.key + at % of_row * 32;
        t.kept[at] = row < a.length && key < p.end
                         ? a.dropout.kept[(h.index * a.length + row) * count + key / 32]
                         : 0;
    }
}

/* x y^T of the warp's 16 rows of x and Group strips of y. */
template <int Width, bool Exact, int Group>
__device__ __forceinline__ void products(const float *x, const float *y, float c[Group][4]) {
    const int ld = Width + TILE_PAD;
    clear<Group>(c);
#pragma unroll 4
    for (int k = 0; k < Width; k += MMA_K) {
        fragment_a<Exact> a = load_a<Exact>(x + k, ld);
#pragma unroll
        for (int n = 0; n < Group; n++)
            multiply_add<Exact>(c[n], a, load_b_rows<Exact>(y + n * MMA_N * ld + k, ld));
    }
}

/* One strip: products to weights (after dropout) in `s` and gradients of logits in `g`. */
template <int Qk, int V, bool Exact>
__device__ __forceinline__ void weights(const attention_call &a, const head_place &h, const pass &p,
                                        const tiles<Qk, V> &t, int strip, int first, float s[4],
                                        float g[4]) {
    typedef sizes<Qk, V> S;
    uint32_t kept[2] = {~0U, ~0U};
    if (a.dropout.threshold > 0) {
        const uint32_t *words = t.kept + (strip + 2 * lane_in_group()) * (S::KEYS / 32);
        kept[0] = words[first / 32] >> first % 32;
        kept[1] = words[S::KEYS / 32 + first / 32] >> first % 32;
    }
#pragma unroll
    for (int e = 0; e < 4; e++) {
        int row = strip + 2 * lane_in_group() + e % 2, place = lane_group() + e / 2 * 8;
        int key = p.key + first + place;
        float x = s[e] * a.scale;
        if (a.bias)
            x += t.bias[row - (key - p.key) + S::KEYS - 1];
        bool seen = key < keys_of_row(a, h.keys, p.query + row);
        float weight = seen ? exponential<Exact>(x - t.log_sum[row]) : 0;
        float factor = kept[e % 2] >> place & 1 ? a.dropout.factor : 0;
        float dlogit = weight * (factor * g[e] - t.product[row]);
        s[e] = rounded(a.narrow, factor * weight);
        g[e] = rounded(a.narrow, seen ? dlogit : 0);
    }
}

/* Which products of a pass a warp does: those of the band of 16 keys with every group of queries
 * from `group` to `end`, `step` apart. What no query sees is left out. Where the tile's queries see
 * no key of the latter half of the bands (the first tile of a causal head), the warps of that half
 * help the others: warp w that of band WARPS - 1 - w, with every other group; so the longest bands,
 * which come first, are paired with the fourth of a multiprocessor that has the shortest. */
typedef struct share {
    int band, group, end, step;
    bool shared, helps; /* the band has two warps; this is the helper */
} share;

template <int Qk, int V, bool Exact>
__device__ __forceinline__ share share_of(const attention_call &a, const pass &p) {
    typedef sizes<Qk, V> S;
    const int each = strips_at_once<Qk, Exact>() * MMA_N;
    const int warp = static_cast<int>(threadIdx.x) / WARP;
    const int bands = (max(p.end - p.key, 0) + MMA_M - 1) / MMA_M;
    share s;
    s.shared = S::HELPED && bands <= S::WARPS / 2;
    s.helps = s.shared && warp >= S::WARPS / 2;
    s.band = s.helps ? S::WARPS - 1 - warp : warp;
    int first = a.causal ? max(p.key + s.band * MMA_M - p.query, 0) / each * each : 0;
    s.group = s.helps ? first + each : first;
    s.step = s.shared ? 2 * each : each;
    s.end = s.band < bands ? min(S::QUERIES + 0, a.length - p.query) : 0;
    return s;
}

/* Where fragment n of a band's helper stands: behind the logits' gradients of the bands that are
 * seen, 16 rows a band. */
template <int Qk, int V>
__device__ __forceinline__ float *helpers_place(tiles<Qk, V> &t, int band, int n) {
    typedef sizes<Qk, V> S;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    return t.dlogits + (band * MMA_M + 2 * n + lane / 16) * S::LD_LOGITS + S::KEYS / 2 +
           lane % 16 * 4;
}

/* A helper's sums to shared memory; its own keys have none yet. */
template <int Qk, int V>
__device__ __forceinline__ void hand_over(const share &s, sums<Qk, V> &sum, tiles<Qk, V> &t) {
    const int of_dk = Qk / MMA_N;
#pragma unroll
    for (int n = 0; n < of_dk + V / MMA_N; n++) {
        const float *c = n < of_dk ? sum.dk[n] : sum.dv[n - of_dk];
        *reinterpret_cast<float4 *>(helpers_place(t, s.band, n)) =
            make_float4(c[0], c[1], c[2], c[3]);
    }
    clear<Qk / MMA_N>(sum.dk);
    clear<V / MMA_N>(sum.dv);
}

/* The helper's sums to the band's. */
template <int Qk, int V>
__device__ __forceinline__ void take_over(const share &s, tiles<Qk, V> &t, sums<Qk, V> &sum) {
    const int of_dk = Qk / MMA_N;
#pragma unroll
    for (int n = 0; n < of_dk + V / MMA_N; n++) {
        float *c = n < of_dk ? sum.dk[n] : sum.dv[n - of_dk];
        float4 x = load4(helpers_place(t, s.band, n));
        c[0] += x.x, c[1] += x.y, c[2] += x.z, c[3] += x.w;
    }
}

/* The warp's keys against its share of the pass's queries: adds to its sums, leaves the logits'
 * gradients in the tile. */
template <int Qk, int V, bool Exact>
__device__ __forceinline__ void keys_pass(const attention_call &a, const head_place &h,
                                          const pass &p, const share &own, tiles<Qk, V> &t,
                                          sums<Qk, V> &sum) {
    typedef sizes<Qk, V> S;
    const int first = own.band * MMA_M, strips = strips_at_once<Qk, Exact>();
    float *column = t.dlogits + first + paired_place(lane_group());
#pragma unroll 1
    for (int group = own.group; group < own.end; group += own.step) {
        float s[strips][4], g[strips][4];
        products<Qk, Exact, strips>(t.k + first * S::LD_QK, t.q + group * S::LD_QK, s);
        products<V, Exact, strips>(t.v + first * S::LD_V, t.dout + group * S::LD_V, g);
#pragma unroll
        for (int n = 0; n < strips; n++) {
            const int strip = group + n * MMA_N;
            weights<Qk, V, Exact>(a, h, p, t, strip, first, s[n], g[n]);
#pragma unroll
            for (int e = 0; e < 4; e++)
                column[(strip + 2 * lane_in_group() + e % 2) * S::LD_LOGITS + e / 2 * 8] = g[n][e];
            fragment_a<Exact> w = paired_a<Exact>(s[n]), x = paired_a<Exact>(g[n]);
#pragma unroll
            for (int c = 0; c < V / MMA_N; c++)
                multiply_add<Exact>(
                    sum.dv[c], w,
                    load_b_paired<Exact>(t.dout + strip * S::LD_V + c * MMA_N, S::LD_V));
#pragma unroll
            for (int c = 0; c < Qk / MMA_N; c++)
                multiply_add<Exact>(
                    sum.dk[c], x,
                    load_b_paired<Exact>(t.q + strip * S::LD_QK + c * MMA_N, S::LD_QK));
        }
    }
}

/* A fragment times `scale` to rows g, g + 8 of a tile. */
__device__ __forceinline__ void stage(const float c[4], float scale, float *tile, int ld) {
    float *at = tile + lane_group() * ld + 2 * lane_in_group();
    at[0] = scale * c[0];
    at[1] = scale * c[1];
    at[8 * ld] = scale * c[2];
    at[8 * ld + 1] = scale * c[3];
}

/* The pass's part of dq, to the tile of q, which nobody reads any more. The warps share its 16-row
 * bands, and the strips of 8 columns of a band. Keys that no row of a band sees are left out. */
template <int Qk, int V, bool Exact>
__device__ __forceinline__ void queries_pass(const attention_call &a, const pass &p,
                                             tiles<Qk, V> &t) {
    typedef sizes<Qk, V> S;
    const int bands = S::BANDS, sharing = S::WARPS / bands;
    const int count = (Qk / MMA_N + sharing - 1) / sharing;
    const int warp = static_cast<int>(threadIdx.x) / WARP;
    const int band = warp % bands * MMA_M, column = warp / bands * MMA_N;
    float c[count][4];
    clear<count>(c);
    const int end = keys_of_row(a, p.end, p.query + band + MMA_M - 1) - p.key;
    for (int key = 0; key < end; key += MMA_K) {
        fragment_a<Exact> x = load_a<Exact>(t.dlogits + band * S::LD_LOGITS + key, S::LD_LOGITS);
#pragma unroll
        for (int n = 0; n < count; n++)
            multiply_add<Exact>(c[n], x,
                                load_b_paired<Exact>(
                                    t.k + key * S::LD_QK + column + n * sharing * MMA_N, S::LD_QK));
    }
#pragma unroll
    for (int n = 0; n < count; n++)
        stage(c[n], a.scale, t.q + band * S::LD_QK + column + n * sharing * MMA_N, S::LD_QK);
}

/* Adds the pass's sums along the diagonals; each is a thread's. */
template <int Qk, int V>
__device__ __forceinline__ void lags_pass(const attention_call &a, const head_place &h,
                                          const pass &p, const tiles<Qk, V> &t) {
    typedef sizes<Qk, V> S;
    float *sums = a.lag_sums + h.index * (2 * a.length - 1);
    const int rows = min(S::QUERIES + 0, a.length - p.query), keys = p.end - p.key;
    for (int at = static_cast<int>(threadIdx.x); at < rows + keys - 1; at += S::THREADS) {
        int lag = at - (keys - 1); /* row - key inside the tile */
        float sum = 0;
        if (a.causal && p.query - p.key + lag < 0)
            continue; /* masked */
        for (int row = max(lag, 0); row < min(rows, lag + keys); row++) {
            int key = row - lag;
            sum += t.dlogits[row * S::LD_LOGITS + key / 8 * 8 + paired_place(key % 8)];
        }
        sums[p.query - p.key + lag + a.length - 1] += sum;
    }
}

/* Adds what earlier passes left in dq to the tile of q. */
template <int Qk, int V>
__device__ __forceinline__ void add_earlier(const attention_call &a, const head_place &h,
                                            const pass &p, tiles<Qk, V> &t) {
    typedef sizes<Qk, V> S;
    for (int at = static_cast<int>(threadIdx.x); at < S::QUERIES * Qk; at += S::THREADS) {
        int row = at / Qk, c = at % Qk;
        if (p.query + row < a.length && c < a.dq.width)
            t.q[row * S::LD_QK + c] += head_row(a, h, a.dq, p.query + row)[c];
    }
    __syncthreads();
}

template <int Qk, int V, bool Exact>
__device__ __forceinline__ void run_pass(const attention_call &a, const head_place &h,
                                         const pass &p, tiles<Qk, V> &t, sums<Qk, V> &sum) {
    typedef sizes<Qk, V> S;
    const share own = share_of<Qk, V, Exact>(a, p);
    load_tile<S::QUERIES, Qk, S::THREADS>(a, h, a.q, a.q_rotation, p.query, a.length, t.q);
    load_tile<S::QUERIES, V, S::THREADS>(a, h, a.dout, no_rotation(), p.query, a.length, t.dout);
    load_rows(a, h, p.query, t);
    if (a.bias)
        load_bias<S::QUERIES, S::KEYS, S::THREADS>(a, h, p.query, p.key, t.bias);
    if (a.dropout.threshold > 0)
        load_kept(a, h, p, t);
    __syncthreads();
    keys_pass<Qk, V, Exact>(a, h, p, own, t, sum);
    if (own.helps)
        hand_over(own, sum, t);
    __syncthreads();
    if (own.shared && !own.helps)
        take_over(own, t, sum);
    queries_pass<Qk, V, Exact>(a, p, t);
    if (a.lag_sums)
        lags_pass(a, h, p, t);
    __syncthreads();
    if (!p.begins)
        add_earlier(a, h, p, t);
    /* Partial sums stay in the frame of the keys: only the last pass turns them back. */
    store_tile<S::QUERIES, Qk, S::THREADS>(a, h, t.q, p.ends ? a.q_rotation : no_rotation(),
                                           p.query, a.length, a.dq);
    __syncthreads();
}

/* The warps' sums to dk and dv, through the tiles of k and v. */
template <int Qk, int V>
__device__ __forceinline__ void write_sums(const attention_call &a, const head_place &h, int key,
                                           const sums<Qk, V> &sum, tiles<Qk, V> &t) {
    typedef sizes<Qk, V> S;
    const int first = static_cast<int>(threadIdx.x) / WARP * MMA_M;
#pragma unroll
    for (int c = 0; c < Qk / MMA_N; c++)
        stage(sum.dk[c], a.scale, t.k + first * S::LD_QK + c * MMA_N, S::LD_QK);
#pragma unroll
    for (int c = 0; c < V / MMA_N; c++)
        stage(sum.dv[c], 1, t.v + first * S::LD_V + c * MMA_N, S::LD_V);
    __syncthreads();
    store_tile<S::KEYS, Qk, S::THREADS>(a, h, t.k, a.k_rotation, key, a.length, a.dk);
    store_tile<S::KEYS, V, S::THREADS>(a, h, t.v, no_rotation(), key, a.length, a.dv);
    __syncthreads();
}

/* Blocks of a multiprocessor at one time: limits the registers. spills.txt lists what spills. */
template <int Qk, bool Exact> constexpr int resident_blocks() {
    return Qk > 32 ? 1 : Qk > 16 || Exact ? 2 : 3;
}

/* Tiles of keys from `keys` on have zero gradients, but the first comes in any case, so that dq is
 * written. */
template <int Qk, int V, bool Exact>
__global__ void __launch_bounds__(sizes<Qk, V>::THREADS, resident_blocks<Qk, Exact>())
    backward(const attention_call a) {
    typedef sizes<Qk, V> S;
    tiles<Qk, V> &t = *shared_memory<tiles<Qk, V>>();
    const head_place h = head_of(a, blockIdx.x);
    const int lags = 2 * a.length - 1;
    for (int lag = static_cast<int>(threadIdx.x); a.lag_sums && lag < lags; lag += S::THREADS)
        a.lag_sums[h.index * lags + lag] = 0;
    __syncthreads();
    for (int key = 0; key < a.length; key += S::KEYS) {
        sums<Qk, V> sum;
        clear<Qk / MMA_N>(sum.dk);
        clear<V / MMA_N>(sum.dv);
        load_tile<S::KEYS, Qk, S::THREADS>(a, h, a.k, a.k_rotation, key, h.keys, t.k);
        load_tile<S::KEYS, V, S::THREADS>(a, h, a.v, no_rotation(), key, h.keys, t.v);
        int query = key > 0 && key >= h.keys ? a.length
                    : a.causal               ? key / S::QUERIES * S::QUERIES
                                             : 0;
        for (; query < a.length; query += S::QUERIES) {
            int seen = keys_of_row(a, h.keys, query + S::QUERIES - 1);
            pass p = {.query = query,
                      .key = key,
                      .end = min(seen, key + S::KEYS),
                      .begins = key == 0,
                      .ends = key + S::KEYS >= seen};
            run_pass<Qk, V, Exact>(a, h, p, t, sum);
        }
        __syncthreads();
        write_sums(a, h, key, sum, t);
    }
}

/* dbias += the sequences' sums in their order. */
__global__ void __launch_bounds__(256)
    add_lags(int64_t batch, int64_t heads, int64_t lags, const float *sums, float *dbias) {
    int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= heads * lags)
        return;
    double sum = 0;
    for (int64_t b = 0; b < batch; b++)
        sum += static_cast<double>(sums[b * heads * lags + at]);
    dbias[at] += static_cast<float>(sum);
}

template <int Qk, int V, bool Exact> struct backward_launch {
    static szg_status run(szg_context *context, session *self, const attention_call &a) {
        int64_t blocks = a.batch * a.heads;
        SZG_TRY(attention_grid(context, blocks));
        return launch(context, self->stream, backward<Qk, V, Exact>,
                      dim3(static_cast<unsigned>(blocks)), dim3(sizes<Qk, V>::THREADS),
                      sizeof(tiles<Qk, V>), a);
    }
};

} // namespace

szg_status attention_backward(szg_context *context, session *self, attention_call a, float *dbias) {
    const int64_t lags = 2 * static_cast<int64_t>(a.length) - 1, entries = a.heads * lags;
    if (dbias) {
        void *memory;
        SZG_TRY(scratch_take(context, self, SCRATCH_OPERATION,
                             a.batch * entries * (int64_t)sizeof(float), &memory));
        a.lag_sums = static_cast<float *>(memory);
    }
    SZG_TRY(attention_by_width<backward_launch>(context, self, a));
    if (!dbias)
        return SZG_OK;
    return launch(context, self->stream, add_lags, dim3(blocks_for(entries, 256)), dim3(256), 0,
                  a.batch, static_cast<int64_t>(a.heads), lags, a.lag_sums, dbias);
}

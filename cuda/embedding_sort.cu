/* Counting sort of a batch's rows by token.
 *
 * At 65,536 rows and 574 tokens: 256 chunks, 0.6 MB of counts, all in the second-level cache; five
 * short kernels, each a few microseconds of starting and waiting. */
#include "embedding_sort.h"

#include "layers.cuh"

enum { SCAN_THREADS = 1024, SCAN_WARPS = SCAN_THREADS / WARP };

int64_t token_sort_pieces(int64_t rows, int64_t vocabulary) {
    return rows / SORT_PIECE + (rows < vocabulary ? rows : vocabulary);
}

static int32_t *cut(int32_t **memory, int64_t count) {
    int32_t *part = *memory;
    if (part)
        *memory += count;
    return part;
}

int64_t token_sort_place(token_sort *sort, const szgi_embedding *e, int32_t *memory) {
    int64_t rows = e->batch * e->length, v = e->vocabulary;
    int64_t chunks = (rows + SORT_CHUNK - 1) / SORT_CHUNK;
    *sort = {.rows = rows,
             .vocabulary = v,
             .chunks = chunks,
             .tokens = e->tokens,
             .count = cut(&memory, v * chunks),
             .total = cut(&memory, v),
             .rank = cut(&memory, rows),
             .sorted = cut(&memory, rows),
             .first = cut(&memory, v + 1),
             .first_piece = cut(&memory, v + 1)};
    return v * chunks + v + 2 * rows + 2 * (v + 1);
}

/* A chunk: the rank of each row among those of its token. The last of a token counts them; the
 * counts were 0. */
static __global__ void __launch_bounds__(SORT_CHUNK) rank_rows(token_sort sort) {
    int32_t *tokens = shared_memory<int32_t>(); /* [SORT_CHUNK] */
    int64_t first = static_cast<int64_t>(blockIdx.x) * SORT_CHUNK, left = sort.rows - first;
    int count = left < SORT_CHUNK ? static_cast<int>(left) : static_cast<int>(SORT_CHUNK);
    int own = static_cast<int>(threadIdx.x), before = 0, after = 0;
    if (own < count)
        tokens[own] = sort.tokens[first + own];
    __syncthreads();
    if (own >= count)
        return;
    int32_t token = tokens[own];
    for (int i = 0; i < count; i++) {
        before += i < own && tokens[i] == token;
        after += i > own && tokens[i] == token;
    }
    sort.rank[first + own] = before;
    if (after == 0)
        sort.count[token * sort.chunks + blockIdx.x] = before + 1;
}

/* What the lanes below hold, summed. */
static __device__ __forceinline__ int32_t sum_below(int32_t x) {
    int lane = static_cast<int>(threadIdx.x) % WARP;
    int32_t sum = x;
    for (int lanes = 1; lanes < WARP; lanes *= 2) {
        int32_t other = __shfl_up_sync(0xFFFFFFFFU, sum, static_cast<unsigned>(lanes));
        sum += lane >= lanes ? other : 0;
    }
    return sum - x;
}

/* A warp a token: its counts become those of the chunks before. */
static __global__ void __launch_bounds__(THREADS) scan_chunks(token_sort sort) {
    int lane = static_cast<int>(threadIdx.x) % WARP;
    int64_t token = first_item() / WARP;
    if (token >= sort.vocabulary)
        return;
    int32_t *count = sort.count + token * sort.chunks, sum = 0;
    for (int64_t chunk = 0; chunk < sort.chunks; chunk += WARP) {
        int32_t own = chunk + lane < sort.chunks ? count[chunk + lane] : 0;
        int32_t below = sum_below(own);
        if (chunk + lane < sort.chunks)
            count[chunk + lane] = sum + below;
        sum += __shfl_sync(0xFFFFFFFFU, below + own, WARP - 1);
    }
    if (lane == 0)
        sort.total[token] = sum;
}

/* The sum of x over the block's threads before this one; the block's sum at *all. */
static __device__ int32_t sum_of_threads_before(int32_t x, int32_t *warps, int32_t *all) {
    int warp = static_cast<int>(threadIdx.x) / WARP, lane = static_cast<int>(threadIdx.x) % WARP;
    int32_t below = sum_below(x), sum = 0;
    if (lane == WARP - 1)
        warps[warp] = below + x;
    __syncthreads();
    *all = 0;
    for (int w = 0; w < SCAN_WARPS; w++) {
        sum += w < warp ? warps[w] : 0;
        *all += warps[w];
    }
    __syncthreads();
    return sum + below;
}

/* One block: where each token begins, in rows and in pieces. */
static __global__ void __launch_bounds__(SCAN_THREADS) scan_tokens(token_sort sort) {
    int32_t *warps = shared_memory<int32_t>(); /* [SCAN_WARPS] */
    int32_t rows = 0, pieces = 0, all;
    for (int64_t token = 0; token < sort.vocabulary; token += SCAN_THREADS) {
        int64_t own = token + threadIdx.x;
        int32_t total = own < sort.vocabulary ? sort.total[own] : 0;
        int32_t before = sum_of_threads_before(total, warps, &all);
        if (own < sort.vocabulary)
            sort.first[own] = rows + before;
        rows += all;
        before = sum_of_threads_before((total + SORT_PIECE - 1) / SORT_PIECE, warps, &all);
        if (own < sort.vocabulary)
            sort.first_piece[own] = pieces + before;
        pieces += all;
    }
    if (threadIdx.x == 0) {
        sort.first[sort.vocabulary] = rows;
        sort.first_piece[sort.vocabulary] = pieces;
    }
}

static __global__ void __launch_bounds__(SORT_CHUNK) scatter_rows(token_sort sort) {
    int64_t row = first_item();
    if (row >= sort.rows)
        return;
    int32_t token = sort.tokens[row];
    int32_t before = sort.count[token * sort.chunks + blockIdx.x] + sort.rank[row];
    sort.sorted[sort.first[token] + before] = static_cast<int32_t>(row);
}

szg_status token_sort_run(szg_context *context, session *self, const token_sort *sort) {
    TRY_CUDA(context, cudaMemsetAsync(sort->count, 0,
                                      static_cast<size_t>(sort->vocabulary * sort->chunks) *
                                          sizeof *sort->count,
                                      self->stream));
    dim3 chunks(static_cast<unsigned>(sort->chunks));
    SZG_TRY(launch(context, self->stream, rank_rows, chunks, SORT_CHUNK,
                   SORT_CHUNK * sizeof(int32_t), *sort));
    SZG_TRY(launch(context, self->stream, scan_chunks, blocks_for(sort->vocabulary, WARPS), THREADS,
                   0, *sort));
    SZG_TRY(launch(context, self->stream, scan_tokens, 1, SCAN_THREADS,
                   SCAN_WARPS * sizeof(int32_t), *sort));
    return launch(context, self->stream, scatter_rows, chunks, SORT_CHUNK, 0, *sort);
}

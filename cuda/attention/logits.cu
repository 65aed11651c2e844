/* The matrices of logits, for captures: always in f32, whatever the session's precision, for
 * spectra are made of them. A block for 64 x 64 logits, a thread for 4 x 4 of them, plain
 * multiply-adds; the vectors pass through shared memory 32 dimensions at a time.
 *
 * A capture of 64 sequences with 16 heads of length 128, d 16: 0.5 GFLOP and 67 MB written: on an
 * H100 (3.3 TB/s, 60 TFLOP/s) predicted 30 us, of memory. */
#include "attention.cuh"

namespace {

enum { SIDE = 16, THREADS = SIDE * SIDE, EACH = 4, ROWS = SIDE * EACH, DEPTH = 32, LD = DEPTH + 1 };

struct tiles {
    float q[ROWS * LD], k[ROWS * LD], bias[2 * ROWS];
};

/* Dimensions first_column .. + DEPTH - 1 of rows first .. + ROWS - 1, zeros outside. */
__device__ __forceinline__ void load_columns(const attention_call &a, const head_place &h,
                                             const vectors &from, const rotation &turn, int first,
                                             int first_column, float *tile) {
    for (int at = static_cast<int>(threadIdx.x); at < ROWS * DEPTH; at += THREADS) {
        int r = at / DEPTH, row = first + r, c = first_column + at % DEPTH;
        float x = 0;
        if (row < a.length && c < from.width)
            x = turned(turn, turn.pairs > 0 ? row_factors(h, turn, row) : NULL, 1,
                       head_row(a, h, from, row), c);
        tile[r * LD + at % DEPTH] = x;
    }
}

__device__ __forceinline__ void add_products(const tiles &t, int y, int x, float sum[EACH][EACH]) {
#pragma unroll 8
    for (int c = 0; c < DEPTH; c++) {
        float q[EACH], k[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            q[i] = t.q[(y + SIDE * i) * LD + c];
            k[i] = t.k[(x + SIDE * i) * LD + c];
        }
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int j = 0; j < EACH; j++)
                sum[i][j] = fmaf(q[i], k[j], sum[i][j]);
    }
}

__global__ void __launch_bounds__(THREADS)
    logits(const attention_call a, int row_tiles, float *out) {
    tiles &t = *shared_memory<tiles>();
    const unsigned of_head = static_cast<unsigned>(row_tiles) * static_cast<unsigned>(row_tiles);
    const head_place h = head_of(a, blockIdx.x / of_head);
    const int tile = static_cast<int>(blockIdx.x % of_head);
    const int row = tile / row_tiles * ROWS, key = tile % row_tiles * ROWS;
    const int y = static_cast<int>(threadIdx.x) / SIDE, x = static_cast<int>(threadIdx.x) % SIDE;
    float sum[EACH][EACH] = {};
    if (a.bias)
        load_bias<ROWS, ROWS, THREADS>(a, h, row, key, t.bias);
    for (int c = 0; c < a.q.width; c += DEPTH) {
        load_columns(a, h, a.q, a.q_rotation, row, c, t.q);
        load_columns(a, h, a.k, a.k_rotation, key, c, t.k);
        __syncthreads();
        add_products(t, y, x, sum);
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) {
            int r = y + SIDE * i, c = x + SIDE * j;
            if (row + r < a.length && key + c < a.length)
                out[(h.index * a.length + row + r) * a.length + key + c] =
                    sum[i][j] * a.scale + (a.bias ? t.bias[r - c + ROWS - 1] : 0);
        }
}

} // namespace

szg_status attention_logits(szg_context *context, session *self, const attention_call &a,
                            float *out) {
    int64_t row_tiles = (a.length + ROWS - 1) / ROWS;
    int64_t blocks = a.batch * a.heads * row_tiles * row_tiles;
    SZG_TRY(attention_grid(context, blocks));
    return launch(context, self->stream, logits, dim3(static_cast<unsigned>(blocks)), dim3(THREADS),
                  sizeof(tiles), a, static_cast<int>(row_tiles), out);
}

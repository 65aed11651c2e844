/* Embedding: one warp per row.
 *
 * At 65,536 x 256: 67 MB written; the table and the positions stay in the second-level cache, from
 * where 67 MB each are read: 0.022 ms at 3.0 TB/s. */
#include "embedding_sort.h"
#include "layers.cuh"
#include "layers_sums.h"

/* ---- Forward ---- */

template <int Width> static __global__ void __launch_bounds__(THREADS) embed(szgi_embedding e) {
    int lane = static_cast<int>(threadIdx.x) % WARP;
    int64_t row = first_item() / WARP;
    if (row >= e.batch * e.length)
        return;
    const float *table = static_cast<const float *>(e.table) + e.tokens[row] * e.width;
    const float *fixed = static_cast<const float *>(e.fixed);
    const float *trained = static_cast<const float *>(e.trained);
    float *out = static_cast<float *>(e.out) + row * e.width;
    int64_t position = row % e.length * e.width;
    for (int64_t c = lane * Width; c < e.width; c += WARP * Width) {
        numbers<Width> sum = load<Width>(table + c), a = {}, b = {};
        if (fixed)
            a = load<Width>(fixed + position + c);
        if (trained)
            b = load<Width>(trained + position + c);
        for (int i = 0; i < Width; i++)
            sum.at[i] = sum.at[i] + a.at[i] + b.at[i];
        store<Width>(out + c, sum);
    }
}

szg_status gpu_embedding(szg_context *context, const szgi_embedding *e) {
    session *self = session_of(context);
    bool wide = is_wide(e->width, e->table, e->fixed, e->trained, e->out);
    return named(context,
                 launch(context, self->stream, wide ? embed<WIDE> : embed<1>,
                        blocks_for(e->batch * e->length, WARPS), THREADS, 0, *e),
                 "embedding %lld x %lld x %lld", (long long)e->batch, (long long)e->length,
                 (long long)e->width);
}

/* ---- Backward ----
 * Rows of one token are summed by pieces and the pieces then added, both in a fixed order; positions
 * are sums of columns over the batch.
 *
 * At 65,536 x 256: dout is read once for the table and once for the positions: 134 MB, 0.045 ms at
 * 3.0 TB/s, and the sort's kernels. */

typedef struct pieces_job {
    token_sort sort;
    int64_t width;
    const float *dout;
    float *partial; /* [pieces][width] */
} pieces_job;

/* The token that a piece belongs to: the last whose first piece is not behind it. */
static __device__ __forceinline__ int64_t token_of(const token_sort &sort, int32_t piece) {
    int64_t low = 0, high = sort.vocabulary; /* first_piece[low] <= piece < first_piece[high] */
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (sort.first_piece[middle] <= piece)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A warp a piece and stretch of columns. */
template <int Width> static __global__ void __launch_bounds__(THREADS) sum_pieces(pieces_job job) {
    int lane = static_cast<int>(threadIdx.x) % WARP;
    int32_t piece = static_cast<int32_t>(first_item() / WARP);
    if (piece >= job.sort.first_piece[job.sort.vocabulary])
        return;
    int64_t column = (static_cast<int64_t>(blockIdx.y) * WARP + lane) * Width;
    if (column >= job.width)
        return;
    int64_t token = token_of(job.sort, piece);
    int32_t begin = job.sort.first[token] + (piece - job.sort.first_piece[token]) * SORT_PIECE;
    int32_t last = job.sort.first[token + 1];
    int32_t end = begin + SORT_PIECE < last ? begin + SORT_PIECE : last;
    numbers<Width> sum = {};
#pragma unroll 8
    for (int32_t i = begin; i < end; i++) {
        int64_t row = job.sort.sorted[i];
        numbers<Width> own = load<Width>(job.dout + row * job.width + column);
        for (int k = 0; k < Width; k++)
            sum.at[k] += own.at[k];
    }
    store<Width>(job.partial + piece * job.width + column, sum);
}

static szg_status add_tokens(szg_context *context, session *self, const szgi_embedding *e,
                             const float *dout, float *dtable) {
    pieces_job job = {.sort = {}, .width = e->width, .dout = dout, .partial = NULL};
    int64_t pieces = token_sort_pieces(e->batch * e->length, e->vocabulary);
    int64_t sums =
        pieces * e->width * (int64_t)sizeof(float); /* a multiple of 16 where it is wide */
    int64_t bytes = sums + token_sort_place(&job.sort, e, NULL) * (int64_t)sizeof(int32_t);
    void *memory;
    SZG_TRY(scratch_take(context, self, SCRATCH_OPERATION, bytes, &memory));
    job.partial = static_cast<float *>(memory);
    token_sort_place(&job.sort, e, static_cast<int32_t *>(memory) + pieces * e->width);
    SZG_TRY(token_sort_run(context, self, &job.sort));
    bool wide = is_wide(e->width, dout);
    SZG_TRY(launch(context, self->stream, wide ? sum_pieces<WIDE> : sum_pieces<1>,
                   dim3(blocks_for(pieces, WARPS), blocks_for(e->width, WARP * (wide ? WIDE : 1))),
                   THREADS, 0, job));
    parts_sum add = {.segments = e->vocabulary,
                     .columns = e->width,
                     .parts = pieces,
                     .stride = e->width,
                     .bounds = job.sort.first_piece,
                     .partial = job.partial,
                     .target = dtable};
    return parts_add(context, self, &add);
}

static szg_status add_positions(szg_context *context, session *self, const szgi_embedding *e,
                                const float *dout, float *dtrained) {
    int64_t columns = e->length * e->width;
    column_sums sums = {.rows = e->batch,
                        .columns = columns,
                        .activation = SZG_ACTIVATION_NONE,
                        .dy = const_cast<float *>(dout),
                        .lddy = columns,
                        .at = NULL,
                        .ldat = columns,
                        .sums = dtrained};
    return column_sums_add(context, self, &sums);
}

szg_status gpu_embedding_backward(szg_context *context, const szgi_embedding *e, const void *dout,
                                  void *dtable, void *dtrained) {
    session *self = session_of(context);
    szg_status status = SZG_OK;
    if (dtable)
        status = add_tokens(context, self, e, static_cast<const float *>(dout),
                            static_cast<float *>(dtable));
    if (status == SZG_OK && dtrained)
        status = add_positions(context, self, e, static_cast<const float *>(dout),
                               static_cast<float *>(dtrained));
    return named(context, status, "embedding backward %lld x %lld x %lld", (long long)e->batch,
                 (long long)e->length, (long long)e->width);
}

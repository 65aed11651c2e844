/* Layer norm: one warp per row, which is read three times, the last two from the first-level
 * cache.
 *
 * At 65,536 x 256: 67 MB read, 67 MB written, 0.045 ms at 3.0 TB/s. */
#include "layers.cuh"
#include "layers_sums.h"

/* ---- Forward ---- */

template <int Width>
static __global__ void __launch_bounds__(THREADS) normalise(szgi_layer_norm norm) {
    int lane = static_cast<int>(threadIdx.x) % WARP;
    int64_t row = first_item() / WARP, width = norm.width;
    if (row >= norm.rows)
        return;
    const float *x = static_cast<const float *>(norm.x) + row * width;
    const float *gamma = static_cast<const float *>(norm.gamma);
    const float *beta = static_cast<const float *>(norm.beta);
    float *y = static_cast<float *>(norm.y) + row * width, sum = 0, squares = 0;
    for (int64_t c = lane * Width; c < width; c += WARP * Width) {
        numbers<Width> v = load<Width>(x + c);
        for (int i = 0; i < Width; i++)
            sum += v.at[i];
    }
    float mean = warp_sum(sum) / static_cast<float>(width);
    for (int64_t c = lane * Width; c < width; c += WARP * Width) {
        numbers<Width> v = load<Width>(x + c);
        for (int i = 0; i < Width; i++)
            squares += (v.at[i] - mean) * (v.at[i] - mean);
    }
    float variance = warp_sum(squares) / static_cast<float>(width);
    float inverse = 1 / sqrtf(variance + static_cast<float>(norm.eps));
    for (int64_t c = lane * Width; c < width; c += WARP * Width) {
        numbers<Width> v = load<Width>(x + c), g = load<Width>(gamma + c),
                       b = load<Width>(beta + c);
        for (int i = 0; i < Width; i++)
            v.at[i] = (v.at[i] - mean) * inverse * g.at[i] + b.at[i];
        store<Width>(y + c, v);
    }
    if (lane == 0 && norm.mean)
        static_cast<float *>(norm.mean)[row] = mean;
    if (lane == 0 && norm.inverse)
        static_cast<float *>(norm.inverse)[row] = inverse;
}

szg_status gpu_layer_norm(szg_context *context, const szgi_layer_norm *norm) {
    session *self = session_of(context);
    bool wide = is_wide(norm->width, norm->x, norm->y, norm->gamma, norm->beta);
    return named(context,
                 launch(context, self->stream, wide ? normalise<WIDE> : normalise<1>,
                        blocks_for(norm->rows, WARPS), THREADS, 0, *norm),
                 "layer norm %lld x %lld", (long long)norm->rows, (long long)norm->width);
}

/* ---- Backward ----
 * In one pass: tiles of rows, whose sums are formed by warps and whose columns are then taken by
 * threads, that write dx and sum gamma's and beta's gradients.
 *
 * At 65,536 x 256: x and dy are read (their second reading finds a tile's 32 KB in the first-level
 * cache), dx written: 201 MB, 0.067 ms at 3.0 TB/s; added to: 268 MB, 0.09 ms. */

/* Rows of a tile; of them taken together by a thread. */
enum { TILE = 16, TOGETHER = 4 };

typedef struct norm_job {
    int64_t width;
    row_parts parts;
    const float *x, *gamma, *mean, *inverse;
    const float *dy; /* may be dx */
    float *dx;
    bool add_dx;
    float *partial; /* [parts][2][width]: dgamma, dbeta */
} norm_job;

/* dx = inverse g - slope (x - mean) - shift with g = gamma dy. */
typedef struct norm_row {
    float mean, inverse, slope, shift;
} norm_row;

template <int Width>
static __device__ __forceinline__ void sum_row(const norm_job &job, int64_t row, norm_row *out) {
    int lane = static_cast<int>(threadIdx.x) % WARP;
    const float *x = job.x + row * job.width, *dy = job.dy + row * job.width;
    float mean = job.mean[row], inverse = job.inverse[row], sum = 0, product = 0;
    for (int64_t c = lane * Width; c < job.width; c += WARP * Width) {
        numbers<Width> v = load<Width>(x + c), d = load<Width>(dy + c);
        numbers<Width> gamma = load<Width>(job.gamma + c);
        for (int i = 0; i < Width; i++) {
            float g = d.at[i] * gamma.at[i];
            sum += g;
            product += g * ((v.at[i] - mean) * inverse);
        }
    }
    sum = warp_sum(sum);
    product = warp_sum(product);
    float n = static_cast<float>(job.width);
    if (lane == 0)
        *out = {mean, inverse, inverse * inverse * product / n, inverse * sum / n};
}

/* One column of some rows of the tile: all are read before any is written. */
static __device__ __forceinline__ void take_rows(const norm_job &job, const norm_row *rows,
                                                 int count, int64_t first, float gamma,
                                                 float *dgamma, float *dbeta) {
    float x[TOGETHER], dy[TOGETHER], dx[TOGETHER];
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) {
        int64_t at = first + k * job.width;
        x[k] = k < count ? job.x[at] : 0;
        dy[k] = k < count ? job.dy[at] : 0;
        dx[k] = k < count && job.add_dx ? job.dx[at] : 0;
    }
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) {
        if (k >= count)
            continue;
        norm_row row = rows[k];
        float distance = x[k] - row.mean;
        *dgamma += dy[k] * (distance * row.inverse);
        *dbeta += dy[k];
        job.dx[first + k * job.width] =
            dx[k] + (row.inverse * (dy[k] * gamma) - row.slope * distance - row.shift);
    }
}

/* The parts' sums are kept in memory, because a thread may own any number of columns. */
static __device__ __forceinline__ void take_columns(const norm_job &job, const norm_row *rows,
                                                    int64_t tile, int count, bool first) {
    float *dgamma = job.partial + 2 * blockIdx.x * job.width, *dbeta = dgamma + job.width;
    for (int64_t c = threadIdx.x; c < job.width; c += blockDim.x) {
        float gamma = job.gamma[c], scale = first ? 0 : dgamma[c], shift = first ? 0 : dbeta[c];
        for (int r = 0; r < count; r += TOGETHER)
            take_rows(job, rows + r, count - r, (tile + r) * job.width + c, gamma, &scale, &shift);
        dgamma[c] = scale;
        dbeta[c] = shift;
    }
}

template <int Width>
static __global__ void __launch_bounds__(THREADS) normalise_backward(norm_job job) {
    norm_row *rows = shared_memory<norm_row>(); /* [TILE] */
    int warp = static_cast<int>(threadIdx.x) / WARP, warps = static_cast<int>(blockDim.x) / WARP;
    int64_t begin = blockIdx.x * job.parts.each;
    int64_t end = begin + job.parts.each < job.parts.rows ? begin + job.parts.each : job.parts.rows;
    for (int64_t tile = begin; tile < end; tile += TILE) {
        int count = end - tile < TILE ? static_cast<int>(end - tile) : static_cast<int>(TILE);
        for (int r = warp; r < count; r += warps)
            sum_row<Width>(job, tile + r, &rows[r]);
        __syncthreads();
        take_columns(job, rows, tile, count, tile == begin);
        __syncthreads();
    }
}

static szg_status run(szg_context *context, session *self, const szgi_layer_norm *norm,
                      const szgi_layer_norm_gradient *gradient) {
    int64_t width = norm->width;
    norm_job job = {.width = width,
                    .parts = row_parts_of(norm->rows),
                    .x = static_cast<const float *>(norm->x),
                    .gamma = static_cast<const float *>(norm->gamma),
                    .mean = static_cast<const float *>(norm->mean),
                    .inverse = static_cast<const float *>(norm->inverse),
                    .dy = static_cast<const float *>(gradient->dy),
                    .dx = static_cast<float *>(gradient->dx),
                    .add_dx = gradient->add_dx,
                    .partial = NULL};
    void *memory;
    SZG_TRY(scratch_take(context, self, SCRATCH_OPERATION,
                         2 * job.parts.count * width * (int64_t)sizeof(float), &memory));
    job.partial = static_cast<float *>(memory);
    bool wide = is_wide(width, norm->x, norm->gamma, gradient->dy);
    unsigned threads = width > THREADS / 2 ? THREADS : width > WARP ? THREADS / 2 : THREADS / 4;
    SZG_TRY(launch(context, self->stream, wide ? normalise_backward<WIDE> : normalise_backward<1>,
                   static_cast<unsigned>(job.parts.count), threads, TILE * sizeof(norm_row), job));
    parts_sum add = {.segments = 1,
                     .columns = width,
                     .parts = job.parts.count,
                     .stride = 2 * width,
                     .bounds = NULL,
                     .partial = job.partial,
                     .target = static_cast<float *>(gradient->dgamma)};
    SZG_TRY(parts_add(context, self, &add));
    add.partial = job.partial + width;
    add.target = static_cast<float *>(gradient->dbeta);
    return parts_add(context, self, &add);
}

szg_status gpu_layer_norm_backward(szg_context *context, const szgi_layer_norm *norm,
                                   const szgi_layer_norm_gradient *gradient) {
    return named(context, run(context, session_of(context), norm, gradient),
                 "layer norm backward %lld x %lld", (long long)norm->rows, (long long)norm->width);
}

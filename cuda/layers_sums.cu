/* Sums of columns, with the gradient of an activation on the way.
 *
 * At 65,536 x 1024 numbers (a feed-forward layer's bias): GELU reads dy and the argument and writes
 * dy, 805 MB or 0.27 ms at 3.0 TB/s; without an activation 268 MB, 0.09 ms. The parts are 512 rows
 * of 1024 numbers, 2 MB in the second-level cache. */
#include "layers_sums.h"

#include "layers.cuh"

enum { AT_ONCE = 4, ROWS_AT_ONCE = AT_ONCE * WARPS, MOST_PARTS = 512, LEAST_ROWS = 64 };

row_parts row_parts_of(int64_t rows) {
    int64_t each = (rows + MOST_PARTS - 1) / MOST_PARTS;
    if (each < LEAST_ROWS)
        each = LEAST_ROWS;
    return {rows, each, (rows + each - 1) / each};
}

/* ---- The parts ---- */

/* Columns that a block adds. Narrow blocks where many parts are to be added to one row: 256 columns
 * of 512 parts are then 32 blocks, whose threads add 16 parts each and read whole sectors of 32
 * bytes; with one warp per row it would be 8 blocks of 64 parts, most of the device idle. */
enum { NARROW = 8, NARROW_PARTS = 64 };

/* Each row of threads sums parts of its own, then the rows' sums are added. */
template <int Columns> static __global__ void __launch_bounds__(THREADS) add_parts(parts_sum job) {
    float *sums = shared_memory<float>(); /* [rows][Columns] */
    const int rows = THREADS / Columns;
    int row = static_cast<int>(threadIdx.x) / Columns;
    int64_t column = static_cast<int64_t>(blockIdx.x) * Columns + threadIdx.x % Columns;
    for (int64_t segment = blockIdx.y; segment < job.segments; segment += gridDim.y) {
        int64_t begin = job.bounds ? job.bounds[segment] : 0;
        int64_t end = job.bounds ? job.bounds[segment + 1] : job.parts;
        if (begin == end)
            continue;
        float sum = 0;
#pragma unroll 4
        for (int64_t part = begin + row; part < end; part += rows)
            sum += column < job.columns ? job.partial[part * job.stride + column] : 0;
        sums[threadIdx.x] = sum;
        __syncthreads();
        if (row == 0 && column < job.columns) {
#pragma unroll 8
            for (int other = 1; other < rows; other++)
                sum += sums[other * Columns + threadIdx.x];
            job.target[segment * job.columns + column] += sum;
        }
        __syncthreads();
    }
}

szg_status parts_add(szg_context *context, session *self, const parts_sum *sum) {
    bool narrow = sum->segments == 1 && sum->parts >= NARROW_PARTS;
    int64_t segments = sum->segments;
    if (segments > GRID_LIMIT)
        segments = GRID_LIMIT;
    return launch(
        context, self->stream, narrow ? add_parts<NARROW> : add_parts<WARP>,
        dim3(blocks_for(sum->columns, narrow ? +NARROW : +WARP), static_cast<unsigned>(segments)),
        THREADS, THREADS * sizeof(float), *sum);
}

/* ---- The columns ---- */

typedef struct columns_job {
    column_sums sums;
    row_parts parts;
    float *partial; /* [parts][columns]; NULL: not wanted */
} columns_job;

/* RELU's argument was not above 0 where y <= 0. GELU's derivative is Phi(x) + x phi(x); erfc keeps
 * Phi's lower tail. */
template <int Activation> __device__ __forceinline__ float slope_times(float dy, float at) {
    if (Activation == SZG_ACTIVATION_RELU)
        return at <= 0 ? 0 : dy;
    if (Activation == SZG_ACTIVATION_GELU)
        return dy * (0.5F * erfcf(-0.707106781F * at) + at * 0.39894228F * expf(-0.5F * at * at));
    return dy;
}

/* Rows row, row + WARPS, ... of a thread's columns: all are read before any is written. Rows beyond
 * the end are zeros, which no compiler has to prove unused. */
template <int Width, int Activation>
static __device__ __forceinline__ void take_rows(const columns_job &job, int64_t row, int64_t end,
                                                 int64_t column, numbers<Width> *sum) {
    numbers<Width> dy[AT_ONCE] = {}, at[AT_ONCE] = {};
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        int64_t place = row + k * WARPS;
        if (place >= end)
            continue;
        dy[k] = load<Width>(job.sums.dy + place * job.sums.lddy + column);
        if (Activation != SZG_ACTIVATION_NONE)
            at[k] = load<Width>(job.sums.at + place * job.sums.ldat + column);
    }
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        int64_t place = row + k * WARPS;
        if (place >= end)
            continue;
        for (int i = 0; i < Width; i++) {
            if (Activation != SZG_ACTIVATION_NONE)
                dy[k].at[i] = slope_times<Activation>(dy[k].at[i], at[k].at[i]);
            sum->at[i] += dy[k].at[i];
        }
        if (Activation != SZG_ACTIVATION_NONE)
            store<Width>(job.sums.dy + place * job.sums.lddy + column, dy[k]);
    }
}

template <int Width, int Activation>
static __global__ void __launch_bounds__(THREADS) sum_columns(columns_job job) {
    float *shared = shared_memory<float>(); /* [WARPS][WARP * Width] */
    int warp = static_cast<int>(threadIdx.x) / WARP, lane = static_cast<int>(threadIdx.x) % WARP;
    int64_t column = (static_cast<int64_t>(blockIdx.x) * WARP + lane) * Width;
    int64_t begin = blockIdx.y * job.parts.each;
    int64_t end = begin + job.parts.each < job.parts.rows ? begin + job.parts.each : job.parts.rows;
    numbers<Width> sum = {};
    if (column < job.sums.columns)
        for (int64_t row = begin + warp; row < end; row += ROWS_AT_ONCE)
            take_rows<Width, Activation>(job, row, end, column, &sum);
    if (!job.partial)
        return;
    store<Width>(shared + (warp * WARP + lane) * Width, sum);
    __syncthreads();
    if (warp > 0 || column >= job.sums.columns)
        return;
    for (int w = 1; w < WARPS; w++) {
        numbers<Width> other = load<Width>(shared + (w * WARP + lane) * Width);
        for (int i = 0; i < Width; i++)
            sum.at[i] += other.at[i];
    }
    store<Width>(job.partial + blockIdx.y * job.sums.columns + column, sum);
}

typedef void columns_kernel(columns_job job);

template <int Width> static columns_kernel *kernel_of(szg_activation activation) {
    return activation == SZG_ACTIVATION_RELU   ? sum_columns<Width, SZG_ACTIVATION_RELU>
           : activation == SZG_ACTIVATION_GELU ? sum_columns<Width, SZG_ACTIVATION_GELU>
                                               : sum_columns<Width, SZG_ACTIVATION_NONE>;
}

szg_status column_sums_add(szg_context *context, session *self, const column_sums *sums) {
    columns_job job = {.sums = *sums, .parts = row_parts_of(sums->rows), .partial = NULL};
    void *memory = NULL;
    if (sums->sums)
        SZG_TRY(scratch_take(context, self, SCRATCH_OPERATION,
                             job.parts.count * sums->columns * (int64_t)sizeof(float), &memory));
    job.partial = static_cast<float *>(memory);
    bool wide = is_wide(sums->columns, sums->dy, sums->at) && is_wide(sums->lddy, NULL) &&
                (!sums->at || is_wide(sums->ldat, NULL));
    int width = wide ? WIDE : 1;
    SZG_TRY(launch(
        context, self->stream,
        wide ? kernel_of<WIDE>(sums->activation) : kernel_of<1>(sums->activation),
        dim3(blocks_for(sums->columns, WARP * width), static_cast<unsigned>(job.parts.count)),
        THREADS, static_cast<int64_t>(sizeof(float)) * THREADS * width, job));
    if (!sums->sums)
        return SZG_OK;
    parts_sum add = {.segments = 1,
                     .columns = sums->columns,
                     .parts = job.parts.count,
                     .stride = sums->columns,
                     .bounds = NULL,
                     .partial = job.partial,
                     .target = sums->sums};
    return parts_add(context, self, &add);
}

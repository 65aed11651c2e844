/* What logits show of themselves, on their way to the eigenvalue solver. Numbers of single
 * precision squared are exact in double precision, and no sum of them leaves its range. */
#include <math.h>

#include <hardware.cuh>

#include "capture.h"
#include "spectra_check.h"

namespace {

enum { BLOCK = 256, SHARED = BLOCK / 32 * sizeof(double), GRID = 8192 };

__global__ void cut(int64_t numbers, int64_t n, int64_t length, const float *from, float *to) {
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < numbers;
         at += step) {
        int64_t matrix = at / (n * n), i = at / n % n, j = at % n;
        to[at] = from[(matrix * length + i) * length + j];
    }
}

/* The place of the first entry that is not finite, or -1; the matrix is then cleared. */
__device__ double find_infinite(int64_t n, float *l, double *shared) {
    double before = 0; /* entries from the first bad one on */
    for (int64_t at = threadIdx.x; at < n * n; at += blockDim.x)
        if (!isfinite(l[at]))
            before = fmax(before, static_cast<double>(n * n - at));
    before = block_largest(before, shared);
    if (before > 0)
        for (int64_t at = threadIdx.x; at < n * n; at += blockDim.x)
            l[at] = 0;
    __syncthreads();
    return before > 0 ? static_cast<double>(n * n) - before : -1;
}

__device__ void measure(int64_t n, const float *l, double *half, double *norms, double *shared) {
    double squares = 0, part = 0, trace = 0, largest = 0, skew = 0;
    for (int64_t at = threadIdx.x; at < n * n; at += blockDim.x) {
        int64_t i = at / n, j = at % n;
        double x = l[at], y = l[j * n + i], mean = x / 2 + y / 2;
        half[at] = mean;
        squares += x * x;
        part += mean * mean;
        trace += i == j ? x : 0;
        largest = fmax(largest, fabs(x));
        skew = fmax(skew, fabs(x - y));
    }
    squares = block_sum(squares, shared);
    part = block_sum(part, shared);
    trace = block_sum(trace, shared);
    largest = block_largest(largest, shared);
    skew = block_largest(skew, shared);
    if (threadIdx.x != 0)
        return;
    norms[LOGIT_TRACE] = trace;
    norms[LOGIT_FROBENIUS] = sqrt(squares);
    norms[LOGIT_PART] = sqrt(part);
    norms[LOGIT_LARGEST] = largest;
    norms[LOGIT_SKEW] = skew;
}

/* Neumaier's summation in the order of the host's (szgi_toeplitz_project), and so to the same bits:
 * zeros of Toeplitz parts are zeros. */
__device__ double diagonal_mean(int64_t n, const float *l, int64_t lag) {
    int64_t count = n - (lag < 0 ? -lag : lag);
    const float *at = l + (lag > 0 ? lag * n : -lag);
    double sum = 0, lost = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = at[i * (n + 1)], next = sum + x;
        lost += fabs(sum) >= fabs(x) ? (sum - next) + x : (x - next) + sum;
        sum = next;
    }
    return (sum + lost) / static_cast<double>(count);
}

/* Deviations from means that other threads of the block have written. */
__device__ double measure_rest(int64_t n, const float *l, const double *means, double *shared) {
    double squares = 0;
    for (int64_t at = threadIdx.x; at < n * n; at += blockDim.x) {
        double deviation = l[at] - means[at / n - at % n + n - 1];
        squares += deviation * deviation;
    }
    return sqrt(block_sum(squares, shared));
}

/* A block a matrix. */
__global__ void prepare(int64_t n, float *l, double *norms, double *half, double *means) {
    double *shared = shared_memory<double>();
    const int64_t matrix = blockIdx.x;
    l += matrix * n * n;
    norms += matrix * LOGIT_NORMS;
    double infinite = find_infinite(n, l, shared);
    if (threadIdx.x == 0)
        norms[LOGIT_INFINITE] = infinite;
    measure(n, l, half + matrix * n * n, norms, shared);
    means += matrix * (2 * n - 1);
    for (int64_t at = threadIdx.x; at < 2 * n - 1; at += blockDim.x)
        means[at] = diagonal_mean(n, l, at - n + 1);
    __syncthreads();
    double rest = measure_rest(n, l, means, shared);
    if (threadIdx.x == 0)
        norms[LOGIT_REST] = rest;
}

__global__ void frobenius(int64_t numbers, const double *a, double *norms) {
    double *shared = shared_memory<double>(), squares = 0;
    a += blockIdx.x * numbers;
    for (int64_t at = threadIdx.x; at < numbers; at += blockDim.x)
        squares += a[at] * a[at];
    squares = block_sum(squares, shared);
    if (threadIdx.x == 0)
        norms[blockIdx.x] = sqrt(squares);
}

typedef struct head_parts {
    int64_t count;
    szgi_head_part part[SZGI_HEAD_PARTS];
} head_parts;

/* A block a head. Its entries of a part, counted along the rows. */
__global__ void squares(head_parts parts, double *sums) {
    double *shared = shared_memory<double>(), sum = 0;
    for (int64_t p = 0; p < parts.count; p++) {
        const szgi_head_part &part = parts.part[p];
        const float *array = static_cast<const float *>(part.array);
        int64_t rows = part.by_columns ? part.rows : part.rows / gridDim.x;
        int64_t columns = part.by_columns ? part.columns / gridDim.x : part.columns;
        array += blockIdx.x * (part.by_columns ? columns : rows * part.columns);
        for (int64_t at = threadIdx.x; at < rows * columns; at += blockDim.x) {
            double x = array[at / columns * part.columns + at % columns];
            sum += x * x;
        }
    }
    sum = block_sum(sum, shared);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

} // namespace

szg_status logits_cut(szg_context *context, cudaStream_t stream, int64_t count, int64_t n,
                      int64_t length, const float *from, float *to) {
    const int64_t numbers = count * n * n, most = (int64_t)GRID * BLOCK;
    return launch(context, stream, cut, dim3(blocks_for(numbers < most ? numbers : most, BLOCK)),
                  dim3(BLOCK), 0, numbers, n, length, from, to);
}

szg_status logits_prepare(szg_context *context, cudaStream_t stream, int64_t count, int64_t n,
                          float *l, double *norms, double *half, double *means) {
    return launch(context, stream, prepare, dim3(static_cast<unsigned>(count)), dim3(BLOCK), SHARED,
                  n, l, norms, half, means);
}

szg_status logits_norms(szg_context *context, cudaStream_t stream, int64_t count, int64_t n,
                        const double *a, double *norms) {
    return launch(context, stream, frobenius, dim3(static_cast<unsigned>(count)), dim3(BLOCK),
                  SHARED, n * n, a, norms);
}

szg_status logits_squares(szg_context *context, cudaStream_t stream, int64_t heads, int64_t count,
                          const szgi_head_part *parts, double *sums) {
    head_parts given = {};
    given.count = count;
    for (int64_t p = 0; p < count; p++)
        given.part[p] = parts[p];
    return launch(context, stream, squares, dim3(static_cast<unsigned>(heads)), dim3(BLOCK), SHARED,
                  given, sums);
}

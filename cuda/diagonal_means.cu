/* Means of the diagonals of matrices: one thread for a number of the result, sums in double
 * precision in a fixed order. Bounded by memory. */
#include "layers.cuh"

static __global__ void __launch_bounds__(THREADS)
    means(int64_t count, int64_t n, const float *a, float *out) {
    int64_t at = first_item(), lags = 2 * n - 1;
    if (at >= count * lags)
        return;
    int64_t matrix = at / lags, lag = at % lags - (n - 1), first = lag > 0 ? lag : 0;
    int64_t numbers = n - (lag < 0 ? -lag : lag);
    const float *from = a + (matrix * n + first) * n + first - lag;
    double sum = 0;
    for (int64_t i = 0; i < numbers; i++)
        sum += static_cast<double>(from[i * (n + 1)]);
    out[at] = static_cast<float>(sum / static_cast<double>(numbers));
}

szg_status gpu_diagonal_means(szg_context *context, int64_t count, int64_t n, const void *a,
                              void *out) {
    return named(context,
                 launch_each(context, count * (2 * n - 1), means, count, n,
                             static_cast<const float *>(a), static_cast<float *>(out)),
                 "diagonal means of %lld x %lld x %lld", (long long)count, (long long)n,
                 (long long)n);
}

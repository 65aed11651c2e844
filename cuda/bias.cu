/* Lag biases from a trained table, and back: one thread for a number of the result, sums in double
 * precision in a fixed order. Bounded by memory. */
#include "layers.cuh"

static __global__ void __launch_bounds__(THREADS)
    gather_bias(const szgi_bias_rows s, const float *table, float *to) {
    int64_t at = first_item();
    if (at < s.heads * s.lags)
        to[at] = table[s.row_of_lag[at % s.lags] * s.heads + at / s.lags];
}

static __global__ void __launch_bounds__(THREADS)
    scatter_bias(const szgi_bias_rows s, const float *dbias, float *dtable) {
    int64_t at = first_item();
    if (at >= s.rows * s.heads)
        return;
    int64_t row = at / s.heads, head = at % s.heads;
    double sum = static_cast<double>(dtable[at]);
    for (int64_t lag = 0; lag < s.lags; lag++)
        if (s.row_of_lag[lag] == row)
            sum += static_cast<double>(dbias[head * s.lags + lag]);
    dtable[at] = static_cast<float>(sum);
}

szg_status gpu_bias(szg_context *context, const szgi_bias_rows *s, const void *table, void *out) {
    return named(context,
                 launch_each(context, s->heads * s->lags, gather_bias, *s,
                             static_cast<const float *>(table), static_cast<float *>(out)),
                 "bias of %lld heads, %lld lags", (long long)s->heads, (long long)s->lags);
}

szg_status gpu_bias_backward(szg_context *context, const szgi_bias_rows *s, const void *dbias,
                             void *dtable) {
    return named(context,
                 launch_each(context, s->rows * s->heads, scatter_bias, *s,
                             static_cast<const float *>(dbias), static_cast<float *>(dtable)),
                 "bias backward of %lld heads, %lld lags", (long long)s->heads, (long long)s->lags);
}

/* What prepares attention's arguments and looks at its logits: one thread for a number of the
 * result, sums in double precision in a fixed order. All of it is bounded by memory. */
#include "attention.cuh"
#include "table.h"

namespace {

enum { THREADS = 256 };

__device__ __forceinline__ int64_t thread_index() {
    return static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
}

/* One thread a number. */
template <class... Parameters, class... Arguments>
szg_status launch_numbers(szg_context *context, int64_t count, void (*kernel)(Parameters...),
                          Arguments... arguments) {
    if (count > static_cast<int64_t>(INT32_MAX) * THREADS)
        return fail(context, SZG_EBACKEND, "%lld numbers, more than a launch has threads",
                    (long long)count);
    return launch(context, session_of(context)->stream, kernel, dim3(blocks_for(count, THREADS)),
                  dim3(THREADS), 0, arguments...);
}

__global__ void __launch_bounds__(THREADS)
    means(int64_t count, int64_t n, const float *a, float *out) {
    int64_t at = thread_index(), lags = 2 * n - 1;
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

/* Where number c of head h, row r stands in one of the two parts. */
__device__ __forceinline__ int64_t part_at(int64_t ld, bool shared, int64_t row, int64_t head,
                                           int64_t width, int64_t c) {
    return row * ld + (shared ? 0 : head * width) + c;
}

__global__ void __launch_bounds__(THREADS)
    join_parts(const szgi_join s, const float *a, const float *b, float *out) {
    int64_t width = s.width_a + s.width_b, at = thread_index(), rows = s.heads * width;
    if (at >= s.rows * rows)
        return;
    int64_t row = at / rows, head = at % rows / width, c = at % width;
    out[row * s.ldout + head * width + c] =
        c < s.width_a ? a[part_at(s.lda, s.shared_a, row, head, s.width_a, c)]
                      : b[part_at(s.ldb, s.shared_b, row, head, s.width_b, c - s.width_a)];
}

/* One of the two parts: `width` numbers from number `from` of each head on. */
typedef struct part {
    int64_t from, width, ld;
    bool shared;
    float *to;
} part;

__global__ void __launch_bounds__(THREADS)
    split_part(const szgi_join s, const part p, const float *dout) {
    int64_t heads = p.shared ? 1 : s.heads, at = thread_index(), rows = heads * p.width;
    if (at >= s.rows * rows)
        return;
    int64_t row = at / rows, head = at % rows / p.width, c = at % p.width;
    const float *from = dout + row * s.ldout + head * (s.width_a + s.width_b) + p.from + c;
    double sum = static_cast<double>(from[0]);
    for (int64_t g = 1; p.shared && g < s.heads; g++)
        sum += static_cast<double>(from[g * (s.width_a + s.width_b)]);
    p.to[part_at(p.ld, p.shared, row, head, p.width, c)] = static_cast<float>(sum);
}

__global__ void __launch_bounds__(THREADS)
    gather_bias(const szgi_bias_rows s, const float *table, float *to) {
    int64_t at = thread_index();
    if (at < s.heads * s.lags)
        to[at] = table[s.row_of_lag[at % s.lags] * s.heads + at / s.lags];
}

__global__ void __launch_bounds__(THREADS)
    scatter_bias(const szgi_bias_rows s, const float *dbias, float *dtable) {
    int64_t at = thread_index();
    if (at >= s.rows * s.heads)
        return;
    int64_t row = at / s.heads, head = at % s.heads;
    double sum = static_cast<double>(dtable[at]);
    for (int64_t lag = 0; lag < s.lags; lag++)
        if (s.row_of_lag[lag] == row)
            sum += static_cast<double>(dbias[head * s.lags + lag]);
    dtable[at] = static_cast<float>(sum);
}

szg_status diagonal_means(szg_context *context, int64_t count, int64_t n, const void *a,
                          void *out) {
    return named(context,
                 launch_numbers(context, count * (2 * n - 1), means, count, n,
                                static_cast<const float *>(a), static_cast<float *>(out)),
                 "diagonal means of %lld x %lld x %lld", (long long)count, (long long)n,
                 (long long)n);
}

szg_status join(szg_context *context, const szgi_join *s, const void *a, const void *b, void *out) {
    return named(context,
                 launch_numbers(context, s->rows * s->heads * (s->width_a + s->width_b), join_parts,
                                *s, static_cast<const float *>(a), static_cast<const float *>(b),
                                static_cast<float *>(out)),
                 "join of %lld x %lld heads, %lld + %lld numbers", (long long)s->rows,
                 (long long)s->heads, (long long)s->width_a, (long long)s->width_b);
}

szg_status split(szg_context *context, const szgi_join *s, const void *dout, const part &p) {
    int64_t count = s->rows * (p.shared ? 1 : s->heads) * p.width;
    if (count == 0)
        return SZG_OK;
    return named(
        context,
        launch_numbers(context, count, split_part, *s, p, static_cast<const float *>(dout)),
        "join backward of %lld x %lld heads, %lld numbers", (long long)s->rows, (long long)s->heads,
        (long long)p.width);
}

szg_status join_backward(szg_context *context, const szgi_join *s, const void *dout, void *da,
                         void *db) {
    SZG_TRY(split(context, s, dout,
                  part{0, s->width_a, s->lda, s->shared_a, static_cast<float *>(da)}));
    return split(context, s, dout,
                 part{s->width_a, s->width_b, s->ldb, s->shared_b, static_cast<float *>(db)});
}

szg_status bias(szg_context *context, const szgi_bias_rows *s, const void *table, void *out) {
    return named(context,
                 launch_numbers(context, s->heads * s->lags, gather_bias, *s,
                                static_cast<const float *>(table), static_cast<float *>(out)),
                 "bias of %lld heads, %lld lags", (long long)s->heads, (long long)s->lags);
}

szg_status bias_backward(szg_context *context, const szgi_bias_rows *s, const void *dbias,
                         void *dtable) {
    return named(context,
                 launch_numbers(context, s->rows * s->heads, scatter_bias, *s,
                                static_cast<const float *>(dbias), static_cast<float *>(dtable)),
                 "bias backward of %lld heads, %lld lags", (long long)s->heads, (long long)s->lags);
}

} // namespace

void attention_arguments_fill(szgi_network_ops *network) {
    network->diagonal_means = diagonal_means;
    network->join = join;
    network->join_backward = join_backward;
    network->bias = bias;
    network->bias_backward = bias_backward;
}

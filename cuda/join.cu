/* Two vectors a head to one, and back: one thread for a number of the result, sums in double
 * precision in a fixed order. Bounded by memory. */
#include "layers.cuh"

/* The place of number c of head h, row r in one of the two parts. */
static __device__ __forceinline__ int64_t part_at(int64_t ld, bool shared, int64_t row,
                                                  int64_t head, int64_t width, int64_t c) {
    return row * ld + (shared ? 0 : head * width) + c;
}

static __global__ void __launch_bounds__(THREADS)
    join_parts(const szgi_join s, const float *a, const float *b, float *out) {
    int64_t width = s.width_a + s.width_b, at = first_item(), rows = s.heads * width;
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

static __global__ void __launch_bounds__(THREADS)
    split_part(const szgi_join s, const part p, const float *dout) {
    int64_t heads = p.shared ? 1 : s.heads, at = first_item(), rows = heads * p.width;
    if (at >= s.rows * rows)
        return;
    int64_t row = at / rows, head = at % rows / p.width, c = at % p.width;
    const float *from = dout + row * s.ldout + head * (s.width_a + s.width_b) + p.from + c;
    double sum = static_cast<double>(from[0]);
    for (int64_t g = 1; p.shared && g < s.heads; g++)
        sum += static_cast<double>(from[g * (s.width_a + s.width_b)]);
    p.to[part_at(p.ld, p.shared, row, head, p.width, c)] = static_cast<float>(sum);
}

szg_status gpu_join(szg_context *context, const szgi_join *s, const void *a, const void *b,
                    void *out) {
    return named(context,
                 launch_each(context, s->rows * s->heads * (s->width_a + s->width_b), join_parts,
                             *s, static_cast<const float *>(a), static_cast<const float *>(b),
                             static_cast<float *>(out)),
                 "join of %lld x %lld heads, %lld + %lld numbers", (long long)s->rows,
                 (long long)s->heads, (long long)s->width_a, (long long)s->width_b);
}

static szg_status split(szg_context *context, const szgi_join *s, const void *dout, const part &p) {
    int64_t count = s->rows * (p.shared ? 1 : s->heads) * p.width;
    if (count == 0)
        return SZG_OK;
    return named(context,
                 launch_each(context, count, split_part, *s, p, static_cast<const float *>(dout)),
                 "join backward of %lld x %lld heads, %lld numbers", (long long)s->rows,
                 (long long)s->heads, (long long)p.width);
}

szg_status gpu_join_backward(szg_context *context, const szgi_join *s, const void *dout, void *da,
                             void *db) {
    SZG_TRY(split(context, s, dout,
                  part{.from = 0,
                       .width = s->width_a,
                       .ld = s->lda,
                       .shared = s->shared_a,
                       .to = static_cast<float *>(da)}));
    return split(context, s, dout,
                 part{.from = s->width_a,
                      .width = s->width_b,
                      .ld = s->ldb,
                      .shared = s->shared_b,
                      .to = static_cast<float *>(db)});
}

/* The optimiser and the search for numbers that are not finite, over one arena.
 *
 * AdamW reads four arrays and writes three: 28 bytes a parameter, for the paper's 5 million
 * parameters 140 MB or 0.047 ms at 3.0 TB/s; the search reads 20 MB, 0.007 ms. */
#include "layers.cuh"

typedef struct adamw_numbers {
    float keep, step, root_correction, beta1, beta2, rest1, rest2, eps;
} adamw_numbers;

static __device__ adamw_numbers numbers_of(const szgi_adamw &a) {
    const szgi_step_block *block = a.block;
    double rate = block->learning_rate;
    return {.keep = static_cast<float>(1 - rate * a.decay),
            .step = static_cast<float>(rate / block->correction1),
            .root_correction = static_cast<float>(1 / sqrt(block->correction2)),
            .beta1 = static_cast<float>(a.beta1),
            .beta2 = static_cast<float>(a.beta2),
            .rest1 = static_cast<float>(1 - a.beta1),
            .rest2 = static_cast<float>(1 - a.beta2),
            .eps = static_cast<float>(a.eps)};
}

/* Every operation rounds, as on the CPU: the same bits from the same gradient. */
static __device__ __forceinline__ void step_number(const adamw_numbers &s, float g, float *w,
                                                   float *m, float *v) {
    *m = __fadd_rn(__fmul_rn(s.beta1, *m), __fmul_rn(s.rest1, g));
    *v = __fadd_rn(__fmul_rn(s.beta2, *v), __fmul_rn(s.rest2, __fmul_rn(g, g)));
    float root = __fadd_rn(__fmul_rn(sqrtf(*v), s.root_correction), s.eps);
    *w = __fadd_rn(__fmul_rn(s.keep, *w), -(__fmul_rn(s.step, *m) / root));
}

template <int Width> static __global__ void __launch_bounds__(THREADS) step_numbers(szgi_adamw a) {
    adamw_numbers *shared = shared_memory<adamw_numbers>();
    if (!a.block->finite)
        return;
    if (threadIdx.x == 0)
        *shared = numbers_of(a); /* in double: once a block */
    __syncthreads();
    const adamw_numbers s = *shared;
    const float *gradient = static_cast<const float *>(a.gradient);
    float *weight = static_cast<float *>(a.weight);
    float *moment1 = static_cast<float *>(a.moment1), *moment2 = static_cast<float *>(a.moment2);
    for (int64_t at = Width * first_item(); at < a.count; at += Width * items_at_once()) {
        numbers<Width> g = load<Width>(gradient + at), w = load<Width>(weight + at);
        numbers<Width> m = load<Width>(moment1 + at), v = load<Width>(moment2 + at);
        for (int i = 0; i < Width; i++)
            step_number(s, g.at[i], &w.at[i], &m.at[i], &v.at[i]);
        store<Width>(weight + at, w);
        store<Width>(moment1 + at, m);
        store<Width>(moment2 + at, v);
    }
}

szg_status gpu_adamw(szg_context *context, const szgi_adamw *a) {
    session *self = session_of(context);
    bool wide = is_wide(a->count, a->gradient, a->weight, a->moment1, a->moment2);
    return named(context,
                 launch(context, self->stream, wide ? step_numbers<WIDE> : step_numbers<1>,
                        grid_for(self, a->count / (wide ? WIDE : 1)), THREADS,
                        sizeof(adamw_numbers), *a),
                 "adamw %lld", (long long)a->count);
}

template <int Width>
static __global__ void __launch_bounds__(THREADS)
    search(int64_t count, const float *x, szgi_step_block *block) {
    bool found = false;
    for (int64_t at = Width * first_item(); at < count; at += Width * items_at_once()) {
        numbers<Width> own = load<Width>(x + at);
        for (int i = 0; i < Width; i++)
            found = found || !isfinite(own.at[i]);
    }
    if (found)
        block->finite = 0; /* whoever finds one writes the same */
}

szg_status gpu_finite(szg_context *context, int64_t count, const void *x, szgi_step_block *block) {
    session *self = session_of(context);
    bool wide = is_wide(count, x);
    return named(context,
                 launch(context, self->stream, wide ? search<WIDE> : search<1>,
                        grid_for(self, count / (wide ? WIDE : 1)), THREADS, 0, count,
                        static_cast<const float *>(x), block),
                 "finite %lld", (long long)count);
}

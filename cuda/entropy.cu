/* Softmax cross-entropy: one warp per example, then one block that adds the examples' losses in a
 * fixed order.
 *
 * At 512 x 71 classes 0.3 MB pass: the two or three kernels take the time that starting takes. */
#include "layers.cuh"

typedef struct entropy_job {
    szgi_cross_entropy entropy;
    const int32_t *counted; /* examples of this call; NULL: all */
    double *loss;           /* [batch]; 0 where it does not count */
    int32_t *correct;       /* [batch] */
} entropy_job;

static __device__ __forceinline__ bool counts(const szgi_cross_entropy &e, int64_t example) {
    return e.ignored < 0 || e.labels[example] != e.ignored;
}

/* The block's sum; its order is that of a tree. */
template <class Number> static __device__ Number block_sum(Number x, Number *shared) {
    shared[threadIdx.x] = x;
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            shared[threadIdx.x] += shared[threadIdx.x + half];
        __syncthreads();
    }
    Number sum = shared[0];
    __syncthreads();
    return sum;
}

static __global__ void __launch_bounds__(THREADS)
    count_labels(szgi_cross_entropy e, int32_t *counted) {
    int32_t own = 0;
    for (int64_t example = threadIdx.x; example < e.batch; example += THREADS)
        own += counts(e, example);
    int32_t sum = block_sum(own, shared_memory<int32_t>());
    if (threadIdx.x == 0)
        *counted = sum;
}

/* The first largest logit of a row and its place, in every lane. A NaN is not; a row of them has
 * the first. */
static __device__ __forceinline__ int32_t first_largest(const float *logits, int64_t classes,
                                                        float *largest) {
    int lane = static_cast<int>(threadIdx.x) % WARP;
    int32_t best = INT32_MAX;
    float top = -INFINITY;
    for (int64_t c = lane; c < classes; c += WARP)
        if (logits[c] > top || (logits[c] == top && best == INT32_MAX))
            top = logits[c], best = static_cast<int32_t>(c);
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2) {
        float other = __shfl_xor_sync(0xFFFFFFFFU, top, lanes);
        int32_t place = __shfl_xor_sync(0xFFFFFFFFU, best, lanes);
        if (other > top || (other == top && place < best))
            top = other, best = place;
    }
    *largest = best == INT32_MAX ? logits[0] : top;
    return best == INT32_MAX ? 0 : best;
}

/* An example that counts: its gradient, and what it adds to the tally. */
static __device__ void score_row(const entropy_job &job, int64_t example, double scale) {
    const szgi_cross_entropy &e = job.entropy;
    int lane = static_cast<int>(threadIdx.x) % WARP;
    const float *logits = static_cast<const float *>(e.logits) + example * e.classes;
    float *gradient = static_cast<float *>(e.dlogits), largest;
    int32_t label = e.labels[example], best = first_largest(logits, e.classes, &largest);
    double own = 0;
    for (int64_t c = lane; c < e.classes; c += WARP)
        own += static_cast<double>(expf(logits[c] - largest));
    double total = warp_sum(own);
    float factor = static_cast<float>(scale / total);
    for (int64_t c = lane; gradient && c < e.classes; c += WARP)
        gradient[example * e.classes + c] =
            expf(logits[c] - largest) * factor - (c == label ? static_cast<float>(scale) : 0);
    if (lane == 0) {
        job.loss[example] =
            log(total) - (static_cast<double>(logits[label]) - static_cast<double>(largest));
        job.correct[example] = best == label;
    }
}

static __global__ void __launch_bounds__(THREADS) score(entropy_job job) {
    const szgi_cross_entropy &e = job.entropy;
    int lane = static_cast<int>(threadIdx.x) % WARP;
    int64_t example = first_item() / WARP;
    if (example >= e.batch)
        return;
    if (counts(e, example)) {
        int64_t counted = job.counted ? *job.counted : e.batch;
        score_row(job, example, 1 / static_cast<double>(counted));
        return;
    }
    float *gradient = static_cast<float *>(e.dlogits);
    for (int64_t c = lane; gradient && c < e.classes; c += WARP)
        gradient[example * e.classes + c] = 0;
    if (lane == 0) {
        job.loss[example] = 0;
        job.correct[example] = 0;
    }
}

static __global__ void __launch_bounds__(THREADS) add_tally(entropy_job job) {
    const szgi_cross_entropy &e = job.entropy;
    double *shared = shared_memory<double>(), loss = 0;
    int64_t correct = 0;
    for (int64_t example = threadIdx.x; example < e.batch; example += THREADS) {
        loss += job.loss[example];
        correct += job.correct[example];
    }
    loss = block_sum(loss, shared);
    correct = block_sum(correct, reinterpret_cast<int64_t *>(shared));
    if (threadIdx.x > 0)
        return;
    if (e.block && !isfinite(loss))
        e.block->finite = 0;
    if (e.block && !e.block->finite)
        return;
    e.tally->loss += loss;
    e.tally->counted += job.counted ? *job.counted : e.batch;
    e.tally->correct += correct;
}

static szg_status run(szg_context *context, session *self, const szgi_cross_entropy *entropy) {
    const int64_t each = sizeof(double) + sizeof(int32_t), batch = entropy->batch;
    void *memory;
    SZG_TRY(scratch_take(context, self, SCRATCH_OPERATION, batch * each + (int64_t)sizeof(int32_t),
                         &memory));
    double *loss = static_cast<double *>(memory);
    entropy_job job = {.entropy = *entropy,
                       .counted = NULL,
                       .loss = loss,
                       .correct = reinterpret_cast<int32_t *>(loss + batch)};
    if (entropy->ignored >= 0) {
        job.counted = job.correct + batch;
        SZG_TRY(launch(context, self->stream, count_labels, 1, THREADS, THREADS * sizeof(int32_t),
                       *entropy, job.correct + batch));
    }
    SZG_TRY(launch(context, self->stream, score, blocks_for(batch, WARPS), THREADS, 0, job));
    return launch(context, self->stream, add_tally, 1, THREADS, THREADS * sizeof(double), job);
}

szg_status gpu_cross_entropy(szg_context *context, const szgi_cross_entropy *entropy) {
    return named(context, run(context, session_of(context), entropy), "cross-entropy %lld x %lld",
                 (long long)entropy->batch, (long long)entropy->classes);
}

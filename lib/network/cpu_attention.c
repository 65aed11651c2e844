#include "base/memory.h"
#include "base/pool.h"
#include "cpu_attention.h"
#include "linalg/cpu_level.h"
#include "cpu_network.h"

static const szgi_attention_kernels *kernels(void) {
#ifdef __x86_64__
    static const szgi_attention_kernels *const all[SZGI_CPU_LEVELS] = {
        &szgi_attention_kernels_baseline, &szgi_attention_kernels_avx2,
        &szgi_attention_kernels_avx512};
    return all[szgi_cpu_level_best()];
#else
    return &szgi_attention_kernels_baseline;
#endif
}

static int64_t widen(int64_t n) {
    return (n + SZGI_ATTENTION_PAD - 1) / SZGI_ATTENTION_PAD * SZGI_ATTENTION_PAD;
}

typedef struct attention_job {
    const szgi_attention *attention;
    const szgi_attention_gradient *gradient; /* backward */
    bool coupled;                            /* logits */
    float *logits;
    float *dbias; /* [batch][heads][2 length - 1], lags reversed; or NULL */
    const szgi_attention_kernels *kernels;
    float *arena; /* a part for every worker */
    int64_t part;
} attention_job;

/* Takes rows x columns numbers from the arena; without one, only counts them. */
static float *take(float *arena, int64_t *used, int64_t rows, int64_t columns) {
    float *at = arena ? arena + *used : NULL;
    *used += rows * columns;
    return at;
}

/* The parts of a worker's scratch; *used = how many numbers it takes. */
static szgi_attention_scratch lay_out(const szgi_attention *a, bool backward, float *arena,
                                      int64_t *used) {
    int64_t wide = widen(a->length), qk = widen(a->d_qk), v = widen(a->d_v);
    int64_t tile = SZGI_ATTENTION_TILE, lags = 2 * wide + SZGI_ATTENTION_PAD;
    *used = 0;
    szgi_attention_scratch s = {.wide_length = wide, .wide_qk = qk, .wide_v = v};
    s.k_rows = take(arena, used, wide, qk);
    s.k_lanes = take(arena, used, qk, wide);
    s.v_rows = take(arena, used, wide, v);
    s.bias = take(arena, used, 1, lags);
    s.q = take(arena, used, tile, qk);
    s.q_lanes = take(arena, used, qk, tile);
    s.out = take(arena, used, tile, v);
    s.out_lanes = take(arena, used, v, tile);
    s.weights = take(arena, used, wide, tile);
    s.words = (uint32_t *)take(arena, used, wide + SZGI_ATTENTION_PAD, tile);
    if (!backward)
        return s;
    s.dbias = take(arena, used, 1, lags);
    s.dk = take(arena, used, wide, qk);
    s.dv = take(arena, used, wide, v);
    s.v_lanes = take(arena, used, v, wide);
    s.dq = take(arena, used, tile, qk);
    s.dlogits = take(arena, used, wide, tile);
    return s;
}

static void run_head(const attention_job *job, const szgi_attention_head *head) {
    const szgi_attention *a = job->attention;
    int64_t matrix = head->sequence * a->heads + head->head, lags = 2 * a->length - 1;
    if (job->gradient)
        job->kernels->backward(head, job->gradient, job->dbias ? job->dbias + matrix * lags : NULL);
    else if (job->logits)
        job->kernels->logits(head, job->coupled, job->logits + matrix * a->length * a->length);
    else
        job->kernels->forward(head);
}

/* Neighbouring heads share pages and lines: one worker does those of a block one after the other.
 * Heads do not depend on each other, so blocks of any size give the same bits. */
static int64_t heads_of_block(const szgi_attention *a) {
    enum { ENOUGH_BLOCKS = 32 };
    return a->batch >= ENOUGH_BLOCKS ? a->heads : 1;
}

/* Asks for `count` rows of `width` numbers to be brought near. */
static void fetch_rows(const void *array, int64_t ld, int64_t width, int64_t first, int64_t count) {
    enum { LINE = 16 };
    for (int64_t i = first; i < first + count; i++)
        for (int64_t c = 0; c < width; c += LINE)
            __builtin_prefetch((const float *)array + i * ld + c, 0, 2);
}

/* The rows of one head lie far apart, where no hardware fetches ahead; those of all heads together
 * are one stretch of memory. Before its first head a sequence is fetched whole, in the order of
 * addresses, which takes a fraction of the time of waiting for its parts one by one. */
static void fetch_sequence(const attention_job *job, int64_t sequence) {
    enum { FEW = 16 };
    const szgi_attention *a = job->attention;
    const szgi_attention_gradient *g = job->gradient;
    int64_t qk = a->heads * a->d_qk, v = a->heads * a->d_v, end = (sequence + 1) * a->length;
    for (int64_t first = sequence * a->length; first < end; first += FEW) {
        int64_t count = end - first < FEW ? end - first : FEW;
        fetch_rows(a->q, a->ldq, qk, first, count);
        fetch_rows(a->k, a->ldk, qk, first, count);
        fetch_rows(a->v, a->ldv, v, first, count);
        fetch_rows(a->out, a->ldout, v, first, count);
        if (!g)
            continue;
        fetch_rows(g->dout, g->lddout, v, first, count);
        fetch_rows(g->dq, g->lddq, qk, first, count);
        fetch_rows(g->dk, g->lddk, qk, first, count);
        fetch_rows(g->dv, g->lddv, v, first, count);
    }
}

/* Whether all of a sequence fits the second level of the cache, beside what is worked in. */
static bool sequence_stays_near(const attention_job *job) {
    enum { NEAR = 3 << 17 }; /* numbers */
    const szgi_attention *a = job->attention;
    int64_t arrays = job->gradient ? 4 : 2;
    return !job->logits && arrays * a->length * a->heads * (a->d_qk + a->d_v) <= NEAR;
}

static szg_status run_block(szg_context *context, void *data, int64_t block, int worker) {
    (void)context;
    const attention_job *job = data;
    const szgi_attention *a = job->attention;
    int64_t used, count = heads_of_block(a);
    szgi_attention_scratch scratch =
        lay_out(a, job->gradient != NULL, job->arena + worker * job->part, &used);
    if (count == a->heads && sequence_stays_near(job))
        fetch_sequence(job, block);
    for (int64_t i = block * count; i < (block + 1) * count; i++) {
        szgi_attention_head head = {a, i / a->heads, i % a->heads, &scratch};
        run_head(job, &head);
    }
    return SZG_OK;
}

static szg_status run_heads(szg_context *context, attention_job *job) {
    const szgi_attention *a = job->attention;
    int64_t numbers;
    lay_out(a, job->gradient != NULL, NULL, &job->part);
    SZG_TRY(szgi_memory_product(context, job->part, szg_context_threads(context), &numbers));
    SZG_TRY(szgi_memory_alloc(context, numbers, &job->arena));
    job->kernels = kernels();
    szg_status status =
        szgi_pool_run(context, a->batch * a->heads / heads_of_block(a), run_block, job);
    szgi_memory_free(job->arena);
    return status;
}

szg_status szgi_cpu_attention(szg_context *context, const szgi_attention *attention) {
    attention_job job = {.attention = attention};
    return run_heads(context, &job);
}

szg_status szgi_cpu_attention_logits(szg_context *context, const szgi_attention *attention,
                                     bool coupled, void *logits) {
    attention_job job = {.attention = attention, .coupled = coupled, .logits = logits};
    return run_heads(context, &job);
}

/* Adds the sequences' parts of head `head` in their order. */
static void add_lags(const szgi_attention *a, const float *parts, int64_t head, float *dbias) {
    int64_t lags = 2 * a->length - 1;
    for (int64_t lag = 0; lag < lags; lag++) {
        double sum = 0;
        for (int64_t b = 0; b < a->batch; b++)
            sum += (double)parts[(b * a->heads + head) * lags + lags - 1 - lag];
        dbias[head * lags + lag] += (float)sum;
    }
}

szg_status szgi_cpu_attention_backward(szg_context *context, const szgi_attention *attention,
                                       const szgi_attention_gradient *gradient) {
    const szgi_attention *a = attention;
    attention_job job = {.attention = a, .gradient = gradient};
    if (gradient->dbias) {
        int64_t heads, numbers;
        SZG_TRY(szgi_memory_product(context, a->batch, a->heads, &heads));
        SZG_TRY(szgi_memory_product(context, heads, 2 * a->length - 1, &numbers));
        SZG_TRY(szgi_memory_alloc(context, numbers, &job.dbias));
    }
    szg_status status = run_heads(context, &job);
    for (int64_t h = 0; job.dbias && status == SZG_OK && h < a->heads; h++)
        add_lags(a, job.dbias, h, gradient->dbias);
    szgi_memory_free(job.dbias);
    return status;
}

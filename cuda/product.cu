/* Products on cuBLASLt in the session's precision.
 *
 * A plan is the descriptor, the layouts and the algorithm that the heuristic names first for a
 * shape and the alignment of its arrays; all algorithms sum in an order that depends on the shape
 * and the device alone. */
#include "product.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "staging.h"
#include "table.h"

/* Plans of a session; the most that an algorithm may ask for: what NVIDIA advises for Hopper. */
enum { PLANS = 256, WORKSPACE = 32 << 20 };

/* No gaps: compared as bytes. */
typedef struct product_key {
    int64_t m, n, k, lda, ldb, ldc;
    int32_t transpose_a, transpose_b, add, epilogue;
    uint32_t align_a, align_b, align_c, align_bias;
} product_key;

typedef struct product_plan {
    product_key key;
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulAlgo_t algorithm;
    size_t workspace;
    bool useless; /* an epilogue without an algorithm, or a RELU that loses NaN */
} product_plan;

/* When all are taken the oldest goes. Facts stay. */
struct product_plans {
    product_plan plan[PLANS];
    int count, oldest;
    szg_product_fact *fact;
    int64_t facts, room;
    char library[32];
};

/* ---- Keys ---- */

static uint32_t alignment_of(const void *memory) {
    uintptr_t place = reinterpret_cast<uintptr_t>(memory) | 256;
    return static_cast<uint32_t>(place & (~place + 1));
}

/* A heuristic reads a bias's alignment off its address; what it makes of it is said nowhere, so
 * that it lowers the result's too. */
static product_key key_of(const product *p, cublasLtEpilogue_t epilogue) {
    product_key key;
    memset(&key, 0, sizeof key);
    key.m = p->m, key.n = p->n, key.k = p->k;
    key.lda = p->lda, key.ldb = p->ldb, key.ldc = p->ldc;
    key.transpose_a = p->transpose_a, key.transpose_b = p->transpose_b;
    key.add = p->add, key.epilogue = epilogue;
    key.align_a = alignment_of(p->a);
    key.align_b = alignment_of(p->b);
    key.align_c = alignment_of(p->c);
    key.align_bias = p->bias ? alignment_of(p->bias) : 0;
    if (p->bias && key.align_bias < key.align_c)
        key.align_c = key.align_bias;
    return key;
}

/* ---- Plans ---- */

static void close_plan(product_plan *plan) {
    if (plan->operation)
        cublasLtMatmulDescDestroy(plan->operation);
    cublasLtMatrixLayout_t layouts[] = {plan->a, plan->b, plan->c};
    for (cublasLtMatrixLayout_t layout : layouts)
        if (layout)
            cublasLtMatrixLayoutDestroy(layout);
    memset(plan, 0, sizeof *plan);
}

template <class T>
static cublasStatus_t set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
                          T value) {
    return cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value);
}

static szg_status describe(szg_context *context, const session *self, const product *p,
                           product_plan *plan) {
    static const cublasComputeType_t types[SZG_PRECISIONS] = {
        CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_16BF};
    const product_key *key = &plan->key;
    cublasOperation_t op_a = p->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t op_b = p->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    TRY_PRODUCT(context,
                cublasLtMatmulDescCreate(&plan->operation, types[self->precision], CUDA_R_32F));
    TRY_PRODUCT(context, set(plan->operation, CUBLASLT_MATMUL_DESC_TRANSA, op_a));
    TRY_PRODUCT(context, set(plan->operation, CUBLASLT_MATMUL_DESC_TRANSB, op_b));
    TRY_PRODUCT(context, set(plan->operation, CUBLASLT_MATMUL_DESC_EPILOGUE,
                             static_cast<cublasLtEpilogue_t>(key->epilogue)));
    if (key->epilogue != CUBLASLT_EPILOGUE_DEFAULT)
        TRY_PRODUCT(context, set(plan->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, p->bias));
    int64_t rows_a = p->transpose_a ? p->k : p->m, columns_a = p->transpose_a ? p->m : p->k;
    int64_t rows_b = p->transpose_b ? p->n : p->k, columns_b = p->transpose_b ? p->k : p->n;
    TRY_PRODUCT(context,
                cublasLtMatrixLayoutCreate(&plan->a, CUDA_R_32F, static_cast<uint64_t>(rows_a),
                                           static_cast<uint64_t>(columns_a), p->lda));
    TRY_PRODUCT(context,
                cublasLtMatrixLayoutCreate(&plan->b, CUDA_R_32F, static_cast<uint64_t>(rows_b),
                                           static_cast<uint64_t>(columns_b), p->ldb));
    TRY_PRODUCT(context,
                cublasLtMatrixLayoutCreate(&plan->c, CUDA_R_32F, static_cast<uint64_t>(p->m),
                                           static_cast<uint64_t>(p->n), p->ldc));
    return SZG_OK;
}

static szg_status prefer(szg_context *context, const product_key *key,
                         cublasLtMatmulPreference_t preference) {
    const uint64_t workspace = WORKSPACE;
    const struct {
        cublasLtMatmulPreferenceAttributes_t attribute;
        uint32_t bytes;
    } alignments[] = {{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key->align_a},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key->align_b},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key->align_c},
                      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key->align_c}};
    TRY_PRODUCT(context, cublasLtMatmulPreferenceSetAttribute(
                             preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                             sizeof workspace));
    for (const auto &alignment : alignments)
        TRY_PRODUCT(context,
                    cublasLtMatmulPreferenceSetAttribute(preference, alignment.attribute,
                                                         &alignment.bytes, sizeof alignment.bytes));
    return SZG_OK;
}

static szg_status choose(szg_context *context, session *self, product_plan *plan,
                         cublasLtMatmulPreference_t preference) {
    SZG_TRY(prefer(context, &plan->key, preference));
    cublasLtMatmulHeuristicResult_t best;
    int count = 0;
    cublasStatus_t error =
        cublasLtMatmulAlgoGetHeuristic(self->product, plan->operation, plan->a, plan->b, plan->c,
                                       plan->c, preference, 1, &best, &count);
    bool none =
        error == CUBLAS_STATUS_NOT_SUPPORTED || (error == CUBLAS_STATUS_SUCCESS && count == 0);
    plan->useless = none && plan->key.epilogue != CUBLASLT_EPILOGUE_DEFAULT;
    if (plan->useless)
        return SZG_OK;
    if (none)
        return fail(context, SZG_EBACKEND,
                    "cuBLASLt: no algorithm for a product %lld x %lld x %lld in %s: use another "
                    "precision or --backend cpu",
                    (long long)plan->key.m, (long long)plan->key.n, (long long)plan->key.k,
                    self->ops.name);
    TRY_PRODUCT(context, error);
    plan->algorithm = best.algo;
    plan->workspace = best.workspaceSize;
    return SZG_OK;
}

static szg_status open_plan(szg_context *context, session *self, const product *p,
                            product_plan *plan) {
    cublasLtMatmulPreference_t preference;
    SZG_TRY(describe(context, self, p, plan));
    TRY_PRODUCT(context, cublasLtMatmulPreferenceCreate(&preference));
    szg_status status = choose(context, self, plan, preference);
    cublasLtMatmulPreferenceDestroy(preference);
    return status;
}

/* ---- Running ---- */

static szg_status multiply(szg_context *context, session *self, const product *p,
                           const product_plan *plan, const float *bias) {
    const float one = 1, beta = p->add ? 1 : 0;
    void *workspace;
    SZG_TRY(scratch_take(context, self, SCRATCH_PRODUCT, static_cast<int64_t>(plan->workspace),
                         &workspace));
    if (bias)
        TRY_PRODUCT(context, set(plan->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias));
    TRY_PRODUCT(context,
                cublasLtMatmul(self->product, plan->operation, &one, p->a, plan->a, p->b, plan->b,
                               &beta, p->c, plan->c, p->c, plan->c, &plan->algorithm, workspace,
                               plan->workspace, self->stream));
    return SZG_OK;
}

/* Whether a fused RELU keeps NaN is said nowhere: each new plan is tried with a bias of them, into
 * the array that the product is about to fill. Waits, once a plan. */
static szg_status try_relu(szg_context *context, session *self, const product *p,
                           product_plan *plan) {
    void *bias;
    float result;
    size_t bytes = static_cast<size_t>(p->m) * sizeof(float);
    SZG_TRY(scratch_take(context, self, SCRATCH_OPERATION, static_cast<int64_t>(bytes), &bias));
    TRY_CUDA(context, cudaMemsetAsync(bias, 0xFF, bytes, self->stream)); /* NaN */
    SZG_TRY(multiply(context, self, p, plan, static_cast<const float *>(bias)));
    SZG_TRY(staging_download(context, self, self->stream, &result, 0, p->c, 1, sizeof result));
    plan->useless = !isnan(result);
    return SZG_OK;
}

static szg_status open_plans(szg_context *context, session *self) {
    if (self->plans)
        return SZG_OK;
    self->plans = static_cast<product_plans *>(calloc(1, sizeof *self->plans));
    if (!self->plans)
        return fail(context, SZG_ENOMEM, "%zu bytes of host memory were refused",
                    sizeof *self->plans);
    int version = static_cast<int>(cublasLtGetVersion());
    snprintf(self->plans->library, sizeof self->plans->library, "cuBLASLt %d.%d.%d",
             version / 10000, version / 100 % 100, version % 100);
    return SZG_OK;
}

/* A free place, or the oldest plan's. */
static szg_status place_of_plan(szg_context *context, session *self, product_plan **out) {
    if (self->recording)
        return fail(context, SZG_EBACKEND,
                    "a product of this shape is planned while a step is recorded: it has to run "
                    "once before");
    SZG_TRY(open_plans(context, self));
    product_plans *plans = self->plans;
    if (plans->count < PLANS) {
        *out = &plans->plan[plans->count++];
    } else {
        *out = &plans->plan[plans->oldest];
        plans->oldest = (plans->oldest + 1) % PLANS;
        close_plan(*out);
    }
    return SZG_OK;
}

static product_plan *find_plan(product_plans *plans, const product_key *key) {
    for (int i = 0; plans && i < plans->count; i++)
        if (memcmp(&plans->plan[i].key, key, sizeof *key) == 0)
            return &plans->plan[i];
    return NULL;
}

static szg_status plan_of(szg_context *context, session *self, const product *p,
                          cublasLtEpilogue_t epilogue, product_plan **out) {
    product_key key = key_of(p, epilogue);
    *out = find_plan(self->plans, &key);
    if (*out)
        return SZG_OK;
    SZG_TRY(place_of_plan(context, self, out));
    (*out)->key = key;
    szg_status status = open_plan(context, self, p, *out);
    if (status == SZG_OK && epilogue == CUBLASLT_EPILOGUE_RELU_BIAS && !(*out)->useless)
        status = try_relu(context, self, p, *out);
    if (status != SZG_OK)
        close_plan(*out); /* no key is all zeros: the place is found by none */
    return status;
}

szg_status product_run(szg_context *context, session *self, const product *p, product_done *done) {
    product_plan *plan;
    *done = {};
    if (p->bias && p->relu) {
        SZG_TRY(plan_of(context, self, p, CUBLASLT_EPILOGUE_RELU_BIAS, &plan));
        done->bias = done->relu = !plan->useless;
    }
    if (p->bias && !done->bias) {
        SZG_TRY(plan_of(context, self, p, CUBLASLT_EPILOGUE_BIAS, &plan));
        done->bias = !plan->useless;
    }
    if (!done->bias)
        SZG_TRY(plan_of(context, self, p, CUBLASLT_EPILOGUE_DEFAULT, &plan));
    done->plan = plan;
    return multiply(context, self, p, plan, done->bias ? p->bias : NULL);
}

/* ---- Facts ---- */

static uint32_t fused_of(const product_key *key) {
    return key->epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ? SZG_EPILOGUE_BIAS | SZG_EPILOGUE_RELU
           : key->epilogue == CUBLASLT_EPILOGUE_BIAS    ? SZG_EPILOGUE_BIAS
                                                        : 0;
}

/* Gaps are zeros: compared as bytes. */
static void describe_fact(const session *self, const product_plan *plan, uint32_t separate,
                          szg_product_fact *out) {
    const product_key *key = &plan->key;
    memset(out, 0, sizeof *out);
    out->device = self->device.name;
    out->library = self->plans->library;
    out->m = key->m, out->n = key->n, out->k = key->k;
    out->lda = key->lda, out->ldb = key->ldb, out->ldc = key->ldc;
    out->transpose_a = key->transpose_a, out->transpose_b = key->transpose_b;
    out->add = key->add;
    out->alignment_a = key->align_a, out->alignment_b = key->align_b;
    out->alignment_c = key->align_c, out->alignment_bias = key->align_bias;
    out->fused = fused_of(key);
    out->separate = separate;
    static_assert(sizeof out->algorithm == sizeof plan->algorithm, "an algorithm has 64 bytes");
    memcpy(out->algorithm, &plan->algorithm, sizeof out->algorithm);
}

/* Room for one more. */
static szg_status grow_facts(szg_context *context, product_plans *plans) {
    if (plans->facts < plans->room)
        return SZG_OK;
    int64_t room = plans->room > 0 ? 2 * plans->room : 64;
    void *more = realloc(plans->fact, static_cast<size_t>(room) * sizeof *plans->fact);
    if (!more)
        return fail(context, SZG_ENOMEM, "%lld bytes of host memory were refused",
                    (long long)room * (long long)sizeof *plans->fact);
    plans->fact = static_cast<szg_product_fact *>(more);
    plans->room = room;
    return SZG_OK;
}

szg_status product_note(szg_context *context, session *self, const product_done *done,
                        uint32_t separate) {
    product_plans *plans = self->plans;
    szg_product_fact fact;
    describe_fact(self, done->plan, separate, &fact);
    for (int64_t i = 0; i < plans->facts; i++)
        if (memcmp(&plans->fact[i], &fact, sizeof fact) == 0)
            return SZG_OK;
    SZG_TRY(grow_facts(context, plans));
    memcpy(&plans->fact[plans->facts++], &fact, sizeof fact);
    return SZG_OK;
}

void product_facts(const session *self, int64_t room, szg_product_fact *out, int64_t *count) {
    *count = self->plans ? self->plans->facts : 0;
    for (int64_t i = 0; i < *count && i < room; i++)
        out[i] = self->plans->fact[i];
}

void product_close(session *self) {
    for (int i = 0; self->plans && i < self->plans->count; i++)
        close_plan(&self->plans->plan[i]);
    if (self->plans)
        free(self->plans->fact);
    free(self->plans);
    self->plans = NULL;
}

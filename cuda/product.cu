/* Products on cuBLASLt in the session's precision.
 *
 * A plan is the descriptor, the layouts and the algorithm for a shape and the alignment of its
 * arrays: the one that the heuristic names first, or where a session times them the fastest of
 * those that it names. Each sums in an order that depends on the shape and the device alone, but
 * not in the same: an algorithm that was timed is kept with the results (product_facts.cu). */
#include "product_plan.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "staging.h"
#include "table.h"

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
    static const cublasComputeType_t types[SZGI_PRECISIONS] = {
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

/* The algorithms that the heuristic names, `most` of them at most; SZG_OK and none for an epilogue
 * that no algorithm has. */
static szg_status find_algorithms(szg_context *context, session *self, product_plan *plan,
                                  cublasLtMatmulPreference_t preference, int most,
                                  cublasLtMatmulHeuristicResult_t *out, int *count) {
    *count = 0;
    SZG_TRY(prefer(context, &plan->key, preference));
    cublasStatus_t error =
        cublasLtMatmulAlgoGetHeuristic(self->product, plan->operation, plan->a, plan->b, plan->c,
                                       plan->c, preference, most, out, count);
    bool none =
        error == CUBLAS_STATUS_NOT_SUPPORTED || (error == CUBLAS_STATUS_SUCCESS && *count == 0);
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
    return SZG_OK;
}

static void take_algorithm(product_plan *plan, const cublasLtMatmulHeuristicResult_t *result) {
    plan->algorithm = result->algo;
    plan->workspace = result->workspaceSize;
}

/* The algorithm that was chosen before. */
static szg_status take_kept(szg_context *context, session *self, product_plan *plan,
                            const szgi_product_fact *fact) {
    cublasLtMatmulHeuristicResult_t result = {};
    cublasLtMatmulAlgo_t algorithm;
    memcpy(&algorithm, fact->algorithm, sizeof algorithm);
    cublasStatus_t error = cublasLtMatmulAlgoCheck(self->product, plan->operation, plan->a, plan->b,
                                                   plan->c, plan->c, &algorithm, &result);
    if (error != CUBLAS_STATUS_SUCCESS || result.workspaceSize > WORKSPACE)
        return fail(
            context, SZG_EDATA,
            "cuBLASLt refuses the algorithm that is kept for a product %lld x %lld x %lld (%s): "
            "remove products.csv from the run's folder, and algorithms are chosen anew",
            (long long)plan->key.m, (long long)plan->key.n, (long long)plan->key.k,
            cublasLtGetStatusString(error));
    plan->algorithm = algorithm;
    plan->workspace = result.workspaceSize;
    plan->candidates = fact->candidates;
    plan->microseconds = fact->microseconds;
    return SZG_OK;
}

/* ---- Running ---- */

/* *refusal: what cuBLASLt said of the launch. */
static szg_status launch_product(szg_context *context, session *self, const product *p,
                                 const product_plan *plan, const float *bias,
                                 cublasStatus_t *refusal) {
    const float one = 1, beta = p->add ? 1 : 0;
    void *workspace;
    SZG_TRY(scratch_take(context, self, SCRATCH_PRODUCT, static_cast<int64_t>(plan->workspace),
                         &workspace));
    if (bias)
        TRY_PRODUCT(context, set(plan->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias));
    *refusal = cublasLtMatmul(self->product, plan->operation, &one, p->a, plan->a, p->b, plan->b,
                              &beta, p->c, plan->c, p->c, plan->c, &plan->algorithm, workspace,
                              plan->workspace, self->stream);
    return SZG_OK;
}

static szg_status multiply(szg_context *context, session *self, const product *p,
                           const product_plan *plan, const float *bias) {
    cublasStatus_t refusal = CUBLAS_STATUS_SUCCESS;
    SZG_TRY(launch_product(context, self, p, plan, bias, &refusal));
    return refusal == CUBLAS_STATUS_SUCCESS ? SZG_OK
                                            : product_failed(context, refusal, "cublasLtMatmul");
}

/* ---- Choosing ---- */

/* Candidates, and runs of each: one to warm up, and those of which the fastest counts. */
enum { CANDIDATES = 8, RUNS = 3 };

typedef struct stopwatch {
    cudaEvent_t begin, end;
} stopwatch;

/* Nothing is timed where a launch is refused. */
static szg_status run_timed(szg_context *context, session *self, const product *p,
                            const product_plan *plan, const stopwatch *watch, double *best,
                            cublasStatus_t *refusal) {
    const float *bias = plan->key.epilogue != CUBLASLT_EPILOGUE_DEFAULT ? p->bias : NULL;
    *best = DBL_MAX;
    for (int run = 0; run <= RUNS; run++) {
        float milliseconds = 0;
        TRY_CUDA(context, cudaEventRecord(watch->begin, self->stream));
        SZG_TRY(launch_product(context, self, p, plan, bias, refusal));
        if (*refusal != CUBLAS_STATUS_SUCCESS)
            return SZG_OK;
        TRY_CUDA(context, cudaEventRecord(watch->end, self->stream));
        TRY_CUDA(context, cudaEventSynchronize(watch->end));
        TRY_CUDA(context, cudaEventElapsedTime(&milliseconds, watch->begin, watch->end));
        if (run > 0 && 1e3 * milliseconds < *best)
            *best = 1e3 * milliseconds;
    }
    return SZG_OK;
}

/* An error of a launch ends with it: the others are tried. One that stays has ended the device's
 * work for this process. */
static szg_status leave_out(szg_context *context, const session *self, const product_key *key,
                            int candidate, cublasStatus_t refusal) {
    char text[256];
    cudaGetLastError();
    cudaError_t stays = cudaStreamSynchronize(self->stream);
    if (stays != cudaSuccess)
        return fail(context, SZG_EBACKEND,
                    "cuBLASLt: candidate %d for a product %lld x %lld x %lld (%s) has broken the "
                    "device's work: %s (%s): set loop.time_products to false",
                    candidate, (long long)key->m, (long long)key->n, (long long)key->k,
                    cublasLtGetStatusString(refusal), cudaGetErrorString(stays),
                    cudaGetErrorName(stays));
    snprintf(text, sizeof text,
             "products: candidate %d for a product %lld x %lld x %lld does not run and is left "
             "out: %s",
             candidate, (long long)key->m, (long long)key->n, (long long)key->k,
             cublasLtGetStatusString(refusal));
    cuda_host->say(context, SZG_WARNING, text);
    return SZG_OK;
}

static szg_status time_all(szg_context *context, session *self, const product *p,
                           product_plan *plan, int count,
                           const cublasLtMatmulHeuristicResult_t *results, const stopwatch *watch) {
    const product_key *key = &plan->key;
    int fastest = -1;
    for (int i = 0; i < count; i++) {
        double microseconds;
        cublasStatus_t refusal = results[i].state;
        if (refusal != CUBLAS_STATUS_SUCCESS)
            continue;
        take_algorithm(plan, &results[i]);
        SZG_TRY(run_timed(context, self, p, plan, watch, &microseconds, &refusal));
        if (refusal != CUBLAS_STATUS_SUCCESS) {
            SZG_TRY(leave_out(context, self, key, i, refusal));
            continue;
        }
        if (plan->candidates++ == 0 || microseconds < plan->microseconds) {
            plan->microseconds = microseconds;
            fastest = i;
        }
    }
    if (fastest < 0)
        return fail(context, SZG_EBACKEND,
                    "cuBLASLt: none of %d algorithms for a product %lld x %lld x %lld in %s runs: "
                    "use another precision or --backend cpu",
                    count, (long long)key->m, (long long)key->n, (long long)key->k, self->ops.name);
    take_algorithm(plan, &results[fastest]);
    return SZG_OK;
}

/* The product writes the array that it is about to fill, or where it adds to what is there, an
 * array of its own. */
static szg_status time_algorithms(szg_context *context, session *self, const product *p,
                                  product_plan *plan, int count,
                                  const cublasLtMatmulHeuristicResult_t *results) {
    product trial = *p;
    stopwatch watch = {};
    void *apart = NULL;
    int64_t bytes = p->ldc * p->n * (int64_t)sizeof(float);
    szg_status status = SZG_OK;
    if (p->add) {
        SZG_TRY(device_alloc(context, self, bytes, &apart));
        cudaMemsetAsync(apart, 0, static_cast<size_t>(bytes), self->stream);
        trial.c = static_cast<float *>(apart);
    }
    cudaError_t error = cudaEventCreate(&watch.begin);
    if (error == cudaSuccess)
        error = cudaEventCreate(&watch.end);
    status = error == cudaSuccess ? time_all(context, self, &trial, plan, count, results, &watch)
                                  : cuda_failed(context, error, "cudaEventCreate");
    for (cudaEvent_t event : {watch.begin, watch.end})
        if (event)
            cudaEventDestroy(event);
    device_free(self, apart);
    return status;
}

static szg_status choose(szg_context *context, session *self, const product *p, product_plan *plan,
                         cublasLtMatmulPreference_t preference) {
    cublasLtMatmulHeuristicResult_t results[CANDIDATES];
    bool timed = self->plans->timed;
    const szgi_product_fact *kept = timed ? fact_of(self->plans, &plan->key) : NULL;
    int count;
    if (kept)
        return take_kept(context, self, plan, kept);
    SZG_TRY(
        find_algorithms(context, self, plan, preference, timed ? CANDIDATES : 1, results, &count));
    if (plan->useless)
        return SZG_OK;
    take_algorithm(plan, &results[0]);
    return timed ? time_algorithms(context, self, p, plan, count, results) : SZG_OK;
}

static szg_status open_plan(szg_context *context, session *self, const product *p,
                            product_plan *plan) {
    cublasLtMatmulPreference_t preference;
    SZG_TRY(describe(context, self, p, plan));
    TRY_PRODUCT(context, cublasLtMatmulPreferenceCreate(&preference));
    szg_status status = choose(context, self, p, plan, preference);
    cublasLtMatmulPreferenceDestroy(preference);
    return status;
}

/* ---- Plans of a session ---- */

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

szg_status plans_open(szg_context *context, session *self) {
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
    SZG_TRY(plans_open(context, self));
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

void plans_forget(product_plans *plans) {
    for (int i = 0; i < plans->count; i++)
        close_plan(&plans->plan[i]);
    plans->count = plans->oldest = 0;
    plans->facts = 0;
    plans->timed = false;
}

void product_close(session *self) {
    if (!self->plans)
        return;
    plans_forget(self->plans);
    free(self->plans->fact);
    free(self->plans);
    self->plans = NULL;
}

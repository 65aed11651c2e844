/* Plans of products, and what is told of them: what product.cu and product_facts.cu share. */
#ifndef SZG_CUDA_PRODUCT_PLAN_H
#define SZG_CUDA_PRODUCT_PLAN_H

#include "product.h"

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
    int64_t candidates;  /* algorithms that were timed; 0: the heuristic's first was taken */
    double microseconds; /* of the fastest */
    bool useless;        /* an epilogue without an algorithm, or a RELU that loses NaN */
} product_plan;

/* Of a run (product_begin). When all are taken the oldest goes. Facts stay. */
struct product_plans {
    product_plan plan[PLANS];
    int count, oldest;
    szgi_product_fact *fact;
    int64_t facts, room;
    char library[32];
    bool timed; /* whether algorithms of new plans are */
};

/* Opens the session's plans unless they are open. */
szg_status plans_open(szg_context *context, session *self);

/* Closes all plans and forgets what was told; the memory stays. */
void plans_forget(product_plans *plans);

/* What is known of a product that was told before, here or in a file; NULL: nothing. */
const szgi_product_fact *fact_of(const product_plans *plans, const product_key *key);

#endif

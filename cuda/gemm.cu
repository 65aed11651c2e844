/* Products in double precision on cuBLASLt. A row-major array read column-major is its transpose,
 * and C^T = op(B)^T op(A)^T: the operands change places, their letters stay. */
#include "spectra_device.h"

typedef struct product_parts {
    cublasLtMatmulDesc_t operation;
    cublasLtMatrixLayout_t first, second, result;
    cublasLtMatmulPreference_t preference;
} product_parts;

static void parts_close(product_parts *parts) {
    if (parts->preference)
        cublasLtMatmulPreferenceDestroy(parts->preference);
    if (parts->first)
        cublasLtMatrixLayoutDestroy(parts->first);
    if (parts->second)
        cublasLtMatrixLayoutDestroy(parts->second);
    if (parts->result)
        cublasLtMatrixLayoutDestroy(parts->result);
    if (parts->operation)
        cublasLtMatmulDescDestroy(parts->operation);
}

static cublasOperation_t operation_of(const product64 *p, char op) {
    bool conjugate = op == 'c' && p->width == 2;
    return op == 'n' ? CUBLAS_OP_N : conjugate ? CUBLAS_OP_C : CUBLAS_OP_T;
}

/* `rows` x `columns` is the row-major array; cuBLASLt sees its transpose. */
static szg_status layout_open(szg_context *context, const product64 *p, int64_t rows,
                              int64_t columns, int64_t ld, int64_t stride,
                              cublasLtMatrixLayout_t *out) {
    TRY_PRODUCT(context, cublasLtMatrixLayoutCreate(out, p->width == 1 ? CUDA_R_64F : CUDA_C_64F,
                                                    static_cast<uint64_t>(columns),
                                                    static_cast<uint64_t>(rows), ld));
    if (p->count == 1)
        return SZG_OK;
    int32_t count = static_cast<int32_t>(p->count);
    TRY_PRODUCT(context, cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                          &count, sizeof count));
    TRY_PRODUCT(context,
                cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                 &stride, sizeof stride));
    return SZG_OK;
}

static szg_status parts_open(szg_context *context, const product64 *p, product_parts *parts) {
    cublasOperation_t first = operation_of(p, p->op_b), second = operation_of(p, p->op_a);
    bool plain_a = p->op_a == 'n', plain_b = p->op_b == 'n';
    TRY_PRODUCT(context, cublasLtMatmulDescCreate(&parts->operation, CUBLAS_COMPUTE_64F,
                                                  p->width == 1 ? CUDA_R_64F : CUDA_C_64F));
    TRY_PRODUCT(context, cublasLtMatmulDescSetAttribute(
                             parts->operation, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first));
    TRY_PRODUCT(context,
                cublasLtMatmulDescSetAttribute(parts->operation, CUBLASLT_MATMUL_DESC_TRANSB,
                                               &second, sizeof second));
    SZG_TRY(layout_open(context, p, plain_b ? p->k : p->n, plain_b ? p->n : p->k, p->ldb,
                        p->stride_b, &parts->first));
    SZG_TRY(layout_open(context, p, plain_a ? p->m : p->k, plain_a ? p->k : p->m, p->lda,
                        p->stride_a, &parts->second));
    return layout_open(context, p, p->m, p->n, p->ldc, p->stride_c, &parts->result);
}

/* The largest power of two, up to 256, at which an array and the others of its batch begin. */
static uint32_t alignment_of(const product64 *p, const void *array, int64_t stride) {
    uint64_t bits = reinterpret_cast<uint64_t>(array);
    if (p->count > 1)
        bits |= static_cast<uint64_t>(stride) * 8 * static_cast<uint64_t>(p->width);
    uint32_t alignment = 8;
    while (alignment < 256 && bits % (2 * alignment) == 0)
        alignment *= 2;
    return alignment;
}

static szg_status align(szg_context *context, product_parts *parts,
                        cublasLtMatmulPreferenceAttributes_t which, uint32_t alignment) {
    TRY_PRODUCT(context, cublasLtMatmulPreferenceSetAttribute(parts->preference, which, &alignment,
                                                              sizeof alignment));
    return SZG_OK;
}

/* No workspace: no sums are split over blocks, and uses at the same time share nothing. */
static szg_status preference_open(szg_context *context, const product64 *p, product_parts *parts) {
    uint64_t workspace = 0;
    TRY_PRODUCT(context, cublasLtMatmulPreferenceCreate(&parts->preference));
    TRY_PRODUCT(context, cublasLtMatmulPreferenceSetAttribute(
                             parts->preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                             &workspace, sizeof workspace));
    SZG_TRY(align(context, parts, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                  alignment_of(p, p->b, p->stride_b)));
    SZG_TRY(align(context, parts, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                  alignment_of(p, p->a, p->stride_a)));
    SZG_TRY(align(context, parts, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                  alignment_of(p, p->c, p->stride_c)));
    return align(context, parts, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
                 alignment_of(p, p->c, p->stride_c));
}

static szg_status multiply(szg_context *context, session *self, cudaStream_t stream,
                           const product64 *p, product_parts *parts) {
    cublasLtMatmulHeuristicResult_t choice;
    int found = 0;
    SZG_TRY(parts_open(context, p, parts));
    SZG_TRY(preference_open(context, p, parts));
    TRY_PRODUCT(context, cublasLtMatmulAlgoGetHeuristic(
                             self->product, parts->operation, parts->first, parts->second,
                             parts->result, parts->result, parts->preference, 1, &choice, &found));
    if (found == 0)
        return fail(context, SZG_EBACKEND,
                    "cuBLASLt has no algorithm for this product: use --backend cpu");
    TRY_PRODUCT(context,
                cublasLtMatmul(self->product, parts->operation, &p->alpha, p->b, parts->first, p->a,
                               parts->second, &p->beta, p->c, parts->result, p->c, parts->result,
                               &choice.algo, NULL, 0, stream));
    return SZG_OK;
}

/* The product of matrices `first` and those after it, as many as one call takes: some of cuBLASLt's
 * algorithms have a batch in the grid's third dimension, which ends at 65,535. */
static product64 from_first(const product64 *product, int64_t first) {
    const int64_t BATCH_MOST = 32768;
    const int64_t size = product->width * (int64_t)sizeof(double);
    product64 p = *product;
    p.count = p.count - first < BATCH_MOST ? p.count - first : BATCH_MOST;
    p.a = static_cast<const char *>(p.a) + first * p.stride_a * size;
    p.b = static_cast<const char *>(p.b) + first * p.stride_b * size;
    p.c = static_cast<char *>(p.c) + first * p.stride_c * size;
    return p;
}

szg_status product64_run(szg_context *context, session *self, cudaStream_t stream,
                         const product64 *product) {
    szg_status status = SZG_OK;
    for (int64_t first = 0; status == SZG_OK && first < product->count;) {
        product64 p = from_first(product, first);
        product_parts parts = {};
        status = multiply(context, self, stream, &p, &parts);
        parts_close(&parts);
        first += p.count;
    }
    return status;
}

/* ---- The entries: arrays of the host ---- */

static int64_t rows_of(char op, int64_t rows, int64_t columns) {
    return op == 'n' ? rows : columns;
}

static szg_status gemm_on(szg_context *context, session *self, call_memory *memory,
                          const product64 *host) {
    product64 p = *host;
    int64_t size = p.width * (int64_t)sizeof(double), total = 0;
    int64_t rows_a = rows_of(p.op_a, p.m, p.k), rows_b = rows_of(p.op_b, p.k, p.n);
    int64_t row_a = p.m * p.k / rows_a * size, row_b = p.k * p.n / rows_b * size;
    int64_t row_c = p.n * size;
    int64_t at_a = part(&total, rows_a * row_a), at_b = part(&total, rows_b * row_b);
    int64_t at_c = part(&total, p.m * row_c);
    void *block;
    SZG_TRY(memory_take(context, self, memory, total, "multiply in parts, or use --backend cpu",
                        &block));
    char *base = static_cast<char *>(block);
    p.a = base + at_a, p.lda = row_a / size;
    p.b = base + at_b, p.ldb = row_b / size;
    p.c = base + at_c, p.ldc = p.n;
    SZG_TRY(staging_upload(context, self, self->stream, base + at_a, host->a, host->lda * size,
                           rows_a, row_a));
    SZG_TRY(staging_upload(context, self, self->stream, base + at_b, host->b, host->ldb * size,
                           rows_b, row_b));
    if (p.beta.re != 0 || p.beta.im != 0)
        SZG_TRY(staging_upload(context, self, self->stream, base + at_c, host->c, host->ldc * size,
                               p.m, row_c));
    SZG_TRY(product64_run(context, self, self->stream, &p));
    return staging_download(context, self, self->stream, host->c, host->ldc * size, base + at_c,
                            p.m, row_c);
}

static szg_status gemm(szg_context *context, const product64 *product) {
    call_memory memory = {};
    szg_status status = gemm_on(context, session_of(context), &memory, product);
    memory_release(&memory);
    return named(context, status, "product %lld x %lld x %lld on the GPU", (long long)product->m,
                 (long long)product->n, (long long)product->k);
}

static szg_status gemm_real(szg_context *context, char op_a, char op_b, int64_t m, int64_t n,
                            int64_t k, double alpha, const double *a, int64_t lda, const double *b,
                            int64_t ldb, double beta, double *c, int64_t ldc) {
    product64 product = {1,   op_a, op_b, m, n,   k, {alpha, 0}, {beta, 0}, a,
                         lda, b,    ldb,  c, ldc, 1, 0,          0,         0};
    return gemm(context, &product);
}

void gemm_fill(szgi_linalg_ops *ops) {
    ops->gemm = gemm_real;
}

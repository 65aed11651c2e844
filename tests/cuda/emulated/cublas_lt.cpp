/* cuBLASLt's objects and calls. */
#include "cublas_lt.h"

#include <stdlib.h>
#include <string.h>

using namespace emulated;

struct cublasLtContext {};

namespace {

constexpr size_t wanted_workspace = 65536;
constexpr int algorithms = 4;
constexpr uint64_t seal = 0xf1e2d3c4b5a69788u; /* no algorithm is without it */

template <class T> cublasStatus_t make(T **out, const T &value, const char *function) {
    Guard guard;
    if (device_missing() || injected(function))
        return CUBLAS_STATUS_ALLOC_FAILED;
    *out = new T(value);
    return CUBLAS_STATUS_SUCCESS;
}

template <class T> cublasStatus_t destroy(T *object) {
    delete object;
    return object ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

template <class T> cublasStatus_t set(T *field, const void *value, size_t size) {
    if (!value || size != sizeof *field)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(field, value, size);
    return CUBLAS_STATUS_SUCCESS;
}

} // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    Guard guard;
    if (device_missing() || injected(__func__))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = new cublasLtContext;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
    return destroy(handle);
}

size_t cublasLtGetVersion() {
    return 130000;
}

const char *cublasLtGetStatusName(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS:
        return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
        return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
        return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
        return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_EXECUTION_FAILED:
        return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED:
        return "CUBLAS_STATUS_NOT_SUPPORTED";
    default:
        return "CUBLAS_STATUS of another name";
    }
}

const char *cublasLtGetStatusString(cublasStatus_t status) {
    return cublasLtGetStatusName(status);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *description,
                                        cublasComputeType_t compute, cudaDataType_t scale) {
    cublasLtMatmulDescOpaque_t value = {};
    value.compute = compute;
    value.scale = scale;
    value.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    return make(description, value, __func__);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
    return destroy(description);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t size) {
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
        return set(&description->compute, value, size);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
        return set(&description->scale, value, size);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
        return set(&description->pointer_mode, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSA:
        return set(&description->transpose_a, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB:
        return set(&description->transpose_b, value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
        return set(&description->epilogue, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
        return set(&description->bias, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
        return set(&description->bias_stride, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
        return size == 4 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t leading) {
    Layout value = {static_cast<uint32_t>(type), CUBLASLT_ORDER_COL, rows, columns, leading, 1, 0};
    return make(layout, value, __func__);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    return destroy(layout);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void *value, size_t size) {
    switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
        return set(&layout->type, value, size);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
        return set(&layout->order, value, size);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
        return set(&layout->rows, value, size);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
        return set(&layout->columns, value, size);
    case CUBLASLT_MATRIX_LAYOUT_LD:
        return set(&layout->leading, value, size);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
        return set(&layout->batch, value, size);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
        return set(&layout->stride, value, size);
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    return make(preference, cublasLtMatmulPreferenceOpaque_t{}, __func__);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    return destroy(preference);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, size_t size) {
    if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
        return set(&preference->most_workspace, value, size);
    if (attribute >= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
        attribute <= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES)
        return set(&preference->alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES],
                   value, size);
    return size == 4 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/* Of products in single precision there are some that differ in the order of their sums, of others
 * one. They want a workspace, and make do with less. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int *found) {
    Guard guard;
    *found = 0;
    if (injected(__func__))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (!handle || !preference || requested < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    /* The bias may come later. */
    cublasLtMatmulDescOpaque_t what = *description;
    what.bias = what.bias ? what.bias : &what;
    cublasStatus_t status = product_check(what, *a, *b, *c, *d);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if ((what.epilogue & CUBLASLT_EPILOGUE_BIAS) && preference->alignment[3] < 16)
        return CUBLAS_STATUS_NOT_SUPPORTED; /* as of some versions on an H100 */
    size_t most = preference->most_workspace;
    *found = what.scale != CUDA_R_32F ? 1 : requested < algorithms ? requested : algorithms;
    for (int i = 0; i < *found; i++) {
        results[i] = {};
        results[i].workspaceSize = most < wanted_workspace ? most : wanted_workspace;
        results[i].algo.data[0] = results[i].workspaceSize;
        for (int k = 0; k < 4; k++)
            results[i].algo.data[1 + k] = preference->alignment[k];
        results[i].algo.data[5] = static_cast<uint64_t>(i);
        results[i].algo.data[6] = seal;
        results[i].wavesCount = 1;
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t *algo,
                                       cublasLtMatmulHeuristicResult_t *result) {
    Guard guard;
    if (injected(__func__))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    cublasLtMatmulDescOpaque_t what = *description;
    what.bias = what.bias ? what.bias : &what;
    if (!handle || algo->data[5] >= algorithms || algo->data[6] != seal || algo->data[7])
        return CUBLAS_STATUS_INVALID_VALUE;
    result->workspaceSize = algo->data[0];
    return product_check(what, *a, *b, *c, *d);
}

/* What the other algorithms take longer than SZG_EMULATED_FASTEST=NUMBER, by the device's clock. */
static double delay_of(uint64_t algorithm) {
    const char *text = getenv("SZG_EMULATED_FASTEST");
    return text && strtoull(text, nullptr, 0) != algorithm ? 1000 : 0;
}

/* No algorithm takes more than 16 bytes at a time, nor knows the alignment of a bias but D's. */
static bool aligned(const void *array, uint64_t promised) {
    return reinterpret_cast<uintptr_t>(array) % (promised < 16 ? promised : 16) == 0;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void *alpha, const void *a, cublasLtMatrixLayout_t a_layout,
                              const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
                              const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *algo,
                              void *workspace, size_t workspace_size, cudaStream_t stream) {
    Guard guard;
    if (injected(__func__) || device_broken() != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    if (!handle || !alpha || !beta || (algo && algo->data[6] != seal) ||
        (algo && algo->data[0] > workspace_size) ||
        reinterpret_cast<uintptr_t>(workspace) % 16 != 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (algo &&
        !(aligned(a, algo->data[1]) && aligned(b, algo->data[2]) && aligned(c, algo->data[3]) &&
          aligned(d, algo->data[4]) && aligned(description->bias, algo->data[4])))
        return CUBLAS_STATUS_INVALID_VALUE;
    cublasStatus_t status = product_check(*description, *a_layout, *b_layout, *c_layout, *d_layout);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    bool is_complex = description->scale == CUDA_C_64F;
    bool wide = is_complex || description->scale == CUDA_R_64F;
    bool host = description->pointer_mode == CUBLASLT_POINTER_MODE_HOST;
    Product product = {*description,
                       *a_layout,
                       *b_layout,
                       *c_layout,
                       *d_layout,
                       a,
                       b,
                       c,
                       d,
                       workspace,
                       workspace_size,
                       0,
                       0,
                       alpha,
                       beta,
                       0,
                       0,
                       algo ? static_cast<int>(algo->data[5]) + 1 : 1};
    double delay = delay_of(algo ? algo->data[5] : 0);
    if (host) {
        product.alpha =
            wide ? *static_cast<const double *>(alpha) : *static_cast<const float *>(alpha);
        product.beta =
            wide ? *static_cast<const double *>(beta) : *static_cast<const float *>(beta);
    }
    if (host && is_complex) {
        product.alpha_imaginary = static_cast<const double *>(alpha)[1];
        product.beta_imaginary = static_cast<const double *>(beta)[1];
    }
    cudaError_t error = stream_push(stream, [product, delay] {
        clock_advance(delay);
        return product_run(product);
    });
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

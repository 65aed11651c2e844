/* The emulated vendor libraries against sums by their definitions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cublasLt.h>
#include <cufft.h>
#include <cusolverDn.h>

#include "kernels.h"

/* Small integers, exact in every precision. */
template <class T> static T *filled(size_t count, uint32_t purpose) {
    T *host = static_cast<T *>(malloc(count * sizeof(T)));
    szgi_stream stream = {};
    stream.seed = test_seed();
    stream.purpose = purpose;
    for (uint64_t i = 0; i < count; i++)
        host[i] = static_cast<T>(szgi_random_below(&stream, i, 9)) - 4;
    return host;
}

template <class T> static T *uploaded(const T *host, size_t count) {
    T *device = device_array<T>(count);
    ck_cuda(cudaSuccess, cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

#define ck_same(expected, call) ck_assert_int_eq(static_cast<int>(call), static_cast<int>(expected))

enum { M = 5, N = 4, K = 3, BATCH = 2, SLACK = 2 };

/* An operand with its place in memory: `rows` by `columns` as the product sees it. */
struct Operand {
    uint64_t rows, columns;
    bool transposed;
    cublasLtOrder_t order;
    uint64_t stored_rows() const {
        return transposed ? columns : rows;
    }
    uint64_t stored_columns() const {
        return transposed ? rows : columns;
    }
    uint64_t leading() const {
        return SLACK + (order == CUBLASLT_ORDER_COL ? stored_rows() : stored_columns());
    }
    uint64_t stride() const {
        return leading() * (order == CUBLASLT_ORDER_COL ? stored_columns() : stored_rows());
    }
    uint64_t at(uint64_t row, uint64_t column) const {
        uint64_t r = transposed ? column : row, c = transposed ? row : column;
        return order == CUBLASLT_ORDER_COL ? r + c * leading() : r * leading() + c;
    }
};

static cublasLtMatrixLayout_t layout_of(const Operand &operand) {
    cublasLtMatrixLayout_t layout;
    int32_t batch = BATCH, order = operand.order;
    int64_t stride = static_cast<int64_t>(operand.stride());
    ck_same(CUBLAS_STATUS_SUCCESS,
            cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, operand.stored_rows(),
                                       operand.stored_columns(),
                                       static_cast<int64_t>(operand.leading())));
    ck_same(CUBLAS_STATUS_SUCCESS, cublasLtMatrixLayoutSetAttribute(
                                       layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    ck_same(CUBLAS_STATUS_SUCCESS,
            cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch,
                                             sizeof batch));
    ck_same(CUBLAS_STATUS_SUCCESS,
            cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                             &stride, sizeof stride));
    return layout;
}

template <class T>
static void set_what(cublasLtMatmulDesc_t what, cublasLtMatmulDescAttributes_t attribute, T value) {
    ck_same(CUBLAS_STATUS_SUCCESS,
            cublasLtMatmulDescSetAttribute(what, attribute, &value, sizeof value));
}

static void multiply(const Operand &a, const float *da, const Operand &b, const float *db,
                     const Operand &d, float *dd, cublasLtEpilogue_t epilogue, float *bias) {
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t what;
    float alpha = 2, beta = 3;
    ck_same(CUBLAS_STATUS_SUCCESS, cublasLtCreate(&handle));
    ck_same(CUBLAS_STATUS_SUCCESS,
            cublasLtMatmulDescCreate(&what, CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F));
    set_what<int32_t>(what, CUBLASLT_MATMUL_DESC_TRANSA, a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set_what<int32_t>(what, CUBLASLT_MATMUL_DESC_TRANSB, b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set_what<uint32_t>(what, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    set_what<void *>(what, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    set_what<int64_t>(what, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, M + N);
    cublasLtMatrixLayout_t la = layout_of(a), lb = layout_of(b), ld = layout_of(d);
    ck_same(CUBLAS_STATUS_SUCCESS, cublasLtMatmul(handle, what, &alpha, da, la, db, lb, &beta, dd,
                                                  ld, dd, ld, nullptr, nullptr, 0, nullptr));
    cublasLtMatrixLayoutDestroy(la);
    cublasLtMatrixLayoutDestroy(lb);
    cublasLtMatrixLayoutDestroy(ld);
    cublasLtMatmulDescDestroy(what);
    cublasLtDestroy(handle);
}

/* One entry of 2 op(A) op(B) + 3 C and its epilogue. */
static float entry(const Operand &a, const float *ha, const Operand &b, const float *hb, float c,
                   uint64_t row, uint64_t column, cublasLtEpilogue_t epilogue, const float *bias) {
    float sum = 3 * c;
    for (uint64_t k = 0; k < K; k++)
        sum += 2 * ha[a.at(row, k)] * hb[b.at(k, column)];
    if (epilogue & CUBLASLT_EPILOGUE_BIAS)
        sum += bias[row];
    return epilogue & CUBLASLT_EPILOGUE_RELU && sum < 0 ? 0 : sum;
}

static void check_product(const Operand &a, const Operand &b, const Operand &d,
                          cublasLtEpilogue_t epilogue) {
    enum { VECTOR = BATCH * (M + N) };
    size_t na = BATCH * a.stride(), nb = BATCH * b.stride(), nd = BATCH * d.stride();
    float *ha = filled<float>(na, 1), *hb = filled<float>(nb, 2), *hc = filled<float>(nd, 3);
    float *hbias = filled<float>(VECTOR, 4), *da = uploaded(ha, na), *db = uploaded(hb, nb);
    float *dd = uploaded(hc, nd), *dbias = uploaded(hbias, VECTOR);
    float *got = filled<float>(nd, 5), bias[VECTOR];
    multiply(a, da, b, db, d, dd, epilogue, dbias);
    read_array(got, dd, nd);
    read_array(bias, dbias, VECTOR);
    for (uint64_t item = 0; item < BATCH; item++) {
        const float *ia = ha + item * a.stride(), *ib = hb + item * b.stride();
        const float *ibias = bias + item * (M + N);
        for (uint64_t row = 0; row < M; row++)
            for (uint64_t column = 0; column < N; column++) {
                uint64_t at = item * d.stride() + d.at(row, column);
                ck_close(got[at],
                         entry(a, ia, b, ib, hc[at], row, column, epilogue, hbias + item * (M + N)),
                         0);
            }
        for (uint64_t i = 0; i < (epilogue == CUBLASLT_EPILOGUE_BGRADA ? M : 0); i++)
            ck_close(ibias[i], ia[a.at(i, 0)] + ia[a.at(i, 1)] + ia[a.at(i, 2)], 0);
        for (uint64_t i = 0; i < (epilogue == CUBLASLT_EPILOGUE_BGRADB ? N : 0); i++)
            ck_close(ibias[i], ib[b.at(0, i)] + ib[b.at(1, i)] + ib[b.at(2, i)], 0);
    }
    for (float *device : {da, db, dd, dbias})
        ck_cuda(cudaSuccess, cudaFree(device));
    for (float *host : {ha, hb, hc, hbias, got})
        free(host);
}

/* Every combination of transposition, order and epilogue. */
START_TEST(products_follow_their_layouts) {
    const cublasLtOrder_t orders[] = {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW};
    const cublasLtEpilogue_t epilogues[] = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU,
                                            CUBLASLT_EPILOGUE_BIAS,    CUBLASLT_EPILOGUE_RELU_BIAS,
                                            CUBLASLT_EPILOGUE_BGRADA,  CUBLASLT_EPILOGUE_BGRADB};
    for (int choice = 0; choice < 32; choice++)
        for (cublasLtEpilogue_t epilogue : epilogues) {
            Operand a = {M, K, (choice & 1) != 0, orders[choice >> 1 & 1]};
            Operand b = {K, N, (choice & 4) != 0, orders[choice >> 3 & 1]};
            Operand d = {M, N, false, orders[choice >> 4 & 1]};
            check_product(a, b, d, epilogue);
        }
}
END_TEST

/* diag(1, 2, 3) turned by a rotation, given by one triangle; the other holds rubbish. */
START_TEST(symmetric_values_from_one_triangle) {
    const double turned[9] = {1.5, 0.5, 0, 99, 1.5, 0, 99, 99, 3}; /* by columns, lower */
    cusolverDnHandle_t handle;
    size_t device_bytes, host_bytes;
    double *a = uploaded(turned, 9), *w = device_array<double>(3), values[3], after[9];
    int *info = device_array<int>(1), status;
    ck_same(CUSOLVER_STATUS_SUCCESS, cusolverDnCreate(&handle));
    ck_same(CUSOLVER_STATUS_SUCCESS,
            cusolverDnXsyevd_bufferSize(handle, nullptr, CUSOLVER_EIG_MODE_NOVECTOR,
                                        CUBLAS_FILL_MODE_LOWER, 3, CUDA_R_64F, a, 3, CUDA_R_64F, w,
                                        CUDA_R_64F, &device_bytes, &host_bytes));
    char *work = device_array<char>(device_bytes), *host = static_cast<char *>(malloc(host_bytes));
    for (size_t lacking : {size_t{1}, size_t{0}})
        ck_same(lacking ? CUSOLVER_STATUS_INVALID_WORKSPACE : CUSOLVER_STATUS_SUCCESS,
                cusolverDnXsyevd(handle, nullptr, CUSOLVER_EIG_MODE_NOVECTOR,
                                 CUBLAS_FILL_MODE_LOWER, 3, CUDA_R_64F, a, 3, CUDA_R_64F, w,
                                 CUDA_R_64F, work, device_bytes - lacking, host, host_bytes, info));
    read_array(values, w, 3);
    read_array(after, a, 9);
    read_array(&status, info, 1);
    ck_assert_int_eq(status, 0);
    for (int i = 0; i < 3; i++)
        ck_close(values[i], i + 1, 16 * 0x1p-53 * 3);
    ck_assert(isnan(after[0])); /* destroyed */
    free(host);
    for (void *device : {static_cast<void *>(a), static_cast<void *>(w), static_cast<void *>(info),
                         static_cast<void *>(work)})
        ck_cuda(cudaSuccess, cudaFree(device));
    cusolverDnDestroy(handle);
}
END_TEST

/* Two rows of length 5, a stride of 2 in, against the sum itself. */
START_TEST(transforms_are_sums) {
    enum { LENGTH = 5, ROWS = 2, STRIDE = 2, DISTANCE = 11 };
    double *host = filled<double>(2 * ROWS * DISTANCE, 7);
    cuDoubleComplex *in = reinterpret_cast<cuDoubleComplex *>(uploaded(host, 2 * ROWS * DISTANCE));
    cuDoubleComplex *out = device_array<cuDoubleComplex>(ROWS * LENGTH), got[ROWS * LENGTH];
    cufftHandle plan;
    int n = LENGTH;
    ck_same(CUFFT_SUCCESS,
            cufftPlanMany(&plan, 1, &n, &n, STRIDE, DISTANCE, &n, 1, LENGTH, CUFFT_Z2Z, ROWS));
    ck_same(CUFFT_SUCCESS, cufftExecZ2Z(plan, in, out, CUFFT_FORWARD));
    read_array(got, out, ROWS * LENGTH);
    for (int row = 0; row < ROWS; row++)
        for (int k = 0; k < LENGTH; k++) {
            double re = 0, im = 0;
            for (int i = 0; i < LENGTH; i++) {
                const double *z = host + 2 * (row * DISTANCE + i * STRIDE);
                double angle = -2 * M_PI * (i * k % LENGTH) / double(LENGTH);
                re += z[0] * cos(angle) - z[1] * sin(angle);
                im += z[0] * sin(angle) + z[1] * cos(angle);
            }
            /* Ten terms of at most 8, each off by a few roundings. */
            ck_close(got[row * LENGTH + k].x, re, 10 * 8 * 8 * 0x1p-53);
            ck_close(got[row * LENGTH + k].y, im, 10 * 8 * 8 * 0x1p-53);
        }
    ck_same(CUFFT_SUCCESS, cufftDestroy(plan));
    ck_same(CUFFT_INVALID_PLAN, cufftDestroy(plan));
    ck_cuda(cudaSuccess, cudaFree(in));
    ck_cuda(cudaSuccess, cudaFree(out));
    free(host);
}
END_TEST

TEST_FILE("libraries") {
    test_add(suite, "products follow their layouts", products_follow_their_layouts);
    test_add(suite, "symmetric values from one triangle", symmetric_values_from_one_triangle);
    test_add(suite, "transforms are sums", transforms_are_sums);
}

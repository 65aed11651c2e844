/* cuBLASLt's product on OpenBLAS: D = epilogue(alpha op(A) op(B) + beta C), strided batches. */
#include <cblas.h>
#include <string.h>

#include <vector>

#include "cublas_lt.h"

namespace emulated {
namespace {

bool epilogue_known(uint32_t epilogue) {
    switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_BGRADA:
    case CUBLASLT_EPILOGUE_BGRADB:
        return true;
    default:
        return false;
    }
}

uint64_t rows_of(const Layout &layout, bool transposed) {
    return transposed ? layout.columns : layout.rows;
}

uint64_t columns_of(const Layout &layout, bool transposed) {
    return transposed ? layout.rows : layout.columns;
}

bool layout_valid(const Layout &layout, uint32_t type) {
    uint64_t least = layout.order == CUBLASLT_ORDER_COL ? layout.rows : layout.columns;
    return layout.type == type && layout.batch > 0 && layout.rows > 0 && layout.columns > 0 &&
           layout.leading >= static_cast<int64_t>(least) &&
           (layout.order == CUBLASLT_ORDER_COL || layout.order == CUBLASLT_ORDER_ROW);
}

} // namespace

cublasStatus_t product_check(const cublasLtMatmulDescOpaque_t &what, const Layout &a,
                             const Layout &b, const Layout &c, const Layout &d) {
    bool wide = what.compute == CUBLAS_COMPUTE_64F || what.compute == CUBLAS_COMPUTE_64F_PEDANTIC;
    bool is_complex = wide && what.scale == CUDA_C_64F;
    uint32_t type = is_complex ? CUDA_C_64F : wide ? CUDA_R_64F : CUDA_R_32F;
    bool ta = what.transpose_a != CUBLAS_OP_N, tb = what.transpose_b != CUBLAS_OP_N;
    if (!layout_valid(a, type) || !layout_valid(b, type) || !layout_valid(c, type) ||
        !layout_valid(d, type) || static_cast<uint32_t>(what.scale) != type)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (rows_of(a, ta) != d.rows || columns_of(b, tb) != d.columns ||
        columns_of(a, ta) != rows_of(b, tb) || c.rows != d.rows || c.columns != d.columns ||
        a.batch != d.batch || b.batch != d.batch || c.batch != d.batch)
        return CUBLAS_STATUS_INVALID_VALUE;
    bool biased =
        what.epilogue != CUBLASLT_EPILOGUE_DEFAULT && what.epilogue != CUBLASLT_EPILOGUE_RELU;
    if (!epilogue_known(what.epilogue) || c.order != d.order || (biased && wide))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    bool by_rows = a.order + b.order + c.order != 3 * CUBLASLT_ORDER_COL;
    if (is_complex && (by_rows || what.pointer_mode != CUBLASLT_POINTER_MODE_HOST))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return biased && !what.bias ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
}

namespace {

size_t extent(const Layout &layout, size_t element) {
    uint64_t lines = layout.order == CUBLASLT_ORDER_COL ? layout.columns : layout.rows;
    uint64_t line = layout.order == CUBLASLT_ORDER_COL ? layout.rows : layout.columns;
    uint64_t one = (lines - 1) * static_cast<uint64_t>(layout.leading) + line;
    return (static_cast<uint64_t>(layout.batch - 1) * static_cast<uint64_t>(layout.stride) + one) *
           element;
}

template <class T> size_t place(const Layout &layout, uint64_t row, uint64_t column) {
    uint64_t leading = static_cast<uint64_t>(layout.leading);
    return layout.order == CUBLASLT_ORDER_COL ? row + column * leading : row * leading + column;
}

/* Keeps `bits` of the 23 of the mantissa: tf32 rounds ties away from zero, bf16 to even. */
float rounded(float x, int32_t compute) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000u) == 0x7f800000u)
        return x;
    if (compute == CUBLAS_COMPUTE_32F_FAST_TF32)
        bits = (bits + 0x1000u) & ~0x1fffu;
    else if (compute == CUBLAS_COMPUTE_32F_FAST_16BF)
        bits = (bits + 0x7fffu + (bits >> 16 & 1)) & ~0xffffu;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double rounded(double x, int32_t) {
    return x;
}

/* The operand as the multiplier takes it, in the place that it has. */
template <class T> std::vector<T> operand(const T *from, const Layout &layout, int32_t compute) {
    Layout one = layout;
    one.batch = 1;
    std::vector<T> to(extent(one, 1));
    for (size_t i = 0; i < to.size(); i++)
        to[i] = rounded(from[i], compute);
    return to;
}

CBLAS_TRANSPOSE flipped(bool flip) {
    return flip ? CblasTrans : CblasNoTrans;
}

void gemm(bool ta, bool tb, blasint m, blasint n, blasint k, float alpha, const float *a,
          blasint lda, const float *b, blasint ldb, float beta, float *d, blasint ldd) {
    cblas_sgemm(CblasColMajor, flipped(ta), flipped(tb), m, n, k, alpha, a, lda, b, ldb, beta, d,
                ldd);
}

void gemm(bool ta, bool tb, blasint m, blasint n, blasint k, double alpha, const double *a,
          blasint lda, const double *b, blasint ldb, double beta, double *d, blasint ldd) {
    cblas_dgemm(CblasColMajor, flipped(ta), flipped(tb), m, n, k, alpha, a, lda, b, ldb, beta, d,
                ldd);
}

template <class T>
void sliced(int slices, bool ta, bool tb, blasint m, blasint n, blasint k, T alpha, const T *a,
            blasint lda, const T *b, blasint ldb, T beta, T *d, blasint ldd) {
    for (blasint slice = 0; slice < slices; slice++) {
        blasint first = k * slice / slices, last = k * (slice + 1) / slices;
        gemm(ta, tb, m, n, last - first, alpha, a + first * (ta ? 1 : lda), lda,
             b + first * (tb ? ldb : 1), ldb, slice == 0 ? beta : T(1), d, ldd);
    }
}

/* A matrix by rows is its transpose by columns. */
template <class T>
void multiply(const Product &product, T alpha, const T *a, const T *b, T beta, T *d) {
    const Layout &la = product.a_layout, &lb = product.b_layout, &ld = product.d_layout;
    bool ta = product.what.transpose_a != CUBLAS_OP_N, tb = product.what.transpose_b != CUBLAS_OP_N;
    blasint m = static_cast<blasint>(ld.rows), n = static_cast<blasint>(ld.columns);
    blasint k = static_cast<blasint>(columns_of(la, ta));
    blasint lda = static_cast<blasint>(la.leading), ldb = static_cast<blasint>(lb.leading);
    blasint ldd = static_cast<blasint>(ld.leading);
    ta ^= la.order == CUBLASLT_ORDER_ROW;
    tb ^= lb.order == CUBLASLT_ORDER_ROW;
    if (ld.order == CUBLASLT_ORDER_COL)
        sliced(product.slices, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, d, ldd);
    else
        sliced(product.slices, !tb, !ta, n, m, k, alpha, b, ldb, a, lda, beta, d, ldd);
}

/* Sums over the inner dimension: of op(A) a value a row of D, of op(B) one a column. */
template <class T>
void inner_sums(const Layout &layout, bool transposed, bool of_rows, const T *matrix, T *sums) {
    uint64_t rows = rows_of(layout, transposed), columns = columns_of(layout, transposed);
    for (uint64_t i = 0; i < (of_rows ? rows : columns); i++) {
        T sum = 0;
        for (uint64_t k = 0; k < (of_rows ? columns : rows); k++) {
            uint64_t row = of_rows ? i : k, column = of_rows ? k : i;
            sum += matrix[place<T>(layout, transposed ? column : row, transposed ? row : column)];
        }
        sums[i] = sum;
    }
}

template <class T> void finish(const Product &product, const T *a, const T *b, T *d, T *bias) {
    const Layout &layout = product.d_layout;
    uint32_t epilogue = product.what.epilogue;
    if (epilogue == CUBLASLT_EPILOGUE_BGRADA)
        inner_sums(product.a_layout, product.what.transpose_a != CUBLAS_OP_N, true, a, bias);
    if (epilogue == CUBLASLT_EPILOGUE_BGRADB)
        inner_sums(product.b_layout, product.what.transpose_b != CUBLAS_OP_N, false, b, bias);
    if (epilogue != CUBLASLT_EPILOGUE_RELU && epilogue != CUBLASLT_EPILOGUE_BIAS &&
        epilogue != CUBLASLT_EPILOGUE_RELU_BIAS)
        return;
    for (uint64_t row = 0; row < layout.rows; row++)
        for (uint64_t column = 0; column < layout.columns; column++) {
            T *value = &d[place<T>(layout, row, column)];
            if (epilogue & CUBLASLT_EPILOGUE_BIAS)
                *value += bias[row];
            if (epilogue & CUBLASLT_EPILOGUE_RELU && *value < 0)
                *value = 0;
        }
}

template <class T> bool ranges_good(const Product &product, T beta) {
    uint32_t epilogue = product.what.epilogue;
    size_t batch = static_cast<size_t>(product.d_layout.batch), length = 0;
    if (epilogue & (CUBLASLT_EPILOGUE_BIAS | CUBLASLT_EPILOGUE_BGRADA))
        length = product.d_layout.rows;
    if (epilogue & CUBLASLT_EPILOGUE_BGRADB)
        length = product.d_layout.columns;
    if (length > 0)
        length += (batch - 1) * static_cast<size_t>(product.what.bias_stride);
    return range_good("A", product.a, extent(product.a_layout, sizeof(T))) &&
           range_good("B", product.b, extent(product.b_layout, sizeof(T))) &&
           (beta == 0 || range_good("C", product.c, extent(product.c_layout, sizeof(T)))) &&
           range_good("D", product.d, extent(product.d_layout, sizeof(T))) &&
           range_good("the bias", product.what.bias, length * sizeof(T)) &&
           range_good("the workspace", product.workspace, product.workspace_size);
}

template <class T> void copy_lines(const Layout &from, const T *c, const Layout &to, T *d) {
    for (uint64_t row = 0; row < to.rows; row++)
        for (uint64_t column = 0; column < to.columns; column++)
            d[place<T>(to, row, column)] = c[place<T>(from, row, column)];
}

template <class T> cudaError_t run(const Product &product) {
    T alpha = static_cast<T>(product.alpha), beta = static_cast<T>(product.beta);
    if (product.what.pointer_mode == CUBLASLT_POINTER_MODE_DEVICE) {
        memcpy(&alpha, product.alpha_at, sizeof alpha);
        memcpy(&beta, product.beta_at, sizeof beta);
    }
    if (!ranges_good(product, beta))
        return cudaErrorIllegalAddress;
    if (product.workspace)
        memset(product.workspace, 0xff, product.workspace_size);
    for (int64_t i = 0; i < product.d_layout.batch; i++) {
        std::vector<T> a = operand(static_cast<const T *>(product.a) + i * product.a_layout.stride,
                                   product.a_layout, product.what.compute);
        std::vector<T> b = operand(static_cast<const T *>(product.b) + i * product.b_layout.stride,
                                   product.b_layout, product.what.compute);
        const T *c = static_cast<const T *>(product.c) + i * product.c_layout.stride;
        T *d = static_cast<T *>(product.d) + i * product.d_layout.stride;
        if (beta != 0 && c != d)
            copy_lines(product.c_layout, c, product.d_layout, d);
        multiply(product, alpha, a.data(), b.data(), beta, d);
        finish(product, a.data(), b.data(), d,
               static_cast<T *>(product.what.bias) + i * product.what.bias_stride);
    }
    return cudaSuccess;
}

} // namespace

cudaError_t product_run(const Product &product) {
    if (product.what.scale == CUDA_C_64F)
        return product_run_complex(product);
    return product.what.scale == CUDA_R_64F ? run<double>(product) : run<float>(product);
}

} // namespace emulated

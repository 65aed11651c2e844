/* Complex products in double precision, by columns and without an epilogue. */
#include <cblas.h>

#include <complex>

#include "cublas_lt.h"

namespace emulated {
namespace {

typedef std::complex<double> Number;

CBLAS_TRANSPOSE operation(int32_t op) {
    return op == CUBLAS_OP_N ? CblasNoTrans : op == CUBLAS_OP_T ? CblasTrans : CblasConjTrans;
}

size_t extent(const Layout &layout) {
    uint64_t one = (layout.columns - 1) * static_cast<uint64_t>(layout.leading) + layout.rows;
    uint64_t before =
        static_cast<uint64_t>(layout.batch - 1) * static_cast<uint64_t>(layout.stride);
    return (before + one) * sizeof(Number);
}

} // namespace

cudaError_t product_run_complex(const Product &product) {
    const Layout &la = product.a_layout, &lb = product.b_layout, &ld = product.d_layout;
    bool ta = product.what.transpose_a != CUBLAS_OP_N;
    Number alpha(product.alpha, product.alpha_imaginary);
    Number beta(product.beta, product.beta_imaginary);
    if (!range_good("A", product.a, extent(la)) || !range_good("B", product.b, extent(lb)) ||
        !range_good("D", product.d, extent(ld)) || product.c != product.d)
        return cudaErrorIllegalAddress;
    for (int64_t i = 0; i < ld.batch; i++)
        cblas_zgemm(
            CblasColMajor, operation(product.what.transpose_a), operation(product.what.transpose_b),
            static_cast<blasint>(ld.rows), static_cast<blasint>(ld.columns),
            static_cast<blasint>(ta ? la.rows : la.columns), &alpha,
            static_cast<const Number *>(product.a) + i * la.stride,
            static_cast<blasint>(la.leading),
            static_cast<const Number *>(product.b) + i * lb.stride,
            static_cast<blasint>(lb.leading), &beta,
            static_cast<Number *>(product.d) + i * ld.stride, static_cast<blasint>(ld.leading));
    return cudaSuccess;
}

} // namespace emulated

/* cuBLASLt's objects and a product, from within. */
#ifndef EMULATED_CUBLAS_LT_H
#define EMULATED_CUBLAS_LT_H

#include "cublasLt.h"
#include "vendor.h"

struct cublasLtMatmulDescOpaque_t {
    int32_t compute, scale, pointer_mode, transpose_a, transpose_b;
    uint32_t epilogue;
    void *bias;
    int64_t bias_stride;
};

struct cublasLtMatrixLayoutOpaque_t {
    uint32_t type;
    int32_t order;
    uint64_t rows, columns;
    int64_t leading;
    int32_t batch;
    int64_t stride;
};

struct cublasLtMatmulPreferenceOpaque_t {
    size_t most_workspace;
    uint32_t alignment[4] = {256, 256, 256, 256}; /* promised of A, B, C, D */
};

namespace emulated {

typedef cublasLtMatrixLayoutOpaque_t Layout;

struct Product {
    cublasLtMatmulDescOpaque_t what;
    Layout a_layout, b_layout, c_layout, d_layout;
    const void *a, *b, *c;
    void *d, *workspace;
    size_t workspace_size;
    double alpha, beta; /* of mode host */
    const void *alpha_at, *beta_at;
    double alpha_imaginary, beta_imaginary;
    int slices; /* of the inner dimension, summed up one after the other */
};

/* Whether shapes, types, orders and batches fit each other. */
cublasStatus_t product_check(const cublasLtMatmulDescOpaque_t &what, const Layout &a,
                             const Layout &b, const Layout &c, const Layout &d);
cudaError_t product_run(const Product &product);
cudaError_t product_run_complex(const Product &product);

} // namespace emulated

#endif

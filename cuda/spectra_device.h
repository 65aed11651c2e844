/* What the spectra's files share: cuSOLVER's handle, device memory for one call, products. Host
 * side. */
#ifndef SZG_CUDA_SPECTRA_DEVICE_H
#define SZG_CUDA_SPECTRA_DEVICE_H

#include <cusolverDn.h>

#include "spectra.h"
#include "staging.h"

/* cuSOLVER for one use of scratch memory, set to a stream. */
typedef struct solver {
    cusolverDnHandle_t handle;
    cusolverDnParams_t parameters;
    /* Workspaces of the host, in turn: queued work may use one after its call has returned, and
     * who captures spectra shall not wait for it. */
    struct {
        void *memory;
        size_t bytes;
        cudaEvent_t used;
    } host[4];
    int turn;
} solver;

szg_status solver_open(szg_context *context, session *self, scratch_use use, cudaStream_t stream,
                       solver **out);
/* At least so many bytes of the host for one call of cuSOLVER, and the word that it was made. */
szg_status solver_host(szg_context *context, solver *solver, size_t bytes, void **out);
szg_status solver_called(szg_context *context, cudaStream_t stream, solver *solver, size_t bytes);
szg_status solver_failed(szg_context *context, cusolverStatus_t error, const char *call);

#define TRY_SOLVER(context, call)                                                                  \
    do {                                                                                           \
        cusolverStatus_t error_ = (call);                                                          \
        if (error_ != CUSOLVER_STATUS_SUCCESS)                                                     \
            return solver_failed(context, error_, #call);                                          \
    } while (0)

/* Device memory of one call. Zero it; memory_release frees what was taken. */
typedef struct call_memory {
    session *self;
    void *blocks[4];
    int count;
} call_memory;

/* SZG_EBACKEND with the device's numbers where it does not fit; `remedy` for that message. */
szg_status memory_take(szg_context *context, session *self, call_memory *memory, int64_t bytes,
                       const char *remedy, void **out);
void memory_release(call_memory *memory);
/* Bytes that the device could give now. */
szg_status memory_free_bytes(szg_context *context, int64_t *bytes);

/* Parts of one block, 256-byte aligned: the first call with total 0 gives offset 0. */
inline int64_t part(int64_t *total, int64_t bytes) {
    int64_t at = *total;
    *total += (bytes + 255) / 256 * 256;
    return at;
}

/* Blocks of ITEMS_THREADS threads for `count` items; threads go round where there are more items.
 */
enum { ITEMS_THREADS = 256, ITEMS_BLOCKS = 8192 };
inline dim3 items_grid(int64_t count) {
    const int64_t most = (int64_t)ITEMS_BLOCKS * ITEMS_THREADS;
    return dim3(blocks_for(count < most ? count : most, ITEMS_THREADS));
}

/* op(A) op(B) as szgi_gemm, of arrays on the device; `count` products at strides. beta = 0: C is
 * not read. k > 0. */
typedef struct product64 {
    int width; /* 1 real, 2 complex */
    char op_a, op_b;
    int64_t m, n, k;
    szg_c64 alpha, beta;
    const void *a;
    int64_t lda;
    const void *b;
    int64_t ldb;
    void *c;
    int64_t ldc;
    int64_t count, stride_a, stride_b, stride_c; /* in numbers of `width` */
} product64;

szg_status product64_run(szg_context *context, session *self, cudaStream_t stream,
                         const product64 *product);

/* On the host: SZG_EBACKEND where a residual fails its limit, NaN included. */
szg_status residual_accept(szg_context *context, const char *what, int64_t index, double residual,
                           double limit);

/* Fill their entries of the table. */
void gemm_fill(szgi_linalg_ops *ops);
void eigen_fill(szgi_linalg_ops *ops);
void eigen_general_fill(szgi_linalg_ops *ops);
void eigen_batch_fill(szgi_linalg_ops *ops);
void singular_fill(szgi_linalg_ops *ops);
void singular_batch_fill(szgi_linalg_ops *ops);
void transform_fill(szgi_linalg_ops *ops);

#endif

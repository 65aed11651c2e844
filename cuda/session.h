/* A session: one context's share of a device. And what every operation uses: failures with their
 * numbers, scratch memory, launches. Host side. */
#ifndef SZG_CUDA_SESSION_H
#define SZG_CUDA_SESSION_H

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include "plugin/abi.h"

/* Set when the plugin is loaded. */
extern const szgi_host *cuda_host;

/* Scratch memory by use: what two uses hold at one time must not share. */
typedef enum scratch_use {
    SCRATCH_OPERATION, /* of one operation on the main stream, until the next one begins */
    SCRATCH_PRODUCT,   /* cuBLASLt's workspace */
    SCRATCH_SPECTRA,   /* of spectra on the main stream */
    SCRATCH_SIDE,      /* of spectra on the side stream */
    SCRATCH_USES
} scratch_use;

typedef struct scratch {
    void *memory;
    int64_t bytes;
} scratch;

/* Memory that a recorded step may still read: freed with the session. */
typedef struct retired {
    void *memory;
    struct retired *next;
} retired;

struct spectra_handles; /* spectra.h: cuSOLVER and cuFFT, opened when first used */
struct product_plans;   /* product.h: cuBLASLt's choices by shape */

typedef struct session {
    szgi_ops ops; /* first: the table that the plugin's `open` returns is the session */
    szgi_linalg_ops algebra;
    int index; /* of the device */
    szg_device device;
    szgi_precision precision;
    cudaStream_t stream, side;
    cudaEvent_t handover; /* from stream to side */
    cudaEvent_t *marks;   /* of the clock, SZGI_DEVICE_MARKS; NULL: none was set */
    cublasLtHandle_t product;
    product_plans *plans;
    spectra_handles *spectra;
    struct staging *staging; /* staging.h: page-locked buffers, opened when first used */
    scratch scratch_of[SCRATCH_USES];
    retired *retired_list;
    bool recording, recorded; /* now; once at least */
} session;

/* The context's session; makes its device the calling thread's. */
session *session_of(szg_context *context);

/* ---- Failures ---- */

__attribute__((__format__(__printf__, 3, 4))) szg_status
fail(szg_context *context, szg_status status, const char *format, ...);
/* Puts the operation and its shape in front of a failure's message: `return named(context, status,
 * "linear %lld x %lld", ...)`. SZG_OK passes; the text is made on failure only. */
__attribute__((__format__(__printf__, 3, 4))) szg_status
named(szg_context *context, szg_status status, const char *format, ...);
/* SZG_EBACKEND with the call, the error's name and its text. */
szg_status cuda_failed(szg_context *context, cudaError_t error, const char *call);
szg_status product_failed(szg_context *context, cublasStatus_t error, const char *call);

#define TRY_CUDA(context, call)                                                                    \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess)                                                                 \
            return cuda_failed(context, error_, #call);                                            \
    } while (0)

#define TRY_PRODUCT(context, call)                                                                 \
    do {                                                                                           \
        cublasStatus_t error_ = (call);                                                            \
        if (error_ != CUBLAS_STATUS_SUCCESS)                                                       \
            return product_failed(context, error_, #call);                                         \
    } while (0)

/* ---- Memory ---- */

/* Device memory, not zeroed. SZG_EBACKEND with the device's numbers where it is refused. */
szg_status device_alloc(szg_context *context, session *self, int64_t bytes, void **out);

/* Waits for the session's work, then frees: cudaFree itself promises no wait. NULL is allowed. */
void device_free(session *self, void *memory);

/* At least `bytes` bytes, 256-byte aligned, with undefined contents. What was taken for this use
 * before is lost. Grows by doubling; not while recording. */
szg_status scratch_take(szg_context *context, session *self, scratch_use use, int64_t bytes,
                        void **out);

/* ---- Launches ---- */

enum {
    SHARED_DEFAULT = 48 * 1024, /* dynamic shared memory that needs no permission */
    GRID_LIMIT = 65535          /* of y and z */
};

/* Allows a kernel dynamic shared memory beyond the default. */
szg_status shared_allow(szg_context *context, const void *kernel, int64_t bytes);

template <class... Parameters, class... Arguments>
szg_status launch(szg_context *context, cudaStream_t stream, void (*kernel)(Parameters...),
                  dim3 grid, dim3 block, int64_t shared, Arguments... arguments) {
    if (shared > SHARED_DEFAULT)
        SZG_TRY(shared_allow(context, reinterpret_cast<const void *>(kernel), shared));
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = static_cast<size_t>(shared);
    config.stream = stream;
    TRY_CUDA(context, cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
    return SZG_OK;
}

/* Blocks for `count` items, `each` a block. */
inline unsigned blocks_for(int64_t count, int64_t each) {
    return static_cast<unsigned>((count + each - 1) / each);
}

#endif

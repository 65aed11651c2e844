/* Fourier transforms on cuFFT: batches of one length, one after the other without gaps. Cosine
 * transforms are the cpu's. */
#include <cufft.h>
#include <stdlib.h>
#include <string.h>

#include "spectra_device.h"

typedef struct transform {
    session *self;
    cufftHandle handle;
    bool created;
    szgi_fft_kind kind;
    int64_t n, batch, in_bytes, out_bytes;
    size_t work_bytes;
} transform;

static szg_status transform_failed(szg_context *context, cufftResult error, const char *call) {
    const char *text = error == CUFFT_ALLOC_FAILED   ? "memory was refused"
                       : error == CUFFT_INVALID_SIZE ? "a size that it does not support"
                       : error == CUFFT_EXEC_FAILED  ? "its kernels failed"
                                                     : "see cufftResult";
    return fail(context, SZG_EBACKEND, "cuFFT: %.*s: %s (status %d): use --backend cpu",
                (int)strcspn(call, "("), call, text, (int)error);
}

#define TRY_FFT(context, call)                                                                     \
    do {                                                                                           \
        cufftResult error_ = (call);                                                               \
        if (error_ != CUFFT_SUCCESS)                                                               \
            return transform_failed(context, error_, #call);                                       \
    } while (0)

/* NULL for its embedding arrays: rows without gaps. Its work area is ours: allocated by a plan, it
 * would stay as long as the plan. */
static szg_status make_plan(szg_context *context, transform *plan) {
    long long length = plan->n;
    cufftType type = plan->kind == SZGI_FFT_REAL            ? CUFFT_D2Z
                     : plan->kind == SZGI_FFT_REAL_BACKWARD ? CUFFT_Z2D
                                                            : CUFFT_Z2Z;
    const double unit = 1 << 20, needed = (double)plan->in_bytes + (double)plan->out_bytes;
    if (needed > (double)plan->self->device.memory)
        return fail(context, SZG_EBACKEND,
                    "out of memory on %s: input and output need %.1f MiB, it has %.1f: use "
                    "--backend cpu, or a smaller size",
                    plan->self->device.name, needed / unit,
                    (double)plan->self->device.memory / unit);
    TRY_FFT(context, cufftCreate(&plan->handle));
    plan->created = true;
    TRY_FFT(context, cufftSetAutoAllocation(plan->handle, 0));
    TRY_FFT(context, cufftMakePlanMany64(plan->handle, 1, &length, NULL, 1, length, NULL, 1, length,
                                         type, plan->batch, &plan->work_bytes));
    TRY_FFT(context, cufftSetStream(plan->handle, plan->self->stream));
    return SZG_OK;
}

static void transform_close(void *opened) {
    transform *plan = static_cast<transform *>(opened);
    cudaSetDevice(plan->self->index);
    if (plan->created)
        cufftDestroy(plan->handle);
    free(plan);
}

static szg_status transform_open(szg_context *context, szgi_fft_kind kind, int64_t n, int64_t batch,
                                 void **out) {
    session *self = session_of(context);
    transform *plan = static_cast<transform *>(calloc(1, sizeof *plan));
    if (!plan)
        return fail(context, SZG_ENOMEM, "%zu bytes of host memory were refused", sizeof *plan);
    int64_t complex_row = n * (int64_t)sizeof(szg_c64), real_row = n * (int64_t)sizeof(double);
    int64_t half_row = (n / 2 + 1) * (int64_t)sizeof(szg_c64);
    plan->self = self;
    plan->kind = kind;
    plan->n = n;
    plan->batch = batch;
    plan->in_bytes = batch * (kind == SZGI_FFT_REAL            ? real_row
                              : kind == SZGI_FFT_REAL_BACKWARD ? half_row
                                                               : complex_row);
    plan->out_bytes = batch * (kind == SZGI_FFT_REAL            ? half_row
                               : kind == SZGI_FFT_REAL_BACKWARD ? real_row
                                                                : complex_row);
    szg_status status = make_plan(context, plan);
    if (status == SZG_OK)
        *out = plan;
    else
        transform_close(plan);
    return named(context, status, "%lld transforms of length %lld on the GPU", (long long)batch,
                 (long long)n);
}

/* Entry 0 and, n even, entry n/2 of a Hermitian sequence are real; cuFFT leaves open what it makes
 * of other numbers there. */
static __global__ void mend_kernel(int64_t n, int64_t batch, szg_c64 *x) {
    int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x, half = n / 2 + 1;
    if (i >= batch)
        return;
    x[i * half].im = 0;
    if (n % 2 == 0)
        x[i * half + n / 2].im = 0;
}

static szg_status execute(szg_context *context, const transform *plan, void *in, void *out) {
    cufftDoubleComplex *complex_in = static_cast<cufftDoubleComplex *>(in);
    cufftDoubleComplex *complex_out = static_cast<cufftDoubleComplex *>(out);
    switch (plan->kind) {
    case SZGI_FFT_REAL:
        TRY_FFT(context, cufftExecD2Z(plan->handle, static_cast<double *>(in), complex_out));
        return SZG_OK;
    case SZGI_FFT_REAL_BACKWARD:
        SZG_TRY(launch(context, plan->self->stream, mend_kernel, dim3(blocks_for(plan->batch, 128)),
                       dim3(128), 0, plan->n, plan->batch, static_cast<szg_c64 *>(in)));
        TRY_FFT(context, cufftExecZ2D(plan->handle, complex_in, static_cast<double *>(out)));
        return SZG_OK;
    default:
        TRY_FFT(context,
                cufftExecZ2Z(plan->handle, complex_in, complex_out,
                             plan->kind == SZGI_FFT_FORWARD ? CUFFT_FORWARD : CUFFT_INVERSE));
        return SZG_OK;
    }
}

static szg_status run_on(szg_context *context, const transform *plan, const void *in, void *out) {
    session *self = plan->self;
    int64_t total = 0, at_in = part(&total, plan->in_bytes), at_out = part(&total, plan->out_bytes);
    int64_t work = part(&total, static_cast<int64_t>(plan->work_bytes));
    void *block;
    if (self->recording)
        return fail(context, SZG_EBACKEND, "not while a step is recorded");
    SZG_TRY(scratch_take(context, self, SCRATCH_SPECTRA, total, &block));
    char *base = static_cast<char *>(block);
    SZG_TRY(staging_upload(context, self, self->stream, base + at_in, in, 0, 1, plan->in_bytes));
    TRY_FFT(context, cufftSetWorkArea(plan->handle, base + work));
    SZG_TRY(execute(context, plan, base + at_in, base + at_out));
    return staging_download(context, self, self->stream, out, 0, base + at_out, 1, plan->out_bytes);
}

static szg_status transform_run(szg_context *context, const void *opened, const void *in,
                                void *out) {
    const transform *plan = static_cast<const transform *>(opened);
    cudaSetDevice(plan->self->index);
    szg_status status = run_on(context, plan, in, out);
    return named(context, status, "%lld transforms of length %lld on the GPU",
                 (long long)plan->batch, (long long)plan->n);
}

void transform_fill(szgi_linalg_ops *ops) {
    ops->fft_open = transform_open;
    ops->fft_run = transform_run;
    ops->fft_close = transform_close;
}

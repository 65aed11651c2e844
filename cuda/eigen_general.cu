/* Eigenvalues of one general matrix: cusolverDnXgeev, values only. A row-major array read
 * column-major is the transpose, with the same eigenvalues. */
#include "spectra_check.h"
#include "spectra_device.h"

static const char REMEDY[] = "use --backend cpu";

typedef struct general_job {
    int width;
    int64_t n;
    double *matrix, *values, *known, *check; /* of the device */
    int *info;
} general_job;

static measured measured_of(const general_job *job) {
    return {job->width, false, 1, job->n, job->n};
}

static szg_status take_operands(szg_context *context, session *self, call_memory *memory,
                                general_job *job) {
    const int64_t size = sizeof(double);
    const measured what = measured_of(job);
    int64_t total = 0, n = job->n;
    int64_t matrix = part(&total, n * n * job->width * size), values = part(&total, 2 * n * size);
    int64_t known = part(&total, check_bytes(&what)), check = part(&total, size);
    int64_t info = part(&total, sizeof(int));
    void *block;
    SZG_TRY(memory_take(context, self, memory, total, REMEDY, &block));
    char *base = static_cast<char *>(block);
    job->matrix = reinterpret_cast<double *>(base + matrix);
    job->values = reinterpret_cast<double *>(base + values);
    job->known = reinterpret_cast<double *>(base + known);
    job->check = reinterpret_cast<double *>(base + check);
    job->info = reinterpret_cast<int *>(base + info);
    return SZG_OK;
}

/* Values are complex for a real matrix too: cuSOLVER offers that. */
static szg_status solve(szg_context *context, session *self, call_memory *memory,
                        const general_job *job) {
    cudaDataType type = job->width == 1 ? CUDA_R_64F : CUDA_C_64F;
    cusolverEigMode_t none = CUSOLVER_EIG_MODE_NOVECTOR;
    size_t on_device = 0, on_host = 0;
    void *work, *host;
    solver *with;
    int64_t n = job->n;
    SZG_TRY(solver_open(context, self, SCRATCH_SPECTRA, self->stream, &with));
    TRY_SOLVER(context,
               cusolverDnXgeev_bufferSize(with->handle, with->parameters, none, none, n, type,
                                          job->matrix, n, CUDA_C_64F, job->values, type, NULL, n,
                                          type, NULL, n, type, &on_device, &on_host));
    SZG_TRY(memory_take(context, self, memory, static_cast<int64_t>(on_device), REMEDY, &work));
    SZG_TRY(solver_host(context, with, on_host, &host));
    TRY_SOLVER(context,
               cusolverDnXgeev(with->handle, with->parameters, none, none, n, type, job->matrix, n,
                               CUDA_C_64F, job->values, type, NULL, n, type, NULL, n, type, work,
                               on_device, host, on_host, job->info));
    return solver_called(context, self->stream, with, on_host);
}

static szg_status general_on(szg_context *context, session *self, call_memory *memory,
                             general_job *job, const void *a, int64_t lda, szg_c64 *w) {
    const int64_t size = sizeof(double), row = job->n * job->width * size;
    const measured what = measured_of(job);
    SZG_TRY(take_operands(context, self, memory, job));
    SZG_TRY(staging_upload(context, self, self->stream, job->matrix, a, lda * job->width * size,
                           job->n, row));
    SZG_TRY(check_measure(context, self->stream, &what, job->matrix, job->known));
    SZG_TRY(solve(context, self, memory, job));
    return values_out(context, self, VALUES_GENERAL, job->n, job->values, job->known, job->info,
                      job->check, w, 2 * job->n * size);
}

/* Pairs stand together; the positive imaginary part comes first. */
static void order_pairs(int64_t n, szg_c64 *w) {
    for (int64_t i = 0; i + 1 < n; i++) {
        if (w[i].im == 0)
            continue;
        if (w[i].im < 0)
            w[i].im = -w[i].im, w[i + 1].im = -w[i + 1].im;
        i++;
    }
}

static szg_status general(szg_context *context, int width, int64_t n, const void *a, int64_t lda,
                          szg_c64 *w) {
    call_memory memory = {};
    general_job job = {};
    job.width = width;
    job.n = n;
    szg_status status = general_on(context, session_of(context), &memory, &job, a, lda, w);
    memory_release(&memory);
    if (status == SZG_OK && width == 1)
        order_pairs(n, w);
    return named(context, status, "general eigenvalues of order %lld on the GPU", (long long)n);
}

static szg_status eigen_general(szg_context *context, int64_t n, double *a, int64_t lda,
                                szg_c64 *w) {
    return general(context, 1, n, a, lda, w);
}

static szg_status eigen_general_complex(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                        szg_c64 *w) {
    return general(context, 2, n, a, lda, w);
}

void eigen_general_fill(szgi_linalg_ops *ops) {
    ops->eigen_general = eigen_general;
    ops->eigen_general_complex = eigen_general_complex;
}

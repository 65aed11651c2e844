/* One symmetric or Hermitian matrix: cusolverDnXsyevd (tridiagonal form, then divide and conquer
 * for vectors). A row-major array read column-major is the transpose: a symmetric matrix is itself,
 * its lower triangle called upper, a Hermitian one its conjugate, whose eigenvectors are the
 * conjugates. Columns of the result are rows of ours. */
#include <float.h>
#include <stdlib.h>

#include "spectra_check.h"
#include "spectra_device.h"

/* Allowed, as in lib/spectra: this many n eps. */
static const double RESIDUAL_SLACK = 64;

static const char REMEDY[] = "use --backend cpu, or a structured or matrix-free method";

typedef struct eigen_job {
    int width;
    bool vectors;
    int64_t n, lda;
    void *a;   /* of the host */
    double *w; /* of the host */
    /* of the device */
    double *matrix, *values, *known, *check, *rows;
    double *full, *product; /* with vectors: the whole matrix, and A V */
    int *info;
} eigen_job;

static measured measured_of(const eigen_job *job) {
    return {job->width, true, 1, job->n, job->n};
}

static szg_status take_operands(szg_context *context, session *self, call_memory *memory,
                                eigen_job *job) {
    const measured what = measured_of(job);
    int64_t square = job->n * job->n * job->width * (int64_t)sizeof(double);
    int64_t row = job->n * (int64_t)sizeof(double), total = 0;
    int64_t matrix = part(&total, square), values = part(&total, row);
    int64_t known = part(&total, check_bytes(&what));
    int64_t check = part(&total, sizeof(double)), info = part(&total, sizeof(int));
    int64_t rows = part(&total, job->vectors ? 2 * row : 0);
    int64_t full = part(&total, job->vectors ? square : 0);
    int64_t product = part(&total, job->vectors ? square : 0);
    void *block;
    SZG_TRY(memory_take(context, self, memory, total, REMEDY, &block));
    char *base = static_cast<char *>(block);
    job->matrix = reinterpret_cast<double *>(base + matrix);
    job->values = reinterpret_cast<double *>(base + values);
    job->known = reinterpret_cast<double *>(base + known);
    job->check = reinterpret_cast<double *>(base + check);
    job->info = reinterpret_cast<int *>(base + info);
    job->rows = reinterpret_cast<double *>(base + rows);
    job->full = reinterpret_cast<double *>(base + full);
    job->product = reinterpret_cast<double *>(base + product);
    return SZG_OK;
}

static szg_status solve(szg_context *context, session *self, call_memory *memory, eigen_job *job) {
    cusolverEigMode_t mode = job->vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    cudaDataType type = job->width == 1 ? CUDA_R_64F : CUDA_C_64F;
    size_t on_device = 0, on_host = 0;
    void *work, *host;
    solver *with;
    SZG_TRY(solver_open(context, self, SCRATCH_SPECTRA, self->stream, &with));
    TRY_SOLVER(context, cusolverDnXsyevd_bufferSize(with->handle, with->parameters, mode,
                                                    CUBLAS_FILL_MODE_UPPER, job->n, type,
                                                    job->matrix, job->n, CUDA_R_64F, job->values,
                                                    type, &on_device, &on_host));
    SZG_TRY(memory_take(context, self, memory, static_cast<int64_t>(on_device), REMEDY, &work));
    SZG_TRY(solver_host(context, with, on_host, &host));
    TRY_SOLVER(context,
               cusolverDnXsyevd(with->handle, with->parameters, mode, CUBLAS_FILL_MODE_UPPER,
                                job->n, type, job->matrix, job->n, CUDA_R_64F, job->values, type,
                                work, on_device, host, on_host, job->info));
    return solver_called(context, self->stream, with, on_host);
}

/* ---- Vectors ---- */

/* The other triangle from the lower one. */
static __global__ void mirror_kernel(int width, int64_t n, double *a) {
    int64_t count = n * n;
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < count;
         at += step) {
        int64_t i = at / n, j = at % n;
        if (j > i)
            a[at * width] = a[(j * n + i) * width];
        if (width == 2 && j >= i)
            a[at * 2 + 1] = j > i ? -a[(j * n + i) * 2 + 1] : 0;
    }
}

static __global__ void conjugate_kernel(int64_t count, double *a) {
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < count;
         at += step)
        a[2 * at + 1] = -a[2 * at + 1];
}

static szg_status keep_matrix(szg_context *context, session *self, eigen_job *job) {
    size_t bytes = static_cast<size_t>(job->n * job->n * job->width) * sizeof(double);
    TRY_CUDA(context, cudaMemcpyAsync(job->full, job->matrix, bytes, cudaMemcpyDeviceToDevice,
                                      self->stream));
    return launch(context, self->stream, mirror_kernel, items_grid(job->n * job->n),
                  dim3(ITEMS_THREADS), 0, job->width, job->n, job->full);
}

/* Rows v of the result: v A^T = (A v)^T. */
static szg_status measure_rows(szg_context *context, session *self, eigen_job *job) {
    int64_t n = job->n;
    if (job->width == 2)
        SZG_TRY(launch(context, self->stream, conjugate_kernel, items_grid(n * n),
                       dim3(ITEMS_THREADS), 0, n * n, job->matrix));
    product64 product = {job->width, 'n', 't',          n, n, n, {1, 0}, {0, 0}, job->matrix, n,
                         job->full,  n,   job->product, n, 1, 0, 0,      0};
    SZG_TRY(product64_run(context, self, self->stream, &product));
    return check_rows(context, self->stream, job->width, n, n, job->product, job->values,
                      job->matrix, job->rows);
}

/* `rows` of the host: residual and error of the length, each row; `norm` is ||A||_F as solved. */
static szg_status accept_rows(szg_context *context, int64_t n, const double *rows, double norm) {
    double limit = RESIDUAL_SLACK * (double)n * DBL_EPSILON, unit = norm > 0 ? norm : 1;
    for (int64_t i = 0; i < n; i++) {
        SZG_TRY(residual_accept(context, "eigenvector", i, rows[2 * i] / unit, limit));
        SZG_TRY(residual_accept(context, "the length of eigenvector", i, rows[2 * i + 1], limit));
    }
    return SZG_OK;
}

static szg_status download_rows(szg_context *context, session *self, const eigen_job *job,
                                double *rows) {
    double known[KNOWN];
    int64_t size = sizeof(double);
    SZG_TRY(
        staging_download(context, self, self->stream, rows, 0, job->rows, 1, 2 * job->n * size));
    SZG_TRY(staging_download(context, self, self->stream, known, 0, job->known, 1, KNOWN * size));
    SZG_TRY(accept_rows(context, job->n, rows, known[KNOWN_NORM]));
    int64_t row = job->n * job->width * size;
    return staging_download(context, self, self->stream, job->a, job->lda * job->width * size,
                            job->matrix, job->n, row);
}

/* ---- The entries ---- */

static szg_status eigen_on(szg_context *context, session *self, call_memory *memory,
                           eigen_job *job) {
    const measured what = measured_of(job);
    int64_t row = job->n * job->width * (int64_t)sizeof(double);
    SZG_TRY(take_operands(context, self, memory, job));
    SZG_TRY(staging_upload(context, self, self->stream, job->matrix, job->a,
                           job->lda * job->width * (int64_t)sizeof(double), job->n, row));
    SZG_TRY(check_measure(context, self->stream, &what, job->matrix, job->known));
    if (job->vectors)
        SZG_TRY(keep_matrix(context, self, job));
    SZG_TRY(solve(context, self, memory, job));
    if (job->vectors)
        SZG_TRY(measure_rows(context, self, job));
    return values_out(context, self, VALUES_SYMMETRIC, job->n, job->values, job->known, job->info,
                      job->check, job->w, job->n * (int64_t)sizeof(double));
}

static szg_status run(szg_context *context, eigen_job *job) {
    session *self = session_of(context);
    call_memory memory = {};
    double *rows = NULL;
    szg_status status = eigen_on(context, self, &memory, job);
    if (status == SZG_OK && job->vectors) {
        rows = static_cast<double *>(malloc(2 * static_cast<size_t>(job->n) * sizeof *rows));
        status = rows ? download_rows(context, self, job, rows)
                      : fail(context, SZG_ENOMEM, "%lld bytes of host memory were refused",
                             2LL * job->n * (long long)sizeof *rows);
    }
    memory_release(&memory);
    free(rows);
    return named(context, status, "%s eigenvalues of order %lld on the GPU",
                 job->width == 1 ? "symmetric" : "Hermitian", (long long)job->n);
}

static szg_status eigen(szg_context *context, int width, int64_t n, void *a, int64_t lda, double *w,
                        bool vectors) {
    eigen_job job = {};
    job.width = width;
    job.vectors = vectors;
    job.n = n;
    job.lda = lda;
    job.a = a;
    job.w = w;
    return run(context, &job);
}

static szg_status eigen_symmetric(szg_context *context, int64_t n, double *a, int64_t lda,
                                  double *w, bool vectors) {
    return eigen(context, 1, n, a, lda, w, vectors);
}

static szg_status eigen_hermitian(szg_context *context, int64_t n, szg_c64 *a, int64_t lda,
                                  double *w, bool vectors) {
    return eigen(context, 2, n, a, lda, w, vectors);
}

void eigen_fill(szgi_linalg_ops *ops) {
    ops->eigen_symmetric = eigen_symmetric;
    ops->eigen_hermitian = eigen_hermitian;
}

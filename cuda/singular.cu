/* Singular values of one matrix: cusolverDnXgesvd, which takes columns and m >= n. A row-major m x
 * n array read column-major is A^T = (vt)^T diag(s) u^T, so that for m <= n its left vectors are
 * our vt and its right ones our u, in place; for m > n everything is transposed on the device. */
#include <float.h>

#include <hardware.cuh>

#include "spectra_check.h"
#include "spectra_device.h"

static const char REMEDY[] = "use --backend cpu, or a structured or matrix-free method";

/* Allowed, as for eigenvectors. */
static const double RESIDUAL_SLACK = 64;

typedef struct singular_job {
    int width;
    bool vectors;
    int64_t m, n, k, lda, ldu, ldvt;
    const void *a; /* of the host, as the next three */
    double *s;
    void *u, *vt;
    /* of the device, without gaps: a as it was, what cuSOLVER gets, its left and right vectors, u
     * and vt, numbers about a and about the residual */
    double *kept, *matrix, *left, *right, *out_u, *out_vt, *values, *known, *known_rest, *check;
    int *info;
    double found[KNOWN], rest[KNOWN]; /* of the host: the numbers about a and about the residual */
} singular_job;

static bool transposed(const singular_job *job) {
    return job->m > job->n;
}

static measured measured_of(const singular_job *job) {
    return {job->width, false, 1, job->m, job->n};
}

static szg_status take_operands(szg_context *context, session *self, call_memory *memory,
                                singular_job *job) {
    const measured what = measured_of(job);
    const int64_t size = sizeof(double), wide = size * job->width;
    int64_t total = 0, all = job->m * job->n * wide, with = job->vectors ? 1 : 0;
    int64_t turned = with && transposed(job) ? 1 : 0;
    int64_t matrix = part(&total, all), values = part(&total, job->k * size);
    int64_t known = part(&total, check_bytes(&what));
    int64_t known_rest = part(&total, check_bytes(&what));
    int64_t check = part(&total, size), info = part(&total, sizeof(int));
    int64_t kept = part(&total, (with || transposed(job) ? 1 : 0) * all);
    int64_t left = part(&total, turned * job->m * job->k * wide);
    int64_t right = part(&total, turned * job->k * job->n * wide);
    int64_t out_u = part(&total, with * job->m * job->k * wide);
    int64_t out_vt = part(&total, with * job->k * job->n * wide);
    void *block;
    SZG_TRY(memory_take(context, self, memory, total, REMEDY, &block));
    char *base = static_cast<char *>(block);
    job->matrix = reinterpret_cast<double *>(base + matrix);
    job->values = reinterpret_cast<double *>(base + values);
    job->known = reinterpret_cast<double *>(base + known);
    job->known_rest = reinterpret_cast<double *>(base + known_rest);
    job->check = reinterpret_cast<double *>(base + check);
    job->info = reinterpret_cast<int *>(base + info);
    job->kept = reinterpret_cast<double *>(base + kept);
    job->out_u = reinterpret_cast<double *>(base + out_u);
    job->out_vt = reinterpret_cast<double *>(base + out_vt);
    job->left = turned ? reinterpret_cast<double *>(base + left) : job->out_vt;
    job->right = turned ? reinterpret_cast<double *>(base + right) : job->out_u;
    return SZG_OK;
}

/* ---- Kernels ---- */

enum { TILE = 32, TILE_ROWS = 8, THREADS = 256, BLOCKS = 4096 };

/* A square of TILE numbers a block at a time, through shared memory, a column to spare against
 * conflicts of its banks. */
static __global__ void transpose_kernel(int width, int64_t rows, int64_t columns, const double *a,
                                        double *out) {
    double *tile = shared_memory<double>();
    int64_t across = (columns + TILE - 1) / TILE, tiles = across * ((rows + TILE - 1) / TILE);
    for (int64_t at = blockIdx.x; at < tiles; at += gridDim.x)
        for (int part = 0; part < width; part++) {
            int64_t row = at / across * TILE, column = at % across * TILE;
            for (int i = threadIdx.y; i < TILE; i += TILE_ROWS)
                if (row + i < rows && column + threadIdx.x < columns)
                    tile[i * (TILE + 1) + threadIdx.x] =
                        a[((row + i) * columns + column + threadIdx.x) * width + part];
            __syncthreads();
            for (int i = threadIdx.y; i < TILE; i += TILE_ROWS)
                if (column + i < columns && row + threadIdx.x < rows)
                    out[((column + i) * rows + row + threadIdx.x) * width + part] =
                        tile[threadIdx.x * (TILE + 1) + i];
            __syncthreads();
        }
}

static szg_status transpose(szg_context *context, session *self, int width, int64_t rows,
                            int64_t columns, const double *a, double *out) {
    int64_t tiles = ((columns + TILE - 1) / TILE) * ((rows + TILE - 1) / TILE);
    return launch(context, self->stream, transpose_kernel,
                  dim3(static_cast<unsigned>(tiles < BLOCKS ? tiles : int64_t(BLOCKS))),
                  dim3(TILE, TILE_ROWS), TILE * (TILE + 1) * (int64_t)sizeof(double), width, rows,
                  columns, a, out);
}

/* out = u diag(s), of m x k. */
static __global__ void scale_kernel(int width, int64_t m, int64_t k, const double *u,
                                    const double *s, double *out) {
    int64_t count = m * k * width, step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < count;
         at += step)
        out[at] = u[at] * s[at / width % k];
}

/* ---- The solver ---- */

static szg_status solve(szg_context *context, session *self, call_memory *memory,
                        const singular_job *job) {
    cudaDataType type = job->width == 1 ? CUDA_R_64F : CUDA_C_64F;
    signed char letter = job->vectors ? 'S' : 'N';
    int64_t tall = transposed(job) ? job->m : job->n, small = job->k;
    size_t on_device = 0, on_host = 0;
    void *work, *host;
    solver *with;
    SZG_TRY(solver_open(context, self, SCRATCH_SPECTRA, self->stream, &with));
    TRY_SOLVER(context, cusolverDnXgesvd_bufferSize(
                            with->handle, with->parameters, letter, letter, tall, small, type,
                            job->matrix, tall, CUDA_R_64F, job->values, type, job->left, tall, type,
                            job->right, small, type, &on_device, &on_host));
    SZG_TRY(memory_take(context, self, memory, static_cast<int64_t>(on_device), REMEDY, &work));
    SZG_TRY(solver_host(context, with, on_host, &host));
    TRY_SOLVER(context, cusolverDnXgesvd(with->handle, with->parameters, letter, letter, tall,
                                         small, type, job->matrix, tall, CUDA_R_64F, job->values,
                                         type, job->left, tall, type, job->right, small, type, work,
                                         on_device, host, on_host, job->info));
    return solver_called(context, self->stream, with, on_host);
}

/* The matrix as cuSOLVER wants it, and a copy where one is needed later. */
static szg_status bring_in(szg_context *context, session *self, const singular_job *job) {
    const int64_t size = sizeof(double) * job->width, row = job->n * size;
    const measured what = measured_of(job);
    double *first = transposed(job) ? job->kept : job->matrix;
    SZG_TRY(
        staging_upload(context, self, self->stream, first, job->a, job->lda * size, job->m, row));
    SZG_TRY(check_measure(context, self->stream, &what, first, job->known));
    if (transposed(job))
        return transpose(context, self, job->width, job->m, job->n, job->kept, job->matrix);
    if (job->vectors)
        TRY_CUDA(context, cudaMemcpyAsync(job->kept, job->matrix, static_cast<size_t>(job->m * row),
                                          cudaMemcpyDeviceToDevice, self->stream));
    return SZG_OK;
}

/* u, vt, and a - u diag(s) vt in the place of a; cuSOLVER has destroyed its matrix, which holds m x
 * k numbers. */
static szg_status bring_vectors(szg_context *context, session *self, const singular_job *job) {
    int64_t m = job->m, n = job->n, k = job->k;
    const measured what = measured_of(job);
    if (transposed(job)) {
        SZG_TRY(transpose(context, self, job->width, k, m, job->left, job->out_u));
        SZG_TRY(transpose(context, self, job->width, n, k, job->right, job->out_vt));
    }
    SZG_TRY(launch(context, self->stream, scale_kernel, dim3(BLOCKS / 4), dim3(THREADS), 0,
                   job->width, m, k, job->out_u, job->values, job->matrix));
    product64 product = {job->width,  'n', 'n',       m, n, k, {-1, 0}, {1, 0}, job->matrix, k,
                         job->out_vt, n,   job->kept, n, 1, 0, 0,       0};
    SZG_TRY(product64_run(context, self, self->stream, &product));
    return check_measure(context, self->stream, &what, job->kept, job->known_rest);
}

static szg_status download_vectors(szg_context *context, session *self, singular_job *job) {
    const int64_t size = sizeof(double), wide = size * job->width;
    SZG_TRY(
        staging_download(context, self, self->stream, job->found, 0, job->known, 1, KNOWN * size));
    SZG_TRY(staging_download(context, self, self->stream, job->rest, 0, job->known_rest, 1,
                             KNOWN * size));
    SZG_TRY(staging_download(context, self, self->stream, job->u, job->ldu * wide, job->out_u,
                             job->m, job->k * wide));
    SZG_TRY(staging_download(context, self, self->stream, job->vt, job->ldvt * wide, job->out_vt,
                             job->k, job->n * wide));
    double unit = job->found[KNOWN_NORM] > 0 ? job->found[KNOWN_NORM] : 1;
    int64_t larger = job->m > job->n ? job->m : job->n;
    return residual_accept(context, "singular vectors: matrix", 0,
                           job->rest[KNOWN_NORM] * job->rest[KNOWN_UNIT] / unit,
                           RESIDUAL_SLACK * (double)larger * DBL_EPSILON);
}

/* ---- The entries ---- */

static szg_status singular_on(szg_context *context, session *self, call_memory *memory,
                              singular_job *job) {
    SZG_TRY(take_operands(context, self, memory, job));
    SZG_TRY(bring_in(context, self, job));
    SZG_TRY(solve(context, self, memory, job));
    if (job->vectors)
        SZG_TRY(bring_vectors(context, self, job));
    SZG_TRY(values_out(context, self, VALUES_SINGULAR, job->k, job->values, job->known, job->info,
                       job->check, job->s, job->k * (int64_t)sizeof(double)));
    return job->vectors ? download_vectors(context, self, job) : SZG_OK;
}

static szg_status singular(szg_context *context, int width, int64_t m, int64_t n, const void *a,
                           int64_t lda, double *s, void *u, int64_t ldu, void *vt, int64_t ldvt) {
    call_memory memory = {};
    singular_job job = {};
    job.width = width;
    job.vectors = u != NULL;
    job.m = m;
    job.n = n;
    job.k = m < n ? m : n;
    job.a = a;
    job.lda = lda;
    job.s = s;
    job.u = u;
    job.ldu = ldu;
    job.vt = vt;
    job.ldvt = ldvt;
    szg_status status = singular_on(context, session_of(context), &memory, &job);
    memory_release(&memory);
    return named(context, status, "singular values of %lld x %lld on the GPU", (long long)m,
                 (long long)n);
}

static szg_status singular_real(szg_context *context, int64_t m, int64_t n, double *a, int64_t lda,
                                double *s, double *u, int64_t ldu, double *vt, int64_t ldvt) {
    return singular(context, 1, m, n, a, lda, s, u, ldu, vt, ldvt);
}

static szg_status singular_complex(szg_context *context, int64_t m, int64_t n, szg_c64 *a,
                                   int64_t lda, double *s, szg_c64 *u, int64_t ldu, szg_c64 *vt,
                                   int64_t ldvt) {
    return singular(context, 2, m, n, a, lda, s, u, ldu, vt, ldvt);
}

void singular_fill(szgi_linalg_ops *ops) {
    ops->singular = singular_real;
    ops->singular_complex = singular_complex;
}

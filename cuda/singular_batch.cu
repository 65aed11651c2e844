/* Singular values of many small matrices, as symmetric eigenvalues: batched solvers for singular
 * values themselves end at 32 x 32.
 *
 * The entry of the table owes c n eps ||L|| and takes the eigenvalues of [0 L^T; L 0], which are
 * the singular values, their negatives and |m - n| zeros: eight times the work of a Gram matrix,
 * and still on the device. Spectra that are captured while a model trains come of logits in single
 * precision and take Gram matrices (spectra.h says how accurate they are). */
#include <float.h>
#include <stdlib.h>

#include "spectra_chunks.h"
#include "spectra_check.h"
#include "spectra_device.h"

enum { THREADS = 256 };

/* ---- Gram matrices ---- */

static __global__ void widen_kernel(int64_t count, const float *from, double *to) {
    int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t at = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < count;
         at += step)
        to[at] = from[at];
}

szg_status spectra_gram_batch(szg_context *context, session *self, cudaStream_t stream, scratch_use,
                              int64_t count, int64_t m, int64_t n, const double *l, double *gram) {
    bool tall = n <= m;
    int64_t k = tall ? n : m, inner = tall ? m : n;
    product64 product = {1,
                         tall ? 't' : 'n',
                         tall ? 'n' : 't',
                         k,
                         k,
                         inner,
                         {1, 0},
                         {0, 0},
                         l,
                         n,
                         l,
                         n,
                         gram,
                         k,
                         count,
                         m * n,
                         m * n,
                         k * k};
    return product64_run(context, self, stream, &product);
}

szg_status spectra_gram_batch(szg_context *context, session *self, cudaStream_t stream,
                              scratch_use use, int64_t count, int64_t m, int64_t n, const float *l,
                              double *gram) {
    void *wide;
    int64_t numbers = count * m * n;
    SZG_TRY(scratch_take(context, self, use, numbers * (int64_t)sizeof(double), &wide));
    SZG_TRY(launch(context, stream, widen_kernel, items_grid(numbers), dim3(ITEMS_THREADS), 0,
                   numbers, l, static_cast<double *>(wide)));
    return spectra_gram_batch(context, self, stream, use, count, m, n,
                              static_cast<const double *>(wide), gram);
}

/* A block a matrix; each thread turns pairs from the two ends. NaN fails `x < 0` and stays. */
static __global__ void roots_kernel(int64_t k, double *w) {
    w += blockIdx.x * k;
    for (int64_t i = threadIdx.x; i < (k + 1) / 2; i += blockDim.x) {
        double low = w[i], high = w[k - 1 - i];
        w[i] = high < 0 ? 0 : sqrt(high);
        w[k - 1 - i] = low < 0 ? 0 : sqrt(low);
    }
}

szg_status spectra_gram_roots(szg_context *context, cudaStream_t stream, int64_t count, int64_t k,
                              double *w) {
    return launch(context, stream, roots_kernel, dim3(static_cast<unsigned>(count)), dim3(64), 0, k,
                  w);
}

double spectra_gram_error(int64_t m, int64_t n) {
    int64_t k = m < n ? m : n, inner = m < n ? n : m;
    return ((double)inner + 10 * (double)k) * DBL_EPSILON;
}

/* ---- The entry ---- */

/* Lower triangles of [0 .; L 0], one block per matrix. */
static __global__ void embed_kernel(int64_t m, int64_t n, const double *l, double *out) {
    int64_t order = m + n;
    l += blockIdx.x * m * n;
    out += blockIdx.x * order * order;
    for (int64_t at = threadIdx.x; at < order * order; at += blockDim.x) {
        int64_t i = at / order, j = at % order;
        out[at] = i >= n && j < n ? l[(i - n) * n + j] : 0;
    }
}

/* The k largest of m + n ascending eigenvalues, descending; rounding makes no root negative. */
static __global__ void largest_kernel(int64_t k, int64_t order, const double *w, double *s) {
    for (int64_t i = threadIdx.x; i < k; i += blockDim.x) {
        double value = w[blockIdx.x * order + order - 1 - i];
        s[blockIdx.x * k + i] = value < 0 ? 0 : value;
    }
}

typedef struct singular_batch {
    int64_t count, m, n, stride;
    const double *a;
    double *s;
    double *given, *roots; /* of the device: L, and the values that go back */
} singular_batch;

static szg_status run_chunk(szg_context *context, session *self, batch_chunks *chunks,
                            void *argument, int64_t first, int64_t count) {
    singular_batch *job = static_cast<singular_batch *>(argument);
    const int64_t size = sizeof(double), m = job->m, n = job->n, k = m < n ? m : n;
    unsigned blocks = static_cast<unsigned>(count);
    SZG_TRY(staging_upload(context, self, self->stream, job->given, job->a + first * job->stride,
                           job->stride * size, count, m * n * size));
    SZG_TRY(launch(context, self->stream, embed_kernel, dim3(blocks), dim3(THREADS), 0, m, n,
                   job->given, chunks->matrices));
    SZG_TRY(spectra_eigen_batch(context, self, self->stream, SCRATCH_SPECTRA, count, m + n,
                                chunks->matrices, chunks->values, chunks->check));
    SZG_TRY(launch(context, self->stream, largest_kernel, dim3(blocks), dim3(64), 0, k, m + n,
                   chunks->values, job->roots));
    return staging_download(context, self, self->stream, job->s + first * k, 0, job->roots, 1,
                            count * k * size);
}

static szg_status singular_values(szg_context *context, int64_t count, int64_t m, int64_t n,
                                  double *a, int64_t stride, double *s) {
    session *self = session_of(context);
    singular_batch job = {.count = count,
                          .m = m,
                          .n = n,
                          .stride = stride,
                          .a = a,
                          .s = s,
                          .given = NULL,
                          .roots = NULL};
    batch_chunks chunks = {};
    void *extra = NULL;
    const int64_t size = sizeof(double), k = m < n ? m : n;
    szg_status status =
        batch_chunks_open(context, self, count, m + n, (m * n + k) * size + 512, &chunks, &extra);
    if (status == SZG_OK) {
        int64_t total = 0, given = part(&total, chunks.each * m * n * size);
        job.given = reinterpret_cast<double *>(static_cast<char *>(extra) + given);
        job.roots = reinterpret_cast<double *>(static_cast<char *>(extra) + total);
        status = batch_chunks_run(context, self, &chunks, run_chunk, &job);
    }
    batch_chunks_close(&chunks);
    return named(context, status, "singular values of %lld matrices, %lld x %lld, on the GPU",
                 (long long)count, (long long)m, (long long)n);
}

void singular_batch_fill(szgi_linalg_ops *ops) {
    ops->singular_batch = singular_values;
}

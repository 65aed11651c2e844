/* Checks of spectra on the device: what a matrix shows of its spectrum before a solver destroys it,
 * and whether the computed values have it. Queued on a stream. Every comparison fails on NaN. */
#ifndef SZG_CUDA_SPECTRA_CHECK_H
#define SZG_CUDA_SPECTRA_CHECK_H

#include "spectra.h"

/* Of a matrix: trace / F (two parts), F = ||a||_F in the units of the array as the solver meets it,
 * and the power of two that gives results back their units. */
enum { KNOWN_RE, KNOWN_IM, KNOWN_NORM, KNOWN_UNIT, KNOWN };

/* The contents of the array: real or complex numbers; all of them, or a lower triangle of a
 * symmetric or Hermitian matrix (imaginary parts of its diagonal count as 0). */
typedef struct measured {
    int width; /* 1 real, 2 complex */
    bool lower;
    int64_t count, rows, columns;
} measured;

/* known: KNOWN numbers per matrix, in check_bytes bytes. Several blocks measure a large matrix;
 * their partial results follow these numbers. Matrices whose entries lie beyond 2^+-300 are scaled
 * by a power of two, in place, so that no solver has to. */
int64_t check_bytes(const measured *what);
szg_status check_measure(szg_context *context, cudaStream_t stream, const measured *what, double *a,
                         double *known);

/* Which invariants n values must have: of symmetric and Hermitian matrices trace and norm, of
 * singular values the norm, of general eigenvalues (complex) the trace and a norm that is not
 * larger (Schur). */
typedef enum value_kind { VALUES_SYMMETRIC, VALUES_SINGULAR, VALUES_GENERAL } value_kind;

/* check: one number per matrix, as spectra_eigen_batch says. The values get their units back. */
szg_status check_values(szg_context *context, cudaStream_t stream, value_kind kind, int64_t count,
                        int64_t n, double *values, const double *known, const int *info,
                        double *check);

/* The same of one matrix, and `bytes` bytes of its values in the host's array `out` where they hold
 * (spectra_accept). Waits. */
szg_status values_out(szg_context *context, session *self, value_kind kind, int64_t n,
                      double *values, const double *known, const int *info, double *check,
                      void *out, int64_t bytes);

/* Rows of `product`, n numbers of `width`, against `factor` times the rows of v: for row r
 * out[2 r] = ||product_r - factor_r v_r||, out[2 r + 1] = | ||v_r|| - 1 |. */
szg_status check_rows(szg_context *context, cudaStream_t stream, int width, int64_t rows, int64_t n,
                      const double *product, const double *factor, const double *v, double *out);

/* Sums over a block, in the same order in every run; `shared` holds one number per warp. */
__device__ inline double block_sum(double value, double *shared) {
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_xor_sync(0xffffffffU, value, step);
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = value;
    __syncthreads();
    double sum = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; warp++)
        sum += shared[warp];
    __syncthreads();
    return sum;
}

/* The largest of numbers >= 0 over a block. NaN is passed over: it shows in the sums. */
__device__ inline double block_largest(double value, double *shared) {
    for (int step = 16; step > 0; step /= 2)
        value = fmax(value, __shfl_xor_sync(0xffffffffU, value, step));
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = value;
    __syncthreads();
    double largest = 0;
    for (unsigned warp = 0; warp < blockDim.x / 32; warp++)
        largest = fmax(largest, shared[warp]);
    __syncthreads();
    return largest;
}

#endif

#include <float.h>
#include <math.h>

#include <hardware.cuh>

#include "spectra_check.h"

enum {
    BLOCK_TINY = 32,   /* threads for a matrix of order 8 or less: two numbers each */
    BLOCK_SMALL = 128, /* for one of a batch */
    BLOCK_LARGE = 1024,
    TINY_ORDER = 8,
    SMALL_ORDER = 512,
    EXPONENT_MAX = 300 /* beyond, a matrix is scaled: its squares stay far from both ends */
};

static unsigned block_for(int64_t n) {
    return n <= TINY_ORDER ? BLOCK_TINY : n <= SMALL_ORDER ? BLOCK_SMALL : BLOCK_LARGE;
}

static int64_t shared_for(unsigned block) {
    return static_cast<int64_t>(block / 32 * sizeof(double));
}

/* ---- Before the solver ---- */

/* Calls visit(index, weight, diagonal) for the numbers that count, a warp a row. */
template <class Visit>
__device__ void visit_matrix(int width, bool lower, int64_t rows, int64_t columns, Visit visit) {
    int64_t warps = blockDim.x / 32;
    for (int64_t i = threadIdx.x / 32; i < rows; i += warps) {
        int64_t end = (lower ? i + 1 : columns) * width;
        for (int64_t j = threadIdx.x % 32; j < end; j += 32) {
            int64_t column = j / width;
            bool imaginary = j % width == 1, diagonal = column == i;
            if (lower && imaginary && diagonal)
                continue;
            visit(i * columns * width + j, lower && !diagonal ? 2.0 : 1.0,
                  diagonal ? (imaginary ? 2 : 1) : 0);
        }
    }
}

/* A power of two that brings `largest` to between 1 and 2; NaN for infinity. */
__device__ static int exponent_of(double largest) {
    return largest > 0 && largest <= DBL_MAX ? ilogb(largest) : 0;
}

/* Powers beyond 2^1000 would leave the exponents. */
__device__ static double power(int exponent) {
    return ldexp(1.0, exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent);
}

static __global__ void __launch_bounds__(BLOCK_LARGE)
    measure_kernel(measured what, double *a, double *known) {
    double *shared = shared_memory<double>();
    a += blockIdx.x * what.rows * what.columns * what.width;
    known += static_cast<int64_t>(blockIdx.x) * KNOWN;
    double largest = 0;
    visit_matrix(what.width, what.lower, what.rows, what.columns,
                 [&](int64_t at, double, int) { largest = fmax(largest, fabs(a[at])); });
    largest = block_largest(largest, shared);
    int exponent = exponent_of(largest);
    double unit = power(-exponent), re = 0, im = 0, squares = 0;
    visit_matrix(what.width, what.lower, what.rows, what.columns,
                 [&](int64_t at, double weight, int diagonal) {
                     double x = a[at] * unit;
                     squares += weight * x * x;
                     re += diagonal == 1 ? x : 0;
                     im += diagonal == 2 ? x : 0;
                 });
    re = block_sum(re, shared);
    im = block_sum(im, shared);
    double norm = sqrt(block_sum(squares, shared));
    bool scaled = exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX;
    if (scaled)
        visit_matrix(what.width, what.lower, what.rows, what.columns,
                     [&](int64_t at, double, int) { a[at] *= unit; });
    if (threadIdx.x == 0) {
        known[KNOWN_RE] = largest > 0 ? re / norm : re;
        known[KNOWN_IM] = largest > 0 ? im / norm : im;
        known[KNOWN_NORM] = scaled ? norm : norm * power(exponent);
        known[KNOWN_UNIT] = scaled ? 1 / unit : 1;
    }
}

szg_status check_measure(szg_context *context, cudaStream_t stream, const measured *what, double *a,
                         double *known) {
    unsigned block = block_for(what->rows > what->columns ? what->rows : what->columns);
    return launch(context, stream, measure_kernel, dim3(static_cast<unsigned>(what->count)),
                  dim3(block), shared_for(block), *what, a, known);
}

/* ---- After it ---- */

typedef struct values_job {
    value_kind kind;
    int64_t n;
    double *values;
    const double *known;
    const int *info;
    double *check;
} values_job;

/* The larger; NaN where one is NaN. */
__device__ static double worse(double a, double b) {
    return a <= b || isnan(b) ? b : a;
}

__device__ static double defect_of(value_kind kind, int64_t n, double re, double im, double squares,
                                   const double *known) {
    double norm = known[KNOWN_NORM] > 0 ? 1 : known[KNOWN_NORM];
    double excess = sqrt(squares) - norm;
    double first = hypot(re - known[KNOWN_RE], im - known[KNOWN_IM]) / sqrt((double)n);
    if (kind == VALUES_SINGULAR)
        return fabs(excess);
    return worse(kind == VALUES_GENERAL ? excess : fabs(excess), first);
}

static __global__ void __launch_bounds__(BLOCK_LARGE) values_kernel(values_job job) {
    double *shared = shared_memory<double>();
    int64_t width = job.kind == VALUES_GENERAL ? 2 : 1;
    double *values = job.values + blockIdx.x * job.n * width;
    const double *known = job.known + static_cast<int64_t>(blockIdx.x) * KNOWN;
    double unit = known[KNOWN_NORM] > 0 ? known[KNOWN_NORM] : 1, re = 0, im = 0, squares = 0;
    for (int64_t i = threadIdx.x; i < job.n * width; i += blockDim.x) {
        double x = values[i] / unit;
        squares += x * x;
        re += i % width == 0 ? x : 0;
        im += i % width == 1 ? x : 0;
        values[i] *= known[KNOWN_UNIT];
    }
    re = block_sum(re, shared);
    im = block_sum(im, shared);
    squares = block_sum(squares, shared);
    if (threadIdx.x > 0)
        return;
    double defect = defect_of(job.kind, job.n, re, im, squares, known);
    int info = job.info[blockIdx.x];
    job.check[blockIdx.x] = info != 0 ? -fabs((double)info) : worse(defect, 0);
}

szg_status check_values(szg_context *context, cudaStream_t stream, value_kind kind, int64_t count,
                        int64_t n, double *values, const double *known, const int *info,
                        double *check) {
    unsigned block = block_for(n);
    return launch(context, stream, values_kernel, dim3(static_cast<unsigned>(count)), dim3(block),
                  shared_for(block), values_job{kind, n, values, known, info, check});
}

static __global__ void rows_kernel(int width, int64_t n, const double *product,
                                   const double *factor, const double *v, double *out) {
    double *shared = shared_memory<double>();
    int64_t row = blockIdx.x, count = n * width;
    double left = 0, length = 0;
    for (int64_t j = threadIdx.x; j < count; j += blockDim.x) {
        double x = v[row * count + j], rest = product[row * count + j] - factor[row] * x;
        left += rest * rest;
        length += x * x;
    }
    left = block_sum(left, shared);
    length = block_sum(length, shared);
    if (threadIdx.x == 0) {
        out[2 * row] = sqrt(left);
        out[2 * row + 1] = fabs(sqrt(length) - 1);
    }
}

szg_status check_rows(szg_context *context, cudaStream_t stream, int width, int64_t rows, int64_t n,
                      const double *product, const double *factor, const double *v, double *out) {
    return launch(context, stream, rows_kernel, dim3(static_cast<unsigned>(rows)),
                  dim3(BLOCK_SMALL), shared_for(BLOCK_SMALL), width, n, product, factor, v, out);
}

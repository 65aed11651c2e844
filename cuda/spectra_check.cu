#include <float.h>
#include <math.h>

#include <hardware.cuh>

#include "spectra_check.h"

enum {
    BLOCK_TINY = 32,    /* threads for a matrix of order 8 or less: two numbers each */
    BLOCK_SMALL = 128,  /* for one of a batch */
    BLOCK_LARGE = 1024, /* for a larger one, which has several blocks */
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

/* ---- Before the solver ----
 *
 * A warp takes pieces of rows in turn, over all blocks of the matrix, so that a triangle burdens
 * them evenly. How many blocks it has depends on its shape alone: its numbers have the same bits in
 * every batch and on every device. With several of them each kernel leaves its partial results to
 * the next, which adds them up in the order of the blocks. */

enum {
    PIECE = 4096, /* numbers of a row, a warp's at one time */
    PARTS_MOST = 512,
    PARTIAL_LARGEST = 0,
    PARTIAL_RE,
    PARTIAL_IM,
    PARTIAL_SQUARES,
    PARTIAL /* results of a block */
};

typedef struct measure_job {
    measured what;
    int64_t parts, pieces; /* blocks of a matrix; pieces of a row */
    double *a, *known;
    double *partial; /* [count][parts][PARTIAL] */
} measure_job;

typedef struct measure_sums {
    double re, im, squares;
} measure_sums;

static int64_t order_of(const measured *what) {
    return what->rows > what->columns ? what->rows : what->columns;
}

static int64_t pieces_of(const measured *what) {
    return (what->columns * what->width + PIECE - 1) / PIECE;
}

static int64_t parts_of(const measured *what) {
    const int64_t warps = BLOCK_LARGE / 32, most = PARTS_MOST;
    int64_t parts = (what->rows * pieces_of(what) + warps - 1) / warps;
    return order_of(what) <= SMALL_ORDER ? 1 : parts < most ? parts : most;
}

/* Calls visit(index, weight, diagonal) for the numbers that count of one part of a matrix. */
template <class Visit>
__device__ void visit_part(const measure_job &job, int64_t part, Visit visit) {
    const measured &what = job.what;
    int64_t warps = blockDim.x / 32, pieces = what.rows * job.pieces;
    for (int64_t at = part * warps + threadIdx.x / 32; at < pieces; at += job.parts * warps) {
        int64_t i = at / job.pieces, first = at % job.pieces * PIECE;
        int64_t row = (what.lower ? i + 1 : what.columns) * what.width;
        int64_t end = first + PIECE < row ? first + PIECE : row;
        for (int64_t j = first + threadIdx.x % 32; j < end; j += 32) {
            int64_t column = j / what.width;
            bool imaginary = j % what.width == 1, diagonal = column == i;
            if (what.lower && imaginary && diagonal)
                continue;
            visit(i * what.columns * what.width + j, what.lower && !diagonal ? 2.0 : 1.0,
                  diagonal ? (imaginary ? 2 : 1) : 0);
        }
    }
}

/* A power of two that brings `largest` to between 1 and 2; NaN for infinity. */
__device__ static int exponent_of(double largest) {
    return largest > 0 && largest <= DBL_MAX ? ilogb(largest) : 0;
}

__device__ static bool is_scaled(int exponent) {
    return exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX;
}

/* Powers beyond 2^1000 would leave the exponents. */
__device__ static double power(int exponent) {
    return ldexp(1.0, exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent);
}

__device__ static double part_largest(const measure_job &job, const double *a, int64_t part,
                                      double *shared) {
    double largest = 0;
    visit_part(job, part, [&](int64_t at, double, int) { largest = fmax(largest, fabs(a[at])); });
    return block_largest(largest, shared);
}

/* Scales the part too, if the matrix is to be scaled. */
__device__ static measure_sums part_sums(const measure_job &job, double *a, int64_t part,
                                         int exponent, double *shared) {
    double unit = power(-exponent);
    bool scaled = is_scaled(exponent);
    measure_sums sums = {0, 0, 0};
    visit_part(job, part, [&](int64_t at, double weight, int diagonal) {
        double x = a[at] * unit;
        sums.squares += weight * x * x;
        sums.re += diagonal == 1 ? x : 0;
        sums.im += diagonal == 2 ? x : 0;
        if (scaled)
            a[at] = x;
    });
    return {block_sum(sums.re, shared), block_sum(sums.im, shared),
            block_sum(sums.squares, shared)};
}

__device__ static void conclude(double largest, const measure_sums &sums, double *known) {
    int exponent = exponent_of(largest);
    double norm = sqrt(sums.squares);
    known[KNOWN_RE] = largest > 0 ? sums.re / norm : sums.re;
    known[KNOWN_IM] = largest > 0 ? sums.im / norm : sums.im;
    known[KNOWN_NORM] = is_scaled(exponent) ? norm : norm * power(exponent);
    known[KNOWN_UNIT] = is_scaled(exponent) ? 1 / power(-exponent) : 1;
}

__device__ static double *matrix_at(const measure_job &job, int64_t matrix) {
    return job.a + matrix * job.what.rows * job.what.columns * job.what.width;
}

/* A block a matrix. */
static __global__ void __launch_bounds__(BLOCK_LARGE) measure_kernel(measure_job job) {
    double *shared = shared_memory<double>(), *a = matrix_at(job, blockIdx.x);
    double largest = part_largest(job, a, 0, shared);
    measure_sums sums = part_sums(job, a, 0, exponent_of(largest), shared);
    if (threadIdx.x == 0)
        conclude(largest, sums, job.known + static_cast<int64_t>(blockIdx.x) * KNOWN);
}

/* Over the parts of one matrix. */
__device__ static double parts_largest(const measure_job &job, const double *partial,
                                       double *shared) {
    double largest = 0;
    for (int64_t part = threadIdx.x; part < job.parts; part += blockDim.x)
        largest = fmax(largest, partial[part * PARTIAL + PARTIAL_LARGEST]);
    return block_largest(largest, shared);
}

static __global__ void __launch_bounds__(BLOCK_LARGE) largest_kernel(measure_job job) {
    int64_t matrix = blockIdx.x / job.parts, part = blockIdx.x % job.parts;
    double largest = part_largest(job, matrix_at(job, matrix), part, shared_memory<double>());
    if (threadIdx.x == 0)
        job.partial[static_cast<int64_t>(blockIdx.x) * PARTIAL + PARTIAL_LARGEST] = largest;
}

static __global__ void __launch_bounds__(BLOCK_LARGE) sums_kernel(measure_job job) {
    double *shared = shared_memory<double>();
    int64_t matrix = blockIdx.x / job.parts, part = blockIdx.x % job.parts;
    double *partial = job.partial + matrix * job.parts * PARTIAL;
    int exponent = exponent_of(parts_largest(job, partial, shared));
    measure_sums sums = part_sums(job, matrix_at(job, matrix), part, exponent, shared);
    if (threadIdx.x > 0)
        return;
    partial[part * PARTIAL + PARTIAL_RE] = sums.re;
    partial[part * PARTIAL + PARTIAL_IM] = sums.im;
    partial[part * PARTIAL + PARTIAL_SQUARES] = sums.squares;
}

/* A block a matrix. */
static __global__ void __launch_bounds__(BLOCK_SMALL) conclude_kernel(measure_job job) {
    double *shared = shared_memory<double>();
    const double *partial = job.partial + blockIdx.x * job.parts * PARTIAL;
    double largest = parts_largest(job, partial, shared);
    measure_sums sums = {0, 0, 0};
    for (int64_t part = threadIdx.x; part < job.parts; part += blockDim.x) {
        sums.re += partial[part * PARTIAL + PARTIAL_RE];
        sums.im += partial[part * PARTIAL + PARTIAL_IM];
        sums.squares += partial[part * PARTIAL + PARTIAL_SQUARES];
    }
    sums = {block_sum(sums.re, shared), block_sum(sums.im, shared),
            block_sum(sums.squares, shared)};
    if (threadIdx.x == 0)
        conclude(largest, sums, job.known + static_cast<int64_t>(blockIdx.x) * KNOWN);
}

int64_t check_bytes(const measured *what) {
    int64_t parts = parts_of(what);
    return what->count * (KNOWN + (parts > 1 ? parts * PARTIAL : 0)) * (int64_t)sizeof(double);
}

szg_status check_measure(szg_context *context, cudaStream_t stream, const measured *what, double *a,
                         double *known) {
    unsigned block = block_for(order_of(what)), count = static_cast<unsigned>(what->count);
    measure_job job = {.what = *what,
                       .parts = parts_of(what),
                       .pieces = pieces_of(what),
                       .a = a,
                       .known = known,
                       .partial = known + what->count * KNOWN};
    if (job.parts == 1)
        return launch(context, stream, measure_kernel, dim3(count), dim3(block), shared_for(block),
                      job);
    dim3 blocks(static_cast<unsigned>(what->count * job.parts));
    SZG_TRY(launch(context, stream, largest_kernel, blocks, dim3(block), shared_for(block), job));
    SZG_TRY(launch(context, stream, sums_kernel, blocks, dim3(block), shared_for(block), job));
    return launch(context, stream, conclude_kernel, dim3(count), dim3(BLOCK_SMALL),
                  shared_for(BLOCK_SMALL), job);
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

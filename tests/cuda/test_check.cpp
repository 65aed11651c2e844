/* What is measured of a matrix before a solver destroys it: matrices of a block, of several, and of
 * more than take turns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern "C" {
#include "rounding.h"
}
#include "plugin_parts.h"
#include "spectra_check.h"

/* A block ends at order 512; beyond it one has 32 pieces of rows, of 4096 numbers, and a matrix 512
 * blocks at most. */
static const measured shapes[] = {
    {1, false, 3, 1, 1},     {2, true, 2, 8, 8},      {1, true, 2, 9, 9},
    {1, true, 1, 512, 512},  {1, true, 2, 513, 513},  {2, true, 1, 544, 544},
    {1, false, 1, 545, 545}, {2, false, 1, 3, 600},   {1, false, 1, 600, 3},
    {1, false, 2, 33, 4096}, {1, false, 1, 33, 4097}, {2, false, 1, 17, 2048},
    {2, false, 1, 17, 2049}, {1, false, 1, 16385, 2}, {2, true, 1, 577, 577},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int64_t numbers_of(const measured *what) {
    return what->count * what->rows * what->columns * what->width;
}

/* What check_measure leaves of `host`, which becomes the array as the solver meets it. */
static void measure(const measured *what, double *host, double *known) {
    session *self = parts_open(SZGI_PRECISION_F32);
    size_t count = static_cast<size_t>(numbers_of(what));
    double *a = device_array<double>(count);
    double *out = device_array<double>(static_cast<size_t>(check_bytes(what)) / sizeof *out);
    ck_cuda(cudaSuccess, cudaMemcpy(a, host, count * sizeof *a, cudaMemcpyHostToDevice));
    ck_szg_ok(check_measure(test_context(), self->stream, what, a, out));
    read_array(known, out, static_cast<size_t>(what->count) * KNOWN);
    read_array(host, a, count);
    ck_cuda(cudaSuccess, cudaFree(a));
    ck_cuda(cudaSuccess, cudaFree(out));
    parts_close(self);
}

typedef struct sums {
    long double re, im, squares;
} sums;

/* By the definition, entry by entry; a triangle stands for the whole matrix. */
static sums sums_of(const measured *what, const double *a) {
    sums total = {0, 0, 0};
    for (int64_t i = 0; i < what->rows; i++)
        for (int64_t j = 0; j < (what->lower ? i + 1 : what->columns); j++) {
            const double *entry = a + (i * what->columns + j) * what->width;
            double im = what->width == 2 && !(what->lower && i == j) ? entry[1] : 0;
            long double square = (long double)entry[0] * entry[0] + (long double)im * im;
            total.squares += what->lower && j < i ? 2 * square : square;
            total.re += i == j ? entry[0] : 0;
            total.im += i == j ? im : 0;
        }
    return total;
}

/* Additions after each other on the way of one number to the sum: those of a lane of a warp, of a
 * warp's lanes, of a block's warps, and of the blocks, by the lanes and warps of one. */
static double additions(const measured *what) {
    int64_t pieces = (what->columns * what->width + 4095) / 4096;
    int64_t lane = (what->columns * what->width + pieces * 32 - 1) / 32;
    int64_t larger = what->rows > what->columns ? what->rows : what->columns;
    int64_t warps = larger <= 8 ? 1 : larger <= 512 ? 4 : 32 * 512;
    if (larger > 512 && what->rows * pieces < warps)
        warps = what->rows * pieces;
    int64_t turns = (what->rows * pieces + warps - 1) / warps;
    return (double)(turns * lane + 5 + 32 + 512 / 128 + 5 + 4);
}

static void ck_measured(const measured *what, const double *a, const double *known) {
    int64_t each = numbers_of(what) / what->count;
    for (int64_t m = 0; m < what->count; m++, known += KNOWN) {
        sums want = sums_of(what, a + m * each);
        double norm = (double)sqrtl(want.squares);
        /* Roundings of a square, of the sums, of the root, which halves what was before it. */
        ck_close(known[KNOWN_NORM], norm, gamma_of(additions(what) + 3) * norm);
        /* The sum of the diagonal's moduli is at most sqrt(n) ||a||_F; roundings of sum, norm and
         * quotient. */
        double n = (double)(what->rows < what->columns ? what->rows : what->columns);
        double bound = gamma_of(2 * additions(what) + 8) * sqrt(n);
        ck_close(known[KNOWN_RE], (double)want.re / norm, bound);
        ck_close(known[KNOWN_IM], (double)want.im / norm, bound);
    }
}

/* Integers from -4 to 4, -4 among them: every sum is exact, and an entry that is left out or taken
 * twice shows. */
START_TEST(every_number_counts_once) {
    const measured *what = &shapes[_i];
    int64_t count = numbers_of(what), each = count / what->count;
    szgi_stream stream = {};
    stream.seed = test_seed(), stream.purpose = 0x6b;
    double *a = new_numbers(count), known[3 * KNOWN];
    for (int64_t i = 0; i < count; i++) {
        double size = 1 + (double)szgi_random_below(&stream, (uint64_t)(2 * i), 4);
        a[i] = i % each == 0                                          ? -4
               : szgi_random_below(&stream, (uint64_t)(2 * i + 1), 2) ? size
                                                                      : -size;
    }
    measure(what, a, known);
    for (int64_t m = 0; m < what->count; m++) {
        sums want = sums_of(what, a + m * each);
        double norm = sqrt((double)want.squares);
        ck_assert(known[m * KNOWN + KNOWN_NORM] == norm);
        ck_assert(known[m * KNOWN + KNOWN_RE] == (double)want.re / norm);
        ck_assert(known[m * KNOWN + KNOWN_IM] == (double)want.im / norm);
        ck_assert(known[m * KNOWN + KNOWN_UNIT] == 1);
    }
    szgi_memory_free(a);
}
END_TEST

/* The same bits in whatever order blocks and threads run, alone and in a batch. */
START_TEST(rounding_has_one_order) {
    const char *orders[] = {"forward", "reverse", "31"};
    measured what = shapes[_i];
    int64_t count = numbers_of(&what), each = count / what.count;
    szgi_stream stream = {};
    stream.seed = test_seed(), stream.purpose = 0x6c;
    double *a = new_numbers(count), *given = new_numbers(count), known[2][3 * KNOWN], alone[KNOWN];
    szgi_random_fill_normal(&stream, 0, count, given);
    for (const char *order : orders) {
        bool first = order == orders[0];
        setenv("SZG_EMULATED_ORDER", order, 1);
        memcpy(a, given, (size_t)count * sizeof *a);
        measure(&what, a, known[first ? 0 : 1]);
        if (first)
            ck_measured(&what, a, known[0]);
        else
            ck_assert_int_eq(
                memcmp(known[0], known[1], (size_t)what.count * KNOWN * sizeof **known), 0);
    }
    unsetenv("SZG_EMULATED_ORDER");
    int64_t last = what.count - 1;
    what.count = 1;
    measure(&what, a + last * each, alone);
    ck_assert_int_eq(memcmp(alone, known[0] + last * KNOWN, sizeof alone), 0);
    szgi_memory_free(a), szgi_memory_free(given);
}
END_TEST

/* The numbers that count, and they alone, are multiplied by one power of two, which is returned. */
static double ck_scaled(const measured *what, const double *a, const double *scaled) {
    double unit = scaled[0] / a[0];
    int exponent;
    ck_assert(frexp(unit, &exponent) == 0.5);
    for (int64_t i = 0; i < what->rows; i++)
        for (int64_t j = 0; j < what->columns * what->width; j++) {
            int64_t at = i * what->columns * what->width + j, column = j / what->width;
            bool counts = !what->lower || column < i || j == i * what->width;
            ck_assert(scaled[at] == (counts ? a[at] * unit : a[at]));
        }
    return unit;
}

/* Matrices whose entries lie beyond 2^300 and 2^-300 are scaled, every block of them. */
START_TEST(extreme_numbers_are_scaled) {
    measured what = shapes[_i];
    szgi_stream stream = {};
    stream.seed = test_seed(), stream.purpose = 0x6d;
    what.count = 1;
    int64_t count = numbers_of(&what);
    double *a = new_numbers(count), *scaled = new_numbers(count), known[KNOWN];
    for (int exponent = -400; exponent <= 400; exponent += 800) {
        szgi_random_fill_normal(&stream, 0, count, a);
        for (int64_t i = 0; i < count; i++)
            scaled[i] = a[i] = ldexp(a[i], exponent);
        measure(&what, scaled, known);
        ck_assert(known[KNOWN_UNIT] == 1 / ck_scaled(&what, a, scaled));
        ck_measured(&what, scaled, known);
    }
    szgi_memory_free(a), szgi_memory_free(scaled);
}
END_TEST

/* One number that is not finite anywhere, and no measure is. */
START_TEST(numbers_that_are_not_finite_show) {
    const measured what = {1, true, 1, 600, 600};
    const int64_t places[] = {0, 31 * 600, 32 * 600 + 3, 599 * 600 + 599};
    double *a = new_numbers(600 * 600), known[KNOWN];
    for (int64_t place : places)
        for (double strange : {(double)NAN, (double)INFINITY}) {
            for (int64_t i = 0; i < 600 * 600; i++)
                a[i] = i == place ? strange : 1;
            measure(&what, a, known);
            ck_assert(!(known[KNOWN_NORM] <= 1e300));
        }
    szgi_memory_free(a);
}
END_TEST

/* cuSOLVER takes the batches that it is given, and one matrix more only where the number of
 * matrices is what limits it. */
START_TEST(batches_of_one_call_are_taken) {
    cusolverDnHandle_t handle;
    size_t on_device, on_host;
    double any;
    ck_assert_int_eq(cusolverDnCreate(&handle), CUSOLVER_STATUS_SUCCESS);
    for (int64_t n : {1, 2, 32, 128, 361, 362, 363, 512, 1024, 32767, 32768, 46340}) {
        int64_t most = spectra_eigen_batch_most(n);
        for (int64_t batch : {most, most + 1}) {
            cusolverStatus_t status = cusolverDnXsyevBatched_bufferSize(
                handle, NULL, CUSOLVER_EIG_MODE_NOVECTOR, CUBLAS_FILL_MODE_UPPER, n, CUDA_R_64F,
                &any, n, CUDA_R_64F, &any, CUDA_R_64F, &on_device, &on_host, batch);
            bool taken = batch == most || most == 16384;
            ck_assert_int_eq(status,
                             taken ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE);
        }
    }
    cusolverDnDestroy(handle);
}
END_TEST

TEST_FILE("check") {
    test_add_loop(suite, "every_number_counts_once", every_number_counts_once, SHAPES);
    test_add_loop(suite, "rounding_has_one_order", rounding_has_one_order, SHAPES);
    test_add_loop(suite, "extreme_numbers_are_scaled", extreme_numbers_are_scaled, SHAPES);
    test_add(suite, "numbers_that_are_not_finite_show", numbers_that_are_not_finite_show);
    test_add(suite, "batches_of_one_call_are_taken", batches_of_one_call_are_taken);
}

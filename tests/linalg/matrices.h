/* Random corner-biased matrices for the tests of backend. */
#ifndef SZG_TESTS_MATRICES_H
#define SZG_TESTS_MATRICES_H

#include <math.h>
#include <string.h>
#include "linalg/linalg.h"
#include "network/ops.h"

#include "suite.h"
#include "tested_backend.h"

static const double EPS = 0x1p-52;

/* Sizes with the corners: one, two, three, odd, prime, powers of two, one around them. */
static const int64_t SIZES[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 33};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

static inline double *random_numbers(uint32_t step, int64_t count) {
    return new_test_reals(0x0b, step, count);
}

static inline double *copy_numbers(int64_t count, const double *from) {
    double *block = new_numbers(count);
    memcpy(block, from, (size_t)count * sizeof *block);
    return block;
}

/* `width` 1: symmetric, 2: Hermitian, from the lower triangle. */
static inline void make_hermitian(int64_t n, int width, double *a) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            a[(j * n + i) * width] = a[(i * n + j) * width];
            if (width == 2)
                a[(j * n + i) * 2 + 1] = i == j ? 0 : -a[(i * n + j) * 2 + 1];
            if (width == 2 && i == j)
                a[(i * n + i) * 2 + 1] = 0;
        }
}

/* Refusals of host memory that a call must meet: a device's work takes none by szgi_memory_alloc.
 */
static inline int64_t least_refusals(void) {
    return test_on_device() ? 0 : 1;
}

/* On the cpu the very same numbers, on a device, where a batch has a solver of its own, close ones.
 */
static inline void check_same(int64_t count, const double *got, const double *want, double bound) {
    if (!test_on_device())
        ck_assert_int_eq(memcmp(got, want, (size_t)count * sizeof *got), 0);
    for (int64_t i = 0; i < count; i++)
        ck_close(got[i], want[i], bound);
}

#endif

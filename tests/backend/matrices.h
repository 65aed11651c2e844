/* Random corner-biased matrices for the tests of backend. */
#ifndef SZG_TESTS_MATRICES_H
#define SZG_TESTS_MATRICES_H

#include <math.h>
#include <string.h>
#include <szego/backend.h>
#include <szego/ops.h>

#include "suite.h"

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

static inline void use_backend(const char *name) {
    ck_szg_ok(szg_backend_select(test_context(), name));
}

#endif

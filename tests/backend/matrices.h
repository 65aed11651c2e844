/* Random corner-biased matrices, and allocation failures, for the tests of backend. */
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

static inline double *new_numbers(int64_t count) {
    double *block;
    ck_szg_ok(szg_memory_alloc(test_context(), count, sizeof *block, &block));
    return block;
}

static inline double *random_numbers(uint32_t step, int64_t count) {
    szg_stream stream = {.seed = test_seed(), .step = step, .purpose = 0x0b};
    double *block = new_numbers(count);
    for (int64_t i = 0; i < count; i++)
        block[i] = test_real(&stream, (uint64_t)i);
    return block;
}

static inline double *copy_numbers(int64_t count, const double *from) {
    double *block = new_numbers(count);
    memcpy(block, from, (size_t)count * sizeof *block);
    return block;
}

/* Frobenius norm of `count` numbers that stay below 1e150. */
static inline double norm_of(int64_t count, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
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

/* `call` must fail with SZG_ENOMEM at each of its allocations, and then succeed. */
#define ck_survives_failed_allocations(call)                                                       \
    do {                                                                                           \
        szg_status ck_result_ = SZG_ENOMEM;                                                        \
        for (int64_t ck_at_ = 1; ck_result_ == SZG_ENOMEM; ck_at_++) {                             \
            ck_assert_int_lt(ck_at_, 200);                                                         \
            szg_memory_fail_after(test_context(), ck_at_);                                         \
            ck_result_ = (call);                                                                   \
        }                                                                                          \
        szg_memory_fail_after(test_context(), 0);                                                  \
        ck_assert_msg(ck_result_ == SZG_OK, "%s: %s", #call, szg_context_message(test_context())); \
    } while (0)

#endif

/* Random corner-biased Toeplitz matrices of all kinds, and allocation failures. */
#ifndef SZG_TESTS_TOEPLITZ_H
#define SZG_TESTS_TOEPLITZ_H

#include <math.h>
#include <string.h>
#include <szego/backend.h>
#include <szego/factored.h>
#include <szego/toeplitz.h>

#include "suite.h"

static const double EPS = 0x1p-52;

/* One, two, three, odd, prime, powers of two, one around them; on both sides of the direct
 * products. */
static const int64_t SIZES[] = {1, 2, 3, 5, 8, 16, 31, 32, 33, 37, 64, 65, 101, 128};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

static inline double *new_numbers(int64_t count) {
    double *block;
    ck_szg_ok(szg_memory_alloc(test_context(), count, sizeof *block, &block));
    return block;
}

static inline double *random_numbers(uint32_t step, int64_t count) {
    szg_stream stream = {.seed = test_seed(), .step = step, .purpose = 0x70};
    double *block = new_numbers(count);
    for (int64_t i = 0; i < count; i++)
        block[i] = test_real(&stream, (uint64_t)i);
    return block;
}

static inline double norm_of(int64_t count, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* A matrix of any kind with `count` lags a side. */
static inline szg_toeplitz *random_toeplitz(uint32_t step, szg_toeplitz_kind kind, int64_t n,
                                            int64_t count) {
    szg_context *context = test_context();
    double *a = random_numbers(step, 4 * count);
    szg_c64 *c = (szg_c64 *)a;
    szg_toeplitz *t;
    if (kind == SZG_TOEPLITZ_SYMMETRIC)
        ck_szg_ok(szg_toeplitz_open_symmetric(context, n, count, a, &t));
    else if (kind == SZG_TOEPLITZ_REAL)
        ck_szg_ok(szg_toeplitz_open_real(context, n, count, a, &t));
    else if (kind == SZG_TOEPLITZ_COMPLEX)
        ck_szg_ok(szg_toeplitz_open_complex(context, n, count, c, &t));
    else {
        c[0].im = 0;
        ck_szg_ok(szg_toeplitz_open_hermitian(context, n, count, c, &t));
    }
    szg_memory_free(a);
    return t;
}

/* The n x n matrix entry by entry, without the library's dense form. */
static inline szg_c64 *dense_of(const szg_toeplitz *t) {
    int64_t n = szg_toeplitz_size(t);
    szg_c64 *a = (szg_c64 *)new_numbers(2 * n * n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = szg_toeplitz_at(t, i - j);
    return a;
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

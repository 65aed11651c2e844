/* Random corner-biased Toeplitz matrices of all kinds. */
#ifndef SZG_TESTS_TOEPLITZ_H
#define SZG_TESTS_TOEPLITZ_H

#include <math.h>
#include <string.h>
#include "linalg/linalg.h"
#include "toeplitz/factored.h"
#include "toeplitz/toeplitz.h"

#include "suite.h"

static const double EPS = 0x1p-52;

/* One, two, three, odd, prime, powers of two, one around them; on both sides of the direct
 * products. */
static const int64_t SIZES[] = {1, 2, 3, 5, 8, 16, 31, 32, 33, 37, 64, 65, 101, 128};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

static inline double *random_numbers(uint32_t step, int64_t count) {
    return new_test_reals(0x70, step, count);
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
    szgi_memory_free(a);
    return t;
}

/* 1 - tau of n x n entries with `width` parts each, in long double, whose range no square leaves:
 * means along diagonals, then squared deviations. */
static inline long double oracle_rest(int64_t n, int width, const long double *a) {
    long double rest = 0, whole = 0;
    for (int64_t lag = 1 - n; lag < n; lag++)
        for (int part = 0; part < width; part++) {
            int64_t first = lag > 0 ? lag : 0, last = lag > 0 ? n : n + lag;
            long double mean = 0;
            for (int64_t i = first; i < last; i++)
                mean += a[(i * n + i - lag) * width + part];
            mean /= (long double)(last - first);
            for (int64_t i = first; i < last; i++) {
                long double x = a[(i * n + i - lag) * width + part];
                rest += (x - mean) * (x - mean);
                whole += x * x;
            }
        }
    return whole > 0 ? rest / whole : NAN;
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

#endif

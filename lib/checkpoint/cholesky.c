/* Right-looking, four pivots at a time: each pass over the rows below takes off four products, so
 * that a row is loaded and stored a fourth as often. A head's matrix stays in the first cache. */
#include <math.h>

#include "cholesky.h"

/* A row begins at a whole vector: what that spoils below the diagonal is not read again. */
enum { PANEL = 4, LANES = 8 };

#define INLINE static inline __attribute__((always_inline))

/* Rows first .. first + count - 1, of which the rows above have been taken off. */
INLINE bool factor_panel(int64_t n, int64_t first, int64_t count, double *a) {
    for (int64_t k = first; k < first + count; k++) {
        double *pivot = a + k * n;
        for (int64_t r = first; r < k; r++) {
            const double *above = a + r * n;
            double factor = above[k];
#pragma GCC ivdep
            for (int64_t j = k - k % LANES; j < n; j++)
                pivot[j] -= factor * above[j];
        }
        if (!(pivot[k] > 0) || !(pivot[k] <= 0x1p1023))
            return false;
        double root = sqrt(pivot[k]), inverse = 1 / root;
        for (int64_t j = k - k % LANES; j < n; j++)
            pivot[j] *= inverse;
        pivot[k] = root;
    }
    return true;
}

INLINE bool factor(int64_t n, double *restrict a) {
    int64_t first = 0;
    for (; first + PANEL <= n; first += PANEL) {
        if (!factor_panel(n, first, PANEL, a))
            return false;
        const double *u0 = a + first * n, *u1 = u0 + n, *u2 = u1 + n, *u3 = u2 + n;
        for (int64_t i = first + PANEL; i < n; i++) {
            double *row = a + i * n, f0 = u0[i], f1 = u1[i], f2 = u2[i], f3 = u3[i];
#pragma GCC ivdep
            for (int64_t j = i - i % LANES; j < n; j++)
                row[j] -= f0 * u0[j] + f1 * u1[j] + (f2 * u2[j] + f3 * u3[j]);
        }
    }
    return factor_panel(n, first, n - first, a);
}

/* The same body for three instruction sets, chosen at each call. */
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx512f,avx512dq,avx512vl,fma,prefer-vector-width=512"))) static bool
factor_wide(int64_t n, double *a) {
    return factor(n, a);
}

__attribute__((target("avx2,fma"))) static bool factor_middle(int64_t n, double *a) {
    return factor(n, a);
}

bool szgi_cholesky_upper(int64_t n, double *a) {
    if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return factor_wide(n, a);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return factor_middle(n, a);
    return factor(n, a);
}
#else
bool szgi_cholesky_upper(int64_t n, double *a) {
    return factor(n, a);
}
#endif

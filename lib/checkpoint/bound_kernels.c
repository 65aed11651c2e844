/* Matrices of a head's size, which stay in the first or second cache. */
#include <math.h>

#include "linalg/cpu_level.h"
#include "bound_kernels.h"

#define INLINE static inline __attribute__((always_inline))

/* x - a b; `fused` where the processor has it in one rounding. */
INLINE double less(double x, double a, double b, bool fused) {
    return fused ? __builtin_fma(-a, b, x) : x - a * b;
}

/* ---- Cholesky: right-looking, four pivots at a time, so that each pass over the rows below takes
 * off four products. A row begins at a whole vector: what that spoils below the diagonal is not
 * read again. ---- */

enum { PANEL = 4, LANES = 8 };

/* Rows first .. first + count - 1, of which the rows above have been taken off. */
INLINE bool factor_panel(int64_t n, int64_t first, int64_t count, double *a, bool fused) {
    for (int64_t k = first; k < first + count; k++) {
        double *pivot = a + k * n;
        for (int64_t r = first; r < k; r++) {
            const double *above = a + r * n;
            double factor = above[k];
#pragma GCC ivdep
            for (int64_t j = k - k % LANES; j < n; j++)
                pivot[j] = less(pivot[j], factor, above[j], fused);
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

INLINE bool cholesky_upper(int64_t n, double *a, bool fused) {
    int64_t first = 0;
    for (; first + PANEL <= n; first += PANEL) {
        if (!factor_panel(n, first, PANEL, a, fused))
            return false;
        const double *u0 = a + first * n, *u1 = u0 + n, *u2 = u1 + n, *u3 = u2 + n;
        for (int64_t i = first + PANEL; i < n; i++) {
            double *row = a + i * n, f0 = u0[i], f1 = u1[i], f2 = u2[i], f3 = u3[i];
#pragma GCC ivdep
            for (int64_t j = i - i % LANES; j < n; j++)
                row[j] = less(
                    less(less(less(row[j], f0, u0[j], fused), f1, u1[j], fused), f2, u2[j], fused),
                    f3, u3[j], fused);
        }
    }
    return factor_panel(n, first, n - first, a, fused);
}

/* ---- Rotations ---- */

/* Rows x and y of Q, turned among themselves, then their columns; taken off the rows of P. */
INLINE void turn_columns(int64_t n, int64_t pairs, const double *c, const double *s,
                         const double *p, double *row, bool fused) {
    double *first = row, *second = row + pairs;
#pragma GCC ivdep
    for (int64_t t = 0; t < pairs; t++) {
        double x = first[t], y = second[t];
        first[t] = p[t] - less(c[t] * x, s[t], y, fused);
        second[t] = p[pairs + t] - less(s[t] * x, -c[t], y, fused);
    }
    for (int64_t j = 2 * pairs; j < n; j++)
        row[j] = p[j] - row[j];
}

INLINE void rotated_rest(int64_t n, int64_t pairs, const double *c, const double *s,
                         const double *p, const double *q, double *out, bool fused) {
    for (int64_t t = 0; t < pairs; t++) {
        const double *x = q + t * n, *y = q + (pairs + t) * n;
        double *u = out + t * n, *v = out + (pairs + t) * n;
#pragma GCC ivdep
        for (int64_t j = 0; j < n; j++) {
            u[j] = less(c[t] * x[j], s[t], y[j], fused);
            v[j] = less(s[t] * x[j], -c[t], y[j], fused);
        }
        turn_columns(n, pairs, c, s, p + t * n, u, fused);
        turn_columns(n, pairs, c, s, p + (pairs + t) * n, v, fused);
    }
    for (int64_t i = 2 * pairs; i < n; i++) {
        double *row = out + i * n;
        for (int64_t j = 0; j < n; j++)
            row[j] = q[i * n + j];
        turn_columns(n, pairs, c, s, p + i * n, row, fused);
    }
}

/* ---- The same bodies for three instruction sets, chosen at each call ---- */

SZGI_TARGET_AVX512 static bool cholesky_avx512(int64_t n, double *a) {
    return cholesky_upper(n, a, true);
}

SZGI_TARGET_AVX2 static bool cholesky_avx2(int64_t n, double *a) {
    return cholesky_upper(n, a, true);
}

bool szgi_cholesky_upper(int64_t n, double *a) {
    szgi_cpu_level level = szgi_cpu_level_latest();
    return level >= SZGI_CPU_AVX512 ? cholesky_avx512(n, a)
           : level >= SZGI_CPU_AVX2 ? cholesky_avx2(n, a)
                                    : cholesky_upper(n, a, false);
}

SZGI_TARGET_AVX512 static void rest_avx512(int64_t n, int64_t pairs, const double *c,
                                           const double *s, const double *p, const double *q,
                                           double *out) {
    rotated_rest(n, pairs, c, s, p, q, out, true);
}

SZGI_TARGET_AVX2 static void rest_avx2(int64_t n, int64_t pairs, const double *c, const double *s,
                                       const double *p, const double *q, double *out) {
    rotated_rest(n, pairs, c, s, p, q, out, true);
}

void szgi_rotated_rest(int64_t n, int64_t pairs, const double *c, const double *s, const double *p,
                       const double *q, double *out) {
    szgi_cpu_level level = szgi_cpu_level_latest();
    if (level >= SZGI_CPU_AVX512)
        rest_avx512(n, pairs, c, s, p, q, out);
    else if (level >= SZGI_CPU_AVX2)
        rest_avx2(n, pairs, c, s, p, q, out);
    else
        rotated_rest(n, pairs, c, s, p, q, out, false);
}

#include <math.h>

#include "kernels.h"

/* Vectors of eight doubles, whatever the processor has: GCC splits them. */
typedef double vec __attribute__((vector_size(64)));
typedef double vec_unaligned __attribute__((vector_size(64), aligned(8), may_alias));

#define INLINE static inline __attribute__((always_inline))
enum { LANES = 8, TILE = 512, ROWS = SZGI_DC_TILE_ROWS };

INLINE vec load(const double *p) {
    return *(const vec_unaligned *)p;
}

INLINE void store(double *p, vec x) {
    *(vec_unaligned *)p = x;
}

INLINE double total(vec x) {
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

/* Four reciprocals for one division, which is the slow instruction here. */
INLINE void invert4(vec x[4]) {
    vec ab = x[0] * x[1], cd = x[2] * x[3], inverse = 1.0 / (ab * cd);
    vec iab = inverse * cd, icd = inverse * ab;
    vec a = iab * x[1], b = iab * x[0], c = icd * x[3], d = icd * x[2];
    x[0] = a, x[1] = b, x[2] = c, x[3] = d;
}

INLINE void secular_sums(int64_t n, const double *d, const double *zz, double base, double tau,
                         double sums[2]) {
    vec f[4] = {{0}}, s[4] = {{0}};
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        vec x[4];
        for (int r = 0; r < 4; r++)
            x[r] = (load(d + i + r * LANES) - base) - tau;
        invert4(x);
        for (int r = 0; r < 4; r++) {
            vec q = load(zz + i + r * LANES) * x[r];
            f[r] += q;
            s[r] += q * x[r];
        }
    }
    for (; i + LANES <= n; i += LANES) {
        vec x = 1.0 / ((load(d + i) - base) - tau), q = load(zz + i) * x;
        f[0] += q;
        s[0] += q * x;
    }
    double value = total((f[0] + f[1]) + (f[2] + f[3]));
    double slope = total((s[0] + s[1]) + (s[2] + s[3]));
    for (; i < n; i++) {
        double x = 1.0 / ((d[i] - base) - tau), q = zz[i] * x;
        value += q;
        slope += q * x;
    }
    sums[0] = value;
    sums[1] = slope;
}

/* Product over j of (lambda_j - at) / (pole[j] - at); groups of four share a division. */
INLINE double ratio_product(int64_t n, double at, const double *pole, const double *base,
                            const double *tau) {
    vec product = {1, 1, 1, 1, 1, 1, 1, 1};
    int64_t j = 0;
    for (; j + 4 * LANES <= n; j += 4 * LANES) {
        vec above[4], below[4];
        for (int r = 0; r < 4; r++) {
            int64_t l = j + r * LANES;
            above[r] = (load(base + l) - at) + load(tau + l);
            below[r] = load(pole + l) - at;
        }
        product *= ((above[0] * above[1]) * (above[2] * above[3])) /
                   ((below[0] * below[1]) * (below[2] * below[3]));
    }
    for (; j + LANES <= n; j += LANES)
        product *= ((load(base + j) - at) + load(tau + j)) / (load(pole + j) - at);
    double result = 1;
    for (int lane = 0; lane < LANES; lane++)
        result *= product[lane];
    for (; j < n; j++)
        result *= ((base[j] - at) + tau[j]) / (pole[j] - at);
    return result;
}

INLINE void lowner_product(int64_t n, int64_t i, const double *d, szgi_dc_roots roots,
                           double *product) {
    *product = ratio_product(i, d[i], d, roots.base, roots.tau) *
               ratio_product(n - 1 - i, d[i], d + i + 1, roots.base + i, roots.tau + i);
}

/* out[c * 4 + r] += sum over i < n of tile[r][i] rows[c * ld + i], two rows c at a time. */
INLINE void tile_dots(int64_t n, double tile[ROWS][TILE], int64_t count, const double *rows,
                      int64_t ld, double *out) {
    for (int64_t c = 0; c < count; c += 2) {
        const double *x = rows + c * ld, *y = c + 1 < count ? x + ld : x;
        vec a[ROWS] = {{0}}, b[ROWS] = {{0}};
        int64_t i = 0;
        for (; i + LANES <= n; i += LANES) {
            vec xi = load(x + i), yi = load(y + i);
            for (int r = 0; r < ROWS; r++) {
                vec t = load(&tile[r][i]);
                a[r] += t * xi;
                b[r] += t * yi;
            }
        }
        for (int r = 0; r < ROWS; r++) {
            double p = total(a[r]), q = total(b[r]);
            for (int64_t l = i; l < n; l++) {
                p += tile[r][l] * x[l];
                q += tile[r][l] * y[l];
            }
            out[c * ROWS + r] += p;
            if (c + 1 < count)
                out[(c + 1) * ROWS + r] += q;
        }
    }
}

/* tile[r][i] = z[i] / ((d[i] - base[r]) - tau[r]); square[r] gains its squares. */
INLINE void eigenvector_tile(int64_t n, const double *d, const double *z, szgi_dc_roots roots,
                             double tile[ROWS][TILE], double square[ROWS]) {
    vec sum[ROWS] = {{0}};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vec x[ROWS], di = load(d + i), zi = load(z + i);
        for (int r = 0; r < ROWS; r++)
            x[r] = (di - roots.base[r]) - roots.tau[r];
        invert4(x);
        for (int r = 0; r < ROWS; r++) {
            vec q = zi * x[r];
            store(&tile[r][i], q);
            sum[r] += q * q;
        }
    }
    for (int r = 0; r < ROWS; r++) {
        square[r] += total(sum[r]);
        for (int64_t l = i; l < n; l++) {
            double q = z[l] / ((d[l] - roots.base[r]) - roots.tau[r]);
            tile[r][l] = q;
            square[r] += q * q;
        }
    }
}

INLINE void rotate_rows(int64_t n, const double *d, const double *z, szgi_dc_roots roots,
                        int64_t count, const double *rows, int64_t ld, double *out) {
    double tile[ROWS][TILE] __attribute__((aligned(64)));
    double square[ROWS] = {0};
    for (int64_t i = 0; i < ROWS * count; i++)
        out[i] = 0;
    for (int64_t i = 0; i < n; i += TILE) {
        int64_t width = n - i < TILE ? n - i : TILE;
        eigenvector_tile(width, d + i, z + i, roots, tile, square);
        tile_dots(width, tile, count, rows + i, ld, out);
    }
    for (int r = 0; r < ROWS; r++) {
        double inverse = 1 / sqrt(square[r]);
        for (int64_t c = 0; c < count; c++)
            out[c * ROWS + r] *= inverse;
    }
}

/* Columns that do not contain k. */
INLINE void lowner_entries(const szgi_dc_half *half, int64_t k, int64_t column, int64_t columns,
                           double *line) {
    double high = half->high[k], low = half->low[k], weight = half->weight[k];
    const double *sum = half->sine + k + column + 1, *difference = half->sine + column - k;
    const double *h = half->high + column, *l = half->low + column, *w = half->weight + column;
    int64_t i = 0;
    for (; i + LANES <= columns; i += LANES) {
        vec top = (high - load(h + i)) + (low - load(l + i));
        vec ratio = top / (load(sum + i) * load(difference + i));
        store(line + i, weight * load(w + i) * ratio);
    }
    for (; i < columns; i++)
        line[i] = weight * w[i] * (((high - h[i]) + (low - l[i])) / (sum[i] * difference[i]));
}

INLINE void lowner_rows(const szgi_dc_half *half, const int64_t k[4], int64_t column,
                        int64_t columns, int64_t count, const double *rows, int64_t ld,
                        double *out) {
    double tile[ROWS][TILE] __attribute__((aligned(64)));
    for (int64_t i = 0; i < columns; i += TILE) {
        int64_t width = columns - i < TILE ? columns - i : TILE;
        for (int r = 0; r < ROWS; r++)
            lowner_entries(half, k[r], column + i, width, tile[r]);
        tile_dots(width, tile, count, rows + i, ld, out);
    }
}

INLINE void dot(int64_t n, const double *x, const double *y, double *result) {
    vec sum[4] = {{0}};
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES)
        for (int r = 0; r < 4; r++)
            sum[r] += load(x + i + r * LANES) * load(y + i + r * LANES);
    for (; i + LANES <= n; i += LANES)
        sum[0] += load(x + i) * load(y + i);
    double rest = 0;
    for (; i < n; i++)
        rest += x[i] * y[i];
    *result = total((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

INLINE void reflect(int64_t n, double c, double *x, double *y) {
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        vec xi = load(x + i), yi = load(y + i);
        store(x + i, xi + c * yi);
        store(y + i, yi + c * xi);
    }
    for (; i < n; i++) {
        double xi = x[i], yi = y[i];
        x[i] = xi + c * yi;
        y[i] = yi + c * xi;
    }
}

/* The same bodies for three instruction sets, chosen at each call: a bit test, against O(n) work.
 * No ifunc (target_clones), whose resolvers run before a sanitizer's start-up. */
#if defined(__x86_64__) && defined(__GNUC__)
#define WIDE __attribute__((target("avx512f,avx512dq,avx512vl,fma,prefer-vector-width=512")))
#define MIDDLE __attribute__((target("avx2,fma")))
#define VARIANTS(name, parameters, arguments)                                                      \
    WIDE static void name##_wide parameters {                                                      \
        name arguments;                                                                            \
    }                                                                                              \
    MIDDLE static void name##_middle parameters {                                                  \
        name arguments;                                                                            \
    }                                                                                              \
    void szgi_dc_##name parameters {                                                               \
        if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))              \
            name##_wide arguments;                                                                 \
        else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))                  \
            name##_middle arguments;                                                               \
        else                                                                                       \
            name arguments;                                                                        \
    }
#else
#define VARIANTS(name, parameters, arguments)                                                      \
    void szgi_dc_##name parameters {                                                               \
        name arguments;                                                                            \
    }
#endif

VARIANTS(secular_sums,
         (int64_t n, const double *d, const double *zz, double base, double tau, double sums[2]),
         (n, d, zz, base, tau, sums))
VARIANTS(lowner_product,
         (int64_t n, int64_t i, const double *d, szgi_dc_roots roots, double *product),
         (n, i, d, roots, product))
VARIANTS(rotate_rows,
         (int64_t n, const double *d, const double *z, szgi_dc_roots roots, int64_t count,
          const double *rows, int64_t ld, double *out),
         (n, d, z, roots, count, rows, ld, out))
VARIANTS(lowner_rows,
         (const szgi_dc_half *half, const int64_t k[4], int64_t column, int64_t columns,
          int64_t count, const double *rows, int64_t ld, double *out),
         (half, k, column, columns, count, rows, ld, out))
VARIANTS(dot, (int64_t n, const double *x, const double *y, double *result), (n, x, y, result))
VARIANTS(reflect, (int64_t n, double c, double *x, double *y), (n, c, x, y))

void szgi_dc_lowner_row(const szgi_dc_half *half, int64_t k, int64_t column, int64_t columns,
                        double *line) {
    int64_t left = k < column ? 0 : k - column < columns ? k - column : columns;
    lowner_entries(half, k, column, left, line);
    if (k < column)
        left = -1;
    else if (left < columns)
        line[left] = 0;
    else
        return;
    lowner_entries(half, k, column + left + 1, columns - left - 1, line + left + 1);
}

#include <math.h>

#include "linalg/cpu_level.h"
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

/* Product over j of (lambda_j - x) / (pole[j] - x), x = at + shift; groups of four share a
 * division. */
INLINE double ratio_product(int64_t n, double at, double shift, const double *pole,
                            const double *base, const double *tau) {
    vec product = {1, 1, 1, 1, 1, 1, 1, 1};
    int64_t j = 0;
    for (; j + 4 * LANES <= n; j += 4 * LANES) {
        vec above[4], below[4];
        for (int r = 0; r < 4; r++) {
            int64_t l = j + r * LANES;
            above[r] = ((load(base + l) - at) + load(tau + l)) - shift;
            below[r] = (load(pole + l) - at) - shift;
        }
        product *= ((above[0] * above[1]) * (above[2] * above[3])) /
                   ((below[0] * below[1]) * (below[2] * below[3]));
    }
    for (; j + LANES <= n; j += LANES)
        product *=
            (((load(base + j) - at) + load(tau + j)) - shift) / ((load(pole + j) - at) - shift);
    double result = 1;
    for (int lane = 0; lane < LANES; lane++)
        result *= product[lane];
    for (; j < n; j++)
        result *= (((base[j] - at) + tau[j]) - shift) / ((pole[j] - at) - shift);
    return result;
}

INLINE void lowner_product(int64_t n, int64_t i, const double *d, szgi_dc_roots roots,
                           double *product) {
    *product = ratio_product(i, d[i], 0, d, roots.base, roots.tau) *
               ratio_product(n - 1 - i, d[i], 0, d + i + 1, roots.base + i, roots.tau + i);
}

INLINE void root_ratios(int64_t n, double base, double tau, const double *pole, szgi_dc_roots roots,
                        double *product) {
    *product = ratio_product(n, base, tau, pole, roots.base, roots.tau);
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

/* ---- Products of rows with tiles of 16 columns: registers hold block x 16 sums ---- */

enum { PLACES = SZGI_DC_PLACES, DEPTH = 128 };

typedef double half_vec __attribute__((vector_size(32)));

/* out[c][0..15] += sum over i < n of rows[c * ld + i] tile[i][0..15], c < block. The type is one
 * that the processor has: sums stay in its registers. */
#define TILE_BLOCK(name, type)                                                                     \
    INLINE void name(int block, int64_t n, double tile[DEPTH][PLACES], const double *rows,         \
                     int64_t ld, double *out) {                                                    \
        enum { PARTS = PLACES * sizeof(double) / sizeof(type) };                                   \
        type sum[12][PARTS];                                                                       \
        for (int c = 0; c < block; c++)                                                            \
            for (int p = 0; p < PARTS; p++)                                                        \
                sum[c][p] = (type){0};                                                             \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const type *q = (const type *)(const void *)tile[i];                                   \
            for (int c = 0; c < block; c++)                                                        \
                for (int p = 0; p < PARTS; p++)                                                    \
                    sum[c][p] += rows[c * ld + i] * q[p];                                          \
        }                                                                                          \
        for (int c = 0; c < block; c++)                                                            \
            for (int p = 0; p < PARTS; p++) {                                                      \
                const double *from = (const double *)&sum[c][p];                                   \
                double *to = out + c * PLACES + p * (int)(sizeof(type) / sizeof(double));          \
                for (int l = 0; l < (int)(sizeof(type) / sizeof(double)); l++)                     \
                    to[l] += from[l];                                                              \
            }                                                                                      \
    }
TILE_BLOCK(wide_block, vec)
TILE_BLOCK(narrow_block, half_vec)

INLINE void tile_product(bool wide, int64_t n, double tile[DEPTH][PLACES], int64_t count,
                         const double *rows, int64_t ld, double *out) {
    int64_t c = 0;
    for (; wide && c + 12 <= count; c += 12)
        wide_block(12, n, tile, rows + c * ld, ld, out + c * PLACES);
    for (; wide && c + 6 <= count; c += 6)
        wide_block(6, n, tile, rows + c * ld, ld, out + c * PLACES);
    for (; c + 3 <= count; c += 3)
        narrow_block(3, n, tile, rows + c * ld, ld, out + c * PLACES);
    for (; c < count; c++)
        narrow_block(1, n, tile, rows + c * ld, ld, out + c * PLACES);
}

/* tile[i][r] = z[i] / ((d[i] - base[r]) - tau[r]); square[r] gains its squares. */
INLINE void eigenvector_tile(int64_t n, const double *d, const double *z, szgi_dc_roots roots,
                             double tile[DEPTH][PLACES], double *square) {
    for (int r = 0; r < PLACES; r += LANES) {
        vec base = load(roots.base + r), tau = load(roots.tau + r), sum = load(square + r);
        int64_t i = 0;
        for (; i + 4 <= n; i += 4) {
            vec x[4];
            for (int l = 0; l < 4; l++)
                x[l] = (d[i + l] - base) - tau;
            invert4(x);
            for (int l = 0; l < 4; l++) {
                vec q = z[i + l] * x[l];
                store(&tile[i + l][r], q);
                sum += q * q;
            }
        }
        for (; i < n; i++) {
            vec q = z[i] / ((d[i] - base) - tau);
            store(&tile[i][r], q);
            sum += q * q;
        }
        store(square + r, sum);
    }
}

INLINE void rotate_rows_by(bool wide, int64_t n, const double *d, const double *z,
                           szgi_dc_roots roots, int64_t count, const double *rows, int64_t ld,
                           double *out) {
    double tile[DEPTH][PLACES] __attribute__((aligned(64)));
    for (int64_t i = 0; i < n; i += DEPTH) {
        int64_t width = n - i < DEPTH ? n - i : DEPTH;
        eigenvector_tile(width, d + i, z + i, roots, tile, out + count * PLACES);
        tile_product(wide, width, tile, count, rows + i, ld, out);
    }
}

/* ---- Interpolation ---- */

enum { NODES = SZGI_DC_NODES };

/* cos((2q+1) pi / 64) */
const double szgi_dc_nodes[NODES] __attribute__((aligned(64))) = {
    0.9987954562051724,    0.989176509964781,    0.970031253194544,   0.9415440651830208,
    0.9039892931234433,    0.8577286100002721,   0.8032075314806449,  0.7409511253549591,
    0.6715589548470184,    0.5956993044924334,   0.5141027441932218,  0.4275550934302821,
    0.33688985339222005,   0.2429801799032639,   0.14673047445536175, 0.049067674327418015,
    -0.049067674327418015, -0.14673047445536175, -0.2429801799032639, -0.33688985339222005,
    -0.4275550934302821,   -0.5141027441932218,  -0.5956993044924334, -0.6715589548470184,
    -0.7409511253549591,   -0.8032075314806449,  -0.8577286100002721, -0.9039892931234433,
    -0.9415440651830208,   -0.970031253194544,   -0.989176509964781,  -0.9987954562051724};

/* (-1)^q sin((2q+1) pi / 64) */
static const double node_weight[NODES] __attribute__((aligned(64))) = {
    0.049067674327418015, -0.14673047445536175, 0.2429801799032639,  -0.33688985339222005,
    0.4275550934302821,   -0.5141027441932218,  0.5956993044924334,  -0.6715589548470184,
    0.7409511253549591,   -0.8032075314806449,  0.8577286100002721,  -0.9039892931234433,
    0.9415440651830208,   -0.970031253194544,   0.989176509964781,   -0.9987954562051724,
    0.9987954562051724,   -0.989176509964781,   0.970031253194544,   -0.9415440651830208,
    0.9039892931234433,   -0.8577286100002721,  0.8032075314806449,  -0.7409511253549591,
    0.6715589548470184,   -0.5956993044924334,  0.5141027441932218,  -0.4275550934302821,
    0.33688985339222005,  -0.2429801799032639,  0.14673047445536175, -0.049067674327418015};

/* Lagrange's polynomials at x by the barycentric formula (Berrut and Trefethen 2004). */
INLINE void lagrange(double x, double out[NODES]) {
    vec q[NODES / LANES], sum = {0};
    for (int v = 0; v < NODES / LANES; v++) {
        q[v] = load(node_weight + v * LANES) / (x - load(szgi_dc_nodes + v * LANES));
        sum += q[v];
    }
    double inverse = 1 / total(sum);
    for (int v = 0; v < NODES / LANES; v++)
        store(out + v * LANES, q[v] * inverse);
    for (int i = 0; i < NODES && !(fabs(inverse) > 0); i++) /* x is a node */
        out[i] = x == szgi_dc_nodes[i];
}

INLINE void interpolate_rows_by(bool wide, const double *x, int64_t count, const double *f,
                                double *out) {
    double tile[DEPTH][PLACES] __attribute__((aligned(64)));
    for (int r = 0; r < PLACES; r++) {
        double l[NODES] __attribute__((aligned(64)));
        lagrange(x[r], l);
        for (int q = 0; q < NODES; q++)
            tile[q][r] = l[q];
    }
    tile_product(wide, NODES, tile, count, f, NODES, out);
}

INLINE void interpolate(double x, const double *f, double out[4]) {
    double l[NODES] __attribute__((aligned(64)));
    lagrange(x, l);
    for (int c = 0; c < 4; c++) {
        vec sum = {0};
        for (int v = 0; v < NODES / LANES; v++)
            sum += load(l + v * LANES) * load(f + c * NODES + v * LANES);
        out[c] = total(sum);
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

/* The same bodies for three instruction sets, chosen at each call: a comparison, against O(n) work.
 * No ifunc (target_clones), whose resolvers run before a sanitizer's start-up. */
#define CHOOSE(name, parameters, arguments, wide_body, body)                                       \
    SZGI_TARGET_AVX512 static void name##_avx512 parameters {                                      \
        wide_body;                                                                                 \
    }                                                                                              \
    SZGI_TARGET_AVX2 static void name##_avx2 parameters {                                          \
        body;                                                                                      \
    }                                                                                              \
    void szgi_dc_##name parameters {                                                               \
        szgi_cpu_level level = szgi_cpu_level_latest();                                            \
        if (level >= SZGI_CPU_AVX512)                                                              \
            name##_avx512 arguments;                                                               \
        else if (level >= SZGI_CPU_AVX2)                                                           \
            name##_avx2 arguments;                                                                 \
        else                                                                                       \
            body;                                                                                  \
    }
#define VARIANTS(name, parameters, arguments)                                                      \
    CHOOSE(name, parameters, arguments, name arguments, name arguments)

CHOOSE(rotate_rows,
       (int64_t n, const double *d, const double *z, szgi_dc_roots roots, int64_t count,
        const double *rows, int64_t ld, double *out),
       (n, d, z, roots, count, rows, ld, out),
       rotate_rows_by(true, n, d, z, roots, count, rows, ld, out),
       rotate_rows_by(false, n, d, z, roots, count, rows, ld, out))
CHOOSE(interpolate_rows, (const double *x, int64_t count, const double *f, double *out),
       (x, count, f, out), interpolate_rows_by(true, x, count, f, out),
       interpolate_rows_by(false, x, count, f, out))
VARIANTS(secular_sums,
         (int64_t n, const double *d, const double *zz, double base, double tau, double sums[2]),
         (n, d, zz, base, tau, sums))
VARIANTS(lowner_product,
         (int64_t n, int64_t i, const double *d, szgi_dc_roots roots, double *product),
         (n, i, d, roots, product))
VARIANTS(root_ratios,
         (int64_t n, double base, double tau, const double *pole, szgi_dc_roots roots,
          double *product),
         (n, base, tau, pole, roots, product))
VARIANTS(interpolate, (double x, const double *f, double out[4]), (x, f, out))
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

/* A left-looking Cholesky factorisation in tiles of 4 x 4 vectors, which stay in registers while
 * the products of the rows above are taken off: each vector that is read serves four products. A
 * panel is four columns, its rows one after another, so that a tile's operands are read in order.
 */
#include "bound_lanes.h"

#include "linalg/cpu_level.h"
#include "bound_kernels.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANES = SZGI_LAG_LANES, TILE = 4 };

typedef double vec __attribute__((vector_size(8 * LANES)));
typedef int64_t mask __attribute__((vector_size(8 * LANES)));

/* n, rounded up to whole tiles. */
static int64_t order_of(int64_t n) {
    return (n + TILE - 1) / TILE * TILE;
}

int64_t szgi_lanes_room(int64_t n) {
    return order_of(n) * order_of(n) * LANES;
}

/* ---- P - R Q R^T ---- */

typedef struct lanes_problem {
    int64_t n, order, pairs;
    const vec *c, *s;
    const double *p, *q;
    vec *a; /* the panels */
} lanes_problem;

/* The place of row i, column j, i <= j. */
INLINE vec *place_of(const lanes_problem *own, int64_t i, int64_t j) {
    return own->a + (j / TILE * own->order + i) * TILE + j % TILE;
}

INLINE void put(const lanes_problem *own, int64_t i, int64_t j, vec turned) {
    *place_of(own, i, j) = own->p[i * own->n + j] - turned;
}

/* The four entries of pairs x <= y. */
INLINE void put_pairs(const lanes_problem *own, int64_t x, int64_t y) {
    int64_t n = own->n, pairs = own->pairs;
    const double *first = own->q + x * n, *second = first + pairs * n;
    vec c = own->c[x], s = own->s[x], cy = own->c[y], sy = own->s[y];
    vec u = c * first[y] - s * second[y], u_y = c * first[pairs + y] - s * second[pairs + y];
    vec v = s * first[y] + c * second[y], v_y = s * first[pairs + y] + c * second[pairs + y];
    put(own, x, y, cy * u - sy * u_y);
    put(own, x, pairs + y, sy * u + cy * u_y);
    put(own, pairs + x, pairs + y, sy * v + cy * v_y);
    if (x < y)
        put(own, y, pairs + x, cy * v - sy * v_y);
}

/* The rest of P; beyond n, the unit matrix. */
INLINE void fill(const lanes_problem *own) {
    int64_t n = own->n, pairs = own->pairs;
    for (int64_t x = 0; x < pairs; x++) {
        const double *first = own->q + x * n, *second = first + pairs * n;
        for (int64_t y = x; y < pairs; y++)
            put_pairs(own, x, y);
        for (int64_t j = 2 * pairs; j < n; j++) {
            put(own, x, j, own->c[x] * first[j] - own->s[x] * second[j]);
            put(own, pairs + x, j, own->s[x] * first[j] + own->c[x] * second[j]);
        }
    }
    for (int64_t i = 2 * pairs; i < n; i++)
        for (int64_t j = i; j < n; j++)
            put(own, i, j, (vec){0} + own->q[i * n + j]);
    for (int64_t j = n; j < own->order; j++)
        for (int64_t i = 0; i <= j; i++)
            *place_of(own, i, j) = (vec){0} + (i == j);
}

/* ---- The factor ---- */

/* A tile less the products of the `above` rows of panels x and y. */
INLINE void take_off(int64_t above, const vec *x, const vec *y, vec tile[TILE][TILE]) {
    for (int64_t k = 0; k < above; k++, x += TILE, y += TILE)
#pragma GCC unroll 4
        for (int i = 0; i < TILE; i++)
#pragma GCC unroll 4
            for (int j = 0; j < TILE; j++)
                tile[i][j] -= x[i] * y[j];
}

INLINE void load(const vec *from, vec tile[TILE][TILE]) {
#pragma GCC unroll 16
    for (int i = 0; i < TILE * TILE; i++)
        tile[i / TILE][i % TILE] = from[i];
}

INLINE void store(vec tile[TILE][TILE], vec *to) {
#pragma GCC unroll 16
    for (int i = 0; i < TILE * TILE; i++)
        to[i] = tile[i / TILE][i % TILE];
}

/* Factors a tile on the diagonal; returns the lanes whose pivots are positive. */
INLINE mask factor_tile(vec tile[TILE][TILE], vec inverse[TILE]) {
    mask good = {0};
    good = ~good;
#pragma GCC unroll 4
    for (int k = 0; k < TILE; k++) {
        vec pivot = tile[k][k], root;
        good &= (pivot > 0) & (pivot <= 0x1p1023);
        for (int lane = 0; lane < LANES; lane++)
            root[lane] = __builtin_sqrt(pivot[lane]);
        inverse[k] = 1 / root;
        tile[k][k] = root;
#pragma GCC unroll 4
        for (int j = k + 1; j < TILE; j++)
            tile[k][j] *= inverse[k];
#pragma GCC unroll 4
        for (int i = k + 1; i < TILE; i++)
#pragma GCC unroll 4
            for (int j = i; j < TILE; j++)
                tile[i][j] -= tile[k][i] * tile[k][j];
    }
    return good;
}

/* The rows of the factor to the right of a diagonal tile. */
INLINE void solve_tile(vec diagonal[TILE][TILE], vec inverse[TILE], vec tile[TILE][TILE]) {
#pragma GCC unroll 4
    for (int i = 0; i < TILE; i++)
#pragma GCC unroll 4
        for (int j = 0; j < TILE; j++) {
#pragma GCC unroll 4
            for (int k = 0; k < i; k++)
                tile[i][j] -= diagonal[k][i] * tile[k][j];
            tile[i][j] *= inverse[i];
        }
}

INLINE unsigned bits_of(mask good) {
    unsigned out = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        out |= good[lane] ? 1U << lane : 0;
    return out;
}

INLINE unsigned factor(const lanes_problem *own) {
    int64_t order = own->order;
    unsigned good = ~(~0U << LANES);
    for (int64_t i = 0; i < order && good; i += TILE) {
        vec *x = own->a + i * order, diagonal[TILE][TILE], inverse[TILE], tile[TILE][TILE];
        load(x + i * TILE, diagonal);
        take_off(i, x, x, diagonal);
        good &= bits_of(factor_tile(diagonal, inverse));
        for (int64_t j = i + TILE; j < order; j += TILE) {
            vec *y = own->a + j * order;
            load(y + i * TILE, tile);
            take_off(i, x, y, tile);
            solve_tile(diagonal, inverse, tile);
            store(tile, y + i * TILE);
        }
    }
    return good;
}

SZGI_TARGET_AVX512 static unsigned factored_avx512(const lanes_problem *own) {
    fill(own);
    return factor(own);
}

/* ---- Lane by lane: vectors that processors do not have would spill ---- */

static unsigned factored_each(const lanes_problem *own) {
    int64_t n = own->n, pairs = own->pairs;
    double *t = (double *)own->a, *c = t + n * n, *s = c + pairs;
    unsigned good = 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (int64_t i = 0; i < pairs; i++) {
            c[i] = own->c[i][lane];
            s[i] = own->s[i][lane];
        }
        szgi_rotated_rest(n, pairs, c, s, own->p, own->q, t);
        good |= szgi_cholesky_upper(n, t) ? 1U << lane : 0;
    }
    return good;
}

unsigned szgi_lanes_factored(int64_t n, int64_t pairs, const double *c, const double *s,
                             const double *p, const double *q, double *room) {
    const lanes_problem own = {.n = n,
                               .order = order_of(n),
                               .pairs = pairs,
                               .c = (const vec *)(const void *)c,
                               .s = (const vec *)(const void *)s,
                               .p = p,
                               .q = q,
                               .a = (vec *)(void *)room};
    return szgi_cpu_level_latest() >= SZGI_CPU_AVX512 ? factored_avx512(&own) : factored_each(&own);
}

#include <math.h>

#include "linalg/cpu_vector.h"
#include "softmax_kernel.h"

/* Rows and vectors of a block of products: with its chunk's sums they fit the registers. */
#if defined(__AVX512F__)
enum { ROWS = 6, VECTORS = 2 };
#elif defined(__AVX2__)
enum { ROWS = 4, VECTORS = 2 };
#else
enum { ROWS = 4, VECTORS = 2 };
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

typedef struct block {
    vfloat of[ROWS][VECTORS];
} block;

/* ---- Products ---- */

/* Products `first` .. `first + count - 1` of each sum, one after the other from zero. */
ALWAYS_INLINE void chunk(int64_t d, int64_t first, int64_t count, const float *q, const float *k,
                         block *out) {
    block sum;
#pragma GCC unroll 6
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            sum.of[r][v] = (vfloat){0};
#pragma GCC unroll 8
    for (int64_t t = first; t < first + count; t++) {
        vfloat key[VECTORS];
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            key[v] = vector_load(k + t * SZGI_SOFTMAX_PANEL + v * LANES);
#pragma GCC unroll 6
        for (int r = 0; r < ROWS; r++) {
            vfloat entry = vector_splat(q[r * d + t]);
#pragma GCC unroll 2
            for (int v = 0; v < VECTORS; v++)
                sum.of[r][v] += entry * key[v];
        }
    }
    *out = sum;
}

ALWAYS_INLINE void add_block(const block *from, block *to) {
#pragma GCC unroll 6
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            to->of[r][v] += from->of[r][v];
}

ALWAYS_INLINE void take_block(bool add, const block *from, float *x) {
#pragma GCC unroll 6
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++) {
            float *at = x + r * SZGI_SOFTMAX_KEYS + v * LANES;
            vector_store(at, add ? vector_load(at) + from->of[r][v] : from->of[r][v]);
        }
}

/* Chunks of a segment that is not cut short. */
ALWAYS_INLINE void whole_segment(int64_t d, int64_t first, const float *q, const float *k,
                                 float *x) {
    block total, sum;
    chunk(d, first, SZGI_SOFTMAX_CHUNK, q, k, &total);
    for (int64_t t = SZGI_SOFTMAX_CHUNK; t < SZGI_SOFTMAX_SEGMENT; t += SZGI_SOFTMAX_CHUNK) {
        chunk(d, first + t, SZGI_SOFTMAX_CHUNK, q, k, &sum);
        add_block(&sum, &total);
    }
    take_block(first > 0, &total, x);
}

ALWAYS_INLINE void last_segment(int64_t d, int64_t first, const float *q, const float *k,
                                float *x) {
    block total = {0}, sum;
    for (int64_t t = first; t < d; t += SZGI_SOFTMAX_CHUNK) {
        chunk(d, t, d - t < SZGI_SOFTMAX_CHUNK ? d - t : SZGI_SOFTMAX_CHUNK, q, k, &sum);
        add_block(&sum, &total);
    }
    take_block(first > 0, &total, x);
}

static void products(int64_t panels, int64_t d, const float *q, const float *k, float *x) {
    const int64_t whole = d / SZGI_SOFTMAX_SEGMENT * SZGI_SOFTMAX_SEGMENT;
    for (int64_t panel = 0; panel < panels; panel++)
        for (int64_t column = 0; column < SZGI_SOFTMAX_PANEL; column += VECTORS * LANES)
            for (int64_t row = 0; row < SZGI_SOFTMAX_ROWS; row += ROWS) {
                const float *keys = k + panel * d * SZGI_SOFTMAX_PANEL + column;
                float *at = x + row * SZGI_SOFTMAX_KEYS + panel * SZGI_SOFTMAX_PANEL + column;
                for (int64_t first = 0; first < whole; first += SZGI_SOFTMAX_SEGMENT)
                    whole_segment(d, first, q + row * d, keys, at);
                if (whole < d || d == 0)
                    last_segment(d, whole, q + row * d, keys, at);
            }
}

/* ---- Rows: the last vector's lanes beyond `count` may be written, and do not count ---- */

static void add(int64_t count, const float *bias, float *x) {
    for (int64_t j = 0; j < count; j += LANES)
        vector_store(x + j, vector_load(x + j) + vector_load(bias + j));
}

static void range(int64_t count, const float *x, float *least, float *greatest) {
    vfloat low = vector_splat(x[0]), high = low;
    int64_t j = 0;
    for (; j + LANES <= count; j += LANES) {
        low = vector_min(low, vector_load(x + j));
        high = vector_max(high, vector_load(x + j));
    }
    if (j < count) {
        vfloat last = vector_select(vector_first(count - j), vector_load(x + j), low);
        low = vector_min(low, last);
        high = vector_max(high, last);
    }
    *greatest = vector_largest(high);
    *least = -vector_largest(-low);
}

/* tanh(x / cap) = (1 - e) / (1 + e) with e = exp(-2 |x| / cap), and the sign of x. */
static void capped(int64_t count, float cap, float *x) {
    const vint sign = (vint)vector_splat(-0.0F);
    const float factor = 2 / cap;
    for (int64_t j = 0; j < count; j += LANES) {
        vfloat value = vector_load(x + j);
        vfloat e = vector_exp(-((vfloat)((vint)value & ~sign) * factor));
        vfloat size = cap * ((1.0F - e) / (1.0F + e));
        vector_store(x + j, (vfloat)((vint)size | ((vint)value & sign)));
    }
}

/* Lanes of a sum in double precision. */
typedef struct wide {
    vdouble low, high;
} wide;

ALWAYS_INLINE void accumulate(vfloat value, wide *sum) {
    vdouble low, high;
    vector_widen(value, &low, &high);
    sum->low += low;
    sum->high += high;
}

ALWAYS_INLINE double total(const wide *sum) {
    vdouble lanes = sum->low + sum->high;
    double out = 0;
    for (int i = 0; i < LANES / 2; i++)
        out += lanes[i];
    return out;
}

/* Below -100 exp is 0, and t times it no longer a number where t is -infinity. */
static void weights(int64_t count, float top, float *x, double *weight, double *slope) {
    wide sum = {{0}, {0}}, slopes = sum;
    for (int64_t j = 0; j < count; j += LANES) {
        vfloat t = vector_load(x + j) - top;
        if (j + LANES > count)
            t = vector_select(vector_first(count - j), t, vector_splat(-INFINITY));
        t = vector_max(t, vector_splat(-100.0F));
        vfloat e = vector_exp(t);
        vector_store(x + j, e);
        accumulate(e, &sum);
        accumulate(t * e, &slopes);
    }
    *weight += total(&sum);
    *slope += total(&slopes);
}

const szgi_softmax_kernels SZG_KERNELS(szgi_softmax) = {
    .products = products, .add = add, .range = range, .capped = capped, .weights = weights};

#include "chance.h"

#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "linalg/cpu_level.h"
#include "toeplitz/toeplitz.h"

/* ---- Signs ---- */

/* Purpose of the streams; the step is the layer's. */
enum { PURPOSE = 0x0c1d0000, WORD = 32 };

/* Draws come in blocks of `order`, the power of two that d columns need, 1024 at most. Draw i of
 * block b gives column j the sign h_ij e_bj, e_bj random and h_ij an entry of Hadamard's matrix of
 * that order, (-1)^(number of ones in i AND j). One fast transform makes the sums of a block. */
enum { MOST = 1024 };

static int64_t order_of(int64_t d) {
    int64_t order = 1;
    while (order < d && order < MOST)
        order *= 2;
    return order;
}

/* The signs of all draws, and room for the sums of a block. */
typedef struct chance_signs {
    int64_t d, order, blocks;
    double *sign; /* [blocks, d] */
    double *sums; /* [order] */
} chance_signs;

static szg_status open_signs(szg_context *context, uint64_t seed, int64_t layer, int64_t d,
                             chance_signs *out) {
    const szgi_stream stream = {seed, (uint32_t)layer, PURPOSE};
    int64_t order = order_of(d), blocks = (CHANCE_DRAWS - 1) / order + 1;
    *out = (chance_signs){.d = d, .order = order, .blocks = blocks};
    SZG_TRY(szgi_memory_alloc(context, blocks * d + order, &out->sign));
    out->sums = out->sign + blocks * d;
    for (int64_t bit = 0; bit < blocks * d; bit++)
        out->sign[bit] =
            szgi_random_word(&stream, (uint64_t)(bit / WORD)) >> (bit % WORD) & 1 ? 1 : -1;
    return SZG_OK;
}

static void close_signs(chance_signs *signs) {
    szgi_memory_free(signs->sign);
}

/* x + y and x - y in place of x and y, twice: two levels of butterflies in one pass. */
static inline void cross_four(int64_t count, double *restrict a, double *restrict b,
                              double *restrict c, double *restrict d) {
    for (int64_t i = 0; i < count; i++) {
        double ab = a[i] + b[i], ba = a[i] - b[i], cd = c[i] + d[i], dc = c[i] - d[i];
        a[i] = ab + cd;
        b[i] = ba + dc;
        c[i] = ab - cd;
        d[i] = ba - dc;
    }
}

static inline void cross_two(int64_t count, double *restrict a, double *restrict b) {
    for (int64_t i = 0; i < count; i++) {
        double sum = a[i] + b[i];
        b[i] = a[i] - b[i];
        a[i] = sum;
    }
}

/* Hadamard's matrix times x, in place. */
static inline void transform(int64_t order, double *x) {
    int64_t half = 1;
    for (; 4 * half <= order; half *= 4)
        for (double *part = x; part < x + order; part += 4 * half)
            cross_four(half, part, part + half, part + 2 * half, part + 3 * half);
    for (; half < order; half *= 2)
        for (double *part = x; part < x + order; part += 2 * half)
            cross_two(half, part, part + half);
}

/* The draws of a block of one row; columns with the same h_ij are added first. */
static inline void sum_block_body(int64_t d, int64_t order, const double *sign, const double *row,
                                  double *x) {
    memset(x, 0, (size_t)order * sizeof *x);
    for (int64_t first = 0; first < d; first += order) {
        int64_t count = d - first < order ? d - first : order;
        for (int64_t j = 0; j < count; j++)
            x[j] += sign[first + j] * row[first + j];
    }
    transform(order, x);
}

static void sum_block_baseline(int64_t d, int64_t order, const double *sign, const double *row,
                               double *x) {
    sum_block_body(d, order, sign, row, x);
}

SZGI_TARGET_AVX2 static void sum_block_avx2(int64_t d, int64_t order, const double *sign,
                                            const double *row, double *x) {
    sum_block_body(d, order, sign, row, x);
}

/* The bits are the same: no sum is fused or in another order. */
static void sum_block(int64_t d, int64_t order, const double *sign, const double *row, double *x) {
    if (szgi_cpu_level_latest() >= SZGI_CPU_AVX2)
        sum_block_avx2(d, order, sign, row, x);
    else
        sum_block_baseline(d, order, sign, row, x);
}

static void sum_row(const chance_signs *signs, const double *row, double *out) {
    int64_t order = signs->order;
    for (int64_t block = 0; block < signs->blocks; block++) {
        int64_t left = CHANCE_DRAWS - block * order, count = left < order ? left : order;
        sum_block(signs->d, order, signs->sign + block * signs->d, row, signs->sums);
        memcpy(out + block * order, signs->sums, (size_t)count * sizeof *out);
    }
}

szg_status szgi_chance_sums(szg_context *context, uint64_t seed, int64_t layer, int64_t rows,
                            int64_t d, const double *matrix, double *out) {
    chance_signs signs;
    SZG_TRY(open_signs(context, seed, layer, d, &signs));
    for (int64_t r = 0; r < rows; r++)
        sum_row(&signs, matrix + r * d, out + r * CHANCE_DRAWS);
    close_signs(&signs);
    return SZG_OK;
}

void szgi_chance_add_squares(int64_t count, const double *sums, double still, double *squares) {
    for (int64_t i = 0; i < count; i++)
        squares[i] += (sums[i] + still) * (sums[i] + still);
}

/* ---- Parts of the columns ---- */

/* The waves of pair t that each column makes, [2, d]. */
static void fill_self(const pair_columns *from, int64_t a, int64_t b, double *x, double *y) {
    int64_t d = from->d;
    const double *qa = from->q + a * d, *qb = from->q + b * d;
    const double *ka = from->k + a * d, *kb = from->k + b * d;
    for (int64_t j = 0; j < d; j++) {
        szg_c64 z = szgi_pair_wave(qa[j] * ka[j], qa[j] * kb[j], qb[j] * ka[j], qb[j] * kb[j]);
        x[j] = from->factor * z.re;
        y[j] = -from->factor * z.im;
    }
}

static void fill_mean(const pair_columns *from, int64_t a, int64_t b, double *x, double *y) {
    int64_t d = from->d;
    double qa = from->q[a], qb = from->q[b];
    const double *ka = from->k + a * d, *kb = from->k + b * d;
    for (int64_t j = 0; j < d; j++) {
        szg_c64 z = szgi_pair_wave(qa * ka[j], qa * kb[j], qb * ka[j], qb * kb[j]);
        x[j] = from->token[j] * z.re;
        y[j] = -from->token[j] * z.im;
    }
}

szg_status szgi_chance_pairs(szg_context *context, uint64_t seed, int64_t layer,
                             const pair_columns *from, double *drawn, double *whole) {
    int64_t d = from->d;
    chance_signs signs;
    double *x;
    SZG_TRY(open_signs(context, seed, layer, d, &signs));
    szg_status status = szgi_memory_alloc(context, 2 * d, &x);
    for (int64_t t = 0; t < from->rotary->pairs && status == SZG_OK; t++) {
        int64_t a, b;
        szgi_pair_rows(from->rotary, t, &a, &b);
        (from->token ? fill_mean : fill_self)(from, a, b, x, x + d);
        for (int64_t i = 2 * t; i < 2 * t + 2; i++) {
            const double *row = x + (i - 2 * t) * d;
            sum_row(&signs, row, drawn + i * CHANCE_DRAWS);
            whole[i] = szgi_sum(d, row);
        }
    }
    szgi_memory_free(x);
    close_signs(&signs);
    return status;
}

/* ---- The comparison ---- */

double szgi_share_of(double variance, double noise) {
    return variance > 0 ? variance / (variance + noise) : 0;
}

/* Where one column makes the kernel, each draw has the head's own value: rounding does not decide.
 */
static const double ROUNDING = 1e-9;

/* Draws from the quantile at 0.95 on. */
enum { UPPER = (CHANCE_DRAWS + 1) / 20 };

chance_found szgi_chance_compare(const double draws[CHANCE_DRAWS], double value) {
    double upper[UPPER]; /* the largest so far, descending */
    int64_t more = 0, kept = 0;
    for (int i = 0; i < CHANCE_DRAWS; i++) {
        more += draws[i] >= value * (1 - ROUNDING);
        if (kept == UPPER && !(draws[i] > upper[UPPER - 1]))
            continue;
        int64_t place = kept < UPPER ? kept++ : UPPER - 1;
        for (; place > 0 && upper[place - 1] < draws[i]; place--)
            upper[place] = upper[place - 1];
        upper[place] = draws[i];
    }
    return (chance_found){.quantile = upper[UPPER - 1],
                          .p = (double)(more + 1) / (CHANCE_DRAWS + 1)};
}

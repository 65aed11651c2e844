#include "chance.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "linalg/linalg.h"

/* Purpose of the streams; the step is the layer's. */
enum { PURPOSE = 0x0c1d0000, WORD = 32 };

/* Words of a column: bit i of word w is the sign of draw 32 w + i. */
static uint32_t sign_word(const szgi_stream *stream, int64_t column, int64_t word) {
    enum { WORDS = (CHANCE_DRAWS + WORD - 1) / WORD };
    return szgi_random_word(stream, (uint64_t)(column * WORDS + word));
}

/* Signs of `count` draws from `first` on, a multiple of 32: d rows of them. */
static void fill_signs(const szgi_stream *stream, int64_t d, int64_t first, int64_t count,
                       double *out) {
    for (int64_t j = 0; j < d; j++)
        for (int64_t i = 0; i < count; i += WORD) {
            uint32_t word = sign_word(stream, j, (first + i) / WORD);
            for (int64_t b = 0; b < WORD && i + b < count; b++)
                out[j * count + i + b] = word >> b & 1 ? 1 : -1;
        }
}

void szgi_chance_self_columns(const szgi_rotary *rotary, int64_t d, const double *q,
                              const double *k, double factor, double *out) {
    for (int64_t t = 0; t < rotary->pairs; t++) {
        int64_t a, b;
        szgi_pair_rows(rotary, t, &a, &b);
        const double *qa = q + a * d, *qb = q + b * d, *ka = k + a * d, *kb = k + b * d;
        double *x = out + 2 * t * d, *y = x + d;
        for (int64_t j = 0; j < d; j++) {
            x[j] = factor * (qa[j] * ka[j] + qb[j] * kb[j]);
            y[j] = factor * (qa[j] * kb[j] - qb[j] * ka[j]);
        }
    }
}

void szgi_chance_mean_columns(const szgi_rotary *rotary, int64_t d, const double *q_mean,
                              const double *k, const double *token, double *out) {
    for (int64_t t = 0; t < rotary->pairs; t++) {
        int64_t a, b;
        szgi_pair_rows(rotary, t, &a, &b);
        const double *ka = k + a * d, *kb = k + b * d;
        double *x = out + 2 * t * d, *y = x + d;
        for (int64_t j = 0; j < d; j++) {
            x[j] = token[j] * (q_mean[a] * ka[j] + q_mean[b] * kb[j]);
            y[j] = token[j] * (q_mean[a] * kb[j] - q_mean[b] * ka[j]);
        }
    }
}

/* ---- Draws ---- */

/* Draws of one product. */
enum { TOGETHER = 256 };

static void add_squares(int64_t rows, int64_t count, const double *drawn, const double *still,
                        double *draws) {
    memset(draws, 0, (size_t)count * sizeof *draws);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < count; i++) {
            double part = drawn[r * count + i] + (still ? still[r] : 0);
            draws[i] += part * part;
        }
}

szg_status szgi_chance_draw(szg_context *context, uint64_t seed, int64_t layer, int64_t rows,
                            int64_t d, const double *matrix, const double *still,
                            double draws[CHANCE_DRAWS]) {
    const szgi_stream stream = {seed, (uint32_t)layer, PURPOSE};
    double *signs;
    SZG_TRY(szgi_memory_alloc(context, TOGETHER * (d + rows), &signs));
    double *drawn = signs + TOGETHER * d;
    szg_status status = SZG_OK;
    for (int64_t first = 0; first < CHANCE_DRAWS && status == SZG_OK; first += TOGETHER) {
        int64_t left = CHANCE_DRAWS - first, count = left < TOGETHER ? left : TOGETHER;
        fill_signs(&stream, d, first, count, signs);
        status = szgi_gemm(context, 'n', 'n', rows, count, d, 1, matrix, d, signs, count, 0, drawn,
                           count);
        add_squares(rows, count, drawn, still, draws + first);
    }
    szgi_memory_free(signs);
    return status;
}

/* ---- The comparison ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double szgi_share_of(double variance, double noise) {
    return variance > 0 ? variance / (variance + noise) : 0;
}

/* Where one column makes the kernel, each draw has the head's own value: rounding does not decide.
 */
static const double ROUNDING = 1e-9;

chance_found szgi_chance_compare(double draws[CHANCE_DRAWS], double value) {
    int64_t more = 0;
    for (int i = 0; i < CHANCE_DRAWS; i++)
        more += draws[i] >= value * (1 - ROUNDING);
    qsort(draws, CHANCE_DRAWS, sizeof *draws, ascending);
    return (chance_found){.quantile = draws[95 * (CHANCE_DRAWS + 1) / 100 - 1],
                          .p = (double)(more + 1) / (CHANCE_DRAWS + 1)};
}

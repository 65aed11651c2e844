#include "chance.h"

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

double szgi_chance_sign(uint64_t seed, int64_t layer, int64_t draw, int64_t column) {
    const szgi_stream stream = {seed, (uint32_t)layer, PURPOSE};
    return sign_word(&stream, column, draw / WORD) >> (draw % WORD) & 1 ? 1 : -1;
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

/* The waves of each column's part of the kernel, 2 pairs x d. */
static void fill_columns(const chance_input *input, double *out) {
    int64_t d = input->d;
    for (int64_t t = 0; t < input->rotary->pairs; t++) {
        int64_t a, b;
        szgi_pair_rows(input->rotary, t, &a, &b);
        const double *qa = input->q + a * d, *qb = input->q + b * d;
        const double *ka = input->k + a * d, *kb = input->k + b * d;
        double *x = out + 2 * t * d, *y = x + d;
        for (int64_t j = 0; j < d; j++) {
            x[j] = input->factor * (qa[j] * ka[j] + qb[j] * kb[j]);
            y[j] = input->factor * (qa[j] * kb[j] - qb[j] * ka[j]);
        }
    }
}

/* Draws of one product. */
enum { TOGETHER = 256 };

typedef struct room {
    double *columns, *projected, *signs, *drawn, *still;
} room;

static szg_status add_draws(szg_context *context, const chance_input *input,
                            const lag_moments *moments, const room *own, int64_t first,
                            int64_t count, double *variance) {
    const szgi_stream stream = {input->seed, (uint32_t)input->layer, PURPOSE};
    fill_signs(&stream, input->d, first, count, own->signs);
    SZG_TRY(szgi_gemm(context, 'n', 'n', moments->rank, count, input->d, 1, own->projected,
                      input->d, own->signs, count, 0, own->drawn, count));
    for (int64_t i = 0; i < count; i++) {
        variance[i] = 0;
        for (int64_t r = 0; r < moments->rank; r++) {
            double part = own->drawn[r * count + i] + own->still[r];
            variance[i] += part * part;
        }
    }
    return SZG_OK;
}

/* The root of the covariances meets the columns once, and then each draw's signs. */
static szg_status draw(szg_context *context, const chance_input *input, const lag_moments *moments,
                       const room *own, double *variance) {
    int64_t n = 2 * moments->pairs, d = input->d;
    fill_columns(input, own->columns);
    SZG_TRY(szgi_gemm(context, 'n', 'n', moments->rank, d, n, 1, moments->root, n, own->columns, d,
                      0, own->projected, d));
    SZG_TRY(szgi_gemm(context, 'n', 'n', moments->rank, 1, n, 1, moments->root, n, input->offset, 1,
                      0, own->still, 1));
    for (int64_t first = 0; first < CHANCE_DRAWS; first += TOGETHER) {
        int64_t left = CHANCE_DRAWS - first;
        SZG_TRY(add_draws(context, input, moments, own, first, left < TOGETHER ? left : TOGETHER,
                          variance + first));
    }
    return SZG_OK;
}

szg_status szgi_chance_variances(szg_context *context, const chance_input *input,
                                 const lag_moments *moments, double variance[CHANCE_DRAWS]) {
    int64_t n = 2 * moments->pairs, d = input->d;
    double *memory;
    SZG_TRY(szgi_memory_alloc(context, 2 * n * d + TOGETHER * (d + n) + n, &memory));
    room own = {.columns = memory, .projected = memory + n * d, .signs = memory + 2 * n * d};
    own.drawn = own.signs + TOGETHER * d;
    own.still = own.drawn + TOGETHER * n;
    szg_status status = draw(context, input, moments, &own, variance);
    szgi_memory_free(memory);
    return status;
}

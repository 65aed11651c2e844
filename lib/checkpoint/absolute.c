#include "absolute.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"
#include "fold.h"
#include "lag_columns.h"
#include "lag_weight.h"
#include "scale.h"
#include "vocabulary.h"

enum { POSITIONS_MOST = 2048, TOKENS = 2048 };

/* ---- What layer 0 reads ---- */

/* mBART's embeddings pass a norm of their own before that of layer 0. */
static bool has_norm_between(const szg_checkpoint *checkpoint) {
    char name[512];
    const model_family *family = checkpoint->family;
    if (family->input != INPUT_LAYER_BEFORE)
        return false;
    int length = snprintf(name, sizeof name, "%s%s.layernorm_embedding.weight", checkpoint->prefix,
                          family->stack);
    return length > 0 && (size_t)length < sizeof name &&
           szgi_safetensors_find(checkpoint->tensors, name);
}

static const char *refusal(const szg_checkpoint *checkpoint) {
    bool scaled = false;
    if (has_norm_between(checkpoint))
        return "embeddings are normalised before the norm of layer 0: not covered";
    if (szgi_config_flag(NULL, checkpoint->settings, "scale_embedding", false, &scaled) != SZG_OK ||
        scaled)
        return "embeddings are scaled before positions are added: not covered";
    if (checkpoint->added && !checkpoint->family->added_by_head)
        return "products with embeddings of the lag are added to the logits too: not covered";
    return szgi_fold_is_normed(checkpoint, 0) ? "queries and keys are normalised: not covered"
                                              : szgi_law_refusal(checkpoint, 0);
}

#define ABSOLUTE_FAR_APART "embeddings and positions are of sizes whose squares exceed doubles"

static bool is_nonzero(int64_t d, const double *x) {
    for (int64_t j = 0; j < d; j++)
        if (x[j] != 0)
            return true;
    return false;
}

/* 1 / sigma of e_v + p_i for every token and position: ||e_v + p_i||^2 = d sigma^2. SZG_EDOMAIN:
 * squares are no normal doubles, and not 0 either. */
static szg_status fill_weights(szg_context *context, int64_t d, int64_t tokens, const double *e,
                               int64_t n, const double *p, double *out) {
    SZG_TRY(szgi_gemm(context, 'n', 't', tokens, n, d, 2, e, d, p, d, 0, out, n));
    for (int64_t v = 0; v < tokens; v++) {
        double embedding = szgi_dot(d, e + v * d, e + v * d);
        for (int64_t i = 0; i < n; i++) {
            double position = szgi_dot(d, p + i * d, p + i * d);
            double square = embedding + out[v * n + i] + position;
            bool vanishes = embedding + position < DBL_MIN &&
                            (is_nonzero(d, e + v * d) || is_nonzero(d, p + i * d));
            if (!isfinite(square) || vanishes)
                return szgi_fail(context, SZG_EDOMAIN, ABSOLUTE_FAR_APART);
            out[v * n + i] = square > 0 ? sqrt((double)d / square) : 0;
        }
    }
    return SZG_OK;
}

/* mean_i = (sum_v w_vi (e_v + p_i)) / tokens, w_vi = 1 / sigma. */
static szg_status fill_mean(szg_context *context, int64_t d, int64_t tokens, const double *e,
                            const double *p, const double *w, absolute_input *out) {
    int64_t n = out->positions;
    SZG_TRY(szgi_gemm(context, 't', 'n', n, d, tokens, 1.0 / (double)tokens, w, n, e, d, 0,
                      out->mean, d));
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t v = 0; v < tokens; v++)
            sum += w[v * n + i];
        for (int64_t j = 0; j < d; j++)
            out->mean[i * d + j] += sum / (double)tokens * p[i * d + j];
    }
    return SZG_OK;
}

/* Token v stands at position v mod n. */
static void fill_rest(int64_t d, const double *e, const double *p, const double *w,
                      absolute_input *out) {
    int64_t n = out->positions;
    for (int64_t v = 0; v < out->tokens; v++) {
        int64_t i = v % n;
        for (int64_t j = 0; j < d; j++)
            out->rest[v * d + j] =
                w[v * n + i] * (e[v * d + j] + p[i * d + j]) - out->mean[i * d + j];
    }
}

/* Positions as the sum has them: with the embedding of type 0 where there is one. */
static szg_status copy_positions(szg_context *context, const szg_checkpoint *checkpoint, int64_t n,
                                 const double *p, int exponent, double *out) {
    int64_t d = checkpoint->model_size;
    double *type;
    SZG_TRY(szgi_memory_alloc(context, d, &type));
    szg_status status = szgi_vocabulary_type(context, checkpoint, type);
    for (int64_t i = 0; i < n && status == SZG_OK; i++)
        for (int64_t j = 0; j < d; j++)
            out[i * d + j] = ldexp(p[i * d + j], exponent) + type[j];
    szgi_memory_free(type);
    if (status == SZG_OK && szgi_fold_centres(checkpoint))
        szgi_centre_rows(n, d, out);
    return status;
}

static szg_status fill(szg_context *context, const szg_checkpoint *checkpoint,
                       const token_counts *counts, const double *p, int exponent, double *room,
                       absolute_input *out) {
    int64_t d = checkpoint->model_size, n = out->positions, tokens = out->tokens;
    double *e = room, *places = e + tokens * d, *w = places + n * d;
    SZG_TRY(szgi_vocabulary_raw(context, checkpoint, counts, tokens, e));
    if (szgi_fold_centres(checkpoint))
        szgi_centre_rows(tokens, d, e);
    SZG_TRY(copy_positions(context, checkpoint, n, p, exponent, places));
    szgi_scale_take((tokens + n) * d, e); /* the norm is free of it */
    SZG_TRY(fill_weights(context, d, tokens, e, n, places, w));
    SZG_TRY(fill_mean(context, d, tokens, e, places, w, out));
    fill_rest(d, e, places, w, out);
    return SZG_OK;
}

szg_status szgi_absolute_open(szg_context *context, const szg_checkpoint *checkpoint,
                              const token_counts *counts, int64_t positions, const double *p,
                              int exponent, int64_t dense, absolute_input *out) {
    int64_t d = checkpoint->model_size;
    double *room;
    *out = (absolute_input){.positions = positions < POSITIONS_MOST ? positions : POSITIONS_MOST,
                            .both = szgi_sees_later(checkpoint)};
    out->tokens = szgi_vocabulary_size(checkpoint, counts, TOKENS, &out->why);
    if (!out->why)
        out->why = refusal(checkpoint);
    if (out->why)
        return SZG_OK;
    int64_t n = out->positions, tokens = out->tokens, window = checkpoint->layer[0].window;
    out->lags = window > 0 && window < n ? window : n;
    SZG_TRY(
        szgi_lag_list_open(context, out->both ? 1 - out->lags : 0, out->lags, dense, &out->listed));
    SZG_TRY(szgi_memory_alloc(context, (n + tokens) * d, &out->memory));
    out->mean = out->memory;
    out->rest = out->mean + n * d;
    szg_status status = szgi_memory_alloc(context, (n + tokens) * d + tokens * n, &room);
    if (status == SZG_OK)
        status = fill(context, checkpoint, counts, p, exponent, room, out);
    szgi_memory_free(room);
    if (status != SZG_OK)
        szgi_absolute_close(out);
    if (status == SZG_EDATA || status == SZG_EDOMAIN)
        out->why = status == SZG_EDATA ? VOCABULARY_NOT_FINITE : ABSOLUTE_FAR_APART;
    return out->why ? SZG_OK : status;
}

void szgi_absolute_close(absolute_input *input) {
    szgi_lag_list_close(&input->listed);
    szgi_memory_free(input->memory);
    input->memory = NULL;
}

/* ---- One head ---- */

/* Lags of a kernel, and what a head needs: queries a and keys b at each position, [n, e], b less
 * their mean, since what a query adds to all keys alike cancels in the softmax. */
typedef struct absolute_work {
    int64_t n, e;
    lag_columns parts;
    double *memory, *a, *b, *pulled, *rest;
    double *bias; /* [lags]: what the lag adds */
} absolute_work;

static szg_status open_work(szg_context *context, const absolute_head *head, absolute_work *work) {
    int64_t n = head->input->positions, e = head->checkpoint->head_size;
    int64_t d = head->checkpoint->model_size, tokens = head->input->tokens;
    int64_t most = head->input->lags, lags = head->input->both ? 2 * most - 1 : most;
    *work = (absolute_work){
        .n = n,
        .e = e,
        .parts = {.first = head->input->both ? 1 - most : 0, .count = lags, .d = d}};
    SZG_TRY(szgi_memory_alloc(context,
                              2 * n * e + 4 * lags + lags * (d + CHANCE_DRAWS) + n * d + tokens * e,
                              &work->memory));
    work->a = work->memory;
    work->b = work->a + n * e;
    work->parts.weight = work->b + n * e;
    work->parts.kernel = work->parts.weight + lags;
    work->parts.column = work->parts.kernel + lags;
    work->pulled = work->parts.column + lags * d;
    work->rest = work->pulled + n * d;
    work->parts.sum = work->rest + tokens * e;
    work->bias = work->parts.sum + lags * CHANCE_DRAWS;
    work->parts.still = work->bias + lags;
    for (int64_t i = 0; i < lags && head->bias; i++)
        work->bias[i] =
            ldexp(head->bias[work->parts.first + i], -(head->q.exponent + head->k.exponent));
    szgi_lag_weights(work->parts.first, lags, work->parts.weight);
    return SZG_OK;
}

static szg_status place_tokens(szg_context *context, const absolute_head *head,
                               absolute_work *work) {
    int64_t n = work->n, e = work->e, d = work->parts.d;
    SZG_TRY(szgi_gemm(context, 'n', 't', n, e, d, 1, head->input->mean, d, head->q.rows, d, 0,
                      work->a, e));
    SZG_TRY(szgi_gemm(context, 'n', 't', n, e, d, 1, head->input->mean, d, head->k.rows, d, 0,
                      work->b, e));
    for (int64_t j = 0; j < e; j++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++)
            mean += work->b[i * e + j] / (double)n;
        for (int64_t i = 0; i < n; i++) {
            work->b[i * e + j] -= mean;
            work->a[i * e + j] += head->q.shift[j];
        }
    }
    return SZG_OK;
}

/* The parts of the kernel that the columns of W_K make: with u = a W_K and m the mean tokens less
 * their mean, column c has at lag k the mean of u_ic m_{i-k,c} over the i that have such a key. All
 * by one transform each. */
static szg_status fill_columns(szg_context *context, const absolute_head *head,
                               absolute_work *work) {
    int64_t n = work->n, d = work->parts.d, length = szgi_fft_fast_length(2 * n),
            half = length / 2 + 1;
    const double *m = head->input->mean;
    double *room;
    szgi_fft *forward = NULL, *backward = NULL;
    SZG_TRY(szgi_gemm(context, 'n', 'n', n, d, work->e, 1, work->a, work->e, head->k.rows, d, 0,
                      work->pulled, d));
    SZG_TRY(szgi_memory_alloc(context, length + 4 * half, &room));
    szg_c64 *one = (szg_c64 *)(void *)(room + length), *two = one + half;
    szg_status status = szgi_fft_open(context, SZGI_FFT_REAL, length, 1, &forward);
    if (status == SZG_OK)
        status = szgi_fft_open(context, SZGI_FFT_REAL_BACKWARD, length, 1, &backward);
    for (int64_t c = 0; c < d && status == SZG_OK; c++) {
        double mean = 0;
        memset(room, 0, (size_t)length * sizeof *room);
        for (int64_t i = 0; i < n; i++) {
            room[i] = work->pulled[i * d + c];
            mean += m[i * d + c] / (double)n;
        }
        SZG_TRY_GOTO(status, szgi_fft_run(context, forward, room, one), done);
        for (int64_t i = 0; i < n; i++)
            room[i] = m[i * d + c] - mean;
        SZG_TRY_GOTO(status, szgi_fft_run(context, forward, room, two), done);
        for (int64_t i = 0; i < half; i++)
            one[i] = (szg_c64){one[i].re * two[i].re + one[i].im * two[i].im,
                               one[i].im * two[i].re - one[i].re * two[i].im};
        SZG_TRY_GOTO(status, szgi_fft_run(context, backward, one, room), done);
        for (int64_t i = 0; i < work->parts.count; i++) {
            int64_t lag = work->parts.first + i, pairs = n - (lag < 0 ? -lag : lag);
            work->parts.column[i * d + c] =
                room[lag < 0 ? length + lag : lag] / (double)length / (double)pairs;
        }
    }
done:
    szgi_fft_close(&forward);
    szgi_fft_close(&backward);
    szgi_memory_free(room);
    return status;
}

static lag_spread sum_columns(absolute_work *work) {
    lag_columns *parts = &work->parts;
    for (int64_t i = 0; i < parts->count; i++) {
        parts->kernel[i] = parts->still[i] = work->bias[i];
        for (int64_t c = 0; c < parts->d; c++)
            parts->kernel[i] += parts->column[i * parts->d + c];
    }
    szgi_lag_columns_centre(parts);
    return szgi_lag_spread(parts->count, parts->weight, parts->kernel);
}

/* <Q, K> + mean_j b_j^T Q b_j + mean_i a_i^T K a_i, Q and K the covariances of the content. */
static szg_status find_noise(szg_context *context, const absolute_head *head, absolute_work *work,
                             double *out) {
    int64_t e = work->e, n = work->n, tokens = head->input->tokens;
    double *room;
    SZG_TRY(szgi_memory_alloc(context, 4 * e * e, &room));
    double *gram[] = {room, room + e * e}, *spread[] = {room + 2 * e * e, room + 3 * e * e};
    const double *rows[] = {head->q.rows, head->k.rows}, *means[] = {work->b, work->a};
    szg_status status = SZG_OK;
    for (int side = 0; side < 2 && status == SZG_OK; side++) {
        status = szgi_gemm(context, 'n', 't', tokens, e, work->parts.d, 1, head->input->rest,
                           work->parts.d, rows[side], work->parts.d, 0, work->rest, e);
        if (status == SZG_OK)
            status = szgi_gemm(context, 't', 'n', e, e, tokens, 1.0 / (double)tokens, work->rest, e,
                               work->rest, e, 0, gram[side], e);
        if (status == SZG_OK)
            status = szgi_gemm(context, 't', 'n', e, e, n, 1.0 / (double)n, means[side], e,
                               means[side], e, 0, spread[side], e);
    }
    *out =
        szgi_variance_of(szgi_dot(e * e, gram[0], gram[1]) + szgi_dot(e * e, gram[0], spread[0]) +
                         szgi_dot(e * e, gram[1], spread[1]));
    szgi_memory_free(room);
    return status;
}

/* sqrt(sum_k w_k (mean square of a_i . b_{i - k} - kernel_k^2)): what the lag does not explain of
 * logits of positions. */
static szg_status find_spread(szg_context *context, const absolute_work *work, double *out) {
    enum { ROWS = 64 };
    int64_t n = work->n, e = work->e;
    double *room, sum = 0;
    SZG_TRY(szgi_memory_alloc(context, ROWS * n, &room));
    szg_status status = SZG_OK;
    for (int64_t first = 0; first < n && status == SZG_OK; first += ROWS) {
        int64_t count = n - first < ROWS ? n - first : ROWS;
        status = szgi_gemm(context, 'n', 't', count, n, e, 1, work->a + first * e, e, work->b, e, 0,
                           room, n);
        for (int64_t i = first; i < first + count; i++)
            for (int64_t j = 0; j < n; j++) {
                int64_t lag = i - j, pairs = n - (lag < 0 ? -lag : lag);
                int64_t index = lag - work->parts.first;
                if (index < 0 || index >= work->parts.count)
                    continue;
                double gap =
                    room[(i - first) * n + j] + work->bias[index] - work->parts.kernel[index];
                sum += work->parts.weight[index] * gap * gap / (double)pairs;
            }
    }
    szgi_memory_free(room);
    *out = sqrt(sum);
    return status;
}

static szg_status judge(szg_context *context, const absolute_head *head, absolute_work *work,
                        head_positional *out) {
    kernel_facts *facts = &out->kernel[KERNEL_MEAN];
    double noise, draws[CHANCE_DRAWS];
    SZG_TRY(place_tokens(context, head, work));
    SZG_TRY(find_noise(context, head, work, &noise));
    SZG_TRY(fill_columns(context, head, work));
    lag_spread spread = sum_columns(work);
    SZG_TRY(szgi_lag_columns_draw(context, head->seed, 0, &work->parts, draws));
    SZG_TRY(find_spread(context, work, &out->spread));
    double rest = noise + out->spread * out->spread; /* what positions do beside the lag */
    facts->share = szgi_share_of(spread.variance, rest);
    facts->noise = sqrt(noise);
    szgi_positional_compare(out, KERNEL_MEAN, spread.variance, spread.variance, rest, draws);
    szgi_lag_columns_values(&work->parts, spread.mean, true, out);
    return szgi_shape_of_values(context, work->parts.first, work->parts.count, work->parts.kernel,
                                !szgi_positional_is_chance(facts), &facts->shape);
}

szg_status szgi_absolute_find(szg_context *context, const absolute_head *head,
                              head_positional *out) {
    absolute_work work;
    int64_t lags = head->input->lags;
    SZG_TRY(szgi_positional_open(context, head->input->both ? 1 - lags : 0, lags,
                                 &head->input->listed, out));
    SZG_TRY(open_work(context, head, &work));
    szg_status status = judge(context, head, &work, out);
    out->vocabulary = true;
    szgi_positional_scale(head->q.exponent + head->k.exponent, out);
    szgi_memory_free(work.memory);
    return status;
}

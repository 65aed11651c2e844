#include "lag_moments.h"

#include <math.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"
#include "lag_weight.h"

/* Lags of a block; e^{i (b + r) theta / 2} is the product of two phases. */
enum { BLOCK = 256 };

static szg_c64 times(szg_c64 a, szg_c64 b) {
    return (szg_c64){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static szg_c64 phase(int64_t k, double theta) {
    szg_c64 out;
    szgi_lag_phase(k, theta, &out.re, &out.im);
    return out;
}

/* Waves of the lags first .. first + count - 1, a row a lag, from half angles:
 * cos a - 1 = -2 sin(a/2)^2 and sin a = 2 sin(a/2) cos(a/2). */
static void fill_waves(const szgi_rotary *rotary, int64_t first, int64_t count, double *out) {
    for (int64_t t = 0; t < rotary->pairs; t++) {
        szg_c64 begin = phase(first, rotary->theta[t] / 2);
        for (int64_t r = 0; r < count; r++) {
            szg_c64 half = times(begin, phase(r, rotary->theta[t] / 2));
            double *wave = out + r * 2 * rotary->pairs + 2 * t;
            wave[0] = -2 * half.im * half.im;
            wave[1] = 2 * half.im * half.re;
        }
    }
}

/* Adds a block to the sums. Of both signs, cosines count twice and sines cancel. */
static szg_status add_block(szg_context *context, const szgi_rotary *rotary, int64_t first,
                            int64_t count, double *waves, double *mean, double *second) {
    int64_t n = 2 * rotary->pairs;
    fill_waves(rotary, first, count, waves);
    for (int64_t r = 0; r < count; r++) {
        double w = szgi_lag_weight(first + r), root = sqrt(w);
        for (int64_t i = 0; i < n; i++) {
            mean[i] += w * waves[r * n + i];
            waves[r * n + i] *= root;
        }
    }
    return szgi_gemm(context, 't', 'n', n, n, count, 1, waves, n, waves, n, 1, second, n);
}

/* Lag 0 adds nothing to any sum but that of the weights: every wave is 0 there. */
static szg_status sum_lags(szg_context *context, const szgi_rotary *rotary, int64_t lags, bool both,
                           double *mean, double *second) {
    int64_t n = 2 * rotary->pairs;
    double *waves, total = 0;
    SZG_TRY(szgi_memory_alloc(context, BLOCK * n, &waves));
    szg_status status = SZG_OK;
    for (int64_t first = 0; first < lags && status == SZG_OK; first += BLOCK) {
        int64_t count = lags - first < BLOCK ? lags - first : BLOCK;
        for (int64_t k = first; k < first + count; k++)
            total += szgi_lag_weight(k) * (both && k > 0 ? 2 : 1);
        status = add_block(context, rotary, first, count, waves, mean, second);
    }
    szgi_memory_free(waves);
    for (int64_t i = 0; i < n; i++) {
        mean[i] *= (both ? (i % 2 == 0 ? 2 : 0) : 1) / total;
        for (int64_t j = 0; j < n; j++)
            second[i * n + j] *= (both ? (i % 2 == j % 2 ? 2 : 0) : 1) / total;
    }
    return status;
}

/* The root of the covariances by their eigenvectors. */
static szg_status take_root(szg_context *context, lag_moments *moments, double *root) {
    enum { LEAST = -40 }; /* 2^-40 is about 1e-12 */
    int64_t n = 2 * moments->pairs;
    double *value;
    SZG_TRY(szgi_memory_alloc(context, n, &value));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            root[i * n + j] = moments->second[i * n + j] - moments->mean[i] * moments->mean[j];
    szg_status status = szgi_eigen_symmetric(context, n, root, n, value, true);
    int64_t least = 0; /* values ascend */
    while (status == SZG_OK && least < n &&
           !(value[least] > 0 && value[least] > ldexp(value[n - 1], LEAST)))
        least++;
    moments->rank = n - least;
    for (int64_t i = least; i < n && status == SZG_OK; i++)
        for (int64_t j = 0; j < n; j++)
            root[(i - least) * n + j] = sqrt(value[i]) * root[i * n + j];
    szgi_memory_free(value);
    return status;
}

szg_status szgi_lag_moments_open(szg_context *context, const szgi_rotary *rotary, int64_t lags,
                                 bool both, int64_t dense, lag_moments *out) {
    int64_t n = 2 * rotary->pairs;
    int64_t first = both ? 1 - lags : 0;
    *out = (lag_moments){.pairs = rotary->pairs, .lags = lags, .both = both};
    out->blocks = (szgi_lag_moments_count(out) - 1) / LAG_BLOCK + 1;
    SZG_TRY(szgi_lag_list_open(context, first, lags, dense, &out->listed));
    int64_t waves = 2 * out->listed.count + LAG_BLOCK + out->blocks;
    szg_status status = szgi_memory_alloc(context, n + n * (2 * n + waves) + 1, &out->memory);
    if (status != SZG_OK) {
        szgi_lag_moments_close(out);
        return status;
    }
    double *mean = out->memory, *second = mean + n, *root = second + n * n, *wave = root + n * n;
    double *centred = wave + out->listed.count * n, *near = centred + out->listed.count * n;
    double *far = near + LAG_BLOCK * n;
    for (int64_t i = 0; i < out->listed.count; i++)
        fill_waves(rotary, out->listed.lag[i], 1, wave + i * n);
    fill_waves(rotary, 0, LAG_BLOCK, near);
    for (int64_t i = 0; i < out->blocks; i++)
        fill_waves(rotary, first + i * LAG_BLOCK, 1, far + i * n);
    out->wave = wave;
    out->centred = centred;
    out->near = near;
    out->far = far;
    out->mean = mean;
    out->second = second;
    out->root = root;
    if (n == 0)
        return SZG_OK;
    status = sum_lags(context, rotary, lags, both, mean, second);
    for (int64_t i = 0; i < out->listed.count * n; i++)
        centred[i] = wave[i] - mean[i % n];
    if (status == SZG_OK)
        status = take_root(context, out, root);
    if (status != SZG_OK)
        szgi_lag_moments_close(out);
    return status;
}

void szgi_lag_moments_close(lag_moments *moments) {
    szgi_lag_list_close(&moments->listed);
    szgi_memory_free(moments->memory);
    *moments = (lag_moments){0};
}

double szgi_lag_moments_variance(const lag_moments *moments, const double *coefficient) {
    int64_t n = 2 * moments->pairs;
    double sum = 0;
    for (int64_t r = 0; r < moments->rank; r++) {
        double part = szgi_dot(n, moments->root + r * n, coefficient);
        sum += part * part;
    }
    return sum;
}

/* Means of the products of cos or sin of two pairs, from those of the waves. */
typedef struct products {
    double cc, cs, sc, ss;
} products;

static products products_of(const lag_moments *moments, int64_t s, int64_t t) {
    int64_t n = 2 * moments->pairs;
    const double *m = moments->mean, *second = moments->second;
    if (s < 0 && t < 0)
        return (products){.cc = 1};
    if (s < 0)
        return (products){.cc = 1 + m[2 * t], .cs = m[2 * t + 1]};
    if (t < 0)
        return (products){.cc = 1 + m[2 * s], .sc = m[2 * s + 1]};
    const double *x = second + 2 * s * n + 2 * t, *y = x + n;
    return (products){.cc = 1 + m[2 * s] + m[2 * t] + x[0],
                      .cs = m[2 * t + 1] + x[1],
                      .sc = m[2 * s + 1] + y[0],
                      .ss = y[1]};
}

void szgi_lag_moments_phases(const lag_moments *moments, int64_t s, int64_t t, szg_c64 *difference,
                             szg_c64 *sum) {
    products p = products_of(moments, s, t);
    *difference = (szg_c64){p.cc + p.ss, p.sc - p.cs};
    *sum = (szg_c64){p.cc - p.ss, p.sc + p.cs};
}

/* ---- Of a checkpoint ---- */

enum { LAGS_MOST = 131072 };

int64_t szgi_lag_count(const szg_checkpoint *checkpoint, int64_t layer) {
    int64_t length =
        checkpoint->trained_length > 0 ? checkpoint->trained_length : LAGS_UNKNOWN_LENGTH;
    int64_t window = checkpoint->layer[layer].window;
    int index = checkpoint->layer[layer].rotation;
    int64_t held = index < 0 ? 0 : checkpoint->rotation[index].length; /* of these frequencies */
    if (held > 0 && held < length)
        length = held;
    if (window > 0 && window < length)
        length = window;
    return length < LAGS_MOST ? length : LAGS_MOST;
}

const lag_moments *szgi_lag_moments_find(const lag_moments_list *list,
                                         const szg_checkpoint *checkpoint, int64_t layer) {
    int64_t lags = szgi_lag_count(checkpoint, layer);
    for (int64_t i = 0; i < list->count; i++)
        if (list->entry[i].rotation == checkpoint->layer[layer].rotation &&
            list->entry[i].moments.lags == lags)
            return &list->entry[i].moments;
    return NULL;
}

szg_status szgi_lag_moments_list_open(szg_context *context, const szg_checkpoint *checkpoint,
                                      int64_t dense, lag_moments_list *out) {
    *out = (lag_moments_list){0};
    SZG_TRY(szgi_memory_alloc(context, checkpoint->layers, &out->entry));
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        szgi_rotary rotary;
        if (checkpoint->layer[i].rotation < 0 || szgi_lag_moments_find(out, checkpoint, i))
            continue;
        SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, i, &rotary));
        struct lag_moments_entry *entry = &out->entry[out->count];
        entry->rotation = checkpoint->layer[i].rotation;
        SZG_TRY(szgi_lag_moments_open(context, &rotary, szgi_lag_count(checkpoint, i),
                                      szgi_sees_later(checkpoint), dense, &entry->moments));
        out->count++;
    }
    return SZG_OK;
}

void szgi_lag_moments_list_close(lag_moments_list *list) {
    for (int64_t i = 0; i < list->count; i++)
        szgi_lag_moments_close(&list->entry[i].moments);
    szgi_memory_free(list->entry);
    *list = (lag_moments_list){0};
}

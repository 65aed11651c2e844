#include "lag_bank.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "ball/ball.h"
#include "base/memory.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"
#include "bound_norm.h"
#include "fold.h"

/* ---- One profile ---- */

szg_status szgi_profile_symbol(szg_context *context, int64_t count, const double *value,
                               szg_range *out) {
    szg_c64 *a;
    while (count > 1 && value[count - 1] == 0)
        count--;
    for (; count > 1 && value[0] == 0; count--)
        value++;
    SZG_TRY(szgi_memory_alloc(context, count, &a));
    for (int64_t i = 0; i < count; i++)
        a[i].re = value[i];
    szg_status status = szgi_ball_modulus_range(context, count, a, SZGI_BALL_BITS, out);
    szgi_memory_free(a);
    return status;
}

/* ---- A bank ---- */

/* Points of the circle for each lag: half the degree of a profile is at most half its lags, so that
 * a maximum between two points is 1 / cos(pi / 64) times their larger value at most. */
enum { POINTS = 32 };

static szg_status bank_sizes(szg_context *context, const szg_checkpoint *checkpoint,
                             const szgi_tensor *tensor, lag_bank *out) {
    const lag_bank_names *names = checkpoint->family->bank;
    const char *const count[] = {names->count, NULL}, *const extent[] = {names->extent, NULL};
    SZG_TRY(szgi_config_integer(context, checkpoint->settings, count, 1, &out->profiles));
    SZG_TRY(szgi_config_integer(context, checkpoint->settings, extent, 1, &out->lags));
    if (out->profiles == out->lags)
        return szgi_fail(context, SZG_EDATA,
                         "%s: tensor %s: %s and %s are both %" PRId64
                         ", so that its shape does not tell profiles from lags: --set %s=N or "
                         "--set %s=N gives the right number",
                         tensor->file, tensor->name, names->count, names->extent, out->lags,
                         names->count, names->extent);
    return SZG_OK;
}

/* The tensor of a part of a bank, of this shape. */
static szg_status check_part(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                             const char *suffix, const szgi_tensor *tensor, int64_t rows,
                             int64_t columns) {
    char *problem = NULL;
    SZG_TRY(szgi_weight_check(context, checkpoint, layer, suffix, tensor, rows, columns, &problem));
    if (!problem)
        return SZG_OK;
    const lag_bank_names *names = checkpoint->family->bank;
    szg_status status =
        szgi_fail(context, SZG_EDATA, "%s: %s (%s, %s; --set KEY=VALUE changes them)",
                  tensor ? tensor->file : checkpoint->source, problem, names->count, names->extent);
    szgi_memory_free(problem);
    return status;
}

static szg_status lay_out(szg_context *context, lag_bank *bank) {
    int64_t points, size;
    SZG_TRY(szgi_memory_product(context, bank->lags, POINTS, &points));
    bank->grid = szgi_fft_fast_length(points);
    points = bank->grid / 2 + 1;
    SZG_TRY(szgi_memory_product(context, bank->profiles, 2 * points + bank->lags + 1, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &bank->memory));
    bank->value = bank->memory;
    bank->re = bank->value + bank->profiles * bank->lags;
    bank->im = bank->re + bank->profiles * points;
    bank->rounding = bank->im + bank->profiles * points;
    return szgi_memory_alloc(context, bank->profiles, &bank->symbol);
}

/* The symbols at the points, transposed. Rounding: Higham 2002, Theorem 24.2. */
static szg_status transform(szg_context *context, const szgi_fft *fft, int64_t profile,
                            lag_bank *bank, double *in, szg_c64 *out) {
    const double *value = bank->value + profile * bank->lags;
    for (int64_t k = 0; k < bank->lags; k++)
        in[k] = value[k];
    SZG_TRY(szgi_fft_run(context, fft, in, out));
    for (int64_t j = 0; j <= bank->grid / 2; j++) {
        bank->re[j * bank->profiles + profile] = out[j].re;
        bank->im[j * bank->profiles + profile] = out[j].im;
    }
    double grid = (double)bank->grid;
    bank->rounding[profile] =
        8 * DBL_EPSILON * log2(grid) * sqrt(grid) * szgi_norm_above(bank->lags, value);
    return SZG_OK;
}

static szg_status transform_all(szg_context *context, lag_bank *bank) {
    szgi_fft *fft = NULL;
    double *in = NULL;
    szg_c64 *out = NULL;
    szg_status status;
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, bank->grid, &in), done);
    SZG_TRY_GOTO(status, szgi_memory_alloc(context, bank->grid / 2 + 1, &out), done);
    SZG_TRY_GOTO(status, szgi_fft_open(context, SZGI_FFT_REAL, bank->grid, 1, &fft), done);
    for (int64_t m = 0; m < bank->profiles && status == SZG_OK; m++)
        status = transform(context, fft, m, bank, in, out);
done:
    szgi_fft_close(&fft);
    szgi_memory_free(in);
    szgi_memory_free(out);
    return status;
}

szg_status szgi_lag_bank_open(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                              lag_bank *out) {
    const szgi_tensor *tensor = checkpoint->layer[layer].added;
    const lag_bank_names *names = checkpoint->family->bank;
    *out = (lag_bank){0};
    if (tensor)
        SZG_TRY(bank_sizes(context, checkpoint, tensor, out));
    SZG_TRY(
        check_part(context, checkpoint, layer, names->profiles, tensor, out->profiles, out->lags));
    SZG_TRY(check_part(context, checkpoint, layer, names->weights, checkpoint->layer[layer].mixing,
                       checkpoint->heads * out->profiles, checkpoint->model_size));
    SZG_TRY(lay_out(context, out));
    szg_status status = szgi_fold_vector(context, tensor, "a profile of the lag", 0,
                                         out->profiles * out->lags, out->value);
    for (int64_t m = 0; m < out->profiles && status == SZG_OK; m++)
        status =
            szgi_profile_symbol(context, out->lags, out->value + m * out->lags, &out->symbol[m]);
    if (status == SZG_OK)
        status = transform_all(context, out);
    if (status != SZG_OK)
        szgi_lag_bank_close(out);
    return status;
}

void szgi_lag_bank_close(lag_bank *bank) {
    szgi_memory_free(bank->memory);
    szgi_memory_free(bank->symbol);
    *bank = (lag_bank){0};
}

/* ---- A head ---- */

/* W W^T of its weights, and what rounding can do. */
typedef struct weight_gram {
    int64_t profiles;
    double *value;  /* [profiles, profiles] */
    double *length; /* [profiles]: norms of the true rows, from above */
    double *room;   /* [2, profiles] */
    double unit;    /* of a form x^T G y, times (sum of length |x|)(sum of length |y|) */
    double error;   /* of the rows */
} weight_gram;

static szg_status make_gram(szg_context *context, int64_t profiles, int64_t d,
                            const double *weights, double error, weight_gram *out) {
    int64_t size;
    *out = (weight_gram){.profiles = profiles, .error = error};
    SZG_TRY(szgi_memory_product(context, profiles, profiles + 3, &size));
    SZG_TRY(szgi_memory_alloc(context, size, &out->value));
    out->length = out->value + profiles * profiles;
    out->room = out->length + profiles;
    out->unit = 2 * ((double)d + 4 * (double)profiles + 16) * DBL_EPSILON;
    for (int64_t m = 0; m < profiles; m++)
        out->length[m] = szgi_norm_above(d, weights + m * d) + error;
    return szgi_gemm(context, 'n', 't', profiles, profiles, d, 1, weights, d, weights, d, 0,
                     out->value, profiles);
}

/* G x. */
static void apply(const weight_gram *gram, const double *x, double *out) {
    for (int64_t m = 0; m < gram->profiles; m++)
        out[m] = szgi_dot(gram->profiles, gram->value + m * gram->profiles, x);
}

/* The largest values among the points: of ||v||^2, and of sigma_1([Re v, Im v])^2. */
typedef struct mixture_peaks {
    double norm, symbol;
    int64_t symbol_at;
} mixture_peaks;

static mixture_peaks find_peaks(const lag_bank *bank, const weight_gram *gram) {
    int64_t profiles = bank->profiles;
    mixture_peaks out = {.norm = 0};
    double *gx = gram->room, *gy = gx + profiles;
    for (int64_t j = 0; j <= bank->grid / 2; j++) {
        const double *x = bank->re + j * profiles, *y = bank->im + j * profiles;
        apply(gram, x, gx);
        apply(gram, y, gy);
        double xx = szgi_dot(profiles, x, gx), yy = szgi_dot(profiles, y, gy);
        double xy = szgi_dot(profiles, x, gy);
        double symbol = (xx + yy + hypot(xx - yy, 2 * xy)) / 2;
        out.norm = fmax(out.norm, xx + yy);
        if (symbol > out.symbol) {
            out.symbol = symbol;
            out.symbol_at = j;
        }
    }
    return out;
}

/* The largest bias: sqrt(d) ||W^T P[:, k]||. */
static void find_bias(const lag_bank *bank, const weight_gram *gram, double root,
                      lag_mixture *out) {
    int64_t profiles = bank->profiles;
    double *x = gram->room + profiles, *gx = gram->room;
    out->bias = 0;
    for (int64_t k = 0; k < bank->lags; k++) {
        double reach = 0, spread = 0;
        for (int64_t m = 0; m < profiles; m++) {
            x[m] = bank->value[m * bank->lags + k];
            reach += gram->length[m] * fabs(x[m]);
            spread += fabs(x[m]);
        }
        apply(gram, x, gx);
        double square = fmax(szgi_dot(profiles, x, gx), 0) + gram->unit * reach * reach;
        double bias = szgi_above(root * (sqrt(square) + gram->error * spread), 8);
        if (bias > out->bias) {
            out->bias = bias;
            out->bias_lag = k;
        }
    }
}

/* From the points to the circle: docs/explanation/theory.md. */
static void enclose(const lag_bank *bank, const weight_gram *gram, const mixture_peaks *peaks,
                    double root, lag_mixture *out) {
    double reach = 0, rounding = 0, turn = acos(-1), grid = (double)bank->grid;
    double step = cos(turn * (double)(bank->lags - 1) / (2 * grid)) * (1 - 4 * DBL_EPSILON);
    out->sum = 0;
    for (int64_t m = 0; m < bank->profiles; m++) {
        double size = bank->symbol[m].max.hi + bank->rounding[m];
        reach += gram->length[m] * size;
        rounding += gram->length[m] * bank->rounding[m] + gram->error * size;
        out->sum += root * gram->length[m] * bank->symbol[m].max.hi;
    }
    double slack = gram->unit * reach * reach, count = 2 * (double)bank->profiles + 16;
    double norm = sqrt(fmax(peaks->norm, 0) + slack) + rounding;
    double high = sqrt(fmax(peaks->symbol, 0) + slack) + rounding;
    double low = sqrt(fmax(peaks->symbol - slack, 0)) - rounding;
    out->sum = szgi_above(out->sum, count);
    out->norm = fmin(szgi_above(root * norm / step, count), out->sum);
    out->symbol.hi = fmin(szgi_above(root * high / step, count), out->norm);
    out->symbol.lo = fmax(low * root * (1 - count * DBL_EPSILON), 0);
    out->theta = 2 * turn * (double)peaks->symbol_at / grid;
}

szg_status szgi_lag_mixture_find(szg_context *context, const lag_bank *bank, int64_t d,
                                 const double *weights, double error, lag_mixture *out) {
    weight_gram gram;
    double root = szgi_above(sqrt((double)d), 1);
    *out = (lag_mixture){0};
    szg_status status = make_gram(context, bank->profiles, d, weights, error, &gram);
    if (status == SZG_OK) {
        const mixture_peaks peaks = find_peaks(bank, &gram);
        find_bias(bank, &gram, root, out);
        enclose(bank, &gram, &peaks, root, out);
    }
    szgi_memory_free(gram.value);
    if (status == SZG_OK && !(isfinite(out->sum) && isfinite(out->norm)))
        return szgi_fail(context, SZG_EDATA,
                         "the norms of its mixtures exceed doubles: divide the weights by a power "
                         "of two");
    return status;
}

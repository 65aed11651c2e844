#include "positional.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fold.h"
#include "linalg/linalg.h"

const char *szgi_positional_refusal(const szg_checkpoint *checkpoint, int64_t layer) {
    if (checkpoint->layer[layer].rotation < 0)
        return "nothing rotates in this layer";
    if (checkpoint->latent.key_rank)
        return "queries and keys come from normalised latents";
    if (szgi_fold_is_normed(checkpoint, layer))
        return "queries and keys are normalised";
    if (!szgi_fold_has_input(checkpoint, layer))
        return "the norm of the layer's input is not known";
    if (checkpoint->layer[layer].bias_unread)
        return "a bias of queries or keys cannot be read";
    return NULL;
}

/* ---- Tokens ---- */

/* The arrays of a head: rows that the norm has centred, and the law of isotropic tokens. */
typedef struct head_room {
    double *memory;
    double *q, *k; /* [e, d] */
    head_law law;
    lag_kernel self, mean;
    double factor; /* of the tokens' covariance: d / (d - 1) where the norm centres them */
} head_room;

static szg_status open_room(szg_context *context, const positional_input *input, head_room *own) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    int64_t waves = 2 * input->rotary->pairs;
    *own = (head_room){0};
    SZG_TRY(szgi_memory_alloc(context, 2 * e * d + 3 * e * e + 2 * e + 2 * waves, &own->memory));
    own->q = own->memory;
    own->k = own->q + e * d;
    own->law.q_covariance = own->k + e * d;
    own->law.k_covariance = own->law.q_covariance + e * e;
    own->law.cross = own->law.k_covariance + e * e;
    own->law.q_mean = own->law.cross + e * e;
    own->law.k_mean = own->law.q_mean + e;
    own->self.wave = own->law.k_mean + e;
    own->mean.wave = own->self.wave + waves;
    return SZG_OK;
}

/* W P: the norm subtracts the mean of each token. */
static void copy_rows(int64_t e, int64_t d, const double *rows, bool centred, double *out) {
    memcpy(out, rows, (size_t)(e * d) * sizeof *out);
    for (int64_t i = 0; i < e && centred; i++) {
        double sum = 0;
        for (int64_t j = 0; j < d; j++)
            sum += out[i * d + j];
        for (int64_t j = 0; j < d; j++)
            out[i * d + j] -= sum / (double)d;
    }
}

/* A token is isotropic with ||x||^2 = d: its covariance is I, or d / (d - 1) P. */
static szg_status make_law(szg_context *context, const positional_input *input, head_room *own) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    bool centred = szgi_fold_centres(input->checkpoint);
    head_law *law = &own->law;
    double f = own->factor = centred ? (double)d / (double)(d - 1) : 1;
    copy_rows(e, d, input->q.rows, centred, own->q);
    copy_rows(e, d, input->k.rows, centred, own->k);
    memcpy(law->q_mean, input->q.shift, (size_t)e * sizeof *law->q_mean);
    memcpy(law->k_mean, input->k.shift, (size_t)e * sizeof *law->k_mean);
    SZG_TRY(szgi_gemm(context, 'n', 't', e, e, d, f, own->q, d, own->q, d, 0, law->q_covariance,
                      e));
    SZG_TRY(szgi_gemm(context, 'n', 't', e, e, d, f, own->k, d, own->k, d, 0, law->k_covariance,
                      e));
    SZG_TRY(szgi_gemm(context, 'n', 't', e, e, d, f, own->k, d, own->q, d, 0, law->cross, e));
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < e; j++)
            law->cross[i * e + j] += law->k_mean[i] * law->q_mean[j];
    return SZG_OK;
}

/* ---- Numbers ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double share_of(double variance, double noise) {
    return variance > 0 ? variance / (variance + noise) : 0;
}

static szg_status meet_chance(szg_context *context, const positional_input *input,
                              const head_room *own, double variance, double noise,
                              head_positional *out) {
    double draws[CHANCE_DRAWS];
    int64_t more = 0;
    const chance_input drawn = {.rotary = input->rotary,
                                .e = input->checkpoint->head_size,
                                .d = input->checkpoint->model_size,
                                .layer = input->layer,
                                .q = own->q,
                                .k = own->k,
                                .factor = own->factor,
                                .offset = own->mean.wave,
                                .seed = input->seed};
    SZG_TRY(szgi_chance_variances(context, &drawn, input->moments, draws));
    for (int i = 0; i < CHANCE_DRAWS; i++)
        more += draws[i] >= variance;
    qsort(draws, CHANCE_DRAWS, sizeof *draws, ascending);
    out->self_p = (double)(more + 1) / (CHANCE_DRAWS + 1);
    out->self_null = share_of(draws[(95 * (CHANCE_DRAWS + 1)) / 100 - 1], noise);
    return SZG_OK;
}

static bool has_means(const head_room *own, int64_t e) {
    for (int64_t i = 0; i < e; i++)
        if (own->law.q_mean[i] != 0 || own->law.k_mean[i] != 0)
            return true;
    return false;
}

static szg_status find(szg_context *context, const positional_input *input, head_room *own,
                       head_positional *out) {
    int64_t e = input->checkpoint->head_size;
    int exponent = input->q.exponent + input->k.exponent;
    double noise;
    SZG_TRY(make_law(context, input, own));
    SZG_TRY(szgi_share_noise(context, input->rotary, e, &own->law, input->moments, &noise));
    szgi_kernel_of_cross(input->rotary, e, own->law.cross, &own->self);
    szgi_kernel_of_means(input->rotary, own->law.q_mean, own->law.k_mean, e, &own->mean);
    double variance = szgi_lag_moments_variance(input->moments, own->self.wave);
    out->self_share = share_of(variance, noise);
    out->mean_share = has_means(own, e) ? share_of(szgi_lag_moments_variance(input->moments,
                                                                            own->mean.wave),
                                                   noise)
                                        : NAN;
    out->noise = ldexp(sqrt(noise), exponent);
    SZG_TRY(meet_chance(context, input, own, variance, noise, out));
    SZG_TRY(szgi_shape_find(context, input->rotary, &own->self, input->moments,
                            out->self_p <= 0.05, &out->shape));
    out->shape.least = ldexp(out->shape.least, exponent);
    out->shape.greatest = ldexp(out->shape.greatest, exponent);
    return SZG_OK;
}

szg_status szgi_positional_find(szg_context *context, const positional_input *input,
                                head_positional *out) {
    head_room own;
    *out = (head_positional){.lags = input->moments->lags};
    SZG_TRY(open_room(context, input, &own));
    szg_status status = find(context, input, &own, out);
    szgi_memory_free(own.memory);
    return status;
}

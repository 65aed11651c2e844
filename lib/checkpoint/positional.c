#include "positional.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/linalg.h"

const char *szgi_positional_refusal(const szg_checkpoint *checkpoint, int64_t layer) {
    return checkpoint->layer[layer].rotation < 0 ? "nothing rotates in this layer"
                                                 : szgi_law_refusal(checkpoint, layer);
}

/* ---- Numbers ---- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double share_of(double variance, double noise) {
    return variance > 0 ? variance / (variance + noise) : 0;
}

/* `drawn`: the variance of the kernel that draws are compared with. */
static szg_status meet_chance(szg_context *context, const chance_input *input,
                              const lag_moments *moments, double drawn, double noise,
                              head_positional *out) {
    double draws[CHANCE_DRAWS];
    int64_t more = 0;
    SZG_TRY(szgi_chance_variances(context, input, moments, draws));
    for (int i = 0; i < CHANCE_DRAWS; i++)
        more += draws[i] >= drawn;
    qsort(draws, CHANCE_DRAWS, sizeof *draws, ascending);
    out->self_p = (double)(more + 1) / (CHANCE_DRAWS + 1);
    out->self_null = share_of(draws[(95 * (CHANCE_DRAWS + 1)) / 100 - 1], noise);
    return SZG_OK;
}

/* The head's own kernel with the norm of queries and keys frozen, as that of a draw. */
static szg_status linear_variance(szg_context *context, const chance_input *input,
                                  const lag_moments *moments, double *cross, lag_kernel *room,
                                  double *out) {
    int64_t e = input->e, d = input->d;
    SZG_TRY(szgi_gemm(context, 'n', 't', e, e, d, input->factor, input->k, d, input->q, d, 0, cross,
                      e));
    szgi_kernel_of_cross(input->rotary, e, cross, room);
    for (int64_t i = 0; i < 2 * input->rotary->pairs; i++)
        room->wave[i] += input->offset[i];
    *out = szgi_lag_moments_variance(moments, room->wave);
    return SZG_OK;
}

/* The kernels of a head, and room for one. */
typedef struct kernel_room {
    double *memory;
    lag_kernel self, mean, spare;
} kernel_room;

static szg_status open_kernels(szg_context *context, int64_t pairs, kernel_room *own) {
    SZG_TRY(szgi_memory_alloc(context, 6 * pairs, &own->memory));
    own->self.wave = own->memory;
    own->mean.wave = own->memory + 2 * pairs;
    own->spare.wave = own->memory + 4 * pairs;
    return SZG_OK;
}

/* The mean kernel of the tokens that the layer is known to read, and their noise. */
static szg_status know_mean(szg_context *context, const positional_input *input,
                            const head_law *known, lag_kernel *room, head_positional *out) {
    const szgi_rotary *rotary = input->head.rotary;
    int64_t e = input->head.checkpoint->head_size;
    double noise;
    SZG_TRY(szgi_share_noise(context, rotary, e, known, input->moments, &noise));
    szgi_kernel_of_means(rotary, known->q_mean, known->k_mean, e, room);
    out->mean_share = share_of(szgi_lag_moments_variance(input->moments, room->wave), noise);
    return SZG_OK;
}

static szg_status judge(szg_context *context, const positional_input *input,
                        const isotropic_law *law, kernel_room *own, head_positional *out) {
    const szg_checkpoint *checkpoint = input->head.checkpoint;
    const szgi_rotary *rotary = input->head.rotary;
    int64_t e = checkpoint->head_size;
    double noise, drawn, variance = 0;
    const chance_input chance = {.rotary = rotary,
                                 .e = e,
                                 .d = checkpoint->model_size,
                                 .layer = input->head.layer,
                                 .q = law->q,
                                 .k = law->k,
                                 .factor = law->factor,
                                 .offset = own->mean.wave,
                                 .seed = input->seed};
    SZG_TRY(szgi_share_noise(context, rotary, e, &law->law, input->moments, &noise));
    szgi_kernel_of_cross(rotary, e, law->law.cross, &own->self);
    szgi_kernel_of_means(rotary, law->law.q_mean, law->law.k_mean, e, &own->mean);
    variance = szgi_lag_moments_variance(input->moments, own->self.wave);
    out->self_share = share_of(variance, noise);
    out->mean_share = NAN;
    if (law->biased && !input->head.known)
        out->mean_share =
            share_of(szgi_lag_moments_variance(input->moments, own->mean.wave), noise);
    out->noise = sqrt(noise);
    if (input->head.known)
        SZG_TRY(know_mean(context, input, &law->known, &own->spare, out));
    SZG_TRY(linear_variance(context, &chance, input->moments, law->law.cross, &own->spare, &drawn));
    SZG_TRY(meet_chance(context, &chance, input->moments, drawn, noise, out));
    return szgi_shape_find(context, rotary, &own->self, input->moments, out->self_p <= 0.05,
                           &out->shape);
}

szg_status szgi_positional_find(szg_context *context, const positional_input *input,
                                head_positional *out) {
    isotropic_law law;
    kernel_room own = {0};
    int exponent = input->head.q.exponent + input->head.k.exponent;
    *out = (head_positional){.lags = input->moments->lags};
    SZG_TRY(szgi_law_open(context, &input->head, &law));
    szg_status status = open_kernels(context, input->head.rotary->pairs, &own);
    if (status == SZG_OK)
        status = judge(context, input, &law, &own, out);
    out->noise = ldexp(out->noise, exponent);
    out->shape.least = ldexp(out->shape.least, exponent);
    out->shape.greatest = ldexp(out->shape.greatest, exponent);
    szgi_memory_free(own.memory);
    szgi_law_close(&law);
    return status;
}

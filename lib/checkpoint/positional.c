#include "positional.h"

#include <math.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"

/* ---- Chance ---- */

/* ||root (columns sigma + still)||^2 of every draw */
static szg_status draw_waves(szg_context *context, const positional_input *input,
                             const double *columns, const double *still,
                             double draws[CHANCE_DRAWS]) {
    const lag_moments *moments = input->moments;
    int64_t n = 2 * moments->pairs, d = input->head.checkpoint->model_size, rank = moments->rank;
    double *room;
    SZG_TRY(szgi_memory_alloc(context, rank * (d + 1) + 1, &room));
    double *constant = room + rank * d;
    szg_status status =
        szgi_gemm(context, 'n', 'n', rank, d, n, 1, moments->root, n, columns, d, 0, room, d);
    if (status == SZG_OK)
        status =
            szgi_gemm(context, 'n', 'n', rank, 1, n, 1, moments->root, n, still, 1, 0, constant, 1);
    if (status == SZG_OK)
        status = szgi_chance_draw(context, input->seed, input->head.layer, rank, d, room, constant,
                                  draws);
    szgi_memory_free(room);
    return status;
}

/* sum_j of the columns' waves, and what stands still: the kernel that draws are compared with. */
static double variance_of_columns(const lag_moments *moments, int64_t d, const double *columns,
                                  const double *still, double *wave) {
    for (int64_t i = 0; i < 2 * moments->pairs; i++) {
        wave[i] = still[i];
        for (int64_t j = 0; j < d; j++)
            wave[i] += columns[i * d + j];
    }
    return szgi_lag_moments_variance(moments, wave);
}

/* The kernels of a head, and room for two. */
typedef struct kernel_room {
    double *memory;
    lag_kernel self, mean, spare, room;
} kernel_room;

static szg_status open_kernels(szg_context *context, int64_t pairs, kernel_room *own) {
    SZG_TRY(szgi_memory_alloc(context, 8 * pairs, &own->memory));
    own->self.wave = own->memory;
    own->mean.wave = own->memory + 2 * pairs;
    own->spare.wave = own->memory + 4 * pairs;
    own->room.wave = own->memory + 6 * pairs;
    return SZG_OK;
}

/* The mean kernel of the tokens that the layer is known to read, beside chance. With a norm of
 * queries and keys it is frozen for the comparison, as for the self kernel. */
static szg_status know_mean(szg_context *context, const positional_input *input,
                            const isotropic_law *law, double *columns, kernel_room *own,
                            head_positional *out) {
    const law_input *head = &input->head;
    int64_t e = head->checkpoint->head_size, d = head->checkpoint->model_size;
    double noise, draws[CHANCE_DRAWS], *mean;
    SZG_TRY(szgi_share_noise(context, head->rotary, e, &law->known, input->moments, &noise));
    szgi_kernel_of_means(head->rotary, law->known.q_mean, law->known.k_mean, e, &own->spare);
    double variance = szgi_lag_moments_variance(input->moments, own->spare.wave);
    out->mean_share = szgi_share_of(variance, noise);
    SZG_TRY(szgi_memory_alloc(context, d + e, &mean));
    double *query = mean + d;
    szgi_law_mean_token(head, mean);
    for (int64_t i = 0; i < e; i++)
        query[i] = law->law.q_mean[i] + szgi_dot(d, law->q + i * d, mean);
    szgi_chance_mean_columns(head->rotary, d, query, law->k, mean, columns);
    szgi_kernel_of_means(head->rotary, query, law->law.k_mean, e, &own->spare);
    szg_status status = draw_waves(context, input, columns, own->spare.wave, draws);
    if (status == SZG_OK) {
        double drawn =
            variance_of_columns(input->moments, d, columns, own->spare.wave, own->room.wave);
        szgi_chance_compare(draws, drawn, noise, &out->mean_null, &out->mean_p);
    }
    szgi_memory_free(mean);
    return status;
}

static szg_status judge(szg_context *context, const positional_input *input,
                        const isotropic_law *law, double *columns, kernel_room *own,
                        head_positional *out) {
    const szgi_rotary *rotary = input->head.rotary;
    int64_t e = input->head.checkpoint->head_size, d = input->head.checkpoint->model_size;
    double noise, draws[CHANCE_DRAWS];
    SZG_TRY(szgi_share_noise(context, rotary, e, &law->law, input->moments, &noise));
    szgi_kernel_of_cross(rotary, e, law->law.cross, &own->self);
    szgi_kernel_of_means(rotary, law->law.q_mean, law->law.k_mean, e, &own->mean);
    out->self_share =
        szgi_share_of(szgi_lag_moments_variance(input->moments, own->self.wave), noise);
    out->noise = sqrt(noise);
    if (input->head.known)
        SZG_TRY(know_mean(context, input, law, columns, own, out));
    else if (law->biased)
        out->mean_share =
            szgi_share_of(szgi_lag_moments_variance(input->moments, own->mean.wave), noise);
    szgi_chance_self_columns(rotary, d, law->q, law->k, law->factor, columns);
    SZG_TRY(draw_waves(context, input, columns, own->mean.wave, draws));
    double drawn = variance_of_columns(input->moments, d, columns, own->mean.wave, own->room.wave);
    szgi_chance_compare(draws, drawn, noise, &out->self_null, &out->self_p);
    return szgi_shape_find(context, rotary, &own->self, input->moments, out->self_p <= 0.05,
                           &out->shape);
}

szg_status szgi_positional_find(szg_context *context, const positional_input *input,
                                head_positional *out) {
    isotropic_law law;
    kernel_room own = {0};
    double *columns = NULL;
    int exponent = input->head.q.exponent + input->head.k.exponent;
    int64_t pairs = input->head.rotary->pairs, d = input->head.checkpoint->model_size;
    *out = (head_positional){
        .lags = input->moments->lags, .mean_share = NAN, .mean_null = NAN, .mean_p = NAN};
    SZG_TRY(szgi_law_open(context, &input->head, &law));
    szg_status status = open_kernels(context, pairs, &own);
    if (status == SZG_OK)
        status = szgi_memory_alloc(context, 2 * pairs * d, &columns);
    if (status == SZG_OK)
        status = judge(context, input, &law, columns, &own, out);
    out->noise = ldexp(out->noise, exponent);
    out->shape.least = ldexp(out->shape.least, exponent);
    out->shape.greatest = ldexp(out->shape.greatest, exponent);
    szgi_memory_free(columns);
    szgi_memory_free(own.memory);
    szgi_law_close(&law);
    return status;
}

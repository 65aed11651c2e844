/* Heads that rotate. */
#include "positional.h"

#include <math.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"

/* Draws, or lags, of a product. */
enum { PART = 256 };

/* A kernel, and what signs of W_K's columns would make of it. */
typedef struct signed_kernel {
    lag_kernel kernel;
    double *still; /* [2 pairs]: waves that no sign changes */
    double *whole; /* [2 pairs]: waves of W_K's columns with the signs that they have */
    double *drawn; /* [2 pairs, CHANCE_DRAWS]: and of the draws */
    double *gram;  /* [2 pairs, 2 pairs] */
    double *part;  /* [2 pairs, PART] */
} signed_kernel;

int64_t szgi_positional_room(int64_t e) {
    return e * (3 + CHANCE_DRAWS + e + PART);
}

static signed_kernel lay_kernel(int64_t pairs, double *room) {
    int64_t n = 2 * pairs;
    double *still = room + n, *whole = still + n, *drawn = whole + n;
    double *gram = drawn + n * CHANCE_DRAWS;
    return (signed_kernel){.kernel = {.wave = room},
                           .still = still,
                           .whole = whole,
                           .drawn = drawn,
                           .gram = gram,
                           .part = gram + n * n};
}

/* ---- Against chance ---- */

/* draws[i] = ||root (drawn_i + still)||^2 */
static szg_status draw_variances(szg_context *context, const lag_moments *moments,
                                 const signed_kernel *work, double draws[CHANCE_DRAWS]) {
    int64_t n = 2 * moments->pairs, rank = moments->rank;
    for (int64_t first = 0; first < CHANCE_DRAWS; first += PART) {
        int64_t count = CHANCE_DRAWS - first < PART ? CHANCE_DRAWS - first : PART;
        SZG_TRY(szgi_gemm(context, 'n', 'n', rank, count, n, 1, moments->root, n,
                          work->drawn + first, CHANCE_DRAWS, 0, work->part, PART));
        for (int64_t i = 0; i < count; i++)
            draws[first + i] = 0;
        for (int64_t r = 0; r < rank; r++) {
            double still = szgi_dot(n, moments->root + r * n, work->still);
            szgi_chance_add_squares(count, work->part + r * PART, still, draws + first);
        }
    }
    return SZG_OK;
}

/* The variance that draws are compared with. */
static double variance_of_columns(const lag_moments *moments, const signed_kernel *work) {
    int64_t n = 2 * moments->pairs;
    double sum = 0;
    for (int64_t r = 0; r < moments->rank; r++) {
        const double *root = moments->root + r * n;
        double part = szgi_dot(n, root, work->still) + szgi_dot(n, root, work->whole);
        sum += part * part;
    }
    return sum;
}

/* ---- The values, each between what draws would give ---- */

/* gram = drawn drawn^T / CHANCE_DRAWS, of which the lower left quarter is the upper right one. */
static szg_status multiply_draws(szg_context *context, int64_t n, const signed_kernel *work) {
    int64_t half = n / 2;
    const double *behind = work->drawn + half * CHANCE_DRAWS;
    double *gram = work->gram;
    SZG_TRY(szgi_gemm(context, 'n', 't', half, n, CHANCE_DRAWS, 1.0 / CHANCE_DRAWS, work->drawn,
                      CHANCE_DRAWS, work->drawn, CHANCE_DRAWS, 0, gram, n));
    for (int64_t i = half; i < n; i++)
        for (int64_t j = 0; j < half; j++)
            gram[i * n + j] = gram[j * n + i];
    return szgi_gemm(context, 'n', 't', half, half, CHANCE_DRAWS, 1.0 / CHANCE_DRAWS, behind,
                     CHANCE_DRAWS, behind, CHANCE_DRAWS, 0, gram + half * (n + 1), n);
}

/* At lag k a draw is (still + drawn) . e, e the waves there less their means, beside the kernel's
 * mean over the lags: a sum of many terms with independent signs, of which 95% lie within 1.96
 * deviations. Those are the draws'. */
static szg_status fill_bands(szg_context *context, const lag_moments *moments,
                             const signed_kernel *work, double factor, kernel_value *value) {
    int64_t n = 2 * moments->pairs, listed = moments->listed.count;
    double level = work->kernel.constant + szgi_dot(n, work->kernel.wave, moments->mean);
    SZG_TRY(multiply_draws(context, n, work));
    for (int64_t first = 0; first < listed; first += PART) {
        int64_t count = listed - first < PART ? listed - first : PART;
        const double *wave = moments->centred + first * n;
        SZG_TRY(
            szgi_gemm(context, 'n', 'n', count, n, n, 1, wave, n, work->gram, n, 0, work->part, n));
        for (int64_t i = 0; i < count; i++) {
            double square = szgi_dot(n, work->part + i * n, wave + i * n);
            double half = CHANCE_BAND * factor * sqrt(square > 0 ? square : 0);
            double middle = level + factor * szgi_dot(n, work->still, wave + i * n);
            value[first + i].low = middle - half;
            value[first + i].high = middle + half;
        }
    }
    return SZG_OK;
}

static void fill_values(const lag_moments *moments, const signed_kernel *work,
                        kernel_value *value) {
    int64_t n = 2 * moments->pairs;
    for (int64_t i = 0; i < moments->listed.count; i++)
        value[i].value =
            work->kernel.constant + szgi_dot(n, work->kernel.wave, moments->wave + i * n);
}

/* ---- One kernel ---- */

/* Null, p and bands. Where a norm is frozen for the draws, they are brought to the kernel's size.
 */
static szg_status compare(szg_context *context, const positional_input *input,
                          const signed_kernel *work, const pair_columns *columns, double variance,
                          double noise, kernel_kind kind, head_positional *out) {
    double draws[CHANCE_DRAWS];
    SZG_TRY(szgi_chance_pairs(context, input->seed, input->head.layer, columns, work->drawn,
                              work->whole));
    SZG_TRY(draw_variances(context, input->moments, work, draws));
    double compared = variance_of_columns(input->moments, work);
    szgi_positional_compare(out, kind, compared, variance, noise, draws);
    if (input->moments->listed.count == 0)
        return SZG_OK;
    return fill_bands(context, input->moments, work, compared > 0 ? sqrt(variance / compared) : 1,
                      out->value[kind]);
}

/* columns: NULL where chance is not known */
static szg_status judge(szg_context *context, const positional_input *input,
                        const signed_kernel *work, const pair_columns *columns, double noise,
                        kernel_kind kind, head_positional *out) {
    kernel_facts *facts = &out->kernel[kind];
    double variance = szgi_lag_moments_variance(input->moments, work->kernel.wave);
    facts->share = szgi_share_of(variance, noise);
    facts->noise = sqrt(noise);
    fill_values(input->moments, work, out->value[kind]);
    if (columns)
        SZG_TRY(compare(context, input, work, columns, variance, noise, kind, out));
    /* What biases add is in every draw: a kernel that they make is no flatter for that. */
    bool told = !szgi_positional_is_chance(facts) ||
                szgi_lag_moments_variance(input->moments, work->still) > 0;
    return szgi_shape_find(context, input->head.rotary, &work->kernel, input->moments, told,
                           &facts->shape);
}

static void copy_waves(int64_t pairs, const lag_kernel *from, double *to) {
    for (int64_t i = 0; i < 2 * pairs; i++)
        to[i] = from->wave[i];
}

static szg_status judge_self(szg_context *context, const positional_input *input,
                             const isotropic_law *law, signed_kernel *work, head_positional *out) {
    const szgi_rotary *rotary = input->head.rotary;
    int64_t e = input->head.checkpoint->head_size, d = input->head.checkpoint->model_size;
    const pair_columns columns = {
        .rotary = rotary, .d = d, .q = law->q, .k = law->k, .factor = law->factor};
    double noise;
    SZG_TRY(szgi_share_noise(context, rotary, e, &law->law, input->moments, &noise));
    szgi_kernel_of_means(rotary, law->law.q_mean, law->law.k_mean, e, &work->kernel);
    copy_waves(rotary->pairs, &work->kernel, work->still);
    szgi_kernel_of_cross(rotary, e, law->law.cross, &work->kernel);
    return judge(context, input, work, &columns, noise, KERNEL_SELF, out);
}

/* Of biases alone: no sign changes it. */
static szg_status judge_biases(szg_context *context, const positional_input *input,
                               const isotropic_law *law, signed_kernel *work,
                               head_positional *out) {
    int64_t e = input->head.checkpoint->head_size;
    double noise;
    SZG_TRY(szgi_share_noise(context, input->head.rotary, e, &law->law, input->moments, &noise));
    szgi_kernel_of_means(input->head.rotary, law->law.q_mean, law->law.k_mean, e, &work->kernel);
    return judge(context, input, work, NULL, noise, KERNEL_MEAN, out);
}

/* Of the tokens that the layer is known to read. With a norm of queries and keys it is frozen for
 * the comparison, as for the self kernel. */
static szg_status judge_known(szg_context *context, const positional_input *input,
                              const isotropic_law *law, signed_kernel *work, head_positional *out) {
    const law_input *head = &input->head;
    int64_t e = head->checkpoint->head_size, d = head->checkpoint->model_size;
    const double *mean = head->known->mean;
    double noise, *query;
    SZG_TRY(szgi_share_noise(context, head->rotary, e, &law->known, input->moments, &noise));
    SZG_TRY(szgi_memory_alloc(context, e, &query));
    for (int64_t i = 0; i < e; i++)
        query[i] = law->law.q_mean[i] + szgi_dot(d, law->q + i * d, mean);
    const pair_columns columns = {
        .rotary = head->rotary, .d = d, .q = query, .k = law->k, .token = mean};
    szgi_kernel_of_means(head->rotary, query, law->law.k_mean, e, &work->kernel);
    copy_waves(head->rotary->pairs, &work->kernel, work->still);
    szgi_kernel_of_means(head->rotary, law->known.q_mean, law->known.k_mean, e, &work->kernel);
    out->vocabulary = true;
    szg_status status = judge(context, input, work, &columns, noise, KERNEL_MEAN, out);
    szgi_memory_free(query);
    return status;
}

/* ---- The head ---- */

static int64_t count_slow(const szgi_rotary *rotary, int64_t lags) {
    const double turn = 2 * acos(-1.0);
    int64_t count = 0;
    for (int64_t t = 0; t < rotary->pairs; t++)
        count += rotary->theta[t] * (double)lags < turn;
    return count;
}

szg_status szgi_positional_find(szg_context *context, const positional_input *input,
                                head_positional *out) {
    const lag_moments *moments = input->moments;
    isotropic_law law;
    signed_kernel work = lay_kernel(moments->pairs, input->room);
    SZG_TRY(szgi_positional_open(context, moments->both ? 1 - moments->lags : 0, moments->lags,
                                 &moments->listed, out));
    out->slow = count_slow(input->head.rotary, moments->lags);
    SZG_TRY(szgi_law_open(context, &input->head, &law));
    szg_status status = judge_self(context, input, &law, &work, out);
    if (status == SZG_OK && input->head.known)
        status = judge_known(context, input, &law, &work, out);
    else if (status == SZG_OK && law.biased)
        status = judge_biases(context, input, &law, &work, out);
    szgi_positional_scale(input->head.q.exponent + input->head.k.exponent, out);
    szgi_law_close(&law);
    return status;
}

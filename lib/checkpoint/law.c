#include "law.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "fold.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"

const char *szgi_law_refusal(const szg_checkpoint *checkpoint, int64_t layer) {
    const layer_weights *weights = &checkpoint->layer[layer];
    norm_rule norm = checkpoint->family->norm;
    bool normed = szgi_fold_is_normed(checkpoint, layer), both = false;
    if (szgi_config_flag(NULL, checkpoint->settings, "use_bidirectional_attention", false, &both) !=
            SZG_OK ||
        both)
        return "queries see later keys (use_bidirectional_attention), within windows that are not "
               "covered";
    if (checkpoint->latent.key_rank)
        return "queries and keys come from latents with norms of their own: not covered";
    if (normed && norm != NORM_HEAD && norm != NORM_EACH)
        return "queries and keys are normalised in a way that is not covered";
    if (normed && (!weights->q.norm || !weights->k.norm))
        return "gains of the norm of queries or keys are missing";
    if (szgi_fold_centres(checkpoint) && checkpoint->model_size < 2)
        return "a token of one dimension is 0 behind its norm";
    if (!normed && !szgi_fold_has_input(checkpoint, layer))
        return "the layer's input has no norm, or one that is not known, or other weights act "
               "behind it";
    if (weights->bias_unread)
        return "a bias of queries or keys cannot be read";
    return NULL;
}

/* ---- Tokens ---- */

enum { PURPOSE = 0x0c1e0000 };

/* Dimensions that a token has: the input's norm may take one. */
static int64_t free_dimensions(const szg_checkpoint *checkpoint) {
    return checkpoint->model_size - szgi_fold_centres(checkpoint);
}

/* Squares of the coordinates that are not kept add up to a chi-squared number, which is that of so
 * many normals: drawn one by one, since few are. */
static double length(const szgi_stream *stream, int64_t token, int64_t size, int64_t all,
                     const double *kept) {
    double sum = 0;
    for (int64_t i = 0; i < size; i++)
        sum += kept[i] * kept[i];
    for (int64_t i = size; i < all; i++) {
        double x = szgi_random_normal(stream, (uint64_t)(token * all + i));
        sum += x * x;
    }
    return sqrt(sum);
}

szg_status szgi_token_sample_open(szg_context *context, const szg_checkpoint *checkpoint,
                                  uint64_t seed, token_sample *out) {
    const szgi_stream stream = {seed, 0, PURPOSE};
    int64_t all = free_dimensions(checkpoint), rows = 2 * checkpoint->head_size;
    *out = (token_sample){.size = rows < all ? rows : all};
    if (!checkpoint->normed)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, LAW_TOKENS * out->size, &out->value));
    for (int64_t i = 0; i < LAW_TOKENS; i++) {
        double *x = out->value + i * out->size;
        szgi_random_fill_normal(&stream, (uint64_t)(i * all), out->size, x);
        double factor =
            sqrt((double)checkpoint->model_size) / length(&stream, i, out->size, all, x);
        for (int64_t j = 0; j < out->size; j++)
            x[j] *= factor;
    }
    return SZG_OK;
}

void szgi_token_sample_close(token_sample *sample) {
    szgi_memory_free(sample->value);
    *sample = (token_sample){0};
}

/* ---- Without a norm of queries and keys ---- */

static double *lay_moments(int64_t e, double *block, head_law *out) {
    out->q_covariance = block;
    out->k_covariance = block + e * e;
    out->q_mean = block + 2 * e * e;
    out->k_mean = out->q_mean + e;
    return out->k_mean + e;
}

/* Rows are copied where they change. */
static szg_status open_law(szg_context *context, const law_input *input, bool changes,
                           isotropic_law *out) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    SZG_TRY(
        szgi_memory_alloc(context, 5 * e * e + 4 * e + (changes ? 2 * e * d : 0), &out->memory));
    out->law.cross = lay_moments(e, out->memory, &out->law);
    double *behind = lay_moments(e, out->law.cross + e * e, &out->known);
    out->rows = changes ? behind : NULL;
    out->q = changes ? behind : input->q.rows;
    out->k = changes ? behind + e * d : input->k.rows;
    if (changes) {
        memcpy(behind, input->q.rows, (size_t)(e * d) * sizeof *behind);
        memcpy(behind + e * d, input->k.rows, (size_t)(e * d) * sizeof *behind);
    }
    return SZG_OK;
}

void szgi_centre_rows(int64_t e, int64_t d, double *rows) {
    for (int64_t i = 0; i < e; i++) {
        double sum = 0;
        for (int64_t j = 0; j < d; j++)
            sum += rows[i * d + j];
        for (int64_t j = 0; j < d; j++)
            rows[i * d + j] -= sum / (double)d;
    }
}

static bool has_shift(int64_t e, const law_input *input) {
    for (int64_t i = 0; i < e; i++)
        if (input->q.shift[i] != 0 || input->k.shift[i] != 0)
            return true;
    return false;
}

/* The expectation of k q^T has the product of the means too. */
static void add_means(int64_t e, head_law *law) {
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < e; j++)
            law->cross[i * e + j] += law->k_mean[i] * law->q_mean[j];
}

/* A token's covariance is I, or d / (d - 1) P. The means are there. */
static szg_status make_linear(szg_context *context, const szg_checkpoint *checkpoint,
                              isotropic_law *out) {
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    double f = out->factor;
    head_law *law = &out->law;
    SZG_TRY(
        szgi_gemm(context, 'n', 't', e, e, d, f, out->q, d, out->q, d, 0, law->q_covariance, e));
    SZG_TRY(
        szgi_gemm(context, 'n', 't', e, e, d, f, out->k, d, out->k, d, 0, law->k_covariance, e));
    SZG_TRY(szgi_gemm(context, 'n', 't', e, e, d, f, out->k, d, out->q, d, 0, law->cross, e));
    add_means(e, law);
    return SZG_OK;
}

/* out = f (out - d a b^T), a and b the means of rows: what centring leaves of their products. */
static void centre_product(int64_t e, int64_t d, double f, const double *a, const double *b,
                           double *out) {
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < e; j++)
            out[i * e + j] = f * (out[i * e + j] - (double)d * a[i] * b[j]);
}

static void mean_rows(int64_t e, int64_t d, bool centred, const double *rows, double *out) {
    for (int64_t i = 0; i < e; i++) {
        out[i] = 0;
        for (int64_t j = 0; j < d && centred; j++)
            out[i] += rows[i * d + j] / (double)d;
    }
}

/* The same from products that there are: W W^T = L L^T. */
static szg_status take_linear(szg_context *context, const law_input *input, isotropic_law *out) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    bool centred = szgi_fold_centres(input->checkpoint);
    head_law *law = &out->law;
    double f = out->factor, *q;
    SZG_TRY(szgi_memory_alloc(context, 2 * e, &q));
    double *k = q + e;
    mean_rows(e, d, centred, input->q.rows, q);
    mean_rows(e, d, centred, input->k.rows, k);
    szg_status status = szgi_gemm(context, 'n', 't', e, e, e, 1, input->q.lower, e, input->q.lower,
                                  e, 0, law->q_covariance, e);
    if (status == SZG_OK)
        status = szgi_gemm(context, 'n', 't', e, e, e, 1, input->k.lower, e, input->k.lower, e, 0,
                           law->k_covariance, e);
    memcpy(law->cross, input->k_q, (size_t)(e * e) * sizeof *law->cross);
    centre_product(e, d, f, q, q, law->q_covariance);
    centre_product(e, d, f, k, k, law->k_covariance);
    centre_product(e, d, f, k, q, law->cross);
    add_means(e, law);
    szgi_memory_free(q);
    return status;
}

/* ---- Known tokens ---- */

/* Rows and shift before the norm of queries or keys, and what acts behind it; factor NULL: no such
 * norm. */
typedef struct side_rows {
    const double *rows, *shift, *factor;
} side_rows;

static void finish_token(int64_t e, const side_rows *side, double *x) {
    for (int64_t i = 0; i < e; i++)
        x[i] += side->shift[i];
    double root = side->factor ? sqrt(szgi_dot(e, x, x) / (double)e) : 1;
    for (int64_t i = 0; i < e && side->factor; i++)
        x[i] *= root > 0 ? side->factor[i] / root : 0;
}

static szg_status observe_side(szg_context *context, int64_t e, int64_t d, const side_rows *side,
                               const known_tokens *known, double *made, double *mean,
                               double *covariance) {
    int64_t n = known->count;
    memset(mean, 0, (size_t)e * sizeof *mean);
    SZG_TRY(szgi_gemm(context, 'n', 't', n, e, d, 1, known->value, d, side->rows, d, 0, made, e));
    for (int64_t t = 0; t < n; t++) {
        finish_token(e, side, made + t * e);
        for (int64_t i = 0; i < e; i++)
            mean[i] += made[t * e + i] / (double)n;
    }
    for (int64_t t = 0; t < n; t++)
        for (int64_t i = 0; i < e; i++)
            made[t * e + i] -= mean[i];
    return szgi_gemm(context, 't', 'n', e, e, n, 1.0 / (double)n, made, e, made, e, 0, covariance,
                     e);
}

static szg_status observe(szg_context *context, const law_input *input, const side_rows *q,
                          const side_rows *k, isotropic_law *out) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    double *made;
    if (!input->known)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, input->known->count * e, &made));
    szg_status status = observe_side(context, e, d, q, input->known, made, out->known.q_mean,
                                     out->known.q_covariance);
    if (status == SZG_OK && !input->keys->made)
        status = observe_side(context, e, d, k, input->known, made, input->keys->mean,
                              input->keys->covariance);
    input->keys->made = status == SZG_OK;
    memcpy(out->known.k_mean, input->keys->mean, (size_t)e * sizeof *made);
    memcpy(out->known.k_covariance, input->keys->covariance, (size_t)(e * e) * sizeof *made);
    szgi_memory_free(made);
    return status;
}

/* ---- With one ---- */

/* The arrays of a trial: `rows` are those of k and q before their norm, 2e x d, with biases
 * `shift`, [2e]; `factor`, [2e], acts behind the norm: gain, scale, amplitude. */
typedef struct trial {
    double *memory, *rows, *lower, *shift, *factor;
    double *made;  /* [LAW_TOKENS, 2e]: keys and queries of the tokens */
    double *ratio; /* [2, LAW_TOKENS] */
    double *room;  /* [LAW_TOKENS, e] */
} trial;

static szg_status open_trial(szg_context *context, const law_input *input, trial *own) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    SZG_TRY(szgi_memory_alloc(context, 2 * e * d + 4 * e * e + 4 * e + LAW_TOKENS * (3 * e + 2),
                              &own->memory));
    own->rows = own->memory;
    own->lower = own->rows + 2 * e * d;
    own->shift = own->lower + 4 * e * e;
    own->factor = own->shift + 2 * e;
    own->made = own->factor + 2 * e;
    own->ratio = own->made + LAW_TOKENS * 2 * e;
    own->room = own->ratio + 2 * LAW_TOKENS;
    return SZG_OK;
}

/* Scale and amplitude, which rows and shift have already, and which act behind the norm. */
static double outer_factor(const law_input *input, bool query, int64_t i) {
    const szgi_rotary *rotary = input->rotary;
    bool turns = i >= rotary->offset && i < rotary->offset + 2 * rotary->pairs;
    return (query ? input->checkpoint->layer[input->layer].scale : 1) *
           (turns ? rotary->amplitude : 1);
}

/* Rows before the norm. They are read again: where a gain is 0, those with gains have lost them. */
static szg_status read_rows(szg_context *context, const law_input *input, bool query,
                            int64_t key_head, double *rows) {
    const szg_checkpoint *checkpoint = input->checkpoint;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    double error;
    SZG_TRY(
        query ? szgi_fold_queries(context, checkpoint, input->layer, input->head, FOLD_NONE, rows,
                                  NULL)
              : szgi_fold_keys(context, checkpoint, input->layer, key_head, FOLD_NONE, rows, NULL));
    if (szgi_fold_has_input(checkpoint, input->layer))
        SZG_TRY(szgi_fold_input(context, checkpoint, input->layer, query, e, rows, &error));
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < d; j++)
            rows[i * d + j] /= outer_factor(input, query, i);
    if (szgi_fold_centres(checkpoint))
        szgi_centre_rows(e, d, rows);
    return SZG_OK;
}

static szg_status read_side(szg_context *context, const law_input *input, bool query,
                            const trial *own) {
    const szg_checkpoint *checkpoint = input->checkpoint;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size, at = query ? e : 0;
    int64_t key_head = input->head / (checkpoint->heads / checkpoint->key_heads);
    const law_side *side = query ? &input->q : &input->k;
    SZG_TRY(read_rows(context, input, query, key_head, own->rows + at * d));
    SZG_TRY(szgi_fold_gains(context, checkpoint, input->layer, query,
                            query ? input->head : key_head, own->factor + at));
    for (int64_t i = 0; i < e; i++) {
        double outer = outer_factor(input, query, i);
        own->shift[at + i] = ldexp(side->shift[i], side->exponent) / outer;
        own->factor[at + i] = ldexp(own->factor[at + i] * outer, -side->exponent);
    }
    return SZG_OK;
}

/* Root mean square of a side over all tokens: sqrt((f ||W||_F^2 + ||beta||^2) / e). */
static double root_mean_square(int64_t e, int64_t d, double f, const double *rows,
                               const double *shift) {
    return sqrt((f * szgi_dot(e * d, rows, rows) + szgi_dot(e, shift, shift)) / (double)e);
}

/* Divides a side by its root mean square, as if the norm were the same for every token. */
static void freeze(int64_t e, int64_t d, double root, const double *factor, const double *shift,
                   double *rows, double *mean) {
    for (int64_t i = 0; i < e * d; i++)
        rows[i] /= root;
    for (int64_t i = 0; i < e; i++)
        mean[i] = factor[i] * shift[i] / root;
}

/* One side of every token, which `made` has before the norm: after the frozen norm; ratio[t]: what
 * the true norm multiplies that by. */
static void apply_norm(int64_t e, double root, const double *factor, double *made, double *ratio) {
    for (int64_t t = 0; t < LAW_TOKENS; t++) {
        double *x = made + t * 2 * e;
        double own = sqrt(szgi_dot(e, x, x) / (double)e);
        ratio[t] = own > 0 ? root / own : 0;
        for (int64_t i = 0; i < e; i++)
            x[i] *= factor[i] / root;
    }
}

/* out += mean over tokens of (left right - 1) a b^T; room: [LAW_TOKENS, e]. */
static szg_status correct(szg_context *context, int64_t e, const double *left, const double *right,
                          const double *a, const double *b, double *room, double *out) {
    for (int64_t t = 0; t < LAW_TOKENS; t++)
        for (int64_t i = 0; i < e; i++)
            room[t * e + i] = (left[t] * right[t] - 1) * a[t * 2 * e + i];
    return szgi_gemm(context, 't', 'n', e, e, LAW_TOKENS, 1.0 / LAW_TOKENS, room, e, b, 2 * e, 1,
                     out, e);
}

/* Means, and covariances about them. Without biases the means are 0: a token and its negative are
 * as likely. */
static void correct_means(int64_t e, const double *ratio, const double *made, double *mean,
                          double *covariance) {
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < e; j++)
            covariance[i * e + j] += mean[i] * mean[j];
    for (int64_t t = 0; t < LAW_TOKENS; t++)
        for (int64_t i = 0; i < e; i++)
            mean[i] += (ratio[t] - 1) * made[t * 2 * e + i] / LAW_TOKENS;
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < e; j++)
            covariance[i * e + j] -= mean[i] * mean[j];
}

/* Adds to the law of the frozen norm what the true norm changes. The tokens tell that difference
 * alone, which is small: the law itself, from as many tokens, would be much rougher. */
static szg_status correct_law(szg_context *context, int64_t e, const trial *own,
                              isotropic_law *out) {
    const double *k = own->made, *q = own->made + e, *k_ratio = own->ratio;
    const double *q_ratio = own->ratio + LAW_TOKENS;
    head_law *law = &out->law;
    SZG_TRY(correct(context, e, k_ratio, q_ratio, k, q, own->room, law->cross));
    SZG_TRY(correct(context, e, q_ratio, q_ratio, q, q, own->room, law->q_covariance));
    SZG_TRY(correct(context, e, k_ratio, k_ratio, k, k, own->room, law->k_covariance));
    if (!out->biased)
        return SZG_OK;
    correct_means(e, q_ratio, q, law->q_mean, law->q_covariance);
    correct_means(e, k_ratio, k, law->k_mean, law->k_covariance);
    return SZG_OK;
}

/* With rows = L Q a token's queries and keys are L times its coordinates along Q. */
static szg_status try_tokens(szg_context *context, const law_input *input, const trial *own,
                             isotropic_law *out) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    int64_t size = input->tokens->size;
    double k = root_mean_square(e, d, out->factor, own->rows, own->shift);
    double q = root_mean_square(e, d, out->factor, own->rows + e * d, own->shift + e);
    if (!(k > 0) || !(q > 0))
        return szgi_fail(context, SZG_EDATA, "queries or keys are 0 before their norm");
    SZG_TRY(szgi_wide_l(context, 2 * e, d, own->rows, d, own->lower));
    SZG_TRY(szgi_gemm(context, 'n', 't', LAW_TOKENS, 2 * e, size, 1, input->tokens->value, size,
                      own->lower, 2 * e, 0, own->made, 2 * e));
    for (int64_t t = 0; t < LAW_TOKENS && out->biased; t++)
        for (int64_t i = 0; i < 2 * e; i++)
            own->made[t * 2 * e + i] += own->shift[i];
    apply_norm(e, k, own->factor, own->made, own->ratio);
    apply_norm(e, q, own->factor + e, own->made + e, own->ratio + LAW_TOKENS);
    freeze(e, d, k, own->factor, own->shift, out->rows + e * d, out->law.k_mean);
    freeze(e, d, q, own->factor + e, own->shift + e, out->rows, out->law.q_mean);
    SZG_TRY(make_linear(context, input->checkpoint, out));
    return correct_law(context, e, own, out);
}

static szg_status make_normed(szg_context *context, const law_input *input, isotropic_law *out) {
    trial own = {0};
    SZG_TRY(open_trial(context, input, &own));
    szg_status status = read_side(context, input, false, &own);
    if (status == SZG_OK)
        status = read_side(context, input, true, &own);
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    const side_rows k = {own.rows, own.shift, own.factor};
    const side_rows q = {own.rows + e * d, own.shift + e, own.factor + e};
    if (status == SZG_OK)
        status = observe(context, input, &q, &k, out);
    if (status == SZG_OK)
        status = try_tokens(context, input, &own, out);
    szgi_memory_free(own.memory);
    return status;
}

szg_status szgi_law_open(szg_context *context, const law_input *input, isotropic_law *out) {
    const szg_checkpoint *checkpoint = input->checkpoint;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    bool centred = szgi_fold_centres(checkpoint);
    bool normed = szgi_fold_is_normed(checkpoint, input->layer);
    *out = (isotropic_law){.factor = centred ? (double)d / (double)(d - 1) : 1,
                           .biased = has_shift(e, input)};
    SZG_TRY(open_law(context, input, centred || normed, out));
    if (centred)
        szgi_centre_rows(2 * e, d, out->rows);
    memcpy(out->law.q_mean, input->q.shift, (size_t)e * sizeof *out->law.q_mean);
    memcpy(out->law.k_mean, input->k.shift, (size_t)e * sizeof *out->law.k_mean);
    const side_rows k = {out->k, input->k.shift, NULL}, q = {out->q, input->q.shift, NULL};
    szg_status status =
        normed ? make_normed(context, input, out) : observe(context, input, &q, &k, out);
    if (status == SZG_OK && !normed)
        status = take_linear(context, input, out);
    if (status != SZG_OK)
        szgi_law_close(out);
    return status;
}

void szgi_law_close(isotropic_law *law) {
    szgi_memory_free(law->memory);
    *law = (isotropic_law){0};
}

#include "law.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "fold.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"

const char *szgi_law_refusal(const szg_checkpoint *checkpoint, int64_t layer) {
    const layer_weights *weights = &checkpoint->layer[layer];
    norm_rule norm = checkpoint->family->norm;
    bool normed = szgi_fold_is_normed(checkpoint, layer);
    if (szgi_key_direction(checkpoint) == KEYS_UNKNOWN)
        return "which keys queries see is not known: use_bidirectional_attention is set, and is "
               "known for Gemma 3 (true, false) and Gemma 4 (all, vision) alone";
    if (checkpoint->latent.key_rank && checkpoint->biased)
        return "latents have biases: not covered";
    if (normed && norm == NORM_NONE)
        return "queries and keys are normalised in a way that this family is not known for";
    if (normed && norm == NORM_HEAD_AFTER)
        return "gains of the norm of queries and keys act behind the rotation, so that logits "
               "depend on more than the lag";
    if (normed && norm != NORM_BARE && (!weights->q.norm || !weights->k.norm))
        return "gains of the norm of queries or keys are missing";
    if (normed && norm == NORM_EACH && szgi_fold_norm_bias(checkpoint, layer, true))
        return "norms of single heads have shifts: not covered";
    if (szgi_fold_centres(checkpoint) && checkpoint->model_size < 2)
        return "a token of one dimension is 0 behind its norm";
    if (!normed && !szgi_fold_has_input(checkpoint, layer))
        return "the layer's input has no norm, or one that is not known, or other weights act "
               "behind it";
    if (weights->bias_unread)
        return "a bias of queries or keys cannot be read";
    return NULL;
}

/* ---- Without a norm of queries and keys ---- */

double szgi_isotropic_factor(const szg_checkpoint *checkpoint) {
    int64_t d = checkpoint->model_size;
    return szgi_fold_centres(checkpoint) ? (double)d / (double)(d - 1) : 1;
}

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

static bool is_zero(int64_t count, const double *x) {
    for (int64_t i = 0; i < count; i++)
        if (x[i] != 0)
            return false;
    return true;
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

/* ---- The norm of one side ---- */

/* Rows and shift before it, what acts behind it on each number (gain, scale, amplitude), and what
 * is added then. */
typedef struct head_norm {
    const double *rows, *shift;
    const double *factor, *after; /* NULL: there is no norm */
    int64_t first, last;          /* numbers that it divides; the others it leaves as they are */
    double root;                  /* root mean square over isotropic tokens of what it divides by */
    const norm_divisors *shared;  /* what it divides by; NULL: the numbers' own root mean square */
} head_norm;

/* One token's numbers before the norm to those behind it; divisor: of the norm. */
static void apply_norm(int64_t e, const head_norm *norm, double divisor, double *x) {
    for (int64_t i = 0; i < e; i++) {
        bool divided = i >= norm->first && i < norm->last;
        double factor = !divided ? 1 : divisor > 0 ? 1 / divisor : 0;
        x[i] = norm->factor[i] * x[i] * factor + norm->after[i];
    }
}

static double divisor_of(int64_t e, const head_norm *norm, const double *shared, int64_t token,
                         const double *x) {
    return !norm->shared ? sqrt(szgi_dot(e, x, x) / (double)e) : shared ? shared[token] : 1;
}

/* ---- Known tokens ---- */

static void finish_token(int64_t e, const head_norm *norm, int64_t token, double *x) {
    for (int64_t i = 0; i < e; i++)
        x[i] += norm->shift[i];
    if (norm->factor)
        apply_norm(e, norm,
                   divisor_of(e, norm, norm->shared ? norm->shared->known : NULL, token, x), x);
}

static szg_status observe_side(szg_context *context, int64_t e, int64_t d, const head_norm *side,
                               const known_tokens *known, double *made, double *mean,
                               double *covariance) {
    int64_t n = known->count;
    memset(mean, 0, (size_t)e * sizeof *mean);
    SZG_TRY(szgi_gemm(context, 'n', 't', n, e, d, 1, known->value, d, side->rows, d, 0, made, e));
    for (int64_t t = 0; t < n; t++) {
        finish_token(e, side, t, made + t * e);
        for (int64_t i = 0; i < e; i++)
            mean[i] += made[t * e + i] / (double)n;
    }
    for (int64_t t = 0; t < n; t++)
        for (int64_t i = 0; i < e; i++)
            made[t * e + i] -= mean[i];
    return szgi_gemm(context, 't', 'n', e, e, n, 1.0 / (double)n, made, e, made, e, 0, covariance,
                     e);
}

static szg_status observe(szg_context *context, const law_input *input, const head_norm *q,
                          const head_norm *k, isotropic_law *out) {
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

/* The arrays of a trial, keys first: rows are those before the norm. */
typedef struct trial {
    int64_t count; /* of tokens */
    double *memory;
    double *rows, *lower;           /* [2e, d], [2e, 2e] */
    double *shift, *factor, *after; /* [2e] */
    double *made, *frozen;          /* [count, 2e]: of each token, and as the frozen norm has it */
    head_norm k, q;
} trial;

static szg_status open_trial(szg_context *context, const law_input *input, trial *work) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    work->count = input->tokens->count;
    SZG_TRY(szgi_memory_alloc(context, 2 * e * d + 4 * e * e + 6 * e + work->count * 4 * e,
                              &work->memory));
    work->rows = work->memory;
    work->lower = work->rows + 2 * e * d;
    work->shift = work->lower + 4 * e * e;
    work->factor = work->shift + 2 * e;
    work->after = work->factor + 2 * e;
    work->made = work->after + 2 * e;
    work->frozen = work->made + work->count * 2 * e;
    work->k =
        (head_norm){.rows = work->rows,
                    .shift = work->shift,
                    .factor = work->factor,
                    .after = work->after,
                    .last = input->checkpoint->latent.key_rank ? input->checkpoint->latent.nope : e,
                    .shared = input->shared ? &input->shared->k : NULL};
    work->q = (head_norm){.rows = work->rows + e * d,
                          .shift = work->shift + e,
                          .factor = work->factor + e,
                          .after = work->after + e,
                          .last = e,
                          .shared = input->shared ? &input->shared->q : NULL};
    return SZG_OK;
}

/* Scale and amplitude, which rows and shift have already, and which act behind the norm. */
static double outer_factor(const szg_checkpoint *checkpoint, const szgi_rotary *rotary,
                           int64_t layer, bool query, int64_t i) {
    bool turns = i >= rotary->offset && i < rotary->offset + 2 * rotary->pairs;
    return (query ? checkpoint->layer[layer].scale : 1) * (turns ? rotary->amplitude : 1);
}

/* Rows of a head, before all gains but those of latents, and before scale and amplitude. */
static szg_status read_bare(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                            bool query, int64_t head, double *rows) {
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    SZG_TRY(query ? szgi_fold_queries(context, checkpoint, layer, head, FOLD_LATENT, rows, NULL)
                  : szgi_fold_keys(context, checkpoint, layer, head, FOLD_LATENT, rows, NULL));
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < d; j++)
            rows[i * d + j] /= outer_factor(checkpoint, &rotary, layer, query, i);
    return SZG_OK;
}

szg_status szgi_law_raw_rows(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                             bool query, int64_t head, double *rows, double *bias) {
    const layer_weights *weights = &checkpoint->layer[layer];
    const szgi_tensor *tensor = query ? weights->q.bias : weights->k.bias;
    int64_t e = checkpoint->head_size;
    SZG_TRY(read_bare(context, checkpoint, layer, query, head, rows));
    memset(bias, 0, (size_t)e * sizeof *bias);
    return tensor ? szgi_fold_vector(context, tensor, "a bias",
                                     szgi_bias_place(checkpoint, query, head), e, bias)
                  : SZG_OK;
}

/* Subtracts the mean over a head's numbers, as its LayerNorm does. */
static void centre_head(int64_t e, int64_t d, double *rows, double *shift) {
    for (int64_t j = 0; j <= d; j++) {
        double *column = j < d ? rows + j : shift, mean = 0;
        int64_t step = j < d ? d : 1;
        for (int64_t i = 0; i < e; i++)
            mean += column[i * step] / (double)e;
        for (int64_t i = 0; i < e; i++)
            column[i * step] -= mean;
    }
}

/* They are read again: where a gain is 0, rows with gains have lost them. */
static szg_status read_side(szg_context *context, const law_input *input, bool query,
                            const trial *work) {
    const szg_checkpoint *checkpoint = input->checkpoint;
    norm_rule rule = checkpoint->family->norm;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size, offset = query ? e : 0;
    int64_t head = query ? input->head : input->head / (checkpoint->heads / checkpoint->key_heads);
    const law_side *side = query ? &input->q : &input->k;
    double *rows = work->rows + offset * d, error;
    SZG_TRY(read_bare(context, checkpoint, input->layer, query, head, rows));
    if (szgi_fold_has_input(checkpoint, input->layer))
        SZG_TRY(szgi_fold_input(context, checkpoint, input->layer, query, e, rows, &error));
    if (szgi_fold_centres(checkpoint))
        szgi_centre_rows(e, d, rows);
    SZG_TRY(szgi_fold_gains(context, checkpoint, input->layer, query, head, work->factor + offset));
    SZG_TRY(
        szgi_fold_norm_shift(context, checkpoint, input->layer, query, head, work->after + offset));
    for (int64_t i = 0; i < e; i++) {
        double outer = outer_factor(checkpoint, input->rotary, input->layer, query, i);
        work->shift[offset + i] = ldexp(side->shift[i], side->exponent) / outer;
        work->factor[offset + i] = ldexp(work->factor[offset + i] * outer, -side->exponent);
        work->after[offset + i] = ldexp(work->after[offset + i] * outer, -side->exponent);
    }
    if (rule == NORM_LAYER || rule == NORM_EACH)
        centre_head(e, d, rows, work->shift + offset);
    return SZG_OK;
}

/* Root mean square of a side over all tokens: sqrt((f ||W||_F^2 + ||beta||^2) / e). */
static double root_mean_square(int64_t e, int64_t d, double f, const head_norm *side) {
    if (side->shared)
        return side->shared->tried ? side->shared->root : 1;
    return sqrt(
        (f * szgi_dot(e * d, side->rows, side->rows) + szgi_dot(e, side->shift, side->shift)) /
        (double)e);
}

/* Divides a side by its root mean square, as if the norm were the same for every token. */
static void freeze(int64_t e, int64_t d, const head_norm *side, double *rows, double *mean) {
    for (int64_t i = side->first; i < side->last && side->root > 0; i++)
        for (int64_t j = 0; j < d; j++)
            rows[i * d + j] /= side->root;
    memcpy(mean, side->shift, (size_t)e * sizeof *mean);
    apply_norm(e, side, side->root, mean);
}

/* One side of every token, from what it is before the norm. */
static void norm_tokens(int64_t e, const head_norm *side, int64_t count, double *made,
                        double *frozen) {
    for (int64_t t = 0; t < count; t++) {
        double *x = made + t * 2 * e;
        double divisor = divisor_of(e, side, side->shared ? side->shared->tried : NULL, t, x);
        memcpy(frozen + t * 2 * e, x, (size_t)e * sizeof *x);
        apply_norm(e, side, side->root, frozen + t * 2 * e);
        apply_norm(e, side, divisor, x);
    }
}

/* out += mean over tokens of a b^T less that of the frozen ones; a and b: places of two sides. */
static szg_status correct(szg_context *context, int64_t e, const trial *work, int64_t a, int64_t b,
                          double *out) {
    double each = 1 / (double)work->count;
    SZG_TRY(szgi_gemm(context, 't', 'n', e, e, work->count, each, work->made + a, 2 * e,
                      work->made + b, 2 * e, 1, out, e));
    return szgi_gemm(context, 't', 'n', e, e, work->count, -each, work->frozen + a, 2 * e,
                     work->frozen + b, 2 * e, 1, out, e);
}

/* Means, and covariances about them. Without biases the means are 0: a token and its negative are
 * as likely. */
static void correct_means(int64_t e, const trial *work, int64_t offset, double *mean,
                          double *covariance) {
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < e; j++)
            covariance[i * e + j] += mean[i] * mean[j];
    for (int64_t t = 0; t < work->count; t++)
        for (int64_t i = 0; i < e; i++)
            mean[i] += (work->made[t * 2 * e + offset + i] - work->frozen[t * 2 * e + offset + i]) /
                       (double)work->count;
    for (int64_t i = 0; i < e; i++)
        for (int64_t j = 0; j < e; j++)
            covariance[i * e + j] -= mean[i] * mean[j];
}

/* Adds to the law of the frozen norm what the true norm changes. The tokens tell that difference
 * alone, which is small: the law itself, from as many tokens, would be much rougher. */
static szg_status correct_law(szg_context *context, int64_t e, const trial *work,
                              isotropic_law *out) {
    head_law *law = &out->law;
    SZG_TRY(correct(context, e, work, 0, e, law->cross));
    SZG_TRY(correct(context, e, work, e, e, law->q_covariance));
    SZG_TRY(correct(context, e, work, 0, 0, law->k_covariance));
    if (!out->biased)
        return SZG_OK;
    correct_means(e, work, e, law->q_mean, law->q_covariance);
    correct_means(e, work, 0, law->k_mean, law->k_covariance);
    return SZG_OK;
}

/* Keys and queries of the tokens before their norm. With rows = L Q they are L times the
 * coordinates along Q. */
static szg_status make_tokens(szg_context *context, const law_input *input, const trial *work) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    int64_t size = input->tokens->size, stride = input->tokens->whole ? d : 2 * e;
    if (!input->tokens->whole)
        SZG_TRY(szgi_wide_l(context, 2 * e, d, work->rows, d, work->lower));
    SZG_TRY(szgi_gemm(context, 'n', 't', work->count, 2 * e, size, 1, input->tokens->value, size,
                      input->tokens->whole ? work->rows : work->lower, stride, 0, work->made,
                      2 * e));
    for (int64_t i = 0; i < work->count * 2 * e; i++)
        work->made[i] += work->shift[i % (2 * e)];
    return SZG_OK;
}

/* Queries or keys of zeros alone stay 0 behind their norm. */
static bool has_root(int64_t e, int64_t d, const head_norm *side) {
    return side->root > 0 ? isfinite(side->root)
                          : is_zero(e * d, side->rows) && is_zero(e, side->shift);
}

static szg_status try_tokens(szg_context *context, const law_input *input, trial *work,
                             isotropic_law *out) {
    int64_t e = input->checkpoint->head_size, d = input->checkpoint->model_size;
    work->k.root = root_mean_square(e, d, out->factor, &work->k);
    work->q.root = root_mean_square(e, d, out->factor, &work->q);
    if (!has_root(e, d, &work->k) || !has_root(e, d, &work->q))
        return szgi_fail(context, SZG_EDATA,
                         "squares of queries or keys before their norm are no doubles: multiply "
                         "the weights by a power of two");
    SZG_TRY(make_tokens(context, input, work));
    norm_tokens(e, &work->k, work->count, work->made, work->frozen);
    norm_tokens(e, &work->q, work->count, work->made + e, work->frozen + e);
    freeze(e, d, &work->k, out->rows + e * d, out->law.k_mean);
    freeze(e, d, &work->q, out->rows, out->law.q_mean);
    for (int64_t i = 0; i < e; i++)
        out->biased = out->biased || out->law.k_mean[i] != 0 || out->law.q_mean[i] != 0;
    SZG_TRY(make_linear(context, input->checkpoint, out));
    return correct_law(context, e, work, out);
}

static szg_status make_normed(szg_context *context, const law_input *input, isotropic_law *out) {
    trial work = {0};
    SZG_TRY(open_trial(context, input, &work));
    szg_status status = read_side(context, input, false, &work);
    if (status == SZG_OK)
        status = read_side(context, input, true, &work);
    if (status == SZG_OK)
        status = observe(context, input, &work.q, &work.k, out);
    if (status == SZG_OK)
        status = try_tokens(context, input, &work, out);
    szgi_memory_free(work.memory);
    return status;
}

szg_status szgi_law_open(szg_context *context, const law_input *input, isotropic_law *out) {
    const szg_checkpoint *checkpoint = input->checkpoint;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    bool centred = szgi_fold_centres(checkpoint);
    bool normed = szgi_fold_is_normed(checkpoint, input->layer) || input->shared;
    *out = (isotropic_law){.factor = szgi_isotropic_factor(checkpoint),
                           .biased = !is_zero(e, input->q.shift) || !is_zero(e, input->k.shift)};
    SZG_TRY(open_law(context, input, centred || normed, out));
    if (centred)
        szgi_centre_rows(2 * e, d, out->rows);
    memcpy(out->law.q_mean, input->q.shift, (size_t)e * sizeof *out->law.q_mean);
    memcpy(out->law.k_mean, input->k.shift, (size_t)e * sizeof *out->law.k_mean);
    const head_norm k = {.rows = out->k, .shift = input->k.shift};
    const head_norm q = {.rows = out->q, .shift = input->q.shift};
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

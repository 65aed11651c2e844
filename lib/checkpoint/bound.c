/* Bounds on the largest logit of a head. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "formats/gguf.h"
#include "bound.h"
#include "bound_lags.h"
#include "bound_norm.h"
#include "fold.h"
#include "gguf.h"
#include "rounding.h"

const char *szgi_bound_name(bound_kind kind) {
    static const char *const names[] = {
        [BOUND_NONE] = "none",          [BOUND_HEADS] = "qk-norm", [BOUND_INPUT] = "input-norm",
        [BOUND_LATENT] = "latent-norm", [BOUND_CLIP] = "clip",     [BOUND_CAP] = "soft-cap"};
    return names[kind];
}

/* ---- What no bound here covers ---- */

static bool has_temperature(const szg_checkpoint *checkpoint, int64_t layer) {
    return checkpoint->temperature > 0 && (checkpoint->family->temperature != TEMPERATURE_LLAMA4 ||
                                           checkpoint->layer[layer].rotation < 0);
}

static bool has_distances(const szg_checkpoint *checkpoint) {
    position_rule rule = checkpoint->family->positions;
    return (rule == POSITION_BERT || rule == POSITION_ROBERTA) &&
           checkpoint->position_kind == SZG_POSITIONS_NONE && !checkpoint->position_note;
}

/* NULL, or what acts on the logits and is in none of the bounds. */
static const char *refusal(const szg_checkpoint *checkpoint, int64_t layer) {
    const model_family *family = checkpoint->family;
    bool normed = szgi_fold_is_normed(checkpoint, layer);
    if (has_temperature(checkpoint, layer))
        return "queries grow with their position: no bound holds at all positions";
    if (checkpoint->alibi)
        return "ALiBi adds a slope times the lag: not covered";
    if (checkpoint->added && !family->added_by_head)
        return "products of content with embeddings of the lag are added: not covered";
    if (family->two_coordinates)
        return "patches rotate by row and column: not covered";
    if (has_distances(checkpoint))
        return "distance tables (Shaw et al. 2018) act on the logits: not covered";
    if (normed && family->norm == NORM_NONE)
        return "queries and keys are normalised in a way that this family is not known for";
    if (normed && family->norm != NORM_BARE &&
        (!checkpoint->layer[layer].q.norm || !checkpoint->layer[layer].k.norm))
        return "gains of the norm of queries or keys are missing, or of another size";
    if (normed && checkpoint->clip > 0)
        return "queries and keys are normalised and clipped: not covered";
    if (checkpoint->latent.key_rank && checkpoint->biased)
        return "latents have biases: not covered";
    if (!normed && checkpoint->layer[layer].bias_unread)
        return "a bias of queries or keys has another size or type: not covered";
    return NULL;
}

/* ---- Queries and keys with a norm of their own ---- */

static double largest(int64_t count, const double *x) {
    double out = 0;
    for (int64_t i = 0; i < count; i++)
        out = fmax(out, fabs(x[i]));
    return out;
}

/* max over pairs of max |g_q| max |g_k|; a dimension that does not rotate is a pair of its own. */
static double largest_pair(const szgi_rotary *rotary, int64_t e, const double *gq,
                           const double *gk) {
    double out = 0;
    bool half = rotary->pairing == SZGI_PAIRING_HALF;
    for (int64_t i = 0; i < e; i++) {
        int64_t at = i - rotary->offset, other = i;
        double factor = 1;
        if (at >= 0 && at < 2 * rotary->pairs) {
            if (half)
                other = at < rotary->pairs ? i + rotary->pairs : i - rotary->pairs;
            else
                other = at % 2 == 0 ? i + 1 : i - 1;
            factor = rotary->amplitude * rotary->amplitude;
        }
        out = fmax(out, factor * fmax(fabs(gq[i]), fabs(gq[other])) *
                            fmax(fabs(gk[i]), fabs(gk[other])));
    }
    return out;
}

/* ||x|| from above, in the file's numbers; 0 without a tensor. */
static szg_status bias_norm(szg_context *context, const szgi_tensor *tensor, int64_t e,
                            double *room, double *out) {
    *out = 0;
    if (!tensor)
        return SZG_OK;
    if (tensor->count != e)
        return szgi_fail(context, SZG_EDATA, "tensor %s has %" PRId64 " numbers, not %" PRId64,
                         tensor->name, tensor->count, e);
    SZG_TRY(szgi_fold_vector(context, tensor, "a norm's shift", 0, e, room));
    *out = szgi_norm_above(e, room);
    return SZG_OK;
}

/* Gains of a head's queries or keys, and the norm of its biases. */
typedef struct normed_side {
    const double *gain;
    double bias;
} normed_side;

/* |q| before the rotation. */
static double normed_length(int64_t e, const normed_side *side) {
    return sqrt((double)e) * largest(e, side->gain) + side->bias;
}

static double bound_of_normed(const szg_checkpoint *checkpoint, int64_t layer, double unit,
                              const szgi_rotary *rotary, const normed_side *q,
                              const normed_side *k) {
    int64_t e = checkpoint->head_size;
    double size = (double)e, scale = fabs(checkpoint->layer[layer].scale);
    double amplitude = rotary->pairs ? fmax(1, rotary->amplitude) : 1;
    bool full = checkpoint->family->norm == NORM_FULL;
    double wide = full ? sqrt((double)(checkpoint->heads * checkpoint->key_heads)) : 1;
    double long_q = normed_length(e, q), long_k = normed_length(e, k);
    double product = q->bias == 0 && k->bias == 0
                         ? size * wide * largest_pair(rotary, e, q->gain, k->gain)
                         : amplitude * amplitude * wide * long_q * long_k;
    double value = szgi_above(scale * product, 16);
    if (unit == 0)
        return value;
    double terms = full ? size * (double)checkpoint->heads : size;
    double least = szgi_round_least(size, unit);
    return szgi_above(value * szgi_round_normed(terms, size, true, unit) +
                          scale * 2 * least * (wide * amplitude * (long_q + long_k) + least),
                      16);
}

static szg_status bound_by_heads(szg_context *context, const szg_checkpoint *checkpoint,
                                 int64_t layer, int64_t head, double unit, head_bound *out) {
    int64_t e = checkpoint->head_size, group = checkpoint->heads / checkpoint->key_heads;
    norm_rule rule = checkpoint->family->norm;
    bool after = rule == NORM_HEAD_AFTER || rule == NORM_BARE;
    szgi_rotary rotary;
    double *gq, *gk, bq, bk;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    if (after) /* the product meets the gains as they are: no dimension mixes with another */
        rotary = (szgi_rotary){.dim = e, .amplitude = 1};
    SZG_TRY(szgi_memory_alloc(context, 3 * e, &gq));
    gk = gq + e;
    szg_status status = szgi_fold_gains(context, checkpoint, layer, true, head, gq);
    if (status == SZG_OK)
        status = szgi_fold_gains(context, checkpoint, layer, false, head / group, gk);
    if (status == SZG_OK)
        status = bias_norm(context, szgi_fold_norm_bias(checkpoint, layer, true), e, gk + e, &bq);
    if (status == SZG_OK)
        status = bias_norm(context, szgi_fold_norm_bias(checkpoint, layer, false), e, gk + e, &bk);
    if (status == SZG_OK) {
        const normed_side q = {gq, bq}, k = {gk, bk};
        out->value = bound_of_normed(checkpoint, layer, unit, &rotary, &q, &k);
        out->all = out->value;
        out->kind = BOUND_HEADS;
    }
    szgi_memory_free(gq);
    return status;
}

/* ---- Queries and keys of a normalised input: one side ---- */

static szg_status open_side(szg_context *context, const szg_checkpoint *checkpoint,
                            bound_side *out) {
    int64_t e = checkpoint->head_size;
    double *at;
    if (out->memory)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, 3 * e * e + 2 * e, &out->memory));
    at = out->memory;
    out->whole.value = at;
    out->turning.value = at + e * e;
    out->still.value = at + 2 * e * e;
    out->shift = at + 3 * e * e;
    out->size = out->shift + e;
    return SZG_OK;
}

void szgi_bound_side_release(bound_side *side) {
    szgi_memory_free(side->memory);
    *side = (bound_side){0};
}

/* Adds the projection's bias. */
static szg_status add_bias(szg_context *context, const szg_checkpoint *checkpoint,
                           const bound_place *place, const szgi_rotary *rotary, bound_side *out) {
    const layer_weights *weights = &checkpoint->layer[place->layer];
    const szgi_tensor *bias = place->query ? weights->q.bias : weights->k.bias;
    int64_t e = checkpoint->head_size;
    double *room;
    if (!bias)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, e, &room));
    szg_status status = szgi_fold_vector(
        context, bias, "a bias", szgi_bias_place(checkpoint, place->query, place->head), e, room);
    for (int64_t i = 0; i < e && status == SZG_OK; i++) {
        bool rotated = i >= rotary->offset && i < rotary->offset + 2 * rotary->pairs;
        double added =
            room[i] * (place->query ? weights->scale : 1) * (rotated ? rotary->amplitude : 1);
        out->shift[i] += added;
        out->size[i] += fabs(added);
    }
    szgi_memory_free(room);
    return status;
}

/* Adds W b, b the input norm's own shift. */
static szg_status add_input_shift(szg_context *context, const szg_checkpoint *checkpoint,
                                  const bound_place *place, bound_side *out) {
    const layer_weights *weights = &checkpoint->layer[place->layer];
    const szgi_tensor *tensor = place->query ? weights->q.input_shift : weights->k.input_shift;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    double *rows, *b;
    if (!tensor)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, (e + 1) * d, &rows));
    b = rows + e * d;
    szg_status status = place->query ? szgi_fold_queries(context, checkpoint, place->layer,
                                                         place->head, FOLD_NONE, rows, NULL)
                                     : szgi_fold_keys(context, checkpoint, place->layer,
                                                      place->head, FOLD_NONE, rows, NULL);
    if (status == SZG_OK)
        status = szgi_fold_vector(context, tensor, "a norm's shift", 0, d, b);
    for (int64_t i = 0; i < e && status == SZG_OK; i++)
        for (int64_t j = 0; j < d; j++) {
            out->shift[i] += rows[i * d + j] * b[j];
            out->size[i] += fabs(rows[i * d + j] * b[j]);
        }
    szgi_memory_free(rows);
    return status;
}

static szg_status make_shift(szg_context *context, const szg_checkpoint *checkpoint,
                             const bound_place *place, int exponent, bound_side *out) {
    int64_t e = checkpoint->head_size;
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, place->layer, &rotary));
    memset(out->shift, 0, (size_t)(2 * e) * sizeof *out->shift);
    SZG_TRY(add_input_shift(context, checkpoint, place, out));
    SZG_TRY(add_bias(context, checkpoint, place, &rotary, out));
    for (int64_t i = 0; i < e; i++) {
        out->shift[i] = ldexp(out->shift[i], -exponent);
        out->size[i] = ldexp(out->size[i], -exponent);
    }
    /* d products, their sum, scale, amplitude, one more sum: Higham 2002, section 3.1. */
    double d = (double)checkpoint->model_size, length = szgi_norm_above(e, out->size);
    double factor =
        fmax(1, rotary.amplitude) * fmax(1, fabs(checkpoint->layer[place->layer].scale));
    out->shift_error = (d + 8) * DBL_EPSILON * length;
    out->shift_error += szgi_round_shift(d, out->unit) * length +
                        ldexp(factor * szgi_round_least((double)e, out->unit), -exponent);
    return SZG_OK;
}

/* The rows' distance from the true ones: what folding did, which scale and amplitude multiplied.
 * Their own two roundings come on top. */
enum { ROW_ROUNDINGS = 4 };

static double error_of_rows(const szg_checkpoint *checkpoint, const bound_place *place,
                            const szgi_rotary *rotary, const bound_rows *rows) {
    double factor = rotary->pairs ? fmax(1, rotary->amplitude) : 1;
    if (place->query)
        factor *= fabs(checkpoint->layer[place->layer].scale);
    return ldexp(rows->error * factor, -rows->exponent);
}

/* The dimensions that rotate and those that do not, where there are both. */
static szg_status split_rows(szg_context *context, const szg_checkpoint *checkpoint,
                             const szgi_rotary *rotary, bound_side *out) {
    int64_t e = checkpoint->head_size, rotated = 2 * rotary->pairs;
    int64_t first = rotary->offset == 0 ? rotated : 0;
    out->turning.e = out->still.e = 0;
    if (rotated == 0 || rotated == e)
        return SZG_OK;
    SZG_TRY(szgi_gram_part(context, &out->whole, rotary->offset, rotated, &out->turning));
    return szgi_gram_part(context, &out->whole, first, e - rotated, &out->still);
}

static szg_status make_input_side(szg_context *context, const szg_checkpoint *checkpoint,
                                  const bound_place *place, const bound_rows *rows,
                                  bound_side *out) {
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, place->layer, &rotary));
    SZG_TRY(make_shift(context, checkpoint, place, rows->exponent, out));
    double relative = ROW_ROUNDINGS * DBL_EPSILON +
                      szgi_round_products((double)checkpoint->model_size, rows->unit);
    SZG_TRY(szgi_gram_make(context, checkpoint->head_size, checkpoint->model_size, rows->value,
                           error_of_rows(checkpoint, place, &rotary, rows), relative, &out->whole));
    out->rows = rows->value;
    out->exponent = rows->exponent;
    return split_rows(context, checkpoint, &rotary, out);
}

/* ---- Lags ---- */

/* Lags for which a bound of this layer is asked: fewer where its frequencies hold no further. 0:
 * any, as nothing rotates, or clipping comes between. */
static int64_t lags_of(const szg_checkpoint *checkpoint, int64_t layer, int64_t lags) {
    int index = checkpoint->layer[layer].rotation;
    if (index < 0 || checkpoint->clip > 0)
        return 0;
    int64_t length = checkpoint->rotation[index].length;
    return length > 0 && length < lags ? length : lags;
}

/* ---- Both sides ---- */

/* What a bound is made of. */
typedef struct input_case {
    const szg_checkpoint *checkpoint;
    const bound_side *q, *k;
    double root; /* sqrt(d), from above: the normalised input is no longer */
} input_case;

/* Dimensions first .. first + part.e - 1 of a side. */
typedef struct input_share {
    const bound_side *side;
    const szgi_gram *gram;
    int64_t first;
    double shift; /* its norm, from above */
} input_share;

static input_share share_of(const bound_side *side, const szgi_gram *gram, int64_t first) {
    double length = szgi_norm_above(gram->e, side->shift + first);
    return (input_share){.side = side,
                         .gram = gram,
                         .first = first,
                         .shift = szgi_above(length + side->shift_error, 1)};
}

/* ||W^T beta|| from above, W the rows of one share and beta the shift of the other. */
static szg_status above_image(szg_context *context, int64_t d, const input_share *rows,
                              const input_share *beta, double *out) {
    const double *w = rows->side->rows + rows->first * d, *shift = beta->side->shift + beta->first;
    int64_t count = rows->gram->e;
    double *image, length = szgi_norm_above(count, shift), frobenius = rows->gram->frobenius;
    SZG_TRY(szgi_memory_alloc(context, d, &image));
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < d; j++)
            image[j] += w[i * d + j] * shift[i];
    *out = szgi_norm_above(d, image) + ((double)count + 4) * DBL_EPSILON * frobenius * length +
           frobenius * beta->side->shift_error +
           rows->gram->error * (length + beta->side->shift_error);
    *out = szgi_above(*out, 8);
    szgi_memory_free(image);
    return SZG_OK;
}

/* Some dimensions alone: their share of no logit is larger. */
static szg_status bound_share(szg_context *context, const input_case *own, const input_share *q,
                              const input_share *k, bool rotates, double *out) {
    int64_t d = own->checkpoint->model_size, count = q->gram->e;
    double q_image, k_image, product, root = own->root;
    *out = szgi_above((root * q->gram->spectral + q->shift) * (root * k->gram->spectral + k->shift),
                      8);
    if (rotates)
        return SZG_OK;
    SZG_TRY(szgi_gram_product(context, q->gram, k->gram, &product));
    SZG_TRY(above_image(context, d, q, k, &q_image));
    SZG_TRY(above_image(context, d, k, q, &k_image));
    double still = root * root * product + root * (q_image + k_image);
    double inner = 0;
    for (int64_t i = 0; i < count; i++)
        inner += q->side->shift[q->first + i] * k->side->shift[k->first + i];
    still += fabs(inner) + ((double)count + 4) * DBL_EPSILON * q->shift * k->shift +
             q->side->shift_error * k->shift + k->side->shift_error * q->shift;
    *out = fmin(*out, szgi_above(still, 16));
    return SZG_OK;
}

/* All dimensions: at once, or those that rotate and those that do not apart. */
static szg_status bound_dimensions(szg_context *context, const input_case *own,
                                   const szgi_rotary *rotary, double *out) {
    bool clipped =
        own->checkpoint->clip > 0; /* which moves queries and keys, and lengthens neither */
    int64_t rotated = 2 * rotary->pairs, first = rotary->offset == 0 ? rotated : 0;
    const bound_side *q = own->q, *k = own->k;
    input_share a = share_of(q, &q->whole, 0), b = share_of(k, &k->whole, 0);
    double whole, turning, still;
    SZG_TRY(bound_share(context, own, &a, &b, rotated > 0 || clipped, &whole));
    *out = whole;
    if (q->turning.e == 0 || clipped)
        return SZG_OK;
    a = share_of(q, &q->turning, rotary->offset);
    b = share_of(k, &k->turning, rotary->offset);
    SZG_TRY(bound_share(context, own, &a, &b, true, &turning));
    a = share_of(q, &q->still, first);
    b = share_of(k, &k->still, first);
    SZG_TRY(bound_share(context, own, &a, &b, false, &still));
    *out = fmin(whole, szgi_above(turning + still, 1));
    return SZG_OK;
}

static szgi_reach reach_of(const bound_side *side, double root) {
    return (szgi_reach){
        .gram = &side->whole, .root = root, .shift = side->shift, .shift_error = side->shift_error};
}

static szg_status bound_by_input(szg_context *context, const szg_checkpoint *checkpoint,
                                 int64_t layer, int64_t lags, const bound_side *q,
                                 const bound_side *k, head_bound *out) {
    double value, all;
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    double d = (double)checkpoint->model_size, e = (double)checkpoint->head_size;
    const input_case own = {
        .checkpoint = checkpoint, .q = q, .k = k, .root = szgi_round_root(d, q->unit)};
    SZG_TRY(bound_dimensions(context, &own, &rotary, &all));
    if (q->unit > 0) {
        const input_share a = share_of(q, &q->whole, 0), b = share_of(k, &k->whole, 0);
        double norms =
            (own.root * a.gram->spectral + a.shift) * (own.root * b.gram->spectral + b.shift);
        all = szgi_above(all + norms * szgi_round_logit(e, rotary.pairs > 0, q->unit), 8);
    }
    value = all;
    out->lags = lags_of(checkpoint, layer, lags);
    if (out->lags > 0) {
        const szgi_lag_problem problem = {.q = reach_of(q, own.root),
                                          .k = reach_of(k, own.root),
                                          .rotary = &rotary,
                                          .lags = out->lags,
                                          .both = szgi_sees_later(checkpoint),
                                          .all = all};
        SZG_TRY(szgi_bound_lags(context, &problem, &value));
    }
    out->value = ldexp(value, q->exponent + k->exponent);
    out->all = ldexp(all, q->exponent + k->exponent);
    out->kind = BOUND_INPUT;
    return SZG_OK;
}

/* ---- Latent attention ---- */

/* A latent's gains round the rows once. */
enum { GAIN_ROUNDINGS = 2 };

/* Rows that act on the queries' latents, with its gains; without such latents they act on the
 * input, and scale and amplitude are in. */
static szg_status make_latent_queries(szg_context *context, const szg_checkpoint *checkpoint,
                                      const bound_place *place, const bound_rows *rows,
                                      const latent_side *kept, bound_side *out) {
    const latent_sizes *latent = &checkpoint->latent;
    bool direct = !checkpoint->layer[place->layer].q.down;
    int64_t columns = direct ? checkpoint->model_size : latent->query_rank;
    const double *value = direct ? rows->value : kept->up;
    double error = 0, relative = (direct ? ROW_ROUNDINGS : GAIN_ROUNDINGS) * DBL_EPSILON +
                                 szgi_round_products((double)columns, rows->unit);
    if (direct) {
        szgi_rotary rotary;
        SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, place->layer, &rotary));
        error = error_of_rows(checkpoint, place, &rotary, rows);
    }
    out->exponent = direct ? rows->exponent : 0;
    SZG_TRY(szgi_gram_make(context, latent->nope, columns, value, error, relative, &out->still));
    return szgi_gram_make(context, latent->rope, columns, value + latent->nope * columns, error,
                          relative, &out->turning);
}

/* Rows that act on the keys' latents; the rotary ones act on the input, and belong to the layer. */
static szg_status make_latent_keys(szg_context *context, const szg_checkpoint *checkpoint,
                                   const bound_place *place, const latent_side *kept,
                                   bound_side *out) {
    const latent_sizes *latent = &checkpoint->latent;
    int64_t d = checkpoint->model_size, rank = latent->key_rank, size = latent->rope * d;
    double *rotary, error;
    SZG_TRY(szgi_gram_make(
        context, latent->nope, rank, kept->up, 0,
        GAIN_ROUNDINGS * DBL_EPSILON + szgi_round_products((double)rank, out->unit), &out->still));
    if (out->source == kept->source)
        return SZG_OK;
    out->source = NULL;
    SZG_TRY(szgi_memory_alloc(context, size, &rotary));
    memcpy(rotary, kept->down + rank * d, (size_t)size * sizeof *rotary);
    szg_status status =
        szgi_fold_input(context, checkpoint, place->layer, false, latent->rope, rotary, &error);
    if (status == SZG_OK)
        status = szgi_gram_make(context, latent->rope, d, rotary, error,
                                szgi_round_products((double)d, out->unit), &out->turning);
    if (status == SZG_OK)
        out->source = kept->source;
    szgi_memory_free(rotary);
    return status;
}

/* The rotary part alone: at any lag, and at those that are asked for. */
static szg_status bound_turning(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t layer, const szgi_lag_problem *sides, double *value,
                                double *all) {
    szgi_lag_problem problem = *sides;
    szgi_rotary rotary = *sides->rotary;
    rotary.offset = 0;
    rotary.dim = sides->q.gram->e;
    problem.rotary = &rotary;
    problem.both = szgi_sees_later(checkpoint);
    problem.lags = lags_of(checkpoint, layer, sides->lags);
    problem.all = szgi_above(
        sides->q.root * sides->q.gram->spectral * sides->k.root * sides->k.gram->spectral, 4);
    *value = *all = problem.all;
    return problem.lags > 0 ? szgi_bound_lags(context, &problem, value) : SZG_OK;
}

static szg_status bound_by_latents(szg_context *context, const szg_checkpoint *checkpoint,
                                   int64_t layer, int64_t lags, const bound_side *q,
                                   const bound_side *k, head_bound *out) {
    bool direct = !checkpoint->layer[layer].q.down;
    double d = (double)checkpoint->model_size, product, turning, any, unit = q->unit;
    double columns = direct ? d : (double)checkpoint->latent.query_rank;
    double q_root = szgi_round_root(columns, unit), k_root = szgi_round_root(d, unit);
    double rank = (double)checkpoint->latent.key_rank;
    double latent_root = unit > 0 ? szgi_round_root(rank, unit) : sqrt(rank);
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    const szgi_lag_problem sides = {.q = {.gram = &q->turning, .root = q_root},
                                    .k = {.gram = &k->turning, .root = k_root},
                                    .rotary = &rotary,
                                    .lags = lags};
    SZG_TRY(szgi_gram_product(context, &q->still, &k->still, &product));
    SZG_TRY(bound_turning(context, checkpoint, layer, &sides, &turning, &any));
    /* What the queries' rows do not have yet. */
    double scale = direct ? 1 : fabs(checkpoint->layer[layer].scale);
    double turn = direct ? rotary.amplitude : rotary.amplitude * rotary.amplitude;
    double still = q_root * latent_root * product, rounded = 0;
    if (unit > 0) {
        double e = (double)checkpoint->head_size, least = szgi_round_least(e, unit);
        double still_q = q_root * q->still.spectral, still_k = latent_root * k->still.spectral;
        double turning_q = q_root * q->turning.spectral, turning_k = k_root * k->turning.spectral;
        double norms = (still_q + least) * (still_k + least) +
                       turn * (turning_q + least) * (turning_k + least);
        rounded = norms * szgi_round_logit(e, true, unit) +
                  least * (still_q + still_k + turn * (turning_q + turning_k) + 4 * least);
        rounded = szgi_above(rounded, 16);
    }
    out->value = ldexp(szgi_above(scale * (still + turn * turning + rounded), 16), q->exponent);
    out->all = ldexp(szgi_above(scale * (still + turn * any + rounded), 16), q->exponent);
    out->lags = lags_of(checkpoint, layer, lags);
    out->kind = BOUND_LATENT;
    return SZG_OK;
}

/* ---- All together ---- */

/* The largest modulus that a table by the lag adds to this head's logits (T5). */
static szg_status add_lag_table(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t layer, int64_t head, head_bound *out) {
    const szgi_tensor *table = checkpoint->layer[layer].added;
    double *values;
    if (!table || isnan(out->value))
        return SZG_OK;
    if (table->dims != 2 || table->shape[1] != checkpoint->heads) {
        *out = (head_bound){.value = NAN,
                            .all = NAN,
                            .why = "the table by the lag has another shape than "
                                   "[buckets, heads]: not covered"};
        return SZG_OK;
    }
    SZG_TRY(szgi_memory_alloc(context, table->count, &values));
    szg_status status =
        szgi_fold_vector(context, table, "a table by the lag", 0, table->count, values);
    double most = 0;
    for (int64_t i = head; i < table->count && status == SZG_OK; i += table->shape[1])
        most = fmax(most, fabs(values[i]));
    out->value = szgi_above(out->value + most, 1);
    out->all = szgi_above(out->all + most, 1);
    szgi_memory_free(values);
    return status;
}

/* A limit that holds at any lag. */
static void apply_limit(double value, bound_kind kind, head_bound *out) {
    if (!(out->value <= value))
        *out = (head_bound){.value = value, .all = value, .kind = kind};
    else if (!(out->all <= value))
        out->all = value;
}

/* |q . k| <= e (amplitude clip)^2 after clipping. */
static szg_status apply_clip(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                             double unit, head_bound *out) {
    szgi_rotary rotary;
    if (!(checkpoint->clip > 0))
        return SZG_OK;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    double limit = checkpoint->clip * (rotary.pairs ? fmax(1, rotary.amplitude) : 1);
    double value = szgi_above(
        fabs(checkpoint->layer[layer].scale) * (double)checkpoint->head_size * limit * limit, 8);
    if (unit > 0)
        value =
            szgi_above(value * szgi_round_normed(0, (double)checkpoint->head_size, true, unit), 8);
    apply_limit(value, BOUND_CLIP, out);
    return SZG_OK;
}

static void apply_cap(const szg_checkpoint *checkpoint, head_bound *out) {
    if (checkpoint->soft_cap > 0)
        apply_limit(checkpoint->soft_cap, BOUND_CAP, out);
}

/* What the bound of this layer's heads follows from; BOUND_NONE: *why says why there is none. */
static bound_kind source_of(const szg_checkpoint *checkpoint, int64_t layer, const char **why) {
    *why = refusal(checkpoint, layer);
    if (*why)
        return BOUND_NONE;
    if (szgi_fold_is_normed(checkpoint, layer))
        return BOUND_HEADS;
    if (szgi_fold_has_input(checkpoint, layer))
        return checkpoint->latent.key_rank ? BOUND_LATENT : BOUND_INPUT;
    *why = "neither the layer's input nor queries and keys are known to be normalised";
    return BOUND_NONE;
}

/* The premise of a bound in the model's own arithmetic that no factor of rounding.h covers: where
 * the mean is many standard deviations, its rounding cancels. Clipping ends that. */
static const char *assumption(const szg_checkpoint *checkpoint, bound_kind kind) {
    bool centres = kind == BOUND_HEADS ? szgi_fold_centres_heads(checkpoint)
                                       : kind != BOUND_CLIP && szgi_fold_centres(checkpoint);
    return centres ? "assumed: LayerNorm subtracts the exact mean" : NULL;
}

szg_status szgi_bound_side_make(szg_context *context, const szg_checkpoint *checkpoint,
                                const bound_place *place, const bound_rows *rows,
                                const latent_side *kept, bound_side *out) {
    const char *why;
    bound_kind kind = source_of(checkpoint, place->layer, &why);
    out->unit = rows->unit;
    if (checkpoint->layer[place->layer].bias_unread)
        return SZG_OK;
    SZG_TRY(open_side(context, checkpoint, out));
    if (kind == BOUND_INPUT)
        return make_input_side(context, checkpoint, place, rows, out);
    if (kind != BOUND_LATENT)
        return make_shift(context, checkpoint, place, rows->exponent, out);
    return place->query ? make_latent_queries(context, checkpoint, place, rows, kept, out)
                        : make_latent_keys(context, checkpoint, place, kept, out);
}

szg_status szgi_bound_head(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                           int64_t head, int64_t lags, const bound_side *q, const bound_side *k,
                           head_bound *out) {
    *out = (head_bound){.value = NAN, .all = NAN};
    switch (source_of(checkpoint, layer, &out->why)) {
    case BOUND_HEADS:
        SZG_TRY(bound_by_heads(context, checkpoint, layer, head, q->unit, out));
        break;
    case BOUND_LATENT:
        SZG_TRY(bound_by_latents(context, checkpoint, layer, lags, q, k, out));
        break;
    case BOUND_INPUT:
        SZG_TRY(bound_by_input(context, checkpoint, layer, lags, q, k, out));
        break;
    default:
        break;
    }
    if (!refusal(checkpoint, layer)) {
        SZG_TRY(apply_clip(context, checkpoint, layer, q->unit, out));
        SZG_TRY(add_lag_table(context, checkpoint, layer, head, out));
    }
    if (q->unit > 0) {
        out->value = szgi_above(out->value * szgi_round_answer(q->unit), 2);
        out->all = szgi_above(out->all * szgi_round_answer(q->unit), 2);
        out->assumed = assumption(checkpoint, out->kind);
    } else
        apply_cap(checkpoint, out);
    if (!out->why && !isfinite(out->value))
        *out = (head_bound){.value = NAN, .all = NAN, .why = "the bound exceeds doubles"};
    return SZG_OK;
}

/* Bounds on the largest logit of a head. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "toeplitz/toeplitz.h"
#include "bound.h"
#include "bound_norm.h"
#include "fold.h"

const char *szgi_bound_name(bound_kind kind) {
    static const char *const names[] = {
        [BOUND_NONE] = "none",          [BOUND_HEADS] = "qk-norm", [BOUND_INPUT] = "input-norm",
        [BOUND_LATENT] = "latent-norm", [BOUND_CLIP] = "clip",     [BOUND_CAP] = "soft-cap"};
    return names[kind];
}

/* ||x|| from above: squares below the least double count as that double. */
static double norm_above(int64_t count, const double *x) {
    return szgi_above(sqrt(szgi_dot(count, x, x) + (double)count * DBL_MIN), (double)count + 4);
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

/* The bias of the norm of queries or keys (Phi), or NULL. */
static const szgi_tensor *norm_bias(const szg_checkpoint *checkpoint, int64_t layer, bool query) {
    const layer_weights *weights = &checkpoint->layer[layer];
    const szgi_tensor *gain = query ? weights->q.norm : weights->k.norm;
    char name[512];
    size_t length = gain ? strlen(gain->name) : 0;
    if (length < strlen("weight") || length >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*sbias", (int)(length - strlen("weight")), gain->name);
    return szgi_safetensors_find(checkpoint->tensors, name);
}

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
    *out = norm_above(e, room);
    return SZG_OK;
}

static szg_status bound_by_heads(szg_context *context, const szg_checkpoint *checkpoint,
                                 int64_t layer, int64_t head, head_bound *out) {
    int64_t e = checkpoint->head_size, group = checkpoint->heads / checkpoint->key_heads;
    norm_rule rule = checkpoint->family->norm;
    bool after = rule == NORM_HEAD_AFTER || rule == NORM_BARE;
    szgi_rotary rotary;
    double *gq, *gk, bq, bk, size = (double)e;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    if (after) /* the product meets the gains as they are: no dimension mixes with another */
        rotary = (szgi_rotary){.dim = e, .amplitude = 1};
    SZG_TRY(szgi_memory_alloc(context, 3 * e, &gq));
    gk = gq + e;
    szg_status status = szgi_fold_gains(context, checkpoint, layer, true, head, gq);
    if (status == SZG_OK)
        status = szgi_fold_gains(context, checkpoint, layer, false, head / group, gk);
    if (status == SZG_OK)
        status = bias_norm(context, norm_bias(checkpoint, layer, true), e, gk + e, &bq);
    if (status == SZG_OK)
        status = bias_norm(context, norm_bias(checkpoint, layer, false), e, gk + e, &bk);
    if (status == SZG_OK) {
        double amplitude = rotary.pairs ? fmax(1, rotary.amplitude) : 1;
        double wide =
            rule == NORM_FULL ? sqrt((double)(checkpoint->heads * checkpoint->key_heads)) : 1;
        double pairs = size * wide * largest_pair(&rotary, e, gq, gk);
        double whole = amplitude * amplitude * (sqrt(size) * largest(e, gq) + bq) *
                       (sqrt(size) * largest(e, gk) + bk);
        out->value = fabs(checkpoint->layer[layer].scale) * (bq == 0 && bk == 0 ? pairs : whole);
        out->value = szgi_above(out->value, 16);
        out->kind = BOUND_HEADS;
    }
    szgi_memory_free(gq);
    return status;
}

/* ---- Queries and keys of a normalised input ---- */

/* What is added to W n, n the normalised input: W b + the projection's bias, times scale and
 * amplitude as the rows are. */
typedef struct shift {
    double *value; /* [e] */
    double error;  /* norm of what rounding did to it */
} shift;

/* Adds the projection's bias. */
static szg_status add_bias(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                           bool query, int64_t head, shift *out, double *size) {
    const layer_weights *weights = &checkpoint->layer[layer];
    const szgi_tensor *bias = query ? weights->q.bias : weights->k.bias;
    int64_t e = checkpoint->head_size;
    szgi_rotary rotary;
    double *room;
    if (!bias)
        return SZG_OK;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    SZG_TRY(szgi_memory_alloc(context, e, &room));
    szg_status status = szgi_fold_vector(
        context, bias, "a bias",
        szgi_layout_row(query ? &checkpoint->query_at : &checkpoint->key_at, head), e, room);
    for (int64_t i = 0; i < e && status == SZG_OK; i++) {
        bool rotated = i >= rotary.offset && i < rotary.offset + 2 * rotary.pairs;
        double added = room[i] * (query ? weights->scale : 1) * (rotated ? rotary.amplitude : 1);
        out->value[i] += added;
        size[i] += fabs(added);
    }
    szgi_memory_free(room);
    return status;
}

/* Adds W b, b the input norm's own shift. */
static szg_status add_input_shift(szg_context *context, const szg_checkpoint *checkpoint,
                                  int64_t layer, bool query, int64_t head, shift *out,
                                  double *size) {
    const layer_weights *weights = &checkpoint->layer[layer];
    const szgi_tensor *tensor = query ? weights->q.input_shift : weights->k.input_shift;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    double *rows, *b;
    if (!tensor)
        return SZG_OK;
    SZG_TRY(szgi_memory_alloc(context, (e + 1) * d, &rows));
    b = rows + e * d;
    szg_status status =
        query ? szgi_fold_queries(context, checkpoint, layer, head, FOLD_NONE, rows, NULL)
              : szgi_fold_keys(context, checkpoint, layer, head, FOLD_NONE, rows, NULL);
    if (status == SZG_OK)
        status = szgi_fold_vector(context, tensor, "a norm's shift", 0, d, b);
    for (int64_t i = 0; i < e && status == SZG_OK; i++)
        for (int64_t j = 0; j < d; j++) {
            out->value[i] += rows[i * d + j] * b[j];
            size[i] += fabs(rows[i * d + j] * b[j]);
        }
    szgi_memory_free(rows);
    return status;
}

static szg_status make_shift(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                             bool query, int64_t head, int exponent, shift *out) {
    int64_t e = checkpoint->head_size;
    double *size;
    *out = (shift){0};
    SZG_TRY(szgi_memory_alloc(context, 2 * e, &out->value));
    size = out->value + e;
    SZG_TRY(add_input_shift(context, checkpoint, layer, query, head, out, size));
    SZG_TRY(add_bias(context, checkpoint, layer, query, head, out, size));
    for (int64_t i = 0; i < e; i++) {
        out->value[i] = ldexp(out->value[i], -exponent);
        size[i] = ldexp(size[i], -exponent);
    }
    /* d products, their sum, scale, amplitude, one more sum: Higham 2002, section 3.1. */
    out->error = ((double)checkpoint->model_size + 8) * DBL_EPSILON * norm_above(e, size);
    return SZG_OK;
}

/* What a bound is made of. */
typedef struct input_case {
    const szg_checkpoint *checkpoint;
    const bound_rows *rows;
    shift q, k;
    double root; /* sqrt(d), from above: the normalised input is no longer */
} input_case;

/* ||W^T beta|| from above, W rows first .. first + count - 1; its norms are known. */
static szg_status above_image(szg_context *context, const double *rows, int64_t d, int64_t first,
                              int64_t count, double frobenius, double row_error, const shift *beta,
                              double *out) {
    double *image, length = norm_above(count, beta->value + first);
    SZG_TRY(szgi_memory_alloc(context, d, &image));
    for (int64_t i = first; i < first + count; i++)
        for (int64_t j = 0; j < d; j++)
            image[j] += rows[i * d + j] * beta->value[i];
    *out = norm_above(d, image) + ((double)count + 4) * DBL_EPSILON * frobenius * length +
           frobenius * beta->error + row_error * (length + beta->error);
    *out = szgi_above(*out, 8);
    szgi_memory_free(image);
    return SZG_OK;
}

/* Dimensions first .. first + count - 1 alone: their share of no logit is larger. */
static szg_status bound_share(szg_context *context, const input_case *own, int64_t first,
                              int64_t count, bool rotates, double *out) {
    const bound_rows *rows = own->rows;
    int64_t d = own->checkpoint->model_size;
    const szgi_row_pair pair = {.e = count,
                                .da = d,
                                .db = d,
                                .a = rows->q + first * d,
                                .b = rows->k + first * d,
                                .error_a = rows->q_error,
                                .error_b = rows->k_error};
    szgi_norms_above norms;
    double q_image, k_image, root = own->root;
    double q = szgi_above(norm_above(count, own->q.value + first) + own->q.error, 1),
           k = szgi_above(norm_above(count, own->k.value + first) + own->k.error, 1);
    SZG_TRY(szgi_norms_above_of(context, &pair, !rotates, &norms));
    *out = szgi_above((root * norms.a + q) * (root * norms.b + k), 8);
    if (rotates)
        return SZG_OK;
    SZG_TRY(above_image(context, rows->q, d, first, count, norms.frobenius_a, rows->q_error,
                        &own->k, &q_image));
    SZG_TRY(above_image(context, rows->k, d, first, count, norms.frobenius_b, rows->k_error,
                        &own->q, &k_image));
    double still = root * root * norms.product + root * (q_image + k_image);
    double inner = 0;
    for (int64_t i = first; i < first + count; i++)
        inner += own->q.value[i] * own->k.value[i];
    still += fabs(inner) + ((double)count + 4) * DBL_EPSILON * q * k + own->q.error * k +
             own->k.error * q;
    *out = fmin(*out, szgi_above(still, 16));
    return SZG_OK;
}

/* All dimensions: at once, or those that rotate and those that do not apart. */
static szg_status bound_dimensions(szg_context *context, const input_case *own, int64_t layer,
                                   double *out) {
    const szg_checkpoint *checkpoint = own->checkpoint;
    int64_t e = checkpoint->head_size;
    szgi_rotary rotary;
    double whole, turning, still;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    int64_t rotated = 2 * rotary.pairs, first = rotary.offset == 0 ? rotated : 0;
    bool clipped = checkpoint->clip > 0; /* which moves queries and keys, and lengthens neither */
    SZG_TRY(bound_share(context, own, 0, e, rotated > 0 || clipped, &whole));
    *out = whole;
    if (rotated == 0 || rotated == e || clipped)
        return SZG_OK;
    SZG_TRY(bound_share(context, own, rotary.offset, rotated, true, &turning));
    SZG_TRY(bound_share(context, own, first, e - rotated, false, &still));
    *out = fmin(whole, szgi_above(turning + still, 1));
    return SZG_OK;
}

static szg_status bound_by_input(szg_context *context, const szg_checkpoint *checkpoint,
                                 int64_t layer, int64_t head, const bound_rows *rows,
                                 head_bound *out) {
    int64_t group = checkpoint->heads / checkpoint->key_heads;
    double value = NAN, amplitude;
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    amplitude = rotary.pairs ? fmax(1, rotary.amplitude) : 1;
    /* The rows' own rounding: scale and amplitude, two more. */
    bound_rows own_rows = *rows;
    own_rows.q_error =
        ldexp(rows->q_error * fabs(checkpoint->layer[layer].scale) * amplitude, -rows->q_exponent);
    own_rows.k_error = ldexp(rows->k_error * amplitude, -rows->k_exponent);
    int64_t size = checkpoint->head_size * checkpoint->model_size;
    own_rows.q_error += 4 * DBL_EPSILON * norm_above(size, rows->q);
    own_rows.k_error += 4 * DBL_EPSILON * norm_above(size, rows->k);
    input_case own = {.checkpoint = checkpoint,
                      .rows = &own_rows,
                      .root = szgi_above(sqrt((double)checkpoint->model_size), 1)};
    szg_status status =
        make_shift(context, checkpoint, layer, true, head, rows->q_exponent, &own.q);
    if (status == SZG_OK)
        status =
            make_shift(context, checkpoint, layer, false, head / group, rows->k_exponent, &own.k);
    if (status == SZG_OK)
        status = bound_dimensions(context, &own, layer, &value);
    out->value = ldexp(value, rows->q_exponent + rows->k_exponent);
    out->kind = BOUND_INPUT;
    szgi_memory_free(own.q.value);
    szgi_memory_free(own.k.value);
    return status;
}

/* ---- Latent attention ---- */

/* Rows first .. first + count - 1 of a weight that acts on a latent, with the latent's gains. */
static szg_status read_up(szg_context *context, const side_weights *side, int64_t first,
                          int64_t count, int64_t rank, double *out, double *error) {
    double *gain;
    SZG_TRY(szgi_memory_alloc(context, rank, &gain));
    szg_status status = szgi_tensor_read(context, side->gain, 0, rank, gain);
    if (status == SZG_OK)
        status = szgi_tensor_read(context, side->weight, first * rank, count * rank, out);
    for (int64_t i = 0; i < count * rank && status == SZG_OK; i++)
        out[i] *= gain[i % rank];
    *error = 2 * DBL_EPSILON * norm_above(count * rank, out);
    szgi_memory_free(gain);
    return status;
}

/* The queries' rows (columns: the latent's rank, or d), the keys' from the latent, the rotary ones.
 */
typedef struct latent_rows {
    double *q, *nope, *rope;
    double q_error, nope_error, rope_error;
    int64_t q_columns;
} latent_rows;

static szg_status read_latent(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                              int64_t head, latent_rows *out) {
    const latent_sizes *latent = &checkpoint->latent;
    const layer_weights *weights = &checkpoint->layer[layer];
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    int64_t first = szgi_layout_row(&checkpoint->query_at, head);
    if (weights->q.down) {
        SZG_TRY(read_up(context, &weights->q, first, e, out->q_columns, out->q, &out->q_error));
    } else {
        SZG_TRY(szgi_tensor_read(context, weights->q.weight, first * d, e * d, out->q));
        SZG_TRY(szgi_fold_input(context, checkpoint, layer, true, e, out->q, &out->q_error));
    }
    SZG_TRY(read_up(context, &weights->k, szgi_layout_row(&checkpoint->key_at, head), latent->nope,
                    latent->key_rank, out->nope, &out->nope_error));
    SZG_TRY(szgi_tensor_read(context, weights->k.down, latent->key_rank * d, latent->rope * d,
                             out->rope));
    return szgi_fold_input(context, checkpoint, layer, false, latent->rope, out->rope,
                           &out->rope_error);
}

static szg_status combine_latent(szg_context *context, const szg_checkpoint *checkpoint,
                                 int64_t layer, const latent_rows *rows, head_bound *out) {
    const latent_sizes *latent = &checkpoint->latent;
    int64_t d = checkpoint->model_size, columns = rows->q_columns;
    const szgi_row_pair still = {.e = latent->nope,
                                 .da = columns,
                                 .db = latent->key_rank,
                                 .a = rows->q,
                                 .b = rows->nope,
                                 .error_a = rows->q_error,
                                 .error_b = rows->nope_error},
                        turning = {.e = latent->rope,
                                   .da = columns,
                                   .db = d,
                                   .a = rows->q + latent->nope * columns,
                                   .b = rows->rope,
                                   .error_a = rows->q_error,
                                   .error_b = rows->rope_error};
    szgi_norms_above a, b;
    szgi_rotary rotary;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    SZG_TRY(szgi_norms_above_of(context, &still, true, &a));
    SZG_TRY(szgi_norms_above_of(context, &turning, false, &b));
    double value = sqrt((double)latent->key_rank) * a.product +
                   rotary.amplitude * rotary.amplitude * sqrt((double)d) * b.a * b.b;
    out->value =
        szgi_above(fabs(checkpoint->layer[layer].scale) * sqrt((double)columns) * value, 16);
    out->kind = BOUND_LATENT;
    return SZG_OK;
}

static szg_status bound_by_latents(szg_context *context, const szg_checkpoint *checkpoint,
                                   int64_t layer, int64_t head, head_bound *out) {
    const latent_sizes *latent = &checkpoint->latent;
    int64_t e = checkpoint->head_size, d = checkpoint->model_size;
    latent_rows rows = {.q_columns = latent->query_rank ? latent->query_rank : d};
    int64_t size = e * rows.q_columns;
    SZG_TRY(szgi_memory_alloc(context, size + latent->nope * latent->key_rank + latent->rope * d,
                              &rows.q));
    rows.nope = rows.q + size;
    rows.rope = rows.nope + latent->nope * latent->key_rank;
    szg_status status = read_latent(context, checkpoint, layer, head, &rows);
    if (status == SZG_OK)
        status = combine_latent(context, checkpoint, layer, &rows, out);
    szgi_memory_free(rows.q);
    return status;
}

/* ---- All together ---- */

/* The largest modulus that a table by the lag adds to this head's logits (T5). */
static szg_status add_lag_table(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t head, head_bound *out) {
    const szgi_tensor *table = checkpoint->added;
    double *values;
    if (!table || isnan(out->value))
        return SZG_OK;
    if (table->dims != 2 || table->shape[1] != checkpoint->heads) {
        *out = (head_bound){.value = NAN,
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
    szgi_memory_free(values);
    return status;
}

/* |q . k| <= e (amplitude clip)^2 after clipping. */
static szg_status apply_clip(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                             head_bound *out) {
    szgi_rotary rotary;
    if (!(checkpoint->clip > 0))
        return SZG_OK;
    SZG_TRY(szgi_checkpoint_rotary(context, checkpoint, layer, &rotary));
    double limit = checkpoint->clip * (rotary.pairs ? fmax(1, rotary.amplitude) : 1);
    double value = szgi_above(
        fabs(checkpoint->layer[layer].scale) * (double)checkpoint->head_size * limit * limit, 8);
    if (!(out->value <= value))
        *out = (head_bound){.value = value, .kind = BOUND_CLIP};
    return SZG_OK;
}

static void apply_cap(const szg_checkpoint *checkpoint, head_bound *out) {
    if (checkpoint->soft_cap > 0 && !(out->value <= checkpoint->soft_cap))
        *out = (head_bound){.value = checkpoint->soft_cap, .kind = BOUND_CAP};
}

szg_status szgi_bound_head(szg_context *context, const szg_checkpoint *checkpoint, int64_t layer,
                           int64_t head, const bound_rows *rows, head_bound *out) {
    bool has_input = szgi_fold_has_input(checkpoint, layer);
    *out = (head_bound){.value = NAN, .why = refusal(checkpoint, layer)};
    if (!out->why) {
        if (szgi_fold_is_normed(checkpoint, layer))
            SZG_TRY(bound_by_heads(context, checkpoint, layer, head, out));
        else if (has_input && checkpoint->latent.key_rank)
            SZG_TRY(bound_by_latents(context, checkpoint, layer, head, out));
        else if (has_input)
            SZG_TRY(bound_by_input(context, checkpoint, layer, head, rows, out));
        else
            out->why = "neither the layer's input nor queries and keys are known to be normalised";
        SZG_TRY(apply_clip(context, checkpoint, layer, out));
        SZG_TRY(add_lag_table(context, checkpoint, head, out));
    }
    apply_cap(checkpoint, out);
    if (!out->why && !isfinite(out->value))
        *out = (head_bound){.value = NAN, .why = "the bound exceeds doubles"};
    return SZG_OK;
}

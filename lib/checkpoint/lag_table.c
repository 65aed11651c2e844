#include "lag_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "linalg/linalg.h"
#include "toeplitz/toeplitz.h"
#include "fold.h"
#include "lag_columns.h"
#include "lag_weight.h"

/* A head has numbers for each lag and draw. */
enum { LAGS_MOST = 2048 };

static int64_t limit_lags(int64_t lags) {
    return lags < LAGS_MOST ? lags : LAGS_MOST;
}

/* ---- DeBERTa: one table, which each layer projects ---- */

/* The row of a lag before it is clamped and counted from 0: the lag itself in the middle, then by
 * the logarithm. In single precision, as models are run: it decides at some lags.
 * make_log_bucket_position of transformers' modeling_deberta_v2.py. */
static int64_t bucket_of(int64_t lag, int64_t buckets, int64_t longest) {
    int64_t middle = buckets / 2, size = lag < 0 ? -lag : lag;
    if (buckets <= 0 || size <= middle)
        return lag;
    float step = logf((float)size / (float)middle) /
                 logf((float)((double)(longest - 1) / (double)middle)) * (float)(middle - 1);
    int64_t bucket = (int64_t)ceilf(step) + middle;
    return lag < 0 ? -bucket : bucket;
}

/* What the configuration says of the table. */
enum { RELATIVE, BUCKETS, LONGEST, KINDS, SHARED, NORM, EPSILON, BIASED, KEYS };
static const char *const keys[KEYS] = {
    [RELATIVE] = "relative_attention",    [BUCKETS] = "position_buckets",
    [LONGEST] = "max_relative_positions", [KINDS] = "pos_att_type",
    [SHARED] = "share_att_key",           [NORM] = "norm_rel_ebd",
    [EPSILON] = "layer_norm_eps",         [BIASED] = "position_biased_input",
};

/* All layers share one table of embeddings of the lag. */
static bool is_projected(const szg_checkpoint *checkpoint) {
    return checkpoint->added && !checkpoint->family->added_by_head &&
           !checkpoint->family->added_unread;
}

void szgi_lag_table_watch(const szg_checkpoint *checkpoint) {
    for (int i = 0; i < KEYS && is_projected(checkpoint); i++)
        szgi_json_has(checkpoint->settings, keys[i]);
}

/* Is `kind` in pos_att_type, which is a list, or "p2c|c2p"? */
static bool has_kind(const szg_checkpoint *checkpoint, const char *kind) {
    szgi_json_value kinds = szgi_json_member(checkpoint->settings, keys[KINDS]);
    const char *text;
    if (szgi_json_kind_of(kinds) == SZGI_JSON_TEXT)
        return szgi_json_as_text(NULL, kinds, &text) == SZG_OK && strstr(text, kind);
    for (int64_t i = 0; szgi_json_kind_of(kinds) == SZGI_JSON_ARRAY && i < szgi_json_count(kinds);
         i++)
        if (szgi_json_as_text(NULL, szgi_json_element(kinds, i), &text) == SZG_OK &&
            strcmp(text, kind) == 0)
            return true;
    return false;
}

static const szgi_tensor *norm_tensor(const szg_checkpoint *checkpoint, const char *ending) {
    char name[512];
    int length = snprintf(name, sizeof name, "%sencoder.LayerNorm.%s", checkpoint->prefix, ending);
    return length > 0 && (size_t)length < sizeof name
               ? szgi_safetensors_find(checkpoint->tensors, name)
               : NULL;
}

/* The rows behind their norm, with its epsilon: rows are as small as 0.02. */
static szg_status norm_rows(szg_context *context, const szg_checkpoint *checkpoint,
                            const szgi_tensor *gain, const szgi_tensor *shift, lag_table *out) {
    int64_t d = checkpoint->model_size;
    szgi_json_value value = szgi_json_member(checkpoint->settings, keys[EPSILON]);
    double epsilon = 1e-7, *g;
    if (szgi_json_kind_of(value) > SZGI_JSON_NULL)
        SZG_TRY(szgi_json_as_real(context, value, &epsilon));
    SZG_TRY(szgi_memory_alloc(context, 2 * d, &g));
    szg_status status = szgi_fold_vector(context, gain, "a norm's gain", 0, d, g);
    if (status == SZG_OK)
        status = szgi_fold_vector(context, shift, "a norm's shift", 0, d, g + d);
    szgi_centre_rows(out->rows, d, out->value);
    for (int64_t i = 0; i < out->rows; i++) {
        double *x = out->value + i * d;
        double root = sqrt(szgi_dot(d, x, x) / (double)d + epsilon);
        for (int64_t j = 0; j < d; j++)
            x[j] = g[j] * x[j] / root + g[d + j];
    }
    szgi_memory_free(g);
    return status;
}

static bool is_vector(const szgi_tensor *tensor, int64_t count) {
    return tensor && tensor->count == count && tensor->dtype != SZGI_DTYPE_OTHER &&
           tensor->dtype != SZGI_DTYPE_INTEGER;
}

static szg_status read_projected(szg_context *context, const szg_checkpoint *checkpoint,
                                 lag_table *out) {
    const char *kinds;
    szgi_json_value norm = szgi_json_member(checkpoint->settings, keys[NORM]);
    bool normed = szgi_json_kind_of(norm) == SZGI_JSON_TEXT &&
                  szgi_json_as_text(context, norm, &kinds) == SZG_OK && strstr(kinds, "layer_norm");
    const szgi_tensor *gain = norm_tensor(checkpoint, "weight");
    const szgi_tensor *shift = norm_tensor(checkpoint, "bias");
    int64_t d = checkpoint->model_size;
    if (normed && (!is_vector(gain, d) || !is_vector(shift, d))) {
        out->why = "the norm of the embeddings of the lag is missing (encoder.LayerNorm)";
        return SZG_OK;
    }
    SZG_TRY(szgi_memory_alloc(context, out->rows * d, &out->value));
    SZG_TRY(szgi_fold_vector(context, checkpoint->added, "an embedding of the lag", 0,
                             out->rows * d, out->value));
    return normed ? norm_rows(context, checkpoint, gain, shift, out) : SZG_OK;
}

static szg_status open_projected(szg_context *context, const szg_checkpoint *checkpoint,
                                 lag_table *out) {
    const szgi_tensor *table = checkpoint->added;
    int64_t buckets = szgi_config_number_or(checkpoint, keys[BUCKETS], -1);
    int64_t longest = szgi_config_number_or(checkpoint, keys[LONGEST], -1);
    longest = longest < 1 ? szgi_config_number_or(checkpoint, TRAINED_LENGTH_KEY, -1) : longest;
    int64_t span = buckets > 0 ? buckets : longest;
    out->projected = true;
    out->keys = has_kind(checkpoint, "c2p");
    out->queries = has_kind(checkpoint, "p2c");
    out->rows = span > 0 && span <= table->count ? 2 * span : 0;
    out->lags = limit_lags(szgi_lag_count(checkpoint, 0));
    if (table->dims != 2 || table->shape[1] != checkpoint->model_size || out->rows == 0 ||
        table->shape[0] < out->rows)
        out->why = "the table of embeddings of the lag has another shape than position_buckets (or "
                   "max_relative_positions) and hidden_size say";
    else if (table->dtype == SZGI_DTYPE_OTHER || table->dtype == SZGI_DTYPE_INTEGER ||
             table->scales)
        out->why = "the table of embeddings of the lag is of a type that is not read here";
    else if (buckets > 0 && (buckets < 4 || longest - 1 <= buckets / 2))
        out->why = "max_relative_positions is below the lags that have rows of their own "
                   "(position_buckets)";
    else if (!szgi_config_flag_or(checkpoint, keys[RELATIVE], false))
        out->why = "relative_attention is not true, so that the table of the lag is not used "
                   "(--set relative_attention=true)";
    if (out->why)
        return SZG_OK;
    out->first = 1 - out->lags;
    SZG_TRY(szgi_memory_alloc(context, out->lags - out->first, &out->row));
    for (int64_t lag = out->first; lag < out->lags; lag++) {
        int64_t row = bucket_of(lag, buckets, longest) + span;
        out->row[lag - out->first] = row < 0 ? 0 : row < out->rows ? row : out->rows - 1;
    }
    return read_projected(context, checkpoint, out);
}

/* ---- BERT: each layer has vectors of its heads' size ---- */

/* NULL: the layer has none. */
static const szgi_tensor *distance_tensor(const szg_checkpoint *checkpoint, int64_t layer) {
    static const char query[] = "query.weight";
    const char *name = checkpoint->family->query;
    char suffix[128];
    if (!szgi_text_ends(name, query))
        return NULL;
    snprintf(suffix, sizeof suffix, "%.*sdistance_embedding.weight",
             (int)(strlen(name) - strlen(query)), name);
    return szgi_layer_tensor(checkpoint, checkpoint->layer[layer].owner, suffix);
}

/* Rows are those of the lags from 1 - n to n - 1. */
static bool is_distance_table(const szg_checkpoint *checkpoint, const szgi_tensor *tensor) {
    return tensor && tensor->dims == 2 && tensor->shape[1] == checkpoint->head_size &&
           tensor->shape[0] % 2 == 1 && tensor->dtype != SZGI_DTYPE_OTHER &&
           tensor->dtype != SZGI_DTYPE_INTEGER && !tensor->scales;
}

static szg_status open_distances(szg_context *context, const szg_checkpoint *checkpoint,
                                 lag_table *out) {
    const szgi_tensor *table = distance_tensor(checkpoint, 0);
    const char *kind;
    SZG_TRY(szgi_json_as_text(
        context, szgi_json_member(checkpoint->settings, "position_embedding_type"), &kind));
    if (!is_distance_table(checkpoint, table)) {
        out->why = "distance_embedding is missing, or has another shape than [2 positions - 1, "
                   "head size], or a type that is not read here";
        return SZG_OK;
    }
    out->keys = true;
    out->queries = strcmp(kind, "relative_key_query") == 0;
    out->rows = table->shape[0];
    out->lags = limit_lags(out->rows / 2 + 1);
    out->first = szgi_sees_later(checkpoint) ? 1 - out->lags : 0;
    SZG_TRY(szgi_memory_alloc(context, out->lags - out->first, &out->row));
    for (int64_t lag = out->first; lag < out->lags; lag++)
        out->row[lag - out->first] = lag + out->rows / 2;
    return SZG_OK;
}

/* ---- Both ---- */

static bool has_distances(const szg_checkpoint *checkpoint) {
    const model_family *family = checkpoint->family;
    return !is_projected(checkpoint) && checkpoint->position_kind == SZG_POSITIONS_NONE &&
           !checkpoint->position_note &&
           (family->positions == POSITION_BERT || family->positions == POSITION_ROBERTA);
}

bool szgi_lag_table_is_used(const szg_checkpoint *checkpoint) {
    return is_projected(checkpoint) || has_distances(checkpoint);
}

szg_status szgi_lag_table_open(szg_context *context, const szg_checkpoint *checkpoint,
                               int64_t dense, lag_table *out) {
    bool projected = is_projected(checkpoint);
    *out = (lag_table){.used = szgi_lag_table_is_used(checkpoint)};
    if (!out->used)
        return SZG_OK;
    szg_status status = projected ? open_projected(context, checkpoint, out)
                                  : open_distances(context, checkpoint, out);
    if (status == SZG_OK && !out->why && !out->keys && !out->queries)
        out->why = "pos_att_type names neither c2p nor p2c, so that the lag is not used";
    if (status == SZG_OK && !out->why)
        status = szgi_lag_list_open(context, out->first, out->lags, dense, &out->listed);
    if (status == SZG_EDATA)
        out->why = "an embedding of the lag, or a number of its norm, is not finite";
    if (status != SZG_OK)
        szgi_lag_table_close(out);
    return status == SZG_EDATA ? SZG_OK : status;
}

void szgi_lag_table_close(lag_table *table) {
    szgi_lag_list_close(&table->listed);
    szgi_memory_free(table->row);
    szgi_memory_free(table->value);
    table->row = NULL;
    table->value = NULL;
}

/* What projects the table on one side: the weights of the content, or of pos_key_proj and
 * pos_query_proj. */
typedef struct projection {
    const szgi_tensor *weight, *bias; /* bias: NULL where there is none */
} projection;

static projection projection_of(const szg_checkpoint *checkpoint, int64_t layer, bool query) {
    const layer_weights *weights = &checkpoint->layer[layer];
    const side_weights *side = query ? &weights->q : &weights->k;
    static const char *const names[][2] = {{"pos_key_proj", "pos_query_proj"},
                                           {"pos_proj", "pos_q_proj"}}; /* DeBERTa 1 */
    const char *name = names[strcmp(checkpoint->family->model_type, "deberta") == 0][query];
    char weight[64], bias[64];
    if (szgi_config_flag_or(checkpoint, keys[SHARED], false))
        return (projection){side->weight, side->bias};
    snprintf(weight, sizeof weight, "attention.self.%s.weight", name);
    snprintf(bias, sizeof bias, "attention.self.%s.bias", name);
    return (projection){szgi_layer_tensor(checkpoint, layer, weight),
                        szgi_layer_tensor(checkpoint, layer, bias)};
}

void szgi_lag_table_tensors(const szg_checkpoint *checkpoint, int64_t layer,
                            const szgi_tensor *out[LAG_TABLE_TENSORS]) {
    memset(out, 0, LAG_TABLE_TENSORS * sizeof *out);
    if (has_distances(checkpoint))
        out[0] = distance_tensor(checkpoint, layer);
    if (!is_projected(checkpoint))
        return;
    const projection q = projection_of(checkpoint, layer, true);
    const projection k = projection_of(checkpoint, layer, false);
    const szgi_tensor *const all[LAG_TABLE_TENSORS] = {norm_tensor(checkpoint, "weight"),
                                                       norm_tensor(checkpoint, "bias"),
                                                       q.weight,
                                                       q.bias,
                                                       k.weight,
                                                       k.bias};
    memcpy(out, all, sizeof all);
}

static bool is_projection(const szg_checkpoint *checkpoint, int64_t layer, bool query) {
    int64_t rows = checkpoint->heads * checkpoint->head_size;
    const projection by = projection_of(checkpoint, layer, query);
    return is_vector(by.weight, rows * checkpoint->model_size) && !by.weight->scales &&
           (!by.bias || is_vector(by.bias, rows));
}

const char *szgi_lag_table_refusal(const lag_table *table, const szg_checkpoint *checkpoint,
                                   int64_t layer) {
    if (table->why)
        return table->why;
    if (layer == 0 && table->projected && szgi_config_flag_or(checkpoint, keys[BIASED], true))
        return "positions are added to the embeddings too (position_biased_input is not false), "
               "so that products with embeddings of the lag are not all";
    if (!table->projected && (!is_distance_table(checkpoint, distance_tensor(checkpoint, layer)) ||
                              distance_tensor(checkpoint, layer)->shape[0] != table->rows))
        return "distance_embedding of this layer is missing, or has another shape than that of "
               "layer 0";
    if (table->projected && ((table->keys && !is_projection(checkpoint, layer, false)) ||
                             (table->queries && !is_projection(checkpoint, layer, true))))
        return "attention.self.pos_key_proj or pos_query_proj is missing, or of a type or shape "
               "that is not read here (--set share_att_key=true if the content's weights make the "
               "vectors of the lag)";
    return szgi_law_refusal(checkpoint, layer);
}

/* ---- One head ---- */

/* All in the units of law_side. */
typedef struct table_work {
    const law_input *head;
    const lag_table *table;
    int64_t e;
    lag_columns parts;
    double *memory;
    double *raw;            /* [e, d]: the weight that projects the table */
    double *keys, *queries; /* [rows, e]: what queries, and what keys, are multiplied by */
    double *q, *k;          /* [e]: mean query and key; k with what it adds at all lags */
    double *pulled;         /* [rows, d] */
    double *bias;           /* [e]: room */
    bool drawn;             /* signs change the kernel */
} table_work;

static szg_status open_work(szg_context *context, const law_input *head, const lag_table *table,
                            table_work *work) {
    int64_t e = head->checkpoint->head_size, d = head->checkpoint->model_size;
    int64_t count = table->lags - table->first, rows = table->rows;
    *work = (table_work){.head = head,
                         .table = table,
                         .e = e,
                         .parts = {.first = table->first, .count = count, .d = d}};
    SZG_TRY(szgi_memory_alloc(
        context, e * d + 2 * rows * e + 3 * e + count * (3 + d + CHANCE_DRAWS) + rows * d,
        &work->memory));
    work->raw = work->memory;
    work->keys = work->raw + e * d;
    work->queries = work->keys + rows * e;
    work->q = work->queries + rows * e;
    work->k = work->q + e;
    work->parts.weight = work->k + e;
    work->parts.kernel = work->parts.weight + count;
    work->parts.still = work->parts.kernel + count;
    work->parts.column = work->parts.still + count;
    work->parts.sum = work->parts.column + count * d;
    work->pulled = work->parts.sum + count * CHANCE_DRAWS;
    work->bias = work->pulled + rows * d;
    szgi_lag_weights(table->first, count, work->parts.weight);
    return SZG_OK;
}

static szg_status read_projection(szg_context *context, const table_work *work, bool query) {
    const szg_checkpoint *checkpoint = work->head->checkpoint;
    int64_t e = work->e, first = work->head->head * e;
    const projection by = projection_of(checkpoint, work->head->layer, query);
    SZG_TRY(szgi_fold_vector(context, by.weight, "a weight", first * work->parts.d,
                             e * work->parts.d, work->raw));
    memset(work->bias, 0, (size_t)e * sizeof *work->bias);
    return by.bias ? szgi_fold_vector(context, by.bias, "a bias", first, e, work->bias) : SZG_OK;
}

/* out = factor (rows W^T + bias). */
static szg_status project(szg_context *context, const table_work *work, double factor,
                          double *out) {
    const lag_table *table = work->table;
    SZG_TRY(szgi_gemm(context, 'n', 't', table->rows, work->e, work->parts.d, factor, table->value,
                      work->parts.d, work->raw, work->parts.d, 0, out, work->e));
    for (int64_t i = 0; i < table->rows * work->e; i++)
        out[i] += factor * work->bias[i % work->e];
    return SZG_OK;
}

/* pulled[r, c]: the part of column c of the weight that makes keys in q . keys[r]. */
static void pull_keys(table_work *work, double factor) {
    int64_t d = work->parts.d;
    for (int64_t c = 0; c < d; c++) {
        double sum = 0;
        for (int64_t i = 0; i < work->e; i++)
            sum += factor * work->q[i] * work->raw[i * d + c];
        for (int64_t r = 0; r < work->table->rows; r++)
            work->pulled[r * d + c] = sum * work->table->value[r * d + c];
    }
    work->drawn = true;
}

/* The vectors of both sides, and what signs of columns do to products with keys'. */
static szg_status read_vectors(szg_context *context, table_work *work) {
    const law_input *head = work->head;
    const lag_table *table = work->table;
    double scale = ldexp(head->checkpoint->layer[head->layer].scale, -head->q.exponent);
    double one = ldexp(1, -head->k.exponent);
    if (!table->projected) {
        SZG_TRY(szgi_fold_vector(context, distance_tensor(head->checkpoint, head->layer),
                                 "an embedding of the distance", 0, table->rows * work->e,
                                 work->keys));
        for (int64_t i = 0; i < table->rows * work->e; i++) {
            work->queries[i] = table->queries ? scale * work->keys[i] : 0;
            work->keys[i] *= one;
        }
        return SZG_OK;
    }
    if (table->queries) {
        SZG_TRY(read_projection(context, work, true));
        SZG_TRY(project(context, work, scale, work->queries));
    }
    if (table->keys) {
        SZG_TRY(read_projection(context, work, false));
        SZG_TRY(project(context, work, one, work->keys));
        pull_keys(work, one);
    }
    return SZG_OK;
}

/* Adds what signs do to products of the mean token's key: (W_K^T queries[r])_c mu_c. */
static szg_status pull_queries(szg_context *context, const isotropic_law *law, table_work *work) {
    const double *mean = work->head->known->mean;
    double *room;
    SZG_TRY(szgi_memory_alloc(context, work->table->rows * work->parts.d, &room));
    szg_status status =
        szgi_gemm(context, 'n', 'n', work->table->rows, work->parts.d, work->e, 1, work->queries,
                  work->e, law->k, work->parts.d, 0, room, work->parts.d);
    for (int64_t i = 0; i < work->table->rows * work->parts.d; i++)
        work->pulled[i] += room[i] * mean[i % work->parts.d];
    work->drawn = true;
    szgi_memory_free(room);
    return status;
}

/* The kernel at every lag, and its parts by the columns. */
static lag_spread fill_kernel(table_work *work) {
    lag_columns *parts = &work->parts;
    int64_t d = parts->d, e = work->e;
    double level = szgi_dot(e, work->q, work->k);
    for (int64_t i = 0; i < parts->count; i++) {
        int64_t row = work->table->row[i];
        parts->kernel[i] = szgi_dot(e, work->q, work->keys + row * e) +
                           szgi_dot(e, work->k, work->queries + row * e);
        parts->still[i] = parts->kernel[i];
        for (int64_t c = 0; c < d; c++) {
            parts->column[i * d + c] = work->pulled[row * d + c];
            parts->still[i] -= work->pulled[row * d + c];
        }
        parts->kernel[i] += level;
    }
    szgi_lag_columns_centre(parts);
    return szgi_lag_spread(parts->count, parts->weight, parts->kernel);
}

/* x^T A x */
static double form(int64_t e, const double *a, const double *x) {
    double sum = 0;
    for (int64_t i = 0; i < e; i++)
        sum += x[i] * szgi_dot(e, a + i * e, x);
    return sum;
}

/* The mean of vectors over the lags goes to `mean`; the weighted mean of the forms of what is left
 * is returned. */
static double spread_of(const table_work *work, const double *covariance, const double *vectors,
                        double *mean, double *left) {
    int64_t e = work->e;
    double sum = 0;
    memset(mean, 0, (size_t)e * sizeof *mean);
    for (int64_t i = 0; i < work->parts.count; i++)
        for (int64_t j = 0; j < e; j++)
            mean[j] += work->parts.weight[i] * vectors[work->table->row[i] * e + j];
    double last = 0;
    for (int64_t i = 0, row = -1; i < work->parts.count; i++) {
        for (int64_t j = 0; j < e && work->table->row[i] != row; j++)
            left[j] = vectors[work->table->row[i] * e + j] - mean[j];
        if (work->table->row[i] != row)
            last = form(e, covariance, left);
        row = work->table->row[i];
        sum += work->parts.weight[i] * last;
    }
    return sum;
}

/* Content alone: <Q, K> + (q + mean)^T K (q + mean). What the query alone adds to all keys alike
 * cancels in the softmax. Content times vectors of the lag: the spread. */
static szg_status find_noise(szg_context *context, const table_work *work, const head_law *law,
                             double *noise, double *spread) {
    int64_t e = work->e;
    double *room;
    SZG_TRY(szgi_memory_alloc(context, 2 * e, &room));
    double square = spread_of(work, law->q_covariance, work->keys, room, room + e);
    square += spread_of(work, law->k_covariance, work->queries, room, room + e);
    for (int64_t i = 0; i < e; i++)
        room[i] += work->q[i];
    *noise = szgi_variance_of(szgi_dot(e * e, law->q_covariance, law->k_covariance) +
                              form(e, law->k_covariance, room));
    *spread = sqrt(szgi_variance_of(square));
    szgi_memory_free(room);
    return SZG_OK;
}

static szg_status judge(szg_context *context, const isotropic_law *law, uint64_t seed,
                        table_work *work, head_positional *out) {
    const head_law *tokens = work->head->known ? &law->known : &law->law;
    kernel_facts *facts = &out->kernel[KERNEL_MEAN];
    double noise, draws[CHANCE_DRAWS];
    memcpy(work->q, tokens->q_mean, (size_t)work->e * sizeof *work->q);
    memcpy(work->k, tokens->k_mean, (size_t)work->e * sizeof *work->k);
    SZG_TRY(read_vectors(context, work));
    if (work->head->known && work->table->queries)
        SZG_TRY(pull_queries(context, law, work));
    lag_spread kernel = fill_kernel(work);
    SZG_TRY(find_noise(context, work, tokens, &noise, &out->spread));
    double rest = noise + out->spread * out->spread;
    facts->share = szgi_share_of(kernel.variance, rest);
    facts->noise = sqrt(noise);
    if (work->drawn) {
        SZG_TRY(szgi_lag_columns_draw(context, seed, work->head->layer, &work->parts, draws));
        szgi_positional_compare(out, KERNEL_MEAN, kernel.variance, kernel.variance, rest, draws);
    }
    szgi_lag_columns_values(&work->parts, kernel.mean, work->drawn, out);
    return szgi_shape_of_values(context, work->table->first, work->parts.count, work->parts.kernel,
                                !szgi_positional_is_chance(facts), &facts->shape);
}

szg_status szgi_lag_table_find(szg_context *context, const law_input *head, const lag_table *table,
                               uint64_t seed, head_positional *out) {
    isotropic_law law;
    table_work work = {0};
    SZG_TRY(szgi_positional_open(context, table->first, table->lags, &table->listed, out));
    SZG_TRY(szgi_law_open(context, head, &law));
    szg_status status = open_work(context, head, table, &work);
    if (status == SZG_OK)
        status = judge(context, &law, seed, &work, out);
    out->vocabulary = head->known != NULL;
    szgi_positional_scale(head->q.exponent + head->k.exponent, out);
    szgi_memory_free(work.memory);
    szgi_law_close(&law);
    if (status != SZG_EDATA)
        return status;
    szgi_positional_release(out);
    out->why = "vectors of the lag, or weights that make them, have a number that is not finite";
    return SZG_OK;
}

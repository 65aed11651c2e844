/* From the configuration and the names of tensors to sizes and one place for each layer's weights.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "checkpoint_private.h"
#include "defaults.h"

#define HEAD_KEY "num_attention_heads"
static const char *const key_head_keys[] = {"num_key_value_heads", NULL};

szg_status szgi_weight_check(szg_context *context, const szg_checkpoint *checkpoint, int64_t index,
                             const char *suffix, const szgi_tensor *tensor, int64_t rows,
                             int64_t columns, char **problem) {
    bool is_float =
        tensor && tensor->dtype != SZGI_DTYPE_INTEGER && tensor->dtype != SZGI_DTYPE_OTHER;
    char text[512];
    const char *quantised = is_float || (tensor && tensor->refusal)
                                ? NULL
                                : szgi_quantised_refusal(checkpoint, text, sizeof text);
    if (quantised)
        return szgi_text_append(context, problem, "tensor %s%s%" PRId64 ".%s is %s: %s",
                                checkpoint->prefix, checkpoint->family->stem, index, suffix,
                                tensor ? tensor->dtype_name : "missing", quantised);
    if (!tensor && szgi_unmerged(checkpoint))
        return szgi_text_append(context, problem,
                                "tensor %s%s%" PRId64 ".%s is missing, and others have a LoRA "
                                "adapter that is not merged: " MERGE_REMEDY,
                                checkpoint->prefix, checkpoint->family->stem, index, suffix);
    if (!tensor)
        return szgi_text_append(context, problem, "tensor %s%s%" PRId64 ".%s is missing",
                                checkpoint->prefix, checkpoint->family->stem, index, suffix);
    if (tensor->refusal && !is_float) /* whose shape may be that of its codes */
        return szgi_text_append(context, problem,
                                "tensor %s has type %s where a weight belongs: %s", tensor->name,
                                tensor->dtype_name, tensor->refusal);
    char shape[64], wanted[64];
    int dims = columns < 0 ? 1 : 2;
    snprintf(wanted, sizeof wanted, columns < 0 ? "[%" PRId64 "]" : "[%" PRId64 ", %" PRId64 "]",
             rows, columns);
    if (tensor->dims != dims || tensor->shape[0] != rows ||
        (dims == 2 && tensor->shape[1] != columns))
        return szgi_text_append(context, problem,
                                "tensor %s has shape %s, the configuration wants %s", tensor->name,
                                szgi_tensor_shape_text(tensor, shape, sizeof shape), wanted);
    if (!is_float)
        return szgi_text_append(context, problem,
                                "tensor %s has type %s where a weight belongs: %s", tensor->name,
                                tensor->dtype_name, szgi_tensor_remedy(tensor));
    return SZG_OK;
}

szg_status szgi_weight_check_heads(szg_context *context, const szg_checkpoint *checkpoint,
                                   int64_t index, const char *suffix, const szgi_tensor *tensor,
                                   int64_t rows, int64_t columns, char **problem) {
    const int64_t shape[] = {checkpoint->heads, rows, columns};
    const int64_t flat[] = {checkpoint->heads * rows, columns};
    const szgi_tensor want = {.dims = 3, .shape = shape};
    char has[64], wanted[64];
    szgi_tensor matrix = {.dims = 0};
    if (tensor && (tensor->dims != 3 || memcmp(tensor->shape, shape, sizeof shape) != 0))
        return szgi_text_append(context, problem,
                                "tensor %s has shape %s, the configuration wants %s", tensor->name,
                                szgi_tensor_shape_text(tensor, has, sizeof has),
                                szgi_tensor_shape_text(&want, wanted, sizeof wanted));
    if (tensor)
        matrix = *tensor;
    matrix.dims = 2;
    matrix.shape = flat;
    return szgi_weight_check(context, checkpoint, index, suffix, tensor ? &matrix : NULL, flat[0],
                             flat[1], problem);
}

static szg_status check_weight(szg_context *context, const szg_checkpoint *checkpoint,
                               int64_t index, const char *suffix, const szgi_tensor *tensor,
                               int64_t rows, int64_t columns) {
    return szgi_weight_check(context, checkpoint, index, suffix, tensor, rows, columns,
                             &checkpoint->layer[index].problem);
}

/* The weight of a layout by columns: [d, heads, e]. */
static szg_status check_columns(szg_context *context, const szg_checkpoint *checkpoint,
                                int64_t index, const char *suffix, const szgi_tensor *tensor) {
    int64_t d = checkpoint->model_size, columns = checkpoint->heads * checkpoint->head_size;
    const int64_t shape[] = {d, checkpoint->heads, checkpoint->head_size}, flat[] = {d, columns};
    szgi_tensor matrix = {.dims = 0};
    if (tensor)
        matrix = *tensor;
    if (matrix.dims == 3 && memcmp(matrix.shape, shape, sizeof shape) == 0) {
        matrix.dims = 2;
        matrix.shape = flat;
    }
    return check_weight(context, checkpoint, index, suffix, tensor ? &matrix : NULL, d, columns);
}

/* A gain or a low-rank matrix of latent attention. */
static szg_status place_part(szg_context *context, szg_checkpoint *checkpoint, int64_t index,
                             const char *suffix, int64_t rows, int64_t columns,
                             const szgi_tensor **out) {
    *out = szgi_layer_tensor(checkpoint, index, suffix);
    return check_weight(context, checkpoint, index, suffix, *out, rows, columns);
}

static szg_status place_latent(szg_context *context, szg_checkpoint *checkpoint, int64_t index) {
    layer_weights *layer = &checkpoint->layer[index];
    const latent_sizes *latent = &checkpoint->latent;
    const latent_names *names = checkpoint->family->latent;
    int64_t d = checkpoint->model_size;
    bool scaled = checkpoint->family->latent_factors;
    layer->k.factor = scaled ? sqrt((double)d / (double)latent->key_rank) : 1;
    if (latent->query_rank) {
        layer->q.factor = scaled ? sqrt((double)d / (double)latent->query_rank) : 1;
        SZG_TRY(place_part(context, checkpoint, index, names->query_down, latent->query_rank, d,
                           &layer->q.down));
        SZG_TRY(place_part(context, checkpoint, index, names->query_gain, latent->query_rank, -1,
                           &layer->q.gain));
    }
    SZG_TRY(place_part(context, checkpoint, index, names->key_down, latent->key_rank + latent->rope,
                       d, &layer->k.down));
    return place_part(context, checkpoint, index, names->key_gain, latent->key_rank, -1,
                      &layer->k.gain);
}

/* A layer without attention has no queries: or its type is wrong. */
static szg_status check_absent(szg_context *context, const szg_checkpoint *checkpoint,
                               int64_t index) {
    const layer_weights *layer = &checkpoint->layer[index];
    char path[256];
    if (!layer->q.weight || checkpoint->family->only ||
        checkpoint->gguf.alike) /* others' queries */
        return SZG_OK;
    szgi_json_value key = szgi_json_member(checkpoint->settings, checkpoint->decided.kinds);
    if (checkpoint->gguf.families > 0)
        return szgi_json_fail(
            context, key,
            "makes layer %" PRId64 " one of '%s', without queries and keys, but "
            "tensor %s is there: gguf-set-metadata changes %s.%s (PyPI: gguf), and a converter "
            "writes it where the file has none",
            index, SHOWN(layer->absent), layer->q.weight->name, checkpoint->model_type,
            checkpoint->gguf.kinds ? checkpoint->gguf.kinds : checkpoint->decided.kinds);
    szgi_json_path(key, path, sizeof path);
    return szgi_json_fail(context, key,
                          "makes layer %" PRId64 " one of '%s', without queries and keys, but "
                          "tensor %s is there: --set %s=VALUE gives the right types",
                          index, SHOWN(layer->absent), layer->q.weight->name, path);
}

/* An encoder may be wider than its decoder (T5Gemma 9B-2B). */
static bool reads_other_width(const szg_checkpoint *checkpoint, const szgi_tensor *key) {
    return checkpoint->family->stack && strcmp(checkpoint->family->stack, "cross") == 0 && key &&
           key->dims == 2 && key->shape[0] == checkpoint->key_rows &&
           key->shape[1] != checkpoint->model_size;
}

static szg_status place_layer(szg_context *context, szg_checkpoint *checkpoint, int64_t index) {
    layer_weights *layer = &checkpoint->layer[index];
    int64_t d = checkpoint->model_size, own = layer->owner;
    int64_t query_columns = checkpoint->latent.query_rank ? checkpoint->latent.query_rank : d;
    int64_t key_columns = checkpoint->latent.key_rank ? checkpoint->latent.key_rank : d;
    int64_t keys = checkpoint->family->shares_keys ? layer->key_layer : own;
    layer->q.weight = szgi_layer_tensor(checkpoint, own, checkpoint->query);
    layer->k.weight =
        checkpoint->key ? szgi_layer_tensor(checkpoint, keys, checkpoint->key) : layer->q.weight;
    if (layer->absent)
        return check_absent(context, checkpoint, index);
    if (checkpoint->family->layout == LAYOUT_CONV1D)
        return check_weight(context, checkpoint, index, checkpoint->query, layer->q.weight, d,
                            3 * d);
    if (checkpoint->family->layout == LAYOUT_COLUMNS) {
        SZG_TRY(check_columns(context, checkpoint, index, checkpoint->query, layer->q.weight));
        return check_columns(context, checkpoint, index, checkpoint->key, layer->k.weight);
    }
    SZG_TRY(check_weight(context, checkpoint, index, checkpoint->query, layer->q.weight,
                         checkpoint->query_rows, query_columns));
    if (checkpoint->family->latent && checkpoint->family->latent->split)
        SZG_TRY(szgi_weight_check_heads(context, checkpoint, index, checkpoint->key,
                                        layer->k.weight, checkpoint->latent.key_rank,
                                        checkpoint->latent.nope, &layer->problem));
    else if (reads_other_width(checkpoint, layer->k.weight))
        SZG_TRY(szgi_text_append(context, &layer->problem,
                                 "keys read the encoder's output, which is %" PRId64
                                 " wide (tensor %s), and queries the decoder's, which is %" PRId64
                                 ": not covered",
                                 layer->k.weight->shape[1], layer->k.weight->name, d));
    else if (checkpoint->key)
        SZG_TRY(check_weight(context, checkpoint, index, checkpoint->key, layer->k.weight,
                             checkpoint->key_rows, key_columns));
    return checkpoint->family->layout == LAYOUT_LATENT ? place_latent(context, checkpoint, index)
                                                       : SZG_OK;
}

/* The first layer's tensor with that suffix that is a matrix: where sizes can be read off. */
static const szgi_tensor *sample_weight(const szg_checkpoint *checkpoint, const char *suffix) {
    for (int64_t i = 0; suffix && i < checkpoint->layers; i++) {
        const szgi_tensor *tensor = szgi_layer_tensor(checkpoint, i, suffix);
        if (tensor && tensor->dims == 2)
            return tensor;
    }
    return NULL;
}

/* The member `key` that per_layer_config has for the layers of this stack; absent where it has
 * none.
 */
static szg_status layer_member(szg_context *context, const szg_checkpoint *checkpoint,
                               const char *key, szgi_json_value *out) {
    szgi_json_value layers = szgi_json_member(checkpoint->settings, "per_layer_config");
    *out = szgi_json_member(checkpoint->settings, "per_layer_config");
    bool found = false;
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        char index[24];
        const char *type;
        int64_t first, other;
        SZG_TRY(szgi_config_layer_type(context, checkpoint, i, &type));
        if (strcmp(type, checkpoint->family->only) != 0)
            continue;
        snprintf(index, sizeof index, "%" PRId64, i);
        szgi_json_value value = szgi_json_member(szgi_json_member(layers, index), key);
        if (found && szgi_json_kind_of(value) > SZGI_JSON_NULL) {
            SZG_TRY(szgi_json_as_integer(context, *out, &first));
            SZG_TRY(szgi_json_as_integer(context, value, &other));
            if (first != other)
                return szgi_json_fail(
                    context, value, "is %" PRId64 ", but %" PRId64 " in another layer of type '%s'",
                    other, first, type);
        }
        if (!found)
            *out = value;
        found = true;
    }
    return SZG_OK;
}

/* A size that the layers of this stack have apart from the others: per_layer_config decides, or the
 * key `wide`, or the one for all layers. */
static szg_status own_size(szg_context *context, const szg_checkpoint *checkpoint, const char *key,
                           const char *wide, const char **decided, int64_t *out) {
    static const char per_layer[] = "per_layer_config";
    szgi_json_value settings = checkpoint->settings, value;
    const char *const names[] = {wide ? wide : key, NULL};
    if (!szgi_json_has(settings, per_layer)) {
        *decided = names[0];
        return szgi_config_integer(context, settings, names, 1, out);
    }
    SZG_TRY(layer_member(context, checkpoint, key, &value));
    *decided = per_layer;
    if (szgi_json_kind_of(value) <= SZGI_JSON_NULL) {
        *decided = key;
        value = szgi_json_member(settings, key);
    }
    SZG_TRY(szgi_config_require(context, value));
    SZG_TRY(szgi_json_as_integer(context, value, out));
    return *out >= 1
               ? SZG_OK
               : szgi_json_fail(context, value, "is %" PRId64 ", and must be at least 1", *out);
}

/* Head size: head_dim or the family's key, or model size / heads, which is what its absence means.
 */
static szg_status resolve_head_size(szg_context *context, szg_checkpoint *checkpoint) {
    const char *const names[] = {"head_dim", checkpoint->family->keys.head, NULL};
    szgi_json_value value;
    const char *const own[] = {checkpoint->family->keys.head, NULL};
    if (checkpoint->family->stack && own[0] && szgi_json_has(checkpoint->settings, own[0])) {
        checkpoint->decided.head_size = own[0];
        return szgi_config_integer(context, checkpoint->settings, own, 1, &checkpoint->head_size);
    }
    if (checkpoint->family->layout == LAYOUT_LATENT) {
        checkpoint->head_size = checkpoint->latent.nope + checkpoint->latent.rope;
        checkpoint->decided.head_size = "qk_nope_head_dim, qk_rope_head_dim";
        return SZG_OK;
    }
    if (checkpoint->family->own_sizes)
        return own_size(context, checkpoint, "head_dim", "global_head_dim",
                        &checkpoint->decided.head_size, &checkpoint->head_size);
    SZG_TRY(szgi_config_find(context, checkpoint->settings, names, &value));
    if (szgi_json_kind_of(value) > SZGI_JSON_NULL || checkpoint->family->keys.head) {
        checkpoint->decided.head_size = value.key;
        return szgi_config_integer(context, checkpoint->settings, names, 1, &checkpoint->head_size);
    }
    if (checkpoint->model_size % checkpoint->heads != 0) {
        const char *const heads[] = {HEAD_KEY, checkpoint->family->keys.heads, NULL};
        SZG_TRY(szgi_config_find(context, checkpoint->settings, heads, &value));
        return szgi_json_fail(context, value,
                              "%" PRId64 " heads do not divide the model size %" PRId64
                              ", and there is no head_dim: --set head_dim=E gives it",
                              checkpoint->heads, checkpoint->model_size);
    }
    checkpoint->head_size = checkpoint->model_size / checkpoint->heads;
    return SZG_OK;
}

/* Rows of all key heads together as the tensors have them, -1 where no tensor tells. */
static int64_t key_rows(const szg_checkpoint *checkpoint) {
    const model_family *family = checkpoint->family;
    const szgi_tensor *tensor;
    if (family->layout == LAYOUT_FUSED_BLOCKS || family->layout == LAYOUT_FUSED_GROUPS) {
        tensor = sample_weight(checkpoint, checkpoint->query);
        return tensor ? (tensor->shape[0] - checkpoint->heads * checkpoint->head_size) / 2 : -1;
    }
    tensor = sample_weight(checkpoint, checkpoint->key);
    return tensor ? tensor->shape[0] : -1;
}

/* Falcon and GPT-BigCode say by flags whether queries share keys. */
static szg_status fused_key_heads(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const falcon[] = {"num_kv_heads", NULL};
    szgi_json_value settings = checkpoint->settings;
    bool grouped = false, single;
    SZG_TRY(szgi_config_require(context, szgi_json_member(settings, "multi_query")));
    SZG_TRY(szgi_config_flag(context, settings, "multi_query", false, &single));
    SZG_TRY(szgi_config_flag(context, settings, "new_decoder_architecture", false, &grouped));
    checkpoint->decided.key_heads = "multi_query";
    if (checkpoint->family->layout == LAYOUT_FALCON && grouped) {
        checkpoint->decided.key_heads = falcon[0];
        return szgi_config_integer(context, settings, falcon, 1, &checkpoint->key_heads);
    }
    checkpoint->key_heads = single ? 1 : checkpoint->heads;
    return SZG_OK;
}

/* Gemma 4's global layers have key heads of their own where values are keys. */
static szg_status global_key_heads(szg_context *context, szg_checkpoint *checkpoint) {
    static const char wide[] = "num_global_key_value_heads";
    bool shared;
    SZG_TRY(szgi_config_flag(context, checkpoint->settings, "attention_k_eq_v", false, &shared));
    return own_size(context, checkpoint, key_head_keys[0],
                    shared && szgi_json_has(checkpoint->settings, wide) ? wide : NULL,
                    &checkpoint->decided.key_heads, &checkpoint->key_heads);
}

static szg_status separate_key_heads(szg_context *context, szg_checkpoint *checkpoint) {
    if (checkpoint->family->own_sizes)
        return global_key_heads(context, checkpoint);
    const char *own = checkpoint->family->keys.key_heads;
    const char *const keys[] = {own ? own : key_head_keys[0], NULL};
    szgi_json_value value = szgi_json_member(checkpoint->settings, keys[0]);
    if (szgi_json_has(checkpoint->settings, keys[0])) {
        int64_t times = checkpoint->family->key_heads_times;
        checkpoint->decided.key_heads = keys[0];
        SZG_TRY(
            szgi_config_integer(context, checkpoint->settings, keys, 1, &checkpoint->key_heads));
        checkpoint->key_heads *= times && checkpoint->key_heads <= checkpoint->heads ? times : 1;
        return SZG_OK;
    }
    int64_t rows = key_rows(checkpoint);
    if (rows < 1 || rows % checkpoint->head_size != 0)
        return szgi_json_fail(context, value,
                              "missing, and the key weights do not tell how many key heads of "
                              "size %" PRId64 " there are",
                              checkpoint->head_size);
    checkpoint->key_heads = rows / checkpoint->head_size;
    return SZG_OK;
}

/* Key heads: num_key_value_heads, or the number that the key tensor's shape tells. */
static szg_status resolve_key_heads(szg_context *context, szg_checkpoint *checkpoint) {
    weight_layout layout = checkpoint->family->layout;
    bool grouped = checkpoint->family->positions == POSITION_ROTARY ||
                   checkpoint->family->grouped ||
                   checkpoint->gguf.families > 0; /* its files always say */
    checkpoint->key_heads = checkpoint->heads;
    if (layout == LAYOUT_FALCON || layout == LAYOUT_BIGCODE)
        SZG_TRY(fused_key_heads(context, checkpoint));
    else if (grouped && (layout == LAYOUT_SEPARATE || layout == LAYOUT_FUSED_BLOCKS ||
                         layout == LAYOUT_FUSED_GROUPS || layout == LAYOUT_GATED))
        SZG_TRY(separate_key_heads(context, checkpoint));
    if (checkpoint->heads % checkpoint->key_heads != 0)
        return szgi_json_fail(
            context,
            szgi_json_member(checkpoint->settings, checkpoint->decided.key_heads
                                                       ? checkpoint->decided.key_heads
                                                       : key_head_keys[0]),
            "%" PRId64 " key heads do not divide %" PRId64 " query heads", checkpoint->key_heads,
            checkpoint->heads);
    return SZG_OK;
}

/* The key that a scale is read from, as it is, or under a square root. */
static szg_status scale_from(szg_context *context, szg_checkpoint *checkpoint, const char *key,
                             double *out) {
    checkpoint->decided.scale = key;
    return szgi_config_positive(context, szgi_json_member(checkpoint->settings, key), out);
}

/* DeBERTa shares the scale among content and the position terms that pos_att_type lists. */
static szg_status scale_deberta(szg_context *context, szg_checkpoint *checkpoint, double *scale) {
    static const char key[] = "pos_att_type";
    szgi_json_value kinds = szgi_json_member(checkpoint->settings, key);
    int terms = 1;
    const char *kind;
    if (szgi_json_kind_of(kinds) == SZGI_JSON_TEXT) { /* "p2c|c2p" in files as published */
        SZG_TRY(szgi_json_as_text(context, kinds, &kind));
        terms += (strstr(kind, "c2p") != NULL) + (strstr(kind, "p2c") != NULL);
    } else if (szgi_json_has(checkpoint->settings, key)) {
        SZG_TRY(szgi_json_as_array(context, kinds));
        for (int64_t i = 0; i < szgi_json_count(kinds); i++) {
            SZG_TRY(szgi_json_as_text(context, szgi_json_element(kinds, i), &kind));
            terms += strcmp(kind, "c2p") == 0 || strcmp(kind, "p2c") == 0;
        }
    }
    checkpoint->decided.scale = key;
    *scale /= sqrt((double)terms);
    return SZG_OK;
}

static szg_status scale_mpt(szg_context *context, szg_checkpoint *checkpoint, double *scale) {
    szgi_json_value inner = szgi_json_member(checkpoint->settings, "attn_config");
    if (!szgi_json_has(checkpoint->settings, "attn_config") ||
        !szgi_json_has(inner, "softmax_scale"))
        return SZG_OK;
    checkpoint->decided.scale = "attn_config.softmax_scale";
    return szgi_config_positive(context, szgi_json_member(inner, "softmax_scale"), scale);
}

/* Keys are multiplied behind their projection. What multiplies the input of attention is 1. */
static szg_status scale_keys(szg_context *context, szg_checkpoint *checkpoint, double *scale) {
    static const char input_key[] = "attention_in_multiplier";
    szgi_json_value input = szgi_json_member(checkpoint->settings, input_key);
    double factor = 1;
    if (szgi_json_has(checkpoint->settings, input_key))
        SZG_TRY(szgi_config_positive(context, input, &factor));
    if (factor != 1)
        return szgi_json_fail(context, input,
                              "is %.17g, and szego knows 1 alone: --config none gives the singular "
                              "values of every 2-D weight",
                              factor);
    SZG_TRY(scale_from(context, checkpoint, "key_multiplier", &factor));
    *scale *= factor;
    return SZG_OK;
}

/* The square of 0.1 mscale_all_dim ln(factor) + 1, where YaRN scales. */
static szg_status scale_yarn(szg_context *context, szg_checkpoint *checkpoint, double *scale) {
    szgi_json_value settings = checkpoint->settings;
    const char *name = szgi_json_has(settings, "rope_scaling") ? "rope_scaling" : "rope_parameters";
    szgi_json_value scaling = szgi_json_member(settings, name);
    double factor, multiplier;
    if (szgi_json_kind_of(scaling) != SZGI_JSON_OBJECT || !szgi_json_has(scaling, "mscale_all_dim"))
        return SZG_OK;
    szgi_json_value value = szgi_json_member(scaling, "mscale_all_dim");
    SZG_TRY(szgi_json_as_real(context, value, &multiplier));
    if (!(multiplier >= 0 && multiplier < 1e6))
        return szgi_json_fail(context, value, "is %.17g, and may not be negative or above 10^6",
                              multiplier);
    SZG_TRY(szgi_config_positive(context, szgi_json_member(scaling, "factor"), &factor));
    double shrink = factor > 1 ? 0.1 * multiplier * log(factor) + 1 : 1;
    checkpoint->decided.scale = "mscale_all_dim";
    *scale *= shrink * shrink;
    return SZG_OK;
}

/* The factor on q_i . k_j in every layer, before GPT-2's by layer. */
static szg_status resolve_scale(szg_context *context, szg_checkpoint *checkpoint, double *scale) {
    double scalar;
    bool scaled = true; /* configurations from before the key scaled always */
    *scale = 1 / sqrt((double)checkpoint->head_size);
    switch (checkpoint->family->scale) {
    case SCALE_ONE:
        *scale = 1;
        return SZG_OK;
    case SCALE_HALF:
        *scale = sqrt(2 / (double)checkpoint->head_size);
        return SZG_OK;
    case SCALE_LENGTH:
        *scale = 1 / (double)checkpoint->head_size;
        return SZG_OK;
    case SCALE_FACTOR:
        return scale_from(context, checkpoint, "attention_multiplier", scale);
    case SCALE_SCALAR_OR_HEAD:
        if (!szgi_json_has(checkpoint->settings, "query_pre_attn_scalar"))
            return SZG_OK;
        /* fall through */
    case SCALE_SCALAR:
        SZG_TRY(scale_from(context, checkpoint, "query_pre_attn_scalar", &scalar));
        *scale = 1 / sqrt(scalar);
        return SZG_OK;
    case SCALE_GPT2:
        checkpoint->decided.scale = "scale_attn_weights";
        SZG_TRY(
            szgi_config_flag(context, checkpoint->settings, "scale_attn_weights", true, &scaled));
        if (!scaled)
            *scale = 1;
        return SZG_OK;
    case SCALE_DEBERTA:
        return scale_deberta(context, checkpoint, scale);
    case SCALE_MPT:
        return scale_mpt(context, checkpoint, scale);
    case SCALE_KEYS:
        return scale_keys(context, checkpoint, scale);
    case SCALE_YARN:
        return scale_yarn(context, checkpoint, scale);
    default:
        return SZG_OK;
    }
}

/* LFM2 as it was published lists the layers with attention. */
static szg_status mark_listed(szg_context *context, szg_checkpoint *checkpoint, const char *key) {
    szgi_json_value list = szgi_json_member(checkpoint->settings, key);
    SZG_TRY(szgi_json_as_array(context, list));
    checkpoint->decided.kinds = key;
    for (int64_t i = 0; i < checkpoint->layers; i++)
        checkpoint->layer[i].absent = "conv";
    for (int64_t i = 0; i < szgi_json_count(list); i++) {
        int64_t layer;
        szgi_json_value entry = szgi_json_element(list, i);
        SZG_TRY(szgi_json_as_integer(context, entry, &layer));
        if (layer < 0 || layer >= checkpoint->layers)
            return szgi_json_fail(context, entry,
                                  "is %" PRId64 ", but there are %" PRId64 " layers", layer,
                                  checkpoint->layers);
        checkpoint->layer[layer].absent = NULL;
    }
    return SZG_OK;
}

/* What a layer is if it does not belong to the stack. */
static szg_status other_kind(szg_context *context, szg_checkpoint *checkpoint, int64_t layer,
                             const char **out) {
    checkpoint->decided.kinds = "layer_types";
    SZG_TRY(szgi_config_layer_type(context, checkpoint, layer, out));
    if (strcmp(*out, checkpoint->family->only) == 0)
        *out = NULL;
    return SZG_OK;
}

/* What a layer is where some have no queries and keys; NULL: attention. `kind` belongs to the
 * configuration. */
static szg_status absent_kind(szg_context *context, szg_checkpoint *checkpoint, int64_t layer,
                              const char **out) {
    static const char *const attention[] = {"full_attention", "sliding_attention", "attention",
                                            "chunked_attention", NULL};
    static const char *const interval_keys[] = {"full_attention_interval", NULL};
    const char *kind;
    *out = NULL;
    if (!szgi_json_has(checkpoint->settings, "layer_types") &&
        szgi_json_has(checkpoint->settings, interval_keys[0])) {
        int64_t interval; /* Qwen3-Next as it was published */
        checkpoint->decided.kinds = interval_keys[0];
        SZG_TRY(szgi_config_integer(context, checkpoint->settings, interval_keys, 1, &interval));
        *out = (layer + 1) % interval == 0 ? NULL : "linear_attention";
        return SZG_OK;
    }
    checkpoint->decided.kinds = "layer_types";
    SZG_TRY(szgi_config_layer_type(context, checkpoint, layer, &kind));
    for (const char *const *name = attention; *name; name++)
        if (strcmp(kind, *name) == 0)
            return SZG_OK;
    *out = kind;
    return SZG_OK;
}

/* The tensor that a layer has in place of queries; NULL: it has queries, or nothing. */
static const char *other_tensor(const szg_checkpoint *checkpoint, int64_t layer) {
    const char *const *other = checkpoint->family->others;
    if (!checkpoint->tensors || szgi_layer_tensor(checkpoint, layer, checkpoint->query))
        return NULL;
    while (*other && !szgi_layer_tensor(checkpoint, layer, *other))
        other++;
    return *other;
}

/* Types of layers, each with the last layer that has keys of its own. */
enum { TYPES = 8 };
typedef struct key_owners {
    const char *type[TYPES];
    int64_t layer[TYPES];
    int count;
} key_owners;

/* The layers from `first` on use the keys of the last earlier layer of their type. */
static szg_status share_keys(szg_context *context, szg_checkpoint *checkpoint, int64_t first) {
    key_owners owners = {.count = 0};
    for (int64_t i = 0; i < checkpoint->layers && first < checkpoint->layers; i++) {
        const char *type;
        int slot = 0;
        SZG_TRY(szgi_config_layer_type(context, checkpoint, i, &type));
        while (slot < owners.count && strcmp(owners.type[slot], type) != 0)
            slot++;
        if (slot == owners.count && (i >= first || slot == TYPES))
            return szgi_json_fail(context, szgi_json_member(checkpoint->settings, "layer_types"),
                                  "layer %" PRId64
                                  " is of type '%s', of which no layer before %" PRId64 " has keys",
                                  i, type, first);
        owners.type[slot] = type;
        owners.count += slot == owners.count;
        if (i < first)
            owners.layer[slot] = i;
        checkpoint->layer[i].key_layer = owners.layer[slot];
    }
    return SZG_OK;
}

/* ALBERT's layers: how many groups of weights they share. */
static szg_status resolve_groups(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const group_keys[] = {"num_hidden_groups", NULL};
    static const char *const inner_keys[] = {"inner_group_num", NULL};
    int64_t inner = 1;
    SZG_TRY(szgi_config_integer(context, checkpoint->settings, group_keys, 1, &checkpoint->groups));
    if (checkpoint->groups > checkpoint->layers)
        return szgi_json_fail(context, szgi_json_member(checkpoint->settings, group_keys[0]),
                              "is %" PRId64 " for %" PRId64 " layers", checkpoint->groups,
                              checkpoint->layers);
    if (szgi_json_has(checkpoint->settings, inner_keys[0]))
        SZG_TRY(szgi_config_integer(context, checkpoint->settings, inner_keys, 1, &inner));
    if (inner == 1)
        return SZG_OK;
    return szgi_json_fail(context, szgi_json_member(checkpoint->settings, inner_keys[0]),
                          "is %" PRId64
                          ", and szego knows groups of one layer alone: --config none "
                          "gives the singular values of every 2-D weight",
                          inner);
}

/* Zamba's blocks: layers with attention take the weights of the first ones in turn. Files where
 * they are not tied have each layer's. */
static szg_status share_blocks(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const keys[] = {"num_mem_blocks", NULL};
    int64_t blocks = 1, count = 0, *owner;
    if (szgi_json_has(checkpoint->settings, keys[0]))
        SZG_TRY(szgi_config_integer(context, checkpoint->settings, keys, 1, &blocks));
    SZG_TRY(szgi_memory_alloc(context, checkpoint->layers, &owner));
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        layer_weights *layer = &checkpoint->layer[i];
        if (layer->absent)
            continue;
        owner[count] = i;
        if (!checkpoint->tensors || !szgi_layer_tensor(checkpoint, i, checkpoint->query))
            layer->owner = owner[count % blocks];
        count++;
    }
    szgi_memory_free(owner);
    return SZG_OK;
}

/* What each layer is, and whose keys it uses. */
static szg_status resolve_kinds(szg_context *context, szg_checkpoint *checkpoint) {
    static const char *const shared_keys[] = {"num_kv_shared_layers", NULL};
    const model_family *family = checkpoint->family;
    int64_t shared = 0;
    if (family->shares_keys)
        SZG_TRY(szgi_config_integer(context, checkpoint->settings, shared_keys, 0, &shared));
    if (shared >= checkpoint->layers)
        return szgi_json_fail(context, szgi_json_member(checkpoint->settings, shared_keys[0]),
                              "is %" PRId64 " of %" PRId64 " layers: none is left with keys",
                              shared, checkpoint->layers);
    if (family->shares_layers)
        SZG_TRY(resolve_groups(context, checkpoint));
    bool listed = family->mixed && !szgi_json_has(checkpoint->settings, "layer_types") &&
                  szgi_json_has(checkpoint->settings, "full_attn_idxs");
    if (listed)
        SZG_TRY(mark_listed(context, checkpoint, "full_attn_idxs"));
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        checkpoint->layer[i].key_layer = i;
        checkpoint->layer[i].owner =
            family->shares_layers ? i * checkpoint->groups / checkpoint->layers : i;
        if (family->only)
            SZG_TRY(other_kind(context, checkpoint, i, &checkpoint->layer[i].absent));
        if (family->others)
            checkpoint->layer[i].absent = other_tensor(checkpoint, i);
        if (family->mixed && !listed)
            SZG_TRY(absent_kind(context, checkpoint, i, &checkpoint->layer[i].absent));
    }
    if (family->shares_blocks)
        SZG_TRY(share_blocks(context, checkpoint));
    return share_keys(context, checkpoint, checkpoint->layers - shared);
}

static szg_status place_layers(szg_context *context, szg_checkpoint *checkpoint) {
    double scale;
    bool by_layer = false;
    SZG_TRY(resolve_scale(context, checkpoint, &scale));
    if (checkpoint->family->scale == SCALE_GPT2)
        SZG_TRY(szgi_config_flag(context, checkpoint->settings, "scale_attn_by_inverse_layer_idx",
                                 false, &by_layer));
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        checkpoint->layer[i].scale = by_layer ? scale / (double)(i + 1) : scale;
        checkpoint->layer[i].rotation = -1;
        SZG_TRY(place_layer(context, checkpoint, i));
    }
    return SZG_OK;
}

/* The value of a size. Of a stack among several the family's own key decides: the usual one is the
 * number of another stack (T5's num_hidden_layers is the encoder's). */
static szg_status size_value(szg_context *context, const szg_checkpoint *checkpoint,
                             const char *const *names, szgi_json_value *out) {
    const size_keys *own = &checkpoint->family->keys;
    const char *otherwise = own->layers == names[0] ? own->layers_otherwise : NULL;
    if (checkpoint->family->stack && szgi_json_has(checkpoint->settings, names[0])) {
        *out = szgi_json_member(checkpoint->settings, names[0]);
        return SZG_OK;
    }
    if (otherwise && szgi_json_has(checkpoint->settings, otherwise)) {
        *out = szgi_json_member(checkpoint->settings, otherwise);
        return SZG_OK;
    }
    const char *const other_first[] = {names[1], strcmp(names[0], names[1]) ? names[0] : NULL,
                                       NULL};
    return szgi_config_find(context, checkpoint->settings, other_first, out);
}

/* The sizes that every family has, each by its usual key or by the family's own. */
static szg_status resolve_sizes(szg_context *context, szg_checkpoint *checkpoint) {
    const size_keys *own = &checkpoint->family->keys;
    const struct {
        const char *names[3];
        int64_t *size;
        const char **decided;
    } sizes[] = {{{own->layers ? own->layers : "num_hidden_layers", "num_hidden_layers", NULL},
                  &checkpoint->layers,
                  &checkpoint->decided.layers},
                 {{own->heads ? own->heads : HEAD_KEY, HEAD_KEY, NULL},
                  &checkpoint->heads,
                  &checkpoint->decided.heads},
                 {{own->model ? own->model : "hidden_size", "hidden_size", NULL},
                  &checkpoint->model_size,
                  &checkpoint->decided.model_size}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        szgi_json_value value;
        SZG_TRY(size_value(context, checkpoint, sizes[i].names, &value));
        *sizes[i].decided = value.key;
        if (sizes[i].size == &checkpoint->layers && szgi_json_kind_of(value) == SZGI_JSON_ARRAY) {
            checkpoint->layers = szgi_json_count(value); /* a list of their kinds */
            continue;
        }
        const char *const name[] = {value.key, NULL};
        SZG_TRY(szgi_config_integer(context, checkpoint->settings, name, 1, sizes[i].size));
    }
    if (checkpoint->family->two_streams)
        checkpoint->model_size *= 2;
    return SZG_OK;
}

/* Every layer has the same number of heads, which the key lists. */
static szg_status check_equal_heads(szg_context *context, const szg_checkpoint *checkpoint) {
    const char *key = checkpoint->family->equal_heads;
    int64_t heads;
    if (!key || !szgi_json_has(checkpoint->settings, key))
        return SZG_OK;
    szgi_json_value list = szgi_json_member(checkpoint->settings, key);
    SZG_TRY(szgi_json_as_array(context, list));
    for (int64_t i = 0; i < szgi_json_count(list); i++) {
        SZG_TRY(szgi_json_as_integer(context, szgi_json_element(list, i), &heads));
        if (heads != checkpoint->heads)
            return szgi_json_fail(context, szgi_json_element(list, i),
                                  "is %" PRId64 ", but there are %" PRId64
                                  " heads: szego knows layers of one number alone; --config none "
                                  "gives the singular values of every 2-D weight",
                                  heads, checkpoint->heads);
    }
    return SZG_OK;
}

szg_status szgi_architecture_resolve(szg_context *context, szg_checkpoint *checkpoint) {
    szgi_json_value settings = checkpoint->settings;
    SZG_TRY(resolve_sizes(context, checkpoint));
    /* Far beyond any model, and far below what a product of three of them could overflow. */
    const int64_t most = 1 << 20;
    if (checkpoint->layers > most || checkpoint->heads > most || checkpoint->model_size > most)
        return szgi_fail(context, SZG_EDATA,
                         "%s: %" PRId64 " layers, %" PRId64 " heads, model size %" PRId64
                         ": none of them may exceed %" PRId64,
                         checkpoint->source, checkpoint->layers, checkpoint->heads,
                         checkpoint->model_size, most);
    SZG_TRY(szgi_family_check(context, checkpoint));
    SZG_TRY(check_equal_heads(context, checkpoint));
    SZG_TRY(szgi_layout_names(context, checkpoint));
    SZG_TRY(szgi_stack_find(context, checkpoint));
    SZG_TRY(szgi_defaults_fit(context, checkpoint));
    SZG_TRY(resolve_head_size(context, checkpoint));
    SZG_TRY(szgi_defaults_fit_head(context, checkpoint));
    if (checkpoint->head_size > 2 * most)
        return szgi_json_fail(context, szgi_json_member(settings, "head_dim"),
                              "is %" PRId64 ", and may not exceed %" PRId64, checkpoint->head_size,
                              2 * most);
    SZG_TRY(resolve_key_heads(context, checkpoint));
    SZG_TRY(szgi_layout_resolve(context, checkpoint));
    SZG_TRY(szgi_memory_alloc(context, checkpoint->layers, &checkpoint->layer));
    SZG_TRY(resolve_kinds(context, checkpoint));
    return place_layers(context, checkpoint);
}

szg_status szgi_architecture_describe(szg_context *context, szg_checkpoint *checkpoint) {
    const int64_t most = 1 << 20;
    SZG_TRY(resolve_sizes(context, checkpoint));
    if (checkpoint->layers > most || checkpoint->heads > most || checkpoint->model_size > most)
        return szgi_fail(context, SZG_EDATA, "%s: no size may exceed %" PRId64, checkpoint->source,
                         most);
    SZG_TRY(szgi_layout_names(context, checkpoint));
    SZG_TRY(resolve_head_size(context, checkpoint));
    SZG_TRY(szgi_memory_alloc(context, checkpoint->layers, &checkpoint->layer));
    for (int64_t i = 0; i < checkpoint->layers; i++)
        checkpoint->layer[i].rotation = -1;
    return resolve_kinds(context, checkpoint);
}

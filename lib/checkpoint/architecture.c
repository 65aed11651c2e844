/* From the configuration and the names of tensors to sizes and one place for each layer's weights.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "checkpoint_private.h"

#define HEAD_KEY "num_attention_heads"
static const char *const key_head_keys[] = {"num_key_value_heads", NULL};
static const char *const head_size_keys[] = {"head_dim", NULL};

/* Is `name` PREFIX stem INDEX "." suffix? The prefix ends with a point or is empty. */
static bool name_matches(const char *name, const char *stem, const char *suffix, size_t *prefix,
                         int64_t *index) {
    size_t stem_length = strlen(stem);
    for (const char *at = strstr(name, stem); at; at = strstr(at + 1, stem)) {
        const char *digits = at + stem_length, *end = digits;
        while (isdigit((unsigned char)*end))
            end++;
        if (end == digits || end - digits > 9 || *end != '.' || strcmp(end + 1, suffix) != 0)
            continue;
        if (at != name && at[-1] != '.')
            continue;
        *prefix = (size_t)(at - name);
        *index = 0;
        for (; digits < end; digits++)
            *index = *index * 10 + (*digits - '0');
        return true;
    }
    return false;
}

#define QUANTISED_REMEDY                                                                           \
    "read the checkpoint that it was made from, or dequantise it (transformers: "                  \
    "model.dequantize(), then save_pretrained)"

/* Finds what stands before the stem, and warns of layers that the configuration does not count. */
static szg_status find_prefix(szg_context *context, szg_checkpoint *checkpoint) {
    const model_family *family = checkpoint->family;
    int64_t count = szgi_safetensors_count(checkpoint->tensors), most = -1;
    for (int64_t i = 0; i < count; i++) {
        const char *name = szgi_safetensors_tensor(checkpoint->tensors, i)->name;
        size_t prefix;
        int64_t index;
        if (!name_matches(name, family->stem, family->query, &prefix, &index))
            continue;
        if (!checkpoint->prefix) {
            SZG_TRY(szgi_memory_copy_text(context, name, &checkpoint->prefix));
            checkpoint->prefix[prefix] = 0;
        }
        if (strlen(checkpoint->prefix) != prefix || strncmp(checkpoint->prefix, name, prefix) != 0)
            return szgi_fail(context, SZG_EDATA,
                             "%s: two stacks of layers, '%s%s' and '%.*s%s': szego reads one; "
                             "extract it into a file of its own",
                             checkpoint->source, checkpoint->prefix, family->stem, (int)prefix,
                             name, family->stem);
        if (index > most)
            most = index;
    }
    char name[64];
    const char *quantised =
        szgi_config_quantisation(szgi_json_root(checkpoint->config), name, sizeof name);
    if (!checkpoint->prefix && quantised)
        return szgi_fail(context, SZG_EDATA,
                         "%s: no tensor is called *%sN.%s: the weights are quantised by %s "
                         "(quantization_config), which szego does not read: " QUANTISED_REMEDY,
                         checkpoint->source, family->stem, family->query, quantised);
    if (!checkpoint->prefix)
        return szgi_fail(context, SZG_EDATA,
                         "%s: model_type is '%s', but no tensor is called *%sN.%s; --config none "
                         "gives the singular values of every 2-D weight",
                         checkpoint->source, checkpoint->model_type, family->stem, family->query);
    if (most >= checkpoint->layers)
        szgi_say(context, SZG_WARNING,
                 "%s: tensors name layer %" PRId64 ", the configuration counts %" PRId64
                 " layers: those beyond are left out",
                 checkpoint->source, most, checkpoint->layers);
    return SZG_OK;
}

static const szgi_tensor *find_tensor(const szg_checkpoint *checkpoint, int64_t layer,
                                      const char *suffix) {
    char name[512];
    int length = snprintf(name, sizeof name, "%s%s%" PRId64 ".%s", checkpoint->prefix,
                          checkpoint->family->stem, layer, suffix);
    if (length < 0 || (size_t)length >= sizeof name)
        return NULL;
    return szgi_safetensors_find(checkpoint->tensors, name);
}

/* What is wrong with a weight: quantised, missing, of a type that is no float, or of another shape.
 */
static szg_status check_weight(szg_context *context, const szg_checkpoint *checkpoint,
                               int64_t index, const char *suffix, const szgi_tensor *tensor,
                               int64_t rows, int64_t columns) {
    layer_weights *layer = &checkpoint->layer[index];
    bool is_float =
        tensor && tensor->dtype != SZGI_DTYPE_INTEGER && tensor->dtype != SZGI_DTYPE_OTHER;
    char name[64];
    const char *quantised =
        is_float ? NULL
                 : szgi_config_quantisation(szgi_json_root(checkpoint->config), name, sizeof name);
    if (quantised)
        return szgi_text_append(
            context, &layer->problem,
            "tensor %s%s%" PRId64 ".%s is %s: the weights are quantised by %s "
            "(quantization_config), which szego does not read: " QUANTISED_REMEDY,
            checkpoint->prefix, checkpoint->family->stem, index, suffix,
            tensor ? tensor->dtype_name : "missing", quantised);
    if (!tensor)
        return szgi_text_append(context, &layer->problem, "tensor %s%s%" PRId64 ".%s is missing",
                                checkpoint->prefix, checkpoint->family->stem, index, suffix);
    char shape[64];
    if (tensor->dims != 2 || tensor->shape[0] != rows || tensor->shape[1] != columns)
        return szgi_text_append(
            context, &layer->problem,
            "tensor %s has shape %s, the configuration wants [%" PRId64 ", %" PRId64 "]",
            tensor->name, szgi_tensor_shape_text(tensor, shape, sizeof shape), rows, columns);
    if (!is_float)
        return szgi_text_append(
            context, &layer->problem,
            "tensor %s has type %s where a weight belongs: szego reads F64, F32, "
            "F16 and BF16; convert or dequantise it",
            tensor->name, tensor->dtype_name);
    return SZG_OK;
}

static szg_status place_layer(szg_context *context, szg_checkpoint *checkpoint, int64_t index) {
    const model_family *family = checkpoint->family;
    layer_weights *layer = &checkpoint->layer[index];
    int64_t d = checkpoint->model_size, e = checkpoint->head_size;
    int64_t query = checkpoint->heads * e, key = checkpoint->key_heads * e;
    layer->q = find_tensor(checkpoint, index, family->query);
    layer->k = family->key ? find_tensor(checkpoint, index, family->key) : layer->q;
    switch (family->layout) {
    case LAYOUT_CONV1D:
        return check_weight(context, checkpoint, index, family->query, layer->q, d, 3 * d);
    case LAYOUT_FUSED_HEADS:
        return check_weight(context, checkpoint, index, family->query, layer->q, 3 * query, d);
    case LAYOUT_FUSED_BLOCKS:
        return check_weight(context, checkpoint, index, family->query, layer->q, query + 2 * key,
                            d);
    default:
        SZG_TRY(check_weight(context, checkpoint, index, family->query, layer->q, query, d));
        return check_weight(context, checkpoint, index, family->key, layer->k, key, d);
    }
}

/* The first layer's tensor with that suffix that is a matrix: where sizes can be read off. */
static const szgi_tensor *sample_weight(const szg_checkpoint *checkpoint, const char *suffix) {
    for (int64_t i = 0; suffix && i < checkpoint->layers; i++) {
        const szgi_tensor *tensor = find_tensor(checkpoint, i, suffix);
        if (tensor && tensor->dims == 2)
            return tensor;
    }
    return NULL;
}

/* Head size: head_dim, or model size / heads, which is what its absence means. */
static szg_status resolve_head_size(szg_context *context, szg_checkpoint *checkpoint) {
    if (szgi_json_has(checkpoint->settings, head_size_keys[0]))
        return szgi_config_integer(context, checkpoint->settings, head_size_keys, 1,
                                   &checkpoint->head_size);
    if (checkpoint->model_size % checkpoint->heads != 0) {
        szgi_json_value value;
        const char *const names[] = {HEAD_KEY, checkpoint->family->keys.heads, NULL};
        SZG_TRY(szgi_config_find(context, checkpoint->settings, names, &value));
        return szgi_json_fail(context, value,
                              "%" PRId64 " heads do not divide the model size %" PRId64
                              ", and there is no head_dim",
                              checkpoint->heads, checkpoint->model_size);
    }
    checkpoint->head_size = checkpoint->model_size / checkpoint->heads;
    return SZG_OK;
}

/* Rows of all key heads together as the tensors have them, -1 where no tensor tells. */
static int64_t key_rows(const szg_checkpoint *checkpoint) {
    const model_family *family = checkpoint->family;
    const szgi_tensor *tensor;
    if (family->layout == LAYOUT_FUSED_BLOCKS) {
        tensor = sample_weight(checkpoint, family->query);
        return tensor ? (tensor->shape[0] - checkpoint->heads * checkpoint->head_size) / 2 : -1;
    }
    tensor = sample_weight(checkpoint, family->key);
    return tensor ? tensor->shape[0] : -1;
}

/* Key heads: num_key_value_heads, or the number that the key tensor's shape tells. */
static szg_status resolve_key_heads(szg_context *context, szg_checkpoint *checkpoint) {
    bool rotary = checkpoint->family->positions == POSITION_ROTARY;
    bool separate = checkpoint->family->layout == LAYOUT_SEPARATE ||
                    checkpoint->family->layout == LAYOUT_FUSED_BLOCKS;
    checkpoint->key_heads = checkpoint->heads;
    if (!rotary || !separate)
        return SZG_OK;
    szgi_json_value value = szgi_json_member(checkpoint->settings, key_head_keys[0]);
    if (szgi_json_has(checkpoint->settings, key_head_keys[0])) {
        SZG_TRY(szgi_config_integer(context, checkpoint->settings, key_head_keys, 1,
                                    &checkpoint->key_heads));
    } else {
        int64_t rows = key_rows(checkpoint);
        if (rows < 1 || rows % checkpoint->head_size != 0)
            return szgi_json_fail(context, value,
                                  "missing, and the key weights do not tell how many key heads of "
                                  "size %" PRId64 " there are",
                                  checkpoint->head_size);
        checkpoint->key_heads = rows / checkpoint->head_size;
    }
    if (checkpoint->heads % checkpoint->key_heads != 0)
        return szgi_json_fail(context, value,
                              "%" PRId64 " key heads do not divide %" PRId64 " query heads",
                              checkpoint->key_heads, checkpoint->heads);
    return SZG_OK;
}

/* The factor on q_i . k_j in every layer, before scale_gpt2. */
static szg_status resolve_scale(szg_context *context, const szg_checkpoint *checkpoint,
                                double *scale) {
    *scale = 1 / sqrt((double)checkpoint->head_size);
    szgi_json_value settings = checkpoint->settings;
    if (checkpoint->family->scale == SCALE_FACTOR)
        return szgi_config_positive(context, szgi_json_member(settings, "attention_multiplier"),
                                    scale);
    if (checkpoint->family->scale == SCALE_SCALAR) {
        double scalar;
        SZG_TRY(szgi_config_positive(context, szgi_json_member(settings, "query_pre_attn_scalar"),
                                     &scalar));
        *scale = 1 / sqrt(scalar);
    }
    if (checkpoint->family->scale == SCALE_GPT2) {
        bool scaled; /* configurations from before the key scaled always */
        SZG_TRY(szgi_config_flag(context, settings, "scale_attn_weights", true, &scaled));
        if (!scaled)
            *scale = 1;
    }
    return SZG_OK;
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

/* The sizes that every family has, each by its usual key or by the family's own. */
static szg_status resolve_sizes(szg_context *context, szg_checkpoint *checkpoint) {
    const size_keys *own = &checkpoint->family->keys;
    const struct {
        const char *names[3];
        int64_t *size;
    } sizes[] = {{{"num_hidden_layers", own->layers, NULL}, &checkpoint->layers},
                 {{HEAD_KEY, own->heads, NULL}, &checkpoint->heads},
                 {{"hidden_size", own->model, NULL}, &checkpoint->model_size}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        SZG_TRY(
            szgi_config_integer(context, checkpoint->settings, sizes[i].names, 1, sizes[i].size));
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
    SZG_TRY(find_prefix(context, checkpoint));
    SZG_TRY(resolve_head_size(context, checkpoint));
    if (checkpoint->head_size > most)
        return szgi_json_fail(context, szgi_json_member(settings, head_size_keys[0]),
                              "is %" PRId64 ", and may not exceed %" PRId64, checkpoint->head_size,
                              most);
    SZG_TRY(resolve_key_heads(context, checkpoint));
    SZG_TRY(szgi_memory_alloc(context, checkpoint->layers, &checkpoint->layer));
    return place_layers(context, checkpoint);
}

/* Quantised weights: those that are refused by name, and the scales of 8-bit floats. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "checkpoint_private.h"

#define CONFIG "quantization_config"
#define MLX "quantization"
#define SCALE "_scale_inv"

/* At the top of config.json, or in the object of the stack; absent if the weights are not
 * quantised. */
static szgi_json_value quantisation_of(const szg_checkpoint *checkpoint) {
    if (!checkpoint->config)
        return (szgi_json_value){.node = NULL};
    szgi_json_value root = szgi_json_root(checkpoint->config);
    return szgi_json_member(szgi_json_has(root, CONFIG) ? root : checkpoint->settings, CONFIG);
}

static bool is_true(szgi_json_value settings, const char *key) {
    bool flag = false;
    return szgi_json_has(settings, key) &&
           szgi_json_as_boolean(NULL, szgi_json_member(settings, key), &flag) == SZG_OK && flag;
}

/* The text under the key, or NULL. */
static const char *text_of(szgi_json_value settings, const char *key) {
    const char *text;
    return szgi_json_has(settings, key) &&
                   szgi_json_as_text(NULL, szgi_json_member(settings, key), &text) == SZG_OK
               ? text
               : NULL;
}

/* What bitsandbytes makes of weights: 4 bits of one of two codes, or 8. */
static const char *bitsandbytes_kind(szgi_json_value settings) {
    const char *type = text_of(settings, "bnb_4bit_quant_type");
    if (is_true(settings, "load_in_8bit") || is_true(settings, "_load_in_8bit"))
        return " int8";
    if (type && strcmp(type, "nf4") == 0)
        return " NF4";
    bool four = is_true(settings, "load_in_4bit") || is_true(settings, "_load_in_4bit");
    return type || four ? " FP4" : ""; /* FP4 is its default */
}

/* MLX packs weights into 32-bit words with a scale and a bias a group; its key is `quantization`,
 * and files without the key have the tensors. */
static bool is_mlx(const szg_checkpoint *checkpoint, szgi_json_value *settings) {
    szgi_json_value root = szgi_json_root(checkpoint->config);
    *settings = szgi_json_member(szgi_json_has(root, MLX) ? root : checkpoint->settings, MLX);
    if (szgi_json_kind_of(*settings) == SZGI_JSON_OBJECT && szgi_json_has(*settings, "group_size"))
        return true;
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        char name[512];
        int stem = (int)strlen(tensor->name) - (int)strlen(".weight");
        if (strcmp(tensor->dtype_name, "U32") != 0 || !szgi_text_ends(tensor->name, ".weight"))
            continue;
        snprintf(name, sizeof name, "%.*s.scales", stem, tensor->name);
        bool scaled = szgi_safetensors_find(checkpoint->tensors, name);
        snprintf(name, sizeof name, "%.*s.biases", stem, tensor->name);
        if (scaled && szgi_safetensors_find(checkpoint->tensors, name))
            return true;
    }
    return false;
}

static const char *name_mlx(szgi_json_value settings, char *text, size_t size) {
    int64_t bits;
    bool known = szgi_json_kind_of(settings) == SZGI_JSON_OBJECT &&
                 szgi_json_has(settings, "bits") &&
                 szgi_json_as_integer(NULL, szgi_json_member(settings, "bits"), &bits) == SZG_OK;
    if (known)
        szgi_print(text, size, "MLX, %" PRId64 " bits", bits);
    else
        szgi_print(text, size, "MLX");
    return text;
}

const char *szgi_quantised_name(const szg_checkpoint *checkpoint, char *text, size_t size) {
    static const struct {
        const char *method, *name;
    } names[] = {{"gptq", "GPTQ"}, {"awq", "AWQ"}, {"fp8", "FP8"}, {"mxfp4", "MXFP4"}};
    szgi_json_value settings = quantisation_of(checkpoint);
    const char *method = text_of(settings, "quant_method"), *kind = bitsandbytes_kind(settings);
    char bits[32] = "";
    int64_t count;
    if (!method && !*kind && checkpoint->config && is_mlx(checkpoint, &settings))
        return name_mlx(settings, text, size);
    if (!method && !*kind) /* files from before the key have bitsandbytes alone */
        return NULL;
    if (!method || strncmp(method, "bitsandbytes", strlen("bitsandbytes")) == 0)
        method = "bitsandbytes";
    else
        kind = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(method, names[i].method) == 0)
            method = names[i].name;
    if (szgi_json_has(settings, "bits") &&
        szgi_json_as_integer(NULL, szgi_json_member(settings, "bits"), &count) == SZG_OK)
        snprintf(bits, sizeof bits, ", %" PRId64 " bits", count);
    szgi_print(text, size, "%s%s%s", SHOWN(method), kind, bits);
    return text;
}

const char *szgi_quantised_refusal(const szg_checkpoint *checkpoint, char *text, size_t size) {
    char name[128];
    if (!szgi_quantised_name(checkpoint, name, sizeof name))
        return NULL;
    bool converts = strncmp(name, "bitsandbytes", strlen("bitsandbytes")) == 0;
    bool mlx = strncmp(name, "MLX", strlen("MLX")) == 0;
    szgi_print(text, size,
               "the weights are quantised by %s (%s of config.json), which szego does not "
               "read: read the checkpoint that it was made from%s",
               name, mlx ? MLX : CONFIG,
               mlx        ? ", or dequantise it (PyPI: mlx-lm: mlx_lm.convert --hf-path FOLDER "
                            "--dequantize)"
               : converts ? ", or dequantise it (transformers: model.dequantize(), then "
                            "save_pretrained)"
                          : "");
    return text;
}

/* ---- Scales of 8-bit floats ---- */

/* weight_block_size; zeros if the configuration has no such member. */
static szg_status read_block(szg_context *context, const szg_checkpoint *checkpoint,
                             int64_t block[2]) {
    szgi_json_value settings = quantisation_of(checkpoint);
    block[0] = block[1] = 0;
    if (!szgi_json_has(settings, "weight_block_size"))
        return SZG_OK;
    szgi_json_value value = szgi_json_member(settings, "weight_block_size");
    SZG_TRY(szgi_json_as_array(context, value));
    if (szgi_json_count(value) != 2)
        return szgi_json_fail(context, value,
                              "has %" PRId64 " entries, and rows and columns of a "
                              "block are needed, as in [128, 128]",
                              szgi_json_count(value));
    for (int i = 0; i < 2; i++) {
        szgi_json_value side = szgi_json_element(value, i);
        SZG_TRY(szgi_json_as_integer(context, side, &block[i]));
        if (block[i] < 1)
            return szgi_json_fail(context, side, "is %" PRId64 ", and must be at least 1",
                                  block[i]);
    }
    return SZG_OK;
}

/* A tensor whose name says that it scales the weight in a way that szego does not know. */
static const szgi_tensor *find_other_scale(const szg_checkpoint *checkpoint, const char *weight) {
    static const char *const endings[] = {"weight_scale", "scale", "scales", "scale_weight",
                                          "weight_scale_2"};
    const char *point = strrchr(weight, '.');
    char name[512];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        int length = snprintf(name, sizeof name, "%.*s%s", point ? (int)(point + 1 - weight) : 0,
                              weight, endings[i]);
        const szgi_tensor *tensor = length > 0 && (size_t)length < sizeof name
                                        ? szgi_safetensors_find(checkpoint->tensors, name)
                                        : NULL;
        if (tensor)
            return tensor;
    }
    return NULL;
}

/* The method whose scales szego knows: transformers' FP8. */
static bool is_fp8(const szg_checkpoint *checkpoint) {
    const char *method = text_of(quantisation_of(checkpoint), "quant_method");
    return method && strcmp(method, "fp8") == 0;
}

/* Why the weight's scales cannot be used; "" where they can: then `block` is that of the weight. */
static void judge_scale(const szgi_tensor *weight, const szgi_tensor *scale, int64_t block[2],
                        char *text, size_t size) {
    char shape[64];
    int64_t wanted[2];
    *text = 0;
    if (scale->dtype == SZGI_DTYPE_INTEGER ||
        (scale->dtype == SZGI_DTYPE_OTHER && strcmp(scale->dtype_name, "F8_E8M0") != 0)) {
        szgi_print(text, size,
                   "its scales %s have type %s, and F32, BF16, F16, F64 or F8_E8M0 is "
                   "needed",
                   scale->name, scale->dtype_name);
        return;
    }
    for (int i = 0; i < 2; i++) {
        if (block[i] == 0 && scale->count == 1)
            block[i] = weight->shape[i];
        wanted[i] = block[i] > 0 ? (weight->shape[i] - 1) / block[i] + 1 : 0;
    }
    szgi_tensor_shape_text(scale, shape, sizeof shape);
    if (block[0] == 0)
        szgi_print(text, size,
                   "its scales %s have shape %s, and " CONFIG
                   ".weight_block_size is missing: --set " CONFIG
                   ".weight_block_size=[128,128] gives it",
                   scale->name, shape);
    else if (!(scale->count == 1 && wanted[0] == 1 && wanted[1] == 1) &&
             !(scale->dims == 2 && scale->shape[0] == wanted[0] && scale->shape[1] == wanted[1]))
        szgi_print(text, size,
                   "its scales %s have shape %s, and blocks of [%" PRId64 ", %" PRId64 "] (" CONFIG
                   ".weight_block_size) want [%" PRId64 ", %" PRId64 "]",
                   scale->name, shape, block[0], block[1], wanted[0], wanted[1]);
}

/* Why an 8-bit weight without scales under the known name is not read; "" where it has none. */
static void judge_bare(const szg_checkpoint *checkpoint, const szgi_tensor *weight, char *text,
                       size_t size) {
    char name[128];
    const szgi_tensor *other = find_other_scale(checkpoint, weight->name);
    *text = 0;
    if (other)
        szgi_print(text, size,
                   "its scales are %s, and szego knows those called %s" SCALE
                   " alone: read the checkpoint that it was made from",
                   other->name, weight->name);
    else if (szgi_quantised_name(checkpoint, name, sizeof name))
        szgi_print(text, size, "its scales %s" SCALE " are missing: fetch the checkpoint again",
                   weight->name);
}

/* Scales that are 8-bit powers of two are read as such. */
static szg_status join(szg_context *context, szg_checkpoint *checkpoint, int64_t index,
                       const szgi_tensor *scale, const int64_t block[2]) {
    if (scale && scale->dtype == SZGI_DTYPE_OTHER)
        SZG_TRY(szgi_safetensors_scale(context, checkpoint->tensors,
                                       scale - szgi_safetensors_tensor(checkpoint->tensors, 0),
                                       NULL, block));
    return szgi_safetensors_scale(context, checkpoint->tensors, index, scale, block);
}

static szg_status resolve_weight(szg_context *context, szg_checkpoint *checkpoint, int64_t index,
                                 const int64_t configured[2]) {
    const szgi_tensor *weight = szgi_safetensors_tensor(checkpoint->tensors, index);
    int64_t block[2] = {configured[0], configured[1]};
    char text[1024], name[512], method[128];
    int length = snprintf(name, sizeof name, "%s" SCALE, weight->name);
    const szgi_tensor *scale = length > 0 && (size_t)length < sizeof name
                                   ? szgi_safetensors_find(checkpoint->tensors, name)
                                   : NULL;
    if (szgi_quantised_name(checkpoint, method, sizeof method) && !is_fp8(checkpoint))
        szgi_quantised_refusal(checkpoint, text, sizeof text);
    else if (scale)
        judge_scale(weight, scale, block, text, sizeof text);
    else
        judge_bare(checkpoint, weight, text, sizeof text);
    return *text ? szgi_safetensors_refuse(context, checkpoint->tensors, index, text)
                 : join(context, checkpoint, index, scale, block);
}

szg_status szgi_quantised_resolve(szg_context *context, szg_checkpoint *checkpoint) {
    int64_t block[2], count = szgi_safetensors_count(checkpoint->tensors);
    SZG_TRY(read_block(context, checkpoint, block));
    for (int64_t i = 0; i < count; i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
        bool eight = strcmp(tensor->dtype_name, "F8_E4M3") == 0 ||
                     strcmp(tensor->dtype_name, "F8_E5M2") == 0;
        if (eight && tensor->dims == 2 && tensor->count > 0) /* experts, 3-D, are no matrices */
            SZG_TRY(resolve_weight(context, checkpoint, i, block));
    }
    return SZG_OK;
}

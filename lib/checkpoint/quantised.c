/* How the configuration says that weights are quantised, and the refusal of those that are not
 * read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "quantised.h"

#define CONFIG QUANTISED_CONFIG
#define MLX QUANTISED_MLX

szgi_json_value szgi_quantised_settings(const szg_checkpoint *checkpoint, const char *key) {
    if (!checkpoint->config)
        return (szgi_json_value){.node = NULL};
    szgi_json_value root = szgi_json_root(checkpoint->config);
    return szgi_json_member(szgi_json_has(root, key) ? root : checkpoint->settings, key);
}

bool szgi_quantised_true(szgi_json_value settings, const char *key) {
    bool flag = false;
    return szgi_json_has(settings, key) &&
           szgi_json_as_boolean(NULL, szgi_json_member(settings, key), &flag) == SZG_OK && flag;
}

const char *szgi_quantised_text(szgi_json_value settings, const char *key) {
    const char *text;
    return szgi_json_has(settings, key) &&
                   szgi_json_as_text(NULL, szgi_json_member(settings, key), &text) == SZG_OK
               ? text
               : NULL;
}

int64_t szgi_quantised_number(szgi_json_value settings, const char *key) {
    int64_t number;
    return szgi_json_has(settings, key) &&
                   szgi_json_as_integer(NULL, szgi_json_member(settings, key), &number) == SZG_OK
               ? number
               : -1;
}

/* What bitsandbytes makes of weights: 4 bits of one of two codes, or 8. */
static const char *bitsandbytes_kind(szgi_json_value settings) {
    const char *type = szgi_quantised_text(settings, "bnb_4bit_quant_type");
    if (szgi_quantised_true(settings, "load_in_8bit") ||
        szgi_quantised_true(settings, "_load_in_8bit"))
        return " int8";
    if (type && strcmp(type, "nf4") == 0)
        return " NF4";
    bool four = szgi_quantised_true(settings, "load_in_4bit") ||
                szgi_quantised_true(settings, "_load_in_4bit");
    return type || four ? " FP4" : ""; /* FP4 is its default */
}

/* MLX packs weights into 32-bit words with a scale and a bias a group; its key is `quantization`,
 * and files without the key have the tensors. */
static bool is_mlx(const szg_checkpoint *checkpoint, szgi_json_value *settings) {
    *settings = szgi_quantised_settings(checkpoint, MLX);
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
    int64_t bits = szgi_quantised_number(settings, "bits");
    if (bits >= 0)
        szgi_print(text, size, "MLX, %" PRId64 " bits", bits);
    else
        szgi_print(text, size, "MLX");
    return text;
}

const char *szgi_quantised_name(const szg_checkpoint *checkpoint, char *text, size_t size) {
    static const struct {
        const char *method, *name;
    } names[] = {{"gptq", "GPTQ"}, {"awq", "AWQ"}, {"fp8", "FP8"}, {"mxfp4", "MXFP4"}};
    szgi_json_value settings = szgi_quantised_settings(checkpoint, CONFIG);
    const char *method = szgi_quantised_text(settings, "quant_method"),
               *kind = bitsandbytes_kind(settings);
    char bits[32] = "";
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
    int64_t count = szgi_quantised_number(settings, "bits");
    if (count >= 0)
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
               "the weights are quantised by %s (%s of config.json), in a form that szego does "
               "not read: read the checkpoint that it was made from%s",
               name, mlx ? MLX : CONFIG,
               mlx        ? ", or dequantise it (PyPI: mlx-lm: mlx_lm.convert --hf-path FOLDER "
                            "--dequantize)"
               : converts ? ", or dequantise it (transformers: model.dequantize(), then "
                            "save_pretrained)"
                          : "");
    return text;
}

szg_status szgi_quantised_resolve(szg_context *context, szg_checkpoint *checkpoint) {
    SZG_TRY(szgi_quantised_unpack(context, checkpoint));
    return szgi_quantised_scale(context, checkpoint);
}

const szgi_tensor *szgi_quantised_of(const layer_weights *layer, szgi_dtype dtype) {
    const szgi_tensor *const tensor[] = {layer->q.weight, layer->q.down, layer->k.weight,
                                         layer->k.down};
    for (size_t i = 0; i < sizeof tensor / sizeof *tensor; i++)
        if (tensor[i] && tensor[i]->dtype == dtype)
            return tensor[i];
    return NULL;
}

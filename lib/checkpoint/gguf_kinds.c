/* What each layer of a GGUF file is, from its metadata. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gguf_translate.h"

/* What a layer is, as layer_types says it. */
typedef szg_status layer_kind(gguf_translation *own, int64_t layer, const char **out);

/* layer_types; `key`: what decides it. */
static szg_status put_kinds(gguf_translation *own, int64_t layers, const char *key,
                            layer_kind *kind) {
    szgi_json *list;
    const char *name = NULL;
    own->checkpoint->gguf.kinds = key;
    SZG_TRY(szgi_json_open_array(own->context, &list));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < layers && status == SZG_OK; i++) {
        status = kind(own, i, &name);
        if (status == SZG_OK)
            status = szgi_json_add_text(own->context, list, NULL, name);
    }
    if (status == SZG_OK)
        status = szgi_json_add(own->context, own->out, "layer_types", &list);
    szgi_json_close(&list);
    return status;
}

static const char pattern_key[] = "attention.sliding_window_pattern";

/* Where every so many layers one does not. */
static bool slides_by(const gguf_architecture *architecture, int64_t layer, int64_t pattern) {
    return (architecture->whole_first ? layer : layer + 1) % pattern != 0;
}

/* By the pattern: a list of flags, or every so many layers. */
static szg_status sliding_kind(gguf_translation *own, int64_t layer, const char **out) {
    szgi_json_value value = szgi_gguf_value(own, pattern_key);
    int64_t pattern;
    bool slides;
    if (szgi_json_kind_of(value) == SZGI_JSON_ARRAY) {
        szgi_json_value flag = szgi_json_element(value, layer);
        if (szgi_json_kind_of(flag) <= SZGI_JSON_NULL)
            return szgi_json_fail(own->context, value,
                                  "has %" PRId64 " entries, and no layer %" PRId64,
                                  szgi_json_count(value), layer);
        SZG_TRY(szgi_json_as_boolean(own->context, flag, &slides));
    } else if (own->architecture->pattern == 0 && !szgi_gguf_has(own, pattern_key)) {
        return szgi_gguf_require(own, pattern_key);
    } else {
        SZG_TRY(szgi_gguf_number_or(own, pattern_key, own->architecture->pattern, &pattern));
        slides = slides_by(own->architecture, layer, pattern);
    }
    *out = slides ? "sliding_attention" : "full_attention";
    return SZG_OK;
}

/* What a layer without attention is, by its tensors. */
static const char *other_kind(gguf_translation *own, int64_t layer) {
    static const char *const kinds[][2] = {{"shortconv.conv.weight", "conv"},
                                           {"ssm_in.weight", "mamba"},
                                           {"ssm_conv1d_q.weight", "linear_attention"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char name[64];
        snprintf(name, sizeof name, "blk.%" PRId64 ".%s", layer, kinds[i][0]);
        if (szgi_safetensors_find(own->checkpoint->tensors, name))
            return kinds[i][1];
    }
    return "no_attention";
}

/* Layers with no key heads have no attention. */
static szg_status counted_kind(gguf_translation *own, int64_t layer, const char **out) {
    szgi_json_value value = szgi_gguf_value(own, "attention.head_count_kv");
    int64_t heads = 1; /* as many as there are queries, where no key says so */
    if (szgi_json_kind_of(value) > SZGI_JSON_NULL)
        SZG_TRY(szgi_json_as_integer(
            own->context,
            szgi_json_kind_of(value) == SZGI_JSON_ARRAY ? szgi_json_element(value, layer) : value,
            &heads));
    *out = heads == 0 ? other_kind(own, layer) : "full_attention";
    return SZG_OK;
}

/* Which layers have attention, in families where some have not. */
szg_status szgi_gguf_kinds(gguf_translation *own, const gguf_sizes *sizes) {
    int64_t interval;
    if (!own->family->mixed)
        return SZG_OK;
    if (own->architecture->interval == 0)
        return put_kinds(own, sizes->layers, "attention.head_count_kv", counted_kind);
    if (szgi_gguf_has(own, "attention.recurrent_layers"))
        return szgi_gguf_refuse(own, "attention.recurrent_layers");
    SZG_TRY(szgi_gguf_number_or(own, "full_attention_interval", own->architecture->interval,
                                &interval));
    return szgi_gguf_put_integer(own, "full_attention_interval", interval);
}

szg_status szgi_gguf_sliding_kinds(gguf_translation *own, int64_t layers) {
    return put_kinds(own, layers, pattern_key, sliding_kind);
}

szg_status szgi_gguf_check_counted(gguf_translation *own, int64_t layers) {
    const gguf_architecture *architecture = own->architecture;
    const char *kind = NULL;
    for (int64_t i = 0; i < layers; i++) {
        bool rotates = slides_by(architecture, i, architecture->pattern);
        SZG_TRY(sliding_kind(own, i, &kind));
        if (rotates != (strcmp(kind, "sliding_attention") == 0))
            return szgi_json_fail(own->context, szgi_gguf_value(own, pattern_key),
                                  "makes layer %" PRId64 " one of '%s', and llama.cpp %s it: in "
                                  "'%s' one of every %d layers does not rotate, whatever slides",
                                  i, kind, rotates ? "rotates" : "does not rotate",
                                  architecture->name, architecture->pattern);
    }
    return SZG_OK;
}

szg_status szgi_gguf_skips(gguf_translation *own, int64_t layers) {
    szgi_json *list;
    int64_t dense = 0;
    const char *kind = NULL;
    if (szgi_gguf_has(own, "leading_dense_block_count"))
        SZG_TRY(szgi_json_as_integer(own->context,
                                     szgi_gguf_value(own, "leading_dense_block_count"), &dense));
    SZG_TRY(szgi_json_open_array(own->context, &list));
    szg_status status = SZG_OK;
    for (int64_t i = 0; i < layers && status == SZG_OK; i++) {
        status = sliding_kind(own, i, &kind);
        if (status == SZG_OK)
            status = szgi_json_add_integer(own->context, list, NULL,
                                           i < dense || strcmp(kind, "sliding_attention") == 0);
    }
    if (status == SZG_OK)
        status = szgi_json_add(own->context, own->out, "no_rope_layers", &list);
    szgi_json_close(&list);
    return status;
}

szg_status szgi_gguf_in_stack(gguf_translation *own, int64_t layer, bool *out) {
    const char *kind = NULL;
    *out = true;
    if (!own->family->only)
        return SZG_OK;
    SZG_TRY(sliding_kind(own, layer, &kind));
    *out = strcmp(kind, own->family->only) == 0;
    return SZG_OK;
}

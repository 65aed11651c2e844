/* GGUF files: which family an architecture of llama.cpp is, and its metadata as the configuration
 * that the rest of this room reads. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/gguf.h"
#include "fold.h"
#include "gguf_translate.h"

/* ---- Sizes and scale ---- */

/* Is there a tensor blk.N.`suffix`? */
static bool has_weight(const szg_checkpoint *checkpoint, const char *suffix) {
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    for (int64_t i = 0; i < count; i++)
        if (szgi_text_ends(szgi_safetensors_tensor(checkpoint->tensors, i)->name, suffix))
            return true;
    return false;
}

/* Ranks and parts of latent attention. Its files have the size of the compressed keys too. */
static szg_status translate_latent(gguf_translation *own, gguf_sizes *sizes) {
    const bool both = szgi_gguf_has(own, "attention.key_length_mla");
    int64_t rank, rotary, value;
    SZG_TRY(szgi_gguf_integer(own, both ? "attention.key_length_mla" : "attention.key_length",
                              &sizes->head));
    SZG_TRY(szgi_gguf_integer(own, both ? "attention.value_length_mla" : "attention.value_length",
                              &value));
    SZG_TRY(szgi_gguf_integer(own, "rope.dimension_count", &rotary));
    SZG_TRY(szgi_gguf_integer(own, "attention.kv_lora_rank", &rank));
    if (rotary >= sizes->head)
        return szgi_json_fail(own->context, szgi_gguf_value(own, "rope.dimension_count"),
                              "is %" PRId64 ", and a head has %" PRId64 " dimensions", rotary,
                              sizes->head);
    SZG_TRY(szgi_gguf_put_integer(own, "kv_lora_rank", rank));
    SZG_TRY(szgi_gguf_put_integer(own, "qk_rope_head_dim", rotary));
    SZG_TRY(szgi_gguf_put_integer(own, "qk_nope_head_dim", sizes->head - rotary));
    SZG_TRY(szgi_gguf_put_integer(own, "v_head_dim", value));
    if (!has_weight(own->checkpoint, ".attn_q_b.weight")) /* the lite sizes may have the key */
        return SZG_OK;
    SZG_TRY(szgi_gguf_integer(own, "attention.q_lora_rank", &rank));
    return szgi_gguf_put_integer(own, "q_lora_rank", rank);
}

static szg_status translate_head(gguf_translation *own, gguf_sizes *out) {
    if (own->family->layout == LAYOUT_LATENT)
        return translate_latent(own, out);
    if (!szgi_gguf_has(own, "attention.key_length") && out->model % out->heads != 0)
        return szgi_json_fail(own->context, szgi_gguf_value(own, "attention.key_length"),
                              "is missing, and %" PRId64 " heads do not divide the model size "
                              "%" PRId64,
                              out->heads, out->model);
    SZG_TRY(szgi_gguf_integer_or(own, "attention.key_length", out->model / out->heads, &out->head));
    return szgi_gguf_put_integer(own, "head_dim", out->head);
}

/* Layers; those that predict further tokens come last and are none of them. */
static szg_status translate_layers(gguf_translation *own, int64_t *out) {
    int64_t tensors = szgi_safetensors_count(own->checkpoint->tensors), further = 0;
    szgi_json_value value = szgi_gguf_value(own, "nextn_predict_layers");
    SZG_TRY(szgi_gguf_integer(own, "block_count", out));
    if (*out > tensors)
        return szgi_json_fail(own->context, szgi_gguf_value(own, "block_count"),
                              "is %" PRId64 ", and the file has %" PRId64
                              " tensors: it is damaged, or one part of several",
                              *out, tensors);
    if (szgi_gguf_has(own, "nextn_predict_layers"))
        SZG_TRY(szgi_json_as_integer(own->context, value, &further));
    if (further < 0 || further >= *out)
        return szgi_json_fail(own->context, value, "is %" PRId64 " of %" PRId64 " layers", further,
                              *out);
    *out -= further;
    return SZG_OK;
}

/* How many of the last layers use the keys of earlier ones. */
static szg_status translate_shared(gguf_translation *own, int64_t layers) {
    static const char key[] = "attention.shared_kv_layers";
    int64_t shared =
        layers > own->architecture->own_keys ? layers - own->architecture->own_keys : 0;
    if (!own->family->shares_keys)
        return SZG_OK;
    if (szgi_gguf_has(own, key))
        SZG_TRY(szgi_json_as_integer(own->context, szgi_gguf_value(own, key), &shared));
    return szgi_gguf_put_integer(own, "num_kv_shared_layers", shared);
}

static szg_status translate_sizes(gguf_translation *own, gguf_sizes *out) {
    SZG_TRY(translate_layers(own, &out->layers));
    SZG_TRY(szgi_gguf_integer(own, "attention.head_count", &out->heads));
    SZG_TRY(szgi_gguf_integer(own, "embedding_length", &out->model));
    SZG_TRY(szgi_gguf_integer_or(own, "attention.head_count_kv", out->heads, &out->key_heads));
    SZG_TRY(translate_head(own, out));
    SZG_TRY(translate_shared(own, out->layers));
    SZG_TRY(szgi_gguf_put_integer(own, "num_hidden_layers", out->layers));
    SZG_TRY(szgi_gguf_put_integer(own, "num_attention_heads", out->heads));
    SZG_TRY(szgi_gguf_put_integer(own, "num_key_value_heads", out->key_heads));
    return szgi_gguf_put_integer(own, "hidden_size", out->model);
}

/* attention.scale where it is there and not 0; else as the family has it. The files of Gemma have
 * no key for query_pre_attn_scalar: it is the head size in all sizes of the model but one. */
static szg_status translate_scale(gguf_translation *own, const gguf_sizes *sizes) {
    double scale;
    SZG_TRY(szgi_gguf_switch(own, "attention.scale", &scale));
    if (scale != 0 || own->family->scale == SCALE_FACTOR) {
        own->family->scale = SCALE_FACTOR;
        SZG_TRY(
            szgi_config_positive(own->context, szgi_gguf_value(own, "attention.scale"), &scale));
        return szgi_gguf_put_real(own, "attention_multiplier", scale);
    }
    if (own->family->scale == SCALE_SCALAR)
        return szgi_gguf_put_integer(own, "query_pre_attn_scalar",
                                     sizes->layers == own->architecture->wide_scale
                                         ? sizes->model / sizes->heads
                                         : sizes->head);
    return SZG_OK;
}

/* ---- What is noted ---- */

/* Queries that grow with their position. */
static szg_status translate_temperature(gguf_translation *own) {
    static const char key[] = "attention.temperature_scale",
                      length_key[] = "attention.temperature_length";
    const gguf_architecture *architecture = own->architecture;
    double scale, length = architecture->temperature_length;
    SZG_TRY(szgi_gguf_switch(own, key, &scale));
    if (scale != 0 && (!architecture->tempered || architecture->temperature != 0))
        return szgi_gguf_refuse(own, key);
    if (architecture->temperature != 0) {
        scale = architecture->temperature;
        SZG_TRY(szgi_json_add_boolean(own->context, own->out, "attn_temperature_tuning", true));
    } else if (scale != 0) {
        const char *from =
            architecture->multiplier == MULTIPLIER_WHOLE ? szgi_gguf_original_key(own) : length_key;
        SZG_TRY(szgi_config_positive(own->context, szgi_gguf_value(own, key), &scale));
        SZG_TRY(szgi_config_positive(own->context, szgi_gguf_value(own, from), &length));
        own->family->temperature = TEMPERATURE_KEYS;
    } else {
        own->family->temperature = TEMPERATURE_NONE;
        return SZG_OK;
    }
    SZG_TRY(szgi_gguf_put_real(own, "attn_scale", scale));
    return szgi_gguf_put_real(own, "floor_scale", length);
}

/* Llama 4 normalises queries and keys but in its size of so many experts. */
static szg_status translate_bare_norm(gguf_translation *own) {
    int64_t experts;
    if (own->family->norm != NORM_BARE)
        return SZG_OK;
    if (szgi_gguf_has(own, "attention.sliding_window")) {
        SZG_TRY(szgi_json_as_integer(own->context, szgi_gguf_value(own, "attention.sliding_window"),
                                     &experts));
        if (experts == 0) /* another rule of rotation */
            return szgi_gguf_refuse(own, "attention.sliding_window");
    }
    SZG_TRY(szgi_gguf_integer(own, "expert_count", &experts));
    return szgi_json_add_boolean(own->context, own->out, own->family->norm_flag,
                                 experts != own->architecture->bare_experts);
}

/* ALiBi by the architecture, or by a key where the family can have it. */
static szg_status translate_alibi(gguf_translation *own) {
    static const char key[] = "attention.max_alibi_bias";
    bool can = own->family->alibi == ALIBI_MPT;
    double value;
    own->family->alibi = own->architecture->alibi ? ALIBI_ALWAYS : can ? ALIBI_FLAG : ALIBI_NONE;
    if (own->family->skips == SKIP_ALIBI)
        own->family->skips = SKIP_NONE;
    SZG_TRY(szgi_gguf_switch(own, key, &value));
    if (value > 0)
        SZG_TRY(szgi_gguf_put_real(own, "alibi_bias_max", value));
    if (can)
        return szgi_json_add_boolean(own->context, own->out, "alibi", value > 0);
    return value == 0 || own->architecture->alibi ? SZG_OK : szgi_gguf_refuse(own, key);
}

static szg_status translate_notes(gguf_translation *own) {
    double value;
    SZG_TRY(translate_temperature(own));
    SZG_TRY(translate_bare_norm(own));
    SZG_TRY(translate_alibi(own));
    SZG_TRY(szgi_gguf_switch(own, "attn_logit_softcapping", &value));
    if (value == 0 && strcmp(own->architecture->name, "gemma2") == 0)
        value = 50; /* llama.cpp's, where the file has none */
    if (value != 0)
        SZG_TRY(szgi_gguf_put_real(own, "attn_logit_softcapping", value));
    SZG_TRY(szgi_gguf_switch(own, "attention.clamp_kqv", &value));
    if (value != 0)
        SZG_TRY(szgi_gguf_put_real(own, "clip_qkv", value));
    return SZG_OK;
}

/* ---- All of it ---- */

static const latent_names latent_whole = {.query = "attn_q.weight",
                                          .query_down = "attn_q_a.weight",
                                          .query_gain = "attn_q_a_norm.weight",
                                          .query_up = "attn_q_b.weight",
                                          .key_down = "attn_kv_a_mqa.weight",
                                          .key_gain = "attn_kv_a_norm.weight",
                                          .key_up = "attn_kv_b.weight"},
                          latent_split = {.query = "attn_q.weight",
                                          .query_down = "attn_q_a.weight",
                                          .query_gain = "attn_q_a_norm.weight",
                                          .query_up = "attn_q_b.weight",
                                          .key_down = "attn_kv_a_mqa.weight",
                                          .key_gain = "attn_kv_a_norm.weight",
                                          .key_up = "attn_k_b.weight",
                                          .split = true};

/* The tensors of queries and keys. Fused weights are all q, all k, all v. */
static void name_attention(const szg_checkpoint *checkpoint, model_family *family) {
    bool gated = family->layout == LAYOUT_GATED; /* attn_qkv is then of layers without attention */
    bool fused = !gated && has_weight(checkpoint, ".attn_qkv.weight");
    if (family->layout == LAYOUT_LATENT) {
        family->latent =
            has_weight(checkpoint, ".attn_kv_b.weight") ? &latent_whole : &latent_split;
        return;
    }
    family->query = fused ? "attn_qkv.weight" : "attn_q.weight";
    family->key = fused ? NULL : "attn_k.weight";
    if (!gated)
        family->layout = fused ? LAYOUT_FUSED_BLOCKS : LAYOUT_SEPARATE;
}

/* The family's row with the names and the layout of GGUF. */
static void name_weights(const szg_checkpoint *checkpoint, model_family *family) {
    static const char table[] = "position_embd.weight";
    family->stem = "blk.";
    name_attention(checkpoint, family);
    if (family->positions != POSITION_ROTARY &&
        (family->positions != POSITION_NONE || szgi_safetensors_find(checkpoint->tensors, table))) {
        family->positions = POSITION_TABLE;
        family->table = table;
        family->table_first = 0;
    }
    family->query_norm = "attn_q_norm.weight";
    family->key_norm = "attn_k_norm.weight";
    family->gain_plus_one = false; /* the converter adds it */
    family->input = szgi_fold_rule_of_gguf(family->input);
    if (family->norm == NORM_EACH)
        family->norm = NORM_LAYER; /* the gains of all heads are one tensor */
}

static szg_status translate(gguf_translation *own) {
    gguf_sizes sizes;
    SZG_TRY(translate_sizes(own, &sizes));
    SZG_TRY(translate_scale(own, &sizes));
    SZG_TRY(szgi_gguf_kinds(own, &sizes));
    SZG_TRY(translate_notes(own));
    return own->family->positions == POSITION_ROTARY ? szgi_gguf_rotary(own, &sizes) : SZG_OK;
}

/* The checkpoint's configuration and family from the metadata. */
static szg_status use_architecture(szg_context *context, szg_checkpoint *checkpoint,
                                   const gguf_architecture *architecture) {
    gguf_translation own = {.context = context,
                            .checkpoint = checkpoint,
                            .architecture = architecture,
                            .family = &checkpoint->gguf.family,
                            .metadata = szgi_gguf_metadata(checkpoint->tensors)};
    checkpoint->gguf.family = *szgi_family_find(architecture->model_type, 0);
    name_weights(checkpoint, own.family);
    char *name = NULL;
    SZG_TRY(szgi_text_append(context, &name, "%s: metadata", checkpoint->source));
    szg_status status = szgi_json_open_object_named(context, name, &checkpoint->config);
    szgi_memory_free(name);
    SZG_TRY(status);
    own.out = checkpoint->config;
    SZG_TRY(translate(&own));
    checkpoint->settings = szgi_json_root(checkpoint->config);
    checkpoint->family = own.family;
    return SZG_OK;
}

static szg_status find_family(szg_context *context, szg_checkpoint *checkpoint) {
    static const char type_key[] = "general.type", key[] = "general.architecture";
    szgi_json_value metadata = szgi_gguf_metadata(checkpoint->tensors);
    const char *name, *type = "model";
    if (szgi_json_has(metadata, type_key))
        SZG_TRY(szgi_json_as_text(context, szgi_json_member(metadata, type_key), &type));
    if (strcmp(type, "adapter") == 0)
        return szgi_json_fail(context, szgi_json_member(metadata, type_key),
                              "is 'adapter': this is a LoRA adapter, which belongs to a model: "
                              "merge both with llama-export-lora");
    if (!szgi_json_has(metadata, key))
        return szgi_text_append(context, &checkpoint->unknown,
                                "the metadata have no general.architecture");
    SZG_TRY(szgi_json_as_text(context, szgi_json_member(metadata, key), &name));
    SZG_TRY(szgi_memory_copy_text(context, name, &checkpoint->model_type));
    const gguf_architecture *architecture = szgi_gguf_architecture(name);
    if (!architecture)
        return szgi_text_append(context, &checkpoint->unknown,
                                "general.architecture '%s' is not known to szego", SHOWN(name));
    return use_architecture(context, checkpoint, architecture);
}

szg_status szgi_checkpoint_open_gguf(szg_context *context, szg_checkpoint *checkpoint,
                                     const char *file, const char *config) {
    if (config && *config)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: a GGUF file has its configuration in its metadata: leave --config "
                         "out, or give --config none",
                         file);
    SZG_TRY(szgi_gguf_open(context, file, &checkpoint->tensors));
    if (config)
        return szgi_text_append(context, &checkpoint->unknown, "the metadata are not used");
    return find_family(context, checkpoint);
}

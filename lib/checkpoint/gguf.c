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
    const char *value_key = both ? "attention.value_length_mla" : "attention.value_length";
    if (both)
        SZG_TRY(szgi_gguf_integer(own, value_key, &value));
    else
        SZG_TRY(szgi_gguf_integer_or(own, value_key, sizes->model / sizes->heads, &value));
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

/* The head size of a stack whose layers have it apart from the others; their values may be their
 * keys. */
static szg_status translate_own_head(gguf_translation *own, gguf_sizes *out) {
    char key[GGUF_KEY];
    szgi_gguf_of_stack(own->family, "attention.key_length", key);
    if (own->architecture->proportional) /* whose files have both */
        SZG_TRY(szgi_gguf_integer(own, key, &out->head));
    else
        SZG_TRY(szgi_gguf_integer(own, szgi_gguf_has(own, key) ? key : "attention.key_length",
                                  &out->head));
    if (!own->family->own_sizes)
        return szgi_gguf_put_integer(own, "head_dim", out->head);
    SZG_TRY(szgi_gguf_put_integer(own, "global_head_dim", out->head));
    for (int64_t i = 0; i < out->layers; i++) {
        char name[64];
        bool belongs;
        SZG_TRY(szgi_gguf_in_stack(own, i, &belongs));
        snprintf(name, sizeof name, "blk.%" PRId64 ".attn_k.weight", i);
        if (!belongs || !szgi_safetensors_find(own->checkpoint->tensors, name))
            continue;
        snprintf(name, sizeof name, "blk.%" PRId64 ".attn_v.weight", i);
        return szgi_json_add_boolean(own->context, own->out, "attention_k_eq_v",
                                     !szgi_safetensors_find(own->checkpoint->tensors, name));
    }
    return SZG_OK;
}

static szg_status translate_head(gguf_translation *own, gguf_sizes *out) {
    if (own->family->layout == LAYOUT_LATENT)
        return translate_latent(own, out);
    if (own->family->only)
        return translate_own_head(own, out);
    if (!szgi_gguf_has(own, "attention.key_length") && out->model % out->heads != 0)
        return szgi_json_fail(own->context, szgi_gguf_value(own, "attention.key_length"),
                              "is missing, and %" PRId64 " heads do not divide the model size "
                              "%" PRId64,
                              out->heads, out->model);
    SZG_TRY(szgi_gguf_integer_or(own, "attention.key_length", out->model / out->heads, &out->head));
    return szgi_gguf_put_integer(own, "head_dim", out->head);
}

/* Decoders may have another number of layers than their encoder. */
static const char *layers_key(gguf_translation *own) {
    static const char decoder[] = "decoder_block_count";
    const char *stack = own->family->stack;
    bool is_decoder = stack && (strcmp(stack, "decoder") == 0 || strcmp(stack, "cross") == 0);
    if (!is_decoder || !szgi_gguf_has(own, decoder))
        return "block_count";
    own->family->keys.layers = "num_decoder_layers";
    return decoder;
}

/* Layers; those that predict further tokens come last and are none of them. */
static szg_status translate_layers(gguf_translation *own, int64_t *out) {
    const char *key = layers_key(own);
    int64_t tensors = szgi_safetensors_count(own->checkpoint->tensors), further = 0;
    szgi_json_value value = szgi_gguf_value(own, "nextn_predict_layers");
    SZG_TRY(szgi_gguf_integer(own, key, out));
    if (*out > tensors)
        return szgi_json_fail(own->context, szgi_gguf_value(own, key),
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
    int64_t own_keys = own->architecture->own_keys;
    int64_t shared = own_keys > 0 && layers > own_keys ? layers - own_keys : 0;
    if (!own->family->shares_keys)
        return SZG_OK;
    if (szgi_gguf_has(own, key))
        SZG_TRY(szgi_json_as_integer(own->context, szgi_gguf_value(own, key), &shared));
    return szgi_gguf_put_integer(own, "num_kv_shared_layers", shared);
}

static szg_status translate_sizes(gguf_translation *own, gguf_sizes *out) {
    SZG_TRY(translate_layers(own, &out->layers));
    if (own->family->only)
        SZG_TRY(szgi_gguf_sliding_kinds(own, out->layers));
    SZG_TRY(szgi_gguf_integer(own, "attention.head_count", &out->heads));
    SZG_TRY(szgi_gguf_integer(own, "embedding_length", &out->model));
    SZG_TRY(szgi_gguf_integer_or(own, "attention.head_count_kv", out->heads, &out->key_heads));
    SZG_TRY(translate_head(own, out));
    SZG_TRY(translate_shared(own, out->layers));
    SZG_TRY(szgi_gguf_put_integer(
        own, own->family->keys.layers ? own->family->keys.layers : "num_hidden_layers",
        out->layers));
    SZG_TRY(szgi_gguf_put_integer(own, "num_attention_heads", out->heads));
    SZG_TRY(szgi_gguf_put_integer(own, "num_key_value_heads", out->key_heads));
    return szgi_gguf_put_integer(own, "hidden_size", out->model);
}

/* attention.scale where it is there and not 0; else as the family has it. The files of Gemma have
 * no key for query_pre_attn_scalar: it is the head size in all sizes of the model but one. */
static szg_status translate_scale(gguf_translation *own, const gguf_sizes *sizes) {
    double scale;
    if (own->architecture->output_scale != 0) {
        own->family->scale = SCALE_FACTOR;
        SZG_TRY(szgi_gguf_positive_or(own, "attention.output_scale",
                                      own->architecture->output_scale, &scale));
        return szgi_gguf_put_real(own, "attention_multiplier", scale);
    }
    SZG_TRY(szgi_gguf_switch(own, "attention.scale", &scale));
    if (scale != 0 || own->family->scale == SCALE_FACTOR) {
        own->family->scale = SCALE_FACTOR;
        SZG_TRY(
            szgi_config_positive(own->context, szgi_gguf_value(own, "attention.scale"), &scale));
        return szgi_gguf_put_real(own, "attention_multiplier", scale);
    }
    if (own->architecture->inverse_scale) {
        own->family->scale = SCALE_FACTOR;
        return szgi_gguf_put_real(own, "attention_multiplier", 1 / (double)sizes->head);
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
        return architecture->output_scale != 0 && szgi_gguf_has(own, length_key)
                   ? szgi_text_append(own->context, &own->checkpoint->note,
                                      "logits grow with the position (%s): left out, as in "
                                      "llama.cpp",
                                      length_key)
                   : SZG_OK;
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

/* Where the number of layers decides between ALiBi and the rotation. */
static szg_status translate_by_size(gguf_translation *own, const gguf_sizes *sizes, bool *alibi) {
    const gguf_architecture *architecture = own->architecture;
    *alibi = architecture->alibi;
    if (architecture->alibi_layers == 0 || sizes->layers == architecture->rotated_layers)
        return SZG_OK;
    if (sizes->layers != architecture->alibi_layers)
        return szgi_json_fail(own->context, szgi_gguf_value(own, "block_count"),
                              "is %" PRId64 ", and llama.cpp knows '%s' of %d layers, which "
                              "rotates, and of %d, which has ALiBi, alone",
                              sizes->layers, architecture->name, architecture->rotated_layers,
                              architecture->alibi_layers);
    *alibi = true;
    own->family->positions = POSITION_NONE;
    return SZG_OK;
}

/* ALiBi by the architecture, or by a key where the family can have it. */
static szg_status translate_alibi(gguf_translation *own, const gguf_sizes *sizes) {
    static const char key[] = "attention.max_alibi_bias";
    bool can = own->family->alibi == ALIBI_MPT, always;
    double value;
    SZG_TRY(translate_by_size(own, sizes, &always));
    own->family->alibi = always ? ALIBI_ALWAYS : can ? ALIBI_FLAG : ALIBI_NONE;
    if (own->family->skips == SKIP_ALIBI)
        own->family->skips = SKIP_NONE;
    SZG_TRY(szgi_gguf_switch(own, key, &value));
    if (own->architecture->alibi_key && value == 0)
        return szgi_gguf_require(own, key);
    if (value > 0)
        SZG_TRY(szgi_gguf_put_real(own, "alibi_bias_max", value));
    if (can)
        return szgi_json_add_boolean(own->context, own->out, "alibi", value > 0);
    return value == 0 || always ? SZG_OK : szgi_gguf_refuse(own, key);
}

static szg_status translate_notes(gguf_translation *own, const gguf_sizes *sizes) {
    double value;
    bool after, causal;
    SZG_TRY(translate_temperature(own));
    if (szgi_gguf_has(own, "attention.causal")) {
        SZG_TRY(
            szgi_json_as_boolean(own->context, szgi_gguf_value(own, "attention.causal"), &causal));
        own->family->looks_ahead = !causal;
    }
    SZG_TRY(translate_bare_norm(own));
    SZG_TRY(translate_alibi(own, sizes));
    if (own->architecture->dense_rotates && szgi_gguf_has(own, "attention.layer_norm_rms_epsilon"))
        own->family->input = INPUT_RMS_GGUF;
    SZG_TRY(szgi_gguf_switch(own, "attention.value_scale", &value));
    if (value != 0 && value != 1)
        SZG_TRY(szgi_text_append(own->context, &own->checkpoint->note,
                                 "values are multiplied by %.9g (attention.value_scale): left out",
                                 value));
    if (own->architecture->both_sides)
        SZG_TRY(szgi_json_add_boolean(own->context, own->out, "use_bidirectional_attention", true));
    if (own->family->added_by_head)
        SZG_TRY(szgi_gguf_put_integer(own, "relative_attention_max_distance", 128));
    if (own->architecture->swin && szgi_gguf_has(own, "swin_norm")) {
        SZG_TRY(szgi_json_as_boolean(own->context, szgi_gguf_value(own, "swin_norm"), &after));
        own->family->input = after ? INPUT_NONE : own->family->input;
    }
    SZG_TRY(szgi_gguf_switch(own, "attn_logit_softcapping", &value));
    value = value == 0 ? own->architecture->cap : value;
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

/* The stacks of an encoder with a decoder; `second`: there, every layer has a table of its own. */
static void name_stack(const szg_checkpoint *checkpoint, model_family *family) {
    static const struct {
        const char *stack, *stem, *query, *key, *added, *second;
    } stacks[] = {{"encoder", "enc.blk.", "attn_q.weight", "attn_k.weight",
                   "enc.blk.0.attn_rel_b.weight", "enc.blk.1.attn_rel_b.weight"},
                  {"decoder", "dec.blk.", "attn_q.weight", "attn_k.weight",
                   "dec.blk.0.attn_rel_b.weight", "dec.blk.1.attn_rel_b.weight"},
                  {"cross", "dec.blk.", "cross_attn_q.weight", "cross_attn_k.weight", NULL, NULL}};
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        if (strcmp(stacks[i].stack, family->stack) != 0)
            continue;
        family->stem = stacks[i].stem;
        family->query = stacks[i].query;
        family->key = stacks[i].key;
        family->added = stacks[i].added;
        family->added_in_layer =
            stacks[i].second && szgi_safetensors_find(checkpoint->tensors, stacks[i].second)
                ? "attn_rel_b.weight"
                : NULL;
    }
}

/* The family's row with the names and the layout of GGUF. */
static void name_weights(const szg_checkpoint *checkpoint, const gguf_architecture *architecture,
                         model_family *family) {
    static const char table[] = "position_embd.weight";
    family->stem = "blk.";
    family->keys = (size_keys){0};
    family->caps = family->clips = true; /* llama.cpp takes the keys for every architecture */
    name_attention(checkpoint, family);
    if (family->stack)
        name_stack(checkpoint, family);
    family->mixed = family->mixed || architecture->mixed;
    family->looks_ahead = family->looks_ahead || architecture->looks_ahead;
    family->norm = architecture->norm ? architecture->norm : family->norm;
    if (architecture->unpositioned)
        family->positions = POSITION_NONE;
    if (family->positions != POSITION_ROTARY &&
        (family->positions != POSITION_NONE || szgi_safetensors_find(checkpoint->tensors, table))) {
        family->positions = POSITION_TABLE;
        family->table = table;
        family->table_first = 0;
    }
    family->query_norm = "attn_q_norm.weight";
    family->key_norm = "attn_k_norm.weight";
    family->gain_plus_one = false; /* the converter adds it */
    family->input_name = NULL;     /* the rule below has it */
    family->others = NULL;         /* keys tell which layers have attention */
    family->equal_heads = NULL;
    family->input = szgi_fold_rule_of_gguf(family->input);
    if (family->norm == NORM_EACH)
        family->norm = NORM_LAYER; /* the gains of all heads are one tensor */
}

static szg_status translate(gguf_translation *own) {
    gguf_sizes sizes;
    SZG_TRY(translate_sizes(own, &sizes));
    SZG_TRY(translate_scale(own, &sizes));
    SZG_TRY(szgi_gguf_kinds(own, &sizes));
    SZG_TRY(translate_notes(own, &sizes));
    return own->family->positions == POSITION_ROTARY ? szgi_gguf_rotary(own, &sizes) : SZG_OK;
}

/* Every stack of the family with the names of GGUF, and which of them the checkpoint is. */
static szg_status take_family(gguf_translation *own, const char *stack) {
    static const char *const names[][2] = {{"sliding", "sliding_attention"},
                                           {"full", "full_attention"}};
    szg_checkpoint *checkpoint = own->checkpoint;
    const gguf_architecture *architecture = own->architecture;
    gguf_facts *facts = &checkpoint->gguf;
    const model_family *row;
    int64_t window = 0;
    facts->alike = architecture->alike;
    if (architecture->stacks != STACKS_ONE && szgi_gguf_has(own, "attention.sliding_window"))
        SZG_TRY(szgi_json_as_integer(own->context, szgi_gguf_value(own, "attention.sliding_window"),
                                     &window));
    for (size_t i = 0; i < 2 && window > 0; i++) {
        model_family *family = &facts->family[facts->families++];
        *family = *szgi_family_find(architecture->model_type, 0);
        name_weights(checkpoint, architecture, family);
        family->stack = names[i][0];
        family->only = names[i][1];
    }
    while (window == 0 && facts->families < GGUF_STACKS &&
           (row = szgi_family_find(architecture->model_type, facts->families))) {
        facts->family[facts->families] = *row;
        name_weights(checkpoint, architecture, &facts->family[facts->families++]);
    }
    return szgi_stack_choose(own->context, checkpoint, stack);
}

/* A number that multiplies a weight beside it (BitNet's and NVFP4 files). */
static szg_status refuse_factors(szg_context *context, const szg_checkpoint *checkpoint) {
    static const char *const endings[] = {
        ".attn_q.scale",   ".attn_k.scale",        ".attn_qkv.scale", ".attn_q_a.scale",
        ".attn_q_b.scale", ".attn_kv_a_mqa.scale", ".attn_kv_b.scale"};
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    for (int64_t i = 0; i < count; i++)
        for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
            const szgi_tensor *tensor = szgi_safetensors_tensor(checkpoint->tensors, i);
            if (szgi_text_ends(tensor->name, endings[e]))
                return szgi_fail(context, SZG_EDATA,
                                 "%s: tensor %s: multiplies the weight beside it, and szego does "
                                 "not know such factors: convert the model to BF16, or --config "
                                 "none gives the singular values of every 2-D weight without them",
                                 tensor->file, tensor->name);
        }
    return SZG_OK;
}

/* The checkpoint's configuration and family from the metadata. */
static szg_status use_architecture(szg_context *context, szg_checkpoint *checkpoint,
                                   const gguf_architecture *architecture, const char *stack) {
    char *name = NULL;
    SZG_TRY(refuse_factors(context, checkpoint));
    SZG_TRY(szgi_text_append(context, &name, "%s: metadata", checkpoint->source));
    gguf_translation own = {.context = context,
                            .checkpoint = checkpoint,
                            .architecture = architecture,
                            .metadata = szgi_gguf_metadata(checkpoint->tensors)};
    szg_status status = take_family(&own, stack);
    if (status == SZG_OK)
        status = szgi_json_open_object_named(context, name, &checkpoint->config);
    szgi_memory_free(name);
    SZG_TRY(status);
    own.family = &checkpoint->gguf.family[checkpoint->family - checkpoint->gguf.family];
    own.out = checkpoint->config;
    SZG_TRY(translate(&own));
    checkpoint->settings = szgi_json_root(checkpoint->config);
    return architecture->note
               ? szgi_text_append(context, &checkpoint->note, "%s", architecture->note)
               : SZG_OK;
}

static szg_status find_family(szg_context *context, szg_checkpoint *checkpoint, const char *stack) {
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
    const char *why = szgi_gguf_refusal(name);
    if (why)
        return szgi_text_append(context, &checkpoint->unknown,
                                "general.architecture '%s' is not read by szego: %s", name, why);
    if (!architecture)
        return szgi_text_append(context, &checkpoint->unknown,
                                "general.architecture '%s' is not known to szego", SHOWN(name));
    return use_architecture(context, checkpoint, architecture, stack);
}

szg_status szgi_checkpoint_open_gguf(szg_context *context, szg_checkpoint *checkpoint,
                                     const char *file, const szg_checkpoint_choices *choices) {
    const char *config = choices->config;
    if (config && *config)
        return szgi_fail(context, SZG_EINVAL,
                         "%s: a GGUF file has its configuration in its metadata: leave --config "
                         "out, or give --config none",
                         file);
    SZG_TRY(szgi_gguf_open(context, file, &checkpoint->tensors));
    if (config)
        return szgi_text_append(context, &checkpoint->unknown, "the metadata are not used");
    return find_family(context, checkpoint, choices->stack);
}

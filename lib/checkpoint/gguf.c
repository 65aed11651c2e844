/* GGUF files: which family an architecture of llama.cpp is, and its metadata as the configuration
 * that the rest of this room reads. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "formats/gguf.h"
#include "fold.h"
#include "gguf.h"

/* One architecture. What a file does not say, llama.cpp's code does. */
typedef struct gguf_architecture {
    const char *name, *model_type; /* the family with the same scale, positions and layers */
    szgi_pairing pairing; /* as converted: the rows of LLaMA's q and k are permuted for it */
    int pattern;          /* where some layers slide: every so many layers one does not */
    int unrotated;        /* every so many layers one does not rotate; 0: all do */
    int wide_scale;       /* layers of the one size whose scale is 1/sqrt(d / heads) */
} gguf_architecture;

#define HALF(architecture, family, ...)                                                            \
    { .name = architecture, .model_type = family, .pairing = SZGI_PAIRING_HALF, __VA_ARGS__ }
#define INTERLEAVED(architecture, family, ...)                                                     \
    { .name = architecture, .model_type = family, .pairing = SZGI_PAIRING_INTERLEAVED, __VA_ARGS__ }

static const gguf_architecture architectures[] = {
    HALF("bert", "bert"), /* RoBERTa and DistilBERT too */
    HALF("gpt2", "gpt2"),
    HALF("gptneox", "gpt_neox"),
    INTERLEAVED("llama", "llama"), /* Mistral and Mixtral too */
    HALF("qwen2", "qwen2"),
    HALF("qwen2moe", "qwen2_moe"),
    HALF("qwen3", "qwen3"),
    HALF("qwen3moe", "qwen3_moe"),
    HALF("gemma", "gemma"),
    HALF("gemma2", "gemma2", .wide_scale = 46),
    HALF("gemma3", "gemma3_text", .pattern = 6, .wide_scale = 62),
    INTERLEAVED("olmo", "olmo"),
    HALF("olmo2", "olmo2"),
    INTERLEAVED("smollm3", "smollm3", .unrotated = 4),
    HALF("starcoder2", "starcoder2"),
    INTERLEAVED("granite", "granite"),
    INTERLEAVED("granitemoe", "granitemoe"),
    HALF("phi2", "phi"),
    HALF("phi3", "phi3"),
    HALF("phimoe", "phimoe"),
    HALF("falcon", "falcon"),
    HALF("stablelm", "stablelm"),
    HALF("nemotron", "nemotron"),
    INTERLEAVED("command-r", "cohere"),
    INTERLEAVED("chatglm", "glm"),
    INTERLEAVED("glm4", "glm4"),
    HALF("glm4moe", "glm4_moe"),
};

static const gguf_architecture *find_architecture(const char *name) {
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (strcmp(architectures[i].name, name) == 0)
            return &architectures[i];
    return NULL;
}

/* ---- Keys ---- */

typedef struct translation {
    szg_context *context;
    szg_checkpoint *checkpoint;
    const gguf_architecture *architecture;
    model_family *family; /* the checkpoint's own copy */
    szgi_json_value metadata;
    szgi_json *out;                /* config.json as transformers would have it */
    char key[GGUF_KEYS][GGUF_KEY]; /* names that values point to */
    int keys;
} translation;

/* The member ARCHITECTURE.`key`. */
static szgi_json_value value_of(translation *own, const char *key) {
    char *name = own->key[own->keys++ % GGUF_KEYS];
    snprintf(name, GGUF_KEY, "%s.%s", own->architecture->name, key);
    return szgi_json_member(own->metadata, name);
}

static bool has(translation *own, const char *key) {
    return szgi_json_kind_of(value_of(own, key)) > SZGI_JSON_NULL;
}

/* An integer of at least 1. One for each layer is one if all are equal. */
static szg_status integer_of(translation *own, const char *key, int64_t *out) {
    szgi_json_value value = value_of(own, key), first = szgi_json_element(value, 0);
    int64_t other, count = szgi_json_count(value);
    if (szgi_json_kind_of(value) != SZGI_JSON_ARRAY)
        SZG_TRY(szgi_json_as_integer(own->context, value, out));
    else
        SZG_TRY(szgi_json_as_integer(own->context, first, out));
    for (int64_t i = 1; szgi_json_kind_of(value) == SZGI_JSON_ARRAY && i < count; i++) {
        SZG_TRY(szgi_json_as_integer(own->context, szgi_json_element(value, i), &other));
        if (other != *out)
            return szgi_json_fail(own->context, value,
                                  "differs from layer to layer (%" PRId64 " and %" PRId64
                                  "), which "
                                  "szego does not know of '%s'; --config none gives the singular "
                                  "values of every 2-D weight",
                                  *out, other, own->architecture->name);
    }
    if (*out < 1)
        return szgi_json_fail(own->context, value, "is %" PRId64 ", and must be at least 1", *out);
    return SZG_OK;
}

static szg_status integer_or(translation *own, const char *key, int64_t otherwise, int64_t *out) {
    *out = otherwise;
    return has(own, key) ? integer_of(own, key, out) : SZG_OK;
}

static szg_status positive_or(translation *own, const char *key, double otherwise, double *out) {
    *out = otherwise;
    return has(own, key) ? szgi_config_positive(own->context, value_of(own, key), out) : SZG_OK;
}

/* A real that switches something on where it is not 0. */
static szg_status switch_of(translation *own, const char *key, double *out) {
    *out = 0;
    return has(own, key) ? szgi_json_as_real(own->context, value_of(own, key), out) : SZG_OK;
}

static szg_status put_integer(translation *own, const char *key, int64_t value) {
    return szgi_json_add_integer(own->context, own->out, key, value);
}

static szg_status put_real(translation *own, const char *key, double value) {
    return szgi_json_add_real(own->context, own->out, key, value);
}

static szg_status refuse(translation *own, const char *key) {
    return szgi_json_fail(own->context, value_of(own, key),
                          "is not known to szego for '%s': --config none gives the singular values "
                          "of every 2-D weight",
                          own->architecture->name);
}

/* ---- Sizes and scale ---- */

typedef struct gguf_sizes {
    int64_t layers, heads, key_heads, head, model;
} gguf_sizes;

static szg_status translate_sizes(translation *own, gguf_sizes *out) {
    int64_t tensors = szgi_safetensors_count(own->checkpoint->tensors);
    SZG_TRY(integer_of(own, "block_count", &out->layers));
    if (out->layers > tensors)
        return szgi_json_fail(own->context, value_of(own, "block_count"),
                              "is %" PRId64 ", and the file has %" PRId64
                              " tensors: it is damaged, or one part of several",
                              out->layers, tensors);
    SZG_TRY(integer_of(own, "attention.head_count", &out->heads));
    SZG_TRY(integer_of(own, "embedding_length", &out->model));
    SZG_TRY(integer_or(own, "attention.head_count_kv", out->heads, &out->key_heads));
    if (!has(own, "attention.key_length") && out->model % out->heads != 0)
        return szgi_json_fail(own->context, value_of(own, "attention.key_length"),
                              "is missing, and %" PRId64 " heads do not divide the model size "
                              "%" PRId64,
                              out->heads, out->model);
    SZG_TRY(integer_or(own, "attention.key_length", out->model / out->heads, &out->head));
    SZG_TRY(put_integer(own, "num_hidden_layers", out->layers));
    SZG_TRY(put_integer(own, "num_attention_heads", out->heads));
    SZG_TRY(put_integer(own, "num_key_value_heads", out->key_heads));
    SZG_TRY(put_integer(own, "hidden_size", out->model));
    return put_integer(own, "head_dim", out->head);
}

/* attention.scale where it is there and not 0; else as the family has it. The files of Gemma have
 * no key for query_pre_attn_scalar: it is the head size but for one size of the model. */
static szg_status translate_scale(translation *own, const gguf_sizes *sizes) {
    double scale;
    SZG_TRY(switch_of(own, "attention.scale", &scale));
    if (scale != 0 || own->family->scale == SCALE_FACTOR) {
        own->family->scale = SCALE_FACTOR;
        SZG_TRY(szgi_config_positive(own->context, value_of(own, "attention.scale"), &scale));
        return put_real(own, "attention_multiplier", scale);
    }
    if (own->family->scale == SCALE_SCALAR)
        return put_integer(own, "query_pre_attn_scalar",
                           sizes->layers == own->architecture->wide_scale
                               ? sizes->model / sizes->heads
                               : sizes->head);
    return SZG_OK;
}

/* ---- Rotary positions ---- */

static szg_status translate_base(translation *own) {
    const double fallback = 10000; /* the format's reader has it */
    double base, local;
    SZG_TRY(positive_or(own, "rope.freq_base", fallback, &base));
    if (!has(own, "rope.freq_base"))
        SZG_TRY(szgi_text_append(own->context, &own->checkpoint->note,
                                 "the file has no %s.rope.freq_base: llama.cpp's 10000 is taken",
                                 own->architecture->name));
    own->family->fixed_base = 0;
    SZG_TRY(put_real(own, "rope_theta", base));
    if (own->architecture->pattern == 0) {
        SZG_TRY(positive_or(own, "rope.freq_base_swa", base, &local));
        return local == base ? SZG_OK : refuse(own, "rope.freq_base_swa");
    }
    int64_t window = 0, pattern;
    own->family->bases = BASE_ONE;
    if (has(own, "attention.sliding_window"))
        SZG_TRY(
            szgi_json_as_integer(own->context, value_of(own, "attention.sliding_window"), &window));
    if (window == 0)
        return SZG_OK;
    own->family->bases = BASE_GEMMA;
    SZG_TRY(positive_or(own, "rope.freq_base_swa", fallback, &local));
    SZG_TRY(
        integer_or(own, "attention.sliding_window_pattern", own->architecture->pattern, &pattern));
    SZG_TRY(put_real(own, "rope_local_base_freq", local));
    return put_integer(own, "sliding_window_pattern", pattern);
}

static szg_status put_yarn(translation *own, szgi_json *scaling, double factor, double amplitude) {
    static const struct {
        const char *key, *name;
    } optional[] = {{"rope.scaling.yarn_beta_fast", "beta_fast"},
                    {"rope.scaling.yarn_beta_slow", "beta_slow"}};
    int64_t original;
    double value;
    SZG_TRY(switch_of(own, "rope.scaling.yarn_log_multiplier", &value));
    if (value != 0)
        return refuse(own, "rope.scaling.yarn_log_multiplier");
    SZG_TRY(integer_of(own,
                       has(own, "rope.scaling.original_context_length")
                           ? "rope.scaling.original_context_length"
                           : "context_length",
                       &original));
    SZG_TRY(
        szgi_json_add_integer(own->context, scaling, "original_max_position_embeddings", original));
    for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
        if (!has(own, optional[i].key))
            continue;
        SZG_TRY(positive_or(own, optional[i].key, 0, &value));
        SZG_TRY(szgi_json_add_real(own->context, scaling, optional[i].name, value));
    }
    double temperature = factor > 1 ? 0.1 * log(factor) + 1 : 1;
    return szgi_json_add_real(own->context, scaling, "attention_factor", amplitude * temperature);
}

static szg_status put_scaling(translation *own, const char *type, double factor, double amplitude) {
    szgi_json *scaling;
    bool yarn = strcmp(type, "yarn") == 0;
    SZG_TRY(szgi_json_open_object(own->context, &scaling));
    szg_status status = szgi_json_add_text(own->context, scaling, "rope_type", type);
    if (status == SZG_OK)
        status = szgi_json_add_real(own->context, scaling, "factor", factor);
    if (status == SZG_OK && yarn)
        status = put_yarn(own, scaling, factor, amplitude);
    if (status == SZG_OK)
        return szgi_json_add(own->context, own->out, "rope_scaling", &scaling);
    szgi_json_close(&scaling);
    return status;
}

/* A factor without a type scales linearly; longrope's divisors are tensors. */
static szg_status translate_scaling(translation *own) {
    const char *type = "linear";
    const char *old = "rope.scale_linear", *current = "rope.scaling.factor";
    double factor, amplitude;
    if (has(own, "rope.scaling.type"))
        SZG_TRY(szgi_json_as_text(own->context, value_of(own, "rope.scaling.type"), &type));
    SZG_TRY(switch_of(own, has(own, current) ? current : old, &factor));
    SZG_TRY(positive_or(own, "rope.scaling.attn_factor", 1, &amplitude));
    bool linear = strcmp(type, "linear") == 0, yarn = strcmp(type, "yarn") == 0;
    bool none = strcmp(type, "none") == 0, by_tensor = strcmp(type, "longrope") == 0;
    if (!linear && !yarn && !none && !by_tensor)
        return szgi_json_fail(own->context, value_of(own, "rope.scaling.type"),
                              "'%s' is not known to szego; known are none, linear, yarn, longrope",
                              SHOWN(type));
    own->checkpoint->gguf.amplitude = yarn ? 0 : amplitude;
    if (yarn || (linear && factor != 0 && factor != 1)) {
        SZG_TRY(szgi_config_positive(own->context, value_of(own, has(own, current) ? current : old),
                                     &factor));
        return put_scaling(own, type, factor, amplitude);
    }
    return SZG_OK;
}

static szg_status translate_rotary(translation *own, const gguf_sizes *sizes) {
    int64_t rotary;
    own->family->partial = PARTIAL_DIM;
    own->family->pairing = own->architecture->pairing;
    SZG_TRY(integer_or(own, "rope.dimension_count", sizes->head, &rotary));
    SZG_TRY(put_integer(own, "rotary_dim", rotary));
    if (own->architecture->unrotated > 0)
        SZG_TRY(put_integer(own, "no_rope_layer_interval", own->architecture->unrotated));
    SZG_TRY(translate_base(own));
    return translate_scaling(own);
}

/* ---- What is noted ---- */

static szg_status translate_notes(translation *own) {
    double value;
    SZG_TRY(switch_of(own, "attn_logit_softcapping", &value));
    if (value == 0 && strcmp(own->architecture->name, "gemma2") == 0)
        value = 50; /* llama.cpp's, where the file has none */
    if (value != 0)
        SZG_TRY(put_real(own, "attn_logit_softcapping", value));
    SZG_TRY(switch_of(own, "attention.clamp_kqv", &value));
    if (value != 0)
        SZG_TRY(put_real(own, "clip_qkv", value));
    SZG_TRY(switch_of(own, "attention.max_alibi_bias", &value));
    return value == 0 ? SZG_OK : refuse(own, "attention.max_alibi_bias");
}

/* ---- All of it ---- */

/* Is there a tensor blk.N.`suffix`? */
static bool has_weight(const szg_checkpoint *checkpoint, const char *suffix) {
    int64_t count = szgi_safetensors_count(checkpoint->tensors);
    for (int64_t i = 0; i < count; i++)
        if (szgi_text_ends(szgi_safetensors_tensor(checkpoint->tensors, i)->name, suffix))
            return true;
    return false;
}

/* The family's row with the names and the layout of GGUF: fused weights are all q, all k, all v. */
static void name_weights(const szg_checkpoint *checkpoint, model_family *family) {
    bool fused = has_weight(checkpoint, ".attn_qkv.weight");
    family->stem = "blk.";
    family->query = fused ? "attn_qkv.weight" : "attn_q.weight";
    family->key = fused ? NULL : "attn_k.weight";
    family->layout = fused ? LAYOUT_FUSED_BLOCKS : LAYOUT_SEPARATE;
    if (family->positions != POSITION_ROTARY) {
        family->positions = POSITION_TABLE;
        family->table = "position_embd.weight";
        family->table_first = 0;
    }
    family->query_norm = "attn_q_norm.weight";
    family->key_norm = "attn_k_norm.weight";
    family->gain_plus_one = false; /* the converter adds it */
    family->input = szgi_fold_rule_of_gguf(family->input);
    if (family->norm == NORM_EACH)
        family->norm = NORM_LAYER; /* the gains of all heads are one tensor */
    family->alibi = ALIBI_NONE;    /* its key is refused */
    if (family->skips == SKIP_ALIBI)
        family->skips = SKIP_NONE;
}

static szg_status translate(translation *own) {
    gguf_sizes sizes;
    SZG_TRY(translate_sizes(own, &sizes));
    SZG_TRY(translate_scale(own, &sizes));
    SZG_TRY(translate_notes(own));
    return own->family->positions == POSITION_ROTARY ? translate_rotary(own, &sizes) : SZG_OK;
}

/* The checkpoint's configuration and family from the metadata. */
static szg_status use_architecture(szg_context *context, szg_checkpoint *checkpoint,
                                   const gguf_architecture *architecture) {
    translation own = {.context = context,
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
    const gguf_architecture *architecture = find_architecture(name);
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

/* ---- What decided ---- */

const char *szgi_gguf_key(const szg_checkpoint *checkpoint, const char *key,
                          char text[static GGUF_KEY]) {
    static const struct {
        const char *key, *name; /* NULL: no key of the file */
    } names[] = {{"num_hidden_layers", "block_count"},
                 {"num_attention_heads", "attention.head_count"},
                 {"num_key_value_heads", "attention.head_count_kv"},
                 {"head_dim", "attention.key_length"},
                 {"hidden_size", "embedding_length"},
                 {"rope_theta", "rope.freq_base"},
                 {"rope_theta, rope_local_base_freq", "rope.freq_base"},
                 {"rotary_dim", "rope.dimension_count"},
                 {"attention_multiplier", "attention.scale"},
                 {"query_pre_attn_scalar", "attention.key_length"},
                 {"no_rope_layer_interval", NULL},
                 {"attn_logit_softcapping", "attn_logit_softcapping"},
                 {"clip_qkv", "attention.clamp_kqv"}};
    if (!key || checkpoint->family != &checkpoint->gguf.family)
        return key;
    if (strcmp(key, "model_type") == 0)
        return "general.architecture";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].key, key) != 0)
            continue;
        snprintf(text, GGUF_KEY, "%s.%s", checkpoint->model_type,
                 names[i].name ? names[i].name : "");
        return szgi_json_has(szgi_gguf_metadata(checkpoint->tensors), text) ? text : NULL;
    }
    return key;
}

/* ---- Frequencies that tensors divide ---- */

/* The divisors of `pairs` pairs. */
static szg_status read_divisors(szg_context *context, const szgi_tensor *tensor, int64_t pairs,
                                double *out) {
    char shape[64];
    if (tensor->dims != 1 || tensor->count != pairs)
        return szgi_fail(context, SZG_EDATA,
                         "%s: tensor %s: has shape %s, and %" PRId64 " rotary pairs need as many "
                         "divisors",
                         tensor->file, tensor->name,
                         szgi_tensor_shape_text(tensor, shape, sizeof shape), pairs);
    SZG_TRY(szgi_tensor_check(context, tensor));
    SZG_TRY(szgi_tensor_read(context, tensor, 0, pairs, out));
    for (int64_t t = 0; t < pairs; t++)
        if (!(out[t] > 0))
            return szgi_fail(context, SZG_EDATA,
                             "%s: tensor %s: divisor %" PRId64 " is %.9g, and must be positive",
                             tensor->file, tensor->name, t, out[t]);
    return SZG_OK;
}

/* rope_freqs (LLaMA 3), or the first of longrope's two lists; NULL where frequencies are as the
 * keys have them. */
static szg_status find_divisors(szg_context *context, const szg_checkpoint *checkpoint, char **note,
                                const szgi_tensor **out) {
    const szgi_safetensors *set = checkpoint->tensors;
    const szgi_tensor *longer = szgi_safetensors_find(set, "rope_factors_long.weight");
    const szgi_tensor *shorter = szgi_safetensors_find(set, "rope_factors_short.weight");
    *out = szgi_safetensors_find(set, "rope_freqs.weight");
    if (*out)
        return szgi_text_append(context, note, "frequencies are divided by the numbers of %s",
                                (*out)->name);
    if (!longer && !shorter)
        return SZG_OK;
    if (!longer || !shorter)
        return szgi_fail(context, SZG_EDATA,
                         "%s: tensor %s: is there without rope_factors_%s.weight: convert the "
                         "model again",
                         checkpoint->source, longer ? longer->name : shorter->name,
                         longer ? "short" : "long");
    *out = shorter;
    return szgi_text_append(context, note,
                            "frequencies are those of rope_factors_short.weight, up to the "
                            "original context length; rope_factors_long.weight has those beyond");
}

/* Positions for which rope_factors_short.weight holds; 0: the file does not say. */
static szg_status original_length(szg_context *context, const szg_checkpoint *checkpoint,
                                  int64_t *out) {
    static const char *const keys[] = {"rope.scaling.original_context_length", "context_length"};
    szgi_json_value metadata = szgi_gguf_metadata(checkpoint->tensors);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char name[GGUF_KEY];
        snprintf(name, sizeof name, "%s.%s", checkpoint->model_type, keys[i]);
        if (szgi_json_has(metadata, name))
            return szgi_config_integer(context, metadata, (const char *const[]){name, NULL}, 1,
                                       out);
    }
    return SZG_OK;
}

/* The frequencies of one rotation, divided where there are divisors. */
static szg_status replace(szg_context *context, const szg_checkpoint *checkpoint,
                          const szgi_tensor *divisors, layer_rotation *rotation) {
    szgi_rotary rotary;
    SZG_TRY(szgi_encoding_rotary(context, rotation->encoding, 0, &rotary));
    SZG_TRY(szgi_memory_alloc(context, rotary.pairs, &rotation->theta));
    if (divisors)
        SZG_TRY(read_divisors(context, divisors, rotary.pairs, rotation->theta));
    for (int64_t t = 0; t < rotary.pairs; t++)
        rotation->theta[t] = rotary.theta[t] / (divisors ? rotation->theta[t] : 1);
    rotation->amplitude = rotary.amplitude * checkpoint->gguf.amplitude;
    if (divisors && strcmp(divisors->name, "rope_freqs.weight") != 0)
        SZG_TRY(original_length(context, checkpoint, &rotation->length));
    return SZG_OK;
}

szg_status szgi_gguf_divide(szg_context *context, szg_checkpoint *checkpoint) {
    const szgi_tensor *divisors;
    layer_rotation *first = &checkpoint->rotation[0];
    double *amplitude = &checkpoint->gguf.amplitude;
    if (checkpoint->rotations == 0 || checkpoint->family != &checkpoint->gguf.family)
        return SZG_OK;
    *amplitude = *amplitude > 0 ? *amplitude : 1;
    if (*amplitude != 1)
        SZG_TRY(szgi_text_append(context, &first->note,
                                 "rotated queries and keys are multiplied by %.9g "
                                 "(rope.scaling.attn_factor)",
                                 *amplitude));
    SZG_TRY(find_divisors(context, checkpoint, &first->note, &divisors));
    if (divisors && checkpoint->rotations > 1)
        return szgi_fail(context, SZG_EDATA,
                         "%s: tensor %s: it is not known which of the two bases it divides",
                         divisors->file, divisors->name);
    for (int i = 0; i < checkpoint->rotations && (divisors || *amplitude != 1); i++)
        SZG_TRY(replace(context, checkpoint, divisors, &checkpoint->rotation[i]));
    return SZG_OK;
}

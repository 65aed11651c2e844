/* Values of GGUF metadata. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/gguf.h"
#include "gguf_translate.h"

/* The member ARCHITECTURE.`key`. */
szgi_json_value szgi_gguf_value(gguf_translation *own, const char *key) {
    char *name = own->key[own->keys++ % GGUF_KEYS];
    snprintf(name, GGUF_KEY, "%s.%s", own->architecture->name, key);
    return szgi_json_member(own->metadata, name);
}

bool szgi_gguf_has(gguf_translation *own, const char *key) {
    return szgi_json_kind_of(szgi_gguf_value(own, key)) > SZGI_JSON_NULL;
}

szg_status szgi_gguf_at_least_one(gguf_translation *own, szgi_json_value value, int64_t number) {
    return number >= 1 ? SZG_OK
                       : szgi_json_fail(own->context, value,
                                        "is %" PRId64 ", and must be at least 1", number);
}

szg_status szgi_gguf_number_or(gguf_translation *own, const char *key, int64_t otherwise,
                               int64_t *out) {
    szgi_json_value value = szgi_gguf_value(own, key);
    *out = otherwise;
    if (szgi_json_kind_of(value) <= SZGI_JSON_NULL)
        return SZG_OK;
    SZG_TRY(szgi_json_as_integer(own->context, value, out));
    return szgi_gguf_at_least_one(own, value, *out);
}

bool szgi_gguf_is_sliding(const model_family *family) {
    return family->only && strcmp(family->only, "sliding_attention") == 0;
}

const char *szgi_gguf_of_stack(const model_family *family, const char *key,
                               char text[static GGUF_KEY]) {
    snprintf(text, GGUF_KEY, "%s%s", key, szgi_gguf_is_sliding(family) ? "_swa" : "");
    return text;
}

szg_status szgi_gguf_positive_or(gguf_translation *own, const char *key, double otherwise,
                                 double *out) {
    *out = otherwise;
    return szgi_gguf_has(own, key)
               ? szgi_config_positive(own->context, szgi_gguf_value(own, key), out)
               : SZG_OK;
}

/* A real that switches something on unless it is 0. */
szg_status szgi_gguf_switch(gguf_translation *own, const char *key, double *out) {
    *out = 0;
    return szgi_gguf_has(own, key) ? szgi_json_as_real(own->context, szgi_gguf_value(own, key), out)
                                   : SZG_OK;
}

szg_status szgi_gguf_put_integer(gguf_translation *own, const char *key, int64_t value) {
    return szgi_json_add_integer(own->context, own->out, key, value);
}

szg_status szgi_gguf_put_real(gguf_translation *own, const char *key, double value) {
    return szgi_json_add_real(own->context, own->out, key, value);
}

szg_status szgi_gguf_require(gguf_translation *own, const char *key) {
    return szgi_json_fail(own->context, szgi_gguf_value(own, key),
                          "is missing, and nothing is assumed: convert the model again");
}

szg_status szgi_gguf_refuse(gguf_translation *own, const char *key) {
    return szgi_json_fail(own->context, szgi_gguf_value(own, key),
                          "is not known to szego for '%s': --config none gives the singular values "
                          "of every 2-D weight",
                          own->architecture->name);
}

const char *szgi_gguf_original_key(gguf_translation *own) {
    static const char key[] = "rope.scaling.original_context_length";
    return szgi_gguf_has(own, key) ? key : "context_length";
}

const char *szgi_gguf_key(const szg_checkpoint *checkpoint, const char *key,
                          char text[static GGUF_KEY]) {
    const struct {
        const char *key, *name; /* NULL: no key of the file */
    } names[] = {{"num_hidden_layers", "block_count"},
                 {"num_decoder_layers", "decoder_block_count"},
                 {"global_head_dim", "attention.key_length"},
                 {"position_embedding_type", "rope.scaling.finetuned"},
                 {"rope.dimension_sections", "rope.dimension_sections"},
                 {"partial_rotary_factor", NULL},
                 {"attention_k_eq_v", NULL},
                 {"no_rope_layers", "attention.sliding_window_pattern"},
                 {TRAINED_LENGTH_KEY, "context_length"},
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
                 {"clip_qkv", "attention.clamp_kqv"},
                 {"alibi", "attention.max_alibi_bias"},
                 {"num_kv_shared_layers", "attention.shared_kv_layers"},
                 {"kv_lora_rank", "attention.kv_lora_rank"},
                 {"q_lora_rank", "attention.q_lora_rank"},
                 {"mscale_all_dim", "rope.scaling.yarn_log_multiplier"},
                 {"attn_scale", "attention.temperature_scale"},
                 {"use_qk_norm", "expert_count"},
                 {"full_attention_interval", "full_attention_interval"},
                 {"layer_types", checkpoint->gguf.kinds},
                 {"qk_nope_head_dim, qk_rope_head_dim", "attention.key_length_mla"}};
    const char *const sliding[] = {"head_dim", "rope_theta", "rotary_dim", NULL};
    if (!key || checkpoint->gguf.families == 0)
        return key;
    if (strcmp(key, "model_type") == 0)
        return "general.architecture";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i].key, key) != 0)
            continue;
        char own[GGUF_KEY] = "";
        bool by_stack = false;
        for (const char *const *other = sliding; *other; other++)
            by_stack = by_stack || strcmp(key, *other) == 0;
        if (names[i].name && by_stack)
            szgi_gguf_of_stack(checkpoint->family, names[i].name, own);
        else if (names[i].name)
            snprintf(own, sizeof own, "%s", names[i].name);
        snprintf(text, GGUF_KEY, "%s.%.*s", checkpoint->model_type, GGUF_KEY / 2, own);
        return szgi_json_has(szgi_gguf_metadata(checkpoint->tensors), text) ? text : NULL;
    }
    return key;
}

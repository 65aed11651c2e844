/* Which keys the queries of each layer see: later ones, and how far off, where not all (sliding
 * windows, and chunks). By the classes of transformers. */
#include <string.h>

#include "checkpoint_private.h"

/* A whole number of at least 1; 0 where the key is absent, null or something else. */
static int64_t number_of(const szg_checkpoint *checkpoint, const char *key) {
    int64_t number = szgi_config_number_or(checkpoint, key, 0);
    return number > 0 ? number : 0;
}

static bool is_one_of(const char *name, const char *const *list) {
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

/* Which layers slide where no list of layers and no pattern says so. */
static bool slides_by_class(const szg_checkpoint *checkpoint, int64_t layer) {
    static const char *const all[] = {"mistral",   "mixtral",    "phi3",       "phimoe",
                                      "ministral", "ministral3", "starcoder2", NULL};
    static const char *const even[] = {"gemma2", "t5gemma", "vaultgemma", "gpt_oss", NULL};
    static const char *const upper[] = {"qwen2",         "qwen2_moe",         "qwen3",
                                        "qwen2_vl_text", "qwen2_vl",          "qwen2_5_vl_text",
                                        "qwen2_5_vl",    "qwen2_5_omni_text", NULL};
    const char *type = checkpoint->family->model_type;
    if (is_one_of(type, all))
        return true;
    if (is_one_of(type, even))
        return layer % 2 == 0;
    if (strcmp(type, "cwm") == 0)
        return layer % 4 != 0;
    bool chosen =
        strcmp(type, "dots1") == 0 || szgi_config_flag_or(checkpoint, "use_sliding_window", false);
    if (!chosen)
        return false;
    return strcmp(type, "qwen3_moe") == 0 ||
           ((is_one_of(type, upper) || strcmp(type, "dots1") == 0) &&
            layer >= number_of(checkpoint, "max_window_layers"));
}

static bool slides(const szg_checkpoint *checkpoint, int64_t layer) {
    szgi_json_value types = szgi_json_member(checkpoint->settings, "layer_types");
    int64_t pattern = number_of(checkpoint, "sliding_window_pattern");
    const char *type;
    if (szgi_json_kind_of(types) == SZGI_JSON_ARRAY)
        return szgi_json_as_text(NULL, szgi_json_element(types, layer), &type) == SZG_OK &&
               strcmp(type, "sliding_attention") == 0;
    return pattern > 0 ? (layer + 1) % pattern != 0 : slides_by_class(checkpoint, layer);
}

/* ModernBERT's window is of both sides; without a list of layers every
 * global_attn_every_n_layers-th, from the first on, has none. */
static int64_t window_of_both(const szg_checkpoint *checkpoint, int64_t layer) {
    int64_t interval = number_of(checkpoint, "global_attn_every_n_layers");
    bool listed = szgi_json_has(checkpoint->settings, "layer_types");
    bool local = listed ? slides(checkpoint, layer) : interval > 0 && layer % interval != 0;
    int64_t size = local ? number_of(checkpoint, "local_attention") : 0;
    if (local && size == 0) /* as GGUF calls it */
        size = number_of(checkpoint, "sliding_window");
    return size > 0 ? size / 2 + 1 : 0;
}

/* Gemma 3's key is a flag (EmbeddingGemma), and Gemma 4's a word. Other classes of transformers
 * ignore such a key, or have it and mask later keys all the same (Gemma, Gemma 2 in 5.x). */
key_direction szgi_key_direction(const szg_checkpoint *checkpoint) {
    szgi_json_value value = szgi_json_member(checkpoint->settings, "use_bidirectional_attention");
    const char *type = checkpoint->family->model_type, *word = "";
    bool flag = false;
    if (szgi_json_kind_of(value) <= SZGI_JSON_NULL)
        return KEYS_BEFORE;
    if (szgi_json_as_boolean(NULL, value, &flag) == SZG_OK)
        return !flag ? KEYS_BEFORE : strcmp(type, "gemma3_text") == 0 ? KEYS_BOTH : KEYS_UNKNOWN;
    if (szgi_json_as_text(NULL, value, &word) != SZG_OK || strcmp(type, "gemma4_text") != 0)
        return KEYS_UNKNOWN;
    return strcmp(word, "all") == 0      ? KEYS_BOTH
           : strcmp(word, "vision") == 0 ? KEYS_BEFORE /* of text */
                                         : KEYS_UNKNOWN;
}

/* Encoders that rotate make their own masks; the others share one that obeys is_decoder. */
bool szgi_sees_later(const szg_checkpoint *checkpoint) {
    const model_family *family = checkpoint->family;
    if (szgi_key_direction(checkpoint) == KEYS_BOTH)
        return true;
    if (family->stack)
        return strcmp(family->stack, "encoder") == 0;
    if (family->looks_ahead)
        return true;
    return (family->positions == POSITION_BERT || family->positions == POSITION_ROBERTA ||
            family->positions == POSITION_DISTILBERT || checkpoint->added) &&
           !szgi_config_flag_or(checkpoint, "is_decoder", false);
}

/* The text at `index` of a list of kinds, or of a list of [kinds, repetitions]; NULL: it has none.
 */
static const char *kind_at(szgi_json_value list, int64_t index) {
    const char *kind;
    for (int64_t i = 0; i < szgi_json_count(list); i++) {
        szgi_json_value entry = szgi_json_element(list, i), kinds = szgi_json_element(entry, 0);
        int64_t times = 0, count = szgi_json_count(kinds);
        if (szgi_json_kind_of(entry) != SZGI_JSON_ARRAY)
            return szgi_json_as_text(NULL, szgi_json_element(list, index), &kind) == SZG_OK ? kind
                                                                                            : NULL;
        if (szgi_json_as_integer(NULL, szgi_json_element(entry, 1), &times) != SZG_OK || times < 0)
            return NULL;
        if (count > 0 && index / count < times)
            return szgi_json_as_text(NULL, szgi_json_element(kinds, index % count), &kind) == SZG_OK
                       ? kind
                       : NULL;
        index -= count * times;
    }
    return NULL;
}

/* GPT-Neo lists its layers, once each or as kinds that repeat; its class alternates, a global layer
 * first. */
static int64_t listed_window(const szg_checkpoint *checkpoint, int64_t layer) {
    static const char *const keys[] = {"attention_layers", "attention_types"};
    const char *kind = layer % 2 == 0 ? "global" : "local";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        szgi_json_value list = szgi_json_member(checkpoint->settings, keys[i]);
        if (szgi_json_kind_of(list) != SZGI_JSON_ARRAY)
            continue;
        kind = kind_at(list, layer);
        break;
    }
    return kind && strcmp(kind, "local") == 0 ? number_of(checkpoint, "window_size") : 0;
}

static int64_t window_of(const szg_checkpoint *checkpoint, int64_t layer) {
    const char *type = checkpoint->family->model_type;
    if (strcmp(type, "modernbert") == 0)
        return window_of_both(checkpoint, layer);
    if (strcmp(type, "modernbert-decoder") == 0) /* half of it, the query's own place in */
        return window_of_both(checkpoint, layer) > 0 ? window_of_both(checkpoint, layer) - 1 : 0;
    if (strcmp(type, "openai_privacy_filter") == 0) /* lags up to it, of both signs */
        return number_of(checkpoint, "sliding_window") > 0
                   ? number_of(checkpoint, "sliding_window") + 1
                   : 0;
    if (strcmp(type, "recurrent_gemma") == 0)
        return number_of(checkpoint, "attention_window_size");
    if (strcmp(type, "gpt_neo") == 0)
        return listed_window(checkpoint, layer);
    if (strcmp(type, "llama4_text") == 0) /* keys of the query's own chunk */
        return checkpoint->layer[layer].rotation >= 0
                   ? number_of(checkpoint, "attention_chunk_size")
                   : 0;
    if (checkpoint->family->stack && strcmp(checkpoint->family->stack, "cross") == 0)
        return 0;
    int64_t window = slides(checkpoint, layer) ? number_of(checkpoint, "sliding_window") : 0;
    if (window > 0 && checkpoint->family->object && szgi_sees_later(checkpoint))
        return strcmp(type, "t5gemma") == 0 ? window + 1 : window / 2 + 1;
    /* A window of both sides is given by its whole length. */
    return window > 0 && szgi_key_direction(checkpoint) == KEYS_BOTH ? window / 2 + 1 : window;
}

szg_status szgi_windows_resolve(szg_context *context, szg_checkpoint *checkpoint) {
    bool any = false;
    for (int64_t i = 0; i < checkpoint->layers; i++) {
        checkpoint->layer[i].window = window_of(checkpoint, i);
        any = any || checkpoint->layer[i].window > 0;
    }
    if (!any || strcmp(checkpoint->family->model_type, "qwen2_moe") != 0 ||
        szgi_json_has(checkpoint->settings, "layer_types"))
        return SZG_OK;
    return szgi_text_append(context, &checkpoint->note,
                            "releases of the class slide in other layers: those from "
                            "max_window_layers on are taken to, unless layer_types says which");
}

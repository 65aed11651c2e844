/* How far back the queries of each layer look, where less than everything: sliding windows. */
#include <string.h>

#include "checkpoint_private.h"

static const char window_key[] = "sliding_window";

/* A whole number of at least 1; 0 where the key is absent, null or something else. */
static int64_t number_of(const szg_checkpoint *checkpoint, const char *key) {
    szgi_json_value value = szgi_json_member(checkpoint->settings, key);
    int64_t number;
    return szgi_json_kind_of(value) > SZGI_JSON_NULL &&
                   szgi_json_as_integer(NULL, value, &number) == SZG_OK && number > 0
               ? number
               : 0;
}

static bool is_one_of(const char *name, const char *const *list) {
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

/* Which layers slide where no list of layers and no pattern says so, by the classes of
 * transformers. */
static bool slides_by_class(const szg_checkpoint *checkpoint, int64_t layer) {
    static const char *const all[] = {"mistral", "mixtral", "phi3", "starcoder2", NULL},
                             *const upper[] = {"qwen2", "qwen2_moe", "qwen3", "qwen3_moe", NULL};
    const char *type = checkpoint->family->model_type;
    bool used = false,
         said = szgi_json_kind_of(szgi_json_member(checkpoint->settings, "max_window_layers")) >
                SZGI_JSON_NULL;
    if (is_one_of(type, all))
        return true;
    if (strcmp(type, "gemma2") == 0)
        return layer % 2 == 0;
    return is_one_of(type, upper) &&
           szgi_config_flag(NULL, checkpoint->settings, "use_sliding_window", false, &used) ==
               SZG_OK &&
           used && layer >= (said ? number_of(checkpoint, "max_window_layers") : 28);
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

/* ModernBERT's window is of both sides, and its global layers are counted from the first on. */
static int64_t local_window(const szg_checkpoint *checkpoint, int64_t layer) {
    int64_t interval = number_of(checkpoint, "global_attn_every_n_layers");
    int64_t local = number_of(checkpoint, "local_attention");
    return interval > 0 && local > 0 && layer % interval != 0 ? local / 2 + 1 : 0;
}

/* Gemma 3's key is a flag (EmbeddingGemma), and Gemma 4's a word. Other classes of transformers
 * ignore such a key, or have it and mask later keys all the same (Gemma, Gemma 2 in 5.x). */
key_direction szgi_direction_of(const szg_checkpoint *checkpoint) {
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

/* A window of both sides is given by its whole length. */
int64_t szgi_window_lags(const szg_checkpoint *checkpoint, int64_t layer) {
    int64_t local = local_window(checkpoint, layer);
    int64_t window =
        local == 0 && slides(checkpoint, layer) ? number_of(checkpoint, window_key) : 0;
    return local > 0                                                  ? local
           : window > 0 && szgi_direction_of(checkpoint) == KEYS_BOTH ? window / 2 + 1
                                                                      : window;
}

void szgi_kernel_keys_read(const szg_checkpoint *checkpoint) {
    static const char *const table[] = {"relative_attention",     "position_buckets",
                                        "max_relative_positions", "pos_att_type",
                                        "share_att_key",          "norm_rel_ebd",
                                        "layer_norm_eps",         "position_biased_input"};
    const model_family *family = checkpoint->family;
    bool bert = family->positions == POSITION_BERT || family->positions == POSITION_ROBERTA;
    for (int64_t i = 0; i < checkpoint->layers; i++)
        szgi_window_lags(checkpoint, i);
    szgi_direction_of(checkpoint);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (checkpoint->added && !family->added_by_head)
            szgi_json_has(checkpoint->settings, table[i]);
    if (bert)
        szgi_json_has(checkpoint->settings, "is_decoder");
}

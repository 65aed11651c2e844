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

int64_t szgi_window_lags(const szg_checkpoint *checkpoint, int64_t layer) {
    int64_t local = local_window(checkpoint, layer), window = number_of(checkpoint, window_key);
    return local > 0 ? local : window > 0 && slides(checkpoint, layer) ? window : 0;
}

/* How far back each layer looks, as transformers 4.57 and 5.24 mask models of these configurations:
 * the largest lag with a weight that is not 0, plus 1, in each of six layers run on 20 tokens. */
#include <stdio.h>
#include <string.h>

#include "checkpoint/checkpoint_private.h"
#include "checkpoint/defaults.h"
#include "suite.h"

enum { LAYERS = 6 };

static const struct {
    const char *model_type, *settings;
    int64_t window[LAYERS];
} cases[] = {
#define ALL(w)                                                                                     \
    { w, w, w, w, w, w }
#define EVEN(w)                                                                                    \
    { w, 0, w, 0, w, 0 }
#define UPPER(w)                                                                                   \
    { 0, 0, 0, w, w, w }
#define FOURTH(w)                                                                                  \
    { w, w, w, 0, w, w }
#define SIXTH(w)                                                                                   \
    { w, w, w, w, w, 0 }
    /* What the configuration says. */
    {"mistral", "\"sliding_window\":5", ALL(5)},
    {"mistral", "\"sliding_window\":null", ALL(0)},
    {"mixtral", "\"sliding_window\":5", ALL(5)},
    {"phi3", "\"sliding_window\":5", ALL(5)},
    {"phimoe", "\"sliding_window\":5", ALL(5)},
    {"ministral", "\"sliding_window\":5", ALL(5)},
    {"ministral3", "\"sliding_window\":5", ALL(5)},
    {"starcoder2", "\"sliding_window\":5", ALL(5)},
    {"gemma2", "\"sliding_window\":5", EVEN(5)},
    {"vaultgemma", "\"sliding_window\":5", EVEN(5)},
    {"gpt_oss", "\"sliding_window\":5", EVEN(5)},
    {"cwm", "\"sliding_window\":5", {0, 5, 5, 5, 0, 5}},
    {"qwen2", "\"sliding_window\":5,\"use_sliding_window\":true,\"max_window_layers\":3", UPPER(5)},
    {"qwen3", "\"sliding_window\":5,\"use_sliding_window\":true,\"max_window_layers\":3", UPPER(5)},
    {"qwen3_moe", "\"sliding_window\":5,\"use_sliding_window\":true", ALL(5)},
    {"qwen2_vl_text", "\"sliding_window\":5,\"use_sliding_window\":true,\"max_window_layers\":3",
     UPPER(5)},
    {"qwen2_5_vl_text", "\"sliding_window\":5,\"use_sliding_window\":true,\"max_window_layers\":3",
     UPPER(5)},
    {"dots1", "\"sliding_window\":5,\"max_window_layers\":3", UPPER(5)},
    {"gemma3_text", "\"sliding_window\":5", SIXTH(5)},
    {"gemma3_text",
     "\"sliding_window\":5,\"layer_types\":[\"full_attention\",\"sliding_attention\","
     "\"full_attention\",\"full_attention\",\"full_attention\",\"full_attention\"]",
     {0, 5, 0, 0, 0, 0}},
    {"cohere2", "\"sliding_window\":5", FOURTH(5)},
    {"exaone4", "\"sliding_window\":5", FOURTH(5)},
    {"exaone_moe", "\"sliding_window\":5", FOURTH(5)},
    {"olmo3", "\"sliding_window\":5", FOURTH(5)},
    {"modernbert", "\"local_attention\":6", {0, 4, 4, 0, 4, 4}},
    {"modernbert", "\"local_attention\":6,\"global_attn_every_n_layers\":2", {0, 4, 0, 4, 0, 4}},
    {"modernbert",
     "\"local_attention\":6,\"layer_types\":[\"sliding_attention\",\"full_attention\","
     "\"sliding_attention\",\"full_attention\",\"full_attention\",\"full_attention\"]",
     {4, 0, 4, 0, 0, 0}},
    {"openai_privacy_filter", "\"sliding_window\":5", ALL(6)},
    {"gpt_neo",
     "\"window_size\":5,\"attention_types\":[[[\"global\",\"local\"],3]]",
     {0, 5, 0, 5, 0, 5}},
    {"gpt_neo",
     "\"window_size\":5,\"attention_types\":[[[\"local\"],2],[[\"global\",\"local\"],2]]",
     {5, 5, 0, 5, 0, 5}},
    {"gpt_neo",
     "\"window_size\":5,\"attention_layers\":[\"global\",\"local\",\"local\",\"local\",\"global\","
     "\"global\"]",
     {0, 5, 5, 5, 0, 0}},
    {"llama4_text", "\"attention_chunk_size\":5", FOURTH(5)},
    {"llama", "\"sliding_window\":5", ALL(0)},
    /* What the class takes where the configuration does not say. */
    {"mistral", "", ALL(4096)},
    {"mixtral", "", ALL(0)},
    {"phi3", "", ALL(0)},
    {"starcoder2", "", ALL(0)},
    {"gemma2", "", EVEN(4096)},
    {"gemma3_text", "", SIXTH(4096)},
    {"gpt_oss", "", EVEN(128)},
    {"cwm", "", {0, 8192, 8192, 8192, 0, 8192}},
    {"qwen2", "", ALL(0)},
    {"qwen2", "\"use_sliding_window\":true,\"max_window_layers\":3", UPPER(4096)},
    {"qwen2", "\"use_sliding_window\":true", ALL(0)}, /* 28 layers before the first */
    {"cohere2", "", FOURTH(4096)},
    {"exaone4", "", FOURTH(4096)},
    {"olmo3", "", FOURTH(4096)},
    {"modernbert", "", {0, 65, 65, 0, 65, 65}},
    {"openai_privacy_filter", "", ALL(129)},
    {"gpt_neo", "", {0, 256, 0, 256, 0, 256}},
    {"llama4_text", "", FOURTH(8192)},
};

/* Opens the configuration alone: layers that rotate but for Llama 4's fourth. */
static void open_case(size_t at, szg_checkpoint *checkpoint, layer_weights *layer) {
    char text[512];
    const char *more = *cases[at].settings ? "," : "";
    snprintf(text, sizeof text, "{\"transformers_version\":\"4.57.1\",\"model_type\":\"%s\"%s%s}",
             cases[at].model_type, more, cases[at].settings);
    *checkpoint = (szg_checkpoint){
        .layers = LAYERS, .layer = layer, .family = szgi_family_find(cases[at].model_type, 0)};
    ck_assert_ptr_nonnull(checkpoint->family);
    ck_szg_ok(szgi_json_parse(test_context(), "a test", text, (int64_t)strlen(text),
                              &checkpoint->config));
    checkpoint->settings = szgi_json_root(checkpoint->config);
    ck_szg_ok(szgi_defaults_take(test_context(), checkpoint));
    checkpoint->settings = szgi_json_root(checkpoint->config);
    for (int64_t i = 0; i < LAYERS; i++)
        layer[i] = (layer_weights){.rotation = i % 4 == 3 ? -1 : 0};
}

START_TEST(each_layer_looks_as_far_back_as_its_class_masks) {
    szg_checkpoint checkpoint;
    layer_weights layer[LAYERS];
    open_case((size_t)_i, &checkpoint, layer);
    ck_szg_ok(szgi_windows_resolve(test_context(), &checkpoint));
    for (int64_t i = 0; i < LAYERS; i++)
        ck_assert_msg(layer[i].window == cases[_i].window[i], "%s %s: layer %d has %d, wanted %d",
                      cases[_i].model_type, cases[_i].settings, (int)i, (int)layer[i].window,
                      (int)cases[_i].window[i]);
    ck_assert_ptr_null(checkpoint.note);
    szgi_defaults_free(&checkpoint);
    szgi_json_close(&checkpoint.config);
}
END_TEST

TEST_FILE("windows") {
    test_add_loop(suite, "each_layer_looks_as_far_back_as_its_class_masks",
                  each_layer_looks_as_far_back_as_its_class_masks,
                  (int)(sizeof cases / sizeof *cases));
}

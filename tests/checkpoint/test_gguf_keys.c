/* Keys of GGUF files: bad ones are named, frequencies follow the tensors that divide them, and no
 * other configuration counts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checkpoint/checkpoint_private.h"
#include "gguf_model.h"

/* ---- Frequencies that tensors divide ---- */

/* `length`: positions for which the frequencies hold; 0: all. */
static void check_divided(gguf_file *file, const float *divisors, double amplitude, int64_t length,
                          const char *note) {
    szg_checkpoint *checkpoint;
    szgi_rotary rotary;
    ck_szg_ok(open_file(file, &checkpoint));
    ck_assert_msg(strstr(szg_checkpoint_describe(checkpoint).note, note), "%s",
                  szg_checkpoint_describe(checkpoint).note);
    ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, 0, &rotary));
    ck_assert_int_eq(rotary.pairs, 3);
    ck_assert(rotary.amplitude == amplitude);
    ck_assert_int_eq(checkpoint->rotation[0].length, length);
    for (int t = 0; t < 3; t++) {
        double want = pow(10000, -2.0 * t / 6) / (double)divisors[t];
        /* The power is taken two ways: the exponent's rounding is magnified by log(10000). */
        ck_close(rotary.theta[t], want, gamma_of(2 * (log(10000) + 4)) * want);
    }
    szg_checkpoint_close(&checkpoint);
}

#define SHORT                                                                                      \
    "multiplied by 1.25 (rope.scaling.attn_factor); frequencies are those of "                     \
    "rope_factors_short.weight"

START_TEST(divisors_of_frequencies_are_followed) {
    static const float divisors[] = {1, 1.5f, 8}, longer[] = {2, 3, 4};
    test_model model;
    gguf_file file;
    fill_small(&file, &model, "llama");
    put_divisors(&file, "rope_freqs.weight", divisors, 3);
    gguf_key_u32(&file, "llama.context_length", 512);
    check_divided(&file, divisors, 1, 0, "divided by the numbers of rope_freqs.weight");
    gguf_free(&file);
    model_close(&model);
    fill_small(&file, &model, "phi3");
    put_divisors(&file, "rope_factors_short.weight", divisors, 3);
    put_divisors(&file, "rope_factors_long.weight", longer, 3);
    gguf_key_f32(&file, "phi3.rope.scaling.attn_factor", 1.25f);
    gguf_key_u32(&file, "phi3.context_length", 512);
    check_divided(&file, divisors, 1.25, 512, SHORT);
    gguf_key_u32(&file, "phi3.rope.scaling.original_context_length", 64);
    check_divided(&file, divisors, 1.25, 64, SHORT);
    gguf_free(&file);
    model_close(&model);
}
END_TEST

/* YaRN as gpt-oss and PLaMo 3 were trained with it: the ramp between kept and divided frequencies
 * begins and ends between pairs (Peng et al. 2023, without rounding). In other architectures it
 * ends at pairs. Grok's begins where a pair turns 8 times, and others' where it turns 32 times. */
START_TEST(ramps_are_rounded_but_in_two_architectures) {
    static const key_value keys[] = {TXT("rope.scaling.type", "yarn"),
                                     NUM("rope.scaling.factor", 4), INT("context_length", 4096)};
    static const struct {
        const char *name;
        bool rounded;
        double fast;
    } architectures[] = {
        {"gpt-oss", false, 32}, {"plamo3", false, 32}, {"qwen2", true, 32}, {"grok", true, 8}};
    for (int i = 0; i < 4; i++) {
        bool rounded = architectures[i].rounded;
        test_model model;
        gguf_file file;
        szg_checkpoint *checkpoint;
        szgi_rotary rotary;
        fill_small(&file, &model, architectures[i].name);
        for (size_t j = 0; j < sizeof keys / sizeof *keys; j++)
            put_key(&file, architectures[i].name, &keys[j]);
        ck_szg_ok(open_file(&file, &checkpoint));
        ck_assert_int_eq(strstr(szg_checkpoint_describe(checkpoint).note,
                                "llama.cpp rounds its ends to pairs") != NULL,
                         !rounded);
        ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, 0, &rotary));
        double low = 3 * log(4096 / (architectures[i].fast * 2 * acos(-1))) / log(10000);
        double high = 3 * log(4096 / (2 * acos(-1))) / log(10000);
        low = rounded ? floor(low) : low;
        high = rounded ? ceil(high) : high;
        for (int t = 0; t < 3; t++) {
            double ramp = fmin(1, fmax(0, (t - low) / (high - low)));
            double want = pow(10000, -2.0 * t / 6) * (1 - ramp + ramp / 4);
            /* some 40 roundings and the exponent's, times log(10000); the ramp's ends lose one
             * digit when they are subtracted */
            ck_close(rotary.theta[t], want, 10 * gamma_of(2 * log(10000) + 40) * want);
        }
        ck_close(rotary.amplitude, 0.1 * log(4) + 1, gamma_of(4));
        szg_checkpoint_close(&checkpoint);
        gguf_free(&file);
        model_close(&model);
    }
}
END_TEST

/* DeepSeek-OCR and CogVLM rotate by 10000, whatever the key says. */
START_TEST(bases_that_llama_cpp_does_not_read_are_refused) {
    static const char *const architectures[] = {"deepseek2-ocr", "cogvlm"};
    static const key_value keys[] = {INT("block_count", 1), INT("embedding_length", 2),
                                     INT("attention.head_count", 1), BASE(5e5)};
    for (int i = 0; i < 2; i++) {
        char words[128];
        gguf_file file;
        szg_checkpoint *checkpoint;
        begin(&file, "general.architecture", architectures[i]);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            put_key(&file, architectures[i], &keys[k]);
        put_weight(&file, "blk.0.attn_q.weight", 2, 2, (float[]){1, 2, 3, 4});
        put_weight(&file, "blk.0.attn_k.weight", 2, 2, (float[]){1, 2, 3, 4});
        snprintf(words, sizeof words, "%s.rope.freq_base: is not known to szego for '%s'",
                 architectures[i], architectures[i]);
        ck_szg_fails(SZG_EDATA, words, open_file(&file, &checkpoint));
        gguf_free(&file);
    }
}
END_TEST

/* Where no key says so, 10000, and in Laguna that of the other layers. */
START_TEST(sliding_layers_have_the_base_of_llama_cpp) {
    static const struct {
        const char *architecture;
        double base;
    } cases[] = {{"mimo2", 1e4}, {"step35", 1e4}, {"laguna", 5e5}};
    static const key_value keys[] = {INT("block_count", 1),
                                     INT("embedding_length", 6),
                                     INT("attention.head_count", 1),
                                     INT("attention.key_length", 6),
                                     BASE(5e5),
                                     INT("attention.sliding_window", 8),
                                     SLIDING("1")};
    static const float rows[36] = {1};
    for (int i = 0; i < 3; i++) {
        const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices),
                                                .stack = "sliding"};
        gguf_file file;
        szg_checkpoint *checkpoint;
        szgi_rotary rotary;
        begin(&file, "general.architecture", cases[i].architecture);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            put_key(&file, cases[i].architecture, &keys[k]);
        put_weight(&file, "blk.0.attn_q.weight", 6, 6, rows);
        put_weight(&file, "blk.0.attn_k.weight", 6, 6, rows);
        gguf_write(&file, scratch_path("model.gguf"));
        ck_szg_ok(szg_checkpoint_open_chosen(test_context(), scratch_path("model.gguf"), &choices,
                                             &checkpoint));
        ck_assert_int_eq(
            strstr(szg_checkpoint_describe(checkpoint).note, "has no") != NULL &&
                strstr(szg_checkpoint_describe(checkpoint).note, "rope.freq_base_swa: llama.cpp's"),
            cases[i].base == 1e4);
        ck_szg_ok(szgi_checkpoint_rotary(test_context(), checkpoint, 0, &rotary));
        for (int t = 0; t < 3; t++) {
            double want = pow(cases[i].base, -2.0 * t / 6);
            ck_close(rotary.theta[t], want, gamma_of(2 * (log(cases[i].base) + 4)) * want);
        }
        szg_checkpoint_close(&checkpoint);
        gguf_free(&file);
    }
}
END_TEST

START_TEST(what_is_left_out_is_noted) {
    static const struct {
        const char *architecture;
        key_value key;
        const char *words;
    } noted[] = {
        {"grok", INT("attention.temperature_length", 1024),
         "logits grow with the position (attention.temperature_length): left out, as in llama.cpp"},
        {"hunyuan_vl", PER_LAYER("rope.dimension_sections", "1101"),
         "llama.cpp gives text the position 0 in the fourth section of rotary pairs"},
        {"paddleocr", PER_LAYER("rope.dimension_sections", "1110"), NULL},
    };
    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++) {
        test_model model;
        gguf_file file;
        szg_checkpoint *checkpoint;
        fill_small(&file, &model, noted[i].architecture);
        put_key(&file, noted[i].architecture, &noted[i].key);
        ck_szg_ok(open_file(&file, &checkpoint));
        const char *note = szg_checkpoint_describe(checkpoint).note;
        ck_assert_msg(noted[i].words ? strstr(note, noted[i].words) != NULL
                                     : !strstr(note, "fourth section"),
                      "%s", note);
        szg_checkpoint_close(&checkpoint);
        gguf_free(&file);
        model_close(&model);
    }
}
END_TEST

START_TEST(bad_divisors_are_refused) {
    static const struct {
        const char *name;
        float divisor[3];
        int count;
        const char *words;
    } bad[] = {
        {"rope_freqs.weight",
         {1, 2, 3},
         2,
         "tensor rope_freqs.weight: has shape [2], and 3 rotary"},
        {"rope_freqs.weight", {1, 0, 3}, 3, "divisor 1 is 0, and must be positive"},
        {"rope_freqs.weight", {1, 2, -3}, 3, "divisor 2 is -3, and must be positive"},
        {"rope_freqs.weight", {1, NAN, 3}, 3, "tensor rope_freqs.weight: the weight at [1] is NaN"},
        {"rope_factors_long.weight", {1, 2, 3}, 3, "is there without rope_factors_short.weight"},
        {"rope_factors_short.weight", {1, 2, 3}, 3, "is there without rope_factors_long.weight"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_model model;
        gguf_file file;
        szg_checkpoint *checkpoint;
        fill_small(&file, &model, "llama");
        put_divisors(&file, bad[i].name, bad[i].divisor, bad[i].count);
        ck_szg_fails(SZG_EDATA, bad[i].words, open_file(&file, &checkpoint));
        gguf_free(&file);
        model_close(&model);
    }
}
END_TEST

/* Gemma 4: 1 for pairs that rotate, and then 10^30. */
START_TEST(pairs_that_rotate_are_told_by_divisors) {
    static const struct {
        float divisor[3];
        const char *words;
    } bad[] = {{{1, 2, 1e30F}, "tensor rope_freqs.weight: divisor 1 is 2, and szego knows 1"},
               {{1, 1e30F, 1}, "tensor rope_freqs.weight: divisor 2 is 1, and szego knows 1"},
               {{0}, "tensor rope_freqs.weight: is missing, and tells which pairs"}};
    static const key_value keys[] = {INT("attention.key_length", 6), SLIDING("0")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .stack = "full"};
        test_model model;
        gguf_file file;
        szg_checkpoint *checkpoint;
        fill_small(&file, &model, "gemma4");
        for (size_t k = 0; k < 2; k++)
            put_key(&file, "gemma4", &keys[k]);
        if (bad[i].divisor[0] > 0)
            put_divisors(&file, "rope_freqs.weight", bad[i].divisor, 3);
        gguf_write(&file, scratch_path("model.gguf"));
        ck_szg_fails(SZG_EDATA, bad[i].words,
                     szg_checkpoint_open_chosen(test_context(), scratch_path("model.gguf"),
                                                &choices, &checkpoint));
        gguf_free(&file);
        model_close(&model);
    }
}
END_TEST

/* A stack by a name that the architecture has not, and one that the file lacks. */
START_TEST(stacks_are_chosen_by_name) {
    static const char *const wanted[][3] = {
        {"gemma4", "encoder", "model_type 'gemma4' has no stack called 'encoder'"},
        {"llama", "full", "model_type 'llama' has no stack called 'full'"},
        {"t5", "decoder", "no tensor is called *dec.blk.N.attn_q.weight"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices),
                                                .stack = wanted[i][1]};
        test_model model;
        gguf_file file;
        szg_checkpoint *checkpoint;
        fill_small(&file, &model, wanted[i][0]);
        gguf_write(&file, scratch_path("model.gguf"));
        szg_status status = szg_checkpoint_open_chosen(test_context(), scratch_path("model.gguf"),
                                                       &choices, &checkpoint);
        ck_assert_int_eq(status, i < 2 ? SZG_EINVAL : SZG_EDATA);
        ck_assert_msg(strstr(szg_context_message(test_context()), wanted[i][2]), "%s",
                      szg_context_message(test_context()));
        gguf_free(&file);
        model_close(&model);
    }
}
END_TEST

/* What multiplies a weight would be missed. */
START_TEST(factors_beside_weights_are_refused) {
    test_model model;
    gguf_file file;
    szg_checkpoint *checkpoint;
    fill_small(&file, &model, "bitnet");
    put_divisors(&file, "blk.0.attn_q.scale", (float[]){0.5}, 1);
    ck_szg_fails(SZG_EDATA, "tensor blk.0.attn_q.scale: multiplies the weight beside it",
                 open_file(&file, &checkpoint));
    gguf_free(&file);
    model_close(&model);
}
END_TEST

/* ---- Keys ---- */

START_TEST(bad_keys_are_named) {
    static const struct {
        const char *architecture;
        key_value key;
        const char *words;
    } bad[] = {
        {"llama", NUM("rope.freq_base", 0), "llama.rope.freq_base: is there twice"},
        {"llama", INT("rope.dimension_count", 0), "llama.rope.dimension_count: is 0, and must"},
        {"llama", INT("rope.dimension_count", 8), "rotary=8 exceeds the head dimension dim=6"},
        {"llama", NUM("attention.scale", -1), "llama.attention.scale: is -1, and must be positive"},
        {"granite", INT("leading", 1), "granite.attention.scale: is missing"},
        {"llama", TXT("attention.scale", "1"), "llama.attention.scale: is a text"},
        {"llama", NUM("attention.max_alibi_bias", 8),
         "llama.attention.max_alibi_bias: is not known to szego for 'llama'"},
        {"llama", TXT("rope.scaling.type", "cubic"),
         "llama.rope.scaling.type: 'cubic' is not known to szego; known are none, linear, yarn"},
        {"llama", TXT("rope.scaling.type", "yarn"), "llama.rope.scale_linear: is missing"},
        {"llama", NUM("rope.scaling.factor", -4), "llama.rope.scaling.factor: is -4, and must"},
        {"llama", NUM("rope.scaling.attn_factor", 0), "attn_factor: is 0, and must be positive"},
        {"llama", NUM("rope.freq_base_swa", 500), "rope.freq_base_swa: is not known to szego"},
        {"glm4", INT("rope.dimension_sections", 1), "glm4.rope.dimension_sections: is not known"},
        {"llama", NUM("rope.scaling.alpha", 50), "llama.rope.scaling.alpha: is not known to szego"},
        {"llama", NUM("attention.temperature_scale", 0.1),
         "llama.attention.temperature_scale: is not known to szego for 'llama'"},
        {"llama", INT("nextn_predict_layers", 1), "llama.nextn_predict_layers: is 1 of 1 layers"},
        {"mistral3", NUM("attention.temperature_scale", 0.1),
         "mistral3.context_length: is missing"},
        {"mistral3", NUM("attention.temperature_scale", -1), "temperature_scale: is -1, and must"},
        {"cohere2", NUM("rope.freq_base_swa", 500), "cohere2.rope.freq_base_swa: is not known"},
        {"llama4", INT("leading", 1), "llama4.expert_count: is missing"},
        {"llama4", INT("attention.sliding_window", 0),
         "llama4.attention.sliding_window: is not known to szego for 'llama4'"},
        {"deepseek2", INT("leading", 1), "deepseek2.attention.key_length: is missing"},
        {"qwen3next", TXT("attention.recurrent_layers", "1"),
         "qwen3next.attention.recurrent_layers: is not known to szego"},
        {"mpt", TXT("attention.max_alibi_bias", "8"), "mpt.attention.max_alibi_bias: is a text"},
        {"qwen3next", INT("leading", 1),
         "full_attention_interval: makes layer 0 one of 'linear_attention', without queries and "
         "keys, but tensor blk.0.attn_q.weight is there: gguf-set-metadata changes "
         "qwen3next.full_attention_interval (PyPI: gguf), and a converter writes it"},
        {"qwen2vl", INT("rope.dimension_sections", 1),
         "qwen2vl.rope.dimension_sections: is an integer, not an array"},
        {"granitehybrid", TXT("rope.scaling.finetuned", "x"),
         "granitehybrid.attention.scale: is missing"},
        {"gemma4", INT("leading", 1),
         "gemma4.attention.sliding_window_pattern: is missing, and nothing is assumed"},
        {"mimo2", INT("attention.sliding_window", 8),
         "mimo2.attention.sliding_window_pattern: is missing, and nothing is assumed"},
        {"mimo2", TXT("attention.sliding_window", "8"),
         "mimo2.attention.sliding_window: is a text"},
        {"gemma4", INT("attention.sliding_window_pattern", 0),
         "gemma4.attention.sliding_window_pattern: is 0, and must be at least 1"},
        {"gemma4", INT("attention.sliding_window_pattern", 2),
         "gemma4.attention.key_length_swa: is missing"},
        {"t5", INT("leading", 1), "no tensor is called *enc.blk.N.attn_q.weight"},
        {"afmoe", INT("leading", 1), "afmoe.attention.sliding_window: is missing, and nothing"},
        {"baichuan", INT("leading", 1),
         "baichuan.block_count: is 1, and llama.cpp knows 'baichuan' of 32 layers, which rotates, "
         "and of 40, which has ALiBi, alone"},
        {"grok", NUM("attention.output_scale", -1),
         "grok.attention.output_scale: is -1, and must be positive"},
        {"chameleon", INT("swin_norm", 3), "chameleon.swin_norm: is an integer"},
        {"jais", INT("leading", 1), "jais.attention.max_alibi_bias: is missing, and nothing"},
        {"llama", INT("attention.causal", 3), "llama.attention.causal: is an integer"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_model model;
        gguf_file file;
        szg_checkpoint *checkpoint;
        fill_small(&file, &model, bad[i].architecture);
        put_key(&file, bad[i].architecture, &bad[i].key);
        ck_szg_fails(SZG_EDATA, bad[i].words, open_file(&file, &checkpoint));
        gguf_free(&file);
        model_close(&model);
    }
}
END_TEST

/* Several keys that only together are wrong. */
START_TEST(contradictions_are_named) {
    static const struct {
        const char *architecture;
        key_value keys[6];
        const char *words;
    } bad[] = {
        {"deepseek2",
         {INT("attention.key_length", 6), INT("attention.value_length", 6),
          INT("rope.dimension_count", 6), INT("attention.kv_lora_rank", 2)},
         "deepseek2.rope.dimension_count: is 6, and a head has 6 dimensions"},
        {"deepseek2",
         {INT("attention.key_length_mla", 6), INT("rope.dimension_count", 4)},
         "deepseek2.attention.value_length_mla: is missing"},
        {"qwen2",
         {TXT("rope.scaling.type", "yarn"), NUM("rope.scaling.factor", 4),
          INT("context_length", 64), NUM("rope.scaling.yarn_log_multiplier", 0.1)},
         "qwen2.rope.scaling.yarn_log_multiplier: is not known to szego for 'qwen2'"},
        {"qwen2",
         {TXT("rope.scaling.type", "yarn"), NUM("rope.scaling.factor", 4),
          INT("context_length", 64), NUM("rope.scaling.yarn_ext_factor", 0.5)},
         "qwen2.rope.scaling.yarn_ext_factor: is not known to szego for 'qwen2'"},
        {"mistral3",
         {TXT("rope.scaling.type", "yarn"), NUM("rope.scaling.factor", 4),
          INT("context_length", 64), NUM("rope.scaling.yarn_log_multiplier", -1)},
         "mistral3.rope.scaling.yarn_log_multiplier: is -1, and must be positive"},
        {"afmoe",
         {INT("attention.sliding_window", 32), SLIDING("0")},
         "afmoe.attention.sliding_window_pattern: makes layer 0 one of 'full_attention', and "
         "llama.cpp rotates it: in 'afmoe' one of every 4 layers does not rotate"},
        {"smallthinker",
         {INT("attention.sliding_window", 32), SLIDING("1")},
         "smallthinker.attention.sliding_window_pattern: makes layer 0 one of "
         "'sliding_attention', and llama.cpp does not rotate it"},
        {"cohere2",
         {INT("attention.sliding_window", 32), SLIDING("")},
         "cohere2.attention.sliding_window_pattern: has 0 entries, and no layer 0"},
        {"cohere2",
         {INT("attention.sliding_window", 32), TXT("attention.sliding_window_pattern", "x")},
         "cohere2.attention.sliding_window_pattern: is a text"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        test_model model;
        gguf_file file;
        szg_checkpoint *checkpoint;
        fill_small(&file, &model, bad[i].architecture);
        for (const key_value *key = bad[i].keys; key->key; key++)
            put_key(&file, bad[i].architecture, key);
        ck_szg_fails(SZG_EDATA, bad[i].words, open_file(&file, &checkpoint));
        gguf_free(&file);
        model_close(&model);
    }
}
END_TEST

START_TEST(sizes_are_required_and_one_for_all_layers) {
    static const uint32_t heads[][2] = {{2, 2}, {2, 1}};
    gguf_file file;
    szg_checkpoint *checkpoint;
    begin(&file, "general.architecture", "llama");
    ck_szg_fails(SZG_EDATA, "model.gguf: llama.block_count: is missing",
                 open_file(&file, &checkpoint));
    gguf_key_u32(&file, "llama.block_count", 2);
    put_weight(&file, "a", 1, 1, (float[]){1});
    ck_szg_fails(SZG_EDATA, "llama.block_count: is 2, and the file has 1 tensors",
                 open_file(&file, &checkpoint));
    put_weight(&file, "b", 1, 1, (float[]){1});
    gguf_key_u32(&file, "llama.embedding_length", 9);
    gguf_key_u32(&file, "llama.attention.head_count", 2);
    ck_szg_fails(SZG_EDATA,
                 "llama.attention.key_length: is missing, and 2 heads do not divide the model size "
                 "9",
                 open_file(&file, &checkpoint));
    gguf_key_u32(&file, "llama.attention.key_length", 4);
    ck_szg_fails(SZG_EDATA, "no tensor is called *blk.N.attn_q.weight",
                 open_file(&file, &checkpoint));
    gguf_free(&file);
    for (int i = 0; i < 2; i++) {
        begin(&file, "general.architecture", "llama");
        gguf_key_u32(&file, "llama.block_count", 2);
        put_weight(&file, "a", 1, 1, (float[]){1});
        put_weight(&file, "b", 1, 1, (float[]){1});
        gguf_key_u32(&file, "llama.embedding_length", 8);
        gguf_key(&file, "llama.attention.head_count", GGUF_ARRAY);
        gguf_add_u32(&file.keys, GGUF_U32);
        gguf_add_u64(&file.keys, 2);
        gguf_add(&file.keys, heads[i], sizeof heads[i]);
        ck_szg_fails(SZG_EDATA,
                     i ? "llama.attention.head_count: differs from layer to layer (2 and 1)"
                       : "no tensor is called",
                     open_file(&file, &checkpoint));
        gguf_free(&file);
    }
}
END_TEST

/* Without a known architecture the file is one of weights. */
START_TEST(other_files_are_weights) {
    static const char *const names[][3] = {
        {"general.architecture", "rwkv7",
         "general.architecture 'rwkv7' is not read by szego: it has a recurrence in "
         "place of attention"},
        {"general.architecture", "openelm",
         "general.architecture 'openelm' is not read by szego: numbers of heads differ from layer "
         "to layer"},
        {"general.architecture", "other", "general.architecture 'other' is not known to szego"},
        {"general.name", "x", "the metadata have no general.architecture"}};
    gguf_file file;
    szg_checkpoint *checkpoint;
    szg_checkpoint_tables tables;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        begin(&file, names[i][0], names[i][1]);
        put_weight(&file, "w", 1, 2, (float[]){3, 4});
        ck_szg_ok(open_file(&file, &checkpoint));
        ck_assert_str_eq(szg_checkpoint_describe(checkpoint).unknown, names[i][2]);
        ck_szg_ok(szg_checkpoint_analyse(test_context(), checkpoint, NULL, &tables));
        ck_close(cell(tables.summary, 0, "sigma_max"), 5, weyl(2, 5));
        ck_assert_str_eq(cell_text(tables.tensors, 0, "dtype"), "F32");
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&checkpoint);
        gguf_free(&file);
    }
    begin(&file, "general.type", "adapter");
    ck_szg_fails(SZG_EDATA, "general.type: is 'adapter': this is a LoRA adapter",
                 open_file(&file, &checkpoint));
    gguf_free(&file);
}
END_TEST

START_TEST(configuration_is_the_metadata) {
    test_model model;
    gguf_file file;
    szg_checkpoint *checkpoint;
    fill_small(&file, &model, "llama");
    gguf_write(&file, model_path(&model, "model.gguf"));
    model_write_text(&model, "config.json", "{\"model_type\":\"bert\"}");
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, NULL, &checkpoint));
    ck_assert_str_eq(szg_checkpoint_describe(checkpoint).model_type, "llama");
    szg_checkpoint_close(&checkpoint);
    ck_szg_ok(szg_checkpoint_open(test_context(), model.folder, "", &checkpoint));
    ck_assert_str_eq(szg_checkpoint_describe(checkpoint).unknown, "the metadata are not used");
    szg_checkpoint_close(&checkpoint);
    ck_szg_fails(SZG_EINVAL, "a GGUF file has its configuration in its metadata",
                 szg_checkpoint_open(test_context(), model.folder, "config.json", &checkpoint));
    const char *const set[] = {"rope_theta=500000"};
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .set = set,
                                            .sets = 1};
    ck_szg_fails(SZG_EINVAL, "--set changes config.json",
                 szg_checkpoint_open_chosen(test_context(), model.folder, &choices, &checkpoint));
    gguf_free(&file);
    model_close(&model);
}
END_TEST

TEST_FILE("gguf_keys") {
    test_add(suite, "divisors_of_frequencies_are_followed", divisors_of_frequencies_are_followed);
    test_add(suite, "ramps_are_rounded_but_in_two_architectures",
             ramps_are_rounded_but_in_two_architectures);
    test_add(suite, "bases_that_llama_cpp_does_not_read_are_refused",
             bases_that_llama_cpp_does_not_read_are_refused);
    test_add(suite, "sliding_layers_have_the_base_of_llama_cpp",
             sliding_layers_have_the_base_of_llama_cpp);
    test_add(suite, "what_is_left_out_is_noted", what_is_left_out_is_noted);
    test_add(suite, "bad_divisors_are_refused", bad_divisors_are_refused);
    test_add(suite, "pairs_that_rotate_are_told_by_divisors",
             pairs_that_rotate_are_told_by_divisors);
    test_add(suite, "stacks_are_chosen_by_name", stacks_are_chosen_by_name);
    test_add(suite, "factors_beside_weights_are_refused", factors_beside_weights_are_refused);
    test_add(suite, "bad_keys_are_named", bad_keys_are_named);
    test_add(suite, "contradictions_are_named", contradictions_are_named);
    test_add(suite, "sizes_are_required_and_one_for_all_layers",
             sizes_are_required_and_one_for_all_layers);
    test_add(suite, "other_files_are_weights", other_files_are_weights);
    test_add(suite, "configuration_is_the_metadata", configuration_is_the_metadata);
}

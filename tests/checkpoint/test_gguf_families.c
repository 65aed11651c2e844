/* The tiny models of tests/data/families as GGUF files: names, order of rows and keys as
 * llama.cpp's converter writes them, written down here apart from the library's tables. Logits are
 * those that transformers computed; spectra and frequencies are those of the safetensors. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "families_oracle.h"
#include "gguf_model.h"

/* What a file cannot say is another number in it than in the model. */
typedef struct differing {
    double file, model; /* both 0: they agree */
} differing;

typedef struct conversion {
    const char *family, *architecture;
    const char *stack; /* NULL: the only one */
    const char *kind;  /* the stack of the file alone, whose layers are some of the model's */
    const char
        *layers; /* a digit a layer of the file: which one of the model it is; NULL: as many */
    enum {
        AS_THEY_ARE,
        PERMUTED,    /* halves of a head's rows turned into neighbours */
        HEADS_FUSED, /* [H, 3, e] */
        GROUPS_FUSED /* [K, H/K + 2, e] */
    } rows;
    bool split;     /* kv_b_proj as k_b, transposed by head, and v_b */
    bool plus_one;  /* gains get 1, in single precision */
    bool one_stack; /* the file has no decoder */
    bool by_head;   /* norms of queries and keys have gains for each head: those of all */
    bool divided;   /* LLaMA 3's scaling, as divisors */
    int turned;     /* so many pairs rotate, by divisors; 0: there are none */
    key_value keys[14];
    differing scale, temperature, temperature_length;
    double roundoff; /* of the frequencies, through numbers in single precision */
} conversion;

#define YARN_KEYS                                                                                  \
    TXT("rope.scaling.type", "yarn"), NUM("rope.scaling.factor", 4),                               \
        INT("rope.scaling.original_context_length", 16)
#define LATENT_KEYS                                                                                \
    INT("attention.kv_lora_rank", 8), INT("rope.dimension_count", 4), BASE(1e4),                   \
        INT("attention.key_length", 12), INT("attention.value_length", 8),                         \
        INT("attention.key_length_mla", 10), INT("attention.value_length_mla", 4)
#define GEMMA4_KEYS                                                                                \
    BASE(1e6), NUM("rope.freq_base_swa", 1e4), INT("rope.dimension_count", 16),                    \
        INT("rope.dimension_count_swa", 8), INT("attention.key_length", 16),                       \
        INT("attention.key_length_swa", 8), SLIDING("1010"),                                       \
        PER_LAYER("attention.head_count_kv", "2121"), INT("attention.shared_kv_layers", 2),        \
        INT("attention.sliding_window", 32)
#define GEMMA3_SCALE                                                                               \
    { 0.35355339059327373, 0.44721359549995793 }
#define GEMMA3_KEYS                                                                                \
    BASE(1e6), NUM("rope.freq_base_swa", 1e4), TXT("rope.scaling.type", "linear"),                 \
        NUM("rope.scaling.factor", 8), INT("attention.sliding_window", 32), SLIDING("10")
#define WINDOW INT("attention.sliding_window", 32)
#define SIXTEEN(of) of of of of of of of of of of of of of of of of

static const conversion conversions[] = {
    {"gpt_oss", "gpt-oss", .keys = {BASE(1.5e5), YARN_KEYS, WINDOW}},
    {"deepseek_v3", "deepseek2", .split = true,
     .keys = {LATENT_KEYS, INT("attention.q_lora_rank", 12), YARN_KEYS,
              NUM("rope.scaling.yarn_log_multiplier", 0.1)}},
    {"deepseek_v2", "deepseek2", /* as it was before the keys were split */
     .keys = {INT("attention.kv_lora_rank", 8), INT("rope.dimension_count", 4), BASE(1e4),
              INT("attention.key_length", 10), INT("attention.value_length", 4),
              INT("attention.q_lora_rank", 12)}},
    {"deepseek_v2-lite", "deepseek2", .split = true,
     .keys = {LATENT_KEYS, YARN_KEYS, NUM("rope.scaling.yarn_log_multiplier", 0.0707)}},
    {"mistral4", "mistral4", .split = true,
     .keys = {LATENT_KEYS, INT("attention.q_lora_rank", 12), YARN_KEYS,
              NUM("rope.scaling.yarn_log_multiplier", 0.1), NUM("attention.temperature_scale", 0.1),
              INT("attention.temperature_length", 16)}},
    {"ministral3", "mistral3", .rows = PERMUTED,
     .keys = {BASE(1e6), YARN_KEYS, NUM("rope.scaling.yarn_log_multiplier", 1),
              NUM("attention.temperature_scale", 0.5)}},
    {"llama4_text", "llama4", .layers = "0001", .divided = true,
     .keys = {BASE(5e5), INT("expert_count", 16)}, .temperature = {0.1, 0.5},
     .temperature_length = {8192, 4}},
    {"cohere2", "cohere2", .layers = "0001", .keys = {BASE(5e4), WINDOW}},
    {"cohere2", "cohere2", .layers = "001",
     .keys = {BASE(5e4), WINDOW, INT("attention.sliding_window_pattern", 3)}},
    {"exaone4", "exaone4", .layers = SIXTEEN("0001"), .keys = {BASE(1e6)}},
    {"exaone4", "exaone4", .layers = "01", .keys = {BASE(1e6), WINDOW, SLIDING("10")}},
    {"exaone4", "exaone4", .layers = "0000", .keys = {BASE(1e6)}},
    {"bloom", "bloom", .rows = HEADS_FUSED},
    {"mpt", "mpt", .scale = {0.5, 0.4},
     .keys = {NUM("attention.clamp_kqv", 0.8), NUM("attention.max_alibi_bias", 4)}},
    {"nomic_bert", "nomic-bert", .keys = {BASE(1e3)}},
    {"modernbert", "modern-bert",
     .keys = {BASE(160000), WINDOW, INT("attention.sliding_window_pattern", 2)}},
    {"modernbert", "modern-bert", .layers = "011",
     .keys = {BASE(160000), WINDOW, NUM("rope.freq_base_swa", 10000)}},
    {"minimax_m2", "minimax-m2", .keys = {BASE(5e6), INT("rope.dimension_count", 4)}},
    {"hunyuan_v1_dense", "hunyuan-dense", .keys = {BASE(1e4)}},
    {"hunyuan_v1_dense-alpha", "hunyuan-dense", .roundoff = 0x1p-24,
     .keys = {BASE(1842015.7493201932), TXT("rope.scaling.type", "none")}}, /* 1e4 50^(8/6) */
    {"hunyuan_v1_dense-alpha", "hunyuan-dense", .keys = {BASE(1e4), NUM("rope.scaling.alpha", 50)}},
    {"lfm2", "lfm2", .keys = {BASE(1e6), PER_LAYER("attention.head_count_kv", "02")}},
    {"qwen3_next", "qwen3next", .plus_one = true,
     .keys = {BASE(1e7), INT("rope.dimension_count", 4), INT("full_attention_interval", 2)}},
    {"qwen3_next", "qwen3next", .layers = "0001", .plus_one = true,
     .keys = {BASE(1e7), INT("rope.dimension_count", 4)}},
    {"qwen3_5_text", "qwen35", .plus_one = true,
     .keys = {BASE(1e7), INT("rope.dimension_count", 4), INT("full_attention_interval", 2)}},
    {"olmo3", "olmo2", .keys = {BASE(5e5), YARN_KEYS, WINDOW, SLIDING("10")}},
    {"olmo3", "olmo2", .layers = "0001", .keys = {BASE(5e5), YARN_KEYS, WINDOW}},
    {"olmo2", "olmo2", .keys = {BASE(5e5)}},
    {"olmoe", "olmoe", .keys = {BASE(1e4)}},
    {"qwen2_vl", "qwen2vl", .keys = {BASE(1e6), PER_LAYER("rope.dimension_sections", "2110")}},
    {"qwen3_vl", "qwen3vl", .keys = {BASE(1e6), PER_LAYER("rope.dimension_sections", "2110")}},
    {"gpt_bigcode", "starcoder", .rows = AS_THEY_ARE},
    {"falcon", "falcon", .rows = GROUPS_FUSED, .keys = {BASE(1e4)}},
    {"gpt_neox", "gptneox", .rows = HEADS_FUSED,
     .keys = {BASE(1e4), INT("rope.dimension_count", 2)}},
    {"cohere", "command-r", .keys = {BASE(8e6)}},
    {"olmo", "olmo", .rows = PERMUTED, .keys = {BASE(1e4), NUM("attention.clamp_kqv", 0.8)}},
    {"smollm3", "smollm3", .layers = "0001", .rows = PERMUTED, .keys = {BASE(5e6)}},
    {"nemotron", "nemotron", .plus_one = true, .keys = {BASE(1e4), INT("rope.dimension_count", 2)}},
    {"gemma2", "gemma2", .plus_one = true, .keys = {BASE(1e4), NUM("attn_logit_softcapping", 2)},
     .scale = {0.35355339059327373, 0.44721359549995793}},
    {"glm4_moe", "glm4moe", .keys = {BASE(1e6), INT("rope.dimension_count", 4)}},
    {"starcoder2", "starcoder2", .keys = {BASE(1e5)}},
    {"seed_oss", "seed_oss", .keys = {BASE(1e7)}},
    {"apertus", "apertus", .keys = {BASE(1.2e7)}},
    {"dots1", "dots1", .keys = {BASE(1e7)}},
    {"jais2", "jais2", .keys = {BASE(5e5)}},
    {"exaone_moe", "exaone-moe", .keys = {BASE(1e6), WINDOW, SLIDING("10")}},
    {"exaone_moe", "exaone-moe", .layers = "0001", .keys = {BASE(1e6), WINDOW}},
    {"hunyuan_v1_moe", "hunyuan-moe", .keys = {BASE(1e4)}},
    {"arcee", "arcee", .rows = PERMUTED, .keys = {BASE(1e4)}},
    {"ernie4_5", "ernie4_5", .keys = {BASE(5e5)}},
    {"ernie4_5_moe", "ernie4_5-moe", .keys = {BASE(5e5)}},
    {"lfm2_moe", "lfm2moe", .layers = "10",
     .keys = {BASE(1e6), PER_LAYER("attention.head_count_kv", "20")}},
    {"deepseek_v32", "deepseek32", .split = true,
     .keys = {LATENT_KEYS, INT("attention.q_lora_rank", 12)}},
    {"gemma3n_text", "gemma3n", .layers = "0000100001000010000122", .keys = {BASE(1e6), WINDOW}},
    {"gemma3n_text", "gemma3n",
     .keys = {BASE(1e6), WINDOW, SLIDING("1010"), INT("attention.shared_kv_layers", 2)}},
    {"minimax_m2", "minimax-m2", .layers = "011", /* the last predicts further tokens */
     .keys = {BASE(5e6), INT("rope.dimension_count", 4), INT("nextn_predict_layers", 1)}},
    {"gemma4_text", "gemma4", .stack = "sliding", .turned = 2, .keys = {GEMMA4_KEYS}},
    {"gemma4_text", "gemma4", .stack = "full", .turned = 2, .keys = {GEMMA4_KEYS}},
    {"t5", "t5", .stack = "encoder"},
    {"t5", "t5", .stack = "decoder", .keys = {INT("decoder_block_count", 2)}},
    {"t5", "t5", .stack = "cross"},
    {"umt5", "t5", .stack = "encoder"},
    {"umt5", "t5", .stack = "decoder"},
    {"t5", "t5encoder", .stack = "encoder", .one_stack = true},
    {"eurobert", "eurobert", .keys = {BASE(2.5e5)}},
    {"bitnet", "bitnet",
     .keys = {BASE(5e5), TXT("rope.scaling.type", "linear"), NUM("rope.scaling.factor", 1)}},
    {"hy_v3", "hy_v3", .keys = {BASE(1e6)}},
    {"minicpm3", "minicpm3",
     .keys = {INT("attention.kv_lora_rank", 8), INT("attention.q_lora_rank", 12), BASE(1e4),
              INT("attention.key_length", 10), INT("rope.dimension_count", 4)}},
    {"gptj", "gptj", .keys = {BASE(1e4), INT("rope.dimension_count", 4)}},
    {"granitemoehybrid", "granitehybrid", .rows = PERMUTED, .scale = {0.3F, 0.3},
     .keys = {BASE(1e4), NUM("attention.scale", 0.3), YES("rope.scaling.finetuned"),
              PER_LAYER("attention.head_count_kv", "02")}},
    {"granitemoehybrid-nope", "granitehybrid", .rows = PERMUTED, .scale = {0.3F, 0.3},
     .keys = {NUM("attention.scale", 0.3), NO("rope.scaling.finetuned"),
              PER_LAYER("attention.head_count_kv", "02")}},
    {"afmoe", "afmoe", .layers = "0001", .keys = {BASE(1e4), WINDOW}},
    {"afmoe", "afmoe", .layers = "00010001", .keys = {BASE(1e4), WINDOW, SLIDING("11101110")}},
    {"jamba", "jamba", .keys = {PER_LAYER("attention.head_count_kv", "02")}},
    {"nemotron_h", "nemotron_h", .keys = {PER_LAYER("attention.head_count_kv", "02")}},
    {"nemotron_h", "nemotron_h_moe", .keys = {PER_LAYER("attention.head_count_kv", "02")}},
    {"falcon_h1", "falcon-h1", /* whose converter multiplies the rows of keys */
     .scale = {0.35355339059327373, 0.4 * 0.35355339059327373}, .roundoff = 0x1p-24,
     .keys = {BASE(1e11)}},
    {"internlm2", "internlm2", .rows = PERMUTED, .keys = {BASE(1e6)}},
    {"exaone", "exaone", .keys = {BASE(1e6)}},
    {"dbrx", "dbrx", .keys = {BASE(5e5), NUM("attention.clamp_kqv", 0.8)}},
    {"paddleocr_vl_text", "paddleocr",
     .keys = {BASE(5e5), PER_LAYER("rope.dimension_sections", "1120")}},
    {"jina_embeddings_v3", "jina-bert-v3", .keys = {BASE(2e4)}},
    {"sarvam_moe", "bailingmoe2", .keys = {BASE(1e4)}},
    {"laguna", "laguna", .kind = "full",
     .keys = {BASE(5e5), WINDOW, SLIDING("10"), INT("rope.dimension_count", 4),
              INT("rope.dimension_count_swa", 8), NUM("rope.freq_base_swa", 1e4)}},
    {"laguna", "laguna", .kind = "sliding",
     .keys = {BASE(5e5), WINDOW, SLIDING("10"), INT("rope.dimension_count", 4),
              INT("rope.dimension_count_swa", 8), NUM("rope.freq_base_swa", 1e4)}},
    /* These have the attention of the class, and transformers has none of their own. */
    {"exaone_moe", "smallthinker", .layers = "1000", .keys = {BASE(1e6), WINDOW}},
    {"mistral", "xverse", .rows = PERMUTED, .keys = {BASE(1e4)}},
    {"mistral", "arctic", .rows = PERMUTED, .keys = {BASE(1e4)}},
    {"mistral", "deepseek", .rows = PERMUTED, .keys = {BASE(1e4)}},
    {"mistral", "bailingmoe", .rows = PERMUTED, .keys = {BASE(1e4)}},
    {"mistral", "pangu-embedded", .keys = {BASE(1e4)}},
    {"mistral", "plamo", .keys = {BASE(1e4), INT("rope.dimension_count", 2)}},
    {"mistral", "cogvlm", .keys = {INT("rope.dimension_count", 2), YARN_KEYS}},
    {"qwen3", "grovemoe", .keys = {BASE(1e6)}},
    {"qwen3", "rnd1", .keys = {BASE(1e6), NO("attention.causal")}},
    {"qwen3", "llada-moe", .keys = {BASE(1e6), NO("attention.causal")}},
    {"mistral", "minicpm", .rows = PERMUTED, .keys = {BASE(1e4)}},
    {"mistral", "deci", .rows = PERMUTED,
     .keys = {BASE(1e4), PER_LAYER("attention.head_count_kv", "22"),
              PER_LAYER("attention.head_count", "44")}},
    {"mistral", "baichuan", .layers = SIXTEEN("01"), .rows = PERMUTED, .keys = {BASE(1e4)}},
    {"mistral", "llada", .rows = PERMUTED, .keys = {BASE(1e4), NO("attention.causal")}},
    {"mistral", "qwen", .keys = {BASE(1e4)}},
    {"mistral", "deepseek2-ocr", .keys = {BASE(1e4), INT("rope.dimension_count", 0), WINDOW}},
    {"qwen2", "dream", .keys = {BASE(1e6), YARN_KEYS}},
    {"qwen3", "laguna", .kind = "full", .keys = {BASE(1e6), WINDOW, SLIDING("10")}},
    {"qwen3", "laguna", .kind = "sliding",
     .keys = {BASE(5e5), NUM("rope.freq_base_swa", 1e6), WINDOW, SLIDING("10"), YARN_KEYS}},
    {"qwen3", "laguna", .keys = {BASE(1e6)}},
    {"qwen3", "step35", .kind = "full",
     .keys = {BASE(1e6), WINDOW, SLIDING("10"), INT("rope.dimension_count", 16)}},
    {"qwen3", "step35", .kind = "sliding",
     .keys = {BASE(5e5), NUM("rope.freq_base_swa", 1e6), WINDOW, SLIDING("10"),
              INT("rope.dimension_count", 8)}},
    {"mistral", "mimo2", .kind = "sliding", .keys = {BASE(5e5), WINDOW, SLIDING("10")}},
    {"mistral", "mimo2", .kind = "sliding",
     .keys = {BASE(5e5), NUM("rope.freq_base_swa", 1e4), WINDOW, SLIDING("10"),
              NUM("attention.value_scale", 0.5)}},
    {"cohere2", "cohere2moe",
     .keys = {BASE(5e4), WINDOW, SLIDING("10"), INT("leading_dense_block_count", 1)}},
    {"eurobert", "llama-embed", .rows = PERMUTED, .keys = {BASE(2.5e5)}},
    {"bloom", "jais", .rows = HEADS_FUSED, .scale = {0.25, 0.5},
     .keys = {NUM("attention.max_alibi_bias", 8)}},
    {"starcoder2", "codeshell", .keys = {BASE(1e5)}},
    {"starcoder2", "orion", .keys = {BASE(1e5)}},
    {"hunyuan_v1_dense", "maincoder", .rows = PERMUTED, .keys = {BASE(1e4)}},
    {"hunyuan_v1_dense", "hunyuan_vl", .keys = {BASE(1e4)}},
    {"qwen3", "bailingmoe2", .keys = {BASE(1e6)}},
    {"qwen3", "mellum", .keys = {BASE(1e6), WINDOW, SLIDING("10")}},
    {"qwen3", "plamo2", .by_head = true,
     .keys = {BASE(1e6), PER_LAYER("attention.head_count_kv", "22")}},
    {"gemma3_text", "gemma3", .plus_one = true, .scale = GEMMA3_SCALE, .keys = {GEMMA3_KEYS}},
    {"gemma3_text", "gemma-embedding", .plus_one = true, .scale = GEMMA3_SCALE,
     .keys = {GEMMA3_KEYS}},
    {"gemma3_text", "plamo3", .plus_one = true, .scale = GEMMA3_SCALE, .keys = {GEMMA3_KEYS}},
    {"gemma2", "grok", .plus_one = true, .keys = {BASE(1e4), NUM("attn_logit_softcapping", 2)},
     .scale = {0.08838834764831845, 0.44721359549995793}},
};
enum { CONVERSIONS = sizeof conversions / sizeof *conversions };

/* ---- Names ---- */

/* What follows the layer's index. In the order in which they are tried: "q_proj" is in "q_proj". */
static const struct {
    const char *from, *to;
} names[] =
    {
        {"self_attn.q_proj.", "attn_q."},
        {"self_attn.k_proj.", "attn_k."},
        {"self_attn.q_norm.", "attn_q_norm."},
        {"self_attn.k_norm.", "attn_k_norm."},
        {"self_attn.v_proj.", "attn_v."},
        {"self_attn.o_proj.", "attn_output."},
        {"self_attn.gate_proj.", "attn_gate."},
        {"self_attn.g_proj.", "attn_gate."},
        {"self_attn.out_proj.", "attn_output."},
        {"self_attn.attn_sub_norm.", "attn_sub_norm."},
        {"self_attention.dense.", "attn_output."},
        {"attention.dense.", "attn_output."},
        {"attn.out_proj.", "attn_output."},
        {"attn.Wo.", "attn_output."},
        {"attn.c_proj.", "attn_output."},
        {"self_attn.q_layernorm.", "attn_q_norm."},
        {"self_attn.k_layernorm.", "attn_k_norm."},
        {"self_attn.query_layernorm.", "attn_q_norm."},
        {"self_attn.key_layernorm.", "attn_k_norm."},
        {"self_attn.sinks", "attn_sinks.weight"},
        {"self_attn.q_a_proj.", "attn_q_a."},
        {"self_attn.q_a_layernorm.", "attn_q_a_norm."},
        {"self_attn.q_b_proj.", "attn_q_b."},
        {"self_attn.kv_a_proj_with_mqa.", "attn_kv_a_mqa."},
        {"self_attn.kv_a_layernorm.", "attn_kv_a_norm."},
        {"self_attn.kv_b_proj.", "attn_kv_b."},
        {"self_attention.query_key_value.", "attn_qkv."},
        {"attention.query_key_value.", "attn_qkv."},
        {"attn.Wqkv.", "attn_qkv."},
        {"attn.c_attn.", "attn_qkv."},
        {"attention.query_layernorm.", "attn_q_norm."},
        {"attention.key_layernorm.", "attn_k_norm."},
        {"mixer.q_proj.", "attn_q."},
        {"mixer.k_proj.", "attn_k."},
        {"mixer.v_proj.", "attn_v."},
        {"mixer.o_proj.", "attn_output."},
        {"mixer.Wqkv.", "attn_qkv."},
        {"mixer.out_proj.", "attn_output."},
        {"norm_attn_norm.attn.Wqkv.", "attn_qkv."},
        {"norm_attn_norm.attn.out_proj.", "attn_output."},
        {"norm_attn_norm.norm_1.", "attn_norm."},
        {"attn.attention.q_proj.", "attn_q."},
        {"attn.attention.k_proj.", "attn_k."},
        {"attn.attention.v_proj.", "attn_v."},
        {"attn.attention.out_proj.", "attn_output."},
        {"attention.wo.", "attn_output."},
        {"attention_norm.", "attn_norm."},
        {"norm.", "attn_norm."},
        {"input_layernorm.", "attn_norm."},
        {"operator_norm.", "attn_norm."},
        {"attention_layernorm.", "attn_norm."},
        {"attn_norm.", "attn_norm."},
        {"norm_1.", "attn_norm."},
        {"ln_1.", "attn_norm."},
        {"ln_attn.", "attn_norm_2."},
        {"ln_mlp.", "attn_norm."},
        {"norm2.", "layer_output_norm."},
        {"attn.q_proj.", "attn_q."},
        {"attn.k_proj.", "attn_k."},
        {"attn.v_proj.", "attn_v."},
        {"layer.0.SelfAttention.q.", "attn_q."},
        {"layer.0.SelfAttention.k.", "attn_k."},
        {"layer.0.SelfAttention.v.", "attn_v."},
        {"layer.0.SelfAttention.o.", "attn_o."},
        {"layer.0.SelfAttention.relative_attention_bias.", "attn_rel_b."},
        {"layer.0.layer_norm.", "attn_norm."},
        {"layer.1.EncDecAttention.q.", "cross_attn_q."},
        {"layer.1.EncDecAttention.k.", "cross_attn_k."},
        {"layer.1.EncDecAttention.v.", "cross_attn_v."},
        {"layer.1.EncDecAttention.o.", "cross_attn_o."},
        {"layer.1.layer_norm.", "cross_attn_norm."},
},
  outside[] = {{"emb_ln.", "token_embd_norm."},
               {"embeddings.norm.", "token_embd_norm."},
               {"encoder.final_layer_norm.", "enc.output_norm."},
               {"decoder.final_layer_norm.", "dec.output_norm."},
               {"wpe.weight", "position_embd.weight"}};

/* The layer that a tensor's name has, and what follows it; -1: it is in none. */
static int layer_of(const char *name, const char **rest) {
    for (const char *at = strchr(name, '.'); at; at = strchr(at + 1, '.'))
        if (isdigit((unsigned char)at[1]) && at[2] == '.') {
            *rest = at + 3;
            return at[1] - '0';
        }
    *rest = name;
    return -1;
}

/* The name in GGUF; false where the converter has none or the file needs none. */
static bool rename_tensor(const char *name, int layer, char *out, size_t size) {
    const char *rest;
    bool inside = layer_of(name, &rest) >= 0;
    const char *side = strncmp(name, "encoder.block.", 14) == 0   ? "enc."
                       : strncmp(name, "decoder.block.", 14) == 0 ? "dec."
                                                                  : "";
    size_t count = inside ? sizeof names / sizeof *names : sizeof outside / sizeof *outside;
    for (size_t i = 0; i < count; i++) {
        const char *from = inside ? names[i].from : outside[i].from;
        const char *to = inside ? names[i].to : outside[i].to;
        const char *at = inside ? rest : strstr(name, from);
        if (!at || strncmp(at, from, strlen(from)) != 0)
            continue;
        if (inside)
            snprintf(out, size, "%sblk.%d.%s%s", side, layer, to, at + strlen(from));
        else
            snprintf(out, size, "%s%s", to, at + strlen(from));
        return true;
    }
    return false;
}

/* ---- Rows ---- */

typedef struct shape_of {
    int64_t heads, key_heads, e, nope, value;
} shape_of;

/* Which row of the model is row `row` of the file. */
static int64_t source_row(const conversion *is, const shape_of *of, const char *name, int64_t row) {
    int64_t e = of->e, head = row / e, r = row % e;
    bool fused = strstr(name, "attn_qkv.");
    if (is->rows == PERMUTED && (strstr(name, "attn_q.") || strstr(name, "attn_k.") ||
                                 strstr(name, "attn_q_norm.") || strstr(name, "attn_k_norm.")))
        return head * e + r % 2 * (e / 2) + r / 2;
    if (is->rows == HEADS_FUSED && fused)
        return (head % of->heads * 3 + head / of->heads) * e + r;
    if (is->rows == GROUPS_FUSED && fused) {
        int64_t group = of->heads / of->key_heads, part = head < of->heads;
        int64_t key = (head - of->heads) % of->key_heads, kind = (head - of->heads) / of->key_heads;
        return part ? (head / group * (group + 2) + head % group) * e + r
                    : (key * (group + 2) + group + kind) * e + r;
    }
    return row;
}

/* [H, e] of the norm of queries or keys. */
static void put_gains(gguf_file *file, const shape_of *of, const szgi_tensor *tensor,
                      const char *name) {
    const int64_t shape[] = {strstr(name, "attn_q_norm.") ? of->heads : of->key_heads, of->e};
    double *value = read_all(tensor);
    float *single = calloc((size_t)(shape[0] * shape[1]), sizeof *single);
    ck_assert_ptr_nonnull(single);
    for (int64_t i = 0; i < shape[0] * shape[1]; i++)
        single[i] = (float)value[i % of->e];
    gguf_tensor(file, name, 0, 2, shape, single, (size_t)(shape[0] * shape[1]) * sizeof *single);
    free(value);
    free(single);
}

static void put_tensor(gguf_file *file, const conversion *is, const shape_of *of,
                       const szgi_tensor *tensor, const char *name) {
    double *value = read_all(tensor);
    float *single = calloc((size_t)tensor->count, sizeof *single);
    int64_t rows = tensor->dims > 0 ? tensor->shape[0] : 1, columns = tensor->count / rows;
    bool gain = is->plus_one && strstr(name, "norm.weight");
    ck_assert_ptr_nonnull(single);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            single[i * columns + j] =
                (float)value[source_row(is, of, name, i) * columns + j] + (gain ? 1.0F : 0.0F);
    gguf_tensor(file, name, 0, tensor->dims, tensor->shape, single,
                (size_t)tensor->count * sizeof *single);
    free(value);
    free(single);
}

/* InternLM 2's wqkv [K, H/K + 2, e] as q, k and v, with neighbours in q and k. */
static void put_groups(gguf_file *file, const shape_of *of, const szgi_tensor *tensor, int layer) {
    static const char *const parts[] = {"attn_q", "attn_k", "attn_v"};
    int64_t group = of->heads / of->key_heads, columns = tensor->shape[1], e = of->e;
    double *value = read_all(tensor);
    float *part = calloc((size_t)tensor->count, sizeof *part);
    ck_assert_ptr_nonnull(part);
    for (int p = 0; p < 3; p++) {
        const int64_t shape[] = {(p ? of->key_heads : of->heads) * e, columns};
        char name[64];
        for (int64_t row = 0; row < shape[0]; row++) {
            int64_t head = row / e, r = row % e;
            int64_t from =
                p ? head * (group + 2) + group + p - 1 : head / group * (group + 2) + head % group;
            from = from * e + (p < 2 ? r % 2 * (e / 2) + r / 2 : r);
            for (int64_t j = 0; j < columns; j++)
                part[row * columns + j] = (float)value[from * columns + j];
        }
        snprintf(name, sizeof name, "blk.%d.%s.weight", layer, parts[p]);
        gguf_tensor(file, name, 0, 2, shape, part, (size_t)(shape[0] * columns) * sizeof *part);
    }
    free(value);
    free(part);
}

/* kv_b_proj [H (nope + v), rank] as k_b [H, rank, nope] and v_b [H, v, rank]. */
static void put_split(gguf_file *file, const shape_of *of, const szgi_tensor *tensor, int layer) {
    int64_t rank = tensor->shape[1], both = of->nope + of->value;
    const int64_t keys[] = {of->heads, rank, of->nope}, values[] = {of->heads, of->value, rank};
    double *value = read_all(tensor);
    float *k = calloc((size_t)tensor->count, sizeof *k),
          *v = calloc((size_t)tensor->count, sizeof *v);
    char name[64];
    ck_assert_ptr_nonnull(k);
    ck_assert_ptr_nonnull(v);
    for (int64_t i = 0; i < tensor->count; i++) {
        int64_t head = i / rank / both, row = i / rank % both, j = i % rank;
        if (row < of->nope)
            k[(head * rank + j) * of->nope + row] = (float)value[i];
        else
            v[(head * of->value + row - of->nope) * rank + j] = (float)value[i];
    }
    snprintf(name, sizeof name, "blk.%d.attn_k_b.weight", layer);
    gguf_tensor(file, name, 0, 3, keys, k, (size_t)(keys[0] * keys[1] * keys[2]) * sizeof *k);
    snprintf(name, sizeof name, "blk.%d.attn_v_b.weight", layer);
    gguf_tensor(file, name, 0, 3, values, v,
                (size_t)(values[0] * values[1] * values[2]) * sizeof *v);
    free(value);
    free(k);
    free(v);
}

/* ---- The file ---- */

/* Divisors of LLaMA 3's one band: wavelengths beyond 32 are divided by 8. */
static void put_bands(gguf_file *file, int64_t e, double base) {
    float divisor[16];
    for (int64_t t = 0; t < e / 2; t++)
        divisor[t] = 2 * acos(-1) * pow(base, 2 * (double)t / (double)e) > 32 ? 8 : 1;
    put_divisors(file, "rope_freqs.weight", divisor, (int)(e / 2));
}

/* Divisors that leave all but the first `turned` pairs as they are. */
static void put_turned(gguf_file *file, int turned) {
    float divisor[8]; /* heads of 16 */
    for (int t = 0; t < 8; t++)
        divisor[t] = t < turned ? 1 : 1e30F;
    put_divisors(file, "rope_freqs.weight", divisor, 8);
}

static bool has_key(const conversion *is, const char *key) {
    for (const key_value *own = is->keys; own->key; own++)
        if (strcmp(own->key, key) == 0)
            return true;
    return false;
}

static void put_keys(gguf_file *file, const conversion *is, const szg_checkpoint *model,
                     int layers) {
    const key_value sizes[] = {INT("block_count", layers),
                               INT("embedding_length", model->model_size),
                               INT("attention.head_count", model->heads),
                               INT("attention.head_count_kv", is->split ? 1 : model->key_heads),
                               INT("attention.key_length", model->head_size)};
    begin(file, "general.architecture", is->architecture);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (!has_key(is, sizes[i].key))
            put_key(file, is->architecture, &sizes[i]);
    for (const key_value *own = is->keys; own->key; own++)
        put_key(file, is->architecture, own);
}

static void convert(gguf_file *file, const conversion *is, const szg_checkpoint *model) {
    int layers = is->layers ? (int)strlen(is->layers) : (int)model->layers;
    const shape_of of = {model->heads, model->key_heads, model->head_size, model->latent.nope,
                         model->latent.value};
    put_keys(file, is, model, layers);
    for (int64_t i = 0; i < szgi_safetensors_count(model->tensors); i++) {
        const szgi_tensor *tensor = szgi_safetensors_tensor(model->tensors, i);
        const char *rest;
        char name[128];
        int from = layer_of(tensor->name, &rest);
        if (strncmp(tensor->name, model->prefix, strlen(model->prefix)) != 0)
            continue; /* another stack's */
        if (is->one_stack && strncmp(tensor->name, "decoder.", 8) == 0)
            continue;
        for (int layer = from < 0 ? -1 : 0; layer < (from < 0 ? 0 : layers); layer++) {
            if (from >= 0 && (is->layers ? is->layers[layer] - '0' : layer) != from)
                continue;
            if (is->split && strstr(tensor->name, "kv_b_proj."))
                put_split(file, &of, tensor, layer);
            else if (strstr(tensor->name, "attention.wqkv."))
                put_groups(file, &of, tensor, layer);
            else if (!rename_tensor(tensor->name, layer, name, sizeof name))
                continue;
            else if (is->by_head && tensor->count == of.e)
                put_gains(file, &of, tensor, name);
            else
                put_tensor(file, is, &of, tensor, name);
        }
    }
    for (int layer = 0; layer < layers; layer++) { /* layers without attention have weights too */
        char name[64];
        snprintf(name, sizeof name, "blk.%d.ffn_norm.weight", layer);
        gguf_tensor(file, name, 0, 1, (int64_t[]){1}, (float[]){1}, sizeof(float));
    }
    if (is->divided)
        put_bands(file, model->head_size, 5e5);
    if (is->turned)
        put_turned(file, is->turned);
}

/* ---- Comparisons ---- */

/* What the file cannot say, as the model has it: after it is seen to be what the file said. */
static void adjust(const conversion *is, szg_checkpoint *checkpoint) {
    const struct {
        const differing *is;
        double *value;
    } numbers[] = {{&is->temperature, &checkpoint->temperature},
                   {&is->temperature_length, &checkpoint->temperature_length}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].is->file == 0)
            continue;
        ck_assert(*numbers[i].value == numbers[i].is->file);
        *numbers[i].value = numbers[i].is->model;
    }
    for (int64_t i = 0; i < checkpoint->layers && is->scale.file != 0; i++) {
        ck_assert(checkpoint->layer[i].scale == is->scale.file);
        checkpoint->layer[i].scale = is->scale.model;
    }
}

static double norm_of_side(const family_case *own, int64_t layer, bool query, int64_t head) {
    double *rows = rows_of(own, layer, query, head, FOLD_ALL);
    double norm = norm2(own->checkpoint->head_size * own->checkpoint->model_size, rows);
    free(rows);
    return norm;
}

/* Singular values of the product of two sides' rows. Products of rows of d numbers, twice, and what
 * gains (two of queries, two of keys) and scale lost in single precision are errors of the factors;
 * the solver adds its own (Weyl). */
static void check_values(const family_case *file, const szg_checkpoint_tables *got,
                         const family_case *model, const szg_checkpoint_tables *want,
                         double roundoff) {
    const szg_table *a = got->spectra, *b = want->spectra;
    int64_t group = file->checkpoint->heads / file->checkpoint->key_heads, at = 0, seen = 0;
    int64_t d = file->checkpoint->model_size, e = file->checkpoint->head_size;
    for (int64_t i = 0; i < szg_table_rows(a); i++) {
        int64_t layer = (int64_t)cell(a, i, "layer"), head = (int64_t)cell(a, i, "head");
        if (strcmp(cell_text(a, i, "kind"), "singular") != 0 ||
            strcmp(cell_text(a, i, "matrix"), "qk") != 0)
            continue;
        int64_t from = file->layers ? file->layers[layer] - '0' : layer;
        while (at < szg_table_rows(b) &&
               !((int64_t)cell(b, at, "layer") == from && (int64_t)cell(b, at, "head") == head &&
                 cell(b, at, "index") == cell(a, i, "index") &&
                 strcmp(cell_text(b, at, "kind"), "singular") == 0 &&
                 strcmp(cell_text(b, at, "matrix"), "qk") == 0))
            at++;
        ck_assert_msg(at < szg_table_rows(b), "%s: no such value of layer %lld", file->folder,
                      (long long)from);
        double size =
            norm_of_side(model, from, true, head) * norm_of_side(model, from, false, head / group);
        ck_close(cell(a, i, "re"), cell(b, at, "re"),
                 2 * weyl(d, size) + (gamma_of(4 * (double)(d + e) + 64) + 6 * roundoff) * size);
        at = 0;
        seen++;
    }
    ck_assert_int_gt(seen, 0);
}

/* Bounds of the heads, which gains in single precision move by as much as those. */
static void check_bounds(const family_case *file, const szg_table *got, const szg_table *want,
                         double roundoff) {
    int64_t at = 0;
    for (int64_t i = 0; i < szg_table_rows(got); i++) {
        int64_t layer = (int64_t)cell(got, i, "layer");
        int64_t from = file->layers ? file->layers[layer] - '0' : layer;
        for (at = 0; (int64_t)cell(want, at, "layer") != from ||
                     cell(want, at, "head") != cell(got, i, "head");)
            at++;
        double a = cell(got, i, "bound"), b = cell(want, at, "bound");
        ck_assert_str_eq(cell_text(got, i, "bound_kind"), cell_text(want, at, "bound_kind"));
        /* both are upper ends of enclosures some 1e-9 wide */
        ck_assert_msg((isnan(a) && isnan(b)) || fabs(a - b) <= (1e-8 + 8 * roundoff) * b,
                      "%s: layer %lld: the bound is %.17g, not %.17g", file->folder,
                      (long long)layer, a, b);
    }
}

static void check_conversion(const conversion *is, const family_case *model, family_case *file) {
    const szg_checkpoint_options raw = {SZG_INIT(szg_checkpoint_options), .raw = true};
    szg_checkpoint_tables tables[2], plain[2];
    const szg_checkpoint *both[] = {file->checkpoint, model->checkpoint};
    for (int i = 0; i < 2; i++) {
        ck_szg_ok(szg_checkpoint_analyse(test_context(), both[i], NULL, &tables[i]));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), both[i], &raw, &plain[i]));
        ck_assert_msg(tables[i].bad == 0, "%s: something is skipped", both[i]->source);
    }
    check_values(file, &tables[0], model, &tables[1], is->plus_one ? 0x1p-24 : 0);
    bool single = is->plus_one || has_key(is, "attention.clamp_kqv");
    check_bounds(file, tables[0].bounds, tables[1].bounds, single ? 0x1p-24 : 0);
    if (!is->layers && !is->kind)
        check_frequencies(model->checkpoint, plain[0].frequencies, plain[1].frequencies,
                          is->roundoff);
    for (int i = 0; i < 2; i++) {
        szg_checkpoint_tables_close(&tables[i]);
        szg_checkpoint_tables_close(&plain[i]);
    }
}

/* As many layers fold their input norm as in the safetensors. */
static void check_folded(const family_case *file, const family_case *model) {
    for (int64_t i = 0; i < file->checkpoint->layers; i++) {
        int64_t from = file->layers ? file->layers[i] - '0' : i;
        if (!file->checkpoint->layer[i].absent)
            ck_assert_msg(szgi_fold_has_input(file->checkpoint, i) ==
                              szgi_fold_has_input(model->checkpoint, from),
                          "%s: layer %lld", file->folder, (long long)i);
    }
}

static szg_status open_stack(const char *stack, const char *path, szg_checkpoint **out) {
    const szg_checkpoint_choices choices = {SZG_INIT(szg_checkpoint_choices), .stack = stack};
    return szg_checkpoint_open_chosen(test_context(), path, &choices, out);
}

START_TEST(families_have_the_logits_of_transformers) {
    const conversion *is = &conversions[_i];
    char folder[512], oracle[640], stack[32];
    gguf_file file;
    szg_checkpoint *model, *converted;
    snprintf(folder, sizeof folder, "%s/%s", data_folder(), is->family);
    snprintf(oracle, sizeof oracle, "%s/oracle.safetensors", folder);
    snprintf(stack, sizeof stack, "%s.", is->stack ? is->stack : "");
    ck_szg_ok(open_stack(is->stack, folder, &model));
    convert(&file, is, model);
    gguf_write(&file, scratch_path("model.gguf"));
    ck_szg_ok(open_stack(is->kind ? is->kind : is->stack, scratch_path("model.gguf"), &converted));
    ck_assert_msg(converted->family, "%s", converted->unknown);
    family_case own = {.checkpoint = converted,
                       .stack = is->stack ? stack : "",
                       .layers = is->layers,
                       .eps = read_eps(model->settings)},
                whole = {.checkpoint = model, .stack = is->stack ? stack : ""};
    snprintf(own.folder, sizeof own.folder, "%s as %s", folder, is->architecture);
    ck_szg_ok(szgi_safetensors_open(test_context(), oracle, &own.oracle));
    double *positions = read_all(szgi_safetensors_find(own.oracle, "positions"));
    for (int64_t i = 0; i < szgi_safetensors_find(own.oracle, "positions")->count; i++)
        own.positions[i] = (int64_t)positions[i];
    free(positions);
    if (has_key(is, "nextn_predict_layers"))
        ck_assert_int_eq(converted->layers, (int64_t)strlen(is->layers) - 1);
    adjust(is, converted);
    for (int64_t layer = 0; layer < converted->layers; layer++)
        if (!converted->family->only || !converted->layer[layer].absent) /* another stack's */
            check_layer(&own, layer), check_written(&own, layer);
    check_folded(&own, &whole);
    check_conversion(is, &whole, &own);
    szgi_safetensors_close(&own.oracle);
    szg_checkpoint_close(&converted);
    szg_checkpoint_close(&model);
    gguf_free(&file);
}
END_TEST

/* What the resolved properties name is the file's own key, or nothing where llama.cpp's code
 * decided. */
START_TEST(properties_of_families_name_the_keys_of_the_file) {
    static const struct {
        const char *family, *architecture, *property, *value, *layers, *key;
    } want[] = {
        {"deepseek_v3", "deepseek2", "key_rank", "8", "", "deepseek2.attention.kv_lora_rank"},
        {"deepseek_v3", "deepseek2", "query_rank", "12", "", "deepseek2.attention.q_lora_rank"},
        {"deepseek_v3", "deepseek2", "head_size", "10", "", "deepseek2.attention.key_length_mla"},
        {"deepseek_v3", "deepseek2", "scale", "0.4099820231192709", "0-1",
         "deepseek2.rope.scaling.yarn_log_multiplier"},
        {"deepseek_v3", "deepseek2", "key_tensor", "blk.N.attn_k_b.weight", "", ""},
        {"mistral4", "mistral4", "temperature",
         "1 + 0.10000000149011612 log(1 + floor(position / 16))", "",
         "mistral4.attention.temperature_scale"},
        {"llama4_text", "llama4", "temperature",
         "1 + 0.10000000000000001 log(1 + floor(position / 8192))", "", ""},
        {"llama4_text", "llama4", "query_key_norm",
         "RMS of each head without gains, after the rotation", "", "llama4.expert_count"},
        {"llama4_text", "llama4", "no_rotation", "1", "3", ""},
        {"lfm2", "lfm2", "attention", "queries and keys", "1", "lfm2.attention.head_count_kv"},
        {"qwen3_next", "qwen3next", "attention", "queries and keys", "1",
         "qwen3next.full_attention_interval"},
        {"exaone4", "exaone4", "no_rotation", "1", "3+7+11+15+19+23+27+31+35+39+43+47+51+55+59+63",
         ""},
        {"mpt", "mpt", "alibi", "1", "", "mpt.attention.max_alibi_bias"},
        {"bloom", "bloom", "alibi", "1", "", ""},
        {"gpt_oss", "gpt-oss", "sinks", "4", "", "blk.0.attn_sinks.weight"},
        {"qwen2_vl", "qwen2vl", "rotary_sections", "[2,1,1,0]", "",
         "qwen2vl.rope.dimension_sections"},
        {"gemma4_text", "gemma4", "head_size", "8", "", "gemma4.attention.key_length_swa"},
        {"t5", "t5", "layers", "2", "", "t5.block_count"},
        {"gemma2", "grok", "soft_cap", "2", "", "grok.attn_logit_softcapping"},
        {"granitemoehybrid-nope", "granitehybrid", "no_rotation", "1", "1",
         "granitehybrid.rope.scaling.finetuned"},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const szg_checkpoint_options dry = {SZG_INIT(szg_checkpoint_options), .dry_run = true};
        char folder[512];
        gguf_file file;
        szg_checkpoint *model, *converted;
        szg_checkpoint_tables tables;
        const conversion *is = conversions;
        while (strcmp(is->family, want[i].family) != 0 ||
               strcmp(is->architecture, want[i].architecture) != 0)
            is++;
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), is->family);
        ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &model));
        convert(&file, is, model);
        ck_szg_ok(open_file(&file, &converted));
        ck_szg_ok(szg_checkpoint_analyse(test_context(), converted, &dry, &tables));
        int64_t row = 0;
        while (row < szg_table_rows(tables.architecture) &&
               strcmp(cell_text(tables.architecture, row, "property"), want[i].property) != 0)
            row++;
        ck_assert_msg(row < szg_table_rows(tables.architecture), "%s has no %s",
                      want[i].architecture, want[i].property);
        ck_assert_str_eq(cell_text(tables.architecture, row, "value"), want[i].value);
        ck_assert_str_eq(cell_text(tables.architecture, row, "layers"), want[i].layers);
        ck_assert_str_eq(cell_text(tables.architecture, row, "key"), want[i].key);
        szg_checkpoint_tables_close(&tables);
        szg_checkpoint_close(&converted);
        szg_checkpoint_close(&model);
        gguf_free(&file);
    }
}
END_TEST

/* Values of 4 dimensions a head where the keys say 8: qk stays, and ov says which tensor is wrong.
 */
START_TEST(split_values_of_another_size_are_refused) {
    const szg_checkpoint_options options = {SZG_INIT(szg_checkpoint_options), .circuits = true};
    conversion is = conversions[1];
    char folder[512];
    gguf_file file;
    szg_checkpoint *model, *converted;
    szg_checkpoint_tables tables;
    ck_assert(is.split);
    for (key_value *own = is.keys; own->key; own++)
        if (strcmp(own->key, "attention.value_length_mla") == 0)
            own->number = 8;
    snprintf(folder, sizeof folder, "%s/%s", data_folder(), is.family);
    ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &model));
    convert(&file, &is, model);
    ck_szg_ok(open_file(&file, &converted));
    ck_szg_ok(szg_checkpoint_analyse(test_context(), converted, &options, &tables));
    ck_assert_int_eq(tables.bad, converted->layers);
    int64_t rows = 0, said = 0;
    for (int64_t i = 0; i < szg_table_rows(tables.circuits); i++) {
        rows +=
            !szg_table_is_empty(tables.circuits, i, szg_table_find(tables.circuits, "sigma_max"));
        said += strstr(cell_text(tables.circuits, i, "note"),
                       "attn_v_b.weight has shape [4, 4, 8], the configuration wants [4, 8, 8]") !=
                NULL;
    }
    ck_assert_int_eq(rows, converted->layers * converted->heads);
    ck_assert_int_eq(said, converted->layers);
    szg_checkpoint_tables_close(&tables);
    szg_checkpoint_close(&converted);
    szg_checkpoint_close(&model);
    gguf_free(&file);
}
END_TEST

static szg_status open_and_read(const char *path) {
    szg_checkpoint *checkpoint;
    SZG_TRY(szg_checkpoint_open(test_context(), path, NULL, &checkpoint));
    double *rows = calloc((size_t)(checkpoint->head_size * checkpoint->model_size), sizeof *rows);
    szg_status status = szgi_checkpoint_keys(test_context(), checkpoint, 1, 0, rows);
    szg_checkpoint_close(&checkpoint);
    free(rows);
    return status;
}

START_TEST(files_of_families_survive_refused_allocations) {
    static const char *const each[] = {"deepseek_v3", "lfm2", "gpt_oss", "mistral4"};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        char folder[512];
        gguf_file file;
        szg_checkpoint *model;
        const conversion *is = conversions;
        while (strcmp(is->family, each[i]) != 0)
            is++;
        snprintf(folder, sizeof folder, "%s/%s", data_folder(), each[i]);
        ck_szg_ok(szg_checkpoint_open(test_context(), folder, NULL, &model));
        convert(&file, is, model);
        szg_checkpoint_close(&model);
        gguf_write(&file, scratch_path("model.gguf"));
        ck_survives_failed_allocations(40, open_and_read(scratch_path("model.gguf")));
        gguf_free(&file);
    }
}
END_TEST

TEST_FILE("gguf_families") {
    test_add_loop(suite, "families_have_the_logits_of_transformers",
                  families_have_the_logits_of_transformers, CONVERSIONS);
    test_add(suite, "properties_of_families_name_the_keys_of_the_file",
             properties_of_families_name_the_keys_of_the_file);
    test_add(suite, "split_values_of_another_size_are_refused",
             split_values_of_another_size_are_refused);
    test_add(suite, "files_of_families_survive_refused_allocations",
             files_of_families_survive_refused_allocations);
}

#include <string.h>

#include "gguf_architecture.h"

#define HALF(architecture, family, ...)                                                            \
    { .name = architecture, .model_type = family, .pairing = SZGI_PAIRING_HALF, __VA_ARGS__ }
#define INTERLEAVED(architecture, family, ...)                                                     \
    { .name = architecture, .model_type = family, .pairing = SZGI_PAIRING_INTERLEAVED, __VA_ARGS__ }

static const gguf_architecture architectures[] = {
    HALF("bert", "bert"), /* RoBERTa and DistilBERT too */
    HALF("nomic-bert", "nomic_bert"),
    HALF("nomic-bert-moe", "nomic_bert"),
    HALF("modern-bert", "modernbert", .sliding = SLIDING_BASES, .pattern = 3, .whole_first = true),
    HALF("eurobert", "eurobert"),
    HALF("jina-bert-v3", "nomic_bert"),
    HALF("t5", "t5"), /* mT5 and UMT5 too */
    HALF("t5encoder", "t5"),
    HALF("gpt2", "gpt2"),
    INTERLEAVED("gptj", "gptj",
                .note = "llama.cpp has no code for 'gptj': pairs are taken to be those of GPT-J, "
                        "two neighbours, as its rows are without a permutation"),
    HALF("starcoder", "gpt_bigcode"),
    HALF("gptneox", "gpt_neox"),
    HALF("bloom", "bloom", .alibi = true),
    HALF("mpt", "mpt"),
    HALF("refact", "llama", .unpositioned = true, .alibi = true),
    HALF("jais", "bloom", .alibi = true, .alibi_key = true, .inverse_scale = true),
    HALF("codeshell", "starcoder2"),
    INTERLEAVED("llama", "llama"), /* Mistral and Mixtral too */
    INTERLEAVED("deci", "llama", .mixed = true),
    INTERLEAVED("baichuan", "llama", .rotated_layers = 32, .alibi_layers = 40),
    INTERLEAVED("internlm2", "internlm2"),
    INTERLEAVED("minicpm", "llama"),
    INTERLEAVED("xverse", "llama"),
    INTERLEAVED("arctic", "llama"),
    INTERLEAVED("deepseek", "llama"),
    INTERLEAVED("bailingmoe", "llama"),
    INTERLEAVED("llada", "llama", .looks_ahead = true),
    INTERLEAVED("llama-embed", "llama", .looks_ahead = true),
    INTERLEAVED("chameleon", "llama", .norm = NORM_LAYER, .swin = true),
    INTERLEAVED("maincoder", "hunyuan_v1_dense"),
    HALF("deepseek2-ocr", "llama", .rotation = ROTATION_PLAIN), /* heads are those of LLaMA */
    HALF("exaone", "exaone"),
    HALF("plamo", "llama", .rotation = ROTATION_WHOLE),
    HALF("qwen", "llama"),
    HALF("pangu-embedded", "llama"),
    HALF("falcon-h1", "llama"), /* whose multipliers are in its weights */
    HALF("cogvlm", "llama", .rotation = ROTATION_PLAIN,
         .note = "tokens of images have weights of their own, which are not read"),
    HALF("orion", "starcoder2"),
    HALF("dbrx", "dbrx"),
    HALF("grok", "llama", .output_scale = 0.08838834764831845, .cap = 30, .beta_fast = 8),
    HALF("smallthinker", "exaone_moe", .sliding = SLIDING_ROTATES, .pattern = 4,
         .whole_first = true, .counted = true),
    INTERLEAVED("llama4", "llama4_text", .unrotated = 4, .bare_experts = 128, .tempered = true,
                .temperature = 0.1, .temperature_length = 8192),
    INTERLEAVED("mistral3", "ministral3", .multiplier = MULTIPLIER_WHOLE, .tempered = true),
    INTERLEAVED("mistral4", "mistral4", .multiplier = MULTIPLIER_TENTH, .tempered = true),
    INTERLEAVED("deepseek2", "deepseek_v2", .multiplier = MULTIPLIER_CANCEL, .tempered = true),
    INTERLEAVED("plm", "deepseek_v2"),
    INTERLEAVED("deepseek32", "deepseek_v32", .multiplier = MULTIPLIER_TENTH),
    INTERLEAVED("glm-dsa", "glm_moe_dsa", .multiplier = MULTIPLIER_TENTH),
    HALF("minicpm3", "minicpm3"),
    HALF("qwen2", "qwen2"),
    HALF("qwen2moe", "qwen2_moe"),
    HALF("qwen2vl", "qwen2_vl_text"),
    HALF("qwen3", "qwen3"),
    HALF("qwen3moe", "qwen3_moe"),
    HALF("qwen3vl", "qwen3_vl_text"),
    HALF("qwen3vlmoe", "qwen3_vl_moe_text"),
    HALF("dream", "qwen2", .looks_ahead = true),
    HALF("rnd1", "qwen3_moe", .looks_ahead = true),
    HALF("llada-moe", "qwen3_moe", .looks_ahead = true),
    HALF("grovemoe", "qwen3_moe"),
    HALF("bailingmoe2", "qwen3_moe"),
    HALF("mellum", "mellum", .sliding = SLIDING_UNSCALED, .pattern = 4),
    HALF("plamo2", "qwen3", .mixed = true),
    HALF("plamo3", "qwen3", .sliding = SLIDING_BASES, .pattern = 8, .whole_ramp = true),
    HALF("qwen3next", "qwen3_next", .interval = 4),
    HALF("qwen35", "qwen3_5_text", .interval = 4),
    HALF("qwen35moe", "qwen3_5_moe_text", .interval = 4),
    HALF("gemma", "gemma"),
    HALF("gemma2", "gemma2", .wide_scale = 46, .cap = 50),
    HALF("gemma3", "gemma3_text", .sliding = SLIDING_BASES, .pattern = 6, .wide_scale = 62),
    HALF("gemma-embedding", "gemma3_text", .sliding = SLIDING_BASES, .pattern = 6,
         .both_sides = true),
    HALF("gemma3n", "gemma3n_text", .sliding = SLIDING_BASES, .pattern = 5, .own_keys = 20),
    HALF("gemma4", "gemma4_text", .proportional = true),
    INTERLEAVED("olmo", "olmo"),
    HALF("olmo2", "olmo2", .sliding = SLIDING_UNSCALED, .pattern = 4), /* OLMo 3 too */
    HALF("olmoe", "olmoe"),
    INTERLEAVED("smollm3", "smollm3", .unrotated = 4),
    HALF("starcoder2", "starcoder2"),
    INTERLEAVED("granite", "granite", .finetuned = true),
    INTERLEAVED("granitemoe", "granitemoe", .finetuned = true),
    INTERLEAVED("granitehybrid", "granitemoehybrid", .finetuned = true), /* Bamba too */
    HALF("jamba", "jamba", .mixed = true),
    HALF("nemotron_h", "nemotron_h", .mixed = true),
    HALF("nemotron_h_moe", "nemotron_h", .mixed = true),
    HALF("bitnet", "bitnet"),
    HALF("afmoe", "afmoe", .sliding = SLIDING_ROTATES, .pattern = 4, .counted = true,
         .always_slides = true),
    HALF("hy_v3", "hy_v3"),
    HALF("mimo2", "llama", .stacks = STACKS_BOTH),
    HALF("step35", "qwen3", .stacks = STACKS_HALVED),
    HALF("laguna", "laguna", .stacks = STACKS_SCALED, .pattern = 4, .whole_first = true),
    HALF("kimi-linear", "deepseek_v2", .unpositioned = true, .mixed = true, .alike = true),
    INTERLEAVED("cohere2moe", "cohere2", .sliding = SLIDING_ROTATES, .pattern = 4,
                .whole_first = true, .dense_rotates = true),
    HALF("seed_oss", "seed_oss"),
    HALF("apertus", "apertus"),
    HALF("dots1", "dots1"),
    HALF("jais2", "jais2"),
    HALF("exaone-moe", "exaone_moe", .sliding = SLIDING_ROTATES, .pattern = 4),
    HALF("hunyuan-moe", "hunyuan_v1_moe"),
    INTERLEAVED("arcee", "arcee"),
    INTERLEAVED("ernie4_5", "ernie4_5"),
    HALF("paddleocr", "paddleocr_vl_text"),
    INTERLEAVED("ernie4_5-moe", "ernie4_5_moe"),
    HALF("phi2", "phi"),
    HALF("phi3", "phi3"),
    HALF("phimoe", "phimoe"),
    HALF("falcon", "falcon"),
    HALF("stablelm", "stablelm"),
    HALF("nemotron", "nemotron"),
    HALF("exaone4", "exaone4", .sliding = SLIDING_ROTATES, .pattern = 4, .sliding_layers = 64),
    HALF("gpt-oss", "gpt_oss", .whole_ramp = true),
    HALF("minimax-m2", "minimax_m2"),
    HALF("hunyuan-dense", "hunyuan_v1_dense"),
    HALF("hunyuan_vl", "hunyuan_vl_text"),
    HALF("lfm2", "lfm2"),
    HALF("lfm2moe", "lfm2"),
    INTERLEAVED("command-r", "cohere"),
    INTERLEAVED("cohere2", "cohere2", .sliding = SLIDING_ROTATES, .pattern = 4),
    INTERLEAVED("chatglm", "glm"),
    INTERLEAVED("glm4", "glm4"),
    HALF("glm4moe", "glm4_moe"),
};

const gguf_architecture *szgi_gguf_architecture(const char *name) {
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (strcmp(architectures[i].name, name) == 0)
            return &architectures[i];
    return NULL;
}

#define NO_ATTENTION "it has a recurrence in place of attention"
#define DRAFTS "it proposes tokens to another model, whose states it reads"

const char *szgi_gguf_refusal(const char *name) {
    static const struct {
        const char *name, *why;
    } refused[] = {
        {"mamba", NO_ATTENTION},
        {"mamba2", NO_ATTENTION},
        {"rwkv6", NO_ATTENTION},
        {"rwkv6qwen2", NO_ATTENTION},
        {"rwkv7", NO_ATTENTION},
        {"arwkv7", NO_ATTENTION},
        {"clip", "it makes tokens of images or sound for another model"},
        {"wavtokenizer-dec", "queries and keys of sound come from convolutions"},
        {"jina-bert-v2", "ALiBi acts on lags of both signs"},
        {"neo-bert",
         "its converter keeps q, k and v of each head together, and llama.cpp reads all "
         "q, all k, all v"},
        {"deepseek4", "keys are compressed over positions"},
        {"openelm", "numbers of heads differ from layer to layer"},
        {"talkie", "queries have one gain a head, and norms of the input have none"},
        {"eagle3", DRAFTS},
        {"dflash", DRAFTS},
        {"gemma4-assistant", DRAFTS},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].name, name) == 0)
            return refused[i].why;
    return NULL;
}

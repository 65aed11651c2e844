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
    INTERLEAVED("llama", "llama"), /* Mistral and Mixtral too */
    INTERLEAVED("llama4", "llama4_text", .unrotated = 4, .bare_experts = 128, .tempered = true,
                .temperature = 0.1, .temperature_length = 8192),
    INTERLEAVED("mistral3", "ministral3", .multiplier = MULTIPLIER_WHOLE, .tempered = true),
    INTERLEAVED("mistral4", "mistral4", .multiplier = MULTIPLIER_TENTH, .tempered = true),
    INTERLEAVED("deepseek2", "deepseek_v2", .multiplier = MULTIPLIER_CANCEL, .tempered = true),
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
    HALF("qwen3next", "qwen3_next", .interval = 4),
    HALF("qwen35", "qwen3_5_text", .interval = 4),
    HALF("qwen35moe", "qwen3_5_moe_text", .interval = 4),
    HALF("gemma", "gemma"),
    HALF("gemma2", "gemma2", .wide_scale = 46),
    HALF("gemma3", "gemma3_text", .sliding = SLIDING_BASES, .pattern = 6, .wide_scale = 62),
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
    HALF("jamba", "llama", .unpositioned = true, .mixed = true),
    HALF("bitnet", "bitnet"),
    HALF("afmoe", "exaone_moe", .sliding = SLIDING_ROTATES, .pattern = 4),
    HALF("hy_v3", "hy_v3"),
    HALF("seed_oss", "seed_oss"),
    HALF("apertus", "apertus"),
    HALF("dots1", "dots1"),
    HALF("jais2", "jais2"),
    HALF("exaone-moe", "exaone_moe", .sliding = SLIDING_ROTATES, .pattern = 4),
    HALF("hunyuan-moe", "hunyuan_v1_moe"),
    INTERLEAVED("arcee", "arcee"),
    INTERLEAVED("ernie4_5", "ernie4_5"),
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

const char *szgi_gguf_refusal(const char *name) {
    static const struct {
        const char *name, *why;
    } refused[] = {
        {"mamba", "it has no attention"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].name, name) == 0)
            return refused[i].why;
    return NULL;
}

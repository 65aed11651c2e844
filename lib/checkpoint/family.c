#include <string.h>

#include "checkpoint_private.h"

#define BERT(type, position_names)                                                                 \
    {                                                                                              \
        .model_type = type, .stem = "encoder.layer.", .query = "attention.self.query.weight",      \
        .key = "attention.self.key.weight", .positions = position_names                            \
    }

#define LLAMA(type, ...)                                                                           \
    {                                                                                              \
        .model_type = type, .stem = "layers.", .query = "self_attn.q_proj.weight",                 \
        .key = "self_attn.k_proj.weight", .positions = POSITION_ROTARY,                            \
        .pairing = SZGI_PAIRING_HALF, __VA_ARGS__                                                  \
    }

#define GPT_KEYS                                                                                   \
    { .layers = "n_layer", .heads = "n_head", .model = "n_embd" }

/* Pairing, layout and scale are properties of the model's definition, not of its file: a model_type
 * stands here only when they are known. */
static const model_family families[] = {
    BERT("bert", POSITION_BERT),
    BERT("roberta", POSITION_ROBERTA),
    BERT("xlm-roberta", POSITION_ROBERTA),
    BERT("camembert", POSITION_ROBERTA),
    {.model_type = "distilbert",
     .keys = {.layers = "n_layers", .heads = "n_heads", .model = "dim"},
     .stem = "transformer.layer.",
     .query = "attention.q_lin.weight",
     .key = "attention.k_lin.weight",
     .positions = POSITION_DISTILBERT},
    {.model_type = "gpt2",
     .keys = GPT_KEYS,
     .stem = "h.",
     .query = "attn.c_attn.weight",
     .layout = LAYOUT_CONV1D,
     .positions = POSITION_GPT2,
     .scale = SCALE_GPT2},
    {.model_type = "gpt_neox",
     .stem = "layers.",
     .query = "attention.query_key_value.weight",
     .layout = LAYOUT_FUSED_HEADS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .partial = PARTIAL_REQUIRED},
    {.model_type = "gptj",
     .keys = GPT_KEYS,
     .stem = "h.",
     .query = "attn.q_proj.weight",
     .key = "attn.k_proj.weight",
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_INTERLEAVED,
     .partial = PARTIAL_DIM,
     .fixed_base = 10000},
    {.model_type = "phi3",
     .stem = "layers.",
     .query = "self_attn.qkv_proj.weight",
     .layout = LAYOUT_FUSED_BLOCKS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .partial = PARTIAL_OPTIONAL},
    LLAMA("llama"),
    LLAMA("mistral"),
    LLAMA("mixtral"),
    LLAMA("qwen2"),
    LLAMA("qwen2_moe"),
    LLAMA("qwen3"),
    LLAMA("qwen3_moe"),
    LLAMA("gemma"),
    LLAMA("gemma2", .scale = SCALE_SCALAR),
    LLAMA("gemma3_text", .scale = SCALE_SCALAR, .local_base = true),
    LLAMA("olmo"),
    LLAMA("olmo2"),
    LLAMA("smollm3", .skips_layers = true),
    LLAMA("starcoder2"),
    LLAMA("granite", .scale = SCALE_FACTOR),
    LLAMA("phi", .partial = PARTIAL_REQUIRED),
    LLAMA("stablelm", .partial = PARTIAL_REQUIRED),
    LLAMA("nemotron", .partial = PARTIAL_REQUIRED),
    {.model_type = "cohere",
     .stem = "layers.",
     .query = "self_attn.q_proj.weight",
     .key = "self_attn.k_proj.weight",
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_INTERLEAVED},
    {.model_type = "glm",
     .stem = "layers.",
     .query = "self_attn.q_proj.weight",
     .key = "self_attn.k_proj.weight",
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_INTERLEAVED,
     .partial = PARTIAL_REQUIRED},
};

const model_family *szgi_family_find(const char *model_type) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].model_type, model_type) == 0)
            return &families[i];
    return NULL;
}

#include "decay_family.h"

#include <string.h>

#define DELTA_NET(type_, ...)                                                                      \
    {                                                                                              \
        .model_type = type_, .name = "gated delta net", .rule = DECAY_GATE,                        \
        .type = "linear_attention", .rate = "linear_attn.A_log", .shift = "linear_attn.dt_bias",   \
        .delta = true, __VA_ARGS__                                                                 \
    }

/* Kimi Delta Attention: a gate for each channel. */
#define KIMI_DELTA(type_, attention, ...)                                                          \
    {                                                                                              \
        .model_type = type_, .name = "Kimi delta attention", .type = "linear_attention",           \
        .norm = "input_layernorm", .rate = attention ".A_log", .shift = attention ".dt_bias",      \
        .delta = true, __VA_ARGS__                                                                 \
    }
#define LOW_RANK .gate = "self_attn.f_b_proj.weight", .down = "self_attn.f_a_proj.weight"

#define MAMBA2(type_, module, norm_name, ...)                                                      \
    {                                                                                              \
        .model_type = type_, .name = "Mamba-2", .rule = DECAY_GATE, .norm = norm_name,             \
        .rate = module ".A_log", .shift = module ".dt_bias", .gate = module ".in_proj.weight",     \
        .rows = GATE_LAST, __VA_ARGS__                                                             \
    }

#define UNREAD(type_, name_, tensor, ...)                                                          \
    { .model_type = type_, .name = name_, .rule = DECAY_UNREAD, .mark = tensor, __VA_ARGS__ }
#define CONVOLVED                                                                                  \
    .why = "its time step is made of what a convolution over earlier tokens gives: no interval"
#define SHIFTED                                                                                    \
    .why = "its decay is made of mixtures with the token before, through further layers: no "      \
           "interval"

static const decay_family families[] = {
    DELTA_NET("qwen3_next", .norm = "input_layernorm", .plus_one = true,
              .gate = "linear_attn.in_proj_ba.weight", .rows = GATE_GROUPS),
    DELTA_NET("qwen3_5_text", .norm = "input_layernorm", .plus_one = true,
              .gate = "linear_attn.in_proj_a.weight"),
    DELTA_NET("qwen3_5_moe_text", .norm = "input_layernorm", .plus_one = true,
              .gate = "linear_attn.in_proj_a.weight"),
    DELTA_NET("olmo_hybrid", .norm = "attention_layer_norm", .gate = "linear_attn.a_proj.weight"),
    KIMI_DELTA("kimi_linear", "self_attn", .rule = DECAY_GATE, .sums = true, LOW_RANK),
    KIMI_DELTA("glm5_next", "self_attn", .rule = DECAY_BOUNDED, .sums = true, LOW_RANK,
               .bound_key = "linear_lower_bound", .bound_inner = "linear_attn_config"),
    KIMI_DELTA("glm5_next_text", "self_attn", .rule = DECAY_BOUNDED, .sums = true, LOW_RANK,
               .bound_key = "linear_lower_bound", .bound_inner = "linear_attn_config"),
    KIMI_DELTA("bailing_hybrid", "attention", .rule = DECAY_BOUNDED,
               .gate = "attention.f_proj.weight", .bound_key = "kda_lower_bound",
               .bound_flag = "kda_safe_gate"),
    MAMBA2("bamba", "mamba", "input_layernorm", .limits_key = "time_step_limit"),
    MAMBA2("falcon_h1", "mamba", "input_layernorm", .limits_key = "time_step_limit",
           .multiplied = true),
    MAMBA2("granitemoehybrid", "mamba", "input_layernorm", .type = "mamba",
           .limits_key = "time_step_limit"),
    MAMBA2("mamba2", "mixer", "norm", .limits_key = "time_step_limit"),
    MAMBA2("nemotron_h", "mixer", "norm", .least_key = "time_step_min"),
    MAMBA2("zamba2", "mamba", "input_layernorm", .inner = "mamba_decoder.",
           .least_key = "time_step_min"),
    {.model_type = "minimax",
     .name = "lightning attention",
     .rule = DECAY_LIGHTNING,
     .type = "linear_attention",
     .mark = "self_attn.output_gate.weight",
     .rate = "self_attn.slope_rate"},
    {.model_type = "retnet", /* of flash-linear-attention */
     .name = "retention",
     .rule = DECAY_RETNET,
     .mark = "attn.g_proj.weight"},
    {.model_type = "rwkv",
     .name = "RWKV-4",
     .rule = DECAY_CHANNELS,
     .stem = "blocks.",
     .rate = "attention.time_decay",
     .why = "a token's own weight is that of time_first, and the symbol is that of earlier ones"},
    UNREAD("falcon_mamba", "Mamba-1", "mixer.x_proj.weight", CONVOLVED),
    UNREAD("jamba", "Mamba-1", "mamba.in_proj.weight", CONVOLVED),
    UNREAD("mamba", "Mamba-1", "mixer.x_proj.weight", CONVOLVED),
    UNREAD("zamba", "Mamba-1", "mamba.in_proj.weight", CONVOLVED, .inner = "mamba_decoder."),
    UNREAD("recurrent_gemma", "RG-LRU", "temporal_block.linear_x.weight",
           .why = "its gate reads what a convolution over earlier tokens gives: no interval"),
    UNREAD("rwkv6", "RWKV-6", NULL, SHIFTED),
    UNREAD("rwkv7", "RWKV-7", NULL, SHIFTED),
    UNREAD("xlstm", "xLSTM", NULL,
           .why = "its gates are normalised by the largest one so far: no interval"),
};

const decay_family *szgi_decay_family_find(const char *model_type) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].model_type, model_type) == 0)
            return &families[i];
    return NULL;
}

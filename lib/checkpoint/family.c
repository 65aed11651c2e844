#include <string.h>

#include "checkpoint_private.h"

#define BERT_LIKE(type, position_names, norm, ...)                                                 \
    {                                                                                              \
        .model_type = type, .stem = "encoder.layer.", .query = "attention.self.query.weight",      \
        .key = "attention.self.key.weight", .positions = position_names, .input = norm,            \
        .table = "embeddings.position_embeddings.weight", __VA_ARGS__                              \
    }
#define BERT(type, position_names, ...)                                                            \
    BERT_LIKE(type, position_names, INPUT_LAYER_BERT, __VA_ARGS__)

#define PATCHES                                                                                    \
    .looks_ahead = true,                                                                           \
    .other_tokens = "tokens are patches of an image, so that the mean token is not known"

#define ON_A_PAGE                                                                                  \
    .other_tokens = "embeddings of the place on a page are added to those of words, so that the "  \
                    "mean token is not known"

#define VIT(type, ...)                                                                             \
    {                                                                                              \
        .model_type = type, .stem = "encoder.layer.", .query = "attention.attention.query.weight", \
        .key = "attention.attention.key.weight", .positions = POSITION_TABLE,                      \
        .table = "embeddings.position_embeddings", PATCHES, __VA_ARGS__                            \
    }

#define BEIT(type)                                                                                 \
    {                                                                                              \
        .model_type = type, .stem = "encoder.layer.", .query = "attention.attention.query.weight", \
        .key = "attention.attention.key.weight", .input = INPUT_LAYER_VIT,                         \
        .positions = POSITION_OPTIONAL, .table = "embeddings.position_embeddings", PATCHES,        \
        .added = "relative_position_bias_table",                                                   \
        .added_sentence = "a trained table by rows and columns of patches is added to the "        \
                          "logits: left out",                                                      \
        .added_unread = "a trained table by rows and columns of patches is added: not covered"     \
    }

#define CLIP(type, ...)                                                                            \
    {                                                                                              \
        .model_type = type, .stem = "encoder.layers.", .query = "self_attn.q_proj.weight",         \
        .key = "self_attn.k_proj.weight", .input = INPUT_LAYER_CLIP, .positions = POSITION_TABLE,  \
        .table = "embeddings.position_embedding.weight", __VA_ARGS__                               \
    }

/* Queries, keys and values in one tensor. */
#define BLIP(type)                                                                                 \
    {                                                                                              \
        .model_type = type, .stem = "encoder.layers.", .query = "self_attn.qkv.weight",            \
        .layout = LAYOUT_FUSED_BLOCKS, .input = INPUT_LAYER_CLIP, .positions = POSITION_TABLE,     \
        .table = "embeddings.position_embedding", PATCHES                                          \
    }

#define LLAMA(type, ...)                                                                           \
    {                                                                                              \
        .model_type = type, .stem = "layers.", .query = "self_attn.q_proj.weight",                 \
        .key = "self_attn.k_proj.weight", .positions = POSITION_ROTARY,                            \
        .pairing = SZGI_PAIRING_HALF, __VA_ARGS__                                                  \
    }

/* Nothing says where a token stands but the layers without attention. */
#define BARE(type, attention, ...)                                                                 \
    {                                                                                              \
        .model_type = type, .stem = "layers.", .query = attention ".q_proj.weight",                \
        .key = attention ".k_proj.weight", .grouped = true, __VA_ARGS__                            \
    }

/* Blocks that are used at several layers, among layers of Mamba. */
#define ZAMBA(type, block, ...)                                                                    \
    {                                                                                              \
        .model_type = type, .stem = "layers.", .query = block ".self_attn.q_proj.weight",          \
        .key = block ".self_attn.k_proj.weight", .input_name = block ".input_layernorm",           \
        .others = mamba, .scale = SCALE_HALF, .shares_blocks = true, .two_streams = true,          \
        .other_tokens = "queries and keys read two streams, so that the mean token is not known",  \
        __VA_ARGS__                                                                                \
    }

#define NEIGHBOURS(type, ...)                                                                      \
    {                                                                                              \
        .model_type = type, .stem = "layers.", .query = "self_attn.q_proj.weight",                 \
        .key = "self_attn.k_proj.weight", .positions = POSITION_ROTARY,                            \
        .pairing = SZGI_PAIRING_INTERLEAVED, __VA_ARGS__                                           \
    }

#define LATENT_NAMES(attention)                                                                    \
    {                                                                                              \
        .query = attention ".q_proj.weight", .query_down = attention ".q_a_proj.weight",           \
        .query_gain = attention ".q_a_layernorm.weight", .query_up = attention ".q_b_proj.weight", \
        .key_down = attention ".kv_a_proj_with_mqa.weight",                                        \
        .key_gain = attention ".kv_a_layernorm.weight", .key_up = attention ".kv_b_proj.weight"    \
    }

static const latent_names latent = LATENT_NAMES("self_attn"),
                          latent_first = LATENT_NAMES("self_attn.0"),
                          latent_second = LATENT_NAMES("self_attn.1");

#define LATENT(type, ...)                                                                          \
    {                                                                                              \
        .model_type = type, .stem = "layers.", .layout = LAYOUT_LATENT, .latent = &latent,         \
        .positions = POSITION_ROTARY, .partial = PARTIAL_LATENT, .scale = SCALE_YARN, __VA_ARGS__  \
    }

/* Two attentions a layer, each with a norm of its own. */
#define LONGCAT(name, names, norm, other)                                                          \
    {                                                                                              \
        .model_type = "longcat_flash", .stack = name, .keys = {.layers = "num_layers"},            \
        .stem = "layers.", .layout = LAYOUT_LATENT, .latent = names, .latent_factors = true,       \
        .positions = POSITION_ROTARY, .partial = PARTIAL_LATENT, .scale = SCALE_YARN,              \
        .pairing = SZGI_PAIRING_INTERLEAVED, .input = norm, .other_tokens = other                  \
    }

/* Heads of global layers are larger than those of sliding ones. */
#define GEMMA4(type, name, ...)                                                                    \
    LLAMA(type, .stack = name, .scale = SCALE_ONE, .norm = NORM_HEAD, .shares_keys = true,         \
          __VA_ARGS__)

#define GPT_KEYS                                                                                   \
    { .layers = "n_layer", .heads = "n_head", .model = "n_embd" }

/* Three stacks of layers.N.{self_attn,encoder_attn}; positions as `position_names` says. */
#define BART_STACK(type, name, side, attention, ...)                                               \
    {                                                                                              \
        .model_type = type, .stack = name,                                                         \
        .keys = {.layers = side "_layers", .heads = side "_attention_heads", .model = "d_model"},  \
        .stem = side ".layers.", .query = attention ".q_proj.weight",                              \
        .key = attention ".k_proj.weight", __VA_ARGS__                                             \
    }
#define BART(type, rows_before, encoder, decoder, cross, other)                                    \
    BART_STACK(type, "encoder", "encoder", "self_attn", .positions = POSITION_TABLE,               \
               .table = "encoder.embed_positions.weight", .table_first = rows_before,              \
               .input = encoder, .other_tokens = other),                                           \
        BART_STACK(type, "decoder", "decoder", "self_attn", .positions = POSITION_TABLE,           \
                   .table = "decoder.embed_positions.weight", .table_first = rows_before,          \
                   .input = decoder),                                                              \
        BART_STACK(type, "cross", "decoder", "encoder_attn", .positions = POSITION_NONE,           \
                   .input = cross)

/* The same with other positions than a table of the file. */
#define TRANSLATOR(type, rule, attention, encoder, decoder, cross)                                 \
    BART_STACK(type, "encoder", "encoder", "self_attn", .positions = rule,                         \
               .table = "encoder.embed_positions.weight", .input = encoder),                       \
        BART_STACK(type, "decoder", "decoder", "self_attn", .positions = rule,                     \
                   .table = "decoder.embed_positions.weight", .input = decoder),                   \
        BART_STACK(type, "cross", "decoder", attention, .positions = POSITION_NONE,                \
                   .input = cross)

#define LAG_TABLE "a trained table by the lag is added to the logits: left out"
#define LAG_PRODUCTS                                                                               \
    "products of content with trained embeddings of the lag are added to the logits: left out"
#define T5_STACK(type, name, own, attention, layer_key, ...)                                       \
    {                                                                                              \
        .model_type = type, .stack = name,                                                         \
        .keys = {.layers = layer_key,                                                              \
                 .layers_otherwise = "num_layers",                                                 \
                 .heads = "num_heads",                                                             \
                 .model = "d_model",                                                               \
                 .head = "d_kv"},                                                                  \
        .stem = own ".block.", .query = attention ".q.weight", .key = attention ".k.weight",       \
        .scale = SCALE_ONE, __VA_ARGS__                                                            \
    }
#define T5_ENCODER(type, attention, ...)                                                           \
    T5_STACK(type, "encoder", "encoder", "layer.0." attention, "num_layers",                       \
             .added = "encoder.block.0.layer.0." attention ".relative_attention_bias.weight",      \
             .added_sentence = LAG_TABLE, .added_by_head = true, .input = INPUT_RMS_T5,            \
             __VA_ARGS__)
#define T5_DECODER(type, ...)                                                                      \
    T5_STACK(type, "decoder", "decoder", "layer.0.SelfAttention", "num_decoder_layers",            \
             .added = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",      \
             .added_sentence = LAG_TABLE, .added_by_head = true, .input = INPUT_RMS_T5,            \
             __VA_ARGS__),                                                                         \
        T5_STACK(type, "cross", "decoder", "layer.1.EncDecAttention", "num_decoder_layers",        \
                 .input = INPUT_RMS_T5_CROSS)
#define T5(type, ...) T5_ENCODER(type, "SelfAttention", __VA_ARGS__), T5_DECODER(type, __VA_ARGS__)

/* The configuration has an object for each stack. */
#define T5GEMMA_STACK(type, name, place, side, attention, norm_rule, ...)                          \
    {                                                                                              \
        .model_type = type, .stack = name, .object = place, .stem = side ".layers.",               \
        .query = attention ".q_proj.weight", .key = attention ".k_proj.weight",                    \
        .scale = SCALE_SCALAR, .input = norm_rule, __VA_ARGS__                                     \
    }
#define T5GEMMA(type, name, place, side, ...)                                                      \
    T5GEMMA_STACK(type, name, place, side, "self_attn", INPUT_RMS_PLUS_ONE,                        \
                  .input_name = "pre_self_attn_layernorm", .positions = POSITION_ROTARY,           \
                  .pairing = SZGI_PAIRING_HALF, __VA_ARGS__)
#define T5GEMMA2(name, place, side, ...)                                                           \
    T5GEMMA("t5gemma2", name, place, side, .bases = BASE_GEMMA, .norm = NORM_HEAD,                 \
            .gain_plus_one = true, __VA_ARGS__)

#define LAYERNORMS                                                                                 \
    .query_norm = "self_attn.q_layernorm.weight", .key_norm = "self_attn.k_layernorm.weight"

#define HUNYUAN_NORMS                                                                              \
    .norm = NORM_HEAD_AFTER, .query_norm = "self_attn.query_layernorm.weight",                     \
    .key_norm = "self_attn.key_layernorm.weight"

/* Meta's, Mistral's and torchtitan's own files: neighbours rotate together, where the converted
 * ones have halves. params.json has these sizes. */
#define NATIVE(type, ...)                                                                          \
    {                                                                                              \
        .model_type = type, .stem = "layers.", .query = "attention.wq.weight",                     \
        .key = "attention.wk.weight", .positions = POSITION_ROTARY,                                \
        .pairing = SZGI_PAIRING_INTERLEAVED, .input = INPUT_RMS, .input_name = "attention_norm",   \
        .keys = {.layers = "n_layers", .heads = "n_heads", .model = "dim"}, __VA_ARGS__            \
    }

/* Sliding layers have twice the key heads, and sinks. */
#define MIMO(name, kind, times)                                                                    \
    LLAMA("mimo_v2_flash", .stack = name, .only = kind, .key_heads_times = times,                  \
          .bases = BASE_NESTED, .partial = PARTIAL_OPTIONAL)

/* Sliding layers have more heads. */
#define STEP(name, kind, heads_key)                                                                \
    LLAMA("step3p5", .stack = name, .only = kind, .keys = {.heads = heads_key},                    \
          .input = INPUT_RMS_PLUS_ONE, .scale = SCALE_SCALAR_OR_HEAD, .norm = NORM_HEAD,           \
          .gain_plus_one = true, .bases = BASE_NESTED, .partial = PARTIAL_OPTIONAL)

/* Names as transformers has them, and as the published files do. A size that the file does not tell
 * apart belongs to one kind of layer. */
#define BANK_NAMES(attention, mixing, length)                                                      \
    {                                                                                              \
        .profiles = attention ".rel_logits_proj.proj", .weights = attention "." mixing ".weight",  \
        .count = "d_rel", .extent = length                                                         \
    }
static const lag_bank_names bank_sliding = BANK_NAMES("self_attn", "r_proj", "sliding_window_size"),
                            bank_full = BANK_NAMES("self_attn", "r_proj", "rel_extent"),
                            bank_sliding_published =
                                BANK_NAMES("attn", "wr_du", "sliding_window_size"),
                            bank_full_published = BANK_NAMES("attn", "wr_du", "rel_extent");
#define INKLING(name, type, attention, q, k, input_, names, ...)                                   \
    {                                                                                              \
        .model_type = "inkling_text", .stack = name, .only = type, .stem = "layers.",              \
        .query = attention "." q ".weight", .key = attention "." k ".weight", .grouped = true,     \
        .scale = SCALE_LENGTH, .norm = NORM_HEAD, .query_norm = attention ".q_norm.weight",        \
        .key_norm = attention ".k_norm.weight", .input_name = input_,                              \
        .added = "rel_logits_proj.proj",                                                           \
        .added_sentence = "each query mixes trained profiles of the lag, which are added to the "  \
                          "logits: left out, see the tables profiles and mixtures",                \
        .added_unread = "each query mixes profiles of the lag: see the tables profiles and "       \
                        "mixtures",                                                                \
        .bank = &names,                                                                            \
        .key_mixing = "keys pass a short convolution over tokens (k_sconv) before their norm: "    \
                      "left out",                                                                  \
        __VA_ARGS__                                                                                \
    }
#define INKLING_SLIDING(...)                                                                       \
    INKLING("sliding", "hybrid_sliding", __VA_ARGS__,                                              \
            .keys = {.heads = "swa_num_attention_heads",                                           \
                     .head = "swa_head_dim",                                                       \
                     .key_heads = "swa_num_key_value_heads"})
#define INKLING_FULL(...) INKLING("full", "hybrid", __VA_ARGS__, .temperature = TEMPERATURE_INKLING)
#define TRANSFORMERS_NAMES "self_attn", "q_proj", "k_proj", NULL
#define PUBLISHED_NAMES "attn", "wq_du", "wk_dv", "attn_norm"

/* What a layer has in place of attention. */
static const char *const recurrent[] = {"temporal_block.linear_x.weight", NULL};
static const char *const mamba[] = {"mamba.in_proj.weight", NULL};
static const char *const crossing[] = {"cross_attn.q_proj.weight", NULL};
static const char *const mixers[] = {"mixer.in_proj.weight", "mixer.up_proj.weight",
                                     "mixer.gate.weight", NULL};

/* Pairing, layout and scale are properties of the model's definition, not of its file: a model_type
 * stands here only when they are known. */
static const model_family families[] = {
    BERT("bert", POSITION_BERT),
    BERT("roberta", POSITION_ROBERTA),
    BERT("xlm-roberta", POSITION_ROBERTA),
    BERT("camembert", POSITION_ROBERTA),
    BERT("electra", POSITION_BERT),
    BERT("longformer", POSITION_ROBERTA),
    BERT_LIKE("esm", POSITION_ROTARY, INPUT_LAYER, .input_name = "attention.LayerNorm",
              .skips = SKIP_TABLE, .pairing = SZGI_PAIRING_HALF, .looks_ahead = true,
              .other_tokens = "embeddings are scaled before positions are added, so that the mean "
                              "token is not known"),
    BERT("bert-generation", POSITION_BERT),
    BERT("big_bird", POSITION_BERT,
         .other_tokens = "embeddings of words may be scaled before positions are added "
                         "(rescale_embeddings), so that the mean token is not known"),
    BERT("blip_text_model", POSITION_BERT),
    BERT("data2vec-text", POSITION_ROBERTA),
    BERT("dpr", POSITION_BERT),
    BERT("ernie", POSITION_BERT,
         .other_tokens = "embeddings of tasks may be added to those of words (use_task_id), so "
                         "that the mean token is not known"),
    BERT("layoutlm", POSITION_BERT, ON_A_PAGE),
    BERT("markuplm", POSITION_ROBERTA, ON_A_PAGE),
    BERT_LIKE("megatron-bert", POSITION_BERT, INPUT_LAYER, .input_name = "attention.ln"),
    BERT_LIKE("rembert", POSITION_BERT, INPUT_LAYER_REMBERT),
    BERT_LIKE(
        "roberta-prelayernorm", POSITION_ROBERTA, INPUT_LAYER, .input_name = "attention.LayerNorm",
        .other_tokens = "embeddings pass a norm before that of layer 0, so that the mean token is "
                        "not known"),
    BERT("roformer", POSITION_ROTARY, .pairing = SZGI_PAIRING_INTERLEAVED, .fixed_base = 10000,
         .looks_ahead = true),
    BERT("roc_bert", POSITION_BERT,
         .other_tokens = "embeddings of shape and sound are added to those of words, so that the "
                         "mean token is not known"),
    BERT("splinter", POSITION_BERT),
    BERT("visual_bert", POSITION_BERT),
    BERT_LIKE("xlm-roberta-xl", POSITION_ROBERTA, INPUT_LAYER,
              .input_name = "attention.self_attn_layer_norm"),
    {.model_type = "albert",
     .input = INPUT_LAYER_ALBERT,
     .stem = "encoder.albert_layer_groups.",
     .query = "albert_layers.0.attention.query.weight",
     .key = "albert_layers.0.attention.key.weight",
     .positions = POSITION_BERT,
     .table = "embeddings.position_embeddings.weight",
     .shares_layers = true},
    {.model_type = "mpnet",
     .input = INPUT_LAYER_BERT,
     .stem = "encoder.layer.",
     .query = "attention.attn.q.weight",
     .key = "attention.attn.k.weight",
     .positions = POSITION_TABLE,
     .table = "embeddings.position_embeddings.weight",
     .table_first = 2, /* padding is row 1 by definition */
     .added = "encoder.relative_attention_bias.weight",
     .added_sentence = LAG_TABLE,
     .added_by_head = true},
    {.model_type = "deberta-v2",
     .input = INPUT_LAYER_BERT,
     .stem = "encoder.layer.",
     .query = "attention.self.query_proj.weight",
     .key = "attention.self.key_proj.weight",
     .positions = POSITION_BIASED,
     .table = "embeddings.position_embeddings.weight",
     .looks_ahead = true,
     .scale = SCALE_DEBERTA,
     .added = "encoder.rel_embeddings.weight",
     .added_sentence = LAG_PRODUCTS},
    {.model_type = "deberta",
     .input = INPUT_LAYER_BERT,
     .stem = "encoder.layer.",
     .query = "attention.self.in_proj.weight",
     .layout = LAYOUT_FUSED_HEADS,
     .query_bias = "attention.self.q_bias",
     .positions = POSITION_BIASED,
     .table = "embeddings.position_embeddings.weight",
     .looks_ahead = true,
     .scale = SCALE_DEBERTA,
     .added = "encoder.rel_embeddings.weight",
     .added_sentence = LAG_PRODUCTS},
    {.model_type = "xlnet",
     .keys = {.layers = "n_layer", .heads = "n_head", .model = "d_model", .head = "d_head"},
     .input = INPUT_LAYER_AFTER,
     .input_name = "ff.layer_norm",
     .stem = "layer.",
     .query = "rel_attn.q",
     .key = "rel_attn.k",
     .layout = LAYOUT_COLUMNS,
     .query_bias = "rel_attn.r_w_bias",
     .looks_ahead = true,
     .added = "rel_attn.r",
     .added_sentence = "products of queries with projected sinusoids of the lag, and with "
                       "embeddings of equal segments, are added to the logits: left out",
     .added_unread = "products of queries with projected sinusoids of the lag are added: not "
                     "covered"},
    VIT("vit", .input = INPUT_LAYER_VIT),
    VIT("deit", .input = INPUT_LAYER_VIT),
    VIT("dinov2", .input = INPUT_LAYER_NORM1),
    VIT("dinov2_with_registers", .input = INPUT_LAYER_NORM1),
    VIT("ijepa", .input = INPUT_LAYER_VIT),
    VIT("vit_mae", .input = INPUT_LAYER_VIT),
    VIT("vit_msn", .input = INPUT_LAYER_VIT),
    VIT("yolos", .input = INPUT_LAYER_VIT),
    BEIT("beit"),
    BEIT("data2vec-vision"),
    {.model_type = "dinov3_vit",
     .input = INPUT_LAYER_NORM1,
     .stem = "layer.",
     .query = "attention.q_proj.weight",
     .key = "attention.k_proj.weight",
     .two_coordinates = true,
     PATCHES},
    CLIP("clip_text_model"),
    CLIP("clip_vision_model", PATCHES),
    CLIP("altclip_vision_model", PATCHES),
    CLIP("chinese_clip_vision_model", PATCHES),
    CLIP("idefics2_vision", PATCHES),
    CLIP("idefics3_vision", PATCHES),
    CLIP("metaclip_2_text_model"),
    CLIP("metaclip_2_vision_model", PATCHES),
    CLIP("owlv2_text_model"),
    CLIP("owlv2_vision_model", PATCHES),
    CLIP("owlvit_text_model"),
    CLIP("owlvit_vision_model", PATCHES),
    CLIP("siglip2_text_model", .looks_ahead = true),
    CLIP("siglip2_vision_model", PATCHES),
    CLIP("siglip_text_model", .looks_ahead = true),
    CLIP("siglip_vision_model", PATCHES),
    CLIP("smolvlm_vision", PATCHES),
    BLIP("blip_2_vision_model"),
    BLIP("blip_vision_model"),
    BLIP("instructblip_vision_model"),
    {.model_type = "modernbert",
     .input = INPUT_LAYER_MODERNBERT,
     .stem = "layers.",
     .query = "attn.Wqkv.weight",
     .layout = LAYOUT_FUSED_BLOCKS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .looks_ahead = true,
     .bases = BASE_MODERNBERT},
    {.model_type = "modernbert-decoder",
     .input = INPUT_LAYER_MODERNBERT,
     .stem = "layers.",
     .query = "attn.q_proj.weight",
     .key = "attn.k_proj.weight",
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .bases = BASE_MODERNBERT},
    {.model_type = "gte",
     .input = INPUT_LAYER_BERT,
     .input_name = "mlp_ln",
     .stem = "encoder.layer.",
     .query = "attention.qkv_proj.weight",
     .layout = LAYOUT_FUSED_BLOCKS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .looks_ahead = true},
    {.model_type = "jina_embeddings_v3",
     .input = INPUT_LAYER_NOMIC,
     .stem = "encoder.layers.",
     .query = "mixer.Wqkv.weight",
     .layout = LAYOUT_FUSED_BLOCKS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .looks_ahead = true},
    {.model_type = "nomic_bert",
     .keys = GPT_KEYS,
     .input = INPUT_LAYER_NOMIC,
     .stem = "encoder.layers.",
     .query = "attn.Wqkv.weight",
     .layout = LAYOUT_FUSED_BLOCKS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .looks_ahead = true},
    {.model_type = "distilbert",
     .keys = {.layers = "n_layers", .heads = "n_heads", .model = "dim"},
     .input = INPUT_LAYER_DISTILBERT,
     .stem = "transformer.layer.",
     .query = "attention.q_lin.weight",
     .key = "attention.k_lin.weight",
     .positions = POSITION_DISTILBERT,
     .table = "embeddings.position_embeddings.weight"},
    {.model_type = "gpt2",
     .keys = GPT_KEYS,
     .input = INPUT_LAYER_LN1,
     .stem = "h.",
     .query = "attn.c_attn.weight",
     .layout = LAYOUT_CONV1D,
     .positions = POSITION_TABLE,
     .table = "wpe.weight",
     .scale = SCALE_GPT2},
    {.model_type = "gpt2", /* nanoGPT's files, whose weights are not transposed */
     .keys = GPT_KEYS,
     .input = INPUT_LAYER_LN1,
     .stem = "h.",
     .query = "attn.c_attn.weight",
     .layout = LAYOUT_FUSED_BLOCKS,
     .positions = POSITION_TABLE,
     .table = "wpe.weight",
     .scale = SCALE_GPT2},
    {.model_type = "gpt_bigcode",
     .keys = GPT_KEYS,
     .input = INPUT_LAYER_LN1,
     .stem = "h.",
     .query = "attn.c_attn.weight",
     .layout = LAYOUT_BIGCODE,
     .positions = POSITION_TABLE,
     .table = "wpe.weight",
     .scale = SCALE_GPT2},
    {.model_type = "gpt_neo",
     .keys = {.layers = "num_layers", .heads = "num_heads"},
     .input = INPUT_LAYER_LN1,
     .stem = "h.",
     .query = "attn.attention.q_proj.weight",
     .key = "attn.attention.k_proj.weight",
     .positions = POSITION_TABLE,
     .table = "wpe.weight",
     .scale = SCALE_ONE},
    {.model_type = "opt",
     .input = INPUT_LAYER_OPT,
     .stem = "decoder.layers.",
     .query = "self_attn.q_proj.weight",
     .key = "self_attn.k_proj.weight",
     .positions = POSITION_TABLE,
     .table = "decoder.embed_positions.weight",
     .table_first = 2},
    {.model_type = "openai-gpt",
     .keys = GPT_KEYS,
     .input = INPUT_LAYER_AFTER,
     .input_name = "ln_2",
     .stem = "h.",
     .query = "attn.c_attn.weight",
     .layout = LAYOUT_CONV1D,
     .positions = POSITION_TABLE,
     .table = "positions_embed.weight"},
    {.model_type = "ctrl",
     .keys = GPT_KEYS,
     .input = INPUT_LAYER,
     .input_name = "layernorm1",
     .stem = "h.",
     .query = "multi_head_attention.Wq.weight",
     .key = "multi_head_attention.Wk.weight",
     .positions = POSITION_MARIAN,
     .other_tokens = "embeddings are scaled before positions are added, so that the mean token is "
                     "not known"},
    {.model_type = "biogpt",
     .input = INPUT_LAYER_BEFORE,
     .stem = "layers.",
     .query = "self_attn.q_proj.weight",
     .key = "self_attn.k_proj.weight",
     .positions = POSITION_TABLE,
     .table = "embed_positions.weight",
     .table_first = 2},
    {.model_type = "xglm",
     .keys = {.layers = "num_layers", .heads = "attention_heads", .model = "d_model"},
     .input = INPUT_LAYER_BEFORE,
     .stem = "layers.",
     .query = "self_attn.q_proj.weight",
     .key = "self_attn.k_proj.weight",
     .positions = POSITION_FAIRSEQ,
     .table_first = 2},
    {.model_type = "bloom",
     .keys = {.layers = "n_layer", .heads = "n_head", .model = "n_embed"},
     .input = INPUT_LAYER,
     .stem = "h.",
     .query = "self_attention.query_key_value.weight",
     .layout = LAYOUT_FUSED_HEADS,
     .alibi = ALIBI_ALWAYS},
    {.model_type = "mpt",
     .keys = {.layers = "n_layers", .heads = "n_heads", .model = "d_model"},
     .input = INPUT_LAYER_MPT,
     .stem = "blocks.",
     .query = "attn.Wqkv.weight",
     .layout = LAYOUT_FUSED_BLOCKS,
     .scale = SCALE_MPT,
     .alibi = ALIBI_MPT,
     .clips = true},
    {.model_type = "falcon",
     .input = INPUT_LAYER_FALCON,
     .stem = "h.",
     .query = "self_attention.query_key_value.weight",
     .layout = LAYOUT_FALCON,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .skips = SKIP_ALIBI,
     .alibi = ALIBI_FLAG},
    {.model_type = "gpt_neox",
     .input = INPUT_LAYER,
     .stem = "layers.",
     .query = "attention.query_key_value.weight",
     .layout = LAYOUT_FUSED_HEADS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .partial = PARTIAL_REQUIRED},
    {.model_type = "gpt_neox_japanese",
     .input = INPUT_LAYER,
     .stem = "layers.",
     .query = "attention.query_key_value.weight",
     .layout = LAYOUT_FUSED_HEADS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .partial = PARTIAL_OPTIONAL},
    {.model_type = "exaone",
     .keys = {.layers = "num_layers"},
     .input = INPUT_RMS,
     .input_name = "ln_1",
     .stem = "h.",
     .query = "attn.attention.q_proj.weight",
     .key = "attn.attention.k_proj.weight",
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF},
    {.model_type = "dbrx",
     .keys = {.layers = "n_layers", .heads = "n_heads", .model = "d_model"},
     .input = INPUT_LAYER,
     .input_name = "norm_attn_norm.norm_1",
     .stem = "blocks.",
     .query = "norm_attn_norm.attn.Wqkv.weight",
     .layout = LAYOUT_FUSED_BLOCKS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .clips = true},
    {.model_type = "internlm2",
     .input = INPUT_RMS,
     .input_name = "attention_norm",
     .stem = "layers.",
     .query = "attention.wqkv.weight",
     .layout = LAYOUT_FUSED_GROUPS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF},
    {.model_type = "phi4_multimodal",
     .stem = "layers.",
     .query = "self_attn.qkv_proj.weight",
     .layout = LAYOUT_FUSED_BLOCKS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .partial = PARTIAL_OPTIONAL},
    {.model_type = "sarvam_moe",
     .stem = "layers.",
     .query = "attention.query_key_value.weight",
     .layout = LAYOUT_FUSED_BLOCKS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .partial = PARTIAL_OPTIONAL,
     .norm = NORM_HEAD,
     .query_norm = "attention.query_layernorm.weight",
     .key_norm = "attention.key_layernorm.weight"},
    {.model_type = "persimmon",
     .input = INPUT_LAYER,
     .stem = "layers.",
     .query = "self_attn.query_key_value.weight",
     .layout = LAYOUT_FUSED_HEADS,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .partial = PARTIAL_REQUIRED,
     .norm = NORM_LAYER,
     LAYERNORMS},
    {.model_type = "gptj",
     .keys = GPT_KEYS,
     .input = INPUT_LAYER_LN1,
     .stem = "h.",
     .query = "attn.q_proj.weight",
     .key = "attn.k_proj.weight",
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_INTERLEAVED,
     .partial = PARTIAL_DIM,
     .fixed_base = 10000},
    {.model_type = "codegen",
     .keys = GPT_KEYS,
     .input = INPUT_LAYER_LN1,
     .stem = "h.",
     .query = "attn.qkv_proj.weight",
     .layout = LAYOUT_CODEGEN,
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
    NATIVE("llama"),
    NATIVE("mistral"),
    NATIVE("mixtral"),
    LLAMA("qwen2"),
    LLAMA("qwen2_moe"),
    LLAMA("qwen2_vl_text"),
    LLAMA("qwen2_vl"), /* as it was published: the numbers of the text beside vision_config */
    LLAMA("qwen2_5_vl_text"),
    LLAMA("qwen2_5_vl"),
    LLAMA("qwen3", .norm = NORM_HEAD),
    LLAMA("qwen3_moe", .norm = NORM_HEAD),
    LLAMA("qwen3_vl_text", .norm = NORM_HEAD),
    LLAMA("qwen3_vl_moe_text", .norm = NORM_HEAD),
    LLAMA("qwen3_next", .input = INPUT_RMS_PLUS_ONE, .layout = LAYOUT_GATED,
          .partial = PARTIAL_REQUIRED, .mixed = true, .norm = NORM_HEAD, .gain_plus_one = true),
    LLAMA("qwen3_5_text", .input = INPUT_RMS_PLUS_ONE, .layout = LAYOUT_GATED,
          .partial = PARTIAL_REQUIRED, .mixed = true, .norm = NORM_HEAD, .gain_plus_one = true),
    LLAMA("qwen3_5_moe_text", .input = INPUT_RMS_PLUS_ONE, .layout = LAYOUT_GATED,
          .partial = PARTIAL_REQUIRED, .mixed = true, .norm = NORM_HEAD, .gain_plus_one = true),
    LLAMA("gemma", .input = INPUT_RMS_PLUS_ONE),
    LLAMA("gemma2", .input = INPUT_RMS_PLUS_ONE, .scale = SCALE_SCALAR, .caps = true),
    LLAMA("gemma3_text", .caps = true, .input = INPUT_RMS_PLUS_ONE, .scale = SCALE_SCALAR,
          .bases = BASE_GEMMA, .norm = NORM_HEAD, .gain_plus_one = true),
    LLAMA("gemma3n_text", .scale = SCALE_ONE, .bases = BASE_GEMMA, .norm = NORM_HEAD,
          .shares_keys = true,
          .other_tokens = "the embeddings are mixed with other streams before layer 0, so that the "
                          "mean token is not known"),
    LLAMA("qwen2_5_omni_text"),
    LLAMA("qwen3_omni_moe_text", .norm = NORM_HEAD),
    LLAMA("glm4v_moe_text", .partial = PARTIAL_REQUIRED),
    LLAMA("arcee"),
    LLAMA("bitnet"),
    LLAMA("cwm"),
    LLAMA("eurobert", .looks_ahead = true),
    LLAMA("internlm3"),
    LLAMA("ministral"),
    LLAMA("seed_oss"),
    LLAMA("solar_open"),
    LLAMA("hyperclovax", .scale = SCALE_FACTOR),
    LLAMA("jais2", .input = INPUT_LAYER),
    LLAMA("vaultgemma", .input = INPUT_RMS_PLUS_ONE, .scale = SCALE_SCALAR, .caps = true),
    LLAMA("apertus", .input = INPUT_RMS_ATTENTION, .norm = NORM_HEAD),
    LLAMA("dots1", .norm = NORM_HEAD),
    LLAMA("hy_v3", .norm = NORM_HEAD),
    LLAMA("exaone_moe", .norm = NORM_HEAD, .skips = SKIP_FULL),
    LLAMA("flex_olmo", .input = INPUT_NONE, .norm = NORM_FULL),
    LLAMA("olmo_hybrid", .input = INPUT_NONE, .norm = NORM_FULL, .mixed = true, .skips = SKIP_BARE),
    GEMMA4("gemma4_text", "sliding", .only = "sliding_attention"),
    GEMMA4("gemma4_text", "full", .only = "full_attention", .own_sizes = true),
    GEMMA4("gemma4_unified_text", "sliding", .only = "sliding_attention"),
    GEMMA4("gemma4_unified_text", "full", .only = "full_attention", .own_sizes = true),
    LLAMA("olmo", .input = INPUT_LAYER_BARE, .clips = true),
    LLAMA("olmo2", .input = INPUT_NONE, .norm = NORM_FULL),
    LLAMA("olmo3", .input = INPUT_NONE, .norm = NORM_FULL, .scaled_if_full = true),
    LLAMA("olmoe", .norm = NORM_FULL, .clips = true),
    LLAMA("minimax_m2", .norm = NORM_FULL, .partial = PARTIAL_DIM),
    LLAMA("smollm3", .skips = SKIP_LISTED),
    LLAMA("starcoder2", .input = INPUT_LAYER),
    LLAMA("granite", .scale = SCALE_FACTOR),
    LLAMA("granitemoe", .scale = SCALE_FACTOR),
    LLAMA("granitemoeshared", .scale = SCALE_FACTOR),
    LLAMA("granite_swa", .scale = SCALE_FACTOR, .bases = BASE_LISTED),
    LLAMA("granitemoe_swa", .scale = SCALE_FACTOR, .bases = BASE_LISTED),
    LLAMA("granitemoehybrid", .scale = SCALE_FACTOR, .mixed = true, .skips = SKIP_ALL),
    LLAMA("aria_text"),
    LLAMA("iquestcoder", .clips = true),
    INKLING_SLIDING(TRANSFORMERS_NAMES, bank_sliding),
    INKLING_FULL(TRANSFORMERS_NAMES, bank_full),
    INKLING_SLIDING(PUBLISHED_NAMES, bank_sliding_published),
    INKLING_FULL(PUBLISHED_NAMES, bank_full_published),
    MIMO("sliding", "sliding_attention", 2),
    MIMO("full", "full_attention", 1),
    STEP("sliding", "sliding_attention", "num_sliding_attention_heads"),
    STEP("full", "full_attention", NULL),
    LLAMA("mellum", .norm = NORM_HEAD),
    LLAMA("apertus1p5_text", .input = INPUT_RMS_ATTENTION, .norm = NORM_HEAD),
    LLAMA("hunyuan_vl_text", HUNYUAN_NORMS),
    LLAMA("paddleocr_vl_text"),
    LLAMA("glm_image_text", .partial = PARTIAL_OPTIONAL),
    LLAMA("minimax", .mixed = true),
    LLAMA("afmoe", .norm = NORM_HEAD, .skips = SKIP_FULL),
    LLAMA("diffllama", .softmax = "a difference of two heads' softmaxes",
          .left_out =
              "the softmax of head h + H/2, times a trained number, is subtracted from that "
              "of head h: left out"),
    LLAMA("bamba", .others = mamba, .partial = PARTIAL_OPTIONAL),
    BARE("jamba", "self_attn", .others = mamba),
    BARE("nemotron_h", "mixer", .keys = {.layers = "layers_block_type"}, .others = mixers,
         .input_name = "norm"),
    ZAMBA("zamba", "shared_transf", .grouped = true),
    ZAMBA("zamba2", "shared_transformer", .positions = POSITION_ROTARY, .skips = SKIP_MEMORY,
          .pairing = SZGI_PAIRING_HALF),
    {.model_type = "recurrent_gemma",
     .input = INPUT_RMS_PLUS_ONE,
     .input_name = "temporal_pre_norm",
     .stem = "layers.",
     .query = "temporal_block.q_proj.weight",
     .key = "temporal_block.k_proj.weight",
     .others = recurrent,
     .positions = POSITION_ROTARY,
     .pairing = SZGI_PAIRING_HALF,
     .partial = PARTIAL_REQUIRED},
    LLAMA("emu3_text_model"),
    LLAMA("flint", .norm = NORM_HEAD, .skips = SKIP_FULL),
    LLAMA("granite_docling_text", .scale = SCALE_FACTOR),
    LLAMA("kolibri1", .norm = NORM_HEAD, .skips = SKIP_FULL),
    LLAMA("falcon_h1", .scale = SCALE_KEYS),
    LLAMA("laguna", .norm = NORM_HEAD, .partial = PARTIAL_OPTIONAL,
          .equal_heads = "num_attention_heads_per_layer"),
    LLAMA("minimax_m3_vl_text", .input = INPUT_RMS_PLUS_ONE, .norm = NORM_HEAD,
          .gain_plus_one = true, .partial = PARTIAL_REQUIRED),
    LLAMA("mllama_text_model", .others = crossing),
    LLAMA("csm"),
    LLAMA("csm_depth_decoder_model"),
    LLAMA("phimoe", .input = INPUT_LAYER),
    LLAMA("exaone4", .input = INPUT_NONE, .norm = NORM_HEAD, .skips = SKIP_FULL),
    LLAMA("gpt_oss"),
    LLAMA("nanochat", .turns_back = true, .input = INPUT_RMS_BARE, .norm = NORM_BARE,
          .other_tokens = "embeddings pass a norm before that of layer 0, so that the mean token "
                          "is not known"),
    LLAMA("ministral3", .temperature = TEMPERATURE_MINISTRAL3),
    LLAMA("hunyuan_v1_dense", HUNYUAN_NORMS),
    LLAMA("hunyuan_v1_moe", HUNYUAN_NORMS),
    LLAMA("lfm2", .input = INPUT_RMS_OPERATOR, .mixed = true, .norm = NORM_HEAD, LAYERNORMS),
    LLAMA("lfm2_moe", .input = INPUT_RMS_OPERATOR, .mixed = true, .norm = NORM_HEAD, LAYERNORMS),
    LLAMA("phi", .input = INPUT_LAYER, .partial = PARTIAL_REQUIRED, .norm = NORM_LAYER, LAYERNORMS),
    LLAMA("stablelm", .input = INPUT_LAYER, .partial = PARTIAL_REQUIRED, .norm = NORM_EACH,
          .query_norm = "self_attn.q_layernorm.norms.0.weight",
          .key_norm = "self_attn.k_layernorm.norms.0.weight"),
    LLAMA("nemotron", .input = INPUT_LAYER_PLUS_ONE, .partial = PARTIAL_REQUIRED),
    LLAMA("glm4_moe", .partial = PARTIAL_REQUIRED, .norm = NORM_HEAD),
    NEIGHBOURS("cohere", .input = INPUT_LAYER, .norm = NORM_LAYER),
    NEIGHBOURS("cohere2", .input = INPUT_LAYER, .skips = SKIP_FULL),
    NEIGHBOURS("cohere2_moe", .input = INPUT_COHERE, .skips = SKIP_FULL_SPARSE),
    NEIGHBOURS("ernie4_5"),
    NEIGHBOURS("ernie4_5_moe"),
    NEIGHBOURS("glm4v_text", .partial = PARTIAL_REQUIRED),
    NEIGHBOURS("glm_ocr_text", .partial = PARTIAL_OPTIONAL),
    NEIGHBOURS("helium"),
    NEIGHBOURS("openai_privacy_filter", .looks_ahead = true),
    NEIGHBOURS("glm", .partial = PARTIAL_REQUIRED),
    NEIGHBOURS("glm4", .partial = PARTIAL_REQUIRED),
    NEIGHBOURS("llama4_text", .skips = SKIP_LISTED, .skip_interval = 4, .norm = NORM_BARE,
               .norm_flag = "use_qk_norm", .temperature = TEMPERATURE_LLAMA4),
    LATENT("deepseek_v2", .pairing = SZGI_PAIRING_INTERLEAVED),
    LATENT("deepseek_v3", .interleave = "rope_interleave"),
    LATENT("kimi_k2", .interleave = "rope_interleave"),
    LATENT("deepseek_v32", .pairing = SZGI_PAIRING_INTERLEAVED),
    LATENT("glm_moe_dsa", .pairing = SZGI_PAIRING_INTERLEAVED),
    LATENT("glm4_moe_lite", .interleave = "rope_interleave"),
    LATENT("youtu", .interleave = "rope_interleave"),
    LATENT("mistral4", .interleave = "rope_interleave", .temperature = TEMPERATURE_MINISTRAL3),
    LATENT("axk1", .interleave = "rope_interleave"),
    LATENT("sarvam_mla", .interleave = "rope_interleave"),
    {.model_type = "kimi_linear", /* nothing rotates, not even what is called rope */
     .stem = "layers.",
     .layout = LAYOUT_LATENT,
     .latent = &latent,
     .only = "full_attention"},
    LATENT("minicpm3", .pairing = SZGI_PAIRING_HALF),
    LONGCAT("first", &latent_first, INPUT_RMS_FIRST, NULL),
    LONGCAT("second", &latent_second, INPUT_RMS_SECOND,
            "the first attention of layer 0 comes before, so that the mean token is not known"),
    BART("bart", 2, INPUT_LAYER_BART_ENCODER, INPUT_LAYER_BART_DECODER, INPUT_LAYER_BART_CROSS,
         NULL),
    BART("mbart", 2, INPUT_LAYER_BEFORE, INPUT_LAYER_BEFORE, INPUT_LAYER_BEFORE_CROSS, NULL),
    BART("blenderbot", 0, INPUT_LAYER_BEFORE, INPUT_LAYER_BEFORE, INPUT_LAYER_BEFORE_CROSS, NULL),
    BART("blenderbot-small", 0, INPUT_LAYER_BART_ENCODER, INPUT_LAYER_AFTER, INPUT_LAYER_BART_CROSS,
         NULL),
    BART("plbart", 2, INPUT_LAYER_BART_ENCODER, INPUT_LAYER_BART_DECODER, INPUT_LAYER_BART_CROSS,
         NULL),
    BART("mvp", 2, INPUT_LAYER_BART_ENCODER, INPUT_LAYER_BART_DECODER, INPUT_LAYER_BART_CROSS,
         NULL),
    {.model_type = "led",
     .stack = "encoder",
     .keys = {.layers = "encoder_layers", .heads = "encoder_attention_heads", .model = "d_model"},
     .stem = "encoder.layers.",
     .query = "self_attn.longformer_self_attn.query.weight",
     .key = "self_attn.longformer_self_attn.key.weight",
     .positions = POSITION_TABLE,
     .table = "encoder.embed_positions.weight",
     .input = INPUT_LAYER_BART_ENCODER},
    BART_STACK("led", "decoder", "decoder", "self_attn", .positions = POSITION_TABLE,
               .table = "decoder.embed_positions.weight", .input = INPUT_LAYER_BART_DECODER),
    BART_STACK("led", "cross", "decoder", "encoder_attn", .input = INPUT_LAYER_BART_CROSS),
    {.model_type = "bigbird_pegasus",
     .stack = "encoder",
     .keys = {.layers = "encoder_layers", .heads = "encoder_attention_heads", .model = "d_model"},
     .stem = "encoder.layers.",
     .query = "self_attn.self.query.weight",
     .key = "self_attn.self.key.weight",
     .positions = POSITION_TABLE,
     .table = "encoder.embed_positions.weight",
     .input = INPUT_LAYER_BEFORE},
    BART_STACK("bigbird_pegasus", "decoder", "decoder", "self_attn", .positions = POSITION_TABLE,
               .table = "decoder.embed_positions.weight", .input = INPUT_LAYER_BEFORE),
    BART_STACK("bigbird_pegasus", "cross", "decoder", "encoder_attn",
               .input = INPUT_LAYER_BIGBIRD_CROSS),
    TRANSLATOR("m2m_100", POSITION_FAIRSEQ, "encoder_attn", INPUT_LAYER_BEFORE, INPUT_LAYER_BEFORE,
               INPUT_LAYER_BEFORE_CROSS),
    TRANSLATOR("marian", POSITION_MARIAN, "encoder_attn", INPUT_LAYER_AFTER, INPUT_LAYER_AFTER,
               INPUT_LAYER_BART_CROSS),
    TRANSLATOR("nllb-moe", POSITION_FAIRSEQ, "cross_attention", INPUT_LAYER_BEFORE,
               INPUT_LAYER_BEFORE, INPUT_LAYER_NLLB_CROSS),
    TRANSLATOR("pegasus", POSITION_MARIAN, "encoder_attn", INPUT_LAYER_BEFORE, INPUT_LAYER_BEFORE,
               INPUT_LAYER_BEFORE_CROSS),
    BART("whisper", 0, INPUT_LAYER_BEFORE, INPUT_LAYER_BEFORE, INPUT_LAYER_BEFORE_CROSS,
         "tokens are frames of sound, so that the mean token is not known"),
    T5_ENCODER("longt5", "LocalSelfAttention", .added_in_layer = NULL),
    T5_ENCODER("longt5", "TransientGlobalSelfAttention", .added_in_layer = NULL),
    T5_DECODER("longt5", .added_in_layer = NULL),
    T5("switch_transformers", .added_in_layer = NULL),
    T5GEMMA("t5gemma", "encoder", "encoder", "encoder", .caps = true),
    T5GEMMA("t5gemma", "decoder", "decoder", "decoder", .caps = true),
    T5GEMMA_STACK("t5gemma", "cross", "decoder", "decoder", "cross_attn", INPUT_RMS_GEMMA_CROSS,
                  .grouped = true, .caps = true),
    T5GEMMA2("encoder", "encoder.text_config", "encoder.text_model"),
    T5GEMMA2("decoder", "decoder", "decoder", .softmax = "over keys of both sequences",
             .left_out = "keys of the encoder's output, by the same weights but not rotated, share "
                         "the softmax: left out"),
    T5("t5", .added_in_layer = NULL),
    T5("mt5", .added_in_layer = NULL),
    T5("umt5", .added_in_layer = "layer.0.SelfAttention.relative_attention_bias.weight"),
};

const model_family *szgi_family_find(const char *model_type, int64_t stack) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].model_type, model_type) == 0 && stack-- == 0)
            return &families[i];
    return NULL;
}

szg_status szgi_family_check(szg_context *context, const szg_checkpoint *checkpoint) {
    static const struct {
        const char *model_type, *key, *what;
    } unknown[] = {
        {"deberta", "talking_head", "logits of all heads are mixed before the softmax"},
        {"mvp", "use_prompt", "trained keys and values stand before those of the tokens"},
        {"nanochat", "attention_bias", "queries and keys have biases"},
        {"roformer", "rotary_value", "values are rotated too"},
        {"zamba2", "use_long_context", "versions of the class make other bases of it"},
        {"zamba2", "use_shared_attention_adapter",
         "each use of a block adds an adapter of its own to queries, keys and values"},
    };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        bool set = false;
        if (strcmp(unknown[i].model_type, checkpoint->family->model_type) != 0)
            continue;
        SZG_TRY(szgi_config_flag(context, checkpoint->settings, unknown[i].key, false, &set));
        if (set)
            return szgi_json_fail(
                context, szgi_json_member(checkpoint->settings, unknown[i].key),
                "is true: %s, which szego does not know of '%s'; --config none gives the singular "
                "values of every 2-D weight",
                unknown[i].what, unknown[i].model_type);
    }
    return SZG_OK;
}

const char *szgi_family_refusal(const char *model_type) {
    static const struct {
        const char *model_type, *why;
    } refused[] = {
        {"axk2", "queries read their latent twice, before its norm and after it"},
        {"canine", "attention is local, between characters and their blocks"},
        {"convbert", "beside the heads stand convolutions whose kernels queries make"},
        {"deepseek_v4", "keys are compressed over positions, and are the values too"},
        {"doge", "a trained function of the values is added to the logits of each key"},
        {"esmc", "queries and keys of all heads together pass a norm that takes their mean off"},
        {"fnet", "Fourier transforms take the place of attention"},
        {"funnel",
         "queries are pooled between blocks, and products with vectors of the lag are added"},
        {"jetmoe", "each token chooses the weights of its queries"},
        {"mobilebert", "queries and keys read a bottleneck behind a norm without statistics"},
        {"mra", "the softmax is approximated by blocks"},
        {"nystromformer", "the softmax is approximated by landmarks (Nystrom)"},
        {"reformer", "keys are the queries at unit length, and hashing chooses them"},
        {"yoso", "hashing takes the place of the softmax"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strcmp(refused[i].model_type, model_type) == 0)
            return refused[i].why;
    return NULL;
}

/* What the files of this room share: a resolved architecture and its weights. */
#ifndef SZG_CHECKPOINT_PRIVATE_H
#define SZG_CHECKPOINT_PRIVATE_H

#include "checkpoint/checkpoint.h"
#include "formats/json.h"

/* Where a head's rows stand. */
typedef enum weight_layout {
    LAYOUT_SEPARATE,     /* q [heads e, d] and k [key_heads e, d] */
    LAYOUT_CONV1D,       /* one tensor [d, 3d], stored transposed: columns q, k, v (GPT-2) */
    LAYOUT_FUSED_HEADS,  /* one tensor [heads 3 e, d]: q, k, v of each head in turn (GPT-NeoX) */
    LAYOUT_FUSED_BLOCKS, /* one tensor [(heads + 2 key_heads) e, d]: all q, all k, all v (Phi-3) */
    LAYOUT_FALCON,       /* one tensor: groups of q with k, v behind them, or as GPT-NeoX */
    LAYOUT_FUSED_GROUPS, /* one tensor: queries of a key head, that head, its values (InternLM 2) */
    LAYOUT_BIGCODE,      /* one tensor: as Phi-3 with one key head, or as GPT-NeoX */
    LAYOUT_CODEGEN,      /* one tensor of four parts, each [q, v, k] of a quarter of the heads */
    LAYOUT_COLUMNS, /* q and k [d, heads, e], whose columns are what others have as rows (XLNet) */
    LAYOUT_GATED,   /* apart, where a query head's rows are e of q and e of a gate (Qwen3-Next) */
    LAYOUT_LATENT,  /* from low ranks: q_b_proj q_a_proj, kv_b_proj kv_a_proj_with_mqa (MLA) */
} weight_layout;

/* What the weights of latent attention are called. */
typedef struct latent_names {
    const char *query;                 /* where queries come from the tokens */
    const char *query_down, *query_up; /* where they come from a latent */
    const char *key_down, *key_up;
    const char *query_gain, *key_gain; /* of the latents' norms */
    bool split; /* key_up has no values, and each head's is transposed: [heads, rank, rows] */
} latent_names;

typedef enum position_rule {
    POSITION_NONE,       /* nothing is added to the input */
    POSITION_BERT,       /* the family's table, position_embedding_type */
    POSITION_ROBERTA,    /* the same, where positions begin at row pad_token_id + 1 */
    POSITION_BIASED,     /* the family's table, if position_biased_input (DeBERTa) */
    POSITION_DISTILBERT, /* the family's table, or sinusoids where sinusoidal_pos_embds is true */
    POSITION_TABLE,      /* the family's table */
    POSITION_OPTIONAL,   /* the family's table, if the file has it (BEiT) */
    POSITION_MARIAN,     /* the family's table, or all sines and then all cosines */
    POSITION_FAIRSEQ,    /* the same by fairseq's frequencies, from row table_first on, or where it
                          * is 0 from row pad_token_id + 1 on */
    POSITION_ROTARY,     /* no table */
} position_rule;

typedef enum scale_rule {
    SCALE_HEAD,   /* 1/sqrt(e) */
    SCALE_ONE,    /* 1 (T5, GPT-Neo) */
    SCALE_LENGTH, /* 1/e: queries and keys are normalised (Inkling) */
    SCALE_GPT2,   /* 1/sqrt(e) unless scale_attn_weights is false, and by layer where asked for */
    SCALE_SCALAR, /* 1/sqrt(query_pre_attn_scalar), which must be there (Gemma 2, 3) */
    SCALE_SCALAR_OR_HEAD, /* the same, or 1/sqrt(e) where it is absent (Step 3.5) */
    SCALE_FACTOR,         /* attention_multiplier, which must be there (Granite) */
    SCALE_DEBERTA,        /* 1/sqrt(e (1 + the number of c2p and p2c in pos_att_type)) */
    SCALE_MPT,            /* attn_config.softmax_scale, or 1/sqrt(e) */
    SCALE_HALF,           /* 1/sqrt(e/2) (Zamba) */
    SCALE_KEYS,           /* 1/sqrt(e) times key_multiplier (Falcon H1) */
    SCALE_YARN, /* 1/sqrt(e) times the square of YaRN's factor of mscale_all_dim (DeepSeek) */
} scale_rule;

/* How much of a head rotates where the configuration has no key that says so. */
typedef enum partial_rule {
    PARTIAL_WHOLE,    /* the whole head, by the architecture's definition, which has no such key */
    PARTIAL_OPTIONAL, /* the whole head (Phi-3) */
    PARTIAL_REQUIRED, /* partial_rotary_factor or rotary_pct must be there */
    PARTIAL_DIM,      /* rotary_dim must be there (GPT-J) */
    PARTIAL_LATENT,   /* the last qk_rope_head_dim dimensions (MLA) */
} partial_rule;

/* Which layers do not rotate. */
typedef enum skip_rule {
    SKIP_NONE,   /* every layer rotates */
    SKIP_LISTED, /* no_rope_layers or no_rope_layer_interval must be there (SmolLM 3, Llama 4) */
    SKIP_FULL,   /* layers of full attention, where there are sliding ones (Cohere 2, EXAONE 4) */
    SKIP_FULL_SPARSE, /* the same, but dense layers rotate if prefix_dense_sliding_window_pattern is
                       * 1 (Cohere 2 with experts) */
    SKIP_ALL,         /* all, unless position_embedding_type is rope (Granite's hybrids) */
    SKIP_BARE,        /* all, if there is no rope_theta (OLMo's hybrids) */
    SKIP_TABLE,  /* all, unless position_embedding_type is rotary: then a table is added (ESM) */
    SKIP_MEMORY, /* all, unless use_mem_rope is true (Zamba 2) */
    SKIP_ALIBI,  /* all, if `alibi` is true (Falcon) */
} skip_rule;

/* The bases of layers that rotate with two. */
typedef enum base_rule {
    BASE_ONE,
    BASE_NESTED, /* rope_parameters has those of each type of layer, and must be there */
    BASE_LISTED, /* layer_rope_theta has that of each layer, 0: it does not rotate; absent: one */
    BASE_GEMMA,  /* sliding layers have rope_local_base_freq, which must be there */
    BASE_MODERNBERT, /* global_rope_theta and local_rope_theta */
} base_rule;

/* What is done to queries and keys between projection and product. */
typedef enum norm_rule {
    NORM_NONE,
    NORM_HEAD,       /* RMS of each head, before the rotation */
    NORM_HEAD_AFTER, /* RMS of each head, after the rotation (HunYuan) */
    NORM_LAYER,      /* mean and variance of each head, before the rotation (Cohere, Phi) */
    NORM_EACH,       /* the same, each head with gains of its own tensor (StableLM) */
    NORM_FULL,       /* RMS of all heads together, before the rotation (OLMo 2) */
    NORM_BARE, /* RMS of each head without gains, after the rotation, where it rotates (Llama 4) */
} norm_rule;

/* What grows with the query's position. */
typedef enum temperature_rule {
    TEMPERATURE_NONE,
    TEMPERATURE_LLAMA4, /* 1 + attn_scale log1p(floor((i + 1) / floor_scale)), unrotated layers */
    TEMPERATURE_MINISTRAL3, /* 1 + llama_4_scaling_beta log1p(floor(i / original length)) */
    TEMPERATURE_KEYS,       /* the same by attn_scale and floor_scale (GGUF) */
    TEMPERATURE_INKLING,    /* 1 + log_scaling_alpha ln((i + 1) / log_scaling_n_floor), where the
                             * logarithm is positive; on the bias by the lag too */
} temperature_rule;

/* Slopes times the lag, added to the logits. */
typedef enum alibi_rule { ALIBI_NONE, ALIBI_ALWAYS, ALIBI_FLAG, ALIBI_MPT } alibi_rule;

/* The norm whose output queries and keys read; fold.c has its names. RMS: by the root mean square;
 * LAYER: mean and variance. */
typedef enum input_rule {
    INPUT_RMS,                   /* input_layernorm of the layer */
    INPUT_RMS_PLUS_ONE,          /* the same with gains 1 + w (Gemma) */
    INPUT_RMS_OPERATOR,          /* operator_norm (LFM 2) */
    INPUT_RMS_ATTENTION,         /* attention_layernorm (Apertus) */
    INPUT_RMS_FIRST,             /* input_layernorm.0 (LongCat) */
    INPUT_RMS_SECOND,            /* input_layernorm.1 */
    INPUT_RMS_BARE,              /* without gains (NanoChat) */
    INPUT_RMS_T5,                /* layer.0.layer_norm */
    INPUT_RMS_T5_CROSS,          /* layer.1.layer_norm; keys: the encoder's last norm */
    INPUT_RMS_GEMMA_CROSS,       /* pre_cross_attn_layernorm with gains 1 + w; keys likewise */
    INPUT_LAYER,                 /* input_layernorm of the layer */
    INPUT_LAYER_PLUS_ONE,        /* the same with gains 1 + w (Nemotron) */
    INPUT_LAYER_BARE,            /* without gains (OLMo) */
    INPUT_LAYER_LN1,             /* ln_1 (GPT-2) */
    INPUT_LAYER_MPT,             /* norm_1 */
    INPUT_LAYER_FALCON,          /* ln_attn, or input_layernorm */
    INPUT_LAYER_OPT,             /* self_attn_layer_norm, if do_layer_norm_before */
    INPUT_LAYER_AFTER,           /* final_layer_norm of the layer before; layer 0 has none */
    INPUT_LAYER_VIT,             /* layernorm_before */
    INPUT_LAYER_CLIP,            /* layer_norm1 */
    INPUT_LAYER_NORM1,           /* norm1 (DINOv2, DINOv3) */
    INPUT_LAYER_MODERNBERT,      /* attn_norm; layer 0 has the embedding's alone */
    INPUT_COHERE,                /* input_layernorm; RMS if rms_norm_eps is there */
    INPUT_LAYER_BERT,            /* the output norm of the layer before, or the embedding's */
    INPUT_LAYER_REMBERT,         /* the same; a matrix brings the embeddings to the model's size */
    INPUT_LAYER_ALBERT,          /* the same, of the group of the layer before */
    INPUT_LAYER_DISTILBERT,      /* the same under other names */
    INPUT_LAYER_NOMIC,           /* the same */
    INPUT_LAYER_BART_ENCODER,    /* the same */
    INPUT_LAYER_BART_DECODER,    /* the same */
    INPUT_LAYER_BART_CROSS,      /* self_attn_layer_norm; keys: the encoder's last layer */
    INPUT_LAYER_BEFORE,          /* self_attn_layer_norm (mBART, Whisper) */
    INPUT_LAYER_NLLB_CROSS,      /* cross_attention_layer_norm; keys: the encoder's last norm */
    INPUT_LAYER_BIGBIRD_CROSS,   /* the same; that norm is encoder.layernorm_embedding */
    INPUT_LAYER_BEFORE_CROSS,    /* encoder_attn_layer_norm; keys: the encoder's last norm */
    INPUT_RMS_GGUF,              /* attn_norm; 1 + w is what the converter wrote */
    INPUT_RMS_CROSS_GGUF,        /* cross_attn_norm; keys: the encoder's last norm */
    INPUT_LAYER_GGUF,            /* the same with a mean */
    INPUT_LAYER_BERT_GGUF,       /* layer_output_norm of the layer before, or token_embd_norm */
    INPUT_LAYER_MODERNBERT_GGUF, /* attn_norm; layer 0 has token_embd_norm alone */
    INPUT_LAYER_FALCON_GGUF,     /* attn_norm_2, or attn_norm */
    INPUT_NONE,                  /* queries and keys read the residual stream (OLMo 2, EXAONE 4) */
} input_rule;

/* What a configuration calls its sizes. */
typedef struct size_keys {
    const char *layers, *heads, *model; /* NULL: the usual key alone */
    const char *head;                   /* besides head_dim; of a stack: in place of it */
    const char *key_heads;              /* in place of num_key_value_heads; NULL: that */
    const char *layers_otherwise;       /* of another stack: it counts if `layers` is not there */
} size_keys;

/* What a bank of profiles by the lag is called: after "INDEX.", and in the configuration. */
typedef struct lag_bank_names {
    const char *profiles; /* [profiles, lags], by the model's code */
    const char *weights;  /* [heads profiles, d]: what mixes them for a query */
    const char *count, *extent;
} lag_bank_names;

/* One model_type, or one stack of it. */
typedef struct model_family {
    const char *model_type;
    const char *stack;  /* of a model with several: "encoder"; NULL: the only one */
    const char *object; /* where the configuration has the stack's numbers, keys with points
                         * between; NULL: with model_type */
    const char *only;   /* layers of this type are the stack's; NULL: all */
    size_keys keys;     /* besides num_hidden_layers, num_attention_heads, hidden_size */
    const char *stem;   /* what precedes the layer's index in a tensor's name */
    const char *query;  /* what follows "INDEX." for the query tensor, or the fused one */
    const char *key;    /* NULL where fused */
    const char
        *query_bias; /* of queries alone, in the order of heads; NULL: those of the weights */
    weight_layout layout;
    const latent_names *latent; /* of LAYOUT_LATENT */
    bool latent_factors; /* rows from a latent of rank r are multiplied by sqrt(d / r) (LongCat) */
    bool own_sizes; /* head size and key heads are those of per_layer_config, or global ones (Gemma
                     * 4)
                     */
    position_rule positions;
    const char *table;   /* how the name of the position table ends */
    int64_t table_first; /* the row of position 0 */
    scale_rule scale;
    szgi_pairing pairing;
    bool turns_back; /* pairs rotate by the negative angle, as if each had its dimensions exchanged
                      * (NanoChat) */
    const char *interleave; /* key, true where absent, that says whether pairs are interleaved */
    partial_rule partial;
    double fixed_base; /* rotary base that the architecture fixes (GPT-J); 0: the configuration's */
    base_rule bases;
    bool scaled_if_full; /* rope_scaling acts on layers of full attention alone (OLMo 3) */
    skip_rule skips;
    int64_t skip_interval; /* no_rope_layer_interval by definition (Llama 4); 0: it must be there */
    bool mixed;            /* some layers have no queries and keys: layer_types says which */
    const char *const
        *others; /* some have none, and one of these tensors instead (NULL at the end) */
    const char *equal_heads; /* a key with the number of heads of each layer (Laguna) */
    int64_t key_heads_times; /* num_key_value_heads times this (MiMo); 0: 1 */
    bool grouped;            /* queries may share keys, though nothing rotates */
    bool shares_keys; /* the last num_kv_shared_layers layers use an earlier layer's keys (Gemma 3n)
                       */
    bool looks_ahead; /* queries see later keys: lags of both signs */
    bool caps, clips; /* logits by attn_logit_softcapping; queries and keys by clip_qkv; others
                         ignore these keys */
    bool shares_layers; /* num_hidden_groups weights serve all layers (ALBERT) */
    bool shares_blocks; /* the first num_mem_blocks layers with attention have the weights of the
                         * others, in turn; one where there is no such key (Zamba) */
    bool two_streams; /* queries and keys read the embeddings beside the residual stream (Zamba) */
    input_rule input;
    const char *input_name; /* what that norm is called in the layer; NULL: as the rule says */
    norm_rule norm;
    const char *query_norm, *key_norm; /* NULL: self_attn.q_norm.weight, self_attn.k_norm.weight */
    bool gain_plus_one;                /* gains are 1 + w (Gemma) */
    const char *norm_flag;             /* key that says whether NORM_BARE acts; NULL: it does */
    temperature_rule temperature;
    alibi_rule alibi;
    bool two_coordinates; /* patches rotate by row and column (DINOv3) */
    const char *added;    /* how a tensor's name ends that adds a term by the lag (T5), and */
    const char *added_sentence;
    const char *added_unread;   /* why the mean kernel does not have it; NULL: it does */
    bool added_by_head;         /* it is a table [buckets, heads] */
    const char *added_in_layer; /* what follows "INDEX." where each layer has one; NULL: the first's
                                   is that of all */
    const char *softmax,
        *left_out; /* what is not the softmax over all keys, and the sentence; NULL */
    const lag_bank_names
        *bank;              /* each query mixes trained profiles of the lag (Inkling); NULL: none */
    const char *key_mixing; /* what mixes keys of several tokens before their norm; NULL: nothing */
    const char *other_tokens; /* why layer 0 does not read embeddings of words; NULL: it does */
} model_family;

/* NULL where szego does not know the model_type. Of a model with several stacks: number `stack`. */
const model_family *szgi_family_find(const char *model_type, int64_t stack);

/* Keys of the configuration that change attention as no row says are errors. */
SZG_CHECK_RESULT szg_status szgi_family_check(szg_context *context,
                                              const szg_checkpoint *checkpoint);

/* Why szego does not read a model_type that it knows of; NULL: nothing is known of it. */
const char *szgi_family_refusal(const char *model_type);

/* Where the rows of heads are in a tensor: those of head h begin at first + (h / group) group_step
 * + (h % group) step. */
typedef struct head_places {
    int64_t first, group, group_step, step;
} head_places;

/* The tensors of one layer's queries, or of its keys. */
typedef struct side_weights {
    const szgi_tensor *weight; /* NULL where missing */
    const szgi_tensor *bias;   /* NULL: none */
    const szgi_tensor *norm;   /* gains of the norm of queries or keys; NULL: none */
    const szgi_tensor *down;   /* MLA: what makes the latent; NULL: the weight acts on the tokens */
    const szgi_tensor *gain;   /* of the latent's norm */
    double factor;             /* with `down`: on the rows that the weight makes (LongCat) */
    const szgi_tensor *input_gain, *input_shift; /* of the norm that it reads; NULL: none */
    bool folds;                                  /* that norm is known, and both are right */
} side_weights;

typedef struct layer_weights {
    side_weights q, k;  /* the same weight twice where fused */
    const char *absent; /* NULL, or what the layer has in place of attention: "linear_attention" */
    int64_t key_layer;  /* whose keys it uses: its own index, or an earlier one's */
    int64_t owner;      /* whose weights are its own: likewise, or that of a group (ALBERT) */
    char *problem;      /* NULL, or why this layer cannot be read */
    double scale;
    int rotation;              /* index into szg_checkpoint.rotation; -1: none */
    const szgi_tensor *added;  /* its term by the lag; NULL: none */
    const szgi_tensor *mixing; /* what mixes the profiles of `added` for a query; NULL: nothing */
    int64_t window;            /* queries see keys at lags below it alone, in size; 0: at any */
    bool bias_unread;          /* queries or keys have a bias that is no vector of their size */
} layer_weights;

enum { ROTATIONS_MAX = 2 };

/* One way to rotate. */
typedef struct layer_rotation {
    szg_encoding *encoding;
    double *theta;    /* [pairs] where the encoding's frequencies are replaced; NULL: they stand */
    double amplitude; /* with theta */
    int64_t length;   /* the frequencies are those of so many positions; 0: of all */
    char *note;       /* NULL, or how they are replaced, or what of the scaling is not known */
} layer_rotation;

/* Sizes of latent attention; all 0 without it. */
typedef struct latent_sizes {
    int64_t query_rank, key_rank, nope, rope, value;
} latent_sizes;

/* What a GGUF file changes. */
enum { GGUF_STACKS = 3 };
typedef struct gguf_facts {
    model_family family[GGUF_STACKS]; /* the rows of its family, with the names and the layout of
                                       * GGUF */
    int64_t families;                 /* 0: it is no such file, or of no known architecture */
    double amplitude;  /* on rotated queries and keys, besides the rotations' own; 0: none */
    const char *kinds; /* the key that gives each layer's kind, without the architecture's name */
    bool alike;        /* layers without attention have queries by the same names */
} gguf_facts;

/* Which key of the configuration decided: NULL where none did. */
typedef struct deciding_keys {
    const char *layers, *heads, *key_heads, *head_size, *model_size, *scale, *base, *partial,
        *skips, *kinds;
} deciding_keys;

struct szg_checkpoint {
    char *source, *unknown, *model_type, *stacks;
    char *note,
        *left_out; /* what is said of the model, and what W_Q^T W_K leaves out; NULL: nothing */
    char *said;    /* both, with "; " between */
    szgi_safetensors *tensors;
    bool in_memory;             /* nothing tells whether the numbers are those of an earlier call */
    szgi_json *config;          /* NULL: none */
    szgi_json_value settings;   /* the object in it that describes the attention stack */
    const model_family *family; /* NULL: unknown */
    const char *query, *key;    /* the family's, or those that the configuration chooses */
    char *prefix;               /* what precedes the family's stem */
    char *wanted_prefix;        /* the caller's; NULL: szego finds it */
    layer_weights *layer;       /* [layers] */
    int64_t layers, heads, key_heads, head_size, model_size;
    head_places query_at, key_at;
    int64_t query_rows, key_rows; /* of the tensors */
    int64_t groups;               /* of layers that share their weights; 0: none do */
    latent_sizes latent;
    deciding_keys decided;
    input_rule input; /* the family's, or the one that its flag chooses */
    szg_position_kind position_kind;
    const szgi_tensor *position_table; /* SZG_POSITIONS_LEARNED */
    char *position_problem;            /* NULL, or why positions cannot be read */
    char *position_note;               /* NULL, or why there is no position-position term */
    int64_t position_first, position_rows;
    int64_t position_steps; /* sinusoids in halves: 10000 is reached after so many; 0: in turn */
    bool alibi, biased, normed, indexed; /* indexed: weights choose the keys that queries see */
    double alibi_most;              /* the slope of the last head is 2^-this; 0: two codes differ */
    int64_t lag_distance;           /* lags from here on share the last row of a table by the lag */
    const szgi_tensor *norm_tensor; /* the first gain of a norm of queries or keys; NULL: none */
    double soft_cap, clip;          /* 0: none */
    const char *clip_key;
    const char *sections_key;               /* NULL: all pairs rotate by one position */
    szgi_json_value sections;               /* else how many do by each: time, height, width */
    const szgi_tensor *sinks, *added;       /* of the first layer that has them; NULL: none */
    double temperature, temperature_length; /* factor of the logarithm, and the length; 0: none */
    int rotations;
    layer_rotation rotation[ROTATIONS_MAX];
    int64_t trained_length;  /* 0: not known, or logits depend on no lag */
    const char *trained_key; /* that says it; NULL: none does */
    char **taken;            /* [takens] defaults of the class, texts PATH=VALUE */
    int64_t takens;
    gguf_facts gguf;
    struct checkpoint_adapter *adapter; /* "adapter.h"; NULL: none */
};

/* ---- config.c: values of the configuration ---- */

/* The member named by the first of `aliases` (NULL at the end) that is there; absent where none is.
 * SZG_EDATA when two are there and differ. */
SZG_CHECK_RESULT szg_status szgi_config_find(szg_context *context, szgi_json_value object,
                                             const char *const *aliases, szgi_json_value *out);
/* A required integer of at least `least`; SZG_EDATA names the key. */
SZG_CHECK_RESULT szg_status szgi_config_integer(szg_context *context, szgi_json_value object,
                                                const char *const *aliases, int64_t least,
                                                int64_t *out);
/* A boolean, `otherwise` where it is absent or null. */
SZG_CHECK_RESULT szg_status szgi_config_flag(szg_context *context, szgi_json_value object,
                                             const char *key, bool otherwise, bool *out);
/* The same of settings that are not checked: a number that is absent or of another kind is
 * `otherwise`, a flag of another kind is false. */
int64_t szgi_config_number_or(const szg_checkpoint *checkpoint, const char *key, int64_t otherwise);
bool szgi_config_flag_or(const szg_checkpoint *checkpoint, const char *key, bool otherwise);
/* A required positive finite real. */
SZG_CHECK_RESULT szg_status szgi_config_positive(szg_context *context, szgi_json_value value,
                                                 double *out);

/* What the keys of `path`, with points between, lead to. */
szgi_json_value szgi_config_at(szgi_json_value object, const char *path);

/* A required value is missing: SZG_EDATA that names the key and the remedy. */
SZG_CHECK_RESULT szg_status szgi_config_require(szg_context *context, szgi_json_value value);
/* What layer_types says of a layer. SZG_EDATA: it is missing, or has another length. */
SZG_CHECK_RESULT szg_status szgi_config_layer_type(szg_context *context,
                                                   const szg_checkpoint *checkpoint, int64_t layer,
                                                   const char **out);
/* The configuration with `count` texts PATH=VALUE in place of what is there. VALUE is JSON, or else
 * a text. SZG_EINVAL: a text of another form. */
SZG_CHECK_RESULT szg_status szgi_config_change(szg_context *context, szgi_json **config,
                                               const char *const *set, int64_t count);

/* From szgi_config_watch on, the configuration notes which of its changes are read;
 * szgi_config_check ends that. SZG_EINVAL: nothing reads one, which the message names, with what
 * may be meant. Where the model has other stacks, which may read it, that is a warning. */
SZG_CHECK_RESULT szg_status szgi_config_watch(szg_context *context, szgi_json *config,
                                              const char *const *set, int64_t count);
SZG_CHECK_RESULT szg_status szgi_config_check(szg_context *context,
                                              const szg_checkpoint *checkpoint,
                                              const char *const *set, int64_t count);

/* ---- stack_choice.c ---- */

/* Takes the family's stack of that name; where none is named, the first one that the file has. */
SZG_CHECK_RESULT szg_status szgi_stack_choose(szg_context *context, szg_checkpoint *checkpoint,
                                              const char *stack);

/* ---- quantised.c ---- */

/* How the configuration says that the weights are quantised: "GPTQ, 4 bits", "compressed-tensors",
 * "bitsandbytes NF4"; NULL where it does not. `text` is room for it. */
const char *szgi_quantised_name(const szg_checkpoint *checkpoint, char *text, size_t size);
/* "the weights are quantised by GPTQ (quantization_config), ..." with the remedy, for messages;
 * NULL for weights that are not quantised. */
const char *szgi_quantised_refusal(const szg_checkpoint *checkpoint, char *text, size_t size);
/* Which tensors are codes and scales of which weights, that are found by their usual names from
 * then on; a weight without the right ones says so itself. SZG_EDATA: the configuration's block
 * size is none. */
SZG_CHECK_RESULT szg_status szgi_quantised_resolve(szg_context *context,
                                                   szg_checkpoint *checkpoint);

/* The first weight of the layer's queries and keys with this type; NULL: none. */
const szgi_tensor *szgi_quantised_of(const layer_weights *layer, szgi_dtype dtype);

/* The first tensor that an unmerged LoRA adapter has renamed, NAME.base_layer.weight; NULL: none.
 */
const szgi_tensor *szgi_unmerged(const szg_checkpoint *checkpoint);
#define MERGE_REMEDY                                                                               \
    "merge it (peft: merge_and_unload, then save_pretrained) and read the merged folder"

/* ---- adapter.c ---- */

/* As szgi_safetensors_check of the model's files and of its adapter's. */
SZG_CHECK_RESULT szg_status szgi_checkpoint_check_files(szg_context *context,
                                                        const szg_checkpoint *checkpoint);

/* ---- layout.c ---- */

/* Which tensors hold the heads, and where in them each head's rows begin: after the sizes. */
SZG_CHECK_RESULT szg_status szgi_layout_resolve(szg_context *context, szg_checkpoint *checkpoint);
/* The names of the query and key tensors, before any size is known except latent ones. */
SZG_CHECK_RESULT szg_status szgi_layout_names(szg_context *context, szg_checkpoint *checkpoint);
static inline int64_t szgi_layout_row(const head_places *at, int64_t head) {
    return at->first + head / at->group * at->group_step + head % at->group * at->step;
}

/* Where a head's bias begins in its tensor. */
static inline int64_t szgi_bias_place(const szg_checkpoint *checkpoint, bool query, int64_t head) {
    if (checkpoint->family->query_bias)
        return head * checkpoint->head_size;
    return szgi_layout_row(query ? &checkpoint->query_at : &checkpoint->key_at, head);
}

/* ---- stack.c, architecture.c, positions.c, rotary.c, terms.c: steps of opening ---- */

/* Finds the prefix of the layers' tensors, and warns of layers that the configuration does not
 * count. */
SZG_CHECK_RESULT szg_status szgi_stack_find(szg_context *context, szg_checkpoint *checkpoint);

/* Does a tensor's name have the form of the queries of this stack, which need not be the
 * checkpoint's? Encoders are published without their decoders. A configuration
 * alone has every stack. */
bool szgi_stack_is_there(const szg_checkpoint *checkpoint, const model_family *family);

/* PREFIX stem LAYER "." suffix; NULL where there is no such tensor. */
const szgi_tensor *szgi_layer_tensor(const szg_checkpoint *checkpoint, int64_t layer,
                                     const char *suffix);

/* What is wrong with a layer's weight goes to *problem: quantised, missing, of a type that is no
 * float, or of another shape. columns < 0: it has one dimension. */
SZG_CHECK_RESULT szg_status szgi_weight_check(szg_context *context,
                                              const szg_checkpoint *checkpoint, int64_t index,
                                              const char *suffix, const szgi_tensor *tensor,
                                              int64_t rows, int64_t columns, char **problem);

/* The same of a tensor [heads, rows, columns]: the latent parts of a GGUF file. */
SZG_CHECK_RESULT szg_status szgi_weight_check_heads(szg_context *context,
                                                    const szg_checkpoint *checkpoint, int64_t index,
                                                    const char *suffix, const szgi_tensor *tensor,
                                                    int64_t rows, int64_t columns, char **problem);

/* Sizes and kinds of layers as the configuration alone tells them, without weights. */
SZG_CHECK_RESULT szg_status szgi_architecture_describe(szg_context *context,
                                                       szg_checkpoint *checkpoint);

/* Sizes, layers and scales; marks layers that cannot be read. */
SZG_CHECK_RESULT szg_status szgi_architecture_resolve(szg_context *context,
                                                      szg_checkpoint *checkpoint);
/* ---- trained_length.c ---- */

#define TRAINED_LENGTH_KEY "max_position_embeddings" /* as most families call it */

/* Of rotary models. A value that is no length leaves it unknown: nothing but --context needs it. */
void szgi_trained_length_resolve(szg_checkpoint *checkpoint);

/* ---- window.c ---- */

/* After the rotations. A value that is no size is none: nothing but the lags' end needs it. */
SZG_CHECK_RESULT szg_status szgi_windows_resolve(szg_context *context, szg_checkpoint *checkpoint);

/* Which keys queries see, by use_bidirectional_attention: earlier ones, as decoders do; later ones
 * too; or it is not known what the class makes of the value. */
typedef enum key_direction { KEYS_BEFORE, KEYS_BOTH, KEYS_UNKNOWN } key_direction;
key_direction szgi_key_direction(const szg_checkpoint *checkpoint);

/* Do queries see later keys, so that lags have both signs? */
bool szgi_sees_later(const szg_checkpoint *checkpoint);

SZG_CHECK_RESULT szg_status szgi_positions_resolve(szg_context *context,
                                                   szg_checkpoint *checkpoint);
SZG_CHECK_RESULT szg_status szgi_rotary_resolve(szg_context *context, szg_checkpoint *checkpoint);
/* What else acts on the logits: biases, norms, soft cap, sinks, clip, ALiBi, temperature. Sentences
 * on what W_Q^T W_K leaves out go to left_out. */
SZG_CHECK_RESULT szg_status szgi_terms_resolve(szg_context *context, szg_checkpoint *checkpoint);

/* Appends a printed sentence to *text with "; " between; *text may be NULL. */
SZG_PRINTF(3, 4)
SZG_CHECK_RESULT szg_status szgi_text_append(szg_context *context, char **text, const char *format,
                                             ...);

#endif

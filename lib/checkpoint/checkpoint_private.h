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
} weight_layout;

typedef enum position_rule {
    POSITION_BERT,       /* embeddings.position_embeddings.weight, position_embedding_type */
    POSITION_ROBERTA,    /* the same, where positions begin at row pad_token_id + 1 */
    POSITION_DISTILBERT, /* the same, or sinusoids where sinusoidal_pos_embds is true */
    POSITION_GPT2,       /* wpe.weight */
    POSITION_ROTARY,     /* no table */
} position_rule;

typedef enum scale_rule {
    SCALE_HEAD,   /* 1/sqrt(e) */
    SCALE_GPT2,   /* the same unless scale_attn_weights is false, and by layer where asked for */
    SCALE_SCALAR, /* 1/sqrt(query_pre_attn_scalar), which must be there (Gemma 2, 3) */
    SCALE_FACTOR, /* attention_multiplier, which must be there (Granite) */
} scale_rule;

/* How much of a head rotates where the configuration has no key that says so. */
typedef enum partial_rule {
    PARTIAL_WHOLE,    /* the whole head, by the architecture's definition, which has no such key */
    PARTIAL_OPTIONAL, /* the whole head (Phi-3) */
    PARTIAL_REQUIRED, /* partial_rotary_factor or rotary_pct must be there */
    PARTIAL_DIM,      /* rotary_dim must be there (GPT-J) */
} partial_rule;

/* What a configuration calls its sizes. */
typedef struct size_keys {
    const char *layers, *heads, *model; /* NULL: the usual key alone */
} size_keys;

/* One model_type. */
typedef struct model_family {
    const char *model_type;
    size_keys keys;    /* besides num_hidden_layers, num_attention_heads, hidden_size */
    const char *stem;  /* what stands before the layer's index in a tensor's name */
    const char *query; /* what follows "INDEX." for the query tensor, or the fused one */
    const char *key;   /* NULL where fused */
    weight_layout layout;
    position_rule positions;
    scale_rule scale;
    szgi_pairing pairing;
    partial_rule partial;
    double fixed_base; /* rotary base that the architecture fixes (GPT-J); 0: the configuration's */
    bool local_base;   /* sliding layers have a base of their own, which must be there (Gemma 3) */
    bool skips_layers; /* some layers do not rotate; which ones must be there (SmolLM 3) */
} model_family;

/* NULL where szego does not know the model_type. */
const model_family *szgi_family_find(const char *model_type);

typedef struct layer_weights {
    const szgi_tensor *q, *k; /* the same tensor twice where fused; NULL where missing */
    char *problem;            /* NULL, or why this layer cannot be read */
    double scale;
    int rotation; /* index into szg_checkpoint.rotation; -1: none */
} layer_weights;

enum { ROTATIONS_MAX = 2 };

struct szg_checkpoint {
    char *source, *unknown, *model_type, *note;
    szgi_safetensors *tensors;
    szgi_json *config;          /* NULL: none */
    szgi_json_value settings;   /* the object in it that describes the attention stack */
    const model_family *family; /* NULL: unknown */
    char *prefix;               /* what stands before the family's stem */
    layer_weights *layer;       /* [layers] */
    int64_t layers, heads, key_heads, head_size, model_size;
    szg_position_kind position_kind;
    const szgi_tensor *position_table; /* SZG_POSITIONS_LEARNED */
    char *position_problem;            /* NULL, or why positions cannot be read */
    int64_t position_first, position_rows;
    int rotations;
    szg_encoding *rotation[ROTATIONS_MAX];
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
/* A required positive finite real. */
SZG_CHECK_RESULT szg_status szgi_config_positive(szg_context *context, szgi_json_value value,
                                                 double *out);

/* How the configuration says that the weights are quantised: "GPTQ", "compressed-tensors",
 * "bitsandbytes NF4"; NULL where it does not. `text` is room for it. */
const char *szgi_config_quantisation(szgi_json_value root, char *text, size_t size);

/* ---- architecture.c, positions.c, rotary.c, weights.c: steps of opening ---- */

/* Sizes, layers and scales; marks layers that cannot be read. */
SZG_CHECK_RESULT szg_status szgi_architecture_resolve(szg_context *context,
                                                      szg_checkpoint *checkpoint);
SZG_CHECK_RESULT szg_status szgi_positions_resolve(szg_context *context,
                                                   szg_checkpoint *checkpoint);
SZG_CHECK_RESULT szg_status szgi_rotary_resolve(szg_context *context, szg_checkpoint *checkpoint);
/* Sentences on what W_Q^T W_K leaves out. */
SZG_CHECK_RESULT szg_status szgi_note_resolve(szg_context *context, szg_checkpoint *checkpoint);

/* Appends a printed sentence to *text with "; " between; *text may be NULL. */
SZG_PRINTF(3, 4)
SZG_CHECK_RESULT szg_status szgi_text_append(szg_context *context, char **text, const char *format,
                                             ...);

#endif

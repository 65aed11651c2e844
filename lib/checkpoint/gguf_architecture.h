/* The architectures of GGUF files, and what llama.cpp's code says of them where a file does not. */
#ifndef SZG_CHECKPOINT_GGUF_ARCHITECTURE_H
#define SZG_CHECKPOINT_GGUF_ARCHITECTURE_H

#include "checkpoint_private.h"

/* What rope.scaling.yarn_log_multiplier is. YaRN's amplitude is then (0.1 ln s + 1) by
 * (0.1 m ln s + 1), m the multiplier. */
typedef enum multiplier_rule {
    MULTIPLIER_NONE,   /* it is refused */
    MULTIPLIER_WHOLE,  /* mscale_all_dim */
    MULTIPLIER_TENTH,  /* a tenth of it */
    MULTIPLIER_CANCEL, /* a tenth of it, and the amplitude is 1 (DeepSeek) */
} multiplier_rule;

/* Which layers slide matters to queries and keys. */
typedef enum sliding_rule {
    SLIDING_NONE,     /* it does not */
    SLIDING_BASES,    /* sliding layers rotate with rope.freq_base_swa, and unscaled */
    SLIDING_ROTATES,  /* only sliding layers rotate */
    SLIDING_UNSCALED, /* rope.scaling acts on the others alone, where any slide (OLMo 3) */
} sliding_rule;

/* Sliding and full layers are stacks of their own, where any slide: each has one number of heads,
 * one base and one rotated part. */
typedef enum stacks_rule {
    STACKS_ONE,
    STACKS_BOTH,   /* of their family, or as they are */
    STACKS_HALVED, /* full layers rotate half of rope.dimension_count (Step 3.5) */
    STACKS_SCALED, /* rope.scaling acts on full layers alone (Laguna) */
} stacks_rule;

/* What keys say of the rotation that llama.cpp's code does not use. */
typedef enum rotation_rule {
    ROTATION_KEYS,  /* nothing */
    ROTATION_WHOLE, /* rope.dimension_count: whole heads rotate */
    ROTATION_PLAIN, /* that, rope.scaling and the window; the base is 10000 */
} rotation_rule;

typedef struct gguf_architecture {
    const char *name, *model_type; /* the family with the same scale, positions and layers */
    szgi_pairing pairing; /* as converted: the rows of LLaMA's q and k are permuted for it */
    sliding_rule sliding;
    int pattern;      /* every so many layers one does not slide, where no key says so */
    bool whole_first; /* that is the first of them; else the last */
    bool counted;     /* layers that do not rotate are those of `pattern`, whatever the key says */
    int sliding_layers; /* of so many layers some slide though no key says so (EXAONE 4) */
    int own_keys;   /* layers from this one on use earlier keys, where no key says so (Gemma 3n) */
    int unrotated;  /* every so many layers one does not rotate; 0: all do */
    int wide_scale; /* layers of the one size whose scale is 1/sqrt(d / heads) */
    int interval;   /* every so many layers one has attention, where no key says so */
    int bare_experts; /* experts of the one size without norms of queries and keys (Llama 4) */
    int rotated_layers, alibi_layers; /* layers of the two sizes, of which one has ALiBi in place of
                                       * the rotation (Baichuan) */
    norm_rule norm;                   /* in place of the family's; NORM_NONE: that */
    bool unpositioned;                /* neither rotates nor has a table */
    bool finetuned;                   /* rope.scaling.finetuned says whether it rotates */
    bool mixed;                       /* layers without key heads have no attention */
    bool looks_ahead;                 /* queries see later keys */
    bool both_sides;     /* the same of a family whose configuration says so (EmbeddingGemma) */
    bool inverse_scale;  /* logits are divided by the head size, not by its root (Jais) */
    double output_scale; /* the scale where no attention.output_scale says so (Grok); 0: the
                          * architecture has no such key */
    double cap;          /* attn_logit_softcapping where no key says so; 0: none */
    bool swin;           /* swin_norm says whether queries and keys read the stream (Chameleon) */
    stacks_rule stacks;
    bool dense_rotates; /* the first leading_dense_block_count layers do, whatever the pattern */
    bool alike;         /* layers without attention have queries by the same names */
    bool always_slides; /* attention.sliding_window must be there */
    bool proportional;  /* layers of full attention rotate the pairs whose divisor is 1 alone */
    const char *note;   /* what is to be said of every file; NULL: nothing */
    bool whole_ramp;    /* YaRN's ramp does not end at whole pairs */
    double beta_fast;   /* YaRN's, where no key says so; 0: 32, as everywhere */
    rotation_rule rotation;
    bool alibi;     /* ALiBi, whatever the keys say */
    bool alibi_key; /* and attention.max_alibi_bias must be there: without it, there is none */
    multiplier_rule multiplier;
    /* What grows with the position: its factor and length where no key says so (Llama 4), or where
     * attention.temperature_length is (0: the key decides whether it acts). */
    bool tempered;
    double temperature, temperature_length;
} gguf_architecture;

/* NULL where szego does not know it. */
const gguf_architecture *szgi_gguf_architecture(const char *name);

/* Why szego does not read an architecture that it knows of; NULL: nothing is known of it. */
const char *szgi_gguf_refusal(const char *name);

#endif

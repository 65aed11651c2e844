/* Model types with recurrent layers: which tensors say how these forget. */
#ifndef SZG_CHECKPOINT_DECAY_FAMILY_H
#define SZG_CHECKPOINT_DECAY_FAMILY_H

#include "checkpoint_private.h"

typedef enum decay_rule {
    DECAY_GATE,      /* -exp(rate) softplus(W n + shift) */
    DECAY_BOUNDED,   /* c sigmoid(exp(rate) (W n + shift)), or DECAY_GATE where c is null */
    DECAY_LIGHTNING, /* slopes of ALiBi, that shrink by layer; or the tensor `rate` */
    DECAY_RETNET,    /* ln(1 - 2^(-5 - h)) */
    DECAY_CHANNELS,  /* -exp(rate) of each channel */
    DECAY_UNREAD,    /* no interval: `why` */
} decay_rule;

/* Which rows of the gate's tensor are those of the heads, in their order. */
typedef enum gate_rows {
    GATE_ALL,
    GATE_LAST,   /* the last ones (Mamba-2) */
    GATE_GROUPS, /* of each key head: as many rows of something else, then its own (Qwen3-Next) */
} gate_rows;

typedef struct decay_family {
    const char *model_type;
    const char *name; /* of the layers */
    decay_rule rule;
    const char *stem;  /* NULL: "layers." */
    const char *inner; /* before every name in some of the layers; NULL: nothing (Zamba 2) */
    const char *type;  /* what layer_types calls them; NULL: their tensors tell */
    const char *mark;  /* a tensor that these layers alone have; NULL: those below */
    const char *norm;  /* whose output the gate reads, an RMS norm */
    bool plus_one;     /* its gains are 1 + w */
    const char *rate, *shift, *gate;
    const char *down; /* a matrix before the gate's; NULL: none */
    gate_rows rows;
    bool delta;              /* the state also loses what lies along the key */
    bool sums;               /* softplus as log(1 + exp(g)) in single precision */
    const char *limits_key;  /* least and largest time step of several tokens; NULL: none */
    const char *least_key;   /* the least alone, 0.001 where the key is missing; NULL: none */
    const char *bound_key;   /* c of DECAY_BOUNDED, -5 where the key is missing */
    const char *bound_flag;  /* it is bounded if this is true, or missing; NULL: no such flag */
    const char *bound_inner; /* an object whose gate_lower_bound comes first; NULL: none */
    bool multiplied;         /* by ssm_in_multiplier and ssm_multipliers[4] (Falcon H1) */
    const char *why;         /* DECAY_UNREAD; of others what a reader must know, or NULL */
} decay_family;

/* NULL: szego knows no recurrent layers of this type. */
const decay_family *szgi_decay_family_find(const char *model_type);

#endif

/* Bounds on the largest logit of a head: docs/explanation/theory.md, "The largest logit". */
#ifndef SZG_CHECKPOINT_BOUND_H
#define SZG_CHECKPOINT_BOUND_H

#include "checkpoint_private.h"

/* What a bound follows from. */
typedef enum bound_kind {
    BOUND_NONE,   /* nothing bounds the logits: `why` says what acts on them */
    BOUND_HEADS,  /* the norm of queries and keys */
    BOUND_INPUT,  /* the norm of the layer's input */
    BOUND_LATENT, /* the norms of the latents and of the input */
    BOUND_CLIP,   /* queries and keys are clipped */
    BOUND_CAP,    /* the soft cap */
} bound_kind;
/* "none", "qk-norm", "input-norm", "latent-norm", "clip", "soft-cap" */
const char *szgi_bound_name(bound_kind kind);

typedef struct head_bound {
    double value; /* no |logit| is larger, at any lag; NaN: none */
    bound_kind kind;
    const char *why; /* NULL, or why there is none: static */
} head_bound;

/* A head's rows with all gains folded (FOLD_ALL), divided by powers of two; the errors are those of
 * szgi_fold_queries and szgi_fold_keys. */
typedef struct bound_rows {
    const double *q, *k;
    double q_error, k_error;
    int q_exponent, k_exponent;
} bound_rows;

/* The bound of a query head. SZG_EDATA: a gain or bias that is no number. */
SZG_CHECK_RESULT szg_status szgi_bound_head(szg_context *context, const szg_checkpoint *checkpoint,
                                            int64_t layer, int64_t head, const bound_rows *rows,
                                            head_bound *out);

#endif
